//! Changes of results that concern only scenarios with one setting: earlier results of other scenarios remain valid.

use std::fs;
use std::path::Path;

use super::digest::HYBRIDS;
use super::{ResultsList, epoch};
use crate::Error;

/// The changes this program knows.
const CHANGES: &str = include_str!("../../results/epochs.txt");

/// The file's name, beside the reference scenarios.
const CHANGES_FILE: &str = "epochs.txt";

/// Whether results of an epoch are those of this program for scenarios with this text: it is the current epoch, or all
/// changes since concern settings that the text does not name. A setting that has an effect without being named must not be
/// the scope of a change.
#[must_use]
pub fn holds_since(earlier: &str, scenarios: &str) -> bool {
    holds(CHANGES, (earlier, epoch()), scenarios)
}

fn holds(changes: &str, (earlier, now): (&str, &str), scenarios: &str) -> bool {
    let mut at = earlier;
    for (before, after, setting) in all(changes) {
        if at == before && !names(scenarios, setting) {
            at = after;
        }
    }
    at == now
}

/// Epoch before, epoch after, setting.
fn all(changes: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    changes.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut words = line.split_whitespace();
        Some((words.next()?, words.next()?, words.next()?))
    })
}

/// Whether a text contains the setting as a word, be it in a comment; of settings joined by `+`, all; of alternatives between `|`, one.
fn names(text: &str, settings: &str) -> bool {
    let words = || text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let has_all = |settings: &str| settings.split('+').all(|setting| words().any(|word| word == setting));
    settings.split('|').any(has_all)
}

/// Records in a folder of reference scenarios that a change of results concerns only scenarios with a setting.
///
/// # Errors
/// [`Error::BadInput`] if no run has changed, so that the scope of the change cannot be checked, or if the scenario
/// of a changed run, given by names such as `tcp/cubic/seed-1`, does not name the setting; [`Error::Failed`] when the
/// file cannot be written.
pub fn record_scope(
    folder: &Path,
    (old, new): (&ResultsList, &ResultsList),
    setting: &str,
) -> Result<(), Error> {
    let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
    let runs = new.digests.runs.iter();
    let changed =
        runs.filter(|(name, run)| old.digests.runs.get(*name).is_some_and(|was| was.all != run.all));
    let changed: Vec<&str> = changed.map(|(name, _)| name.as_str()).collect();
    if changed.is_empty() {
        let why = format!("no reference run changed: first add one that shows what changes with `{setting}`");
        return Err(Error::BadInput(why));
    }
    let without: Vec<&str> =
        changed.into_iter().filter(|name| !names(&text(&scenario_of(name)), setting)).collect();
    if !without.is_empty() {
        return Err(Error::BadInput(format!("without `{setting}`, and changed: {}", without.join(", "))));
    }
    let changes = format!("{}{} {} {setting}\n", text(CHANGES_FILE), old.epoch(), new.epoch());
    weft_report::write_text(&folder.join(CHANGES_FILE), &changes).map_err(Error::from)
}

/// The file of a run's scenario.
fn scenario_of(run: &str) -> String {
    let mut parts = run.split('/');
    let first = parts.next().unwrap_or_default();
    let name = if first == HYBRIDS { parts.next().map(|name| format!("{first}/{name}")) } else { None };
    format!("{}.toml", name.unwrap_or_else(|| first.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_outlive_changes_of_settings_that_they_do_not_name() {
        let changes = "# before after setting\none two voq\ntwo three pfc\n";
        let told = |earlier, text| holds(changes, (earlier, "three"), text);
        assert!(told("one", "[switch]\nbuffer = \"1 MB\"") && told("three", "voq pfc"));
        assert!(!told("one", "[switch.named.leaf1.voq]") && told("two", "\"switch.leaf.voq\" = {}"));
        assert!(!told("one", "pfc = { classes = [0] }") && !told("two", "pfc"));
        assert!(!told("zero", "") && !holds(changes, ("one", "four"), ""), "no change leads there");
        assert!(told("one", "voqs = 3"), "another word");
        let both = |text| holds("one two pfc+pias\n", ("one", "two"), text);
        assert!(both("pfc") && both("pias") && !both("pias = {}, pfc = {}"));
        let either = |text| holds("one two voq|pfc+pias\n", ("one", "two"), text);
        assert!(either("pfc") && !either("voq = {}") && !either("pias = {}, pfc = {}"));
    }

    /// The list leads to the epoch of this program; otherwise lines in it would be useless.
    #[test]
    fn every_recorded_change_leads_to_this_epoch() {
        let mut at = None;
        for (before, after, _) in all(CHANGES) {
            assert!(at.is_none_or(|at| at == before), "{before} follows nothing");
            at = Some(after);
        }
        assert!(at.is_none_or(|at| at == epoch()), "remove changes that another epoch has overtaken");
    }

    #[test]
    fn a_change_is_recorded_only_if_all_that_changed_names_the_setting() {
        let folder = std::env::temp_dir().join(format!("weft-scope-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join("chassis.toml"), "voq = { groups = 3 }").expect("writable");
        fs::write(folder.join("tcp.toml"), "# plain").expect("writable");
        let list = |chassis: &str, tcp: &str| {
            ResultsList::parse(
                &format!("chassis/a/seed-1 {chassis} {chassis} x\ntcp/b/seed-1 {tcp} {tcp} x\n"),
                "",
            )
        };
        let (old, new, broad) = (list("1", "1"), list("2", "1"), list("2", "2"));
        let refused = record_scope(&folder, (&old, &broad), "voq").expect_err("tcp changed too");
        assert!(refused.to_string().contains("changed: tcp/b/seed-1"), "{refused}");
        record_scope(&folder, (&old, &old), "voq").expect_err("nothing changed");
        record_scope(&folder, (&old, &new), "voq").expect("only the chassis changed");
        let written = fs::read_to_string(folder.join(CHANGES_FILE)).expect("written");
        assert!(holds(&written, (&old.epoch(), &new.epoch()), "plain"), "{written}");
        fs::remove_dir_all(&folder).expect("removable");
    }
}
