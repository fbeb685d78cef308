//! One threshold of a search and what its runs gave, compared with the best by pairs of runs.

use weft_core::Bytes;
use weft_draw::text::NOT_MEASURED;
use weft_report::Run;
use weft_report::statistics::Estimate;

/// One threshold and what its runs gave.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EcnTrial {
    /// `None`: the marking that the scenario has.
    pub(super) threshold: Option<Bytes>,
    /// By seed; `None` where the metric has no value.
    pub(super) values: Vec<(u64, Option<f64>)>,
    pub(super) unfinished: u64,
    pub(super) drops: Option<u64>,
}

impl EcnTrial {
    pub(super) fn of(threshold: Option<Bytes>, runs: &[Run], metric: &str) -> EcnTrial {
        let value = |run: &Run| (run.manifest.seed, run.summary.metric(metric));
        let drops = runs.iter().map(|run| Some(run.summary.drops.as_ref()?.total)).sum::<Option<u64>>();
        let unfinished = runs.iter().map(|run| run.summary.flows.unfinished).sum();
        EcnTrial { threshold, values: runs.iter().map(value).collect(), unfinished, drops }
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

    /// The verdict where zeros leave no ratio to the best: by the interval of the difference.
    pub(super) fn without_ratio(&self, best: &EcnTrial) -> &'static str {
        let of = |seed: u64| best.values.iter().find(|(own, _)| *own == seed)?.1;
        let differences: Option<Vec<f64>> =
            self.values.iter().map(|(seed, value)| Some((*value)? - of(*seed)?)).collect();
        match differences.and_then(|differences| Estimate::of(&differences)) {
            None => NOT_MEASURED,
            Some(found) if self.values == best.values && found.runs > 1 => "alike",
            Some(found) if found.runs < 2 => "one seed",
            Some(found) if found.excludes(0.0) => "worse",
            Some(_) => "unclear",
        }
    }
}

/// Results within this factor of the best are as good.
const ALIKE: f64 = 1.1;

/// Whether the whole interval of a ratio to the best is close to 1.
pub(super) fn is_close(ratio: &Estimate) -> bool {
    ratio.low.zip(ratio.high).is_some_and(|(low, high)| low >= ALIKE.recip() && high <= ALIKE)
}

/// Whether a trial is as good as the best: close to it, and no difference shows.
pub(super) fn is_alike(ratio: &Estimate) -> bool {
    is_close(ratio) && !ratio.excludes(1.0)
}
