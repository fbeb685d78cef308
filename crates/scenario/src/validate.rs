//! From the file as typed to a checked [`Scenario`]: reports every mistake of the file, its sweep, its demo and the
//! command line at once.
//!
//! Decodes first, case by case; then applies the [`rules`](weft_rules) on combinations of settings or, after a
//! mistake, those that still make sense ([`salvage`](crate::salvage)).

use crate::draft::{Draft, TABLE};
use crate::expect::{self, Metrics};
use crate::file::ScenarioFile;
use crate::salvage;
use crate::scenario::Scenario;
use crate::sweep;
use crate::syntax::follows_from;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use weft_codec::{rows, words};
use weft_core::settings::{Setting as _, Value};
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Toml};
use weft_mistake::{Mistake, Mistakes};
use weft_model::ScenarioSettings;
use weft_model::{Case, Resolved};

impl ScenarioFile {
    /// Checks everything. `metrics` are the metrics expectations may use.
    ///
    /// # Errors
    /// All mistakes of the file.
    pub fn validate(&self, metrics: &Metrics) -> Result<Scenario, Mistakes> {
        let mut mistakes = self.unreadable.clone();
        if let Some(mistake) = other_version(&self.document) {
            return Err(Mistakes::new(self.sources.clone(), vec![mistake]));
        }
        let scenario = Draft::read(self, &mut mistakes).check(self, metrics, &mut mistakes);
        let mut number = 0..mistakes.len();
        let known = self.unreadable.len();
        mistakes.retain(|mistake| {
            let is_own = number.next().is_some_and(|number| number < known);
            is_own || !follows_from(&self.unreadable, mistake)
        });
        match scenario {
            Some(scenario) if mistakes.is_empty() => Ok(scenario),
            _ => Err(Mistakes::new(self.sources.clone(), mistakes)),
        }
    }
}

/// Problems that make a case impossible whose settings were changed after its file was checked. Settings without
/// effect are not reported. Relative file names start at `folder`.
#[must_use]
pub fn impossible(case: &Case, folder: &Path) -> Vec<Mistake> {
    let damaged = BTreeSet::new();
    let scope =
        weft_rules::CaseScope { folder, whole: None, complete: true, partial: false, damaged: &damaged };
    weft_rules::check(std::slice::from_ref(case), &scope)
}

/// A file of a later version is not checked for mistakes.
fn other_version(document: &Toml) -> Option<Mistake> {
    let node = document.get("weft")?;
    match node.content {
        Content::Integer(version) if version != 1 => {
            let message = format!("this scenario has format {version}; this program reads format 1");
            Some(Mistake::new(node.place, "weft", message).allowing("weft = 1"))
        }
        _ => None,
    }
}

impl Draft {
    fn check(self, file: &ScenarioFile, metrics: &Metrics, mistakes: &mut Vec<Mistake>) -> Option<Scenario> {
        let base = self.resolve(&[], mistakes);
        self.check_alternatives(mistakes);
        if sweep::count(&self.axes) > sweep::MOST_CASES {
            let place = self.axes[0].place;
            let message = format!("the sweep has {} cases", sweep::count(&self.axes));
            let allowed = format!("at most {}", sweep::MOST_CASES);
            mistakes.push(Mistake::new(place, "sweep", message).allowing(allowed));
        }
        if !mistakes.is_empty() {
            mistakes.extend(salvage::further(&self, file, metrics, mistakes));
            return None;
        }
        let cases = self.cases(&file.folder, mistakes);
        if !mistakes.is_empty() {
            mistakes.extend(salvage::further(&self, file, metrics, mistakes));
            return None;
        }
        let claims = self.claims(file, (&base, &cases), metrics, mistakes);
        let scope = weft_rules::CaseScope {
            folder: &file.folder,
            whole: (!self.narrowed).then_some(&base.provenance),
            complete: self.complete,
            partial: self.is_partial(),
            damaged: &BTreeSet::new(),
        };
        mistakes.extend(weft_rules::check(&cases, &scope));
        let settings = ScenarioSettings::from_value(&base.value);
        let (axes, narrowed) = (self.axes, self.narrowed);
        Some(Scenario { settings, axes, claims, base, narrowed, cases, file: file.clone() })
    }

    fn cases(&self, folder: &Path, mistakes: &mut Vec<Mistake>) -> Vec<Case> {
        let sizes: Vec<usize> = self.axes.iter().map(|axis| axis.alternatives.len()).collect();
        let mut cases = Vec::new();
        for combination in sweep::product(&sizes) {
            let chosen: Vec<(usize, usize)> = combination.iter().copied().enumerate().collect();
            let resolved = self.resolve(&chosen, mistakes);
            let label = |(axis, at): (usize, usize)| {
                (self.axes[axis].path.clone(), self.axes[axis].alternatives[at].label.clone())
            };
            let labels = chosen.into_iter().map(label).collect();
            let settings = ScenarioSettings::from_value(&resolved.value);
            cases.push(Case { labels, settings, inputs: referenced_files(&resolved, folder), resolved });
        }
        cases
    }

    /// The claims of all expectations, against the cases of the sweep.
    pub(crate) fn claims(
        &self,
        file: &ScenarioFile,
        (base, cases): (&Resolved, &[Case]),
        metrics: &Metrics,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<expect::Claim> {
        let settings: BTreeMap<String, String> = rows(TABLE, &base.value)
            .into_iter()
            .map(|row| (base.provenance.tagged(&row.path), words(&row.value)))
            .collect();
        let line = |place: SourceSpan| file.sources.line_column(place).line;
        let recorded = &ScenarioSettings::from_value(&base.value).measure.record;
        let (axes, metrics) = (&self.axes, *metrics);
        let tags = &tags(cases);
        let field = expect::Swept { axes, settings: &settings, metrics, tags, recorded, line: &line };
        let promised = file.demo && file.arguments.is_empty();
        let (mut claims, mut unanswered) = (Vec::new(), Vec::new());
        for question in &self.expectations {
            match expect::resolve(question, &field) {
                Ok(more) => claims.extend(more),
                // A narrowed sweep may lack the cases that an expectation applies to; the demo may not lack those that it promises.
                Err(_) if self.narrowed && !(question.reduced && promised) => {
                    unanswered.push(question.clone())
                }
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if !unanswered.is_empty() {
            mistakes.extend(wrong_in_whole(file, unanswered, &metrics));
        }
        claims
    }
}

/// The tags of the traffic, each once.
fn tags(cases: &[Case]) -> Vec<&str> {
    let entries = cases.iter().flat_map(|case| &case.settings.traffic);
    let tags: BTreeSet<&str> = entries.map(|entry| entry.flows.tag.as_str()).collect();
    tags.into_iter().collect()
}

/// Problems with expectations even without the demo and the command line.
fn wrong_in_whole(
    file: &ScenarioFile,
    expectations: Vec<expect::Question>,
    metrics: &Metrics,
) -> Vec<Mistake> {
    let (arguments, unreadable) = (Vec::new(), Vec::new());
    let whole = ScenarioFile { demo: false, arguments, unreadable, ..file.clone() };
    let (mut others, mut found) = (Vec::new(), Vec::new());
    let draft = Draft { expectations, ..Draft::read(&whole, &mut others) };
    let base = draft.resolve(&[], &mut others);
    let cases = draft.cases(&whole.folder, &mut others);
    if others.is_empty() {
        draft.claims(&whole, (&base, &cases), metrics, &mut found);
    }
    found
}

/// Name and hash of every file named by a setting: their contents affect results like settings.
fn referenced_files(resolved: &Resolved, folder: &Path) -> Vec<(String, String)> {
    let mut listed = Vec::new();
    for row in rows(TABLE, &resolved.value) {
        let Value::Text(name) = &row.value else { continue };
        // bundled names have neither a dot nor a slash
        let names_a_file = row.field.name == "file" || name.contains(['.', '/']);
        let path = folder.join(name);
        if names_a_file && path.is_file() {
            listed.push((name.clone(), hash_of_file(&path).unwrap_or_default()));
        }
    }
    listed
}

fn hash_of_file(path: &Path) -> Option<String> {
    let content = std::fs::read(path).ok()?;
    Some(format!("{:016x}", weft_codec::canonical::hash_bytes(&content)))
}

/// The present hash of every file named by a setting of a case, in the order of [`Case::inputs`]; `None` if it is gone.
#[must_use]
pub fn hashes_of_files(case: &Case, folder: &Path) -> Vec<Option<String>> {
    case.inputs().iter().map(|(name, _)| hash_of_file(&folder.join(name))).collect()
}
