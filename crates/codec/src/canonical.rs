//! A checked value as TOML with every default filled in, and the hash that names it.
//!
//! The output reads back as an equal value; the text is the canonical form that [`hash`] covers.

use crate::{FLATTENED_FAMILY, KIND_KEY, Provenance, join};
use std::fmt::Write as _;
use weft_core::Checksum;
use weft_core::settings::{Kind, Table, Value};
use weft_mistake::node::{Content, Toml, TomlEntry};

/// The mark after a default value.
const MARK: &str = "  # default";

/// The table as TOML.
pub fn to_toml(table: &'static Table, value: &Value) -> String {
    written(table, value, None, &[])
}

/// The table as TOML, with values not given by the user marked as defaults, without the sections `left_out`.
pub fn to_marked_toml(
    table: &'static Table,
    value: &Value,
    (said, left_out): (&Provenance, &[String]),
) -> String {
    written(table, value, Some(said), left_out)
}

fn written(table: &'static Table, value: &Value, said: Option<&Provenance>, left_out: &[String]) -> String {
    let mut writer = Writer { text: String::new(), said, left_out };
    writer.body(table, value, &Section::default());
    writer.text
}

/// A stable 64-bit hash of a text (FNV-1a, mixed by the finaliser of SplitMix64 so that every digit counts).
#[must_use]
pub fn hash(text: &str) -> u64 {
    hash_bytes(text.as_bytes())
}

/// [`hash`] of any bytes.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hash = Checksum::default().with(bytes).value();
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}

struct Writer<'a> {
    text: String,
    /// The origin of values; without it nothing is marked.
    said: Option<&'a Provenance>,
    /// Paths of sections that are omitted.
    left_out: &'a [String],
}

/// The writer's current section.
#[derive(Clone, Default)]
struct Section {
    /// As in the header: `traffic`.
    header: String,
    /// As in the provenance: `traffic[0]`.
    path: String,
    /// An entry of a list of tables.
    entry: bool,
}

impl Section {
    fn below(&self, name: &str) -> Section {
        Section { header: join(&self.header, name), path: join(&self.path, name), entry: false }
    }
}

/// A part with its own header, written after the plain keys of its table.
struct Later<'a> {
    section: Section,
    kind: &'static Kind,
    value: &'a Value,
}

impl Writer<'_> {
    fn line(&mut self, section: &Section, name: &str, value: &str) {
        let path = join(&section.path, name);
        let mark = if self.said.is_some_and(|said| !said.mentions(&said.tagged(&path))) { MARK } else { "" };
        writeln!(self.text, "{name} = {value}{mark}").expect("a String takes everything");
    }

    fn header(&mut self, header: &str) {
        write!(self.text, "\n{header}\n").expect("a String takes everything");
    }

    fn body(&mut self, table: &'static Table, value: &Value, section: &Section) {
        let mut later = Vec::new();
        self.lines(table, value, section, &mut later);
        later.into_iter().for_each(|later| self.section(&later));
    }

    fn lines<'a>(
        &mut self,
        table: &'static Table,
        value: &'a Value,
        section: &Section,
        later: &mut Vec<Later<'a>>,
    ) {
        for field in table.fields.iter().filter(|field| value.says(field.name)) {
            let own = value.field(field.name);
            match (&field.kind, own) {
                (Kind::Override(_), Value::Absent) => {}
                (Kind::Flatten(inner), _) => self.lines(inner, own, section, later),
                (Kind::Family(_), Value::Member(name, settings))
                    if section.entry && field.name == FLATTENED_FAMILY =>
                {
                    self.line(section, KIND_KEY, &quoted(name));
                    self.lines(member_table(&field.kind, name), settings, section, later);
                }
                (kind, own)
                    if has_header(kind, own) && self.left_out.contains(&section.below(field.name).path) => {}
                (kind, own) if has_header(kind, own) => {
                    later.push(Later { section: section.below(field.name), kind: inner(kind), value: own });
                }
                (Kind::Optional(Kind::Flag), Value::Absent) => {}
                (Kind::Named(_), _) => {}
                (kind, own) => self.line(section, field.name, &inline(kind, own)),
            }
        }
    }

    fn section(&mut self, Later { section, kind, value }: &Later<'_>) {
        match (kind, value) {
            (Kind::Table(table), value) => {
                self.header(&format!("[{}]", section.header));
                self.body(table, value, section);
            }
            (Kind::Family(_), Value::Member(name, own)) => {
                let member = section.below(name);
                let written = self.said.is_none_or(|said| said.mentions(&said.tagged(&section.path)));
                self.header(&format!("[{}]{}", member.header, if written { "" } else { MARK }));
                self.body(member_table(kind, name), own, &member);
            }
            (Kind::List(Kind::Table(table)), Value::List(items)) => {
                for (number, item) in items.iter().enumerate() {
                    self.header(&format!("[[{}]]", section.header));
                    let path = format!("{}[{number}]", section.path);
                    self.body(table, item, &Section { path, entry: true, ..section.clone() });
                }
            }
            (Kind::Named(kind), Value::Named(entries)) => {
                for (name, own) in entries {
                    let below = Section { header: join(&section.header, &key(name)), ..section.below(name) };
                    self.section(&Later { section: below, kind: inner(kind), value: own });
                }
            }
            _ => unreachable!("only what has_header allows is written later"),
        }
    }
}

/// The kind behind an `Optional`.
fn inner(kind: &'static Kind) -> &'static Kind {
    match kind {
        Kind::Optional(inner) | Kind::Override(inner) => inner,
        other => other,
    }
}

/// A key in TOML syntax.
fn key(name: &str) -> String {
    let bare = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { name.to_owned() } else { quoted(name) }
}

fn has_header(kind: &'static Kind, value: &Value) -> bool {
    match (inner(kind), value) {
        (Kind::Table(_), Value::Table(_)) | (Kind::Family(_), Value::Member(..)) => true,
        (Kind::List(Kind::Table(_)), Value::List(items)) => !items.is_empty(),
        (Kind::Named(_), Value::Named(entries)) => !entries.is_empty(),
        _ => false,
    }
}

fn member_table(kind: &Kind, name: &str) -> &'static Table {
    let Kind::Family(family) = kind else { unreachable!("only families have members") };
    let member = family.members.iter().find(|member| member.name == name);
    member.expect("a checked value names a member of its family").table
}

/// A quoted string, escaped for TOML.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => write!(out, "\\u{:04X}", c as u32).expect("a String takes everything"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn inline(kind: &'static Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Optional(inner) | Kind::Override(inner), value) if *value != Value::Absent => {
            inline(inner, value)
        }
        (_, Value::Absent) => "false".to_owned(),
        (Kind::List(item), Value::List(items)) => {
            format!("[{}]", items.iter().map(|value| inline(item, value)).collect::<Vec<_>>().join(", "))
        }
        (Kind::Table(table) | Kind::Flatten(table), value) => braced(&inline_fields(table, value)),
        (Kind::Family(_), Value::Member(name, own)) => {
            format!("{{ {name} = {} }}", braced(&inline_fields(member_table(kind, name), own)))
        }
        (_, Value::Integer(_) | Value::Number(_) | Value::Flag(_)) => crate::rows::words(value),
        (_, other) => quoted(&crate::rows::words(other)),
    }
}

fn braced(fields: &[String]) -> String {
    if fields.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", fields.join(", ")) }
}

fn inline_fields(table: &'static Table, value: &Value) -> Vec<String> {
    let mut fields = Vec::new();
    for field in table.fields.iter().filter(|field| value.says(field.name)) {
        match (&field.kind, value.field(field.name)) {
            (Kind::Override(_), Value::Absent) => {}
            (Kind::Flatten(inner), own) => fields.extend(inline_fields(inner, own)),
            (Kind::Optional(Kind::Flag), Value::Absent) => {}
            (kind, own) => fields.push(format!("{} = {}", field.name, inline(kind, own))),
        }
    }
    fields
}

/// A piece of the file as written, on one line.
#[must_use]
pub fn node_text(node: &Toml) -> String {
    match &node.content {
        Content::Text(text) => quoted(text),
        Content::List(items) => {
            format!("[{}]", items.iter().map(node_text).collect::<Vec<_>>().join(", "))
        }
        Content::Table(entries) => {
            let entry = |entry: &TomlEntry| format!("{} = {}", quoted(&entry.key), node_text(&entry.node));
            braced(&entries.iter().map(entry).collect::<Vec<_>>())
        }
        _ => node.label(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_texts_differ_in_the_first_digits() {
        let heads: std::collections::BTreeSet<u64> =
            (0..1000).map(|n| hash(&format!("load = {n}")) >> 32).collect();
        assert_eq!(heads.len(), 1000);
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd\u{1}"), r#""a\"b\\c\nd\u0001""#);
    }
}
