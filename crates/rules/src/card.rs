//! Rules on network cards.

use crate::levels::exactly;
use crate::{Facts, Finding};
use weft_core::Bytes;
use weft_model::{CardInUse, cards};
use weft_transport::card::{CardPlan, CardSettings};
use weft_transport::{Transport, TransportSettings};

/// The path of a setting of a card, at the level that chose it.
fn path(own: &CardInUse, setting: &str) -> String {
    let level = own.levels.last().map(|level| format!("{level}.")).unwrap_or_default();
    format!("{level}card{setting}")
}

/// A card with a queue of its own: its limit and the threshold of its marks.
type QueuedCard = (CardInUse, Option<Bytes>, Option<Bytes>);

/// Cards with a queue of their own, if the network is known.
fn in_order(facts: &Facts<'_>) -> Vec<QueuedCard> {
    let all = facts.graph.map(|graph| cards(facts.settings, graph).all).unwrap_or_default();
    let queue = |own: CardInUse| match own.card.plan() {
        CardPlan::Turns => None,
        CardPlan::InOrder { limit, mark_beyond, .. } => Some((own, limit, mark_beyond)),
    };
    all.into_iter().filter_map(queue).collect()
}

/// Whether some card sets congestion marks.
pub(crate) fn some_card_marks(facts: &Facts<'_>) -> bool {
    in_order(facts).iter().any(|(.., threshold)| threshold.is_some())
}

/// A queue for all classes cannot hold back one of them, and the traffic that fills it must end.
pub(crate) fn queues_of_cards_hold_what_comes(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let pauses = facts.switch.pfc.is_on() || !facts.settings.pause_storm.is_empty();
    let endless = matches!(facts.stack, TransportSettings::Udp(udp) if udp.rate.is_none());
    let full = Bytes(u64::from(Transport::new(facts.stack).largest_wire()));
    for (own, limit, _) in in_order(facts) {
        let name = own.card.name();
        if pauses {
            let message =
                format!("a card with one queue cannot pause a single class: {name} needs switch.pfc off");
            found.push(exactly(&path(&own, ""), message, false));
        }
        if endless {
            let message =
                "datagrams without a rate would all enter the queue at once: give transport.udp.rate";
            found.push(exactly(&path(&own, ""), message.to_owned(), false));
        }
        if let Some(limit) = limit.filter(|limit| *limit < full) {
            let message = format!("no packet of {full} fits into a queue of {limit}");
            found.push(exactly(&path(&own, &format!(".{name}.limit")), message, false));
        }
    }
}

/// A card that marks needs packets that can be marked, and a threshold below its limit.
pub(crate) fn marks_of_cards_are_read(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let read = facts.stacks.iter().any(|stack| stack.transport.stack().reads_marks());
    for (own, limit, threshold) in in_order(facts) {
        let Some(threshold) = threshold else { continue };
        let name = own.card.name();
        if !read {
            let (message, setting) = match own.card {
                CardSettings::MarkingCard(_) => ("give card = \"fifo\"", String::new()),
                _ => ("remove it", format!(".{name}.threshold")),
            };
            let message = format!("no transport here reads congestion marks: {message}");
            found.push(exactly(&path(&own, &setting), message, false));
        }
        if limit.is_some_and(|limit| limit <= threshold) {
            let message = "the queue never exceeds its limit, so nothing would be marked";
            found.push(exactly(&path(&own, &format!(".{name}.threshold")), message.to_owned(), false));
        }
    }
}
