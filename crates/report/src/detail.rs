//! What plots of a run need beyond its summary, thinned to a size that does not grow with the run: the contents of
//! `detail.json`. Knows records, not pictures.

mod heat;
mod network;
mod tail;
mod windows;

pub use heat::Heat;
pub use network::{Links, Network, Nodes};
pub(crate) use tail::Thinning;
pub use tail::{Tail, shares};
pub use windows::{FlowWindow, Windows};

use crate::survey::FlowStatistics;
use crate::tables::Kept;
use serde::{Deserialize, Serialize};
use weft_core::record::RunRecord;

/// Thinned data of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The distribution of completion times with a logarithmic tail.
    pub fct_tail: Tail,
    /// The topology with the load of its links.
    pub network: Network,
    /// Queue lengths over time, when sampled.
    pub heat: Option<Heat>,
    /// Congestion windows over time, when sampled.
    pub windows: Option<Windows>,
}

impl Detail {
    /// Thins a record that holds its flows.
    #[must_use]
    pub fn new(record: &RunRecord) -> Detail {
        Detail::of(record, &FlowStatistics::of(record))
    }

    /// Thins a record; of its flows only the statistics are needed.
    #[must_use]
    pub fn of(record: &RunRecord, flows: &FlowStatistics) -> Detail {
        Detail {
            fct_tail: flows.fct_tail.clone(),
            network: Network::new(record),
            heat: record.queues.as_ref().and_then(|series| Heat::new(record, series)),
            windows: record.flow_series.as_ref().map(Windows::new).filter(|windows| windows.sampled > 0),
        }
    }

    /// Leaves out what is not to be kept.
    #[must_use]
    pub fn keeping(mut self, kept: &Kept) -> Detail {
        self.heat = self.heat.filter(|_| kept.queues);
        self
    }
}

/// `value` rounded to five significant digits, to keep files small.
pub(crate) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    // the shortest text of the rounded value has at most five digits
    format!("{rounded:.5e}").parse().unwrap_or(rounded)
}
