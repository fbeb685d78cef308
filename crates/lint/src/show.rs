//! Findings as text for people, as JSON for scripts, as SARIF for code review.

use crate::rules::rules;
use crate::{Finding, Level, Report};
use serde_json::{Value, json};
use std::fmt::Write;

/// Ports that are named before the rest is only counted.
const NAMED: usize = 3;
/// The page of the rules in the repository.
const PAGE: &str = "docs/src/reference/lint.md";

impl Report {
    /// A paragraph for each finding and a last line that counts them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for finding in &self.findings {
            let place = format!("{}:{}:{}", finding.file, finding.line, finding.column);
            let _ = writeln!(text, "{place}: {}: {} [{}]", finding.level, finding.says, finding.rule);
            let about = about(&finding.subjects);
            if !about.is_empty() {
                let _ = writeln!(text, "    at {about}");
            }
            if let Some(cases) = cases(finding) {
                let _ = writeln!(text, "    {cases}");
            }
            let _ = writeln!(text, "    mend: {}\n    more: {PAGE}#{}", finding.mend, finding.rule);
        }
        for (rule, lacks) in &self.unchecked {
            let _ = writeln!(text, "not checked: {rule} lacks {lacks}");
        }
        let _ = writeln!(text, "{}", self.summary());
        text
    }

    /// `2 files: 1 error, no warnings, 3 notes`
    fn summary(&self) -> String {
        let count = |level| self.findings.iter().filter(|finding| finding.level == level).count();
        let told = |level| match count(level) {
            0 => format!("no {level}s"),
            1 => format!("1 {level}"),
            more => format!("{more} {level}s"),
        };
        let files = if self.files == 1 { "1 file".to_owned() } else { format!("{} files", self.files) };
        format!("{files}: {}, {}, {}", told(Level::Error), told(Level::Warning), told(Level::Note))
    }

    /// An object with `findings`, each with rule, level, file, line, column, subjects, message, mend and page, and `unchecked`.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<Value> = self.findings.iter().map(as_json).collect();
        let unchecked = self.unchecked.iter().map(|(rule, lacks)| json!({"rule": rule, "lacks": lacks}));
        let unchecked: Vec<Value> = unchecked.collect();
        let whole = json!({"files": self.files, "findings": findings, "unchecked": unchecked});
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }

    /// SARIF 2.1.0, as code review and editors read it.
    #[must_use]
    pub fn sarif(&self, version: &str) -> String {
        let rules: Vec<Value> = rules()
            .map(|rule| {
                json!({
                    "id": rule.id,
                    "shortDescription": {"text": rule.title},
                    "fullDescription": {"text": rule.checks},
                    "help": {"text": format!("{} {} See {PAGE}#{}.", rule.why, rule.mend, rule.id)},
                    "defaultConfiguration": {"level": rule.level.to_string()},
                })
            })
            .collect();
        let results: Vec<Value> = self.findings.iter().map(as_sarif).collect();
        let whole = json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {"name": "weft lint", "version": version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        });
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    }
}

/// The first few, and how many more.
fn about(subjects: &[String]) -> String {
    let named: Vec<&str> = subjects.iter().take(NAMED).map(String::as_str).collect();
    match subjects.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// `in 6 of 18 cases, the first balance=drill`; nothing if it is so in all.
fn cases(finding: &Finding) -> Option<String> {
    let (cases, of) = &finding.cases;
    let first = cases.first()?;
    Some(format!("in {} of {of} cases, the first {first}", cases.len()))
}

fn as_json(finding: &Finding) -> Value {
    json!({
        "rule": finding.rule,
        "level": finding.level.to_string(),
        "file": finding.file,
        "line": finding.line,
        "column": finding.column,
        "subjects": finding.subjects,
        "cases": finding.cases.0,
        "message": finding.says,
        "mend": finding.mend,
        "page": format!("{PAGE}#{}", finding.rule),
    })
}

fn as_sarif(finding: &Finding) -> Value {
    let about = about(&finding.subjects);
    let mut at = if about.is_empty() { String::new() } else { format!(" (at {about})") };
    at.extend(cases(finding).map(|cases| format!(" ({cases})")));
    json!({
        "ruleId": finding.rule,
        "level": finding.level.to_string(),
        "message": {"text": format!("{}{at}. To mend it: {}.", finding.says, finding.mend)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&finding.file)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }}],
    })
}

/// A file name as a relative URI: what a URI cannot hold is written in percent.
fn uri(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let letter = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    file.bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_ports_are_counted_and_names_become_addresses() {
        let ports: Vec<String> = (0..5).map(|number| format!("Ethernet{number}")).collect();
        assert_eq!(about(&ports), "Ethernet0, Ethernet1, Ethernet2 and 2 more");
        assert_eq!(about(&ports[..1]), "Ethernet0");
        assert_eq!(uri("my files/leaf.json"), "my%20files/leaf.json");
    }
}
