//! Congestion windows and rates over time, thinned for a plot.

use crate::text::rounded;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use weft_core::FlowId;
use weft_core::record::{FlowSample, FlowSeries};

/// Maximum number of flows in a legible plot; the first to start are drawn.
const MOST_FLOWS: usize = 8;
/// Maximum number of points per line; more would not be visible.
const MOST_POINTS: usize = 1_000;

/// Windows of some flows over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Windows {
    /// The lines.
    pub flows: Vec<FlowWindow>,
    /// Number of flows sampled.
    pub sampled: usize,
}

/// The window of one flow over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowWindow {
    /// Number of the flow.
    pub flow: u32,
    /// Instants, microseconds from the start of the run.
    pub time_us: Vec<f64>,
    /// Congestion window, bytes of payload.
    pub cwnd_bytes: Vec<u64>,
    /// Rate, gigabits per second; empty if a window limits the sender, not a rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rate_gbps: Vec<f64>,
}

impl Windows {
    /// Thins the samples of a run: keeps every n-th sample of each flow.
    #[must_use]
    pub fn new(series: &FlowSeries) -> Windows {
        let flows: BTreeSet<FlowId> = series.rows.iter().map(|row| row.flow).collect();
        let lines = flows.iter().take(MOST_FLOWS).map(|flow| line(series, *flow)).collect();
        Windows { flows: lines, sampled: flows.len() }
    }
}

fn line(series: &FlowSeries, flow: FlowId) -> FlowWindow {
    let rows: Vec<&FlowSample> = series.rows.iter().filter(|row| row.flow == flow).collect();
    let step = rows.len().div_ceil(MOST_POINTS).max(1);
    let kept = rows.iter().step_by(step);
    FlowWindow {
        flow: flow.0,
        time_us: kept.clone().map(|row| rounded(row.time.0 as f64 / 1e6)).collect(),
        cwnd_bytes: kept.clone().map(|row| row.cwnd.0).collect(),
        rate_gbps: kept.filter_map(|row| Some(rounded(row.rate?.gbps()))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, Span, Time};

    #[test]
    fn a_few_flows_are_drawn_with_a_few_points_each() {
        let row = |look: u64, flow: u32| FlowSample {
            time: Time::ZERO + Span::from_ms(10) * look,
            flow: FlowId(flow),
            cwnd: Bytes(look),
            ..FlowSample::default()
        };
        let rows = (0..2_500).flat_map(|look| (0..10).map(move |flow| row(look, flow))).collect();
        let windows = Windows::new(&FlowSeries { every: Span::from_ms(10), rows });
        assert_eq!((windows.flows.len(), windows.sampled), (8, 10));
        let line = &windows.flows[3];
        assert_eq!((line.flow, line.time_us.len()), (3, 834), "every third of 2500");
        assert_eq!((line.time_us[1], line.cwnd_bytes[1]), (30_000.0, 3));
    }
}
