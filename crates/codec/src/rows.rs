//! A checked value as a flat list: one row per setting, in the order of the declaration.
//!
//! Shared by `weft explain`, the `where` of expectations and the rules.

use crate::{FLATTENED_FAMILY, KIND_KEY, join};
use weft_core::settings::{Field, Kind, Table, Value};

/// A setting and its value.
#[derive(Clone, Debug)]
pub struct Row {
    /// Dotted path; entries of lists are numbered: `traffic[0].load`.
    pub path: String,
    /// Its declaration.
    pub field: &'static Field,
    /// Its value; for a family the [`Value::Member`].
    pub value: Value,
}

/// All settings of a table.
pub fn rows(table: &'static Table, value: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    collect(table, value, "", false, &mut rows);
    rows
}

fn collect(table: &'static Table, value: &Value, path: &str, entry: bool, rows: &mut Vec<Row>) {
    for field in table.fields.iter().filter(|field| value.says(field.name)) {
        let own = value.field(field.name);
        match (&field.kind, own) {
            (Kind::Flatten(inner), _) => collect(inner, own, path, entry, rows),
            (Kind::Family(family), Value::Member(name, settings))
                if entry && field.name == FLATTENED_FAMILY =>
            {
                rows.push(Row { path: join(path, KIND_KEY), field, value: own.clone() });
                for member in family.members.iter().filter(|member| member.name == *name) {
                    collect(member.table, settings, path, entry, rows);
                }
            }
            (kind, _) => setting(field, kind, own, &join(path, field.name), rows),
        }
    }
}

fn setting(field: &'static Field, kind: &'static Kind, value: &Value, path: &str, rows: &mut Vec<Row>) {
    match (kind, value) {
        (Kind::Override(_), Value::Absent) => {}
        (Kind::Optional(inner) | Kind::Override(inner), value) if *value != Value::Absent => {
            setting(field, inner, value, path, rows);
        }
        (Kind::Named(inner), Value::Named(entries)) => {
            entries.iter().for_each(|(name, own)| setting(field, inner, own, &join(path, name), rows));
        }
        // An empty table switches something on without any further setting of the level.
        (Kind::Table(table), Value::Table(own)) if !own.is_empty() => {
            collect(table, value, path, false, rows)
        }
        (Kind::Family(family), Value::Member(name, own)) => {
            rows.push(Row { path: path.to_owned(), field, value: value.clone() });
            for member in family.members.iter().filter(|member| member.name == *name) {
                collect(member.table, own, &join(path, name), false, rows);
            }
        }
        (Kind::List(Kind::Table(table)), Value::List(items)) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                collect(table, item, &format!("{path}[{index}]"), true, rows);
            }
        }
        _ => rows.push(Row { path: path.to_owned(), field, value: value.clone() }),
    }
}

/// The value in words: `2 us`, `0.8`, `drill`, `off`.
pub fn words(value: &Value) -> String {
    match value {
        Value::Absent => "off".to_owned(),
        Value::Span(span) => span.to_string(),
        Value::Size(size) => size.to_string(),
        Value::Packets(count) => format!("{count} pkt"),
        Value::Rate(rate) => rate.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Number(number) => format!("{number:?}"),
        Value::Flag(flag) => flag.to_string(),
        Value::Text(text) => text.clone(),
        Value::List(items) => format!("[{}]", items.iter().map(words).collect::<Vec<_>>().join(", ")),
        Value::Table(fields) => {
            let field = |(name, value): &(&str, Value)| format!("{name} = {}", words(value));
            format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Value::Member(name, _) => (*name).to_owned(),
        Value::Named(entries) => {
            let entry = |(name, value): &(String, Value)| format!("{name} = {}", words(value));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}
