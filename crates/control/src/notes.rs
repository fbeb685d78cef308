//! What the models of cases leave out, in words. Must not depend on what a study finds.

use weft_draw::text::number;

use crate::subject::Subject;

/// Notes on the models of these cases over time, each once.
pub(crate) fn of_runs<'a>(subjects: impl Iterator<Item = &'a Subject> + Clone) -> Vec<String> {
    let whole = whole_round_trips(subjects.clone().filter_map(Subject::unsubtracted));
    once(subjects.flat_map(|subject| subject.omitted.iter().cloned()).chain(whole))
}

/// Notes on margins: also what they leave out because they have no time in which anything could be random.
pub(crate) fn of_margins<'a>(subjects: impl Iterator<Item = &'a Subject> + Clone) -> Vec<String> {
    let timeless = subjects.clone().flat_map(|subject| jittered(subject).into_iter().chain(apart(subject)));
    once(of_runs(subjects.clone()).into_iter().chain(timeless))
}

fn once(notes: impl Iterator<Item = String>) -> Vec<String> {
    let mut notes: Vec<String> = notes.collect();
    notes.sort();
    notes.dedup();
    notes
}

fn jittered(subject: &Subject) -> Option<String> {
    (subject.jitter.most > 0.0).then(|| {
        format!(
            "Margins leave out `feedback_jitter`, here up to {} us: `weft fluid run` has it.",
            number(subject.jitter.most * 1e6)
        )
    })
}

fn apart(subject: &Subject) -> Option<String> {
    subject.integrates_at_hosts().then(|| {
        "The rates of hosts with an integrator stay as far apart as they start (CoNEXT 2016, theorem 6); a margin is that of \
         equal rates."
            .to_owned()
    })
}

/// The note on thresholds that contain these times in seconds beside queueing; `None` without such thresholds.
fn whole_round_trips(unsubtracted: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let least = unsubtracted.clone().reduce(f64::min)?;
    let most = unsubtracted.fold(least, f64::max);
    let [from, to] = [least, most].map(|time| format!("{:.2}", time * 1e6));
    let times = if from == to { to } else { format!("{from} to {to}") };
    Some(format!(
        "The thresholds refer to whole round trips, and {times} us of these are not queueing; `base_rtt` subtracts them."
    ))
}
