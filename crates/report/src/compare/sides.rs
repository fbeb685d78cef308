//! The cases and seeds that two sides have in common, and the settings in which these cases differ.

use crate::settings::{NO_VALUE, settings};
use crate::sweep::{Run, retained};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The parts in which two paths differ, from the end.
pub(super) fn side_names(a: &Path, b: &Path) -> [String; 2] {
    let words = |path: &Path| -> Vec<String> {
        path.components().rev().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (a, b) = (words(a), words(b));
    let differ = a.iter().zip(&b).find(|(a, b)| a != b);
    let named = differ.map(|(a, b)| [without_hash(a), without_hash(b)]).filter(|[a, b]| a != b);
    let whole = || differ.map(|(a, b)| [a.clone(), b.clone()]);
    named.or_else(whole).unwrap_or(["a".to_owned(), "b".to_owned()])
}

/// A case's folder name without the hash.
fn without_hash(name: &str) -> String {
    match name.rsplit_once('-') {
        Some((case, hash)) if hash.len() == 8 && hash.bytes().all(|c| c.is_ascii_hexdigit()) => {
            case.to_owned()
        }
        _ => name.to_owned(),
    }
}

/// Runs by their labels, in order of first appearance.
fn by_case(runs: &[Run]) -> Vec<(String, Vec<&Run>)> {
    let mut cases: Vec<(String, Vec<&Run>)> = Vec::new();
    for run in runs {
        let labels = run.manifest.labels.iter().map(|(key, value)| format!("{key} = {value}"));
        let case = labels.collect::<Vec<_>>().join(", ");
        match cases.iter_mut().find(|(known, _)| *known == case) {
            Some((_, members)) => members.push(run),
            None => cases.push((case, vec![run])),
        }
    }
    cases
}

/// A case on both sides: its labels, the runs of a and those of b.
pub(super) type Pair<'a> = (String, Vec<&'a Run>, Vec<&'a Run>);

/// Cases with equal labels; or, if each side has a single case, that pair, whatever its labels.
pub(super) fn pairs<'a>(a: &'a [Run], b: &'a [Run]) -> Vec<Pair<'a>> {
    let (a, b) = (by_case(a), by_case(b));
    if let ([(_, a)], [(_, b)]) = (a.as_slice(), b.as_slice()) {
        return vec![(String::new(), a.clone(), b.clone())];
    }
    let partner = |(case, runs): (String, Vec<&'a Run>)| {
        let (_, other) = b.iter().find(|(other, _)| *other == case)?;
        Some((case, runs, other.clone()))
    };
    a.into_iter().filter_map(partner).collect()
}

/// The cases of one side that the other lacks, with their runs; empty if no case is on both sides.
fn alone<'a>(own: &'a [Run], other: &'a [Run]) -> Vec<(String, Vec<&'a Run>)> {
    let all = pairs(own, other);
    if all.is_empty() || matches!(all.as_slice(), [(case, ..)] if case.is_empty()) {
        return Vec::new();
    }
    by_case(own).into_iter().filter(|(case, _)| !all.iter().any(|(both, ..)| both == case)).collect()
}

/// One side of a comparison.
pub(super) struct Side {
    /// Cases that the other side lacks.
    pub(super) alone: Vec<String>,
    /// The runs of the others.
    pub(super) runs: Vec<Run>,
}

/// Both sides without the cases that only one of them has.
pub(super) fn of_both(a: Vec<Run>, b: Vec<Run>) -> [Side; 2] {
    let apart = |own: &[Run], other: &[Run]| {
        let found = alone(own, other);
        let keys: BTreeSet<RunKey> =
            found.iter().flat_map(|(_, runs)| runs.iter().map(|run| key(run))).collect();
        (found.into_iter().map(|(case, _)| case).collect(), keys)
    };
    let (of_a, of_b) = (apart(&a, &b), apart(&b, &a));
    let rest = |runs: Vec<Run>, (alone, gone): (Vec<String>, BTreeSet<RunKey>)| Side {
        alone,
        runs: retained(runs, |run| !gone.contains(&key(run))),
    };
    [rest(a, of_a), rest(b, of_b)]
}

/// What identifies a run of a side: its labels and its seed.
pub(super) type RunKey = (Vec<(String, String)>, u64);

pub(super) fn key(run: &Run) -> RunKey {
    (run.manifest.labels.clone(), run.manifest.seed)
}

/// For cases with a common seed, the runs of each side with a seed that the other lacks, so that means cover the same
/// flows.
pub(super) fn lonely(pairs: &[Pair<'_>]) -> [BTreeSet<RunKey>; 2] {
    let mut lonely = [BTreeSet::new(), BTreeSet::new()];
    for (_, a, b) in pairs {
        let [of_a, of_b]: [BTreeSet<u64>; 2] =
            [a, b].map(|runs| runs.iter().map(|run| run.manifest.seed).collect());
        if of_a.is_disjoint(&of_b) {
            continue;
        }
        lonely[0].extend(a.iter().filter(|run| !of_b.contains(&run.manifest.seed)).map(|run| key(run)));
        lonely[1].extend(b.iter().filter(|run| !of_a.contains(&run.manifest.seed)).map(|run| key(run)));
    }
    lonely
}

/// The settings in which the cases that both sides have differ, each with all its values; `firsts` are compared if
/// there is no such case.
pub(super) fn differences_of(pairs: &[Pair<'_>], firsts: (&str, &str)) -> Vec<(String, String, String)> {
    // Only the first run of a case has its scenario.
    fn scenario<'a>(runs: &[&'a Run]) -> Option<&'a str> {
        runs.iter().map(|run| run.scenario.as_str()).find(|scenario| !scenario.is_empty())
    }
    let both: Vec<_> = pairs.iter().filter_map(|(_, a, b)| Some((scenario(a)?, scenario(b)?))).collect();
    let both = if both.is_empty() { vec![firsts] } else { both };
    let mut rows: BTreeMap<String, [Vec<String>; 2]> = BTreeMap::new();
    for (key, a, b) in both.iter().flat_map(|(a, b)| differences(a, b)) {
        let [all_a, all_b] = rows.entry(key).or_default();
        for (all, one) in [(all_a, a), (all_b, b)] {
            if !all.contains(&one) {
                all.push(one);
            }
        }
    }
    rows.into_iter().map(|(key, [a, b])| (key, a.join(" or "), b.join(" or "))).collect()
}

/// The settings in which two scenarios differ.
fn differences(a: &str, b: &str) -> Vec<(String, String, String)> {
    let (a, b) = (settings(a), settings(b));
    let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text = |side: &BTreeMap<String, String>, key: &String| {
        side.get(key).map_or(NO_VALUE.to_owned(), String::clone)
    };
    let rows = keys.into_iter().map(|key| (key.clone(), text(&a, key), text(&b, key)));
    rows.filter(|(_, a, b)| a != b).collect()
}
