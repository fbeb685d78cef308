//! Problems with settings that are valid individually but not together. Must not depend on files or lines: the
//! scenario derives the position from the path.

use std::fmt;

/// A mistake of the user, with the path of the setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The setting, for example `traffic[0].load` or `topology.graph.links[3].from`.
    pub path: String,
    /// What is wrong and what is allowed.
    pub message: String,
}

impl Problem {
    /// A problem at `path`.
    #[must_use]
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Problem {
        Problem { path: path.into(), message: message.into() }
    }

    /// Prepends the enclosing table to the path: `prefix.path`.
    #[must_use]
    pub fn within(self, prefix: &str) -> Problem {
        let path = if self.path.is_empty() { prefix.to_owned() } else { format!("{prefix}.{}", self.path) };
        Problem { path, ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}
