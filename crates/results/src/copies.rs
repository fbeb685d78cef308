//! Copies of a run, such as a backup beside the original: they would count one run several times, so that intervals become too
//! narrow. Must not depend on statistics.

use crate::run::{Run, retained};
use std::collections::{BTreeMap, BTreeSet};

/// What copies have in common: labels, content hash, results epoch, seed and, of measurements, which vary from one to the
/// next, the time they took.
type Identity<'a> = (&'a [(String, String)], &'a str, &'a str, u64, u64);

/// The identity of a run; `None` of one older than content hashes.
fn identity(run: &Run) -> Option<Identity<'_>> {
    let manifest = &run.manifest;
    let took = if manifest.is_measurement { manifest.wall_s.to_bits() } else { 0 };
    let names = (manifest.labels.as_slice(), manifest.hash.as_str(), manifest.epoch.as_str());
    (!manifest.hash.is_empty()).then_some((names.0, names.1, names.2, manifest.seed, took))
}

/// Keeps one of several copies of a run, the first that is complete; returns the rest and the number removed.
#[must_use]
pub fn without_copies(runs: Vec<Run>) -> (Vec<Run>, usize) {
    let mut best: BTreeMap<Identity<'_>, usize> = BTreeMap::new();
    let mut stays = BTreeSet::new();
    for (number, run) in runs.iter().enumerate() {
        let Some(identity) = identity(run) else {
            stays.insert(number);
            continue;
        };
        let known = best.entry(identity).or_insert(number);
        if runs[*known].summary.interrupted() && !run.summary.interrupted() {
            *known = number;
        }
    }
    stays.extend(best.into_values());
    let copies = runs.len() - stays.len();
    let mut numbers = 0..runs.len();
    let runs = retained(runs, |_| numbers.next().is_some_and(|number| stays.contains(&number)));
    (runs, copies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::summary::Summary;

    fn run(case: &str, hash: &str, seed: u64, stop: &str) -> Run {
        let labels = vec![("case".to_owned(), case.to_owned())];
        Run {
            manifest: Manifest { labels, seed, hash: hash.to_owned(), ..Manifest::default() },
            summary: Summary { stop: stop.to_owned(), ..Summary::default() },
            ..Run::default()
        }
    }

    fn kept(runs: &[Run]) -> (Vec<(&str, u64, &str)>, usize) {
        let (left, copies) = without_copies(runs.to_vec());
        let told = |one: &Run| runs.iter().find(|run| *run == one).expect("nothing else is changed");
        let told = left.iter().map(told);
        (told.map(|run| (run.label("case"), run.manifest.seed, run.summary.stop.as_str())).collect(), copies)
    }

    #[test]
    fn one_of_several_copies_stays_and_it_is_a_complete_one() {
        let one = |seed, stop| run("a", "01", seed, stop);
        let both = [one(1, "interrupted"), one(2, "finished"), one(1, "finished"), one(2, "finished")];
        assert_eq!(kept(&both), (vec![("a", 2, "finished"), ("a", 1, "finished")], 2));
        let partial = [one(1, "interrupted"), one(1, "interrupted")];
        assert_eq!(kept(&partial), (vec![("a", 1, "interrupted")], 1));
    }

    #[test]
    fn named_cases_with_equal_settings_other_epochs_and_measurements_are_no_copies() {
        let alike = [run("a", "01", 1, "finished"), run("b", "01", 1, "finished")];
        assert_eq!(kept(&alike).1, 0);
        assert_eq!(kept(&[run("a", "", 1, "finished"), run("a", "", 1, "stuck")]).1, 0, "who knows");
        let other = |change: fn(&mut Manifest)| {
            let mut other = run("a", "01", 1, "stuck");
            change(&mut other.manifest);
            let mut first = run("a", "01", 1, "finished");
            first.manifest.is_measurement = other.manifest.is_measurement;
            kept(&[first, other]).1
        };
        assert_eq!(other(|manifest| manifest.epoch = "2".to_owned()), 0);
        assert_eq!(other(|manifest| (manifest.is_measurement, manifest.wall_s) = (true, 2.0)), 0);
        assert_eq!(other(|manifest| manifest.wall_s = 2.0), 1, "the clock is no result");
    }

    /// The first run of a case has its scenario.
    #[test]
    fn the_scenario_of_a_copy_is_kept() {
        let mut first = run("a", "01", 1, "interrupted");
        first.scenario = "name = \"x\"".to_owned();
        let (left, _) = without_copies(vec![first, run("a", "01", 1, "finished")]);
        assert_eq!(left[0].scenario, "name = \"x\"");
    }
}
