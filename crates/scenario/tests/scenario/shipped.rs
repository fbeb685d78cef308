//! The scenarios and templates that come with the program.

use crate::schema::root;
use weft_scenario::{Metrics, ScenarioFile};

/// Name and text of every file in `scenarios/` and of every template.
pub(crate) fn scenarios() -> Vec<(String, String)> {
    let folder = std::fs::read_dir(root().join("scenarios")).expect("the repository has scenarios/");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let file = |path: std::path::PathBuf| {
        (path.display().to_string(), std::fs::read_to_string(&path).expect("a text"))
    };
    let templates = weft_scenario::TEMPLATES.iter().map(|template| {
        (format!("template {}", template.kind), weft_scenario::template(template.kind).expect("it is listed"))
    });
    paths.into_iter().map(file).chain(templates).collect()
}

#[test]
fn everything_shipped_is_correct_and_so_is_its_demo() {
    let all = scenarios();
    assert!(all.len() >= 2 + weft_scenario::TEMPLATES.len());
    for (name, text) in all {
        let file = ScenarioFile::parse(&text, &name).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        file.validate(&Metrics::ANY).unwrap_or_else(|mistakes| panic!("{mistakes}"));
        file.reduced().validate(&Metrics::ANY).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    }
}

#[test]
fn comparing_is_done_with_all_balancers() {
    let text = weft_scenario::template("compare");
    assert!(text.is_some() && text == weft_scenario::template("balancers"));
}

#[test]
fn an_unknown_template_is_none() {
    assert_eq!(weft_scenario::template("leaf-spin"), None);
}

#[test]
fn the_drill_scenario_has_its_axes_and_a_small_demo() {
    let text = std::fs::read_to_string(root().join("scenarios/drill-80.toml")).expect("it is shipped");
    let file = ScenarioFile::parse(&text, "drill-80.toml").unwrap();
    let full = file.validate(&Metrics::ANY).unwrap();
    assert_eq!((full.cases().len(), full.settings.seeds.len(), full.claims.len()), (20, 5, 2));
    let demo = file.reduced().validate(&Metrics::ANY).unwrap();
    assert_eq!((demo.cases().len(), demo.settings.seeds.len()), (8, 3));
}

#[test]
fn hello_is_short() {
    let text = std::fs::read_to_string(root().join("scenarios/hello.toml")).expect("it is shipped");
    assert!(text.lines().count() <= 25);
}

#[test]
fn reference_pages_name_every_section() {
    let pages = weft_scenario::reference_pages();
    let names: Vec<&str> = pages.iter().map(|page| page.file.as_str()).collect();
    for file in
        ["scenario.md", "topology.md", "switch.md", "balance.md", "traffic.md", "measure.md", "expect.md"]
    {
        assert!(names.contains(&file), "{file} is missing in {names:?}");
    }
    let balance = pages.iter().find(|page| page.file == "balance.md").expect("checked above");
    assert!(balance.text.contains("| `choices` | a whole number from 1 to 1024 | `2` |"), "{}", balance.text);
}

#[test]
fn every_choice_can_be_listed() {
    let families = weft_scenario::families();
    let paths: Vec<&str> = families.iter().map(|(path, _)| path.as_str()).collect();
    for path in [
        "topology",
        "switch.sharing",
        "switch.schedule",
        "switch.ecn",
        "balance",
        "transport",
        "traffic.kind",
    ] {
        assert!(paths.contains(&path), "{path} is missing in {paths:?}");
    }
}
