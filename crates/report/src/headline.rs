//! The answer in a sentence, made from the data, and what spoils it. Knows summaries and sweeps, not their layout.

use crate::page::Verdict;
use crate::statistics::Estimate;
use crate::summary::Summary;
use crate::sweep::{Run, Sweep};
use crate::text::{count, duration, number, percent};

/// The first thing a reader sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// What spoils the result, most serious first; shown before the sentence.
    pub warnings: Vec<String>,
    /// The answer.
    pub sentence: String,
}

/// Baseline and the scheme that beats it most (or loses least), at the last place of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duel {
    /// The baseline: the first scheme.
    pub base: usize,
    /// The other scheme with the least mean completion time.
    pub best: usize,
    /// Place on the axis.
    pub at: usize,
}

/// Who is compared in the headline at a place of the axis; absent with a single scheme or without flows.
#[must_use]
pub fn duel(sweep: &Sweep, at: usize) -> Option<Duel> {
    let mean = |scheme: usize| Some((scheme, sweep.estimate(scheme, at, "fct.mean")?.mean));
    let others = (1..sweep.schemes.len()).filter_map(mean);
    let (best, _) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
    sweep.estimate(0, at, "fct.mean").map(|_| Duel { base: 0, best, at })
}

/// The furthest percentile of completion times that every one of these runs has with 100 samples beyond it; else
/// the 99th.
#[must_use]
pub fn tail_metric(runs: &[Run]) -> &'static str {
    let certain = |name: &str| {
        runs.iter().all(|run| {
            let all = &run.summary.fct_us.all;
            all.count >= 100 && !all.few_samples_above.iter().any(|few| few == name)
        })
    };
    [("p99_99", "fct.p99_99"), ("p99_9", "fct.p99_9")]
        .iter()
        .find(|(n, _)| certain(n))
        .map_or("fct.p99", |(_, m)| m)
}

/// The words for a percentile's metric: `99.9th percentile`.
#[must_use]
pub fn percentile_words(metric: &str) -> String {
    let digits = metric.rsplit(".p").next().unwrap_or(metric).replace('_', ".");
    format!("{digits}th percentile")
}

/// `95 % interval 1.55–1.69, 5 seeds` or, with one run, that there is none.
#[must_use]
pub fn interval_words(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            format!("95\u{202f}% interval {}–{}, {} seeds", number(low), number(high), estimate.runs)
        }
        _ => "one seed, no interval".to_owned(),
    }
}

impl Headline {
    /// For one run.
    #[must_use]
    pub fn of_run(run: &Run, verdicts: &[Verdict]) -> Headline {
        let sentence = run_sentence(run);
        Headline { warnings: warnings(std::slice::from_ref(run), verdicts), sentence }
    }

    /// For several runs.
    #[must_use]
    pub fn of_sweep(sweep: &Sweep, verdicts: &[Verdict]) -> Headline {
        let at = sweep.points() - 1;
        let sentence = match duel(sweep, at) {
            Some(duel) => duel_sentence(sweep, duel),
            None => trend_sentence(sweep),
        };
        let mut warnings = warnings(&sweep.runs, verdicts);
        if sweep.left_out > 0 {
            warnings.insert(0, left_out_words(sweep.left_out));
        }
        Headline { warnings, sentence }
    }
}

fn left_out_words(runs: usize) -> String {
    match runs {
        1 => "1 run was interrupted and is left out.".to_owned(),
        _ => format!("{runs} runs were interrupted and are left out."),
    }
}

fn run_sentence(run: &Run) -> String {
    let Summary { fct_us, slowdown, flows, .. } = &run.summary;
    let (Some(mean), Some(half)) = (fct_us.all.mean, slowdown.all.p50) else {
        return "No measured flow finished: there is no completion time to report.".to_owned();
    };
    let tail =
        slowdown.all.p99.map_or(String::new(), |p99| format!(" and 1 in 100 more than {}×", number(p99)));
    format!(
        "Flows finish in {} on average; half take more than {}× their time in an empty network{tail} ({} flows, \
         seed {}; one run, no interval).",
        duration(mean),
        number(half),
        count(flows.finished),
        run.manifest.seed
    )
}

fn place_words(sweep: &Sweep, at: usize) -> String {
    sweep.axis.as_ref().map_or(String::new(), |axis| format!("At {} ", axis.phrase(at)))
}

fn duel_sentence(sweep: &Sweep, duel: Duel) -> String {
    let Duel { base, best, at } = duel;
    let flows: u64 =
        [base, best].iter().flat_map(|&s| sweep.case(s, at)).map(|run| run.summary.flows.finished).sum();
    let tail = tail_words(sweep, duel);
    let (names, place) = ((&sweep.schemes[base], &sweep.schemes[best]), place_words(sweep, at));
    let Some(ratio) = sweep.ratio(base, best, at, "fct.mean") else {
        return trend_sentence(sweep);
    };
    let evidence = format!("({}, {} flows)", interval_words(&ratio), count(flows));
    format!("{place}{} {evidence}{tail}.", verdict_words(&ratio, names.0, names.1))
}

fn verdict_words(ratio: &Estimate, base: &str, best: &str) -> String {
    let (faster, clear) = (ratio.mean >= 1.0, ratio.runs == 1 || ratio.excludes(1.0));
    match (clear, faster) {
        (false, _) => format!(
            "{best} and {base} do not differ clearly: {best} finishes flows {} times as fast on average",
            number(ratio.mean)
        ),
        (true, true) => {
            format!("{best} finishes flows {} times faster than {base} on average", number(ratio.mean))
        }
        (true, false) => {
            format!(
                "nothing beats {base}: {best}, the next, is {} times slower on average",
                number(1.0 / ratio.mean)
            )
        }
    }
}

fn tail_words(sweep: &Sweep, Duel { base, best, at }: Duel) -> String {
    let metric = tail_metric(&sweep.runs);
    let value = |scheme| sweep.estimate(scheme, at, metric).map(|estimate| estimate.mean);
    let (Some(from), Some(to)) = (value(base), value(best)) else {
        return String::new();
    };
    let (words, from_text, to_text) = (percentile_words(metric), duration(from), duration(to));
    let clear = |ratio: Estimate| ratio.runs == 1 || ratio.excludes(1.0);
    let clear = sweep.ratio(base, best, at, metric).is_some_and(clear) && (from / to - 1.0).abs() > 0.02;
    match (clear, to < from) {
        (true, true) => format!(" and cuts the {words} from {from_text} to {to_text}"),
        (true, false) => format!(" but raises the {words} from {from_text} to {to_text}"),
        _ => format!("; the {words} is {to_text} against {from_text}"),
    }
}

fn trend_sentence(sweep: &Sweep) -> String {
    let mean = |at: usize| Some((at, sweep.estimate(0, at, "fct.mean")?));
    let known: Vec<(usize, Estimate)> = (0..sweep.points()).filter_map(mean).collect();
    let flows: u64 = sweep.runs.iter().map(|run| run.summary.flows.finished).sum();
    match (known.as_slice(), &sweep.axis) {
        ([(first, low), .., (last, high)], Some(axis)) => format!(
            "Mean FCT of {} goes from {} at {} to {} at {} ({} runs, {} flows).",
            sweep.schemes[0],
            duration(low.mean),
            axis.phrase(*first),
            duration(high.mean),
            axis.phrase(*last),
            sweep.runs.len(),
            count(flows)
        ),
        ([(_, only), ..], _) => {
            format!("Mean FCT is {} ({}, {} flows).", duration(only.mean), interval_words(only), count(flows))
        }
        _ => "No measured flow finished: there is no completion time to report.".to_owned(),
    }
}

fn warnings(runs: &[Run], verdicts: &[Verdict]) -> Vec<String> {
    let missed: Vec<&str> = verdicts.iter().filter(|v| !v.passed).map(|v| v.claim.as_str()).collect();
    let expectations = (!missed.is_empty()).then(|| {
        format!("{} of {} expectations missed: {}.", missed.len(), verdicts.len(), missed.join("; "))
    });
    let stopped = [
        ("stuck", "stuck: flows were open and nothing was left to happen"),
        ("interrupted", "interrupted before the end; the results are valid as far as they go"),
    ];
    let stops = stopped.iter().filter_map(|(stop, words)| {
        let many = runs.iter().filter(|run| run.summary.stop == *stop).count();
        (many > 0).then(|| format!("{}: {words}.", of_runs(many, runs.len())))
    });
    expectations
        .into_iter()
        .chain(stops)
        .chain(unfinished(runs))
        .chain(overload(runs))
        .chain(few(runs))
        .collect()
}

/// `2 of 16 runs`, or `The run` when there is only one.
fn of_runs(many: usize, all: usize) -> String {
    if all == 1 { "The run".to_owned() } else { format!("{many} of {all} runs") }
}

fn unfinished(runs: &[Run]) -> Option<String> {
    let worst =
        runs.iter().max_by(|a, b| a.summary.unfinished_share().total_cmp(&b.summary.unfinished_share()))?;
    let (share, open) = (worst.summary.unfinished_share(), worst.summary.flows.unfinished);
    let many = runs.iter().filter(|run| run.summary.flows.unfinished > 0).count();
    (open > 0).then(|| match runs.len() {
        1 => format!("{} flows ({}) did not finish; they are in no percentile.", count(open), percent(share)),
        all => format!(
            "{many} of {all} runs left flows unfinished, at most {} of a run's flows; they are in no percentile.",
            percent(share)
        ),
    })
}

/// A link that is busy all the time although flows are left: the load is more than the network carries.
fn overload(runs: &[Run]) -> Option<String> {
    let overloaded = |run: &&Run| {
        run.summary.stop == "time_limit"
            && run.summary.unfinished_share() > 0.01
            && run.summary.links.utilisation_max > 0.95
    };
    let many = runs.iter().filter(overloaded).count();
    (many > 0).then(|| format!("{}: overloaded, queues grew until the end.", of_runs(many, runs.len())))
}

fn few(runs: &[Run]) -> Option<String> {
    let metric = tail_metric(runs);
    let name = metric.rsplit('.').next().unwrap_or(metric);
    let uncertain = |run: &&Run| {
        let all = &run.summary.fct_us.all;
        all.count < 100 || all.few_samples_above.iter().any(|few| few == name)
    };
    let many = runs.iter().filter(uncertain).count();
    (many > 0).then(|| {
        let place =
            if runs.len() == 1 { String::new() } else { format!(" in {many} of {} runs", runs.len()) };
        let words = percentile_words(metric);
        format!("Fewer than 100 flows lie beyond the {words}{place}: read the tail with care.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::statistics::Distribution;
    use crate::summary::{Flows, Measured};

    fn run(scheme: &str, seed: u64, mean: f64, flows: usize) -> Run {
        let all = Distribution::of((0..flows).map(|n| mean * (0.5 + n as f64 / flows as f64)).collect());
        let summary = Summary {
            flows: Flows { started: flows as u64, finished: flows as u64, ..Flows::default() },
            slowdown: Measured { all: all.clone(), ..Measured::default() },
            fct_us: Measured { all, ..Measured::default() },
            ..Summary::default()
        };
        let labels = vec![("balance".into(), scheme.into()), ("load".into(), "0.8".into())];
        Run { manifest: Manifest { seed, labels, ..Manifest::default() }, summary, ..Run::default() }
    }

    fn sweep(best: f64) -> Sweep {
        let runs = |scheme: &str, mean: f64| {
            let scheme = scheme.to_owned();
            (1..=3).map(move |seed| run(&scheme, seed, mean * (1.0 + seed as f64 / 100.0), 20_000))
        };
        Sweep::new(runs("ecmp", 1_000.0).chain(runs("drill", best)).collect())
    }

    #[test]
    fn a_clear_win_is_stated_with_interval_seeds_and_flows() {
        let headline = Headline::of_sweep(&sweep(500.0), &[]);
        let sentence = headline.sentence.replace('\u{202f}', " ");
        assert!(
            sentence.starts_with("drill finishes flows 2.00 times faster than ecmp on average"),
            "{sentence}"
        );
        assert!(sentence.contains("95 % interval 2.00–2.00, 3 seeds, 120 000 flows"), "{sentence}");
        assert!(sentence.contains("cuts the 99th percentile from 1.52 ms to 760 us"), "{sentence}");
        assert_eq!(headline.warnings, Vec::<String>::new());
    }

    #[test]
    fn a_loss_and_a_tie_are_not_called_a_win() {
        assert!(Headline::of_sweep(&sweep(2_000.0), &[]).sentence.starts_with("nothing beats ecmp"));
        let mut tie = sweep(1_000.0);
        tie.runs[4] = run("drill", 2, 900.0, 20_000);
        let sentence = Headline::of_sweep(&tie, &[]).sentence;
        assert!(sentence.contains("do not differ clearly"), "{sentence}");
        assert!(sentence.contains("; the 99th percentile is ") && !sentence.contains("cuts"), "{sentence}");
    }

    #[test]
    fn what_spoils_the_result_comes_first() {
        let mut one = run("ecmp", 1, 100.0, 50);
        one.summary.flows.unfinished = 5;
        one.summary.flows.started = 55;
        let verdict = Verdict { claim: "mean ratio 1.6".into(), ..Verdict::default() };
        let warnings = Headline::of_run(&one, &[verdict]).warnings;
        assert!(warnings[0].contains("1 of 1 expectations missed"));
        assert!(warnings[1].contains("5 flows"));
        assert!(warnings[2].contains("Fewer than 100 flows"));
    }
}
