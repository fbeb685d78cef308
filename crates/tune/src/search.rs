//! PIAS thresholds by simulation: a pattern search that moves one threshold at a time, up and down by a shrinking
//! factor, and keeps moves that lower the mean completion time. All trials use the same seeds, so that they differ in
//! their thresholds alone.
//!
//! Must not depend on the model, which only provides the start.

use std::collections::BTreeMap;

use weft_core::Bytes;

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct SearchOptions {
    /// Maximum number of different thresholds tried.
    pub trials: usize,
    /// The factor of the first steps, by which a threshold is multiplied or divided.
    pub factor: f64,
    /// The search ends when a step would be smaller than this factor.
    pub least_factor: f64,
}

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions { trials: 60, factor: 4.0, least_factor: 1.2 }
    }
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BestFound {
    /// The cost of each of the thresholds at the start.
    pub starts: Vec<f64>,
    /// The best thresholds.
    pub thresholds: Vec<Bytes>,
    /// Their cost.
    pub cost: f64,
    /// Number of different thresholds tried.
    pub trials: usize,
    /// Whether no step of the least factor improves on them; otherwise the limit of trials was reached.
    pub settled: bool,
}

/// Known costs, so that no thresholds are tried twice.
struct Trials<'a, E> {
    known: BTreeMap<Vec<Bytes>, f64>,
    most: usize,
    subject: &'a mut dyn ThresholdCost<E>,
}

/// The cost of thresholds, which a search minimises.
pub trait ThresholdCost<E> {
    /// Whether thresholds can be tried at all.
    fn allows(&self, thresholds: &[Bytes]) -> bool;
    /// Tries them; less is better.
    ///
    /// # Errors
    /// The trial failed.
    fn cost(&mut self, thresholds: &[Bytes]) -> Result<f64, E>;
}

impl<E> Trials<'_, E> {
    /// The cost of thresholds; `None` when no trials are left.
    fn cost(&mut self, thresholds: &[Bytes]) -> Result<Option<f64>, E> {
        if let Some(known) = self.known.get(thresholds) {
            return Ok(Some(*known));
        }
        if self.known.len() >= self.most {
            return Ok(None);
        }
        let cost = self.subject.cost(thresholds)?;
        self.known.insert(thresholds.to_owned(), cost);
        Ok(Some(cost))
    }
}

/// Searches, beginning with the best of the thresholds `from`, all of which are tried. There must be at least one.
///
/// # Errors
/// Errors of trials.
pub fn search<E>(
    from: &[Vec<Bytes>],
    options: SearchOptions,
    subject: &mut dyn ThresholdCost<E>,
) -> Result<BestFound, E> {
    let mut trials = Trials { known: BTreeMap::new(), most: options.trials.max(from.len()), subject };
    let starts = from.iter().map(|start| Ok(trials.cost(start)?.unwrap_or(f64::INFINITY)));
    let starts = starts.collect::<Result<Vec<f64>, E>>()?;
    let first = (0..starts.len()).min_by(|a, b| starts[*a].total_cmp(&starts[*b])).unwrap_or(0);
    let (mut best, mut least, mut factor) = (from[first].clone(), starts[first], options.factor);
    let mut settled = true;
    while settled && factor >= options.least_factor {
        let mut improved = false;
        for step in (0..best.len()).flat_map(|place| [(place, factor), (place, 1.0 / factor)]) {
            let moved = moved(&best, step);
            if !trials.subject.allows(&moved) {
                continue;
            }
            match trials.cost(&moved)? {
                Some(cost) if cost < least => (best, least, improved) = (moved, cost, true),
                Some(_) => {}
                None => settled = false,
            }
        }
        if !improved {
            factor = factor.sqrt();
        }
    }
    Ok(BestFound { starts, thresholds: best, cost: least, trials: trials.known.len(), settled })
}

/// Neighbours keep at least this ratio, since two equal thresholds separate nothing.
const LEAST_RATIO: f64 = 1.1;

/// The thresholds with one of them multiplied; its neighbours are moved so that they stay ascending.
fn moved(thresholds: &[Bytes], (place, factor): (usize, f64)) -> Vec<Bytes> {
    let own = thresholds[place].0 as f64 * factor;
    let adjusted = |(other, threshold): (usize, &Bytes)| {
        let (limit, size) = (own * LEAST_RATIO.powi(other as i32 - place as i32), threshold.0 as f64);
        let new = match other.cmp(&place) {
            std::cmp::Ordering::Less => size.min(limit),
            std::cmp::Ordering::Equal => own,
            std::cmp::Ordering::Greater => size.max(limit),
        };
        Bytes((new.round() as u64).max(1))
    };
    thresholds.iter().enumerate().map(adjusted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A cost by formula, and the number of its evaluations.
    struct Formula<F>(F, usize);

    impl<F: Fn(&[Bytes]) -> f64> ThresholdCost<Infallible> for Formula<F> {
        fn allows(&self, thresholds: &[Bytes]) -> bool {
            thresholds[0] > Bytes(1_000)
        }

        fn cost(&mut self, thresholds: &[Bytes]) -> Result<f64, Infallible> {
            self.1 += 1;
            assert!(thresholds.windows(2).all(|pair| pair[0] < pair[1]), "{thresholds:?} separate nothing");
            Ok((self.0)(thresholds))
        }
    }

    /// A bowl in logarithms with its bottom at 10 kB and 1 MB.
    fn bowl(thresholds: &[Bytes]) -> f64 {
        let off = |(threshold, bottom): (&Bytes, f64)| (threshold.0 as f64 / bottom).ln().powi(2);
        thresholds.iter().zip([1e4, 1e6]).map(off).sum()
    }

    /// Found to within the smallest step, whatever the start.
    #[test]
    fn the_bottom_of_a_bowl_is_found() {
        for start in [[2_000, 3_000], [5_000_000, 60_000_000], [10_000, 1_000_000]] {
            let options = SearchOptions { trials: 500, ..SearchOptions::default() };
            let found = search(&[start.map(Bytes).to_vec()], options, &mut Formula(bowl, 0));
            let found = found.expect("it cannot fail");
            assert!(found.settled, "{found:?}");
            for (threshold, bottom) in found.thresholds.iter().zip([1e4, 1e6]) {
                let ratio = threshold.0 as f64 / bottom;
                assert!((1.0 / 1.2..=1.2).contains(&ratio), "{found:?}");
            }
        }
    }

    #[test]
    fn trials_are_counted_and_kept_to() {
        let mut subject = Formula(|thresholds: &[Bytes]| 1.0 / thresholds[0].0 as f64, 0);
        let options = SearchOptions { trials: 5, ..SearchOptions::default() };
        let found = search(&[vec![Bytes(2_000)]], options, &mut subject).expect("it cannot fail");
        assert_eq!((found.trials, found.settled, subject.1), (5, false, 5));
    }

    /// The best is never worse than any start, however few trials there are.
    #[test]
    fn every_start_competes() {
        let starts = [vec![Bytes(1_000_000_000)], vec![Bytes(12_000), Bytes(900_000)], vec![Bytes(90_000)]];
        let options = SearchOptions { trials: 1, ..SearchOptions::default() };
        let found = search(&starts, options, &mut Formula(bowl, 0)).expect("it cannot fail");
        assert_eq!((&found.thresholds, found.trials), (&starts[1], 3));
        assert_eq!(found.starts[1], found.cost);
    }
}
