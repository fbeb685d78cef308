//! The view of a user who only has the `weft` command: files, words and exit codes, never the inside.

mod analyses;
mod benchmarks;
mod comparisons;
mod crashes;
mod epochs;
mod expectations;
mod fluid;
mod imports;
mod interruptions;
mod limits;
mod linting;
mod mistakes;
mod output;
mod recipes;
mod routers;
mod screens;
mod templates;
mod tracing;
mod tuning;

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A sweep of two balancers over a network of four hosts; a run takes milliseconds.
const TINY: &str = r#"weft = 1
name = "tiny"
seeds = [1, 2]

[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 2

[transport.newreno]
initial_rto = "10 ms"
min_rto = "10 ms"

[[traffic]]
tag = "web"
load = 0.5
sizes = "facebook-web"

[measure]
flows = 60
queues_every = "20 us"
record = ["flows", "links", "hops", "queues", "reordering", "drops"]

[sweep]
balance = ["ecmp", "drill"]
"#;

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("behaviour").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A folder with the scenario `tiny.toml`.
fn folder_with(name: &str, scenario: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("tiny.toml"), scenario).expect("writable");
    folder
}

fn command(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(line.split_whitespace()).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The output of a command, and how it ended.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn said(output: &Output) -> Said {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn weft(folder: &Path, line: &str) -> Said {
    said(&command(folder, line).output().expect("weft starts"))
}

/// A command that must succeed; its standard output.
fn good(folder: &Path, line: &str) -> String {
    let Said { code, out, err } = weft(folder, line);
    assert_eq!(code, Some(0), "{line}\n{out}\n{err}");
    out
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|cause| panic!("{}: {cause}", path.display()))
}

/// The folder of a case that has not been made to look old.
fn case_of(root: &Path, case: &str) -> PathBuf {
    let of_case = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.strip_prefix(case).is_some_and(|rest| rest.len() == 9 && rest != "-00000000")
    };
    let mut entries = fs::read_dir(root).expect("results").flatten().map(|entry| entry.path());
    entries.find(of_case).expect("the case is there")
}

/// Every folder of a complete run below a folder, in order.
fn finished(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let partial = folder.extension().is_some_and(|word| word == "partial");
        if folder.join("summary.json").exists() && !partial {
            found.push(folder);
            continue;
        }
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        open.extend(entries.filter(|path| path.is_dir()));
    }
    found.sort();
    found
}
