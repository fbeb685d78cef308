//! Faults of switch files, each a change of a correct file, and how files of other systems are classified.

use weft_core::{Bytes, Rate, Span};
use weft_lint::{FileKind, Finding, Input, Metres, RuleOptions, Severity, Surroundings, lint};

const LEAF: &str = include_str!("files/leaf_config_db.json");
const EOS: &str = include_str!("files/leaf_running_config.cfg");
const HOSTS: &str = include_str!("files/90-tcp.conf");

fn judge(files: &[(&str, &str)]) -> Vec<Finding> {
    let site = Surroundings {
        rtt: Some(Span::from_us(50)),
        rate: Some(Rate::from_gbps(25)),
        memory: Some(Bytes(32_000_000)),
        cable: Some(Metres(40.0)),
        cell: None,
    };
    let input =
        |(name, text): &(&str, &str)| Input { name: (*name).into(), text: (*text).into(), kind: None };
    let options = RuleOptions { site, ..RuleOptions::default() };
    lint(files.iter().map(input).collect(), &options).unwrap_or_else(|refused| panic!("{refused}")).findings
}

/// The findings of a rule in a file once `from` has become `to` everywhere; before, there are none.
fn after(rule: &str, (name, text): (&str, &str), (from, to): (&str, &str)) -> Vec<Finding> {
    assert!(text.contains(from), "{rule}: {from} is not there");
    let found = |text: &str| {
        let all = judge(&[(name, text)]).into_iter();
        all.filter(|finding| finding.rule == rule).collect::<Vec<_>>()
    };
    assert_eq!(found(text), [], "{rule} finds something in the file that is right");
    found(&text.replace(from, to))
}

const SONIC: (&str, &str) = ("config_db.json", LEAF);
const ARISTA: (&str, &str) = ("leaf.cfg", EOS);

#[test]
fn lossless_queues_do_not_drop_early() {
    let (from, to) = ("\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_none\"");
    let found = after("early-drops-lossless", SONIC, (from, to));
    assert_eq!(found.len(), 2, "queues 3 and 4: {found:?}");
    assert!(
        found[0].level == Severity::Error && found[0].says.contains("LOSSLESS drops its packets"),
        "{found:?}"
    );
    assert_eq!(found[0].subjects.len(), 32);
    let marks = after("lossless-without-ecn", SONIC, (from, to));
    assert!(!marks.is_empty() && marks.iter().all(|one| !one.fix.contains("bind")), "{marks:?}");
    let off =
        LEAF.replace(from, to).replace("\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\"");
    assert!(judge(&[("config_db.json", &off)]).iter().all(|one| one.rule != "early-drops-lossless"));
    let drop = ("ecn minimum-threshold 160", "drop minimum-threshold 160");
    assert_eq!(after("early-drops-lossless", ARISTA, drop).len(), 1);
}

#[test]
fn lossless_queues_have_a_lossless_buffer() {
    let bound = ("\"profile\": \"egress_lossless_profile\"", "\"profile\": \"egress_lossy_profile\"");
    let found = after("lossless-queue-lossy", SONIC, bound);
    assert!(found.len() == 2 && found[0].subjects.len() == 32, "queues 3 and 4 of all ports: {found:?}");
    // Without a telling name it still serves queues 0 to 2.
    let renamed = LEAF.replace("egress_lossy_profile", "most");
    let told = judge(&[("config_db.json", &renamed.replace(bound.0, "\"profile\": \"most\""))]);
    assert_eq!(told.iter().filter(|one| one.rule == "lossless-queue-lossy").count(), 2);
    // A limit of the whole pool is none.
    let whole = renamed
        .replace("\"dynamic_th\": \"0\"", "\"static_th\": \"25165824\"")
        .replace(bound.0, "\"profile\": \"most\"");
    assert!(judge(&[("config_db.json", &whole)]).iter().all(|one| one.rule != "lossless-queue-lossy"));
}

#[test]
fn profiles_and_pools_agree_on_the_side() {
    let ingress = "\"pool\": \"ingress_lossless_pool\",\n            \"size\": \"1248\"";
    let egress = ingress.replace("ingress", "egress");
    let found = after("pool-of-other-side", SONIC, (ingress, &egress));
    assert!(
        found.len() == 1 && found[0].says.contains("priority groups have pg_lossless_100000_40m_profile"),
        "{found:?}"
    );
    // The claim of a priority group on an egress pool is not a second fault.
    let all = judge(&[("config_db.json", &LEAF.replace(ingress, &egress))]);
    assert!(all.iter().all(|one| one.rule != "memory-oversubscribed"), "{all:?}");
    let queue = ("\"pool\": \"egress_lossy_pool\"", "\"pool\": \"ingress_lossless_pool\"");
    assert!(after("pool-of-other-side", SONIC, queue)[0].says.contains("queues have egress_lossy_profile"));
    let both = LEAF.replace("\"type\": \"egress\"", "\"type\": \"both\"");
    assert!(judge(&[("config_db.json", &both)]).iter().all(|one| one.rule != "pool-of-other-side"));
    // A profile's own threshold decides, whatever the mode of its pool (SAI_BUFFER_PROFILE_ATTR_THRESHOLD_MODE).
    let modes = LEAF.replace("\"mode\": \"dynamic\"", "\"mode\": \"static\"");
    assert_eq!(judge(&[("config_db.json", &modes)]), []);
}

#[test]
fn a_watchdog_looks_often_enough() {
    let poll = |ms: u64| format!("\"POLL_INTERVAL\": \"{ms}\"");
    let found = |ms| after("watchdog-times", SONIC, (&poll(100), &poll(ms)));
    assert_eq!(found(200), []);
    assert!(found(201).len() == 1 && found(201)[0].says.contains("POLL_INTERVAL"), "{:?}", found(201));
}

#[test]
fn classes_and_groups_exist() {
    let found = after("class-without-queue", SONIC, ("\"46\": \"5\"", "\"46\": \"9\""));
    assert!(found.len() == 1 && found[0].says.contains("DSCP 46 maps to traffic class 9"), "{found:?}");
    let mapped = LEAF.replace("\"46\": \"5\"", "\"46\": \"9\"").replace(
        "\"TC_TO_QUEUE_MAP\": {\n        \"AZURE\": {",
        "\"TC_TO_QUEUE_MAP\": {\n        \"AZURE\": {\n            \"9\": \"5\",",
    );
    assert!(judge(&[("config_db.json", &mapped)]).iter().all(|one| one.rule != "class-without-queue"));
    let found = after("value", SONIC, ("\"Ethernet8|3-4\"", "\"Ethernet8|3-9\""));
    assert!(found.iter().any(|one| one.says.contains("groups above 7")), "{found:?}");
    let all = judge(&[("config_db.json", &LEAF.replace("\"Ethernet8|3-4\"", "\"Ethernet8|3-9\""))]);
    assert!(all.iter().all(|one| !one.says.contains("group 8")), "{all:?}");
}

/// The marking is there, but not in the queue that DSCP 0 leads to.
#[test]
fn ordinary_packets_of_dctcp_hosts_are_marked() {
    let unmarked = LEAF.replace("\"wred_profile\": \"LOSSY\"", "\"scheduler\": \"scheduler.0\"");
    let found = |leaf: &str| {
        let all = judge(&[("config_db.json", leaf), ("90-tcp.conf", HOSTS)]).into_iter();
        all.filter(|one| one.rule == "dctcp-without-marks").collect::<Vec<_>>()
    };
    assert_eq!(found(LEAF), []);
    let told = found(&unmarked);
    assert!(
        told.len() == 1 && told[0].level == Severity::Warning && told[0].subjects.len() == 32,
        "{told:?}"
    );
    assert!(told[0].says.contains("in queue 1") && told[0].says.contains("only queues 3, 4 do"), "{told:?}");
    // Without hosts that run DCTCP, these marks are not missed.
    assert!(judge(&[("config_db.json", &unmarked)]).iter().all(|one| one.rule != "dctcp-without-marks"));
}

#[test]
fn no_drop_needs_flow_control_that_is_on() {
    let off = ("   priority-flow-control on\n", "");
    let found = after("lossless-profile-without-pfc", ARISTA, off);
    assert!(found.len() == 1 && found[0].says.contains("priority 3 is no-drop"), "{found:?}");
    // A switch that turns all pauses off says what it wants.
    let all = EOS.replace(off.0, "") + "priority-flow-control all off\n";
    assert!(judge(&[("leaf.cfg", &all)]).iter().all(|one| one.rule != "lossless-profile-without-pfc"));
}

/// No buffer profile limits the queue: the memory of 32 MB does.
#[test]
fn marks_begin_within_the_memory() {
    let bare: String = EOS
        .lines()
        .filter(|line| !line.contains("mmu") && !line.contains("gress"))
        .map(|line| format!("{line}\n"))
        .collect();
    let file = ("leaf.cfg", bare.as_str());
    let min = |kbytes: u64| format!("minimum-threshold {kbytes} kbytes maximum-threshold 40000");
    let found = |kbytes| {
        after("ecn-above-drop", file, ("minimum-threshold 160 kbytes maximum-threshold 1500", &min(kbytes)))
    };
    assert_eq!(found(31_999), []);
    let told = found(32_000);
    assert!(
        told.len() == 1 && told[0].level == Severity::Error && told[0].says.contains("32.0 MB of packet"),
        "{told:?}"
    );
}

const NXOS: &str = "!Command: show running-config\nversion 9.3(8) Bios:version 05.45\nhostname leaf1\nfeature lldp\n\
    policy-map type network-qos lossless\n  class type network-qos c-8q-nq3\n    pause pfc-cos 3\n\
    interface Ethernet1/1\n  priority-flow-control mode on\n  mtu 9216\n";

#[test]
fn a_file_of_nxos_is_not_taken_for_eos() {
    let lint_as = |kind| {
        let input = Input { name: "leaf.cfg".into(), text: NXOS.into(), kind };
        lint(vec![input], &RuleOptions::default())
    };
    let refused = lint_as(None).unwrap_err();
    assert!(refused.0[0].contains("cannot tell what kind of file this is; give --as"), "{refused}");
    // Taken as EOS by request, it has nothing to check.
    let found = lint_as(Some(FileKind::Eos)).unwrap().findings;
    assert!(found.iter().any(|one| one.rule == "nothing-read"), "{found:?}");
}

#[test]
fn interfaces_alone_are_nothing_to_check() {
    let found =
        judge(&[("leaf.cfg", "hostname a\ninterface Ethernet1/1\n   mtu 9214\n   speed forced 100gfull\n")]);
    assert_eq!(found.iter().map(|one| one.rule).collect::<Vec<_>>(), ["nothing-read"]);
    let marking = "interface Ethernet1/1\n   uc-tx-queue 1\n      random-detect ecn minimum-threshold 200 kbytes \
                   maximum-threshold 200 kbytes max-mark-probability 100\n";
    assert_eq!(judge(&[("leaf.cfg", marking)]), []);
}

/// The need of 64 groups (2.86 MB) counts, not the size of their profile.
#[test]
fn a_shared_headroom_is_judged_by_what_groups_need() {
    let with = |xoff: u64, pool: u64| {
        let text = LEAF
            .replace("\"xoff\": \"49920\"", &format!("\"xoff\": \"{xoff}\""))
            .replace("\"xoff\": \"3194880\"", &format!("\"xoff\": \"{pool}\""));
        let all = judge(&[("config_db.json", &text)]).into_iter();
        all.filter(|one| one.rule == "headroom-pool-oversubscribed").collect::<Vec<_>>()
    };
    // An xoff that is far too small hides nothing.
    for xoff in [49_920, 10_000] {
        let found = with(xoff, 1_400_000);
        assert_eq!(found.iter().map(|one| one.level).collect::<Vec<_>>(), [Severity::Warning], "{xoff}");
        assert!(found[0].says.contains("together need 2.86 MB"), "{found:?}");
        let promised = if xoff == 10_000 { "640 kB (xoff)" } else { "3.19 MB (xoff)" };
        assert!(found[0].says.contains(promised), "{found:?}");
    }
    // A generous xoff is no shortage: 64 times 60 kB.
    assert_eq!(with(60_000, 3_000_000), []);
    let found = with(100_000, 3_000_000);
    assert!(
        found.len() == 1 && found[0].level == Severity::Note && found[0].says.contains("2.1 times"),
        "{found:?}"
    );
    assert!(found[0].says.contains("need 2.86 MB, which fits"), "{found:?}");
}

#[test]
fn a_rule_says_which_fact_it_lacks() {
    let lacking = |text: &str, cable: Option<Metres>| {
        let site = Surroundings { cable, memory: Some(Bytes(32_000_000)), ..Surroundings::default() };
        let input = Input { name: "buffers.json".into(), text: text.into(), kind: None };
        let report = lint(vec![input], &RuleOptions { site, ..RuleOptions::default() }).unwrap();
        report
            .unchecked
            .into_iter()
            .filter(|one| one.0 == "headroom-too-small")
            .map(|one| one.1)
            .collect::<Vec<_>>()
    };
    let without = |table: &str| LEAF.replace(&format!("\"{table}\": {{"), &format!("\"NO_{table}\": {{"));
    assert_eq!(lacking(LEAF, None), [""; 0]);
    let speeds = lacking(&without("PORT"), None);
    assert!(speeds.len() == 1 && speeds[0].contains("PORT") && !speeds[0].contains("cable"), "{speeds:?}");
    let cables = lacking(&without("CABLE_LENGTH"), None);
    assert!(cables.len() == 1 && cables[0].contains("--cable") && !cables[0].contains("PORT"), "{cables:?}");
    assert_eq!(lacking(&without("CABLE_LENGTH"), Some(Metres(5.0))), [""; 0]);
}

#[test]
fn one_pool_takes_and_several_take() {
    let larger = |side: &str| {
        let from = format!("\"size\": \"25165824\",\n            \"type\": \"{side}\"");
        let found = after("memory-oversubscribed", SONIC, (&from, &from.replace("25165824", "35165824")));
        found[0].says.clone()
    };
    assert!(larger("egress").starts_with("the largest egress pool of leaf1 takes "));
    assert!(larger("ingress").starts_with("ingress pools with headroom of leaf1 take "));
}
