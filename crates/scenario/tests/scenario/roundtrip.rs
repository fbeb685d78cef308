//! The complete text reads back as an equal scenario, and its hash covers everything that matters.

use crate::{accepted, small};
use proptest::prelude::*;

const MUCH: &str = r#"
[switch]
buffer = "12 MiB"
sharing = { kind = "dynamic", alpha = 0.5 }
ecn = { kind = "red", min = "20 pkt", max = "60 pkt", max_probability = "10 %" }

[balance.drill]
choices = 3

[[failure]]
cables = ["leaf0-spine1"]
at = "1 ms"

[[traffic]]
tag = "burst"
kind = "incast"
fan_in = 2
sizes = "20 kB"

[[traffic]]
tag = "few"
kind = "list"
flows = [{ from = 0, to = 3, size = "1 kB" }, { at = "2 us", from = 1, to = 2, size = "3 kB" }]

[sweep]
balance = ["ecmp", { drill = { choices = 4 } }, "drill"]
"traffic.web.load" = [0.1, "30 %"]

[[expect]]
where = { "traffic.web.load" = 0.1 }
value = "fct.mean(ecmp) / fct.mean(balance = drill)"
above = 1
"#;

#[test]
fn the_complete_text_of_a_scenario_reads_back_as_the_equal_scenario() {
    let first = accepted(&small(MUCH));
    let text = first.to_toml();
    let second = accepted(&text);
    assert_eq!(second.settings, first.settings);
    // the complete text writes everything down, so nothing is a default any longer
    assert!(text.contains("  # default\n"));
    assert_eq!(second.to_toml(), text.replace("  # default\n", "\n"));
    assert_eq!(second.cases().len(), 6);
    for (a, b) in first.cases().iter().zip(second.cases()) {
        assert_eq!((&a.settings, &a.labels), (&b.settings, &b.labels));
    }
    let texts = |scenario: &weft_scenario::Scenario| -> Vec<String> {
        scenario.claims.iter().map(|claim| claim.text.clone()).collect()
    };
    assert_eq!((texts(&first).len(), texts(&first)), (1, texts(&second)));
}

#[test]
fn the_complete_text_of_a_case_reads_back_even_if_a_setting_is_idle_there() {
    let scenario = accepted(&small(
        "[switch]\nvisibility = \"instant\"\nengines = 2\n[sweep]\nbalance = [\"ecmp\", \"drill\"]\n",
    ));
    for case in scenario.cases() {
        let again = accepted(&case.to_toml());
        assert_eq!(again.settings, case.settings);
        assert_eq!(again.cases()[0].hash8("1.0"), case.hash8("1.0"));
    }
}

#[test]
fn the_hash_covers_what_can_change_a_result_and_nothing_else() {
    let hash = |text: &str| accepted(text).cases()[0].content_hash("1.0");
    let base = hash(&small(""));
    assert_eq!(
        hash(&small("").replace("name = \"small\"", "name = \"other\"\nabout = \"x\"\nseeds = [3, 4]")),
        base
    );
    assert_eq!(hash(&small("# a remark\n[balance.ecmp]\n")), base);
    assert_ne!(hash(&small("").replace("load = 0.5", "load = 0.6")), base);
    assert_ne!(hash(&small("[balance.drill]\n")), base);
    assert_ne!(accepted(&small("")).cases()[0].content_hash("1.1"), base);
    assert_eq!(accepted(&small("")).cases()[0].hash8("1.0").len(), 8);
}

#[test]
fn the_hash_covers_the_files_that_settings_name() {
    let folder = std::env::temp_dir().join(format!("weft-scenario-hash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("small.toml");
    std::fs::write(&path, small("").replace("10 kB", "sizes.csv")).unwrap();
    let hash = |points: &str| {
        std::fs::write(folder.join("sizes.csv"), points).unwrap();
        let file = weft_scenario::ScenarioFile::read(&path, &[], false).unwrap();
        file.validate(&weft_scenario::Metrics::ANY).unwrap_or_else(|m| panic!("{m}")).cases()[0]
            .content_hash("1.0")
    };
    let (a, b, again) = (hash("1000 0\n2000 1\n"), hash("1000 0\n3000 1\n"), hash("1000 0\n2000 1\n"));
    std::fs::remove_dir_all(&folder).unwrap();
    assert_ne!(a, b);
    assert_eq!(a, again);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_numbers_and_texts_survive_the_complete_text(
        about in "\\PC{0,20}",
        seeds in proptest::collection::btree_set(0_u64..i64::MAX as u64, 1..4),
        latency in 0_u64..10_000_000_000,
        buffer in 200_000_u64..100_000_000,
        alpha in 0.001_f64..1000.0,
        load in 0.0001_f64..0.99,
        choices in 1_u32..1024,
    ) {
        let quoted = serde_json::to_string(&about).unwrap();
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        let text = small(&format!(
            "[switch]\nlatency = \"{latency} ps\"\nbuffer = \"{buffer} B\"\nsharing = {{ kind = \"dynamic\", alpha = {alpha:?} }}\n[balance.drill]\nchoices = {choices}\n"
        ));
        let text = text
            .replace("name = \"small\"", &format!("name = \"small\"\nabout = {quoted}\nseeds = [{}]", seeds.join(", ")))
            .replace("load = 0.5", &format!("load = {load:?}"));
        let first = accepted(&text);
        prop_assert_eq!(&first.settings.about, &about);
        let second = accepted(&first.to_toml());
        prop_assert_eq!(second.settings, first.settings);
    }
}
