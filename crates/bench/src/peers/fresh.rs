//! Whether the page is up to date, without the minutes it takes to write it: a fingerprint of its text, the others'
//! figures, the scenarios, and the results of their reduced forms.

use std::fs;
use std::path::Path;

use weft::Error;
use weft_core::Checksum;

use super::causes::{RULES, VARIATIONS};
use super::measured::reduced;
use super::{NEWRENO, R1_SEEDS, R2_SEEDS, cards};

/// Text and figures in the page.
const TEXTS: [&str; 7] = [
    include_str!("introduction.txt"),
    include_str!("alike.txt"),
    include_str!("variations.txt"),
    include_str!("reasons.txt"),
    include_str!("cost.txt"),
    include_str!("completion.csv"),
    include_str!("cost.csv"),
];

/// Scenarios and their traces.
const FILES: [&str; 4] = ["r1.toml", "r2.toml", "R1.csv", "R2.csv"];

/// A fingerprint of everything in the page; takes a second to compute.
///
/// # Errors
/// If the scenarios below `from` cannot be read.
pub(super) fn fingerprint(from: &Path) -> Result<String, Error> {
    let mut hash = Checksum::default();
    let mut take = |text: &str| hash = hash.with(text.as_bytes());
    TEXTS.iter().for_each(|text| take(text));
    for file in FILES {
        let path = from.join(file);
        let text = fs::read_to_string(&path)
            .map_err(|cause| Error::BadInput(format!("{}: {cause}", path.display())))?;
        take(&text);
    }
    take(&format!("{VARIATIONS:?} {RULES:?} {} {R1_SEEDS} {R2_SEEDS}", cards::in_order()));
    let plain: [(&str, &[&str]); 5] = [
        ("r1", &[]),
        ("r1", &[NEWRENO, "switch.ecn=off"]),
        ("r1-spray", &[]),
        ("r1-drill", &[]),
        ("r2", &[]),
    ];
    let ruled = RULES.iter().map(|rules| ("r2", rules.set));
    for (case, set) in plain.into_iter().chain(ruled) {
        take(&format!("{case} {set:?} {:?}", reduced(from, case, set)?));
    }
    Ok(format!("{:016x}", hash.value()))
}
