//! The rate for unlisted flows: equal shares of the rate that listed flows leave, found without counting flows.
//!
//! *Source*: Dukkipati, Rate Control Protocol (RCP), 2008, equation 4.1, without the queue term: the rate controller of
//! the link already reserves capacity to drain the queue.

use weft_core::{Bytes, Rate, Span};

/// Gain with which the share follows the difference between the leftover and its use (alpha in RCP).
const GAIN: f64 = 0.4;
/// A share that has fallen to zero restarts at this fraction of the leftover.
const RESTART: f64 = 0.1;
/// A share never falls faster than by half in one period.
const LEAST_GROWTH: f64 = 0.5;

/// The share of an unlisted flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftoverShare {
    share: f64,
    /// What unlisted flows sent since the last adaptation.
    sent: Bytes,
}

impl LeftoverShare {
    /// An unused link of this rate.
    pub(super) fn new(line: Rate) -> LeftoverShare {
        LeftoverShare { share: line.0 as f64, sent: Bytes::ZERO }
    }

    /// Counts a packet of an unlisted flow.
    pub(super) fn note(&mut self, wire: u16) {
        self.sent.0 += u64::from(wire);
    }

    /// The rate for one unlisted flow.
    pub(super) fn share(&self) -> Rate {
        Rate(self.share as u64)
    }

    /// Ends a period in which listed flows left this rate.
    pub(super) fn adapt(&mut self, left: Rate, period: Span) {
        let left = left.0 as f64;
        let used = std::mem::take(&mut self.sent).bits() as f64 / period.seconds();
        let from = if self.share > 0.0 { self.share } else { RESTART * left };
        let growth = 1.0 + GAIN * (left - used) / left.max(1.0);
        self.share = (from * growth.max(LEAST_GROWTH)).min(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// n greedy flows: each sends at the share, and together they come to use the leftover.
    #[test]
    fn flows_come_to_share_the_leftover_equally() {
        for flows in [1, 2, 7] {
            let (left, period) = (Rate::from_gbps(4), Span::from_us(100));
            let mut leftover = LeftoverShare::new(Rate::from_gbps(10));
            for _ in 0..200 {
                let sent = leftover.share().bytes_in(period).0 * flows;
                leftover.sent = Bytes(sent);
                leftover.adapt(left, period);
            }
            let fair = left.0 as f64 / flows as f64;
            assert!((leftover.share / fair - 1.0).abs() < 0.01, "{flows} flows: {}", leftover.share);
        }
    }

    #[test]
    fn nothing_is_left_of_nothing_and_a_free_link_is_found_again() {
        let mut leftover = LeftoverShare::new(Rate::from_gbps(10));
        leftover.adapt(Rate(0), Span::from_us(100));
        assert_eq!(leftover.share(), Rate(0));
        (0..20).for_each(|_| leftover.adapt(Rate::from_gbps(4), Span::from_us(100)));
        assert_eq!(leftover.share(), Rate::from_gbps(4), "nobody uses it");
    }
}
