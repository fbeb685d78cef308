//! Known findings: silenced by comments, kept in a baseline, reported once for many files.

use weft_lint::{Finding, Input, Report, RuleOptions, Severity, lint};

const LEAF: &str = include_str!("files/leaf_config_db.json");
const EOS: &str = include_str!("files/leaf_running_config.cfg");
const DCTCP: &str =
    "net.ipv4.tcp_congestion_control = dctcp\nnet.ipv4.tcp_ecn_fallback = 0\nnet.ipv4.tcp_ecn = 0\n";

fn judge_with(files: &[(&str, &str)], options: &RuleOptions) -> Report {
    let input =
        |(name, text): &(&str, &str)| Input { name: (*name).into(), text: (*text).into(), kind: None };
    lint(files.iter().map(input).collect(), options).unwrap_or_else(|refused| panic!("{refused}"))
}

fn judge(files: &[(&str, &str)]) -> Report {
    judge_with(files, &RuleOptions::default())
}

fn of<'a>(report: &'a Report, rule: &str) -> Vec<&'a Finding> {
    report.findings.iter().filter(|finding| finding.rule == rule).collect()
}

#[test]
fn a_comment_silences_a_rule_in_the_next_line() {
    let comment = "# weft lint: allow dctcp-ecn-off -- set by the boot image\n";
    let text = DCTCP.replace("net.ipv4.tcp_ecn = 0", &format!("{comment}net.ipv4.tcp_ecn = 0"));
    assert_eq!(judge(&[("a.conf", &text)]).findings, []);
    let early = judge(&[("a.conf", &format!("{comment}{DCTCP}"))]);
    let rules: Vec<_> = early.findings.iter().map(|one| (one.rule, one.level, one.line)).collect();
    assert_eq!(rules, [("silenced-for-nothing", Severity::Note, 1), ("dctcp-ecn-off", Severity::Error, 4)]);
    let whole = format!("{}{DCTCP}", comment.replace("allow", "allow-file"));
    assert_eq!(judge(&[("a.conf", &whole)]).findings, []);
}

#[test]
fn a_rule_that_does_not_exist_is_an_error_with_the_nearest_name() {
    let text = format!("# weft lint: allow dctcp-ecn-of\n{DCTCP}");
    let report = judge(&[("a.conf", &text)]);
    let found = of(&report, "silenced-for-nothing");
    assert!(
        found[0].level == Severity::Error && found[0].says.contains("did you mean `dctcp-ecn-off`?"),
        "{found:?}"
    );
}

#[test]
fn a_comment_above_an_interface_holds_for_its_lines_only() {
    let bad = EOS.replace("mtu 9214", "mtu 10");
    let with = bad.replacen("interface Ethernet1/1", "! weft lint: allow value\ninterface Ethernet1/1", 1);
    let count = |text: &str| of(&judge(&[("leaf.cfg", text)]), "value").len();
    assert_eq!(count(&bad) - count(&with), 1);
}

#[test]
fn json_has_fields_in_place_of_comments() {
    let off = LEAF.replace("\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\"");
    assert_eq!(of(&judge(&[("config_db.json", &off)]), "marking-off").len(), 2);
    let one = off.replacen(
        "\"wred_green_enable\"",
        "\"weft_lint\": \"allow marking-off\", \"wred_green_enable\"",
        1,
    );
    let report = judge(&[("config_db.json", &one)]);
    assert_eq!((of(&report, "marking-off").len(), of(&report, "silenced-for-nothing").len()), (1, 0));
    let all = off.replacen('{', "{\"WEFT_LINT\": {\"allow\": \"marking-off, value\"},", 1);
    let report = judge(&[("config_db.json", &all)]);
    assert_eq!((of(&report, "marking-off").len(), of(&report, "silenced-for-nothing").len()), (0, 1));
}

#[test]
fn a_baseline_holds_what_is_known_while_lines_move() {
    let all = |level| move |report: &Report| report.findings.iter().filter(|one| one.level >= level).count();
    let off = LEAF.replace("\"wred_green_enable\": \"true\"", "\"wred_green_enable\": \"false\"");
    let known = judge(&[("config_db.json", &off)]);
    assert!(all(Severity::Note)(&known) > 0);
    let baseline = Some(("known.json".to_owned(), known.baseline()));
    let options = RuleOptions { baseline, ..RuleOptions::default() };
    let moved = off.replacen('{', "{\n\n", 1);
    let report = judge_with(&[("config_db.json", &moved)], &options);
    let met = report.known.expect("there is a baseline");
    assert_eq!((report.findings, met.known, met.gone), (vec![], known.findings.len(), 0));
    let mended = judge_with(&[("config_db.json", LEAF)], &options).known.expect("there is a baseline");
    assert!(mended.gone >= 2, "{mended:?}");
}

#[test]
fn a_new_port_with_a_known_fault_is_new() {
    let unwatched = |ports: &[&str]| {
        let mut text = LEAF.to_owned();
        for port in ports {
            let at = text.find("\"PFC_WD\"").unwrap();
            let key = format!("\"{port}\": {{");
            let from = at + text[at..].find(&key).unwrap();
            text.replace_range(from..from + key.len(), "\"GLOBAL\": {");
        }
        text
    };
    let known = judge(&[("c.json", &unwatched(&["Ethernet4"]))]);
    assert_eq!(of(&known, "watchdog-off")[0].subjects, ["Ethernet4"]);
    let options =
        RuleOptions { baseline: Some(("k.json".to_owned(), known.baseline())), ..RuleOptions::default() };
    let report = judge_with(&[("c.json", &unwatched(&["Ethernet4", "Ethernet8"]))], &options);
    assert_eq!(of(&report, "watchdog-off")[0].subjects, ["Ethernet8"]);
}

#[test]
fn a_broken_baseline_is_refused_with_its_line() {
    let unknown = "{\"weft_lint_baseline\": 1, \"findings\": [\n{\"rule\": \"valu\", \"file\": \"a\", \"message\": \"b\"}]}";
    for (text, says) in [
        ("{", "k.json:1:2: found the end of the file"),
        ("{}", "found no baseline"),
        ("{\"weft_lint_baseline\": 1}", "no list of findings"),
        ("{\"weft_lint_baseline\": 1, \"findings\": [{}]}", "an incomplete entry"),
        (unknown, "k.json:2:1: found there is no rule `valu`; did you mean `value`?"),
    ] {
        let input = Input { name: "a.conf".into(), text: DCTCP.into(), kind: None };
        let options =
            RuleOptions { baseline: Some(("k.json".into(), text.into())), ..RuleOptions::default() };
        let refused = lint(vec![input], &options).unwrap_err();
        assert!(refused.0[0].contains(says), "{text}: {refused}");
    }
}

#[test]
fn the_same_words_about_several_files_are_one_paragraph() {
    let files = ["a.conf", "b.conf", "c.conf", "d.conf", "e.conf"].map(|name| (name, DCTCP));
    let report = judge(&files);
    assert_eq!(report.findings.len(), 5, "scripts see each");
    let text = report.text();
    assert_eq!(text.matches("[dctcp-ecn-off]").count(), 1, "{text}");
    assert!(text.contains("also b.conf:3:1, c.conf:3:1, d.conf:3:1 and 1 more"), "{text}");
    assert!(text.contains("5 files: 5 errors"), "{text}");
}
