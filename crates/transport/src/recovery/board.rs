//! The scoreboard: every segment in flight, what the receiver has said about it, and what is therefore lost (RFC 6675,
//! RFC 8985). Knows no window and no timer.

use std::collections::VecDeque;

use weft_core::{Span, Time};

/// A segment in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    /// Payload, and one for a FIN.
    pub(crate) len: u32,
    pub(crate) at: Time,
    /// Selectively acknowledged.
    sacked: bool,
    /// Held for lost, not delivered since.
    lost: bool,
    /// Sent again, and that copy is held for in flight.
    resent: bool,
    /// Sent again at any time.
    again: bool,
}

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
}

/// What an acknowledgement delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    /// Bytes, cumulatively or selectively, that had not been delivered before.
    pub(crate) bytes: u64,
    /// A segment below the highest delivered one arrived without having been sent again: the network reorders.
    pub(crate) reordered: bool,
}

/// The segments in flight, in order of sequence, and sums over them in bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    flight: VecDeque<Sent>,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
    resent: u64,
    outstanding: u64,
    /// Highest byte delivered so far.
    highest: u64,
    /// Send time of the latest-sent segment that was delivered (RACK.xmit_ts), and the highest byte of it.
    latest: (Time, u64),
}

impl Board {
    /// A new segment leaves.
    pub(crate) fn push(&mut self, seq: u64, len: u32, at: Time) {
        self.outstanding += u64::from(len);
        self.flight.push_back(Sent { seq, len, at, sacked: false, lost: false, resent: false, again: false });
    }

    /// Bytes in flight: outstanding, less what was delivered or lost, plus what was sent again.
    pub(crate) fn pipe(&self) -> u64 {
        self.outstanding - self.sacked - self.lost + self.resent
    }

    /// Bytes between the first unacknowledged and the last sent.
    pub(crate) fn outstanding(&self) -> u64 {
        self.outstanding
    }

    /// Segments in flight, lost and delivered ones included.
    pub(crate) fn len(&self) -> usize {
        self.flight.len()
    }

    /// Whether anything above a hole was delivered.
    pub(crate) fn has_holes(&self) -> bool {
        self.sacked > 0
    }

    /// Segments delivered above a hole.
    pub(crate) fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Whether anything is lost and not sent again.
    pub(crate) fn to_resend(&self) -> bool {
        self.lost > self.resent
    }

    /// Everything below `ack` has arrived.
    pub(crate) fn acknowledge(&mut self, ack: u64, delivered: &mut Delivered) {
        while let Some(first) = self.flight.front().copied().filter(|first| first.end() <= ack) {
            self.flight.pop_front();
            self.outstanding -= u64::from(first.len);
            if first.sacked {
                self.sacked -= u64::from(first.len);
                self.sacked_segments -= 1;
            } else {
                self.deliver(&first, delivered);
            }
            self.lost -= u64::from(first.lost) * u64::from(first.len);
            self.resent -= u64::from(first.resent) * u64::from(first.len);
        }
    }

    /// The bytes `start..end` have arrived out of order.
    pub(crate) fn sack(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let mut index = self.flight.partition_point(|sent| sent.seq < start);
        while let Some(sent) = self.flight.get_mut(index).filter(|sent| sent.end() <= end) {
            index += 1;
            if sent.sacked {
                continue;
            }
            let len = u64::from(sent.len);
            self.lost -= u64::from(sent.lost) * len;
            self.resent -= u64::from(sent.resent) * len;
            self.sacked += len;
            self.sacked_segments += 1;
            (sent.sacked, sent.lost, sent.resent) = (true, false, false);
            let sent = *sent;
            self.deliver(&sent, delivered);
        }
    }

    fn deliver(&mut self, sent: &Sent, delivered: &mut Delivered) {
        delivered.bytes += u64::from(sent.len);
        delivered.reordered |= sent.end() < self.highest && !sent.again;
        self.highest = self.highest.max(sent.end());
        self.latest = self.latest.max((sent.at, sent.end()));
    }

    /// Without selective acknowledgements: the first segment is lost.
    pub(crate) fn lose_first(&mut self) {
        if let Some(first) = self.flight.front_mut().filter(|first| !first.lost) {
            first.lost = true;
            self.lost += u64::from(first.len);
        }
    }

    /// RFC 6675: a segment is lost when `threshold` delivered segments lie above it.
    pub(crate) fn lose_by_count(&mut self, threshold: u32) {
        if self.sacked_segments < threshold {
            return;
        }
        let (mut above, mut index) = (0, self.flight.len());
        while above < threshold && index > 0 {
            index -= 1;
            above += u32::from(self.flight[index].sacked);
        }
        for below in 0..index {
            self.lose(below);
        }
    }

    /// RFC 8985: a segment is lost when one sent later was delivered and `wait` has passed since it was due. The time
    /// until the next segment falls due, if one is waiting.
    pub(crate) fn lose_by_time(&mut self, now: Time, rtt: Span, wait: Span) -> Option<Time> {
        let mut due = None;
        for index in 0..self.flight.len() {
            let sent = self.flight[index];
            if !sent.again && (sent.at, sent.end()) >= self.latest {
                break;
            }
            let earlier = (sent.at, sent.end()) < self.latest;
            if sent.sacked || sent.lost && !sent.resent || !earlier {
                continue;
            }
            let deadline = sent.at + rtt + wait;
            if deadline <= now {
                self.lose(index);
            } else {
                due = due.map_or(Some(deadline), |other: Time| Some(other.max(deadline)));
            }
        }
        due
    }

    /// The retransmission timer expired: everything that was not delivered is lost.
    pub(crate) fn lose_all(&mut self) {
        for index in 0..self.flight.len() {
            self.lose(index);
        }
    }

    /// A segment is lost, or its copy is.
    fn lose(&mut self, index: usize) {
        let sent = &mut self.flight[index];
        if sent.sacked {
            return;
        }
        let len = u64::from(sent.len);
        self.lost += u64::from(!sent.lost) * len;
        self.resent -= u64::from(sent.resent) * len;
        (sent.lost, sent.resent) = (true, false);
    }

    /// The first segment that is lost and not sent again.
    pub(crate) fn next_lost(&self) -> Option<usize> {
        if !self.to_resend() {
            return None;
        }
        self.flight.iter().position(|sent| sent.lost && !sent.resent)
    }

    /// The first segment that was neither delivered nor sent again and lies below the highest delivered byte: RFC
    /// 6675's rule 3.
    pub(crate) fn next_hole(&self) -> Option<usize> {
        let hole = |sent: &Sent| !sent.sacked && !sent.resent && !sent.again && sent.end() <= self.highest;
        self.flight.iter().position(hole)
    }

    /// The last segment, if it was not delivered.
    pub(crate) fn last(&self) -> Option<usize> {
        let last = self.flight.len().checked_sub(1)?;
        (!self.flight[last].sacked).then_some(last)
    }

    /// Sends a segment again.
    pub(crate) fn resend(&mut self, index: usize, now: Time) -> Sent {
        let sent = &mut self.flight[index];
        let len = u64::from(sent.len);
        if !sent.lost {
            sent.lost = true;
            self.lost += len;
        }
        self.resent += u64::from(!sent.resent) * len;
        (sent.resent, sent.again, sent.at) = (true, true, now);
        *sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(segments: u64) -> Board {
        let mut board = Board::default();
        (0..segments).for_each(|n| board.push(n * 10, 10, Time(n)));
        board
    }

    #[test]
    fn the_pipe_counts_what_is_in_flight() {
        let mut board = board(10);
        let mut delivered = Delivered::default();
        assert_eq!(board.pipe(), 100);
        board.sack(30, 60, &mut delivered);
        assert_eq!((board.pipe(), delivered.bytes), (70, 30));
        board.lose_by_count(3);
        assert_eq!(board.pipe(), 40, "0..30 are lost: three delivered segments lie above");
        let first = board.next_lost().unwrap();
        assert_eq!(board.resend(first, Time(50)).seq, 0);
        assert_eq!(board.pipe(), 50);
        board.acknowledge(10, &mut delivered);
        assert_eq!((board.pipe(), delivered.bytes), (40, 40));
        board.acknowledge(100, &mut delivered);
        assert_eq!((board.pipe(), board.outstanding(), delivered.bytes), (0, 0, 100));
    }

    #[test]
    fn lost_by_count_needs_three_segments_above() {
        let mut board = board(5);
        board.sack(10, 30, &mut Delivered::default());
        board.lose_by_count(3);
        assert_eq!(board.next_lost(), None);
        board.sack(30, 40, &mut Delivered::default());
        board.lose_by_count(3);
        assert_eq!(board.next_lost(), Some(0));
    }

    #[test]
    fn lost_by_time_waits_for_what_may_be_reordered() {
        let mut board = board(5);
        board.sack(30, 40, &mut Delivered::default());
        let (rtt, wait) = (Span(100), Span(25));
        assert_eq!(
            board.lose_by_time(Time(104), rtt, wait),
            Some(Time(127)),
            "the last of the three falls due"
        );
        assert!(!board.to_resend());
        assert_eq!(board.lose_by_time(Time(126), rtt, wait), Some(Time(127)));
        assert_eq!(board.pipe(), 20, "0 and 10 are lost, 30 delivered");
        board.lose_by_time(Time(127), rtt, wait);
        assert_eq!(board.pipe(), 10);
    }

    #[test]
    fn a_late_segment_that_was_not_sent_again_is_reordering() {
        let mut board = board(5);
        let mut delivered = Delivered::default();
        board.sack(20, 30, &mut delivered);
        assert!(!delivered.reordered);
        board.acknowledge(10, &mut delivered);
        assert!(delivered.reordered);
    }
}
