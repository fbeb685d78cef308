//! `weft compare`: settings and results side by side, paired by seed.

use crate::{TINY, folder_with, good, text, weft};
use std::fs;
use std::path::Path;

/// The case folder of a balancer.
fn case(folder: &Path, balancer: &str) -> String {
    let entries = fs::read_dir(folder.join("runs/tiny")).expect("there").flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let name = names.find(|name| name.starts_with(balancer)).expect("the case");
    format!("runs/tiny/{name}")
}

#[test]
fn two_sweeps_are_compared_case_by_case() {
    let folder = folder_with("compare-sweeps", TINY);
    good(&folder, "run tiny.toml --out a");
    let mut slower = crate::command(&folder, "run tiny.toml --out b --set");
    assert!(slower.arg("switch.latency=5 us").output().expect("weft starts").status.success());
    let out = good(&folder, "compare a/tiny b/tiny");
    assert!(out.contains("switch.latency") && out.contains("\"500 ns\"  \"5 us\""), "{out}");
    assert!(
        out.contains("Over 2 cases") && out.contains("ecmp fct.mean") && out.contains("drill fct.mean"),
        "{out}"
    );
    assert!(out.contains("report: b/tiny/comparison.html"), "{out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let page = text(&folder.join("b/tiny/comparison.html"));
    assert!(page.contains("switch.latency") && page.contains("\"id\":\"ratios\""));
    good(&folder, "report b/tiny");
}

#[test]
fn two_cases_and_two_runs_are_compared_whatever_they_are_called() {
    let folder = folder_with("compare-cases", TINY);
    good(&folder, "run tiny.toml");
    let (ecmp, drill) = (case(&folder, "ecmp"), case(&folder, "drill"));
    let cases = good(&folder, &format!("compare {ecmp} {drill}"));
    assert!(cases.contains("Mean FCT of drill is") && cases.contains("2 seeds"), "{cases}");
    assert!(cases.contains("balance.drill.choices"), "{cases}");
    let runs = good(&folder, &format!("compare {ecmp}/seed-1 {drill}/seed-1"));
    assert!(runs.contains("one seed, no interval"), "{runs}");
    let apart = good(&folder, &format!("compare {ecmp}/seed-1 {drill}/seed-2"));
    assert!(apart.contains("nothing to compare"), "{apart}");
}

#[test]
fn a_result_equals_itself() {
    let folder = folder_with("compare-same", TINY);
    good(&folder, "run tiny.toml");
    let out = good(&folder, "compare runs/tiny runs/tiny");
    assert!(out.contains("1.00×") && !out.contains("setting"), "{out}");
    assert!(out.replace('\n', " ").contains("are equal in every metric of all 2 cases."), "{out}");
    assert!(!out.contains("significantly"), "{out}");
}

#[test]
fn a_folder_that_is_not_there_is_bad_input() {
    let folder = folder_with("compare-absent", TINY);
    let refused = weft(&folder, "compare absent also-absent");
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("absent"), "{}", refused.err);
}
