//! Configuration files from the disk to the linter, and what it says back as text.

use std::path::{Path, PathBuf};
use weft_core::input::read;
use weft_lint::{FileKind, Input, Severity, Surroundings};
use weft_scenario::Scenario;

use crate::Error;

/// A file to judge.
#[derive(Clone, Debug)]
pub struct LintFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is; `None`: guess by name and content.
    pub kind: Option<FileKind>,
}

/// What to judge by.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// Only these rules; empty: all.
    pub only: Vec<String>,
    /// Not these rules.
    pub allow: Vec<String>,
    /// What is known and stands in no file.
    pub site: Surroundings,
    /// Files of the same kind are parts of one switch, or of one host.
    pub one_device: bool,
    /// A file of known findings that are not shown.
    pub baseline: Option<PathBuf>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LintReport {
    /// For people.
    pub text: String,
    /// For scripts.
    pub json: String,
    /// For code review: SARIF 2.1.0.
    pub sarif: String,
    /// All findings as a baseline.
    pub baseline: String,
    /// How many findings there are.
    pub findings: usize,
    /// The greatest level of all findings, if there is any.
    pub worst: Option<Severity>,
}

/// No configuration of a switch comes near this size.
const LARGEST: u64 = 64 << 20;

pub(crate) fn lint(files: &[LintFile], options: &LintOptions) -> Result<LintReport, Error> {
    let read: Vec<Result<Input, String>> = files.iter().map(input).collect();
    let baseline = options.baseline.as_ref().map(|path| Ok((path.display().to_string(), text(path)?)));
    let failed = read.iter().filter_map(|file| file.as_ref().err());
    let failed = failed.chain(baseline.iter().filter_map(|file: &Result<_, String>| file.as_ref().err()));
    let broken: Vec<&str> = failed.map(String::as_str).collect();
    if !broken.is_empty() {
        return Err(Error::BadInput(broken.join("\n")));
    }
    let inputs = read.into_iter().flatten().collect();
    let LintOptions { only, allow, site, one_device, .. } = options.clone();
    let baseline = baseline.and_then(Result::ok);
    let report = weft_lint::lint(inputs, &weft_lint::RuleOptions { only, allow, site, one_device, baseline })
        .map_err(|refused| Error::BadInput(refused.to_string()))?;
    Ok(LintReport {
        text: report.text(),
        json: report.json(),
        sarif: report.sarif(env!("CARGO_PKG_VERSION")),
        baseline: report.baseline(),
        findings: report.findings.len(),
        worst: report.worst(),
    })
}

/// What the rules find in a scenario that has no mistakes: errors and warnings in words, each once.
pub(crate) fn remarks(scenario: &Scenario, path: &Path) -> Vec<String> {
    let input =
        Input { name: path.display().to_string(), text: scenario.to_toml(), kind: Some(FileKind::Scenario) };
    let found = weft_lint::lint(vec![input], &weft_lint::RuleOptions::default()).unwrap_or_default().findings;
    let weighty = found.into_iter().filter(|finding| finding.level >= Severity::Warning);
    let mut remarks: Vec<String> = Vec::new();
    for finding in weighty {
        let cases = match finding.cases.0.as_slice() {
            [] => String::new(),
            [one] => format!(" ({one})"),
            some => format!(" ({} of {} cases)", some.len(), finding.cases.1),
        };
        let remark = format!("{}{cases}: {}.", capital(&finding.says), finding.fix);
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    remarks
}

/// A clause as the beginning of a sentence, unless it begins with the name of a setting.
fn capital(says: &str) -> String {
    let (first, rest) = says.split_at(says.chars().next().map_or(0, char::len_utf8));
    let name = says.split(' ').next().is_some_and(|word| word.contains('.'));
    if name { says.to_owned() } else { first.to_uppercase() + rest }
}

fn input(file: &LintFile) -> Result<Input, String> {
    Ok(Input { name: file.path.display().to_string(), text: text(&file.path)?, kind: file.kind })
}

/// The text of a file, as far as it may be long: what tells no length, such as a device, is cut off there too.
fn text(path: &Path) -> Result<String, String> {
    let name = path.display();
    let told = |error: std::io::Error| format!("cannot read {name}: {error}");
    let bytes = read(path, LARGEST).map_err(told)?;
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        format!("{name}:{line}: found a byte that is not text; allowed: UTF-8")
    })
}

pub(crate) fn rule(id: Option<&str>) -> Result<String, Error> {
    match id {
        Some(id) => weft_lint::explain(id).map_err(Error::BadInput),
        None => Ok(weft_lint::rules().map(|rule| format!("{:<30} {}\n", rule.id, rule.title)).collect()),
    }
}
