//! The complete scenario written beside results reads back as the same cases, for every shipped scenario.

use std::fs;
use std::path::{Path, PathBuf};

use weft_scenario::{Metrics, Scenario, ScenarioFile};

/// All scenarios of the repository, except the largest networks.
fn shipped() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut open =
        ["../../scenarios", "../../reproductions", "results"].map(|place| root.join(place)).to_vec();
    let mut found = Vec::new();
    while let Some(place) = open.pop() {
        for path in fs::read_dir(place).expect("a folder").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                found.push(path);
            }
        }
    }
    let other = [
        "claims.toml",
        "million.toml",
        "fat-tree-8192.toml",
        "fat-tree-27648.toml",
        "fat-tree-65536.toml",
        "fat-tree-101306.toml",
    ];
    // The source of RouteBricks has clusters of servers instead of scenarios.
    found.retain(|path| {
        !other.iter().any(|name| path.ends_with(name))
            && !path.components().any(|part| part.as_os_str() == "routebricks")
    });
    found.sort();
    found
}

fn checked(file: ScenarioFile, name: &Path) -> Scenario {
    file.validate(&Metrics::ANY).unwrap_or_else(|mistakes| panic!("{}\n{mistakes}", name.display()))
}

#[test]
fn complete_scenarios_read_back_as_the_same_cases() {
    let all = shipped();
    assert!(all.len() > 60, "scenarios ship with Weft");
    for path in all {
        let file = ScenarioFile::read(&path, &[], false).expect("it is TOML");
        let scenario = checked(file, &path);
        let folder = path.parent().expect("a folder");
        let again =
            ScenarioFile::parse(&scenario.to_toml(), "complete.toml").expect("it is TOML").in_folder(folder);
        let again = checked(again, &path);
        assert_eq!(again.cases().len(), scenario.cases().len(), "{}", path.display());
        for (one, other) in scenario.cases().iter().zip(again.cases()) {
            assert_eq!(one.content_hash("e"), other.content_hash("e"), "{}: {}", path.display(), one.label());
            let alone =
                ScenarioFile::parse(&one.to_toml(), "case.toml").expect("it is TOML").in_folder(folder);
            let alone = checked(alone, &path);
            assert_eq!(alone.cases()[0].content_hash("e"), one.content_hash("e"), "{}", path.display());
        }
    }
}
