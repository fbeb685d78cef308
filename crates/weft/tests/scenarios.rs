//! Every scenario that ships can be run: each goes through the facade in a short form, all cases with one seed and
//! few flows. The results of the full runs are not judged here but by their `[[expect]]` entries.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft::{Outcome, RunOptions};

/// Flows that are measured; enough for every size class to occur, few enough for a test.
const FLOWS: &str = "measure.flows=150";
/// A warm-up shorter than that of any scenario with one.
const WARM_UP: &str = "measure.warm_up='50 us'";

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = |folder: &Path| fs::read_dir(folder).expect("there is a folder of scenarios").flatten();
    let parts = ["bench", "choosing", "hadoop", "markers", "pfc", "roce", "sizes"].into_iter();
    let all = entries(&folder).chain(parts.flat_map(|part| entries(&folder.join(part))));
    let mut found: Vec<PathBuf> = all.map(|entry| entry.path()).collect();
    found.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    found.sort();
    found
}

fn run_short(scenario: &Path, out: PathBuf, threads: Option<usize>) -> Outcome {
    let text = fs::read_to_string(scenario).expect("a scenario is a text");
    let options = RunOptions {
        out,
        demo: text.lines().any(|line| line.trim() == "[demo]"),
        seeds: Some(vec![1]),
        set: [FLOWS, WARM_UP]
            .iter()
            .skip(usize::from(has_only_jobs(&text)))
            .map(|set| (*set).to_owned())
            .collect(),
        engine: weft::PACKETS,
        jobs: 2,
        reuse: weft::Reuse::SameBuild,
        threads,
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    weft::run(scenario, &options).unwrap_or_else(|error| panic!("{}: {error}", scenario.display()))
}

/// Whether all flows are those of jobs, which end the run.
fn has_only_jobs(text: &str) -> bool {
    let count = |wanted: &[&str]| {
        text.lines().filter(|line| wanted.contains(&line.replace(' ', "").as_str())).count()
    };
    count(&["[[traffic]]"]) == count(&["kind=\"terasort\"", "kind=\"dag\""])
}

/// The scenario of a sweep, and of one of its runs.
fn complete(folder: &Path) -> Vec<PathBuf> {
    let folders = |place: &Path| {
        let entries = fs::read_dir(place).expect("a folder").flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let run = folders(folder).iter().flat_map(|case| folders(case)).next().expect("there is a run");
    vec![folder.join("scenario.toml"), run.join("scenario.toml")]
}

/// No mean is below the bound of any schedule, no percentile below that of the flows alone.
fn is_bounded(run: &weft_report::Run) {
    let value = |metric: &str| run.summary.metric(metric).unwrap_or(0.0);
    for of in ["", ".small", ".medium", ".large"] {
        let [mean, least] = [format!("fct{of}.mean"), format!("ideal.bound{of}")].map(|path| value(&path));
        assert!(mean >= least * (1.0 - 1e-9), "{}: fct{of}.mean {mean} < {least}", run.manifest.name);
    }
    for of in ["p50", "p99", "max"] {
        let [fct, alone] = ["fct", "alone"].map(|path| value(&format!("{path}.{of}")));
        assert!(fct >= alone, "{}: fct.{of} {fct} < {alone}", run.manifest.name);
    }
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
        let outcome = run_short(&scenario, out.clone(), None);
        assert_eq!((outcome.failed_runs, outcome.interrupted), (0, false), "{}", outcome.terminal);
        let folder = outcome.report.parent().expect("a folder");
        weft_report::read_runs(folder).expect("they can be read").iter().for_each(is_bounded);
        for written in complete(folder) {
            let checked = weft::check(&written, &[]).expect("it can be read");
            assert_eq!(checked.mistakes, 0, "{}", checked.rendered);
        }
        let page = fs::read_to_string(&outcome.report).expect("the report is written");
        assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    }
}

/// Its claims are worked out by hand: one victim, which gets a quarter of its line.
#[test]
fn the_victim_of_pauses_is_found() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("victim");
    let _ = fs::remove_dir_all(&out);
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/pfc/victim.toml");
    let outcome = run_short(&scenario, out, None);
    assert_eq!((outcome.failed_runs, outcome.missed_expectations), (0, 0), "{}", outcome.terminal);
}

/// All files of the runs below a folder with their contents; JSON files without values from the clock and the
/// machine.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).expect("results are a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.parent().is_some_and(|run| run.join("summary.json").exists())
                && !path.ends_with("report.html")
            {
                let name = path.strip_prefix(folder.parent().expect("a parent")).expect("below").to_owned();
                found.insert(name, timeless(&path));
            }
        }
    }
    found
}

fn timeless(path: &Path) -> Vec<u8> {
    let bytes = fs::read(path).expect("a result can be read");
    let Ok(text) = String::from_utf8(bytes.clone()) else { return bytes };
    let machine = ["wall_s", "threads", "peak_memory_bytes", "events_per_s", "hops_per_s"];
    let kept = text.lines().filter(|line| !machine.iter().any(|key| line.contains(&format!("\"{key}\""))));
    kept.collect::<Vec<_>>().join("\n").into_bytes()
}

/// Each scenario is compared with one other number of threads, of 2, 3 and 4 in turn.
#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("threads");
    let _ = fs::remove_dir_all(&out);
    for (number, scenario) in shipped().into_iter().enumerate() {
        let results = [1, 2 + number % 3].map(|threads| {
            let out = out.join(threads.to_string());
            run_short(&scenario, out.clone(), Some(threads));
            let results = contents(&out);
            fs::remove_dir_all(&out).expect("results can be removed");
            results
        });
        let [alone, together] = &results;
        assert!(alone.keys().eq(together.keys()), "{}: other files", scenario.display());
        for (name, contents) in alone {
            assert!(*contents == together[name], "{}: {}", scenario.display(), name.display());
        }
    }
}
