//! The completion times of a run's flows under ideal schedules.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_statistics::Distribution;

use super::FlowMeasure;

/// Mean completion times of the measured flows that finished under ideal schedules of their payload, without headers or
/// delays, microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdealTimes {
    /// No schedule has a lower mean: shortest remaining first (SRPT) at the links on which hosts send, or at those on
    /// which they receive, or every flow alone in the empty network, whichever is greatest.
    pub bound_us: f64,
    /// That bound for flows up to 100 kB alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub small_us: Option<f64>,
    /// For flows above 100 kB, up to 10 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium_us: Option<f64>,
    /// For flows above 10 MB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub large_us: Option<f64>,
    /// The mean under each of the schedules of `measure.ideals`, by the last word of its metric.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schedules: BTreeMap<String, f64>,
}

impl IdealTimes {
    /// Lower bounds from ideal schedules, each raised to the mean completion time of the flows alone in an empty
    /// network where that is greater.
    pub(crate) fn or_alone(self, alone: &FlowMeasure) -> IdealTimes {
        let greater = |bound: Option<f64>, alone: &Distribution| Some(bound?.max(alone.mean?));
        IdealTimes {
            bound_us: alone.all.mean.map_or(self.bound_us, |alone| alone.max(self.bound_us)),
            small_us: greater(self.small_us, &alone.small),
            medium_us: greater(self.medium_us, &alone.medium),
            large_us: greater(self.large_us, &alone.large),
            ..self
        }
    }

    /// Its metrics.
    pub(crate) fn named(&self) -> Vec<(String, f64)> {
        let of_size = [Some(self.bound_us), self.small_us, self.medium_us, self.large_us];
        let names = ["bound", "bound.small", "bound.medium", "bound.large"];
        let bounds = names.into_iter().zip(of_size).filter_map(|(name, value)| Some((name, value?)));
        let schedules = self.schedules.iter().map(|(name, mean)| (name.as_str(), *mean));
        bounds.chain(schedules).map(|(name, value)| (format!("ideal.{name}"), value)).collect()
    }
}
