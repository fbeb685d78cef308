//! The folder of results: its contents, the values that never change, and the effect of `measure.record`.

use crate::{TINY, finished, folder, folder_with, good, json, text};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).expect("there").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

const ALWAYS: [&str; 4] = ["detail.json", "manifest.json", "scenario.toml", "summary.json"];

#[test]
fn a_folder_holds_what_the_documentation_says() {
    let folder = folder_with("folder", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    let shared: BTreeSet<String> = names(&root).into_iter().filter(|name| name.contains('.')).collect();
    assert_eq!(
        shared,
        ["report.html", "scenario.toml", "sweep.csv", "sweep.json", "sweep.parquet"]
            .map(str::to_owned)
            .into()
    );
    let runs = finished(&root);
    assert_eq!(runs.len(), 4);
    let tables = ["flows", "links", "hops", "queues", "drops", "series", "series-links"];
    let tables = tables.iter().flat_map(|table| [format!("{table}.csv"), format!("{table}.parquet")]);
    let expected: BTreeSet<String> = ALWAYS
        .iter()
        .map(|name| (*name).to_owned())
        .chain(tables)
        .chain(["report.html".to_owned()])
        .collect();
    assert_eq!(names(&runs[0]), expected);
    let manifest = json(&runs[0].join("manifest.json"));
    let hash = manifest["hash"].as_str().expect("a hash");
    assert_eq!(hash.len(), 16);
    let case = runs[0].parent().expect("a case").file_name().expect("a name").to_string_lossy().into_owned();
    assert_eq!(case, format!("drill-{}", &hash[..8]));
    assert_eq!(manifest["inputs"][0][0], "tiny.toml");
    for (key, least) in [("events", 1), ("seed", 1), ("threads", 1), ("peak_memory_bytes", 1)] {
        assert!(manifest[key].as_u64().is_some_and(|value| value >= least), "{key}");
    }
}

/// The rule for the tables of runs holds for the table of the sweep, too.
#[test]
fn without_csv_the_sweep_has_none_either() {
    let folder = folder_with("no-csv", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    assert!(root.join("sweep.csv").exists());
    good(&folder, "run tiny.toml --set measure.csv=never");
    let left = |name: &String| name.ends_with(".csv");
    assert_eq!(names(&root).into_iter().filter(left).collect::<Vec<_>>(), [""; 0], "nor one of other runs");
    assert!(root.join("sweep.parquet").exists());
}

/// The summary or manifest without values of the wall clock and the machine.
fn settled(path: &Path) -> Value {
    let mut value = json(path);
    for key in ["wall_s", "peak_memory_bytes"] {
        value.as_object_mut().expect("an object").remove(key);
    }
    value
}

#[test]
fn the_same_input_gives_the_same_bytes_with_any_number_of_jobs() {
    let folder = folder_with("bytes", TINY);
    for jobs in [1, 2, 4] {
        good(&folder, &format!("run tiny.toml --jobs {jobs} --out jobs-{jobs}"));
    }
    let of = |jobs: u32| finished(&folder.join(format!("jobs-{jobs}")));
    let first = of(1);
    assert_eq!(first.len(), 4);
    for (a, b) in first.iter().zip(of(2)).chain(first.iter().zip(of(4))) {
        for name in names(a) {
            let (a, b) = (a.join(&name), b.join(&name));
            match name.as_str() {
                "summary.json" | "manifest.json" => assert_eq!(settled(&a), settled(&b), "{}", b.display()),
                "report.html" => {} // tells the wall time
                _ => assert!(fs::read(&a).expect("there") == fs::read(&b).expect("there"), "{}", b.display()),
            }
        }
    }
}

/// The cells of a table without its last two columns, case and seed: a case run by itself has another name.
fn rows(table: &Path) -> Vec<Vec<String>> {
    let cells = |line: &str| {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells.truncate(cells.len().saturating_sub(2));
        cells
    };
    let text = text(table);
    assert!(text.lines().next().is_some_and(|head| head.ends_with(",case,seed")), "{}", table.display());
    text.lines().map(cells).collect()
}

#[test]
fn the_complete_scenario_runs_to_the_same_result_and_marks_defaults() {
    let folder = folder_with("complete", TINY);
    good(&folder, "run tiny.toml --seed 1");
    let run = finished(&folder.join("runs")).remove(0);
    let complete = text(&run.join("scenario.toml"));
    assert!(complete.contains("\nleaves = 2\n") && complete.contains("\nparallel = 1  # default\n"));
    assert!(complete.contains("\n[balance.drill]\n"), "what the sweep says is no default: {complete}");
    fs::write(folder.join("again.toml"), complete).expect("writable");
    good(&folder, "run again.toml --seed 1 --out again");
    let again = finished(&folder.join("again")).remove(0);
    for table in ["flows.csv", "links.csv"] {
        assert_eq!(rows(&run.join(table)), rows(&again.join(table)), "{table}");
    }
    assert_eq!(json(&run.join("manifest.json"))["hash"], json(&again.join("manifest.json"))["hash"]);
}

#[test]
fn only_what_is_recorded_is_written() {
    let scenario = TINY.replace("queues_every = \"20 us\"\n", "");
    for word in ["flows", "links", "hops", "reordering", "drops"] {
        let start = scenario.find("record = ").expect("there");
        let end = start + scenario[start..].find('\n').expect("a line");
        let text_of = format!("{}record = [\"{word}\"]{}", &scenario[..start], &scenario[end..]);
        let folder = folder_with(&format!("record-{word}"), &text_of);
        good(&folder, "run tiny.toml --set balance=drill --set measure.series_bins=0 --seed 1");
        let run = finished(&folder.join("runs")).remove(0);
        let tables: Vec<String> = names(&run).into_iter().filter(|name| name.ends_with(".csv")).collect();
        let own = if word == "reordering" { vec![] } else { vec![format!("{word}.csv")] };
        assert_eq!(tables, own);
        let summary = json(&run.join("summary.json"));
        assert_eq!(summary.get("queueing_us").is_some(), word == "hops", "{word}");
        assert_eq!(summary.get("reordering").is_some(), word == "reordering", "{word}");
        let page = text(&folder.join("runs/tiny/report.html"));
        assert_eq!(page.contains("\"id\":\"waiting-mean\""), word == "hops", "{word}");
        assert_eq!(page.contains("\"id\":\"reordering\""), word == "reordering", "{word}");
    }
}

#[test]
fn a_report_without_results_is_bad_input() {
    let folder = folder("no-results");
    let refused = crate::weft(&folder, "report .");
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("no finished run here"), "{}", refused.err);
}

#[test]
fn the_command_of_a_run_repeats_it() {
    let folder = folder_with("repeat", TINY);
    good(&folder, "run tiny.toml");
    for run in finished(&folder.join("runs")) {
        let manifest = json(&run.join("manifest.json"));
        let line = manifest["command"].as_str().expect("a command").replace('\'', "");
        let line = line.strip_prefix("weft ").expect("the command's name");
        good(&folder, &format!("{line} --out again"));
        let again = finished(&folder.join("again")).remove(0);
        assert_eq!(json(&again.join("manifest.json"))["hash"], manifest["hash"], "{line}");
        assert_eq!(rows(&again.join("flows.csv")), rows(&run.join("flows.csv")), "{line}");
        fs::remove_dir_all(folder.join("again")).expect("removable");
    }
    assert!(text(&folder.join("runs/tiny/report.html")).contains("weft run tiny.toml<"));
}

/// The command of each manifest repeats that run and nothing else, and leaves the sweep's table and report with all runs.
#[test]
fn every_run_can_be_repeated_by_its_command() {
    let tables = "balance = [\"ecmp\", { drill = { choices = 3 } }, { drill = { memory = 2 } }]";
    let scenario = TINY.replace("balance = [\"ecmp\", \"drill\"]", tables);
    let folder = folder_with("repeated", &scenario);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    let before = (finished(&root), text(&root.join("sweep.csv")).lines().count());
    for run in &before.0 {
        let manifest = json(&run.join("manifest.json"));
        let command = manifest["command"].as_str().expect("a text").strip_prefix("weft ").expect("its name");
        let shell = format!("exec '{}' {command}", env!("CARGO_BIN_EXE_weft"));
        let again =
            std::process::Command::new("sh").args(["-c", &shell]).current_dir(&folder).output().unwrap();
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && said.contains("1 complete run reused"), "{command}: {said}");
        let page = format!("{}/report.html", run.strip_prefix(&folder).expect("below").display());
        assert!(said.contains(&page), "{said}");
    }
    assert_eq!((finished(&root), text(&root.join("sweep.csv")).lines().count()), before);
}
