//! Any bytes as a scenario file: never a panic, and every mistake has a place.
//!
//! Run with `cargo +nightly fuzz run scenario`. A deterministic test of the scenario crate does the same on a small
//! scale.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_scenario::{Metrics, ScenarioFile};

fuzz_target!(|bytes: &[u8]| {
    let checked = ScenarioFile::parse_bytes(bytes, "fuzz.toml").and_then(|file| file.validate(&Metrics::ANY));
    match checked {
        Ok(scenario) => assert!(!scenario.cases().is_empty()),
        Err(mistakes) => {
            assert!(mistakes.list().iter().all(|mistake| mistakes.line_column(mistake).line >= 1));
            assert!(mistakes.draw(false).contains("fuzz.toml"));
        }
    }
});
