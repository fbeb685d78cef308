//! Limits of expectations with units: `below = "10 ms"`. Must not depend on cases.

use super::quantity::{LimitWithUnit, of_unit};
use super::question::Question;
use super::{Bound, Metrics};
use weft_mistake::Mistake;

/// The unit of what is measured: that of all metrics in a sum or a difference, or of a single one; none for a
/// quotient or a product.
pub(crate) fn unit_of(question: &Question, metrics: &Metrics) -> &'static str {
    let mut units = question.terms().map(|term| (metrics.unit)(&term.metric));
    let first = units.next().unwrap_or_default();
    if question.text.contains(['/', '*']) || units.any(|unit| unit != first) { "" } else { first }
}

/// The limits in the unit of what is measured.
///
/// # Errors
/// A limit has a unit that the measured number lacks.
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
            let unit =
                if unit.is_empty() { "a number without unit".to_owned() } else { format!("in {unit}") };
            let message = format!("`{}` does not fit `{}`, which is {unit}", limit.text, term.metric);
            return Err(wrong(limit, message));
        }
    }
    let factor = if seconds { 1e-6 } else { 1.0 };
    let Bound { low, high, above, below } = question.bound;
    Ok(Bound { low: low * factor, high: high * factor, above: above * factor, below: below * factor })
}
