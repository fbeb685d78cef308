//! `sweep.json`: which runs belong to the results in a folder, and what was judged about them. An edited scenario, or
//! its reduced form, leaves runs under other hashes beside them; without the list they would be mixed up. Must not
//! depend on statistics.

use crate::disk::{DiskError, read_json, write_json};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The file's name.
const FILE: &str = "sweep.json";

/// The verdict on one expectation of the scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExpectationVerdict {
    /// What was claimed, as a reader understands it.
    pub claim: String,
    /// The expected value with its tolerance, as text.
    pub expected: String,
    /// The measured value with its interval, as text.
    pub measured: String,
    /// Was it met?
    pub passed: bool,
    /// Where the claim comes from, or why it could not be judged; may be empty.
    pub note: String,
}

/// The contents of `sweep.json`. It is written before the first run, so that what a killed program left can be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Listing {
    /// Folders of the runs, relative, in the order of cases and seeds; those that are not there yet included.
    pub runs: Vec<String>,
    /// Judged expectations; empty before the end.
    pub verdicts: Vec<ExpectationVerdict>,
    /// What in the settings is allowed and probably not meant, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why expectations were not judged; empty when they were, or when there is none.
    pub unjudged: String,
}

impl Listing {
    /// Reads the list of a folder; `None` when it has none.
    ///
    /// # Errors
    /// The file is there but cannot be read.
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
