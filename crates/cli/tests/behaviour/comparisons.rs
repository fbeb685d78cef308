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

/// Two calls with different settings into one folder: their runs have the same labels, but are different cases.
#[test]
fn cases_with_equal_labels_are_told_apart() {
    let folder = folder_with("compare-parent", TINY);
    let run = "run tiny.toml --out m --set sweep.balance=";
    good(&folder, &format!("{run}drill"));
    good(&folder, &format!("{run}drill --seed 1 --set switch.latency=5us"));
    let said = good(&folder, "report m");
    assert!(said.contains("m/report.html"), "{said}");
    let page = text(&folder.join("m/report.html"));
    for case in ["latency 5\u{202f}us", "latency 500\u{202f}ns"] {
        assert!(page.contains(case), "{case}: {said}");
    }
    // Both commands are needed to repeat what is on the page.
    assert!(
        page.contains("sweep.balance=drill") && page.contains("switch.latency=5us"),
        "one command is missing"
    );
    let out = good(&folder, "compare m m");
    assert!(out.replace('\n', " ").contains("are equal in every metric of all 2 cases."), "{out}");
}

/// A check that runs by itself would take an empty table for a success.
#[test]
fn results_without_a_common_case_are_bad_input() {
    let folder = folder_with("compare-nothing", TINY);
    good(&folder, "run tiny.toml --seed 1 --out a --set sweep.balance=ecmp,drill");
    good(&folder, "run tiny.toml --seed 1 --out b --set sweep.balance=random,conga");
    let refused = weft(&folder, "compare a/tiny b/tiny");
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    let told = "a/tiny and b/tiny have no case in common: nothing to compare";
    assert!(refused.err.contains(told) && refused.out.is_empty(), "{}", refused.err);
}

/// Results that may only be read are compared as well.
#[test]
fn the_page_goes_where_it_is_wanted() {
    let folder = folder_with("compare-out", TINY);
    good(&folder, "run tiny.toml");
    for _ in 0..2 {
        let said = good(&folder, "compare runs/tiny runs/tiny --out page.html");
        assert!(said.contains("report: page.html"), "{said}");
    }
    assert!(text(&folder.join("page.html")).contains("\"id\":\"ratios\""));
    assert!(!folder.join("runs/tiny/comparison.html").exists());
    let refused = weft(&folder, "compare runs/tiny runs/tiny --out tiny.toml");
    assert!(refused.code == Some(2) && refused.err.contains("not overwritten"), "{}", refused.err);
    assert_eq!(text(&folder.join("tiny.toml")), TINY);
}

/// A backup beside the original is not a further seed.
#[test]
fn copies_of_runs_count_once() {
    let folder = folder_with("compare-copies", TINY);
    good(&folder, "run tiny.toml --seed 1..3 --set balance=drill --out all/before");
    good(&folder, "run tiny.toml --seed 1..3 --set balance=drill --out all/after");
    good(&folder, "report all/before/tiny");
    good(&folder, "report all");
    let page = text(&folder.join("all/report.html"));
    assert!(page.contains("3 runs are copies of others"), "no warning");
    assert!(page.contains("3 seeds, 180 flows") && !page.contains("6 seeds"), "seeds are counted twice");
}

/// Only the second of two cases differs, and so do its settings; the order of the cases does not matter.
#[test]
fn settings_are_compared_case_by_case() {
    let folder = folder_with("compare-settings", TINY);
    let plain = "[[sweep.case]]\nname = \"plain\"\nbalance = \"ecmp\"\n";
    let other = |choices: u32| {
        format!(
            "[[sweep.case]]\nname = \"small one, with comma\"\nbalance = {{ drill = {{ choices = {choices} }} }}\n"
        )
    };
    let run = |out: &str, cases: String| {
        let scenario =
            TINY.replace("balance = [\"ecmp\", \"drill\"]\n", &format!("mode = \"cases\"\n{cases}"));
        fs::write(folder.join("cases.toml"), scenario).expect("writable");
        good(&folder, &format!("run cases.toml --out {out}"));
    };
    run("a", format!("{plain}{}", other(2)));
    run("b", format!("{}{plain}", other(1)));
    let out = good(&folder, "compare a/tiny b/tiny");
    assert!(out.contains("balance.drill.choices  2  1"), "{out}");
    assert!(!out.contains("balance.ecmp") && out.contains("small one, with comma fct.mean"), "{out}");
}

/// A second call that has only begun lists runs that do not exist yet.
#[test]
fn runs_of_an_earlier_call_are_read_while_another_has_begun() {
    let folder = folder_with("compare-begun", TINY);
    good(&folder, "run tiny.toml");
    let path = folder.join("runs/tiny/sweep.json");
    let mut listing = crate::json(&path);
    listing["runs"] = serde_json::json!(["ecmp-00000000/seed-1"]);
    fs::write(&path, listing.to_string()).expect("writable");
    let out = good(&folder, "compare runs/tiny runs/tiny");
    assert!(out.replace('\n', " ").contains("are equal in every metric of all 2 cases."), "{out}");
}

#[cfg(unix)]
#[test]
fn the_table_is_printed_even_if_the_page_cannot_be_written() {
    let folder = folder_with("compare-page", TINY);
    good(&folder, "run tiny.toml");
    fs::create_dir(folder.join("runs/tiny/comparison.html")).expect("writable");
    let said = weft(&folder, "compare runs/tiny runs/tiny");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("fct.mean") && !said.out.contains("report:"), "{}", said.out);
}

/// Means are over the seeds that both sides have: others would compare other flows.
#[test]
fn runs_without_a_partner_are_left_out() {
    let folder = folder_with("compare-seeds", TINY);
    good(&folder, "run tiny.toml --seed 1..3 --set sweep.balance=ecmp --out a");
    good(&folder, "run tiny.toml --seed 1 --set sweep.balance=ecmp --out b");
    let out = good(&folder, "compare a/tiny b/tiny").replace('\n', " ");
    assert!(out.contains("are equal in every metric"), "{out}");
    assert!(out.contains("2 runs left out: the other side has no run with the seed."), "{out}");
}

#[test]
fn runs_of_several_scenarios_have_no_common_report() {
    let folder = folder_with("report-several", TINY);
    fs::write(folder.join("other.toml"), TINY.replace("\"tiny\"", "\"other\"")).expect("writable");
    good(&folder, "run tiny.toml --seed 1");
    good(&folder, "run other.toml --seed 1");
    let refused = weft(&folder, "report runs");
    assert_eq!(refused.code, Some(2), "{}", refused.out);
    assert!(refused.err.contains("allowed: a folder with runs of one of other, tiny"), "{}", refused.err);
    assert!(weft(&folder, "compare runs runs/tiny").err.contains("runs of several scenarios"));
    good(&folder, "report runs/tiny");
}

/// A sweep of one scheme has no column for its name and none for comparisons; pauses have one if there are any.
#[test]
fn tables_have_the_columns_that_say_something() {
    let scenario = "weft = 1\nname = \"tiny\"\nseeds = [1, 2]\n[topology.single-switch]\nhosts = 5\n[switch]\nbuffer = \"1 MB\"\n\
                    pfc = { classes = [0], xoff = \"20 kB\" }\n[transport.roce]\n[[traffic]]\n\
                    tag = \"incast\"\nkind = \"incast\"\nfan_in = 4\nsizes = \"200 kB\"\ncount = 1\n";
    let folder = folder_with("table-columns", scenario);
    let out = good(&folder, "run tiny.toml");
    let header = out.lines().find(|line| line.contains("mean FCT")).expect("a table");
    assert_eq!(
        header.split_whitespace().collect::<Vec<_>>(),
        ["mean", "FCT", "p50", "drops", "pauses"],
        "{out}"
    );
    let page = text(&folder.join("runs/tiny/report.html"));
    assert!(page.contains("Pauses"), "no card of pauses");
    let plain = folder_with("table-columns-plain", TINY);
    let out = good(&plain, "run tiny.toml");
    assert!(out.contains("faster") && !out.contains("pauses"), "{out}");
}
