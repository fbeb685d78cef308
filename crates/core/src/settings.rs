//! One declaration of a setting serves everybody: the scenario parser, its errors, `weft explain`, the JSON Schema
//! and the reference pages all read the [`Table`] that [`settings!`](crate::settings!) writes.
//!
//! A struct declared with `settings!` holds checked values: whoever receives one need not check again.
//!
//! ```
//! weft_core::settings! {
//!     /// How a balancer looks around.
//!     pub struct Sampling {
//!         /// Random samples per packet (the paper's d).
//!         choices: u32 [1, 1024] = 2,
//!         /// How long a sample stays valid; absent: for ever.
//!         expiry: Option<weft_core::Span> = None,
//!     }
//! }
//! use weft_core::settings::Setting;
//! let sampling = Sampling::default();
//! assert_eq!(sampling.choices, 2);
//! assert_eq!(Sampling::TABLE.fields[0].name, "choices");
//! assert_eq!(Sampling::from_value(&sampling.to_value()), sampling);
//! ```

use crate::units::{Bytes, Rate, Span};

/// A checked value of a setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not given, and there is no default: off.
    Absent,
    /// An interval.
    Span(Span),
    /// A size.
    Size(Bytes),
    /// A size in full-size packets.
    Packets(u64),
    /// A rate.
    Rate(Rate),
    /// A whole number.
    Integer(u64),
    /// A number without a unit.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// A text or a word.
    Text(String),
    /// Several values of one kind.
    List(Vec<Value>),
    /// The fields of a table in the order of their declaration, each present once.
    Table(Vec<(&'static str, Value)>),
    /// The chosen member of a family and its settings.
    Member(&'static str, Box<Value>),
}

/// What a setting may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `"2 us"`
    Span,
    /// `"300 kB"`
    Size,
    /// `"300 kB"` or `"65 pkt"`
    Amount,
    /// `"40 Gbps"`
    Rate,
    /// A whole number in a closed range.
    Integer {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
    },
    /// A number in a closed range.
    Number {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// `0.8` or `"80 %"`, in a closed range.
    Share {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// `true` or `false`
    Flag,
    /// Any text.
    Text,
    /// One of some words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// A list of values of one kind.
    List(&'static Kind),
    /// A table of named settings.
    Table(&'static Table),
    /// The fields of this table stand in the parent's table, without a name of their own.
    Flatten(&'static Table),
    /// One member of a family: its name alone (all defaults), or a table named after it.
    Family(&'static Family),
    /// The kind, or nothing; `false` also means nothing.
    Optional(&'static Kind),
}

/// A named setting.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key in the file.
    pub name: &'static str,
    /// Meaning, in a sentence or two, with the source of the default.
    pub doc: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// The value when the file says nothing; `None`: the file must say.
    pub default: Option<fn() -> Value>,
}

/// A group of settings.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The name of the Rust type, for messages about the declaration itself.
    pub name: &'static str,
    /// What the group is for.
    pub doc: &'static str,
    /// The settings in it.
    pub fields: &'static [Field],
}

/// The members of an extension point.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What a member is: `balancer`, `marker`.
    pub name: &'static str,
    /// The members in the order of their list.
    pub members: &'static [Member],
}

/// One member of a family, as `weft list` and the reference show it.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    /// The name in the file.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its settings.
    pub table: &'static Table,
}

impl Table {
    /// All defaults; fields without a default are [`Value::Absent`].
    #[must_use]
    pub fn defaults(&self) -> Value {
        let preset = |field: &Field| match (field.default, field.kind) {
            (Some(default), _) => default(),
            (None, Kind::Flatten(table)) => table.defaults(),
            (None, _) => Value::Absent,
        };
        Value::Table(self.fields.iter().map(|field| (field.name, preset(field))).collect())
    }
}

impl Value {
    /// The value of a field of a table; `Absent` when there is none.
    #[must_use]
    pub fn field(&self, name: &str) -> &Value {
        match self {
            Value::Table(fields) => {
                fields.iter().find(|(key, _)| *key == name).map_or(&Value::Absent, |(_, v)| v)
            }
            _ => &Value::Absent,
        }
    }
}

/// A Rust type that can be a setting.
pub trait Setting: Sized {
    /// What the file may say.
    const KIND: Kind;
    /// From a value that was checked against [`Setting::KIND`]. A value of another kind gives the empty value of
    /// the type (zero, an empty text, the first choice).
    fn from_value(value: &Value) -> Self;
    /// The value that [`Setting::from_value`] turns into this.
    fn to_value(&self) -> Value;
}

/// A share between 0 and 1, written `0.8` or `"80 %"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A size in bytes or in full-size packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// So many bytes.
    Bytes(Bytes),
    /// So many packets of the largest size.
    Packets(u64),
}

impl Amount {
    /// The size in bytes when a full-size packet has `packet` bytes.
    #[must_use]
    pub fn bytes(self, packet: Bytes) -> Bytes {
        match self {
            Amount::Bytes(bytes) => bytes,
            Amount::Packets(n) => packet * n,
        }
    }
}

macro_rules! plain {
    ($type:ty, $kind:expr, $value:pat => $from:expr, $empty:expr, $self:ident => $to:expr) => {
        impl Setting for $type {
            const KIND: Kind = $kind;
            fn from_value(value: &Value) -> Self {
                match value {
                    $value => $from,
                    _ => $empty,
                }
            }
            fn to_value(&self) -> Value {
                let $self = self;
                $to
            }
        }
    };
}
plain!(Span, Kind::Span, Value::Span(span) => *span, Span::ZERO, this => Value::Span(*this));
plain!(Bytes, Kind::Size, Value::Size(bytes) => *bytes, Bytes::ZERO, this => Value::Size(*this));
plain!(Rate, Kind::Rate, Value::Rate(rate) => *rate, Rate(0), this => Value::Rate(*this));
plain!(u64, Kind::Integer { min: 0, max: i64::MAX as u64 }, Value::Integer(n) => *n, 0, this => Value::Integer(*this));
plain!(u32, Kind::Integer { min: 0, max: u32::MAX as u64 }, Value::Integer(n) => *n as u32, 0, this => Value::Integer(u64::from(*this)));
plain!(f64, Kind::Number { min: f64::MIN, max: f64::MAX }, Value::Number(x) => *x, 0.0, this => Value::Number(*this));
plain!(Share, Kind::Share { min: 0.0, max: 1.0 }, Value::Number(x) => Share(*x), Share(0.0), this => Value::Number(this.0));
plain!(bool, Kind::Flag, Value::Flag(flag) => *flag, false, this => Value::Flag(*this));
plain!(String, Kind::Text, Value::Text(text) => text.clone(), String::new(), this => Value::Text(this.clone()));

impl Setting for Amount {
    const KIND: Kind = Kind::Amount;
    fn from_value(value: &Value) -> Self {
        match value {
            Value::Packets(n) => Amount::Packets(*n),
            other => Amount::Bytes(Bytes::from_value(other)),
        }
    }
    fn to_value(&self) -> Value {
        match self {
            Amount::Bytes(bytes) => Value::Size(*bytes),
            Amount::Packets(n) => Value::Packets(*n),
        }
    }
}

impl<T: Setting> Setting for Option<T> {
    const KIND: Kind = Kind::Optional(&T::KIND);
    fn from_value(value: &Value) -> Self {
        (*value != Value::Absent).then(|| T::from_value(value))
    }
    fn to_value(&self) -> Value {
        self.as_ref().map_or(Value::Absent, Setting::to_value)
    }
}

impl<T: Setting> Setting for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
    fn from_value(value: &Value) -> Self {
        match value {
            Value::List(items) => items.iter().map(T::from_value).collect(),
            _ => Vec::new(),
        }
    }
    fn to_value(&self) -> Value {
        Value::List(self.iter().map(Setting::to_value).collect())
    }
}

/// `kind` with other bounds; for numbers, integers and shares only.
#[must_use]
pub const fn bounded(kind: Kind, min: f64, max: f64) -> Kind {
    match kind {
        Kind::Integer { .. } => Kind::Integer { min: min as u64, max: max as u64 },
        Kind::Number { .. } => Kind::Number { min, max },
        Kind::Share { .. } => Kind::Share { min, max },
        _ => panic!("only numbers have bounds"),
    }
}

/// The kind of a field whose settings stand in the parent's table.
#[must_use]
pub const fn flattened(kind: Kind) -> Kind {
    match kind {
        Kind::Table(table) => Kind::Flatten(table),
        _ => panic!("only tables can be flattened"),
    }
}

/// Declares a struct of settings: `name: type [min, max] = default,`. Bounds and default are optional; a field
/// without a default must be given in the file (an `Option` wants `= None`). `[flatten]` in place of bounds puts the
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

#[cfg(test)]
mod tests {
    use super::*;

    choice! {
        /// A word.
        pub(crate) enum Word {
            /// The first.
            First = "first",
            /// The second.
            Second = "second",
        }
    }
    settings! {
        /// Inner.
        pub(crate) struct Inner {
            /// A size.
            size: Bytes = Bytes(5),
        }
    }
    settings! {
        /// Everything at once.
        pub(crate) struct Everything {
            /// Must be given.
            name: String,
            /// Bounded.
            count: u32 [1, 9] = 3,
            /// A word.
            word: Word = Word::Second,
            /// In the same table.
            inner: Inner [flatten],
            /// Off unless given.
            gap: Option<Span> = None,
            /// Many.
            list: Vec<Share> = vec![Share(0.5)],
        }
    }

    #[test]
    fn defaults_and_round_trip() {
        let all = Everything::default();
        assert_eq!((all.count, all.word, all.inner.size, all.gap), (3, Word::Second, Bytes(5), None));
        let changed = Everything { gap: Some(Span::from_us(3)), name: "x".into(), ..all };
        assert_eq!(Everything::from_value(&changed.to_value()), changed);
    }

    #[test]
    fn the_table_knows_bounds_docs_and_requirement() {
        let fields = Everything::TABLE.fields;
        assert!(fields[0].default.is_none() && fields[1].default.is_some());
        assert!(matches!(fields[1].kind, Kind::Integer { min: 1, max: 9 }));
        assert!(matches!(fields[3].kind, Kind::Flatten(table) if table.name == "Inner"));
        assert_eq!(fields[1].doc.trim(), "Bounded.");
    }
}
