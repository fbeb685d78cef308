//! The JSON Schema (draft 2020-12) of scenario files, for editors: generated from the declarations.
//!
//! Describes single values; `weft check` checks combinations.

use crate::expect;
use crate::explain::one_line;
use serde_json::{Map, Value as Json, json};
use weft_codec::{FLATTENED_FAMILY, KIND_KEY, default_member, flattened_family, words};
use weft_core::settings::{Family, Field, Kind, Member, Table, Value};
use weft_model::COMPLETE_KEY;
use weft_model::ScenarioSettings;

/// The schema as a JSON text, ready to be committed and published.
#[must_use]
pub fn schema() -> String {
    let mut root = table(&ScenarioSettings::TABLE, None);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!("Weft scenario");
    let mut shared = levels(&ScenarioSettings::TABLE);
    families(&ScenarioSettings::TABLE, &mut shared);
    root["$defs"] = Json::Object(shared);
    let properties = root["properties"].as_object_mut().expect("a table's schema has properties");
    let complete = "Written by weft with every default filled in; settings without effect are not reported.";
    properties.insert(COMPLETE_KEY.into(), json!({ "const": true, "description": complete }));
    properties.insert("sweep".into(), sweep());
    properties.insert(
        "demo".into(),
        changes("Changes in the reduced form: a path and a value, or a list for a swept path."),
    );
    properties.insert("expect".into(), json!({ "type": "array", "items": expectation() }));
    let mut text = serde_json::to_string_pretty(&root).expect("texts and numbers are always JSON");
    text.push('\n');
    text
}

/// The tables whose settings may be overridden at other levels, by name: each is referenced in many places.
fn levels(table: &'static Table) -> Map<String, Json> {
    let mut found = Map::new();
    for field in table.fields {
        let mut kind = &field.kind;
        while let Kind::Optional(inner) | Kind::Named(inner) | Kind::List(inner) = kind {
            kind = inner;
        }
        match kind {
            Kind::Override(Kind::Table(inner)) => {
                found.insert(inner.name.into(), self::table(inner, None));
            }
            Kind::Table(inner) | Kind::Flatten(inner) => found.extend(levels(inner)),
            Kind::Override(Kind::List(Kind::Table(inner))) => found.extend(levels(inner)),
            _ => {}
        }
    }
    found
}

/// The families that a table can reach, by name: each appears once, however many settings choose from it.
fn families(table: &'static Table, found: &mut Map<String, Json>) {
    for field in table.fields {
        let mut kind = &field.kind;
        while let Kind::Optional(inner) | Kind::Named(inner) | Kind::List(inner) | Kind::Override(inner) =
            kind
        {
            kind = inner;
        }
        match kind {
            Kind::Family(family) if !found.contains_key(&shared_name(family)) => {
                found.insert(shared_name(family), self::family(family));
                family.members.iter().for_each(|member| families(member.table, found));
            }
            Kind::Table(inner) | Kind::Flatten(inner) => families(inner, found),
            _ => {}
        }
    }
}

/// The name of a family among the shared definitions.
fn shared_name(family: &Family) -> String {
    format!("any-{}", family.name.replace(' ', "-"))
}

fn changes(description: &str) -> Json {
    json!({ "type": "object", "description": description })
}

fn sweep() -> Json {
    let product = json!({
        "type": "object",
        "properties": { "mode": { "const": "product" } },
        "additionalProperties": { "type": ["array", "object"] },
    });
    let case =
        json!({ "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } });
    let cases = json!({
        "type": "object",
        "required": ["mode", "case"],
        "properties": { "mode": { "const": "cases" }, "case": { "type": "array", "items": case } },
        "additionalProperties": false,
    });
    json!({ "description": "Paths and the lists of values they take, or named cases.", "anyOf": [cases, product] })
}

fn expectation() -> Json {
    let mut schema = table(expect::TABLE, None);
    for limit in ["about", "below", "above"] {
        // with a unit it is a text
        let kinds = schema["properties"][limit]["anyOf"].as_array_mut();
        kinds.expect("a limit may be absent").push(json!({ "type": "string" }));
    }
    schema["properties"][expect::WHERE_KEY] = changes("Selects cases of the sweep by path and value.");
    schema
}

/// A table; with a member, an entry of a list that chooses this member.
fn table(table: &'static Table, member: Option<(&Member, bool)>) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    fields(table, member.is_some(), &mut properties, &mut required);
    if let Some((member, is_default)) = member {
        fields(member.table, false, &mut properties, &mut required);
        let kind = json!({ "const": member.name, "description": one_line(member.summary) });
        properties.insert(KIND_KEY.into(), kind);
        if !is_default {
            required.push(json!(KIND_KEY));
        }
    }
    let description = one_line(member.map_or(table.doc, |(member, _)| member.table.doc));
    json!({
        "type": "object", "description": description, "properties": properties,
        "required": required, "additionalProperties": false,
    })
}

fn fields(table: &'static Table, entry: bool, properties: &mut Map<String, Json>, required: &mut Vec<Json>) {
    for field in table.fields {
        match field.kind {
            Kind::Flatten(inner) => fields(inner, entry, properties, required),
            _ if entry && field.name == FLATTENED_FAMILY => {}
            kind => {
                if field.default.is_none() && !matches!(kind, Kind::Table(_)) {
                    required.push(json!(field.name));
                }
                properties.insert(field.name.into(), described(field));
            }
        }
    }
}

fn described(field: &'static Field) -> Json {
    let mut schema = value(&field.kind);
    schema["description"] = json!(one_line(field.doc));
    let default = field.default.map(|default| default());
    if let Some(json) = default.and_then(|default| plain(&field.kind, &default)) {
        schema["default"] = json;
    }
    schema
}

/// A default worth showing in the schema.
fn plain(kind: &Kind, default: &Value) -> Option<Json> {
    match (kind, default) {
        (Kind::Override(_) | Kind::Named(_), _) => None,
        (_, Value::Absent) => Some(json!(false)),
        (_, Value::Integer(number)) => Some(json!(number)),
        (_, Value::Number(number)) => Some(json!(number)),
        (_, Value::Flag(flag)) => Some(json!(flag)),
        (Kind::Table(_) | Kind::List(_), _) | (_, Value::Table(_) | Value::List(_)) => None,
        (_, other) => Some(json!(words(other))),
    }
}

fn value(kind: &'static Kind) -> Json {
    match kind {
        Kind::Span => quantity("ps|ns|us|ms|s"),
        Kind::Size => quantity("B|kB|KiB|MB|MiB|GB|GiB|TB"),
        Kind::Amount => json!({ "anyOf": [quantity("B|kB|KiB|MB|MiB|GB|GiB|TB"), packets()] }),
        Kind::Rate => quantity("bps|kbps|Mbps|Gbps|Tbps"),
        Kind::Integer { min, max } => json!({ "type": "integer", "minimum": min, "maximum": max }),
        Kind::Number { min, max } => number(*min, *max),
        Kind::Share { min, max } => json!({ "anyOf": [number(*min, *max), quantity("%")] }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Choice(words) => {
            let word = |(word, doc): &(&str, &str)| json!({ "const": word, "description": one_line(doc) });
            json!({ "oneOf": words.iter().map(word).collect::<Vec<_>>() })
        }
        Kind::List(item) => json!({ "type": "array", "items": entry(item) }),
        Kind::Table(inner) | Kind::Flatten(inner) => table(inner, None),
        Kind::Family(family) => json!({ "$ref": format!("#/$defs/{}", shared_name(family)) }),
        Kind::Optional(inner) => json!({ "anyOf": [value(inner), { "const": false }] }),
        Kind::Override(Kind::Table(inner)) => {
            json!({ "$ref": format!("#/$defs/{}", inner.name) })
        }
        Kind::Override(inner) => value(inner),
        Kind::Named(inner) => json!({ "type": "object", "additionalProperties": value(inner) }),
    }
}

fn number(min: f64, max: f64) -> Json {
    let mut schema = json!({ "type": "number" });
    if min > f64::MIN {
        schema["minimum"] = json!(min);
    }
    if max < f64::MAX {
        schema["maximum"] = json!(max);
    }
    schema
}

/// A number, with a digit before or after its point, and a unit.
fn quantity(units: &str) -> Json {
    let number = r"\+?([0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)([eE][+-]?[0-9]+)?";
    json!({ "type": "string", "pattern": format!(r"^\s*{number}\s*({units})\s*$") })
}

/// A whole number of packets.
fn packets() -> Json {
    json!({ "type": "string", "pattern": r"^\s*\+?[0-9][0-9_]*\s*pkt\s*$" })
}

fn family(family: &'static Family) -> Json {
    let mut forms: Vec<Json> = Vec::new();
    for member in family.members {
        let own = table(member.table, None);
        let mut by_kind = own.clone();
        by_kind["properties"][KIND_KEY] = json!({ "const": member.name });
        let required = by_kind["required"].as_array_mut().expect("a table's schema lists what is required");
        required.push(json!(KIND_KEY));
        forms.push(json!({ "const": member.name, "description": one_line(member.summary) }));
        forms.push(json!({
            "type": "object", "properties": { member.name: own }, "required": [member.name],
            "additionalProperties": false,
        }));
        forms.push(by_kind);
    }
    if family.members.iter().any(|member| member.name == "off") {
        forms.push(json!({ "const": false }));
    }
    json!({ "anyOf": forms })
}

/// An entry of a list; one whose family is flattened has a form for each member.
fn entry(kind: &'static Kind) -> Json {
    let Kind::Table(inner) = kind else { return value(kind) };
    let flattened = flattened_family(inner);
    match flattened.map(|field| (field, field.kind)) {
        Some((field, Kind::Family(family))) => {
            let default = default_member(family, field).name;
            let form = |member: &Member| table(inner, Some((member, member.name == default)));
            json!({ "anyOf": family.members.iter().map(form).collect::<Vec<_>>() })
        }
        _ => table(inner, None),
    }
}
