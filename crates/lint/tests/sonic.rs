//! Faults of SONiC files that a switch takes without a word: fields it does not know, values it refuses, thresholds that
//! are missing.

use weft_lint::{Finding, Input, Report, RuleOptions, lint};

const LEAF: &str = include_str!("files/leaf_config_db.json");

fn report(text: &str) -> Report {
    let input = Input { name: "config_db.json".into(), text: text.to_owned(), kind: None };
    lint(vec![input], &RuleOptions::default()).unwrap_or_else(|refused| panic!("{refused}"))
}

/// The findings of a rule once the first `from` has become `to`; before, there are none.
fn found(rule: &str, (from, to): (&str, &str)) -> Vec<Finding> {
    assert!(LEAF.contains(from), "{from} is not there");
    let of = |text: &str| {
        let all = report(text).findings.into_iter();
        all.filter(|finding| finding.rule == rule).collect::<Vec<_>>()
    };
    assert_eq!(of(LEAF), [], "{rule} finds something in the file that is right");
    of(&LEAF.replacen(from, to, 1))
}

/// The only finding of a rule after a change.
fn only(rule: &str, change: (&str, &str)) -> Finding {
    let found = found(rule, change);
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].clone()
}

fn passed_over(text: &str) -> Vec<(String, usize)> {
    report(text).read[0].2.passed_over.clone()
}

#[test]
fn a_misspelt_field_gets_its_name() {
    for (field, wrong, table) in [
        ("dynamic_th", "dynamic_thr", "BUFFER_PROFILE"),
        ("tc_to_queue_map", "tc_to_que_map", "PORT_QOS_MAP"),
        ("green_drop_probability", "green_drop_prob", "WRED_PROFILE"),
        ("detection_time", "detecton_time", "PFC_WD"),
        ("speed", "sped", "PORT"),
    ] {
        let change = (format!("\"{field}\""), format!("\"{wrong}\""));
        let all = found("value", (&change.0, &change.1));
        let words = format!("{table} has no field `{wrong}`; did you mean `{field}`?");
        assert!(all.iter().any(|finding| finding.says == words), "{words}: {all:#?}");
        let of_table = format!("{table}.{wrong}");
        assert!(passed_over(&LEAF.replacen(&change.0, &change.1, 1)).contains(&(of_table, 1)));
    }
}

/// Newer releases add fields: they are listed, and those that extend a known name are no misspelling of it.
#[test]
fn fields_of_other_releases_are_listed_as_not_read() {
    let known = passed_over(LEAF);
    for (beside, new, table) in [
        ("\"green_min_threshold\": \"150000\"", "ecn_green_min_threshold", "WRED_PROFILE"),
        ("\"mtu\": \"9100\"", "mtu2", "PORT"),
    ] {
        let changed = LEAF.replacen(beside, &format!("{beside},\n\"{new}\": \"1\""), 1);
        assert!(report(&changed).findings.iter().all(|finding| finding.rule != "value"), "{new}");
        let more: Vec<_> = passed_over(&changed).into_iter().filter(|one| !known.contains(one)).collect();
        assert_eq!(more, [(format!("{table}.{new}"), 1)]);
    }
}

#[test]
fn a_buffer_profile_has_one_threshold() {
    let of = "\"dynamic_th\": \"-1\",";
    let none = only("value", (of, ""));
    assert_eq!(none.says, "neither `dynamic_th` nor `static_th` is given");
    let both = only("value", (of, "\"dynamic_th\": \"-1\", \"static_th\": \"4096\","));
    assert!(both.says.contains("both"), "{}", both.says);
    // The buffer manager adds its default where it computes headroom.
    assert_eq!(found("value", (of, "\"headroom_type\": \"dynamic\",")), []);
}

/// Yellow's thresholds are those of packets that a policer colours, not of RoCE's.
#[test]
fn the_thresholds_of_green_packets_are_not_those_of_yellow_ones() {
    let yellow = "\"wred_yellow_enable\": \"true\", \"yellow_min_threshold\": \"1048576\", \
                  \"yellow_max_threshold\": \"2097152\",";
    for missing in ["min", "max"] {
        let from = format!("\"green_{missing}_threshold\": \"150");
        let to = format!("{yellow} \"green_{missing}_treshold\": \"150");
        let off = only("marking-off", (&from, &to));
        assert!(off.says.contains(&format!("has no green_{missing}_threshold")), "{}", off.says);
        assert_eq!(found("ecn-after-pfc", (&from, &to)), []);
    }
}

#[test]
fn a_value_of_ecn_that_does_not_exist_is_named() {
    let change = ("\"ecn\": \"ecn_all\"", "\"ecn\": \"ecn_al\"");
    let value = only("value", change);
    assert_eq!(value.says, "`ecn` is `ecn_al`");
    assert!(
        value.fix.starts_with("write ecn_none, ecn_green,") && value.fix.ends_with("ecn_all"),
        "{}",
        value.fix
    );
    assert_eq!(found("marking-off", change), []);
}

/// The leaf of the file and a spine that is its neighbour, with the same settings.
fn cable(change: (&str, &str)) -> Vec<Finding> {
    let spine = LEAF.replace("spine1", "?").replace("leaf1", "spine1").replace('?', "leaf1");
    assert!(spine.contains(change.0), "{} is not there", change.0);
    let file = |name: &str, text: String| Input { name: name.into(), text, kind: None };
    let files =
        vec![file("leaf.json", LEAF.to_owned()), file("spine.json", spine.replace(change.0, change.1))];
    let found = lint(files, &RuleOptions::default()).unwrap().findings.into_iter();
    found.filter(|finding| finding.rule == "peers-disagree").collect()
}

#[test]
fn the_ends_of_a_cable_treat_packets_alike() {
    assert_eq!(cable(("\"26\":", "\"26\":")), []);
    let says = |change| cable(change).into_iter().map(|one| one.says).collect::<Vec<_>>().join("; ");
    let pauses = says(("\"pfc_enable\": \"3,4\"", "\"pfc_enable\": \"4\""));
    assert!(
        pauses.contains("PFC is on for priorities 3,4 at leaf1, and for priority 4 at spine1"),
        "{pauses}"
    );
    let of = |class: u8| format!("\"3\": \"{class}\",\n            \"4\": \"4\",\n            \"5\": \"1\"");
    let class = says((&of(3), &of(1)));
    assert!(class.contains("leaf1 pauses for DSCP 3"), "{class}");
}
