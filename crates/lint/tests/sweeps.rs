//! Scenarios with a sweep: each case is judged as the network that it is.

use weft_lint::{Finding, Input, RuleOptions, lint};

/// A switch that pauses class 3, under the values of the sweep.
fn scenario(sweep: &str) -> String {
    format!(
        "weft = 1\nname = \"swept\"\nseeds = [1]\n\n[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\n\
         [switch]\nbuffer = \"4 MB\"\nqueues = 4\nschedule = \"strict\"\n\
         ecn = {{ kind = \"red\", min = \"5 kB\", max = \"200 kB\", max_probability = \"1 %\", non_ect = \"pass\" }}\n\
         pfc = {{ classes = [3] }}\n\n\
         [[traffic]]\ntag = \"t\"\narrivals = \"poisson\"\nload = 0.3\nsizes = \"web-search\"\n\n\
         [measure]\nflows = 100\n\n[sweep]\n{sweep}\n"
    )
}

fn unreached(text: &str) -> Vec<Finding> {
    let input = Input { name: "swept.toml".into(), text: text.into(), kind: None };
    let options = RuleOptions { only: vec!["lossless-class-unreached".into()], ..RuleOptions::default() };
    lint(vec![input], &options).unwrap_or_else(|refused| panic!("{refused}")).findings
}

/// Without a transport of its own the scenario would run TCP, in class 0; no case does.
#[test]
fn what_no_case_has_is_not_judged() {
    assert_eq!(unreached(&scenario("transport = [{ dcqcn = {} }, { timely = {} }]")), []);
}

#[test]
fn what_some_cases_have_is_told_once_with_their_names() {
    let text = scenario("transport = [\"dcqcn\", \"dctcp\"]\nbalance = [\"ecmp\", \"drill\", \"random\"]");
    let found = unreached(&text);
    let (cases, of) = &found[0].cases;
    assert_eq!((found.len(), cases.len(), *of), (1, 3, 6), "{found:?}");
    assert!(cases.iter().all(|case| case.contains("dctcp")) && cases[0].contains("ecmp"), "{cases:?}");
}

#[test]
fn what_all_cases_have_names_none() {
    let found = unreached(&scenario("transport = [\"dctcp\", \"cubic\"]"));
    assert_eq!((found.len(), found[0].cases.clone()), (1, (Vec::new(), 2)), "{found:?}");
}

/// A finding about a setting inside the sweep points to its place there.
#[test]
fn a_setting_of_the_sweep_is_found_in_the_sweep() {
    let base = scenario("\"switch.pfc.classes\" = [[3], [2]]");
    let found = unreached(&base.replace("[switch]", "[transport.dcqcn]\n\n[switch]"));
    let line = 1 + base
        .replace("[switch]", "[transport.dcqcn]\n\n[switch]")
        .lines()
        .position(|l| l.contains("[[3]"))
        .unwrap_or(0);
    assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), [line], "{found:?}");
}

/// Names of files in a scenario are relative to it, wherever the linter is started.
#[test]
fn files_are_found_from_any_folder() {
    let name = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/bench/r1.toml");
    let text = std::fs::read_to_string(name).expect("a committed scenario");
    let report = lint(vec![Input { name: name.into(), text, kind: None }], &RuleOptions::default());
    assert!(report.is_ok(), "{report:?}");
}

/// If every class pauses, `switch.sharing` has no effect and is refused, so no advice may recommend setting it.
#[test]
fn nothing_advises_what_is_refused() {
    let advised = |text: String| {
        let input = Input { name: "paused.toml".into(), text, kind: None };
        let found = lint(vec![input], &RuleOptions::default()).unwrap_or_else(|refused| panic!("{refused}"));
        found.findings.iter().filter(|one| format!("{one:?}").contains("sharing")).count()
    };
    let mixed =
        scenario("transport = [\"dcqcn\", \"timely\"]").replace("buffer = \"4 MB\"", "buffer = \"2 MB\"");
    assert!(advised(mixed.clone()) > 0);
    let all =
        mixed.replace("queues = 4\nschedule = \"strict\"\n", "").replace("classes = [3]", "classes = [0]");
    assert_eq!(advised(all), 0);
}
