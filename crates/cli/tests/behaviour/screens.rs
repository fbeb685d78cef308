//! Only text reaches a screen, whatever files, names and arguments contain; and a failed write is an error.

use crate::{TINY, command, folder, folder_with, good, said, text, weft};
use std::fs;
use std::path::Path;
use std::process::Stdio;

/// Clears the screen, sets the title, turns the direction of text around.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}";

fn assert_text(what: &str, text: &str) {
    let bad = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(bad), "{what}: {text:?}");
}

#[test]
fn no_command_passes_control_characters_on() {
    // TOML wants control characters escaped in a text; those of direction may stand as they are
    let escaped = "\\u001b[2J\\u001b]0;title\\u0007\u{202e}";
    let scenario =
        TINY.replace("name = \"tiny\"", &format!("name = \"tiny\"\nabout = \"{escaped}\"")).replace(
            "[sweep]\nbalance = [\"ecmp\", \"drill\"]",
            &format!(
                "[sweep]\nmode = \"cases\"\ncase = [\n  \
             {{ name = \"{escaped}\", balance = \"ecmp\" }},\n  {{ name = \"b\", balance = \"drill\" }},\n]"
            ),
        );
    let folder = folder_with("evil", &scenario);
    fs::write(folder.join("bad.toml"), format!("weft = 1\n{EVIL} = 3\nname = {EVIL}\n")).expect("writable");
    fs::write(folder.join("bad.txt"), format!("4 1 3\n{EVIL}\n")).expect("writable");
    fs::write(
        folder.join("config_db.json"),
        format!("{{\"PORT\": {{\"{escaped}\": {{\"speed\": \"x\"}}}}}}"),
    )
    .expect("writable");
    fs::write(folder.join("sysctl.conf"), format!("net.{EVIL} = 3\n")).expect("writable");
    let lines = [
        "run tiny.toml",
        "run tiny.toml",
        "run tiny.toml --progress json --seed 9",
        "check tiny.toml",
        "check bad.toml",
        "check bad.toml --format json",
        "explain tiny.toml",
        "explain tiny.toml \u{1b}[2J",
        "list \u{1b}[2J",
        "report runs/tiny",
        "compare runs/tiny runs/tiny",
        "import hpcc bad.txt bad.txt",
        "lint config_db.json",
        "lint config_db.json --format json",
        "lint sysctl.conf",
        "lint bad.toml",
        "new \u{1b}[2J",
        "run \u{1b}[2J.toml",
        "run tiny.toml --set \u{1b}[2J=1",
        "run tiny.toml --\u{1b}[2J",
        "\u{1b}[2J",
        "analyse quiver tiny.toml",
        "fluid margin tiny.toml",
        "reproduce \u{1b}[2J",
        "bench \u{1b}[2J",
    ];
    for line in lines {
        let said = weft(&folder, line);
        assert_text(line, &said.out);
        assert_text(line, &said.err);
        assert!(!said.out.is_empty() || !said.err.is_empty(), "{line} says something");
    }
}

/// The sources of the command line print in one place only.
#[test]
fn one_file_prints() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for entry in fs::read_dir(sources).expect("sources").flatten() {
        let (path, code) = (entry.path(), text(&entry.path()));
        for word in ["print!(", "println!(", "stdout()", "stderr()", "dbg!("] {
            assert!(path.ends_with("console.rs") || !code.contains(word), "{} uses {word}", path.display());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error() {
    let folder = folder_with("full", TINY);
    fs::write(folder.join("topology.txt"), "3 1 2\n2\n0 2 10Gbps 1us 0\n1 2 10Gbps 1us 0\n")
        .expect("writable");
    fs::write(folder.join("sysctl.conf"), "net.ipv4.tcp_ecn = 1\n").expect("writable");
    good(&folder, "run tiny.toml");
    let lines = [
        "--help",
        "--version",
        "new hello",
        "check tiny.toml",
        "check tiny.toml --format json",
        "run tiny.toml",
        "explain tiny.toml",
        "list",
        "list balancers",
        "report runs/tiny",
        "compare runs/tiny runs/tiny",
        "lint sysctl.conf --format json",
        "completions bash",
        "reproduce",
        "analyse quiver tiny.toml",
        "lint --explain",
        "man pages",
    ];
    for line in lines {
        let full = fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let said = said(&command(&folder, line).stdout(Stdio::from(full)).output().expect("weft starts"));
        assert_eq!(said.code, Some(1), "{line}: {}", said.err);
        assert!(said.err.contains("cannot write to standard output"), "{line}: {}", said.err);
    }
}

#[test]
fn the_command_in_a_manifest_repeats_the_run_in_a_shell() {
    let folder = folder("shell");
    let name = "it's $(touch X).toml";
    fs::write(folder.join(name), TINY).expect("writable");
    let mut first = command(&folder, "run");
    assert_eq!(first.arg(name).output().expect("weft starts").status.code(), Some(0));
    let manifest = crate::json(&crate::finished(&folder.join("runs"))[0].join("manifest.json"));
    let line = manifest["command"].as_str().expect("a command").replacen("weft", "\"$0\"", 1);
    let shell = std::process::Command::new("sh")
        .args(["-c", &line, env!("CARGO_BIN_EXE_weft")])
        .current_dir(&folder)
        .output();
    let out = said(&shell.expect("sh starts"));
    assert_eq!(out.code, Some(0), "{line}\n{}", out.err);
    assert!(out.out.contains("report: ") && !folder.join("X").exists(), "{}", out.out);
}
