//! `weft explain`: values and their origins.

use crate::{accepted, small};
use weft_scenario::{Explanation, Metrics, ScenarioFile};

fn row(rows: &[Explanation], path: &str) -> (String, String) {
    let row = rows.iter().find(|row| row.path == path).unwrap_or_else(|| panic!("no row for {path}"));
    (row.value.clone(), row.origin.clone())
}

#[test]
fn every_setting_has_a_value_and_an_origin() {
    let scenario = accepted(&small("[balance.drill]\nchoices = 3\n"));
    let rows = scenario.explain(None);
    let said = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(row(&rows, "name"), said("small", "test.toml:2"));
    assert_eq!(row(&rows, "topology.leaf-spine.leaves"), said("2", "test.toml:5"));
    assert_eq!(row(&rows, "topology.leaf-spine.fabric_link.rate"), said("40 Gbps", "default"));
    assert_eq!(row(&rows, "traffic.web.load"), said("0.5", "test.toml:11"));
    assert_eq!(row(&rows, "traffic.web.kind"), said("open-loop", "default"));
    assert_eq!(row(&rows, "balance.drill.memory"), said("1", "default"));
    assert_eq!(row(&rows, "measure.until"), said("off", "default"));
    assert!(rows.iter().all(|row| !row.meaning.is_empty()));
}

#[test]
fn a_prefix_shows_one_section() {
    let rows = accepted(&small("")).explain(Some("measure"));
    assert_eq!(rows.len(), 14);
    assert!(rows.iter().all(|row| row.path.starts_with("measure.")));
    assert_eq!(accepted(&small("")).explain(Some("meas")), rows, "part of a name will do");
    assert!(accepted(&small("")).explain(Some("eas")).is_empty());
}

#[test]
fn sweep_demo_and_command_line_are_named_as_origins() {
    let text = small("[sweep]\nbalance = [\"ecmp\", \"drill\"]\n[demo]\nseeds = [4]\n");
    let file = ScenarioFile::parse(&text, "test.toml").unwrap().set("about=mine").reduced();
    let scenario = file.validate(&Metrics::ANY).unwrap();
    let rows = scenario.explain_case(&scenario.cases()[1], None);
    let line = |needle: &str| 1 + text.lines().position(|line| line.starts_with(needle)).unwrap();
    assert_eq!(
        row(&rows, "balance"),
        ("drill".to_owned(), format!("sweep at test.toml:{}", line("balance")))
    );
    assert_eq!(row(&rows, "seeds"), ("[4]".to_owned(), format!("demo at test.toml:{}", line("seeds"))));
    assert_eq!(row(&rows, "about"), ("mine".to_owned(), "command line".to_owned()));
}

#[test]
fn mistakes_are_drawn_for_people_and_listed_for_programs() {
    let text = "weft = 1\nname = \"a\"\n[topology.leaf-spine]\nhost_link = { rate = \"10 Gb\" }\n";
    let mistakes = crate::validate(&format!("{text}{MEASURE}", MEASURE = crate::MEASURE)).unwrap_err();
    let drawn = mistakes.to_string();
    assert!(drawn.contains("--> test.toml:4:22") && drawn.contains("^^^^^^^"), "{drawn}");
    assert!(drawn.contains("write Gbps"), "{drawn}");
    let json: serde_json::Value = serde_json::from_str(&mistakes.json()).unwrap();
    let first = json.as_array().unwrap().iter().find(|m| m["line"] == 4).unwrap();
    assert_eq!(
        (&first["column"], &first["path"]),
        (&22.into(), &"topology.leaf-spine.host_link.rate".into())
    );
    assert!(mistakes.short().contains("test.toml:4:22  "));
}

#[test]
fn the_text_fits_eighty_columns_and_groups_by_section() {
    let scenario = accepted(&small("[balance.drill]\nchoices = 3\n"));
    let text = weft_scenario::explanation_table(&scenario.explain(None));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains("balance.drill choices 3 test.toml:"), "{text}");
    let one = weft_scenario::explanation_table(&scenario.explain(Some("traffic.web.load")));
    assert!(one.starts_with("traffic.web\n  load  0.5  test.toml:11\n      "), "{one}");
    assert_eq!(weft_scenario::explanation_table(&[]), "");
}

/// A setting that is computed if absent is not off.
#[test]
fn what_is_computed_is_absent_and_not_off() {
    let scenario = accepted(&small("[switch]\nbuffer = \"2 MB\"\npfc.classes = [0]\n"));
    let rows = scenario.explain(Some("switch"));
    assert_eq!(row(&rows, "switch.pfc.headroom"), ("absent".to_owned(), "default".to_owned()));
    assert_eq!(row(&rows, "switch.cell"), ("off".to_owned(), "default".to_owned()));
}
