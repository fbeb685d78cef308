//! Every figure of every trace is where it is expected, and the page of the book says so.

use std::path::Path;
use std::sync::OnceLock;

use fidelity::course::Course;
use fidelity::figures::at_least_threshold;
use fidelity::verdict::verdicts;
use fidelity::{Pair, compare, page, root};

/// The scenarios run once for all tests.
fn pairs() -> &'static [Pair] {
    static PAIRS: OnceLock<Vec<Pair>> = OnceLock::new();
    PAIRS.get_or_init(|| compare(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("fidelity")))
}

#[test]
fn simulated_hosts_do_what_linux_does() {
    assert!(page::hold(pairs()), "\n{}", page::report(pairs()));
}

#[test]
fn every_known_deviation_is_of_a_figure() {
    for pair in pairs() {
        let found = verdicts(pair).iter().filter(|verdict| verdict.deviation.is_some()).count();
        assert_eq!(found, pair.case.deviations.len(), "{}", pair.case.name);
    }
}

#[test]
fn experiments_settle_what_deviates() {
    for pair in pairs() {
        let settles = pair.case.experiment.map_or(&[][..], |experiment| experiment.settles);
        let deviates = |name: &&str| pair.case.deviations.iter().any(|known| *known.figure == **name);
        assert!(settles.iter().all(deviates), "{}", pair.case.name);
    }
}

/// Two flows in a queue of four packets: thresholds fall to two segments only where receivers read late, as Linux's do.
#[test]
fn late_readers_bring_thresholds_down_to_two_segments() {
    let pair = pairs().iter().find(|pair| pair.case.name == "B_reno_2f").unwrap();
    let share = |course: &Course| at_least_threshold(course, pair.case.from);
    assert!(share(&pair.real) > 0.1, "{}", share(&pair.real));
    assert!(pair.simulated.iter().all(|course| share(course) == 0.0));
    assert!(pair.experiment.iter().all(|course| share(course) > 0.1) && !pair.experiment.is_empty());
}

#[test]
fn the_page_says_what_the_runs_say() {
    let stale = page::stale(pairs(), &root());
    assert!(stale.is_empty(), "run `cargo xtask fidelity --write` and commit {stale:?}");
}
