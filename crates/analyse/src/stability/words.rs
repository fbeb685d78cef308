//! The results of runs of switches with unequal outputs, as a table and as JSON. Computes nothing.

use serde_json::{Value, json};
use weft_draw::Columns;

use super::{Course, System, Verdict};

pub(super) fn listed(system: &System, course: &Course) -> Value {
    json!({
        "rates": system.rates,
        "load": system.load,
        "choices": system.choices,
        "memory": system.memory,
        "engines": system.engines,
        "growth_predicted": system.predicted(),
        "growth": course.growth,
        "growth_error": course.error,
        "left": course.left,
        "grows": course.verdict.grows(),
    })
}

/// `40,1x15`.
fn short(rates: &[u64]) -> String {
    let runs = rates.chunk_by(|a, b| a == b).map(|same| match same.len() {
        1..=3 => vec![same[0].to_string(); same.len()].join(","),
        many => format!("{}x{many}", same[0]),
    });
    runs.collect::<Vec<_>>().join(",")
}

/// Formats with three digits after the point; a value that rounds to zero has no sign.
fn three_digits(value: f64) -> String {
    let text = format!("{value:.3}");
    text.strip_prefix('-')
        .filter(|rest| rest.chars().all(|c| "0.".contains(c)))
        .map_or(text.clone(), str::to_owned)
}

pub(super) fn shown(rows: &[(System, Course)], units: u64) -> String {
    let header = ["outputs", "load", "d:m", "engines", "predicted", "found", "+-", "once", "twice", ""];
    let cells: Vec<Vec<String>> = rows.iter().map(|(system, course)| row(system, course)).collect();
    format!(
        "One switch, outputs of unequal rates, Poisson arrivals, packets of one size.\n\
         A unit of time is a packet at rate 1. Growth of the backlog, predicted and found, and\n\
         the backlog after {units} units (once) and after {} units (twice).\n\n{}{}\n\
         Predicted without memory: what misses the k fastest outputs less what the others can\n\
         send, for the worst k (k = 1: theorem 1 of the DRILL paper); with memory nothing.\n\
         +-: standard error of the measured growth; growth means four of them above zero.\n",
        2 * units,
        Columns::table(&header, &cells),
        too_short(rows),
    )
}

/// Formats a load with two decimals, or with as many as it was given.
fn share(load: f64) -> String {
    let short = format!("{load:.2}");
    if short.parse() == Ok(load) { short } else { load.to_string() }
}

fn row(system: &System, course: &Course) -> Vec<String> {
    vec![
        short(&system.rates),
        share(system.load),
        format!("{}:{}", system.choices, system.memory),
        system.engines.to_string(),
        format!("{:.3}", system.predicted()),
        three_digits(course.growth),
        format!("{:.3}", course.error),
        course.left[0].to_string(),
        course.left[1].to_string(),
        course.verdict.word().to_owned(),
    ]
}

/// How long runs would have to be to decide; empty if all are decided.
pub(super) fn too_short(rows: &[(System, Course)]) -> String {
    let needed = rows.iter().filter_map(|(_, course)| match course.verdict {
        Verdict::Unclear(units) => Some(units),
        _ => None,
    });
    let words = |units| {
        format!(
            "\nThese runs are too short to decide the cases marked unclear; --units {units} would suffice.\n"
        )
    };
    needed.max().map_or(String::new(), words)
}

#[cfg(test)]
mod tests {
    use super::{share, three_digits};

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        assert_eq!([-0.0004, -0.0006, 0.0, -1.5].map(three_digits), ["0.000", "-0.001", "0.000", "-1.500"]);
    }

    #[test]
    fn a_load_below_one_is_not_shown_as_one() {
        assert_eq!([0.9, 0.75, 0.999, 0.125].map(share), ["0.90", "0.75", "0.999", "0.125"]);
    }
}
