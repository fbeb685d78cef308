//! RACK: a segment is lost when one sent later has arrived and the reordering window has passed (RFC 8985, section 6).
//! The scoreboard finds lost segments; this file computes the reordering window.

use weft_core::{Span, Time};

use crate::scoreboard::Reference;

/// Recoveries without a duplicate after which the reordering window shrinks to its initial size.
const PERSISTENCE: u8 = 16;

/// The duplicate threshold, in segments: if that many have arrived out of order, and the network does not reorder,
/// the reordering window is zero (RFC 8985, section 6.2, step 4).
pub const URGENT_SEGMENTS: u64 = 3;

/// The state of RACK.
#[derive(Clone, Copy, Debug)]
pub struct Rack {
    /// The packet sent last among those that have arrived.
    pub reference: Reference,
    /// The round trip of that packet.
    rtt: Span,
    /// Whether reordering has been seen.
    reordering: bool,
    /// Quarters of the minimum round trip in the reordering window.
    quarters: u8,
    /// Recoveries left until the window shrinks.
    persistence: u8,
    /// Data sent before this was unacknowledged at the last duplicate: the window grows once per round trip.
    duplicate_round: u64,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack::new()
    }
}

impl Rack {
    /// The state of a connection on which nothing has been delivered.
    #[must_use]
    #[inline]
    pub const fn new() -> Rack {
        let reference = Reference { sent: Time::ZERO, end: 0 };
        Rack {
            reference,
            rtt: Span::ZERO,
            reordering: false,
            quarters: 1,
            persistence: 0,
            duplicate_round: 0,
        }
    }

    /// Called when a packet sent at `reference.sent` was acknowledged after `rtt`. If it was a retransmission and the
    /// acknowledgement came sooner than any round trip, it is attributed to the first copy.
    #[inline]
    pub fn delivered(&mut self, reference: Reference, rtt: Span, again: bool, least: Span) {
        if again && rtt < least {
            return;
        }
        if (reference.sent, reference.end) > (self.reference.sent, self.reference.end) {
            (self.reference, self.rtt) = (reference, rtt);
        }
    }

    /// Called when the network has reordered packets.
    #[inline]
    pub const fn saw_reordering(&mut self) {
        self.reordering = true;
    }

    /// Called when a retransmission was unnecessary: the reordering window grows, once per round trip.
    #[inline]
    pub fn saw_duplicate(&mut self, una: u64, next: u64) {
        if una >= self.duplicate_round {
            self.quarters = self.quarters.saturating_add(1);
            self.duplicate_round = next;
            self.persistence = PERSISTENCE;
        }
    }

    /// A recovery has ended.
    #[inline]
    pub const fn recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.quarters = 1;
        }
    }

    /// How long after its transmission a segment counts as lost. `urgent`: recovery is in progress, or there are as
    /// many duplicate acknowledgements as indicate a loss.
    #[inline]
    pub fn limit(&self, least: Span, smoothed: Span, urgent: bool) -> Span {
        if !self.reordering && urgent {
            return self.rtt;
        }
        self.rtt + Span(least.0.saturating_mul(u64::from(self.quarters)) / 4).min(smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Span = Span::from_us(80);
    const SMOOTHED: Span = Span::from_us(100);

    fn rack() -> Rack {
        let mut rack = Rack::new();
        let sent = Reference { sent: Time(1), end: 1 };
        rack.delivered(sent, Span::from_us(90), false, LEAST);
        rack
    }

    #[test]
    fn without_reordering_a_recovery_waits_for_nothing() {
        assert_eq!(rack().limit(LEAST, SMOOTHED, true), Span::from_us(90));
        assert_eq!(rack().limit(LEAST, SMOOTHED, false), Span::from_us(110));
    }

    #[test]
    fn each_round_with_duplicates_adds_a_quarter_up_to_the_round_trip() {
        let mut rack = rack();
        rack.saw_reordering();
        assert_eq!(rack.limit(LEAST, SMOOTHED, true), Span::from_us(110));
        rack.saw_duplicate(10, 20);
        rack.saw_duplicate(19, 30);
        assert_eq!(rack.limit(LEAST, SMOOTHED, true), Span::from_us(130), "one growth per round");
        (1..9).for_each(|n| rack.saw_duplicate(20 * n, 20 * n + 20));
        assert_eq!(rack.limit(LEAST, SMOOTHED, true), Span::from_us(190));
        (0..15).for_each(|_| rack.recovered());
        assert_eq!(rack.limit(LEAST, SMOOTHED, true), Span::from_us(190));
        rack.recovered();
        assert_eq!(rack.limit(LEAST, SMOOTHED, true), Span::from_us(110));
    }

    #[test]
    fn an_impossibly_early_answer_is_not_that_of_the_retransmission() {
        let mut rack = rack();
        rack.delivered(Reference { sent: Time(9), end: 9 }, Span::from_us(79), true, LEAST);
        assert_eq!(rack.reference.end, 1);
    }
}
