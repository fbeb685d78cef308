//! Tells the crate which commit it is built from, and a hash over its sources. The commit is empty if the sources are
//! not a git checkout or git is missing; nothing else depends on it.

use std::collections::BTreeSet;
use std::fs;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let told = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    println!("cargo::rustc-env=WEFT_COMMIT={}", told(&["rev-parse", "--short=12", "HEAD"]));
    let head = told(&["rev-parse", "--git-path", "logs/HEAD"]);
    println!("cargo::rerun-if-changed={}", if head.is_empty() { "build.rs" } else { &head });
    println!("cargo::rustc-env=WEFT_SOURCES={:016x}", sources());
}

/// A hash over the sources of this crate and of every crate of the workspace that it needs, and over the versions of all others.
fn sources() -> u64 {
    let mut crates = BTreeSet::new();
    need("weft", &mut crates);
    let mut files = vec![PathBuf::from("../../Cargo.lock")];
    for name in crates {
        let folder = crate_folder(&name);
        println!("cargo::rerun-if-changed={}", folder.join("src").display());
        files.push(folder.join("Cargo.toml"));
        list(&folder.join("src"), &mut files);
    }
    files.iter().for_each(|file| println!("cargo::rerun-if-changed={}", file.display()));
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    for file in &files {
        hash.write(file.to_string_lossy().as_bytes());
        hash.write(&fs::read(file).unwrap_or_default());
    }
    hash.finish()
}

fn crate_folder(name: &str) -> PathBuf {
    Path::new("..").join(name.trim_start_matches("weft-"))
}

/// Adds a crate of the workspace and those it depends on.
fn need(name: &str, crates: &mut BTreeSet<String>) {
    if !crates.insert(name.to_owned()) {
        return;
    }
    let text = fs::read_to_string(crate_folder(name).join("Cargo.toml")).unwrap_or_default();
    let dependencies = text.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    for line in dependencies.take_while(|line| !line.starts_with('[')) {
        let other = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if other.starts_with("weft-") {
            need(other, crates);
        }
    }
}

/// All files below a folder, by name.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() {
            list(&entry, files);
        } else {
            files.push(entry);
        }
    }
}

/// FNV-1a: unlike the hash of the standard library, the same in every version of the compiler.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    }
}
