//! The shape of the code: short functions, short files, a first paragraph in every file, and names that are
//! meaningful and unique. Test code is not measured; a table test may be long.
//!
//! The limits are those of readable code bases: half of all functions fit in 8 lines and one in a hundred exceeds 75.

mod measure;
mod names;

use crate::{Verdict, sources};
use measure::FileShape;
pub(crate) use measure::is_for_tests;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const MEDIAN: usize = 8;
const P99: usize = 75;
const LONGEST: usize = 100;
const FILE: usize = 400;
const CRATE: usize = 6500;

/// Words that carry no meaning in a name.
const EMPTY_WORDS: &[&str] =
    &["manager", "handler", "helper", "helpers", "util", "utils", "common", "impl", "base"];

/// One crate's numbers.
#[derive(Default)]
struct Shape {
    files: usize,
    lines: usize,
    functions: Vec<usize>,
}

/// Measures every source file of the workspace.
pub(crate) fn check(root: &Path) -> Verdict {
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    let mut complaints = Vec::new();
    let mut declarations = names::Declarations::default();
    for (path, measured) in product_files(root)? {
        let shown = sources::shown(&path, root);
        declarations.add(&shown, &measured.types);
        complaints.extend(complaints_about(&shown, &measured));
        let shape = shapes.entry(crate_of(&shown)).or_default();
        shape.files += 1;
        shape.lines += measured.lines;
        shape.functions.extend(measured.functions.iter().map(|function| function.lines));
    }
    complaints.extend(complaints_about_totals(&shapes));
    complaints.extend(declarations.complaints());
    let table = table(&shapes);
    if complaints.is_empty() {
        return Ok(table);
    }
    complaints.insert(0, table);
    Err(complaints)
}

/// The files that belong to the product, measured: no test folders, no files that only tests include.
fn product_files(root: &Path) -> Result<Vec<(PathBuf, FileShape)>, Vec<String>> {
    let mut measured = Vec::new();
    let mut only_tests = BTreeSet::new();
    for path in ["crates", "xtask"].iter().flat_map(|folder| sources::files(&root.join(folder), "rs")) {
        if path
            .components()
            .any(|part| ["tests", "benches", "examples"].iter().any(|t| part.as_os_str() == *t))
        {
            continue;
        }
        let one = measure::file(&sources::read(&path)?)
            .map_err(|error| vec![format!("{}: {error}", sources::shown(&path, root))])?;
        only_tests.extend(one.test_modules.iter().flat_map(|name| module_paths(&path, name)));
        measured.push((path, one));
    }
    measured.retain(|(path, _)| !only_tests.contains(path));
    Ok(measured)
}

/// The possible files of `mod name;` in the file at `path`.
fn module_paths(path: &Path, name: &str) -> [PathBuf; 2] {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let folder = match stem {
        "lib" | "main" | "mod" => path.with_file_name(""),
        other => path.with_file_name(other),
    };
    [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]
}

/// `crates/switch/src/balance.rs` -> `switch`
fn crate_of(shown: &str) -> String {
    let mut parts = shown.split('/');
    match (parts.next(), parts.next()) {
        (Some("crates"), Some(name)) => name.into(),
        (Some(name), _) => name.into(),
        (None, _) => String::new(),
    }
}

fn complaints_about(shown: &str, measured: &FileShape) -> Vec<String> {
    let mut complaints = Vec::new();
    if !measured.has_purpose {
        complaints.push(format!("{shown}: begins without //! (what it is for, what it must not know)"));
    }
    if measured.lines > FILE {
        complaints.push(format!("{shown}: {} lines without tests, at most {FILE}", measured.lines));
    }
    for function in measured.functions.iter().filter(|function| function.lines > LONGEST) {
        let (line, name, lines) = (function.line, &function.name, function.lines);
        complaints.push(format!("{shown}:{line}: `{name}` has {lines} lines, at most {LONGEST}"));
    }
    let file_name = Path::new(shown).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    for name in
        measured.types.iter().map(|found| &found.name).chain(&file_name).filter(|name| says_nothing(name))
    {
        complaints.push(format!(
            "{shown}: the name `{name}` has a word that says nothing ({})",
            EMPTY_WORDS.join(", ")
        ));
    }
    complaints
}

/// Whether one of the words of a name (snake case or camel case) is empty.
fn says_nothing(name: &str) -> bool {
    let mut spaced = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() || letter == '_' || letter == '-' {
            spaced.push(' ');
        }
        spaced.extend(letter.to_lowercase().filter(|c| c.is_alphanumeric()));
    }
    spaced.split_whitespace().any(|word| EMPTY_WORDS.contains(&word))
}

fn complaints_about_totals(shapes: &BTreeMap<String, Shape>) -> Vec<String> {
    let all = sorted(shapes.values().flat_map(|shape| shape.functions.iter().copied()));
    let mut complaints = Vec::new();
    if quantile(&all, 50) > MEDIAN {
        complaints
            .push(format!("half of all functions exceed {MEDIAN} lines (median {})", quantile(&all, 50)));
    }
    if quantile(&all, 99) > P99 {
        complaints.push(format!("more than 1 % of all functions exceed {P99} lines"));
    }
    for (name, shape) in shapes.iter().filter(|(_, shape)| shape.lines > CRATE) {
        complaints.push(format!("{name}: {} lines without tests, at most {CRATE}: move what must not depend on the rest into a crate of its own", shape.lines));
    }
    complaints
}

fn sorted(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all: Vec<usize> = lengths.collect();
    all.sort_unstable();
    all
}

/// The nearest-rank percentile of sorted values; zero if there are none.
fn quantile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

fn table(shapes: &BTreeMap<String, Shape>) -> String {
    let mut text = String::from("lines of code without tests\n");
    let _ = writeln!(
        text,
        "{:<14}{:>6}{:>8}{:>11}{:>8}{:>6}{:>6}{:>9}",
        "crate", "files", "lines", "functions", "median", "p90", "p99", "longest"
    );
    let mut row = |name: &str, files: usize, lines: usize, functions: Vec<usize>| {
        let [p50, p90, p99, longest] = [50, 90, 99, 100].map(|percent| quantile(&functions, percent));
        let count = functions.len();
        let _ =
            writeln!(text, "{name:<14}{files:>6}{lines:>8}{count:>11}{p50:>8}{p90:>6}{p99:>6}{longest:>9}");
    };
    for (name, shape) in shapes {
        row(name, shape.files, shape.lines, sorted(shape.functions.iter().copied()));
    }
    let all = sorted(shapes.values().flat_map(|shape| shape.functions.iter().copied()));
    let sum = |of: fn(&Shape) -> usize| shapes.values().map(of).sum::<usize>();
    row("all", sum(|shape| shape.files), sum(|shape| shape.lines), all);
    text.push_str(&format!(
        "allowed: median {MEDIAN}, p99 {P99}, longest {LONGEST}, file {FILE}, crate {CRATE}"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_rank() {
        let ramp: Vec<usize> = (1..=200).collect();
        assert_eq!([50, 99, 100].map(|percent| quantile(&ramp, percent)), [100, 198, 200]);
        assert_eq!(quantile(&[], 50), 0);
    }

    #[test]
    fn empty_words_are_found_in_either_spelling_and_only_as_whole_words() {
        assert!(says_nothing("EventHandler") && says_nothing("string_utils") && says_nothing("Base"));
        assert!(!says_nothing("BaseballPark") && !says_nothing("utility") && !says_nothing("SwitchSettings"));
    }

    #[test]
    fn a_long_function_and_a_long_file_are_complaints_with_their_place() {
        let long = format!("//! Long.\nfn long() {{\n{}}}\n", "    call();\n".repeat(500));
        let complaints = complaints_about("crates/x/src/lib.rs", &measure::file(&long).expect("it parses"));
        assert_eq!(complaints.len(), 2);
        assert!(complaints[1].starts_with("crates/x/src/lib.rs:2: `long` has 502 lines"));
    }

    #[test]
    fn a_file_without_a_purpose_is_a_complaint() {
        let measured = measure::file("fn short() {}\n").expect("it parses");
        assert!(complaints_about("crates/x/src/a.rs", &measured)[0].contains("begins without //!"));
    }

    #[test]
    fn modules_lie_beside_a_root_and_below_other_files() {
        assert_eq!(module_paths(Path::new("src/lib.rs"), "a")[0], Path::new("src/a.rs"));
        assert_eq!(module_paths(Path::new("src/b.rs"), "a")[0], Path::new("src/b/a.rs"));
    }
}
