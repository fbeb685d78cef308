//! Resolves the cases of the sweep to which an expectation applies.
//!
//! Depends on axes, labels and recorded quantities; must not depend on other settings or results.

use super::limits::{in_unit_of_metrics, unit_of};
use super::question::Question;
use super::{Claim, Measurement, Metrics};
use crate::sweep::{SweepAxis, product};
use std::collections::BTreeMap;
use weft_expression::{Selector, Term, same};
use weft_mistake::Mistake;
use weft_mistake::SourceSpan;
use weft_mistake::node::Toml;
use weft_model::Recorded;

/// The sweep as an expectation sees it.
pub(crate) struct Swept<'a> {
    pub(crate) axes: &'a [SweepAxis],
    /// Path and value in words of every setting of the base scenario.
    pub(crate) settings: &'a BTreeMap<String, String>,
    pub(crate) metrics: Metrics,
    /// The tags of the traffic entries.
    pub(crate) tags: &'a [&'a str],
    /// What the runs record.
    pub(crate) recorded: &'a [Recorded],
    /// The line of a position in the file.
    pub(crate) line: &'a dyn Fn(SourceSpan) -> usize,
}

/// For each axis the chosen alternative, if one is chosen.
type Choice = Vec<Option<usize>>;

/// The claims of an expectation, one per combination of the axes it leaves open.
///
/// # Errors
/// A metric, path or value is unknown, or no case can match.
pub(crate) fn resolve(question: &Question, field: &Swept<'_>) -> Result<Vec<Claim>, Mistake> {
    let mut common: Choice = vec![None; field.axes.len()];
    for (path, value, place) in &question.selection {
        select(question, field, (path, value, *place), &mut common)?;
    }
    let mut choices = Vec::new();
    for term in question.terms() {
        if let Some(mistake) = unknown(question, term, &field.metrics) {
            return Err(mistake);
        }
        if let Some(mistake) = unknown_tag(question, &term.metric, field.tags) {
            return Err(mistake);
        }
        let absent = |part: &(Recorded, &str)| !field.recorded.contains(&part.0);
        if let Some((_, word)) = needed(&term.metric).filter(absent) {
            let message = format!("`{}` is not recorded, so it cannot be judged", term.metric);
            return Err(wrong(question, message).allowing(format!("add \"{word}\" to measure.record")));
        }
        choices.push(chosen(question, field, term, &common)?);
    }
    let bound = in_unit_of_metrics(question, &field.metrics)?;
    claims(&Question { bound, ..question.clone() }, field, &choices)
}

/// The first unknown metric of an expectation.
pub(crate) fn unknown_metric(question: &Question, metrics: &Metrics) -> Option<Mistake> {
    question.terms().find_map(|term| unknown(question, term, metrics))
}

fn unknown(question: &Question, term: &Term, metrics: &Metrics) -> Option<Mistake> {
    if (metrics.known)(&term.metric) {
        return None;
    }
    let mistake = wrong(question, format!("unknown metric `{}`", term.metric));
    let nearest = (metrics.nearest)(&term.metric);
    Some(Mistake { nearest, ..mistake.allowing("the names that `weft list metrics` shows") })
}

/// A metric of a traffic entry that does not exist, such as `fct.tag.web.mean`.
fn unknown_tag(question: &Question, metric: &str, tags: &[&str]) -> Option<Mistake> {
    let (_, rest) = metric.split_once(".tag.")?;
    let is =
        |tag: &&str| rest.strip_prefix(*tag).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let found = rest.split('.').next().unwrap_or(rest);
    let mistake = || wrong(question, format!("`{metric}`: there is no traffic entry `{found}`"));
    (!tags.iter().any(is)).then(|| mistake().among(found, tags.iter().copied()))
}

/// The part of the record that a metric is computed from, and its word; `None` if it is always recorded.
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
    field: &Swept<'_>,
    (path, value, place): (&str, &Toml, SourceSpan),
    choice: &mut Choice,
) -> Result<(), Mistake> {
    let label = value.label();
    if let Some(axis) = field.axes.iter().position(|axis| axis.path == path) {
        let found = field.axes[axis].labels().position(|known| same(known, &label));
        let message = || format!("`{path}` is never `{label}` in the sweep: the expectation can never hold");
        let mistake = || Mistake::new(value.place, &question.path, message());
        choice[axis] = Some(found.ok_or_else(|| mistake().among(&label, field.axes[axis].labels()))?);
        return Ok(());
    }
    match field.settings.get(path) {
        None => {
            let mistake = Mistake::new(place, &question.path, format!("`{path}` is not a setting"));
            let paths = field.axes.iter().map(|axis| axis.path.as_str());
            Err(mistake.among(path, paths))
        }
        Some(known) if same(known, &label) => Ok(()),
        Some(known) => {
            let message = format!("`{path}` is `{known}` in every case: the expectation can never hold");
            Err(Mistake::new(value.place, &question.path, message))
        }
    }
}

/// The common choice, narrowed by a term's own selectors.
fn chosen(question: &Question, field: &Swept<'_>, term: &Term, common: &Choice) -> Result<Choice, Mistake> {
    let mut choice = common.clone();
    for selector in &term.selectors {
        let (axis, alternative) = locate(question, field, selector)?;
        if choice[axis].is_some_and(|earlier| earlier != alternative) {
            let message = format!("`{}` contradicts `where`: it can never hold", selector.value());
            return Err(wrong(question, message));
        }
        choice[axis] = Some(alternative);
    }
    Ok(choice)
}

/// The axis and alternative that a selector means.
fn locate(question: &Question, field: &Swept<'_>, selector: &Selector) -> Result<(usize, usize), Mistake> {
    let mut found = Vec::new();
    for (index, axis) in field.axes.iter().enumerate() {
        let picked = axis.labels().position(|label| selector.picks(&axis.path, label));
        found.extend(picked.map(|at| (index, at)));
    }
    let value = selector.value();
    match found.as_slice() {
        [one] => Ok(*one),
        [] => Err(lost(question, field, selector)),
        _ => {
            let message = format!("several settings take the value `{value}`; write path = {value}");
            let paths = found.iter().map(|(axis, _)| field.axes[*axis].path.as_str());
            Err(wrong(question, message).among(value, paths))
        }
    }
}

/// The mistake for a selector that matches nothing: its axis does not exist, or has no such value.
fn lost(question: &Question, field: &Swept<'_>, selector: &Selector) -> Mistake {
    let about: Vec<&SweepAxis> = field.axes.iter().filter(|axis| selector.is_about(&axis.path)).collect();
    match selector.path().filter(|_| about.is_empty()) {
        Some(path) => {
            let message = format!("the sweep does not vary `{path}`");
            wrong(question, message).among(path, field.axes.iter().map(|axis| axis.path.as_str()))
        }
        None => {
            let value = selector.value();
            let message = format!("no case of the sweep has the value `{value}`");
            wrong(question, message).among(value, about.into_iter().flat_map(SweepAxis::labels))
        }
    }
}

fn claims(question: &Question, field: &Swept<'_>, choices: &[Choice]) -> Result<Vec<Claim>, Mistake> {
    let decided = |choice: &Choice, axis: usize| choice[axis].is_some();
    for (axis, open) in field.axes.iter().enumerate() {
        let count = choices.iter().filter(|choice| decided(choice, axis)).count();
        if count != 0 && count != choices.len() {
            let message = format!("either every metric gives `{}`, or none does", open.path);
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

fn claim(question: &Question, field: &Swept<'_>, cases: &[Vec<usize>]) -> Claim {
    let number = |case: &Vec<usize>| {
        field.axes.iter().zip(case).fold(0, |number, (axis, at)| number * axis.alternatives.len() + at)
    };
    let measured = |(term, case): (&Term, &Vec<usize>)| {
        (term.clone(), Measurement { metric: term.metric.clone(), case: number(case) })
    };
    let together = |(axis, setting): (usize, &SweepAxis)| {
        let at = cases[0][axis];
        let same = cases.iter().all(|case| case[axis] == at);
        same.then(|| format!("{} = {}", setting.path, setting.alternatives[at].label))
    };
    let at: Vec<String> = field.axes.iter().enumerate().filter_map(together).collect();
    let subject = &question.text;
    Claim {
        text: if at.is_empty() { subject.clone() } else { format!("{subject} at {}", at.join(", ")) },
        expression: question.expression.clone(),
        measured: question.terms().zip(cases).map(measured).collect(),
        bound: question.bound,
        unit: unit_of(question, &field.metrics),
        reduced: question.reduced,
        line: (field.line)(question.place),
    }
}
