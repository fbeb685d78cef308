//! One threshold of a search and its results, compared with the best by pairs of runs.

use weft_core::Bytes;
use weft_draw::text::NOT_MEASURED;
use weft_report::Run;
use weft_report::metric::Better;
use weft_report::statistics::Estimate;

/// One threshold and its results.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EcnTrial {
    /// `None`: the marking that the scenario has.
    pub(super) threshold: Option<Bytes>,
    /// By seed; `None` where the metric has no value.
    pub(super) values: Vec<(u64, Option<f64>)>,
    pub(super) unfinished: u64,
    /// Of these, those that the metric leaves out: a threshold gains nothing by keeping flows from finishing.
    pub(super) left_out: u64,
    pub(super) drops: Option<u64>,
}

impl EcnTrial {
    pub(super) fn of(threshold: Option<Bytes>, runs: &[Run], metric: &str) -> EcnTrial {
        let counts_open = |run: &Run| run.summary.flows.unfinished > 0 && metric == "fct.mean";
        let of = |run: &Run| {
            if counts_open(run) { run.summary.mean_with_open() } else { run.summary.metric(metric) }
        };
        let value = |run: &Run| (run.manifest.seed, of(run));
        let drops = runs.iter().map(|run| Some(run.summary.drops.as_ref()?.total)).sum::<Option<u64>>();
        let unfinished = runs.iter().map(|run| run.summary.flows.unfinished).sum();
        let of_finished =
            metric != "fct.mean" && ["fct", "slowdown"].iter().any(|start| metric.starts_with(start));
        let left_out = if of_finished { unfinished } else { 0 };
        EcnTrial { threshold, values: runs.iter().map(value).collect(), unfinished, left_out, drops }
    }

    /// The mean over all seeds; `None` if one has no value.
    pub(super) fn mean(&self) -> Option<f64> {
        let values: Option<Vec<f64>> = self.values.iter().map(|(_, value)| *value).collect();
        Some(Estimate::of(&values?)?.mean)
    }

    /// The ratio of this trial to another over their common seeds.
    pub(super) fn ratio_to(&self, other: &EcnTrial) -> Option<Estimate> {
        let of = |seed: u64| other.values.iter().find(|(own, _)| *own == seed)?.1;
        let pairs: Option<Vec<(f64, f64)>> =
            self.values.iter().map(|(seed, value)| Some(((*value)?, of(*seed)?))).collect();
        Estimate::of_ratios(&pairs?)
    }

    /// This trial compared with the best, as a word of the table.
    pub(super) fn verdict(&self, best: &EcnTrial, better: Better) -> &'static str {
        if self.left_out > best.left_out {
            return "open flows";
        }
        let Some(ratio) = self.ratio_to(best) else { return self.without_ratio(best, better) };
        match ratio {
            _ if ratio.runs < 2 => "one seed",
            _ if is_close(&ratio) && !ratio.excludes(1.0) => "alike",
            _ if !ratio.excludes(1.0) => "unclear",
            _ if cost(ratio.mean, better) < cost(1.0, better) => BETTER,
            _ => "worse",
        }
    }

    /// The verdict if zeros leave no ratio to the best: by the interval of the difference.
    fn without_ratio(&self, best: &EcnTrial, better: Better) -> &'static str {
        let of = |seed: u64| best.values.iter().find(|(own, _)| *own == seed)?.1;
        let differences: Option<Vec<f64>> =
            self.values.iter().map(|(seed, value)| Some((*value)? - of(*seed)?)).collect();
        match differences.and_then(|differences| Estimate::of(&differences)) {
            None => NOT_MEASURED,
            Some(found) if self.values == best.values && found.runs > 1 => "alike",
            Some(found) if found.runs < 2 => "one seed",
            Some(found) if !found.excludes(0.0) => "unclear",
            Some(found) if cost(found.mean, better) < 0.0 => BETTER,
            Some(_) => "worse",
        }
    }

    /// Whether this trial is as good as another: close to it, and no difference shows.
    pub(super) fn is_alike(&self, other: &EcnTrial) -> bool {
        let ratio = || self.ratio_to(other).is_some_and(|ratio| is_close(&ratio) && !ratio.excludes(1.0));
        self.has_values_of(other) || ratio()
    }

    /// Whether this trial is within 10 % of another.
    pub(super) fn is_close(&self, other: &EcnTrial) -> bool {
        let close = || self.ratio_to(other).is_some_and(|ratio| is_close(&ratio));
        self.left_out <= other.left_out && (self.has_values_of(other) || close())
    }

    /// Whether both trials have the same values. The ratio of two zeros would not show it.
    fn has_values_of(&self, other: &EcnTrial) -> bool {
        self.values == other.values && self.mean().is_some()
    }
}

/// The verdict of a trial that is better than the best threshold.
pub(super) const BETTER: &str = "better";

/// Results within this factor of the best are as good.
const ALIKE: f64 = 1.1;

/// Whether the whole interval of a ratio to the best is close to 1.
fn is_close(ratio: &Estimate) -> bool {
    ratio.low.zip(ratio.high).is_some_and(|(low, high)| low >= ALIKE.recip() && high <= ALIKE)
}

/// Turns a value of the metric into a cost: less is better.
pub(super) fn cost(value: f64, better: Better) -> f64 {
    if better == Better::Higher { -value } else { value }
}
