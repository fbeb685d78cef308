//! When the queue of a port was held by pauses. A hold is remembered while a packet that has met it still waits. Must
//! not depend on packets.

use std::collections::VecDeque;

use weft_core::{Span, Time};

/// The holds of one queue that a waiting packet may have met.
#[derive(Default)]
pub struct Holds {
    /// Start and end of past holds.
    over: VecDeque<(Time, Time)>,
    /// Total length of the past holds.
    sum: Span,
    /// Start of the current hold.
    since: Option<Time>,
}

impl Holds {
    /// Starts a hold; `empty`: no waiting packet has met an earlier one.
    pub fn begin(&mut self, now: Time, empty: bool) {
        if empty {
            self.over.clear();
            self.sum = Span::ZERO;
        }
        self.since = Some(now);
    }

    /// The current hold ends.
    pub fn end(&mut self, now: Time) {
        if let Some(since) = self.since.take().filter(|since| *since < now) {
            self.over.push_back((since, now));
            self.sum += now.since(since);
        }
    }

    /// Whether no waiting packet has met a hold.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.over.is_empty() && self.since.is_none()
    }

    /// The part of the time from `arrived` to `now` during which the queue was held. The next packet to leave must
    /// not have arrived earlier.
    pub fn during(&mut self, arrived: Time, now: Time) -> Span {
        while let Some((from, until)) = self.over.pop_front_if(|(_, until)| *until <= arrived) {
            self.sum = Span(self.sum.0 - until.since(from).0);
        }
        let before = self.over.front().map_or(0, |(from, _)| arrived.0.saturating_sub(from.0));
        let lasting = self.since.map_or(0, |since| now.0 - since.max(arrived).0);
        Span(self.sum.0 - before + lasting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_charged_its_overlap_with_all_holds() {
        let mut holds = Holds::default();
        for (from, until) in [(10, 20), (30, 45)] {
            holds.begin(Time(from), false);
            holds.end(Time(until));
        }
        let during = |holds: &mut Holds, from, until| holds.during(Time(from), Time(until)).0;
        assert_eq!(during(&mut holds, 5, 50), 25);
        assert_eq!(during(&mut holds, 12, 50), 23);
        assert_eq!(during(&mut holds, 20, 50), 15, "what is over when it comes does not count");
        holds.begin(Time(60), false);
        assert_eq!(during(&mut holds, 40, 70), 15, "5 of the second hold, 10 of the one that lasts");
        assert_eq!(during(&mut holds, 65, 70), 5);
        holds.end(Time(80));
        assert_eq!(during(&mut holds, 80, 90), 0);
    }

    #[test]
    fn holds_that_nobody_has_met_are_forgotten() {
        let mut holds = Holds::default();
        for n in 0..1_000 {
            holds.begin(Time(10 * n), true);
            holds.end(Time(10 * n + 5));
        }
        assert_eq!(holds.over.len(), 1);
        assert_eq!(holds.during(Time(0), Time(10_000)).0, 5);
    }
}
