//! Reads keys of tables: records every mistake with its position, and continues.

use std::fmt::Display;
use std::str::FromStr;

use crate::Mistake;
use crate::node::{Content, Toml};

/// A table with its path, and the mistakes found so far.
pub struct TableReader<'a, 'm> {
    /// The table.
    pub table: &'a Toml,
    path: String,
    mistakes: &'m mut Vec<Mistake>,
}

impl<'a, 'm> TableReader<'a, 'm> {
    /// A reader for a table that may only contain these keys.
    pub fn new(
        table: &'a Toml,
        path: &str,
        keys: &[&str],
        mistakes: &'m mut Vec<Mistake>,
    ) -> TableReader<'a, 'm> {
        if !matches!(table.content, Content::Table(_)) {
            let message = format!("found {}, expected a table", table.described());
            mistakes.push(Mistake::new(table.place, path, message).allowing(keys.join(", ")));
        }
        for entry in table.entries().iter().filter(|entry| !keys.contains(&entry.key.as_str())) {
            let message = match path {
                "" => format!("unknown key `{}`", entry.key),
                _ => format!("unknown key `{}` in `{path}`", entry.key),
            };
            let mistake = Mistake::new(entry.place, &join(path, &entry.key), message);
            mistakes.push(mistake.among(&entry.key, keys.iter().copied()));
        }
        TableReader { table, path: path.to_owned(), mistakes }
    }

    /// Records a mistake at the value of a key, or at the table if the key is missing.
    pub fn wrong(&mut self, key: &str, message: impl Into<String>, allowed: &str) {
        let place = self.table.get(key).map_or(self.table.place, |node| node.place);
        let mistake = Mistake::new(place, &join(&self.path, key), message);
        self.mistakes.push(if allowed.is_empty() { mistake } else { mistake.allowing(allowed) });
    }

    /// Records a mistake about a name.
    pub fn misnamed(&mut self, key: &str, message: String, names: &[&str]) {
        let place = self.table.get(key).map_or(self.table.place, |node| node.place);
        let said = self.table.get(key).and_then(Toml::text).unwrap_or("");
        self.mistakes
            .push(Mistake::new(place, &join(&self.path, key), message).among(said, names.iter().copied()));
    }

    /// Whether a key is present.
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// Requires a key.
    pub fn require(&mut self, key: &str, allowed: &str) -> bool {
        if !self.has(key) {
            let whose = if self.path.is_empty() { "the file".to_owned() } else { format!("`{}`", self.path) };
            self.wrong(key, format!("{whose} needs the key `{key}`"), allowed);
        }
        self.has(key)
    }

    /// Refuses a key that would have no effect.
    pub fn refuse(&mut self, key: &str, why: &str) {
        if self.has(key) {
            self.wrong(key, format!("`{key}` has no effect {why}"), "");
        }
    }

    /// A text.
    pub fn text(&mut self, key: &str, allowed: &str) -> Option<&'a str> {
        let node = self.table.get(key)?;
        if node.text().is_none() {
            self.wrong(key, format!("found {}, expected a text", node.described()), allowed);
        }
        node.text()
    }

    /// A text parsed as a `T`.
    pub fn parsed<T: FromStr<Err: Display>>(&mut self, key: &str, allowed: &str) -> Option<T> {
        let text = self.text(key, allowed)?;
        text.parse().map_err(|error: T::Err| self.wrong(key, format!("`{text}`: {error}"), allowed)).ok()
    }

    /// One of some words.
    pub fn word(&mut self, key: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(key, &words.join(", "))?;
        let found = words.iter().find(|word| **word == text).copied();
        if found.is_none() {
            self.misnamed(key, format!("unknown {key} `{text}`"), words);
        }
        found
    }

    /// A whole number in a range.
    pub fn number(&mut self, key: &str, least: i64, most: i64) -> Option<i64> {
        let node = self.table.get(key)?;
        match node.content {
            Content::Integer(number) if (least..=most).contains(&number) => Some(number),
            _ => {
                self.wrong(
                    key,
                    format!("found {}", node.described()),
                    &format!("a whole number from {least} to {most}"),
                );
                None
            }
        }
    }

    /// A name: a text of at least one character, on one line.
    pub fn name(&mut self, key: &str) -> Option<&'a str> {
        let name = self.text(key, "a name")?;
        let wrong = match name {
            "" => Some("an empty name"),
            _ if name.contains(char::is_control) => {
                Some("a name with a line break or another control character")
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            self.wrong(key, wrong, "a name of visible characters");
        }
        Some(name)
    }

    /// A boolean; `false` if the key is missing.
    pub fn flag(&mut self, key: &str) -> bool {
        match self.table.get(key).map(|node| &node.content) {
            None => false,
            Some(Content::Flag(flag)) => *flag,
            Some(_) => {
                let found = self.table.get(key).map(Toml::described).unwrap_or_default();
                self.wrong(key, format!("found {found}, expected true or false"), "true, false");
                false
            }
        }
    }

    /// The items of a list; empty if the key is missing.
    pub fn list(&mut self, key: &str, allowed: &str) -> &'a [Toml] {
        match self.table.get(key).map(|node| (&node.content, node)) {
            None => &[],
            Some((Content::List(items), _)) => items,
            Some((_, node)) => {
                self.wrong(key, format!("found {}, expected a list", node.described()), allowed);
                &[]
            }
        }
    }

    /// Records a mistake at an item of a list.
    pub fn wrong_item(&mut self, key: &str, item: &Toml, (message, allowed): (String, &str)) {
        self.mistakes.push(Mistake::new(item.place, &join(&self.path, key), message).allowing(allowed));
    }
}

/// A path and a key.
fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
