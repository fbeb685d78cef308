//! The demand of flows on a link: their sizes, and the load they cause. Must not depend on thresholds.

use weft_ideal::{WorkDistribution, WorkPiece};
use weft_workload::SizeDistribution;

/// Pieces of an unbounded distribution: from one to the next, the size grows by this factor.
const STEP: f64 = 1.03;

/// Flow sizes and the load they cause.
#[derive(Clone, Copy, Debug)]
pub struct FlowDemand<'a> {
    /// Sizes of flows.
    pub sizes: &'a SizeDistribution,
    /// Load of the link, above 0 and below 1.
    pub load: f64,
}

/// The share of flows with more bytes than this.
pub(crate) fn share_beyond(sizes: &SizeDistribution, bytes: u64) -> f64 {
    in_pieces(sizes).beyond(bytes as f64)
}

/// Sizes in pieces. Those beyond 10^100 times the least of a Pareto distribution are left out.
pub(crate) fn in_pieces(sizes: &SizeDistribution) -> WorkDistribution {
    let even = |from: f64, to: f64, share: f64| WorkPiece { from, to, share };
    match sizes {
        SizeDistribution::Fixed(size) => WorkDistribution::new([even(size.0 as f64, size.0 as f64, 1.0)]),
        SizeDistribution::Curve(curve) => {
            let points = curve.points();
            let (first, atom) = points[0];
            let pieces = points.windows(2).map(|pair| even(pair[0].0, pair[1].0, pair[1].1 - pair[0].1));
            WorkDistribution::new(std::iter::once(even(first, first, atom)).chain(pieces))
        }
        SizeDistribution::Exponential(mean) => {
            pieces((mean * 1e-6, mean * 60.0), |size| (-size / mean).exp())
        }
        SizeDistribution::Pareto { least, shape } => {
            pieces((*least, least * 1e100), |size| (least / size).powf(*shape))
        }
    }
}

/// Pieces at equal ratios, by the share of flows that are larger.
fn pieces((from, to): (f64, f64), beyond: impl Fn(f64) -> f64) -> WorkDistribution {
    let steps = ((to / from).ln() / STEP.ln()).ceil() as i32;
    let at = |n: i32| from * STEP.powi(n);
    let piece = |n| WorkPiece { from: at(n), to: at(n + 1), share: beyond(at(n)) - beyond(at(n + 1)) };
    WorkDistribution::new((0..steps).map(piece))
}
