//! HyStart as Linux has it: leaves slow start before the queue overflows, by the length of a train of acknowledgements
//! or by a rise of the round trip. Knows the acknowledgements of slow start only.
//!
//! *Source*: Ha and Rhee, "Taming the elephants: new TCP slow start" (2011), with the figures of Linux since 5.6.
//! *Limits*: the rise must be 4 ms at least, so in a data centre only the train can end slow start.

use weft_core::{Span, Time};

use super::{AckEvent, Window};

/// Segments below which the window is left alone.
const LEAST_WINDOW: u64 = 16;
/// Acknowledgements further apart do not belong to one train.
const TRAIN_SPACING: Span = Span::from_ms(2);
/// Allowance for the batching of acknowledgements: so many bytes at the rate of sending, at most this long.
const BATCHED_BYTES: u64 = 4 * 65_536;
const BATCHED_MOST: Span = Span::from_ms(1);
/// Round-trip samples of a round before its smallest counts.
const SAMPLES: u32 = 8;
/// A rise of one eighth of the smallest round trip counts, but within these limits.
const RISE_LEAST: Span = Span::from_ms(4);
const RISE_MOST: Span = Span::from_ms(16);

/// What is measured in one round of slow start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HyStart {
    /// Slow start was ended here already.
    found: bool,
    /// The round ends beyond this byte.
    round_end: u64,
    round_start: Time,
    /// The latest acknowledgement of the train.
    train: Time,
    samples: u32,
    /// Smallest round trip of this round.
    smallest: Span,
}

impl HyStart {
    /// Takes in an acknowledgement; whether slow start has to end with it.
    pub(super) fn ends_slow_start(&mut self, window: &Window, ack: &AckEvent) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if self.found || !window.in_slow_start() || window.cwnd < LEAST_WINDOW * window.mss {
            return false;
        }
        if ack.una > self.round_end {
            self.begin_round(ack);
        }
        self.found = self.long_train(window, ack) || self.slow_round(rtt, ack.min_rtt);
        self.found
    }

    /// A time-out: slow start begins anew.
    pub(super) fn restart(&mut self) {
        *self = HyStart::default();
    }

    fn begin_round(&mut self, ack: &AckEvent) {
        self.round_end = ack.next;
        (self.round_start, self.train) = (ack.now, ack.now);
        (self.samples, self.smallest) = (0, Span(u64::MAX));
    }

    /// Acknowledgements have been arriving without a pause for longer than half the smallest round trip.
    fn long_train(&mut self, window: &Window, ack: &AckEvent) -> bool {
        if ack.now.since(self.train) > TRAIN_SPACING {
            return false;
        }
        self.train = ack.now;
        ack.now.since(self.round_start) > (ack.min_rtt + batching(window, ack)) / 2
    }

    /// Even the smallest of the round's samples is longer than the connection's smallest.
    fn slow_round(&mut self, rtt: Span, min_rtt: Span) -> bool {
        self.smallest = self.smallest.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.smallest > min_rtt + (min_rtt / 8).clamp(RISE_LEAST, RISE_MOST)
    }
}

/// How long acknowledgements may be held together on the way: the time of a few large bursts at the rate of slow start,
/// which is two windows per round trip.
fn batching(window: &Window, ack: &AckEvent) -> Span {
    let per_round_trip = 2 * window.cwnd.max(ack.in_flight);
    Span(BATCHED_BYTES.saturating_mul(ack.srtt.0) / per_round_trip).min(BATCHED_MOST)
}
