//! The reference runs still give the results of the committed digests, and together they use every part.

use std::fs;
use std::path::{Path, PathBuf};

use weft::{ResultsList, RunDigests};

fn reference() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn scratch(name: &str) -> PathBuf {
    let scratch = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&scratch);
    scratch
}

#[test]
fn results_are_those_of_the_epoch() {
    let list = ResultsList::of(&reference());
    let found = weft::reference_digests(&reference(), &list.digests.values, &scratch("results"));
    let found = found.expect("they run");
    assert_eq!(list, ResultsList::built_in(), "the list is compiled in");
    assert_eq!(list.epoch(), weft::epoch());
    let changed = list.differences(&found);
    assert!(
        changed.is_empty(),
        "these reference runs give other results than at results epoch {}:\n  {}\nIf that is not intended, it is a defect. \
         If it is, run `cargo xtask results --write`, which writes the digests and with them the epoch, and say in \
         CHANGELOG.md which results change and why.",
        weft::epoch(),
        changed.join("\n  ")
    );
}

/// The list as `cargo xtask results --write` updates it when the reference runs give `found`.
fn renewed(list: &ResultsList, found: &weft::Digests) -> ResultsList {
    list.renewed(found, 0)
}

fn of_one(results: &str, files: &str) -> RunDigests {
    RunDigests { results: Some(results.to_owned()), all: results.to_owned(), files: files.to_owned() }
}

/// Two runs, as an epoch begins.
fn begun() -> ResultsList {
    let runs = [("a".to_owned(), of_one("1", "11")), ("b c".to_owned(), of_one("2", "22"))];
    let values = ["flows.csv fct_ps".to_owned()];
    ResultsList { revision: 7, digests: weft::Digests { runs: runs.into(), values: values.into() } }
}

#[test]
fn a_changed_or_missing_result_begins_an_epoch() {
    let list = begun();
    for name in ["a", "b c"] {
        let mut found = list.digests.clone();
        found.runs.insert(name.to_owned(), of_one("3", "33"));
        assert_ne!(renewed(&list, &found).epoch(), list.epoch(), "{name} changed");
        found.runs.remove(name);
        assert_ne!(renewed(&list, &found).epoch(), list.epoch(), "{name} is gone");
    }
    assert_ne!(list.renewed(&list.digests, 1).epoch(), list.epoch(), "raised by hand");
}

#[test]
fn what_is_added_keeps_the_epoch_until_it_changes_itself() {
    let list = begun();
    let mut found = list.digests.clone();
    found.runs.insert("new".to_owned(), of_one("5", "55"));
    found.runs.get_mut("a").expect("there").files = "other bytes".to_owned();
    found.values.insert("flows.csv pauses".to_owned());
    assert_eq!(list.differences(&found), ["a", "new"], "both must be written down");
    let added = renewed(&list, &found);
    assert_eq!(added.epoch(), list.epoch());
    assert_ne!(added.layout(), list.layout(), "complete runs have other files and are computed again");
    assert_eq!(added.digests.values, list.digests.values, "the epoch covers what it covered");
    assert!(added.differences(&found).is_empty());
    found.runs.insert("new".to_owned(), of_one("6", "66"));
    let changed = renewed(&added, &found);
    assert_ne!(changed.epoch(), added.epoch(), "an added run changed");
    assert_eq!(changed.digests, found, "the new epoch covers every run and value");
}

#[test]
fn a_result_of_this_program_cannot_change_within_its_epoch() {
    let list = ResultsList::built_in();
    assert!(list.digests.values.contains("flows.csv fct_ps"), "values are named");
    for (name, run) in list.digests.runs.iter().filter(|(_, run)| run.results.is_some()) {
        let mut changed = list.clone();
        changed
            .digests
            .runs
            .insert(name.clone(), RunDigests { results: Some("x".to_owned()), ..run.clone() });
        assert_ne!(changed.epoch(), list.epoch(), "{name}");
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    let folder = scratch("digests");
    fs::create_dir_all(&folder).expect("writable");
    let mut list = begun();
    list.digests.runs.insert("added/run".to_owned(), RunDigests { results: None, ..of_one("4", "44") });
    list.write(&folder).expect("writable");
    assert_eq!(ResultsList::of(&folder), list);
}

/// A new member of a family needs a reference run; otherwise its results could change unseen.
#[test]
fn reference_runs_use_every_member_of_every_family() {
    let texts: String = fs::read_dir(reference())
        .expect("a folder")
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "toml"))
        .map(|entry| fs::read_to_string(entry.path()).expect("a text"))
        .collect();
    let words: std::collections::BTreeSet<&str> =
        texts.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    for topic in ["topologies", "sharing", "schedulers", "markers", "balancers", "transports", "patterns"] {
        let text = weft::list(Some(topic)).expect("a topic");
        let member = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
        let names: Vec<&str> =
            text.lines().filter(member).filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.len() >= 3, "{topic}: {names:?}");
        for name in names.into_iter().filter(|name| *name != "open-loop") {
            assert!(words.contains(name), "{topic}: no scenario in crates/weft/results uses `{name}`");
        }
    }
}
