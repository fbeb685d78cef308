//! DCQCN's reaction point (Zhu et al., SIGCOMM 2015, section 3.1; Zhu et al., CoNEXT 2016, section 3).
//!
//! A notification cuts the rate by half of `alpha`, the estimate of congestion; silence lowers the estimate; a timer
//! and a byte counter raise the rate, first half way back to where it was cut (fast recovery), then beyond (additive
//! and hyper increase). *Limits*: a flow that is never notified stays at line rate; there is no slow start.
//! Simulators and cards differ in details that change the published curves; each is a setting.

use weft_core::{Bytes, Rate, Span, Time, choice, settings};

use crate::{RateLaw, RateLawSite, rate_of, start};

mod increase;

use increase::Stages;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "cut on notifications of marks, recover by timer and byte counter (SIGCOMM 2015)";

choice! {
    /// Which estimate a cut uses.
    pub enum CutBy {
        /// The one before the notification (the paper).
        Old = "old",
        /// The one already raised by the notification (the simulator released with the paper).
        Updated = "updated",
    }
}

choice! {
    /// How many increases are fast recovery.
    pub enum RecoveryCount {
        /// `recovery_events`; the next one is additive (as the fluid model assumes).
        Fluid = "fluid",
        /// One less (the simulator released with the paper).
        Ns3 = "ns3",
    }
}

choice! {
    /// When the rate may rise by `hyper_step`.
    pub enum HyperIncrease {
        /// When both timer and byte counter are past fast recovery (the paper).
        Both = "both",
        /// By the timer alone: the first increase after fast recovery is additive, all later ones are hyper
        /// increases.
        Timer = "timer",
        /// Never (the fluid model).
        Off = "off",
    }
}

choice! {
    /// When estimate and rate react to notifications.
    pub enum ReactionTiming {
        /// At once; the estimate falls after each `alpha_timer` of silence (the paper).
        Paper = "paper",
        /// At the ticks of free-running timers, which check whether a notification has arrived since the last tick
        /// (cards).
        FreeRunning = "free-running",
    }
}

settings! {
    /// DCQCN's reaction point.
    pub struct DcqcnSettings {
        /// Weight of a new observation in the estimate (g); SIGCOMM 2015.
        gain: f64 [0.0, 1.0] = 1.0 / 256.0,
        /// Silence after which the estimate falls (tau'); must exceed the notification interval. Free-running: the
        /// interval at which the estimate is updated.
        alpha_timer: Span = Span::from_us(55),
        /// Interval of timed increases (T).
        increase_timer: Span = Span::from_us(55),
        /// Bytes on the wire after which the rate is increased (B).
        byte_counter: Bytes = Bytes(10_000_000),
        /// Increases that make up fast recovery (F).
        recovery_events: u32 [0, 1000] = 5,
        /// How they are counted.
        recovery_count: RecoveryCount = RecoveryCount::Fluid,
        /// Additive increase of the target rate (R_AI).
        additive_step: Rate = Rate::from_mbps(40),
        /// When the target rate increases faster.
        hyper_increase: HyperIncrease = HyperIncrease::Both,
        /// Hyper increase of the target rate (R_HAI); the paper gives none, this is from an example of its simulator.
        hyper_step: Rate = Rate::from_mbps(200),
        /// Minimum rate (R_min), low enough that the flows of a link can share it.
        min_rate: Rate = Rate::from_mbps(10),
        /// Rates at which the flows start, in order of their numbers; the list repeats. Empty: the line rate. A flow that
        /// starts below it recovers from the start.
        initial_rates: Vec<Rate> = Vec::new(),
        /// A flow that starts below the line rate keeps its first rate until its first notification, as in the simulator
        /// released with the paper.
        wait_for_notification: bool = false,
        /// The estimate before the first notification; the simulator released with the paper has 0.5.
        initial_alpha: f64 [0.0, 1.0] = 1.0,
        /// Which estimate a cut uses.
        cut_by: CutBy = CutBy::Old,
        /// Every notification sets the target to the current rate; otherwise the target stays if nothing was
        /// increased since the last cut (QCN).
        clamp_target: bool = true,
        /// A notification restarts the byte counter; QCN lets it continue.
        reset_byte_meter: bool = true,
        /// The first increase after a cut divides a target of more than ten times the rate by eight, as in the
        /// simulator released with the paper.
        collapse_target: bool = false,
        /// When the law reacts.
        timing: ReactionTiming = ReactionTiming::Paper,
        /// Free-running: the interval at which the rate may be cut.
        decrease_interval: Span = Span::from_us(50),
        /// Free-running: fraction of the rate left by the first notification.
        first_cut: f64 [0.0, 1.0] = 1.0,
    }
}

/// The reaction point of one flow.
#[derive(Clone, Debug)]
pub struct Dcqcn {
    rules: Rules,
    /// Current rate (R_C), bits per second.
    current: f64,
    /// Target rate (R_T).
    target: f64,
    alpha: f64,
    stages: Stages,
    /// Bytes until the byte counter's next event.
    meter: u64,
    alpha_at: Time,
    increase_at: Time,
    /// Free-running: the next tick at which the rate may be cut.
    cut_at: Time,
    /// Free-running: whether a notification arrived since the last tick, for either timer.
    heard: Heard,
    /// Whether any notification has arrived.
    notified: bool,
}

/// The state of the free-running timers.
#[derive(Clone, Copy, Debug, Default)]
struct Heard {
    by_alpha: bool,
    by_cut: bool,
}

/// The settings in the form used for computing.
#[derive(Clone, Copy, Debug)]
struct Rules {
    line: f64,
    gain: f64,
    least: f64,
    additive: f64,
    hyper: f64,
    first_cut: f64,
    alpha_timer: Span,
    increase_timer: Span,
    cut_timer: Span,
    byte_counter: u64,
    recovery: u32,
    by: HyperIncrease,
    cut_by: CutBy,
    timing: ReactionTiming,
    clamp: bool,
    reset_meter: bool,
    collapse: bool,
}

impl Rules {
    fn new(settings: &DcqcnSettings, line_rate: Rate) -> Rules {
        let one_less = u32::from(settings.recovery_count == RecoveryCount::Ns3);
        let timer = |span: Span| span.max(Span::from_ns(1));
        Rules {
            line: line_rate.0.max(1) as f64,
            gain: settings.gain,
            least: settings.min_rate.0.clamp(1, line_rate.0.max(1)) as f64,
            additive: settings.additive_step.0 as f64,
            hyper: settings.hyper_step.0 as f64,
            first_cut: settings.first_cut,
            alpha_timer: timer(settings.alpha_timer),
            increase_timer: timer(settings.increase_timer),
            cut_timer: timer(settings.decrease_interval),
            byte_counter: settings.byte_counter.0.max(1),
            recovery: settings.recovery_events.saturating_sub(one_less),
            by: settings.hyper_increase,
            cut_by: settings.cut_by,
            timing: settings.timing,
            clamp: settings.clamp_target,
            reset_meter: settings.reset_byte_meter,
            collapse: settings.collapse_target,
        }
    }
}

impl Dcqcn {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &DcqcnSettings, site: RateLawSite) -> Dcqcn {
        let rules = Rules::new(settings, site.line_rate);
        let start = start::listed(&settings.initial_rates, &site).unwrap_or(rules.line);
        let runs = start < rules.line && !settings.wait_for_notification;
        Dcqcn {
            current: start,
            target: start,
            alpha: settings.initial_alpha,
            stages: Stages::default(),
            meter: rules.byte_counter,
            alpha_at: Time::NEVER,
            increase_at: if runs { site.now + rules.increase_timer } else { Time::NEVER },
            cut_at: Time::NEVER,
            heard: Heard::default(),
            notified: false,
            rules,
        }
    }

    /// The estimate of congestion, 0 to 1.
    #[must_use]
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// The rate that recovery aims at.
    #[must_use]
    pub fn target(&self) -> Rate {
        rate_of(self.target)
    }

    fn raise_alpha(&mut self) {
        self.alpha += self.rules.gain * (1.0 - self.alpha);
    }

    /// Lowers the estimate at every tick of its timer up to `now`; free-running, a notification raises it at the
    /// first.
    fn advance_alpha(&mut self, now: Time) {
        if self.alpha_at > now {
            return;
        }
        let period = self.rules.alpha_timer;
        let mut ticks = now.since(self.alpha_at).0 / period.0 + 1;
        self.alpha_at += period * ticks;
        if std::mem::take(&mut self.heard.by_alpha) {
            self.raise_alpha();
            ticks -= 1;
        }
        self.alpha *= (1.0 - self.rules.gain).powi(i32::try_from(ticks).unwrap_or(i32::MAX));
    }

    /// Cuts the rate and restarts the increases.
    fn cut(&mut self, now: Time) {
        let rules = self.rules;
        if rules.clamp || self.stages.any() {
            self.target = self.current;
        }
        if rules.cut_by == CutBy::Updated && rules.timing == ReactionTiming::Paper {
            self.raise_alpha();
        }
        self.current = (self.current * (1.0 - self.alpha / 2.0)).max(rules.least.min(self.current));
        if rules.cut_by == CutBy::Old && rules.timing == ReactionTiming::Paper {
            self.raise_alpha();
        }
        self.stages = Stages::default();
        if rules.reset_meter {
            self.meter = rules.byte_counter;
        }
        self.increase_at = now + rules.increase_timer;
    }

    /// Free-running: the first notification starts the timers. It counts for the first tick of cuts, at which
    /// increases begin, but not for the estimate, which it sets.
    fn first_notification(&mut self, now: Time) {
        self.alpha = 1.0;
        self.current = (self.current * self.rules.first_cut).max(self.rules.least.min(self.current));
        self.target = self.current;
        self.alpha_at = now + self.rules.alpha_timer;
        self.cut_at = now + self.rules.cut_timer;
        self.heard.by_cut = true;
    }

    /// Free-running: the rate is cut at the first tick after a notification.
    fn advance_cuts(&mut self, now: Time) {
        if self.cut_at > now {
            return;
        }
        if std::mem::take(&mut self.heard.by_cut) {
            let at = self.cut_at;
            self.advance_alpha(at);
            self.advance_increases(at);
            self.cut(at);
        }
        let period = self.rules.cut_timer;
        self.cut_at += period * (now.since(self.cut_at).0 / period.0 + 1);
    }
}

impl RateLaw for Dcqcn {
    #[inline]
    fn rate(&self) -> Rate {
        rate_of(self.current)
    }

    fn next_wakeup(&self) -> Time {
        self.alpha_at.min(self.increase_at).min(self.cut_at)
    }

    fn advance(&mut self, now: Time) {
        self.advance_cuts(now);
        self.advance_alpha(now);
        self.advance_increases(now);
    }

    fn on_notification(&mut self, now: Time) {
        let first = !std::mem::replace(&mut self.notified, true);
        if self.rules.timing == ReactionTiming::Paper {
            self.cut(now);
            self.alpha_at = now + self.rules.alpha_timer;
        } else if first {
            self.first_notification(now);
        } else {
            self.heard = Heard { by_alpha: true, by_cut: true };
        }
    }

    fn on_sent(&mut self, _now: Time, bytes: Bytes) {
        if self.increase_at != Time::NEVER {
            self.count_bytes(bytes.0);
        }
    }
}

#[cfg(test)]
mod tests;
