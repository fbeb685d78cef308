//! The scoreboard of a sender: which bytes in flight have arrived out of order, are lost, or were retransmitted (RFC 6675).
//!
//! It is created only when something is reported missing. It divides the bytes from the first unacknowledged one into
//! pieces of equal history. Bytes above the last piece have none. *Times*: for a piece sent once, only a bound is
//! known: it was sent no later than what arrived beyond it. For RACK this delays the declaration of a loss by less
//! than the spacing of the packets involved, and never advances it.

use std::collections::VecDeque;
use std::ops::Range;

use weft_core::{Span, Time};

use piece::{Piece, Totals};

mod piece;

/// The outcome of an acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// After a cumulative acknowledgement, the bytes already known to have arrived; after a selective one, the bytes
    /// not known before.
    pub bytes: u64,
    /// How far the arrivals had been overtaken by packets sent later.
    pub overtaken: Overtaken,
}

/// Bytes from the first byte of an arrival to the end of the highest that had arrived before it; the maximum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overtaken {
    /// For bytes sent once: the network reorders.
    pub sent_once: u64,
    /// For bytes sent twice: either copy may have arrived.
    pub sent_twice: u64,
}

impl Overtaken {
    /// The maximum of both, by kind.
    #[inline]
    pub fn or(self, other: Overtaken) -> Overtaken {
        Overtaken {
            sent_once: self.sent_once.max(other.sent_once),
            sent_twice: self.sent_twice.max(other.sent_twice),
        }
    }
}

/// The packet relative to which RACK judges the others: the one sent last among those that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference {
    /// When it was sent.
    pub sent: Time,
    /// Its end, which breaks ties between packets sent at one instant.
    pub end: u64,
}

/// The scoreboard of a sender.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    pieces: VecDeque<Piece>,
    totals: Totals,
    /// The end of the last piece.
    high: u64,
    /// The end of the highest piece that arrived.
    top: u64,
    /// Everything below this byte has been judged by counting.
    judged: u64,
    /// Nothing below this byte waits for retransmission.
    waiting_from: u64,
    /// The end of the highest retransmitted bytes (HighRxt + 1).
    resent_to: u64,
}

impl News {
    /// Called when a missing piece, or part of it, arrived; `top` is the end of the highest that had arrived.
    fn arrived(&mut self, piece: &Piece, top: u64) {
        let Overtaken { sent_once, sent_twice } = &mut self.overtaken;
        let longest = if piece.resent { sent_twice } else { sent_once };
        if piece.end <= top {
            *longest = (top - piece.start).max(*longest);
        }
    }
}

impl Scoreboard {
    /// The bytes in the network as estimated by RFC 6675 (pipe), if `outstanding` bytes have been sent and not
    /// acknowledged.
    #[inline]
    pub fn pipe(&self, outstanding: u64) -> u64 {
        (outstanding + self.totals.resent).saturating_sub(self.totals.sacked + self.totals.lost)
    }

    /// Bytes that arrived out of order.
    #[inline]
    pub fn sacked(&self) -> u64 {
        self.totals.sacked
    }

    /// Bytes lost and not yet retransmitted.
    #[inline]
    pub fn waiting(&self) -> u64 {
        self.totals.waiting
    }

    /// Records that everything below `una` is acknowledged. Returns which of these bytes were already known to have
    /// arrived.
    #[inline]
    pub fn advance(&mut self, una: u64) -> News {
        let mut news = News::default();
        while let Some(piece) = self.pieces.front().copied().filter(|piece| piece.start < una) {
            let passed = Piece { end: piece.end.min(una), ..piece };
            self.totals.remove(Totals::of(&passed));
            if passed.sacked {
                news.bytes += passed.len();
            } else {
                news.arrived(&passed, self.top);
            }
            if piece.end > una {
                self.pieces[0].start = una;
            } else {
                self.pieces.pop_front();
            }
        }
        self.high = self.high.max(una);
        news
    }

    /// Records that bytes beyond the cumulative acknowledgement arrived; neither they nor bytes below them were sent
    /// after `sent`.
    #[inline]
    pub fn sack(&mut self, bytes: Range<u64>, sent: Time) -> News {
        self.extend(bytes.start, sent);
        self.extend(bytes.end, sent);
        let first = self.index_of(bytes.start);
        if bytes.is_empty() || (self.pieces[first].sacked && self.pieces[first].end >= bytes.end) {
            return News::default();
        }
        self.split(bytes.start);
        self.split(bytes.end);
        let indices = self.index_of(bytes.start)..self.index_of(bytes.end);
        let news = self.mark_sacked(indices.clone());
        self.bound_sending_time(indices.start, sent);
        self.merge(indices);
        self.top = self.top.max(bytes.end);
        news
    }

    /// Extends the pieces up to `end`; the new piece was sent no later than `sent`.
    #[inline]
    pub fn extend(&mut self, end: u64, sent: Time) {
        if end > self.high {
            self.pieces.push_back(Piece::plain(self.high..end, sent));
            self.high = end;
        }
    }

    /// Judges by counting: bytes are lost if `threshold` separate pieces, or more bytes than `threshold - 1` segments,
    /// have arrived above them (IsLost of RFC 6675). Returns the bytes newly lost.
    #[inline]
    pub fn judge_by_count(&mut self, threshold: u32, mss: u64) -> u64 {
        let (mut blocks, mut bytes, mut index) = (0, 0, self.pieces.len());
        let enough = u64::from(threshold - 1) * mss;
        while blocks < threshold && bytes <= enough {
            if index == 0 {
                return 0;
            }
            index -= 1;
            if self.pieces[index].sacked {
                blocks += 1;
                bytes += self.pieces[index].len();
            }
        }
        let limit = self.pieces[index].start;
        let first = self.index_of(self.judged);
        self.judged = self.judged.max(limit);
        (first..index).map(|index| self.count_out(index)).sum()
    }

    /// Judges by time: bytes are lost if they were sent before `reference` and more than `limit` ago. Returns the bytes
    /// newly lost, and when the next judgement of anything sent before `reference` is due.
    #[inline]
    pub fn judge_by_time(&mut self, reference: Reference, limit: Span, now: Time) -> (u64, Time) {
        let (mut newly, mut due) = (0, Time::ZERO);
        for index in 0..self.pieces.len() {
            let piece = self.pieces[index];
            let before = (piece.sent, piece.end) < (reference.sent, reference.end);
            if piece.sacked || piece.waiting() || !before {
                continue;
            }
            let deadline = piece.sent + limit;
            if deadline <= now {
                newly += self.lose(index);
            } else {
                due = due.max(deadline);
            }
        }
        (newly, if due == Time::ZERO { Time::NEVER } else { due })
    }

    /// Declares the first `length` bytes from `una` lost, regardless of their history.
    pub fn lose_head(&mut self, una: u64, length: u64, sent: Time) -> u64 {
        self.extend(una + length, sent);
        self.split(una + length);
        (0..self.index_of(una + length)).map(|index| self.lose(index)).sum()
    }

    /// Declares these bytes lost, except those that have arrived or are acknowledged.
    pub fn lose_range(&mut self, bytes: Range<u64>, sent: Time) {
        self.extend(bytes.end, sent);
        self.split(bytes.start);
        self.split(bytes.end);
        for index in self.index_of(bytes.start)..self.index_of(bytes.end) {
            self.lose(index);
        }
    }

    /// Whether all of these bytes are known to have arrived.
    pub fn has(&self, bytes: Range<u64>) -> bool {
        let covers = |piece: &Piece| piece.sacked && piece.end >= bytes.end;
        bytes.is_empty() || self.pieces.get(self.index_of(bytes.start)).is_some_and(covers)
    }

    /// Declares all bytes up to `next` lost that have not arrived, including retransmissions.
    pub fn lose_all(&mut self, next: u64, sent: Time) {
        self.extend(next, sent);
        for index in 0..self.pieces.len() {
            self.lose(index);
        }
        self.judged = next;
    }

    /// The first bytes that are lost and not yet retransmitted (NextSeg, rule 1).
    #[inline]
    pub fn first_waiting(&self) -> Option<Range<u64>> {
        if self.totals.waiting == 0 {
            return None;
        }
        let from = self.index_of(self.waiting_from);
        self.pieces.range(from..).find(|piece| piece.waiting()).map(|piece| piece.start..piece.end)
    }

    /// The first bytes that may be lost: missing, below arrived bytes, above retransmitted ones (NextSeg, rule 3).
    pub fn first_doubtful(&self) -> Option<Range<u64>> {
        let from = self.index_of(self.resent_to);
        let doubtful =
            |piece: &&Piece| !piece.sacked && !piece.lost && !piece.resent && piece.start < self.top;
        self.pieces.range(from..).find(doubtful).map(|piece| piece.start..piece.end)
    }

    /// The last bytes below `next` that have not arrived; an empty range if all have.
    pub fn last_missing(&self, next: u64) -> Range<u64> {
        if self.high < next {
            return self.high..next;
        }
        let last = self.pieces.iter().rev().find(|piece| !piece.sacked);
        last.map_or(0..0, |piece| piece.start..piece.end)
    }

    /// Records that these bytes are retransmitted now. Waiting bytes are retransmitted in order.
    #[inline]
    pub fn resend(&mut self, bytes: Range<u64>, now: Time) {
        self.split(bytes.start);
        self.split(bytes.end);
        for index in self.index_of(bytes.start)..self.index_of(bytes.end) {
            if self.pieces[index].waiting() {
                self.waiting_from = bytes.end;
            }
            self.change(index, |piece| (piece.resent, piece.sent) = (true, now));
        }
        self.resent_to = self.resent_to.max(bytes.end);
    }

    /// Index of the piece that contains byte `at`, or of the first above it.
    fn index_of(&self, at: u64) -> usize {
        self.pieces.partition_point(|piece| piece.end <= at)
    }

    /// Splits the piece that contains byte `at`, before that byte.
    fn split(&mut self, at: u64) {
        let index = self.index_of(at);
        if let Some(piece) = self.pieces.get(index).copied().filter(|piece| piece.start < at) {
            self.pieces[index].end = at;
            self.pieces.insert(index + 1, Piece { start: at, ..piece });
        }
    }

    fn change(&mut self, index: usize, edit: impl FnOnce(&mut Piece)) {
        self.totals.remove(Totals::of(&self.pieces[index]));
        edit(&mut self.pieces[index]);
        self.totals.add(Totals::of(&self.pieces[index]));
    }

    /// Declares a piece lost, including its retransmission. Returns its length, or 0 if it was already lost.
    fn lose(&mut self, index: usize) -> u64 {
        let piece = self.pieces[index];
        if piece.sacked || piece.waiting() {
            return 0;
        }
        self.change(index, |piece| (piece.lost, piece.resent) = (true, false));
        self.waiting_from = self.waiting_from.min(piece.start);
        piece.len()
    }

    /// Declares a piece lost by counting, which says nothing about a copy of it that is on its way since it was doubtful: only above
    /// HighRxt does rule 1 repeat what is lost. Returns its length, or 0 if it was already lost.
    fn count_out(&mut self, index: usize) -> u64 {
        let piece = self.pieces[index];
        if piece.sacked || piece.lost {
            return 0;
        }
        self.change(index, |piece| piece.lost = true);
        if !piece.resent {
            self.waiting_from = self.waiting_from.min(piece.start);
        }
        piece.len()
    }

    fn mark_sacked(&mut self, indices: Range<usize>) -> News {
        let mut news = News::default();
        for index in indices {
            let piece = self.pieces[index];
            if !piece.sacked {
                news.bytes += piece.len();
                news.arrived(&piece, self.top);
                self.change(index, |piece| piece.sacked = true);
            }
        }
        news
    }

    /// Bounds the sending time of the piece before `index`: if sent once, it was sent before arrived bytes beyond it.
    fn bound_sending_time(&mut self, index: usize, sent: Time) {
        if let Some(piece) = index.checked_sub(1).and_then(|before| self.pieces.get_mut(before))
            && !piece.resent
        {
            piece.sent = piece.sent.min(sent);
        }
    }

    /// Merges adjacent arrived pieces.
    fn merge(&mut self, indices: Range<usize>) {
        let first = indices.start.saturating_sub(1);
        let mut last = indices.end.min(self.pieces.len() - 1);
        let mut index = first;
        while index < last {
            if self.pieces[index].sacked && self.pieces[index + 1].sacked {
                self.pieces[index].end = self.pieces[index + 1].end;
                self.pieces.remove(index + 1);
                last -= 1;
            } else {
                index += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
