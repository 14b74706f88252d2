//! Configurations of protocols: each constant is declared once, with its unit, its meaning and what the presets say.

/// Declares a configuration with two presets.
///
/// A line of `keys` or `inner` is one constant: its documentation, name, type and unit, and what each preset says, in
/// the order in which `presets` names them. `keys` are what a scenario file may set; whoever reads such files takes the
/// same lines as its table, so the list is a macro that hands them on. `inner` is what no file sets.
///
/// ```
/// macro_rules! example_constants {
///     ($declare:path) => {
///         $declare! {
///             /// The constants of an example.
///             #[derive(PartialEq, Debug)]
///             pub struct Config {
///                 presets {
///                     /// As today.
///                     modern,
///                     /// As long ago.
///                     classic,
///                 }
///                 keys {
///                     /// Initial window.
///                     initial_window: u32 [segments] = 10, 1;
///                 }
///                 inner {
///                     /// Tell everything.
///                     trace: bool = false, false;
///                 }
///             }
///         }
///     };
/// }
/// example_constants!(ropewalk_units::configuration);
/// assert_eq!(Config::modern().initial_window, 10);
/// assert_eq!(Config::classic(), Config { initial_window: 1, trace: false });
/// ```
#[macro_export]
macro_rules! configuration {
    (
        $(#[$meta:meta])*
        pub struct $config:ident {
            presets {
                $(#[$first_meta:meta])* $first:ident,
                $(#[$second_meta:meta])* $second:ident,
            }
            keys { $($(#[$key_meta:meta])* $key:ident: $key_type:ty $([$unit:ident])? = $key_first:expr, $key_second:expr;)* }
            inner { $($(#[$inner_meta:meta])* $inner:ident: $inner_type:ty = $inner_first:expr, $inner_second:expr;)* }
        }
    ) => {
        $(#[$meta])*
        pub struct $config {
            $($(#[$key_meta])* pub $key: $key_type,)*
            $($(#[$inner_meta])* pub $inner: $inner_type,)*
        }

        impl $config {
            $(#[$first_meta])*
            pub fn $first() -> Self {
                Self { $($key: $key_first,)* $($inner: $inner_first,)* }
            }

            $(#[$second_meta])*
            pub fn $second() -> Self {
                Self { $($key: $key_second,)* $($inner: $inner_second,)* }
            }
        }
    };
}
