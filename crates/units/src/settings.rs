//! Configurations of one default: each setting is declared once, with its meaning and its default.

/// Declares a configuration whose settings have a default each.
///
/// A line is one setting: its documentation, name, type, what a scenario file says for it (`as`, where that is another type),
/// and its default. Whoever reads such files takes the same lines as its table, so the list is a macro that hands them on.
///
/// ```
/// macro_rules! example_keys {
///     ($declare:path) => {
///         $declare! {
///             /// How often it is tried.
///             attempts: u32 = 3;
///         }
///     };
/// }
/// macro_rules! example_config {
///     ($($keys:tt)*) => {
///         ropewalk_units::settings! {
///             /// The settings of an example.
///             #[derive(PartialEq, Debug)]
///             pub struct Config { $($keys)* }
///         }
///     };
/// }
/// example_keys!(example_config);
/// assert_eq!(Config::default(), Config { attempts: 3 });
/// ```
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        pub struct $config:ident { $($(#[$doc:meta])* $key:ident: $type:ty $(as $form:ty)? = $default:expr;)* }
    ) => {
        $(#[$meta])*
        pub struct $config {
            $($(#[$doc])* pub $key: $type,)*
        }

        impl Default for $config {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }
    };
}
