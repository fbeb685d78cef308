//! The Rust types that can be settings: numbers, units, texts, shares, amounts, and options and lists of them.
//!
//! Must not depend on parsers; it only maps values to types.

use super::{Kind, Setting, Value};
use crate::units::{Bytes, Rate, Span};

/// A share between 0 and 1, written `0.8` or `"80 %"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

/// A number of bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bins(pub u32);

/// A size in bytes or in full-size packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A size in bytes.
    Bytes(Bytes),
    /// A size in packets of the largest size.
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
plain!(Bins, Kind::Integer { min: 0, max: 10_000 }, Value::Integer(n) => Bins(*n as u32), Bins(0), this => Value::Integer(u64::from(this.0)));
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
