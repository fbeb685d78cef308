//! The reduction of weights (WCMP, EuroSys'14, section 4): smaller weights in nearly the same proportions. An
//! optimisation with a bound on the error: it grows the weight that lags furthest behind until the error is small
//! enough.

/// How far the most overserved port exceeds its share when `reduced` replaces `weights`: the maximum of (Y_i sum X) /
/// (X_i sum Y). Infinite while a port has none.
#[must_use]
pub fn oversubscription(weights: &[u64], reduced: &[u64]) -> f64 {
    let (whole, reduced_whole) = (sum(weights), sum(reduced));
    let of = |(weight, reduced): (&u64, &u64)| {
        *reduced as f64 * whole as f64 / (*weight as f64 * reduced_whole as f64)
    };
    weights.iter().zip(reduced).map(of).fold(0.0, f64::max)
}

/// More entries than any switch has; the search stops here, because each entry takes one step.
const MOST_ENTRIES: u64 = 1 << 16;

/// The first weights of the search whose [`oversubscription`] is at most `most`; the given weights, without a common
/// divisor, if they are no larger, or if the search reaches 65536 entries.
#[must_use]
pub fn reduce(weights: &[u64], most: f64) -> Vec<u64> {
    let mut reduced = vec![1; weights.len()];
    let limit = sum(weights).min(if most > 1.0 { MOST_ENTRIES } else { 0 });
    while sum(&reduced) < limit && oversubscription(weights, &reduced) > most {
        grow(weights, &mut reduced);
    }
    if sum(&reduced) >= limit {
        let divisor = weights.iter().fold(0, |divisor, weight| gcd(divisor, *weight)).max(1);
        return weights.iter().map(|weight| weight / divisor).collect();
    }
    reduced
}

/// The best weights of the search with a sum of at most `entries`; every port keeps at least one entry.
#[must_use]
pub fn reduce_to(weights: &[u64], entries: u64) -> Vec<u64> {
    let mut reduced = vec![1; weights.len()];
    let mut best = (oversubscription(weights, &reduced), reduced.clone());
    while sum(&reduced) < entries.min(MOST_ENTRIES).min(sum(weights)) {
        grow(weights, &mut reduced);
        let error = oversubscription(weights, &reduced);
        if error < best.0 {
            best = (error, reduced.clone());
        }
    }
    best.1
}

/// Adds one entry to the port furthest below its share; to the first of several. Compares without rounding.
fn grow(weights: &[u64], reduced: &mut [u64]) {
    let lags = |a: &usize, b: &usize| {
        let left = u128::from(reduced[*a] + 1) * u128::from(weights[*b]);
        left.cmp(&(u128::from(reduced[*b] + 1) * u128::from(weights[*a])))
    };
    if let Some(least) = (0..weights.len()).min_by(lags) {
        reduced[least] += 1;
    }
}

fn sum(weights: &[u64]) -> u64 {
    weights.iter().sum()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
