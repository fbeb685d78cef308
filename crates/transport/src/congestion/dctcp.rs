//! DCTCP: the window falls in proportion to the fraction of marked bytes.
//!
//! *Sources*: Alizadeh et al., SIGCOMM'10; RFC 8257. *Parameters*: `gain` is g. *State*: alpha, the running estimate
//! of the marked fraction, updated once per window of data; bytes acknowledged, and bytes acknowledged with an echo,
//! in the current window. *Limits*: needs step marking in the switches and a receiver that reports marks byte for
//! byte; a window without a mark never falls, whatever alpha. Growth and the response to losses are Reno's.

use weft_core::settings::Share;
use weft_core::{choice, settings};

use super::growth::{Gathered, at_least_two_segments, flight, reno};
use super::{AckEvent, Cause, CongestionEvent, CongestionLaw, LawSite, MarkUse, Window};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "window cut in proportion to the fraction of marked bytes (SIGCOMM'10, RFC 8257)";

choice! {
    /// How alpha is computed.
    pub enum DctcpArithmetic {
        /// Real numbers, and a window of data ends beyond its last byte, as in RFC 8257.
        Exact = "exact",
        /// Whole 1024ths with Linux's rounding (an alpha too small for a fraction g of it to be one unit falls to
        /// zero); a mark removes whole segments, rounded down; a window of data ends with its last byte; `gain` is
        /// rounded to the nearest power of two.
        Linux = "linux",
    }
}

choice! {
    /// When alpha reduces the window. The first is DCTCP; the others follow two simulators, which divide links
    /// differently.
    pub enum Cut {
        /// When a mark is echoed, at most once per window of data (RFC 8257).
        Once = "once",
        /// At the end of every window of data, marked or not, while alpha is not zero; the window grows in between
        /// (htsim).
        EveryWindow = "every-window",
        /// On every acknowledgement that echoes a mark; others let the window grow (netbench).
        EveryMark = "every-mark",
    }
}

settings! {
    /// DCTCP.
    pub struct DctcpSettings {
        /// Weight of the newest window in the estimate (g); RFC 8257 recommends 1/16.
        gain: Share [0.001, 1.0] = Share(1.0 / 16.0),
        /// Initial estimate (alpha); RFC 8257 starts at 1, so that the first mark halves the window.
        initial_alpha: Share = Share(1.0),
        /// Minimum window after a mark, in segments; Linux has 2.
        minimum_window: u32 [1, 1000] = 2,
        /// How alpha is computed.
        arithmetic: DctcpArithmetic = DctcpArithmetic::Exact,
        /// When alpha reduces the window.
        cut: Cut = Cut::Once,
    }
}

/// Alpha, in one of two arithmetics.
#[derive(Clone, Copy, Debug)]
enum Alpha {
    /// The share, and g.
    Exact { share: f64, gain: f64 },
    /// 1024ths, and -log2 of g.
    Linux { units: u64, shift: u32 },
}

/// Alpha = 1 in Linux's arithmetic.
const LINUX_ONE: u64 = 1024;

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    site: LawSite,
    gathered: Gathered,
    alpha: Alpha,
    /// Bytes acknowledged, and those of them with an echoed mark, in this window of data.
    acked: u64,
    marked: u64,
    /// The end of this window of data: the next byte to send at its start.
    window_end: u64,
    minimum: u64,
    cut: Cut,
}

impl Alpha {
    fn new(settings: &DctcpSettings) -> Alpha {
        match settings.arithmetic {
            DctcpArithmetic::Exact => Alpha::Exact { share: settings.initial_alpha.0, gain: settings.gain.0 },
            DctcpArithmetic::Linux => Alpha::Linux {
                units: (settings.initial_alpha.0 * LINUX_ONE as f64).round() as u64,
                shift: (-settings.gain.0.log2()).round() as u32,
            },
        }
    }

    /// Updates alpha with a window of data in which `marked` of `acked` bytes were marked.
    fn update(&mut self, acked: u64, marked: u64) {
        match self {
            Alpha::Exact { share, gain } => *share += *gain * (marked as f64 / acked as f64 - *share),
            Alpha::Linux { units, shift } => {
                let decay = *units >> *shift;
                let kept = if decay == 0 { 0 } else { *units - decay };
                *units = (kept + marked * (LINUX_ONE >> *shift) / acked).min(LINUX_ONE);
            }
        }
    }

    fn share(self) -> f64 {
        match self {
            Alpha::Exact { share, .. } => share,
            Alpha::Linux { units, .. } => units as f64 / LINUX_ONE as f64,
        }
    }

    /// The bytes by which a mark reduces the window: half of alpha.
    fn cut(self, window: &Window) -> u64 {
        match self {
            Alpha::Exact { share, .. } => (window.cwnd as f64 * share / 2.0) as u64,
            Alpha::Linux { units, .. } => ((window.cwnd / window.mss * units) >> 11) * window.mss,
        }
    }
}

impl Dctcp {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &DctcpSettings, site: LawSite) -> Dctcp {
        Dctcp {
            site,
            gathered: Gathered::default(),
            alpha: Alpha::new(settings),
            acked: 0,
            marked: 0,
            window_end: 0,
            minimum: u64::from(settings.minimum_window) * site.mss,
            cut: settings.cut,
        }
    }

    /// The estimate of the marked fraction, 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha.share()
    }

    /// The window reduced by alpha.
    fn lowered(&self, window: &Window) -> u64 {
        (window.cwnd - self.alpha.cut(window)).max(self.minimum)
    }

    /// Reduces the window without an event. A mark also ends slow start.
    fn lower(&mut self, window: &mut Window) {
        window.cwnd = self.lowered(window);
        window.ssthresh = window.cwnd;
    }

    /// Responds to marks as they are echoed, or once per window of data.
    fn answer(&mut self, window: &mut Window, marked: bool, passed: bool) {
        match self.cut {
            Cut::EveryWindow => {
                if marked {
                    window.ssthresh = window.ssthresh.min(window.cwnd);
                }
                if passed && self.alpha.share() > 0.0 {
                    self.lower(window);
                }
            }
            _ if marked => self.lower(window),
            _ => {}
        }
    }

    /// [`CongestionLaw::advance`]. Only an acknowledgement that lets the window grow is written to memory.
    #[inline(always)]
    pub(crate) fn advance_with(&mut self, window: &mut Window, ack: impl Fn() -> AckEvent, grows: bool) {
        self.count(window, &ack());
        if grows && ack().cwnd_limited {
            self.grow(window, &ack());
        }
    }

    /// Counts acknowledged and marked bytes.
    #[inline(always)]
    fn count(&mut self, window: &mut Window, ack: &AckEvent) {
        self.acked += ack.acked;
        if ack.marked {
            self.marked += ack.acked;
        }
        let passed = self.acked > 0 && self.window_passed(ack.una);
        if passed || self.cut != Cut::Once {
            self.note_window(window, (ack.next, ack.marked), passed);
        }
    }

    /// Updates alpha once per window of data, and responds to marks if that is not left to the sender.
    #[inline(never)]
    fn note_window(&mut self, window: &mut Window, (next, marked): (u64, bool), passed: bool) {
        if passed {
            self.alpha.update(self.acked, self.marked);
            (self.acked, self.marked, self.window_end) = (0, 0, next);
        }
        if self.cut != Cut::Once {
            self.answer(window, marked, passed);
        }
    }

    /// Called when the whole window of data in flight at the last update is acknowledged.
    #[inline]
    fn window_passed(&self, una: u64) -> bool {
        match self.alpha {
            Alpha::Exact { .. } => una > self.window_end,
            Alpha::Linux { .. } => una >= self.window_end,
        }
    }
}

impl CongestionLaw for Dctcp {
    fn grow(&mut self, window: &mut Window, ack: &AckEvent) {
        if ack.marked && self.cut == Cut::EveryMark {
            return;
        }
        reno(window, ack, &self.site, &mut self.gathered);
    }

    fn reduce(&mut self, window: &Window, event: &CongestionEvent) -> u64 {
        self.gathered.clear();
        match event.cause {
            Cause::Mark => self.lowered(window),
            Cause::Loss | Cause::Timeout => at_least_two_segments(flight(window, event) / 2, window),
        }
    }

    #[inline]
    fn observe(&mut self, window: &mut Window, ack: &AckEvent) {
        self.count(window, ack);
    }

    fn mark_use(&self) -> MarkUse {
        if self.cut == Cut::Once { MarkUse::Accurate } else { MarkUse::Immediate }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rig::{MSS, Rig, SITE};
    use super::*;
    use weft_core::Span;

    const RTT: Span = Span::from_us(100);

    fn law(initial: f64, arithmetic: DctcpArithmetic) -> Dctcp {
        let initial_alpha = Share(initial);
        Dctcp::new(&DctcpSettings { initial_alpha, arithmetic, ..DctcpSettings::default() }, SITE)
    }

    /// Alpha after 0 to 40 windows of data, all or none marked.
    fn alphas(mut alpha: Alpha, marked: bool) -> Vec<f64> {
        (0..=40)
            .map(|n| {
                if n > 0 {
                    alpha.update(10 * MSS, if marked { 10 * MSS } else { 0 });
                }
                alpha.share()
            })
            .collect()
    }

    #[test]
    fn alpha_approaches_one_or_zero_by_powers_of_fifteen_sixteenths() {
        let up = alphas(law(0.0, DctcpArithmetic::Exact).alpha, true);
        let down = alphas(law(1.0, DctcpArithmetic::Exact).alpha, false);
        for n in 0..=40 {
            let power = (15.0f64 / 16.0).powi(n);
            assert!((up[n as usize] - (1.0 - power)).abs() < 1e-12);
            assert!((down[n as usize] - power).abs() < 1e-12);
        }
    }

    #[test]
    fn linux_counts_1024ths_and_reaches_zero() {
        let down = alphas(law(1.0, DctcpArithmetic::Linux).alpha, false);
        assert_eq!(down[..4], [1.0, 960.0 / 1024.0, 900.0 / 1024.0, 844.0 / 1024.0]);
        let mut alpha = Alpha::Linux { units: 17, shift: 4 };
        let after: Vec<f64> = (0..3)
            .map(|_| {
                alpha.update(MSS, 0);
                alpha.share() * 1024.0
            })
            .collect();
        assert_eq!(after, [16.0, 15.0, 0.0]);
        let up = alphas(law(0.0, DctcpArithmetic::Linux).alpha, true);
        assert_eq!(up[..3], [0.0, 64.0 / 1024.0, 124.0 / 1024.0]);
        assert!(up[40] <= 1.0 && up[40] > 0.9);
    }

    #[test]
    fn alpha_moves_once_per_window_of_data_and_in_any_state() {
        for (arithmetic, first) in
            [(DctcpArithmetic::Exact, 15.0 / 16.0), (DctcpArithmetic::Linux, 15.0 / 16.0)]
        {
            let mut rig = Rig::avoiding(law(1.0, arithmetic), 20, RTT);
            let mut changes = vec![rig.law.alpha()];
            for n in 0..100 {
                rig.ack(rig.now + Span::from_us(n), false);
                if changes.last() != Some(&rig.law.alpha()) {
                    changes.push(rig.law.alpha());
                }
            }
            assert_eq!(changes[1], first);
            // 100 acknowledgements of windows of 20 to 24 segments, the first window being empty.
            assert_eq!(changes.len(), 6, "{changes:?}");
        }
    }

    #[test]
    fn alpha_settles_at_the_marked_share() {
        let mut rig = Rig::avoiding(law(1.0, DctcpArithmetic::Exact), 2, RTT);
        rig.law.minimum = 40 * MSS;
        (0..300).for_each(|_| rig.marked_round(rig.window.cwnd / MSS / 4));
        assert!((rig.law.alpha() - 0.25).abs() < 0.03, "{}", rig.law.alpha());
    }

    #[test]
    fn a_mark_takes_half_of_alpha_once_per_window_and_a_loss_takes_half() {
        for arithmetic in [DctcpArithmetic::Exact, DctcpArithmetic::Linux] {
            let mut rig = Rig::avoiding(law(0.5, arithmetic), 64, RTT);
            rig.fall(Cause::Mark);
            assert_eq!(rig.segments(), 48.0);
            rig.fall(Cause::Loss);
            assert_eq!(rig.segments(), 24.0);
            assert_eq!(rig.law.alpha(), 0.5, "an event leaves alpha alone");
        }
        let mut rig = Rig::avoiding(law(1.0, DctcpArithmetic::Exact), 64, RTT);
        rig.marked_round(32);
        assert!(rig.segments() > 30.0, "thirty-two marks cut once: {}", rig.segments());
    }

    #[test]
    fn without_a_mark_the_window_grows_as_renos_whatever_alpha() {
        let mut rig = Rig::avoiding(law(1.0, DctcpArithmetic::Exact), 10, RTT);
        (0..20).for_each(|_| rig.round());
        assert_eq!(rig.segments(), 30.0);
    }

    #[test]
    fn marks_never_push_below_the_minimum() {
        let mut rig = Rig::avoiding(law(1.0, DctcpArithmetic::Exact), 10, RTT);
        (0..10).for_each(|_| rig.fall(Cause::Mark));
        assert_eq!(rig.segments(), 2.0);
    }

    /// SIGCOMM'10, section 3.3, for one flow: a window beyond `full` is marked as a whole; alpha is the root of
    /// `a^2 (1 - a/4) = (2 full + 1) / (full + 1)^2`, the amplitude `(full + 1) a / 2` segments.
    #[test]
    fn the_saw_tooth_of_one_flow_is_that_of_the_analysis() {
        for (full, alpha, amplitude) in [(148, 0.117, 8.8), (74, 0.166, 6.2)] {
            let mut rig = Rig::avoiding(law(1.0, DctcpArithmetic::Exact), 20, RTT);
            let (mut low, mut high, mut mean) = (f64::MAX, 0.0f64, 0.0);
            for round in 0..2000 {
                let sent = rig.window.cwnd / MSS;
                rig.marked_round(if sent > full { sent } else { 0 });
                if round >= 1000 {
                    (low, high) = (low.min(rig.segments()), high.max(rig.segments()));
                    mean += rig.law.alpha() / 1000.0;
                }
            }
            assert!((mean / alpha - 1.0).abs() < 0.15, "alpha {mean} for {alpha}");
            assert!((high - low - amplitude).abs() < 1.5, "amplitude {} for {amplitude}", high - low);
        }
    }

    /// The mean of the windows when every `period`-th round trip is marked as a whole.
    fn mean_window(cut: Cut, period: u64) -> f64 {
        let law = Dctcp::new(&DctcpSettings { cut, ..DctcpSettings::default() }, SITE);
        let mut rig = Rig::avoiding(law, 20, RTT);
        let mut windows = Vec::new();
        for round in 0..400 * period {
            let sent = rig.window.cwnd / MSS;
            rig.marked_round(if round % period == 0 { sent } else { 0 });
            windows.push(rig.segments());
        }
        let late = &windows[windows.len() / 2..];
        late.iter().sum::<f64>() / late.len() as f64
    }

    /// One window in m is marked as a whole. Cut once per marked window: the estimate is least then, a = g (1 - g)^(m - 1) /
    /// (1 - (1 - g)^m), and the cut a W / 2 makes up for the growth of m - 1 rounds without what the cut forgets, up to a
    /// segment: W = 2 (m - 3/2) / a, which grows as m squared. Cut at the end of every window: W / (2 m) per round trip on
    /// average, so W = 2 m. Cut by every mark: a marked window falls to exp(-W / (2 m)) of itself, m - 1 rounds make up for
    /// it, and W is in proportion to m.
    #[test]
    fn the_window_follows_marks_squared_if_cut_once_and_in_proportion_otherwise() {
        for period in [8u64, 16] {
            let (g, m) = (1.0f64 / 16.0, period as f64);
            let least = g * (1.0 - g).powf(m - 1.0) / (1.0 - (1.0 - g).powf(m));
            let expected = 2.0 * (m - 1.5) / least - m / 2.0;
            let mean = mean_window(Cut::Once, period);
            assert!((mean / expected - 1.0).abs() < 0.1, "once: {mean}, expected {expected}");
            let mean = mean_window(Cut::EveryWindow, period);
            assert!((mean / (2.0 * m) - 1.0).abs() < 0.1, "every window: {mean}");
        }
        let ratio = mean_window(Cut::EveryMark, 16) / mean_window(Cut::EveryMark, 8);
        assert!((1.8..2.4).contains(&ratio), "every mark: {ratio}");
    }

    #[test]
    fn a_mark_ends_slow_start_however_windows_are_cut() {
        for cut in [Cut::EveryWindow, Cut::EveryMark] {
            let law = Dctcp::new(
                &DctcpSettings { cut, initial_alpha: Share(0.0), ..DctcpSettings::default() },
                SITE,
            );
            let mut rig = Rig::starting(law, 10, RTT);
            rig.marked_round(1);
            assert!(!rig.window.in_slow_start(), "{cut:?}");
        }
    }

    #[test]
    fn in_linux_a_mark_takes_whole_segments() {
        let window = Window { cwnd: 25 * MSS + 700, ssthresh: u64::MAX, mss: MSS };
        // 25 segments times 160/1024, halved: 1.95.
        assert_eq!(Alpha::Linux { units: 160, shift: 4 }.cut(&window), MSS);
        assert_eq!(Alpha::Linux { units: 164, shift: 4 }.cut(&window), 2 * MSS);
        assert_eq!(Alpha::Exact { share: 0.5, gain: 0.0625 }.cut(&window), window.cwnd / 4);
    }
}
