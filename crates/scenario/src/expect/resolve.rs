//! Which cases of the sweep an expectation speaks of.
//!
//! Knows axes, labels and what is recorded; no other settings and no results.

use super::expression::{Selector, Term};
use super::{Bound, Claim, Measurement, Metrics};
use crate::mistake::Mistake;
use crate::model::Recorded;
use crate::node::Node;
use crate::source::Place;
use crate::sweep::{Axis, product};
use std::collections::BTreeMap;

/// An expectation as written.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) place: Place,
    pub(crate) subject: Place,
    pub(crate) terms: Vec<Term>,
    pub(crate) selection: Vec<(String, Node, Place)>,
    pub(crate) bound: Bound,
}

/// What the expectation is resolved against.
pub(crate) struct Field<'a> {
    pub(crate) axes: &'a [Axis],
    /// Path and value in words of every setting of the base scenario.
    pub(crate) settings: &'a BTreeMap<String, String>,
    pub(crate) metrics: Metrics,
    /// What the runs write down.
    pub(crate) recorded: &'a [Recorded],
    /// The line of a place.
    pub(crate) line: &'a dyn Fn(Place) -> usize,
}

/// For each axis the chosen alternative, if one is chosen.
type Choice = Vec<Option<usize>>;

/// The claims that an expectation makes, one for every combination of the axes it leaves open.
///
/// # Errors
/// A metric, path or value is unknown, or no case can match.
pub(crate) fn resolve(question: &Question, field: &Field<'_>) -> Result<Vec<Claim>, Mistake> {
    let mut common: Choice = vec![None; field.axes.len()];
    for (path, value, place) in &question.selection {
        select(question, field, (path, value, *place), &mut common)?;
    }
    let mut choices = Vec::new();
    for term in &question.terms {
        if let Some(mistake) = unknown(question, term, &field.metrics) {
            return Err(mistake);
        }
        let absent = |part: &(Recorded, &str)| !field.recorded.contains(&part.0);
        if let Some((_, word)) = needed(&term.metric).filter(absent) {
            let message = format!("`{}` is not recorded: it can never be judged", term.metric);
            return Err(wrong(question, message).allowing(format!("add \"{word}\" to measure.record")));
        }
        choices.push(chosen(question, field, term, &common)?);
    }
    claims(question, field, &choices)
}

/// The first metric of an expectation that is none.
pub(crate) fn unknown_metric(question: &Question, metrics: &Metrics) -> Option<Mistake> {
    question.terms.iter().find_map(|term| unknown(question, term, metrics))
}

fn unknown(question: &Question, term: &Term, metrics: &Metrics) -> Option<Mistake> {
    if (metrics.known)(&term.metric) {
        return None;
    }
    let mistake = wrong(question, format!("unknown metric `{}`", term.metric));
    let nearest = (metrics.nearest)(&term.metric);
    Some(Mistake { nearest, ..mistake.allowing("the names that `weft list metrics` shows") })
}

/// The part of the record that a metric is computed from, and its word; nothing for what is always known.
fn needed(metric: &str) -> Option<(Recorded, &'static str)> {
    match metric.split_once('.') {
        Some(("reordering", _)) => Some((Recorded::Reordering, "reordering")),
        Some(("queueing", _)) => Some((Recorded::Hops, "hops")),
        Some(("imbalance", _)) => Some((Recorded::Queues, "queues")),
        Some(("queue", what)) if what != "peak" => Some((Recorded::Queues, "queues")),
        Some(("drops", what)) if !["total", "bytes", "share"].contains(&what) => {
            Some((Recorded::Drops, "drops"))
        }
        _ => None,
    }
}

fn wrong(question: &Question, message: String) -> Mistake {
    Mistake::new(question.subject, &question.path, message)
}

fn select(
    question: &Question,
    field: &Field<'_>,
    (path, value, place): (&str, &Node, Place),
    choice: &mut Choice,
) -> Result<(), Mistake> {
    let label = value.label();
    if let Some(axis) = field.axes.iter().position(|axis| axis.path == path) {
        let found = field.axes[axis].labels().position(|known| same(known, &label));
        let message =
            || format!("`{path}` is never `{label}` in the sweep: the expectation can never be met");
        let mistake = || Mistake::new(value.place, &question.path, message());
        choice[axis] = Some(found.ok_or_else(|| mistake().among(&label, field.axes[axis].labels()))?);
        return Ok(());
    }
    match field.settings.get(path) {
        None => {
            let mistake = Mistake::new(place, &question.path, format!("`{path}` names no setting"));
            let paths = field.axes.iter().map(|axis| axis.path.as_str());
            Err(mistake.among(path, paths))
        }
        Some(known) if same(known, &label) => Ok(()),
        Some(known) => {
            let message = format!("`{path}` is `{known}` in every case: the expectation can never be met");
            Err(Mistake::new(value.place, &question.path, message))
        }
    }
}

/// Equal words, or equal numbers.
fn same(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// The common choice narrowed by a term's own selectors.
fn chosen(question: &Question, field: &Field<'_>, term: &Term, common: &Choice) -> Result<Choice, Mistake> {
    let mut choice = common.clone();
    for selector in &term.selectors {
        let (axis, alternative) = locate(question, field, selector)?;
        if choice[axis].is_some_and(|earlier| earlier != alternative) {
            let message = format!("`{}` contradicts `where`: it can never be met", selector.value);
            return Err(wrong(question, message));
        }
        choice[axis] = Some(alternative);
    }
    Ok(choice)
}

/// The axis and alternative that a selector means.
fn locate(question: &Question, field: &Field<'_>, selector: &Selector) -> Result<(usize, usize), Mistake> {
    let wanted = |axis: &Axis| selector.path.as_ref().is_none_or(|path| *path == axis.path);
    let mut found = Vec::new();
    for (index, axis) in field.axes.iter().enumerate().filter(|(_, axis)| wanted(axis)) {
        found.extend(axis.labels().position(|label| same(label, &selector.value)).map(|at| (index, at)));
    }
    match found.as_slice() {
        [one] => Ok(*one),
        [] => {
            let labels = field.axes.iter().filter(|axis| wanted(axis)).flat_map(Axis::labels);
            let message = format!("no case of the sweep has the value `{}`", selector.value);
            Err(wrong(question, message).among(&selector.value, labels))
        }
        _ => {
            let message = format!("`{0}` is a value of several settings; write path = {0}", selector.value);
            Err(wrong(question, message))
        }
    }
}

fn claims(question: &Question, field: &Field<'_>, choices: &[Choice]) -> Result<Vec<Claim>, Mistake> {
    let decided = |choice: &Choice, axis: usize| choice[axis].is_some();
    for (axis, open) in field.axes.iter().enumerate() {
        let count = choices.iter().filter(|choice| decided(choice, axis)).count();
        if count != 0 && count != choices.len() {
            let message = format!("both metrics must say which `{}` they mean", open.path);
            return Err(wrong(question, message));
        }
    }
    let open = |axis: &usize| choices.iter().all(|choice| choice[*axis].is_none());
    let sizes = field.axes.iter().map(|axis| axis.alternatives.len());
    let sizes: Vec<usize> =
        sizes.enumerate().map(|(axis, size)| if open(&axis) { size } else { 1 }).collect();
    let full = |choice: &Choice, combination: &[usize]| -> Vec<usize> {
        choice.iter().zip(combination).map(|(chosen, open)| chosen.unwrap_or(*open)).collect()
    };
    let claim_at = |combination: Vec<usize>| {
        claim(question, field, &choices.iter().map(|choice| full(choice, &combination)).collect::<Vec<_>>())
    };
    Ok(product(&sizes).into_iter().map(claim_at).collect())
}

fn claim(question: &Question, field: &Field<'_>, cases: &[Vec<usize>]) -> Claim {
    let number = |case: &Vec<usize>| {
        field.axes.iter().zip(case).fold(0, |number, (axis, at)| number * axis.alternatives.len() + at)
    };
    let measured = |index: usize| Measurement {
        metric: question.terms[index].metric.clone(),
        case: number(&cases[index]),
    };
    let words = |index: usize| {
        let own: Vec<&str> = question.terms[index].selectors.iter().map(|s| s.value.as_str()).collect();
        let metric = &question.terms[index].metric;
        if own.is_empty() { metric.clone() } else { format!("{metric}({})", own.join(", ")) }
    };
    let together = |(axis, setting): (usize, &Axis)| {
        let at = cases[0][axis];
        let same = cases.iter().all(|case| case[axis] == at);
        same.then(|| format!("{} = {}", setting.path, setting.alternatives[at].label))
    };
    let at: Vec<String> = field.axes.iter().enumerate().filter_map(together).collect();
    let subject = (0..cases.len()).map(words).collect::<Vec<_>>().join(" / ");
    Claim {
        text: if at.is_empty() { subject } else { format!("{subject} at {}", at.join(", ")) },
        numerator: measured(0),
        denominator: (cases.len() > 1).then(|| measured(1)),
        bound: question.bound,
        line: (field.line)(question.place),
    }
}
