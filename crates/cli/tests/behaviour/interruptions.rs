//! Ctrl-C, sudden death, and file systems that refuse: nothing finished is lost or repeated.

use crate::{Said, TINY, command, finished, folder_with, good, json, said, text, weft};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Reads progress until `enough` returns true. Other output of the process is read and discarded, or it would block.
fn watch(child: &mut Child, enough: impl Fn(&Value) -> bool) {
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let hit = lines.any(|line| serde_json::from_str(&line).is_ok_and(|news| enough(&news)));
    assert!(hit, "the process ended too early");
    std::thread::spawn(move || lines.for_each(drop));
}

/// A run that takes seconds.
fn long() -> String {
    TINY.replace("seeds = [1, 2]", "seeds = [1]")
        .replace("flows = 60", "flows = 20000\ncsv = \"all\"")
        .replace(
            "[sweep]\nbalance = [\"ecmp\", \"drill\"]\n",
            "[[expect]]\nvalue = \"fct.mean\"\nabove = 0\n",
        )
}

#[test]
fn ctrl_c_leaves_a_valid_partial_result_that_the_next_call_replaces() {
    let folder = folder_with("ctrl-c", &long());
    let mut child = command(&folder, "run tiny.toml --progress json").spawn().expect("weft starts");
    watch(&mut child, |news| news["current"][0]["flows_done"].as_u64().is_some_and(|done| done > 0));
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill starts").success());
    let Said { code, out, .. } = said(&child.wait_with_output().expect("weft ends"));
    assert_eq!(code, Some(1), "{out}");
    assert!(out.contains("interrupted") && out.contains("stopped early"), "{out}");
    assert!(out.contains("Not judged") && !out.contains("MISSED"), "{out}");
    let root = folder.join("runs/tiny");
    assert!(finished(&root).is_empty(), "a partial run does not look finished");
    let case = fs::read_dir(&root).expect("there").flatten().find(|entry| entry.path().is_dir());
    let partial = case.expect("a case").path().join("seed-1.partial");
    let summary = json(&partial.join("summary.json"));
    assert_eq!(summary["stop"], "interrupted");
    let rows = text(&partial.join("flows.csv")).lines().count() as u64 - 1;
    let flows = &summary["flows"];
    assert_eq!(flows["started"].as_u64(), Some(rows), "every flow that started has a row");
    assert!(text(&root.join("report.html")).contains("interrupted before the end"));
    good(&folder, "report runs/tiny");
    let out = good(&folder, "run tiny.toml");
    assert!(!out.contains("interrupted") && out.contains("met"), "{out}");
    assert!(!partial.exists() && finished(&root).len() == 1);
}

/// Programs learn of every run how it ended: computed, reused, or stopped.
#[test]
fn json_lines_tell_reused_and_interrupted_runs() {
    let folder = folder_with("told", TINY);
    let finished = |news: &str| {
        let lines = news.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let runs = lines.map(|news| news["finished"].clone()).filter(|run| !run.is_null());
        runs.collect::<Vec<Value>>()
    };
    weft(&folder, "run tiny.toml --seed 1");
    let said = weft(&folder, "run tiny.toml --progress json");
    let runs = finished(&said.err);
    let reused = |run: &&Value| run["reused"] == true;
    assert_eq!((runs.len(), runs.iter().filter(reused).count()), (4, 2), "{}", said.err);
    assert!(runs.iter().all(|run| run["interrupted"] == false));
    fs::write(folder.join("tiny.toml"), long()).expect("writable");
    let mut child = command(&folder, "run tiny.toml --progress json").spawn().expect("weft starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    let begun = lines.any(|line| line.contains("\"flows_done\":") && !line.contains("\"flows_done\":0"));
    assert!(begun, "the process ended too early");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signal.expect("kill starts").success());
    let last: Vec<String> = lines.collect();
    child.wait().expect("it ends");
    let runs = finished(&last.join("\n"));
    assert_eq!((runs.len(), &runs[0]["interrupted"], &runs[0]["failure"]), (1, &true.into(), &Value::Null));
}

/// With `nohup`, a run outlives its terminal; without, it ends with a partial result.
#[test]
fn a_hang_up_that_was_ignored_stays_ignored() {
    for (trap, code) in [("trap '' HUP; ", 0), ("", 1)] {
        let folder = folder_with("hang-up", &long());
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("{trap}exec \"$0\" run tiny.toml --progress json"));
        shell.arg(env!("CARGO_BIN_EXE_weft")).current_dir(&folder);
        let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
        watch(&mut child, |news| news["current"][0]["flows_done"].as_u64().is_some_and(|done| done > 0));
        let signal = Command::new("kill").args(["-HUP", &child.id().to_string()]).status();
        assert!(signal.expect("kill starts").success());
        let Said { code: ended, out, .. } = said(&child.wait_with_output().expect("weft ends"));
        assert_eq!(ended, Some(code), "{trap}{out}");
    }
}

#[test]
fn a_killed_sweep_resumes_and_repeats_nothing() {
    let scenario = TINY.replace("seeds = [1, 2]", "seeds = [1, 2, 3, 4]");
    for ended in 1..=3_u64 {
        let folder = folder_with(&format!("killed-{ended}"), &scenario);
        let line = "run tiny.toml --jobs 1 --progress json";
        let mut child = command(&folder, line).spawn().expect("weft starts");
        watch(&mut child, |news| news["runs_done"].as_u64() == Some(ended) && !news["finished"].is_null());
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
        let root = folder.join("runs/tiny");
        let before: Vec<_> =
            finished(&root).into_iter().map(|run| (text(&run.join("manifest.json")), run)).collect();
        assert!(before.len() as u64 >= ended, "a finished run is on disk before it is told");
        good(&folder, "report runs/tiny");
        let page = text(&root.join("report.html"));
        assert!(before.len() == 8 || page.contains("runs are missing"), "the page tells what is missing");
        let out = good(&folder, "run tiny.toml --jobs 2");
        assert!(out.contains(&format!("{} complete run", before.len())), "{out}");
        assert_eq!(finished(&root).len(), 8);
        for (manifest, run) in before {
            assert_eq!(text(&run.join("manifest.json")), manifest, "computed twice: its wall time changed");
        }
    }
}

#[test]
fn a_damaged_run_is_told_and_computed_again_and_no_other() {
    let folder = folder_with("damaged", TINY);
    good(&folder, "run tiny.toml");
    let runs = finished(&folder.join("runs"));
    let whole = text(&runs[1].join("flows.csv"));
    for damage in ["", "{", "{}", "not JSON at all"] {
        fs::write(runs[1].join("summary.json"), damage).expect("writable");
        let refused = weft(&folder, "report runs/tiny");
        assert_eq!(refused.code, Some(2));
        assert!(refused.err.contains("summary.json"), "{}", refused.err);
        let out = good(&folder, "run tiny.toml");
        assert!(out.contains("3 complete runs reused"), "{out}");
        assert!(out.contains("summary.json") && out.contains("computed again"), "{out}");
        assert_eq!(text(&runs[1].join("flows.csv")), whole);
    }
}

#[test]
fn what_stands_in_the_way_is_named_and_the_other_runs_are_kept() {
    let folder = folder_with("in-the-way", TINY);
    fs::write(folder.join("file"), "").expect("writable");
    let refused = weft(&folder, "run tiny.toml --out file");
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("cannot write results to file/tiny"), "{}", refused.err);
    good(&folder, "run tiny.toml");
    let runs = finished(&folder.join("runs"));
    let case = runs[0].parent().expect("a case").to_owned();
    fs::remove_dir_all(&case).expect("removable");
    fs::write(&case, "a file where a folder is due").expect("writable");
    let out = weft(&folder, "run tiny.toml");
    assert_eq!(out.code, Some(1));
    let name = case.file_name().expect("a name").to_string_lossy().into_owned();
    assert!(out.out.contains("2 runs failed") && out.out.contains(&name), "{}", out.out);
    assert!(out.out.contains("2 complete runs reused"), "{}", out.out);
    fs::remove_file(&case).expect("removable");
    good(&folder, "run tiny.toml");
    assert_eq!(finished(&folder.join("runs")), runs);
}

#[test]
fn an_edited_scenario_leaves_the_old_results_out_of_the_report() {
    let folder = folder_with("edited", TINY);
    good(&folder, "run tiny.toml");
    fs::write(folder.join("tiny.toml"), TINY.replace("load = 0.5", "load = 0.25")).expect("writable");
    good(&folder, "run tiny.toml");
    assert_eq!(finished(&folder.join("runs")).len(), 8, "old results stay on disk");
    good(&folder, "report runs/tiny");
    assert_eq!(listed(&folder.join("runs/tiny")), 4);
}

/// Runs that the list of a sweep names.
fn listed(root: &Path) -> usize {
    json(&root.join("sweep.json"))["runs"].as_array().map_or(0, Vec::len)
}
