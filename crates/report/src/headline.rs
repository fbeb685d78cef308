//! The answer in one sentence, derived from the data, and the warnings that qualify it. Must not depend on the page.

pub(crate) mod endless;
pub(crate) mod given_up;
mod incidents;
mod timeouts;
mod unequal;
mod warnings;

pub(crate) use incidents::{back, what};
pub(crate) use timeouts::of_syn;

use crate::contrast::{
    Contrast, Duel, MetricOrder, begin, counted, covers, interval_words, more_words, place_words,
};
use crate::job_words::{is_of_jobs, job_times, job_words};
use crate::listing::ExpectationVerdict;
use crate::statistics::Estimate;
use crate::summary::Summary;
use crate::sweep::{HorizontalAxis, MEAN_WITH_OPEN, Run, Sweep};
use crate::text::{duration, number, percent, plural};
use warnings::{copies_words, left_out_words, warnings};

/// Maximum number of schemes beside the two compared; more are summarised by the fastest and the slowest.
const MOST_NAMED: usize = 3;

/// The first lines that a reader sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    /// Warnings that qualify the result, most serious first; shown before the sentence.
    pub warnings: Vec<String>,
    /// The answer.
    pub sentence: String,
}

/// The highest percentile of completion times that every run has with 100 samples beyond it, and that the flows without an end [move
/// little](covers); the median if there is none.
#[must_use]
pub fn tail_metric(runs: &[Run]) -> &'static str {
    let certain = |name: &str| {
        runs.iter().all(|run| {
            let all = &run.summary.fct_us.all;
            all.count >= 100 && !all.few_samples_beyond.iter().any(|few| few == name)
        })
    };
    let certain = |(name, metric): &&(&str, &str)| {
        certain(name) && runs.iter().all(|run| covers(metric, run.summary.unfinished_share()))
    };
    let further = [("p99_99", "fct.p99_99"), ("p99_9", "fct.p99_9"), ("p99", "fct.p99"), ("p95", "fct.p95")];
    further.iter().find(certain).map_or("fct.p50", |(_, metric)| metric)
}

/// A percentile's metric in words: `99.9th percentile`.
#[must_use]
pub fn percentile_words(metric: &str) -> String {
    match metric.rsplit(".p").next().unwrap_or(metric) {
        "50" => "median".to_owned(),
        digits => format!("{}th percentile", digits.replace('_', ".")),
    }
}

/// The name of the [`tail_metric`] of runs in figures and on cards.
#[must_use]
pub fn tail_name(runs: &[Run]) -> &'static str {
    match tail_metric(runs) {
        "fct.p99_99" => "99.99th percentile of FCT",
        "fct.p99_9" => "99.9th percentile of FCT",
        "fct.p99" => "99th percentile of FCT",
        "fct.p95" => "95th percentile of FCT",
        metric if runs.iter().all(|run| covers(metric, run.summary.unfinished_share())) => "Median FCT",
        _ => "Median FCT of finished flows",
    }
}

/// `95 % interval 17.9 ms–75.0 ms, 2 seeds`, for a time in microseconds.
fn of_durations(estimate: &Estimate) -> String {
    let ends = estimate.low.zip(estimate.high);
    ends.map_or("one seed, no interval".to_owned(), |(low, high)| {
        let ends = format!("{}–{}", duration(low.max(0.0)), duration(high));
        format!("95\u{202f}% interval {ends}, {} seeds", estimate.runs)
    })
}

impl Headline {
    /// The headline of one run.
    #[must_use]
    pub fn of_run(run: &Run, verdicts: &[ExpectationVerdict]) -> Headline {
        let sentence = run_sentence(run);
        Headline { warnings: warnings(std::slice::from_ref(run), verdicts), sentence }
    }

    /// The headline of several runs.
    #[must_use]
    pub fn of_sweep(sweep: &Sweep, verdicts: &[ExpectationVerdict]) -> Headline {
        if let ([run], 0) = (sweep.runs.as_slice(), sweep.left_out) {
            let mut headline = Headline::of_run(run, verdicts);
            headline.warnings.splice(0..0, copies_words(sweep.copies));
            return headline;
        }
        let at = sweep.points() - 1;
        let sentence = match (Duel::at(sweep, at), sweep.schemes.len()) {
            (_, 2..) if is_of_jobs(sweep) => incidents::of_schemes(sweep, &[0], at),
            _ if endless::endless(&sweep.runs) => endless::of_sweep(sweep, at),
            (Some(duel), _) => {
                duel_sentence(sweep, duel)
                    + &given_up::of_sweep(sweep, at)
                    + &incidents::of_schemes(sweep, &[duel.base, duel.best], duel.at)
            }
            (None, 1) => {
                trend_sentence(sweep)
                    + &timeouts::of_scheme(sweep, at)
                    + &incidents::of_schemes(sweep, &[0], at)
            }
            (None, _) if !given_up::of_sweep(sweep, at).is_empty() => {
                place_words(sweep, at) + given_up::of_sweep(sweep, at).trim_start()
            }
            (None, _) => {
                begin(&place_words(sweep, at), "no completion times to compare with those of the baseline.")
            }
        };
        let sentence = (job_times(sweep, at) + &sentence).trim_end().to_owned();
        let mut warnings = warnings(&sweep.runs, verdicts);
        if sweep.schemes.len() > 1 && !sweep.without_base {
            warnings.extend(unequal::warnings(sweep));
        }
        if sweep.left_out > 0 {
            warnings.insert(0, left_out_words(sweep.left_out));
        }
        warnings.splice(0..0, copies_words(sweep.copies));
        Headline { warnings, sentence }
    }
}

/// The sentence of runs without flows.
const NONE: &str = "No measured flow finished: there is no completion time to report.";

fn run_sentence(run: &Run) -> String {
    let Summary { fct_us, slowdown, flows, .. } = &run.summary;
    let jobs: String = run.detail.jobs.iter().map(|job| job_words(job) + " ").collect();
    let (Some(mean), Some(half)) = (fct_us.all.mean, slowdown.all.p50) else {
        let endless = endless::endless(std::slice::from_ref(run));
        return jobs + &if endless { endless::of_run(run) } else { NONE.to_owned() };
    };
    let tail =
        slowdown.all.p99.map_or(String::new(), |p99| format!(" and 1 in 100 at least {}×", number(p99)));
    let (place, began) = match run.manifest.case() {
        Some(case) => (format!("{case}: "), "flows"),
        None => (String::new(), "Flows"),
    };
    format!(
        "{jobs}{place}{began} finish in {} on average; half take at least {}× their time in an empty network{tail} ({}, \
         seed {}; one run, no interval).{}{}",
        duration(mean),
        number(half),
        plural(flows.finished, "flow"),
        run.manifest.seed,
        timeouts::of_run(&run.summary),
        incidents::of_run(&run.summary)
    )
}

/// Compares the baseline with another scheme: which is faster, if the difference is significant, and the effect on the
/// tail.
fn duel_sentence(sweep: &Sweep, duel: Duel) -> String {
    let (base, best) = (&sweep.schemes[duel.base], &sweep.schemes[duel.best]);
    let place = place_words(sweep, duel.at);
    let Some(mean) = duel.contrast(sweep, sweep.mean_metric()) else {
        return begin(&place, &format!("no seed has run under both {best} and {base}: nothing to compare."));
    };
    let answer = match mean.order() {
        MetricOrder::Less => faster_words(&mean, &format!("{place}{best}"), base),
        MetricOrder::Greater => {
            let all = if beaten_by_base(sweep, duel) {
                begin(&place, &format!("nothing beats {base}: "))
            } else {
                place
            };
            let times = more_words(mean.ratio.mean);
            format!("{all}{best} is {times} slower than {base} on average ({})", evidence(&mean))
        }
        MetricOrder::Unclear => {
            let words = format!("no significant difference between {best} and {base}");
            undecided(&mean, &begin(&place, &words))
        }
        MetricOrder::OneSeed => {
            let words = format!("one seed cannot separate {best} from {base}");
            undecided(&mean, &begin(&place, &words))
        }
        MetricOrder::Equal => equal_words(&mean, &begin(&place, &format!("{best} and {base}"))),
    };
    let others = others_words(sweep, duel);
    let alike = alike_words(sweep, duel, mean.order());
    let timeouts = timeouts::of_duel(sweep, duel);
    format!(
        "{answer}{}{}.{others}{alike}{timeouts}",
        tail_words(sweep, duel, mean.order()),
        mean.censored(best, base, sweep.mean_metric() == MEAN_WITH_OPEN)
    )
}

/// The speed of the schemes that the sentence does not name relative to the baseline, or of the slowest and the
/// fastest of them.
fn others_words(sweep: &Sweep, duel: Duel) -> String {
    let others = (0..sweep.schemes.len()).filter(|scheme| ![duel.base, duel.best].contains(scheme));
    let speed = |scheme: usize| Some((scheme, sweep.ratio(duel.base, scheme, duel.at, sweep.mean_metric())?));
    let mut known: Vec<(usize, Estimate)> = others.filter_map(speed).collect();
    known.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean));
    let words = |(scheme, speed): &(usize, Estimate)| {
        let doubt = if MetricOrder::of(speed) == MetricOrder::Unclear { " (not significant)" } else { "" };
        format!("{} {}×{doubt}", sweep.schemes[*scheme], number(speed.mean))
    };
    let base = &sweep.schemes[duel.base];
    match known.as_slice() {
        [] => String::new(),
        few if few.len() <= MOST_NAMED => {
            let all: Vec<String> = few.iter().map(words).collect();
            format!(" Speed of the others against {base}: {}.", all.join(", "))
        }
        [first, .., last] => {
            format!(
                " Speed of the {} others against {base}: {} to {}.",
                known.len(),
                words(first),
                words(last)
            )
        }
        [_] => String::new(),
    }
}

/// Names the schemes that do not differ significantly from the one that beats the baseline, which need not be the
/// fastest.
fn alike_words(sweep: &Sweep, duel: Duel, mean: MetricOrder) -> String {
    let unclear = |base: &usize| {
        let contrast = Duel { base: *base, ..duel }.contrast(sweep, sweep.mean_metric());
        contrast.is_some_and(|contrast| matches!(contrast.order(), MetricOrder::Unclear | MetricOrder::Equal))
    };
    let others = (0..sweep.schemes.len()).filter(|scheme| ![duel.base, duel.best].contains(scheme));
    let alike: Vec<&str> = others.filter(unclear).map(|scheme| sweep.schemes[scheme].as_str()).collect();
    let names = match alike.as_slice() {
        _ if mean != MetricOrder::Less => return String::new(),
        [] => return String::new(),
        [one] => (*one).to_owned(),
        [first, second] => format!("{first} or {second}"),
        many => format!("{} other schemes", many.len()),
    };
    format!(" {} does not differ significantly from {names}.", sweep.schemes[duel.best])
}

fn faster_words(mean: &Contrast, best: &str, base: &str) -> String {
    let faster = Contrast { ratio: mean.ratio.inverse(), ..*mean };
    let times = more_words(faster.ratio.mean);
    format!("{best} finishes flows {times} faster than {base} on average ({})", evidence(&faster))
}

fn equal_words(mean: &Contrast, both: &str) -> String {
    let value = duration(mean.base);
    let seeds =
        if mean.ratio.runs == 1 { "one seed".to_owned() } else { format!("{} seeds", mean.ratio.runs) };
    format!("{both} have the same mean FCT, {value} ({seeds}, {})", plural(mean.flows, "flow"))
}

fn undecided(mean: &Contrast, words: &str) -> String {
    let (of_best, of_base) = (duration(mean.other), duration(mean.base));
    format!("{words}: mean FCT is {of_best} against {of_base}, {} ({})", times_words(mean), evidence(mean))
}

/// `0.98×`; with an explanation if that is not the quotient of the means beside it.
fn times_words(found: &Contrast) -> String {
    let differs = (found.other / found.base / found.ratio.mean - 1.0).abs() > 0.02;
    let by_seed = if differs { " as the geometric mean of the ratios by seed" } else { "" };
    format!("{}×{by_seed}", number(found.ratio.mean))
}

/// Whether there are several other schemes and all are slower than the baseline.
fn beaten_by_base(sweep: &Sweep, duel: Duel) -> bool {
    let slower = |best: usize| {
        let contrast = Duel { best, ..duel }.contrast(sweep, sweep.mean_metric());
        contrast.is_some_and(|contrast| contrast.order() == MetricOrder::Greater)
    };
    sweep.schemes.len() > 2 && (1..sweep.schemes.len()).all(slower)
}

/// Interval, seeds and number of flows behind a sentence.
fn evidence(contrast: &Contrast) -> String {
    let left_out = match contrast.left_out {
        0 => String::new(),
        1 => ", 1 unpaired run excluded".to_owned(),
        many => format!(", {many} unpaired runs excluded"),
    };
    format!("{}{left_out}, {}", interval_words(&contrast.ratio), plural(contrast.flows, "flow"))
}

/// The effect on the tail, joined to the sentence on the mean.
fn tail_words(sweep: &Sweep, duel: Duel, mean: MetricOrder) -> String {
    let metric = tail_metric(&sweep.runs);
    let Some(tail) = duel
        .contrast(sweep, metric)
        .filter(|tail| tail.unfinished.iter().all(|share| covers(metric, *share)))
    else {
        return String::new();
    };
    let (words, from, to) = (percentile_words(metric), duration(tail.base), duration(tail.other));
    let joint = match (mean, tail.order()) {
        (MetricOrder::Less | MetricOrder::Greater, order) if order == mean => " and".to_owned(),
        (MetricOrder::Less | MetricOrder::Greater, _) => " but".to_owned(),
        _ => format!("; {}", sweep.schemes[duel.best]),
    };
    let share = percent((1.0 - tail.ratio.mean).abs());
    match tail.order() {
        MetricOrder::Less if from == to => {
            format!("{joint} cuts the {words} by {share} to {to} ({})", tail.times())
        }
        MetricOrder::Greater if from == to => {
            format!("{joint} raises the {words} by {share} to {to} ({})", tail.times())
        }
        MetricOrder::Less => format!("{joint} cuts the {words} from {from} to {to} ({})", tail.times()),
        MetricOrder::Greater => format!("{joint} raises the {words} from {from} to {to} ({})", tail.times()),
        MetricOrder::Unclear => {
            format!("; the {words}s do not differ significantly: {to} against {from} ({})", tail.times())
        }
        MetricOrder::OneSeed => format!("; the {words} is {to} against {from}"),
        MetricOrder::Equal => format!("; the {words} is {to} with both"),
    }
}

/// The sentence for a sweep with a single scheme.
fn trend_sentence(sweep: &Sweep) -> String {
    let metric = sweep.mean_metric();
    let mean = |at: usize| Some((at, sweep.estimate(0, at, metric)?));
    let known: Vec<(usize, Estimate)> = (0..sweep.points()).filter_map(mean).collect();
    let words = match (known.as_slice(), &sweep.axis) {
        ([_, .., _], Some(axis)) => along(sweep, axis, &known),
        ([(at, only), ..], _) => {
            let flows: u64 = sweep.case(0, *at).iter().map(|run| counted(run, metric)).sum();
            let mean = format!(
                "mean FCT{} is {} ({}, {}).",
                with_open(sweep),
                duration(only.mean),
                of_durations(only),
                plural(flows, "flow")
            );
            begin(&place_words(sweep, *at), &mean)
        }
        _ => return NONE.to_owned(),
    };
    words + &without_end(sweep, &known)
}

/// What a mean of all flows counts.
fn with_open(sweep: &Sweep) -> &'static str {
    match sweep.mean_metric() {
        MEAN_WITH_OPEN => " (flows that did not finish at their age)",
        _ => "",
    }
}

/// The points of the axis at which no flow finished.
fn without_end(sweep: &Sweep, known: &[(usize, Estimate)]) -> String {
    let Some(axis) = &sweep.axis else { return String::new() };
    let empty = |at: &usize| !known.iter().any(|(known, _)| known == at) && !sweep.case(0, *at).is_empty();
    let points: Vec<String> = (0..sweep.points()).filter(empty).map(|at| axis.phrase(at)).collect();
    if points.is_empty() {
        String::new()
    } else {
        format!(" No measured flow finishes at {}.", points.join(", "))
    }
}

/// The change of a single scheme from the first point of the axis to the last, or between the least and the greatest
/// mean if these are not at the ends.
fn along(sweep: &Sweep, axis: &HorizontalAxis, known: &[(usize, Estimate)]) -> String {
    let by_mean = |a: &&(usize, Estimate), b: &&(usize, Estimate)| a.1.mean.total_cmp(&b.1.mean);
    let ends = known.first().zip(known.last()).map_or([0, 0], |(first, last)| [first.0, last.0]);
    let extremes = known.iter().min_by(by_mean).zip(known.iter().max_by(by_mean));
    let extremes = extremes.map_or(ends, |(least, most)| [least.0, most.0]);
    let is_turning = extremes.iter().any(|place| !ends.contains(place)) && extremes[0] != extremes[1];
    let [first, last] = if is_turning { extremes } else { ends };
    let Some(trend) = Contrast::of(&sweep.case(0, last), &sweep.case(0, first), sweep.mean_metric()) else {
        return "No seed has run at both ends of the axis: nothing to compare.".to_owned();
    };
    let from = format!("{} at {}", duration(trend.base), axis.phrase(first));
    let to = format!("{} at {}", duration(trend.other), axis.phrase(last));
    let change = match trend.order() {
        _ if is_turning => format!("is lowest, {from}, and highest, {to}"),
        MetricOrder::Less => format!("falls from {from} to {to}"),
        MetricOrder::Greater => format!("rises from {from} to {to}"),
        _ => format!("is {from} and {to}"),
    };
    let doubt = match trend.order() {
        MetricOrder::Unclear => ", which is no significant difference",
        MetricOrder::OneSeed => ", which one seed cannot separate",
        _ => "",
    };
    let times = times_words(&trend);
    let open = with_open(sweep);
    format!("Mean FCT of {}{open} {change}{doubt} ({times}, {}).", sweep.schemes[0], evidence(&trend))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use crate::statistics::Distribution;
    use crate::summary::{Drops, FlowCounts, FlowMeasure, TimedOut};

    fn run(scheme: &str, seed: u64, mean: f64, flows: usize) -> Run {
        let all = Distribution::of((0..flows).map(|n| mean * (0.5 + n as f64 / flows as f64)).collect());
        let summary = Summary {
            flows: FlowCounts { started: flows as u64, finished: flows as u64, ..FlowCounts::default() },
            slowdown: FlowMeasure { all: all.clone(), ..FlowMeasure::default() },
            fct_us: FlowMeasure { all, ..FlowMeasure::default() },
            ..Summary::default()
        };
        let labels = vec![("balance".into(), scheme.into()), ("load".into(), "0.8".into())];
        Run {
            manifest: Manifest { name: "x".into(), seed, labels, ..Manifest::default() },
            summary,
            ..Run::default()
        }
    }

    /// Runs with their seeds and means under each scheme.
    fn made(schemes: &[(&str, &[(u64, f64)])]) -> Sweep {
        let runs = |(scheme, means): &(&str, &[(u64, f64)])| -> Vec<Run> {
            means.iter().map(|(seed, mean)| run(scheme, *seed, *mean, 20_000)).collect()
        };
        Sweep::new(schemes.iter().flat_map(runs).collect())
    }

    fn sentence(sweep: &Sweep) -> String {
        Headline::of_sweep(sweep, &[]).sentence.replace('\u{202f}', " ")
    }

    const ECMP: (&str, &[(u64, f64)]) = ("ecmp", &[(1, 1_000.0), (2, 1_100.0), (3, 900.0)]);

    /// A run of flows that never end.
    fn endless_run(scheme: &str, seed: u64, goodput: f64) -> Run {
        let mut run = run(scheme, seed, 1.0, 0);
        run.summary.flows = FlowCounts { started: 64, unfinished: 64, ..FlowCounts::default() };
        run.summary.goodput_gbps = goodput;
        run.summary.jain = Some(0.98);
        run.summary.links.peak_queue_bytes = Some(2_000_000);
        run
    }

    /// Where every run has jobs, how long they take is the answer, not the completion times of their flows.
    #[test]
    fn a_sweep_of_jobs_compares_their_times() {
        let mut runs = made(&[ECMP, ("drill", &[(1, 900.0), (2, 1_200.0), (3, 850.0)])]).runs;
        for run in &mut runs {
            let longer = if run.manifest.labels[0].1 == "drill" { 1.5 } else { 1.0 };
            run.summary.jobs = [("seconds".to_owned(), longer * run.manifest.seed as f64)].into();
        }
        let sweep = Sweep::new(runs);
        let words = sentence(&sweep);
        assert_eq!(
            words,
            "Jobs take 2.00 s with ecmp, 3.00 s with drill (1.50× as long, 95 % interval 1.50–1.50, 3 seeds)."
        );
        let table = crate::terminal::of_sweep(&sweep, &Headline::of_sweep(&sweep, &[]), false);
        assert!(table.contains("job") && table.contains("0.667×"), "{table}");
    }

    /// The seeds of a scheme with the seconds of their jobs.
    type JobRuns<'a> = (&'a str, &'a [(u64, Option<f64>)]);

    /// Runs with the seconds of their jobs; those without a time ended before their jobs.
    fn of_jobs(schemes: &[JobRuns<'_>], load: &str) -> Vec<Run> {
        let one = |scheme: &str, (seed, seconds): (u64, Option<f64>)| {
            let mut run = run(scheme, seed, 1_000.0, 20_000);
            run.manifest.labels[1].1 = load.to_owned();
            let known = seconds.map(|seconds| ("seconds".to_owned(), seconds));
            run.summary.jobs = known.into_iter().collect();
            run.summary.jobs.insert("unfinished".to_owned(), if seconds.is_some() { 0.0 } else { 3.0 });
            run
        };
        schemes.iter().flat_map(|(scheme, runs)| runs.iter().map(move |run| one(scheme, *run))).collect()
    }

    /// A mean over the jobs that ended would leave out the longest and make the slowest scheme the fastest.
    #[test]
    fn a_scheme_whose_jobs_did_not_all_end_has_no_mean() {
        let deep: JobRuns<'_> = ("deep", &[(1, Some(5.0)), (2, Some(7.0)), (3, Some(6.0))]);
        let shallow: JobRuns<'_> = ("shallow", &[(1, Some(1.0)), (2, None), (3, None)]);
        let sweep = Sweep::new(of_jobs(&[deep, shallow], "0.8"));
        assert_eq!(
            sentence(&sweep),
            "Jobs take 6.00 s with deep. In 2 of 3 runs with shallow jobs did not end: a mean over the others would leave out the longest."
        );
        let headline = Headline::of_sweep(&sweep, &[]);
        assert!(
            headline.warnings[0].starts_with("2 of 6 runs ended before their jobs did"),
            "{:?}",
            headline.warnings
        );
        let table = crate::terminal::of_sweep(&sweep, &headline, false);
        assert!(table.contains("2/3 open") && !table.contains("1.00 s"), "{table}");
        let compared = crate::compare::Comparison::of(
            of_jobs(&[deep], "0.8"),
            of_jobs(&[shallow], "0.8"),
            ["deep".to_owned(), "shallow".to_owned()],
        );
        let row = compared.rows.iter().find(|row| row.metric == "job.seconds").expect("deep has it");
        assert_eq!((row.a.map(|of| of.mean), row.b, row.ratio), (Some(6.0), None, None));
        assert!(compared.headline().warnings.join(" ").contains("2 of 6 runs ended before their jobs did"));
        // Where no job ends, the scheme is still named.
        let none: JobRuns<'_> = ("shallow", &[(1, None), (2, None)]);
        let words = sentence(&Sweep::new(of_jobs(&[none, deep], "0.8")));
        assert_eq!(
            words,
            "Jobs take 6.00 s with deep. In 2 of 2 runs with shallow jobs did not end: a mean over the others would leave out the longest."
        );
    }

    /// The ranking may change along an axis, so the sentence names the point it describes, and for one scheme covers
    /// all points.
    #[test]
    fn times_of_jobs_say_at_which_point_they_hold() {
        let at = |load, scheme, seconds| of_jobs(&[(scheme, &[(1, Some(seconds))])], load);
        let two = [("0.3", "a", 19.0), ("0.8", "a", 3.0), ("0.3", "b", 15.0), ("0.8", "b", 4.0)];
        let words =
            sentence(&Sweep::new(two.iter().flat_map(|(load, scheme, by)| at(load, scheme, *by)).collect()));
        assert!(
            words.starts_with("At 80 % load: jobs take 3.00 s with a, 4.00 s with b (1.33× as long, "),
            "{words}"
        );
        let one = [("0.3", 19.0), ("0.5", 10.0), ("0.8", 3.0)];
        let words = sentence(&Sweep::new(one.iter().flat_map(|(load, by)| at(load, "a", *by)).collect()));
        assert!(
            words.starts_with("Jobs take 19.0 s at 30 % load, 10.0 s at 50 % load, 3.00 s at 80 % load. "),
            "{words}"
        );
    }

    /// Two jobs of 17.5 s, the second 100 s after the first: their critical paths add up to 35 s, not to the 118 s from the first
    /// submission to the last end.
    #[test]
    fn the_time_of_several_jobs_is_called_what_it_is() {
        let mut runs = of_jobs(&[("a", &[(1, Some(118.0)), (2, Some(118.0))])], "0.8");
        for run in &mut runs {
            run.summary.jobs.extend([("path.fixed".to_owned(), 30.0), ("path.cpu".to_owned(), 5.0)]);
        }
        let words = sentence(&Sweep::new(runs.clone()));
        assert!(
            words.starts_with("All jobs take, from the first submission to the last end, 118 s with a"),
            "{words}"
        );
        runs.iter_mut().for_each(|run| _ = run.summary.jobs.insert("path.fixed".to_owned(), 113.0));
        assert!(sentence(&Sweep::new(runs)).starts_with("Jobs take 118 s with a"));
    }

    /// Where no flow is measured, such as on one host, the time of the job is the answer.
    #[test]
    fn a_job_without_measured_flows_still_says_what_it_took() {
        let mut run = of_jobs(&[("a", &[(1, Some(29.5))])], "0.8").remove(0);
        (run.summary.fct_us, run.summary.slowdown) = (FlowMeasure::default(), FlowMeasure::default());
        run.detail.jobs =
            vec![crate::detail::JobChart { tag: "sort".into(), seconds: Some(29.5), ..Default::default() }];
        let words = Headline::of_run(&run, &[]).sentence;
        assert!(words.starts_with("sort took 29.5") && words.contains("no completion time"), "{words}");
    }

    /// A ratio that is not the quotient of the means beside it says what it is.
    #[test]
    fn a_ratio_of_seeds_is_named_where_the_means_give_another() {
        let uneven =
            made(&[("ecmp", &[(1, 1_000.0), (2, 10_000.0)]), ("drill", &[(1, 100.0), (2, 9_900.0)])]);
        assert!(
            sentence(&uneven).contains("0.315× as the geometric mean of the ratios by seed"),
            "{}",
            sentence(&uneven)
        );
        let even = made(&[("ecmp", &[(1, 1_000.0), (2, 1_000.0)]), ("drill", &[(1, 990.0), (2, 1_010.0)])]);
        assert!(!sentence(&even).contains("ratios"), "{}", sentence(&even));
    }

    /// The same of the ends of an axis.
    #[test]
    fn a_trend_says_where_its_ratio_is_that_of_the_seeds() {
        let at = |load: &str, seed: u64, mean: f64| {
            let mut run = run("ecmp", seed, mean, 20_000);
            run.manifest.labels[1].1 = load.to_owned();
            run
        };
        let runs =
            vec![at("0.3", 1, 100.0), at("0.8", 1, 900.0), at("0.3", 2, 1_000.0), at("0.8", 2, 1_100.0)];
        let text = sentence(&Sweep::new(runs));
        assert!(text.contains("(3.15× as the geometric mean of the ratios by seed, 95 %"), "{text}");
    }

    #[test]
    fn a_point_of_the_axis_without_finished_flows_is_named() {
        let at = |size: &str, flows: usize| {
            let mut run = run("ecmp", 1, 100.0, flows);
            run.manifest.labels[1] = ("traffic.web.size".to_owned(), size.to_owned());
            run
        };
        let text = sentence(&Sweep::new(vec![at("1 kB", 8), at("10 MB", 0)]));
        assert!(text.starts_with("At size 1 kB: mean FCT is ") && text.contains(", 8 flows)"), "{text}");
        assert!(text.ends_with("No measured flow finishes at size 10 MB."), "{text}");
    }

    /// The other cases have no runs yet, so the sentence names the one it describes.
    #[test]
    fn an_incomplete_sweep_names_the_case_that_it_has() {
        let runs = |scheme: &str| [1, 2].map(|seed| run(scheme, seed, 100.0 * seed as f64, 1_000)).to_vec();
        let text = sentence(&Sweep::of_incomplete(runs("ecmp")));
        assert!(text.starts_with("balance = ecmp, load = 0.8: mean FCT is 150 us"), "{text}");
        let both = Sweep::of_incomplete([runs("ecmp"), runs("drill")].concat());
        assert!(
            sentence(&both).starts_with("load = 0.8: drill and ecmp have the same mean FCT"),
            "{}",
            sentence(&both)
        );
    }

    #[test]
    fn flows_that_never_end_show_goodput_and_queues() {
        let one = Headline::of_run(&endless_run("a", 1, 38.5), &[]);
        for words in ["64 flows reach a goodput of 38.5", "index 0.98", "the longest queue 2.00", "seed 1"] {
            assert!(one.sentence.contains(words), "{words}: {}", one.sentence);
        }
        assert!(one.warnings.iter().all(|warning| !warning.contains("percentile:")), "{:?}", one.warnings);
        let runs = [("a", 30.0), ("b", 20.0), ("c", 35.0)];
        let sweep = Sweep::new(
            runs.iter().flat_map(|(name, gbps)| [1, 2].map(|seed| endless_run(name, seed, *gbps))).collect(),
        );
        let both = Headline::of_sweep(&sweep, &[]).sentence;
        let words = "c has the highest goodput, 1.75 times that of b (joint 95\u{202f}% interval 1.75–1.75, 2 seeds): 35";
        assert!(both.contains(words) && both.contains(" with c, 20.0"), "{both}");
        let table = crate::terminal::of_sweep(&sweep, &Headline::of_sweep(&sweep, &[]), false);
        assert!(
            table.contains("goodput") && table.contains("longest queue") && !table.contains("FCT"),
            "{table}"
        );
    }

    /// Whatever the means, seeds that overlap rank nothing; schemes with equal results are named together.
    #[test]
    fn goodputs_are_ranked_only_where_the_seeds_show_it() {
        let runs =
            |name: &str, gbps: [f64; 3]| [0, 1, 2].map(|n| endless_run(name, n as u64, gbps[n])).to_vec();
        let told = |cubic: [f64; 3]| {
            let (dctcp, newreno) = (runs("dctcp", [58.0, 59.0, 57.0]), runs("newreno", [58.0, 59.0, 57.0]));
            sentence(&Sweep::new([dctcp, newreno, runs("cubic", cubic)].concat()))
        };
        let unclear = told([50.0, 75.0, 60.0]);
        assert!(unclear.contains("the goodputs do not differ significantly: 61.7 Gbps"), "{unclear}");
        assert!(
            unclear.contains(" with dctcp and newreno (1.05×, joint 95 % interval")
                && !unclear.contains("highest"),
            "{unclear}"
        );
        let clear = told([88.0, 89.0, 87.0]);
        assert!(
            clear.contains("cubic has the highest goodput, 1.52 times that of dctcp and newreno"),
            "{clear}"
        );
        assert!(clear.contains(": 88.0 Gbps") && clear.contains(" with cubic, 58.0 Gbps"), "{clear}");
        let one = Sweep::new(vec![endless_run("a", 1, 30.0), endless_run("b", 1, 20.0)]);
        assert!(
            sentence(&one).contains("and one seed cannot rank the goodputs: 30.0 Gbps"),
            "{}",
            sentence(&one)
        );
    }

    /// Of twenty flows under the baseline the slowest three do not finish. The mean of the others is a tenth of that of the scheme
    /// that finishes all, and says nothing.
    #[test]
    fn flows_left_open_do_not_speak_for_a_scheme() {
        let open = |seed| {
            let mut run = run("ecmp", seed, 100.0, 17);
            (run.summary.flows.started, run.summary.flows.unfinished) = (20, 3);
            run.summary.flows.open_age_us = Some(30_000.0);
            run
        };
        let runs = (1..=3).flat_map(|seed| [open(seed), run("drill", seed, 1_000.0, 20)]).collect();
        let text = sentence(&Sweep::new(runs));
        assert!(text.starts_with("drill finishes flows 1."), "{text}");
        assert!(text.contains("15.0 % with ecmp did not finish and count with their age"), "{text}");
        assert!(!text.contains("percentile"), "the median alone would rank them the other way: {text}");
    }

    /// A scheme that gives up each flow at once has the least mean. It is told for what it does, and others are compared; one that gives
    /// up few flows is ranked.
    #[test]
    fn who_gives_up_does_not_win() {
        let quick = |name: &str, terminated: u64| {
            let mut run = run(name, 1, 100.0, 1_000 - terminated as usize);
            (run.summary.flows.started, run.summary.flows.unfinished) = (1_000, terminated);
            run.summary.flows.open_age_us = Some(0.0);
            let all =
                crate::summary::DeadlineCounts { flows: 1_000, met: 1_000 - terminated, terminated, late: 0 };
            run.summary.deadlines = Some(crate::summary::Deadlines { all, ..Default::default() });
            run
        };
        let slow = |name: &str, mean| {
            let mut run = run(name, 1, mean, 1_000);
            let all = crate::summary::DeadlineCounts { flows: 1_000, met: 500, late: 500, terminated: 0 };
            run.summary.deadlines = Some(crate::summary::Deadlines { all, ..Default::default() });
            run
        };
        let told = |runs: &[Run]| sentence(&Sweep::new(runs.to_vec())).replace('\u{202f}', " ");
        let text = told(&[slow("dctcp", 900.0), quick("pdq", 400)]);
        let given_up = "pdq gives up 40.0 % of its flows, so its mean FCT is not compared.";
        assert_eq!(text, format!("{given_up} Deadlines met: dctcp 50.0 %, pdq 60.0 %."));
        let text = told(&[slow("dctcp", 900.0), slow("pias", 700.0), quick("pdq", 400)]);
        assert!(text.starts_with("One seed cannot separate pias from dctcp"), "{text}");
        assert!(text.ends_with("Deadlines met: dctcp 50.0 %, pias 50.0 %, pdq 60.0 %."), "{text}");
        assert!(text.contains(given_up) && !text.contains("Speed of the others"), "{text}");
        let text = told(&[quick("pdq", 400), slow("dctcp", 900.0)]);
        assert_eq!(text, format!("{given_up} Deadlines met: pdq 60.0 %, dctcp 50.0 %."));
        let text = told(&[slow("dctcp", 900.0), quick("pdq", 10)]);
        assert!(text.starts_with("One seed cannot separate pdq from dctcp: mean FCT is 99.0 us"), "{text}");
        assert!(text.contains("at the end, or with their deadline if they were given up"), "{text}");
    }

    /// Three seeds that separate two schemes do not separate the best of six.
    #[test]
    fn the_best_of_many_needs_stronger_evidence() {
        let base: (&str, &[(u64, f64)]) = ("a", &[(1, 1_000.0), (2, 1_000.0), (3, 1_000.0)]);
        let fast: &[(u64, f64)] = &[(1, 900.0), (2, 930.0), (3, 870.0)];
        assert!(sentence(&made(&[base, ("b", fast)])).starts_with("b finishes flows 1.11 times faster"));
        let others = ["c", "d", "e", "f"].map(|name| (name, base.1));
        let many = made(&[&[base, ("b", fast)][..], &others].concat());
        let text = sentence(&many);
        assert!(text.starts_with("No significant difference between b and a"), "{text}");
        assert!(text.contains("joint 95 % interval"), "{text}");
    }

    /// 0.3 % is neither "1.00 times faster" nor "from 1.39 ms to 1.39 ms".
    #[test]
    fn small_differences_are_stated_in_per_cent() {
        let close: (&str, &[(u64, f64)]) = ("drill", &[(1, 997.0), (2, 1_096.7), (3, 897.3)]);
        let words = sentence(&made(&[ECMP, close]));
        assert!(words.contains("drill finishes flows 0.301 % faster than ecmp"), "{words}");
        assert!(!words.contains("1.00 times"), "{words}");
        assert!(words.contains("cuts the 99th percentile by 0.300 % to 1.49 ms"), "{words}");
    }

    /// The interval of a time is a pair of times.
    #[test]
    fn the_mean_of_one_case_and_its_interval_have_units() {
        let two: (&str, &[(u64, f64)]) = ("ecmp", &[(1, 45_000.0), (2, 47_800.0)]);
        let words = sentence(&made(&[two]));
        assert!(
            words.starts_with("Mean FCT is 46.4 ms (95 % interval 28.6 ms–64.2 ms, 2 seeds, 40"),
            "{words}"
        );
    }

    /// Schemes that the comparison does not name are placed beside it: a few one by one, many by their range.
    #[test]
    fn the_other_schemes_are_placed() {
        let of = |name: &'static str, mean: f64| (name, vec![(1, mean), (2, mean * 1.1), (3, mean * 0.9)]);
        let all: Vec<(&str, Vec<(u64, f64)>)> = vec![
            of("ecmp", 1_000.0),
            of("drill", 500.0),
            of("random", 625.0),
            of("letflow", 800.0),
            of("conga", 950.0),
            of("wcmp", 2_000.0),
        ];
        let first = |many: usize| {
            let some: Vec<_> = all[..many].iter().map(|(name, runs)| (*name, runs.as_slice())).collect();
            sentence(&made(&some))
        };
        let text = first(4);
        assert!(text.ends_with(" Speed of the others against ecmp: random 1.60×, letflow 1.25×."), "{text}");
        let text = first(6);
        assert!(
            text.ends_with(" Speed of the 4 others against ecmp: random 1.60× to wcmp 0.500×."),
            "{text}"
        );
    }

    /// Without 100 flows beyond the 99th percentile no sentence claims it.
    #[test]
    fn a_percentile_of_few_flows_is_not_claimed() {
        let of = |flows: usize| {
            let runs =
                |scheme: &str, mean: f64| (1..=3).map(|s| run(scheme, s, mean, flows)).collect::<Vec<_>>();
            Sweep::new([runs("ecmp", 1_000.0), runs("drill", 500.0)].concat())
        };
        assert!(sentence(&of(10_100)).contains("99th percentile"));
        assert!(sentence(&of(9_000)).contains("95th percentile"));
        assert!(sentence(&of(900)).contains("cuts the median"));
    }

    /// 31 of 8000 flows that wait 1 s decide the mean.
    #[test]
    fn time_outs_are_named() {
        let mut run = run("ecmp", 1, 1_000.0, 20_000);
        let timed_out = TimedOut { flows: 31, syn: 29, fct_us: Some(1e6), others_fct_us: Some(61.0) };
        run.summary.timed_out = Some(timed_out);
        let words = Headline::of_run(&run, &[]).sentence.replace('\u{202f}', " ");
        assert!(
            words.ends_with(
                "31 flows waited for a time-out, 29 of them of the opening packet; the others take 61.0 us on average."
            ),
            "{words}"
        );
        assert!(words.starts_with("balance = ecmp, load = 0.8: flows finish in"), "{words}");
    }

    #[test]
    fn a_measurement_is_not_taken_for_a_simulation() {
        let mut run = run("ecmp", 1, 1.0, 1_000);
        let words = |run: &Run| Headline::of_run(run, &[]).warnings.join(" ");
        assert!(!words(&run).contains("Measured"));
        run.manifest.is_measurement = true;
        run.manifest.engine = "lab".to_owned();
        assert!(words(&run).contains("Measured, not simulated (lab)"), "{}", words(&run));
    }

    /// An engine's warning comes before the sentence; for several runs, without the numbers of one of them.
    #[test]
    fn cautions_of_engines_are_warnings() {
        let cautious = |seed| {
            let mut run = run("ecmp", seed, 1.0, 1_000);
            run.manifest
                .facts
                .push(("caution".into(), "Losses are neglected here: 3 of 4 calls were late.".into()));
            run
        };
        let words = |headline: Headline| headline.warnings.join(" ");
        let one = words(Headline::of_run(&cautious(1), &[]));
        assert!(one.contains("Losses are neglected here: 3 of 4 calls were late."), "{one}");
        let sweep = Sweep::new(vec![cautious(1), cautious(2), run("drill", 1, 1.0, 1_000)]);
        let several = words(Headline::of_sweep(&sweep, &[]));
        assert!(several.contains("2 of 3 runs: Losses are neglected here."), "{several}");
    }

    /// A warning names the averaging period where the run mostly drains.
    #[test]
    fn a_drain_longer_than_the_arrivals_is_a_warning() {
        let mut run = run("ecmp", 1, 1_000.0, 20_000);
        (run.summary.arrivals_until_s, run.summary.simulated_s) = (Some(0.0018), 1.0018);
        let warnings = Headline::of_run(&run, &[]).warnings.join(" ").replace('\u{202f}', " ");
        assert!(warnings.contains("starts at 1.80 ms and the run ends 1.00 s later"), "{warnings}");
        run.summary.simulated_s = 0.003;
        assert_eq!(Headline::of_run(&run, &[]).warnings, Vec::<String>::new());
    }

    #[test]
    fn an_average_over_a_run_that_mostly_drains_is_a_warning() {
        let mut run = run("ecmp", 1, 1_000.0, 20_000);
        (run.summary.drains_from_s, run.summary.simulated_s) = (Some(0.0005), 0.2);
        let warnings = Headline::of_run(&run, &[]).warnings.join(" ").replace('\u{202f}', " ");
        assert!(warnings.contains("starts at 500 us") && warnings.contains("all 200 ms"), "{warnings}");
    }

    /// A marking queue that drops acknowledgements early is named; a few drops among many marks are not, nor is a queue that
    /// only drops.
    #[test]
    fn early_drops_of_a_queue_that_marks_are_a_warning() {
        let mut run = run("ecmp", 1, 1_000.0, 20_000);
        let mut warnings = |marks, early: u64| {
            run.summary.marks = marks;
            let by_reason = [("early".to_owned(), early)].into();
            run.summary.drops = Some(Drops { by_reason, ..Drops::default() });
            Headline::of_run(&run, &[]).warnings.join(" ").replace('\u{202f}', " ")
        };
        let told = warnings(Some(50_000), 2_300);
        assert!(told.starts_with("Queues that mark dropped 2300 packets early: SYNs,"), "{told}");
        for (marks, early) in [(Some(50_000), 49), (Some(50_000), 0), (Some(0), 2_300), (None, 2_300)] {
            assert_eq!(warnings(marks, early), "", "{marks:?} {early}");
        }
    }

    #[test]
    fn a_clear_win_is_stated_with_interval_seeds_and_flows() {
        let sweep = made(&[ECMP, ("drill", &[(1, 500.0), (2, 550.0), (3, 450.0)])]);
        assert_eq!(
            sentence(&sweep),
            "drill finishes flows 2.00 times faster than ecmp on average (95 % interval 2.00–2.00, 3 seeds, \
             120 000 flows) and cuts the 99th percentile from 1.49 ms to 745 us (0.500×, 95 % interval 0.500–0.500)."
        );
        assert_eq!(Headline::of_sweep(&sweep, &[]).warnings, Vec::<String>::new());
    }

    #[test]
    fn a_clear_loss_is_no_win_and_speaks_for_all_only_if_all_lose() {
        let (slow, slower): (&[_], &[_]) =
            (&[(1, 2e3), (2, 2.2e3), (3, 1.8e3)], &[(1, 4e3), (2, 4.4e3), (3, 3.6e3)]);
        let text = sentence(&made(&[ECMP, ("drill", slow)]));
        assert!(text.starts_with("drill is 2.00 times slower than ecmp on average (95 % interval"), "{text}");
        assert!(text.contains(" and raises the 99th percentile"), "{text}");
        let text = sentence(&made(&[ECMP, ("drill", slow), ("random", slower)]));
        assert!(text.starts_with("Nothing beats ecmp: drill is 2.00 times slower"), "{text}");
        let wild = ("wild", &[(1, 9e3), (2, 500.0), (3, 9e3)][..]);
        let text = sentence(&made(&[ECMP, ("drill", slow), wild]));
        assert!(text.starts_with("drill is 2.00 times slower"), "{text}");
    }

    #[test]
    fn what_the_seeds_do_not_show_is_not_said() {
        let sweep = made(&[ECMP, ("drill", &[(1, 900.0), (2, 1_210.0), (3, 855.0)])]);
        let text = sentence(&sweep);
        assert!(
            text.starts_with(
                "No significant difference between drill and ecmp: mean FCT is 988 us against 1.00 ms, 0.980×"
            ),
            "{text}"
        );
        assert!(
            text.contains("; the 99th percentiles do not differ significantly: 1.47 ms against 1.49 ms"),
            "{text}"
        );
        assert!(!["faster", "slower", "cuts", "raises"].iter().any(|word| text.contains(word)), "{text}");
    }

    #[test]
    fn a_scheme_that_the_seeds_show_to_be_faster_comes_before_one_that_only_seems_so() {
        let clear = ("drill", &[(1, 900.0), (2, 990.0), (3, 810.0)][..]);
        let wild = ("wild", &[(1, 100.0), (2, 1_500.0), (3, 700.0)][..]);
        let sweep = made(&[ECMP, wild, clear]);
        assert!(sentence(&sweep).starts_with("drill finishes flows 1.11 times faster"));
    }

    #[test]
    fn who_is_faster_than_the_baseline_is_not_called_the_fastest() {
        let half = ("drill", &[(1, 500.0), (2, 550.0), (3, 450.0)][..]);
        let like = ("random", &[(1, 510.0), (2, 545.0), (3, 452.0)][..]);
        let slower = ("letflow", &[(1, 600.0), (2, 660.0), (3, 540.0)][..]);
        let text = sentence(&made(&[ECMP, half, like, slower]));
        assert!(text.starts_with("drill finishes flows 2.00 times faster than ecmp"), "{text}");
        assert!(text.ends_with(" drill does not differ significantly from random."), "{text}");
        let text = sentence(&made(&[ECMP, half, slower]));
        assert!(!text.contains("significant"), "{text}");
    }

    #[test]
    fn the_tail_is_asked_by_itself() {
        let mut sweep = made(&[ECMP, ("drill", &[(1, 500.0), (2, 550.0), (3, 450.0)])]);
        for (run, p99) in sweep.runs.iter_mut().zip([2_450.0, 2_300.0, 2_500.0, 2_540.0, 2_390.0, 2_610.0]) {
            run.summary.fct_us.all.p99 = Some(p99);
        }
        let text = sentence(&sweep);
        assert!(
            text.contains(" but raises the 99th percentile from 2.42 ms to 2.51 ms (1.04×, 95 % int"),
            "{text}"
        );
        sweep.runs[3].summary.fct_us.all.p99 = Some(2_400.0);
        let text = sentence(&sweep);
        assert!(
            text.contains("; the 99th percentiles do not differ significantly: 2.47 ms against 2.42 ms"),
            "{text}"
        );
    }

    #[test]
    fn one_seed_cannot_tell() {
        let sweep = made(&[("ecmp", &[(1, 1_000.0)]), ("drill", &[(1, 500.0)])]);
        assert_eq!(
            sentence(&sweep),
            "One seed cannot separate drill from ecmp: mean FCT is 500 us against 1.00 ms, 0.500× (one seed, no \
             interval, 40 000 flows); the 99th percentile is 745 us against 1.49 ms."
        );
    }

    #[test]
    fn equal_results_need_no_interval() {
        let equal = |seeds: &[(u64, f64)]| sentence(&made(&[("ecmp", seeds), ("drill", seeds)]));
        assert_eq!(
            equal(&[(1, 1_000.0)]),
            "Drill and ecmp have the same mean FCT, 1.00 ms (one seed, 40 000 flows); the 99th percentile is 1.49 ms with both."
        );
        let several = equal(&[(1, 1_000.0), (2, 1_100.0)]);
        assert!(several.contains("the same mean FCT, 1.05 ms (2 seeds, 80 000 flows)"), "{several}");
    }

    #[test]
    fn only_seeds_that_both_have_are_compared() {
        // seed 4 of ecmp would bring its mean to 1.5 ms
        let ecmp = ("ecmp", &[(1, 1_000.0), (2, 1_100.0), (3, 900.0), (4, 3_000.0)][..]);
        let text = sentence(&made(&[ecmp, ("drill", &[(2, 1_078.0), (3, 900.0), (1, 990.0)])]));
        assert!(
            text.starts_with(
                "No significant difference between drill and ecmp: mean FCT is 989 us against 1.00 ms"
            ),
            "{text}"
        );
        assert!(text.contains("3 seeds, 1 unpaired run excluded, 120 000 flows"), "{text}");
        let text = sentence(&made(&[ecmp, ("drill", &[(2, 500.0), (0, 1.0)])]));
        assert!(
            text.starts_with("One seed cannot separate drill from ecmp: mean FCT is 500 us against 1.10"),
            "{text}"
        );
        let text = sentence(&made(&[ecmp, ("drill", &[(8, 500.0), (9, 1.0)])]));
        assert_eq!(text, "No seed has run under both drill and ecmp: nothing to compare.");
    }

    #[test]
    fn flows_that_did_not_finish_are_told_beside_the_comparison() {
        let mut sweep = made(&[ECMP, ("drill", &[(1, 500.0), (2, 550.0), (3, 450.0)])]);
        for run in &mut sweep.runs[3..] {
            run.summary.flows.started = 25_000;
            run.summary.flows.unfinished = 5_000;
        }
        let text = sentence(&sweep);
        assert!(
            text.ends_with(
                "; 20.0 % of the flows with drill and 0 % with ecmp did not finish and are in neither figure."
            ),
            "{text}"
        );
        sweep.runs[..3].iter_mut().for_each(|run| run.summary.fct_us = FlowMeasure::default());
        assert_eq!(sentence(&sweep), "No completion times to compare with those of the baseline.");
    }

    #[test]
    fn a_trend_is_asked_like_a_difference() {
        let at = |load: &str, seed: u64, mean: f64| {
            let mut run = run("ecmp", seed, mean, 20_000);
            run.manifest.labels[1].1 = load.to_owned();
            run
        };
        let two = |seeds: &[(u64, f64, f64)]| {
            let runs =
                seeds.iter().flat_map(|(seed, low, high)| [at("0.3", *seed, *low), at("0.8", *seed, *high)]);
            sentence(&Sweep::new(runs.collect()))
        };
        let text = two(&[(1, 100.0, 200.0), (2, 110.0, 230.0)]);
        assert!(
            text.starts_with("Mean FCT of ecmp rises from 105 us at 30 % load to 215 us at 80 % load"),
            "{text}"
        );
        let text = two(&[(1, 100.0, 200.0), (2, 110.0, 90.0)]);
        assert!(
            text.contains(
                "which is no significant difference (1.28× as the geometric mean of the ratios by seed"
            ),
            "{text}"
        );
        let text = two(&[(1, 100.0, 200.0)]);
        assert!(text.contains("which one seed cannot separate (2.00×, one seed, no interval"), "{text}");
        let turning = |seed: u64| {
            let means = [("0.1", 236.0), ("0.3", 17.0), ("0.5", 212.0), ("0.8", 1_210.0)];
            means.map(|(load, mean)| at(load, seed, mean + seed as f64))
        };
        let text = sentence(&Sweep::new([turning(1), turning(2)].concat()));
        assert!(
            text.starts_with(
                "Mean FCT of ecmp is lowest, 18.5 us at 30 % load, and highest, 1.21 ms at 80 % load (65"
            ),
            "{text}"
        );
        let text = sentence(&Sweep::new(turning(1).to_vec()));
        assert!(
            text.contains("and highest, 1.21 ms at 80 % load, which one seed cannot separate ("),
            "{text}"
        );
    }

    #[test]
    fn one_flow_is_spoken_of_in_the_singular() {
        let mut one = run("ecmp", 1, 100.0, 1);
        one.summary.flows =
            FlowCounts { started: 2, finished: 1, unfinished: 1, open_bytes: 900, ..FlowCounts::default() };
        let Headline { warnings, sentence } = Headline::of_run(&one, &[]);
        assert!(sentence.contains("(1 flow, seed 1;"), "{sentence}");
        let words = warnings.join(" ").replace('\u{202f}', " ");
        assert!(
            words.contains(
                "1 flow (50.0 %) did not finish and is in no percentile; 0 B of its 900 B arrived."
            ),
            "{words}"
        );
        let mut open = endless_run("a", 1, 1.0);
        (open.summary.flows.started, open.summary.flows.unfinished) = (1, 1);
        let sentence = Headline::of_run(&open, &[]).sentence;
        assert!(sentence.contains("1 flow reaches a goodput"), "{sentence}");
    }

    #[test]
    fn what_spoils_the_result_comes_first() {
        let mut one = run("ecmp", 1, 100.0, 50);
        one.summary.flows.unfinished = 5;
        one.summary.flows.started = 55;
        let verdict = ExpectationVerdict { claim: "mean ratio 1.6".into(), ..ExpectationVerdict::default() };
        let warnings = Headline::of_run(&one, &[verdict]).warnings;
        assert!(warnings[0].contains("1 of 1 expectations missed"));
        assert!(warnings[1].contains("5 flows"));
        assert_eq!(warnings.len(), 2, "of 50 flows no 99th percentile is shown");
    }

    /// Flows that stay open in a busy network are overload only where others keep arriving and finish.
    #[test]
    fn long_flows_are_no_overload() {
        let mut busy = run("ecmp", 1, 100.0, 500);
        busy.summary.stop = "time_limit".to_owned();
        (busy.summary.flows.started, busy.summary.flows.unfinished) = (900, 400);
        busy.summary.links.utilisation_max = Some(0.99);
        let overloaded =
            |run: &Run| Headline::of_run(run, &[]).warnings.iter().any(|words| words.contains("overloaded"));
        busy.summary.arrivals_until_s = Some(0.02);
        let offered = |most| Some(crate::summary::Offered { uplinks: [0.5, most], downlinks: [0.5, 0.5] });
        busy.summary.links.offered = offered(1.1);
        assert!(overloaded(&busy));
        busy.summary.links.offered = offered(0.5);
        assert!(!overloaded(&busy), "a hash that joins long flows is no overload");
        busy.summary.links.offered = offered(1.1);
        busy.summary.arrivals_until_s = None;
        assert!(!overloaded(&busy), "all start together");
        busy.summary.arrivals_until_s = Some(0.02);
        busy.summary.stop = "all_finished".to_owned();
        (busy.summary.flows.started, busy.summary.flows.unfinished) = (500, 0);
        assert!(overloaded(&busy), "a run that ends when all have finished hides it");
        busy.summary.links.offered = offered(1.01);
        assert!(!overloaded(&busy), "a draw of 100 %");
    }
}
