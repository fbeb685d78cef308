//! The cost of fluid models: a run of 64 separate flows, and a map of margins. Must not depend on equations.

use std::path::Path;

use serde::{Deserialize, Serialize};
use weft::{Error, FluidOptions};

use crate::clock;

/// The scenario.
const FILE: &str = "fluid.toml";
/// The points of the map, as typed.
const RANGES: [&str; 2] = ["flows=2..101:100", "delay=1 us..150 us:1000"];
const POINTS: f64 = 1e5;

/// Wall-clock times of fluid models.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FluidTimes {
    /// 64 flows over 200 ms with their margins, on one thread, seconds.
    pub run_s: f64,
    /// Points of a map per minute, on all cores, including its page and table.
    pub points_per_minute: f64,
}

/// Measures both.
///
/// # Errors
/// If the scenario cannot be read or the map cannot be written.
pub(crate) fn measure(folder: &Path) -> Result<FluidTimes, Error> {
    let path = folder.join(FILE);
    let options = FluidOptions {
        out: std::env::temp_dir().join("weft-bench"),
        continued: true,
        ..FluidOptions::default()
    };
    let (run, run_s) = clock::timed(|| weft::fluid_numbers(&path, &options, &[0]));
    run?;
    let (map, map_s) = clock::timed(|| weft::fluid_sweep(&path, &options, RANGES));
    map?;
    let _ = std::fs::remove_dir_all(&options.out);
    Ok(FluidTimes { run_s, points_per_minute: 60.0 * POINTS / map_s })
}
