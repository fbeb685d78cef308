//! Rules and findings. One declaration serves the check, `--explain` and the reference page.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use weft_config::place::Spot;
use weft_device_config::model::{CaseName, Network};
use weft_device_config::told::Silenced;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; may be intended.
    Note,
    /// Hurts under some loads.
    Warning,
    /// Does not do what it is meant to do, or breaks a guarantee.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// A rule of the linter.
pub struct Rule {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// The severity of its findings, unless a finding has its own.
    pub level: Severity,
    /// One sentence: the problem that a finding shows.
    pub title: &'static str,
    /// What is compared, with the formula.
    pub checks: &'static str,
    /// The consequences.
    pub why: &'static str,
    /// How to fix it.
    pub fix: &'static str,
    /// The source of the formula or the fact.
    pub source: &'static str,
    pub(crate) look: fn(&Network, &mut Findings),
}

/// A finding before its position is resolved to file and line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) level: Severity,
    pub(crate) at: Spot,
    /// Ports or queues concerned, in the order of the file.
    pub(crate) subjects: Vec<String>,
    pub(crate) says: String,
    pub(crate) fix: String,
    /// The cases of the scenario in which it occurs, and the number of cases.
    pub(crate) cases: Vec<String>,
    pub(crate) of: usize,
}

/// The findings so far.
pub(crate) struct Findings {
    rule: (&'static str, Severity),
    case: Option<CaseName>,
    pub(crate) list: Vec<Found>,
    /// The index of the finding with this message of a rule about a file; with the offset if it concerns no port.
    places: HashMap<(&'static str, String, usize, Option<usize>), usize>,
    /// The subjects of each finding.
    subjects: HashSet<(usize, String)>,
    /// Rules that could not be applied, and the fact they lack.
    pub(crate) unchecked: Vec<(&'static str, String)>,
    /// Ranges in which rules are silenced, and the rules that would have had a finding there.
    pub(crate) silenced: Vec<(Silenced, BTreeSet<&'static str>)>,
}

impl Findings {
    pub(crate) fn new(silenced: Vec<Silenced>) -> Findings {
        Findings {
            rule: ("", Severity::Note),
            case: None,
            list: Vec::new(),
            places: HashMap::new(),
            subjects: HashSet::new(),
            unchecked: Vec::new(),
            silenced: silenced.into_iter().map(|one| (one, BTreeSet::new())).collect(),
        }
    }

    /// Applies a rule.
    pub(crate) fn look(&mut self, rule: &'static Rule, network: &Network) {
        self.begin(rule);
        self.case.clone_from(&network.case);
        (rule.look)(network, self);
    }

    /// Findings that follow belong to this rule.
    pub(crate) fn begin(&mut self, rule: &'static Rule) {
        self.rule = (rule.id, rule.level);
        self.case = None;
    }

    /// Adds a finding of the current rule at its own severity.
    pub(crate) fn add(&mut self, at: Spot, subject: &str, (says, fix): (String, String)) {
        self.add_as(self.rule.1, (at, subject), (says, fix));
    }

    /// Adds a finding at another severity. An equal message about another port of the file extends the earlier finding.
    pub(crate) fn add_as(
        &mut self,
        level: Severity,
        (at, subject): (Spot, &str),
        (says, fix): (String, String),
    ) {
        let rule = self.rule.0;
        if self.is_silent(at) {
            return;
        }
        let case = self.case.as_ref().map(|name| name.label.clone());
        let key = (rule, says.clone(), at.file, subject.is_empty().then_some(at.at));
        let next = self.list.len();
        let known =
            self.places.get(&key).copied().or_else(|| self.of_another_case(&(&says, &fix), at, subject));
        let number = *self.places.entry(key).or_insert(known.unwrap_or(next));
        if number == next {
            let of = self.case.as_ref().map_or(0, |name| name.of);
            let (subjects, cases) = (Vec::new(), Vec::new());
            self.list.push(Found { rule, level, at, subjects, says, fix, cases, of });
        }
        let found = &mut self.list[number];
        if self.subjects.insert((number, subject.to_owned())) {
            found.subjects.push(subject.to_owned());
        }
        if let Some(label) = case.filter(|label| found.cases.last() != Some(label)) {
            found.cases.push(label);
        }
    }

    /// A finding of other cases of the sweep with the same message about another position: a value of the sweep has a
    /// position of its own. Equal messages of one case stay separate.
    fn of_another_case(&self, words: &(&String, &String), at: Spot, subject: &str) -> Option<usize> {
        let case = &self.case.as_ref()?.label;
        self.list.iter().position(|found| {
            (found.rule, found.at.file) == (self.rule.0, at.file)
                && (&found.says, &found.fix) == *words
                && subject.is_empty()
                && !found.cases.contains(case)
        })
    }

    /// Whether the file silences the current rule at this position.
    fn is_silent(&mut self, at: Spot) -> bool {
        let rule = self.rule.0;
        let mut silent = false;
        for (stretch, used) in &mut self.silenced {
            let here = stretch.at.file == at.file && (stretch.from..stretch.to).contains(&at.at);
            if here && stretch.rules.iter().any(|name| name == rule) {
                used.insert(rule);
                silent = true;
            }
        }
        silent
    }

    /// Records that the current rule lacks a fact.
    pub(crate) fn lacks(&mut self, what: &str) {
        let entry = (self.rule.0, what.to_owned());
        if !self.unchecked.contains(&entry) {
            self.unchecked.push(entry);
        }
    }
}
