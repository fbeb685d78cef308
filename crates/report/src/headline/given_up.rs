//! The sentence on schemes that give flows up: which deadlines they meet, because their mean completion times say nothing.

use crate::fates::CaseDeadlines;
use crate::sweep::{Sweep, given_up};
use crate::text::percent;

use super::MOST_NAMED;

/// Names the schemes that give up too many flows to be ranked by their means, and the deadlines met by a few schemes; empty if there are none.
pub(crate) fn of_sweep(sweep: &Sweep, at: usize) -> String {
    let schemes = 0..sweep.schemes.len();
    let unranked: Vec<usize> = schemes.filter(|scheme| !sweep.is_ranked(*scheme, at)).collect();
    let Some(first) = unranked.first() else { return String::new() };
    let name = |scheme: &usize| sweep.schemes[*scheme].as_str();
    let met = |scheme: &usize| {
        let found = CaseDeadlines::of(&sweep.case(*scheme, at))?;
        Some(format!("{} {}", name(scheme), percent(found.counts.met_share())))
    };
    let who = match unranked.as_slice() {
        [one] => {
            let share = percent(given_up(&sweep.case(*one, at)));
            format!("{} gives up {share} of its flows, so its mean FCT is", name(one))
        }
        few if few.len() <= MOST_NAMED => {
            let names: Vec<&str> = few.iter().map(name).collect();
            format!(
                "{} give up more than 1\u{202f}% of their flows, so their mean FCTs are",
                names.join(", ")
            )
        }
        many => format!(
            "{} schemes give up more than 1\u{202f}% of their flows, so their mean FCTs are",
            many.len()
        ),
    };
    let few = sweep.schemes.len() <= MOST_NAMED + 1;
    let shown = (0..sweep.schemes.len()).filter(|scheme| few || [0, *first].contains(scheme));
    let met: Vec<String> = shown.filter_map(|scheme| met(&scheme)).collect();
    format!(" {who} not compared. Deadlines met: {}.", met.join(", "))
}
