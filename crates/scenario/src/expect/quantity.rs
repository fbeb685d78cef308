//! Quantities in limits: `below = "10 ms"`. Must not depend on expectations.

use weft_core::{Bytes, Rate, Span};
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Toml};

/// The settings that are limits.
const LIMITS: [&str; 3] = ["about", "below", "above"];

/// The quantity that a limit with a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dimension {
    Time,
    Size,
    Rate,
    Share,
}

/// A limit with a unit, as written.
#[derive(Clone, Debug)]
pub(crate) struct LimitWithUnit {
    pub(super) text: String,
    pub(super) dimension: Dimension,
    pub(super) place: SourceSpan,
}

/// The number given by a text with a unit: microseconds, bytes, Gbit/s or a fraction.
fn quantity(text: &str) -> Option<(f64, Dimension)> {
    let time = || Some((text.parse::<Span>().ok()?.micros(), Dimension::Time));
    let size = || Some((text.parse::<Bytes>().ok()?.0 as f64, Dimension::Size));
    let rate = || Some((text.parse::<Rate>().ok()?.gbps(), Dimension::Rate));
    let share = || {
        let percent = text.strip_suffix('%')?.trim().parse::<f64>().ok()?;
        Some((percent / 100.0, Dimension::Share))
    };
    time().or_else(size).or_else(rate).or_else(share)
}

/// Replaces limits with units by numbers; anything that is not a quantity stays, for the decoder to refuse.
pub(crate) fn without_units(node: &mut Toml) -> Vec<LimitWithUnit> {
    let Content::Table(entries) = &mut node.content else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.iter_mut().filter(|entry| LIMITS.contains(&entry.key.as_str())) {
        let Content::Text(text) = &entry.node.content else { continue };
        if let Some((number, dimension)) = quantity(text) {
            found.push(LimitWithUnit { text: text.clone(), dimension, place: entry.node.place });
            entry.node.content = Content::Float(number);
        }
    }
    found
}

/// The quantity that numbers in a metric's unit measure.
pub(super) fn of_unit(unit: &str) -> Option<Dimension> {
    match unit {
        "us" | "s" => Some(Dimension::Time),
        "B" => Some(Dimension::Size),
        "Gbps" => Some(Dimension::Rate),
        "" => Some(Dimension::Share),
        _ => None,
    }
}
