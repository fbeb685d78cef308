//! Every scenario that ships can be run: each goes through the facade in a short form, all cases with one seed and few
//! flows. What the full runs show is not judged here; that is what their `[[expect]]` entries are for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft::{Outcome, RunOptions};

/// Flows that are measured; enough for every size class to occur, few enough for a test.
const FLOWS: &str = "measure.flows=150";
/// A warm-up that is shorter than that of any scenario that has one.
const WARM_UP: &str = "measure.warm_up='100 us'";

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = |folder: &Path| fs::read_dir(folder).expect("there is a folder of scenarios").flatten();
    let all = entries(&folder).chain(entries(&folder.join("bench")));
    let mut found: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    found.sort();
    found
}

fn run_short(scenario: &Path, out: PathBuf) -> Outcome {
    let text = fs::read_to_string(scenario).expect("a scenario is a text");
    let options = RunOptions {
        out,
        demo: text.lines().any(|line| line.trim() == "[demo]"),
        seeds: Some(vec![1]),
        set: [FLOWS, WARM_UP].map(str::to_owned).to_vec(),
        jobs: 2,
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    weft::run(scenario, &options).unwrap_or_else(|error| panic!("{}: {error}", scenario.display()))
}

#[test]
fn every_scenario_that_ships_has_no_mistakes_and_runs() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scenarios");
    let _ = fs::remove_dir_all(&out);
    let scenarios = shipped();
    assert!(scenarios.len() >= 8, "scenarios ship with Weft");
    for scenario in scenarios {
        let checked = weft::check(&scenario, &[]).expect("it can be read");
        assert_eq!(checked.mistakes, 0, "{}", checked.rendered);
        let outcome = run_short(&scenario, out.clone());
        assert_eq!((outcome.failed_runs, outcome.interrupted), (0, false), "{}", outcome.terminal);
        let page = fs::read_to_string(&outcome.report).expect("the report is written");
        assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    }
}
