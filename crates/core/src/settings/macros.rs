//! The two macros by which settings are declared, [`settings!`](crate::settings!) for structs and
//! [`choice!`](crate::choice!) for words of the file.
//!
//! They generate what `crate::settings` describes and decide nothing themselves.

/// Declares a struct of settings: `name: type [min, max] = default,`. Bounds and default are optional; a field
/// without a default must be given in the file (an `Option` needs `= None`). `[flatten]` instead of bounds puts the
/// fields of a nested struct into this table.
#[macro_export]
macro_rules! settings {
    ($(#[doc = $doc:literal])* $vis:vis struct $name:ident {
        $($(#[doc = $field_doc:literal])* $field:ident : $type:ty $([$($bound:tt)*])? $(= $default:expr)?),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $field_doc])* pub $field: $type,)*
        }

        impl $name {
            #[doc = "What the file may say."]
            #[allow(unreachable_pub, reason = "follows the visibility of the struct")]
            pub const TABLE: $crate::settings::Table = $crate::settings::Table {
                name: stringify!($name),
                doc: concat!($($doc, "\n"),*),
                fields: &[$($crate::settings::Field {
                    name: stringify!($field),
                    doc: concat!($($field_doc, "\n"),*),
                    kind: $crate::kind_of!($type $(, $($bound)*)?),
                    default: $crate::default_of!($type $(, $default)?),
                }),*],
            };
        }

        impl $crate::settings::Setting for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Table(&$name::TABLE);
            fn from_value(value: &$crate::settings::Value) -> Self {
                let _ = value;
                $name { $($field: $crate::settings::Setting::from_value(value.field(stringify!($field)))),* }
            }
            fn to_value(&self) -> $crate::settings::Value {
                $crate::settings::Value::Table(vec![
                    $((stringify!($field), $crate::settings::Setting::to_value(&self.$field))),*
                ])
            }
        }

        impl Default for $name {
            /// Every field at its default; fields without one are empty.
            fn default() -> Self {
                $crate::settings::Setting::from_value(&$name::TABLE.defaults())
            }
        }
    };
}

/// Part of [`settings!`]: the kind of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! kind_of {
    ($type:ty) => {
        <$type as $crate::settings::Setting>::KIND
    };
    ($type:ty, flatten) => {
        $crate::settings::flattened(<$type as $crate::settings::Setting>::KIND)
    };
    ($type:ty, $min:expr, $max:expr) => {
        $crate::settings::bounded(<$type as $crate::settings::Setting>::KIND, $min as f64, $max as f64)
    };
}

/// Part of [`settings!`]: the default of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! default_of {
    ($type:ty) => {
        None
    };
    ($type:ty, $default:expr) => {
        Some(|| {
            let value: $type = $default;
            $crate::settings::Setting::to_value(&value)
        })
    };
}

/// Declares an enum whose variants are words of the file, each with its meaning.
///
/// ```
/// weft_core::choice! {
///     /// Who wins among equals.
///     pub enum Tie { /// A fair draw.
///         Random = "random", /// The lowest port.
///         Lowest = "lowest" }
/// }
/// use weft_core::settings::{Setting, Value};
/// assert_eq!(Tie::from_value(&Value::Text("lowest".into())), Tie::Lowest);
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[doc = $doc:literal])* $vis:vis enum $name:ident {
        $($(#[doc = $variant_doc:literal])* $variant:ident = $word:literal),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name {
            $($(#[doc = $variant_doc])* $variant,)*
        }

        impl $name {
            /// The words and their meanings.
            #[allow(unreachable_pub, reason = "follows the visibility of the enum")]
            pub const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($word, concat!($($variant_doc, "\n"),*))),*];
            const ALL: &'static [$name] = &[$($name::$variant),*];
        }

        impl $crate::settings::Setting for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Choice($name::WORDS);
            fn from_value(value: &$crate::settings::Value) -> Self {
                match value {
                    $($crate::settings::Value::Text(text) if text == $word => $name::$variant,)*
                    _ => $name::ALL[0],
                }
            }
            fn to_value(&self) -> $crate::settings::Value {
                $crate::settings::Value::Text($name::WORDS[*self as usize].0.to_owned())
            }
        }
    };
}
