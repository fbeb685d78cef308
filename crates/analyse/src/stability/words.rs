//! The results of runs of switches with unequal outputs, as a table and as JSON. Computes nothing.

use serde_json::{Value, json};

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

pub(super) fn shown(rows: &[(System, Course)], units: u64) -> String {
    let mut text = format!(
        "One switch, outputs of unequal rates, Poisson arrivals, packets of one size.\n\
         A unit of time is a packet at rate 1; backlogs after {units} and {} units.\n\n\
         {:<10} {:>4} {:>5} {:>7} {:>24} {:>13}\n\
         {:<10} {:>4} {:>5} {:>7} {:>9} {:>7} {:>6} {:>6} {:>6}\n",
        2 * units,
        "outputs",
        "load",
        "d:m",
        "engines",
        "growth",
        "backlog",
        "",
        "",
        "",
        "",
        "predicted",
        "found",
        "+-",
        "once",
        "twice"
    );
    rows.iter().for_each(|(system, course)| text += &row(system, course));
    text += &too_short(rows);
    text + "\nPredicted without memory: (1 - d/N) of the arrivals less what all but the fastest\n\
            output can send (theorem 1 of the DRILL paper); with memory nothing (theorem 2).\n\
            +-: standard error of the measured growth; growth means four of them above zero.\n"
}

fn row(system: &System, course: &Course) -> String {
    format!(
        "{:<10} {:>4.2} {:>5} {:>7} {:>9.3} {:>7.3} {:>6.3} {:>6} {:>6} {}\n",
        short(&system.rates),
        system.load,
        format!("{}:{}", system.choices, system.memory),
        system.engines,
        system.predicted(),
        course.growth,
        course.error,
        course.left[0],
        course.left[1],
        course.verdict.word(),
    )
}

/// How long runs would have to be to decide; empty if all do.
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
