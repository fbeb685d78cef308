//! `weft explain`: every setting with its value, who said so, and what it means.
//!
//! Reads declarations and provenance; decides nothing.

use crate::decode::Provenance;
use crate::model::ScenarioSettings;
use crate::node::Origin;
use crate::rows::{rows, words};
use crate::scenario::{Case, Resolved, Scenario};
use crate::source::Sources;
use weft_core::settings::{Kind, Value};
use weft_draw::indented;

/// A setting, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Dotted path, as sweeps and `--set` use it.
    pub path: String,
    /// The value in effect, with its unit.
    pub value: String,
    /// What the value measures: `time`, `size`, `rate`, `share`; empty for numbers and words.
    pub unit: &'static str,
    /// `default`, `drill-80.toml:13`, `sweep at drill-80.toml:40`, `demo at ...` or `command line`.
    pub origin: String,
    /// The setting's documentation.
    pub meaning: String,
}

impl Scenario {
    /// Explains the file's own settings; with a `prefix`, only those at or below this path.
    #[must_use]
    pub fn explain(&self, prefix: Option<&str>) -> Vec<Explanation> {
        explain(&self.base, &self.file.sources, prefix.unwrap_or(""))
    }

    /// Explains the settings of one case of the sweep.
    #[must_use]
    pub fn explain_case(&self, case: &Case, prefix: Option<&str>) -> Vec<Explanation> {
        explain(&case.resolved, &self.file.sources, prefix.unwrap_or(""))
    }

    /// All paths of the scenario, for messages about a prefix that names none.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.explain(None).into_iter().map(|row| row.path).collect()
    }
}

fn explain(resolved: &Resolved, sources: &Sources, prefix: &str) -> Vec<Explanation> {
    let Resolved { value, provenance } = resolved;
    let row = |row: crate::rows::Row| {
        let path = provenance.tagged(&row.path);
        Explanation {
            value: words(&row.value),
            unit: unit(&row.field.kind, &row.value),
            origin: origin(provenance, sources, &path),
            meaning: one_line(row.field.doc),
            path,
        }
    };
    let all = rows(&ScenarioSettings::TABLE, value).into_iter().map(row);
    all.filter(|row| covers(prefix, &row.path)).collect()
}

fn covers(prefix: &str, path: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A documentation text without its line breaks.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unit(kind: &Kind, value: &Value) -> &'static str {
    match (kind, value) {
        (_, Value::Span(_)) => "time",
        (_, Value::Size(_) | Value::Packets(_)) => "size",
        (_, Value::Rate(_)) => "rate",
        (Kind::Share { .. } | Kind::Optional(Kind::Share { .. }), Value::Number(_)) => "share",
        _ => "",
    }
}

fn origin(provenance: &Provenance, sources: &Sources, path: &str) -> String {
    let Some(said) = provenance.at(path) else { return "default".to_owned() };
    let place = || format!("{}:{}", sources.source(said.place).name, sources.line_column(said.place).line);
    match said.origin {
        Origin::Default => "default".to_owned(),
        Origin::File => place(),
        Origin::Sweep => format!("sweep at {}", place()),
        Origin::Demo => format!("demo at {}", place()),
        Origin::CommandLine => "command line".to_owned(),
    }
}

/// Where meanings begin.
const INDENT: usize = 6;

/// The rows as text of at most 80 columns wherever words allow: one block per section, and for each setting its name,
/// value and origin on one line and its meaning below.
#[must_use]
pub fn table(rows: &[Explanation]) -> String {
    let mut text = String::new();
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let section = split(&first.path).0;
        let until = rest.iter().position(|row| split(&row.path).0 != section).unwrap_or(rest.len());
        text += &block(section, &rest[..until]);
        rest = &rest[until..];
    }
    text
}

/// A path as section and name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

fn block(section: &str, rows: &[Explanation]) -> String {
    let width = |text: fn(&Explanation) -> &str| rows.iter().map(|row| text(row).chars().count()).max();
    let name = width(|row| split(&row.path).1).unwrap_or(0);
    let value = width(|row| &row.value).unwrap_or(0).min(24);
    let line = |row: &Explanation| {
        let head = format!("  {:name$}  {:value$}  {}", split(&row.path).1, row.value, row.origin);
        format!("{}\n{}", head.trim_end(), indented(&row.meaning, INDENT))
    };
    let title = if section.is_empty() { String::new() } else { format!("{section}\n") };
    format!("{title}{}\n", rows.iter().map(line).collect::<String>())
}
