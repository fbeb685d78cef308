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
    /// The simulated ones, one course per start of the second flow; the first is the scenario unchanged.
    pub simulated: Vec<Course>,
    /// The same with what the experiment adds; empty without one.
    pub experiment: Vec<Course>,
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

/// Reads every trace and runs every scenario, writing below `out`. What is there is removed: it may be of a program that
/// has changed since.
///
/// # Panics
/// The folder cannot be removed.
#[must_use]
pub fn compare(out: &Path) -> Vec<Pair> {
    if out.exists() {
        std::fs::remove_dir_all(out).expect("the folder of earlier results can be removed");
    }
    let pair = |case: &'static Case| Pair {
        case,
        real: trace::read(&folder().join(format!("traces/{}.csv.gz", case.name))),
        simulated: simulated(case, &[], out),
        experiment: case.experiment.map_or_else(Vec::new, |experiment| {
            simulated(case, &[experiment.set.to_owned()], &out.join("experiment"))
        }),
    };
    case::CASES.iter().map(pair).collect()
}

fn simulated(case: &Case, set: &[String], out: &Path) -> Vec<Course> {
    let scenario = folder().join(format!("scenarios/{}.toml", case.name));
    let starting = |ms: &u32| {
        let set: Vec<String> = set.iter().cloned().chain([case.second_flow_at(*ms)]).collect();
        run::run(&scenario, &set, &out.join(format!("{ms}-ms")))
    };
    let first = run::run(&scenario, set, out);
    std::iter::once(first).chain(case.starts.iter().map(starting)).collect()
}
