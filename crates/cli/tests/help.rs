//! Every command has one screen of help with examples, and the committed screens in `help/` are what users see.
//!
//! `WEFT_BLESS=1 cargo test -p weft-cli --test help` writes the screens again after an intended change.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

const COMMANDS: [&str; 20] = [
    "lab",
    "router",
    "run",
    "trace",
    "check",
    "lint",
    "explain",
    "list",
    "analyse",
    "fluid",
    "tune",
    "report",
    "reproduce",
    "compare",
    "new",
    "import",
    "bench",
    "vectors",
    "completions",
    "man",
];

fn help_of(command: &[&str]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_weft")).args(command).arg("--help").output().expect("weft starts");
    assert_eq!(output.status.code(), Some(0));
    String::from_utf8(output.stdout).expect("help is text")
}

fn assert_equals_committed(name: &str, screen: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/help").join(format!("{name}.txt"));
    if std::env::var_os("WEFT_BLESS").is_some() {
        fs::write(&path, screen).expect("the screen can be written");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        committed, screen,
        "the help of {name} changed; if intended, bless it (see the top of this file)"
    );
}

#[test]
fn the_first_screen_is_the_committed_one_and_names_every_command() {
    let screen = help_of(&[]);
    assert_equals_committed("weft", &screen);
    for command in COMMANDS {
        assert!(screen.contains(&format!("\n  {command} ")), "{command} is missing");
    }
}

#[test]
fn every_analysis_has_one_screen_with_examples() {
    for subject in ["quiver", "stability"] {
        let screen = help_of(&["analyse", subject]);
        assert!(screen.lines().count() <= 45, "{subject}: more than a screen and a half");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{subject}: wider than 80 columns");
        assert!(screen.contains("Examples:\n  weft analyse "), "{subject}: no examples");
        assert_equals_committed(&format!("analyse-{subject}"), &screen);
    }
}

#[test]
fn the_bench_of_the_router_has_a_screen_of_its_own() {
    let screen = help_of(&["bench", "router"]);
    assert!(
        screen.lines().count() <= 30 && screen.lines().all(|line| line.chars().count() <= 80),
        "{screen}"
    );
    assert!(screen.contains("Examples:\n  weft bench router ") && !screen.contains("--threads"), "{screen}");
    assert_equals_committed("bench-router", &screen);
}

#[test]
fn every_command_has_one_screen_with_examples() {
    for command in COMMANDS {
        let screen = help_of(&[command]);
        assert!(screen.lines().count() <= 30, "{command}: more than a screen");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{command}: wider than 80 columns");
        assert!(screen.contains("Examples:\n  weft "), "{command}: no examples");
        assert_equals_committed(command, &screen);
    }
}
