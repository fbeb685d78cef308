//! Checks a tree of the file against the declared tables: every mistake is reported, and every value records its
//! origin.

use crate::absent::absent;
use crate::declared::{default_member, flattened_family, join, keys, member_named, names};
use crate::provenance::{Provenance, Said};
use crate::scalar::{self, describe, with_article};
use crate::{FLATTENED_FAMILY, KIND_KEY, TAG_KEY};
use std::collections::BTreeSet;
use weft_core::settings::{Family, Field, Kind, Member, Table, Value};
use weft_mistake::node::{Content, Origin, Toml};
use weft_mistake::{Mistake, SourceSpan};

/// A family with a member of this name can also be switched off with `false`. It has no settings.
const OFF: &str = "off";

/// The result of [`decode`]. The value is complete only when there are no mistakes.
#[derive(Debug)]
pub struct Decoded {
    /// The settings, with defaults for what was not given.
    pub value: Value,
    /// The origin of every value.
    pub provenance: Provenance,
    /// All mistakes of the tree.
    pub mistakes: Vec<Mistake>,
}

/// Decodes a table at `path`. `sections` are keys of it read elsewhere; they only serve to suggest names.
pub fn decode(table: &'static Table, root: &Toml, path: &str, sections: &[&'static str]) -> Decoded {
    let mut walk =
        Walk { provenance: Provenance::default(), mistakes: Vec::new(), sections, at: path, sparse: false };
    walk.say(path, root);
    let value = walk.table(table, root, path, None);
    Decoded { value, provenance: walk.provenance, mistakes: walk.mistakes }
}

struct Walk<'a> {
    provenance: Provenance,
    mistakes: Vec<Mistake>,
    sections: &'a [&'static str],
    /// The path of the outermost table.
    at: &'a str,
    /// Keeps only what the file gives: see [`Kind::Override`].
    sparse: bool,
}

impl Walk<'_> {
    fn say(&mut self, path: &str, node: &Toml) {
        self.provenance.said.insert(path.to_owned(), Said { place: node.place, origin: node.origin });
    }

    fn wrong(&mut self, mistake: Mistake) -> Value {
        self.mistakes.push(mistake);
        Value::Absent
    }

    /// `preset` is the enclosing default; it fills in what a table omits.
    fn value(&mut self, kind: &Kind, node: &Toml, path: &str, preset: Option<&Value>) -> Value {
        self.say(path, node);
        match kind {
            Kind::Optional(Kind::Flag) => self.value(&Kind::Flag, node, path, None),
            Kind::Optional(_) if node.content == Content::Flag(false) => Value::Absent,
            Kind::Optional(inner) => self.value(inner, node, path, preset),
            Kind::Override(inner) => self.with_sparse(true, |walk| walk.value(inner, node, path, None)),
            Kind::Named(inner) => self.named(inner, node, path),
            Kind::List(item) => self.with_sparse(false, |walk| walk.list(item, node, path)),
            Kind::Table(table) | Kind::Flatten(table) => self.table(table, node, path, preset),
            Kind::Family(family) => self.family(family, node, path, preset),
            scalar => scalar::read(scalar, node, path).unwrap_or_else(|mistake| self.wrong(mistake)),
        }
    }

    /// A walk that keeps only what the file gives, or fills in the rest.
    fn with_sparse<T>(&mut self, sparse: bool, walk: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.sparse, sparse);
        let found = walk(self);
        self.sparse = before;
        found
    }

    /// Values under names chosen by the file. Dots and brackets are reserved for paths.
    fn named(&mut self, inner: &'static Kind, node: &Toml, path: &str) -> Value {
        if !matches!(node.content, Content::Table(_)) {
            let message = format!("found {}, expected a table of names", node.described());
            return self.wrong(Mistake::new(node.place, path, message));
        }
        let mut values = Vec::new();
        for entry in node.entries() {
            let own = join(path, &entry.key);
            if entry.key.is_empty() || entry.key.contains(['.', '[', ']']) {
                let message = format!("`{}` is not a valid name", entry.key);
                self.wrong(
                    Mistake::new(entry.place, path, message).allowing("a name without dots and brackets"),
                );
            }
            values.push((entry.key.clone(), self.value(inner, &entry.node, &own, None)));
        }
        Value::Named(values)
    }

    fn list(&mut self, item: &'static Kind, node: &Toml, path: &str) -> Value {
        let Content::List(items) = &node.content else {
            let message = format!("found {}, expected a list", node.described());
            return self.wrong(Mistake::new(node.place, path, message).allowing(describe(&Kind::List(item))));
        };
        let mut values = Vec::new();
        let mut tags = BTreeSet::new();
        for (index, node) in items.iter().enumerate() {
            let path = self.entry_path(path, index, node, &mut tags);
            values.push(match item {
                Kind::Table(table) => self.list_entry(table, node, &path),
                other => self.value(other, node, &path, None),
            });
        }
        Value::List(values)
    }

    /// `traffic.trace` for an entry with a tag, else `failure[0]`.
    fn entry_path(&mut self, path: &str, index: usize, node: &Toml, tags: &mut BTreeSet<String>) -> String {
        let numbered = format!("{path}[{index}]");
        let Some(tag_node) = node.get(TAG_KEY) else { return numbered };
        let Some(tag) = tag_node.text() else { return numbered };
        let well_formed = tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !well_formed || tag.is_empty() {
            let message = format!("`{tag}` is not a valid tag");
            let mistake = Mistake::new(tag_node.place, &numbered, message);
            self.wrong(mistake.allowing("letters, digits, - and _"));
            return numbered;
        }
        if !tags.insert(tag.to_owned()) {
            let message = format!("two entries of `{path}` have the tag `{tag}`; tags must be unique");
            self.wrong(Mistake::new(tag_node.place, &numbered, message));
            return numbered;
        }
        let tagged = join(path, tag);
        self.provenance.tags.insert(numbered, tagged.clone());
        tagged
    }

    fn list_entry(&mut self, table: &'static Table, node: &Toml, path: &str) -> Value {
        self.say(path, node);
        let Some(family) = flattened_family(table) else {
            return self.table(table, node, path, None);
        };
        let Kind::Family(members) = family.kind else { return self.table(table, node, path, None) };
        if !self.is_table(table, node, path) {
            return Value::Absent;
        }
        let Some(member) = self.chosen_kind(members, family, node, path) else { return Value::Absent };
        let mut known = keys(table);
        known.retain(|key| *key != FLATTENED_FAMILY);
        known.push(KIND_KEY);
        known.extend(keys(member.table));
        self.refuse_unknown(node, path, &known, Some(members));
        let chosen = Value::Member(member.name, Box::new(self.fields(member.table, node, path, None)));
        self.entry_fields(table, node, (path, &chosen))
    }

    /// The fields of an entry with the member that it has chosen.
    fn entry_fields(&mut self, table: &Table, node: &Toml, (path, chosen): (&str, &Value)) -> Value {
        let own = |field: &Field| {
            let value = match (field.name, field.kind) {
                (FLATTENED_FAMILY, _) => chosen.clone(),
                (_, Kind::Flatten(inner)) => self.entry_fields(inner, node, (path, chosen)),
                _ => self.field(field, node, path, None),
            };
            (field.name, value)
        };
        Value::Table(table.fields.iter().map(own).collect())
    }

    fn chosen_kind(
        &mut self,
        family: &Family,
        field: &Field,
        node: &Toml,
        path: &str,
    ) -> Option<&'static Member> {
        match node.get(KIND_KEY) {
            None => Some(default_member(family, field)),
            Some(kind) => self.member(family, kind, &join(path, KIND_KEY)),
        }
    }

    fn member(&mut self, family: &Family, name: &Toml, path: &str) -> Option<&'static Member> {
        self.say(path, name);
        let found = name.text().and_then(|text| member_named(family, text));
        if found.is_none() {
            match name.text() {
                Some(text) => self.wrong(stranger(family, text, (name.place, path))),
                None => {
                    let wanted = with_article(family.name);
                    let message = format!("found {}, expected the name of {wanted}", name.described());
                    self.wrong(Mistake::new(name.place, path, message).among("", names(family)))
                }
            };
        }
        found
    }

    fn is_table(&mut self, table: &Table, node: &Toml, path: &str) -> bool {
        let is_table = matches!(node.content, Content::Table(_));
        if !is_table {
            let message = format!("found {}, expected a table", node.described());
            self.wrong(Mistake::new(node.place, path, message).among("", keys(table)));
        }
        is_table
    }

    fn table(&mut self, table: &'static Table, node: &Toml, path: &str, preset: Option<&Value>) -> Value {
        if !self.is_table(table, node, path) {
            return Value::Absent;
        }
        self.refuse_unknown(node, path, &keys(table), None);
        self.fields(table, node, path, preset)
    }

    fn refuse_unknown(&mut self, node: &Toml, path: &str, known: &[&'static str], kinds: Option<&Family>) {
        let sections = if path == self.at { self.sections } else { &[] };
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let mut message = match path {
                "" => format!("unknown key `{}`", entry.key),
                _ => format!("unknown key `{}` in `{path}`", entry.key),
            };
            if let Some(owner) = kinds.and_then(|family| owner_of(family, &entry.key)) {
                message += &format!("; it is a setting of kind = \"{}\"", owner.name);
            }
            let candidates = known.iter().chain(sections).copied();
            let mistake = Mistake::new(entry.place, &join(path, &entry.key), message);
            self.wrong(mistake.among(&entry.key, candidates));
        }
    }

    fn fields(&mut self, table: &'static Table, node: &Toml, path: &str, preset: Option<&Value>) -> Value {
        let preset = preset.filter(|preset| matches!(preset, Value::Table(_)));
        let sparse = self.sparse;
        let field = |field: &Field| {
            let preset = preset.map(|preset| preset.field(field.name));
            (field.name, self.field(field, node, path, preset))
        };
        let kept = |field: &&Field| {
            !sparse || matches!(field.kind, Kind::Flatten(_)) || node.get(field.name).is_some()
        };
        Value::Table(table.fields.iter().filter(kept).map(field).collect())
    }

    fn field(&mut self, field: &Field, node: &Toml, path: &str, preset: Option<&Value>) -> Value {
        let own = preset.is_none().then(|| field.default.map(|default| default())).flatten();
        let preset = preset.or(own.as_ref());
        if let Kind::Flatten(inner) = field.kind {
            return self.fields(inner, node, path, preset);
        }
        let path = join(path, field.name);
        match (node.get(field.name), preset, field.kind) {
            (Some(given), preset, kind) => self.value(&kind, given, &path, preset),
            (None, Some(preset), _) => preset.clone(),
            (None, None, Kind::Table(table)) => {
                self.fields(table, &Toml::empty_table(node.place, Origin::Default), &path, None)
            }
            (None, None, kind) => {
                let message = format!("`{path}` is missing: {}", first_sentence(field.doc));
                self.wrong(Mistake::new(node.place, &path, message).allowing(describe(&kind)))
            }
        }
    }

    fn family(&mut self, family: &'static Family, node: &Toml, path: &str, preset: Option<&Value>) -> Value {
        let empty = Toml::empty_table(node.place, node.origin);
        if node.content == Content::Flag(false) && member_named(family, OFF).is_some() {
            return Value::Member(OFF, Box::new(Value::Table(Vec::new())));
        }
        let (name, own, extra) = match &node.content {
            Content::Table(_) if node.get(KIND_KEY).is_some() => (node.get(KIND_KEY), node, vec![KIND_KEY]),
            Content::Table(_) => return self.member_table(family, node, path, preset),
            _ => (Some(node), &empty, vec![]),
        };
        let Some(member) = name.and_then(|name| self.member(family, name, path)) else {
            return Value::Absent;
        };
        let path = join(path, member.name);
        let known: Vec<&str> = keys(member.table).into_iter().chain(extra).collect();
        self.refuse_unknown(own, &path, &known, None);
        Value::Member(
            member.name,
            Box::new(self.fields(member.table, own, &path, settings_of(preset, member))),
        )
    }

    /// `[balance.drill]`: a table with exactly one key, the member's name.
    fn member_table(
        &mut self,
        family: &'static Family,
        node: &Toml,
        path: &str,
        preset: Option<&Value>,
    ) -> Value {
        let mut chosen = Value::Absent;
        let (known, unknown): (Vec<_>, Vec<_>) =
            node.entries().iter().partition(|entry| member_named(family, &entry.key).is_some());
        for entry in &unknown {
            self.wrong(match owner_of(family, &entry.key) {
                Some(owner) => {
                    let (key, owner) = (&entry.key, owner.name);
                    let message =
                        format!("`{key}` is a setting of `{owner}`; write it under [{path}.{owner}]");
                    Mistake::new(entry.place, path, message).among(key, names(family))
                }
                None => stranger(family, &entry.key, (entry.place, path)),
            });
        }
        for (index, entry) in known.iter().enumerate() {
            let member = member_named(family, &entry.key).expect("partitioned by this");
            if index > 0 {
                let first = &known[0].key;
                let message = format!("`{path}` is already `{first}`; choose one {}", family.name);
                self.wrong(Mistake::new(entry.place, path, message));
            }
            let own = join(path, member.name);
            self.say(&own, &entry.node);
            let settings = self.table(member.table, &entry.node, &own, settings_of(preset, member));
            chosen = Value::Member(member.name, Box::new(settings));
        }
        if node.entries().is_empty() {
            let message = format!("`{path}` does not name {}", with_article(family.name));
            self.wrong(Mistake::new(node.place, path, message).among("", names(family)));
        }
        chosen
    }
}

/// The mistake about a name that the family lacks: suggests the nearest one, unless it is a scheme that exists
/// elsewhere.
fn stranger(family: &Family, found: &str, (place, path): (SourceSpan, &str)) -> Mistake {
    let message = format!("unknown {} `{found}`", family.name);
    match absent(family.name, found) {
        Some(instead) => Mistake::new(place, path, format!("{message}: {instead}")).among("", names(family)),
        None => Mistake::new(place, path, message).among(found, names(family)),
    }
}

/// The first sentence of a description, on one line.
fn first_sentence(doc: &str) -> String {
    let line = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    line.split_once(". ").map_or(line.clone(), |(first, _)| format!("{first}."))
}

/// The settings in a preset that chooses the same member.
fn settings_of<'v>(preset: Option<&'v Value>, member: &Member) -> Option<&'v Value> {
    match preset {
        Some(Value::Member(name, settings)) if *name == member.name => Some(settings),
        _ => None,
    }
}

/// The member that has a setting of this name.
fn owner_of(family: &Family, key: &str) -> Option<&'static Member> {
    family.members.iter().find(|member| keys(member.table).contains(&key))
}

#[cfg(test)]
mod tests;
