//! Which queue lengths a forwarding engine sees. A packet counts from the instant its enqueue completes until its last
//! bit has left (DRILL section 2; the timing of "completes" is a setting, see [`crate::settings::Visibility`]).

use std::collections::VecDeque;

use weft_core::{Header, Rate, Span, Time};

use crate::settings::{SwitchSettings, Visibility};
use crate::switch::SwitchSite;

/// A packet that has been decided but is not yet visible.
#[derive(Clone, Copy, Debug)]
struct Pending {
    visible_at: Time,
    slot: u32,
    wire: u16,
}

/// Queue lengths as engines see them, one slot per (port, queue).
#[derive(Clone, Debug)]
pub(crate) struct Visible {
    /// Signed, because a packet on an idle port may leave before its enqueue counts as complete. With one delay for
    /// all, packets become visible in the order in which they leave, and the positive part is exact; where inputs of
    /// different rates meet, such a packet hides its own size of the others until its delay is over.
    bytes: Vec<i64>,
    /// Slots that anybody looks at.
    watched: Vec<bool>,
    pending: VecDeque<Pending>,
    tracked: bool,
    /// By input port: how long after its decision a packet becomes visible.
    after: Vec<Span>,
}

/// How long after its decision a packet becomes visible, by input port: what the visibility rule gives for its line rate.
pub(crate) fn delays(settings: &SwitchSettings, site: &SwitchSite) -> Vec<Span> {
    let full = |rate: &Rate| rate.time_for(site.full_packet);
    let ports = site.rates.len() as u64;
    let engines = u64::from(settings.engines).min(ports);
    let delay = |rate: &Rate| match settings.visibility {
        Visibility::Instant => Span::ZERO,
        Visibility::Store => full(rate),
        Visibility::EngineSlot => full(rate) * engines / ports,
    };
    site.rates.iter().map(delay).collect()
}

impl Visible {
    /// Nothing queued. When `tracked` is false nobody looks, and nothing is kept.
    pub(crate) fn new(slots: usize, tracked: bool, after: Vec<Span>) -> Visible {
        let slots = if tracked { slots } else { 0 };
        Visible {
            bytes: vec![0; slots],
            watched: vec![false; slots],
            pending: VecDeque::new(),
            tracked,
            after,
        }
    }

    /// From now on somebody looks at a slot, which holds so many bytes; all of them count at once.
    pub(crate) fn watch(&mut self, slot: usize, held: u64) {
        if self.tracked && !self.watched[slot] {
            self.watched[slot] = true;
            self.bytes[slot] = held as i64;
        }
    }

    /// A packet was put into `slot` at `now`, by the input that its header names.
    #[inline]
    pub(crate) fn joined(&mut self, now: Time, header: &Header, slot: usize) {
        if self.tracked && self.watched[slot] {
            self.enqueued(now, self.after[header.ingress.index()], slot, header.wire);
        }
    }

    /// A packet was put into `slot`, which is watched, at `now` and becomes visible `after` that; with no delay even to
    /// decisions of the same instant. Ports of different rates have different delays; the list is kept sorted, and short
    /// even if nobody ever takes a decision.
    #[inline]
    fn enqueued(&mut self, now: Time, after: Span, slot: usize, wire: u16) {
        self.advance(now);
        if after == Span::ZERO {
            self.bytes[slot] += i64::from(wire);
            return;
        }
        let pending = Pending { visible_at: now + after, slot: slot as u32, wire };
        match self.pending.back() {
            Some(last) if last.visible_at > pending.visible_at => self.overtake(pending),
            _ => self.pending.push_back(pending),
        }
    }

    #[cold]
    fn overtake(&mut self, pending: Pending) {
        let behind =
            self.pending.iter().rev().take_while(|other| other.visible_at > pending.visible_at).count();
        self.pending.insert(self.pending.len() - behind, pending);
    }

    /// The last bit of a packet of `slot` has left, or the packet was thrown away.
    #[inline]
    pub(crate) fn left(&mut self, slot: usize, wire: u16) {
        if self.tracked && self.watched[slot] {
            self.bytes[slot] -= i64::from(wire);
        }
    }

    /// Makes visible what was completely enqueued before `now`; at `now` itself decisions still read the old state.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        while let Some(first) = self.pending.front().filter(|first| first.visible_at < now) {
            self.bytes[first.slot as usize] += i64::from(first.wire);
            self.pending.pop_front();
        }
    }

    /// The visible bytes of a slot.
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.bytes[slot].max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(slots: usize) -> Visible {
        let mut visible = Visible::new(slots, true, Vec::new());
        (0..slots).for_each(|slot| visible.watch(slot, 0));
        visible
    }

    #[test]
    fn a_packet_counts_strictly_after_its_enqueue_and_until_it_left() {
        let mut visible = watched(2);
        visible.enqueued(Time(0), Span(10), 1, 100);
        visible.advance(Time(10));
        assert_eq!(visible.get(1), 0, "decisions at the same instant come first");
        visible.advance(Time(11));
        assert_eq!((visible.get(0), visible.get(1)), (0, 100));
        visible.left(1, 100);
        assert_eq!(visible.get(1), 0);
    }

    #[test]
    fn what_a_slot_holds_when_somebody_begins_to_look_counts_until_it_leaves() {
        let mut visible = Visible::new(1, true, Vec::new());
        visible.left(0, 500);
        visible.watch(0, 300);
        visible.watch(0, 0);
        visible.left(0, 100);
        assert_eq!(visible.get(0), 200);
    }

    #[test]
    fn the_list_stays_short_without_decisions() {
        let mut visible = watched(1);
        for n in 0..1_000 {
            visible.enqueued(Time(10 * n), Span(30), 0, 100);
            visible.left(0, 100);
        }
        assert!(visible.pending.len() <= 4, "{}", visible.pending.len());
    }

    #[test]
    fn delays_of_different_inputs_overtake_each_other() {
        let mut visible = watched(3);
        for (slot, delay) in [(0, 40), (1, 10), (2, 20)] {
            visible.enqueued(Time(0), Span(delay), slot, 1);
        }
        let mut seen = |now| {
            visible.advance(Time(now));
            [0, 1, 2].map(|slot| visible.get(slot))
        };
        assert_eq!(seen(11), [0, 1, 0]);
        assert_eq!(seen(21), [0, 1, 1]);
        assert_eq!(seen(41), [1, 1, 1]);
    }

    #[test]
    fn a_packet_that_left_before_it_was_visible_never_counts() {
        let mut visible = watched(1);
        visible.enqueued(Time(0), Span(100), 0, 84);
        visible.left(0, 84);
        visible.advance(Time(50));
        assert_eq!(visible.get(0), 0);
        visible.advance(Time(101));
        assert_eq!(visible.get(0), 0);
    }
}
