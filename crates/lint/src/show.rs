//! Findings as text for people, JSON for scripts, and SARIF for code review.

use crate::rules::rules;
use crate::{Coverage, FileKind, Finding, Report, Severity};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::fmt::Write;

/// Maximum number of ports named; the rest are only counted.
const NAMED: usize = 3;
/// Maximum number of skipped items named; the rest are only counted.
const PASSED_OVER: usize = 8;
/// The page of the rules in the repository.
const PAGE: &str = "docs/src/reference/lint.md";

impl Report {
    /// One paragraph per finding, the coverage of each file, and a summary line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (finding, elsewhere) in self.grouped() {
            let _ =
                writeln!(text, "{}: {}: {} [{}]", place(finding), finding.level, finding.says, finding.rule);
            let lines = [
                some(about(&finding.subjects)).map(|about| format!("at {about}")),
                some(about(&elsewhere)).map(|places| format!("also {places}")),
                cases(finding),
            ];
            for line in lines.into_iter().flatten() {
                let _ = writeln!(text, "    {line}");
            }
            let _ =
                writeln!(text, "    fix: {}\n    more: weft lint --explain {}", finding.fix, finding.rule);
        }
        for (rule, lacks) in &self.unchecked {
            let _ = writeln!(text, "not checked: {rule} lacks {lacks}");
        }
        self.read.iter().for_each(|read| text.push_str(&covered(read)));
        if let Some(known) = &self.known {
            let _ = writeln!(text, "baseline: {} known, {} of it no longer found", known.known, known.gone);
        }
        let _ = writeln!(text, "{}", self.summary());
        text
    }

    /// Each finding, with the positions of equal findings in other files.
    fn grouped(&self) -> Vec<(&Finding, Vec<String>)> {
        let mut groups: Vec<(&Finding, Vec<String>)> = Vec::new();
        let mut known: HashMap<(&str, Severity, &str), usize> = HashMap::new();
        for finding in &self.findings {
            let key = (finding.rule, finding.level, finding.says.as_str());
            match known.get(&key) {
                Some(group) if groups[*group].0.file != finding.file => groups[*group].1.push(place(finding)),
                _ => {
                    known.insert(key, groups.len());
                    groups.push((finding, Vec::new()));
                }
            }
        }
        groups
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
        format!("{files}: {}, {}, {}", told(Severity::Error), told(Severity::Warning), told(Severity::Note))
    }

    /// An object with `findings`, each with rule, level, file, line, column, subjects, message, fix and page;
    /// `unchecked`; `read`, the coverage of each file; and with a baseline `baseline`.
    #[must_use]
    pub fn json(&self) -> String {
        let findings: Vec<Value> = self.findings.iter().map(as_json).collect();
        let unchecked = self.unchecked.iter().map(|(rule, lacks)| json!({"rule": rule, "lacks": lacks}));
        let unchecked: Vec<Value> = unchecked.collect();
        let read: Vec<Value> = self.read.iter().map(covered_as_json).collect();
        let mut whole =
            json!({"files": self.files, "findings": findings, "unchecked": unchecked, "read": read});
        if let Some(known) = &self.known {
            whole["baseline"] = json!({"known": known.known, "gone": known.gone});
        }
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
                    "help": {"text": format!("{} {} See {PAGE}#{}.", rule.why, rule.fix, rule.id)},
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

fn place(finding: &Finding) -> String {
    format!("{}:{}:{}", finding.file, finding.line, finding.column)
}

fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// `read qos.json (sonic): QUEUE 96, WRED_PROFILE; not read: SCHEDULER 3`, and the remarks.
fn covered((file, kind, coverage): &(String, FileKind, Coverage)) -> String {
    let read = some(counted(&coverage.read).join(", ")).unwrap_or_else(|| "nothing".to_owned());
    let mut text = format!("read {file} ({}): {read}", kind.word());
    if !coverage.passed_over.is_empty() {
        let passed_over = first(&counted(&coverage.passed_over), PASSED_OVER);
        let _ = write!(text, "; not read: {passed_over}");
    }
    text.push('\n');
    for remark in &coverage.remarks {
        let _ = writeln!(text, "    {remark}");
    }
    text
}

/// Names with their counts.
fn counted(list: &[(String, usize)]) -> Vec<String> {
    let one = |(name, count): &(String, usize)| match count {
        1 if name == "cases" => "1 case".to_owned(),
        1 => name.clone(),
        count => format!("{name} {count}"),
    };
    list.iter().map(one).collect()
}

fn covered_as_json((file, kind, coverage): &(String, FileKind, Coverage)) -> Value {
    let table = |list: &[(String, usize)]| -> Value {
        list.iter().map(|(name, count)| (name.clone(), json!(count))).collect::<Map<String, Value>>().into()
    };
    json!({
        "file": file,
        "kind": kind.word(),
        "read": table(&coverage.read),
        "not_read": table(&coverage.passed_over),
        "remarks": coverage.remarks,
    })
}

/// The first few ports, and the number of others.
fn about(subjects: &[String]) -> String {
    first(subjects, NAMED)
}

fn first(names: &[String], few: usize) -> String {
    let named: Vec<&str> = names.iter().take(few).map(String::as_str).collect();
    match names.len().saturating_sub(few) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// `in 6 of 18 cases, the first balance=drill`; `None` if it occurs in all.
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
        "fix": finding.fix,
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
        "message": {"text": format!("{}{at}. Fix: {}.", finding.says, finding.fix)},
        "locations": [{"physicalLocation": {
            "artifactLocation": {"uri": uri(&finding.file)},
            "region": {"startLine": finding.line, "startColumn": finding.column},
        }}],
    })
}

/// A file name as a relative URI, with percent-encoding.
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
