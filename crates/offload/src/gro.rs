//! Generic receive offload as a count: the number of batches into which the receiving host would merge a flow's
//! segments. Each batch costs the host one pass through its stack, so the count shows the work caused by reordering.
//! Nothing is delayed.
//!
//! *Source*: Ghorbani et al., SIGCOMM'17, after Linux. *Rules*: segments in sequence and with equal marks merge while
//! the batch stays within the limit; a batch is closed by a segment out of sequence, by a segment that would make it
//! too large, by one with another mark, and by the end of a poll of the card. *Limits*: the poll of a host covers all
//! its flows; here it ends when the flow's own segments use up the budget or pause for longer than `gro_flush`.

use weft_core::{Bytes, Span, Time, settings};

settings! {
    /// Receive offload.
    pub struct GroSettings {
        /// Maximum payload of a batch; 64 KiB is the largest IP packet.
        gro_limit: Bytes = Bytes(64 << 10),
        /// Packets per poll of the card; Linux has 64.
        gro_budget: u32 [1, 1000000] = 64,
        /// A pause in the flow that ends the poll; 20 us is typical interrupt moderation.
        gro_flush: Span = Span::from_us(20),
    }
}

/// Counts the batches of one flow.
#[derive(Clone, Debug)]
pub struct GroCounter {
    limit: u64,
    budget: u32,
    flush: Span,
    batches: u64,
    /// The byte after the open batch; nothing merges before the first segment.
    next: u64,
    /// Payload of the open batch.
    bytes: u64,
    /// Packets of the current poll.
    polled: u32,
    marked: bool,
    latest: Time,
}

impl GroCounter {
    /// A counter for a flow that has not started.
    #[must_use]
    pub fn new(settings: &GroSettings) -> GroCounter {
        GroCounter {
            limit: settings.gro_limit.0,
            budget: settings.gro_budget,
            flush: settings.gro_flush,
            batches: 0,
            next: u64::MAX,
            bytes: 0,
            polled: 0,
            marked: false,
            latest: Time::ZERO,
        }
    }

    /// Counts a segment of `len` bytes from byte `start`, with or without a congestion mark. Returns whether it
    /// merged into the open batch; otherwise it starts a new one.
    #[inline]
    pub fn on_segment(&mut self, now: Time, start: u64, len: u64, marked: bool) -> bool {
        let same_poll = self.poll(now);
        let fits = start == self.next && self.bytes + len <= self.limit && marked == self.marked;
        let merged = same_poll && fits;
        if !merged {
            self.batches += 1;
            (self.bytes, self.marked) = (0, marked);
        }
        self.bytes += len;
        self.next = start + len;
        merged
    }

    /// Batches started so far; each reaches the stack as one segment.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batches
    }

    /// Counts a packet of a poll; returns whether it belongs to the same poll as the previous one.
    #[inline]
    fn poll(&mut self, now: Time) -> bool {
        let same = self.polled < self.budget && now.since(self.latest) <= self.flush;
        self.polled = if same { self.polled + 1 } else { 1 };
        self.latest = now;
        same
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: u64 = 1460;

    /// Batches when these full segments arrive `gap` apart.
    fn batches(settings: &GroSettings, gap: Span, order: impl Iterator<Item = u64>) -> u64 {
        let mut counter = GroCounter::new(settings);
        let mut now = Time::ZERO;
        for n in order {
            counter.on_segment(now, n * LEN, LEN, false);
            now += gap;
        }
        counter.batches()
    }

    fn roomy() -> GroSettings {
        GroSettings { gro_budget: 1_000_000, ..GroSettings::default() }
    }

    #[test]
    fn in_sequence_a_batch_is_as_large_as_the_limit_allows() {
        // 65536 / 1460 = 44 segments.
        assert_eq!(batches(&roomy(), Span::from_ns(1200), 0..440), 10);
        assert_eq!(batches(&roomy(), Span::from_ns(1200), 0..441), 11);
    }

    #[test]
    fn a_batch_of_exactly_the_limit_is_allowed() {
        let settings = GroSettings { gro_limit: Bytes(4 * LEN), ..roomy() };
        assert_eq!(batches(&settings, Span::ZERO, 0..8), 2);
        let settings = GroSettings { gro_limit: Bytes(4 * LEN - 1), ..roomy() };
        assert_eq!(batches(&settings, Span::ZERO, 0..9), 3);
    }

    #[test]
    fn each_swap_of_neighbours_costs_up_to_three_batches() {
        assert_eq!(batches(&roomy(), Span::ZERO, [0, 1, 3, 2, 4, 5].into_iter()), 4);
        assert_eq!(batches(&roomy(), Span::ZERO, (0..40).map(|n| n ^ 1)), 40);
    }

    #[test]
    fn a_pause_or_the_budget_ends_the_poll() {
        let settings = GroSettings::default();
        assert_eq!(batches(&settings, Span::from_us(20), 0..10), 1);
        assert_eq!(batches(&settings, Span::from_us(21), 0..10), 10);
        // 64 packets: batches of 44 and 20 segments, again and again.
        assert_eq!(batches(&settings, Span::from_ns(1200), 0..128), 4);
    }

    #[test]
    fn segments_of_different_marks_never_merge() {
        let mut counter = GroCounter::new(&roomy());
        let marks = [false, false, true, true, false];
        let merged: Vec<bool> = (0..)
            .zip(marks)
            .map(|(n, marked)| counter.on_segment(Time::ZERO, n * LEN, LEN, marked))
            .collect();
        assert_eq!(merged, [false, true, false, true, false]);
        assert_eq!(counter.batches(), 3);
    }

    #[test]
    fn a_flow_that_has_not_begun_has_no_batches() {
        let mut counter = GroCounter::new(&GroSettings::default());
        assert_eq!(counter.batches(), 0);
        assert!(!counter.on_segment(Time::ZERO, 0, 1, false));
        assert_eq!(counter.batches(), 1);
    }
}
