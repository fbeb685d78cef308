//! The past of a solution: one cubic piece per step, found by time. Drops pieces that are no longer needed.

use std::cell::Cell;

/// The position of an instant, found once and used for every component.
#[derive(Clone, Copy, Debug)]
pub struct PiecePosition {
    piece: Piece,
    /// Position within the piece, 0 to 1; above 1 if the piece is extrapolated.
    theta: f64,
}

#[derive(Clone, Copy, Debug)]
enum Piece {
    Before(f64),
    Known(usize),
    Tentative,
}

/// The pieces of a solution.
#[derive(Default)]
pub(super) struct Pieces {
    width: usize,
    starts: Vec<f64>,
    lengths: Vec<f64>,
    /// Four coefficients in theta per component and piece.
    coefficients: Vec<f64>,
    /// The piece being computed; it starts at the end of the last accepted one.
    tentative: Vec<f64>,
    now: f64,
    length: f64,
}

/// The past as a [`System`](super::System) sees it.
pub struct Past<'a> {
    pub(super) pieces: &'a Pieces,
    pub(super) before: &'a dyn Fn(f64, usize) -> f64,
    /// Set if the piece being computed was used.
    pub(super) touched: &'a Cell<bool>,
}

/// Coefficients in theta of the cubic with the given values and slopes at both ends.
pub(super) fn hermite(from: (f64, f64), to: (f64, f64), length: f64) -> [f64; 4] {
    let rise = to.0 - from.0;
    let (first, last) = (from.1 * length, to.1 * length);
    [from.0, first, 3.0 * rise - 2.0 * first - last, first + last - 2.0 * rise]
}

pub(super) fn cubic(coefficients: &[f64], theta: f64) -> f64 {
    let [a, b, c, d] = [coefficients[0], coefficients[1], coefficients[2], coefficients[3]];
    a + theta * (b + theta * (c + theta * d))
}

impl Pieces {
    pub(super) fn new(width: usize) -> Pieces {
        Pieces { width, tentative: vec![0.0; 4 * width], ..Pieces::default() }
    }

    /// Predicts the next piece: extrapolates the last one, or uses a straight line if there is none or the slope jumps.
    pub(super) fn guess(&mut self, now: f64, length: f64, line: Option<(&[f64], &[f64])>) {
        (self.now, self.length) = (now, length);
        let last = self.starts.len().wrapping_sub(1);
        for component in 0..self.width {
            let at = 4 * component;
            let piece = match (line, self.lengths.last()) {
                (Some((state, slope)), _) => [state[component], slope[component] * length, 0.0, 0.0],
                (None, Some(&known)) => {
                    let at = 4 * (last * self.width + component);
                    continued(&self.coefficients[at..at + 4], length / known)
                }
                (None, None) => [0.0; 4],
            };
            self.tentative[at..at + 4].copy_from_slice(&piece);
        }
    }

    /// Replaces one component of the piece being computed; returns by how much its middle or end has moved.
    pub(super) fn revise(&mut self, component: usize, piece: [f64; 4]) -> f64 {
        let old = &mut self.tentative[4 * component..4 * component + 4];
        let moved = |theta| (cubic(old, theta) - cubic(&piece, theta)).abs();
        let most = f64::max(moved(0.5), moved(1.0));
        old.copy_from_slice(&piece);
        most
    }

    /// Accepts the piece being computed.
    pub(super) fn keep(&mut self) {
        self.starts.push(self.now);
        self.lengths.push(self.length);
        self.coefficients.extend_from_slice(&self.tentative);
    }

    /// Drops pieces that end before `oldest`, in bulk.
    pub(super) fn forget(&mut self, oldest: f64) {
        let old = self.starts.partition_point(|start| *start < oldest).saturating_sub(1);
        if old > 64 && old > self.starts.len() / 2 {
            self.starts.drain(..old);
            self.lengths.drain(..old);
            self.coefficients.drain(..4 * old * self.width);
        }
    }
}

/// A cubic extrapolated to the following interval, which is `ratio` times as long.
fn continued(piece: &[f64], ratio: f64) -> [f64; 4] {
    let [_, b, c, d] = [piece[0], piece[1], piece[2], piece[3]];
    let value = cubic(piece, 1.0);
    [value, (b + 2.0 * c + 3.0 * d) * ratio, (c + 3.0 * d) * ratio * ratio, d * ratio * ratio * ratio]
}

impl Past<'_> {
    /// Finds the position of the instant `t`.
    #[must_use]
    pub fn find(&self, t: f64) -> PiecePosition {
        let pieces = self.pieces;
        if t > pieces.now {
            self.touched.set(true);
            return PiecePosition { piece: Piece::Tentative, theta: (t - pieces.now) / pieces.length };
        }
        match pieces.starts.partition_point(|start| *start <= t) {
            0 => PiecePosition { piece: Piece::Before(t), theta: 0.0 },
            after => {
                let index = after - 1;
                let theta = (t - pieces.starts[index]) / pieces.lengths[index];
                PiecePosition { piece: Piece::Known(index), theta }
            }
        }
    }

    /// A component's value at a position.
    #[must_use]
    pub fn at(&self, place: PiecePosition, component: usize) -> f64 {
        debug_assert!(component < self.pieces.width, "only remembered components have a past");
        match place.piece {
            Piece::Before(t) => (self.before)(t, component),
            Piece::Known(index) => {
                let at = 4 * (index * self.pieces.width + component);
                cubic(&self.pieces.coefficients[at..at + 4], place.theta)
            }
            Piece::Tentative => cubic(&self.pieces.tentative[4 * component..4 * component + 4], place.theta),
        }
    }

    /// A component's value at an instant.
    #[must_use]
    pub fn value(&self, t: f64, component: usize) -> f64 {
        self.at(self.find(t), component)
    }
}
