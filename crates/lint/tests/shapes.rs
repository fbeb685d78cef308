//! The shapes in which configurations come: parts of a switch, dumps of its database, chassis of several cards,
//! profiles and scripts of hosts. Faults are found in each of them, and nothing else.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use weft_core::{Bytes, Rate, Span};
use weft_lint::{Finding, Input, Report, RuleOptions, Severity, Surroundings, lint};

const LEAF: &str = include_str!("files/leaf_config_db.json");
const EOS: &str = include_str!("files/leaf_running_config.cfg");
const HOSTS: &str = include_str!("files/90-tcp.conf");
const TUNED: &str = include_str!("files/tuned.conf");
const SCRIPT: &str = include_str!("files/setup.sh");

fn site() -> Surroundings {
    let (rtt, rate) = (Some(Span::from_us(50)), Some(Rate::from_gbps(25)));
    Surroundings { rtt, rate, memory: Some(Bytes(32_000_000)), ..Surroundings::default() }
}

fn judge_with(files: &[(&str, &str)], options: &RuleOptions) -> Report {
    let input =
        |(name, text): &(&str, &str)| Input { name: (*name).into(), text: (*text).into(), kind: None };
    lint(files.iter().map(input).collect(), options).unwrap_or_else(|refused| panic!("{refused}"))
}

fn judge(files: &[(&str, &str)]) -> Report {
    judge_with(files, &RuleOptions { site: site(), ..RuleOptions::default() })
}

/// The files as parts of one device.
fn together(files: &[(&str, &str)]) -> Report {
    judge_with(files, &RuleOptions { site: site(), one_device: true, ..RuleOptions::default() })
}

fn of<'a>(report: &'a Report, rule: &str) -> Vec<&'a Finding> {
    report.findings.iter().filter(|finding| finding.rule == rule).collect()
}

fn leaf() -> Map<String, Value> {
    serde_json::from_str(LEAF).unwrap()
}

/// The tables of the leaf with these names, and those without.
fn split(names: &[&str]) -> (String, String) {
    let (some, rest): (Map<_, _>, Map<_, _>) =
        leaf().into_iter().partition(|(table, _)| names.contains(&table.as_str()));
    (serde_json::to_string_pretty(&some).unwrap(), serde_json::to_string_pretty(&rest).unwrap())
}

const QOS: [&str; 8] = [
    "WRED_PROFILE",
    "QUEUE",
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "TC_TO_QUEUE_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
];
const BUFFERS: [&str; 5] = ["BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_PG", "BUFFER_QUEUE", "CABLE_LENGTH"];
const LATE_MARKS: (&str, &str) =
    ("\"green_min_threshold\": \"150000\"", "\"green_min_threshold\": \"1048576\"");

#[test]
fn a_part_of_a_switch_is_not_blamed_for_what_is_elsewhere() {
    for part in [&QOS[..], &BUFFERS[..], &["WRED_PROFILE"], &["QUEUE"], &["BUFFER_PG"], &["PORT_QOS_MAP"]] {
        let report = judge(&[("part.json", &split(part).0)]);
        assert_eq!(report.findings, [], "{part:?}");
    }
    let report = judge(&[("qos.json", &split(&QOS).0)]);
    assert!(report.text().contains("without PORT"), "{}", report.text());
}

#[test]
fn a_part_is_blamed_for_what_it_says_itself() {
    let (qos, _) = split(&QOS);
    let off = qos.replacen("\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\"", 1);
    assert_eq!(of(&judge(&[("qos.json", &off)]), "marking-off").len(), 1);
    let misspelt = qos.replace("\"wred_profile\": \"LOSSY\"", "\"wred_profile\": \"LOSSI\"");
    let report = judge(&[("qos.json", &misspelt)]);
    let found = of(&report, "reference");
    assert_eq!(found.len(), 1, "the same name many times is one finding");
    assert!(found[0].subjects.len() > 10 && found[0].says.contains("did you mean `LOSSY`?"), "{found:?}");
}

#[test]
fn ports_that_a_whole_switch_lacks_are_one_finding() {
    let mut whole = leaf();
    let ports = whole["PORT"].as_object_mut().unwrap();
    let lost: Vec<String> = ports.keys().take(3).cloned().collect();
    lost.iter().for_each(|port| drop(ports.remove(port)));
    let report = judge(&[("config_db.json", &serde_json::to_string_pretty(&whole).unwrap())]);
    let about: Vec<_> = of(&report, "reference").iter().map(|found| found.subjects.clone()).collect();
    assert!(!about.is_empty() && about.len() <= 5, "one for each table: {about:?}");
    for subjects in about {
        assert!(subjects.iter().all(|port| lost.contains(port)), "{subjects:?}");
    }
}

#[test]
fn parts_together_are_the_whole() {
    let ((qos, rest), (buffers, _)) = (split(&QOS), split(&BUFFERS));
    let ports: Map<_, _> = serde_json::from_str::<Map<String, Value>>(&rest)
        .unwrap()
        .into_iter()
        .filter(|(table, _)| !BUFFERS.contains(&table.as_str()))
        .collect();
    let ports = serde_json::to_string_pretty(&ports).unwrap();
    let late = qos.replacen(LATE_MARKS.0, LATE_MARKS.1, 1);
    let report = together(&[("ports.json", &ports), ("buffers.json", &buffers), ("qos.json", &late)]);
    let whole = judge(&[("config_db.json", &LEAF.replacen(LATE_MARKS.0, LATE_MARKS.1, 1))]);
    let told = |report: &Report| -> Vec<(String, BTreeSet<String>)> {
        report.findings.iter().map(|one| (one.says.clone(), one.subjects.iter().cloned().collect())).collect()
    };
    assert_eq!(told(&report), told(&whole));
    let found = of(&report, "ecn-after-pfc");
    let line = 1 + late[..late.find("1048576").unwrap()].matches('\n').count();
    assert_eq!((found[0].file.as_str(), found[0].line), ("qos.json", line));
}

#[test]
fn a_later_part_counts_and_says_so() {
    let override_ = "{\"WRED_PROFILE\": {\"LOSSLESS\": {\"green_min_threshold\": \"1048576\"}}}";
    let report = together(&[("config_db.json", LEAF), ("site.json", override_)]);
    let found = of(&report, "repetition");
    assert_eq!((found.len(), found[0].level, found[0].file.as_str()), (1, Severity::Note, "site.json"));
    assert_eq!(of(&report, "ecn-after-pfc")[0].file, "site.json");
}

/// `TABLE|key` for every entry, as the database is dumped; `wrapped`: with type and value.
fn dump(wrapped: bool) -> String {
    let mut flat = Map::new();
    for (table, entries) in leaf() {
        for (key, entry) in entries.as_object().unwrap() {
            let entry = match wrapped {
                true => json!({"expireat": 1.5, "ttl": -0.001, "type": "hash", "value": entry}),
                false => entry.clone(),
            };
            flat.insert(format!("{table}|{key}"), entry);
        }
    }
    serde_json::to_string_pretty(&flat).unwrap()
}

#[test]
fn a_dump_of_the_database_is_the_same_switch() {
    for wrapped in [false, true] {
        let text = dump(wrapped);
        assert_eq!(judge(&[("dump.json", &text)]).findings, [], "{wrapped}");
        let late = text.replacen(LATE_MARKS.0, LATE_MARKS.1, 1);
        let report = judge(&[("dump.json", &late)]);
        assert_eq!(of(&report, "ecn-after-pfc")[0].subjects.len(), 64, "{wrapped}");
        assert!(report.text().contains("PORT 32"), "{}", report.text());
    }
}

#[test]
fn the_chips_of_a_switch_are_judged_each() {
    let late: Value = serde_json::from_str(&LEAF.replacen(LATE_MARKS.0, LATE_MARKS.1, 1)).unwrap();
    let both =
        json!({"localhost": {"FEATURE": {"bgp": {"state": "enabled"}}}, "asic0": leaf(), "asic1": late});
    let report = judge(&[("both.json", &serde_json::to_string_pretty(&both).unwrap())]);
    let found = of(&report, "ecn-after-pfc");
    assert_eq!((report.findings.len(), found.len()), (1, 1), "{:?}", report.findings);
}

/// The queues of a card of a chassis have its name; those of other cards are queues towards them.
#[test]
fn queues_of_a_chassis_belong_to_their_card() {
    let card = |host: &str| {
        let mut whole = leaf();
        whole["DEVICE_METADATA"]["localhost"]["hostname"] = json!("card1");
        whole["DEVICE_METADATA"]["localhost"]["asic_name"] = json!("Asic0");
        for table in ["QUEUE", "BUFFER_QUEUE"] {
            let entries = whole[table].as_object().unwrap().clone();
            let named = entries.into_iter().map(|(key, entry)| (format!("{host}|Asic0|{key}"), entry));
            whole[table] = Value::Object(named.collect());
        }
        serde_json::to_string_pretty(&whole).unwrap()
    };
    assert_eq!(judge(&[("card1.json", &card("card1"))]).findings, []);
    let other = judge(&[("card1.json", &card("card2"))]);
    let rules: Vec<&str> = other.findings.iter().map(|found| found.rule).collect();
    assert_eq!(rules, ["lossless-without-ecn"; 2], "the card's own queues have no marking now");
}

#[test]
fn a_file_without_anything_to_judge_is_told() {
    for (name, text) in [
        ("empty.json", "{}"),
        ("features.json", "{\"FEATURE\": {\"bgp\": {\"state\": \"enabled\"}}}"),
        ("nested.json", "{\"config\": {\"PORT\": {\"Ethernet0\": {}}}}"),
        ("10-vm.conf", "vm.swappiness = 10\n"),
        ("setup.sh", "#!/bin/sh\nmodprobe tcp_dctcp\n"),
        ("acl.cfg", "hostname leaf\nip access-list A\n   10 permit ip any any\n"),
    ] {
        let report = judge(&[(name, text)]);
        let found = of(&report, "nothing-read");
        assert_eq!(
            (found.len(), report.worst()),
            (1, Some(Severity::Warning)),
            "{name}: {:?}",
            report.findings
        );
    }
    let conf = [("sysctl.d/10-vm.conf", "vm.swappiness = 10\n"), ("sysctl.d/90-tcp.conf", HOSTS)];
    assert_eq!(of(&judge(&conf), "nothing-read").len(), 0, "one of the files of a host is enough");
}

#[test]
fn marking_needs_the_colour_of_ordinary_packets() {
    let change = |from: &str, to: &str| {
        assert!(LEAF.contains(from), "{from}");
        let report = judge(&[("config_db.json", &LEAF.replacen(from, to, 1))]);
        of(&report, "marking-off").iter().map(|one| (one.level, one.says.clone())).collect::<Vec<_>>()
    };
    let on = "\"wred_green_enable\": \"true\"";
    let others =
        "\"wred_green_enable\": \"false\", \"wred_yellow_enable\": \"true\", \"wred_red_enable\": \"true\"";
    for (from, to, words) in [
        (on, "\"wred_green_enable\": \"false\"", "is not enabled"),
        (on, others, "wred_green_enable is not true"),
        ("\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_yellow_red\"", "names only yellow and red"),
    ] {
        let found = change(from, to);
        assert!(
            found.len() == 1 && found[0].0 == Severity::Error && found[0].1.contains(words),
            "{to}: {found:?}"
        );
    }
    let found = change(on, "\"wred_green_enable\": \"true\", \"wred_red_enable\": \"false\"");
    assert!(
        found.len() == 1 && found[0].0 == Severity::Note && found[0].1.contains("red packets"),
        "{found:?}"
    );
}

/// A queue of 100 Gb/s that waits 12.8 us holds 160 kB.
#[test]
fn times_are_lengths_at_the_speed_of_the_port() {
    let timed =
        |min: &str| EOS.replacen("minimum-threshold 160 kbytes", &format!("minimum-threshold {min}"), 1);
    let found = |text: &str| judge(&[("leaf.cfg", text)]).findings;
    assert_eq!(found(&timed("12 microseconds")), []);
    let late = found(&timed("1 milliseconds"));
    assert!(late.iter().any(|one| one.rule == "ramp-order" && one.says.contains("12.5 MB")), "{late:?}");
    let unknown = timed("12 microseconds").replace("speed forced 100gfull", "mtu 9214");
    let without_rate = judge_with(&[("leaf.cfg", &unknown)], &RuleOptions::default());
    assert_eq!(without_rate.findings, []);
    assert!(
        without_rate.text().contains("4 queues have marking thresholds in time")
            || without_rate.text().contains("queues have marking thresholds in time")
    );
}

#[test]
fn a_segment_is_a_cell_of_the_chip() {
    let cells = EOS.replacen("minimum-threshold 160 kbytes", "minimum-threshold 6000 segments", 1);
    let says = |text: &str, site: Surroundings| {
        let report = judge_with(&[("leaf.cfg", text)], &RuleOptions { site, ..RuleOptions::default() });
        let of = of(&report, "ramp-order").first().map_or(String::new(), |one| one.says.clone());
        (of, report.text().contains("cells and segments are taken as 208 B"))
    };
    let (max, newer) = ("maximum-threshold 1500 kbytes", "maximum-threshold 1000 kbytes");
    let cells = cells.replacen(max, newer, 1);
    let trident3 = cells.replace("32x100G", "DCS-7050CX3-32S");
    let (assumed, told) = says(&cells, site());
    assert!(assumed.contains("1.25 MB") && told, "{assumed}");
    let (known, told) = says(&trident3, site());
    assert!(known.contains("1.54 MB") && !told, "{known}");
    let (given, told) = says(&cells, Surroundings { cell: Some(Bytes(256)), ..site() });
    assert!(given == known && !told, "{given}");
}

#[test]
fn lines_of_eos_that_write_packets_are_no_mistakes() {
    let more = "qos map traffic-class 1 to dscp 56\nqos map traffic-class 2 4 5 to cos 7\nqos map exp 0 to traffic-class 0\n\
                qos map dscp 18 20 to traffic-class 4 drop-precedence 2\nqos rewrite dscp\n";
    let text = EOS.replacen("qos map", &format!("{more}qos map"), 1);
    assert_eq!(judge(&[("leaf.cfg", &text)]).findings, []);
    let wrong = EOS.replacen("qos map", "qos map dscp 18 to traffic-class 9\nqos map", 1);
    assert_eq!(of(&judge(&[("leaf.cfg", &wrong)]), "value").len(), 1);
}

#[test]
fn pauses_that_are_off_everywhere_and_packets_that_may_pass_are_believed() {
    let off = format!("{EOS}priority-flow-control all off\n")
        .replace("watchdog default timeout 0.2", "watchdog default timeout 0.02");
    let report = judge(&[("leaf.cfg", &off)]);
    assert_eq!(of(&report, "watchdog-times").len(), 0, "nothing pauses");
    let passing = EOS.replacen("qos map", "qos random-detect ecn allow non-ect\nqos map", 1);
    // The other marking is that of a lossless queue.
    assert_eq!(of(&judge(&[("leaf.cfg", EOS), ("90-tcp.conf", HOSTS)]), "non-ect-in-marking-queue").len(), 1);
    assert_eq!(
        of(&judge(&[("leaf.cfg", &passing), ("90-tcp.conf", HOSTS)]), "non-ect-in-marking-queue").len(),
        0
    );
}

#[test]
fn hosts_are_set_up_by_profiles_and_scripts_too() {
    for (name, text, on) in [
        ("tuned.conf", TUNED, "net.ipv4.tcp_ecn=1"),
        ("setup.sh", SCRIPT, "net.ipv4.tcp_ecn=1"),
        ("90-tcp.conf", HOSTS, "net.ipv4.tcp_ecn = 1"),
    ] {
        assert_eq!(judge(&[(name, text)]).findings, [], "{name}");
        let off = text.replacen(on, &on.replace('1', "0"), 1);
        let report = judge(&[(name, &off)]);
        let found = of(&report, "dctcp-ecn-off");
        let line = 1 + off[..off.find(&on.replace('1', "0")).unwrap()].matches('\n').count();
        assert_eq!((found.len(), found[0].line), (1, line), "{name}");
    }
}

#[test]
fn files_of_a_folder_are_one_host_in_the_order_of_their_names() {
    let law = ("etc/sysctl.d/90-tcp.conf", HOSTS);
    let off = ("etc/sysctl.d/95-site.conf", "net.ipv4.tcp_ecn = 0\n");
    let earlier = ("etc/sysctl.d/10-vendor.conf", "net.ipv4.tcp_ecn = 0\n");
    assert_eq!(of(&judge(&[off, law]), "dctcp-ecn-off").len(), 1);
    let report = judge(&[law, earlier]);
    assert_eq!((of(&report, "dctcp-ecn-off").len(), report.worst()), (0, Some(Severity::Note)));
    let elsewhere = ("other/95-site.conf", off.1);
    assert_eq!(of(&judge(&[law, elsewhere]), "dctcp-ecn-off").len(), 0, "another host");
    assert_eq!(of(&together(&[law, elsewhere]), "dctcp-ecn-off").len(), 1);
}

#[test]
fn what_was_read_is_told_of_every_file() {
    let report = judge(&[("config_db.json", LEAF), ("tuned.conf", TUNED)]);
    let json: Value = serde_json::from_str(&report.json()).unwrap();
    assert_eq!((&json["read"][0]["kind"], &json["read"][0]["read"]["PORT"]), (&json!("sonic"), &json!(32)));
    assert_eq!(json["read"][1]["not_read"], json!({"vm.swappiness": 1, "[main]": 2, "[cpu]": 1}));
    assert!(
        report.text().contains("read tuned.conf (tuned): net.ipv4.tcp_congestion_control"),
        "{}",
        report.text()
    );
}
