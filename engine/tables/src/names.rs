//! Enums with named variants. The macro lists each name once, next to its variant.

/// Defines an enum with a name for each variant, for parsing, storing or displaying.
///
/// The enum gets `ALL` (all variants in order), `as_str`, `named` (the variant with a name), `Display`, and the usual
/// derives. A variant without a text has its identifier as its name.
#[macro_export]
macro_rules! names {
    ($(#[$meta:meta])* $vis:vis enum $Name:ident { $($(#[$inner:meta])* $Variant:ident $(= $name:literal)?,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $Name { $($(#[$inner])* $Variant,)+ }

        impl $Name {
            /// All variants in order.
            $vis const ALL: [Self; [$(stringify!($Variant)),+].len()] = [$(Self::$Variant),+];

            /// The name of the variant.
            $vis const fn as_str(self) -> &'static str {
                match self { $(Self::$Variant => $crate::names!(@name $Variant $($name)?),)+ }
            }

            /// Returns the variant with this name, or `None`.
            $vis fn named(name: &str) -> ::core::option::Option<Self> {
                Self::ALL.into_iter().find(|known| known.as_str() == name)
            }
        }

        // Not every enum uses all of them.
        const _: () = {
            let _ = ($Name::ALL, $Name::as_str, $Name::named);
        };

        impl ::core::fmt::Display for $Name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
    (@name $Variant:ident) => { stringify!($Variant) };
    (@name $Variant:ident $name:literal) => { $name };
}

/// Implements `TryFrom<String>` with `FromStr`, and `From` for `String` with `Display`, for a type that serde handles
/// as text.
#[macro_export]
macro_rules! text_types {
    ($($Type:ty: $Error:ty),+ $(,)?) => {$(
        impl ::core::convert::TryFrom<::std::string::String> for $Type {
            type Error = $Error;

            fn try_from(text: ::std::string::String) -> ::core::result::Result<Self, $Error> {
                text.parse()
            }
        }

        impl ::core::convert::From<$Type> for ::std::string::String {
            fn from(value: $Type) -> Self {
                ::std::string::ToString::to_string(&value)
            }
        }
    )+};
}

/// Implements `Display` with `as_str`.
#[macro_export]
macro_rules! displays {
    ($($Type:ty),+ $(,)?) => {$(
        impl ::core::fmt::Display for $Type {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    )+};
}
