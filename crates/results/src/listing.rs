//! `sweep.json`: the runs that belong to the results in a folder, and the verdicts on them. An edited scenario, or its
//! reduced form, leaves runs under other hashes in the same folder; without the list they would be mixed. Must not
//! depend on statistics.

use crate::disk::{DiskError, read_json, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file's name.
const FILE: &str = "sweep.json";

/// The verdict on one expectation of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectationVerdict {
    /// The claim, in words.
    pub claim: String,
    /// The expected value with its tolerance, as text.
    pub expected: String,
    /// The measured value with its interval, as text.
    pub measured: String,
    /// Whether it was met.
    pub passed: bool,
    /// Where the claim comes from, or why it could not be judged; may be empty.
    pub note: String,
}

/// The contents of `sweep.json`. It is written before the first run, so that the results of a killed program can be
/// read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listing {
    /// Relative folders of the runs, in the order of cases and seeds, including those that do not exist yet.
    pub runs: Vec<String>,
    /// The description of the scenario at the last call, which may be newer than that of reused runs; `None` in lists
    /// older than this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Verdicts on expectations; empty before the end.
    pub verdicts: Vec<ExpectationVerdict>,
    /// Remarks on settings that are allowed but probably unintended, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why expectations were not judged; empty if they were, or if there are none.
    pub unjudged: String,
}

impl Listing {
    /// Reads the list of a folder; `None` if there is none.
    ///
    /// # Errors
    /// The file exists but cannot be read.
    pub fn read(folder: &Path) -> Result<Option<Listing>, DiskError> {
        let path = folder.join(FILE);
        if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
    }

    /// Writes the list into a folder.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn write(&self, folder: &Path) -> Result<(), DiskError> {
        write_json(&folder.join(FILE), self)
    }
}
