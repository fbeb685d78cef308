//! H-TCP: the longer ago the last congestion, the faster the window grows; its reduction follows the ratio of the
//! smallest to the largest round trip.
//!
//! *Sources*: Leith and Shorten, draft-leith-tcp-htcp; Linux `tcp_htcp`. *Parameters*: the increase is alpha, the
//! fraction kept is beta. *State*: time of the last congestion event, extremes of the round trip, throughput
//! achieved. *Limits*: the Linux form counts time in jiffies of 1 ms and lets beta differ from one half only at round
//! trips above 10 ms; in a data centre it is Reno for 2.8 s after each event. Windows are bytes; alpha is in segments
//! per round trip.

use weft_core::{Time, choice, settings};

use super::growth::{at_least_two_segments, slow_start};
use super::{AckEvent, CongestionEvent, CongestionLaw, LawSite, Window};
use form::Form;
use measure::{RoundTrips, Throughput};

mod form;
mod measure;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "increase grows with the time since the last congestion (draft-leith-tcp-htcp)";

choice! {
    /// Which specification of H-TCP.
    pub enum Variant {
        /// Integers, jiffies of 1 ms and guards as in Linux.
        Linux = "linux",
        /// The formulas of the draft, in real numbers.
        Draft = "draft",
    }
}

choice! {
    /// Whether the increase shrinks with the round trip, so that flows with different round trips share fairly.
    pub enum RttScaling {
        /// As in the variant: Linux yes, draft no.
        AsVariant = "as-variant",
        /// The increase is multiplied by the smallest round trip divided by 100 ms, within 0.1 and 2, but stays at
        /// least 1.
        On = "on",
        /// No scaling.
        Off = "off",
    }
}

settings! {
    /// H-TCP.
    pub struct HtcpSettings {
        /// Which formulas to use; Linux's run on real hosts.
        variant: Variant = Variant::Linux,
        /// Whether the increase scales with the round trip.
        rtt_scaling: RttScaling = RttScaling::AsVariant,
        /// Halve the window if throughput changed by more than a fifth since the last congestion event; both the
        /// draft and Linux do.
        bandwidth_switch: bool = true,
        /// The fraction kept is the ratio of smallest to largest round trip, within 0.5 and 0.8; otherwise always one
        /// half.
        adaptive_backoff: bool = true,
    }
}

/// H-TCP.
#[derive(Clone, Debug)]
pub struct Htcp {
    site: LawSite,
    form: Form,
    bandwidth_switch: bool,
    adaptive_backoff: bool,
    /// Increase in segments per round trip.
    alpha: f64,
    /// Fraction of the window kept.
    beta: f64,
    /// Start of the last congestion event, or the first acknowledgement. The kernel's module counts from the end of
    /// recovery, a round trip later; the draft and the Linux traces used for comparison count from here.
    epoch: Option<Time>,
    /// Whether a congestion event is in progress.
    recovering: bool,
    /// Linux: an event passed without a change of throughput, so beta may adapt at the next.
    settled: bool,
    round_trips: RoundTrips,
    throughput: Throughput,
    /// Acknowledged bytes (in the draft, times alpha) that do not yet make a windowful.
    gathered: f64,
}

impl Htcp {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &HtcpSettings, site: LawSite) -> Htcp {
        Htcp {
            site,
            form: Form::new(settings.variant, settings.rtt_scaling),
            bandwidth_switch: settings.bandwidth_switch,
            adaptive_backoff: settings.adaptive_backoff,
            alpha: 1.0,
            beta: 0.5,
            epoch: None,
            recovering: false,
            settled: false,
            round_trips: RoundTrips::default(),
            throughput: Throughput::default(),
            gathered: 0.0,
        }
    }

    /// Segments per round trip by which the window currently grows (alpha).
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The fraction of the window kept at the last event (beta).
    #[must_use]
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// Ticks since the last congestion event (Delta).
    fn age(&self, now: Time) -> u64 {
        self.epoch.map_or(0, |epoch| self.form.ticks(now) - self.form.ticks(epoch))
    }

    fn update_alpha(&mut self, now: Time) {
        self.alpha = self.form.alpha(self.age(now), self.round_trips.shortest, self.beta);
    }

    /// Beta for the current event.
    fn update_beta(&mut self) {
        let steady = self.throughput.was_steady();
        self.throughput.close_epoch();
        if self.bandwidth_switch && !steady {
            (self.beta, self.settled) = (0.5, false);
            return;
        }
        let adapts = self.adaptive_backoff && self.form.may_adapt(self.settled, &self.round_trips);
        self.beta = if adapts { self.form.beta(&self.round_trips) } else { 0.5 };
        self.settled = true;
    }

    fn avoid(&mut self, window: &mut Window, acked: u64, now: Time) {
        let grown = match self.form.counts_acknowledgements() {
            true => self.grow_as_linux(window, acked),
            false => self.grow_as_drafted(window, acked),
        };
        if grown {
            self.update_alpha(now);
        }
    }

    /// One windowful of acknowledged bytes is worth alpha segments.
    fn grow_as_drafted(&mut self, window: &mut Window, acked: u64) -> bool {
        self.gathered += acked as f64 * self.alpha;
        let before = window.cwnd;
        while self.gathered >= window.cwnd as f64 {
            self.gathered -= window.cwnd as f64;
            window.cwnd += window.mss;
        }
        window.cwnd > before
    }

    /// Linux compares before it counts: the acknowledgement that grows the window, by one segment, is not counted,
    /// nor is any excess. With a large alpha this slows growth by some per cent.
    fn grow_as_linux(&mut self, window: &mut Window, acked: u64) -> bool {
        let enough = self.gathered * self.alpha >= window.cwnd as f64;
        if enough {
            window.cwnd += window.mss;
            self.gathered = 0.0;
        } else {
            self.gathered += acked as f64;
        }
        enough
    }
}

impl CongestionLaw for Htcp {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if self.recovering {
            self.recovering = false;
            self.update_alpha(ack.now);
        }
        if !ack.cwnd_limited {
            return;
        }
        let left = slow_start(window, ack.acked, &self.site);
        if !window.in_slow_start() {
            self.avoid(window, left, ack.now);
        }
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.update_beta();
        self.form.fade(&mut self.round_trips);
        (self.recovering, self.epoch, self.gathered) = (true, Some(event.now), 0.0);
        at_least_two_segments((window.cwnd as f64 * self.beta) as u64, window)
    }

    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        let begins = self.epoch.is_none();
        self.epoch.get_or_insert(ack.now);
        if let Some(rtt) = ack.rtt {
            self.form.measure(&mut self.round_trips, rtt, self.recovering);
        }
        let now = self.form.ticks(ack.now);
        if begins || self.recovering {
            self.throughput.restart(now);
            return;
        }
        let enough = window.cwnd.saturating_sub(self.alpha.max(1.0) as u64 * window.mss);
        let sample = self.throughput.add(ack.acked, enough, now, self.round_trips.shortest);
        if sample > 0 {
            let fresh = self.age(ack.now) / self.round_trips.shortest <= 3;
            self.throughput.take(sample, fresh);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cause;
    use super::super::newreno::{self, NewReno};
    use super::super::rig::{Rig, SITE};
    use super::*;
    use weft_core::Span;

    fn law(variant: Variant) -> Htcp {
        Htcp::new(&HtcpSettings { variant, ..HtcpSettings::default() }, SITE)
    }

    /// Alpha `ms` after an event, at a round trip of one jiffy.
    fn linux_alpha(ms: u64) -> f64 {
        Form::new(Variant::Linux, RttScaling::AsVariant).alpha(ms, 1, 0.5)
    }

    #[test]
    fn linux_alpha_stays_one_for_2_8_seconds_in_a_data_centre() {
        for (ms, alpha) in [(0, 1.0), (1_000, 1.0), (2_800, 1.0), (2_900, 2.0), (4_000, 3.0)] {
            assert_eq!(linux_alpha(ms), alpha, "{ms} ms");
        }
        for (ms, alpha) in [(5_000, 4.0), (7_000, 7.0), (10_000, 11.0)] {
            assert_eq!(linux_alpha(ms), alpha, "{ms} ms");
        }
    }

    #[test]
    fn linux_in_a_data_centre_is_nearly_newreno_for_2_8_seconds_and_faster_afterwards() {
        // One acknowledgement per window of Linux's count is lost.
        let ratio = |htcp: &Rig<Htcp>, reno: &Rig<NewReno>| htcp.segments() / reno.segments();
        let rtt = Span::from_ms(1);
        let mut htcp = Rig::avoiding(law(Variant::Linux), 40, rtt);
        let mut reno = Rig::avoiding(NewReno::new(&newreno::NewRenoSettings {}, SITE), 40, rtt);
        for event in [Cause::Loss, Cause::Mark] {
            htcp.fall(event);
            reno.fall(event);
            (0..300).for_each(|_| {
                htcp.round();
                reno.round();
                let ratio = ratio(&htcp, &reno);
                assert!((0.95..=1.0).contains(&ratio), "{ratio}");
            });
        }
        for _ in 300..2_800 {
            htcp.round();
            reno.round();
        }
        let late = ratio(&htcp, &reno);
        assert!((0.99..=1.0).contains(&late), "{late}");
        (0..300).for_each(|_| {
            htcp.round();
            reno.round();
        });
        let ahead = htcp.segments() - reno.segments();
        assert!((150.0..300.0).contains(&ahead), "{ahead}");
    }

    /// A Linux host over 100 Mb/s, 100 ms and a queue of one path: the window so long after the loss that made it 861.
    #[test]
    fn the_rise_of_the_window_is_that_of_linux() {
        let mut rig = Rig::avoiding(law(Variant::Linux), 861, Span::from_ms(100));
        // Recovery took 300 ms. Here every segment is acknowledged, there every second, so that Linux lost a little more.
        rig.now = Time::ZERO + Span::from_ms(300);
        rig.law.epoch = Some(Time::ZERO);
        for (seconds, window) in
            [(1.38, 873), (2.18, 931), (2.98, 1040), (3.98, 1232), (4.98, 1464), (5.58, 1616)]
        {
            rig.seconds_until(window, 833.0);
            let now = rig.now.seconds();
            assert!((now / seconds - 1.0).abs() < 0.04, "{window} segments at {now} s");
        }
    }

    #[test]
    fn draft_alpha_is_one_for_a_second_and_then_a_parabola() {
        let form = Form::new(Variant::Draft, RttScaling::AsVariant);
        let at = |seconds: f64, beta| form.alpha((seconds * 1e9) as u64, 100_000, beta);
        assert_eq!((at(0.0, 0.5), at(1.0, 0.5)), (1.0, 1.0));
        for delta in [1.5, 2.0, 3.0, 11.0] {
            let beyond: f64 = delta - 1.0;
            let formula = 1.0 + 10.0 * beyond + (beyond / 2.0).powi(2);
            assert!((at(delta, 0.5) - formula).abs() < 1e-6);
            assert!((at(delta, 0.8) - 0.4 * formula).abs() < 1e-6);
        }
    }

    #[test]
    fn scaling_follows_the_round_trip_between_a_tenth_and_two() {
        let form = Form::new(Variant::Draft, RttScaling::On);
        let at = |ms: u64| form.alpha(3_000_000_000, ms * 1_000_000, 0.5);
        let factor = 22.0;
        assert!((at(100) - factor).abs() < 1e-9 && (at(50) - factor / 2.0).abs() < 1e-9);
        assert!((at(1) - factor / 10.0).abs() < 1e-9 && (at(900) - factor * 2.0).abs() < 1e-9);
        assert_eq!(form.alpha(0, 1_000_000, 0.5), 1.0, "never below Reno");
        let linux = |scaling, ms| Form::new(Variant::Linux, scaling).alpha(3_000, ms, 0.5);
        // 1 + (10 * 2000 + 1000) / 1000 = 22, and in eighths by the scale.
        assert_eq!(linux(RttScaling::Off, 1), 22.0);
        assert_eq!((linux(RttScaling::On, 1), linux(RttScaling::On, 100)), (2.0, 22.0));
        assert_eq!(linux(RttScaling::On, 900), 44.0);
    }

    /// Saw-teeth between an event at 100 segments and the next over a path of 50; the beta of each event.
    fn betas(settings: &HtcpSettings, min_rtt: Span, events: usize) -> Vec<f64> {
        let mut rig = Rig::avoiding(Htcp::new(settings, SITE), 50, min_rtt);
        (0..events)
            .map(|_| {
                rig.seconds_until(100, 50.0);
                rig.fall(Cause::Loss);
                rig.law.beta()
            })
            .collect()
    }

    #[test]
    fn linux_adapts_beta_above_ten_milliseconds_from_the_third_event_on() {
        let linux = HtcpSettings::default();
        // The round trip doubles: 1/2. The first event has no throughput to compare with.
        assert_eq!(betas(&linux, Span::from_ms(20), 4), [0.5, 0.5, 0.5, 0.5]);
        let mut rig = Rig::avoiding(law(Variant::Linux), 50, Span::from_ms(20));
        let mut seen = Vec::new();
        for _ in 0..4 {
            rig.seconds_until(70, 50.0);
            rig.fall(Cause::Loss);
            seen.push(rig.law.beta());
        }
        assert_eq!(seen[..2], [0.5, 0.5]);
        // 20 ms over some 28 ms, in jiffies and 128ths.
        assert!(seen[2..].iter().all(|beta| (0.66..=0.72).contains(beta)), "{seen:?}");
    }

    #[test]
    fn linux_never_adapts_beta_in_a_data_centre() {
        let mut rig = Rig::avoiding(law(Variant::Linux), 50, Span::from_us(100));
        for _ in 0..6 {
            rig.seconds_until(70, 50.0);
            rig.fall(Cause::Loss);
            assert_eq!(rig.law.beta(), 0.5);
        }
    }

    #[test]
    fn draft_beta_is_the_ratio_of_round_trips_within_its_limits() {
        for (peak, least, most) in [(51, 0.8, 0.8), (70, 0.69, 0.73), (150, 0.5, 0.5)] {
            let mut rig = Rig::avoiding(law(Variant::Draft), 50, Span::from_us(100));
            for event in 0..5 {
                rig.seconds_until(peak, 50.0);
                rig.fall(Cause::Loss);
                let beta = rig.law.beta();
                assert!(event == 0 || (least..=most).contains(&beta), "{peak}: {beta}");
            }
        }
    }

    #[test]
    fn a_change_of_throughput_by_a_fifth_halves() {
        for (bandwidth_switch, after) in [(true, 0.5), (false, 0.8)] {
            let settings =
                HtcpSettings { variant: Variant::Draft, bandwidth_switch, ..HtcpSettings::default() };
            let mut rig = Rig::avoiding(Htcp::new(&settings, SITE), 50, Span::from_us(100));
            for _ in 0..3 {
                rig.seconds_until(60, 50.0);
                rig.fall(Cause::Loss);
            }
            assert!(rig.law.beta() > 0.79, "steady");
            // The path becomes four times as wide: more throughput before the next event.
            rig.seconds_until(200, 200.0);
            rig.fall(Cause::Loss);
            assert_eq!(rig.law.beta(), after);
        }
    }

    #[test]
    fn without_adaptive_backoff_every_event_halves() {
        let settings =
            HtcpSettings { variant: Variant::Draft, adaptive_backoff: false, ..HtcpSettings::default() };
        assert_eq!(betas(&settings, Span::from_us(100), 4), [0.5; 4]);
    }
}
