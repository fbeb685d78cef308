//! The bytes of a scoreboard, divided by their history, and counts over them.

use std::ops::Range;

use weft_core::Time;

/// Bytes with a common history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) start: u64,
    pub(super) end: u64,
    /// When it was last sent, or an upper bound on that time.
    pub(super) sent: Time,
    pub(super) sacked: bool,
    pub(super) lost: bool,
    pub(super) resent: bool,
}

impl Piece {
    pub(super) const fn plain(bytes: Range<u64>, sent: Time) -> Piece {
        Piece { start: bytes.start, end: bytes.end, sent, sacked: false, lost: false, resent: false }
    }

    pub(super) const fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it is lost and not yet retransmitted.
    pub(super) const fn waiting(&self) -> bool {
        self.lost && !self.resent && !self.sacked
    }
}

/// Byte counts over all pieces that have not arrived, and over those that have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) sacked: u64,
    pub(super) lost: u64,
    pub(super) resent: u64,
    pub(super) waiting: u64,
}

impl Totals {
    pub(super) fn of(piece: &Piece) -> Totals {
        let len = piece.len();
        let count = |yes: bool| if yes { len } else { 0 };
        Totals {
            sacked: count(piece.sacked),
            lost: count(piece.lost && !piece.sacked),
            resent: count(piece.resent && !piece.sacked),
            waiting: count(piece.waiting()),
        }
    }

    pub(super) fn add(&mut self, other: Totals) {
        self.sacked += other.sacked;
        self.lost += other.lost;
        self.resent += other.resent;
        self.waiting += other.waiting;
    }

    pub(super) fn remove(&mut self, other: Totals) {
        self.sacked -= other.sacked;
        self.lost -= other.lost;
        self.resent -= other.resent;
        self.waiting -= other.waiting;
    }
}
