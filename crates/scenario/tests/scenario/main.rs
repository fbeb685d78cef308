//! The scenario crate from outside: texts in, scenarios or mistakes out.

mod expectations;
mod explain;
mod levels;
mod mutation;
mod roundtrip;
mod rules;
mod schema;
mod shipped;
mod stacks;
mod sweeps;
mod together;

use weft_scenario::{Metrics, Mistakes, Scenario, ScenarioFile};

/// A small scenario without anything optional; tests add lines before the sections and sections behind.
pub(crate) const HEAD: &str = "weft = 1\nname = \"small\"\n";
/// Its sections.
pub(crate) const SECTIONS: &str = r#"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2

[[traffic]]
tag = "web"
load = 0.5
sizes = "10 kB"
"#;
/// The section that most tests add: without it the traffic never ends.
pub(crate) const MEASURE: &str = "\n[measure]\nflows = 100\n";

pub(crate) fn validate(text: &str) -> Result<Scenario, Mistakes> {
    ScenarioFile::parse(text, "test.toml").and_then(|file| file.validate(&Metrics::ANY))
}

/// A correct small scenario with more sections.
pub(crate) fn small(more: &str) -> String {
    format!("{HEAD}{SECTIONS}{MEASURE}{more}")
}

pub(crate) fn accepted(text: &str) -> Scenario {
    validate(text).unwrap_or_else(|mistakes| panic!("{mistakes}\n--- in ---\n{text}"))
}

/// `line: path: message` of every mistake.
pub(crate) fn refused(text: &str) -> Vec<String> {
    match validate(text) {
        Ok(_) => panic!("accepted although wrong:\n{text}"),
        Err(mistakes) => listed(&mistakes),
    }
}

pub(crate) fn listed(mistakes: &Mistakes) -> Vec<String> {
    let line = |mistake: &weft_scenario::Mistake| {
        format!("{}: {}: {}", mistakes.line_column(mistake).line, mistake.path, mistake.message)
    };
    mistakes.list().iter().map(line).collect()
}
