//! Oscillation of a series: mean, standard deviation, amplitude, and the period if it has one. Works for noisy series
//! as well as for smooth ones.

/// Number of points used to find the period: each is the mean of a stretch.
const POINTS: usize = 2000;
/// A relative standard deviation below this counts as steady.
const REST: f64 = 0.01;
/// A standard deviation below this share of the mean counts as zero: the equations are not solved more accurately.
const NOTHING: f64 = 1e-6;
/// Minimum autocorrelation at the period; below it, the series has none.
const ALIKE: f64 = 0.3;

/// The oscillation of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Swing {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
    /// Half the distance between its 5 % and 95 % quantiles.
    pub(crate) amplitude: f64,
    /// Period in steps of the series.
    pub(crate) period: Option<f64>,
}

/// The oscillation of values at equal steps; `None` without values.
pub(crate) fn swing(values: &[f64]) -> Option<Swing> {
    let mean = mean(values)?;
    let deviation = variance(values, mean).sqrt();
    if deviation <= NOTHING * mean.abs() {
        return Some(Swing { mean, deviation: 0.0, amplitude: 0.0, period: None });
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| sorted[((sorted.len() - 1) as f64 * share).round() as usize];
    let moves = deviation > REST * mean.abs();
    Some(Swing {
        mean,
        deviation,
        amplitude: 0.5 * (quantile(0.95) - quantile(0.05)),
        period: if moves { period(values) } else { None },
    })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn variance(values: &[f64], mean: f64) -> f64 {
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
}

/// The lag at which the autocorrelation is highest, after it has first fallen below zero.
fn period(values: &[f64]) -> Option<f64> {
    let stretch = values.len().div_ceil(POINTS);
    let kept: Vec<f64> = values.chunks_exact(stretch).filter_map(mean).collect();
    let mean = mean(&kept)?;
    let total = variance(&kept, mean) * kept.len() as f64;
    let alike = |lag: usize| {
        let products = kept.iter().zip(&kept[lag..]).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / total
    };
    let lags = kept.len() / 2;
    let first = (1..lags).find(|lag| alike(*lag) < 0.0)?;
    let found = (first..lags).map(|lag| (lag, alike(lag))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (found.1 >= ALIKE).then(|| (found.0 * stretch) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;

    fn wave(noise: f64) -> Vec<f64> {
        let mut random = weft_core::Random::new(1, weft_core::random::Purpose::InitialRates, 0);
        let at = |n: i32| 50.0 + 10.0 * (TAU * f64::from(n) / 370.0).sin() + noise * (random.unit() - 0.5);
        (0..6000).map(at).collect()
    }

    #[test]
    fn a_sine_has_its_mean_period_and_amplitude() {
        let found = swing(&wave(0.0)).expect("there are values");
        assert!((found.mean - 50.0).abs() < 0.5 && (found.deviation - 10.0 / 2.0_f64.sqrt()).abs() < 0.1);
        assert!((found.amplitude - 10.0 * (0.45 * std::f64::consts::PI).sin()).abs() < 0.1, "{found:?}");
        assert!((found.period.expect("it swings") - 370.0).abs() <= 6.0, "{found:?}");
    }

    #[test]
    fn noise_hides_no_period_and_has_none() {
        let found = swing(&wave(20.0)).expect("there are values");
        assert!((found.period.expect("it swings") - 370.0).abs() <= 12.0, "{found:?}");
        let noise: Vec<f64> = wave(20.0).iter().zip(wave(0.0)).map(|(a, b)| a - b + 50.0).collect();
        assert_eq!(swing(&noise).expect("there are values").period, None);
        assert_eq!(swing(&[3.0; 100]).expect("there are values").period, None);
        assert_eq!(swing(&[]), None);
        let settled: Vec<f64> = (0..100).map(|n| 120.0 + 1e-11 * f64::from(n % 7)).collect();
        let found = swing(&settled).expect("there are values");
        assert_eq!((found.deviation, found.amplitude), (0.0, 0.0));
    }
}
