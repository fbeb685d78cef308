//! From the file as typed to a checked [`Scenario`]: every mistake of the file, its sweep, its demo and the command
//! line in one go.
//!
//! Decoding first, case by case; then the [`rules`](crate::rules) on what the settings mean together, or, after a mistake,
//! those of the rules that still make sense ([`salvage`](crate::salvage)).

use crate::canonical;
use crate::decode::{self, Provenance};
use crate::expect::{self, Metrics};
use crate::file::ScenarioFile;
use crate::mistake::{Mistake, Mistakes};
use crate::model::ScenarioSettings;
use crate::node::{Content, Entry, Node, Origin};
use crate::overlay::{self, Override};
use crate::rows::{rows, words};
use crate::rules;
use crate::salvage;
use crate::scenario::{Case, Resolved, Scenario};
use crate::source::Place;
use crate::sweep::{self, Axis};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use weft_core::settings::{Setting as _, Table, Value};

pub(crate) const TABLE: &Table = &ScenarioSettings::TABLE;
/// Sections that are not settings.
pub(crate) const SECTIONS: &[&str] = &["sweep", "expect", "demo", COMPLETE_KEY];
/// `complete = true` marks a file that [`Scenario::to_toml`] wrote: with every default filled in, settings without
/// effect are to be expected and not reported.
pub(crate) const COMPLETE_KEY: &str = "complete";

impl ScenarioFile {
    /// Checks everything. `metrics` says what expectations may ask for.
    ///
    /// # Errors
    /// All mistakes of the file.
    pub fn validate(&self, metrics: &Metrics) -> Result<Scenario, Mistakes> {
        let mut mistakes = Vec::new();
        if let Some(mistake) = other_version(&self.document) {
            return Err(Mistakes::new(self.sources.clone(), vec![mistake]));
        }
        let scenario = Plan::read(self, &mut mistakes).check(self, metrics, &mut mistakes);
        match scenario {
            Some(scenario) if mistakes.is_empty() => Ok(scenario),
            _ => Err(Mistakes::new(self.sources.clone(), mistakes)),
        }
    }
}

/// A file of a later version is not searched for mistakes.
fn other_version(document: &Node) -> Option<Mistake> {
    let node = document.get("weft")?;
    match node.content {
        Content::Integer(version) if version != 1 => {
            let message = format!("this is a scenario of format {version}; this program reads format 1");
            Some(Mistake::new(node.place, "weft", message).allowing("weft = 1"))
        }
        _ => None,
    }
}

/// The file taken apart: settings, axes, expectations.
pub(crate) struct Plan {
    pub(crate) root: Node,
    pub(crate) axes: Vec<Axis>,
    pub(crate) expectations: Vec<expect::Question>,
    /// The sweep was cut down, so some settings and expectations may be idle.
    pub(crate) narrowed: bool,
    /// All defaults are filled in, so settings without effect are no news.
    pub(crate) complete: bool,
}

impl Plan {
    fn read(file: &ScenarioFile, mistakes: &mut Vec<Mistake>) -> Plan {
        let mut root = file.document.clone();
        let axes = root.take("sweep").map_or(Vec::new(), |section| sweep::read_sweep(&section, mistakes));
        let demo = root.take("demo").map_or(Vec::new(), |section| {
            let node = section.node.clone().said_by(Origin::Demo);
            sweep::read_overrides(&Entry { node, ..section }, mistakes)
        });
        let expectations =
            root.take("expect").map_or(Vec::new(), |section| read_expectations(&section, mistakes));
        let complete = root.take(COMPLETE_KEY).is_some_and(|entry| is_true(&entry, mistakes));
        let mut plan = Plan { root, axes, expectations, narrowed: false, complete };
        plan.try_demo(&demo, mistakes);
        if file.demo {
            plan.apply(&demo, mistakes);
        }
        let swept = |change: &Override| sweep::swept(&mut plan.axes, change, mistakes);
        let arguments: Vec<Override> = file.arguments.iter().filter_map(swept).collect();
        plan.narrowed |= arguments.len() < file.arguments.len();
        plan.apply(&arguments, mistakes);
        plan
    }

    /// A demo must be right even when nobody asks for it.
    fn try_demo(&self, demo: &[Override], mistakes: &mut Vec<Mistake>) {
        let (root, axes) = (self.root.clone(), self.axes.clone());
        let mut scratch = Plan { root, axes, expectations: Vec::new(), ..*self };
        let before = mistakes.len();
        scratch.apply(demo, mistakes);
        if mistakes.len() == before {
            scratch.resolve(&[], mistakes);
            scratch.check_alternatives(mistakes);
        }
    }

    fn apply(&mut self, changes: &[Override], mistakes: &mut Vec<Mistake>) {
        for change in changes {
            self.narrowed = true;
            if let Some(change) = sweep::narrow(&mut self.axes, change) {
                mistakes.extend(overlay::put(TABLE, &mut self.root, &change).err());
            }
        }
    }

    /// The settings with one alternative of some of the axes.
    pub(crate) fn resolve(&self, chosen: &[(usize, usize)], mistakes: &mut Vec<Mistake>) -> Resolved {
        let mut root = self.root.clone();
        for (axis, alternative) in chosen {
            for change in &self.axes[*axis].alternatives[*alternative].changes {
                mistakes.extend(overlay::put(TABLE, &mut root, change).err());
            }
        }
        let decoded = decode::decode(TABLE, &root, "", SECTIONS);
        mistakes.extend(decoded.mistakes);
        Resolved { value: decoded.value, provenance: decoded.provenance }
    }

    /// Every alternative alone, so that one message says all that is wrong in a sweep.
    fn check_alternatives(&self, mistakes: &mut Vec<Mistake>) {
        for (axis, setting) in self.axes.iter().enumerate() {
            for alternative in 0..setting.alternatives.len() {
                self.resolve(&[(axis, alternative)], mistakes);
            }
        }
    }

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
            return None;
        }
        let claims = self.claims(file, &base, metrics, mistakes);
        let scope = rules::Scope {
            folder: &file.folder,
            whole: (!self.narrowed).then_some(&base.provenance),
            complete: self.complete,
            damaged: &BTreeSet::new(),
        };
        mistakes.extend(rules::check(&cases, &scope));
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

    fn claims(
        &self,
        file: &ScenarioFile,
        base: &Resolved,
        metrics: &Metrics,
        mistakes: &mut Vec<Mistake>,
    ) -> Vec<expect::Claim> {
        let settings: BTreeMap<String, String> = rows(TABLE, &base.value)
            .into_iter()
            .map(|row| (base.provenance.tagged(&row.path), words(&row.value)))
            .collect();
        let line = |place: Place| file.sources.line_column(place).line;
        let recorded = &ScenarioSettings::from_value(&base.value).measure.record;
        let (axes, metrics) = (&self.axes, *metrics);
        let field = expect::Field { axes, settings: &settings, metrics, recorded, line: &line };
        let mut claims = Vec::new();
        for question in &self.expectations {
            match expect::resolve(question, &field) {
                Ok(more) => claims.extend(more),
                // a narrowed sweep may leave out the cases that an expectation speaks of
                Err(_) if self.narrowed => {}
                Err(mistake) => mistakes.push(mistake),
            }
        }
        claims
    }
}

fn is_true(entry: &Entry, mistakes: &mut Vec<Mistake>) -> bool {
    if entry.node.content != Content::Flag(true) {
        let message = format!("{} stands where true is due", entry.node.described());
        mistakes
            .push(Mistake::new(entry.node.place, COMPLETE_KEY, message).allowing("true, or leave it out"));
    }
    true
}

fn read_expectations(section: &Entry, mistakes: &mut Vec<Mistake>) -> Vec<expect::Question> {
    let Content::List(items) = &section.node.content else {
        mistakes.push(Mistake::new(section.place, "expect", "expectations are written as [[expect]]"));
        return Vec::new();
    };
    items.iter().enumerate().filter_map(|(index, item)| expect::read(item, index, mistakes)).collect()
}

/// Name and hash of every file that a setting names: what is in them changes results as settings do.
fn referenced_files(resolved: &Resolved, folder: &Path) -> Vec<(String, String)> {
    let mut listed = Vec::new();
    for row in rows(TABLE, &resolved.value) {
        let Value::Text(name) = &row.value else { continue };
        // bundled names have no dot
        let path = folder.join(name);
        if name.contains('.') && path.is_file() {
            let content = std::fs::read(&path).unwrap_or_default();
            listed.push((name.clone(), format!("{:016x}", canonical::hash_bytes(&content))));
        }
    }
    listed
}

/// Paths of the file that no case of the sweep uses: a family member that is configured but never chosen.
pub(crate) fn unused<'a>(base: &'a Provenance, cases: &[Case]) -> Vec<(&'a str, Place)> {
    let used = |path: &str| cases.iter().any(|case| case.resolved.provenance.at(path).is_some());
    // numbered entries come and go with the length of a swept list
    base.written().filter(|(path, _)| !path.contains('[') && !used(path)).collect()
}
