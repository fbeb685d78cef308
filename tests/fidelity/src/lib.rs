//! Simulated TCP against traces of real Linux hosts: the same figures of both, how far they differ, and a page of the
//! book that shows them over each other.
//!
//! In reading order: [`case`] (what is compared), [`trace`] and [`run`] (where courses come from), [`figures`] (numbers of
//! a course), [`verdict`] (how near they have to be, and what is known to be farther), [`page`] and [`svg`] (what a reader
//! sees). It uses the program as a user does: it writes no scenario by code and looks at no state of a run.

pub mod case;
pub mod course;
pub mod figures;
pub mod page;
pub mod run;
pub mod svg;
pub mod table;
pub mod trace;
pub mod verdict;

use std::path::{Path, PathBuf};

use case::Case;
use course::Course;

/// A case, as real hosts and as simulated ones took it.
#[derive(Clone, Debug)]
pub struct Pair {
    /// What was compared.
    pub case: &'static Case,
    /// The real hosts.
    pub real: Course,
    /// The simulated ones.
    pub simulated: Course,
}

/// The folder of this package, where traces and scenarios lie.
#[must_use]
pub fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    folder().join("../..")
}

/// Reads every trace and runs every scenario, writing below `out`.
#[must_use]
pub fn compare(out: &Path) -> Vec<Pair> {
    let pair = |case: &'static Case| Pair {
        case,
        real: trace::read(&folder().join(format!("traces/{}.csv.gz", case.name))),
        simulated: run::run(&folder().join(format!("scenarios/{}.toml", case.name)), out),
    };
    case::CASES.iter().map(pair).collect()
}
