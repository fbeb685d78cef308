//! CUBIC as Linux computes it (`tcp_cubic`): whole segments, time in kernel ticks, and a count of segments to be
//! acknowledged before the window grows by one.
//!
//! The count is recomputed when the window has changed, but at most once per tick; while the window is constant,
//! every 1/32 s. At much shorter round trips the window therefore grows in steps: nothing for 1/32 s, then up to half
//! as much again per round trip.

use weft_core::Time;

use super::super::{AckEvent, Window};
use super::{CubicSettings, cube_root};

/// Linux counts fractions of a second and of a window in 1024ths.
const PARTS: f64 = 1024.0;
/// Window segments per segment gained on an unknown path: 5 % per round trip.
const PROBING: u64 = 20;
/// Window segments per segment gained where the cubic is flat: 1 % per round trip.
const FLAT: u64 = 100;
/// The fastest growth: half the window per round trip.
const FASTEST: u64 = 2;

/// The state of a connection. Windows are in segments, acknowledgements in bytes.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    ticks: Ticks,
    scaling: f64,
    /// 1024 times the fraction that an event leaves.
    kept: u64,
    /// Eighths of a window of acknowledgements that a Reno flow of equal throughput needs per segment.
    reno_eighths: Option<u64>,
    fast_convergence: bool,
    fast_probing: bool,
    /// The window around which the next epoch is flat; zero if unknown.
    last_peak: u64,
    epoch: Option<Epoch>,
    /// Acknowledged segments per segment of growth, and the window and the tick at which that was computed.
    pace: u64,
    computed: (u64, u64),
    /// Acknowledged segments not yet turned into growth.
    credit: u64,
}

/// Congestion avoidance between two congestion events.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: u64,
    plateau: u64,
    /// From the start to the plateau, in fractions of a second.
    k: u64,
    /// The window of a Reno flow, and the bytes acknowledged since it grew.
    reno: u64,
    reno_credit: u64,
}

/// The clock of the kernel.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    hz: u64,
}

impl Ticks {
    const fn length(self) -> u64 {
        1_000_000_000_000 / self.hz
    }

    const fn at(self, now: Time) -> u64 {
        now.0 / self.length()
    }
}

impl Linux {
    pub(super) fn new(settings: &CubicSettings) -> Linux {
        let kept = (settings.beta.0 * PARTS).round() as u64;
        let reno = 8 * (1024 + kept) / 3 / (1024 - kept);
        Linux {
            ticks: Ticks { hz: u64::from(settings.hz) },
            scaling: settings.scaling,
            kept,
            reno_eighths: settings.tcp_friendliness.then_some(reno),
            fast_convergence: settings.fast_convergence,
            fast_probing: settings.fast_probing,
            last_peak: 0,
            epoch: None,
            pace: 0,
            computed: (0, 0),
            credit: 0,
        }
    }

    /// Seconds from the start of the epoch to its flat part.
    pub(super) fn k(&self) -> Option<f64> {
        self.epoch.map(|epoch| epoch.k as f64 / PARTS)
    }

    /// Congestion avoidance for `acked` bytes.
    pub(super) fn avoid(&mut self, window: &mut Window, ack: &AckEvent, acked: u64) {
        if acked == 0 {
            return;
        }
        let (mss, cwnd) = (window.mss, window.cwnd / window.mss);
        self.compute(cwnd, ack, (acked, mss));
        let pace = self.pace.max(1) * mss;
        // Credit accumulated at a slower rate is worth at most one segment.
        if self.credit >= pace {
            self.credit = 0;
            window.cwnd += mss;
        }
        self.credit += acked;
        window.cwnd += self.credit / pace * mss;
        self.credit %= pace;
    }

    /// The number of segments that must be acknowledged to grow by one.
    fn compute(&mut self, cwnd: u64, ack: &AckEvent, (acked, mss): (u64, u64)) {
        if let Some(epoch) = &mut self.epoch {
            epoch.reno_credit += acked;
        }
        let (last, at) = self.computed;
        let now = self.ticks.at(ack.now);
        if last == cwnd && now - at <= self.ticks.hz / 32 {
            return;
        }
        if self.epoch.is_none() || now != at {
            self.computed = (cwnd, now);
            let mut epoch = self.epoch.unwrap_or_else(|| self.begin(cwnd, (now, acked)));
            self.pace = self.of_cubic(cwnd, &epoch, (now, ack));
            self.of_reno(cwnd, &mut epoch, mss);
            self.epoch = Some(epoch);
        } else if let Some(mut epoch) = self.epoch {
            self.of_reno(cwnd, &mut epoch, mss);
            self.epoch = Some(epoch);
        }
        self.pace = self.pace.max(FASTEST);
    }

    fn begin(&self, cwnd: u64, (start, reno_credit): (u64, u64)) -> Epoch {
        let plateau = self.last_peak.max(cwnd);
        let k = (cube_root((plateau - cwnd) as f64 / self.scaling) * PARTS) as u64;
        Epoch { start, plateau, k, reno: cwnd, reno_credit }
    }

    /// The pace that puts the window on the cubic one minimum round trip from now.
    fn of_cubic(&self, cwnd: u64, epoch: &Epoch, (now, ack): (u64, &AckEvent)) -> u64 {
        let ahead = ack.min_rtt.0.div_ceil(self.ticks.length());
        let age = (now.saturating_sub(epoch.start) + ahead) * 1024 / self.ticks.hz;
        let offset = age.abs_diff(epoch.k) as f64 / PARTS;
        let distance = (self.scaling * offset * offset * offset) as u64;
        let target = match age < epoch.k {
            true => epoch.plateau.saturating_sub(distance),
            false => epoch.plateau.saturating_add(distance),
        };
        let pace = match target.checked_sub(cwnd) {
            Some(above @ 1..) => cwnd / above,
            _ => FLAT * cwnd,
        };
        if self.fast_probing && self.last_peak == 0 { pace.min(PROBING) } else { pace }
    }

    /// Limits the pace to that of a Reno flow of equal throughput, whose slope is constant for the whole epoch.
    fn of_reno(&mut self, cwnd: u64, epoch: &mut Epoch, mss: u64) {
        let Some(eighths) = self.reno_eighths else { return };
        let each = (cwnd * eighths / 8).max(1) * mss;
        // The count must be exceeded, not just reached.
        let grown = epoch.reno_credit.saturating_sub(1) / each;
        epoch.reno += grown;
        epoch.reno_credit -= grown * each;
        if let Some(above @ 1..) = epoch.reno.checked_sub(cwnd) {
            self.pace = self.pace.min(cwnd / above);
        }
    }

    /// Called at a congestion event: returns the window to fall to, in bytes.
    pub(super) fn reduce(&mut self, window: &Window) -> u64 {
        let cwnd = window.cwnd / window.mss;
        self.last_peak = match self.fast_convergence && cwnd < self.last_peak {
            true => cwnd * (1024 + self.kept) / 2048,
            false => cwnd,
        };
        (self.epoch, self.credit) = (None, 0);
        cwnd * self.kept / 1024 * window.mss
    }

    /// Called at a time-out: the path is unknown.
    pub(super) fn forget(&mut self) {
        (self.last_peak, self.pace, self.computed) = (0, 0, (0, 0));
    }

    /// Called when the window has not been the limit since `latest`: the epoch's clock is stopped for that time.
    pub(super) fn stand_still(&mut self, latest: Time, now: Time) {
        let ticks = self.ticks.at(now) - self.ticks.at(latest);
        if let Some(epoch) = &mut self.epoch {
            epoch.start += ticks;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::rig::{MSS, Rig, SITE};
    use super::super::super::{Cause, CongestionLaw};
    use super::super::{Cubic, CubicArithmetic};
    use super::*;
    use weft_core::Span;

    fn settings() -> CubicSettings {
        CubicSettings { arithmetic: CubicArithmetic::Linux, ..CubicSettings::default() }
    }

    /// A law whose last event was at `peak` segments.
    fn after_loss_at(peak: u64, rtt: Span) -> Rig<Cubic> {
        let mut rig = Rig::avoiding(Cubic::new(&settings(), SITE), peak, rtt);
        rig.fall(Cause::Loss);
        rig
    }

    #[test]
    fn a_loss_keeps_717_of_1024_parts_in_whole_segments() {
        for (peak, left) in [(335, 234), (10, 7), (3, 2), (2, 2)] {
            assert_eq!(after_loss_at(peak, Span::from_ms(20)).window.cwnd, left * MSS, "{peak}");
        }
        let mut rig = after_loss_at(335, Span::from_ms(20));
        rig.ack(rig.now, false);
        // A distance of 101 segments is the cube root of 101 / 0.4 seconds.
        let k = rig.law.k().expect("the epoch has begun");
        assert!((k - 6.32).abs() < 0.01, "{k}");
    }

    /// A Linux host over 100 Mb/s, 20 ms and a queue of one path: 335 segments are back after 5.04 s, before K.
    #[test]
    fn the_window_is_back_before_k_for_distances_are_rounded_down() {
        let mut rig = after_loss_at(335, Span::from_ms(20));
        let seconds = rig.seconds_until(334, 166.7);
        assert!((seconds / 5.04 - 1.0).abs() < 0.03, "{seconds}");
    }

    /// 15 eighths of a window for each segment, also beyond the window of the last event, where RFC 9438 has a slope of 1.
    #[test]
    fn the_slope_of_its_reno_friendly_part_stays() {
        let mut rig = after_loss_at(100, Span::from_ms(40));
        let slope = |rig: &mut Rig<Cubic>| {
            let from = rig.segments();
            (0..60).for_each(|_| rig.round());
            (rig.segments() - from) / 60.0
        };
        // At 40 ms the cubic of 2.4 s adds less than 5 segments to either stretch.
        let (below, beyond) = (slope(&mut rig), slope(&mut rig));
        assert!((0.45..0.62).contains(&below) && (0.45..0.62).contains(&beyond), "{below} {beyond}");
    }

    /// At 2 ms the window stays for a 32nd of a second or longer, and then climbs by several segments within a round trip; over
    /// all it keeps Reno's pace. With RFC 9438 it would grow by 0.53 segments in each.
    #[test]
    fn far_below_a_32nd_of_a_second_it_climbs_stairs() {
        for hz in [100, 250, 1000] {
            let law = Cubic::new(&CubicSettings { hz, ..settings() }, SITE);
            let mut rig = Rig::avoiding(law, 20, Span::from_ms(2));
            rig.fall(Cause::Loss);
            let windows: Vec<f64> = (0..400)
                .map(|_| {
                    rig.round();
                    rig.segments()
                })
                .collect();
            let calm = windows.chunk_by(|a, b| a == b).map(<[f64]>::len).max().expect("there are windows");
            assert!(calm >= 14, "{hz}: {calm} round trips without growth");
            let steepest = windows.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max);
            assert!(steepest >= 3.0, "{hz}: {steepest}");
            let mean = (windows[399] - windows[0]) / 399.0;
            assert!((0.4..0.8).contains(&mean), "{hz}: {mean}");
        }
    }

    #[test]
    fn a_time_out_forgets_the_plateau_and_fast_convergence_aims_lower() {
        let mut rig = after_loss_at(100, Span::from_ms(20));
        rig.window.cwnd = 50 * MSS;
        rig.fall(Cause::Loss);
        rig.ack(rig.now, false);
        // 50 x (1024 + 717) / 2048 is 42, 7 above 35 segments.
        let k = rig.law.k().expect("the epoch has begun");
        assert!((0.4 * k * k * k - 7.0).abs() < 0.05, "{k}");
        let threshold = rig.law.reduce(
            &rig.window.clone(),
            &super::super::super::CongestionEvent {
                now: rig.now,
                cause: Cause::Timeout,
                in_flight: 0,
                line_rate: weft_core::Rate::from_gbps(1),
            },
        );
        assert_eq!((threshold / MSS, rig.law.k()), (24, None));
    }
}
