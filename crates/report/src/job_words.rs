//! What bounded a job, in a sentence: where the time of its critical path went. Must not depend on pages.

use crate::contrast::interval_words;
use crate::detail::{JOB_BOUNDS, JobChart, PhaseTimes};
use crate::sweep::Sweep;
use crate::text::{duration, number, percent};

/// `terasort took 20.6 s. Cores bounded it: 12 s of its critical path (58 %); …`; of an unfinished job, that it is.
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

/// Whether the answer of a sweep is how long its jobs took: every run has the time of a job.
pub(crate) fn times_of_all_jobs(sweep: &Sweep) -> bool {
    !sweep.runs.is_empty() && sweep.runs.iter().all(|run| run.summary.metric("job.seconds").is_some())
}

/// Schemes whose job times are named.
const MOST_TIMES: usize = 8;

/// `Jobs take 20.6 s with shallow, 22 s with deep (1.07× as long, 95 % interval 1.05–1.09, 5 seeds). `; empty without jobs.
pub(crate) fn job_times(sweep: &Sweep, at: usize) -> String {
    let time = |scheme: usize| {
        let seconds = sweep.estimate(scheme, at, "job.seconds")?.mean;
        let ratio = sweep.ratio(scheme, 0, at, "job.seconds").filter(|_| scheme > 0);
        let longer = ratio.map_or(String::new(), |ratio| {
            format!(" ({}× as long, {})", number(ratio.mean), interval_words(&ratio))
        });
        Some(format!("{} with {}{longer}", duration(seconds * 1e6), sweep.schemes[scheme]))
    };
    let times: Vec<String> = (0..sweep.schemes.len()).filter_map(time).take(MOST_TIMES).collect();
    if times.is_empty() { String::new() } else { format!("Jobs take {}. ", times.join(", ")) }
}

fn total(chart: &JobChart, bound: usize) -> f64 {
    chart.phases.iter().map(|phase| phase.seconds[bound]).sum()
}

/// `map 5.1 s (cores 3.2 s)`: its time, and what took most of it.
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
