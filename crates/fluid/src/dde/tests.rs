use super::{Effort, Past, Stepping, System, integrate};

/// One equation with its past, from closures.
struct One<D, B> {
    start: f64,
    derivative: D,
    before: B,
    breaks: Vec<f64>,
}

impl<D: Fn(f64, f64, &Past<'_>) -> f64, B: Fn(f64) -> f64> System for One<D, B> {
    fn initial(&self) -> Vec<f64> {
        vec![self.start]
    }
    fn scales(&self) -> Vec<f64> {
        vec![1.0]
    }
    fn remembered(&self) -> usize {
        1
    }
    fn before(&self, t: f64, _: usize) -> f64 {
        (self.before)(t)
    }
    fn derivative(&self, t: f64, state: &[f64], past: &Past<'_>, change: &mut [f64]) {
        change[0] = (self.derivative)(t, state[0], past);
    }
    fn settle(&mut self, _: f64, _: &mut [f64]) -> bool {
        false
    }
    fn breaks(&self) -> Vec<f64> {
        self.breaks.clone()
    }
    fn memory(&self) -> f64 {
        f64::INFINITY
    }
}

fn adaptive(tolerance: f64) -> Stepping {
    Stepping::Adaptive { tolerance, longest: 0.5 }
}

/// The largest deviation from `exact` over all rows.
fn deviation<S: System>(
    system: &mut S,
    until: f64,
    stepping: Stepping,
    exact: impl Fn(f64) -> f64,
) -> (f64, Effort) {
    let mut worst: f64 = 0.0;
    let effort =
        integrate(system, until, stepping, 0.05, &mut |_, t, y| worst = worst.max((y[0] - exact(t)).abs()));
    (worst, effort)
}

fn factorial(n: i32) -> f64 {
    (1..=n).map(f64::from).product()
}

#[test]
fn the_pieces_of_a_pure_delay_are_polynomials() {
    // y' = -y(t - 1), y = 1 up to zero: integrate interval by interval
    let exact = |t: f64| {
        let term = |k: i32| (-1f64).powi(k) * (t - f64::from(k - 1)).powi(k) / factorial(k);
        (0..=t.floor() as i32 + 1).map(term).sum::<f64>()
    };
    let breaks = (1..5).map(f64::from).collect();
    let derivative = |t: f64, _: f64, past: &Past<'_>| -past.value(t - 1.0, 0);
    let mut system = One { start: 1.0, derivative, before: |_| 1.0, breaks };
    let (worst, effort) = deviation(&mut system, 6.0, adaptive(1e-9), exact);
    assert!(worst < 1e-7, "{worst}");
    assert!(effort.steps > 50 && effort.forced == 0, "{effort:?}");
}

#[test]
fn the_order_is_three_with_and_without_delays_shorter_than_the_step() {
    // y' = -k y(t - d) has the solution exp(m t) with m = -k exp(-m d)
    for (d, m) in [(1.0_f64, -0.3_f64), (0.001, -1.0), (0.033, -2.0)] {
        let k = -m * (m * d).exp();
        let derivative = move |t: f64, _: f64, past: &Past<'_>| -k * past.value(t - d, 0);
        let error = |length: f64| {
            let mut system = One { start: 1.0, derivative, before: |t: f64| (m * t).exp(), breaks: vec![] };
            deviation(&mut system, 2.0, Stepping::Fixed(length), |t| (m * t).exp()).0
        };
        let errors: Vec<f64> = [0.1, 0.05, 0.025, 0.0125].into_iter().map(error).collect();
        for pair in errors.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((order - 3.0).abs() < 0.35, "d = {d}: order {order}, errors {errors:?}");
        }
    }
}

#[test]
fn the_error_follows_the_tolerance() {
    let derivative = |t: f64, _: f64, past: &Past<'_>| -1.3 * past.value(t - 1.0, 0) + t.cos();
    let end = |tolerance: f64| {
        let mut system = One { start: 0.0, derivative, before: |_| 0.0, breaks: vec![1.0, 2.0] };
        let mut last = 0.0;
        integrate(&mut system, 20.0, adaptive(tolerance), 1.0, &mut |_, _, y| last = y[0]);
        last
    };
    let best = end(1e-12);
    let errors = [1e-4, 1e-6, 1e-8].map(|tolerance| (end(tolerance) - best).abs());
    assert!(errors[0] < 1e-2 && errors[1] < 1e-4 && errors[2] < 1e-6, "{errors:?}");
    assert!(errors[1] < errors[0] / 10.0 && errors[2] < errors[1] / 10.0, "{errors:?}");
}

#[test]
fn a_delay_may_depend_on_the_state() {
    // Neves (1975): y' = y y(ln y) / t from t = 1, y = 1 before; y = t up to e, then exp(t / e) up to e^2
    let e = std::f64::consts::E;
    let derivative = |u: f64, y: f64, past: &Past<'_>| y * past.value(y.ln() - 1.0, 0) / (u + 1.0);
    let mut system = One { start: 1.0, derivative, before: |_| 1.0, breaks: vec![e - 1.0] };
    let exact = |u: f64| if u < e - 1.0 { u + 1.0 } else { ((u + 1.0) / e).exp() };
    let (worst, _) = deviation(&mut system, e * e - 1.0, adaptive(1e-10), exact);
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn rows_lie_on_their_grid_and_both_ends_are_there() {
    let mut system =
        One { start: 0.0, derivative: |_, _, _: &Past<'_>| 1.0, before: |_| 0.0, breaks: vec![] };
    let mut times = Vec::new();
    integrate(&mut system, 1.0, adaptive(1e-6), 0.25, &mut |_, t, y| {
        assert!((y[0] - t).abs() < 1e-12);
        times.push(t);
    });
    assert_eq!(times, [0.0, 0.25, 0.5, 0.75, 1.0]);
}

/// Fills a basin at changing speed; it does not become emptier than empty.
struct Basin;

impl System for Basin {
    fn initial(&self) -> Vec<f64> {
        vec![0.5]
    }
    fn scales(&self) -> Vec<f64> {
        vec![1.0]
    }
    fn remembered(&self) -> usize {
        0
    }
    fn before(&self, _: f64, _: usize) -> f64 {
        0.0
    }
    fn derivative(&self, t: f64, state: &[f64], _: &Past<'_>, change: &mut [f64]) {
        let inflow = t - 2.0;
        change[0] = if state[0] <= 0.0 { inflow.max(0.0) } else { inflow };
    }
    fn settle(&mut self, _: f64, state: &mut [f64]) -> bool {
        let empty = state[0] < 0.0;
        state[0] = state[0].max(0.0);
        empty
    }
    fn breaks(&self) -> Vec<f64> {
        Vec::new()
    }
    fn memory(&self) -> f64 {
        0.0
    }
}

#[test]
fn a_clipped_state_leaves_its_bound_when_the_slope_turns() {
    let mut rows = Vec::new();
    integrate(&mut Basin, 4.0, adaptive(1e-8), 0.1, &mut |_, t, y| rows.push((t, y[0])));
    for (t, level) in rows {
        let empty_at = 2.0 - 3f64.sqrt();
        let exact = match t {
            t if t < empty_at => 0.5 - 2.0 * t + t * t / 2.0,
            t if t < 2.0 => 0.0,
            t => (t - 2.0).powi(2) / 2.0,
        };
        assert!((level - exact).abs() < 1e-5, "t = {t}: {level} instead of {exact}");
    }
}
