//! Configuration files from the disk to the linter, and what it says back as text.

use std::path::PathBuf;
use weft_core::input::read;
use weft_lint::{Input, Kind, Level, Site};

use crate::Error;

/// A file to judge.
#[derive(Clone, Debug)]
pub struct LintFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is; `None`: guess by name and content.
    pub kind: Option<Kind>,
}

/// What to judge by.
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    /// Only these rules; empty: all.
    pub only: Vec<String>,
    /// Not these rules.
    pub allow: Vec<String>,
    /// What is known and stands in no file.
    pub site: Site,
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
    /// The greatest level of all findings, if there is any.
    pub worst: Option<Level>,
}

/// No configuration of a switch comes near this size.
const LARGEST: u64 = 64 << 20;

pub(crate) fn lint(files: &[LintFile], options: &LintOptions) -> Result<LintReport, Error> {
    let read: Vec<Result<Input, String>> = files.iter().map(input).collect();
    let broken: Vec<&str> = read.iter().filter_map(|file| file.as_ref().err()).map(String::as_str).collect();
    if !broken.is_empty() {
        return Err(Error::BadInput(broken.join("\n")));
    }
    let inputs = read.into_iter().flatten().collect();
    let LintOptions { only, allow, site } = options.clone();
    let report = weft_lint::lint(inputs, &weft_lint::Options { only, allow, site })
        .map_err(|refused| Error::BadInput(refused.to_string()))?;
    let sarif = report.sarif(env!("CARGO_PKG_VERSION"));
    Ok(LintReport { text: report.text(), json: report.json(), sarif, worst: report.worst() })
}

fn input(file: &LintFile) -> Result<Input, String> {
    let name = file.path.display().to_string();
    let told = |error: std::io::Error| format!("cannot read {name}: {error}");
    let bytes = read(&file.path, LARGEST).map_err(told)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..valid].iter().filter(|byte| **byte == b'\n').count();
        format!("{name}:{line}: found a byte that is no text; allowed: UTF-8")
    })?;
    Ok(Input { name, text, kind: file.kind })
}

pub(crate) fn rule(id: Option<&str>) -> Result<String, Error> {
    match id {
        Some(id) => weft_lint::explain(id).map_err(Error::BadInput),
        None => Ok(weft_lint::rules().map(|rule| format!("{:<30} {}\n", rule.id, rule.title)).collect()),
    }
}
