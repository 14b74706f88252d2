//! Values that a model has from no publication, each by name: what hangs on them is measured.

use crate::Duration;

/// A value that can be made smaller or larger.
pub trait Scale {
    /// So many times it; whole numbers are rounded.
    #[must_use]
    fn scale(self, factor: f64) -> Self;
}

impl Scale for f64 {
    fn scale(self, factor: f64) -> Self {
        self * factor
    }
}

impl Scale for u32 {
    fn scale(self, factor: f64) -> Self {
        (f64::from(self) * factor + 0.5) as Self
    }
}

impl Scale for Duration {
    fn scale(self, factor: f64) -> Self {
        Self::from_secs_f64(self.as_secs_f64() * factor)
    }
}

/// Declares values that are a model's own: a structure whose default has them, with their names and a way to scale one.
#[macro_export]
macro_rules! tuned {
    (
        $(#[$meta:meta])*
        pub struct $own:ident { $($(#[$doc:meta])* $key:ident: $type:ty = $default:expr;)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub struct $own {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Default for $own {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }

        impl $own {
            /// The names of all.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($key),)*];

            /// Makes the value of this name so many times what it is, if there is one.
            pub fn scale(&mut self, name: &str, factor: f64) {
                match name {
                    $(stringify!($key) => self.$key = $crate::Scale::scale(self.$key, factor),)*
                    _ => {}
                }
            }

            /// The value of this name, as it is printed.
            pub fn show(&self, name: &str) -> Option<String> {
                match name {
                    $(stringify!($key) => Some(format!("{:?}", self.$key)),)*
                    _ => None,
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(unreachable_pub, reason = "what the macro declares is public")]
    mod own {
        crate::tuned! {
            /// Of a test.
            pub struct Own {
                /// A number.
                packets: u32 = 3;
                /// A time.
                wait: crate::Duration = crate::Duration::from_millis(10);
            }
        }
    }
    use own::Own;

    #[test]
    fn one_value_is_scaled_by_its_name() {
        let mut own = Own::default();
        own.scale("packets", 0.5);
        own.scale("wait", 2.0);
        own.scale("nothing", 2.0);
        assert_eq!(own, Own { packets: 2, wait: Duration::from_millis(20) });
        assert_eq!((Own::NAMES, own.show("packets")), (&["packets", "wait"][..], Some("2".into())));
    }
}
