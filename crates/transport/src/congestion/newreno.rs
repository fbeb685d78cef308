//! NewReno: one more segment per round trip, half the window per congestion event.
//!
//! *Standards*: RFC 5681 (growth and halving), RFC 3465 (bytes are counted, not acknowledgements), RFC 3168 (a mark
//! counts as a loss). The recovery that gave the law its name (RFC 6582) is the sender's. *Parameters*: none of its
//! own; the slow-start limit L is common to all laws. *Limits*: the window follows `sqrt(1.5 / p)` at loss rate `p`,
//! so a long fat path needs very few losses.

use weft_core::settings;

use super::growth::{Gathered, at_least_two_segments, flight, reno};
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, Window};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "additive increase of one segment per round trip, halving on loss or mark (RFC 5681)";

settings! {
    /// NewReno has no parameters of its own.
    pub struct NewRenoSettings {}
}

/// NewReno.
#[derive(Clone, Debug)]
pub struct NewReno {
    site: LawSite,
    gathered: Gathered,
}

impl NewReno {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(_settings: &NewRenoSettings, site: LawSite) -> NewReno {
        NewReno { site, gathered: Gathered::default() }
    }
}

impl CongestionLaw for NewReno {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        reno(window, ack, &self.site, &mut self.gathered);
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.gathered.clear();
        let from = match event.cause {
            Cause::Mark => window.cwnd,
            Cause::Loss | Cause::Timeout => flight(window, event),
        };
        at_least_two_segments(from / 2, window)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{MSS, Rig, SITE};
    use super::*;
    use weft_core::Span;

    const RTT: Span = Span::from_us(100);

    fn law() -> NewReno {
        NewReno::new(&NewRenoSettings {}, SITE)
    }

    #[test]
    fn slow_start_doubles_until_the_threshold_and_not_beyond() {
        let mut rig = Rig::starting(law(), 10, RTT);
        rig.window.ssthresh = 50 * MSS;
        let windows: Vec<f64> = (0..5)
            .map(|_| {
                rig.round();
                rig.segments()
            })
            .collect();
        assert_eq!(windows, [20.0, 40.0, 50.0, 51.0, 52.0]);
    }

    #[test]
    fn the_limit_of_slow_start_counts_per_acknowledgement() {
        let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        let limited = LawSite { slow_start_limit: MSS, ..SITE };
        assert_eq!(super::super::growth::slow_start(&mut window, 8 * MSS, &limited), 0);
        assert_eq!(window.cwnd, 11 * MSS);
        window.ssthresh = 13 * MSS;
        assert_eq!(super::super::growth::slow_start(&mut window, 8 * MSS, &SITE), 6 * MSS);
        assert_eq!(window.cwnd, 13 * MSS);
    }

    #[test]
    fn avoidance_counts_bytes_not_acknowledgements() {
        let mut window = Window { cwnd: 10 * MSS, ssthresh: 10 * MSS, mss: MSS };
        let mut gathered = Gathered::default();
        for _ in 0..4 {
            gathered.grow(&mut window, 2 * MSS);
            assert_eq!(window.cwnd, 10 * MSS);
        }
        gathered.grow(&mut window, 2 * MSS);
        assert_eq!(window.cwnd, 11 * MSS);
    }

    #[test]
    fn a_window_that_was_not_the_limit_does_not_grow() {
        for mut rig in [Rig::starting(law(), 10, RTT), Rig::avoiding(law(), 10, RTT)] {
            rig.cwnd_limited = false;
            (0..5).for_each(|_| rig.round());
            assert_eq!(rig.segments(), 10.0);
        }
    }

    #[test]
    fn ten_marks_in_a_round_trip_halve_once() {
        let mut rig = Rig::avoiding(law(), 40, RTT);
        rig.marked_round(10);
        assert_eq!(rig.segments(), 20.0);
        rig.round();
        assert!(rig.segments() <= 21.0);
    }

    #[test]
    fn losses_halve_the_flight_without_what_limited_transmit_added_but_not_below_two_segments() {
        let window = Window { cwnd: 20 * MSS, ssthresh: 20 * MSS, mss: MSS };
        let mut event = CongestionEvent {
            now: weft_core::Time::ZERO,
            cause: Cause::Loss,
            in_flight: 22 * MSS,
            line_rate: weft_core::Rate::from_gbps(10),
        };
        assert_eq!(law().reduce(&window, &event), 10 * MSS);
        event.in_flight = 8 * MSS;
        assert_eq!(law().reduce(&window, &event), 4 * MSS);
        event.in_flight = MSS;
        assert_eq!(law().reduce(&window, &event), 2 * MSS);
        event.cause = Cause::Mark;
        assert_eq!(
            law().reduce(&window, &event),
            10 * MSS,
            "a mark halves the window, whatever is in flight"
        );
    }

    #[test]
    fn the_mean_window_is_the_root_of_three_halves_over_the_loss_rate() {
        for every in [5_000, 20_000] {
            let mean = Rig::avoiding(law(), 100, RTT).mean_with_loss(every, 2_000);
            let expected = (1.5 * every as f64).sqrt();
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} for {expected}");
        }
    }

    /// A Linux host over 100 Mb/s, 20 ms and a queue of one path: windows of 168 to 336 segments, a loss each 5.17 s.
    #[test]
    fn the_period_of_the_saw_tooth_is_that_of_linux() {
        let mut rig = Rig::avoiding(law(), 168, Span::from_ms(20));
        let seconds = rig.seconds_until(336, 166.7);
        assert!((seconds / 5.17 - 1.0).abs() < 0.03, "{seconds}");
        rig.fall(Cause::Loss);
        assert_eq!(rig.segments().floor(), 168.0);
    }
}
