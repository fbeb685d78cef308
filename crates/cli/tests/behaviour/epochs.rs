//! Results of a program that computes other values are never mistaken for new ones.

use crate::{TINY, finished, folder_with, good, text};
use std::fs;
use std::path::Path;

/// Makes the runs below a folder look as if another program had computed them.
fn age(root: &Path) {
    for run in finished(root) {
        let path = run.join("manifest.json");
        fs::write(&path, text(&path).replace(weft_epoch(&path).as_str(), "0123456789ab")).expect("writable");
    }
}

fn weft_epoch(manifest: &Path) -> String {
    let epoch = crate::json(manifest)["epoch"].as_str().expect("a manifest names its epoch").to_owned();
    assert_eq!(epoch.len(), 12);
    epoch
}

#[test]
fn a_run_of_another_epoch_is_computed_again() {
    let folder = folder_with("stale", TINY);
    good(&folder, "run tiny.toml");
    assert!(good(&folder, "run tiny.toml").contains("4 complete runs reused"));
    age(&folder.join("runs"));
    let out = good(&folder, "run tiny.toml");
    assert!(!out.contains("reused"), "{out}");
    let again = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(again.contains("computed again:") && again.contains("results epoch 0123456789ab"), "{out}");
    assert!(good(&folder, "run tiny.toml").contains("4 complete runs reused"));
}

/// After a change of the sources, a second run gives new results, whether or not an epoch has been raised.
#[test]
fn a_run_of_other_sources_is_computed_again() {
    let folder = folder_with("rebuilt", TINY);
    good(&folder, "run tiny.toml");
    let run = finished(&folder.join("runs")).remove(0).join("manifest.json");
    let sources = crate::json(&run)["sources"].as_str().expect("a manifest names its sources").to_owned();
    assert_eq!(sources.len(), 16);
    fs::write(&run, text(&run).replace(&sources, "0123456789abcdef")).expect("writable");
    let out = good(&folder, "run tiny.toml");
    assert!(out.contains("3 complete runs reused"), "{out}");
    assert!(out.contains("1 complete run of another build of Weft computed again"), "{out}");
    assert_eq!(crate::json(&run)["sources"], sources.as_str());
}

/// The word and value of a run's manifest or of another JSON file as written there.
fn replace(path: &Path, from: &str, to: &str) {
    let before = text(path);
    assert!(before.contains(from), "{}: {from}", path.display());
    fs::write(path, before.replace(from, to)).expect("writable");
}

/// Makes the runs of a case look as if a build of the same epoch with another layout of files had computed them, before
/// Weft had the setting `csv`.
fn rebuild(case: &Path) {
    for run in finished(case) {
        let path = run.join("manifest.json");
        let manifest = crate::json(&path);
        let word = |key: &str| manifest[key].as_str().expect("a text").to_owned();
        replace(&path, &word("hash"), "0000000000000000");
        replace(&path, &word("sources"), "0123456789abcdef");
        replace(&path, &format!("\"commit\": \"{}\"", word("commit")), "\"commit\": \"older\"");
        let scenario = run.join("scenario.toml");
        let complete = text(&scenario);
        let fewer: Vec<&str> = complete.lines().filter(|line| !line.starts_with("csv = ")).collect();
        fs::write(&scenario, fewer.join("\n")).expect("writable");
        let size = |text: &str| format!("\"scenario.toml\": {}", text.len());
        replace(&path, &size(&complete), &size(&text(&scenario)));
    }
    fs::rename(case, case.with_file_name("ecmp-00000000")).expect("renamed");
}

/// On request, a sweep goes on after a change of Weft that changes no result.
#[test]
fn runs_of_another_build_count_on_request_if_epoch_and_settings_are_equal() {
    let folder = folder_with("same-results", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    rebuild(&crate::case_of(&root, "ecmp"));
    let there = finished(&root.join("ecmp-00000000"))[0].join("manifest.json");
    let manifest = text(&there);
    let out = good(&folder, "run tiny.toml --reuse same-results");
    let version = crate::json(&there)["version"].as_str().expect("a text").to_owned();
    assert!(out.contains("4 complete runs reused"), "{out}");
    assert!(out.contains(&format!("2 computed by weft {version} older")), "{out}");
    assert_eq!(text(&there), manifest, "the manifest names the build that computed the run");
    let listed = crate::json(&root.join("sweep.json"))["runs"].to_string();
    assert!(listed.contains("ecmp-00000000/seed-1"), "{listed}");
    let page = text(&root.join("report.html"));
    assert!(page.contains("several builds with one results epoch") && page.contains("older"));
    let other = good(&folder, "run tiny.toml --reuse same-results --set traffic.web.load=0.4");
    assert!(!other.contains("reused"), "{other}");
    let strict = good(&folder, "run tiny.toml");
    assert!(strict.contains("2 complete runs reused"), "{strict}");
    age(&root.join("ecmp-00000000"));
    let listing = crate::json(&root.join("sweep.json"));
    let own = listing["runs"][0].as_str().and_then(|run| Path::new(run).parent()).expect("a case");
    fs::remove_dir_all(root.join(own)).expect("removable");
    let refused = good(&folder, "run tiny.toml --reuse same-results");
    assert!(refused.contains("2 complete runs reused"), "{refused}");
    assert!(refused.contains("2 complete runs of another results epoch not used"), "{refused}");
}

/// The description has no influence on results, so a new one computes nothing.
#[test]
fn reports_of_reused_runs_have_the_present_description() {
    let folder = folder_with("described", &TINY.replace("seeds =", "about = \"As planned.\"\nseeds ="));
    good(&folder, "run tiny.toml");
    fs::write(folder.join("tiny.toml"), TINY.replace("seeds =", "about = \"As known now.\"\nseeds ="))
        .expect("writable");
    assert!(good(&folder, "run tiny.toml").contains("4 complete runs reused"));
    let root = folder.join("runs/tiny");
    let described = |page: &str| page.contains("As known now.") && !page.contains("As planned.");
    let page = text(&root.join("report.html"));
    assert!(described(page.split("complete = true").next().unwrap_or_default()), "the page of the sweep");
    let one = text(&finished(&root)[0].join("report.html"));
    assert!(described(one.split("complete = true").next().unwrap_or_default()), "the page of a run");
    good(&folder, "report runs/tiny");
    assert_eq!(text(&root.join("report.html")), page);
}

#[test]
fn older_results_beside_are_counted_and_left_alone() {
    let folder = folder_with("older", TINY);
    good(&folder, "run tiny.toml");
    let root = folder.join("runs/tiny");
    age(&root);
    // the content hash covers the epoch, so older results have a different hash
    for case in ["ecmp", "drill"] {
        let old = crate::case_of(&root, case);
        fs::rename(&old, old.with_file_name(format!("{case}-00000000"))).expect("renamed");
    }
    let out = good(&folder, "run tiny.toml");
    assert!(out.contains("4 complete runs of another results epoch not used"), "{out}");
    assert!(!out.contains("reused"), "{out}");
    assert_eq!(finished(&root).len(), 8);
    assert!(text(&root.join("report.html")).contains("results epoch"));
    let warned = "have another results epoch (0123456789ab)";
    assert!(!text(&root.join("report.html")).contains(warned));
    good(&folder, "report runs/tiny/ecmp-00000000");
    assert!(text(&root.join("ecmp-00000000/report.html")).contains(warned));
    let new = crate::case_of(&root, "ecmp");
    let out = good(&folder, &format!("compare runs/tiny/ecmp-00000000 {}", new.display()));
    assert!(out.contains("Results of different epochs:"), "{out}");
    let same = good(&folder, &format!("compare {0} {0}", new.display()));
    assert!(!same.contains("different epochs"), "{same}");
}
