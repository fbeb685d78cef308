//! `weft bench`: unknown cases, grown counts, and what counting needs.

use super::{Said, folder, said};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// `weft bench` in the repository, where its scenarios are.
fn bench(line: &str, path: Option<&Path>) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.arg("bench").args(line.split_whitespace()).stdin(Stdio::null());
    command.current_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../.."));
    if let Some(path) = path {
        command.env("PATH", path);
    }
    said(&command.output().expect("weft starts"))
}

#[test]
fn a_case_that_is_not_there_is_bad_input_and_the_nearest_is_named() {
    let Said { code, out, err } = bench("r1-dril", None);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("did you mean `r1-drill`?") && err.contains("incast"), "{err}");
    let Said { code, out, err } = bench("router gcm128-140", None);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(err.contains("did you mean `gcm128-1400`?") && err.contains("route-256k"), "{err}");
}

#[test]
fn outside_the_repository_the_folder_of_the_scenarios_is_asked_for() {
    let Said { code, err, .. } = bench("r1 --from nowhere", None);
    assert_eq!(code, Some(2));
    assert!(err.contains("nowhere/r1.toml") && err.contains("--from"), "{err}");
}

#[test]
fn a_file_that_holds_no_counts_is_refused_before_anything_is_measured() {
    let folder = folder("no-counts");
    fs::write(folder.join("counts.json"), "[]").expect("writable");
    for file in ["counts.json", "absent.json"] {
        let path = folder.join(file);
        for cases in ["", "router "] {
            let line = format!("{cases}--count --against {}", path.display());
            let Said { code, out, err } = bench(&line, None);
            assert_eq!((code, out.as_str()), (Some(2), ""));
            assert!(err.contains(file) && !err.contains("counting"), "{err}");
        }
    }
}

#[test]
fn without_valgrind_counting_says_how_to_get_it_and_times_are_still_there() {
    let empty = folder("no-valgrind");
    let Said { code, err, .. } = bench("r2 --count", Some(&empty));
    assert_eq!(code, Some(2));
    assert!(err.contains("apt-get install valgrind"), "{err}");
    let Said { code, out, err } = bench("r2 --repeat 1", Some(&empty));
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("ns/hop") && out.contains("apt-get install valgrind"), "{out}");
    assert!(!out.contains("instr/hop"), "{out}");
}

#[test]
fn counts_that_grew_are_named_with_before_and_after() {
    let folder = folder("counts");
    let before = json!({ "weft": "0", "bound": {}, "cases": [{ "name": "r2", "counted":
        { "instructions_per_hop": 10.0, "events": 1, "packet_hops": 1, "allocations": 1_000_000 } }] });
    let file = folder.join("counts.json");
    fs::write(&file, before.to_string()).expect("writable");
    let Said { code, out, err } = bench(&format!("r2 --count --json --against {}", file.display()), None);
    if err.contains("apt-get install valgrind") {
        return;
    }
    assert_eq!(code, Some(1), "{err}");
    let now: Value = serde_json::from_str(&out).expect("standard output is JSON");
    let now = now["cases"][0]["counted"]["instructions_per_hop"].as_f64().expect("a number");
    assert!(err.contains(&format!("r2: {now} instructions per packet-hop, before 10 (+")), "{err}");
    assert!(!err.contains("allocations"), "{err}");
}

#[test]
fn a_comparison_of_nothing_fails() {
    let folder = folder("nothing-compared");
    let file = folder.join("counts.json");
    fs::write(&file, json!({ "cases": [{ "name": "forward-1500", "instructions": 1.0 }] }).to_string())
        .expect("writable");
    let count = |case| bench(&format!("router {case} --count --json --against {}", file.display()), None);
    let Said { code, err, .. } = count("forward");
    if err.contains("apt-get install valgrind") {
        return;
    }
    assert!(code == Some(1) && err.contains("nothing was compared"), "{err}");
    let Said { code, err, .. } = count("forward-1500");
    assert!(
        code == Some(1) && err.contains("router forward-1500: ") && err.contains("before 1.0 (+"),
        "{err}"
    );
}
