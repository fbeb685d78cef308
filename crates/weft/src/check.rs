//! The report of `weft check`, as text and as JSON: mistakes or, if there are none, remarks and the cost of the runs.

use std::path::Path;

use serde_json::{Value, json};
use weft_draw::text::plural;
use weft_report::terminal::{WIDTH, wrapped};
use weft_scenario::{Scenario, ScenarioFile};

use crate::{CheckReport, Error, estimate, linter, page};

/// Reads a scenario and reports all its mistakes at once.
pub(crate) fn check(path: &Path, set: &[String]) -> Result<CheckReport, Error> {
    let checked = ScenarioFile::read(path, set, false).and_then(|file| file.validate(&weft_prepare::METRICS));
    Ok(match checked {
        Ok(scenario) => sound(path, &scenario),
        Err(mistakes) => CheckReport {
            mistakes: mistakes.list().len(),
            rendered: mistakes.draw(page::colour()),
            json: mistakes.json(),
        },
    })
}

/// The report on a scenario without mistakes.
fn sound(path: &Path, scenario: &Scenario) -> CheckReport {
    let remarks = linter::remarks(scenario, path);
    let rendered = remarks.iter().map(|remark| text(remark)).collect::<String>()
        + &praise(path, scenario)
        + &estimate::words(scenario, path.parent().unwrap_or(Path::new(".")));
    let objects = remarks.iter().map(|remark| object(path, remark)).collect();
    CheckReport { mistakes: 0, rendered, json: format!("{:#}", Value::Array(objects)) }
}

/// A remark as lines of text, the first of which is marked.
fn text(remark: &str) -> String {
    let lines = wrapped(remark, WIDTH - 2).into_iter().enumerate();
    lines.map(|(n, line)| format!("{} {line}\n", if n == 0 { '!' } else { ' ' })).collect()
}

/// A remark with the keys of a mistake. It concerns no single place of the file.
fn object(path: &Path, remark: &str) -> Value {
    json!({
        "level": "remark", "file": path.display().to_string(), "line": null, "column": null,
        "path": "", "message": remark, "allowed": null, "nearest": null,
    })
}

/// The line on a scenario without mistakes.
fn praise(path: &Path, scenario: &Scenario) -> String {
    let (cases, seeds) = (scenario.cases().len() as u64, scenario.settings.seeds.len() as u64);
    let runs = match (cases, seeds) {
        (1, _) | (_, 1) => plural(cases * seeds, "run"),
        _ => format!("{} with {seeds} seeds each, {}", plural(cases, "case"), plural(cases * seeds, "run")),
    };
    format!("{}: no mistakes; {runs}\n", path.display())
}
