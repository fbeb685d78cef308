//! Lines `random-detect`: thresholds in bytes, in cells of the chip, or in time at the speed of a port.
//!
//! Cells: 208 bytes on Trident 2, Tomahawk and Tomahawk 2, 256 on Trident 3 (Juniper on its QFX switches with these
//! chips). The switch model in the first lines of a running configuration identifies the chip: `! device: leaf1
//! (DCS-7050SX3-48YC8, EOS-4.30)`.

use super::Reader;
use crate::model::MarkingProfile;
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// Size of a cell if the chip is unknown.
pub(super) const CELL: Bytes = Bytes(208);
const LARGER_CELL: Bytes = Bytes(256);

/// The cell size of the switch named in a comment, if its chip is known.
pub(super) fn cell_of(comment: &str) -> Option<Bytes> {
    let model = comment.split_once("device:")?.1.split_once('(')?.1;
    let model = model.split([',', ')']).next()?.trim().trim_start_matches("DCS-");
    let series: String = model.chars().take_while(char::is_ascii_digit).collect();
    let rest = model[series.len()..].split('-').next()?;
    let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    let generation = &rest[letters.len()..];
    match (series.as_str(), letters.is_empty(), generation) {
        ("7050" | "7300", false, "3") => Some(LARGER_CELL),
        ("7050" | "7300", false, "" | "2") | ("7060" | "7260", false, "" | "2") | ("7260", false, "3") => {
            Some(CELL)
        }
        _ => None,
    }
}

/// A threshold as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threshold {
    Bytes(Bytes),
    Cells(u64),
    Time(Span),
}

/// A line `random-detect`.
#[derive(Clone, Debug)]
pub(super) struct Detect {
    at: Spot,
    pub(super) queue: u8,
    /// The profile or interface above it.
    of: String,
    /// Whether it marks; otherwise it drops.
    pub(super) ecn: bool,
    min: Threshold,
    max: Threshold,
    probability: f64,
}

impl Detect {
    /// Parses what follows `random-detect ecn` or `drop`.
    pub(super) fn read((at, queue): (Spot, u8), (ecn, of): (bool, &str), words: &[&str]) -> Option<Detect> {
        let Told { min: Some(min), max: Some(max), percent } = told(words)? else { return None };
        let probability = percent.unwrap_or(100.0) / 100.0;
        Some(Detect { at, queue, of: of.to_owned(), ecn, min, max, probability })
    }

    /// The key by which lines are identical: below several interfaces they are one marking, below each profile one of
    /// its own.
    pub(super) fn key(&self, profile: bool) -> String {
        let of = if profile { self.of.as_str() } else { "" };
        format!("{} {} {:?} {:?} {} {of}", self.queue, self.ecn, self.min, self.max, self.probability)
    }

    /// Whether its thresholds are times, and lengths only at a given speed.
    pub(super) fn is_time(&self) -> bool {
        [self.min, self.max].iter().any(|threshold| matches!(threshold, Threshold::Time(_)))
    }

    fn in_cells(&self) -> bool {
        [self.min, self.max].iter().any(|threshold| matches!(threshold, Threshold::Cells(_)))
    }

    /// The marking at a port's speed; `None` if the speed is needed and unknown.
    pub(super) fn marking(&self, speed: Option<Rate>, reader: &Reader) -> Option<MarkingProfile> {
        let bytes = |threshold| match threshold {
            Threshold::Bytes(bytes) => Some(bytes),
            Threshold::Cells(cells) => Some(reader.cell.unwrap_or(CELL) * cells),
            Threshold::Time(span) => speed.map(|rate| rate.bytes_in(span)),
        };
        let place = |value| Placed { value, at: self.at };
        let name = match reader.profiles.contains_key(&self.of) {
            true => format!("tx-queue {} of {}", self.queue, self.of),
            false => format!("tx-queue {}", self.queue),
        };
        Some(MarkingProfile {
            at: self.at,
            name,
            ecn: self.ecn,
            disabled: None,
            unmarked: Vec::new(),
            bound_elsewhere: false,
            min: place(bytes(self.min)?),
            max: place(bytes(self.max)?),
            probability: Placed { value: self.probability, at: self.at },
            drops_non_ect: !reader.allows_non_ect,
            drops_early: !self.ecn,
            at_enqueue: false,
        })
    }
}

/// Remarks on the assumed size of cells.
pub(super) fn remarks(reader: &Reader) -> Vec<String> {
    let cells = reader.detects.iter().any(Detect::in_cells) || !reader.memories.is_empty();
    match cells && reader.cell.is_none() {
        true => vec![format!(
            "cells and segments are taken as {CELL}: no line names a switch with a known chip (--cell)"
        )],
        false => Vec::new(),
    }
}

/// What a line tells, each with a keyword before it.
#[derive(Default)]
struct Told {
    min: Option<Threshold>,
    max: Option<Threshold>,
    percent: Option<f64>,
}

/// Parses the words of a line; `None` if any of them is unknown or invalid.
fn told(mut words: &[&str]) -> Option<Told> {
    let mut told = Told::default();
    while !words.is_empty() {
        words = match words {
            ["minimum-threshold", number, unit, rest @ ..] => {
                told.min = Some(threshold(number, unit)?);
                rest
            }
            ["maximum-threshold", number, unit, rest @ ..] => {
                told.max = Some(threshold(number, unit)?);
                rest
            }
            ["max-mark-probability" | "drop-probability", percent, rest @ ..] => {
                let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                told.percent = Some(percent?);
                rest
            }
            ["weight" | "drop-precedence", number, rest @ ..] => {
                number.parse::<u32>().ok()?;
                rest
            }
            _ => return None,
        };
    }
    Some(told)
}

/// Parses a threshold.
fn threshold(number: &str, unit: &str) -> Option<Threshold> {
    let number: u64 = number.parse().ok().filter(|number| *number <= 1_000_000_000)?;
    match unit {
        "bytes" => Some(Threshold::Bytes(Bytes(number))),
        "kbytes" => Some(Threshold::Bytes(Bytes(number * 1_000))),
        "mbytes" => Some(Threshold::Bytes(Bytes(number * 1_000_000))),
        "segments" => Some(Threshold::Cells(number)),
        "milliseconds" => Some(Threshold::Time(Span::from_us(number.min(1_000_000) * 1_000))),
        "microseconds" => Some(Threshold::Time(Span::from_us(number))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_tells_the_cell() {
        for (model, bytes) in [
            ("DCS-7050SX3-48YC8", Some(256)),
            ("DCS-7050CX3-32S", Some(256)),
            ("DCS-7050QX-32S", Some(208)),
            ("DCS-7050TX2-128", Some(208)),
            ("DCS-7060CX-32S", Some(208)),
            ("DCS-7260CX3-64", Some(208)),
            ("DCS-7060DX4-32", None),
            ("DCS-7280SR-48C6", None),
            ("vEOS-lab", None),
            ("", None),
        ] {
            let line = format!("! device: leaf1 ({model}, EOS-4.30.1F)");
            assert_eq!(cell_of(&line), bytes.map(Bytes), "{model}");
        }
        assert_eq!(cell_of("! device: leaf1"), None);
    }
}
