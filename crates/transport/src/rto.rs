//! Round-trip estimation and the retransmission time-out (RFC 6298), with two ways to apply a floor. Must not depend
//! on segments.

use weft_core::{Span, choice};

choice! {
    /// How the minimum time-out applies.
    pub enum RtoFloor {
        /// As in Linux: SRTT + max(4 RTTVAR, floor); at a round trip of 100 us, a floor of 200 ms gives 200.1 ms.
        Linux = "linux",
        /// As in RFC 6298: max(SRTT + 4 RTTVAR, floor).
        Rfc = "rfc",
    }
}

/// The bounds of the time-out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RtoLimits {
    pub(crate) floor: RtoFloor,
    pub(crate) initial: Span,
    /// The same after a SYN was lost.
    pub(crate) after_lost_syn: Span,
    pub(crate) least: Span,
    pub(crate) greatest: Span,
}

impl RtoLimits {
    /// The time-out before the first measurement on a connection whose SYN was lost: 3 s (RFC 6298, section 5.7), unless the
    /// first one is set below the standard's 1 s, as data-centre studies do to take such waits out of the picture.
    pub(crate) fn after_lost_syn(initial: Span) -> Span {
        if initial < Span::from_s(1) { initial } else { initial.max(Span::from_s(3)) }
    }
}

/// The round-trip estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    srtt: Span,
    variation: Span,
    least: Span,
    /// Time-outs since the last measurement.
    backoff: u8,
    /// Whether a SYN was lost.
    lost_syn: bool,
}

impl RoundTrip {
    pub(crate) const fn new() -> RoundTrip {
        RoundTrip {
            srtt: Span::ZERO,
            variation: Span::ZERO,
            least: Span(u64::MAX),
            backoff: 0,
            lost_syn: false,
        }
    }

    /// The state of a connection that has already measured one, if it is open.
    pub(crate) fn of_open(last: Option<Span>) -> RoundTrip {
        let mut trip = RoundTrip::new();
        if let Some(last) = last {
            trip.sample(last);
        }
        trip
    }

    /// Adds a measurement (RFC 6298, equations 2.2 and 2.3). Only this ends the back-off: an acknowledgement of a packet sent
    /// more than once measures nothing (section 5; Karn's rule).
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: Span) {
        let rtt = Span(rtt.0.max(1));
        if self.srtt == Span::ZERO {
            (self.srtt, self.variation) = (rtt, rtt / 2);
        } else {
            let off = self.srtt.0.abs_diff(rtt.0);
            self.variation = Span(self.variation.0 - self.variation.0 / 4 + off / 4);
            self.srtt = Span(self.srtt.0 - self.srtt.0 / 8 + rtt.0 / 8);
        }
        self.least = self.least.min(rtt);
        self.backoff = 0;
    }

    /// Called when the connection is open although a SYN was lost.
    pub(crate) const fn opened_late(&mut self) {
        (self.backoff, self.lost_syn) = (0, true);
    }

    /// Called when the timer has expired: the next time-out is twice as long.
    pub(crate) const fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The current time-out, including back-off.
    #[inline(always)]
    pub(crate) fn timeout(&self, limits: &RtoLimits) -> Span {
        let base = match (self.measured(), limits.floor) {
            (false, _) if self.lost_syn => limits.after_lost_syn,
            (false, _) => limits.initial,
            (true, RtoFloor::Linux) => self.srtt + (self.variation * 4).max(limits.least),
            (true, RtoFloor::Rfc) => (self.srtt + self.variation * 4).max(limits.least),
        };
        let backed_off = if self.backoff == 0 { base } else { base * (1 << self.backoff.min(40)) };
        backed_off.min(limits.greatest)
    }

    /// Whether at least one measurement has been taken.
    pub(crate) fn measured(&self) -> bool {
        self.srtt != Span::ZERO
    }

    /// The smoothed round trip; zero before the first measurement.
    pub(crate) const fn smoothed(&self) -> Span {
        self.srtt
    }

    /// The minimum round trip so far; the maximum span before the first measurement.
    pub(crate) const fn least(&self) -> Span {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(floor: RtoFloor, least: Span) -> RtoLimits {
        let (initial, after_lost_syn) = (Span::from_s(1), Span::from_s(3));
        RtoLimits { floor, initial, after_lost_syn, least, greatest: Span::from_s(120) }
    }

    fn steady(rtt: Span) -> RoundTrip {
        let mut trip = RoundTrip::new();
        (0..200).for_each(|_| trip.sample(rtt));
        trip
    }

    #[test]
    fn the_first_sample_sets_the_variation_to_half() {
        let mut trip = RoundTrip::new();
        trip.sample(Span::from_ms(100));
        let none = limits(RtoFloor::Rfc, Span::ZERO);
        assert_eq!(trip.timeout(&none), Span::from_ms(300));
        trip.sample(Span::from_ms(180));
        assert_eq!(trip.smoothed(), Span::from_ms(110));
        assert_eq!(trip.timeout(&none), Span::from_us(110_000 + 4 * 57_500));
        assert_eq!(trip.least(), Span::from_ms(100));
    }

    #[test]
    fn the_floor_is_added_in_linux_and_compared_in_the_rfc() {
        let trip = steady(Span::from_us(100));
        let floor = Span::from_ms(200);
        let linux = trip.timeout(&limits(RtoFloor::Linux, floor));
        assert_eq!(linux, trip.smoothed() + floor);
        assert_eq!(trip.timeout(&limits(RtoFloor::Rfc, floor)), floor);
    }

    #[test]
    fn each_expiry_doubles_up_to_the_greatest() {
        let mut trip = RoundTrip::new();
        let limits = limits(RtoFloor::Linux, Span::from_ms(200));
        let all: Vec<u64> = (0..9)
            .map(|_| {
                let timeout = trip.timeout(&limits);
                trip.back_off();
                timeout.0 / 1_000_000_000_000
            })
            .collect();
        assert_eq!(all, [1, 2, 4, 8, 16, 32, 64, 120, 120]);
        trip.sample(Span::from_us(100));
        assert_eq!(trip.timeout(&limits), Span::from_us(200_100), "a measurement ends it");
    }

    #[test]
    fn after_a_lost_syn_data_wait_three_seconds_unless_the_first_time_out_is_short() {
        let after = |millis| RtoLimits::after_lost_syn(Span::from_ms(millis));
        assert_eq!([1_000, 2_000, 4_000].map(after), [3_000, 3_000, 4_000].map(Span::from_ms));
        assert_eq!(after(1), Span::from_ms(1));
    }
}
