//! Passes configuration files to the linter and returns its findings as text.

use std::path::{Path, PathBuf};
use weft_core::input::read;
use weft_draw::text::capitalised;
use weft_lint::{FileKind, Input, Severity, Surroundings};
use weft_scenario::Scenario;

use crate::Error;
use crate::overwrite::may_replace;

/// A file to check.
#[derive(Clone, Debug)]
pub struct LintFile {
    /// Its path.
    pub path: PathBuf,
    /// Its kind; `None`: guess from name and contents.
    pub kind: Option<FileKind>,
}

/// How to check.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// Only these rules; empty: all.
    pub only: Vec<String>,
    /// Rules that are not applied.
    pub allow: Vec<String>,
    /// Facts about the network that no file contains.
    pub site: Surroundings,
    /// Whether files of one kind are parts of one switch, or of one host.
    pub one_device: bool,
    /// A file of known findings, which are not shown.
    pub baseline: Option<PathBuf>,
}

/// The findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LintReport {
    /// As text for people.
    pub text: String,
    /// As JSON.
    pub json: String,
    /// As SARIF 2.1.0, for code review.
    pub sarif: String,
    /// All findings as a baseline.
    pub baseline: String,
    /// The number of findings.
    pub findings: usize,
    /// The highest level of all findings, if there are any.
    pub worst: Option<Severity>,
}

/// Maximum file size; no switch configuration comes near it.
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

/// Refuses to write a baseline over anything else.
pub(crate) fn baseline_place(path: &Path) -> Result<(), Error> {
    let is_baseline =
        |path: &Path| std::fs::read_to_string(path).is_ok_and(|text| weft_lint::is_baseline(&text));
    may_replace(path, "baseline", is_baseline)
}

/// The linter's errors and warnings about a scenario without mistakes, in words, each once, and remarks on its traffic.
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
    remarks.extend(scenario.remarks(path.parent().unwrap_or(Path::new(""))).iter().map(|said| capital(said)));
    remarks
}

/// A clause as the start of a sentence: capitalised, unless it starts with the name of a setting.
fn capital(says: &str) -> String {
    let name = says.split(' ').next().is_some_and(|word| word.contains('.'));
    if name { says.to_owned() } else { capitalised(says) }
}

fn input(file: &LintFile) -> Result<Input, String> {
    Ok(Input { name: file.path.display().to_string(), text: text(&file.path)?, kind: file.kind })
}

/// Reads a file up to the maximum size; this also ends files of unknown length, such as devices.
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
