//! The tables of a switch from its files, whatever their shape: tables of entries, keys `TABLE|entry` as a dump of the
//! database has them, and one object per chip (`localhost`, `asic0`, ...). Files of one switch are merged; later ones
//! override earlier ones.

use std::collections::HashMap;
use weft_config::json::{JsonContent, JsonEntry, JsonNode};

/// The table that silences rules, because this format has no comments.
pub(super) const SILENCE: &str = "WEFT_LINT";

/// An entry of a table, or an empty table, and the chip it belongs to.
pub(super) struct Row {
    pub(super) chip: String,
    pub(super) table: String,
    pub(super) at: usize,
    pub(super) entry: Option<JsonEntry>,
    /// Whether the table is malformed.
    pub(super) broken: bool,
}

/// All entries of a file.
pub(super) fn rows(root: JsonNode) -> Vec<Row> {
    let mut rows = Vec::new();
    of_chip("", root, &mut rows);
    rows
}

fn of_chip(chip: &str, root: JsonNode, rows: &mut Vec<Row>) {
    for JsonEntry { key, at, node } in entries(root) {
        let row = |table: &str, entry, broken| Row {
            chip: chip.to_owned(),
            table: table.to_owned(),
            at,
            entry,
            broken,
        };
        match key.split_once('|') {
            Some((table, key)) => {
                let entry = JsonEntry { key: key.to_owned(), at, node: fields(node) };
                rows.push(row(table, Some(entry), false));
            }
            None if chip.is_empty() && is_chip(&key) => of_chip(&key, node, rows),
            None => match node.content {
                JsonContent::Table(inside) if inside.is_empty() => rows.push(row(&key, None, false)),
                JsonContent::Table(inside) => {
                    rows.extend(inside.into_iter().map(|entry| row(&key, Some(entry), false)));
                }
                _ => rows.push(row(&key, None, true)),
            },
        }
    }
}

fn entries(node: JsonNode) -> Vec<JsonEntry> {
    match node.content {
        JsonContent::Table(entries) => entries,
        _ => Vec::new(),
    }
}

/// Whether a key is that of a chip, `localhost` or `asic0`: a part of a switch with several chips.
fn is_chip(key: &str) -> bool {
    let number = key.strip_prefix("asic");
    key == "localhost"
        || number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// The fields of an entry: a dump wraps them in type and value, and writes an entry without fields as `NULL`.
fn fields(node: JsonNode) -> JsonNode {
    let wrapped = node.get("type").and_then(JsonNode::word) == Some("hash");
    let inside = node.get("value").filter(|value| wrapped && matches!(value.content, JsonContent::Table(_)));
    let mut node = inside.cloned().unwrap_or(node);
    if let JsonContent::Table(fields) = &mut node.content {
        fields.retain(|field| field.key != "NULL");
    }
    node
}

/// The tables of one chip from all files.
#[derive(Default)]
pub(super) struct Chip {
    pub(super) name: String,
    tables: Vec<JsonEntry>,
    /// Table to its number; table and key to the entry's number and its file.
    places: HashMap<String, usize>,
    keys: HashMap<(usize, String), (usize, usize)>,
}

impl Chip {
    pub(super) fn new(name: &str) -> Chip {
        Chip { name: name.to_owned(), ..Chip::default() }
    }

    /// Merges a row of a file. Returns the fields that an earlier file has set to other values, each with its position.
    pub(super) fn put(&mut self, file: usize, row: Row) -> Vec<(String, usize)> {
        let number = *self.places.entry(row.table.clone()).or_insert_with(|| {
            let node = JsonNode { at: row.at, end: row.at, content: JsonContent::Table(Vec::new()) };
            self.tables.push(JsonEntry { key: row.table, at: row.at, node });
            self.tables.len() - 1
        });
        let (Some(entry), JsonContent::Table(entries)) = (row.entry, &mut self.tables[number].node.content)
        else {
            return Vec::new();
        };
        let place = self.keys.entry((number, entry.key.clone())).or_insert((entries.len(), file));
        if place.0 == entries.len() {
            entries.push(entry);
            return Vec::new();
        }
        let earlier = std::mem::replace(&mut place.1, file);
        if earlier == file {
            entries[place.0] = entry;
            return Vec::new();
        }
        over(&mut entries[place.0], entry)
    }

    /// All tables as one.
    pub(super) fn root(self) -> JsonNode {
        JsonNode { at: 0, end: 0, content: JsonContent::Table(self.tables) }
    }
}

/// Overrides the fields of an entry by those of a later file.
fn over(entry: &mut JsonEntry, later: JsonEntry) -> Vec<(String, usize)> {
    let JsonContent::Table(fields) = &mut entry.node.content else {
        *entry = later;
        return Vec::new();
    };
    let known: HashMap<String, usize> =
        fields.iter().enumerate().map(|(number, field)| (field.key.clone(), number)).collect();
    let mut otherwise = Vec::new();
    for field in entries(later.node) {
        match known.get(&field.key) {
            Some(number) => {
                if fields[*number].node.word() != field.node.word() {
                    otherwise.push((field.key.clone(), field.at));
                }
                fields[*number] = field;
            }
            None => fields.push(field),
        }
    }
    otherwise
}
