//! Puts the files of every folder below `reproductions/` into the program, so that it needs no checkout to reproduce a
//! paper. A new folder needs no line here.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../reproductions");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut text = String::from("&[\n");
    for folder in entries(&root).into_iter().filter(|path| path.is_dir()) {
        println!("cargo::rerun-if-changed={}", folder.display());
        let _ = writeln!(text, "({:?}, &[", name(&folder));
        let kinds = ["toml", "csv", "txt"];
        let known = |path: &PathBuf| path.extension().is_some_and(|e| kinds.iter().any(|kind| e == *kind));
        for file in entries(&folder).into_iter().filter(known) {
            let _ = writeln!(text, "({:?}, include_str!({file:?})),", name(&file));
        }
        text.push_str("]),\n");
    }
    text.push(']');
    let out = std::env::var("OUT_DIR").expect("cargo gives a folder to write to");
    std::fs::write(Path::new(&out).join("folders.rs"), text).expect("the folder can be written to");
}

/// The contents of a folder, by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
