//! The work that flows bring: a distribution in pieces, and the truncated moments that formulas of queueing theory
//! need. Must not depend on arrivals or schedules.

/// A share of all flows whose work is spread evenly from one value to another; with equal ends, an atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkPiece {
    /// Least work.
    pub from: f64,
    /// Most work.
    pub to: f64,
    /// Share of all flows.
    pub share: f64,
}

impl WorkPiece {
    fn mean(&self) -> f64 {
        (self.from + self.to) / 2.0
    }

    fn square(&self) -> f64 {
        (self.from * self.from + self.from * self.to + self.to * self.to) / 3.0
    }

    /// The part of this piece up to a limit within it.
    fn cut(&self, limit: f64) -> WorkPiece {
        let part = if self.to > self.from { (limit - self.from) / (self.to - self.from) } else { 1.0 };
        WorkPiece { from: self.from, to: limit, share: self.share * part }
    }
}

/// The contents of the pieces before one, and the share of flows beyond them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Below {
    first: f64,
    second: f64,
    beyond: f64,
}

/// A distribution of work, in any unit.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkDistribution {
    pieces: Vec<WorkPiece>,
    /// One entry per piece, and one for the end.
    below: Vec<Below>,
}

impl WorkDistribution {
    /// A distribution of these pieces, which ascend and do not overlap. Their shares are scaled to a sum of 1.
    ///
    /// # Panics
    /// If there are none, if they overlap, or if one has a negative share or infinite work.
    #[must_use]
    pub fn new(pieces: impl IntoIterator<Item = WorkPiece>) -> WorkDistribution {
        let mut pieces: Vec<WorkPiece> = pieces.into_iter().filter(|piece| piece.share != 0.0).collect();
        let sound = |piece: &WorkPiece| piece.share > 0.0 && piece.to.is_finite() && piece.from <= piece.to;
        assert!(!pieces.is_empty() && pieces.iter().all(sound), "pieces have a share and an end");
        assert!(pieces.windows(2).all(|pair| pair[0].to <= pair[1].from), "pieces ascend");
        let all: f64 = pieces.iter().map(|piece| piece.share).sum();
        pieces.iter_mut().for_each(|piece| piece.share /= all);
        let mut below = vec![Below::default(); pieces.len() + 1];
        for (n, piece) in pieces.iter().enumerate() {
            below[n + 1].first = below[n].first + piece.share * piece.mean();
            below[n + 1].second = below[n].second + piece.share * piece.square();
        }
        for (n, piece) in pieces.iter().enumerate().rev() {
            below[n].beyond = below[n + 1].beyond + piece.share;
        }
        WorkDistribution { pieces, below }
    }

    /// The pieces, ascending.
    #[must_use]
    pub fn pieces(&self) -> &[WorkPiece] {
        &self.pieces
    }

    /// E\[X\].
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.below[self.pieces.len()].first
    }

    /// The most work of any flow.
    #[must_use]
    pub fn most(&self) -> f64 {
        self.pieces[self.pieces.len() - 1].to
    }

    /// P(X > limit).
    #[must_use]
    pub fn beyond(&self, limit: f64) -> f64 {
        let (below, cut) = self.at(limit);
        below.beyond - cut.map_or(0.0, |piece| piece.share)
    }

    /// E\[min(X, limit)\].
    #[must_use]
    pub fn up_to(&self, limit: f64) -> f64 {
        let (below, cut) = self.at(limit);
        let (share, own) = cut.map_or((0.0, 0.0), |piece| (piece.share, piece.share * piece.mean()));
        below.first + own + limit_times(limit, below.beyond - share)
    }

    /// E\[min(X, limit)²\].
    #[must_use]
    pub fn square_up_to(&self, limit: f64) -> f64 {
        let (below, cut) = self.at(limit);
        let (share, own) = cut.map_or((0.0, 0.0), |piece| (piece.share, piece.share * piece.square()));
        below.second + own + limit_times(limit, limit_times(limit, below.beyond - share))
    }

    /// The part below a limit: whole pieces, and the part of the one that it cuts.
    fn at(&self, limit: f64) -> (Below, Option<WorkPiece>) {
        let whole = self.pieces.partition_point(|piece| piece.to <= limit);
        let cut = self.pieces.get(whole).filter(|piece| piece.from < limit).map(|piece| piece.cut(limit));
        (self.below[whole], cut)
    }

    /// The limit up to which flows bring this much of their work: the inverse of [`WorkDistribution::up_to`].
    pub(crate) fn where_up_to(&self, work: f64) -> f64 {
        let ends = self.pieces.partition_point(|piece| self.up_to(piece.to) < work);
        let mut low = ends.checked_sub(1).map_or(0.0, |end| self.pieces[end].to);
        let mut high = self.pieces.get(ends).map_or(low, |piece| piece.to);
        for _ in 0..60 {
            let middle = low + (high - low) / 2.0;
            (low, high) = if self.up_to(middle) < work { (middle, high) } else { (low, middle) };
        }
        high
    }

    /// The work that a share of all flows exceeds.
    pub(crate) fn where_beyond(&self, share: f64) -> f64 {
        let piece = self.below[1..].partition_point(|below| below.beyond > share);
        let Some(own) = self.pieces.get(piece) else { return self.most() };
        let part = ((self.below[piece].beyond - share) / own.share).clamp(0.0, 1.0);
        own.from + part * (own.to - own.from)
    }
}

/// A limit times a share; 0 if the share is 0, even for an infinite limit.
fn limit_times(limit: f64, share: f64) -> f64 {
    if share > 0.0 { limit * share } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of all flows bring 2, the others 4 to 8.
    fn halves() -> WorkDistribution {
        let piece = |from, to| WorkPiece { from, to, share: 1.0 };
        WorkDistribution::new([piece(2.0, 2.0), piece(4.0, 8.0)])
    }

    #[test]
    fn moments_up_to_a_limit_are_those_by_hand() {
        let halves = halves();
        let of = |limit| (halves.beyond(limit), halves.up_to(limit), halves.square_up_to(limit));
        assert_eq!(of(1.0), (1.0, 1.0, 1.0));
        assert_eq!(of(2.0), (0.5, 2.0, 4.0));
        assert_eq!(of(3.0), (0.5, 2.5, 6.5));
        // A quarter of all flows lies below 6: 5 on average, with a square of 76 / 3.
        let (beyond, first, second) = of(6.0);
        assert_eq!((beyond, first), (0.25, 1.0 + 1.25 + 1.5));
        assert!((second - (2.0 + 19.0 / 3.0 + 9.0)).abs() < 1e-12, "{second}");
        assert_eq!(of(f64::INFINITY).1, halves.mean());
    }

    #[test]
    fn limits_are_found_by_what_lies_below_or_beyond_them() {
        let halves = halves();
        for limit in [0.5, 2.0, 3.0, 4.0, 6.5, 8.0] {
            assert!((halves.where_up_to(halves.up_to(limit)) - limit).abs() < 1e-6, "{limit}");
        }
        assert_eq!(
            (halves.where_beyond(0.25), halves.where_beyond(0.9), halves.where_beyond(0.0)),
            (6.0, 2.0, 8.0)
        );
    }
}
