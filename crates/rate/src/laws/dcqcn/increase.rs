//! How the rate rises: fast recovery, additive and hyper increase.

use weft_core::Time;

use super::{Dcqcn, HyperIncrease};

/// Increases since the last cut.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stages {
    /// Increases by the timer (T_n).
    timer: u32,
    /// Increases by the byte counter (B_n).
    bytes: u32,
}

impl Stages {
    /// Whether there was any.
    pub(super) fn any(self) -> bool {
        self.timer > 0 || self.bytes > 0
    }
}

impl Dcqcn {
    /// The timer's increases up to `now`. At line rate there is nothing to increase, so a long silence costs nothing.
    pub(super) fn advance_increases(&mut self, now: Time) {
        while self.increase_at <= now {
            let period = self.rules.increase_timer;
            if self.current >= self.rules.line {
                let ticks = now.since(self.increase_at).0 / period.0 + 1;
                self.stages.timer =
                    self.stages.timer.saturating_add(u32::try_from(ticks).unwrap_or(u32::MAX));
                self.increase_at += period * ticks;
                return;
            }
            self.increase_at += period;
            self.stages.timer = self.stages.timer.saturating_add(1);
            self.increase();
        }
    }

    /// Applies the byte counter's increases.
    pub(super) fn count_bytes(&mut self, mut bytes: u64) {
        while bytes >= self.meter {
            bytes -= self.meter;
            self.meter = self.rules.byte_counter;
            self.stages.bytes = self.stages.bytes.saturating_add(1);
            self.increase();
        }
        self.meter -= bytes;
    }

    /// Applies one increase that has already been counted.
    fn increase(&mut self) {
        let rules = &self.rules;
        if rules.collapse
            && self.stages.timer.saturating_add(self.stages.bytes) == 1
            && self.target > 10.0 * self.current
        {
            self.target /= 8.0;
        }
        self.target = (self.target + self.step()).min(rules.line);
        let half_way = (self.current + self.target) / 2.0;
        // Halving never completes: stop when less than a bit per second remains.
        self.current = if self.target - half_way < 0.5 { self.target } else { half_way };
    }

    /// The increase of the target.
    fn step(&self) -> f64 {
        let (Stages { timer, bytes }, rules) = (self.stages, &self.rules);
        let (first, last) = (timer.min(bytes), timer.max(bytes));
        match rules.by {
            HyperIncrease::Timer if timer <= rules.recovery => 0.0,
            HyperIncrease::Timer if timer > rules.recovery + 1 => rules.hyper,
            HyperIncrease::Both | HyperIncrease::Off if last <= rules.recovery => 0.0,
            HyperIncrease::Both if first > rules.recovery => f64::from(first - rules.recovery) * rules.hyper,
            _ => rules.additive,
        }
    }
}
