//! Warnings about schemes whose runs differ in more than the scheme: other flows, or lengths over which averages are not alike.

use crate::contrast::{FlowPairs, other_flows};
use crate::sweep::{Run, Sweep, partners};
use crate::text::duration;

/// Longest runs this many times as long as the shortest have averages that cannot be compared.
const UNLIKE: f64 = 2.0;

/// The warnings of a sweep with several schemes.
pub(super) fn warnings(sweep: &Sweep) -> Vec<String> {
    other_traffic(sweep).filter(|_| !sweep.is_comparison).into_iter().chain(other_lengths(sweep)).collect()
}

/// Runs with one seed that have other flows than the baseline: part of the difference is not the scheme's.
fn other_traffic(sweep: &Sweep) -> Option<String> {
    let places = (0..sweep.points()).flat_map(|at| (1..sweep.schemes.len()).map(move |scheme| (scheme, at)));
    let pairs = places.flat_map(|(scheme, at)| partners(&sweep.case(scheme, at), &sweep.case(0, at)));
    let FlowPairs { differ, known } = other_flows(pairs);
    let which = if differ == known { "all".to_owned() } else { format!("{differ} of {known}") };
    (differ > 0).then(|| {
        format!(
            "In {which} pairs of runs with one seed the flows are not those of {}: part of any difference comes from the traffic.",
            sweep.schemes[0]
        )
    })
}

/// Flows that start together: each run lasts until its last flow ends, and its averages show little else.
fn other_lengths(sweep: &Sweep) -> Option<String> {
    let together = |run: &Run| {
        run.summary.stop == "all_finished"
            && run.summary.arrivals_until_s.is_none()
            && run.summary.drains_from_s.is_none()
    };
    let at = sweep.points() - 1;
    let length = |scheme: usize| {
        let case: Vec<&Run> = sweep.case(scheme, at).into_iter().filter(|run| together(run)).collect();
        let total: f64 = case.iter().map(|run| run.summary.simulated_s).sum();
        (!case.is_empty()).then(|| (total / case.len() as f64, scheme))
    };
    let lengths = || (0..sweep.schemes.len()).filter_map(length);
    let (longest, slow) = lengths().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (shortest, fast) = lengths().min_by(|a, b| a.0.total_cmp(&b.0))?;
    (longest > UNLIKE * shortest).then(|| {
        format!(
            "Runs of {} last {}, those of {} {}{}: goodput and link loads are averages over whole runs, which show above all when \
             the last flow ends.",
            sweep.schemes[slow],
            duration(longest * 1e6),
            sweep.schemes[fast],
            duration(shortest * 1e6),
            sweep.place(at)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::summary::Summary;

    fn run(scheme: &str, seed: u64, simulated_s: f64, flows: &str) -> Run {
        let labels = vec![("balance".to_owned(), scheme.to_owned())];
        let flows_hash = flows.to_owned();
        Run {
            manifest: Manifest { labels, seed, flows_hash, ..Manifest::default() },
            summary: Summary { simulated_s, stop: "all_finished".to_owned(), ..Summary::default() },
            ..Run::default()
        }
    }

    fn told(runs: Vec<Run>) -> Vec<String> {
        warnings(&Sweep::new(runs))
    }

    #[test]
    fn schemes_with_other_flows_are_told() {
        let of = |second: &str| vec![run("ecmp", 1, 1.0, "a"), run("drill", 1, 1.0, second)];
        assert_eq!(told(of("a")), Vec::<String>::new());
        assert_eq!(told(of("")), Vec::<String>::new(), "an older manifest does not know");
        let words = "In all pairs of runs with one seed the flows are not those of ecmp: part of any difference comes from the traffic.";
        assert_eq!(told(of("b")), [words]);
    }

    /// ECMP waits 200 ms for a time-out of one flow, so its mean goodput is a twentieth.
    #[test]
    fn lengths_of_runs_whose_flows_start_together_are_told() {
        let of = |second: f64| vec![run("ecmp", 1, 0.207, "a"), run("drill", 1, second, "a")];
        assert_eq!(told(of(0.15)), Vec::<String>::new());
        let words = told(of(0.0118)).join("").replace('\u{202f}', " ");
        assert!(words.starts_with("Runs of ecmp last 207 ms, those of drill 11.8 ms: goodput"), "{words}");
        let mut arriving = of(0.0118);
        arriving.iter_mut().for_each(|run| run.summary.arrivals_until_s = Some(0.01));
        assert_eq!(told(arriving), Vec::<String>::new(), "averages cover the arrivals alone");
    }
}
