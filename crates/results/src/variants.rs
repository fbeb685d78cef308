//! Runs of several calls below one folder. Two calls may differ in settings that no label shows, and one may sweep
//! what the other leaves alone: each run gets the labels that the others have, from its scenario, and cases with
//! equal labels get further ones for the settings that differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::settings::{NO_VALUE, settings};
use crate::sweep::Run;

type Labels = Vec<(String, String)>;
type Settings = BTreeMap<String, String>;

/// The cases found so far.
#[derive(Default)]
pub(crate) struct Variants(Vec<Variant>);

/// The properties that the runs of a case share.
#[derive(PartialEq)]
struct Variant {
    labels: Labels,
    engine: String,
    epoch: String,
    scenario: String,
}

impl Variants {
    /// The number of a run's case, and whether it is the first run of that case.
    pub(crate) fn add(&mut self, run: &Run) -> (usize, bool) {
        let manifest = &run.manifest;
        let (labels, engine, epoch) =
            (manifest.labels.clone(), manifest.engine.clone(), manifest.epoch.clone());
        let variant = Variant { labels, engine, epoch, scenario: run.scenario.clone() };
        if let Some(number) = self.0.iter().position(|one| *one == variant) {
            return (number, false);
        }
        self.0.push(variant);
        (self.0.len() - 1, true)
    }

    /// The runs, each with the number of its case, with labels that distinguish all cases.
    pub(crate) fn labelled(&self, runs: Vec<(Run, usize)>) -> Vec<Run> {
        let labels = self.labels();
        let label = |(mut run, number): (Run, usize)| {
            run.manifest.labels.clone_from(&labels[number]);
            run
        };
        runs.into_iter().map(label).collect()
    }

    /// The labels of each case: those that any case has, and what distinguishes it from others with the same ones.
    fn labels(&self) -> Vec<Labels> {
        let mut keys: Vec<&String> = Vec::new();
        for (key, _) in self.0.iter().flat_map(|variant| &variant.labels) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let own: Vec<Labels> = self.0.iter().map(|variant| variant.labels.clone()).collect();
        let distinct: BTreeSet<&Labels> = own.iter().collect();
        let is_complete = own.iter().all(|labels| labels.len() == keys.len());
        if is_complete && distinct.len() == own.len() {
            return own;
        }
        let sides: Vec<Settings> = self.0.iter().map(Variant::settings).collect();
        let filled = |(labels, side): (&Labels, &Settings)| -> Labels {
            let of = |key: &&String| {
                labels.iter().find(|(known, _)| known == *key).map(|(_, value)| value.clone())
            };
            keys.iter()
                .map(|key| ((*key).clone(), of(key).unwrap_or_else(|| value(side, key, &sides))))
                .collect()
        };
        let mut all: Vec<Labels> = own.iter().zip(&sides).map(filled).collect();
        for group in groups(&all).into_iter().filter(|group| group.len() > 1) {
            let of_group: Vec<Settings> = group.iter().map(|at| sides[*at].clone()).collect();
            for (at, further) in group.iter().zip(distinctions(&of_group)) {
                all[*at].extend(further);
            }
        }
        all
    }
}

/// The indices of equal labels.
fn groups(all: &[Labels]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<&Labels, Vec<usize>> = BTreeMap::new();
    all.iter().enumerate().for_each(|(at, labels)| groups.entry(labels).or_default().push(at));
    groups.into_values().collect()
}

/// What distinguishes each of some cases from the others, as labels.
fn distinctions(sides: &[Settings]) -> Vec<Labels> {
    let all: BTreeSet<&String> = sides.iter().flat_map(BTreeMap::keys).collect();
    let differing =
        all.into_iter().filter(|key| sides.iter().any(|side| side.get(*key) != sides[0].get(*key)));
    let keys: BTreeSet<String> = differing.map(|key| common(key, sides)).collect();
    let labels = |side| keys.iter().map(|key| (key.clone(), value(side, key, sides))).collect();
    sides.iter().map(labels).collect()
}

impl Variant {
    /// All values of the scenario by key, engine and epoch among them.
    fn settings(&self) -> Settings {
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

/// The key itself if all sides have it, or else the longest part of it below which all sides have a value: `balance`
/// of `balance.drill.memory`, if others have `balance.ecmp`.
fn common(key: &str, sides: &[Settings]) -> String {
    if sides.iter().all(|side| side.contains_key(key)) {
        return key.to_owned();
    }
    let parts = key.rmatch_indices('.').map(|(at, _)| &key[..at]);
    let mut shared = parts.filter(|part| sides.iter().all(|side| below(side, part).next().is_some()));
    shared.next().unwrap_or(key).to_owned()
}

/// The words that follow a part of a key.
fn below<'a>(side: &'a Settings, part: &'a str) -> impl Iterator<Item = &'a str> {
    let rest = move |key: &'a String| key.strip_prefix(part)?.strip_prefix('.');
    side.keys().filter_map(rest).map(|rest| rest.split('.').next().unwrap_or(rest))
}

/// The value of a key; for a part of a key, what follows it on this side only.
fn value(side: &Settings, key: &str, sides: &[Settings]) -> String {
    if let Some(value) = side.get(key) {
        return unquoted(value);
    }
    let everywhere = |word: &&str| sides.iter().all(|side| below(side, key).any(|other| other == *word));
    let own: BTreeSet<&str> = below(side, key).filter(|word| !everywhere(word)).collect();
    match own.is_empty() {
        // Whether all have the same member of a family.
        true => below(side, key).next().unwrap_or(NO_VALUE).to_owned(),
        false => own.into_iter().collect::<Vec<_>>().join(" + "),
    }
}

fn unquoted(value: &str) -> String {
    value.trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;

    fn labels(runs: &[(&[(&str, &str)], &str)]) -> Vec<Vec<String>> {
        let mut variants = Variants::default();
        for (labels, scenario) in runs {
            let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            let manifest = Manifest { labels, ..Manifest::default() };
            variants.add(&Run { manifest, scenario: (*scenario).to_owned(), ..Run::default() });
        }
        let shown = |labels: Labels| labels.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        variants.labels().into_iter().map(shown).collect()
    }

    const ECMP: &str =
        "name = \"x\"\n[balance.ecmp]\nhash = \"mix\"\n[[traffic]]\ntag = \"web\"\nload = 0.6\n";
    const DRILL: &str = "name = \"x\"\n[balance.drill]\nmemory = 1\n[[traffic]]\ntag = \"web\"\nload = 0.8\n";

    #[test]
    fn families_and_values_tell_cases_apart() {
        let both = labels(&[(&[], ECMP), (&[], DRILL)]);
        assert_eq!(
            both,
            [["balance = ecmp", "traffic.web.load = 0.6"], ["balance = drill", "traffic.web.load = 0.8"]]
        );
        let flows = |n| format!("name = \"x\"\nabout = \"{n}\"\n[measure]\nflows = {n}");
        assert_eq!(
            labels(&[(&[], &flows(3)), (&[], &flows(4))]),
            [["measure.flows = 3"], ["measure.flows = 4"]]
        );
        assert_eq!(labels(&[(&[], "a = 1\n[b]\nc = 1"), (&[], "a = 1")]), [["b.c = 1"], ["b.c = –"]]);
        assert_eq!(labels(&[(&[], ECMP), (&[], ECMP)]), [[""; 0]], "a second seed");
    }

    /// A call that sweeps the balancer, and one without a sweep at another load: both settings are labels of all.
    #[test]
    fn labels_of_other_calls_come_from_the_scenario() {
        let found = labels(&[(&[("balance", "ecmp")], ECMP), (&[("balance", "conga")], ECMP), (&[], DRILL)]);
        assert_eq!(found, [["balance = ecmp"], ["balance = conga"], ["balance = drill"]]);
        let loads = labels(&[(&[("traffic.web.load", "0.3")], ECMP), (&[], DRILL), (&[("case", "a")], ECMP)]);
        assert_eq!(loads[1], ["traffic.web.load = 0.8", "case = –"]);
        assert_eq!(loads[2], ["traffic.web.load = 0.6", "case = a"]);
        let same = labels(&[(&[("balance", "ecmp")], ECMP), (&[], &ECMP.replace("0.6", "0.7"))]);
        assert_eq!(
            same,
            [["balance = ecmp", "traffic.web.load = 0.6"], ["balance = ecmp", "traffic.web.load = 0.7"]]
        );
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
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let labels = variants.labels();
        assert_eq!(labels[1], [label("engine", "hybrid"), label("results epoch", "1")]);
        assert_eq!(labels[2], [label("engine", "packets"), label("results epoch", "2")]);
    }
}
