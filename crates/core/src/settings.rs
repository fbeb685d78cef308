//! One declaration of a setting serves all purposes: the scenario parser, its errors, `weft explain`, the JSON Schema
//! and the reference pages all read the [`Table`] that [`settings!`](crate::settings!) writes.
//!
//! A struct declared with `settings!` holds checked values: no receiver need check again.
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

mod level;
mod macros;
mod types;

use crate::units::{Bytes, Rate, Span};

pub use level::{Named, Override, over};
pub use types::{Amount, Bins, Share};

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
    /// The fields of a table in declaration order, each present once; for an [`Override`], only those given in the
    /// file.
    Table(Vec<(&'static str, Value)>),
    /// The chosen member of a family and its settings.
    Member(&'static str, Box<Value>),
    /// Values under names chosen by the file, in its order.
    Named(Vec<(String, Value)>),
}

/// The kinds of settings.
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
    /// The fields of this table are part of the parent's table, without a name of their own.
    Flatten(&'static Table),
    /// One member of a family: its name alone (all defaults), or a table named after it.
    Family(&'static Family),
    /// The kind, or nothing; `false` also means nothing.
    Optional(&'static Kind),
    /// The kind, keeping only what the file gives: nothing is filled in, and nothing is required.
    Override(&'static Kind),
    /// Values of a kind under names chosen by the file.
    Named(&'static Kind),
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
    /// The value if the file gives none; `None`: the file must give one.
    pub default: Option<fn() -> Value>,
}

/// A group of settings.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The name of the Rust type, for messages about the declaration itself.
    pub name: &'static str,
    /// The purpose of the group.
    pub doc: &'static str,
    /// The settings in it.
    pub fields: &'static [Field],
}

/// The members of an extension point.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// What a member is called: `balancer`, `marker`.
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

    /// Whether a field is present: in a complete table each is, in an [`Override`] those given in the file.
    #[must_use]
    pub fn says(&self, name: &str) -> bool {
        match self {
            Value::Table(fields) => fields.iter().any(|(key, _)| *key == name),
            _ => true,
        }
    }
}

/// A Rust type that can be a setting.
pub trait Setting: Sized {
    /// What the file may contain.
    const KIND: Kind;
    /// From a value that was checked against [`Setting::KIND`]. A value of another kind gives the empty value of
    /// the type (zero, an empty text, the first choice).
    fn from_value(value: &Value) -> Self;
    /// The value that [`Setting::from_value`] turns into this.
    fn to_value(&self) -> Value;
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

/// The kind of a field whose settings are part of the parent's table.
#[must_use]
pub const fn flattened(kind: Kind) -> Kind {
    match kind {
        Kind::Table(table) => Kind::Flatten(table),
        _ => panic!("only tables can be flattened"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{choice, settings};

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
