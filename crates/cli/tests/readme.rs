//! The commands in the README work. Lines of its `sh` blocks that begin with `weft` are run, in order, in one fresh
//! folder that has the repository's scenarios; `make` lines must name a target of the Makefile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands of a document, in order.
fn commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            command if inside && !command.is_empty() => found.push(command.to_string()),
            _ => {}
        }
    }
    found
}

/// An empty folder with a copy of the scenarios.
fn workplace() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("readme");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("scenarios")).expect("the folder can be made");
    for entry in fs::read_dir(root().join("scenarios")).into_iter().flatten().flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), folder.join("scenarios").join(entry.file_name())).expect("it can be read");
        }
    }
    folder
}

fn weft(command: &str, folder: &Path) -> Output {
    let words = command.split_whitespace().skip(1);
    Command::new(env!("CARGO_BIN_EXE_weft")).args(words).current_dir(folder).output().expect("weft starts")
}

#[test]
fn every_weft_command_of_the_readme_works() {
    let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
    let folder = workplace();
    let commands = commands(&readme);
    let typed: Vec<&String> = commands.iter().filter(|command| command.starts_with("weft ")).collect();
    assert!(typed.len() >= 5, "the README shows hardly any command");
    for command in typed {
        let output = weft(command, &folder);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}\n{said}");
    }
}

#[test]
fn every_make_target_of_the_readme_exists() {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("there is a Makefile");
    for document in ["README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(root().join(document)).expect(document);
        for command in commands(&text).iter().filter(|command| command.starts_with("make ")) {
            let target = command.trim_start_matches("make ");
            assert!(
                makefile.lines().any(|line| line.starts_with(&format!("{target}:"))),
                "{document}: {command}"
            );
        }
    }
}

#[test]
fn commands_are_taken_from_shell_blocks_only() {
    let text = "```sh\nweft a\n\nmake b\n```\nweft c\n```text\nweft d\n```\n";
    assert_eq!(commands(text), ["weft a", "make b"]);
}
