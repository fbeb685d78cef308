//! Limits of expectations with units: `below = "10 ms"`. Must not depend on cases.

use super::resolve::Question;
use super::{Bound, Metrics};
use weft_core::{Bytes, Rate, Span};
use weft_mistake::node::{Content, Toml};
use weft_mistake::{Mistake, SourceSpan};

/// The settings that are limits.
const LIMITS: [&str; 3] = ["about", "below", "above"];

/// What a limit with a unit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dimension {
    Time,
    Size,
    Rate,
    Share,
}

/// A limit with a unit, as written.
#[derive(Clone, Debug)]
pub(crate) struct LimitWithUnit {
    text: String,
    dimension: Dimension,
    place: SourceSpan,
}

/// The number that a text with a unit means: microseconds, bytes, Gbit/s or a fraction.
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

/// Replaces limits with units by numbers; what is no quantity stays, for the decoder to refuse.
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

/// The limits in the unit of what is measured.
///
/// # Errors
/// A limit has a unit that the measured number has not.
pub(crate) fn in_unit_of_metrics(question: &Question, metrics: &Metrics) -> Result<Bound, Mistake> {
    let Some(first) = question.limits.first() else { return Ok(question.bound) };
    let wrong = |limit: &LimitWithUnit, message: String| Mistake::new(limit.place, &question.path, message);
    if question.limits.len() < question.given {
        let message = format!("`{}` has a unit and another limit has none", first.text);
        return Err(wrong(first, message).allowing("a unit for every limit, or for none"));
    }
    let terms = question.expression.terms();
    if terms.len() > 1 && question.text.contains(['/', '*']) {
        let message =
            format!("`{}` has a unit, and a quotient or a product of metrics has none of these", first.text);
        return Err(wrong(first, message).allowing("a number"));
    }
    let mut seconds = false;
    for (term, _) in &terms {
        let unit = (metrics.unit)(&term.metric);
        seconds |= unit == "s";
        let fits = |limit: &&LimitWithUnit| limit.dimension == of_unit(unit).unwrap_or(limit.dimension);
        if let Some(limit) = question.limits.iter().find(|limit| of_unit(unit).is_none() || !fits(limit)) {
            let unit = if unit.is_empty() { "a number without unit" } else { unit };
            let message = format!("`{}` does not fit `{}`, which is in {unit}", limit.text, term.metric);
            return Err(wrong(limit, message));
        }
    }
    let factor = if seconds { 1e-6 } else { 1.0 };
    let Bound { low, high, above, below } = question.bound;
    Ok(Bound { low: low * factor, high: high * factor, above: above * factor, below: below * factor })
}

/// What numbers in a metric's unit measure.
fn of_unit(unit: &str) -> Option<Dimension> {
    match unit {
        "us" | "s" => Some(Dimension::Time),
        "B" => Some(Dimension::Size),
        "Gbps" => Some(Dimension::Rate),
        "" => Some(Dimension::Share),
        _ => None,
    }
}
