//! PI: an integrator that holds the queue at a reference (Hollot, Misra, Towsley and Gong 2001; DCQCN with PI at the
//! switch, CoNEXT'16).
//!
//! The probability follows `p' = K1 q' + K2 (q - reference)`. Every h, `K1 (q - q_old) + K2 h (q - reference)` is added
//! and the result clamped to 0 and 1, which prevents wind-up. The steady-state queue is the reference for any
//! number of flows and any delay. The discrete form `a (q - reference) - b (q_old - reference)` is equivalent with K1 =
//! b and K2 = (a - b) / h. The samples between two packets are computed when the second one arrives, assuming that the
//! queue drained at line rate. DCQCN marks at dequeue.

use weft_core::settings::Amount;
use weft_core::{Bytes, Random, Rate, Span, settings};

use super::sampling::{Sample, Sampling};
use super::{Action, At, Marker, NonEct, Sight};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "an integrator that holds the queue at a reference, for any number of flows (PI)";

settings! {
    /// PI with marks.
    pub struct PiSettings {
        /// Target queue length (q_ref).
        reference: Amount = Amount::Bytes(Bytes(200_000)),
        /// Packet size for `pkt` and for the gains.
        packet: Bytes = Bytes(1_000),
        /// Proportional gain (K1): probability per packet of queue.
        k1: f64 [0.0, 1000.0] = 5.8e-6,
        /// Integral gain (K2): probability per packet of queue and second.
        k2: f64 [0.0, 1000000.0] = 1.16e-4,
        /// Instead of `k1` and `k2`, together with `b`: probability per packet of queue, added at every sample.
        a: Option<f64> = None,
        /// With `a`, and at most as much: probability per packet of the queue at the last sample, subtracted at every
        /// sample.
        b: Option<f64> = None,
        /// Time between two samples of the queue (h).
        every: Span = Span::from_us(10),
        /// Where the decision is made.
        at: At = At::Enqueue,
        /// What happens to packets that cannot be marked.
        non_ect: NonEct = NonEct::Drop,
    }
}

impl PiSettings {
    /// The gains K1 per packet and K2 per packet and second, in whichever form they are given.
    #[must_use]
    pub fn gains(&self) -> (f64, f64) {
        match (self.a, self.b) {
            (Some(a), Some(b)) => (b, (a - b) / self.every.seconds()),
            _ => (self.k1, self.k2),
        }
    }
}

/// PI with marks. Boxed, so that queues with smaller markers stay small.
#[derive(Clone, Debug)]
pub struct Pi(Box<Controller>);

#[derive(Clone, Debug)]
struct Controller {
    at: At,
    non_ect: NonEct,
    sampling: Sampling,
    /// Bytes.
    reference: f64,
    /// Probability per byte of change.
    proportional: f64,
    /// Probability per byte of error at each sample.
    integral: f64,
    /// Bytes at the previous sample.
    before: f64,
    probability: f64,
}

impl Pi {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PiSettings, line: Rate) -> Pi {
        let packet = settings.packet.0 as f64;
        let (k1, k2) = settings.gains();
        Pi(Box::new(Controller {
            at: settings.at,
            non_ect: settings.non_ect,
            sampling: Sampling::new(settings.every, line),
            reference: settings.reference.bytes(settings.packet).0 as f64,
            proportional: k1 / packet,
            integral: k2 / packet * settings.every.seconds(),
            before: 0.0,
            probability: 0.0,
        }))
    }
}

impl Controller {
    /// Takes all samples due before the queue was seen with `queue` bytes at `now`.
    fn advance(&mut self, sight: &Sight<'_>, queue: u64) {
        while let Some(Sample { bytes, times }) = self.sampling.take(sight.now, queue) {
            let error = self.integral * (bytes - self.reference);
            self.add(self.proportional * (bytes - self.before) + error);
            self.before = bytes;
            if times > 1 {
                self.add(error * (times - 1) as f64);
            }
        }
    }

    fn add(&mut self, change: f64) {
        self.probability = (self.probability + change).clamp(0.0, 1.0);
    }

    fn judge(&self, at: At, sight: &Sight<'_>, random: &mut Random) -> Action {
        let chosen = self.at == at && self.probability > 0.0 && random.chance(self.probability);
        if chosen { sight.chosen(self.non_ect) } else { Action::Pass }
    }
}

impl Marker for Pi {
    fn arriving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action {
        let own = &mut self.0;
        own.advance(sight, sight.queue);
        let action = own.judge(At::Enqueue, sight, random);
        own.sampling.look(sight.now, sight.queue + sight.stays(action));
        action
    }

    fn leaving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action {
        let own = &mut self.0;
        if own.at == At::Enqueue {
            return Action::Pass;
        }
        own.advance(sight, sight.queue + u64::from(sight.occupied));
        let action = own.judge(At::Dequeue, sight, random);
        own.sampling.look(sight.now, sight.queue + sight.stays(action));
        action
    }

    fn looks_at_departures(&self) -> bool {
        self.0.at == At::Dequeue
    }
}

#[cfg(test)]
mod tests;
