//! A scenario file split into settings, axes and expectations, with the demo and the command line applied. Decodes
//! settings for any choice of alternatives; must not depend on how settings combine.

use crate::expect;
use crate::file::ScenarioFile;
use crate::overlay::{self, Edit};
use crate::sweep::{self, SweepAxis};
use std::collections::BTreeMap;
use weft_codec::{canonical, decode};
use weft_core::settings::Table;
use weft_mistake::Mistake;
use weft_mistake::node::{Content, Origin, Toml, TomlEntry};
use weft_model::ScenarioSettings;
use weft_model::{COMPLETE_KEY, Resolved};

pub(crate) const TABLE: &Table = &ScenarioSettings::TABLE;
/// Sections that are not settings.
pub(crate) const SECTIONS: &[&str] = &["sweep", "expect", "demo", COMPLETE_KEY];
/// The file split into settings, axes and expectations.
pub(crate) struct Draft {
    pub(crate) root: Toml,
    pub(crate) axes: Vec<SweepAxis>,
    pub(crate) expectations: Vec<expect::Question>,
    /// The sweep was narrowed, so some settings and expectations may have no effect.
    pub(crate) narrowed: bool,
    /// All defaults are filled in, so settings without effect are not reported.
    pub(crate) complete: bool,
}

impl Draft {
    pub(crate) fn read(file: &ScenarioFile, mistakes: &mut Vec<Mistake>) -> Draft {
        let mut root = file.document.clone();
        let axes = root.take("sweep").map_or(Vec::new(), |section| sweep::read_sweep(&section, mistakes));
        let demo = root.take("demo").map_or(Vec::new(), |section| {
            let node = section.node.clone().said_by(Origin::Demo);
            sweep::read_overrides(&TomlEntry { node, ..section }, true, mistakes)
        });
        let expectations =
            root.take("expect").map_or(Vec::new(), |section| read_expectations(&section, mistakes));
        let complete = root.take(COMPLETE_KEY).is_some_and(|entry| is_true(&entry, mistakes));
        let mut draft = Draft { root, axes, expectations, narrowed: false, complete };
        draft.try_demo(&demo, mistakes);
        if file.demo {
            draft.apply(&demo, mistakes);
        }
        // Axes first, then their values, whatever the order: anything else is set in the remaining cases.
        let (sweeping, others): (Vec<&Edit>, Vec<&Edit>) =
            file.arguments.iter().partition(|change| sweep::swept_path(change).is_some());
        for change in sweeping {
            let path = sweep::swept_path(change).unwrap_or_default();
            if others.iter().any(|other| other.path == path) {
                let message = format!("`{path}` is set as well, so this has no effect");
                mistakes.push(Mistake::new(change.place, &change.path, message).allowing("one of the two"));
            }
            draft.sweep(change, mistakes);
        }
        let (choosing, setting): (Vec<&Edit>, Vec<&Edit>) =
            others.into_iter().partition(|change| draft.axes.iter().any(|axis| axis.path == change.path));
        choosing.into_iter().chain(setting).for_each(|change| draft.set(change, true, mistakes));
        draft
    }

    /// Only some cases of the sweep were chosen, so settings of the file may matter only to others.
    pub(crate) fn is_partial(&self) -> bool {
        self.axes.iter().any(|axis| axis.partial)
    }

    /// A demo must be valid even if it is not requested.
    fn try_demo(&self, demo: &[Edit], mistakes: &mut Vec<Mistake>) {
        let (root, axes) = (self.root.clone(), self.axes.clone());
        let mut scratch = Draft { root, axes, expectations: Vec::new(), ..*self };
        let before = mistakes.len();
        scratch.apply(demo, mistakes);
        if mistakes.len() == before {
            scratch.resolve(&[], mistakes);
            scratch.check_alternatives(mistakes);
        }
    }

    fn apply(&mut self, demo: &[Edit], mistakes: &mut Vec<Mistake>) {
        demo.iter().for_each(|change| self.set(change, false, mistakes));
    }

    fn set(&mut self, change: &Edit, choosing: bool, mistakes: &mut Vec<Mistake>) {
        let of_an_axis = self.axes.iter().any(|axis| axis.path == change.path);
        let settings = sweep::narrow(&mut self.axes, change, choosing, mistakes);
        self.put(&settings, mistakes);
        if !of_an_axis {
            settings.iter().for_each(|setting| self.override_cases(setting, mistakes));
        }
    }

    /// Settings of the demo or the command line apply to every case, including those that set them themselves.
    fn override_cases(&mut self, setting: &Edit, mistakes: &mut Vec<Mistake>) {
        for axis in &mut self.axes {
            let changed = axis.give_way(setting, |path| overlay::numbered(&self.root, path));
            if let Some([one, other]) = axis.alike().filter(|_| changed) {
                let message = format!("with this value, `{one}` and `{other}` of the sweep are one case");
                mistakes.push(Mistake::new(setting.place, &setting.path, message));
            }
        }
    }

    fn sweep(&mut self, change: &Edit, mistakes: &mut Vec<Mistake>) {
        let path = sweep::swept_path(change).unwrap_or_default().to_owned();
        let settings = sweep::swept(&mut self.axes, &Edit { path, ..change.clone() }, mistakes);
        self.put(&settings, mistakes);
    }

    fn put(&mut self, settings: &[Edit], mistakes: &mut Vec<Mistake>) {
        self.narrowed = true;
        for setting in settings {
            mistakes.extend(overlay::put(TABLE, &mut self.root, setting).err());
        }
    }

    /// The settings with one alternative each for some of the axes.
    pub(crate) fn resolve(&self, chosen: &[(usize, usize)], mistakes: &mut Vec<Mistake>) -> Resolved {
        let mut root = self.root.clone();
        for (axis, alternative) in chosen {
            for change in &self.axes[*axis].alternatives[*alternative].changes {
                mistakes.extend(overlay::put(TABLE, &mut root, change).err());
            }
        }
        let decoded = decode(TABLE, &root, "", SECTIONS);
        mistakes.extend(decoded.mistakes);
        Resolved { value: decoded.value, provenance: decoded.provenance }
    }

    /// Checks every alternative alone, so that all mistakes of a sweep are reported at once: also that it is not an earlier one
    /// in other words, such as `1000 kB` after `1 MB`. Named cases may be alike.
    pub(crate) fn check_alternatives(&self, mistakes: &mut Vec<Mistake>) {
        for (number, axis) in self.axes.iter().enumerate() {
            let mut known = BTreeMap::new();
            for (nth, alternative) in axis.alternatives.iter().enumerate() {
                let before = mistakes.len();
                let resolved = self.resolve(&[(number, nth)], mistakes);
                // What an override has changed is told of the override.
                let is_as_said = alternative.label == alternative.said.label();
                if axis.named || !is_as_said || mistakes.len() > before {
                    continue;
                }
                let hash = canonical::hash(&canonical::to_toml(TABLE, &resolved.value));
                let earlier = *known.entry(hash).or_insert(alternative.label.as_str());
                if earlier != alternative.label {
                    mistakes.push(sweep::alike(axis, (earlier, alternative)));
                }
            }
        }
    }
}

fn is_true(entry: &TomlEntry, mistakes: &mut Vec<Mistake>) -> bool {
    if entry.node.content != Content::Flag(true) {
        let message = format!("found {}, expected true", entry.node.described());
        mistakes.push(Mistake::new(entry.node.place, COMPLETE_KEY, message).allowing("true, or omit it"));
    }
    true
}

fn read_expectations(section: &TomlEntry, mistakes: &mut Vec<Mistake>) -> Vec<expect::Question> {
    let Content::List(items) = &section.node.content else {
        mistakes.push(Mistake::new(section.place, "expect", "write expectations as [[expect]]"));
        return Vec::new();
    };
    items.iter().enumerate().filter_map(|(index, item)| expect::read(item, index, mistakes)).collect()
}
