//! The window of a fluid flow, round trip by round trip: it doubles from the initial to the receive window. While the
//! window grows, the flow sends at most one window in a round trip; once the rest fits into the window, nothing
//! limits it.

use weft_core::{Span, Time};

/// How a flow's window opens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opening {
    /// Payload sent in the first round trip.
    pub(crate) first: f64,
    /// Of that, payload that has already arrived.
    pub(crate) ahead: f64,
    /// Maximum payload in flight: the receive window.
    pub(crate) most: f64,
    /// Round trip of a packet that waits as long as the probe's packets did.
    pub(crate) round_trip: Span,
}

/// A window that opens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    opening: Opening,
    window: f64,
    /// The part of the window that arrived before this round began.
    ahead: f64,
    /// When the window next changes, or never.
    pub(crate) until: Time,
}

impl Rounds {
    /// Begins the first round of a flow that has `left` bytes of payload to send.
    pub(crate) fn begin(opening: Opening, now: Time, left: f64) -> Rounds {
        let (window, ahead) = (opening.first.min(opening.most), opening.ahead);
        let mut rounds = Rounds { opening, window, ahead, until: now };
        rounds.until = rounds.next(now, left);
        rounds
    }

    /// The highest rate that the flow can use, in bytes per second.
    pub(crate) fn most(&self) -> f64 {
        let room = (self.window - self.ahead).max(0.0);
        if self.until == Time::NEVER { f64::INFINITY } else { room / self.opening.round_trip.seconds() }
    }

    /// Opens the window for the rounds that have passed. Returns whether anything has changed.
    pub(crate) fn pass(&mut self, now: Time, left: f64) -> bool {
        let mut changed = false;
        while self.until <= now {
            let before = self.window - std::mem::take(&mut self.ahead);
            self.window = (self.window * 2.0).min(self.opening.most);
            self.until = self.next(self.until, left);
            changed |= self.window > before || self.until == Time::NEVER;
        }
        changed
    }

    /// When the round that begins now ends; a full window stays for all rounds but the last.
    fn next(&self, now: Time, left: f64) -> Time {
        if left <= self.window - self.ahead || self.opening.round_trip == Span::ZERO {
            return Time::NEVER;
        }
        let full = if self.window < self.opening.most { 1.0 } else { (left / self.window).ceil() - 1.0 };
        now + self.opening.round_trip * (full.max(1.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::from_ms(n)
    }

    #[test]
    fn a_window_doubles_each_round_trip_up_to_the_receive_window() {
        let opening = Opening { first: 10.0, ahead: 0.0, most: 45.0, round_trip: Span::from_ms(2) };
        let mut rounds = Rounds::begin(opening, ms(0), 1e6);
        let mut seen = vec![rounds.most()];
        for round in 1..4 {
            assert!(rounds.pass(ms(2 * round), 1e6));
            seen.push(rounds.most());
        }
        assert_eq!(seen, [5e3, 10e3, 20e3, 22.5e3]);
    }

    #[test]
    fn the_last_window_is_sent_as_fast_as_the_network_takes_it() {
        let opening = Opening { first: 10.0, ahead: 0.0, most: 20.0, round_trip: Span::from_ms(2) };
        assert_eq!(Rounds::begin(opening, ms(0), 10.0).most(), f64::INFINITY);
        let mut rounds = Rounds::begin(opening, ms(0), 75.0);
        assert!(rounds.pass(ms(2), 65.0));
        assert_eq!(rounds.until, ms(8), "65 are three windows of 20 and 5");
        assert!(rounds.pass(ms(8), 5.0));
        assert_eq!((rounds.until, rounds.most()), (Time::NEVER, f64::INFINITY));
    }
}
