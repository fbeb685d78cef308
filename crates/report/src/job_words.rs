//! A sentence on what bounded a job: how the time of its critical path was spent. Must not depend on pages.

use crate::contrast::{begin, interval_words, place_words};
use crate::detail::{JOB_BOUNDS, JobChart, PhaseTimes};
use crate::statistics::Estimate;
use crate::sweep::{Run, Sweep};
use crate::text::{duration, number, percent};

/// `terasort took 20.6 s. Cores bounded it: 12 s of its critical path (58 %); …`; for an unfinished job, a note that
/// it is unfinished.
#[must_use]
pub(crate) fn job_words(chart: &JobChart) -> String {
    let Some(seconds) = chart.seconds else {
        return format!("{} did not finish.", chart.tag);
    };
    let mut totals: Vec<(f64, &str)> =
        JOB_BOUNDS.iter().enumerate().map(|(n, name)| (total(chart, n), *name)).collect();
    totals.sort_by(|a, b| b.0.total_cmp(&a.0));
    let took = format!("{} took {}", chart.tag, duration(seconds * 1e6));
    let (most, first) = totals[0];
    let rest = totals[1..].iter().filter(|(seconds, _)| *seconds > 0.0);
    let rest: Vec<String> =
        rest.map(|(seconds, name)| format!("{name} {}", duration(seconds * 1e6))).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    let phases: Vec<String> = chart.phases.iter().map(phase).collect();
    format!(
        "{took}. Its critical path: {first} {} ({}){rest}. By phase: {}.",
        duration(most * 1e6),
        percent(most / seconds.max(f64::MIN_POSITIVE)),
        phases.join(", ")
    )
}

/// The time of a run's jobs, from the submission of the first to the end of the last.
pub(crate) const JOB_TIME: &str = "job.seconds";

/// Whether the answer of a sweep is the time of its jobs: every run has jobs.
pub(crate) fn is_of_jobs(sweep: &Sweep) -> bool {
    !sweep.runs.is_empty() && sweep.runs.iter().all(has_jobs)
}

fn has_jobs(run: &Run) -> bool {
    [JOB_TIME, "job.unfinished"].iter().any(|metric| run.summary.metric(metric).is_some())
}

/// Whether a run ended before its jobs.
pub(crate) fn ended_early(run: &Run) -> bool {
    has_jobs(run) && run.summary.metric(JOB_TIME).is_none()
}

/// Whether the mean of a metric over runs omits none: unfinished jobs would be the longest.
pub(crate) fn is_whole(runs: &[&Run], metric: &str) -> bool {
    metric != JOB_TIME || !runs.iter().any(|run| ended_early(run))
}

/// A note on flows for comparisons of jobs; `None` without jobs.
pub(crate) fn flows_of_jobs(sweep: &Sweep) -> Option<String> {
    let words = "jobs start flows when others have ended: with equal seeds the sides may have other flows, so compare the times of \
                 jobs before completion times.";
    sweep.runs.iter().any(has_jobs).then(|| words.to_owned())
}

/// Whether any run has several jobs: their critical paths do not add up to the time from the first submission to the last end.
fn are_several(sweep: &Sweep) -> bool {
    let several = |run: &Run| {
        let paths = ["fixed", "latency", "cpu", "disk", "network"].map(|by| format!("job.path.{by}"));
        let known: Vec<f64> = paths.iter().filter_map(|path| run.summary.metric(path)).collect();
        let whole = run.summary.metric(JOB_TIME).filter(|_| !known.is_empty());
        whole.is_some_and(|whole| (known.iter().sum::<f64>() - whole).abs() > whole * 1e-3)
    };
    sweep.runs.iter().any(several)
}

/// The name of job times at the head of a column.
pub(crate) fn job_head(sweep: &Sweep) -> &'static str {
    if are_several(sweep) { "all jobs" } else { "job" }
}

/// The number of a case's runs that ended before their jobs, and of all its runs.
fn open(sweep: &Sweep, (scheme, at): (usize, usize)) -> (usize, usize) {
    let case = sweep.case(scheme, at);
    (case.iter().filter(|run| ended_early(run)).count(), case.len())
}

/// `4/6 open`: the number of a case's runs whose jobs did not end; `None` if all did.
pub(crate) fn open_words(sweep: &Sweep, case: (usize, usize)) -> Option<String> {
    let (open, all) = open(sweep, case);
    (open > 0).then(|| format!("{open}/{all} open"))
}

/// The ratio of job times, if all jobs of both cases ended: those that did not would be the longest.
pub(crate) fn job_ratio(sweep: &Sweep, scheme: usize, base: usize, at: usize) -> Option<Estimate> {
    let whole = [scheme, base].iter().all(|one| open(sweep, (*one, at)).0 == 0);
    sweep.ratio(scheme, base, at, JOB_TIME).filter(|_| whole)
}

/// Maximum number of schemes, or points of an axis, that are named.
const MOST_TIMES: usize = 8;

/// `Jobs take 20.6 s with shallow, 22 s with deep (1.07× as long, 95 % interval 1.05–1.09, 5 seeds). `; for one
/// scheme, the times along the axis; if jobs did not end, that fact instead of a mean over the others. Empty without
/// jobs.
pub(crate) fn job_times(sweep: &Sweep, at: usize) -> String {
    if !sweep.runs.iter().any(has_jobs) {
        return String::new();
    }
    match &sweep.axis {
        Some(axis) if sweep.schemes.len() == 1 && sweep.points() > 1 => {
            let points: Vec<usize> = (0..sweep.points()).collect();
            let named = if points.len() > MOST_TIMES { [0, at].to_vec() } else { points };
            let cases = named.into_iter().map(|at| ((0, at), format!("at {}", axis.phrase(at))));
            told(sweep, "", cases.collect())
        }
        _ => {
            let named = sweep.schemes.iter().take(MOST_TIMES).enumerate();
            let cases = named.map(|(scheme, name)| ((scheme, at), format!("with {name}")));
            told(sweep, &place_words(sweep, at), cases.collect())
        }
    }
}

/// Cases, each with its name in a sentence.
type Named = Vec<((usize, usize), String)>;

/// The times of these cases, and the number of runs whose jobs did not end.
fn told(sweep: &Sweep, place: &str, cases: Named) -> String {
    let (early, whole): (Named, Named) = cases.into_iter().partition(|(case, _)| open(sweep, *case).0 > 0);
    let times =
        whole.iter().filter_map(|(case, name)| time(sweep, *case, name)).collect::<Vec<_>>().join(", ");
    let several = are_several(sweep);
    let take =
        if several { "all jobs take, from the first submission to the last end," } else { "jobs take" };
    let times = if times.is_empty() { times } else { begin(place, &format!("{take} {times}. ")) };
    let early = early_words(sweep, &early);
    let place = if times.is_empty() { place } else { "" };
    if early.is_empty() { times } else { times + &begin(place, &early) }
}

/// `in 4 of 6 runs with shallow jobs did not end: …`; empty without such cases.
fn early_words(sweep: &Sweep, cases: &Named) -> String {
    let of = |(case, name): &((usize, usize), String)| {
        let (open, all) = open(sweep, *case);
        format!("{open} of {all} runs {name}")
    };
    let runs = cases.iter().map(of).collect::<Vec<_>>().join(", ");
    match runs.as_str() {
        "" => runs,
        runs => format!("in {runs} jobs did not end: a mean over the others would leave out the longest. "),
    }
}

/// `22 s with deep (1.07× as long, 95 % interval 1.05–1.09, 5 seeds)`.
fn time(sweep: &Sweep, (scheme, at): (usize, usize), name: &str) -> Option<String> {
    let seconds = sweep.estimate(scheme, at, JOB_TIME)?.mean;
    let longer = job_ratio(sweep, scheme, 0, at).filter(|_| scheme > 0).map_or(String::new(), |ratio| {
        format!(" ({}× as long, {})", number(ratio.mean), interval_words(&ratio))
    });
    Some(format!("{} {name}{longer}", duration(seconds * 1e6)))
}

fn total(chart: &JobChart, bound: usize) -> f64 {
    chart.phases.iter().map(|phase| phase.seconds[bound]).sum()
}

/// `map 5.1 s (cores 3.2 s)`: its time, and the resource that took most of it.
fn phase(phase: &PhaseTimes) -> String {
    let all: f64 = phase.seconds.iter().sum();
    let most = phase.seconds.iter().copied().fold(0.0, f64::max);
    let name = JOB_BOUNDS[phase.seconds.iter().position(|seconds| *seconds == most).unwrap_or(0)];
    format!("{} {} ({name} {})", phase.phase, duration(all * 1e6), duration(most * 1e6))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_what_took_most_of_the_critical_path_and_of_each_phase() {
        let times = |phase: &str, seconds| PhaseTimes { phase: phase.into(), seconds };
        let chart = JobChart {
            tag: "terasort".into(),
            seconds: Some(20.0),
            phases: vec![
                times("map", [1.0, 0.5, 8.0, 0.0, 0.5]),
                times("shuffle", [0.0, 0.0, 0.0, 0.0, 10.0]),
            ],
            ..JobChart::default()
        };
        assert_eq!(
            job_words(&chart).replace('\u{202f}', " "),
            "terasort took 20.0 s. Its critical path: the network 10.5 s (52.5 %); cores 8.00 s, fixed delays 1.00 s, calls 500 ms. \
             By phase: map 10.0 s (cores 8.00 s), shuffle 10.0 s (the network 10.0 s)."
        );
        assert_eq!(job_words(&JobChart { seconds: None, ..chart }), "terasort did not finish.");
    }
}
