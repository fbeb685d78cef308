//! `[[expect]]`: reading, resolving against the cases, judging.

use crate::{listed, small};
use weft_scenario::{Claim, Measurement, Metrics, Scenario, ScenarioFile};

const SWEEP: &str =
    "[sweep]\nbalance = [\"ecmp\", \"random\", \"drill\"]\n\"traffic.web.load\" = [0.3, 0.8]\n";
const METRICS: Metrics = Metrics {
    known: |name| matches!(name, "fct.mean" | "fct.p99" | "drops.total"),
    nearest: |_| Some("fct.mean".to_owned()),
};

fn scenario(expect: &str) -> Result<Scenario, Vec<String>> {
    let text = small(&format!("{SWEEP}[[expect]]\n{expect}\n"));
    let file = ScenarioFile::parse(&text, "test.toml").unwrap();
    file.validate(&METRICS).map_err(|mistakes| listed(&mistakes))
}

fn claims(expect: &str) -> Vec<Claim> {
    scenario(expect).unwrap_or_else(|mistakes| panic!("{mistakes:#?}")).claims
}

fn mistake(expect: &str) -> String {
    let found = scenario(expect).err().unwrap_or_else(|| panic!("accepted: {expect}"));
    assert_eq!(found.len(), 1, "{found:#?}");
    found[0].clone()
}

#[test]
fn a_ratio_compares_two_cases() {
    let claims = claims(
        "where = { \"traffic.web.load\" = 0.8 }\nratio = \"fct.mean(ecmp) / fct.mean(drill)\"\nabove = 1.3\nbelow = 2.2",
    );
    assert_eq!(claims.len(), 1);
    assert_eq!(claims[0].text, "fct.mean(ecmp) / fct.mean(drill) at traffic.web.load = 0.8");
    assert_eq!(claims[0].numerator, Measurement { metric: "fct.mean".into(), case: 1 });
    assert_eq!(claims[0].denominator, Some(Measurement { metric: "fct.mean".into(), case: 5 }));
    assert_eq!(claims[0].bound.words(), "1.3 to 2.2");
}

#[test]
fn axes_left_open_mean_in_every_case() {
    let all = claims("value = \"drops.total\"\nbelow = 5");
    assert_eq!(all.iter().map(|claim| claim.numerator.case).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    let loads = claims("ratio = \"fct.p99(balance = ecmp) / fct.p99(drill)\"\nabove = 1");
    let pairs: Vec<_> =
        loads.iter().map(|c| (c.numerator.case, c.denominator.as_ref().unwrap().case)).collect();
    assert_eq!(pairs, [(0, 4), (1, 5)]);
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
            .contains("names no setting")
    );
}

#[test]
fn what_can_never_be_met_is_refused() {
    assert!(
        mistake("where = { balance = \"conga\" }\nvalue = \"fct.mean\"\nabove = 0").contains("never `conga`")
    );
    assert!(
        mistake("ratio = \"fct.mean(conga) / fct.mean(drill)\"\nabove = 1").contains("no case of the sweep")
    );
    assert!(
        mistake("where = { balance = \"ecmp\" }\nvalue = \"fct.mean(drill)\"\nabove = 1")
            .contains("contradicts")
    );
    assert!(mistake("value = \"fct.mean\"\nabove = 2\nbelow = 1").contains("no number can meet"));
    assert!(mistake("ratio = \"fct.mean(ecmp) / fct.mean\"\nabove = 1").contains("both metrics must say"));
}

#[test]
fn an_expectation_says_what_and_how_much() {
    assert!(mistake("above = 1").contains("needs a ratio or a value"));
    assert!(mistake("value = \"fct.mean\"").contains("needs about and within"));
    assert!(mistake("value = \"fct.mean\"\nabout = 1").contains("`about` needs `within`"));
    assert!(
        mistake("value = \"fct.mean\"\nabove = 1\nwithin = \"x2\"").contains("no effect without `about`")
    );
    assert!(mistake("value = \"fct.mean\"\nabout = 1\nwithin = \"near\"").contains("does not say how near"));
    assert!(
        mistake("value = \"fct.mean\"\nratio = \"fct.mean(ecmp) / fct.mean(drill)\"\nabove = 1")
            .contains("not both")
    );
    assert!(mistake("value = \"fct.mean / fct.p99\"\nabove = 1").contains("write ratio"));
    assert!(mistake("ratio = \"fct.mean\"\nabove = 1").contains("two metrics"));
    assert!(mistake("value = \"fct.man\"\nabove = 1").contains("unknown metric `fct.man`"));
    assert!(mistake("value = \"fct.mean\"\nabove = 1\ncheck = \"order\"").contains("not supported yet"));
    assert!(mistake("value = \"fct.mean\"\nabov = 1\nbelow = 2").contains("unknown key `abov`"));
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
        "where = { \"traffic.web.load\" = 0.8 }\nratio = \"fct.mean(ecmp) / fct.mean(drill)\"\nabout = 1.5\nwithin = \"10 %\"",
    )[0];
    let results = |at: &Measurement| if at.case == 1 { vec![3.0, 6.0] } else { vec![2.0, 4.0] };
    let verdict = claim.judge(&results);
    assert_eq!((verdict.measured, verdict.kept), (Some(1.5), true));
    assert_eq!(verdict.per_seed, [1.5, 1.5]);
    assert_eq!(verdict.allowed, "1.35 to 1.65");
    let worse = claim.judge(&|at: &Measurement| if at.case == 1 { vec![4.0] } else { vec![2.0] });
    assert_eq!((worse.measured, worse.kept), (Some(2.0), false));
    let nothing = claim.judge(&|_: &Measurement| Vec::new());
    assert_eq!((nothing.measured, nothing.kept), (None, false));
}

#[test]
fn a_demo_leaves_out_what_it_does_not_run() {
    let text = small(&format!(
        "{SWEEP}[[expect]]\nratio = \"fct.mean(random) / fct.mean(drill)\"\nabove = 1\n[demo]\nbalance = [\"ecmp\", \"drill\"]\n"
    ));
    let file = ScenarioFile::parse(&text, "test.toml").unwrap();
    assert_eq!(file.validate(&METRICS).unwrap().claims.len(), 2);
    assert_eq!(file.reduced().validate(&METRICS).unwrap().claims.len(), 0);
}
