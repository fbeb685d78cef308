//! The cases of `weft bench`: their scenarios, their order, and how they are found. Runs nothing.

use std::path::Path;

use weft::{Error, Prepared, prepare};
use weft_core::units::did_you_mean;

/// A case: its name, the file of its scenario, and whether it belongs to the standard set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenchCase {
    /// Its name: that of the file, or of a named case of the file's sweep.
    pub name: &'static str,
    /// The scenario, without folder.
    pub file: &'static str,
    /// Whether it belongs to the standard set; other cases are run only if named or with `--all`.
    pub standard: bool,
    /// Whether instructions are counted, on the reduced form; not if that is the form of a smaller case.
    pub counts: bool,
    /// Whether cache misses are counted too.
    pub misses: bool,
    /// Maximum number of passes.
    pub passes: usize,
    /// What it measures.
    pub about: &'static str,
}

/// All cases, in the order in which they are run.
pub const CASES: &[BenchCase] = &[
    BenchCase { misses: true, ..standard("r1", "r1.toml", "web search under DCTCP and ECMP, 320 hosts") },
    standard("r1-spray", "r1.toml", "like r1, every packet on a random path"),
    standard("r1-drill", "r1.toml", "like r1, every packet by DRILL(2,1)"),
    standard("r1-wcmp", "r1-balancers.toml", "like r1, flows weighted by the capacity of paths"),
    standard("r1-letflow", "r1-balancers.toml", "like r1, every flowlet on a random path"),
    standard("r1-conga", "r1-balancers.toml", "like r1, every flowlet on the least congested path"),
    standard(
        "r1-presto",
        "r1-presto.toml",
        "like r1, every 64 KB on the next path, put in order by the receiver",
    ),
    standard("r1-roce", "r1-roce.toml", "the flows of r1 on queue pairs under DCQCN, without losses"),
    standard("r1-hpcc", "r1-hpcc.toml", "like r1-roce, under HPCC with the reports of links"),
    standard("r1-pfc", "r1-pfc.toml", "like r1-roce, in switches of 4 MB that pause before they drop"),
    standard("r1-pfc-strict", "r1-pfc-strict.toml", "like r1-pfc, payload in one of four strict classes"),
    standard("r1-strict", "r1-strict.toml", "like r1, eight strict classes assigned by bytes sent (PIAS)"),
    standard(
        "r1-pfabric",
        "r1-pfabric.toml",
        "the flows of r1 under pFabric, packets by what flows have left",
    ),
    standard("r1-shared", "r1.toml", "like r1, one shared memory per switch"),
    standard("r1-voq", "r1-voq.toml", "like r1, virtual output queues behind credits"),
    standard("r2", "r2.toml", "a permutation on 128 hosts at 100 Gb/s"),
    standard("incast", "incast.toml", "200 hosts reply to one, with losses and timers"),
    BenchCase {
        misses: true,
        ..standard("fat-tree-1024", "fat-tree-1024.toml", "a permutation on 1024 hosts")
    },
    BenchCase {
        standard: false,
        ..standard("fat-tree-8192", "fat-tree-8192.toml", "a permutation on 8192 hosts")
    },
    huge("fat-tree-27648", "fat-tree-27648.toml", "a permutation on 27648 hosts"),
    huge("fat-tree-65536", "fat-tree-65536.toml", "a permutation of short flows on 65536 hosts"),
    huge("fat-tree-101306", "fat-tree-101306.toml", "web search on 101306 hosts at 30 % for 0.1 ms"),
    BenchCase {
        standard: false,
        ..standard("million", "million.toml", "a million small flows on 320 hosts")
    },
];

const fn standard(name: &'static str, file: &'static str, about: &'static str) -> BenchCase {
    BenchCase { name, file, standard: true, counts: true, misses: false, passes: usize::MAX, about }
}

/// A case that takes minutes: one pass.
const fn huge(name: &'static str, file: &'static str, about: &'static str) -> BenchCase {
    BenchCase { standard: false, counts: false, passes: 1, ..standard(name, file, about) }
}

/// The cases with these names; without names the standard cases, all of them if `all`, those that count if `reduced`.
///
/// # Errors
/// [`Error::BadInput`] for an unknown name, with the nearest one.
pub(crate) fn chosen(names: &[String], all: bool, reduced: bool) -> Result<Vec<BenchCase>, Error> {
    if names.is_empty() {
        return Ok(CASES
            .iter()
            .filter(|case| if reduced { case.counts } else { all || case.standard })
            .copied()
            .collect());
    }
    if all {
        return Err(Error::BadInput("name cases or give --all, not both".to_owned()));
    }
    names.iter().map(|name| named(name)).collect()
}

fn named(name: &str) -> Result<BenchCase, Error> {
    let case = CASES.iter().find(|case| case.name == name).copied();
    case.ok_or_else(|| absent(name, CASES.iter().map(|case| case.name).chain(["router"])))
}

/// The message about an unknown case.
pub(crate) fn absent(name: &str, cases: impl Iterator<Item = &'static str>) -> Error {
    let names: Vec<&str> = cases.collect();
    let hint = did_you_mean(name, names.iter().copied());
    Error::BadInput(format!("there is no case `{name}`{hint}\nallowed: {}", names.join(", ")))
}

/// The scenario of a case, or its reduced form, with overrides.
///
/// # Errors
/// [`Error::BadInput`] if it cannot be read, has mistakes, or lacks the case.
pub(crate) fn load(folder: &Path, case: &BenchCase, small: bool, set: &[String]) -> Result<Prepared, Error> {
    let path = folder.join(case.file);
    if !path.exists() {
        return Err(Error::BadInput(format!(
            "there is no {}; run `weft bench` in the repository, or give its folder of scenarios with --from",
            path.display()
        )));
    }
    let mut prepared = prepare(&path, set, small)?.into_iter();
    prepared
        .find(|prepared| prepared.labels.is_empty() || prepared.labels == [case.name])
        .ok_or_else(|| Error::BadInput(format!("{} has no case `{}`", path.display(), case.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_names_the_standard_cases_are_run() {
        let names = |all, reduced| chosen(&[], all, reduced).expect("no name is wrong").len();
        assert_eq!((names(false, false), names(true, false), names(false, true)), (18, 23, 20));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_nearest() {
        let error = chosen(&["r1-dril".to_owned()], false, false).expect_err("there is no such case");
        assert!(error.to_string().contains("did you mean `r1-drill`?"), "{error}");
        assert!(chosen(&["r1".to_owned()], true, false).is_err());
    }
}
