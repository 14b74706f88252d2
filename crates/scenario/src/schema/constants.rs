//! Tables of a protocol's constants. The protocol's crate declares them, each in one line; here they become keys.

use super::quantity::{BufferSize, Time};
use ropewalk_units::Duration;

/// Units of constants, as their declarations name them.
#[expect(non_camel_case_types, reason = "spelled as in the declarations and in the documentation")]
pub(crate) mod unit {
    pub(crate) struct octets;
    pub(crate) struct octets_or_unlimited;
    pub(crate) struct segments;
    pub(crate) struct segments_or_unlimited;
    pub(crate) struct shift_or_off;
}

/// A constant with this unit, as a file says it.
pub(crate) trait Constant<Unit> {
    /// What stands in the file.
    type Form;
    /// Takes the file's value over.
    fn put(&mut self, form: &Self::Form);
    /// What a file would have to say for this value; `None` if it would say nothing.
    fn show(&self) -> Option<Self::Form>;
}

/// Constants that a file says as they are.
macro_rules! plain_constant {
    ($($type:ty [$($unit:ident)?],)*) => {
        $(impl Constant<($(unit::$unit,)?)> for $type {
            type Form = Self;

            fn put(&mut self, form: &Self) {
                *self = *form;
            }

            fn show(&self) -> Option<Self> {
                Some(*self)
            }
        })*
    };
}

/// Constants that a file says by a type around them, with a unit or a word for "none".
macro_rules! wrapped_constant {
    ($($type:ty [$($unit:ident)?] as $form:ident,)*) => {
        $(impl $crate::schema::constants::Constant<($($crate::schema::constants::unit::$unit,)?)> for $type {
            type Form = $form;

            fn put(&mut self, form: &$form) {
                *self = form.0;
            }

            fn show(&self) -> Option<$form> {
                Some($form(*self))
            }
        })*
    };
}

/// A constant that is one of several names, documented here and declared as an enum there.
macro_rules! named_constant {
    (
        $(#[$meta:meta])*
        $name:ident of $type:ident { $($(#[$variant_meta:meta])* $variant:ident = $value:ident,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub(crate) enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $crate::schema::constants::Constant<()> for $type {
            type Form = $name;

            fn put(&mut self, form: &$name) {
                *self = match form {
                    $($name::$variant => Self::$value,)+
                };
            }

            fn show(&self) -> Option<$name> {
                Some(match self {
                    $(Self::$value => $name::$variant,)+
                })
            }
        }
    };
}

/// Makes the table of a protocol's constants: keys of its own, which mean something to `apply` and `explicit` only, and
/// one for each constant that the list (see [`ropewalk_units::configuration`]) calls a key.
macro_rules! constants_table {
    (
        $(#[$meta:meta])*
        $table:ident { $($(#[$own_meta:meta])* $own:ident: $own_type:ty,)* }
        $(#[$config_meta:meta])*
        pub struct $config:ident {
            presets { $($presets:tt)* }
            keys { $($(#[$key_meta:meta])* $key:ident: $type:ty $([$unit:ident])? = $first:expr, $second:expr;)* }
            inner { $($inner:tt)* }
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $table {
            $($(#[$own_meta])* pub(crate) $own: Option<$own_type>,)*
            $(
                $(#[$key_meta])*
                $(#[schemars(extend("x-unit" = stringify!($unit)))])?
                pub(crate) $key: Option<
                    <$type as $crate::schema::constants::Constant<($($crate::schema::constants::unit::$unit,)?)>>::Form,
                >,
            )*
        }

        impl $table {
            /// Puts the constants that are given over those of `config`.
            fn put(&self, config: &mut $config) {
                use $crate::schema::constants::Constant;
                $(if let Some(form) = &self.$key {
                    Constant::<($($crate::schema::constants::unit::$unit,)?)>::put(&mut config.$key, form);
                })*
            }

            /// Every constant with its value in `config`; keys of the table's own are left out.
            fn show(config: &$config) -> Self {
                use $crate::schema::constants::Constant;
                Self {
                    $($own: None,)*
                    $($key: Constant::<($($crate::schema::constants::unit::$unit,)?)>::show(&config.$key),)*
                }
            }
        }
    };
}

pub(crate) use {constants_table, named_constant, wrapped_constant};

plain_constant! {
    bool [],
    u32 [],
    u32 [segments],
    u16 [octets],
}

wrapped_constant! {
    Duration [] as Time,
    u32 [octets] as BufferSize,
}

/// A time that files leave out for what the connection measures.
impl Constant<()> for Option<Duration> {
    type Form = Time;

    fn put(&mut self, form: &Time) {
        *self = Some(form.0);
    }

    fn show(&self) -> Option<Time> {
        self.map(Time)
    }
}

/// A number that files leave out for "none".
impl Constant<(unit::segments,)> for Option<u32> {
    type Form = u32;

    fn put(&mut self, form: &u32) {
        *self = Some(*form);
    }

    fn show(&self) -> Option<u32> {
        *self
    }
}
