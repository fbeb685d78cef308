//! Roots of continuous functions that change sign. Converges for any such function, because the root stays bracketed.

/// The root of `f` between `low` and `high` by Ridders' method (1979), to within rounding; `None` without a change of
/// sign.
pub fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> Option<f64> {
    let (mut at_low, mut at_high) = (f(low), f(high));
    if at_low == 0.0 || at_high == 0.0 {
        return Some(if at_low == 0.0 { low } else { high });
    }
    if at_low.is_nan() || at_high.is_nan() || (at_low > 0.0) == (at_high > 0.0) {
        return None;
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        let at_middle = f(middle);
        let bend = (at_middle * at_middle - at_low * at_high).sqrt();
        let shift = if bend > 0.0 { (middle - low) * at_middle / bend } else { 0.0 };
        let guess = if at_low > at_high { middle + shift } else { middle - shift };
        let at_guess = f(guess);
        // the change of sign lies in one of three parts
        let mut marks = [(low, at_low), (middle, at_middle), (guess, at_guess), (high, at_high)];
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let part = marks.windows(2).find(|pair| (pair[0].1 > 0.0) != (pair[1].1 > 0.0))?;
        [(low, at_low), (high, at_high)] = [part[0], part[1]];
        if (high - low).abs() <= 4.0 * f64::EPSILON * low.abs().max(high.abs()) {
            break;
        }
    }
    Some(if at_low.abs() < at_high.abs() { low } else { high })
}

#[cfg(test)]
mod tests {
    use super::root;

    #[test]
    fn a_bracket_closes_on_the_root() {
        type Case = (fn(f64) -> f64, f64, f64, f64);
        let cases: [Case; 4] = [
            (|x| x * x - 2.0, 0.0, 2.0, 2f64.sqrt()),
            (|x| x.exp() - 1e-9, -100.0, 0.0, 1e-9_f64.ln()),
            (|x| 1.0 - x.powi(9), 0.0, 10.0, 1.0),
            (|x| if x < 0.3 { -1.0 } else { 2.0 }, 0.0, 1.0, 0.3),
        ];
        for (f, low, high, expected) in cases {
            let found = root(f, low, high).unwrap();
            assert!((found - expected).abs() < 1e-12 * expected.abs().max(1.0), "{found} {expected}");
        }
    }

    #[test]
    fn without_a_change_of_sign_there_is_no_root() {
        assert_eq!(root(|x| x * x + 1.0, -1.0, 1.0), None);
        assert_eq!(root(|_| f64::NAN, -1.0, 1.0), None);
    }
}
