//! Damaged files: never a panic, always a place. The deterministic little brother of the fuzz target.

use crate::schema::root;
use weft_core::{Purpose, Random};
use weft_scenario::{Metrics, Mistakes, ScenarioFile};

const ROUNDS: usize = 3_000;
/// Pieces that break things in interesting ways.
const PIECES: &[&str] = &[
    "",
    "\"",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    "\n",
    ".",
    ",",
    "#",
    "-1",
    "99999999999999999999",
    "nan",
    "inf",
    "\"µ\"",
    "\0",
    "true",
    "false",
    "1e999",
    "''",
    "\"\"\"",
    "[sweep]\n",
    "[[traffic]]\n",
    "[[expect]]\n",
    "[demo]\n",
    "kind = \"list\"\n",
    "0x",
    "1979-05-27",
    "tag",
    "\"0 ps\"",
    "\"18446744073709551615 ps\"",
];

fn corpus() -> Vec<String> {
    let folder = std::fs::read_dir(root().join("fuzz/corpus/scenario")).expect("the repository has a corpus");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("readable").path()).collect();
    paths.sort();
    let text = |path| String::from_utf8_lossy(&std::fs::read(path).expect("readable")).into_owned();
    paths.iter().map(text).collect()
}

/// Cuts, doubles, replaces or inserts at a random position.
fn damaged(text: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let length = bytes.len() as u32;
        let from = random.below(length + 1) as usize;
        let to = (from + random.below(20) as usize).min(bytes.len());
        let piece = PIECES[random.below(PIECES.len() as u32) as usize].as_bytes();
        match random.below(4) {
            0 => drop(bytes.splice(from..to, [])),
            1 => drop(bytes.splice(from..from, bytes[from..to].to_vec())),
            2 => drop(bytes.splice(from..to, piece.to_vec())),
            _ => drop(bytes.splice(from..from, piece.to_vec())),
        }
    }
    bytes
}

fn every_mistake_has_a_line(mistakes: &Mistakes) {
    assert!(!mistakes.list().is_empty());
    for mistake in mistakes.list() {
        assert!(mistakes.line_column(mistake).line >= 1);
        assert!(!mistake.message.is_empty());
    }
    assert!(mistakes.draw(false).contains("test.toml"));
    serde_json::from_str::<serde_json::Value>(&mistakes.json()).expect("the list is JSON");
}

#[test]
fn damaged_files_are_refused_with_places_or_accepted_but_never_crash() {
    let (corpus, mut random) = (corpus(), Random::new(1, Purpose::Test, 0));
    let (mut refused, mut accepted) = (0, 0);
    for round in 0..ROUNDS {
        let bytes = damaged(&corpus[round % corpus.len()], &mut random);
        let checked =
            ScenarioFile::parse_bytes(&bytes, "test.toml").and_then(|file| file.validate(&Metrics::ANY));
        match checked {
            Ok(_) => accepted += 1,
            Err(mistakes) => {
                every_mistake_has_a_line(&mistakes);
                refused += 1;
            }
        }
    }
    assert!(refused > ROUNDS / 4 && accepted > ROUNDS / 50, "{refused} refused, {accepted} accepted");
}
