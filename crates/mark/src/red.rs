//! RED / WRED with marks (Floyd and Jacobson 1993, as data-centre switches implement it): a ramp from `min` to `max`.
//!
//! Probability 0 up to `min`, rising linearly to `max_probability` at `max`, 1 above (or the ramp continues). The
//! queue is instantaneous, or an exponentially weighted average with weight 2^-n.

use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Random, Rate, Span, Time, choice, settings};

use super::{Action, At, Marker, NonEct, Scope, Sight};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "probability ramp between two thresholds (RED, WRED, DCQCN's switch half)";

choice! {
    /// Whether an arriving packet counts towards the queue it is compared with.
    pub enum Arriving {
        /// It counts.
        Included = "included",
        /// It does not.
        Excluded = "excluded",
    }
}

choice! {
    /// What happens above `max`.
    pub enum Beyond {
        /// Every packet is marked: the algorithm as published, with a jump from `max_probability` to 1.
        MarkAll = "mark-all",
        /// The ramp continues with its slope up to probability 1, as DCQCN's published stability figures silently
        /// assume.
        Continue = "continue",
    }
}

settings! {
    /// RED with marks.
    pub struct RedSettings {
        /// No marks up to here (K_min).
        min: Amount = Amount::Bytes(Bytes(5_000)),
        /// The ramp ends here (K_max).
        max: Amount = Amount::Bytes(Bytes(200_000)),
        /// Probability just below `max` (P_max).
        max_probability: Share = Share(0.01),
        /// What happens above `max`.
        beyond: Beyond = Beyond::MarkAll,
        /// Average the queue, or what counts by `scope`, with weight 2^-n, also over the time for which it is empty; 0:
        /// use the instantaneous queue.
        average: u32 [0, 16] = 0,
        /// Wire size of the packet for `pkt`.
        packet: Bytes = Bytes(1_538),
        /// Where the decision is made.
        at: At = At::Enqueue,
        /// Whether an arriving packet counts itself.
        arriving: Arriving = Arriving::Included,
        /// Which bytes count.
        scope: Scope = Scope::Queue,
        /// What happens to packets that cannot be marked.
        non_ect: NonEct = NonEct::Drop,
    }
}

/// RED with marks.
#[derive(Clone, Debug)]
pub struct Red {
    at: At,
    arriving: Arriving,
    scope: Scope,
    non_ect: NonEct,
    beyond: Beyond,
    max_probability: f64,
    min: f64,
    max: f64,
    /// Weight of a new sample in the average.
    weight: f64,
    average: f64,
    line: Rate,
    /// The time of a full-size packet: while the queue is empty, the average falls as if such packets passed.
    slot: Span,
    /// When the queue last seen will have left the line.
    empty_from: Time,
}

impl Red {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &RedSettings, line: Rate) -> Red {
        let bytes = |amount: Amount| amount.bytes(settings.packet).0 as f64;
        let (min, max) = (bytes(settings.min), bytes(settings.max));
        let weight = 0.5f64.powi(settings.average as i32);
        Red {
            at: settings.at,
            arriving: settings.arriving,
            scope: settings.scope,
            non_ect: settings.non_ect,
            beyond: settings.beyond,
            max_probability: settings.max_probability.0,
            min,
            max,
            weight,
            average: 0.0,
            line,
            slot: line.time_for(settings.packet),
            empty_from: Time::ZERO,
        }
    }

    /// Lowers the average by the time for which the queue has been empty (section 4 of the paper), and adds a sample. The
    /// packet finds or leaves `others` bytes.
    fn sample(&mut self, bytes: u64, others: u64, sight: &Sight<'_>) {
        if self.weight < 1.0 {
            let idle = sight.now.0.saturating_sub(self.empty_from.0);
            if others == 0 && idle > 0 {
                self.average *= (1.0 - self.weight).powf(idle as f64 / self.slot.0.max(1) as f64);
            }
            self.empty_from = sight.now + self.line.time_for(Bytes(others + u64::from(sight.packet.wire)));
        }
        self.average += self.weight * (bytes as f64 - self.average);
    }

    /// The probability of a mark at a queue of `bytes`.
    fn probability(&self, bytes: f64) -> f64 {
        if bytes <= self.min {
            0.0
        } else if bytes > self.max && self.beyond == Beyond::MarkAll {
            1.0
        } else {
            self.max_probability * (bytes - self.min) / (self.max - self.min)
        }
    }

    fn judge(&mut self, (bytes, others): (u64, u64), sight: &Sight<'_>, random: &mut Random) -> Action {
        self.sample(bytes, others, sight);
        let probability = self.probability(self.average);
        let chosen = probability >= 1.0 || probability > 0.0 && random.chance(probability);
        if chosen { sight.chosen(self.non_ect) } else { Action::Pass }
    }
}

impl Marker for Red {
    fn arriving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action {
        if self.at != At::Enqueue {
            return Action::Pass;
        }
        let own = match self.arriving {
            Arriving::Included => u64::from(sight.occupied),
            Arriving::Excluded => 0,
        };
        let others = sight.bytes(self.scope);
        self.judge((others + own, others), sight, random)
    }

    fn leaving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action {
        if self.at != At::Dequeue {
            return Action::Pass;
        }
        let others = sight.bytes(self.scope);
        self.judge((others, others), sight, random)
    }

    /// Up to `min` nothing is drawn. An average moves with every packet, so it must see them all.
    fn passes_up_to(&self) -> u64 {
        match self.at {
            At::Enqueue if self.weight < 1.0 => 0,
            At::Enqueue => self.min as u64,
            At::Dequeue => u64::MAX,
        }
    }

    fn looks_at_departures(&self) -> bool {
        self.at == At::Dequeue
    }

    fn is_of_port(&self) -> bool {
        self.scope == Scope::Port && self.weight < 1.0
    }
}
