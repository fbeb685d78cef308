//! What the fluid models cost: one run of 64 separate flows, and a map of margins. Knows the facade; knows no equation.

use std::path::Path;

use serde::{Deserialize, Serialize};
use weft::{Error, FluidOptions};

use crate::clock;

/// The scenario.
const FILE: &str = "fluid.toml";
/// Points of the map, as it is asked for.
const RANGES: [&str; 2] = ["flows=2..101:100", "delay=1 us..150 us:1000"];
const POINTS: f64 = 1e5;

/// Times by the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FluidTimes {
    /// 64 flows over 200 ms with their margins, on one thread, seconds.
    pub run_s: f64,
    /// Points of a map per minute, on all cores, its page and table included.
    pub points_per_minute: f64,
}

/// Measures both.
///
/// # Errors
/// When the scenario cannot be read or the map cannot be written.
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
