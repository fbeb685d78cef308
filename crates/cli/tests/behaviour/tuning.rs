//! `weft tune`: thresholds found by running a scenario, a model's view of them, and impossible searches.

use crate::{Said, folder, folder_with, good, weft};
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
    assert!(text.contains("best found: --set 'switch.ecn={ step = { threshold = \"5000 B\" } }"), "{text}");
    assert!(text.contains("look beyond with --from or --to"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Marks are tried where the scenario makes them, whatever kind of marker does.
#[test]
fn another_kind_of_marker_marks_where_the_scenario_does() {
    let red = "{ red = { min = \"20 kB\", max = \"80 kB\", at = \"dequeue\", non_ect = \"pass\" } }";
    let scenario = BOTTLENECK.replace("{ step = { threshold = \"65 pkt\" } }", red);
    assert_ne!(scenario, BOTTLENECK);
    let folder = folder_with("tune-other-kind", &scenario);
    let text = good(&folder, &format!("{LINE} --metric fct.tag.short.mean"));
    let marker = "{ step = { threshold = \"5000 B\", at = \"dequeue\", non_ect = \"pass\" } }";
    assert!(
        text.contains(&format!(
            "--set 'switch.ecn={marker}'\nin the scenario, this marker takes the place of switch.ecn"
        )),
        "{text}"
    );
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
        ("--case ecmp", "it has no sweep, so that --case has no effect"),
        ("--at switch.enc", "did you mean"),
    ] {
        let said = weft(&folder, &format!("tune ecn tiny.toml {arguments} --progress none"));
        assert_eq!(said.code, Some(2), "{arguments}: {}{}", said.out, said.err);
        assert!(said.err.contains(words), "{arguments}: {}", said.err);
    }
    assert!(!folder.join("runs").exists());
}

/// Six hosts at one switch with three strict queues; most flows fit into a packet or two.
const PRIORITIES: &str = r#"weft = 1
name = "priorities"

[topology.single-switch]
hosts = 6
host_link = { rate = "10 Gbps", delay = "2 us" }

[switch]
queues = 3
schedule = "strict"
ecn = { step = { threshold = "65 pkt", scope = "port" } }

[transport.dctcp]
pias = { thresholds = ["20 kB", "60 kB"] }

[[traffic]]
tag = "calls"
load = 0.6
load_of = "hosts"
pairs = "any"
sizes = "exponential(30 kB)"

[measure]
flows = 150
warm_up = "1 ms"
"#;

/// `weft tune pias` with a scenario and seed 1.
fn tuned(name: &str, arguments: &str) -> Said {
    let folder = folder_with(name, PRIORITIES);
    weft(&folder, &format!("tune pias --simulate tiny.toml --seed 1 {arguments}"))
}

const SAME: &str = "--sizes exponential(30kB) --load 0.6 --queues 3";

/// Eight classes do not fit three queues: nothing is tried, and the rule that refuses them is named.
#[test]
fn thresholds_that_a_scenario_refuses_are_not_tried() {
    let said = tuned("tune-queues", "--sizes exponential(30kB) --load 0.6");
    assert_eq!(said.code, Some(2), "{}{}", said.out, said.err);
    assert!(said.err.contains("8 classes share 3 queues") && said.err.contains("--queues"), "{}", said.err);
    assert!(!said.err.contains("trial"), "{}", said.err);
}

#[test]
fn flows_and_loads_that_differ_from_the_scenario_are_remarked() {
    let said = tuned("tune-other", "--sizes web-search-pias --load 0.8 --queues 3 --trials 2");
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("other sizes than --sizes: exponential(30 kB)"), "{}", said.out);
    assert!(said.out.contains("a load of 60 %, not 80 %"), "{}", said.out);
    assert!(!tuned("tune-same", &format!("{SAME} --trials 2")).out.contains("remark"));
}

/// The best found is at least as good as the scenario's own thresholds, whatever the number of trials, which is
/// reported correctly; `weft check` accepts it.
#[test]
fn the_best_thresholds_are_no_worse_than_the_scenarios_and_can_be_used() {
    for trials in [2, 9] {
        let said = tuned("tune-best", &format!("{SAME} --trials {trials} --json"));
        let json: Value = serde_json::from_str(&said.out).expect("JSON");
        let found = &json["simulated"];
        let of = |name: &str| found[name].as_f64().expect("a number");
        assert!(
            of("mean_fct_of_best_s") <= of("mean_fct_of_own_s").min(of("mean_fct_of_advice_s")),
            "{found:#}"
        );
        assert_eq!(found["trials"].as_u64(), Some(said.err.matches("trial ").count() as u64), "{}", said.err);
        // Those of the warm-up are left out, as `weft run` does.
        assert_eq!(found["flows"].as_u64(), Some(150), "{found:#}");
        let best = found["best_thresholds_bytes"].as_array().expect("a list").iter();
        let best: Vec<String> = best.map(|bytes| format!("\"{bytes} B\"")).collect();
        let scenario = PRIORITIES.replace("\"20 kB\", \"60 kB\"", &best.join(", "));
        good(&folder_with("tune-best-checked", &scenario), "check tiny.toml");
    }
}

#[test]
fn seeds_of_no_trial_have_no_effect() {
    let folder = folder("tune-seeds");
    let said = weft(&folder, "tune pias --sizes web-search-pias --seed 3");
    assert!(said.code == Some(2) && said.err.contains("--simulate"), "{}", said.err);
}
