//! Reference pages in Markdown, generated from the declarations: one page per section of the scenario file.
//!
//! Writes no files: the texts are compared with the committed ones elsewhere.

use crate::expect;
use crate::explain::{one_line, word_of_none};
use std::fmt::Write as _;
use weft_codec::{FLATTENED_FAMILY, KIND_KEY, default_member, describe, flattened_family, join, words};
use weft_core::settings::{Family, Field, Kind, Table, Value};
use weft_model::ScenarioSettings;

/// A page of the book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferencePage {
    /// File name without folder: `topology.md`.
    pub file: String,
    /// Title for the table of contents.
    pub title: String,
    /// Markdown.
    pub text: String,
}

/// All pages, in the order of the scenario file.
#[must_use]
pub fn pages() -> Vec<ReferencePage> {
    let mut pages = vec![overview()];
    for field in ScenarioSettings::TABLE.fields {
        if let Some(body) = section(field) {
            let bracket = if matches!(field.kind, Kind::List(_) | Kind::Override(Kind::List(_))) {
                "[[…]]"
            } else {
                "[…]"
            };
            let title = bracket.replace('…', field.name);
            let text = format!("# `{title}`\n\n{}\n\n{body}", one_line(field.doc));
            pages.push(ReferencePage { file: format!("{}.md", field.name), title, text });
        }
    }
    pages.push(expectations());
    pages
}

fn overview() -> ReferencePage {
    let mut text = format!("# The scenario file\n\n{}\n\n", one_line(ScenarioSettings::TABLE.doc));
    text += "Units are part of a value: `\"40 Gbps\"`, `\"2 us\"`, `\"300 kB\"`, `\"65 pkt\"`, `\"15 %\"`. A number \
        without its unit and an unknown key are errors. `weft explain FILE` shows every setting in effect.\n\n";
    let plain: Vec<&Field> =
        ScenarioSettings::TABLE.fields.iter().filter(|field| section(field).is_none()).collect();
    text += &settings(plain.into_iter());
    text += "\n## Sections\n\n";
    for field in ScenarioSettings::TABLE.fields.iter().filter(|field| section(field).is_some()) {
        writeln!(text, "- [`{0}`]({0}.md): {1}", field.name, one_line(field.doc)).expect("a String");
    }
    text += SWEEP;
    ReferencePage { file: "scenario.md".to_owned(), title: "The scenario file".to_owned(), text }
}

const SWEEP: &str = r#"- [`expect`](expect.md): what the results must show.

## `[sweep]`

A path and the list of values it takes. Several paths make the cross product; every case runs with every seed.
Entries of a list are named by their `tag`. A swept choice of kind keeps the settings that the file gives for that kind.

```toml
[sweep]
"balance" = ["ecmp", "drill", { drill = { choices = 4 } }]
"traffic.web.load" = [0.3, 0.8]
```

On the command line: `--set sweep.balance=ecmp,drill`, repeated as needed.

With `mode = "cases"` the cases are listed one by one, each with a name and its changes:

```toml
[sweep]
mode = "cases"
[[sweep.case]]
name = "small"
"switch.buffer" = "1 MiB"
[[sweep.case]]
name = "large"
"switch.buffer" = "12 MiB"
```

## `[demo]`

A reduced form for `weft run --demo`: a path and its value; for a swept path a list replaces the sweep's values.

```toml
[demo]
seeds = [1]
"traffic.web.load" = [0.8]
```
"#;

fn expectations() -> ReferencePage {
    let mut text = format!("# `[[expect]]`\n\n{}\n\n", one_line(expect::TABLE.doc));
    text += &settings(expect::TABLE.fields.iter());
    text += "\n```toml\n[[expect]]\nwhere = { \"traffic.web.load\" = 0.8 }\nvalue = \"fct.mean(ecmp) / \
        fct.mean(drill)\"\nabove = 1.3\nbelow = 2.2\n```\n";
    ReferencePage { file: "expect.md".to_owned(), title: "[[expect]]".to_owned(), text }
}

/// Every family of the scenario file with the path of the setting that chooses its member, in the order of the file,
/// as shown by `weft list`.
#[must_use]
pub fn families() -> Vec<(String, &'static Family)> {
    let mut found = Vec::new();
    families_of(&ScenarioSettings::TABLE, "", &mut found);
    found
}

fn families_of(table: &'static Table, path: &str, found: &mut Vec<(String, &'static Family)>) {
    for field in flat(table) {
        let path = join(path, if field.name == FLATTENED_FAMILY { KIND_KEY } else { field.name });
        match inner(&field.kind) {
            Kind::Table(table) | Kind::List(Kind::Table(table)) => families_of(table, &path, found),
            Kind::Family(family) => found.push((path, family)),
            _ => {}
        }
    }
}

/// The body of a section's page; empty for a plain setting.
fn section(field: &'static Field) -> Option<String> {
    match field.kind {
        Kind::Table(table) => Some(tables(table, field.name, 2)),
        Kind::Family(family) => Some(members(family, field, field.name)),
        Kind::List(Kind::Table(table)) | Kind::Override(Kind::List(Kind::Table(table))) => {
            Some(entries(table, field.name))
        }
        _ => None,
    }
}

/// The settings of a table, then its inner tables and families under headings.
fn tables(table: &'static Table, path: &str, level: usize) -> String {
    let mut text = settings(flat(table).into_iter());
    for field in flat(table) {
        let path = format!("{path}.{}", field.name);
        let heading = format!("\n{} `{path}`\n\n{}\n\n", "#".repeat(level), one_line(field.doc));
        match inner(&field.kind) {
            Kind::Table(table) => text += &format!("{heading}{}", tables(table, &path, level + 1)),
            Kind::Family(family) => text += &format!("{heading}{}", members(family, field, &path)),
            Kind::List(Kind::Table(table)) => {
                text += &format!("{heading}{}", tables(table, &path, level + 1))
            }
            Kind::Override(Kind::Table(table)) => {
                text += &format!("{heading}{}.\n", one_line(table.doc).trim_end_matches('.'))
            }
            Kind::Override(Kind::List(Kind::Table(table))) => {
                text += &format!("{heading}{}", tables(table, &path, level + 1));
            }
            Kind::Named(Kind::Override(Kind::Table(table))) => {
                text += &format!("{heading}{}.\n", one_line(table.doc).trim_end_matches('.'));
            }
            _ => {}
        }
    }
    text
}

fn members(family: &'static Family, field: &'static Field, path: &str) -> String {
    let default = default_member(family, field).name;
    let optional = field.default.is_some();
    let mut text = String::new();
    for member in family.members {
        let mark = if optional && member.name == default { " (default)" } else { "" };
        writeln!(text, "## `{path}.{}`{mark}\n\n{}.\n", member.name, one_line(member.summary))
            .expect("a String");
        text += &tables(member.table, &format!("{path}.{}", member.name), 3);
        text.push('\n');
    }
    text
}

fn entries(table: &'static Table, path: &str) -> String {
    let own = flat(table).into_iter().filter(|field| field.name != FLATTENED_FAMILY);
    let mut text = settings(own);
    let flattened = flattened_family(table);
    if let Some((field, Kind::Family(family))) = flattened.map(|field| (field, field.kind)) {
        let default = default_member(family, field).name;
        for member in family.members {
            let mark = if member.name == default { " (default)" } else { "" };
            let heading = format!("\n## `{KIND_KEY} = \"{}\"`{mark}\n\n", member.name);
            text += &format!("{heading}{}.\n\n", one_line(member.summary));
            text += &tables(member.table, path, 3);
        }
    }
    text
}

/// The fields of a table, with flattened tables expanded in place.
fn flat(table: &'static Table) -> Vec<&'static Field> {
    let fields = table.fields.iter();
    fields
        .flat_map(|field| match field.kind {
            Kind::Flatten(inner) => flat(inner),
            _ => vec![field],
        })
        .collect()
}

fn inner(kind: &'static Kind) -> &'static Kind {
    match kind {
        Kind::Optional(inner) => inner,
        other => other,
    }
}

/// One row per setting.
fn settings(fields: impl Iterator<Item = &'static Field>) -> String {
    let rows: Vec<String> = fields.map(row).collect();
    if rows.is_empty() {
        return "No settings.\n".to_owned();
    }
    format!("| setting | allowed | default | meaning |\n|---|---|---|---|\n{}", rows.concat())
}

fn row(field: &'static Field) -> String {
    let allowed = allowed(field, "<br>", "`");
    let escaped = |text: &str| text.replace('|', "\\|");
    format!(
        "| `{}` | {} | {} | {} |\n",
        field.name,
        escaped(&allowed),
        escaped(&default(field, "`")),
        escaped(&one_line(field.doc))
    )
}

/// The value of a setting not given in the file.
fn default(field: &'static Field, quote: &str) -> String {
    match field.default.map(|default| default()) {
        None => "required".to_owned(),
        Some(Value::Absent) => word_of_none(field).to_owned(),
        Some(Value::Table(_)) => "see below".to_owned(),
        Some(value) => format!("{quote}{}{quote}", words(&value)),
    }
}

/// The allowed values of a setting; for a choice, its words with their meaning.
fn allowed(field: &'static Field, between: &str, quote: &str) -> String {
    let word = |(word, doc): &(&str, &str)| format!("{quote}{word}{quote}: {}", one_line(doc));
    match inner(&field.kind) {
        Kind::Choice(choices) => choices.iter().map(word).collect::<Vec<_>>().join(between),
        _ => describe(&field.kind),
    }
}

/// The settings of a table, including shared ones: names, and meaning, allowed values and default in lines.
#[must_use]
pub fn explained(table: &'static Table) -> Vec<(String, String)> {
    let of = |field: &'static Field| match field.kind {
        Kind::Flatten(shared) => explained(shared),
        _ => {
            let [meaning, default] = [one_line(field.doc), default(field, "")];
            let text = format!("{meaning}\n{}\ndefault: {default}", allowed(field, "\n", ""));
            vec![(field.name.to_owned(), text)]
        }
    };
    table.fields.iter().flat_map(of).collect()
}
