//! The settings of scenarios, as a tree for looking up paths.

use weft_core::settings::{Field, Kind, Table};
use weft_scenario::ScenarioSettings;

/// The key that names a member of a family from inside its table, and the one that names an entry of a list.
const KEYS: &[&str] = &["kind", "tag"];

/// All settings.
pub(super) struct Declared {
    root: &'static Table,
    /// Every table, at any depth.
    tables: Vec<&'static Table>,
    /// Members of families and words that settings may be.
    words: Vec<&'static str>,
}

impl Declared {
    /// Those of a scenario.
    pub(super) fn of_scenarios() -> Declared {
        let mut declared =
            Declared { root: &ScenarioSettings::TABLE, tables: Vec::new(), words: KEYS.to_vec() };
        declared.collect(&ScenarioSettings::TABLE);
        declared
    }

    fn collect(&mut self, table: &'static Table) {
        if self.tables.iter().any(|known| std::ptr::eq(*known, table)) {
            return;
        }
        self.tables.push(table);
        table.fields.iter().for_each(|field| self.collect_kind(field.kind));
    }

    fn collect_kind(&mut self, kind: Kind) {
        match kind {
            Kind::Table(table) | Kind::Flatten(table) => self.collect(table),
            Kind::Choice(words) => self.words.extend(words.iter().map(|(word, _)| word)),
            Kind::List(inner) | Kind::Optional(inner) | Kind::Override(inner) | Kind::Named(inner) => {
                self.collect_kind(*inner);
            }
            Kind::Family(family) => {
                self.words.extend(family.members.iter().map(|member| member.name));
                family.members.iter().for_each(|member| self.collect(member.table));
            }
            _ => {}
        }
    }

    /// The words of a text that look like paths: with a dot, the first part a section. Indices are left out.
    pub(super) fn paths_in(&self, text: &str) -> Vec<String> {
        let part_of_a_path = |c: char| c.is_ascii_alphanumeric() || "_-.{}[]".contains(c);
        let words = text.split(|c| !part_of_a_path(c)).map(without_indices);
        words.filter(|word| word.split_once('.').is_some_and(|(first, _)| self.is_section(first))).collect()
    }

    fn is_section(&self, name: &str) -> bool {
        self.root.fields.iter().any(|field| field.name == name && !is_scalar(field.kind))
    }

    /// Whether a path from the root is declared, or a part of one, or a word of a setting.
    pub(super) fn knows(&self, path: &str) -> bool {
        let steps: Vec<&str> = path.split('.').collect();
        if self.is_section(steps[0]) {
            return in_table(self.root, &steps);
        }
        self.words.contains(&path) || self.tables.iter().any(|table| in_table(table, &steps))
    }
}

fn is_scalar(kind: Kind) -> bool {
    !matches!(kind, Kind::Table(_) | Kind::Family(_) | Kind::List(_) | Kind::Override(_) | Kind::Named(_))
}

/// `pools[{number}].share` -> `pools.share`; a full stop at the end belongs to the sentence.
fn without_indices(word: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0;
    for letter in word.chars() {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        if depth == 0 && letter != ']' {
            kept.push(letter);
        }
    }
    kept.trim_end_matches('.').to_owned()
}

/// A name that is filled in at run time matches any name.
fn matches(step: &str, name: &str) -> bool {
    step == name || step.contains('{')
}

fn in_table(table: &Table, steps: &[&str]) -> bool {
    let [first, rest @ ..] = steps else { return true };
    table.fields.iter().any(|field| match field.kind {
        Kind::Flatten(inner) => in_table(inner, steps),
        kind => matches(first, field.name) && in_kind(kind, rest) || in_entry(kind, steps),
    }) || rest.is_empty() && KEYS.contains(first)
}

/// In an entry of a list, the settings of a member are next to the entry's own.
fn in_entry(kind: Kind, steps: &[&str]) -> bool {
    let Kind::Family(family) = kind else { return false };
    family.name == "pattern" && family.members.iter().any(|member| in_table(member.table, steps))
}

/// Whether entries of this kind have tags, which name them in paths.
fn has_tag(kind: Kind) -> bool {
    match kind {
        Kind::Table(table) | Kind::Flatten(table) => {
            let tags = |field: &Field| {
                field.name == "tag" || matches!(field.kind, Kind::Flatten(_)) && has_tag(field.kind)
            };
            table.fields.iter().any(tags)
        }
        _ => false,
    }
}

fn in_kind(kind: Kind, steps: &[&str]) -> bool {
    let [first, rest @ ..] = steps else { return true };
    match kind {
        Kind::Table(table) | Kind::Flatten(table) => in_table(table, steps),
        Kind::Optional(inner) | Kind::Override(inner) => in_kind(*inner, steps),
        Kind::List(inner) => in_kind(*inner, steps) || has_tag(*inner) && in_kind(*inner, rest),
        Kind::Named(inner) => in_kind(*inner, rest),
        Kind::Family(family) => {
            family.members.iter().any(|member| matches(first, member.name) && in_table(member.table, rest))
        }
        _ => false,
    }
}
