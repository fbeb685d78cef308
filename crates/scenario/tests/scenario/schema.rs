//! The JSON Schema agrees with the parser.

use crate::{SECTIONS, small};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn to_json(text: &str) -> Value {
    fn convert(value: toml::Value) -> Value {
        match value {
            toml::Value::String(text) => json!(text),
            toml::Value::Integer(number) => json!(number),
            toml::Value::Float(number) => json!(number),
            toml::Value::Boolean(flag) => json!(flag),
            toml::Value::Datetime(date) => json!(date.to_string()),
            toml::Value::Array(items) => items.into_iter().map(convert).collect(),
            toml::Value::Table(table) => {
                table.into_iter().map(|(key, value)| (key, convert(value))).collect()
            }
        }
    }
    convert(toml::Value::Table(text.parse().expect("the text is TOML")))
}

fn validator() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&weft_scenario::schema()).expect("the schema is JSON");
    jsonschema::draft202012::new(&schema).expect("the schema is a schema")
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let committed =
        std::fs::read_to_string(root().join("docs/schema/weft-scenario.schema.json")).unwrap_or_default();
    assert!(
        committed == weft_scenario::schema(),
        "docs/schema is out of date; write it with: cargo xtask reference --write"
    );
}

#[test]
fn the_schema_accepts_every_shipped_scenario_and_its_complete_form() {
    let validator = validator();
    for (name, text) in crate::shipped::scenarios() {
        let errors: Vec<String> = validator.iter_errors(&to_json(&text)).map(|e| e.to_string()).collect();
        assert_eq!(errors, [""; 0], "{name}");
        assert!(validator.is_valid(&to_json(&crate::accepted(&text).to_toml())), "{name}, complete");
    }
}

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let validator = validator();
    let head = "weft = 1\nname = \"a\"\n";
    for broken in [
        small("").replace("weft = 1", "weft = 2"),
        small("").replace("name = \"small\"\n", ""),
        small("").replace("leaves = 2", "leavs = 2"),
        small("").replace("leaves = 2", "leaves = 0"),
        small("").replace("\"10 kB\"", "10"),
        small("").replace("tag = \"web\"\n", ""),
        small("").replace("load = 0.5", "load = \"half\""),
        small("[balance.dril]\n"),
        small("[balance.drill]\nchoises = 2\n"),
        small("[switch]\nbuffer = \"12 KB\"\n"),
        small("[switch]\nlatency = 5\n"),
        small("[[expect]]\nvalu = \"fct.mean\"\n"),
        format!("{head}extra = 1\n{SECTIONS}"),
    ] {
        assert!(!validator.is_valid(&to_json(&broken)), "the schema accepts:\n{broken}");
        assert!(crate::validate(&broken).is_err(), "the parser accepts:\n{broken}");
    }
}

/// Every spelling of a number, for a time, a rate, a share and a number of packets.
#[test]
fn schema_and_parser_read_the_same_numbers() {
    let validator = validator();
    let spellings = [
        "1", "1.5", ".5", "1.", "1e3", "1E3", "1.5e+3", ".5e1", "1_000", "+2", " 7 ", "", ".", "e3", "1.5.2",
        "1e", "-1", "1,5", "0x10", "one", "1 000", "inf", "nan",
    ];
    for (key, unit, whole) in [
        ("[switch]\nlatency", "us", false),
        ("[switch]\nlatency", " ms", false),
        ("[transport.cubic]\ninitial_window", "pkt", true),
        ("[transport.cubic]\ninitial_window", " kB", false),
    ] {
        for number in spellings {
            let text = small(&format!("{key} = \"{number}{unit}\"\n"));
            let told = crate::validate(&text).err().map(|told| told.to_string()).unwrap_or_default();
            // A value may be refused because of others; its spelling is then right.
            let reads = !told.contains(", expected a");
            assert_eq!(validator.is_valid(&to_json(&text)), reads, "{key} = {number}{unit}: {told}");
            assert!(!reads || !whole || !number.contains(['.', 'e']), "{number}{unit}");
        }
    }
}
