//! Tables of keys that become a struct: each key is declared once, with its type, what a file says for it, its default
//! and its documentation.

use super::quantity::{
    Angle, BitRate, BufferSize, Chance, Coordinate, Decibels, Length, Limit, Name, Point, Power, Rectangle,
    Size, Speed, Time, TimeShift,
};
use ropewalk_sim::QueueLimit;
use ropewalk_units::{Bytes, Duration, Instant, Probability, Rate};
use ropewalk_wifi::position::{Area, Position};

/// A value that a file says as a `Form`.
pub(crate) trait Value<Form>: Sized {
    /// The value that the file says.
    fn read(form: &Form) -> Self;
    /// What a file would have to say for this value; `None` if it would say nothing.
    fn show(&self) -> Option<Form>;
}

/// What a file would have to say for a default.
pub(crate) fn said<T: Value<Form>, Form>(value: T) -> Option<Form> {
    value.show()
}

/// The type that stands in the file: that behind `as`, or the value's own.
macro_rules! form {
    ($type:ty) => {
        $type
    };
    ($type:ty, $form:ty) => {
        $form
    };
}

/// A config that its table says without further help: no default of it follows from elsewhere.
macro_rules! table_value {
    ($table:ident, $config:ident) => {
        impl $crate::schema::table::Value<$table> for $config {
            fn read(form: &$table) -> Self {
                form.read()
            }

            fn show(&self) -> Option<$table> {
                $table::show(self)
            }
        }
    };
    ($table:ident, $config:ident, computed { $($key:ident)* }) => {};
}

/// Declares a table and how it becomes a struct, and back:
///
/// - `own`: keys that the struct does not have, for whoever reads the table;
/// - `inner`: tables by name and lists of tables that the struct does not have, empty if the file has none;
/// - `required`: keys that must be given;
/// - `computed`: keys whose default follows from others: whoever reads the table says it;
/// - `keys`: all others, each with its default;
/// - `other`: keys with defaults that the struct does not have, for whoever reads the table;
/// - `fixed`: what the struct has beside, and no key says.
///
/// A line is the documentation of a key, its name, its type in the struct, what a file says for it (`as`), and its
/// default. With `struct` the struct is declared too.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $table:ident => $(#[$struct_meta:meta])* $vis:vis struct $config:ident {
            $(own { $($own:tt)* })?
            $(inner { $($inner:tt)* })?
            $(required { $($(#[$req_meta:meta])* $req:ident: $req_type:ty $(as $req_form:ty)?;)* })?
            $(computed { $($(#[$comp_meta:meta])* $comp:ident: $comp_type:ty $(as $comp_form:ty)?;)* })?
            $(keys { $($(#[$key_meta:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)* })?
            $(other { $($other:tt)* })?
            $(fixed { $($(#[$fixed_meta:meta])* $fixed:ident: $fixed_type:ty = $fixed_value:expr;)* })?
        }
    ) => {
        $(#[$struct_meta])*
        $vis struct $config {
            $($($(#[$fixed_meta])* pub $fixed: $fixed_type,)*)?
            $($($(#[$req_meta])* pub $req: $req_type,)*)?
            $($($(#[$comp_meta])* pub $comp: $comp_type,)*)?
            $($($(#[$key_meta])* pub $key: $type,)*)?
        }

        $crate::schema::table::table! {
            $(#[$meta])*
            $table of $config {
                $(own { $($own)* })?
                $(inner { $($inner)* })?
                $(required { $($(#[$req_meta])* $req: $req_type $(as $req_form)?;)* })?
                $(computed { $($(#[$comp_meta])* $comp: $comp_type $(as $comp_form)?;)* })?
                $(keys { $($(#[$key_meta])* $key: $type $(as $form)? = $default;)* })?
                $(other { $($other)* })?
                $(fixed { $($fixed: $fixed_value;)* })?
            }
        }
    };
    (
        $(#[$meta:meta])*
        $table:ident of $config:ident {
            $(own { $($(#[$own_meta:meta])* $own:ident: $own_type:ty;)* })?
            $(inner { $($(#[$inner_meta:meta])* $inner:ident: $inner_type:ty;)* })?
            $(required { $($(#[$req_meta:meta])* $req:ident: $req_type:ty $(as $req_form:ty)?;)* })?
            $(computed { $($(#[$comp_meta:meta])* $comp:ident: $comp_type:ty $(as $comp_form:ty)?;)* })?
            $(keys { $($(#[$key_meta:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)* })?
            $(other { $($(#[$other_meta:meta])* $other:ident: $other_type:ty $(as $other_form:ty)? = $other_default:expr;)* })?
            $(fixed { $($fixed:ident: $fixed_value:expr;)* })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub(crate) struct $table {
            $($(
                $(#[$req_meta])*
                pub(crate) $req: $crate::schema::table::form!($req_type $(, $req_form)?),
            )*)?
            $($($(#[$own_meta])* pub(crate) $own: Option<$own_type>,)*)?
            $($(
                $(#[$comp_meta])*
                pub(crate) $comp: Option<$crate::schema::table::form!($comp_type $(, $comp_form)?)>,
            )*)?
            $($(
                $(#[$key_meta])*
                #[schemars(extend("default" =
                    ($crate::schema::table::said::<$type, $crate::schema::table::form!($type $(, $form)?)>($default))
                ))]
                pub(crate) $key: Option<$crate::schema::table::form!($type $(, $form)?)>,
            )*)?
            $($(
                $(#[$other_meta])*
                #[schemars(extend("default" =
                    ($crate::schema::table::said::<
                        $other_type, $crate::schema::table::form!($other_type $(, $other_form)?)
                    >($other_default))
                ))]
                pub(crate) $other: Option<$crate::schema::table::form!($other_type $(, $other_form)?)>,
            )*)?
            $($($(#[$inner_meta])* #[serde(default)] pub(crate) $inner: $inner_type,)*)?
        }

        impl $table {
            /// What the table says, with the defaults.
            pub(crate) fn read(&self $($(, $comp: $comp_type)*)?) -> $config {
                use $crate::schema::table::Value as _;
                $config {
                    $($($req: <$req_type>::read(&self.$req),)*)?
                    $($($comp: self.$comp.as_ref().map_or($comp, |form| <$comp_type>::read(form)),)*)?
                    $($($key: self.$key.as_ref().map_or_else(|| $default, |form| <$type>::read(form)),)*)?
                    $($($fixed: $fixed_value,)*)?
                }
            }

            /// The table that says everything; the table's own keys and inner tables are left out.
            pub(crate) fn show(config: &$config) -> Option<Self> {
                use $crate::schema::table::Value as _;
                Some(Self {
                    $($($own: None,)*)?
                    $($($inner: Default::default(),)*)?
                    $($($req: config.$req.show()?,)*)?
                    $($($comp: config.$comp.show(),)*)?
                    $($($key: config.$key.show(),)*)?
                    $($($other: None,)*)?
                })
            }
        }

        $crate::schema::table::table_value!($table, $config $(, computed { $($comp)* })?);
    };
}

pub(crate) use {form, table, table_value};

/// A table with its defaults written out.
pub(crate) fn full<T: Value<Form>, Form: Clone>(form: &Form) -> Form {
    T::read(form).show().unwrap_or_else(|| form.clone())
}

/// Values that a file says as they are.
macro_rules! plain_value {
    ($($type:ty,)*) => {
        $(impl $crate::schema::table::Value<Self> for $type {
            fn read(form: &Self) -> Self {
                form.clone()
            }

            fn show(&self) -> Option<Self> {
                Some(self.clone())
            }
        })*
    };
}

/// Values that a file says by a type around them.
macro_rules! wrapped_value {
    ($($type:ty as $form:ident,)*) => {
        $(impl Value<$form> for $type {
            fn read(form: &$form) -> Self {
                form.0
            }

            fn show(&self) -> Option<$form> {
                Some($form(*self))
            }
        })*
    };
}

/// Values that a file says by a name: the variants of both are called alike.
macro_rules! named_value {
    ($type:ty as $names:ident { $($variant:ident),+ $(,)? }) => {
        impl $crate::schema::table::Value<$names> for $type {
            fn read(form: &$names) -> Self {
                match form {
                    $($names::$variant => Self::$variant,)+
                }
            }

            fn show(&self) -> Option<$names> {
                Some(match self {
                    $(Self::$variant => $names::$variant,)+
                })
            }
        }
    };
}

pub(crate) use {named_value, plain_value};

plain_value! {
    bool,
    u8,
    u32,
    u64,
    f64,
    String,
}

wrapped_value! {
    Duration as Time,
    Probability as Chance,
    Rate as BitRate,
    i64 as TimeShift,
    f64 as Angle,
    f64 as Length,
    f64 as Speed,
    f64 as Decibels,
    f64 as Power,
    u32 as BufferSize,
    QueueLimit as Limit,
}

/// Something that files leave out for "none".
impl<Form, T: Value<Form>> Value<Form> for Option<T> {
    fn read(form: &Form) -> Self {
        Some(T::read(form))
    }

    fn show(&self) -> Option<Form> {
        self.as_ref().and_then(T::show)
    }
}

/// A list of values that files say one by one.
impl<Form, T: Value<Form>> Value<Vec<Form>> for Vec<T> {
    fn read(form: &Vec<Form>) -> Self {
        form.iter().map(T::read).collect()
    }

    fn show(&self) -> Option<Vec<Form>> {
        self.iter().map(T::show).collect()
    }
}

/// … and a fixed number of them.
impl<Form, T: Value<Form>, const N: usize> Value<[Form; N]> for [T; N] {
    fn read(form: &[Form; N]) -> Self {
        form.each_ref().map(T::read)
    }

    fn show(&self) -> Option<[Form; N]> {
        self.iter().map(T::show).collect::<Option<Vec<Form>>>()?.try_into().ok()
    }
}

/// A limit in packets: one in octets is refused before it is read.
impl Value<Limit> for u32 {
    fn read(form: &Limit) -> Self {
        match form.0 {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(_) => Self::MAX,
        }
    }

    fn show(&self) -> Option<Limit> {
        Some(Limit(QueueLimit::Packets(*self)))
    }
}

/// A size that is checked before it is read.
impl Value<Size> for u32 {
    fn read(form: &Size) -> Self {
        Self::try_from(form.0.get()).unwrap_or(Self::MAX)
    }

    fn show(&self) -> Option<Size> {
        Some(Size(Bytes::new(u64::from(*self))))
    }
}

impl Value<Size> for u64 {
    fn read(form: &Size) -> Self {
        form.0.get()
    }

    fn show(&self) -> Option<Size> {
        Some(Size(Bytes::new(*self)))
    }
}

/// A time since the simulation's start.
impl Value<Time> for Instant {
    fn read(form: &Time) -> Self {
        Self::ZERO + form.0
    }

    fn show(&self) -> Option<Time> {
        Some(Time(*self - Self::ZERO))
    }
}

impl Value<Name> for String {
    fn read(form: &Name) -> Self {
        form.0.clone()
    }

    fn show(&self) -> Option<Name> {
        Some(Name(self.clone()))
    }
}

impl Value<Rectangle> for Area {
    fn read(form: &Rectangle) -> Self {
        let Rectangle([width, height]) = form;
        Self { width: width.0, height: height.0 }
    }

    fn show(&self) -> Option<Rectangle> {
        Some(Rectangle([Length(self.width), Length(self.height)]))
    }
}

impl Value<Point> for Position {
    fn read(form: &Point) -> Self {
        let Point([x, y]) = form;
        Self::new(x.0, y.0)
    }

    fn show(&self) -> Option<Point> {
        Some(Point([Coordinate(self.x), Coordinate(self.y)]))
    }
}

/// A probability that the configuration has as a number.
impl Value<Chance> for f64 {
    fn read(form: &Chance) -> Self {
        form.0.get()
    }

    fn show(&self) -> Option<Chance> {
        Probability::new(*self).map(Chance)
    }
}
