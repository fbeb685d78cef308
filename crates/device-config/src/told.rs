//! The readers' report besides the model: what they read of each file, what they could not interpret, and where rules
//! are silenced.

use std::collections::HashMap;
use weft_config::place::Spot;

/// The parts of a file that a reader used and skipped, by name and count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Tables, commands or settings that rules use.
    pub read: Vec<(String, usize)>,
    /// Everything else.
    pub passed_over: Vec<(String, usize)>,
    /// Remarks on the consequences for findings.
    pub remarks: Vec<String>,
}

/// Names with their counts, in the order of first appearance.
#[derive(Debug, Default)]
pub(crate) struct NameTally {
    list: Vec<(String, usize)>,
    places: HashMap<String, usize>,
}

impl NameTally {
    /// Increments the count of a name.
    pub(crate) fn count(&mut self, name: &str) {
        if let Some(place) = self.places.get(name) {
            self.list[*place].1 += 1;
            return;
        }
        self.places.insert(name.to_owned(), self.list.len());
        self.list.push((name.to_owned(), 1));
    }

    pub(crate) fn list(self) -> Vec<(String, usize)> {
        self.list
    }
}

/// A range of a file in which rules are silenced.
#[derive(Clone, Debug)]
pub struct Silenced {
    /// The position of the comment that silences them.
    pub at: Spot,
    /// The first byte concerned.
    pub from: usize,
    /// The byte after the last one concerned.
    pub to: usize,
    /// Names of rules as the file gives them, whether or not there are such rules.
    pub rules: Vec<String>,
}

/// Something that a reader could not interpret.
#[derive(Debug)]
pub struct Oddity {
    /// The kind of problem.
    pub kind: OddityKind,
    /// Where the file has it.
    pub at: Spot,
    /// The port or key concerned, if equal messages about others are to be merged.
    pub subject: String,
    /// What is wrong.
    pub says: String,
    /// How to fix it.
    pub fix: String,
}

/// The kind of problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OddityKind {
    /// A value that its field does not accept.
    Value,
    /// An unknown name.
    Reference,
    /// A duplicate.
    Repetition,
    /// A later file of the device sets another value.
    Override,
}
