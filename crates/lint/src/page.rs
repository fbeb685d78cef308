//! The rules as text: a single rule for the terminal, all of them for the book.

use crate::find;
use crate::rule::Rule;
use crate::rules::rules;
use std::fmt::Write;
use weft_draw::indented;

/// A rule for the terminal.
///
/// # Errors
/// A message naming the nearest rule, if there is no such rule.
pub fn explain(id: &str) -> Result<String, String> {
    let rule = find(id)?;
    let mut text = format!("{} ({})\n{}\n", rule.id, rule.level, rule.title);
    for (name, words) in parts(rule) {
        let _ = write!(text, "\n{name}\n{}", indented(words, 2));
    }
    let _ = write!(text, "\nMore: docs/src/reference/lint.md#{}\n", rule.id);
    Ok(text)
}

fn parts(rule: &Rule) -> [(&'static str, &'static str); 4] {
    [
        ("What it compares", rule.checks),
        ("Why it matters", rule.why),
        ("How to fix it", rule.fix),
        ("Source", rule.source),
    ]
}

/// The reference page of the book: Markdown.
#[must_use]
pub fn page() -> String {
    let mut text = INTRODUCTION.to_owned();
    text.push_str("\n| rule | level | finds |\n|---|---|---|\n");
    for rule in rules() {
        let _ = writeln!(text, "| [`{0}`](#{0}) | {1} | {2} |", rule.id, rule.level, rule.title);
    }
    for rule in rules() {
        let _ = write!(text, "\n## {}\n\n{}\n", rule.id, rule.title);
        for (name, words) in parts(rule) {
            let _ = write!(text, "\n*{name}*: {words}\n");
        }
    }
    text
}

const INTRODUCTION: &str = include_str!("introduction.txt");
