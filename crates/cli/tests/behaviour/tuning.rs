//! `weft tune ecn`: thresholds found by running a scenario, and what cannot be searched.

use crate::{folder, folder_with, good, weft};
use serde_json::Value;

/// Two hosts send through one port whose buffer holds half a megabyte.
const BOTTLENECK: &str = r#"weft = 1
name = "bottleneck"
seeds = [1, 2]

[topology.single-switch]
hosts = 3
host_link = { rate = "10 Gbps", delay = "2 us" }

[switch]
buffer = "500 kB"
ecn = { step = { threshold = "65 pkt" } }

[transport.dctcp]
handshake = false

[[traffic]]
tag = "long"
kind = "list"
flows = [{ from = 0, to = 2, size = "6 MB" }, { from = 1, to = 2, size = "6 MB" }]

[[traffic]]
tag = "short"
kind = "list"
start = "3 ms"
flows = [
    { from = 0, to = 2, size = "20 kB" },
    { from = 1, to = 2, size = "20 kB", at = "1 ms" },
    { from = 0, to = 2, size = "20 kB", at = "2 ms" },
]
"#;

const LINE: &str =
    "tune ecn tiny.toml --from 5kB --to 405kB --points 3 --rounds 1 --progress none --out runs";

/// Short flows wait behind the standing queue of long ones: the least threshold is the best for them, and the end of the row.
#[test]
fn a_low_threshold_is_best_for_short_flows_behind_long_ones() {
    let folder = folder_with("tune-ecn", BOTTLENECK);
    let found: Value =
        serde_json::from_str(&good(&folder, &format!("{LINE} --metric fct.tag.short.mean --json")))
            .expect("JSON");
    assert_eq!(found["best_threshold_bytes"], 5_000, "{found}");
    assert_eq!(found["at_edge"], true);
    let trials = found["trials"].as_array().expect("a list");
    let thresholds: Vec<_> = trials.iter().map(|trial| trial["threshold_bytes"].as_u64()).collect();
    assert_eq!(thresholds, [None, Some(5_000), Some(15_000), Some(45_000), Some(405_000)]);
    let mean = |n: usize| trials[n]["mean"].as_f64().expect("measured");
    assert!(mean(4) > 2.0 * mean(1), "{found}");
    let text = good(&folder, &format!("{LINE} --metric fct.tag.short.mean"));
    assert!(text.contains("best found: switch.ecn = { step = { threshold = \"5000 B\" } }"), "{text}");
    assert!(text.contains("look beyond with --from or --to"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn what_cannot_be_searched_is_refused_before_anything_runs() {
    let folder = folder("tune-wrong");
    std::fs::write(folder.join("tiny.toml"), BOTTLENECK).expect("writable");
    for (arguments, words) in [
        ("--metric fct.mena", "did you mean `fct.mean`?"),
        ("--metric flows.measured_count", "there is no metric"),
        ("--times 3", "no effect without --shape ramp"),
        ("--shape ramp --times 1", "a ramp ends above its threshold"),
        ("--from 3Mb", "--from"),
        ("--from 2MB", "less than --to"),
        ("--case ecmp", "choose one case"),
        ("--at switch.enc", "did you mean"),
    ] {
        let said = weft(&folder, &format!("tune ecn tiny.toml {arguments} --progress none"));
        assert_eq!(said.code, Some(2), "{arguments}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{arguments}: {}", said.err);
    }
    assert!(!folder.join("runs").exists());
}
