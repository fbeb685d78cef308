//! The reordering shim: a buffer of one flow below TCP that restores segment order, so that TCP does not see
//! reordering by the network.
//!
//! *Sources*: Ghorbani et al., SIGCOMM'17 (DRILL with shim) and He et al., SIGCOMM'15 (Presto); neither gives all
//! timers, so the time-out is a parameter to sweep. *Rules*: segments in sequence are passed up at once; a segment
//! beyond a gap is held until the gap fills, or until the segment held longest has waited for the time-out, or more
//! than the limit is held: then everything held is passed up in order, including gaps. A segment below the expected
//! one (a retransmission) is passed up at once. Must not depend on anything about its items but sequence ranges and
//! times.

use std::ops::Range;

use weft_core::{Bytes, Span, Time, settings};

settings! {
    /// The reordering shim.
    pub struct ShimSettings {
        /// Longest wait of a segment for the gap before it to fill (T_shim); DRILL's is unpublished, studies sweep 50
        /// us to 200 us.
        shim_timeout: Span = Span::from_us(100),
        /// Maximum payload held per flow; the size of the largest segment receive offload builds.
        shim_limit: Bytes = Bytes(64 << 10),
    }
}

/// The shim of one flow, holding items of type `T` (segments, or stand-ins for them).
#[derive(Clone, Debug)]
pub struct Shim<T> {
    timeout: Span,
    limit: u64,
    /// The next byte in sequence.
    expected: u64,
    /// Held segments, in order of sequence; empty, and without memory, until something is held.
    held: Vec<Held<T>>,
    bytes: u64,
    /// When the segment held longest arrived; [`Time::NEVER`] if nothing is held.
    oldest: Time,
}

#[derive(Clone, Debug)]
struct Held<T> {
    bytes: Range<u64>,
    since: Time,
    item: T,
}

impl<T: Copy> Shim<T> {
    /// A shim that expects byte 0.
    #[must_use]
    pub fn new(settings: &ShimSettings) -> Shim<T> {
        Shim {
            timeout: settings.shim_timeout,
            limit: settings.shim_limit.0,
            expected: 0,
            held: Vec::new(),
            bytes: 0,
            oldest: Time::NEVER,
        }
    }

    /// Called when a segment with these bytes arrives. Segments that may be passed up, this one or others, are
    /// appended to `out` in order of sequence.
    pub fn on_segment(&mut self, now: Time, bytes: Range<u64>, item: T, out: &mut Vec<T>) {
        if bytes.start > self.expected {
            self.hold(Held { bytes, since: now, item });
            if self.bytes > self.limit {
                self.flush(out);
            }
            return;
        }
        out.push(item);
        self.expected = self.expected.max(bytes.end);
        if !self.held.is_empty() {
            self.release(out);
        }
    }

    /// When [`Shim::on_wakeup`] must be called; [`Time::NEVER`] if nothing is held.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        self.oldest + self.timeout
    }

    /// Called when the clock reaches an instant: after the time-out, everything held is passed up. May be called
    /// early or late.
    pub fn on_wakeup(&mut self, now: Time, out: &mut Vec<T>) {
        if now >= self.next_wakeup() {
            self.flush(out);
        }
    }

    /// Payload currently held.
    #[must_use]
    pub fn held(&self) -> Bytes {
        Bytes(self.bytes)
    }

    /// Inserts a segment after those that start no later.
    fn hold(&mut self, segment: Held<T>) {
        self.bytes += segment.bytes.end - segment.bytes.start;
        self.oldest = self.oldest.min(segment.since);
        let place = self.held.partition_point(|other| other.bytes.start <= segment.bytes.start);
        self.held.insert(place, segment);
    }

    /// Passes up everything now in sequence.
    fn release(&mut self, out: &mut Vec<T>) {
        let mut count = 0;
        for segment in &self.held {
            if segment.bytes.start > self.expected {
                break;
            }
            self.expected = self.expected.max(segment.bytes.end);
            count += 1;
        }
        self.send_up(count, out);
    }

    /// Passes up everything; TCP handles the gaps.
    fn flush(&mut self, out: &mut Vec<T>) {
        let end = self.held.iter().map(|segment| segment.bytes.end).max();
        self.expected = self.expected.max(end.unwrap_or(0));
        self.send_up(self.held.len(), out);
    }

    /// Passes up the first `count` held segments.
    fn send_up(&mut self, count: usize, out: &mut Vec<T>) {
        for segment in self.held.drain(..count) {
            self.bytes -= segment.bytes.end - segment.bytes.start;
            out.push(segment.item);
        }
        self.oldest = self.held.iter().map(|segment| segment.since).min().unwrap_or(Time::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Purpose, Random};

    const SEGMENT: u64 = 1460;

    fn us(n: u64) -> Time {
        Time::ZERO + Span::from_us(n)
    }

    fn shim() -> Shim<u64> {
        Shim::new(&ShimSettings::default())
    }

    /// The `n`-th full segment arrives; which segments go up?
    fn arrive(shim: &mut Shim<u64>, now: Time, n: u64) -> Vec<u64> {
        let mut out = Vec::new();
        shim.on_segment(now, n * SEGMENT..(n + 1) * SEGMENT, n, &mut out);
        out
    }

    fn wake(shim: &mut Shim<u64>, now: Time) -> Vec<u64> {
        let mut out = Vec::new();
        shim.on_wakeup(now, &mut out);
        out
    }

    #[test]
    fn in_sequence_nothing_is_held_and_nothing_allocated() {
        let mut shim = shim();
        for n in 0..1000 {
            assert_eq!(arrive(&mut shim, us(n), n), [n]);
            assert_eq!((shim.next_wakeup(), shim.held()), (Time::NEVER, Bytes::ZERO));
        }
        assert_eq!(shim.held.capacity(), 0);
    }

    #[test]
    fn a_filled_gap_releases_up_to_the_next_gap() {
        let mut shim = shim();
        assert_eq!(arrive(&mut shim, us(0), 0), [0]);
        for n in [5, 2, 3] {
            assert!(arrive(&mut shim, us(n), n).is_empty());
        }
        assert_eq!(shim.held(), Bytes(3 * SEGMENT));
        assert_eq!(arrive(&mut shim, us(6), 1), [1, 2, 3]);
        assert_eq!(shim.next_wakeup(), us(105), "the timer is that of segment 5 alone");
        assert_eq!(arrive(&mut shim, us(7), 4), [4, 5]);
        assert_eq!(shim.next_wakeup(), Time::NEVER);
    }

    #[test]
    fn the_longest_wait_counts_whatever_its_place() {
        let mut shim = shim();
        arrive(&mut shim, us(10), 7);
        arrive(&mut shim, us(30), 3);
        assert_eq!(shim.next_wakeup(), us(110));
        assert!(wake(&mut shim, us(109)).is_empty(), "early calls do nothing");
        assert_eq!(wake(&mut shim, us(110)), [3, 7], "all go up in order, gaps and all");
        assert_eq!(shim.next_wakeup(), Time::NEVER);
        assert!(wake(&mut shim, us(500)).is_empty());
    }

    #[test]
    fn retransmissions_go_up_at_once() {
        let mut shim = shim();
        arrive(&mut shim, us(0), 2);
        wake(&mut shim, us(100));
        assert_eq!(arrive(&mut shim, us(150), 0), [0]);
        assert_eq!(arrive(&mut shim, us(151), 1), [1]);
        assert_eq!(arrive(&mut shim, us(152), 3), [3], "expected stands behind what was flushed");
        assert_eq!(arrive(&mut shim, us(153), 3), [3], "a second copy is TCP's affair");
    }

    #[test]
    fn a_segment_across_the_expected_byte_fills_the_gap() {
        let mut shim = shim();
        let mut out = Vec::new();
        shim.on_segment(us(0), 0..1000, 0, &mut out);
        shim.on_segment(us(0), 2000..3000, 2, &mut out);
        shim.on_segment(us(0), 500..2500, 1, &mut out);
        assert_eq!(out, [0, 1, 2]);
        shim.on_segment(us(0), 3000..3001, 3, &mut out);
        assert_eq!(out.last(), Some(&3));
    }

    #[test]
    fn more_than_the_limit_is_never_held() {
        let mut shim = shim();
        let fit = (64 << 10) / SEGMENT;
        for n in 1..=fit {
            assert!(arrive(&mut shim, us(0), n).is_empty());
        }
        let all: Vec<u64> = (1..=fit + 1).collect();
        assert_eq!(arrive(&mut shim, us(0), fit + 1), all);
        assert_eq!(shim.held(), Bytes::ZERO);
    }

    #[test]
    fn any_reordering_within_the_time_out_is_undone() {
        let mut random = Random::new(1, Purpose::Test, 0);
        let mut shim = shim();
        let mut up = Vec::new();
        let mut order: Vec<u64> = (0..4000).collect();
        for window in order.chunks_mut(40) {
            for last in (1..window.len()).rev() {
                window.swap(last, random.below(last as u32 + 1) as usize);
            }
        }
        for (now, n) in order.iter().enumerate() {
            up.extend(arrive(&mut shim, us(now as u64), *n));
        }
        assert!(up.iter().copied().eq(0..4000));
        assert!(shim.held.capacity() <= 64, "memory follows what is held");
    }

    #[test]
    fn with_losses_everything_that_arrived_goes_up_exactly_once_and_in_order_between_time_outs() {
        let mut random = Random::new(2, Purpose::Test, 0);
        let mut shim = shim();
        let (mut up, mut sent) = (Vec::new(), Vec::new());
        for n in 0..2000 {
            if random.below(50) == 0 {
                continue;
            }
            sent.push(n);
            up.extend(wake(&mut shim, us(10 * n)));
            up.extend(arrive(&mut shim, us(10 * n), n));
        }
        up.extend(wake(&mut shim, us(1_000_000)));
        assert_eq!(up, sent);
    }
}
