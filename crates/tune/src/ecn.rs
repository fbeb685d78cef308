//! ECN thresholds for a scenario, by running it: a row of thresholds at equal ratios, then more of them around the best.
//! All trials use the same seeds, and each is compared with the best by pairs of runs.
//!
//! Must not depend on how a marker uses its thresholds.

use std::path::PathBuf;

use weft::{Batch, CaseLabels, Error, RunOptions};
use weft_core::Bytes;
use weft_draw::text::{NOT_MEASURED, number, plural, significant};
use weft_draw::{Columns, WIDTH, wrapped};
use weft_report::metric::{self, Better, Metric};

use crate::case;

use marking::TriedMarking;
use trial::{BETTER, EcnTrial, cost};

mod marking;
mod trial;

/// How packets are marked beyond a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkingShape {
    /// All of them, as DCTCP requires.
    Step,
    /// With a probability that grows to `probability` at `times` the threshold, as DCQCN requires.
    Ramp {
        /// The upper threshold, as a multiple of the lower.
        times: f64,
        /// The probability there.
        probability: f64,
    },
}

/// What to tune, and the extent of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct EcnOptions {
    /// The scenario.
    pub scenario: PathBuf,
    /// The case of its sweep; absent: its only one.
    pub case: Option<String>,
    /// Overrides `path=value`.
    pub set: Vec<String>,
    /// Whether to run its reduced form.
    pub demo: bool,
    /// The setting to vary: `switch.ecn`, or that of a level, such as `switch.named.leaf1.ecn`.
    pub at: String,
    /// The form of marking.
    pub shape: MarkingShape,
    /// Least and greatest threshold of the first row.
    pub range: (Bytes, Bytes),
    /// Number of thresholds in the first row; at least 2.
    pub points: usize,
    /// Number of refinements around the best.
    pub rounds: usize,
    /// The metric.
    pub metric: String,
}

/// The thresholds tried.
#[derive(Clone, Debug, PartialEq)]
pub struct EcnAdvice {
    options: EcnOptions,
    marking: TriedMarking,
    metric: &'static Metric,
    /// The scenario's own marking; `None` if it has none, and its transport needs one.
    own: Option<EcnTrial>,
    /// By threshold.
    trials: Vec<EcnTrial>,
    best: usize,
    /// Whether the least or greatest threshold was the best: a better one may lie beyond.
    at_edge: bool,
}

/// Runs the scenario with different thresholds.
///
/// # Errors
/// [`Error::BadInput`] for impossible options and mistakes of the scenario, [`Error::Failed`] when runs fail or are stopped.
pub fn tune_ecn(options: &EcnOptions, run: &RunOptions) -> Result<EcnAdvice, Error> {
    let metric = metric_of(options)?;
    let none = || {
        let why = "too few flows, or nothing of the kind to measure";
        Error::Failed(format!("no run has a value of {}: {why}", options.metric))
    };
    let (options, has_own) = with_marks(options)?;
    let case = case_of(&options)?;
    let marking = TriedMarking::of(&options, &case, has_own)?;
    let search = Search { options: &options, run, case, marking: &marking };
    let own = has_own.then_some(None);
    let mut trials =
        search.run(&own.into_iter().chain(first_row(&options).into_iter().map(Some)).collect::<Vec<_>>())?;
    let own = has_own.then(|| trials.remove(0));
    for _ in 0..options.rounds {
        let closer = closer(&trials, best_of(&trials, metric.better).ok_or_else(none)?);
        trials.extend(search.run(&closer)?);
        trials.sort_by_key(|trial| trial.threshold);
    }
    let best = best_of(&trials, metric.better).ok_or_else(none)?;
    let at_edge = best == 0 || best == trials.len() - 1;
    Ok(EcnAdvice { options, marking, metric, own, trials, best, at_edge })
}

/// The options, and whether the scenario can run as it is. One that only lacks marks for a transport that reacts to them runs with those of
/// the first trial.
fn with_marks(options: &EcnOptions) -> Result<(EcnOptions, bool), Error> {
    let Err(mistakes) = weft::cases(&scenario_of(options)) else { return Ok((options.clone(), true)) };
    let mut marked = options.clone();
    marked.set.push(TriedMarking::in_place_of(&[], options).setting(options.range.0));
    match weft::cases(&scenario_of(&marked)) {
        Ok(_) => Ok((marked, false)),
        Err(_) => Err(mistakes),
    }
}

/// The metric, or the problem with the search.
fn metric_of(options: &EcnOptions) -> Result<&'static Metric, Error> {
    let wrong = |message: String| Err(Error::BadInput(message));
    let (least, greatest) = options.range;
    if least == Bytes::ZERO || least >= greatest {
        return wrong(format!("--from {least} must be more than zero and less than --to {greatest}"));
    }
    if options.points < 2 {
        return wrong(format!("--points {}: a search needs at least 2", options.points));
    }
    match metric::find(&options.metric) {
        Some(found) if found.better == Better::Neither => {
            wrong(format!("--metric {}: neither more nor less of it is better", options.metric))
        }
        Some(_) if options.metric.starts_with("deadline.missed_by.") => wrong(format!(
            "--metric {}: it has no value where no flow is late, which is best; use deadline.late",
            options.metric
        )),
        Some(found) => Ok(found),
        None => {
            let near = metric::nearest(&options.metric);
            let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            wrong(format!("--metric: there is no metric `{}`{near}", options.metric))
        }
    }
}

/// The scenario, with all its cases.
fn scenario_of(options: &EcnOptions) -> Batch {
    let EcnOptions { scenario, set, demo, .. } = options;
    Batch { path: scenario.clone(), set: set.clone(), demo: *demo, ..Batch::default() }
}

/// The labels of the case to try.
fn case_of(options: &EcnOptions) -> Result<CaseLabels, Error> {
    let cases = weft::cases(&scenario_of(options))?;
    let name = |labels: &CaseLabels| -> String {
        labels.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(",")
    };
    let names: Vec<String> = cases.iter().map(name).collect();
    let number = case::chosen(&options.scenario, &names, options.case.as_deref())?;
    Ok(cases[number].clone())
}

/// Thresholds at equal ratios.
fn first_row(options: &EcnOptions) -> Vec<Bytes> {
    let (least, greatest) = (options.range.0.0 as f64, options.range.1.0 as f64);
    let step = (greatest / least).powf(1.0 / (options.points - 1) as f64);
    (0..options.points).map(|n| rounded(least * step.powi(n as i32))).collect()
}

/// A threshold with three digits.
fn rounded(bytes: f64) -> Bytes {
    let scale = 10f64.powf((bytes.log10().floor() - 2.0).max(0.0));
    Bytes(((bytes / scale).round() * scale) as u64)
}

/// One threshold between the best and each of its neighbours.
fn closer(trials: &[EcnTrial], best: usize) -> Vec<Option<Bytes>> {
    let at = |n: usize| trials.get(n).and_then(|trial| trial.threshold);
    let Some(own) = at(best) else { return Vec::new() };
    let between = |other: Bytes| rounded((own.0 as f64 * other.0 as f64).sqrt());
    let new = [best.checked_sub(1), Some(best + 1)].into_iter().flatten().filter_map(at).map(between);
    new.filter(|new| trials.iter().all(|trial| trial.threshold != Some(*new))).map(Some).collect()
}

/// The trial with the best mean among those that leave out the fewest flows; trials without a value in any run do not count.
fn best_of(trials: &[EcnTrial], better: Better) -> Option<usize> {
    let all =
        (0..trials.len()).filter_map(|n| Some((trials[n].left_out, cost(trials[n].mean()?, better), n)));
    let best = all.min_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    best.map(|(.., n)| n)
}

/// A search in progress: the parts that are the same for all trials.
struct Search<'a> {
    options: &'a EcnOptions,
    run: &'a RunOptions,
    case: CaseLabels,
    marking: &'a TriedMarking,
}

impl Search<'_> {
    /// Runs trials, all seeds of all of them as one pool.
    fn run(&self, thresholds: &[Option<Bytes>]) -> Result<Vec<EcnTrial>, Error> {
        let batch = |threshold: &Option<Bytes>| {
            let mut batch = scenario_of(self.options);
            batch.set.extend(threshold.map(|at| self.marking.setting(at)));
            Batch { seeds: self.run.seeds.clone(), cases: vec![self.case.clone()], ..batch }
        };
        let batches: Vec<Batch> = thresholds.iter().map(batch).collect();
        let found = weft::run_batches(&batches, self.run)?;
        if let Some(failure) = found.failures.first() {
            return Err(Error::Failed(failure.clone()));
        }
        if found.interrupted {
            return Err(Error::Failed("interrupted; complete runs are kept and will be reused".to_owned()));
        }
        let trials = thresholds.iter().zip(&found.runs);
        Ok(trials.map(|(threshold, runs)| EcnTrial::of(*threshold, runs, &self.options.metric)).collect())
    }
}

impl EcnAdvice {
    fn rows(&self) -> Vec<Vec<String>> {
        let best = &self.trials[self.best];
        let row = |trial: &EcnTrial| {
            let ratio = trial.ratio_to(best);
            let interval = ratio.as_ref().and_then(|ratio| Some((ratio.low?, ratio.high?)));
            let words = match trial.threshold == best.threshold {
                _ if self.differs_nowhere() => "equal",
                true => "best",
                false => trial.verdict(best, self.metric.better),
            };
            vec![
                trial.threshold.map_or("the scenario's".to_owned(), |at| at.to_string()),
                trial.mean().map_or(NOT_MEASURED.to_owned(), number),
                ratio.map_or("–".to_owned(), |ratio| significant(ratio.mean, 3)),
                interval.map_or("–".to_owned(), |(low, high)| {
                    format!("{}–{}", significant(low, 3), significant(high, 3))
                }),
                words.to_owned(),
                trial.drops.map_or("–".to_owned(), |drops| drops.to_string()),
                trial.unfinished.to_string(),
            ]
        };
        self.all().map(row).collect()
    }

    /// The scenario's own marking, if it has one, and all thresholds.
    fn all(&self) -> impl Iterator<Item = &EcnTrial> {
        self.own.iter().chain(&self.trials)
    }

    /// As lines for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let best = self.trials[self.best].threshold.unwrap_or_default();
        let header =
            ["threshold", &self.options.metric, "× best", "95 % interval", "verdict", "drops", "open"];
        let unit = match self.metric.unit {
            "" => String::new(),
            unit => format!(" in {unit}"),
        };
        let about = format!(
            "{}: {}{unit}, {} per trial; × best: geometric mean of the ratios by seed; unclear: the interval is too wide to \
             tell; open: flows that did not finish{}",
            self.options.scenario.display(),
            self.options.metric,
            plural(self.trials[self.best].values.len() as u64, "seed"),
            self.open_words()
        );
        let found = match self.differs_nowhere() {
            true => format!(
                "{} is {} with every threshold and seed: there is no best",
                self.options.metric,
                self.trials[self.best].mean().map_or(NOT_MEASURED.to_owned(), number)
            ),
            false => format!(
                "{}: --set '{}'\n{}{}",
                self.found_words(),
                self.marking.setting(best),
                self.marking.words(),
                [&self.alike_words(), self.edge_words(), &self.uncompared_words()].concat()
            ),
        };
        format!("{}\n{}\n{found}", wrapped(&about, WIDTH).join("\n"), Columns::table(&header, &self.rows()))
    }

    /// What becomes of flows that did not finish.
    fn open_words(&self) -> &'static str {
        match self.all().any(|trial| trial.unfinished > 0) {
            true if self.options.metric == "fct.mean" => ", counted with their age at the end",
            true if self.all().any(|trial| trial.left_out > 0) => {
                ", which the metric leaves out, so that only thresholds with the fewest compete"
            }
            _ => "",
        }
    }

    /// The best threshold compared with the scenario's own marking, whose mean may be better.
    fn found_words(&self) -> &'static str {
        let (Some(own), best) = (&self.own, &self.trials[self.best]) else { return "best found" };
        let better = self.metric.better;
        match own.mean().zip(best.mean()) {
            _ if own.verdict(best, better) == BETTER => {
                "the scenario's own marking is better than every threshold; the best of these"
            }
            Some((own, best)) if cost(own, better) < cost(best, better) => {
                "no threshold has a better mean than the scenario's own marking; the best of them"
            }
            _ => "best found",
        }
    }

    /// A line if the best lies at an end of the row and its neighbour is not as good, so that a better one may lie beyond.
    fn edge_words(&self) -> &'static str {
        let inner = if self.best == 0 { 1 } else { self.best - 1 };
        let neighbour = self.trials.get(inner);
        match self.at_edge && !neighbour.is_some_and(|trial| trial.is_alike(&self.trials[self.best])) {
            true => "\nthe best lies at an end of the row: look beyond with --from or --to",
            false => "",
        }
    }

    /// A line on thresholds that have no value of the metric, which may be good or bad.
    fn uncompared_words(&self) -> String {
        let without = self.trials.iter().filter(|trial| trial.mean().is_none());
        let names: Vec<String> = without.filter_map(|trial| Some(trial.threshold?.to_string())).collect();
        match names.as_slice() {
            [] => String::new(),
            _ => {
                format!("\nnot compared, without {} in some runs: {}", self.options.metric, names.join(", "))
            }
        }
    }

    /// Whether the metric has one value in all runs.
    fn differs_nowhere(&self) -> bool {
        let mut values = self.all().flat_map(|trial| trial.values.iter().map(|(_, value)| *value));
        let first = values.next().flatten();
        first.is_some() && values.all(|value| value == first)
    }

    /// The thresholds with results close to the best, in lines of their own: ranges without a gap, the best in one of them.
    fn alike_words(&self) -> String {
        let best = &self.trials[self.best];
        let is = |trial: &EcnTrial| trial.is_close(best);
        let ranges: Vec<&[EcnTrial]> =
            self.trials.chunk_by(|a, b| is(a) && is(b)).filter(|range| is(&range[0])).collect();
        let name = |trial: &EcnTrial| trial.threshold.unwrap_or_default().to_string();
        let words = |range: &&[EcnTrial]| match range {
            [one] => name(one),
            [first, .., last] => format!("from {} to {} ({} tried)", name(first), name(last), range.len()),
            [] => String::new(),
        };
        match ranges.as_slice() {
            [[_]] => String::new(),
            all => {
                format!(
                    "\nshown to be within 10 % of the best: {}",
                    all.iter().map(words).collect::<Vec<_>>().join(", ")
                )
            }
        }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let (best, differs) = (&self.trials[self.best], !self.differs_nowhere());
        let is_better = |own: &EcnTrial| own.verdict(best, self.metric.better) == BETTER;
        let own_is_better = differs && self.own.as_ref().is_some_and(is_better);
        let trial = |trial: &EcnTrial| {
            let ratio = trial.ratio_to(best);
            serde_json::json!({
                "threshold_bytes": trial.threshold.map(|at| at.0),
                "mean": trial.mean(),
                "ratio_to_best": ratio.as_ref().map(|ratio| ratio.mean),
                "ratio_low": ratio.as_ref().and_then(|ratio| ratio.low),
                "ratio_high": ratio.as_ref().and_then(|ratio| ratio.high),
                "seeds": trial.values.len(), "drops": trial.drops, "unfinished": trial.unfinished,
            })
        };
        let all = serde_json::json!({
            "metric": self.options.metric,
            "at": self.options.at,
            "best": differs.then(|| self.marking.marker(best.threshold.unwrap_or_default())),
            "best_threshold_bytes": best.threshold.filter(|_| differs).map(|at| at.0),
            "scenario_is_better": own_is_better,
            "at_edge": self.at_edge,
            "trials": self.all().map(trial).collect::<Vec<_>>(),
        });
        format!("{all:#}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_report::Run;

    fn options() -> EcnOptions {
        EcnOptions {
            scenario: PathBuf::new(),
            case: None,
            set: Vec::new(),
            demo: false,
            at: "switch.ecn".to_owned(),
            shape: MarkingShape::Step,
            range: (Bytes(10_000), Bytes(1_000_000)),
            points: 5,
            rounds: 1,
            metric: "fct.mean".to_owned(),
        }
    }

    /// Of the scenario's own marking and thresholds, one of which is the best.
    fn advice(metric: &'static Metric, all: Vec<EcnTrial>, best: usize, at_edge: bool) -> EcnAdvice {
        let marking = TriedMarking::in_place_of(&[], &options());
        let (own, trials) = (all.first().cloned(), all[1..].to_vec());
        EcnAdvice { options: options(), marking, metric, own, trials, best: best - 1, at_edge }
    }

    fn trial(threshold: u64, values: [f64; 3]) -> EcnTrial {
        let values = values.into_iter().zip(1..).map(|(value, seed)| (seed, Some(value))).collect();
        EcnTrial { threshold: Some(Bytes(threshold)), values, unfinished: 0, left_out: 0, drops: Some(0) }
    }

    #[test]
    fn the_first_row_has_equal_ratios_and_closer_ones_lie_between() {
        let row = first_row(&options());
        assert_eq!(row, [10_000, 31_600, 100_000, 316_000, 1_000_000].map(Bytes));
        let of = |(at, mean): (&Bytes, f64)| trial(at.0, [mean; 3]);
        let trials: Vec<EcnTrial> = row.iter().zip([3.0, 2.0, 1.0, 2.0, 3.0]).map(of).collect();
        let best = best_of(&trials, Better::Lower).expect("it has values");
        assert_eq!(closer(&trials, best), [56_200, 178_000].map(|at| Some(Bytes(at))));
        assert_eq!(
            best_of(&trials, Better::Higher).expect("it has values"),
            0,
            "where more is better, the first of equals"
        );
    }

    /// A threshold under which the longest flows never finish has the best percentiles of the others, and is not the best.
    #[test]
    fn a_threshold_gains_nothing_by_leaving_flows_open() {
        let starving = EcnTrial { unfinished: 6, left_out: 6, ..trial(2_000, [0.1; 3]) };
        let trials = [starving, trial(20_000, [1.0, 1.1, 0.9])];
        assert_eq!(best_of(&trials, Better::Lower).expect("it has values"), 1);
        assert_eq!(trials[0].verdict(&trials[1], Better::Lower), "open flows");
        assert!(!trials[0].is_close(&trials[1]));
        let summary = |unfinished, open_age_us| {
            let mut run = Run::default();
            run.summary.fct_us.all.mean = Some(10.0);
            let flows = &mut run.summary.flows;
            (flows.started, flows.finished, flows.unfinished, flows.open_age_us) =
                (4, 4 - unfinished, unfinished, open_age_us);
            run
        };
        let mean = |run: Run, metric: &str| EcnTrial::of(None, &[run], metric).mean();
        assert_eq!(
            mean(summary(1, Some(970.0)), "fct.mean"),
            Some(250.0),
            "three of 10 us and one open for 970 us"
        );
        assert_eq!(mean(summary(0, None), "fct.mean"), Some(10.0));
        assert_eq!(EcnTrial::of(None, &[summary(1, Some(970.0))], "fct.p95").left_out, 1);
        assert_eq!(EcnTrial::of(None, &[summary(1, Some(970.0))], "goodput").left_out, 0);
    }

    /// Differences are judged by pairs of runs, so differences between seeds hide nothing.
    #[test]
    fn verdicts_come_from_pairs_of_runs() {
        let own = EcnTrial { threshold: None, ..trial(0, [1.5, 150.0, 15.0]) };
        let trials = vec![
            own,
            trial(10, [1.0, 100.0, 10.0]),
            trial(20, [1.02, 99.0, 10.0]),
            trial(40, [1.2, 120.0, 12.0]),
            trial(80, [0.9, 900.0, 10.0]),
        ];
        let metric = metric_of(&options()).expect("it is a metric");
        let advice = advice(metric, trials, 1, true);
        let words: Vec<String> = advice.rows().into_iter().map(|row| row[4].clone()).collect();
        assert_eq!(words, ["worse", "best", "alike", "worse", "unclear"]);
        assert!(
            advice.text().contains("\nshown to be within 10 % of the best: from 10 B to 20 B (2 tried)"),
            "{}",
            advice.text()
        );
        assert!(!advice.text().contains("look beyond"), "20 B are as good: {}", advice.text());
        let mut falling = advice;
        falling.trials[1] = trial(20, [1.3, 130.0, 13.0]);
        assert!(falling.text().contains("look beyond"), "{}", falling.text());
    }

    /// The range within 10 % includes settings that are worse by less, and a line says which settings were not
    /// varied.
    #[test]
    fn close_results_are_told_even_where_they_are_worse() {
        let metric = metric_of(&options()).expect("it is a metric");
        let own = EcnTrial { threshold: None, ..trial(0, [9.0; 3]) };
        let trials = vec![own, trial(10, [1.0, 10.0, 100.0]), trial(20, [1.04, 10.41, 104.0])];
        let text = advice(metric, trials, 1, true).text();
        assert!(text.contains("worse") && text.contains("from 10 B to 20 B (2 tried)"), "{text}");
        assert!(
            text.contains("--set 'switch.ecn={ step = { threshold = \"10 B\" } }'\nin the scenario"),
            "{text}"
        );
    }

    /// A metric that is zero everywhere has no best threshold; one that is zero at the best is judged by difference.
    #[test]
    fn zeros_are_measured_and_equal_values_have_no_best() {
        let metric = metric_of(&options()).expect("it is a metric");
        let of = |values: [[f64; 3]; 3]| {
            let own = EcnTrial { threshold: None, ..trial(0, values[0]) };
            let trials = vec![own, trial(10, values[1]), trial(20, values[2])];
            advice(metric, trials, 1, true)
        };
        let words =
            |advice: &EcnAdvice| advice.rows().into_iter().map(|row| row[4].clone()).collect::<Vec<_>>();
        let zeros = of([[0.0; 3]; 3]);
        assert_eq!(words(&zeros), ["equal", "equal", "equal"]);
        assert!(
            zeros.text().ends_with("is 0 with every threshold and seed: there is no best"),
            "{}",
            zeros.text()
        );
        assert!(zeros.json().contains("\"best\": null"), "{}", zeros.json());
        let some = of([[0.0; 3], [0.0; 3], [50.0, 51.0, 49.0]]);
        assert_eq!(words(&some), ["alike", "best", "worse"]);
        assert_eq!(words(&of([[1.0; 3], [0.0; 3], [0.0, 90.0, 0.0]])), ["worse", "best", "unclear"]);
    }

    /// The scenario's own marking, which is not a threshold of the row, may be better.
    #[test]
    fn a_better_marking_of_the_scenario_is_called_better() {
        let metric = metric_of(&options()).expect("it is a metric");
        let of = |own: [f64; 3]| {
            let own = EcnTrial { threshold: None, ..trial(0, own) };
            let trials = vec![own, trial(10, [2.0, 20.0, 200.0]), trial(20, [4.0, 40.0, 400.0])];
            advice(metric, trials, 1, true)
        };
        let better = of([1.0, 10.1, 100.0]);
        assert_eq!(better.rows()[0][4], "better");
        assert!(
            better.text().contains("own marking is better than every threshold; the best of these: --set")
        );
        assert!(better.json().contains("\"scenario_is_better\": true"));
        let unclear = of([1.0, 30.0, 150.0]);
        assert_eq!(unclear.rows()[0][4], "unclear");
        assert!(unclear.text().contains("no threshold has a better mean"), "{}", unclear.text());
        let worse = of([3.0, 31.0, 300.0]);
        assert!(worse.text().contains("\nbest found: --set"), "{}", worse.text());
        let zero = EcnTrial { threshold: None, ..trial(0, [0.0; 3]) };
        let best = trial(10, [20.0, 21.0, 22.0]);
        assert_eq!(zero.verdict(&best, Better::Lower), "better", "there is no ratio to tell by");
        assert_eq!(zero.verdict(&best, Better::Higher), "worse");
    }

    /// Nothing is better than zero, so nothing lies beyond a row of zeros; missing values are not skipped.
    #[test]
    fn equal_zeros_do_not_point_beyond_and_missing_values_are_named() {
        let metric = metric_of(&options()).expect("it is a metric");
        let own = EcnTrial { threshold: None, ..trial(0, [0.0; 3]) };
        let missing = EcnTrial { values: vec![(1, None), (2, Some(1.0)), (3, None)], ..trial(40, [0.0; 3]) };
        let trials =
            vec![own, trial(10, [0.0; 3]), trial(20, [0.0; 3]), missing, trial(80, [70.0, 71.0, 72.0])];
        let text = advice(metric, trials, 1, true).text();
        assert!(
            !text.contains("look beyond") && text.contains("within 10 % of the best: from 10 B to 20 B"),
            "{text}"
        );
        assert!(text.ends_with("\nnot compared, without fct.mean in some runs: 40 B"), "{text}");
        let late = EcnOptions { metric: "deadline.missed_by.mean".to_owned(), ..options() };
        let message = metric_of(&late).expect_err("the best has none").to_string();
        assert!(message.contains("use deadline.late"), "{message}");
    }

    /// The best lies in the range of thresholds that are as good, and a gap in it is not skipped.
    #[test]
    fn thresholds_as_good_as_the_best_are_told_with_it() {
        let metric = metric_of(&options()).expect("it is a metric");
        let own = EcnTrial { threshold: None, ..trial(0, [9.0; 3]) };
        let good = |at| trial(at, [1.01, 10.1, 100.0]);
        let best = trial(40, [1.0, 10.0, 100.0]);
        let bad = trial(80, [2.0, 20.0, 200.0]);
        let trials = vec![own, good(10), good(20), best, bad, good(160)];
        let text = advice(metric, trials, 3, false).text();
        assert!(
            text.ends_with("\nshown to be within 10 % of the best: from 10 B to 40 B (3 tried), 160 B"),
            "{text}"
        );
    }
}
