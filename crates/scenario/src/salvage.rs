//! Finds further mistakes in a file that already has some, so that all are reported at once. Sections and
//! `[[traffic]]` entries with a mistake are excluded; the rest is checked by the rules that depend on nothing else.
//! Settings without effect are reported only if no excluded part could use them, expectations only if all that they
//! name is there.

use crate::draft::{Draft, SECTIONS, TABLE};
use crate::expect::{Metrics, Question, unknown_metric};
use crate::file::ScenarioFile;
use crate::sweep::{self, SweepAxis};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use weft_codec::{TAG_KEY, decode, join};
use weft_core::settings::Setting as _;
use weft_mistake::Mistake;
use weft_mistake::node::{Content, Toml, parse_document};
use weft_model::ScenarioSettings;
use weft_model::{Case, Resolved};
use weft_workload::SizeDistribution;

/// Placeholders for required sections that are excluded. No rule checks them.
const STAND_IN: &str = "weft = 1\nname = \"x\"\ntopology = \"single-switch\"\n\
                        traffic = [{ tag = \"x\", load = 0.5, sizes = \"1 kB\" }]\n";
const TRAFFIC: &str = "traffic";

/// The parts of a file with a mistake: sections, and entries of the traffic.
#[derive(Debug, Default)]
struct Damage {
    sections: BTreeSet<String>,
    entries: BTreeSet<String>,
}

/// Further mistakes of a file with `mistakes`.
pub(crate) fn further(
    draft: &Draft,
    file: &ScenarioFile,
    metrics: &Metrics,
    mistakes: &[Mistake],
) -> Vec<Mistake> {
    let mut found: Vec<Mistake> =
        draft.expectations.iter().filter_map(|question| unknown_metric(question, metrics)).collect();
    found.extend(unknown_sizes(&draft.root, &file.folder, mistakes));
    if let Some((sound, damage)) = sound(draft, mistakes) {
        let has_all_cases = has_all_cases(draft, &sound);
        let scope = weft_rules::CaseScope {
            folder: &file.folder,
            whole: None,
            complete: draft.complete || !has_all_cases || damage.hides_uses(),
            partial: draft.is_partial(),
            damaged: &damage.sections,
        };
        let cases = cases(&sound);
        found.extend(weft_rules::check(&cases, &scope));
        if has_all_cases {
            found.extend(unanswerable(draft, (&sound, &damage), file, (&cases, metrics)));
        }
    }
    found
}

/// Whether every case of the sweep could be decoded.
fn has_all_cases(draft: &Draft, sound: &Draft) -> bool {
    let alternatives = |draft: &Draft| draft.axes.iter().map(|axis| axis.alternatives.len()).sum::<usize>();
    alternatives(draft) == alternatives(sound) && sweep::count(&sound.axes) <= sweep::MOST_CASES
}

/// Mistakes in expectations that depend on undamaged parts only.
fn unanswerable(
    draft: &Draft,
    (sound, damage): (&Draft, &Damage),
    file: &ScenarioFile,
    (cases, metrics): (&[Case], &Metrics),
) -> Vec<Mistake> {
    let is_whole = |section: &str| !damage.sections.contains(section);
    if !damage.entries.is_empty() || !["sweep", "demo", TRAFFIC, "measure"].into_iter().all(is_whole) {
        return Vec::new();
    }
    let named_are_whole = |question: &&Question| {
        question.selection.iter().all(|(path, ..)| is_whole(path.split('.').next().unwrap_or_default()))
    };
    let expectations = draft.expectations.iter().filter(named_are_whole).cloned().collect();
    let (mut others, mut found) = (Vec::new(), Vec::new());
    let base = sound.resolve(&[], &mut others);
    let (root, axes) = (sound.root.clone(), sound.axes.clone());
    let asked = Draft { root, axes, expectations, ..*draft };
    asked.claims(file, (&base, cases), metrics, &mut found);
    found
}

/// The part of a draft that can be decoded.
fn sound(draft: &Draft, mistakes: &[Mistake]) -> Option<(Draft, Damage)> {
    let mut damage = Damage::default();
    mistakes.iter().for_each(|mistake| damage.add(mistake));
    // One mistake may hide another until it is removed.
    for _ in 0..4 {
        let root = damage.repaired(&draft.root);
        let left = decode(TABLE, &root, "", SECTIONS).mistakes;
        if left.is_empty() {
            let axes = draft.axes.clone();
            let sound = Draft { root, axes, expectations: Vec::new(), narrowed: true, complete: true };
            return Some((Draft { axes: sound_axes(&sound), ..sound }, damage));
        }
        left.iter().for_each(|mistake| damage.add(mistake));
    }
    None
}

impl Damage {
    /// Whether an excluded part could use a setting of another.
    fn hides_uses(&self) -> bool {
        let harmless = ["weft", "name", "about", "seeds", "measure", "expect"];
        let known = weft_codec::keys(TABLE).into_iter().chain(SECTIONS.iter().copied());
        let mut users = known.filter(|section| !harmless.contains(section));
        !self.entries.is_empty() || users.any(|section| self.sections.contains(section))
    }

    fn add(&mut self, mistake: &Mistake) {
        let mut steps = mistake.path.split(['.', '[']).map(|step| step.trim_end_matches(']'));
        let section = steps.next().unwrap_or("");
        match steps.next() {
            Some(entry) if section == TRAFFIC => self.entries.insert(entry.to_owned()),
            Some(_) => self.sections.insert(section.to_owned()),
            // A section under a wrong name is missing under its right one.
            None => {
                self.sections.extend(mistake.nearest.clone());
                self.sections.insert(section.to_owned())
            }
        };
    }

    /// The tree without its damaged parts.
    fn repaired(&mut self, root: &Toml) -> Toml {
        let (stand_in, _) = parse_document(STAND_IN);
        let mut entries = root.entries().to_vec();
        for entry in entries.iter_mut().filter(|entry| entry.key == TRAFFIC) {
            if let Content::List(items) = &mut entry.node.content {
                let mut number = 0;
                let items = Arc::make_mut(items);
                items.retain(|item| {
                    let tag = item.get(TAG_KEY).and_then(Toml::text).unwrap_or("");
                    number += 1;
                    !self.entries.contains(tag) && !self.entries.contains(&(number - 1).to_string())
                });
                if items.is_empty() {
                    self.sections.insert(TRAFFIC.to_owned());
                }
            }
        }
        entries.retain(|entry| !self.sections.contains(&entry.key));
        let missing = |key: &str| root.get(key).is_none() || self.sections.contains(key);
        entries.extend(stand_in.entries().iter().filter(|entry| missing(&entry.key)).cloned());
        Toml { content: Content::Table(entries), ..root.clone() }
    }
}

/// The axes, with the alternatives that can be decoded.
fn sound_axes(draft: &Draft) -> Vec<SweepAxis> {
    let decodes = |axis: usize, alternative: usize| {
        let mut mistakes = Vec::new();
        draft.resolve(&[(axis, alternative)], &mut mistakes);
        mistakes.is_empty()
    };
    let sound = |(number, axis): (usize, &SweepAxis)| {
        let alternatives = axis.alternatives.iter().enumerate();
        let alternatives: Vec<_> =
            alternatives.filter(|(at, _)| decodes(number, *at)).map(|(_, one)| one.clone()).collect();
        (!alternatives.is_empty()).then(|| SweepAxis { alternatives, ..axis.clone() })
    };
    draft.axes.iter().enumerate().filter_map(sound).collect()
}

/// All cases that can be decoded; only the base case if the sweep is too large.
fn cases(draft: &Draft) -> Vec<Case> {
    let mut sizes: Vec<usize> = draft.axes.iter().map(|axis| axis.alternatives.len()).collect();
    if sweep::count(&draft.axes) > sweep::MOST_CASES {
        sizes.clear();
    }
    let case = |combination: Vec<usize>| {
        let chosen: Vec<(usize, usize)> = combination.into_iter().enumerate().collect();
        let mut mistakes = Vec::new();
        let resolved: Resolved = draft.resolve(&chosen, &mut mistakes);
        let settings = mistakes.is_empty().then(|| ScenarioSettings::from_value(&resolved.value))?;
        Some(Case { labels: Vec::new(), inputs: Vec::new(), settings, resolved })
    };
    sweep::product(&sizes).into_iter().filter_map(case).collect()
}

/// Checks the names of flow-size distributions, which depend on nothing else, even in entries with other mistakes.
fn unknown_sizes(root: &Toml, folder: &Path, mistakes: &[Mistake]) -> Vec<Mistake> {
    let Some(Content::List(items)) = root.get(TRAFFIC).map(|node| &node.content) else {
        return Vec::new();
    };
    let unknown = |(index, item): (usize, &Toml)| {
        let sizes = item.get("sizes")?;
        let tag = item.get(TAG_KEY).and_then(Toml::text);
        let entry = tag.map_or(format!("{TRAFFIC}[{index}]"), |tag| join(TRAFFIC, tag));
        let path = join(&entry, "sizes");
        let message = SizeDistribution::read(sizes.text()?, folder).err()?;
        let told = mistakes.iter().any(|mistake| mistake.path == path);
        (!told).then(|| Mistake::new(sizes.place, &path, message))
    };
    items.iter().enumerate().filter_map(unknown).collect()
}
