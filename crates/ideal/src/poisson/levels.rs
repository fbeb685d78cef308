//! Multilevel processor sharing: a flow falls to the next level when it has received a threshold, levels are served by
//! strict priority, and flows of a level share. Must not depend on simulated schedules.
//!
//! Kleinrock, Muntz and Rodemich (1971; Kleinrock, Queueing Systems II, 1976, section 4.7): while the levels above
//! are busy, nothing happens in a level, so in the remaining time flows reach it in groups, one for each busy period
//! of the levels above. In that time a flow with y of its work in the level takes α(y), where
//!
//! ```text
//! α'(x) = 1 + others P(B > x) + rate ∫ α'(y) P(B > x + y) dy + rate ∫ α'(y) P(B > x − y) dy
//! ```
//!
//! with the work B that a flow leaves in the level, the rate of flows, and the mean number of others in a flow's
//! group; the first integral is infinite, the second ends at x. As an operator on α' the integrals are at most the
//! level's own load, which is below 1, so iteration converges to the only solution. α' is constant within cells of
//! the level.

use super::PoissonLink;

/// Cells of a level by equal work in each, and as many by equal numbers of flows.
const CELLS: usize = 160;

/// A level between two thresholds.
struct Level<'a> {
    link: &'a PoissonLink<'a>,
    from: f64,
    to: f64,
    /// P(X > from).
    reached: f64,
    /// The share of time that the levels above leave.
    free: f64,
}

impl PoissonLink<'_> {
    /// Multilevel processor sharing with these thresholds, in the unit of the work and ascending: what PIAS would reach
    /// on a link without congestion control. A numerical solution, to about a thousandth.
    #[must_use]
    pub fn levels(&self, thresholds: &[f64]) -> f64 {
        let end = self.work.most();
        let ends = thresholds.iter().map(|threshold| threshold.min(end)).chain([end]);
        let mut from = 0.0;
        let times = ends.map(|to| {
            let time = Level::new(self, (from, to)).map_or(0.0, |level| level.time());
            from = to;
            time
        });
        times.sum::<f64>() / self.work.mean()
    }
}

impl<'a> Level<'a> {
    /// The level between two limits; `None` if no flow has work there.
    fn new(link: &'a PoissonLink<'a>, (from, to): (f64, f64)) -> Option<Level<'a>> {
        let (reached, free) = (link.work.beyond(from), 1.0 - link.rate() * link.work.up_to(from));
        (from < to && reached > 0.0).then_some(Level { link, from, to, reached, free })
    }

    /// The contribution of flows that end in this level to the mean completion time.
    fn time(&self) -> f64 {
        let (work, onward) = (self.link.work, self.link.work.beyond(self.to));
        let second = self.link.rate() * work.square_up_to(self.from);
        let before = self.from / self.free + second / (2.0 * self.free * self.free);
        let cells = self.cells();
        let growth = self.growth(&cells);
        let ending = |pair: &[f64]| {
            let all = work.up_to(self.from + pair[1]) - work.up_to(self.from + pair[0]);
            all - onward * (pair[1] - pair[0])
        };
        let within: f64 = cells.windows(2).zip(&growth).map(|(pair, growth)| growth * ending(pair)).sum();
        (self.reached - onward) * before + within / self.free
    }

    /// The ends of the cells, from 0.
    fn cells(&self) -> Vec<f64> {
        let work = self.link.work;
        let [least, most] = [self.from, self.to].map(|limit| work.up_to(limit));
        let onward = work.beyond(self.to);
        let part = |n: usize| n as f64 / CELLS as f64;
        let by_work = (1..CELLS).map(|n| work.where_up_to(least + part(n) * (most - least)));
        let by_flows =
            (1..CELLS).map(|n| work.where_beyond(self.reached - part(n) * (self.reached - onward)));
        let inside = by_work.chain(by_flows).filter(|at| *at > self.from && *at < self.to);
        let mut ends: Vec<f64> = [self.from, self.to].into_iter().chain(inside).collect();
        ends.sort_by(f64::total_cmp);
        ends.dedup_by(|next, last| *next - *last <= 1e-12 * *next);
        ends.into_iter().map(|at| at - self.from).collect()
    }

    /// α' in each cell.
    fn growth(&self, cells: &[f64]) -> Vec<f64> {
        let flows = self.link.rate() * self.reached / self.free;
        let others = self.others();
        let middles: Vec<f64> = cells.windows(2).map(|pair| self.middle(pair[0], pair[1])).collect();
        let constant: Vec<f64> = cells
            .windows(2)
            .map(|pair| 1.0 + others * (self.left(pair[1]) - self.left(pair[0])) / (pair[1] - pair[0]))
            .collect();
        let kernel = |x: f64| {
            let ahead = move |pair: &[f64]| self.left(x + pair[1]) - self.left(x + pair[0]);
            let behind = move |pair: &[f64]| self.left(x - pair[0]) - self.left(x - pair[1]);
            cells.windows(2).map(move |pair| flows * (ahead(pair) + behind(pair)))
        };
        let rows: Vec<Vec<f64>> = middles.iter().map(|x| kernel(*x).collect()).collect();
        fixed_point(&rows, &constant)
    }

    /// The mean of the smaller of B and a limit.
    fn left(&self, limit: f64) -> f64 {
        let work = self.link.work;
        let to = (self.from + limit.max(0.0)).min(self.to);
        (work.up_to(to) - work.up_to(self.from)) / self.reached
    }

    /// The middle of a cell by the work that flows have in it.
    fn middle(&self, from: f64, to: f64) -> f64 {
        let work = self.link.work;
        let [low, high] = [from, to].map(|limit| work.up_to(self.from + limit));
        (work.where_up_to((low + high) / 2.0) - self.from).clamp(from, to)
    }

    /// The mean number of other flows that reach the level together with a flow: E\[N (N − 1)\] / E\[N\] for the
    /// number N of flows that outlast a busy period of the levels above. A busy period consists of its first flow
    /// and, for every flow that arrives meanwhile, of another busy period.
    fn others(&self) -> f64 {
        let (link, rate) = (self.link, self.link.rate());
        let number = self.reached / self.free;
        let squares = self.reached
            + 2.0 * self.reached * rate * self.from * number
            + rate * rate * link.work.square_up_to(self.from) * number * number;
        squares / self.free / number - 1.0
    }
}

/// The solution of v = constant + rows v, for rows that are contracting.
fn fixed_point(rows: &[Vec<f64>], constant: &[f64]) -> Vec<f64> {
    let mut values = constant.to_vec();
    loop {
        let next = |(row, constant): (&Vec<f64>, &f64)| {
            constant + row.iter().zip(&values).map(|(weight, value)| weight * value).sum::<f64>()
        };
        let new: Vec<f64> = rows.iter().zip(constant).map(next).collect();
        let moved = new.iter().zip(&values).map(|(new, old)| (new - old) / new).fold(0.0, f64::max);
        values = new;
        if moved < 1e-10 {
            return values;
        }
    }
}
