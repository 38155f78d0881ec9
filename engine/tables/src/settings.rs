//! Tables of settings.

/// Defines a constant for each setting, and `SETTINGS`, which lists them in order.
///
/// Each row contains the name of the constant, the key in a settings file in parentheses (optional), the environment
/// variables, and the help. `Setting` is a struct at the call site with the fields `names`, `key` and `help`.
#[macro_export]
macro_rules! settings {
    ($($NAME:ident $(($key:literal))? = $($variable:literal)+ : $help:literal;)+) => {
        $(
            #[doc = $help]
            pub(crate) const $NAME: Setting = Setting {
                names: &[$($variable),+],
                key: $crate::settings!(@key $($key)?),
                help: $help,
            };
        )+

        /// All settings.
        pub(crate) const SETTINGS: &[&Setting] = &[$(&$NAME),+];
    };
    (@key) => { ::core::option::Option::None };
    (@key $key:literal) => { ::core::option::Option::Some($key) };
}
