//! `[sweep]` and `[demo]`: which settings take which values, and the cases that follow.
//!
//! Works on the file's tree; decoding every case checks the values.

use crate::overlay::{Edit, family_at, steps, unknown};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_codec::canonical::node_text;
use weft_codec::{KIND_KEY, join, keys};
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Origin, Toml, TomlEntry};
use weft_model::ScenarioSettings;

/// More cases than this are assumed to be a typing error.
pub(crate) const MOST_CASES: usize = 10_000;

/// The prefix of a `--set` path that adds an axis.
pub(crate) const SWEPT: &str = "sweep.";

/// Keys that all cases of a scenario share: those that name it, and the seeds, by which cases are paired.
const OF_ALL_CASES: [&str; 4] = ["weft", "name", "about", "seeds"];

/// A setting (or, with `mode = "cases"`, the case) that takes several values.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    /// The path of the setting; `case` for named cases.
    pub path: String,
    pub(crate) place: SourceSpan,
    /// Named cases, not values of one setting.
    pub(crate) named: bool,
    /// Whether some of its alternatives were left out because others were chosen.
    pub(crate) partial: bool,
    pub(crate) alternatives: Vec<Alternative>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alternative {
    pub(crate) label: String,
    pub(crate) place: SourceSpan,
    /// As written: a value, or the table of a named case.
    pub(crate) said: Toml,
    pub(crate) changes: Vec<Edit>,
}

impl SweepAxis {
    /// The values as shown in tables.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().map(|alternative| alternative.label.as_str())
    }

    /// An axis over the items of a list.
    fn over(change: &Edit, items: &[Toml]) -> SweepAxis {
        let alternative = |item: &Toml| Alternative {
            label: item.label(),
            place: item.place,
            said: item.clone(),
            changes: settings_of(&Edit { value: item.clone(), ..change.clone() }),
        };
        let alternatives = items.iter().map(alternative).collect();
        let (path, place) = (change.path.clone(), change.place);
        SweepAxis { path, place, named: false, partial: false, alternatives }
    }

    /// Gives every alternative that sets something, or a list with it, the value set for all cases; `steps` divides
    /// paths. Returns whether any did. What such an alternative sets for another member of a family is removed.
    pub(crate) fn give_way(&mut self, setting: &Edit, steps: impl Fn(&str) -> Vec<String>) -> bool {
        let (set, own) = (steps(&setting.path), steps(&self.path));
        let mut changed = false;
        for alternative in &mut self.alternatives {
            let here = alternative.changes.iter_mut().find_map(|change| {
                let below = set.strip_prefix(steps(&change.path).as_slice())?.to_vec();
                replace(&mut change.value, &below, &setting.value).then_some(below)
            });
            let Some(below) = here else { continue };
            alternative.changes.retain(|change| match steps(&change.path).strip_prefix(set.as_slice()) {
                Some([member, ..]) if below.is_empty() => setting.value.text() == Some(member),
                _ => true,
            });
            if let Some(below) = set.strip_prefix(own.as_slice()) {
                replace(&mut alternative.said, below, &setting.value);
            }
            changed = true;
        }
        changed
    }

    /// Finds two values of an axis that change the same settings; named cases may.
    pub(crate) fn alike(&self) -> Option<[&str; 2]> {
        let mut known = BTreeMap::new();
        let told = |change: &Edit| format!("{} = {}\n", change.path, node_text(&change.value));
        let mut others = self.alternatives.iter().filter(|_| !self.named).filter_map(|alternative| {
            let changes: String = alternative.changes.iter().map(told).collect();
            known.insert(changes, &alternative.label).map(|other| [other.as_str(), &alternative.label])
        });
        others.next()
    }

    /// Keeps the alternatives with these labels. Returns their settings if one is left.
    fn choose(&mut self, wanted: &[Toml], mistakes: &mut Vec<Mistake>) -> Vec<Edit> {
        for (item, label) in wanted.iter().map(|item| (item, item.label())) {
            if self.labels().all(|known| known != label) {
                let message = match self.named {
                    true => format!("the sweep has no case `{label}`"),
                    false => format!("the sweep does not run over `{label}`"),
                };
                mistakes.push(Mistake::new(item.place, &self.path, message).among(&label, self.labels()));
            }
        }
        let before = self.alternatives.len();
        self.alternatives.retain(|alternative| wanted.iter().any(|name| name.label() == alternative.label));
        self.partial |= self.alternatives.len() < before;
        match self.alternatives.as_slice() {
            [only] => only.changes.clone(),
            _ => Vec::new(),
        }
    }
}

/// Replaces a value, or one within a list or table, which need not repeat the member that its `kind` names. `false`
/// if it is not there.
fn replace(said: &mut Toml, steps: &[String], value: &Toml) -> bool {
    let Some((first, rest)) = steps.split_first() else {
        *said = value.clone();
        return true;
    };
    let at = match &mut said.content {
        Content::List(items) => {
            let at = first.parse().ok().filter(|at: &usize| *at < items.len());
            return at.is_some_and(|at| replace(&mut Arc::make_mut(items)[at], rest, value));
        }
        Content::Table(entries) => entries.iter_mut().find(|entry| entry.key == *first),
        _ => return false,
    };
    match at {
        Some(entry) => replace(&mut entry.node, rest, value),
        None => !rest.is_empty() && replace(said, rest, value),
    }
}

/// Reads `[sweep]`.
pub(crate) fn read_sweep(section: &TomlEntry, mistakes: &mut Vec<Mistake>) -> Vec<SweepAxis> {
    let mut node = section.node.clone().said_by(Origin::Sweep);
    let mode = node.take("mode");
    match mode.as_ref().map(|mode| mode.node.text()) {
        None | Some(Some("product")) => {
            let changes = read_overrides(&TomlEntry { node, ..section.clone() }, false, mistakes);
            changes.iter().filter_map(|change| axis(change, mistakes)).collect()
        }
        Some(Some("cases")) => read_cases(&node, section.place, mistakes),
        Some(other) => {
            let place = mode.as_ref().map_or(section.place, |mode| mode.node.place);
            let mistake = Mistake::new(place, "sweep.mode", "unknown sweep mode");
            mistakes.push(mistake.among(other.unwrap_or(""), ["product", "cases"]));
            Vec::new()
        }
    }
}

/// What is wrong with a path that differs between cases, as far as its first step says.
fn misplaced(change: &Edit) -> Option<Mistake> {
    let first = steps(&change.path).next().unwrap_or_default();
    if OF_ALL_CASES.contains(&first) {
        let message = format!("`{first}` is the same in all cases of a sweep");
        let mistake = Mistake::new(change.place, &change.path, message);
        return Some(mistake.allowing(format!("`{first}` at the top of the file")));
    }
    let known = keys(&ScenarioSettings::TABLE);
    let swept = known.iter().copied().filter(|key| !OF_ALL_CASES.contains(key));
    (!known.contains(&first)).then(|| unknown(change, first, swept))
}

/// Two values of an axis, with these labels, mean the same.
pub(crate) fn alike(axis: &SweepAxis, (earlier, later): (&str, &Alternative)) -> Mistake {
    let message = format!("the sweep runs over this value twice: `{}` is `{earlier}`", later.label);
    Mistake::new(later.place, &axis.path, message).allowing("a list of at least two values")
}

fn axis(change: &Edit, mistakes: &mut Vec<Mistake>) -> Option<SweepAxis> {
    if let Some(mistake) = misplaced(change) {
        mistakes.push(mistake);
        return None;
    }
    let mut wrong = |place, message: &str| {
        mistakes.push(Mistake::new(place, &change.path, message).allowing("a list of at least two values"));
    };
    let Content::List(items) = &change.value.content else {
        wrong(change.value.place, "a sweep runs over a list of values");
        return None;
    };
    if items.len() < 2 {
        wrong(
            change.value.place,
            "a sweep over fewer than two values has no effect; set the value in its section",
        );
        return None;
    }
    let axis = SweepAxis::over(change, items);
    for (index, alternative) in axis.alternatives.iter().enumerate() {
        if axis.labels().take(index).any(|label| label == alternative.label) {
            wrong(alternative.place, "the sweep runs over this value twice");
        }
    }
    Some(axis)
}

/// `[[sweep.case]]`: each has a name and its changes.
fn read_cases(node: &Toml, place: SourceSpan, mistakes: &mut Vec<Mistake>) -> Vec<SweepAxis> {
    let Some(Toml { content: Content::List(cases), .. }) = node.get("case") else {
        mistakes.push(Mistake::new(
            place,
            "sweep.case",
            "mode = \"cases\" needs at least one [[sweep.case]]",
        ));
        return Vec::new();
    };
    for entry in node.entries().iter().filter(|entry| entry.key != "case") {
        let message =
            format!("`{}` is outside a case; with mode = \"cases\" write it in a [[sweep.case]]", entry.key);
        mistakes.push(Mistake::new(entry.place, &entry.key, message));
    }
    let mut alternatives: Vec<Alternative> = Vec::new();
    for case in cases.iter() {
        let mut changes = case.clone();
        let name = changes.take("name").and_then(|entry| entry.node.text().map(str::to_owned));
        let label = name.unwrap_or_default();
        if label.is_empty() || alternatives.iter().any(|earlier| earlier.label == label) {
            mistakes.push(Mistake::new(case.place, "sweep.case.name", "every case needs a unique name"));
        }
        if label.trim() != label {
            let message = format!("the name {label:?} begins or ends with a blank");
            mistakes.push(Mistake::new(case.place, "sweep.case.name", message));
        }
        let entry = TomlEntry { key: "case".to_owned(), place: case.place, node: changes };
        let mut changes = read_overrides(&entry, true, mistakes);
        changes.retain(|change| {
            let mistake = misplaced(change);
            let is_good = mistake.is_none();
            mistakes.extend(mistake);
            is_good
        });
        alternatives.push(Alternative { label, place: case.place, said: case.clone(), changes });
    }
    vec![SweepAxis { path: "case".to_owned(), place, named: true, partial: false, alternatives }]
}

/// Reads a table of paths and values: `"traffic.trace.load" = 0.3`, quoted or as nested tables. With `choosing`, a
/// table may also choose a member of a family.
pub(crate) fn read_overrides(section: &TomlEntry, choosing: bool, mistakes: &mut Vec<Mistake>) -> Vec<Edit> {
    let Content::Table(entries) = &section.node.content else {
        let message = format!("found {}, expected a table of settings", section.node.described());
        mistakes.push(Mistake::new(section.node.place, &section.key, message));
        return Vec::new();
    };
    let mut changes = Vec::new();
    entries.iter().for_each(|entry| flatten(entry, "", choosing, &mut changes));
    changes
}

/// Splits a change into one for each setting that it names: a table with settings of a family's member chooses the
/// member, and settings that the table does not name stay unchanged.
pub(crate) fn settings_of(change: &Edit) -> Vec<Edit> {
    let entry = TomlEntry { key: change.path.clone(), place: change.place, node: change.value.clone() };
    let mut changes = Vec::new();
    flatten(&entry, "", true, &mut changes);
    changes
}

fn flatten(entry: &TomlEntry, prefix: &str, choosing: bool, changes: &mut Vec<Edit>) {
    let (place, node) = (entry.place, &entry.node);
    let mut path = join(prefix, &entry.key);
    let Some(inner) = Some(node.entries()).filter(|inner| !inner.is_empty()) else {
        return changes.push(Edit { path, place, value: node.clone() });
    };
    if let Some((member, of_kind)) = choosing.then(|| chosen_member(&path, node)).flatten() {
        let value = Toml { content: Content::Text(member.to_owned()), ..node.clone() };
        changes.push(Edit { path: path.clone(), place, value });
        path = if of_kind { join(&path, member) } else { path };
        let empty = |node: &Toml| matches!(&node.content, Content::Table(inner) if inner.is_empty());
        let said = inner.iter().filter(|entry| !(of_kind && entry.key == KIND_KEY || empty(&entry.node)));
        return said.for_each(|entry| flatten(entry, &path, choosing, changes));
    }
    inner.iter().for_each(|entry| flatten(entry, &path, choosing, changes));
}

/// The member of a family that a table chooses, as `{ pfabric = { … } }` or, then true, as `{ kind = "static", … }`.
fn chosen_member<'n>(path: &str, node: &'n Toml) -> Option<(&'n str, bool)> {
    family_at(&ScenarioSettings::TABLE, path)?;
    match (node.get(KIND_KEY).and_then(Toml::text), node.entries()) {
        (Some(kind), _) => Some((kind, true)),
        (None, [only]) => Some((only.key.as_str(), false)),
        _ => None,
    }
}

/// The items of a list, or the value itself.
fn items(value: &Toml) -> &[Toml] {
    match &value.content {
        Content::List(items) => items,
        _ => std::slice::from_ref(value),
    }
}

/// Applies a change of `[demo]` or `--set` to the axes, and returns what it sets in the file. A list replaces the
/// values of an axis. Of named cases, those that it names stay. With `choosing`, a value that is on the axis keeps
/// its label; any other value removes the axis.
pub(crate) fn narrow(
    axes: &mut Vec<SweepAxis>,
    change: &Edit,
    choosing: bool,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Edit> {
    let Some(at) = axes.iter().position(|axis| axis.path == change.path) else { return settings_of(change) };
    match items(&change.value) {
        names if axes[at].named => axes[at].choose(names, mistakes),
        [one] if choosing && axes[at].labels().any(|label| label == one.label()) => {
            axes[at].choose(std::slice::from_ref(one), mistakes)
        }
        several @ [_, _, ..] => {
            axes[at] = SweepAxis::over(change, several);
            Vec::new()
        }
        few => {
            axes.remove(at);
            let value = few.first().unwrap_or(&change.value).clone();
            settings_of(&Edit { value, ..change.clone() })
        }
    }
}

/// The rest of a path of the command line that starts with `sweep.`.
pub(crate) fn swept_path(change: &Edit) -> Option<&str> {
    change.path.strip_prefix(SWEPT)
}

/// A change of the command line whose path started with `sweep.`: chooses among the alternatives of an axis by its label, replaces
/// them by those of a list, or adds an axis, as if in `[sweep]`. Returns what it sets in the file.
pub(crate) fn swept(axes: &mut Vec<SweepAxis>, change: &Edit, mistakes: &mut Vec<Mistake>) -> Vec<Edit> {
    let known = axes.iter_mut().find(|axis| axis.path == change.path);
    let is_list = matches!(change.value.content, Content::List(_));
    match known {
        Some(known) if known.named || !is_list => return known.choose(items(&change.value), mistakes),
        Some(known) => axis(change, mistakes).into_iter().for_each(|axis| *known = axis),
        None => axes.extend(axis(change, mistakes)),
    }
    Vec::new()
}

/// The cross product of axes with this many alternatives: for each combination, the index on every axis; the first
/// axis varies slowest.
pub(crate) fn product(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut combinations = vec![Vec::new()];
    for size in sizes {
        let with = |combination: &Vec<usize>| {
            (0..*size).map(|index| [combination.as_slice(), &[index]].concat()).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    combinations
}

/// The number of cases that the axes make.
pub(crate) fn count(axes: &[SweepAxis]) -> usize {
    axes.iter().map(|axis| axis.alternatives.len()).fold(1, usize::saturating_mul)
}
