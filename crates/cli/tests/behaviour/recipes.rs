//! The recipes of the book work on the output of a run.

#[path = "../skip/mod.rs"]
mod skipping;

use crate::{folder, good};
use skipping::skip;
use std::path::{Path, PathBuf};
use std::process::Command;

const PAGE: &str = include_str!("../../../../docs/src/reading-results.md");

/// The Python of `make setup`, if it is there.
fn python() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let python = target.join("python/bin/python");
    python.exists().then_some(python)
}

/// The blocks of a language.
fn blocks(language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    let parts = PAGE.split(&opening).skip(1);
    parts.map(|part| part.split("```").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_recipes_read_the_tables_of_a_sweep() {
    let folder = folder("recipes");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let command = blocks("sh").concat().replace("scenarios/", &format!("{}/scenarios/", root.display()));
    good(&folder, command.trim().strip_prefix("weft ").expect("a command of Weft"));
    let recipes = blocks("python");
    assert_eq!(recipes.len(), 4);
    let Some(python) = python() else {
        return skip("no target/python (make setup)");
    };
    for recipe in recipes {
        let said =
            Command::new(&python).args(["-c", &recipe]).current_dir(&folder).output().expect("Python starts");
        assert!(said.status.success(), "{recipe}\n{}", String::from_utf8_lossy(&said.stderr));
    }
}
