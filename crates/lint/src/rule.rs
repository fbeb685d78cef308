//! What a rule is, and what it finds. One declaration serves the check, `--explain` and the reference page.

use crate::model::{Name, Network};
use crate::place::Spot;
use std::fmt;

/// How much a finding weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing; may be intended.
    Note,
    /// Hurts under some load.
    Warning,
    /// Does not do what it says, or breaks a guarantee.
    Error,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        })
    }
}

/// A rule of the linter.
pub struct Rule {
    /// Its name on the command line and in results.
    pub id: &'static str,
    /// The weight of its findings, unless one says otherwise.
    pub level: Level,
    /// One sentence: what is wrong when it finds something.
    pub title: &'static str,
    /// What is compared, with the formula.
    pub checks: &'static str,
    /// What happens if nobody mends it.
    pub why: &'static str,
    /// How to mend it.
    pub mend: &'static str,
    /// Where the formula or the fact comes from.
    pub source: &'static str,
    pub(crate) look: fn(&Network, &mut Findings),
}

/// A finding before files and lines are told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) level: Level,
    pub(crate) at: Spot,
    /// Ports or queues concerned, in the order of the file.
    pub(crate) subjects: Vec<String>,
    pub(crate) says: String,
    pub(crate) mend: String,
    /// The cases of the scenario in which it is so, and how many the scenario has.
    pub(crate) cases: Vec<String>,
    pub(crate) of: usize,
}

/// What the rules have found so far.
pub(crate) struct Findings {
    rule: (&'static str, Level),
    case: Option<Name>,
    pub(crate) list: Vec<Found>,
    /// Rules that could not look for want of a figure, and which.
    pub(crate) unchecked: Vec<(&'static str, String)>,
}

impl Findings {
    pub(crate) fn new() -> Findings {
        Findings { rule: ("", Level::Note), case: None, list: Vec::new(), unchecked: Vec::new() }
    }

    /// Lets a rule look.
    pub(crate) fn look(&mut self, rule: &'static Rule, network: &Network) {
        self.rule = (rule.id, rule.level);
        self.case.clone_from(&network.case);
        (rule.look)(network, self);
    }

    /// A finding of the rule that looks, at its level.
    pub(crate) fn add(&mut self, at: Spot, subject: &str, (says, mend): (String, String)) {
        self.add_as(self.rule.1, (at, subject), (says, mend));
    }

    /// A finding at another level. The same words about another port of the file are one finding about both, at the first place.
    pub(crate) fn add_as(
        &mut self,
        level: Level,
        (at, subject): (Spot, &str),
        (says, mend): (String, String),
    ) {
        let rule = self.rule.0;
        let near = |found: &Found| found.at == at || found.at.file == at.file && !subject.is_empty();
        let same = |found: &&mut Found| found.rule == rule && found.says == says && near(found);
        let case = self.case.as_ref().map(|name| name.label.clone());
        let Some(found) = self.list.iter_mut().find(same) else {
            let (subjects, cases) = (vec![subject.to_owned()], case.into_iter().collect());
            let of = self.case.as_ref().map_or(0, |name| name.of);
            return self.list.push(Found { rule, level, at, subjects, says, mend, cases, of });
        };
        if found.subjects.iter().all(|known| known != subject) {
            found.subjects.push(subject.to_owned());
        }
        if let Some(label) = case.filter(|label| found.cases.last() != Some(label)) {
            found.cases.push(label);
        }
    }

    /// The rule that looks lacks a figure.
    pub(crate) fn lacks(&mut self, what: &str) {
        let entry = (self.rule.0, what.to_owned());
        if !self.unchecked.contains(&entry) {
            self.unchecked.push(entry);
        }
    }
}
