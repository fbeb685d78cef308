//! Warnings that qualify a result: missed expectations, runs that did not end by themselves, unfinished flows,
//! overload, long drains, thin tails.

use crate::job_words::ended_early;
use crate::listing::ExpectationVerdict;
use crate::summary::FlowCounts;
use crate::sweep::Run;
use crate::text::{count, duration, percent, plural, size};

/// Warning that interrupted runs of a sweep are left out.
pub(super) fn left_out_words(runs: usize) -> String {
    match runs {
        1 => "1 run was interrupted and is excluded.".to_owned(),
        _ => format!("{runs} runs were interrupted and are excluded."),
    }
}

/// Warning that copies of runs are left out, if there are any.
pub(super) fn copies_words(runs: usize) -> Option<String> {
    let what = "equal settings, seed and results epoch";
    match runs {
        0 => None,
        1 => Some(format!("1 run is a copy of another ({what}) and is excluded.")),
        _ => Some(format!("{runs} runs are copies of others ({what}) and are excluded.")),
    }
}

/// The warnings for these runs, most serious first.
pub(super) fn warnings(runs: &[Run], verdicts: &[ExpectationVerdict]) -> Vec<String> {
    let missed: Vec<&str> = verdicts.iter().filter(|v| !v.passed).map(|v| v.claim.as_str()).collect();
    let expectations = (!missed.is_empty()).then(|| {
        format!("{} of {} expectations missed: {}.", missed.len(), verdicts.len(), missed.join("; "))
    });
    let stopped = [
        ("stuck", "stuck: flows were open and nothing could finish them"),
        ("interrupted", "interrupted before the end; the results are valid but partial"),
    ];
    let stops = stopped.iter().filter_map(|(stop, words)| {
        let many = runs.iter().filter(|run| run.summary.stop == *stop).count();
        (many > 0).then(|| format!("{}: {words}.", of_runs(many, runs.len())))
    });
    expectations
        .into_iter()
        .chain(stops)
        .chain(open_jobs(runs))
        .chain(measured(runs))
        .chain(cautions(runs))
        .chain(too_early(runs))
        .chain(unfinished(runs))
        .chain(overload(runs))
        .chain(unmarkable(runs))
        .chain(too_late(runs))
        .chain(draining(runs))
        .chain(drained(runs))
        .chain(few(runs))
        .collect()
}

/// `2 of 16 runs`, or `The run` if there is only one.
fn of_runs(many: usize, all: usize) -> String {
    if all == 1 { "The run".to_owned() } else { format!("{many} of {all} runs") }
}

/// Runs that ended before their jobs.
fn open_jobs(runs: &[Run]) -> Option<String> {
    let many = runs.iter().filter(|run| ended_early(run)).count();
    (many > 0).then(|| match runs.len() {
        1 => "The run ended before its jobs did.".to_owned(),
        all => format!(
            "{many} of {all} runs ended before their jobs did; the times of these jobs are in no mean."
        ),
    })
}

/// Results that are measurements and not a simulation.
fn measured(runs: &[Run]) -> Option<String> {
    let many = runs.iter().filter(|run| run.manifest.is_measurement).count();
    let engine = &runs.iter().find(|run| run.manifest.is_measurement)?.manifest.engine;
    Some(match many == runs.len() {
        true => format!("Measured, not simulated ({engine}): the same command varies from run to run."),
        false => format!("{many} of {} runs are measured, not simulated ({engine}).", runs.len()),
    })
}

/// The warnings of engines about their results: the fact `caution`. For several runs, without the numbers after the
/// colon.
fn cautions(runs: &[Run]) -> Option<String> {
    let of = |run: &Run| {
        run.manifest.facts.iter().find(|(name, _)| name == "caution").map(|(_, words)| words.clone())
    };
    let told: Vec<String> = runs.iter().filter_map(of).collect();
    let first = told.first()?;
    Some(match runs.len() {
        1 => first.clone(),
        all => {
            let words = first.split_once(": ").map_or(first.as_str(), |(words, _)| words);
            format!("{} of {all} runs: {}.", told.len(), words.trim_end_matches('.'))
        }
    })
}

/// All flows started during the warm-up.
fn too_early(runs: &[Run]) -> Option<String> {
    let none = |run: &&Run| run.summary.flows.started == 0 && run.summary.flows.warm_up > 0;
    let many = runs.iter().filter(none).count();
    (many > 0).then(|| {
        format!(
            "{}: no flow is measured, because all started during the warm-up; shorten measure.warm_up.",
            of_runs(many, runs.len())
        )
    })
}

fn unfinished(runs: &[Run]) -> Option<String> {
    let worst =
        runs.iter().max_by(|a, b| a.summary.unfinished_share().total_cmp(&b.summary.unfinished_share()))?;
    let (share, open) = (worst.summary.unfinished_share(), worst.summary.flows.unfinished);
    let many = runs.iter().filter(|run| run.summary.flows.unfinished > 0).count();
    let FlowCounts { open_bytes, open_delivered_bytes: arrived, .. } = worst.summary.flows;
    let given_up = given_up(runs);
    (open > 0).then(|| match runs.len() {
        1 => format!(
            "{} ({}) did not finish and {} in no percentile; {} of {} {} arrived.{given_up}",
            plural(open, "flow"),
            percent(share),
            if open == 1 { "is" } else { "are" },
            size(arrived as f64),
            if open == 1 { "its" } else { "their" },
            size(open_bytes as f64)
        ),
        all => format!(
            "{many} of {all} runs left flows unfinished, at most {} of a run's flows; they are in no percentile.{given_up}",
            percent(share)
        ),
    })
}

/// The number of unfinished flows that their senders gave up; empty if none.
fn given_up(runs: &[Run]) -> String {
    let all = |run: &Run| run.summary.deadlines.as_ref().map_or(0, |found| found.all.terminated);
    let (given_up, open): (u64, u64) =
        (runs.iter().map(all).sum(), runs.iter().map(|run| run.summary.flows.unfinished).sum());
    match given_up {
        0 => String::new(),
        1 if open == 1 => " It was given up because of its deadline.".to_owned(),
        _ => format!(
            " {} of {} {} given up because of {}.",
            count(given_up),
            plural(open, "flow"),
            if given_up == 1 { "was" } else { "were" },
            if given_up == 1 { "its deadline" } else { "their deadlines" }
        ),
    }
}

/// More than this share of what the uplinks of a leaf carry is overload; the flows that a seed draws may ask for a little more than the load set.
const OVERLOAD: f64 = 1.02;

/// Flows that arrive faster than the uplinks of a leaf carry them; or a link that is always busy while flows remain, because more share it
/// than it carries.
fn overload(runs: &[Run]) -> Option<String> {
    let arriving = |run: &&Run| run.summary.arrivals_until_s.is_some() && run.summary.flows.finished > 0;
    let offered = |run: &Run| run.summary.links.offered.as_ref().map_or(0.0, |offered| offered.uplinks[1]);
    let is_busy = |run: &&Run| {
        run.summary.stop == "time_limit"
            && run.summary.unfinished_share() > 0.01
            && run.summary.links.utilisation_max.is_some_and(|most| most > 0.95)
    };
    let overloaded: Vec<&Run> = runs.iter().filter(arriving).filter(|run| offered(run) > OVERLOAD).collect();
    if let Some(most) = overloaded.iter().map(|run| offered(run)).max_by(f64::total_cmp) {
        return Some(format!(
            "{}: overloaded, flows arrive faster than the uplinks of a leaf carry them (up to {}); completion times grow as long as they do.",
            of_runs(overloaded.len(), runs.len()),
            percent(most)
        ));
    }
    let busy = runs.iter().filter(arriving).filter(is_busy).count();
    (busy > 0)
        .then(|| format!("{}: a link is always busy and flows remain at the end.", of_runs(busy, runs.len())))
}

/// Queues that mark, and drop early what they cannot mark.
fn unmarkable(runs: &[Run]) -> Option<String> {
    let early =
        |run: &Run| run.summary.drops.as_ref().map_or(0, |drops| *drops.by_reason.get("early").unwrap_or(&0));
    let marks = |run: &Run| run.summary.marks.unwrap_or(0);
    let many = |run: &&Run| marks(run) > 0 && early(run) > 0 && early(run) >= marks(run) / 1_000;
    let worst = runs.iter().filter(many).max_by_key(|run| early(run))?;
    let dropped = match runs.len() {
        1 => format!("Queues that mark dropped {} early", plural(early(worst), "packet")),
        all => format!(
            "In {} of {all} runs queues that mark dropped packets early, at most {}",
            runs.iter().filter(many).count(),
            count(early(worst))
        ),
    };
    Some(format!(
        "{dropped}: SYNs, acknowledgements and retransmissions that are not ECN-capable are dropped where other packets are \
         marked, unless switch.ecn has non_ect = \"pass\"."
    ))
}

fn few(runs: &[Run]) -> Option<String> {
    let uncertain = |run: &&Run| {
        let all = &run.summary.fct_us.all;
        // With fewer flows, no such percentile is shown.
        all.count >= 100 && all.few_samples_beyond.iter().any(|few| few == "p99")
    };
    let many = runs.iter().filter(uncertain).count();
    // without completion times there is no tail
    (many > 0 && runs.iter().any(|run| run.summary.fct_us.all.count > 0)).then(|| {
        let place =
            if runs.len() == 1 { String::new() } else { format!(" in {many} of {} runs", runs.len()) };
        format!("Fewer than 100 flows lie beyond the 99th percentile{place}: read it with care.")
    })
}

/// Configured failures that lie after the end of the run.
fn too_late(runs: &[Run]) -> Option<String> {
    let many = runs.iter().filter(|run| run.summary.late_changes > 0).count();
    let run = runs.iter().max_by_key(|run| run.summary.late_changes).filter(|_| many > 0)?;
    let (late, end) = (run.summary.late_changes, duration(run.summary.simulated_s * 1e6));
    Some(match runs.len() {
        1 => format!(
            "{} of cables had no effect: the run ended earlier, at {end}.",
            match late {
                1 => "1 failure or repair".to_owned(),
                _ => format!("{} failures and repairs", count(late)),
            }
        ),
        all => format!("{many} of {all} runs ended before all requested failures and repairs of cables."),
    })
}

/// Averages over a whole run that mostly drains say little about the arrivals.
fn drained(runs: &[Run]) -> Option<String> {
    let parts = |run: &Run| Some((run.summary.simulated_s, run.summary.drains_from_s?));
    let many = runs.iter().filter_map(parts).count();
    let (whole, last) = runs.iter().filter_map(parts).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (whole, last) = (duration(whole * 1e6), duration(last * 1e6));
    Some(match runs.len() {
        1 => format!(
            "The last flow starts at {last} but less than half of the payload has arrived by then: goodput and link loads are \
             averages over all {whole} of the run, drain included."
        ),
        all => format!(
            "In {many} of {all} runs less than half of the payload arrives before the last flow starts: their goodput and link \
             loads are averages over the whole run (up to {whole}), drain included."
        ),
    })
}

/// Averages exclude everything after the start of the last flow; warns if that is the longer part.
fn draining(runs: &[Run]) -> Option<String> {
    let drain = |run: &Run| Some((run.summary.drain_s()?, run.summary.arrivals_until_s?));
    let long = |run: &Run| drain(run).filter(|(drain, last)| *drain > last - run.summary.begins_s);
    let many = runs.iter().filter_map(long).count();
    let (drain, arrivals) = runs.iter().filter_map(long).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (drain, arrivals) = (duration(drain * 1e6), duration(arrivals * 1e6));
    Some(match runs.len() {
        1 => format!(
            "The last flow starts at {arrivals} and the run ends {drain} later: goodput and link loads are averages over the \
             first part only."
        ),
        all => format!(
            "{many} of {all} runs drain for longer than flows arrive, for up to {drain}: goodput and link loads exclude \
             the drain."
        ),
    })
}
