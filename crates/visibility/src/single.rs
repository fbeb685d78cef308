//! The queue lengths that a forwarding engine sees. A packet counts from the instant its enqueue completes until its
//! last bit has left (DRILL section 2; the timing of "completes" is a setting of the switch).
//!
//! An engine handles one packet at a time: when it takes the next, it has finished the previous one, and sees it. It
//! does not see what other engines decided within the last per-packet time.

use weft_core::{PortId, Ring, Span, Time};

/// A packet that has been forwarded but is not yet visible.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    visible_at: Time,
    slot: u32,
    wire: u16,
    engine: u16,
}

/// Queue lengths that engines see, one slot per (port, queue).
#[derive(Clone, Debug)]
pub struct Visible {
    /// Bytes that every engine sees. Signed, because a packet on an idle port may leave before its enqueue counts as
    /// complete. If all inputs have one delay, packets become visible in the order in which they leave, and the
    /// positive part is exact; where inputs of different rates meet, such a packet hides as many bytes of the others
    /// until its delay is over.
    bytes: Vec<i64>,
    /// Bytes that only the deciding engine sees, by engine and slot. Empty with one engine, whose decisions count in
    /// `bytes` at once.
    own: Vec<u32>,
    /// Slots whose length engines read.
    watched: Vec<bool>,
    pending: Ring<Pending>,
    tracked: bool,
    sight: Insight,
    read: bool,
}

/// How engines see decisions.
#[derive(Clone, Debug)]
pub struct Insight {
    /// By input port: the time after its decision at which a packet becomes visible to all.
    after: Vec<Span>,
    /// Number of engines that see their own decisions earlier; 0 if none.
    engines: usize,
}

impl Insight {
    /// The time after its decision at which a packet of an input becomes visible to all.
    pub(crate) fn after(&self, input: PortId) -> Span {
        self.after[input.index()]
    }

    /// The engine that sees a packet of an input at once, if any does.
    pub(crate) fn at_once(&self, input: PortId) -> Option<usize> {
        (self.engines > 0).then(|| input.index() % self.engines)
    }

    /// The difference between the delays of inputs.
    pub(crate) fn spread(&self) -> Span {
        let (least, most) = (self.after.iter().min(), self.after.iter().max());
        least.zip(most).map_or(Span::ZERO, |(least, most)| Span(most.0 - least.0))
    }

    /// Packets of each input become visible to all engines strictly after the given time; if `own_at_once`, the engine
    /// that decided, numbered as the input modulo the number of inputs, sees them immediately.
    #[must_use]
    pub fn of_inputs(after: Vec<Span>, own_at_once: bool) -> Insight {
        let engines = if own_at_once { after.len() } else { 0 };
        Insight::of_engines(after, engines)
    }

    /// The same for a number of engines that see their own decisions at once; 0 if none does.
    #[must_use]
    pub fn of_engines(after: Vec<Span>, engines: usize) -> Insight {
        Insight { after, engines }
    }
}

impl Visible {
    /// The state of empty queues. Lengths are kept only if engines read them and some packets are hidden from them.
    #[must_use]
    pub fn new(slots: usize, read: bool, sight: Insight) -> Visible {
        let tracked = read && sight.after.iter().any(|after| *after > Span::ZERO);
        let slots = if tracked { slots } else { 0 };
        let own = vec![0; slots * sight.engines];
        Visible {
            bytes: vec![0; slots],
            own,
            watched: vec![false; slots],
            pending: Ring::new(),
            tracked,
            sight,
            read,
        }
    }

    /// Whether engines read lengths at all.
    #[must_use]
    #[inline]
    pub fn is_read(&self) -> bool {
        self.read
    }

    /// Whether lengths are kept here, because engines do not see everything in the queues.
    #[inline]
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.tracked
    }

    /// How engines see decisions, if they do not see everything in the queues.
    #[must_use]
    pub fn insight(&self) -> Option<&Insight> {
        self.tracked.then_some(&self.sight)
    }

    /// Lets engines read this slot from now on. The `held` bytes already in it count at once.
    pub fn watch(&mut self, slot: usize, held: u64) {
        if self.tracked && !self.watched[slot] {
            self.watched[slot] = true;
            self.bytes[slot] = held as i64;
        }
    }

    /// Whether any engine reads a slot.
    #[must_use]
    pub fn is_watched(&self, slot: usize) -> bool {
        self.tracked && self.watched[slot]
    }

    /// Records that a packet of `wire` bytes from an input joined `slot` at `now`.
    #[inline(always)]
    pub fn joined(&mut self, now: Time, (input, wire): (PortId, u16), slot: usize) {
        if self.tracked && self.watched[slot] {
            self.enqueued(now, input.index(), slot, wire);
        }
    }

    /// Records that a packet of an input was put into `slot`, which is read, at `now`. Ports of different rates have
    /// different delays; the list is kept sorted, and short even if no decision is ever made.
    #[inline]
    pub fn enqueued(&mut self, now: Time, input: usize, slot: usize, wire: u16) {
        self.advance(now);
        let engine = if self.own.is_empty() { 0 } else { input % self.sight.engines };
        if let Some(own) = self.own.get_mut(engine * self.bytes.len() + slot) {
            *own += u32::from(wire);
        }
        let visible_at = now + self.sight.after[input];
        let pending = Pending { visible_at, slot: slot as u32, wire, engine: engine as u16 };
        match self.pending.back() {
            Some(last) if last.visible_at > pending.visible_at => {
                self.pending.insert(pending, |other| other.visible_at);
            }
            _ => self.pending.push(pending),
        }
    }

    /// Records that `bytes` of `slot` have left completely, or were discarded.
    #[inline]
    pub fn left(&mut self, slot: usize, bytes: u64) {
        if self.tracked && self.watched[slot] {
            self.bytes[slot] -= bytes as i64;
        }
    }

    /// Makes packets visible that were completely enqueued before `now`; decisions at `now` itself still read the old
    /// lengths.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        while let Some(first) = self.pending.pop_if(|first| first.visible_at < now) {
            let slot = first.slot as usize;
            if let Some(own) = self.own.get_mut(usize::from(first.engine) * self.bytes.len() + slot) {
                *own -= u32::from(first.wire);
            }
            self.bytes[slot] += i64::from(first.wire);
        }
    }

    /// The bytes of a slot that an engine sees.
    #[inline]
    #[must_use]
    pub fn get(&self, engine: usize, slot: usize) -> u64 {
        let own = self.own.get(engine * self.bytes.len() + slot).copied().unwrap_or(0);
        (self.bytes[slot] + i64::from(own)).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One engine for each input, which do or do not see their own decisions at once.
    fn of_inputs(slots: usize, after: &[u64], see_their_own: bool) -> Visible {
        let insight = Insight::of_inputs(after.iter().copied().map(Span).collect(), see_their_own);
        let mut visible = Visible::new(slots, true, insight);
        (0..slots).for_each(|slot| visible.watch(slot, 0));
        visible
    }

    #[test]
    fn a_packet_counts_strictly_after_its_enqueue_and_until_it_left() {
        let mut visible = of_inputs(2, &[10], false);
        visible.enqueued(Time(0), 0, 1, 100);
        visible.advance(Time(10));
        assert_eq!(visible.get(0, 1), 0, "decisions at the same instant come first");
        visible.advance(Time(11));
        assert_eq!((visible.get(0, 0), visible.get(0, 1)), (0, 100));
        visible.left(1, 100);
        assert_eq!(visible.get(0, 1), 0);
    }

    #[test]
    fn what_a_slot_holds_when_somebody_begins_to_look_counts_until_it_leaves() {
        let mut visible = Visible::new(1, true, Insight { after: vec![Span(1)], engines: 0 });
        visible.left(0, 500);
        visible.watch(0, 300);
        visible.watch(0, 0);
        visible.left(0, 100);
        assert_eq!(visible.get(0, 0), 200);
    }

    #[test]
    fn the_list_stays_short_without_decisions() {
        let mut visible = of_inputs(1, &[30], false);
        for n in 0..1_000 {
            visible.enqueued(Time(10 * n), 0, 0, 100);
            visible.left(0, 100);
        }
        assert!(visible.pending.len() <= 4, "{}", visible.pending.len());
    }

    #[test]
    fn delays_of_different_inputs_overtake_each_other() {
        let mut visible = of_inputs(3, &[40, 10, 20], false);
        for slot in 0..3 {
            visible.enqueued(Time(0), slot, slot, 1);
        }
        let mut seen = |now| {
            visible.advance(Time(now));
            [0, 1, 2].map(|slot| visible.get(0, slot))
        };
        assert_eq!(seen(11), [0, 1, 0]);
        assert_eq!(seen(21), [0, 1, 1]);
        assert_eq!(seen(41), [1, 1, 1]);
    }

    #[test]
    fn a_packet_that_left_before_it_was_visible_never_counts() {
        let mut visible = of_inputs(1, &[100], false);
        visible.enqueued(Time(0), 0, 0, 84);
        visible.left(0, 84);
        visible.advance(Time(50));
        assert_eq!(visible.get(0, 0), 0);
        visible.advance(Time(101));
        assert_eq!(visible.get(0, 0), 0);
    }

    #[test]
    fn an_engine_sees_its_own_decisions_at_once_and_those_of_others_later() {
        let mut visible = of_inputs(1, &[10, 10], true);
        visible.enqueued(Time(0), 0, 0, 100);
        visible.enqueued(Time(5), 1, 0, 7);
        let mut seen = |now| {
            visible.advance(Time(now));
            [0, 1].map(|engine| visible.get(engine, 0))
        };
        assert_eq!([seen(5), seen(11), seen(16)], [[100, 7], [100, 107], [107, 107]]);
    }

    #[test]
    fn what_left_early_is_gone_for_its_engine_and_hides_nothing_from_it() {
        let mut visible = of_inputs(1, &[100, 100], true);
        visible.enqueued(Time(0), 0, 0, 84);
        visible.left(0, 84);
        assert_eq!([0, 1].map(|engine| visible.get(engine, 0)), [0, 0]);
        visible.enqueued(Time(50), 0, 0, 200);
        assert_eq!([0, 1].map(|engine| visible.get(engine, 0)), [200, 0]);
        visible.advance(Time(151));
        assert_eq!([0, 1].map(|engine| visible.get(engine, 0)), [200, 200]);
    }
}
