//! The settings of a resolved scenario, to be compared one by one.

use std::collections::BTreeMap;

/// The value of a setting that a scenario lacks.
pub const NO_VALUE: &str = "–";

/// Every value of a scenario by its dotted key. A text that is not TOML counts as one value.
#[must_use]
pub fn settings(toml: &str) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    match toml.parse::<toml::Table>() {
        Ok(table) => flatten("", &toml::Value::Table(table), &mut flat),
        Err(_) => {
            flat.insert("scenario".to_owned(), toml.to_owned());
        }
    }
    flat
}

fn flatten(key: &str, value: &toml::Value, flat: &mut BTreeMap<String, String>) {
    let below = |word: &str| if key.is_empty() { word.to_owned() } else { format!("{key}.{word}") };
    match value {
        toml::Value::Table(table) if table.is_empty() => {
            flat.insert(key.to_owned(), "{}".to_owned());
        }
        toml::Value::Table(table) => {
            table.iter().for_each(|(word, value)| flatten(&below(word), value, flat))
        }
        toml::Value::Array(list) if list.iter().any(toml::Value::is_table) => {
            list.iter()
                .enumerate()
                .for_each(|(n, value)| flatten(&below(&entry_name(n, value)), value, flat));
        }
        value => {
            flat.insert(key.to_owned(), value.to_string());
        }
    }
}

/// The name of an entry of a list of tables: its tag or name, or else its position.
fn entry_name(place: usize, entry: &toml::Value) -> String {
    let named = ["tag", "name"].iter().find_map(|key| entry.get(key)?.as_str());
    named.map_or_else(|| place.to_string(), str::to_owned)
}
