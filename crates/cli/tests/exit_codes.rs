//! Exit codes and streams: 0 good, 1 failed, 2 bad input; results on standard output, complaints on standard error.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn weft(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("weft starts")
}

/// An empty folder of this test's own.
fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

#[test]
fn a_command_line_that_cannot_be_understood_is_bad_input() {
    let folder = empty_folder("bad-command-lines");
    for line in [
        vec!["frobnicate"],
        vec![],
        vec!["run"],
        vec!["run", "x.toml", "--jobs", "0"],
        vec!["run", "x.toml", "--seed", "1,two"],
        vec!["run", "x.toml", "--progress", "loud"],
        vec!["check", "x.toml", "--format", "xml"],
        vec!["compare", "only-one"],
        vec!["import", "hpcc"],
        vec!["router", "show", "porst"],
        vec!["router", "show", "porst", "r.toml"],
    ] {
        let output = weft(&line, &folder);
        assert_eq!(output.status.code(), Some(2), "{line:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{line:?}");
    }
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let folder = empty_folder("completions");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = weft(&["completions", shell], &folder);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(script.contains("explain") && script.contains("progress"), "{shell}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = empty_folder("man");
    assert_eq!(weft(&["man", "deep/pages"], &folder).status.code(), Some(0));
    for page in ["weft.1", "weft-run.1", "weft-check.1", "weft-compare.1", "weft-import.1"] {
        let text = std::fs::read_to_string(folder.join("deep/pages").join(page)).expect(page);
        assert!(text.contains(".TH") && text.contains("SYNOPSIS"), "{page}");
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_a_failure_and_named() {
    let folder = empty_folder("man-refused");
    std::fs::write(folder.join("taken"), "a file, not a folder").expect("the file can be written");
    let output = weft(&["man", "taken"], &folder);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken"));
}

#[test]
fn with_json_progress_every_line_of_standard_error_is_an_object() {
    let folder = empty_folder("json-progress");
    let output = weft(&["run", "absent.toml", "--progress", "json"], &folder);
    assert_ne!(output.status.code(), Some(0));
    let stderr = String::from_utf8(output.stderr).expect("text");
    let lines: Vec<serde_json::Value> =
        stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(lines.last().is_some_and(|last| last["error"].is_string()), "{stderr}");
}
