//! `weft check`: all mistakes of a file at once, each with place, what was found, what is allowed and the nearest name.

use crate::{TINY, folder, folder_with, good, weft};
use std::fs;

const WRONG: &str = r#"weft = 1
name = "wrong"
seed = [1, 2]

[topology.leaf-spine]
leaves = 16
spines = "four"
host_link = { rate = "10 Gb", delay = "1 us" }
fabric_link = { rate = 40, delay = "1 sec" }

[switch]
ecn = { kind = "red", max = "5 KB" }

[balance.dril]
choices = 2

[transport.newreno]
sak = true

[[traffic]]
tag = "web"
load = 0.5
sizes = "facebook-web"

[measure]
flows = 100
record = ["flow"]

[sweep]
"traffic.wb.load" = [0.1, 0.2]
"#;

/// Line, column, and words of the message or of the hint.
const EXPECTED: [(u64, u64, &str); 10] = [
    (3, 1, "did you mean `seeds`?"),
    (7, 10, "a whole number"),
    (8, 22, "write Gbps"),
    (9, 24, "write, for example, \"40 Gbps\""),
    (9, 36, "write s"),
    (12, 29, "kB (1000) or KiB (1024)"),
    (14, 10, "did you mean `drill`?"),
    (18, 1, "did you mean `sack`?"),
    (27, 11, "did you mean `flows`?"),
    (30, 1, "did you mean `web`?"),
];

#[test]
fn ten_mistakes_are_told_at_once_in_eighty_columns() {
    let folder = folder("mistakes");
    fs::write(folder.join("wrong.toml"), WRONG).expect("writable");
    let said = weft(&folder, "check wrong.toml");
    assert_eq!(said.code, Some(2));
    assert!(said.out.ends_with("10 mistakes\n"), "{}", said.out);
    for (line, column, words) in EXPECTED {
        let place = format!("--> wrong.toml:{line}:{column}\n");
        let at = said.out.find(&place).unwrap_or_else(|| panic!("no {place}{}", said.out));
        let until = said.out[at..].find("\n\n").map_or(said.out.len(), |length| at + length);
        let before = said.out[..at].rfind("error:").expect("a message");
        assert!(said.out[before..until].contains(words), "{words}\n{}", &said.out[before..until]);
        assert!(said.out[at..until].contains('^'), "underlined");
    }
    let allowed = said.out.lines().filter(|line| !line.starts_with("error:"));
    assert!(allowed.clone().all(|line| line.chars().count() <= 80), "{}", said.out);
    let run = weft(&folder, "run wrong.toml");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert!(run.err.contains("10 mistakes") && !folder.join("runs").exists());
}

#[test]
fn programs_get_the_same_as_json() {
    let folder = folder("mistakes-json");
    fs::write(folder.join("wrong.toml"), WRONG).expect("writable");
    let said = weft(&folder, "check wrong.toml --format json");
    assert_eq!(said.code, Some(2));
    let list: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    let places: Vec<(u64, u64)> = list
        .as_array()
        .expect("an array")
        .iter()
        .map(|one| (one["line"].as_u64().expect("a line"), one["column"].as_u64().expect("a column")))
        .collect();
    assert_eq!(places, EXPECTED.map(|(line, column, _)| (line, column)));
    assert_eq!((&list[0]["nearest"], &list[0]["level"]), (&"seeds".into(), &"mistake".into()));
}

/// What the text says about a scenario without mistakes, programs get, too.
#[test]
fn programs_get_remarks_as_well_as_mistakes() {
    let folder = folder_with("remarks-json", TINY);
    let told = crate::good(&folder, "check tiny.toml");
    let list = crate::good(&folder, "check tiny.toml --format json");
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let list = list.as_array().expect("an array");
    assert_eq!(list.len(), told.lines().filter(|line| line.starts_with("! ")).count());
    let flat = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for remark in list {
        assert_eq!((&remark["level"], &remark["file"]), (&"remark".into(), &"tiny.toml".into()));
        assert!(flat.contains(remark["message"].as_str().expect("a text")), "{remark}\n{told}");
    }
    assert!(!list.is_empty(), "{told}");
    let many = TINY.replace("hosts_per_leaf = 2", "hosts_per_leaf = 16");
    fs::write(folder.join("tiny.toml"), many).expect("writable");
    assert_eq!(crate::good(&folder, "check tiny.toml --format json"), "[]\n");
}

/// Schemes of the literature that Weft lacks are named, with the alternative; a similar name would mislead.
#[test]
fn schemes_that_are_not_modelled_are_named_as_such() {
    let folder = folder_with("elsewhere", TINY);
    let said_of = |set: &str| {
        let said = weft(&folder, &format!("check tiny.toml --set {set}"));
        assert_eq!(said.code, Some(2), "{set}: {}", said.out);
        said.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (set, words) in [
        ("transport=powertcp", "PowerTCP is not modelled; `hpcc`"),
        ("transport=Swift", "Swift is not modelled"),
        ("transport=bbr", "BBR is not modelled; `cubic`"),
        ("balance=hedera", "Hedera is not modelled; `conga`"),
    ] {
        let said = said_of(set);
        assert!(said.contains(words) && !said.contains("did you mean"), "{set}: {said}");
    }
    // in capitals, the name of an existing scheme must lead to its name in Weft
    for (setting, topic) in [("transport", "transports"), ("balance", "balancers")] {
        let listed = crate::good(&folder, &format!("list {topic}"));
        let own = listed.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names: Vec<&str> = own.filter_map(|line| line.split_whitespace().next()).collect();
        assert!(names.len() > 8, "{names:?}");
        for name in names {
            let said = said_of(&format!("{setting}={}", name.to_uppercase()));
            assert!(said.contains(&format!("`{name}`")) && !said.contains("not modelled"), "{name}: {said}");
        }
    }
    assert!(said_of("transport=dctpc").contains("did you mean `dctcp`"));
}

#[test]
fn an_unknown_cable_lists_those_that_exist() {
    let folder = folder_with("cables", TINY);
    let set = "--set failure=[{cables=['leaf0-spine77']}]";
    let said = weft(&folder, &format!("check tiny.toml {set}"));
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("no cable called `leaf0-spine77`") && words.contains("allowed: "), "{words}");
    assert!(words.contains("leaf0-spine0"), "{words}");
}

/// A failure that a run of milliseconds never sees is named before the run, one within it is not.
#[test]
fn a_failure_after_the_last_flow_is_named() {
    let failing = |at: &str| format!("{TINY}\n[[failure]]\nat = \"{at}\"\ncables = [\"leaf0-spine0\"]\n");
    let folder = folder_with("late", &failing("2000 s"));
    let told = |folder| good(folder, "check tiny.toml").split_whitespace().collect::<Vec<_>>().join(" ");
    let late = told(&folder);
    assert!(late.contains("failures: 1 change of cables when all flows can be done ("), "{late}");
    assert!(late.contains("the first at 2000 s"), "{late}");
    fs::write(folder.join("tiny.toml"), failing("1 us")).expect("writable");
    assert!(!told(&folder).contains("failures:"));
    // All flows start at once and are still being sent when the cable fails.
    let at_once = failing("1 ms")
        .replace("load = 0.5\nsizes = \"facebook-web\"", "kind = \"permutation\"\nsizes = \"20 MB\"");
    fs::write(folder.join("tiny.toml"), at_once).expect("writable");
    assert!(!told(&folder).contains("failures:"), "{}", told(&folder));
}
