//! Mean completion times of one link to which flows come as a Poisson process (M/G/1), by formulas instead of schedules.
//! There is no congestion control: an order takes effect at once and keeps the link busy. Must not depend on simulated
//! schedules; tests compare the two.

mod levels;

use crate::WorkDistribution;

/// A link with Poisson arrivals. All times are in units of the mean work, which is the time of a mean flow alone.
#[derive(Clone, Copy, Debug)]
pub struct PoissonLink<'a> {
    /// The distribution of work per flow.
    pub work: &'a WorkDistribution,
    /// The share of time in which the link is busy, above 0 and below 1.
    pub load: f64,
}

impl PoissonLink<'_> {
    /// Processor sharing: 1 / (1 − load), whatever the distribution (Kleinrock, Queueing Systems II, 1976, section 4.4).
    #[must_use]
    pub fn shared(&self) -> f64 {
        1.0 / (1.0 - self.load)
    }

    /// Least attained service (foreground-background; Kleinrock 1976, section 4.6). A flow with work x takes
    /// T(x) = x / (1 − r) + a E\[min(X, x)²\] / (2 (1 − r)²), with arrivals at a rate a and r = a E\[min(X, x)\]. The
    /// mean is the integral of T'(x) P(X > x).
    #[must_use]
    pub fn least_attained(&self) -> f64 {
        let (work, rate) = (self.work, self.rate());
        let growth = |x: f64, _: f64| {
            let (beyond, free) = (work.beyond(x), 1.0 - rate * work.up_to(x));
            let arrivals = rate * beyond;
            let behind = rate * work.square_up_to(x) / free;
            beyond * (1.0 / free + arrivals * (2.0 * x + behind) / (free * free))
        };
        self.integral(growth) / work.mean()
    }

    /// Shortest remaining work first (Schrage and Miller 1966), which no order beats: a flow waits for smaller work in
    /// the system, and then only smaller flows interrupt it. Equal flows are served in order of arrival.
    #[must_use]
    pub fn shortest_remaining(&self) -> f64 {
        let (work, rate) = (self.work, self.rate());
        // 1 minus the load of flows with at most this much work
        let free = |x: f64| 1.0 - rate * (work.up_to(x) - x * work.beyond(x));
        let wait = |x: f64| rate * work.square_up_to(x) / 2.0;
        let spread = |x: f64, density: f64| {
            let free = free(x);
            work.beyond(x) / free + density * wait(x) / (free * free)
        };
        let atoms = work.pieces().iter().filter(|piece| piece.from == piece.to).map(|atom| {
            let free = free(atom.from);
            atom.share * wait(atom.from) / (free * (free + rate * atom.share * atom.from))
        });
        (self.integral(spread) + atoms.sum::<f64>()) / work.mean()
    }

    /// Flows per unit of work.
    fn rate(&self) -> f64 {
        self.load / self.work.mean()
    }

    /// The integral over all work of a function of the work and of the density there.
    fn integral(&self, f: impl Fn(f64, f64) -> f64) -> f64 {
        let pieces = self.work.pieces();
        let steps = (8_192 / pieces.len()).clamp(1, 256);
        let mut end = 0.0;
        let mut sum = 0.0;
        for piece in pieces {
            let density = piece.share / (piece.to - piece.from);
            sum += gauss((end, piece.from), steps, |x| f(x, 0.0));
            sum += gauss((piece.from, piece.to), steps, |x| f(x, density));
            end = piece.to;
        }
        sum
    }
}

/// The integral of a function by the rule of Gauss and Legendre with three points in each step. The ends, where a
/// distribution may jump, are not among them.
fn gauss((from, to): (f64, f64), steps: usize, f: impl Fn(f64) -> f64) -> f64 {
    if from >= to {
        return 0.0;
    }
    let half = (to - from) / steps as f64 / 2.0;
    let off = half * 0.6_f64.sqrt();
    let step = |n: usize| {
        let middle = from + (2 * n + 1) as f64 * half;
        half * (8.0 * f(middle) + 5.0 * (f(middle - off) + f(middle + off))) / 9.0
    };
    (0..steps).map(step).sum()
}
