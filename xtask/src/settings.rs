//! Paths of settings: every path that a rule, a message or a page of the book names is declared, so that a renamed or
//! mistyped setting cannot leave a rule that never applies.
//!
//! Every text in the source is examined, whichever function it is passed to: nothing has to be registered. A word
//! with a dot that begins with a section of the scenario is a path, anywhere; in the files of the rules, a text that
//! is a single word is a setting, too.

mod declared;
mod texts;

use crate::{Verdict, markdown, sources};
use declared::Declared;
use std::path::Path;
use texts::Text;

/// Files of rules: here, a text of one word names a setting, a member of a family or a word that a setting may be.
const RULES: &[&str] = &["crates/rules/src/", "crates/lint/src/read/scenario/"];

/// Endings of file names, which look like paths: `switch.toml`.
const FILE_NAMES: &[&str] = &["rs", "md", "toml", "txt", "csv", "json", "svg", "html", "parquet"];

/// Examines the source of all crates and all documents.
pub(crate) fn check(root: &Path) -> Verdict {
    let declared = Declared::of_scenarios();
    let mut complaints = Vec::new();
    let mut count = 0;
    for path in sources::files(&root.join("crates"), "rs") {
        let shown = sources::shown(&path, root);
        if shown.contains("/tests/") || shown.contains("/examples/") {
            continue;
        }
        for text in
            texts::of_file(&sources::read(&path)?).map_err(|error| vec![format!("{shown}: {error}")])?
        {
            let named = names(&declared, &text, RULES.iter().any(|rules| shown.starts_with(rules)));
            count += named.len();
            complaints.extend(unknown(&declared, &named).map(|path| complaint(&shown, text.line, path)));
        }
    }
    for path in sources::files(root, "md") {
        let (shown, text) = (sources::shown(&path, root), sources::read(&path)?);
        for (line, code) in markdown::code_spans(&text) {
            let named = declared.paths_in(code);
            count += named.len();
            complaints.extend(unknown(&declared, &named).map(|path| complaint(&shown, line, path)));
        }
    }
    if complaints.is_empty() {
        Ok(format!("{count} settings are named as they are declared"))
    } else {
        Err(complaints)
    }
}

/// The paths that a text names.
fn names(declared: &Declared, text: &Text, of_rules: bool) -> Vec<String> {
    let alone = text.value.split('.').all(is_word);
    match text.below {
        _ if !alone || !of_rules => declared.paths_in(&text.value),
        Some(section) => vec![format!("{section}.{{}}.{}", text.value)],
        None => vec![text.value.clone()],
    }
}

fn unknown<'a>(declared: &'a Declared, named: &'a [String]) -> impl Iterator<Item = &'a String> {
    named.iter().filter(|path| {
        !declared.knows(path) && !FILE_NAMES.iter().any(|end| path.ends_with(&format!(".{end}")))
    })
}

fn complaint(shown: &str, line: usize, path: &str) -> String {
    format!("{shown}:{line}: no setting is called `{path}`")
}

/// Whether a text has the form of a setting's name.
fn is_word(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(code: &str, of_rules: bool) -> Vec<String> {
        let declared = Declared::of_scenarios();
        let texts = texts::of_file(code).expect("it parses");
        let named: Vec<String> = texts.iter().flat_map(|text| names(&declared, text, of_rules)).collect();
        unknown(&declared, &named).cloned().collect()
    }

    #[test]
    fn a_path_that_is_not_declared_is_found_in_any_text() {
        let code = r#"fn f() { idle("switch.bufer", "dynamic sharing needs switch.pfc.clases: see"); open("switch.toml") }"#;
        assert_eq!(complaints(code, false), ["switch.bufer", "switch.pfc.clases"]);
        let code = r#"fn f() { idle(&format!("switch.sharing.mmu.pools[{n}].sare"), why) }"#;
        assert_eq!(complaints(code, false), ["switch.sharing.mmu.pools.sare"]);
    }

    #[test]
    fn members_lists_levels_and_placeholders_are_followed() {
        let code = r#"fn f() { ["switch.ecn.red.max", "switch.leaf.pfc.classes[0]", "traffic.trace.load",
            "switch.schedule.{name}.weights", "balance.{}.{setting}", "measure.record[{index}]"] }"#;
        assert_eq!(complaints(code, false), [""; 0]);
    }

    #[test]
    fn in_rules_a_word_alone_names_a_setting_of_the_family_in_question() {
        let code = r#"fn f() { facts.idle_transport(&["rack_slack", "dre_period"], "a reason"); facts.balancer("dre_period"); }"#;
        assert_eq!(complaints(code, true), ["transport.{}.dre_period"]);
        assert_eq!(complaints(r#"fn f() { ["alpha", "alfa"] }"#, true), ["alfa"]);
        assert_eq!(complaints(r#"fn f() { ["alpha", "alfa"] }"#, false), [""; 0]);
    }

    #[test]
    fn texts_of_tests_may_be_wrong_on_purpose() {
        assert_eq!(complaints(r#"#[cfg(test)] mod tests { fn f() { "switch.bufer" } }"#, false), [""; 0]);
    }
}
