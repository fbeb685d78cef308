//! The plots of congestion windows and of rates over time.

use crate::detail::{FlowWindow, Windows};
use crate::figure::{Axis, Figure, Scaled, Series};
use crate::text::{count, size};

/// Rates over time, one line per flow, if rates and not windows limit the senders.
#[must_use]
pub fn rates(windows: &Windows) -> Option<Figure> {
    let greatest = windows.flows.iter().flat_map(|line| &line.rate_gbps).copied().fold(0.0, f64::max);
    if greatest == 0.0 {
        return None;
    }
    let latest = windows.flows.iter().filter_map(|line| line.time_us.last()).copied().fold(0.0, f64::max);
    let time = Scaled::fitting(latest, "us", false);
    let line = |line: &FlowWindow| Series {
        name: format!("flow {}", line.flow),
        x: line.time_us.iter().map(|us| time.of(*us)).collect(),
        y: line.rate_gbps.iter().copied().map(Some).collect(),
        ..Series::default()
    };
    Some(Figure {
        id: "rates".into(),
        title: format!("Senders may send at up to {greatest:.1} Gb/s"),
        caption: "Rate on the wire that the rate law allows, sampled; the first flows to start are shown."
            .into(),
        samples: format!("{} of {} sampled flows", windows.flows.len(), count(windows.sampled as u64)),
        x: Axis::linear("time", &time.unit),
        y: Axis::linear("rate", "Gb/s"),
        series: windows.flows.iter().map(line).collect(),
        ..Figure::default()
    })
}

/// Congestion windows over time, one line per flow; `None` if rates limit the senders.
#[must_use]
pub fn windows(windows: &Windows) -> Option<Figure> {
    if windows.flows.iter().any(|line| !line.rate_gbps.is_empty()) {
        return None;
    }
    let greatest = windows.flows.iter().flat_map(|line| &line.cwnd_bytes).copied().max().unwrap_or(0);
    let latest = windows.flows.iter().filter_map(|line| line.time_us.last()).copied().fold(0.0, f64::max);
    let (scaled, time) = (Scaled::fitting(greatest as f64, "B", false), Scaled::fitting(latest, "us", false));
    let line = |line: &FlowWindow| Series {
        name: format!("flow {}", line.flow),
        x: line.time_us.iter().map(|us| time.of(*us)).collect(),
        y: line.cwnd_bytes.iter().map(|bytes| Some(scaled.of(*bytes as f64))).collect(),
        ..Series::default()
    };
    Some(Figure {
        id: "windows".into(),
        title: format!("Congestion windows grow up to {}", size(greatest as f64)),
        caption: "Congestion window of senders, sampled; the first flows to start are shown.".into(),
        samples: format!("{} of {} sampled flows", windows.flows.len(), count(windows.sampled as u64)),
        x: Axis::linear("time", &time.unit),
        y: Axis::linear("congestion window", &scaled.unit),
        series: windows.flows.iter().map(line).collect(),
        ..Figure::default()
    })
}
