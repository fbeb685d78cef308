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
    /// The cost of the thresholds at the start.
    pub start: f64,
    /// The best thresholds.
    pub thresholds: Vec<Bytes>,
    /// Their cost.
    pub cost: f64,
    /// Number of different thresholds tried.
    pub trials: usize,
    /// Whether no step of the least factor improves on them; otherwise the trials were used up.
    pub settled: bool,
}

/// Known costs, so that no thresholds are tried twice.
struct Trials<'a, E> {
    known: BTreeMap<Vec<Bytes>, f64>,
    most: usize,
    cost: &'a mut dyn FnMut(&[Bytes]) -> Result<f64, E>,
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
        let cost = (self.cost)(thresholds)?;
        self.known.insert(thresholds.to_owned(), cost);
        Ok(Some(cost))
    }
}

/// Searches, beginning with the thresholds `from`, which are ascending.
///
/// # Errors
/// Errors of `cost`.
pub fn search<E>(
    from: &[Bytes],
    options: SearchOptions,
    cost: &mut dyn FnMut(&[Bytes]) -> Result<f64, E>,
) -> Result<BestFound, E> {
    let mut trials = Trials { known: BTreeMap::new(), most: options.trials.max(1), cost };
    let (mut best, mut factor) = (from.to_owned(), options.factor);
    let mut least = trials.cost(&best)?.unwrap_or(f64::INFINITY);
    let (start, mut settled) = (least, true);
    while settled && factor >= options.least_factor {
        let mut improved = false;
        for step in (0..best.len()).flat_map(|place| [(place, factor), (place, 1.0 / factor)]) {
            let moved = moved(&best, step);
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
    Ok(BestFound { start, thresholds: best, cost: least, trials: trials.known.len(), settled })
}

/// The thresholds with one of them multiplied; its neighbours are moved so that they stay ascending.
fn moved(thresholds: &[Bytes], (place, factor): (usize, f64)) -> Vec<Bytes> {
    let own = Bytes(((thresholds[place].0 as f64 * factor).round() as u64).max(1));
    let adjusted = |(other, threshold): (usize, &Bytes)| match other.cmp(&place) {
        std::cmp::Ordering::Less => own.min(*threshold),
        std::cmp::Ordering::Equal => own,
        std::cmp::Ordering::Greater => own.max(*threshold),
    };
    thresholds.iter().enumerate().map(adjusted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// A bowl in logarithms with its bottom at 10 kB and 1 MB is found to within the least step, whatever the start.
    #[test]
    fn the_bottom_of_a_bowl_is_found() {
        let bowl = |thresholds: &[Bytes]| -> Result<f64, Infallible> {
            let off = |at: usize, bottom: f64| (thresholds[at].0 as f64 / bottom).ln().powi(2);
            Ok(off(0, 1e4) + off(1, 1e6))
        };
        for start in [[100, 200], [50_000_000, 60_000_000], [10_000, 1_000_000]] {
            let options = SearchOptions { trials: 500, ..SearchOptions::default() };
            let found = search(&start.map(Bytes), options, &mut { bowl }).expect("it cannot fail");
            assert!(found.settled, "{found:?}");
            for (threshold, bottom) in found.thresholds.iter().zip([1e4, 1e6]) {
                let ratio = threshold.0 as f64 / bottom;
                assert!((1.0 / 1.2..=1.2).contains(&ratio), "{found:?}");
            }
        }
    }

    #[test]
    fn trials_are_counted_and_kept_to() {
        let mut asked = 0;
        let mut cost = |thresholds: &[Bytes]| -> Result<f64, Infallible> {
            asked += 1;
            Ok(1.0 / thresholds[0].0 as f64)
        };
        let found = search(&[Bytes(1)], SearchOptions { trials: 5, ..SearchOptions::default() }, &mut cost);
        let found = found.expect("it cannot fail");
        assert_eq!((found.trials, found.settled, asked), (5, false, 5));
    }
}
