//! HyStart as in Linux: leaves slow start before the queue overflows, on a long train of acknowledgements or a rising
//! round-trip time. Sees only the acknowledgements of slow start.
//!
//! *Source*: Ha and Rhee, "Taming the elephants: new TCP slow start" (2011), with the figures of Linux since 5.6.
//! *Limits*: the rise must be at least 4 ms, so in a data centre only the train can end slow start.

use weft_core::{Span, Time};

use super::{AckEvent, Window};

/// Window in segments below which HyStart does not act.
const LEAST_WINDOW: u64 = 16;
/// Acknowledgements further apart do not belong to one train.
const TRAIN_SPACING: Span = Span::from_ms(2);
/// Allowance for the batching of acknowledgements: this many bytes at the sending rate, at most this long.
const BATCHED_BYTES: u64 = 4 * 65_536;
const BATCHED_MOST: Span = Span::from_ms(1);
/// Round-trip samples of a round before its smallest counts.
const SAMPLES: u32 = 8;
/// A rise by one eighth of the smallest round trip counts, within these limits.
const RISE_LEAST: Span = Span::from_ms(4);
const RISE_MOST: Span = Span::from_ms(16);

/// The measurements of one round of slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// The fraction of the round trip that a train may last: half, or all of it if the sender paces and thus itself
    /// spreads its packets over half a round trip.
    parts: u64,
    /// Whether it has already ended slow start.
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
    /// The state before the first round; `paced` as Linux behaves behind a queue that paces.
    pub(super) fn new(paced: bool) -> HyStart {
        HyStart {
            parts: if paced { 1 } else { 2 },
            found: false,
            round_end: 0,
            round_start: Time::ZERO,
            train: Time::ZERO,
            samples: 0,
            smallest: Span::ZERO,
        }
    }

    /// Processes an acknowledgement; returns whether slow start must end with it.
    pub(super) fn ends_slow_start(&mut self, window: &Window, ack: &AckEvent) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        if self.found || !window.in_slow_start() {
            return false;
        }
        if ack.una > self.round_end {
            self.begin_round(ack);
        }
        if window.cwnd < LEAST_WINDOW * window.mss {
            return false;
        }
        self.found = self.long_train(window, ack) || self.slow_round(rtt, ack.min_rtt);
        self.found
    }

    /// Called at a time-out: slow start restarts.
    pub(super) fn restart(&mut self) {
        *self = HyStart::new(self.parts == 1);
    }

    fn begin_round(&mut self, ack: &AckEvent) {
        self.round_end = ack.next;
        (self.round_start, self.train) = (ack.now, ack.now);
        (self.samples, self.smallest) = (0, Span(u64::MAX));
    }

    /// Whether acknowledgements have been arriving without a pause for longer than the smallest round trip, or half of
    /// it.
    fn long_train(&mut self, window: &Window, ack: &AckEvent) -> bool {
        if ack.now.since(self.train) > TRAIN_SPACING {
            return false;
        }
        self.train = ack.now;
        ack.now.since(self.round_start) > (ack.min_rtt + batching(window, ack)) / self.parts
    }

    /// Whether even the smallest sample of the round is longer than the connection's smallest.
    fn slow_round(&mut self, rtt: Span, min_rtt: Span) -> bool {
        self.smallest = self.smallest.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.smallest > min_rtt + (min_rtt / 8).clamp(RISE_LEAST, RISE_MOST)
    }
}

/// How long acknowledgements may be batched on the way: the time of a few large bursts at the slow-start rate of two
/// windows per round trip.
fn batching(window: &Window, ack: &AckEvent) -> Span {
    let per_round_trip = 2 * window.cwnd.max(ack.in_flight);
    Span(BATCHED_BYTES.saturating_mul(ack.srtt.0) / per_round_trip).min(BATCHED_MOST)
}

#[cfg(test)]
mod tests {
    use super::super::cubic::{Cubic, CubicSettings};
    use super::super::rig::{MSS, Rig, SITE};
    use super::*;

    /// Time of a full packet at 100 Mb/s.
    const PACKET: Span = Span::from_us(120);
    const RTT: Span = Span::from_ms(20);

    /// One round after an initial window of 10, so that the rounds of the law are those of the rig.
    fn starting(settings: CubicSettings) -> Rig<Cubic> {
        Rig::starting(Cubic::new(&settings, SITE), 20, RTT)
    }

    /// A round of slow start behind a bottleneck: acknowledgements `spacing` apart.
    fn train(rig: &mut Rig<Cubic>, spacing: Span) {
        let start = rig.now;
        let count = rig.window.cwnd / MSS;
        for n in 0..count {
            rig.ack(start + rig.rtt + spacing * n, false);
        }
        rig.now = start + rig.rtt.max(spacing * count);
    }

    /// The threshold in segments once slow start has ended, if it does within some rounds.
    fn end(mut rig: Rig<Cubic>, spacing: Span) -> Option<u64> {
        for _ in 0..6 {
            train(&mut rig, spacing);
            if rig.window.ssthresh != u64::MAX {
                return Some(rig.window.ssthresh / MSS);
            }
        }
        None
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        // (20 ms + 1 ms) / 2 are 88 packets: in the round that begins with 160.
        assert_eq!(end(starting(CubicSettings::default()), PACKET), Some(160 + 88));
    }

    #[test]
    fn behind_a_pacing_queue_a_train_may_last_a_round_trip() {
        // A Linux host over 100 Mb/s and 20 ms left slow start at 490 segments: 320 and a round trip of 170 packets.
        let paced = CubicSettings { hystart_paced: true, ..CubicSettings::default() };
        assert_eq!(end(starting(paced), PACKET), Some(320 + 176));
    }

    #[test]
    fn switched_off_slow_start_goes_on() {
        let off = CubicSettings { hystart: false, ..CubicSettings::default() };
        assert_eq!(end(starting(off), PACKET), None);
    }

    #[test]
    fn pauses_break_a_train() {
        let broken = Span::from_us(2_001);
        assert_eq!(end(starting(CubicSettings::default()), broken), None);
        assert!(end(starting(CubicSettings::default()), Span::from_us(2_000)).is_some());
    }

    #[test]
    fn a_rise_of_the_whole_round_by_more_than_four_milliseconds_ends_slow_start() {
        for (rise, ends) in [(Span::from_us(3_999), false), (Span::from_us(4_001), true)] {
            let mut rig = starting(CubicSettings::default());
            rig.rtt = RTT + rise;
            assert_eq!(end(rig, Span::ZERO).is_some(), ends);
        }
        let mut rig = starting(CubicSettings::default());
        rig.window.cwnd = 16 * MSS;
        rig.rtt = RTT + Span::from_ms(5);
        for n in 0..8 {
            rig.ack(Time::ZERO + rig.rtt, false);
            assert_eq!(rig.window.ssthresh, u64::MAX, "sample {n}");
        }
        rig.ack(Time::ZERO + rig.rtt, false);
        assert_eq!(rig.window.ssthresh, 24 * MSS, "the ninth sample tells");
    }

    #[test]
    fn below_sixteen_segments_nothing_ends_slow_start() {
        let mut rig = starting(CubicSettings::default());
        rig.window.cwnd = 2 * MSS;
        rig.rtt = RTT + Span::from_ms(50);
        for _ in 0..13 {
            rig.ack(rig.now, false);
        }
        assert_eq!((rig.window.cwnd, rig.window.ssthresh), (15 * MSS, u64::MAX));
    }

    #[test]
    fn after_a_time_out_slow_start_may_end_again() {
        let mut rig = starting(CubicSettings::default());
        rig.rtt = RTT + Span::from_ms(5);
        while rig.window.ssthresh == u64::MAX {
            train(&mut rig, Span::ZERO);
        }
        rig.fall(super::super::Cause::Timeout);
        rig.window.ssthresh = 1000 * MSS;
        for _ in 0..7 {
            train(&mut rig, Span::ZERO);
        }
        assert!(rig.window.ssthresh < 64 * MSS, "{}", rig.window.ssthresh / MSS);
    }
}
