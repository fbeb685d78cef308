//! The discounting rate estimator of a link (CONGA, section 3.2): a byte count that grows by each packet sent and
//! loses a fraction of itself at multiples of a period. At a steady rate R it is about R times the time constant.
//!
//! Packets count when their first bit leaves. A port that foresees departures reports them when packets join its
//! queue: the estimate at the end of the queue, which packets record, runs ahead of the one that decisions read,
//! which catches up with departures when it is read. Decays are applied one by one, so that the value does not depend
//! on when it is read.

use weft_core::{Rate, Ring, Time};

use super::CongestionSettings;

/// How estimates decay and become metrics, the same for all links.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decay {
    /// T_dre in picoseconds.
    period: u64,
    /// 1 - alpha.
    keep: f64,
    /// The time constant, T_dre / alpha, in seconds.
    constant: f64,
    /// 2^Q.
    steps: u32,
}

/// A byte count with decays.
#[derive(Clone, Copy, Debug, Default)]
struct Register {
    bytes: f64,
    /// The instant of the next decay, in picoseconds.
    next: u64,
}

/// A packet that will be sent, and the start of its transmission.
#[derive(Clone, Copy, Debug, Default)]
struct Coming {
    start: Time,
    wire: u16,
}

/// The estimator of one link.
pub(crate) struct Estimator {
    /// Metric per byte.
    scale: f64,
    sent: Register,
    /// The estimate at the end of a foreseen queue.
    ahead: Register,
    /// Packets of that queue not yet known to have started leaving.
    coming: Ring<Coming>,
    /// When the transmitter of a foreseen port becomes idle; `None`: it has sent nothing.
    busy_until: Option<Time>,
}

/// Fewer bytes than this count as zero.
const NOTHING: f64 = 1e-3;

impl Decay {
    pub(crate) fn new(settings: &CongestionSettings) -> Decay {
        let period = settings.dre_period.0.max(1);
        Decay {
            period,
            keep: 1.0 - settings.dre_decay.0,
            constant: period as f64 * 1e-12 / settings.dre_decay.0,
            steps: 1 << settings.metric_bits,
        }
    }
}

impl Register {
    /// Applies all decays up to and including `now`.
    #[inline]
    fn decay(&mut self, decay: &Decay, now: Time) {
        if now.0 >= self.next {
            self.decay_by_steps(decay, now);
        }
    }

    #[inline(never)]
    fn decay_by_steps(&mut self, decay: &Decay, now: Time) {
        while now.0 >= self.next && self.bytes >= NOTHING {
            self.bytes *= decay.keep;
            self.next += decay.period;
        }
        if self.bytes < NOTHING {
            self.bytes = 0.0;
            self.next = (now.0 / decay.period + 1) * decay.period;
        }
    }

    #[inline]
    fn add(&mut self, decay: &Decay, at: Time, wire: u16) {
        self.decay(decay, at);
        self.bytes += f64::from(wire);
    }
}

impl Estimator {
    pub(crate) fn new(decay: &Decay, rate: Rate) -> Estimator {
        let bytes = rate.0 as f64 / 8.0 * decay.constant;
        Estimator {
            scale: f64::from(decay.steps) / bytes,
            sent: Register::default(),
            ahead: Register::default(),
            coming: Ring::new(),
            busy_until: None,
        }
    }

    /// The metric now; at one instant, decisions precede back-to-back transmissions.
    #[inline]
    pub(crate) fn metric_at(&mut self, decay: &Decay, now: Time) -> u8 {
        self.take_up(decay, now);
        self.sent.decay(decay, now);
        self.metric(decay, self.sent)
    }

    /// Called when the first bit of a packet leaves; returns the metric including it.
    #[inline]
    pub(crate) fn sends(&mut self, decay: &Decay, now: Time, wire: u16) -> u8 {
        self.sent.add(decay, now, wire);
        self.metric(decay, self.sent)
    }

    /// Called when a packet joins a foreseen queue and will be sent later; returns the metric at that time.
    #[inline(always)]
    pub(crate) fn will_send(
        &mut self,
        decay: &Decay,
        now: Time,
        (start, end): (Time, Time),
        wire: u16,
    ) -> u8 {
        self.take_up(decay, now);
        // An idle transmitter starts at once. One that becomes idle at this instant does so after all arrivals.
        if self.busy_until.is_none_or(|until| until < now) {
            self.sent.add(decay, now, wire);
        } else {
            self.coming.push(Coming { start, wire });
        }
        self.busy_until = Some(end);
        self.ahead.add(decay, start, wire);
        self.metric(decay, self.ahead)
    }

    #[inline]
    fn take_up(&mut self, decay: &Decay, now: Time) {
        while let Some(first) = self.coming.pop_if(|first| first.start < now) {
            self.sent.add(decay, first.start, first.wire);
        }
    }

    #[inline]
    fn metric(&self, decay: &Decay, register: Register) -> u8 {
        ((register.bytes * self.scale) as u32).min(decay.steps - 1) as u8
    }
}

#[cfg(test)]
mod tests;
