//! CUBIC: the window follows a cubic function of the time since the last congestion event, flat around the window at
//! that event.
//!
//! *Standard*: RFC 9438, or Linux's arithmetic (`linux.rs`); slow start ends by HyStart as in Linux. *Parameters*:
//! `scaling` is C, `beta` is the fraction kept after an event. *State*: W_max, and per epoch K, its start and the
//! window a Reno flow would have (W_est). *Limits*: at data-centre round trips the cubic rises far more slowly than
//! W_est, so that the law is an additive increase of 3(1-beta)/(1+beta) with decrease to beta. Internally windows are
//! in segments, and grow by whole segments.

use linux::Linux;
use weft_core::settings::Share;
use weft_core::{Span, Time, choice, settings};

use super::growth::{at_least_two_segments, flight, slow_start};
use super::hystart::HyStart;
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, Window};

mod linux;

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "window as a cubic function of the time since the last congestion (RFC 9438), the Linux default";

choice! {
    /// How windows are computed.
    pub enum CubicArithmetic {
        /// Real numbers, as in RFC 9438.
        Exact = "exact",
        /// Linux's integers (`tcp_cubic`). The distance from the plateau is rounded down, so that the window returns
        /// to W_max about a second before K; the slope of the Reno-friendly part stays at 3(1-beta)/(1+beta), where
        /// RFC 9438 lets it rise to 1 at the window of the last event; growth is computed at most once per tick and,
        /// while the window is constant, every 1/32 s, so that at much shorter round trips it grows in steps; and a
        /// reduction starts from the window, not from what is in flight.
        Linux = "linux",
    }
}

settings! {
    /// CUBIC.
    pub struct CubicSettings {
        /// How steep the cubic is, in segments per second cubed (C); RFC 9438, section 5.1.
        scaling: f64 [0.000001, 1000000.0] = 0.4,
        /// Fraction of the window kept after a congestion event (beta); RFC 9438, section 4.6.
        beta: Share [0.1, 0.99] = Share(0.7),
        /// A flow that meets congestion below its last W_max aims even lower, to make room for new flows; RFC 9438,
        /// section 4.7.
        fast_convergence: bool = true,
        /// Before the first congestion event, and after a time-out, the window grows by at least 1/20 per round trip:
        /// the path is unknown, and the flat part of the cubic would be slow. As in Linux (`tcp_cubic`), unlike RFC
        /// 9438.
        fast_probing: bool = true,
        /// Never slower than a Reno flow would be; RFC 9438, section 4.3.
        tcp_friendliness: bool = true,
        /// How windows are computed.
        arithmetic: CubicArithmetic = CubicArithmetic::Exact,
        /// End slow start on long trains of acknowledgements or a rising round-trip time, as Linux does.
        hystart: bool = true,
        /// Trains may last a whole round trip instead of half, as in Linux when the host's queue paces (fq); has an
        /// effect only with `hystart`.
        hystart_paced: bool = false,
        /// Kernel ticks per second (CONFIG_HZ); has an effect only with `arithmetic = "linux"`.
        hz: u32 [100, 1000] = 250,
    }
}

/// Growth per round trip while the path is unknown.
const PROBING: f64 = 1.0 / 20.0;

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    site: LawSite,
    scaling: f64,
    beta: f64,
    fast_convergence: bool,
    fast_probing: bool,
    tcp_friendliness: bool,
    /// The state of Linux's arithmetic, which replaces the fields below.
    linux: Option<Box<Linux>>,
    hystart: Option<HyStart>,
    /// The window around which the next epoch is flat, in segments (W_max); zero when unknown.
    plateau: f64,
    /// The window when the last congestion event began, in segments (cwnd_prior).
    prior: f64,
    epoch: Option<Epoch>,
    /// Growth of the cubic not yet applied, a fraction of a segment.
    credit: f64,
    /// When the last acknowledgement in avoidance arrived.
    latest: Time,
}

/// Congestion avoidance between two congestion events.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// W_max of this epoch, in segments.
    plateau: f64,
    /// Seconds from the start until the cubic reaches the plateau (K).
    k: f64,
    /// The window of a Reno flow, in segments (W_est).
    friendly: f64,
}

impl Cubic {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &CubicSettings, site: LawSite) -> Cubic {
        Cubic {
            site,
            scaling: settings.scaling,
            beta: settings.beta.0,
            fast_convergence: settings.fast_convergence,
            fast_probing: settings.fast_probing,
            tcp_friendliness: settings.tcp_friendliness,
            linux: (settings.arithmetic == CubicArithmetic::Linux).then(|| Box::new(Linux::new(settings))),
            hystart: settings.hystart.then(|| HyStart::new(settings.hystart_paced)),
            plateau: 0.0,
            prior: 0.0,
            epoch: None,
            credit: 0.0,
            latest: Time::ZERO,
        }
    }

    /// Seconds from the start of the current epoch to its flat part (K); `None` between epochs.
    #[must_use]
    pub fn k(&self) -> Option<f64> {
        match &self.linux {
            Some(linux) => linux.k(),
            None => self.epoch.map(|epoch| epoch.k),
        }
    }

    /// An epoch that starts with `cwnd` segments. Above the plateau, or without one, the flat part is at its start.
    fn begin_epoch(&self, now: Time, cwnd: f64) -> Epoch {
        let plateau = self.plateau.max(cwnd);
        let k = cube_root((plateau - cwnd) / self.scaling);
        Epoch { start: now, plateau, k, friendly: cwnd }
    }

    /// Congestion avoidance for `acked` bytes.
    fn avoid(&mut self, window: &mut Window, ack: &AckEvent, acked: u64) {
        let cwnd = segments(window.cwnd, window);
        let share = acked as f64 / window.cwnd as f64;
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(ack.now, cwnd));
        epoch.friendly += self.friendly_slope(epoch.friendly) * share;
        self.epoch = Some(epoch);
        let age = ack.now.since(epoch.start);
        let exact = cwnd + self.credit;
        let least = if self.fast_probing && self.plateau == 0.0 { exact * (1.0 + PROBING) } else { exact };
        if self.tcp_friendliness && self.cubic(&epoch, age).max(least) < epoch.friendly {
            window.cwnd += (epoch.friendly - cwnd).max(0.0) as u64 * window.mss;
        } else {
            let target = self.cubic(&epoch, age + ack.srtt).clamp(least, 1.5 * exact);
            self.credit += (target - exact) * share;
            window.cwnd += self.credit as u64 * window.mss;
            self.credit -= self.credit.floor();
        }
    }

    /// The cubic of RFC 9438, equation 1, in segments.
    fn cubic(&self, epoch: &Epoch, age: Span) -> f64 {
        let offset = age.seconds() - epoch.k;
        epoch.plateau + self.scaling * offset * offset * offset
    }

    /// Segments per round trip by which W_est grows: the increase that gives, with a decrease to beta, the throughput
    /// of Reno; Reno's own increase once the window of the last congestion event is regained.
    fn friendly_slope(&self, friendly: f64) -> f64 {
        if friendly < self.prior { 3.0 * (1.0 - self.beta) / (1.0 + self.beta) } else { 1.0 }
    }

    /// The plateau of the next epoch after an event at `cwnd` segments.
    fn next_plateau(&self, cwnd: f64) -> f64 {
        if self.fast_convergence && cwnd < self.plateau { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd }
    }

    /// Called when the window was not the limit: the epoch's clock is stopped for that time (RFC 9438, section 5.8).
    fn stand_still(&mut self, now: Time) {
        if let Some(linux) = &mut self.linux {
            linux.stand_still(self.latest, now);
        } else if let Some(epoch) = &mut self.epoch {
            epoch.start += now.since(self.latest);
        }
    }

    /// After a time-out the path is unknown: the first epoch is flat at its start (RFC 9438, section 4.8).
    fn forget(&mut self) {
        self.plateau = 0.0;
        if let Some(linux) = &mut self.linux {
            linux.forget();
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.restart();
        }
    }
}

impl CongestionLaw for Cubic {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.cwnd_limited {
            let left = slow_start(window, ack.acked, &self.site);
            if !window.in_slow_start() {
                match &mut self.linux {
                    Some(linux) => linux.avoid(window, ack, left),
                    None => self.avoid(window, ack, left),
                }
            }
        } else {
            self.stand_still(ack.now);
        }
        self.latest = ack.now;
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.prior = segments(window.cwnd, window);
        self.plateau = self.next_plateau(self.prior);
        (self.epoch, self.credit) = (None, 0.0);
        let linux = self.linux.as_mut().map(|linux| linux.reduce(window));
        let from = match event.cause {
            Cause::Mark => window.cwnd,
            Cause::Loss => flight(window, event),
            Cause::Timeout => {
                self.forget();
                flight(window, event)
            }
        };
        at_least_two_segments(linux.unwrap_or((from as f64 * self.beta) as u64), window)
    }

    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        if let Some(hystart) = &mut self.hystart
            && hystart.ends_slow_start(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
    }
}

fn segments(bytes: u64, window: &Window) -> f64 {
    bytes as f64 / window.mss as f64
}

/// The cube root by Newton's iteration from above, with basic operations only, so that all machines give the same
/// bits.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut root = x.max(1.0);
    loop {
        let next = (2.0 * root + x / (root * root)) / 3.0;
        if next >= root {
            return root;
        }
        root = next;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{MSS, Rig, SITE};
    use super::*;

    fn law(settings: CubicSettings) -> Cubic {
        Cubic::new(&settings, SITE)
    }

    fn pure() -> CubicSettings {
        CubicSettings { tcp_friendliness: false, ..CubicSettings::default() }
    }

    /// A law whose last event was at `peak` segments, one acknowledgement into the next epoch.
    fn after_loss_at(peak: u64, settings: CubicSettings, rtt: Span) -> Rig<Cubic> {
        let mut rig = Rig::avoiding(law(settings), peak, rtt);
        rig.fall(Cause::Loss);
        rig.ack(rig.now, false);
        rig
    }

    #[test]
    fn cube_roots() {
        for x in [0.0, 1e-6, 0.3, 1.0, 2.0, 252.5, 1e12] {
            let root = cube_root(x);
            assert!((root * root * root - x).abs() <= 1e-12 * x, "{x}");
        }
    }

    #[test]
    fn a_loss_keeps_seven_tenths_and_the_plateau_is_a_cube_root_away() {
        // Linux over 100 Mb/s and 20 ms: 335 segments become 234, and K is 6.3 s.
        let rig = after_loss_at(335, CubicSettings::default(), Span::from_ms(20));
        assert_eq!(rig.window.ssthresh / MSS, 234);
        let k = rig.law.k().expect("the epoch has begun");
        assert!((k - 6.3).abs() < 0.02, "{k}");
        assert!((k - (0.3f64 * 335.0 / 0.4).cbrt()).abs() < 1e-9);
    }

    #[test]
    fn at_k_the_window_is_the_one_that_was_lost_and_around_it_the_curve_is_odd() {
        let mut rig = after_loss_at(335, pure(), Span::from_ms(20));
        let k = rig.law.k().expect("the epoch has begun");
        let mut at = |seconds: f64| {
            while rig.now.seconds() < seconds {
                rig.round();
            }
            rig.segments()
        };
        let (before, middle, after) = (at(k - 4.0), at(k), at(k + 4.0));
        assert!((middle - 335.0).abs() <= 1.0, "{middle}");
        assert!((before - (335.0 - 0.4 * 64.0)).abs() <= 1.0, "{before}");
        assert!((after - (335.0 + 0.4 * 64.0)).abs() <= 1.5, "{after}");
    }

    /// A Linux host over 100 Mb/s, 20 ms and a queue of one path: 234 to 335 segments in 6.11 s.
    #[test]
    fn the_period_of_the_saw_tooth_is_that_of_linux() {
        let mut rig = after_loss_at(335, CubicSettings::default(), Span::from_ms(20));
        (rig.window.cwnd, rig.window.ssthresh) = (234 * MSS, 234 * MSS);
        let seconds = rig.seconds_until(334, 166.7);
        assert!((seconds / 6.11 - 1.0).abs() < 0.05, "{seconds}");
    }

    /// A Linux host left slow start at 490 segments and reached 495 within 10 ms, half a round trip.
    #[test]
    fn while_the_path_is_unknown_it_grows_by_a_twentieth_per_round_trip() {
        for (fast_probing, after_four_rounds) in [(true, 590.0..=596.0), (false, 490.0..=494.0)] {
            let settings = CubicSettings { fast_probing, ..CubicSettings::default() };
            let mut rig = Rig::avoiding(law(settings), 490, Span::from_ms(20));
            (0..4).for_each(|_| rig.round());
            assert!(after_four_rounds.contains(&rig.segments()), "{}", rig.segments());
            rig.fall(Cause::Loss);
            let from = rig.segments();
            rig.round();
            assert!(rig.segments() < from + 8.0, "an event tells of the path: {}", rig.segments());
        }
    }

    #[test]
    fn in_a_data_centre_it_grows_by_0_529_segments_per_round_trip() {
        let mut rig = after_loss_at(1000, CubicSettings::default(), Span::from_us(100));
        let from = rig.segments();
        (0..400).for_each(|_| rig.round());
        let slope = (rig.segments() - from) / 400.0;
        assert!((slope / (3.0 * 0.3 / 1.7) - 1.0).abs() < 0.01, "{slope}");
    }

    #[test]
    fn without_friendliness_a_data_centre_sees_no_growth_to_speak_of() {
        let mut rig = after_loss_at(1000, pure(), Span::from_us(100));
        let from = rig.segments();
        (0..400).for_each(|_| rig.round());
        assert!(rig.segments() - from < 20.0, "{}", rig.segments() - from);
    }

    #[test]
    fn beyond_the_lost_window_friendliness_is_renos_pace() {
        let mut rig = after_loss_at(100, CubicSettings::default(), Span::from_us(100));
        while rig.segments() < 100.0 {
            rig.round();
        }
        (0..50).for_each(|_| rig.round());
        assert!((rig.segments() - 150.0).abs() <= 1.5, "{}", rig.segments());
    }

    #[test]
    fn the_mean_window_in_a_data_centre_is_renos() {
        for every in [5_000, 20_000] {
            let mut rig = Rig::avoiding(law(CubicSettings::default()), 100, Span::from_us(100));
            let mean = rig.mean_with_loss(every, 4_000);
            let expected = (1.5 * every as f64).sqrt();
            assert!((mean / expected - 1.0).abs() < 0.02, "{mean} for {expected}");
        }
    }

    #[test]
    fn fast_convergence_aims_lower_after_a_loss_below_the_plateau() {
        for (fast_convergence, plateau) in [(true, 50.0 * 1.7 / 2.0), (false, 50.0)] {
            let mut rig =
                Rig::avoiding(law(CubicSettings { fast_convergence, ..pure() }), 100, Span::from_ms(20));
            rig.fall(Cause::Loss);
            rig.window.cwnd = 50 * MSS;
            rig.fall(Cause::Loss);
            assert_eq!(rig.segments(), 35.0);
            rig.ack(rig.now, false);
            let k = rig.law.k().expect("the epoch has begun");
            assert!((0.4 * k * k * k + 35.0 - plateau).abs() < 1e-6, "{k}");
        }
    }

    #[test]
    fn a_mark_cuts_like_a_loss_and_a_time_out_forgets_the_plateau() {
        let mut rig = Rig::avoiding(law(pure()), 100, Span::from_ms(20));
        rig.fall(Cause::Mark);
        assert_eq!(rig.segments(), 70.0);
        rig.fall(Cause::Timeout);
        assert_eq!((rig.segments(), rig.window.ssthresh), (1.0, 49 * MSS));
        while rig.window.in_slow_start() {
            rig.round();
        }
        rig.ack(rig.now, false);
        assert_eq!(rig.law.k(), Some(0.0));
    }

    #[test]
    fn the_clock_of_the_epoch_stands_still_while_the_window_is_not_the_limit() {
        let mut busy = after_loss_at(335, pure(), Span::from_ms(20));
        let mut idle = after_loss_at(335, pure(), Span::from_ms(20));
        idle.cwnd_limited = false;
        (0..200).for_each(|_| idle.round());
        idle.cwnd_limited = true;
        for _ in 0..100 {
            busy.round();
            idle.round();
        }
        assert_eq!(idle.window, busy.window);
    }

    #[test]
    fn one_round_trip_adds_half_a_window_at_most() {
        let mut rig = after_loss_at(100, pure(), Span::from_ms(20));
        for _ in 0..8 {
            let before = rig.segments();
            rig.rtt = Span::from_s(10);
            rig.round();
            assert!(rig.segments() <= 1.66 * before, "{before} to {}", rig.segments());
        }
    }
}
