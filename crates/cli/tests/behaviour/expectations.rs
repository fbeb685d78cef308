//! `[[expect]]`: judged if the runs allow it, kept for later reports, and reflected in the exit code.

use crate::{TINY, folder_with, good, json, text, weft};

const CLAIMS: &str = r#"
[[expect]]
value = "fct.mean(ecmp)"
above = 0

[[expect]]
value = "fct.mean(drill)"
below = 1

[demo]
seeds = [1]
"#;

#[test]
fn a_missed_expectation_is_told_and_is_exit_code_1_and_later_reports_keep_it() {
    let folder = folder_with("judged", &format!("{TINY}{CLAIMS}"));
    for line in ["run tiny.toml", "run tiny.toml"] {
        let run = weft(&folder, line);
        assert_eq!(run.code, Some(1), "{}", run.err);
        assert!(run.out.contains("met     fct.mean(ecmp)"), "{}", run.out);
        assert!(run.out.contains("MISSED  fct.mean(drill)"), "{}", run.out);
        assert!(run.out.contains(" us (expected less than 1 us)"), "{}", run.out);
        assert!(run.out.contains("1 expectation missed"), "{}", run.out);
        assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    }
    let page = folder.join("runs/tiny/report.html");
    let before = text(&page);
    assert!(before.contains("1 of 2 expectations missed"));
    std::fs::remove_file(&page).expect("removable");
    good(&folder, "report runs/tiny");
    assert_eq!(text(&page), before, "the same page, verdicts included");
}

#[test]
fn the_demo_is_too_short_to_be_judged_and_does_not_touch_the_full_results() {
    let folder = folder_with("demo", &format!("{TINY}{CLAIMS}"));
    weft(&folder, "run tiny.toml");
    let full = text(&folder.join("runs/tiny/report.html"));
    let out = good(&folder, "run tiny.toml --demo");
    assert!(out.contains("Not judged: the reduced form") && !out.contains("MISSED"), "{out}");
    let root = folder.join("runs/tiny-demo");
    assert_eq!(json(&root.join("sweep.json"))["verdicts"].as_array().map(Vec::len), Some(0));
    assert!(text(&root.join("report.html")).contains("not judged"));
    assert_eq!(text(&folder.join("runs/tiny/report.html")), full);
}

/// A scenario without a reduced form says so instead of silently running in full.
#[test]
fn a_demo_that_changes_nothing_says_so() {
    let folder = folder_with("no-demo", TINY);
    let out = good(&folder, "run tiny.toml --demo");
    assert!(out.contains("--demo changes nothing"), "{out}");
    let reduced = folder_with("with-demo", &format!("{TINY}\n[demo]\nseeds = [1]\n"));
    assert!(!good(&reduced, "run tiny.toml --demo").contains("changes nothing"));
}

/// In the reduced form, only expectations marked for it are judged; without any such mark, the reason is given.
#[test]
fn the_reduced_form_is_judged_by_what_is_meant_for_it() {
    let expect = |limits: &str| format!("\n[[expect]]\nvalue = \"fct.mean(drill)\"\n{limits}\n");
    let demo = "\n[demo]\nseeds = [1]\n";
    let both = format!("{}{}{demo}", expect("above = 1e12"), expect("above = 0.0\nreduced = true"));
    let folder = folder_with("reduced", &format!("{TINY}{both}"));
    let out = good(&folder, "run tiny.toml --demo");
    assert!(out.contains("  met ") && !out.contains("MISSED"), "{out}");
    assert_eq!(weft(&folder, "run tiny.toml").code, Some(1), "the whole form misses the first");
    let whole = folder_with("reduced-none", &format!("{TINY}{}{demo}", expect("above = 1e12")));
    let out = good(&whole, "run tiny.toml --demo");
    assert!(out.contains("Not judged: the reduced form"), "{out}");
}
