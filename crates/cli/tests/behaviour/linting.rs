//! `weft lint`: exit codes, formats, and files that cannot be read.

use crate::{folder, weft};
use std::fs;

#[test]
fn findings_fail_from_the_level_that_is_asked_for() {
    let folder = folder("lint-levels");
    fs::write(folder.join("hosts.conf"), "net.ipv4.tcp_congestion_control = dctcp\n").expect("writable");
    let code = |line: &str| weft(&folder, line).code;
    assert_eq!(code("lint hosts.conf"), Some(0), "a note is no failure");
    assert_eq!(code("lint hosts.conf --fail-on note"), Some(1));
    assert_eq!(code("lint hosts.conf --fail-on note --allow dctcp-fallback"), Some(0));
    assert_eq!(code("lint absent.json"), Some(2));
    assert_eq!(code("lint hosts.conf --rule nonsense"), Some(2));
    assert_eq!(code("lint hosts.conf --rtt fast"), Some(2));
    assert_eq!(code("lint"), Some(2));
}

#[test]
fn every_format_names_rule_and_place() {
    let folder = folder("lint-formats");
    fs::write(folder.join("hosts.conf"), "# hosts\nnet.ipv4.tcp_congestion_control = dctcp\n")
        .expect("writable");
    let answer = |line: &str| weft(&folder, line).out;
    assert!(answer("lint hosts.conf").starts_with("hosts.conf:2:1: note: "));
    let json: serde_json::Value =
        serde_json::from_str(&answer("lint hosts.conf --format json")).expect("JSON");
    assert_eq!(
        (&json["findings"][0]["rule"], &json["findings"][0]["line"]),
        (&"dctcp-fallback".into(), &2.into())
    );
    let sarif: serde_json::Value =
        serde_json::from_str(&answer("lint hosts.conf --format sarif")).expect("SARIF");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"dctcp-fallback".into(), &"note".into()));
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
}

#[test]
fn a_file_that_is_broken_is_named_with_its_line() {
    let folder = folder("lint-broken");
    fs::write(folder.join("config_db.json"), "{\n  \"PORT\": {,}\n}\n").expect("writable");
    fs::write(folder.join("binary.json"), [b'{', b'\n', 0xff, 0xfe]).expect("writable");
    let output = weft(&folder, "lint config_db.json");
    assert_eq!(output.code, Some(2));
    assert!(output.err.starts_with("config_db.json:2:12: found `,`"));
    let output = weft(&folder, "lint binary.json");
    assert!(output.err.starts_with("binary.json:2: found a byte"));
}

#[test]
fn a_baseline_replaces_baselines_only() {
    let folder = folder("lint-baseline");
    let hosts = "net.ipv4.tcp_congestion_control = dctcp\n";
    fs::write(folder.join("hosts.conf"), hosts).expect("writable");
    fs::write(folder.join("notes.txt"), "mine").expect("writable");
    for (file, why) in [
        ("hosts.conf", "is no baseline of weft and is not overwritten"),
        ("notes.txt", "is no baseline of weft and is not overwritten"),
    ] {
        let refused = weft(&folder, &format!("lint hosts.conf --write-baseline {file}"));
        assert_eq!((refused.code, refused.err.contains(why)), (Some(2), true), "{}", refused.err);
    }
    assert_eq!(fs::read_to_string(folder.join("hosts.conf")).expect("still there"), hosts);
    for _ in 0..2 {
        assert_eq!(weft(&folder, "lint hosts.conf --write-baseline known.json").code, Some(0));
    }
    assert_eq!(weft(&folder, "lint hosts.conf --baseline known.json --fail-on note").code, Some(0));
}

/// A pool of headroom that all ports share is set aside once, not once for each port.
#[test]
fn a_shared_headroom_pool_counts_once() {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/pfc/mmu.toml");
    let folder = folder("lint-headroom-pool");
    let out = weft(&folder, &format!("lint {scenario}")).out;
    assert!(!out.contains("memory-oversubscribed"), "{out}");
    assert!(out.contains("mmu.toml"), "{out}");
}
