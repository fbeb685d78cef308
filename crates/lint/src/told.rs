//! What the readers say beside the model: what they read of each file, what was odd, and where rules are silent.

use std::collections::HashMap;
use weft_config::place::Spot;

/// What a reader took from a file and what it passed over, each by name and count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Tables, commands or settings that rules use.
    pub read: Vec<(String, usize)>,
    /// The rest.
    pub passed_over: Vec<(String, usize)>,
    /// What follows for the findings.
    pub remarks: Vec<String>,
}

/// Names and how often each came, in the order of their first coming.
#[derive(Debug, Default)]
pub(crate) struct NameTally {
    list: Vec<(String, usize)>,
    places: HashMap<String, usize>,
}

impl NameTally {
    /// Counts one more under a name.
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

/// A stretch of a file in which rules are silent.
#[derive(Clone, Debug)]
pub(crate) struct Silenced {
    /// Where it says so.
    pub(crate) at: Spot,
    /// The bytes concerned.
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) rules: Vec<String>,
}

/// Something a reader stumbled over.
#[derive(Debug)]
pub(crate) struct Oddity {
    pub(crate) kind: OddityKind,
    pub(crate) at: Spot,
    /// The port or key concerned, if the same may be said of others.
    pub(crate) subject: String,
    pub(crate) says: String,
    pub(crate) fix: String,
}

/// What kind of stumbling block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OddityKind {
    /// A value that is not what its field takes.
    Value,
    /// A name that nothing has.
    Reference,
    /// The same thing said twice.
    Repetition,
    /// A later file of the same device says otherwise.
    Override,
}
