//! Data for the plots of a run beyond its summary, thinned to a size that does not grow with the run: the contents of
//! `detail.json`. Must not depend on pictures.

mod heat;
mod job_chart;
mod network;
mod run_course;
mod slow_flow;
mod windows;

pub use heat::Heat;
pub use job_chart::{JOB_BOUNDS, JOB_WORK, JobChart, PathBar, PhaseTimes, TaskBar, UseCurve};
pub use network::{LinkColumns, NetworkColumns, Nodes};
pub use run_course::{GroupCourse, IncidentMark, RunCourse};
pub use slow_flow::{SIZE_CLASSES, SlowFlow};
pub use windows::{FlowWindow, Windows};

use crate::derived::Kept;
use crate::survey::{FlowStatistics, Tail};
use serde::{Deserialize, Serialize};
use weft_core::record::RunRecord;

/// Thinned data of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The distribution of completion times with a logarithmic tail.
    pub fct_tail: Tail,
    /// The times of the same flows alone in the empty network.
    #[serde(default)]
    pub alone_tail: Tail,
    /// The topology with the load of its links.
    pub network: NetworkColumns,
    /// The slowest flows of each traffic entry and size class, the slowest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slow_flows: Vec<SlowFlow>,
    /// Queue lengths over time, when sampled.
    pub heat: Option<Heat>,
    /// The run over time, when recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<RunCourse>,
    /// Congestion windows over time, when sampled.
    pub windows: Option<Windows>,
    /// Cluster jobs over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobChart>,
}

impl Detail {
    /// Thins a record that holds its flows.
    #[must_use]
    pub fn new(record: &RunRecord) -> Detail {
        Detail::of(record, &FlowStatistics::of(record))
    }

    /// Thins a record, given the statistics of its flows.
    #[must_use]
    pub fn of(record: &RunRecord, flows: &FlowStatistics) -> Detail {
        let course = RunCourse::new(record);
        let drain = course.as_ref().and_then(RunCourse::drain_from_us);
        Detail {
            fct_tail: flows.fct_tail.clone(),
            alone_tail: flows.alone_tail.clone(),
            network: NetworkColumns::new(record),
            slow_flows: flows.slow_flows.iter().map(|flow| SlowFlow::new(record, flow)).collect(),
            heat: record.queues.as_ref().and_then(|series| Heat::new(record, series, drain)),
            course,
            windows: record.flow_series.as_ref().map(Windows::new).filter(|windows| windows.sampled > 0),
            jobs: record.jobs.iter().map(|job| JobChart::new(record, job)).collect(),
        }
    }

    /// Removes what is not kept.
    #[must_use]
    pub fn keeping(mut self, kept: &Kept) -> Detail {
        self.heat = self.heat.filter(|_| kept.queues);
        self
    }
}
