//! Any bytes as a configuration file of each kind: never a panic, every refusal names the file, every finding has a
//! place, and the answers stay in proportion.
//!
//! Run with `cargo +nightly fuzz run lint`. The first byte selects the kind of the rest. Deterministic tests of the
//! lint crate do the same on a small scale (`tests/hostile.rs`).

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_lint::{FileKind, Input, RuleOptions, lint};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let (_, kind) = FileKind::WORDS[usize::from(*first) % FileKind::WORDS.len()];
    let text = String::from_utf8_lossy(rest).into_owned();
    let size = text.len();
    let input = Input { name: "fuzz".into(), text, kind: Some(kind) };
    match lint(vec![input], &RuleOptions::default()) {
        Err(refused) => {
            assert!(!refused.0.is_empty() && refused.0.iter().all(|line| line.contains("fuzz")), "{refused}");
        }
        Ok(report) => {
            assert!(report.findings.iter().all(|finding| finding.line >= 1 && finding.column >= 1));
            // A short scenario may have a large network, whose ports are named one by one.
            let answer = if kind == FileKind::Scenario {
                0
            } else {
                report.text().len() + report.json().len() + report.sarif("0").len()
            };
            assert!(answer < 100_000 + 200 * size, "{answer} bytes about {size}");
        }
    }
});
