//! The reference runs still give the results that the committed digests name, and they use every part there is.

use std::fs;
use std::path::{Path, PathBuf};

use weft::ResultsList;

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
    let found = weft::reference_digests(&reference(), &scratch("results")).expect("they run");
    let list = ResultsList::of(&reference());
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

#[test]
fn a_changed_result_cannot_keep_the_epoch() {
    let list = ResultsList::built_in();
    for name in list.digests.keys() {
        let mut changed = list.clone();
        changed.digests.get_mut(name).expect("there").replace_range(0..1, "x");
        assert_ne!(changed.epoch(), list.epoch(), "{name}");
        changed.digests.remove(name);
        assert_ne!(changed.epoch(), list.epoch(), "{name}");
    }
    assert_ne!(ResultsList { revision: list.revision + 1, ..list.clone() }.epoch(), list.epoch());
}

#[test]
fn what_is_written_is_what_is_read() {
    let folder = scratch("digests");
    fs::create_dir_all(&folder).expect("writable");
    let list = ResultsList { revision: 7, digests: [("a/b c/seed-1".to_owned(), "00ff".to_owned())].into() };
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
