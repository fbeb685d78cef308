//! Two cases compared seed by seed, and whether they differ significantly. Must not depend on pictures.
//!
//! A sentence may rank one case above another only if the 95 % interval over their common seeds excludes equality. With
//! one seed there is no interval, and so no ranking. Among more than two schemes the intervals hold together, because the
//! sentence picks the most remarkable.

use crate::statistics::{Estimate, mean};
use crate::sweep::{MEAN_WITH_OPEN, Run, Sweep, is_comparable, partners};
use crate::text::{capitalised, number, percent, significant};

/// How a metric of one case compares with that of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricOrder {
    /// It is less.
    Less,
    /// It is greater.
    Greater,
    /// The difference is not significant.
    Unclear,
    /// One seed has no interval, so no difference is significant.
    OneSeed,
    /// Every seed has the same value in both.
    Equal,
}

impl MetricOrder {
    /// The order that a ratio implies.
    #[must_use]
    pub fn of(ratio: &Estimate) -> MetricOrder {
        MetricOrder::against(ratio, 1.0)
    }

    /// The order that a ratio or a difference implies; equality has the value `equal`.
    fn against(found: &Estimate, equal: f64) -> MetricOrder {
        let certain = |end: Option<f64>| end.is_none_or(|end| end == found.mean);
        match (found.runs, found.excludes(equal)) {
            _ if found.mean == equal && certain(found.low) && certain(found.high) => MetricOrder::Equal,
            (..=1, _) => MetricOrder::OneSeed,
            (_, false) => MetricOrder::Unclear,
            (_, true) if found.mean < equal => MetricOrder::Less,
            (_, true) => MetricOrder::Greater,
        }
    }
}

/// A metric of two cases over their common seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// Its mean in the base.
    pub base: f64,
    /// Its mean in the other case.
    pub other: f64,
    /// The other divided by the base.
    pub ratio: Estimate,
    /// Runs left out of both values: the other case lacks their seed, or one side lacks the metric.
    pub left_out: usize,
    /// Number of measured flows behind both values: all that started for the mean with open flows, else those that finished.
    pub flows: u64,
    /// Share of flows that did not finish in the base and in the other case.
    pub unfinished: [f64; 2],
    /// Whether some of these were given up by their senders.
    pub given_up: bool,
}

impl Contrast {
    /// Compares a metric of two cases. `None` if no seed has both values, one of the values is not positive, or the metric [may not be
    /// compared](is_comparable).
    #[must_use]
    pub fn of(other: &[&Run], base: &[&Run], metric: &str) -> Option<Contrast> {
        if ![other, base].iter().all(|side| is_comparable(metric, side)) {
            return None;
        }
        let all = partners(other, base);
        let both = |(other, base): &(&Run, &Run)| {
            other.summary.metric(metric).is_some() && base.summary.metric(metric).is_some()
        };
        let pairs: Vec<(&Run, &Run)> = all.into_iter().filter(both).collect();
        let (others, bases): (Vec<&Run>, Vec<&Run>) = pairs.iter().copied().unzip();
        let values = |side: &[&Run]| -> Vec<f64> {
            side.iter().filter_map(|run| run.summary.metric(metric)).collect()
        };
        let ratios: Vec<(f64, f64)> = values(&others).into_iter().zip(values(&bases)).collect();
        Some(Contrast {
            base: mean(&values(&bases))?,
            other: mean(&values(&others))?,
            ratio: Estimate::of_ratios(&ratios)?,
            left_out: other.len() + base.len() - 2 * pairs.len(),
            flows: others.iter().chain(&bases).map(|run| counted(run, metric)).sum(),
            unfinished: [unfinished(&bases), unfinished(&others)],
            given_up: others.iter().chain(&bases).any(|run| gave_up(run)),
        })
    }

    /// The same as one of several comparisons: see [`Estimate::among`].
    #[must_use]
    pub fn among(self, comparisons: usize) -> Contrast {
        Contrast { ratio: self.ratio.ratio_among(comparisons), ..self }
    }

    /// How the other case compares with the base.
    #[must_use]
    pub fn order(&self) -> MetricOrder {
        MetricOrder::of(&self.ratio)
    }

    /// The ratio of the other to the base, with the interval: `1.04×, 95 % interval 1.02–1.05`.
    #[must_use]
    pub fn times(&self) -> String {
        let interval = interval(&self.ratio).map_or(String::new(), |words| format!(", {words}"));
        format!("{}×{interval}", ratio_words(&self.ratio))
    }

    /// The shares of flows that did not finish, with the names of the cases, and whether they count with their age; empty if
    /// all flows finished.
    #[must_use]
    pub fn censored(&self, other: &str, base: &str, counts: bool) -> String {
        let [of_base, of_other] = self.unfinished.map(percent);
        if self.unfinished == [0.0, 0.0] {
            return String::new();
        }
        let how = match (counts, self.given_up) {
            (true, true) => "count with their age at the end, or with their deadline if they were given up",
            (true, false) => "count with their age at the end",
            (false, _) => "are in neither figure",
        };
        format!("; {of_other} of the flows with {other} and {of_base} with {base} did not finish and {how}")
    }
}

/// Whether a statistic of finished flows may rank two cases although a share of the flows did not finish. Those belong to the tail: a
/// percentile bears a tenth of what is beyond it, a mean of finished flows bears none.
#[must_use]
pub fn covers(metric: &str, unfinished: f64) -> bool {
    let of_finished = ["fct.", "slowdown."].iter().any(|start| metric.starts_with(start));
    let percentile = metric.rsplit_once(".p").map(|(_, digits)| digits.replace('_', "."));
    let beyond = percentile.and_then(|digits| digits.parse().ok()).map_or(0.0, |p: f64| 1.0 - p / 100.0);
    !of_finished || metric == MEAN_WITH_OPEN || unfinished <= beyond / 10.0
}

/// The number of measured flows that a metric counts.
#[must_use]
pub fn counted(run: &Run, metric: &str) -> u64 {
    let flows = &run.summary.flows;
    if metric == MEAN_WITH_OPEN { flows.started } else { flows.finished }
}

fn gave_up(run: &Run) -> bool {
    run.summary.deadlines.as_ref().is_some_and(|found| found.all.terminated > 0)
}

/// FlowPairs of runs with one seed, by their flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPairs {
    /// FlowPairs with different flows.
    pub differ: usize,
    /// FlowPairs of which both flows are known.
    pub known: usize,
}

/// Counts the pairs whose flows differ.
pub(crate) fn other_flows<'a>(pairs: impl Iterator<Item = (&'a Run, &'a Run)>) -> FlowPairs {
    let hashes = pairs.map(|(a, b)| (&a.manifest.flows_hash, &b.manifest.flows_hash));
    let known: Vec<_> = hashes.filter(|(a, b)| !a.is_empty() && !b.is_empty()).collect();
    FlowPairs { differ: known.iter().filter(|(a, b)| a != b).count(), known: known.len() }
}

/// The share of the flows of all runs that did not finish.
pub(crate) fn unfinished(runs: &[&Run]) -> f64 {
    let of = |count: fn(&Run) -> u64| runs.iter().map(|run| count(run)).sum::<u64>() as f64;
    of(|run| run.summary.flows.unfinished) / of(|run| run.summary.flows.started).max(1.0)
}

/// `95 % interval 1.55–1.69, 5 seeds`; with one run, a note that there is no interval.
#[must_use]
pub fn interval_words(estimate: &Estimate) -> String {
    interval(estimate)
        .map_or("one seed, no interval".to_owned(), |words| format!("{words}, {} seeds", estimate.runs))
}

/// `95 % interval 1.55–1.69`, or `joint 95 % interval …` of several; absent with one run.
#[must_use]
pub fn interval(estimate: &Estimate) -> Option<String> {
    Some(format!("{} {}", interval_name(estimate.together), ends(estimate.low?, estimate.high?)))
}

/// What the interval of one of several comparisons is called.
#[must_use]
pub(crate) fn interval_name(comparisons: usize) -> &'static str {
    if comparisons > 1 { "joint 95\u{202f}% interval" } else { "95\u{202f}% interval" }
}

/// `1.55–1.69`; with more digits if three do not distinguish the ends, or hide that both are above or below 1.
pub(crate) fn ends(low: f64, high: f64) -> String {
    let [of_low, of_high] = digits(low, high);
    format!("{}–{}", significant(low, of_low), significant(high, of_high))
}

/// `1.61`; with as many digits as the ends of its interval.
pub(crate) fn ratio_words(ratio: &Estimate) -> String {
    let digits = ratio.low.zip(ratio.high).map_or([3; 2], |(low, high)| digits(low, high));
    match digits.into_iter().max() {
        Some(more @ 4..) => significant(ratio.mean, more),
        _ => number(ratio.mean),
    }
}

/// The digits that the ends of an interval need.
fn digits(low: f64, high: f64) -> [i32; 2] {
    let hidden = |a: f64, b: f64, digits: i32| {
        significant(a, digits) == significant(b, digits) && significant(a, 6) != significant(b, 6)
    };
    let excludes = low > 1.0 || high < 1.0;
    let of = |end: f64| {
        let hides = |digits: i32| hidden(low, high, digits) || excludes && hidden(end, 1.0, digits);
        (3..=6).find(|digits| !hides(*digits)).unwrap_or(3)
    };
    [of(low), of(high)]
}

/// `1.23 times faster`, or below half a per cent `0.193 % faster`, for a ratio above 1.
pub(crate) fn more_words(ratio: f64) -> String {
    match ratio {
        small if small < 1.005 => percent(small - 1.0),
        ratio => format!("{} times", number(ratio)),
    }
}

/// The baseline and the scheme to compare it with, at a point of the axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duel {
    /// The baseline: the first scheme.
    pub base: usize,
    /// The other scheme with the least mean completion time; a scheme that is significantly faster than the baseline
    /// takes precedence over one that is not.
    pub best: usize,
    /// Index of the point on the axis.
    pub at: usize,
}

impl Duel {
    /// The schemes compared at a point of the axis; `None` with a single scheme, without flows, or if the baseline gives up too many of
    /// them.
    #[must_use]
    pub fn at(sweep: &Sweep, at: usize) -> Option<Duel> {
        if sweep.without_base {
            return None;
        }
        let rank = |scheme: usize| {
            let mean = sweep.estimate(scheme, at, sweep.mean_metric())?.mean;
            let order = sweep.ratio(scheme, 0, at, sweep.mean_metric()).as_ref().map(MetricOrder::of);
            Some((scheme, order != Some(MetricOrder::Less), mean))
        };
        let others = (1..sweep.schemes.len()).filter(|scheme| sweep.is_ranked(*scheme, at)).filter_map(rank);
        let (best, ..) = others.min_by(|a, b| a.1.cmp(&b.1).then(a.2.total_cmp(&b.2)))?;
        let base = sweep.estimate(0, at, sweep.mean_metric()).filter(|_| sweep.is_ranked(0, at));
        base.map(|_| Duel { base: 0, best, at })
    }

    /// How a metric of the other scheme compares with that of the baseline. If one of the values is zero there is no
    /// ratio, and the interval of the difference decides. `None` if no seed has both values.
    #[must_use]
    pub fn order(&self, sweep: &Sweep, metric: &str) -> Option<MetricOrder> {
        let by_ratio = self.contrast(sweep, metric).map(|contrast| contrast.order());
        by_ratio.or_else(|| {
            let value = |run: &Run| run.summary.metric(metric);
            let pairs = partners(&sweep.case(self.best, self.at), &sweep.case(self.base, self.at));
            let differences = pairs.into_iter().filter_map(|(best, base)| Some(value(best)? - value(base)?));
            let found = Estimate::of(&differences.collect::<Vec<f64>>())?.among(sweep.comparisons());
            Some(MetricOrder::against(&found, 0.0))
        })
    }

    /// The means of a metric of the other scheme and of the baseline over the seeds that give both; without such a seed, over those
    /// that each has.
    #[must_use]
    pub fn means(&self, sweep: &Sweep, metric: &str) -> Option<(f64, f64)> {
        let value = |run: &Run| run.summary.metric(metric);
        let pairs = partners(&sweep.case(self.best, self.at), &sweep.case(self.base, self.at));
        let both = pairs.into_iter().filter_map(|(best, base)| Some((value(best)?, value(base)?)));
        let (best, base): (Vec<f64>, Vec<f64>) = both.unzip();
        let alone = |scheme| sweep.estimate(scheme, self.at, metric).map(|estimate| estimate.mean);
        mean(&best).zip(mean(&base)).or_else(|| alone(self.best).zip(alone(self.base)))
    }

    /// A metric of the two schemes over their common seeds.
    #[must_use]
    pub fn contrast(&self, sweep: &Sweep, metric: &str) -> Option<Contrast> {
        let alone = Contrast::of(&sweep.case(self.best, self.at), &sweep.case(self.base, self.at), metric)?;
        Some(alone.among(sweep.comparisons()))
    }
}

/// `At 80 % load: `, and the labels that all cases share; empty without an axis.
pub(crate) fn place_words(sweep: &Sweep, at: usize) -> String {
    let axis = sweep.axis.as_ref().map(|axis| format!("At {}", axis.phrase(at)));
    let only = Some(sweep.only.clone()).filter(|only| !only.is_empty());
    let words: Vec<String> = axis.into_iter().chain(only).collect();
    if words.is_empty() { String::new() } else { words.join(", ") + ": " }
}

/// `words` after the point of the axis, or capitalised as the start of a sentence.
pub(crate) fn begin(place: &str, words: &str) -> String {
    if place.is_empty() { capitalised(words) } else { format!("{place}{words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_bear_few_open_flows_and_means_none() {
        assert!(covers("fct.mean", 0.0) && !covers("fct.mean", 1e-6) && covers("fct.mean_with_open", 0.5));
        assert!(covers("fct.p99", 0.001) && !covers("fct.p99", 0.002) && covers("fct.small.p50", 0.05));
        assert!(covers("goodput", 0.9));
    }

    #[test]
    fn the_ends_of_an_interval_are_told_apart_and_from_one() {
        assert_eq!(ends(1.55, 1.69), "1.55–1.69");
        assert_eq!(ends(1.001_91, 1.001_95), "1.00191–1.00195");
        assert_eq!(ends(1.001, 1.4), "1.001–1.40");
        assert_eq!(ends(0.998, 1.001), "0.998–1.00", "neither side is clear");
        assert_eq!(ends(2.0, 2.000_000_000_1), "2.00–2.00", "they are equal but for rounding");
    }
}
