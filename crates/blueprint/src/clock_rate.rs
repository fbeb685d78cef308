//! The clock of a core as people write it.

use std::str::FromStr;

/// Cycles per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockRate(pub(crate) f64);

impl FromStr for ClockRate {
    type Err = String;

    fn from_str(text: &str) -> Result<ClockRate, String> {
        let (number, unit) = text.split_once(' ').ok_or("the unit is part of the value")?;
        let factor = match unit {
            "MHz" => 1e6,
            "GHz" => 1e9,
            other => return Err(format!("`{other}` is not a valid unit here; allowed: MHz, GHz")),
        };
        let number: f64 = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
        let rate = number * factor;
        if (1e6..=1e12).contains(&rate) { Ok(ClockRate(rate)) } else { Err("out of range".to_owned()) }
    }
}
