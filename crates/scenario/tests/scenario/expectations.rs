//! `[[expect]]`: reading, resolving against the cases, judging.

use crate::{listed, small};
use std::collections::BTreeMap;
use weft_scenario::{Claim, Measurement, Metrics, Scenario, ScenarioFile};

const SWEEP: &str =
    "[sweep]\nbalance = [\"ecmp\", \"random\", \"drill\"]\n\"traffic.web.load\" = [0.3, 0.8]\n";
const METRICS: Metrics = Metrics {
    known: |name| {
        matches!(name, "fct.mean" | "fct.p99" | "drops.total" | "drain" | "jain")
            || name.starts_with("fct.tag.")
    },
    nearest: |_| Some("fct.mean".to_owned()),
    unit: |name| match name {
        "drops.total" => "packets",
        "drain" => "s",
        "jain" => "",
        _ => "us",
    },
};

fn scenario(expect: &str) -> Result<Scenario, Vec<String>> {
    let text = small(&format!("{SWEEP}[[expect]]\n{expect}\n"));
    let file = ScenarioFile::parse(&text, "test.toml").unwrap();
    file.validate(&METRICS).map_err(|mistakes| listed(&mistakes))
}

fn claims(expect: &str) -> Vec<Claim> {
    scenario(expect).unwrap_or_else(|mistakes| panic!("{mistakes:#?}")).claims
}

/// The cases of the terms of each claim.
fn cases(claims: &[Claim]) -> Vec<Vec<usize>> {
    let cases = |claim: &Claim| claim.measured.iter().map(|(_, at)| at.case).collect();
    claims.iter().map(cases).collect()
}

fn mistake(expect: &str) -> String {
    let found = scenario(expect).err().unwrap_or_else(|| panic!("accepted: {expect}"));
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].clone()
}

#[test]
fn a_ratio_compares_two_cases() {
    let claims = claims(
        "where = { \"traffic.web.load\" = 0.8 }\nvalue = \"fct.mean(ecmp) / fct.mean(drill)\"\nabove = 1.3\nbelow = 2.2",
    );
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].text, "fct.mean(ecmp) / fct.mean(drill) at traffic.web.load = 0.8");
    assert_eq!(cases(&claims), [[1, 5]]);
    assert!(claims[0].measured.iter().all(|(_, at)| at.metric == "fct.mean"));
    assert_eq!(claims[0].bound.words(), "1.3 to 2.2");
}

#[test]
fn axes_left_open_mean_in_every_case() {
    let all = claims("value = \"drops.total\"\nbelow = 5");
    assert_eq!(cases(&all), [[0], [1], [2], [3], [4], [5]]);
    let loads = claims("value = \"fct.p99(balance = ecmp) / fct.p99(drill)\"\nabove = 1");
    assert_eq!(cases(&loads), [[0, 4], [1, 5]]);
}

#[test]
fn settings_that_are_not_swept_may_be_named_too() {
    assert_eq!(
        claims("where = { \"measure.flows\" = 100, balance = \"drill\" }\nvalue = \"fct.mean\"\nabove = 0")
            .len(),
        2
    );
    assert!(
        mistake("where = { \"measure.flows\" = 99 }\nvalue = \"fct.mean\"\nabove = 0")
            .contains("is `100` in every case")
    );
    assert!(
        mistake("where = { \"measure.flow\" = 99 }\nvalue = \"fct.mean\"\nabove = 0")
            .contains("is not a setting")
    );
}

#[test]
fn what_can_never_be_met_is_refused() {
    assert!(
        mistake("where = { balance = \"conga\" }\nvalue = \"fct.mean\"\nabove = 0").contains("never `conga`")
    );
    assert!(
        mistake("value = \"fct.mean(conga) / fct.mean(drill)\"\nabove = 1").contains("no case of the sweep")
    );
    assert!(
        mistake("where = { balance = \"ecmp\" }\nvalue = \"fct.mean(drill)\"\nabove = 1")
            .contains("contradicts")
    );
    assert!(mistake("value = \"fct.mean\"\nabove = 2\nbelow = 1").contains("no number satisfies"));
    assert!(
        mistake("value = \"fct.mean(ecmp) / fct.mean\"\nabove = 1").contains("either every metric gives")
    );
}

/// 0.9004 is not less than 0.9, and its text must not say that it might be.
#[test]
fn a_verdict_has_the_digits_that_show_it_and_says_where_nothing_can_be_divided() {
    let judged = |value: f64, limits: &str| {
        let claim =
            &claims(&format!("where = {{ balance = \"ecmp\", \"traffic.web.load\" = 0.8 }}\n{limits}"))[0];
        claim.judge(&|at| [(1, if at.metric == "drops.total" { 0.0 } else { value })].into())
    };
    let below = "value = \"fct.mean\"\nbelow = 0.9";
    let digits = |value| judged(value, below).digits;
    assert_eq!([digits(0.899_96), digits(0.5), digits(1.0)], [5, 3, 3]);
    assert!(judged(0.899_96, below).kept);
    let divided = judged(1.0, "value = \"fct.mean / drops.total\"\nbelow = 0.9");
    assert!(divided.undefined && divided.measured.is_none() && !divided.kept);
}

#[test]
fn a_share_of_zero_is_no_tolerance() {
    let zero = |within: &str| mistake(&format!("value = \"fct.mean\"\nabout = 0\nwithin = \"{within}\""));
    assert!(zero("15 %").contains("`15 %` of 0 is 0"), "{}", zero("15 %"));
    assert!(zero("x2").contains("`x2` of 0 is 0"));
}

#[test]
fn an_expectation_says_what_and_how_much() {
    assert!(mistake("above = 1").contains("needs a value"));
    assert!(mistake("value = \"fct.mean\"").contains("needs about and within"));
    assert!(mistake("value = \"fct.mean\"\nabout = 1").contains("`about` needs `within`"));
    assert!(
        mistake("value = \"fct.mean\"\nabove = 1\nwithin = \"x2\"").contains("no effect without `about`")
    );
    assert!(mistake("value = \"fct.mean\"\nabout = 1\nwithin = \"near\"").contains("is not a tolerance"));
    assert!(mistake("value = \"fct.man\"\nabove = 1").contains("unknown metric `fct.man`"));
    assert!(mistake("value = \"fct.mean\"\nabove = 1\ncheck = \"order\"").contains("not supported yet"));
    assert!(mistake("value = \"fct.mean\"\nabov = 1\nbelow = 2").contains("unknown key `abov`"));
    let misspelt = small("[[expect]]\nvalue = \"fct.mean\"\nwheer = {}\nbelow = 2\n");
    let refused = ScenarioFile::parse(&misspelt, "x.toml").and_then(|file| file.validate(&METRICS));
    assert!(refused.err().is_some_and(|mistakes| mistakes.draw(false).contains("did you mean `where`?")));
}

#[test]
fn what_is_not_recorded_cannot_be_expected() {
    let refused = |metric: &str, record: &str| {
        let text = format!("[[expect]]\nvalue = \"{metric}\"\nabove = 0\n");
        let text = small(&text).replace("[measure]\n", &format!("[measure]\nrecord = [{record}]\n"));
        let found = ScenarioFile::parse(&text, "test.toml").unwrap().validate(&weft_scenario::Metrics::ANY);
        found.err().map_or(String::new(), |mistakes| mistakes.short())
    };
    for (metric, word) in [
        ("reordering.over_3", "reordering"),
        ("queueing.hop1.p99", "hops"),
        ("imbalance.hop1", "queues"),
        ("drops.hop1", "drops"),
    ] {
        assert!(refused(metric, "\"flows\"").contains("is not recorded"), "{metric}");
        assert!(!refused(metric, &format!("\"{word}\"")).contains("is not recorded"), "{metric}");
    }
    assert_eq!(refused("drops.total", "\"flows\""), "");
}

#[test]
fn about_within_is_a_share_or_a_factor() {
    let bound = |within: &str| {
        let bound =
            claims(&format!("value = \"fct.mean(drill)\"\nabout = 4\nwithin = \"{within}\""))[0].bound;
        (bound.low, bound.high)
    };
    assert_eq!(bound("25 %"), (3.0, 5.0));
    assert_eq!(bound("x2"), (2.0, 8.0));
}

#[test]
fn a_verdict_compares_means_over_seeds() {
    let claim = &claims(
        "where = { \"traffic.web.load\" = 0.8 }\nvalue = \"fct.mean(ecmp) / fct.mean(drill)\"\nabout = 1.5\nwithin = \"10 %\"",
    )[0];
    let seeds = |values: &[f64]| (1..).zip(values.iter().copied()).collect::<BTreeMap<u64, f64>>();
    let results = |at: &Measurement| if at.case == 1 { seeds(&[3.0, 6.0]) } else { seeds(&[2.0, 4.0]) };
    let verdict = claim.judge(&results);
    assert_eq!((verdict.measured, verdict.kept), (Some(1.5), true));
    assert_eq!(verdict.per_seed, [1.5, 1.5]);
    assert_eq!(verdict.allowed, "1.35 to 1.65");
    let worse = claim.judge(&|at: &Measurement| if at.case == 1 { seeds(&[4.0]) } else { seeds(&[2.0]) });
    assert_eq!((worse.measured, worse.kept), (Some(2.0), false));
    let nothing = claim.judge(&|_: &Measurement| BTreeMap::new());
    assert_eq!((nothing.measured, nothing.kept), (None, false));
    let partly = claim.judge(&|at: &Measurement| match at.case {
        1 => BTreeMap::from([(1, 30.0), (2, 3.0), (3, 6.0)]),
        _ => BTreeMap::from([(2, 2.0), (3, 4.0), (4, 1.0)]),
    });
    assert_eq!((partly.measured, partly.per_seed.as_slice()), (Some(1.5), [1.5, 1.5].as_slice()));
}

#[test]
fn any_arithmetic_of_metrics_is_a_value() {
    let claim = &claims(
        "where = { \"traffic.web.load\" = 0.8 }\nvalue = \"1 - min(fct.p99(drill), fct.p99(random)) / fct.p99(ecmp)\"\nabove = 0.5",
    )[0];
    let verdict = claim.judge(&|at: &Measurement| {
        let value = match at.case {
            1 => 10.0,
            3 => 8.0,
            _ => 4.0,
        };
        BTreeMap::from([(1, value)])
    });
    assert_eq!((verdict.measured, verdict.kept), (Some(0.6), true));
    assert!(verdict.text.ends_with("/ fct.p99(ecmp) at traffic.web.load = 0.8"), "{}", verdict.text);
}

#[test]
fn a_case_is_picked_by_a_label_with_settings() {
    let sweep = "[sweep]\nbalance = [\"ecmp\", { drill = { choices = 2, memory = 1 } }, { drill = { choices = 4 } }]\n";
    let read = |value: &str| {
        let text = small(&format!("{sweep}[[expect]]\nvalue = \"{value}\"\nabove = 1\n"));
        let file = ScenarioFile::parse(&text, "test.toml").unwrap();
        file.validate(&METRICS).map_err(|mistakes| mistakes.list()[0].clone())
    };
    for value in [
        "fct.mean(ecmp) / fct.mean(drill choices=2 memory=1)",
        "fct.mean(ecmp) / fct.mean(balance = drill choices=2 memory=1)",
        "fct.mean(balance=ecmp) / fct.mean(balance=drill choices=2 memory=1)",
    ] {
        assert_eq!(cases(&read(value).unwrap().claims), [[0, 1]], "{value}");
    }
    let wrong = read("fct.mean(drill choices=2 memory=2)").unwrap_err();
    assert!(wrong.message.contains("no case of the sweep has the value `drill choices=2 memory=2`"));
    assert_eq!(wrong.nearest.as_deref(), Some("drill choices=2 memory=1"));
    let wrong = read("fct.mean(balanse = ecmp)").unwrap_err();
    assert!(wrong.message.contains("the sweep does not vary `balanse`"), "{}", wrong.message);
    assert_eq!(wrong.nearest.as_deref(), Some("balance"));
}

#[test]
fn what_only_reproductions_have_is_refused() {
    let refused = |value: &str| mistake(&format!("value = \"{value}\"\nabove = 1"));
    assert!(refused("E1:fct.mean(drill)").contains("`E1:` names an experiment"));
    assert!(refused("reach(fct.p99(drill), 17)").contains("only claims of reproductions"));
    assert!(refused("1 + 2").contains("no metric is given"));
    assert!(refused("fct.mean(drill) /").contains("cannot read `fct.mean(drill) /`"));
    let old = mistake("ratio = \"fct.mean(ecmp) / fct.mean(drill)\"\nabove = 1");
    assert!(old.contains("`ratio` is now `value`"), "{old}");
}

#[test]
fn a_demo_leaves_out_what_it_does_not_run() {
    let text = small(&format!(
        "{SWEEP}[[expect]]\nvalue = \"fct.mean(random) / fct.mean(drill)\"\nabove = 1\n[demo]\nbalance = [\"ecmp\", \"drill\"]\n"
    ));
    let file = ScenarioFile::parse(&text, "test.toml").unwrap();
    assert_eq!(file.validate(&METRICS).unwrap().claims.len(), 2);
    assert_eq!(file.reduced().validate(&METRICS).unwrap().claims.len(), 0);
}

#[test]
fn limits_may_have_units() {
    let bound = |expect: &str| claims(expect)[0].bound;
    assert_eq!(bound("value = \"fct.mean\"\nbelow = \"10 ms\"").below, 10_000.0);
    assert_eq!(bound("value = \"drain\"\nbelow = \"10 ms\"").below, 0.01);
    assert_eq!(bound("value = \"jain\"\nabove = \"90 %\"").above, 0.9);
    let about = bound("value = \"max(fct.p99(ecmp), fct.p99(drill))\"\nabout = \"2 ms\"\nwithin = \"10 %\"");
    assert!((about.low - 1_800.0).abs() < 1e-9 && (about.high - 2_200.0).abs() < 1e-9);
    for (expect, what) in [
        (
            "value = \"drops.total\"\nbelow = \"10 ms\"",
            "`10 ms` does not fit `drops.total`, which is in packets",
        ),
        ("value = \"fct.mean\"\nbelow = \"10 kB\"", "`10 kB` does not fit `fct.mean`, which is in us"),
        ("value = \"fct.mean(ecmp) / fct.mean(drill)\"\nbelow = \"1 us\"", "a quotient or a product"),
        ("value = \"fct.mean\"\nabove = 1\nbelow = \"10 ms\"", "another limit has none"),
    ] {
        assert!(mistake(expect).contains(what), "{expect}: {}", mistake(expect));
    }
    let found = scenario("value = \"fct.mean\"\nbelow = \"10 elephants\"").err().unwrap_or_default();
    assert!(found.iter().any(|one| one.contains("found the text \"10 elephants\"")), "{found:#?}");
}

#[test]
fn a_metric_of_a_traffic_entry_needs_the_entry() {
    assert_eq!(claims("value = \"fct.tag.web.mean\"\nbelow = \"1 ms\"").len(), 6);
    let found = mistake("value = \"fct.tag.wbe.mean\"\nbelow = \"1 ms\"");
    assert!(found.contains("there is no traffic entry `wbe`"), "{found}");
}

/// The demo may leave expectations out, but not one that it promises to judge.
#[test]
fn the_demo_has_the_cases_that_it_promises() {
    let of = |reduced: bool| {
        let text = small(&format!(
            "{SWEEP}[[expect]]\nvalue = \"fct.mean(drill) / fct.mean(ecmp)\"\nbelow = 1.5\nreduced = {reduced}\n\
             [demo]\nbalance = [\"ecmp\", \"random\"]\n"
        ));
        ScenarioFile::parse(&text, "test.toml").unwrap().reduced().validate(&METRICS)
    };
    assert!(of(false).is_ok_and(|scenario| scenario.claims.is_empty()));
    let found = listed(&of(true).unwrap_err());
    assert!(found[0].contains("drill"), "{found:?}");
}

/// A demo need not have the cases of an expectation, but mistakes in the whole file are mistakes in the demo, too.
#[test]
fn mistakes_of_expectations_are_found_in_the_demo() {
    let of_demo = |expect: &str| {
        let demo = "[demo]\nbalance = \"drill\"\n";
        let text = small(&format!("{SWEEP}[[expect]]\n{expect}\n{demo}"));
        let mut file = ScenarioFile::parse(&text, "test.toml").unwrap();
        file = file.reduced();
        file.validate(&METRICS).map_err(|mistakes| listed(&mistakes))
    };
    let lacking = of_demo("value = \"fct.mean(ecmp) / fct.mean(drill)\"\nabove = 1.3").expect("sound");
    assert_eq!(lacking.claims.len(), 0);
    for wrong in ["value = \"nosuch\"\nbelow = 1", "value = \"fct.mean\"\nbelow = \"10 GB\""] {
        let found = of_demo(wrong).err().unwrap_or_else(|| panic!("accepted: {wrong}"));
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}
