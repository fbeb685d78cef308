//! Known and accepted findings: a file that lists them without line numbers, so that it stays valid while the
//! configuration changes.

use crate::{Finding, Report, find};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use weft_config::json::{self, JsonContent, JsonNode};
use weft_config::place::line_column;

/// The key that identifies the file, with its version.
const KEY: &str = "weft_lint_baseline";

/// Rule, file and message of a finding.
type FindingKey = (String, String, String);

/// Known findings, each with its ports or queues.
pub(crate) struct Baseline(BTreeMap<FindingKey, BTreeSet<String>>);

/// The result of applying a baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Findings in the baseline, which are not shown.
    pub known: usize,
    /// Entries of the baseline that no longer match a finding.
    pub gone: usize,
}

/// Whether this is the text of a baseline.
#[must_use]
pub fn is_baseline(text: &str) -> bool {
    json::parse(text, 0).is_ok_and(|root| root.get(KEY).is_some())
}

impl Baseline {
    /// Parses a file written by [`Report::baseline`]. The error names the file and the line.
    pub(crate) fn read(name: &str, text: &str) -> Result<Baseline, String> {
        let told = |at: usize, found: &str, allowed: &str| {
            let (line, column) = line_column(text, at);
            format!("{name}:{line}:{column}: found {found}; allowed: {allowed}")
        };
        let root = json::parse(text, 0).map_err(|broken| told(broken.at, &broken.found, broken.allowed))?;
        if root.get(KEY).and_then(JsonNode::word) != Some("1") {
            return Err(told(root.at, "no baseline", "a file written by --write-baseline"));
        }
        let mut known: BTreeMap<FindingKey, BTreeSet<String>> = BTreeMap::new();
        let list = match root.get("findings").map(|node| &node.content) {
            Some(JsonContent::List(list)) => list,
            _ => return Err(told(root.at, "no list of findings", "`findings` with a list")),
        };
        for node in list {
            let word = |key: &str| node.get(key).and_then(JsonNode::word).map(str::to_owned);
            let (Some(rule), Some(file), Some(message)) = (word("rule"), word("file"), word("message"))
            else {
                return Err(told(node.at, "an incomplete entry", "rule, file and message"));
            };
            find(&rule).map_err(|unknown| told(node.at, &unknown, "a rule of this version"))?;
            let subjects = match node.get("subjects").map(|node| &node.content) {
                Some(JsonContent::List(all)) => {
                    all.iter().filter_map(JsonNode::word).map(str::to_owned).collect()
                }
                _ => BTreeSet::new(),
            };
            known.entry((rule, file, message)).or_default().extend(subjects);
        }
        Ok(Baseline(known))
    }

    /// Removes known findings from a report: whole findings, or the known ports of findings.
    pub(crate) fn take_out(mut self, report: &mut Report) {
        let mut met = Known::default();
        report.findings.retain_mut(|finding| {
            let Some(known) = self.0.get_mut(&name(finding)) else { return true };
            let all = finding.subjects.len();
            let known_before = known.clone();
            known.retain(|subject| !finding.subjects.contains(subject));
            finding.subjects.retain(|subject| !known_before.contains(subject));
            let stays = all > 0 && !finding.subjects.is_empty();
            if known.is_empty() {
                self.0.remove(&name(finding));
            }
            met.known += usize::from(!stays);
            stays
        });
        met.gone = self.0.len();
        report.known = Some(met);
    }
}

fn name(finding: &Finding) -> FindingKey {
    (finding.rule.to_owned(), finding.file.clone(), finding.says.clone())
}

impl Report {
    /// The findings as a baseline: rule, file, message and ports, without line numbers.
    #[must_use]
    pub fn baseline(&self) -> String {
        let entry = |finding: &Finding| {
            json!({
                "rule": finding.rule,
                "file": finding.file,
                "message": finding.says,
                "subjects": finding.subjects,
            })
        };
        let findings: Vec<Value> = self.findings.iter().map(entry).collect();
        let whole = json!({KEY: 1, "findings": findings});
        serde_json::to_string_pretty(&whole).unwrap_or_default() + "\n"
    }
}
