//! Files that a scenario names belong to it: their contents are part of its hash, and they must stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

use weft_prepare::{prepare, read};

const POINTS: &str = "1000 0.5\n20000 1\n";

fn scenario(folder: &str, sizes: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(folder.join("data")).expect("a folder");
    fs::write(folder.join(sizes), POINTS).expect("sizes");
    let text = format!(
        "weft = 1\nname = \"x\"\nseeds = [1]\n[topology.single-switch]\nhosts = 4\n[[traffic]]\ntag = \"t\"\nload = 0.5\nload_of = \"hosts\"\npairs = \"any\"\n\
         sizes = \"{sizes}\"\n[measure]\nflows = 100\n"
    );
    fs::write(folder.join("x.toml"), text).expect("a scenario");
    folder.join("x.toml")
}

/// With and without an extension.
#[test]
fn the_contents_of_files_are_part_of_the_hash() {
    for sizes in ["data/sizes.csv", "data/sizes"] {
        let path = scenario("contents", sizes);
        let hash = || read(&path, &[], false).expect("no mistakes").cases()[0].content_hash("");
        let before = hash();
        assert_eq!(before, hash(), "{sizes}");
        fs::write(path.with_file_name(sizes), "1000 0.5\n90000 1\n").expect("other sizes");
        assert_ne!(before, hash(), "{sizes}");
    }
}

#[test]
fn a_file_that_changes_in_between_ends_the_run() {
    let path = scenario("changes", "data/sizes.csv");
    let cases = prepare(&path, &[], false).expect("no mistakes");
    assert!(cases[0].setup(1).is_ok());
    fs::write(path.with_file_name("data/sizes.csv"), "1000 0.5\n90000 1\n").expect("other sizes");
    let why = cases[0].setup(1).err().expect("the file has changed").to_string();
    assert!(why.contains("data/sizes.csv has changed since the scenario was read"), "{why}");
}
