//! Round-trip estimate and retransmission time-out (RFC 6298), with the floor of the RFC or of Linux.

use weft_core::Span;

use crate::settings::{RtoFloor, Tcp};

/// The estimate of one connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    smoothed: u64,
    variation: u64,
    least: u64,
    /// Doublings of the time-out since the last good sample.
    backoff: u32,
}

impl RoundTrip {
    /// A new sample.
    pub(crate) fn sample(&mut self, rtt: Span) {
        let rtt = rtt.0.max(1);
        if self.smoothed == 0 {
            (self.smoothed, self.variation, self.least) = (rtt, rtt / 2, rtt);
        } else {
            self.variation = (3 * self.variation + self.smoothed.abs_diff(rtt)) / 4;
            self.smoothed = (7 * self.smoothed + rtt) / 8;
            self.least = self.least.min(rtt);
        }
        self.backoff = 0;
    }

    /// The smoothed round trip; zero before the first sample.
    pub(crate) fn smoothed(&self) -> Span {
        Span(self.smoothed)
    }

    /// The smallest round trip so far; zero before the first sample.
    pub(crate) fn least(&self) -> Span {
        Span(self.least)
    }

    /// The timer expired.
    pub(crate) fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// The time-out in force.
    pub(crate) fn timeout(&self, tcp: &Tcp) -> Span {
        let base = match (self.smoothed, tcp.rto_floor) {
            (0, _) => tcp.initial_rto.0,
            (smoothed, RtoFloor::Linux) => smoothed + (4 * self.variation).max(tcp.min_rto.0),
            (smoothed, RtoFloor::Rfc) => (smoothed + 4 * self.variation).max(tcp.min_rto.0),
        };
        let factor = 1u64.checked_shl(self.backoff).unwrap_or(u64::MAX);
        Span(base.saturating_mul(factor).min(tcp.max_rto.0).max(base.min(tcp.max_rto.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_and_later_ones_smooth() {
        let mut rtt = RoundTrip::default();
        let tcp = Tcp { min_rto: Span(1), rto_floor: RtoFloor::Rfc, ..Tcp::default() };
        assert_eq!(rtt.timeout(&tcp), Span::from_s(1));
        rtt.sample(Span::from_us(100));
        assert_eq!(rtt.timeout(&tcp), Span::from_us(300), "R + 4 R/2");
        rtt.sample(Span::from_us(180));
        assert_eq!(rtt.smoothed(), Span::from_us(110));
        assert_eq!(rtt.variation, 57_500_000, "3/4 of 50 us and 1/4 of 80 us");
    }

    #[test]
    fn floors_and_doubling() {
        let mut rtt = RoundTrip::default();
        for _ in 0..100 {
            rtt.sample(Span::from_us(100));
        }
        let linux = Tcp::default();
        let rfc = Tcp { min_rto: Span::from_ms(5), rto_floor: RtoFloor::Rfc, ..Tcp::default() };
        let ms = |tcp: &Tcp, rtt: &RoundTrip| rtt.timeout(tcp).0 / 1_000_000;
        assert_eq!((ms(&linux, &rtt), ms(&rfc, &rtt)), (200_100, 5_000));
        rtt.back_off();
        rtt.back_off();
        assert_eq!((ms(&linux, &rtt), ms(&rfc, &rtt)), (800_400, 20_000));
        (0..100).for_each(|_| rtt.back_off());
        assert_eq!(rtt.timeout(&linux), Span::from_s(60));
    }
}
