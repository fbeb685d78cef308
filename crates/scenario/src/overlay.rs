//! Puts a value at a dotted path of the file's tree: sweeps, `[demo]` and `--set` edit the tree, and
//! [`decode`](weft_codec::decode) then checks the result as if it had been written that way.
//!
//! Checks that the path exists; the decoder checks the value.

use std::sync::Arc;
use weft_codec::{FLATTENED_FAMILY, KIND_KEY, TAG_KEY, default_member, flattened_family, keys, member_named};
use weft_core::settings::{Family, Field, Kind, Member, Table};
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Toml, TomlEntry};

/// A value for one path, and the position of the path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) path: String,
    pub(crate) place: SourceSpan,
    pub(crate) value: Toml,
}

/// Puts the override's value into the tree.
///
/// # Errors
/// The path is not a setting, or is a setting of a family member that is not chosen.
pub(crate) fn put(table: &'static Table, root: &mut Toml, change: &Edit) -> Result<(), Mistake> {
    let steps: Vec<&str> = steps(&change.path).collect();
    Walk { change }.table(table, root, &steps)
}

/// The steps of a path: `traffic`, `[0]` and `load` of `traffic[0].load`.
pub(crate) fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').flat_map(|part| {
        let brackets = part.match_indices('[').map(|(at, _)| at).filter(|at| *at > 0);
        let ends = brackets.clone().chain([part.len()]);
        std::iter::once(0).chain(brackets).zip(ends).map(move |(start, end)| &part[start..end])
    })
}

/// A step without its brackets.
fn plain(step: &str) -> &str {
    step.trim_start_matches('[').trim_end_matches(']')
}

/// The entry of a list that a step means: in brackets its number or else its tag, otherwise its tag or else its
/// number, so that a tag such as `0` hides no entry.
fn position(items: &[Toml], step: &str) -> Option<usize> {
    let name = plain(step);
    let tagged = || items.iter().position(|entry| entry.get(TAG_KEY).and_then(Toml::text) == Some(name));
    let numbered = || name.parse().ok().filter(|at| *at < items.len());
    if step.starts_with('[') { numbered().or_else(tagged) } else { tagged().or_else(numbered) }
}

/// The steps of a path, with the number of a list's entry instead of its tag.
pub(crate) fn numbered(root: &Toml, path: &str) -> Vec<String> {
    let mut node = Some(root);
    let number = |step: &str| match node.map(|node| &node.content) {
        Some(Content::List(items)) => {
            let at = position(items, step);
            node = at.and_then(|at| items.get(at));
            at.map_or_else(|| plain(step).to_owned(), |at| at.to_string())
        }
        _ => {
            node = node.and_then(|node| node.get(plain(step)));
            plain(step).to_owned()
        }
    };
    steps(path).map(number).collect()
}

/// A step of the path is not one of these names.
pub(crate) fn unknown<'n>(change: &Edit, step: &str, names: impl IntoIterator<Item = &'n str>) -> Mistake {
    Walk { change }.unknown(step, names)
}

struct Walk<'a> {
    change: &'a Edit,
}

type Step = Result<(), Mistake>;

impl Walk<'_> {
    fn wrong(&self, message: String) -> Mistake {
        Mistake::new(self.change.place, &self.change.path, message)
    }

    fn unknown<'n>(&self, step: &str, names: impl IntoIterator<Item = &'n str>) -> Mistake {
        let message = match self.change.path == step {
            true => format!("`{step}` is not a setting"),
            false => format!("`{}` is not a setting: `{step}` is unknown", self.change.path),
        };
        self.wrong(message).among(step, names)
    }

    fn put(&self, kind: &Kind, node: &mut Toml, steps: &[&str]) -> Step {
        if let Kind::Optional(inner) | Kind::Override(inner) = kind
            && !steps.is_empty()
        {
            return self.put(inner, node, steps);
        }
        if steps.is_empty() {
            return self.replace(kind, node);
        }
        match kind {
            Kind::Table(table) | Kind::Flatten(table) => self.table(table, node, steps),
            Kind::Family(family) => self.member(family, node, steps),
            Kind::List(item) => self.entry(item, node, steps),
            Kind::Named(inner) => self.put(inner, self.child(node, plain(steps[0])), &steps[1..]),
            _ => Err(self.unknown(steps[0], [])),
        }
    }

    /// A family's member that is already chosen keeps its settings. A table that is always there is changed by what a value names.
    fn replace(&self, kind: &Kind, node: &mut Toml) -> Step {
        let value = &self.change.value;
        match (plain_kind(kind), value.text()) {
            (Kind::Family(_), Some(name)) if chosen(node) == Some(name) => return Ok(()),
            _ if matches!(kind, Kind::Table(_) | Kind::Flatten(_)) && is_empty_table(value) => {
                return Err(self.wrong(format!("`{}` names no setting to change", self.change.path)));
            }
            _ => *node = value.clone(),
        }
        Ok(())
    }

    fn table(&self, table: &Table, node: &mut Toml, steps: &[&str]) -> Step {
        match field_kind(table, steps[0]) {
            Some(kind) => self.put(kind, self.child(node, steps[0]), &steps[1..]),
            None => Err(self.unknown(steps[0], keys(table))),
        }
    }

    /// The value of a key, which is added if missing.
    fn child<'n>(&self, node: &'n mut Toml, key: &str) -> &'n mut Toml {
        let value = &self.change.value;
        if !matches!(node.content, Content::Table(_)) {
            node.content = Content::Table(Vec::new());
        }
        let Content::Table(entries) = &mut node.content else { unreachable!("made a table above") };
        let at = entries.iter().position(|entry| entry.key == key).unwrap_or_else(|| {
            let empty = Toml::empty_table(value.place, value.origin);
            entries.push(TomlEntry { key: key.to_owned(), place: self.change.place, node: empty });
            entries.len() - 1
        });
        &mut entries[at].node
    }

    fn member(&self, family: &'static Family, node: &mut Toml, steps: &[&str]) -> Step {
        let Some(member) = member_named(family, steps[0]) else {
            return Err(self.unknown(steps[0], family.members.iter().map(|member| member.name)));
        };
        let settings = Kind::Table(member.table);
        match chosen(node) {
            Some(name) if name != member.name => {
                let message = format!("has no effect: the {} is `{name}`", family.name);
                Err(self.wrong(format!("`{}` {message}", self.change.path)))
            }
            Some(_) if node.get(KIND_KEY).is_some() && steps.len() > 1 => {
                self.table(member.table, node, &steps[1..])
            }
            _ => self.put(&settings, self.child(node, member.name), &steps[1..]),
        }
    }

    /// No entry of a list has this tag or number.
    fn no_entry(&self, step: &str, tags: &[Option<String>]) -> Mistake {
        let path = &self.change.path;
        if tags.is_empty() {
            return self.wrong(format!("`{path}` is not a setting: the scenario has no entry of this list"));
        }
        let message = format!(
            "`{path}` is not a setting: no entry of the list is called `{step}`; name one by its tag or by its number from 0"
        );
        let numbers: Vec<String> = (0..tags.len()).map(|number| number.to_string()).collect();
        let names = tags.iter().zip(&numbers).map(|(tag, number)| tag.as_deref().unwrap_or(number));
        self.wrong(message).among(step, names)
    }

    fn entry(&self, item: &'static Kind, node: &mut Toml, steps: &[&str]) -> Step {
        let Content::List(items) = &mut node.content else { return Err(self.no_entry(steps[0], &[])) };
        let items = Arc::make_mut(items);
        let Some(at) = position(items, steps[0]) else {
            let tags: Vec<Option<String>> =
                items.iter().map(|entry| entry.get(TAG_KEY)?.text().map(str::to_owned)).collect();
            return Err(self.no_entry(plain(steps[0]), &tags));
        };
        match item {
            Kind::Table(table) if steps.len() > 1 => self.entry_setting(table, &mut items[at], &steps[1..]),
            other => self.put(other, &mut items[at], &steps[1..]),
        }
    }

    fn entry_setting(&self, table: &'static Table, node: &mut Toml, steps: &[&str]) -> Step {
        let Some(family) = flattened_family(table) else {
            return self.table(table, node, steps);
        };
        let member = kind_of_entry(family, node);
        if steps[0] == KIND_KEY {
            return self.put(&Kind::Text, self.child(node, KIND_KEY), &steps[1..]);
        }
        if keys(table).contains(&steps[0]) && steps[0] != FLATTENED_FAMILY {
            return self.table(table, node, steps);
        }
        match member.and_then(|member| field_kind(member.table, steps[0])) {
            Some(kind) => self.put(kind, self.child(node, steps[0]), &steps[1..]),
            None => {
                let own = keys(table).into_iter().filter(|key| *key != FLATTENED_FAMILY);
                Err(self.unknown(steps[0], own.chain(member.map_or(Vec::new(), |member| keys(member.table)))))
            }
        }
    }
}

fn is_empty_table(value: &Toml) -> bool {
    matches!(&value.content, Content::Table(entries) if entries.is_empty())
}

/// A kind without what makes it optional.
fn plain_kind(kind: &Kind) -> &Kind {
    match kind {
        Kind::Optional(inner) | Kind::Override(inner) => plain_kind(inner),
        other => other,
    }
}

/// The member named by a node of a family, however it is written.
fn chosen(node: &Toml) -> Option<&str> {
    match &node.content {
        Content::Text(name) => Some(name),
        Content::Table(entries) => match node.get(KIND_KEY) {
            Some(kind) => kind.text(),
            None => entries.first().map(|entry| entry.key.as_str()),
        },
        _ => None,
    }
}

fn kind_of_entry(family: &Field, node: &Toml) -> Option<&'static Member> {
    let Kind::Family(members) = family.kind else { return None };
    match node.get(KIND_KEY) {
        None => Some(default_member(members, family)),
        Some(kind) => member_named(members, kind.text()?),
    }
}

/// The family whose member is chosen at a path, whatever the file gives there.
pub(crate) fn family_at(table: &'static Table, path: &str) -> Option<&'static Family> {
    let steps: Vec<&str> = steps(path).collect();
    let (first, rest) = steps.split_first()?;
    family_below(field_kind(table, first)?, rest)
}

fn family_below(kind: &'static Kind, steps: &[&str]) -> Option<&'static Family> {
    match (kind, steps.split_first()) {
        (Kind::Optional(inner) | Kind::Override(inner), _) => family_below(inner, steps),
        (Kind::Family(family), None) => Some(family),
        (Kind::Family(family), Some((name, rest))) => {
            let (next, rest) = rest.split_first()?;
            family_below(field_kind(member_named(family, name)?.table, next)?, rest)
        }
        (Kind::Table(table) | Kind::Flatten(table), Some((name, rest))) => {
            family_below(field_kind(table, name)?, rest)
        }
        (Kind::List(item) | Kind::Named(item), Some((_, rest))) => family_below(item, rest),
        _ => None,
    }
}

/// The kind of a key of a table, including keys of flattened tables.
fn field_kind(table: &Table, name: &str) -> Option<&'static Kind> {
    table.fields.iter().find_map(|field| match &field.kind {
        Kind::Flatten(inner) => field_kind(inner, name),
        kind => (field.name == name).then_some(kind),
    })
}
