//! Runs with equal labels whose scenarios differ: two calls with other settings may write below one folder. They are different cases, and
//! what differs becomes a label of each.

use std::collections::{BTreeMap, BTreeSet};

use crate::settings::{NO_VALUE, settings};
use crate::sweep::Run;

type Labels = Vec<(String, String)>;

/// The cases found so far, by the labels of their runs.
#[derive(Default)]
pub(crate) struct Variants(BTreeMap<Labels, Vec<Variant>>);

/// What the runs of a case have in common beside their labels.
#[derive(PartialEq)]
struct Variant {
    engine: String,
    epoch: String,
    scenario: String,
}

impl Variants {
    /// The number of a run's case among those with its labels, and whether it is the first run of that case.
    pub(crate) fn add(&mut self, run: &Run) -> (usize, bool) {
        let manifest = &run.manifest;
        let (engine, epoch) = (manifest.engine.clone(), manifest.epoch.clone());
        let variant = Variant { engine, epoch, scenario: run.scenario.clone() };
        let known = self.0.entry(manifest.labels.clone()).or_default();
        if let Some(number) = known.iter().position(|one| *one == variant) {
            return (number, false);
        }
        known.push(variant);
        (known.len() - 1, true)
    }

    /// The runs, each with the number of its case, with further labels where there are other cases with the same ones.
    pub(crate) fn labelled(&self, runs: Vec<(Run, usize)>) -> Vec<Run> {
        let further: BTreeMap<&Labels, Vec<Labels>> =
            self.0.keys().map(|labels| (labels, self.distinctions(labels))).collect();
        let label = |(mut run, number): (Run, usize)| {
            let own = further.get(&run.manifest.labels).and_then(|cases| cases.get(number)).cloned();
            run.manifest.labels.extend(own.unwrap_or_default());
            run
        };
        runs.into_iter().map(label).collect()
    }

    /// What distinguishes each case with these labels from the others, as further labels; nothing if it is the only one.
    fn distinctions(&self, labels: &Labels) -> Vec<Labels> {
        let variants = self.0.get(labels).map_or(&[][..], Vec::as_slice);
        if variants.len() < 2 {
            return vec![Vec::new(); variants.len()];
        }
        let sides: Vec<_> = variants.iter().map(Variant::settings).collect();
        let names: BTreeSet<&String> = sides.iter().filter_map(|side| side.get("name")).collect();
        if names.len() == sides.len() {
            return sides.iter().map(|side| vec![("scenario".to_owned(), unquoted(&side["name"]))]).collect();
        }
        let all: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
        let differing =
            all.into_iter().filter(|key| sides.iter().any(|side| side.get(*key) != sides[0].get(*key)));
        let keys: BTreeSet<String> = differing.map(|key| common(key, &sides)).collect();
        let labels = |side| keys.iter().map(|key| (key.clone(), value(side, key, &sides))).collect();
        sides.iter().map(labels).collect()
    }
}

impl Variant {
    /// All values of the scenario by key, engine and epoch among them.
    fn settings(&self) -> BTreeMap<String, String> {
        let mut all = settings(&self.scenario);
        all.remove("about");
        let engine = if self.engine.is_empty() { "packets" } else { &self.engine };
        all.extend(
            [("engine", engine), ("results epoch", &self.epoch)]
                .map(|(key, is)| (key.to_owned(), is.to_owned())),
        );
        all
    }
}

/// The key itself if all sides have it, or else the longest part of it below which all have something: `balance` of
/// `balance.drill.memory`, if others have `balance.ecmp`.
fn common(key: &str, sides: &[BTreeMap<String, String>]) -> String {
    if sides.iter().all(|side| side.contains_key(key)) {
        return key.to_owned();
    }
    let parts = key.rmatch_indices('.').map(|(at, _)| &key[..at]);
    let mut shared = parts.filter(|part| sides.iter().all(|side| below(side, part).next().is_some()));
    shared.next().unwrap_or(key).to_owned()
}

/// The words that follow a part of a key.
fn below<'a>(side: &'a BTreeMap<String, String>, part: &'a str) -> impl Iterator<Item = &'a str> {
    let rest = move |key: &'a String| key.strip_prefix(part)?.strip_prefix('.');
    side.keys().filter_map(rest).map(|rest| rest.split('.').next().unwrap_or(rest))
}

/// The value of a key; for a part of keys, what follows it on this side only.
fn value(side: &BTreeMap<String, String>, key: &str, sides: &[BTreeMap<String, String>]) -> String {
    if let Some(value) = side.get(key) {
        return unquoted(value);
    }
    let everywhere = |word: &&str| sides.iter().all(|side| below(side, key).any(|other| other == *word));
    let own: BTreeSet<&str> = below(side, key).filter(|word| !everywhere(word)).collect();
    if own.is_empty() { NO_VALUE.to_owned() } else { own.into_iter().collect::<Vec<_>>().join(" + ") }
}

fn unquoted(value: &str) -> String {
    value.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    fn distinctions(scenarios: &[&str]) -> Vec<Vec<String>> {
        let mut variants = Variants::default();
        for scenario in scenarios {
            variants.add(&Run { scenario: (*scenario).to_owned(), ..Run::default() });
        }
        let shown = |labels: Labels| labels.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        variants.distinctions(&Vec::new()).into_iter().map(shown).collect()
    }

    #[test]
    fn families_values_and_names_tell_cases_apart() {
        let (ecmp, drill) =
            ("name = \"x\"\n[balance.ecmp]\nhash = \"mix\"", "name = \"x\"\n[balance.drill]\nmemory = 1");
        assert_eq!(distinctions(&[ecmp, drill]), [["balance = ecmp"], ["balance = drill"]]);
        let flows = |n| format!("name = \"x\"\nabout = \"{n}\"\n[measure]\nflows = {n}");
        assert_eq!(distinctions(&[&flows(3), &flows(4)]), [["measure.flows = 3"], ["measure.flows = 4"]]);
        assert_eq!(
            distinctions(&["name = \"a\"\n[b]\nc = 1", "name = \"d\""]),
            [["scenario = a"], ["scenario = d"]]
        );
        assert_eq!(distinctions(&["name = \"x\"\n[b]\nc = 1", "name = \"x\""]), [["b.c = 1"], ["b.c = –"]]);
        assert_eq!(distinctions(&[ecmp, ecmp]), [[""; 0]], "a second seed");
    }

    #[test]
    fn epochs_and_engines_tell_cases_apart() {
        let mut variants = Variants::default();
        let run = |engine: &str, epoch: &str| Run {
            manifest: Manifest { engine: engine.into(), epoch: epoch.into(), ..Manifest::default() },
            ..Run::default()
        };
        let added = [("", "1"), ("hybrid", "1"), ("", "1"), ("", "2")]
            .map(|(engine, epoch)| variants.add(&run(engine, epoch)));
        assert_eq!(added, [(0, true), (1, true), (0, false), (2, true)]);
        let labels = variants.distinctions(&Vec::new());
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(labels[1], [label("engine", "hybrid"), label("results epoch", "1")]);
        assert_eq!(labels[2], [label("engine", "packets"), label("results epoch", "2")]);
    }
}
