//! The plot of congestion windows over time, or of rates.

use crate::detail::{FlowWindow, Windows};
use crate::figure::{Axis, Figure, Scaled, Series};
use crate::text::{count, size};

/// Congestion windows over time, one line per flow; rates instead if rates limit the senders.
#[must_use]
pub fn windows(windows: &Windows) -> Figure {
    let rate = windows.flows.iter().flat_map(|line| &line.rate_gbps).copied().fold(0.0, f64::max);
    let window = windows.flows.iter().flat_map(|line| &line.cwnd_bytes).copied().max().unwrap_or(0) as f64;
    let latest = windows.flows.iter().filter_map(|line| line.time_us.last()).copied().fold(0.0, f64::max);
    let (scaled, time) = (Scaled::fitting(window, "B", false), Scaled::fitting(latest, "us", false));
    let values = |line: &FlowWindow| match rate > 0.0 {
        true => line.rate_gbps.iter().copied().map(Some).collect(),
        false => line.cwnd_bytes.iter().map(|bytes| Some(scaled.of(*bytes as f64))).collect(),
    };
    let line = |line: &FlowWindow| Series {
        name: format!("flow {}", line.flow),
        x: line.time_us.iter().map(|us| time.of(*us)).collect(),
        y: values(line),
        ..Series::default()
    };
    let (id, title, what, unit) = match rate > 0.0 {
        true => ("rates", format!("Senders may send at up to {rate:.1} Gb/s"), "rate", "Gb/s"),
        false => {
            let title = format!("Congestion windows grow up to {}", size(window));
            ("windows", title, "congestion window", scaled.unit.as_str())
        }
    };
    Figure {
        id: id.into(),
        title,
        caption: format!("The senders' {what}, sampled; the first flows to start are shown."),
        samples: format!("{} of {} sampled flows", windows.flows.len(), count(windows.sampled as u64)),
        x: Axis::linear("time", &time.unit),
        y: Axis::linear(what, unit),
        series: windows.flows.iter().map(line).collect(),
        ..Figure::default()
    }
}
