//! Lines of EOS that are misspelt or out of range: each is a finding, and lines on other subjects are listed as not read.

use weft_lint::{Input, Report, RuleOptions, Severity, lint};

const EOS: &str = include_str!("files/leaf_running_config.cfg");

fn report(text: &str) -> Report {
    let input = Input { name: "leaf.cfg".into(), text: text.to_owned(), kind: None };
    lint(vec![input], &RuleOptions::default()).unwrap_or_else(|refused| panic!("{refused}"))
}

/// The file with the first `from` changed to `to`.
fn with(from: &str, to: &str) -> String {
    assert!(EOS.contains(from), "{from} is not there");
    EOS.replacen(from, to, 1)
}

fn says(text: &str, rule: &str) -> Vec<String> {
    let of_rule = report(text).findings.into_iter().filter(|finding| finding.rule == rule);
    of_rule.map(|finding| finding.says).collect()
}

fn passed_over(text: &str) -> Vec<String> {
    report(text).read[0].2.passed_over.iter().map(|(name, _)| name.clone()).collect()
}

#[test]
fn a_misspelt_line_cannot_be_read() {
    assert_eq!(says(EOS, "value"), [""; 0]);
    let detect = "minimum-threshold 160 kbytes maximum-threshold 1500 kbytes max-mark-probability 20";
    for (from, to) in [
        ("priority-flow-control priority 3 no-drop", "priority-flow-control priorty 3 no-drop"),
        ("priority-flow-control priority 3 no-drop", "priority-flow-control priority 3 no-dorp"),
        ("priority-flow-control priority 3 no-drop", "priority-flow-contrl priority 3 no-drop"),
        ("priority-flow-control priority 3 no-drop", "priority-flow-control priority 8 no-drop"),
        ("ingress threshold 1/2", "ingres threshold 1/2"),
        ("ingress threshold 1/2", "ingress treshold 1/2"),
        ("ingress threshold 1/2", "ingress threshold 1/2 x"),
        ("egress unicast queue 1 threshold 1", "egress unicst queue 1 threshold 1"),
        ("egress unicast queue 1 threshold 1", "egress unicast queue 1 threshhold 1"),
        ("speed forced 100gfull", "speed forced 100q"),
        ("mtu 9214", "mtu 9214 bytes"),
        (&format!("random-detect ecn {detect}"), &format!("random-detct ecn {detect}")),
        (&format!("random-detect ecn {detect}"), &format!("random-detect enc {detect}")),
        ("max-mark-probability 20", "max-mark-probabilty 20"),
        ("max-mark-probability 20", "max-mark-probability 900"),
        ("max-mark-probability 20", "max-mark-probability -1"),
        ("max-mark-probability 20", "max-mark-probability much"),
        ("max-mark-probability 20", "max-mark-probability 20 wait 0"),
    ] {
        let told = says(&with(from, to), "value");
        assert!(told.len() == 1 && told[0].contains(to), "{to}: {told:?}");
        assert!(told[0].contains("cannot be read"), "{to}: {told:?}");
    }
}

#[test]
fn lines_on_other_subjects_are_listed_as_not_read() {
    let more = "   speed auto\n   no switchport\n   storm-control broadcast level 1\n   service-policy type qos input MAP\n";
    let text = with("   speed forced 100gfull\n", more);
    assert_eq!(report(&text).findings, []);
    let known = passed_over(EOS);
    let new: Vec<String> = passed_over(&text).into_iter().filter(|name| !known.contains(name)).collect();
    assert_eq!(new, ["no switchport", "storm-control", "service-policy"]);
    let memory = "   egress multicast queue 1 threshold 1/8\n   egress unicast queue 1 reserved bytes 0\n   ingress threshold 1/2\n";
    let text = with("   ingress threshold 1/2\n", memory);
    assert_eq!(report(&text).findings, []);
    assert!(
        ["egress multicast", "egress unicast"]
            .iter()
            .all(|name| passed_over(&text).contains(&(*name).to_owned()))
    );
}

/// Lines as EOS writes them, with parameters that no rule uses, or without those it omits.
#[test]
fn valid_lines_have_no_finding() {
    for (from, to) in [
        ("max-mark-probability 20", "max-mark-probability 20 weight 0"),
        (" max-mark-probability 20", ""),
        ("speed forced 100gfull", "speed 100g-4"),
        ("speed forced 100gfull", "speed forced 100000full"),
        ("priority-flow-control on", "priority-flow-control mode on"),
        (
            "priority-flow-control priority 3 no-drop",
            "priority-flow-control priority 2 drop\n   priority-flow-control priority 3 no-drop",
        ),
        ("ingress threshold 1/2", "ingress threshold 1/2\n   ingress threshold 1/2"),
    ] {
        assert_eq!(report(&with(from, to)).findings, [], "{to}");
    }
}

#[test]
fn a_threshold_given_twice_is_told() {
    for line in
        ["egress unicast queue 1 threshold 1", "ingress headroom bytes 60000", "ingress threshold 1/2"]
    {
        let text = with(line, &format!("{line}\n   {line}6"));
        let found = report(&text).findings;
        let told =
            found.iter().find(|one| one.rule == "repetition").unwrap_or_else(|| panic!("{line}: {found:?}"));
        assert!(told.level == Severity::Warning && told.says.contains("the last one wins"), "{told:?}");
    }
}
