//! PIE (RFC 8033): marks with a probability set by a proportional-integral controller of the queueing delay.
//!
//! At every update the probability changes by `alpha (delay - target) + beta (delay - delay before)`, scaled down while
//! it is small (section 4.2), by at most 2 % above 10 % (5.5), and shrinks by 2 % when two consecutive updates find
//! no delay. Nothing is marked during an allowed burst (4.4), while the delay was below half the target and the
//! probability is below 20 %, or at a queue of at most two packets (4.1). Above `mark_up_to` packets are dropped even
//! if they could be marked (5.1). The RFC's own numbers, for access links: target and update 15 ms, alpha 0.125, beta
//! 1.25 per second, burst 150 ms; here target and update are 300 times shorter, the gains larger by the same factor,
//! and no burst is allowed. Omitted: turning PIE off at short queues (5.3) and derandomisation (5.4).

use weft_core::{Bytes, Random, Rate, Span, Time, choice, settings};

use super::sampling::{Sample, Sampling};
use super::{Action, Marker, NonEct, Sight};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "a controller that holds queueing delay at a target (PIE, RFC 8033)";

choice! {
    /// How the delay of a queue is found.
    pub enum DelayEstimate {
        /// The queue's bytes divided by the line rate: right for a port with one queue.
        Line = "line",
        /// The queue's bytes divided by a running mean of its service rate (section 5.2).
        Departures = "departures",
        /// The time the last departing packet waited.
        Waited = "waited",
    }
}

settings! {
    /// PIE with marks.
    pub struct PieSettings {
        /// Target queueing delay (QDELAY_REF).
        target: Span = Span::from_us(50),
        /// Time between two updates of the probability (T_UPDATE).
        every: Span = Span::from_us(50),
        /// Integral gain: probability per second of delay, per update (alpha).
        alpha: f64 [0.0, 1000000.0] = 37.5,
        /// Proportional gain: probability per second of change of the delay, per update (beta).
        beta: f64 [0.0, 1000000.0] = 375.0,
        /// Burst that an idle queue may take without marks (MAX_BURST).
        burst: Span = Span::ZERO,
        /// How the delay is estimated.
        estimate: DelayEstimate = DelayEstimate::Line,
        /// Packets are marked up to this probability, and dropped above it (mark_ecnth).
        mark_up_to: f64 [0.0, 1.0] = 0.1,
        /// Wire size of a full packet; a queue of at most two of them is never marked (MEAN_PKTSIZE).
        packet: Bytes = Bytes(1_538),
        /// What happens to packets that cannot be marked.
        non_ect: NonEct = NonEct::Drop,
    }
}

/// Above 10 %, the probability grows by at most this per update (section 5.5).
const STEEPEST: f64 = 0.02;
const STEEP_FROM: f64 = 0.1;
/// Factor of the probability at an update without delay (section 4.2).
const DECAY: f64 = 0.98;
/// Below half the target, smaller probabilities mark nothing (section 4.1).
const SMALL: f64 = 0.2;
/// The departure rate is measured over this many bytes, and its mean is updated with this weight (section 5.2).
const MEASURED: u64 = 16_384;
const WEIGHT: f64 = 0.25;
/// The smaller the probability, the smaller its changes: bounds and factors (section 4.2).
const STEPS: [(f64, f64); 6] = [
    (1e-6, 1.0 / 2048.0),
    (1e-5, 1.0 / 512.0),
    (1e-4, 1.0 / 128.0),
    (1e-3, 1.0 / 32.0),
    (1e-2, 1.0 / 8.0),
    (1e-1, 1.0 / 2.0),
];

/// PIE with marks. Boxed, so that queues with smaller markers stay small.
#[derive(Clone, Debug)]
pub struct Pie(Box<State>);

#[derive(Clone, Debug)]
struct State {
    controller: Controller,
    sampling: Sampling,
    estimate: DelayEstimate,
    non_ect: NonEct,
    mark_up_to: f64,
    /// A queue of at most this many bytes is never marked.
    few: u64,
    departures: Departures,
    /// Seconds that the last packet to leave has waited.
    waited: f64,
}

/// The probability and its inputs. Delays are in seconds.
#[derive(Clone, Debug)]
struct Controller {
    target: f64,
    alpha: f64,
    beta: f64,
    every: Span,
    burst: Span,
    before: f64,
    probability: f64,
    /// Remaining time during which nothing is marked (burst allowance, RFC 8033, section 4.4).
    allowance: Span,
}

/// The service rate of a queue, in bytes per second.
#[derive(Clone, Debug)]
struct Departures {
    rate: f64,
    /// Start of the current measurement, and bytes so far.
    cycle: Option<(Time, u64)>,
}

impl Pie {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PieSettings, line: Rate) -> Pie {
        let rate = match settings.estimate {
            DelayEstimate::Line => line.0 as f64 / Bytes(1).bits() as f64,
            DelayEstimate::Departures | DelayEstimate::Waited => 0.0,
        };
        Pie(Box::new(State {
            controller: Controller::new(settings),
            sampling: Sampling::new(settings.every, line),
            estimate: settings.estimate,
            non_ect: settings.non_ect,
            mark_up_to: settings.mark_up_to,
            few: 2 * settings.packet.0,
            departures: Departures { rate, cycle: None },
            waited: 0.0,
        }))
    }
}

impl Controller {
    fn new(settings: &PieSettings) -> Controller {
        Controller {
            target: settings.target.seconds(),
            alpha: settings.alpha,
            beta: settings.beta,
            every: settings.every,
            burst: settings.burst,
            before: 0.0,
            probability: 0.0,
            allowance: settings.burst,
        }
    }

    fn update(&mut self, delay: f64) {
        let raw = self.alpha * (delay - self.target) + self.beta * (delay - self.before);
        let scale =
            STEPS.iter().find(|(below, _)| self.probability < *below).map_or(1.0, |(_, scale)| *scale);
        let most = if self.probability >= STEEP_FROM { STEEPEST } else { f64::INFINITY };
        self.probability += (raw * scale).min(most);
        if delay == 0.0 && self.before == 0.0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.allowance = Span(self.allowance.0.saturating_sub(self.every.0));
        if self.probability == 0.0 && delay.max(self.before) < self.target / 2.0 {
            self.allowance = self.burst;
        }
        self.before = delay;
    }

    /// Whether an update without delay changes nothing.
    fn rests(&self) -> bool {
        self.probability == 0.0 && self.before == 0.0 && self.allowance == self.burst
    }

    fn marks(&self) -> bool {
        let calm = self.before < self.target / 2.0 && self.probability < SMALL;
        self.allowance == Span::ZERO && !calm && self.probability > 0.0
    }
}

impl Departures {
    /// Called when a packet of `wire` bytes begins to leave a queue of `queue` bytes, including itself.
    fn leaves(&mut self, now: Time, queue: u64, wire: u64) {
        if let Some((since, bytes)) = self.cycle.filter(|(_, bytes)| *bytes >= MEASURED) {
            let rate = bytes as f64 / now.since(since).seconds();
            self.rate = if self.rate == 0.0 { rate } else { self.rate + WEIGHT * (rate - self.rate) };
            self.cycle = None;
        }
        let start = (queue >= MEASURED).then_some((now, 0));
        self.cycle = self.cycle.or(start).map(|(since, bytes)| (since, bytes + wire));
    }
}

impl State {
    /// Takes all updates due before the queue was seen with `queue` bytes.
    fn advance(&mut self, now: Time, queue: u64) {
        while let Some(Sample { bytes, times }) = self.sampling.take(now, queue) {
            let delay = self.delay(bytes);
            for _ in 0..times {
                if delay == 0.0 && self.controller.rests() {
                    break;
                }
                self.controller.update(delay);
            }
        }
    }

    fn delay(&self, bytes: f64) -> f64 {
        match self.estimate {
            _ if bytes == 0.0 => 0.0,
            DelayEstimate::Waited => self.waited,
            _ if self.departures.rate == 0.0 => 0.0,
            _ => bytes / self.departures.rate,
        }
    }

    fn judge(&self, sight: &Sight<'_>, random: &mut Random) -> Action {
        let probability = self.controller.probability;
        if !self.controller.marks() || sight.queue <= self.few || !random.chance(probability) {
            return Action::Pass;
        }
        match sight.chosen(self.non_ect) {
            Action::Mark if probability > self.mark_up_to => Action::Drop,
            action => action,
        }
    }
}

impl Marker for Pie {
    fn arriving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action {
        let own = &mut self.0;
        own.advance(sight.now, sight.queue);
        let action = own.judge(sight, random);
        own.sampling.look(sight.now, sight.queue + sight.stays(action));
        action
    }

    fn leaving(&mut self, sight: &Sight<'_>, _random: &mut Random) -> Action {
        let own = &mut self.0;
        if own.estimate == DelayEstimate::Line {
            return Action::Pass;
        }
        let wire = u64::from(sight.occupied);
        let queue = sight.queue + wire;
        own.advance(sight.now, queue);
        own.sampling.look(sight.now, queue);
        own.waited = sight.now.since(sight.packet.arrived).seconds();
        if own.estimate == DelayEstimate::Departures {
            own.departures.leaves(sight.now, queue, wire);
        }
        Action::Pass
    }

    fn looks_at_departures(&self) -> bool {
        self.0.estimate != DelayEstimate::Line
    }
}

#[cfg(test)]
mod tests;
