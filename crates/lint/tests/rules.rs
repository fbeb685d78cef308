//! Every rule finds its fault, and nothing in correct files: three realistic files without a finding, and for each
//! rule one change that it must find, at the line of the change.

use weft_core::{Bytes, Rate, Span};
use weft_lint::{FileKind, Finding, Input, Metres, Report, RuleOptions, Severity, Surroundings, lint, rules};

const LEAF: &str = include_str!("files/leaf_config_db.json");
const EOS: &str = include_str!("files/leaf_running_config.cfg");
const HOSTS: &str = include_str!("files/90-tcp.conf");

/// A leaf-spine network that marks above bursts and below its buffers.
const SCENARIO: &str = "\
weft = 1
name = \"lint\"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[switch]
sharing = { kind = \"static\", per_port = \"1 MB\" }
ecn = { kind = \"step\", threshold = \"100 kB\", non_ect = \"pass\" }
[balance.ecmp]
seeding = \"per-switch\"
[transport.dctcp]
tso = true
[[traffic]]
tag = \"web\"
load = 0.1
sizes = \"10 kB\"
[measure]
flows = 10
";

fn site() -> Surroundings {
    Surroundings {
        rtt: Some(Span::from_us(50)),
        rate: Some(Rate::from_gbps(25)),
        memory: Some(Bytes(32_000_000)),
        cable: Some(Metres(40.0)),
        cell: None,
    }
}

fn judge(files: &[(&str, &str)]) -> Report {
    let input =
        |(name, text): &(&str, &str)| Input { name: (*name).into(), text: (*text).into(), kind: None };
    let options = RuleOptions { site: site(), ..RuleOptions::default() };
    lint(files.iter().map(input).collect(), &options).unwrap_or_else(|refused| panic!("{refused}"))
}

/// The line of a text that contains some words, from 1.
fn line_of(text: &str, words: &str) -> usize {
    let at = text.find(words).unwrap_or_else(|| panic!("{words} is not there"));
    1 + text[..at].matches('\n').count()
}

/// The findings of a rule after the first `from` became `to`; the file must have none of its findings before.
fn after(
    rule: &str,
    (name, text): (&str, &str),
    (from, to): (&str, &str),
    beside: &[(&str, &str)],
) -> (String, Vec<Finding>) {
    assert!(text.contains(from), "{rule}: {from} is not there");
    let changed = text.replacen(from, to, 1);
    let found = |text: &str| {
        let files: Vec<(&str, &str)> = std::iter::once((name, text)).chain(beside.iter().copied()).collect();
        judge(&files).findings.into_iter().filter(|finding| finding.rule == rule).collect::<Vec<_>>()
    };
    assert_eq!(found(text), [], "{rule} finds something in the file that is right");
    (changed.clone(), found(&changed))
}

/// A rule finds a change, once, at the line that holds `at` afterwards.
fn finds(rule: &str, file: (&str, &str), change: (&str, &str), at: &str) -> Finding {
    let (changed, found) = after(rule, file, change, &[]);
    assert_eq!(found.len(), 1, "{rule}: {found:#?}");
    assert_eq!(found[0].line, line_of(&changed, at), "{rule}: {}", found[0].says);
    found[0].clone()
}

const SONIC: (&str, &str) = ("config_db.json", LEAF);
const ARISTA: (&str, &str) = ("leaf.cfg", EOS);
const LINUX: (&str, &str) = ("90-tcp.conf", HOSTS);
const WEFT: (&str, &str) = ("lint.toml", SCENARIO);

#[test]
fn files_that_are_right_have_no_finding() {
    for file in [SONIC, ARISTA, LINUX, WEFT] {
        let report = judge(&[file]);
        assert_eq!((report.findings, report.unchecked), (vec![], vec![]), "{}", file.0);
    }
}

#[test]
fn together_the_right_files_have_only_the_note_on_packets_that_cannot_be_marked() {
    let report = judge(&[SONIC, ARISTA, LINUX]);
    let told: Vec<_> = report.findings.iter().map(|finding| (finding.rule, finding.level)).collect();
    // Lossless queues are not those of these hosts.
    assert_eq!(told, [("non-ect-in-marking-queue", Severity::Note); 2]);
}

#[test]
fn marks_after_pauses_are_graded_by_the_load_that_they_are_late_for() {
    // alpha 1/2 in 25.17 MB: 12.6 MB for two ports, 23.6 MB for 31, 197 kB for the worst load.
    let from = "\"green_min_threshold\": \"150000\"";
    for (min, level) in [
        ("196000", None),
        ("197000", Some(Severity::Note)),
        ("12600000", Some(Severity::Warning)),
        ("23700000", Some(Severity::Error)),
    ] {
        let to = format!("\"green_min_threshold\": \"{min}\"");
        let (_, found) = after("ecn-after-pfc", SONIC, (from, &to), &[]);
        assert_eq!(found.first().map(|finding| finding.level), level, "{min}");
    }
    let finding = finds("ecn-after-pfc", SONIC, (from, "\"green_min_threshold\": \"1048576\""), "1048576");
    assert!(finding.says.contains("12.6 MB") && finding.says.contains("197 kB"), "{}", finding.says);
    assert_eq!(finding.subjects.len(), 64);
    // A static limit of 100 kB: 200 kB for two ports.
    let static_limit = ("\"dynamic_th\": \"-1\"", "\"static_th\": \"100000\"");
    let finding = finds("ecn-after-pfc", SONIC, static_limit, "\"green_min_threshold\": \"150000\"");
    assert!(finding.level == Severity::Note && finding.says.contains("200 kB"), "{finding:?}");
    finds(
        "ecn-after-pfc",
        ARISTA,
        ("minimum-threshold 160 kbytes", "minimum-threshold 1000 kbytes"),
        "1000 kbytes",
    );
}

#[test]
fn marks_have_to_come_before_drops() {
    // alpha 1 in 25.17 MB: 12.6 MB alone, 763 kB with 32 ports.
    let change = |min| {
        ("\"green_min_threshold\": \"200000\"".to_owned(), format!("\"green_min_threshold\": \"{min}\""))
    };
    for (min, level) in
        [(762_000, None), (763_000, Some(Severity::Note)), (12_600_000, Some(Severity::Error))]
    {
        let (from, to) = change(min);
        let (_, found) = after("ecn-above-drop", SONIC, (&from, &to), &[]);
        assert_eq!(found.first().map(|finding| finding.level), level, "{min}");
    }
    let top = ("\"green_max_threshold\": \"200000\"", "\"green_max_threshold\": \"20000000\"");
    assert_eq!(finds("ecn-above-drop", SONIC, top, "20000000").level, Severity::Warning);
    finds("ecn-above-drop", WEFT, ("\"1 MB\"", "\"90 kB\""), "100 kB");
}

#[test]
fn marking_profiles_are_checked_by_themselves() {
    finds(
        "ramp-order",
        SONIC,
        ("\"green_max_threshold\": \"1500000\"", "\"green_max_threshold\": \"140000\""),
        "\"150000\"",
    );
    finds("ramp-order", ARISTA, ("maximum-threshold 1500", "maximum-threshold 15"), "threshold 15 ");
    finds(
        "ramp-flat",
        SONIC,
        ("\"green_drop_probability\": \"5\"", "\"green_drop_probability\": \"0\""),
        "\"green_drop_probability\": \"0\"",
    );
    finds(
        "marking-off",
        SONIC,
        ("\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\""),
        "\"false\"",
    );
    let removed = LEAF.replace("\"wred_profile\": \"LOSSY\"", "\"scheduler\": \"scheduler.0\"");
    let found = judge(&[("config_db.json", &removed)]).findings;
    let unbound: Vec<_> = found.iter().filter(|finding| finding.rule == "marking-unbound").collect();
    assert_eq!((unbound.len(), unbound[0].line), (1, line_of(&removed, "\"LOSSY\": {")));
    let off = ("\"wred_profile\": \"LOSSLESS\"", "\"scheduler\": \"scheduler.1\"");
    let finding = after("lossless-without-ecn", SONIC, off, &[]).1;
    assert_eq!((finding.len(), finding[0].subjects[0].as_str()), (2, "Ethernet0"));
    finds(
        "lossless-without-ecn",
        ARISTA,
        ("ecn minimum-threshold 160", "drop minimum-threshold 160"),
        "priority 3 no-drop",
    );
}

#[test]
fn pfc_and_buffers_have_to_agree() {
    let lossy = (
        "\"Ethernet8|3-4\": {\n            \"profile\": \"pg_lossless_100000_40m_profile\"",
        "\"Ethernet8|3-4\": {\n            \"profile\": \"ingress_lossy_profile\"",
    );
    let found = after("pfc-without-lossless-profile", SONIC, lossy, &[]).1;
    assert_eq!((found.len(), found[0].line), (2, line_of(LEAF, "\"Ethernet8|3-4\"")), "priorities 3 and 4");
    let off = ("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3\"");
    let finding = finds("lossless-profile-without-pfc", SONIC, off, "\"Ethernet0|3-4\"");
    assert!(finding.says.contains("group 4"), "{}", finding.says);
    let xon = (
        "\"dynamic_th\": \"-1\",\n            \"pool\": \"ingress_lossless_pool\",\n            \"size\": \"1248\"",
        "\"static_th\": \"1248\",\n            \"pool\": \"ingress_lossless_pool\",\n            \"size\": \"1248\"",
    );
    finds("xon-order", SONIC, xon, "\"xon\": \"1248\"");
    let gap = ("\"xon\": \"1248\",\n            \"xon_offset\": \"18432\"", "\"xon_offset\": \"0\"");
    assert_eq!(
        finds("xon-order", SONIC, gap, "\"pg_lossless_100000_40m_profile\": {").level,
        Severity::Warning
    );
}

#[test]
fn somebody_has_to_watch() {
    let unwatched = (
        "\"Ethernet4\": {\n            \"action\": \"drop\",\n            \"detection_time\": \"200\",\n            \"restoration_time\": \"400\"\n        },\n",
        "",
    );
    assert_eq!(after("watchdog-off", SONIC, unwatched, &[]).1[0].subjects, ["Ethernet4"]);
    finds(
        "watchdog-off",
        ARISTA,
        (
            "watchdog default timeout 0.2\npriority-flow-control pause watchdog default recovery-time 0.4\npriority-flow-control pause watchdog action drop",
            "watchdog default timeout 0",
        ),
        "priority 3 no-drop",
    );
    finds(
        "watchdog-times",
        SONIC,
        ("\"detection_time\": \"200\"", "\"detection_time\": \"20\""),
        "\"Ethernet0\": {\n            \"action\"",
    );
    finds(
        "watchdog-times",
        SONIC,
        ("\"restoration_time\": \"400\"", "\"restoration_time\": \"100\""),
        "\"Ethernet0\": {\n            \"action\"",
    );
}

#[test]
fn headroom_has_to_hold_speed_and_cable() {
    let xoff = |bytes| ("\"xoff\": \"49920\"".to_owned(), format!("\"xoff\": \"{bytes}\""));
    // 2 x 9118 + 84 + 394 x 64 + 100 Gb/s x 2 x 200 ns / 8 = 48536.
    let (from, enough) = xoff(48_536);
    assert!(after("headroom-too-small", SONIC, (&from, &enough), &[]).1.is_empty());
    let (from, short) = xoff(48_535);
    assert_eq!(
        finds("headroom-too-small", SONIC, (&from, &short), &short).subjects.len(),
        4,
        "only the uplinks have 40 m"
    );
    finds("headroom-too-small", ARISTA, ("headroom bytes 60000", "headroom bytes 20000"), "20000");
    let (from, none) = xoff(0);
    finds("headroom-missing", SONIC, (&from, &none), &none);
    let far = ("\"Ethernet124\": \"40m\"", "\"Ethernet124\": \"300m\"");
    assert_eq!(
        finds("profile-for-another-port", SONIC, far, "\"Ethernet124|3-4\"").subjects,
        ["Ethernet124"]
    );
    let fast = (
        "\"mtu\": \"9100\",\n            \"speed\": \"100000\"",
        "\"mtu\": \"9100\",\n            \"speed\": \"400000\"",
    );
    finds("profile-for-another-port", SONIC, fast, "\"Ethernet0|3-4\"");
    let pool = ("\"xoff\": \"3194880\"", "\"xoff\": \"1000000\"");
    assert_eq!(finds("headroom-pool-oversubscribed", SONIC, pool, "\"1000000\"").level, Severity::Warning);
}

#[test]
fn memory_is_promised_once() {
    finds(
        "pool-oversubscribed",
        SONIC,
        ("\"size\": \"1664\"", "\"size\": \"166400\""),
        "\"egress_lossy_pool\": {",
    );
    finds(
        "memory-oversubscribed",
        SONIC,
        (
            "\"size\": \"25165824\",\n            \"type\": \"ingress\"",
            "\"size\": \"30000000\",\n            \"type\": \"ingress\"",
        ),
        "\"ingress_lossless_pool\": {",
    );
    let above = ("\"dynamic_th\": \"0\"", "\"static_th\": \"30000000\"");
    assert_eq!(
        finds("static-above-pool", SONIC, above, "\"static_th\": \"30000000\"").level,
        Severity::Warning
    );
}

#[test]
fn maps_lead_a_pause_to_the_queue_that_sends() {
    let queue = (
        "\"TC_TO_QUEUE_MAP\": {\n        \"AZURE\": {\n            \"0\": \"0\",\n            \"1\": \"1\",\n            \"2\": \"2\",\n            \"3\": \"3\"",
        "\"TC_TO_QUEUE_MAP\": {\n        \"AZURE\": {\n            \"0\": \"0\",\n            \"1\": \"1\",\n            \"2\": \"2\",\n            \"3\": \"2\"",
    );
    finds("pause-stops-wrong-queue", SONIC, queue, "\"3\": \"2\"");
    // Class 5 alone fills group 3: its packets wait in queue 5, and a pause of priority 3 stops queue 3.
    let alone = (
        "\"3\": \"3\",\n            \"4\": \"4\",\n            \"5\": \"0\",\n            \"6\": \"0\"",
        "\"3\": \"0\",\n            \"4\": \"4\",\n            \"5\": \"3\",\n            \"6\": \"0\"",
    );
    assert_eq!(after("pause-stops-wrong-queue", SONIC, alone, &[]).1.len(), 1);
    let group = ("\"5\": \"0\",\n            \"6\": \"0\"", "\"5\": \"4\",\n            \"6\": \"0\"");
    finds("classes-share-group", SONIC, group, "\"5\": \"4\"");
    let unreached = ("\"4\": \"4\",\n            \"5\": \"1\"", "\"4\": \"1\",\n            \"5\": \"1\"");
    finds("lossless-class-unreached", SONIC, unreached, "\"pfc_enable\"");
    let default = (
        "\"DSCP_TO_TC_MAP\": {\n        \"AZURE\": {\n            \"0\": \"1\"",
        "\"DSCP_TO_TC_MAP\": {\n        \"AZURE\": {\n            \"0\": \"3\"",
    );
    finds("default-traffic-lossless", SONIC, default, "\"0\": \"3\"");
    finds("notifications-paused", SONIC, ("\"48\": \"6\"", "\"48\": \"3\""), "\"48\": \"3\"");
}

/// The switches of the LINE Yahoo tests: CoS 0 and 1 do not drop, and DSCP 0 is traffic class 1, which is CoS 0.
#[test]
fn default_traffic_of_the_hadoop_tests_was_lossless() {
    let (_, found) =
        after("default-traffic-lossless", ARISTA, ("priority 3 no-drop", "priority 0 no-drop"), &[]);
    assert!(found.len() == 1 && found[0].says.contains("traffic class 1"), "{found:?}");
}

#[test]
fn dctcp_needs_ecn_and_a_fitting_threshold() {
    finds("dctcp-ecn-off", LINUX, ("tcp_ecn = 1", "tcp_ecn = 0"), "tcp_ecn = 0");
    finds(
        "dctcp-fallback",
        LINUX,
        ("tcp_ecn_fallback = 0", "tcp_ecn_fallback = 1"),
        "tcp_congestion_control",
    );
    assert_eq!(
        judge(&[SONIC, LINUX])
            .findings
            .iter()
            .filter(|finding| finding.rule == "dctcp-without-marks")
            .count(),
        0
    );
    let unmarked = LEAF.replace("\"wred_profile\"", "\"no_profile\"");
    let found = judge(&[("config_db.json", &unmarked), LINUX]).findings;
    let told: Vec<_> = found.iter().filter(|finding| finding.rule == "dctcp-without-marks").collect();
    assert!(told.len() == 1 && told[0].says.contains("leaf1"), "{told:?}");
    let low = ("\"green_min_threshold\": \"200000\"", "\"green_min_threshold\": \"20000\"");
    // 25 Gb/s x 50 us / 8 / 7 = 22.3 kB, and a burst of 64 KiB.
    for (rule, figure) in
        [("dctcp-threshold-low", "22.3 kB"), ("dctcp-threshold-burst", "65.5 kB"), ("dctcp-on-ramp", "ramp")]
    {
        let (changed, found) = after(rule, SONIC, low, &[LINUX]);
        assert!(found.len() == 1 && found[0].says.contains(figure), "{rule}: {found:?}");
        let line = if rule == "dctcp-on-ramp" { "\"green_max_threshold\": \"200000\"" } else { "\"20000\"" };
        assert_eq!(found[0].line, line_of(&changed, line), "{rule}");
    }
    finds("dctcp-threshold-burst", WEFT, ("\"100 kB\"", "\"50 kB\""), "50 kB");
}

/// alpha 1/2 in 25.17 MB: two ports pause when a queue holds 12.6 MB, 31 when it holds 23.6 MB.
#[test]
fn a_lossless_queue_holds_what_pauses_allow() {
    let from = "\"static_th\": \"28360704\"";
    for (limit, level) in [
        ("23700000", None),
        ("23500000", Some(Severity::Note)),
        ("12700000", Some(Severity::Note)),
        ("12500000", Some(Severity::Error)),
    ] {
        let to = format!("\"static_th\": \"{limit}\"");
        let (_, found) = after("lossless-queue-lossy", SONIC, (from, &to), &[]);
        assert_eq!(found.first().map(|finding| finding.level), level, "{limit}");
    }
}

/// 5 is "accept, never request" of AccECN, as 2 is of RFC 3168; 3 and 4 request.
#[test]
fn hosts_that_never_request_ecn_are_told_apart() {
    for (ecn, warned) in [("1", false), ("2", true), ("3", false), ("4", false), ("5", true)] {
        let host = format!("net.ipv4.tcp_congestion_control = cubic\nnet.ipv4.tcp_ecn = {ecn}\n");
        let found = judge(&[ARISTA, ("hosts.conf", &host)]).findings;
        let rule = |one: &&Finding| one.rule == "non-ect-in-marking-queue" && one.level == Severity::Warning;
        assert_eq!(found.iter().any(|one| rule(&one)), warned, "tcp_ecn = {ecn}: {found:?}");
    }
}

#[test]
fn what_cannot_be_marked_is_dropped() {
    let (_, found) =
        after("non-ect-in-marking-queue", WEFT, ("non_ect = \"pass\"", "non_ect = \"drop\""), &[]);
    assert_eq!((found.len(), found[0].level), (1, Severity::Note));
    // Hosts with Linux' defaults never ask for ECN: everything they send meets the drop probability.
    let plain = "net.ipv4.tcp_congestion_control = cubic\n";
    let found = judge(&[SONIC, ("hosts.conf", plain)]).findings;
    assert!(
        found
            .iter()
            .any(|finding| finding.level == Severity::Warning && finding.says.contains("tcp_ecn = 2")),
        "{found:?}"
    );
    let asking = "net.ipv4.tcp_congestion_control = cubic\nnet.ipv4.tcp_ecn = 1\n";
    assert!(
        judge(&[SONIC, ("hosts.conf", asking)])
            .findings
            .iter()
            .all(|finding| finding.level == Severity::Note)
    );
}

/// Linux ignores it since 6.6, so that it decides no verdict; earlier kernels made a quarter of the buffer window.
#[test]
fn a_setting_that_current_kernels_ignore_is_named() {
    let last = "net.ipv4.tcp_wmem";
    let scaled = format!("net.ipv4.tcp_adv_win_scale = -2\n{last}");
    let found = finds("setting-without-effect", LINUX, (last, &scaled), "tcp_adv_win_scale");
    assert_eq!(found.level, Severity::Note);
    let text = HOSTS.replace("131072 6291456", "131072 400000").replace(last, &scaled);
    let found = judge(&[("90-tcp.conf", &text)]).findings;
    assert!(found.iter().all(|one| one.rule != "window-below-path"), "{found:?}");
}

#[test]
fn windows_hold_the_path_and_do_not_replace_marks() {
    // 25 Gb/s x 50 us = 156 kB of path. Of a buffer of 300 kB 150 to 270 kB become window.
    let some = finds("window-below-path", LINUX, ("131072 6291456", "131072 300000"), "tcp_rmem");
    assert!(some.level == Severity::Note && some.says.contains("150 kB to 270 kB"), "{some:?}");
    let none = finds("window-below-path", LINUX, ("131072 6291456", "131072 156000"), "tcp_rmem");
    assert!(none.level == Severity::Warning && none.says.contains("at most 156 kB"), "{none:?}");
    finds("window-below-path", LINUX, ("16384 4194304", "16384 150000"), "tcp_wmem");
    assert!(after("window-below-path", LINUX, ("131072 6291456", "131072 320000"), &[]).1.is_empty());
    let unmarked = LEAF.replace("\"wred_profile\"", "\"no_profile\"");
    let found = judge(&[("config_db.json", &unmarked), LINUX]).findings;
    let filled: Vec<_> = found.iter().filter(|finding| finding.rule == "windows-fill-buffer").collect();
    assert!(filled.len() == 1 && filled[0].says.contains("90.6 MB"), "{filled:?}");
}

/// The level of a rule's finding after a change of the SONiC file; `None` without a finding.
fn graded(rule: &str, change: (&str, &str), beside: &[(&str, &str)]) -> Option<Severity> {
    after(rule, SONIC, change, beside).1.first().map(|finding| finding.level)
}

/// 56 groups need 44 161 B and 8 groups with cables of 40 m 48 536 B: all at once 2 861 304 B, whatever their xoff.
#[test]
fn a_shared_headroom_is_graded_by_how_often_it_is_promised() {
    for (room, level) in [
        (2_861_304, None),
        (2_861_303, Some(Severity::Note)),
        (1_430_652, Some(Severity::Note)),
        (1_430_651, Some(Severity::Warning)),
        (48_536, Some(Severity::Warning)),
        (48_535, Some(Severity::Error)),
    ] {
        let to = format!("\"xoff\": \"{room}\"");
        let found = graded("headroom-pool-oversubscribed", ("\"xoff\": \"3194880\"", &to), &[]);
        assert_eq!(found, level, "{room} B");
    }
}

/// Memory that is promised: 64 groups with 1248 B of their own and 49 920 B of headroom in one pool without a shared one.
#[test]
fn a_pool_holds_minima_and_headroom_to_the_byte() {
    let from =
        "\"size\": \"25165824\",\n            \"type\": \"ingress\",\n            \"xoff\": \"3194880\"";
    for (size, found) in [(64 * (1_248 + 49_920), None), (64 * (1_248 + 49_920) - 1, Some(Severity::Warning))]
    {
        let to = format!("\"size\": \"{size}\",\n            \"type\": \"ingress\"");
        assert_eq!(graded("pool-oversubscribed", (from, &to), &[]).is_some(), found.is_some(), "{size} B");
    }
    // A size that includes the headroom, xon + xoff, as tables for chips without shared headroom have it.
    for (size, found) in [(64 * 60_000, false), (64 * 60_000 - 1, true)] {
        let to = format!("\"size\": \"{size}\",\n            \"type\": \"ingress\"");
        let text = LEAF.replacen(from, &to, 1).replace("\"size\": \"1248\"", "\"size\": \"60000\"");
        let told = judge(&[("config_db.json", &text)]).findings;
        assert_eq!(told.iter().any(|one| one.rule == "pool-oversubscribed"), found, "{size} B: {told:?}");
    }
    // 160 lossy queues with a limit each in 24 MB
    let from = "\"size\": \"25165824\",\n            \"type\": \"egress\"";
    assert!(LEAF.contains(from));
    let smaller = LEAF.replace(from, "\"size\": \"24000000\", \"type\": \"egress\"");
    for (limit, found) in [(150_000, false), (150_001, true)] {
        let text = smaller.replace("\"dynamic_th\": \"0\"", &format!("\"static_th\": \"{limit}\""));
        let told = judge(&[("config_db.json", &text)]).findings;
        let told: Vec<_> = told.iter().filter(|finding| finding.rule == "static-above-pool").collect();
        assert_eq!(told.iter().any(|finding| finding.level == Severity::Note), found, "{limit} B: {told:?}");
    }
}

/// A threshold at C RTT / 7 is too low, and one of a burst is enough: 25 Gb/s and 56 us are 7 times 25 000 B.
#[test]
fn thresholds_of_dctcp_hold_to_the_byte() {
    let options = RuleOptions {
        site: Surroundings { rtt: Some(Span::from_us(56)), ..site() },
        ..RuleOptions::default()
    };
    let found = |rule: &str, min: u64| {
        let text = LEAF
            .replace("\"green_min_threshold\": \"200000\"", &format!("\"green_min_threshold\": \"{min}\""));
        let input = |(name, text): (&str, &str)| Input { name: name.into(), text: text.into(), kind: None };
        let report = lint([("config_db.json", text.as_str()), LINUX].map(input).into(), &options).unwrap();
        report.findings.iter().any(|finding| finding.rule == rule)
    };
    assert!(found("dctcp-threshold-low", 25_000) && !found("dctcp-threshold-low", 25_001));
    assert!(found("dctcp-threshold-burst", 65_535) && !found("dctcp-threshold-burst", 65_536));
}

/// The send buffer is the window: 25 Gb/s and 50 us are 156 250 B.
#[test]
fn a_send_buffer_as_large_as_the_path_is_enough() {
    let from = "16384 4194304";
    assert!(after("window-below-path", LINUX, (from, "16384 156250"), &[]).1.is_empty());
    finds("window-below-path", LINUX, (from, "16384 156249"), "tcp_wmem");
}

/// 31 ports with a static limit of 48 000 B put 1 488 000 B into a queue.
#[test]
fn a_ramp_may_end_where_pauses_begin() {
    let limited = LEAF.replace("\"dynamic_th\": \"-1\"", "\"static_th\": \"48000\"");
    for (max, found) in [(1_488_000, false), (1_488_001, true)] {
        let text = limited
            .replace("\"green_max_threshold\": \"1500000\"", &format!("\"green_max_threshold\": \"{max}\""));
        let told = judge(&[("config_db.json", &text)]).findings;
        assert_eq!(told.iter().any(|finding| finding.rule == "ramp-beyond-pfc"), found, "{max} B: {told:?}");
    }
}

/// The watchdog waits 100 ms and restores no sooner than it detects.
#[test]
fn watchdogs_have_just_enough_time() {
    let detection = |to: &str| graded("watchdog-times", ("\"detection_time\": \"200\"", to), &[]);
    assert!(
        detection("\"detection_time\": \"100\"").is_none()
            && detection("\"detection_time\": \"99\"").is_some()
    );
    let restoration = |to: &str| graded("watchdog-times", ("\"restoration_time\": \"400\"", to), &[]);
    assert!(restoration("\"restoration_time\": \"200\"").is_none());
    assert!(restoration("\"restoration_time\": \"199\"").is_some());
}

/// A queue that pauses at half of 25 165 824 B and resumes lower by that amount never resumes.
#[test]
fn an_offset_as_large_as_the_limit_never_resumes() {
    let offset = |bytes: u64| format!("\"xon_offset\": \"{bytes}\"");
    let found = |bytes| graded("xon-order", ("\"xon_offset\": \"18432\"", &offset(bytes)), &[]);
    assert!(found(12_582_911).is_none() && found(12_582_912).is_some());
}

/// Half of 25 165 824 B is XOFF of a single group divided by 1.5, and of all 64 lossless groups by 33. A fixed XON above that is no
/// pause at all.
#[test]
fn a_fixed_xon_lies_below_a_dynamic_xoff() {
    let found =
        |bytes: u64| graded("xon-order", ("\"xon\": \"1248\"", &format!("\"xon\": \"{bytes}\"")), &[]);
    assert_eq!([381_300, 381_301].map(found), [None, Some(Severity::Warning)]);
    assert_eq!([8_388_607, 8_388_608].map(found), [Some(Severity::Warning), Some(Severity::Error)]);
}

#[test]
fn stages_need_different_hashes() {
    let spine = |metadata: &str| {
        format!("{{\"DEVICE_METADATA\": {{\"localhost\": {{\"hostname\": \"spine1\", {metadata}}}}}}}")
    };
    let level = |metadata: &str| {
        let found = judge(&[SONIC, ("spine.json", &spine(metadata))]).findings;
        found.iter().find(|finding| finding.rule == "hash-polarisation").map(|finding| finding.level)
    };
    assert_eq!(level("\"type\": \"LeafRouter\""), None, "SONiC's own seeds differ by role");
    assert_eq!(level("\"type\": \"LeafRouter\", \"ecmp_hash_seed\": \"0\""), Some(Severity::Warning));
    assert_eq!(level("\"type\": \"ToRRouter\""), None, "the same stage may hash alike");
    assert_eq!(level("\"x\": \"y\""), Some(Severity::Note), "without a role the seed is 0 as the leaf's is");
    let (_, found) = after("hash-polarisation", WEFT, ("per-switch", "same"), &[]);
    assert_eq!((found.len(), found[0].line), (1, line_of(SCENARIO, "seeding")));
    let crc = ("seeding = \"per-switch\"", "seeding = \"per-switch\"\nhash = \"crc32\"");
    let (_, found) = after("hash-polarisation", WEFT, crc, &[]);
    assert!(found.iter().any(|finding| finding.fix.contains("another hash function")), "{found:#?}");
}

#[test]
fn lossless_paths_go_up_and_then_down() {
    let peer = (
        "\"hwsku\": \"64x100G\",\n            \"type\": \"LeafRouter\"",
        "\"hwsku\": \"32x100G\",\n            \"type\": \"ToRRouter\"",
    );
    assert_eq!(after("lossless-peer-link", SONIC, peer, &[]).1[0].subjects, ["Ethernet112"]);
}

#[test]
fn odd_values_names_and_repetitions_are_told_with_what_is_right() {
    assert!(
        finds("value", SONIC, ("\"speed\": \"100000\"", "\"speed\": \"fast\""), "\"fast\"")
            .fix
            .contains("whole number")
    );
    finds("value", SONIC, ("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3,9\""), "\"3,9\"");
    let spans = ("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"3-4\"");
    let span = finds("value", SONIC, spans, "\"3-4\"");
    assert!(span.says.contains("reads only 3") && span.fix == "write \"3,4\"", "{span:?}");
    let alone = finds("lossless-profile-without-pfc", SONIC, spans, "\"Ethernet0|3-4\"");
    assert!(alone.says.contains("group 4"), "priority 4 has no PFC then: {}", alone.says);
    finds("value", ARISTA, ("threshold 1/2", "threshold half"), "half");
    finds("value", LINUX, ("4096 131072 6291456", "lots"), "lots");
    let misspelt = ("\"wred_profile\": \"LOSSY\"", "\"wred_profile\": \"LOSSI\"");
    assert!(finds("reference", SONIC, misspelt, "LOSSI").says.contains("did you mean `LOSSY`?"));
    finds("reference", ARISTA, ("service-profile ROCE", "service-profile ROSE"), "ROSE");
    finds("repetition", SONIC, ("\"mtu\": \"9100\"", "\"mtu\": \"1500\", \"mtu\": \"9100\""), "\"1500\"");
    finds("repetition", LINUX, ("; queueing", "net.ipv4.tcp_ecn = 2\n; queueing"), "tcp_ecn = 2");
}

#[test]
fn every_rule_has_a_test_here() {
    let source = [
        include_str!("rules.rs"),
        include_str!("shapes.rs"),
        include_str!("silence.rs"),
        include_str!("devices.rs"),
        include_str!("sonic.rs"),
        include_str!("scenarios.rs"),
    ]
    .concat();
    for rule in rules() {
        assert!(source.contains(&format!("\"{}\"", rule.id)), "{} is tested nowhere", rule.id);
    }
}

#[test]
fn rules_can_be_chosen_and_silenced_by_names_that_exist() {
    let run = |only: &[&str], allow: &[&str]| {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let text = HOSTS.replace("tcp_ecn = 1", "tcp_ecn = 0").replace("fallback = 0", "fallback = 1");
        let input = Input { name: "hosts".into(), text, kind: Some(FileKind::Sysctl) };
        let report = lint(
            vec![input],
            &RuleOptions { only: list(only), allow: list(allow), site: site(), ..RuleOptions::default() },
        );
        report.map(|report| report.findings.iter().map(|finding| finding.rule).collect::<Vec<_>>())
    };
    assert_eq!(run(&[], &[]).unwrap(), ["dctcp-fallback", "dctcp-ecn-off"]);
    assert_eq!(run(&["dctcp-ecn-off"], &[]).unwrap(), ["dctcp-ecn-off"]);
    assert_eq!(run(&[], &["dctcp-ecn-off"]).unwrap(), ["dctcp-fallback"]);
    let refused = run(&["dctcp-ecn-of"], &["nonsense"]).unwrap_err();
    assert!(refused.0.len() == 2 && refused.0[0].contains("did you mean `dctcp-ecn-off`?"), "{refused}");
}

/// A lossless leaf-spine network under DCQCN whose marks come before pauses, whose notifications overtake payload and whose
/// headroom follows from its cables.
const LOSSLESS: &str = "\
weft = 1
name = \"lossless\"
[topology.leaf-spine]
leaves = 4
spines = 2
hosts_per_leaf = 2
host_link = { rate = \"25 Gbps\", delay = \"500 ns\" }
fabric_link = { rate = \"25 Gbps\", delay = \"500 ns\" }
[switch]
buffer = \"4 MB\"
sharing = { kind = \"dynamic\", alpha = 1.0 }
queues = 4
schedule = \"strict\"
ecn = { kind = \"red\", min = \"20 kB\", max = \"200 kB\", max_probability = 0.1, non_ect = \"pass\", at = \"dequeue\" }
[switch.pfc]
classes = [3]
alpha = 0.5
xon_offset = \"9 kB\"
[transport.dcqcn]
mtu = \"4 kB\"
[[traffic]]
tag = \"web\"
load = 0.1
sizes = \"10 kB\"
[measure]
flows = 10
";

const PAUSING: (&str, &str) = ("lossless.toml", LOSSLESS);

#[test]
fn a_lossless_scenario_that_is_right_has_no_finding() {
    let report = judge(&[PAUSING]);
    assert_eq!((report.findings, report.unchecked), (vec![], vec![]));
}

#[test]
fn marks_of_a_scenario_come_before_its_pauses() {
    // Leaves and spines have 4 ports; 17 968 B of headroom and 4038 B for a packet at each leave 3.912 MB, so that with alpha 1/2 a
    // queue fed by two ports pauses at B / 2 = 1.96 MB, by three at 0.6 B = 2.35 MB, and in the worst load B / 12 = 326 kB is safe.
    for (min, level) in [
        ("325 kB", None),
        ("327 kB", Some(Severity::Note)),
        ("2 MB", Some(Severity::Warning)),
        ("2400 kB", Some(Severity::Error)),
    ] {
        let to = format!("min = \"{min}\", max = \"2500 kB\"");
        let (_, found) = after("ecn-after-pfc", PAUSING, ("min = \"20 kB\", max = \"200 kB\"", &to), &[]);
        assert_eq!(found.first().map(|finding| finding.level), level, "{min}: {found:?}");
    }
    let ramp = finds("ramp-beyond-pfc", PAUSING, ("max = \"200 kB\"", "max = \"2400 kB\""), "2400 kB");
    assert!(ramp.says.contains("2.35 MB"), "{}", ramp.says);
    let from = "\"green_max_threshold\": \"1500000\"";
    finds("ramp-beyond-pfc", SONIC, (from, "\"green_max_threshold\": \"24000000\""), "24000000");
    let unmarked = LOSSLESS.replace("[transport.dcqcn]", "[transport.roce]");
    let ecn = unmarked.lines().find(|line| line.starts_with("ecn")).unwrap().to_owned();
    let found = judge(&[("roce.toml", &unmarked.replace(&ecn, ""))]).findings;
    assert!(found.iter().any(|finding| finding.rule == "lossless-without-ecn"), "{found:?}");
    let timely = unmarked.replace("transport.roce", "transport.timely").replace(&ecn, "");
    assert_eq!(judge(&[("timely.toml", &timely)]).findings, []);
}

#[test]
fn controllers_of_a_scenario_hold_less_than_what_pauses() {
    let ecn = LOSSLESS.lines().find(|line| line.starts_with("ecn")).unwrap();
    for (kind, level) in [
        ("ecn = { kind = \"pi\", reference = \"200 kB\" }", None),
        ("ecn = { kind = \"pi\", reference = \"2 MB\" }", Some(Severity::Warning)),
        ("ecn = { kind = \"pi\", reference = \"3 MB\" }", Some(Severity::Error)),
        // At 25 Gb/s 600 us are 1.9 MB, 640 us 2 MB.
        ("ecn = { kind = \"pie\", target = \"600 us\" }", None),
        ("ecn = { kind = \"codel\", target = \"640 us\" }", Some(Severity::Warning)),
    ] {
        let found = judge(&[("pi.toml", &LOSSLESS.replace(ecn, kind))]).findings;
        let held: Vec<_> = found.iter().filter(|finding| finding.rule == "controller-after-pfc").collect();
        assert_eq!(held.first().map(|finding| finding.level), level, "{kind}: {found:?}");
        assert!(found.iter().all(|finding| finding.rule != "lossless-without-ecn"), "{kind}");
    }
}

#[test]
fn pauses_come_before_feedback_if_many_start_together() {
    // Two senders of 25 Gb/s: the amount that one puts in during 55 us and the round trip exceeds two limits of 30
    // kB.
    let limited = LOSSLESS.replace("alpha = 0.5", "xoff = \"75 kB\"");
    let lossless = ("limited.toml", limited.as_str());
    let slow = ("mtu = \"4 kB\"\n[[", "mtu = \"4 kB\"\ncnp_delay = \"55 us\"\n[[");
    let found = after("pauses-before-feedback", lossless, slow, &[]).1;
    assert!(!found.is_empty() && found.iter().all(|finding| finding.level == Severity::Note), "{found:?}");
    assert!(
        found[0].says.contains("2 senders at 25 Gbps") && found[0].says.contains("150 kB"),
        "{}",
        found[0].says
    );
    // until the first mark 20 kB; then 25 Gb/s too much for 62.2 us: 194 kB
    assert!(found[0].says.contains("put 214 kB"), "{}", found[0].says);
    // Marks that are set on arrival wait in the queue themselves.
    let arriving = limited.replace(", at = \"dequeue\"", "").replace("min = \"20 kB\"", "min = \"70 kB\"");
    let told = judge(&[("arriving.toml", &arriving)]).findings;
    assert!(told.iter().any(|finding| finding.rule == "pauses-before-feedback"), "{told:?}");
    let leaving = limited.replace("min = \"20 kB\"", "min = \"70 kB\"");
    let told = judge(&[("leaving.toml", &leaving)]).findings;
    assert!(told.iter().all(|finding| finding.rule != "pauses-before-feedback"), "{told:?}");
}

/// With a static limit of 75 kB two ports pause at 150 kB: holding that many bytes is late, one byte less is not.
#[test]
fn a_controller_may_hold_just_less_than_what_pauses() {
    let ecn = LOSSLESS.lines().find(|line| line.starts_with("ecn")).unwrap();
    let limited = LOSSLESS.replace("alpha = 0.5", "xoff = \"75 kB\"");
    for (reference, found) in [("150 kB", true), ("149999 B", false)] {
        let text = limited.replace(ecn, &format!("ecn = {{ kind = \"pi\", reference = \"{reference}\" }}"));
        let told = judge(&[("pi.toml", &text)]).findings;
        assert_eq!(told.iter().any(|one| one.rule == "controller-after-pfc"), found, "{reference}: {told:?}");
    }
}

#[test]
fn classes_of_a_scenario_are_where_they_are_meant() {
    finds("lossless-class-unreached", PAUSING, ("classes = [3]", "classes = [2]"), "classes");
    finds("notifications-paused", PAUSING, ("classes = [3]", "classes = [0, 3]"), "schedule");
    finds("notifications-paused", PAUSING, ("schedule = \"strict\"", "schedule = \"fifo\""), "schedule");
    let finding = finds(
        "answers-behind-lossless",
        PAUSING,
        (
            "sharing = { kind = \"dynamic\", alpha = 1.0 }",
            "sharing = { kind = \"static\", per_port = \"1 MB\" }",
        ),
        "per_port",
    );
    assert!(finding.says.contains("2.35 MB"), "{}", finding.says);
    let enough = (
        "sharing = { kind = \"dynamic\", alpha = 1.0 }",
        "sharing = { kind = \"static\", per_port = \"2400 kB\" }",
    );
    assert_eq!(after("answers-behind-lossless", PAUSING, enough, &[]).1, []);
}

/// Four ports of 1 MB use 4 MB of a buffer of 32 MB.
#[test]
fn a_static_limit_may_keep_the_ports_from_the_buffer() {
    let with = |buffer: &str, sharing: &str| {
        format!(
            "weft = 1\nname = \"x\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\n{buffer}\n\
             sharing = {sharing}\n[transport.newreno]\n[[traffic]]\ntag = \"t\"\nkind = \"permutation\"\nsizes = \"1 MB\"\n"
        )
    };
    let found = |buffer: &str, sharing: &str| {
        let input =
            Input { name: "x.toml".into(), text: with(buffer, sharing), kind: Some(FileKind::Scenario) };
        let options = RuleOptions { only: vec!["buffer-out-of-reach".into()], ..RuleOptions::default() };
        lint(vec![input], &options).expect("a valid scenario").findings
    };
    let fixed = "{ kind = \"static\", per_port = \"1 MB\" }";
    let findings = found("buffer = \"32 MB\"", fixed);
    assert!(
        findings.len() == 1
            && findings[0].says.contains("4 ports of leaf hold 1.00 MB each")
            && findings[0].line == 8,
        "{findings:?}"
    );
    assert_eq!(found("buffer = \"1500 kB\"", fixed), []);
    assert_eq!(found("", fixed), []);
    assert_eq!(found("buffer = \"32 MB\"", "{ kind = \"dynamic\", alpha = 1.0 }"), []);
}

/// Findings of one rule in a scenario of DCTCP with these switches.
fn of_switches(rule: &str, switches: &str) -> Vec<Finding> {
    let text = format!(
        "weft = 1\nname = \"x\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 6\n{switches}\n\
         [transport.dctcp]\n[[traffic]]\ntag = \"t\"\nkind = \"permutation\"\nsizes = \"1 MB\"\n"
    );
    let input = Input { name: "x.toml".into(), text, kind: Some(FileKind::Scenario) };
    let options = RuleOptions { only: vec![rule.into()], ..RuleOptions::default() };
    lint(vec![input], &options).expect("a valid scenario").findings
}

/// A queue divides what headroom leaves: at leaves of eight ports 1 MB less 8 times 101 538 B, half of it with alpha 1.
#[test]
fn queues_beside_headroom_hold_less() {
    let of = |threshold: &str, headroom: &str| {
        let switches = format!(
            "[switch]\nbuffer = \"1 MB\"\nqueues = 4\nschedule = \"strict\"\nsharing = {{ dynamic = {{ alpha = 1.0 }} }}\n\
             pfc = {{ classes = [3], headroom = \"{headroom}\" }}\necn = {{ step = {{ threshold = \"{threshold}\" }} }}"
        );
        of_switches("ecn-above-drop", &switches)
    };
    let errors = |found: &[Finding]| found.iter().filter(|finding| finding.level == Severity::Error).count();
    assert_eq!([errors(&of("90 kB", "100 kB")), errors(&of("98 kB", "100 kB"))], [0, 1]);
    assert_eq!(errors(&of("98 kB", "10 kB")), 0, "with less headroom there is room for it");
}

/// Behind virtual output queues the limit is theirs, whatever the sharing rule.
#[test]
fn virtual_output_queues_have_a_limit_of_their_own() {
    let of = |threshold: &str| {
        let switches = format!(
            "[switch]\nvoq = {{ groups = 2, limit = \"20 MB\" }}\necn = {{ step = {{ threshold = \"{threshold}\" }} }}"
        );
        of_switches("ecn-above-drop", &switches)
    };
    assert_eq!(of("2 MB"), []);
    let found = of("21 MB");
    assert!(!found.is_empty() && found.iter().all(|finding| finding.says.contains("20.0 MB")), "{found:?}");
}

/// Leaves of eight ports fill 4 MB, spines of two do not: the setting has an effect, unless it is the spines' own.
#[test]
fn a_buffer_that_one_tier_can_fill_has_an_effect() {
    let found = |more: &str| {
        let shared = "[switch]\nbuffer = \"4 MB\"\nsharing.static.per_port = \"1 MB\"\necn = \"step\"\n";
        of_switches("buffer-out-of-reach", &format!("{shared}{more}"))
    };
    assert_eq!(found(""), []);
    let own = found("[switch.spine]\nbuffer = \"5 MB\"\n");
    assert!(own.len() == 1 && own[0].says.contains("2 ports of spine hold 1.00 MB each"), "{own:?}");
}

/// The limit of a port is that of all its queues: eight ports of 1 MB are within 8 MB, and beyond 6 MB.
#[test]
fn the_limit_of_a_port_counts_once_whatever_its_queues() {
    let found = |buffer: &str| {
        let sharing = "sharing.static.per_port = \"1 MB\"\necn = \"step\"\nqueues = 3\n";
        of_switches("static-above-pool", &format!("[switch]\nbuffer = \"{buffer}\"\n{sharing}"))
    };
    assert_eq!(found("8 MB"), []);
    let above = found("6 MB");
    assert!(above[0].says.contains("1.00 MB at each of 8 ports"), "{above:?}");
    assert!(above[0].fix.contains("sharing = \"dynamic\""), "{above:?}");
}

/// Controllers mark, and so do thresholds of single ports.
#[test]
fn marks_may_come_from_controllers_and_from_single_ports() {
    let found = |switches: &str| of_switches("dctcp-without-marks", switches);
    let off = found("[switch]\n[[switch.port]]\nat = \"leaf*\"\necn = \"step\"\n");
    assert!(off.len() == 1 && off[0].says.contains("spine marks on no queue"), "{off:?}");
    assert_eq!(found("[switch]\n[[switch.port]]\necn = \"step\"\n"), []);
    for controller in ["pi", "pie", "codel"] {
        assert_eq!(found(&format!("[switch]\necn = \"{controller}\"\n")), []);
    }
}

/// PIAS with three classes of web search flows, marks, and thresholds.
fn demoting(ecn: &str, thresholds: &str) -> Vec<Finding> {
    let text = format!(
        "weft = 1\nname = \"x\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\nqueues = 3\n\
         schedule = \"strict\"\n{ecn}[transport.{}]\npias = {{ thresholds = {thresholds} }}\n[[traffic]]\ntag = \"t\"\nload = 0.5\n\
         sizes = \"web-search-pias\"\n[measure]\nflows = 10\n",
        if ecn.is_empty() { "newreno" } else { "dctcp" }
    );
    let input = Input { name: "x.toml".into(), text, kind: Some(FileKind::Scenario) };
    let only = ["strict-without-marks", "threshold-without-effect"].map(str::to_owned).to_vec();
    lint(vec![input], &RuleOptions { only, ..RuleOptions::default() }).expect("a valid scenario").findings
}

#[test]
fn strict_priorities_need_marks_and_thresholds_that_separate() {
    let (marks, good) = ("ecn = \"step\"\n", "[\"1 MB\", \"5 MB\"]");
    assert_eq!(demoting(marks, good), []);
    let unmarked = demoting("", good);
    assert_eq!(unmarked.iter().map(|found| found.rule).collect::<Vec<_>>(), ["strict-without-marks"]);
    for (thresholds, class) in [("[\"1 MB\", \"1001 kB\"]", "class 1"), ("[\"1 MB\", \"1 GB\"]", "class 2")] {
        let found = demoting(marks, thresholds);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].says.starts_with(class) && found[0].rule == "threshold-without-effect", "{found:?}");
    }
}

/// Where RoCE has the lossless class, TCP may be meant to do without. `scenarios/mixed.toml` has one risk: the ports to the
/// older rack mark nothing, storage included.
#[test]
fn tcp_may_share_a_network_with_lossless_payload() {
    let path = "../../scenarios/mixed.toml";
    let text = std::fs::read_to_string(path).expect("it ships");
    let input = Input { name: path.into(), text, kind: Some(FileKind::Scenario) };
    let found = lint(vec![input], &RuleOptions::default()).expect("a valid scenario").findings;
    let risks: Vec<_> = found.iter().filter(|finding| finding.level != Severity::Note).collect();
    assert!(risks.len() == 1 && risks[0].rule == "lossless-without-ecn", "{risks:?}");
    assert_eq!(risks[0].subjects, ["leaf3 port 0", "leaf3 port 1", "leaf3 port 2", "leaf3 port 3"]);
}

#[test]
fn headroom_of_a_scenario_is_that_of_its_own_switch() {
    // 2 x 4038 + 84 + 80 x 64 + 25 Gb/s (2 x 500 ns + 500 ns) / 8 = 17 967.5 bytes.
    let with = |bytes: &str| {
        ("xon_offset = \"9 kB\"".to_owned(), format!("xon_offset = \"9 kB\"\nheadroom = \"{bytes}\""))
    };
    let (from, enough) = with("17968 B");
    assert_eq!(after("headroom-too-small", PAUSING, (&from, &enough), &[]).1, []);
    let (_, short) = with("17967 B");
    let finding = finds("headroom-too-small", PAUSING, (&from, &short), "17967 B");
    assert_eq!(finding.subjects.len(), 4);
    let (_, none) = with("0 B");
    finds("headroom-missing", PAUSING, (&from, &none), "0 B");
    finds("xon-order", PAUSING, ("xon_offset = \"9 kB\"", "xon_offset = \"2 MB\""), "2 MB");
    let gap = finds("xon-order", PAUSING, ("xon_offset = \"9 kB\"", "xon_offset = \"0 B\""), "[switch.pfc]");
    assert_eq!(gap.level, Severity::Warning);
}

/// Two failed cables make leaf0 and leaf1 talk by way of the other leaves, in both directions.
#[test]
fn detours_of_a_lossless_scenario_can_deadlock() {
    let failures = "[[failure]]\ncables = [\"leaf0-spine1\", \"leaf1-spine0\"]\n[measure]";
    let one = "[[failure]]\ncables = [\"leaf0-spine1\"]\n[measure]";
    assert_eq!(after("cyclic-buffer-dependency", PAUSING, ("[measure]", one), &[]).1, []);
    let finding = finds("cyclic-buffer-dependency", PAUSING, ("[measure]", failures), "classes = [3]");
    assert_eq!(finding.level, Severity::Error);
    assert!(
        finding.says.contains("at the start")
            && finding.says.contains("leaf2")
            && finding.says.contains("leaf3")
    );
    let later = failures.replace("\n[measure]", "\nat = \"1 ms\"\n[measure]");
    let finding = finds("cyclic-buffer-dependency", PAUSING, ("[measure]", &later), "classes = [3]");
    assert!(finding.says.contains("after change 1"), "{}", finding.says);
    let watched = LOSSLESS.replace("alpha = 0.5", "alpha = 0.5\nwatchdog = \"200 ms\"");
    let found = after("cyclic-buffer-dependency", ("watched.toml", &watched), ("[measure]", failures), &[]).1;
    assert_eq!(found[0].level, Severity::Warning);
    let lossy = LOSSLESS
        .split_once("[switch.pfc]")
        .map(|(head, tail)| format!("{head}{}", &tail[tail.find("[transport").unwrap()..]));
    assert_eq!(
        after("cyclic-buffer-dependency", ("lossy.toml", &lossy.unwrap()), ("[measure]", failures), &[]).1,
        []
    );
}

/// TLT over DCTCP at 10 Gb/s with marks from 100 kB on, red packets dropped from 400 kB on, and payload of class 0 alone.
const RED: (&str, &str) = (
    "red.toml",
    "\
weft = 1
name = \"red\"
[topology.leaf-spine]
leaves = 2
spines = 2
hosts_per_leaf = 4
[switch]
buffer = \"4 MB\"
queues = 4
sharing = { kind = \"dynamic\", alpha = 1.0 }
ecn = { kind = \"red\", min = \"100 kB\", max = \"300 kB\", max_probability = \"10 %\", non_ect = \"pass\" }
color = { red = \"400 kB\" }
[balance.ecmp]
seeding = \"per-switch\"
[transport.dctcp]
tlt = {}
dup_threshold = 1
[[traffic]]
tag = \"web\"
load = 0.1
sizes = \"10 kB\"
[measure]
flows = 10
",
);

#[test]
fn red_packets_are_dropped_after_marks() {
    for (red, level) in [
        ("100 kB", Some(Severity::Error)),
        ("100001 B", Some(Severity::Warning)),
        ("299999 B", Some(Severity::Warning)),
        ("300 kB", None),
    ] {
        let change = ("red = \"400 kB\"", format!("red = \"{red}\""));
        let found = after("red-before-marks", RED, (change.0, &change.1), &[]).1;
        assert_eq!(found.iter().map(|one| one.level).next(), level, "{red}: {found:?}");
        assert!(found.iter().all(|one| one.line == line_of(RED.1, "red = \"400 kB\"")), "{found:?}");
    }
    // A sender that reads no marks loses nothing by it.
    let marked = "[[traffic]]\ntag = \"marked\"\nload = 0.1\nsizes = \"1 MB\"\nclass = 1\ntransport = { dctcp = {} }\n[measure]";
    let cubic = RED.1.replace("transport.dctcp", "transport.cubic").replace("[measure]", marked);
    let change = ("red = \"400 kB\"", "red = \"50 kB\"");
    assert_eq!(after("red-before-marks", ("cubic.toml", &cubic), change, &[]).1, []);
}

/// With a static XOFF of 150 kB two ports pause at 300 kB, the five others of a leaf at 750 kB.
#[test]
fn red_packets_are_dropped_before_pauses() {
    let paused = RED.1.replace("[balance", "pfc = { classes = [0], xoff = \"150 kB\" }\n[balance");
    let paused = paused.replace("red = \"400 kB\"", "red = \"299999 B\"").replace("leaves = 2", "leaves = 4");
    let lossless = ("paused.toml", paused.as_str());
    for (red, level) in [("300 kB", Severity::Warning), ("750 kB", Severity::Error)] {
        let change = ("red = \"299999 B\"", format!("red = \"{red}\""));
        let found = after("red-after-pauses", lossless, (change.0, &change.1), &[]).1;
        assert!(!found.is_empty() && found.iter().any(|one| one.level == level), "{red}: {found:?}");
    }
    let lossy = paused.replace("classes = [0]", "classes = [3]");
    let change = ("red = \"299999 B\"", "red = \"750 kB\"");
    assert_eq!(after("red-after-pauses", ("lossy.toml", &lossy), change, &[]).1, []);
}

#[test]
fn payload_without_tlt_has_a_queue_of_its_own() {
    let more =
        |lines: &str| format!("[[traffic]]\ntag = \"more\"\nload = 0.1\nsizes = \"1 MB\"\n{lines}[measure]");
    for (lines, name) in [
        ("transport = { newreno = {} }\n", Some("newreno")),
        ("transport = { newreno = {} }\nclass = 1\n", None),
        ("transport = { dctcp = { tlt = { clocking = \"byte\" } } }\n", None),
    ] {
        let found = after("green-beside-red", RED, ("[measure]", &more(lines)), &[]).1;
        assert_eq!(found.len(), usize::from(name.is_some()), "{lines}: {found:?}");
        assert!(found.iter().all(|one| one.says.contains(name.unwrap_or_default())), "{found:?}");
    }
    let datagrams =
        "[[traffic]]\ntag = \"more\"\nkind = \"constant\"\nrate = \"1 Gbps\"\nduration = \"1 ms\"\n[measure]";
    let finding = finds("green-beside-red", RED, ("[measure]", datagrams), "color");
    assert!(finding.says.contains("datagrams"), "{}", finding.says);
}

#[test]
fn tlt_wants_order_and_the_first_duplicate() {
    finds("tlt-patience", RED, ("dup_threshold = 1", "dup_threshold = 3"), "dup_threshold");
    let rack = ("dup_threshold = 1", "loss_detection = \"rack\"");
    assert_eq!(after("tlt-patience", RED, rack, &[]).1, []);
    let ecmp = "[balance.ecmp]\nseeding = \"per-switch\"";
    for (balancer, reorders) in [("drill", true), ("random", true), ("round-robin", true), ("letflow", false)]
    {
        let other = format!("[balance.{balancer}]");
        let found = after("tlt-reordered", RED, (ecmp, &other), &[]).1;
        assert_eq!(found.len(), usize::from(reorders), "{balancer}: {found:?}");
    }
}

#[test]
fn pdq_flows_keep_to_one_path() {
    let pdq = "weft = 1\nname = \"x\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\narbiter = \"pdq\"\n\
               [balance.ecmp]\n[transport.pdq]\n[[traffic]]\ntag = \"t\"\nload = 0.5\nsizes = \"1 MB\"\n[measure]\nflows = 10\n";
    let file = ("pdq.toml", pdq);
    let finding = finds("pdq-sprayed", file, ("[balance.ecmp]", "[balance.drill]"), "[balance.drill]");
    assert!(finding.says.contains("drill") && finding.level == Severity::Warning, "{finding:?}");
    assert_eq!(after("pdq-sprayed", file, ("[balance.ecmp]", "[balance.wcmp]"), &[]).1, []);
}

/// Flows of 1 MB in messages of 100 kB: each has 20 kB in the first class. As one message, they would have 2 %.
#[test]
fn messages_divide_flows_among_classes() {
    let with = |message: &str, thresholds: &str| {
        let text = format!(
            "weft = 1\nname = \"x\"\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n[switch]\nqueues = 2\n\
             schedule = \"strict\"\necn = \"step\"\n[transport.dctcp]\npias = {{ thresholds = {thresholds}{message} }}\n\
             [[traffic]]\ntag = \"t\"\nload = 0.5\nsizes = \"1 MB\"\n[measure]\nflows = 10\n"
        );
        let input = Input { name: "x.toml".into(), text, kind: Some(FileKind::Scenario) };
        let only = ["threshold-without-effect", "message-without-effect"].map(str::to_owned).to_vec();
        let options = RuleOptions { only, ..RuleOptions::default() };
        let found = lint(vec![input], &options).expect("a valid scenario").findings;
        found.into_iter().map(|one| (one.rule, one.says)).collect::<Vec<_>>()
    };
    // The first class has 1.5 kB of a flow, 0.15 %, and 1.5 % if every message begins in it.
    let whole = with("", "[\"1500 B\"]");
    assert_eq!(whole.iter().map(|one| one.0).collect::<Vec<_>>(), ["threshold-without-effect"], "{whole:?}");
    assert_eq!(with(", message = \"100 kB\"", "[\"1500 B\"]"), []);
    for (message, idle) in [("999 kB", false), ("1 MB", true)] {
        let found = with(&format!(", message = \"{message}\""), "[\"20 kB\"]");
        assert_eq!(found.iter().any(|one| one.0 == "message-without-effect"), idle, "{message}: {found:?}");
    }
}
