//! `[sweep]` and `[demo]`: which settings take which values, and the cases that follow.
//!
//! Works on the file's tree; decoding every case checks the values.

use crate::overlay::{Edit, family_at};
use weft_codec::{KIND_KEY, join};
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_mistake::node::{Content, Origin, Toml, TomlEntry};
use weft_model::ScenarioSettings;

/// More cases than this are assumed to be a typing error.
pub(crate) const MOST_CASES: usize = 10_000;

/// The prefix of a `--set` path that adds an axis.
pub(crate) const SWEPT: &str = "sweep.";

/// A setting (or, with `mode = "cases"`, the case) that takes several values.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepAxis {
    /// The path of the setting; `case` for named cases.
    pub path: String,
    pub(crate) place: SourceSpan,
    /// Named cases, not values of one setting.
    pub(crate) named: bool,
    pub(crate) alternatives: Vec<Alternative>,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Alternative {
    pub(crate) label: String,
    pub(crate) place: SourceSpan,
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
            changes: vec![Edit { value: item.clone(), ..change.clone() }],
        };
        let alternatives = items.iter().map(alternative).collect();
        SweepAxis { path: change.path.clone(), place: change.place, named: false, alternatives }
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

fn axis(change: &Edit, mistakes: &mut Vec<Mistake>) -> Option<SweepAxis> {
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
        let entry = TomlEntry { key: "case".to_owned(), place: case.place, node: changes };
        alternatives.push(Alternative {
            label,
            place: case.place,
            changes: read_overrides(&entry, true, mistakes),
        });
    }
    vec![SweepAxis { path: "case".to_owned(), place, named: true, alternatives }]
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
        let settings = inner.iter().filter(|entry| !of_kind || entry.key != KIND_KEY);
        return settings.for_each(|entry| flatten(entry, &path, choosing, changes));
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

/// Keeps of named cases those that a change names.
fn select(axis: &mut SweepAxis, change: &Edit, mistakes: &mut Vec<Mistake>) {
    let wanted = match &change.value.content {
        Content::List(items) => items.as_slice(),
        _ => std::slice::from_ref(&change.value),
    };
    for name in wanted.iter().map(Toml::label).filter(|name| axis.labels().all(|label| label != name)) {
        let message = format!("the sweep has no case `{name}`");
        mistakes.push(Mistake::new(change.value.place, &change.path, message).among(&name, axis.labels()));
    }
    axis.alternatives.retain(|alternative| wanted.iter().any(|name| name.label() == alternative.label));
}

/// Applies a change of `[demo]` or `--set` to the axes: a list replaces the values of an axis; a single value removes
/// the axis and is returned, to be applied to the file like any other change. Of named cases, those that it names stay.
pub(crate) fn narrow(axes: &mut Vec<SweepAxis>, change: &Edit, mistakes: &mut Vec<Mistake>) -> Option<Edit> {
    let Some(at) = axes.iter().position(|axis| axis.path == change.path) else { return Some(change.clone()) };
    if axes[at].named {
        select(&mut axes[at], change, mistakes);
        return None;
    }
    match &change.value.content {
        Content::List(items) if items.len() > 1 => {
            axes[at] = SweepAxis::over(change, items);
            None
        }
        content => {
            axes.remove(at);
            let value = match content {
                Content::List(items) if items.len() == 1 => items[0].clone(),
                _ => change.value.clone(),
            };
            Some(Edit { value, ..change.clone() })
        }
    }
}

/// A change of the command line whose path starts with `sweep.`: adds an axis or replaces the values of one, as if in
/// `[sweep]`; `sweep.case` chooses among named cases. Returns any other change.
pub(crate) fn swept(axes: &mut Vec<SweepAxis>, change: &Edit, mistakes: &mut Vec<Mistake>) -> Option<Edit> {
    let Some(path) = change.path.strip_prefix(SWEPT) else { return Some(change.clone()) };
    let change = Edit { path: path.to_owned(), ..change.clone() };
    if let Some(named) = axes.iter_mut().find(|axis| axis.named && axis.path == path) {
        select(named, &change, mistakes);
        return None;
    }
    if let Some(axis) = axis(&change, mistakes) {
        match axes.iter_mut().find(|known| known.path == axis.path) {
            Some(known) => *known = axis,
            None => axes.push(axis),
        }
    }
    None
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

/// How many cases the axes make.
pub(crate) fn count(axes: &[SweepAxis]) -> usize {
    axes.iter().map(|axis| axis.alternatives.len()).fold(1, usize::saturating_mul)
}
