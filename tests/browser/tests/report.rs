//! A generated report in a real browser: it is complete, silent and self-contained, and it says what the files say.

use serde_json::Value;
use std::path::{Path, PathBuf};
use weft_browser_tests::browser::Browser;
use weft_browser_tests::synthetic;
use weft_report::{Sweep, Verdict, page, write_report};

/// A folder for this test's files.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

fn verdicts() -> Vec<Verdict> {
    vec![Verdict {
        claim: "mean FCT of ecmp by that of drill at 80 % load".into(),
        expected: "1.6 within 15 %".into(),
        measured: "1.62 (1.58–1.66)".into(),
        passed: true,
        note: "section 4".into(),
    }]
}

#[test]
fn a_sweep() {
    let folder = folder("sweep");
    let file = folder.join("report.html");
    let page = page::of_sweep(&Sweep::new(synthetic::sweep(3, 12_000)), &verdicts());
    write_report(&file, &page).expect("the report is written");
    let mut browser = Browser::start(&folder.join("profile"), 1280, 900);
    browser.open(&file, "");
    browser.screenshot(&folder.join("light.png"));
}
