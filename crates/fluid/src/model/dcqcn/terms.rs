//! The factors of the equations that depend on the marking probability and on the rate of packets, both delayed:
//! probabilities and frequencies of events in a stream in which every packet is marked independently, with exact limits
//! where the expressions become 0/0, and with their derivatives for linearisation.

use super::DcqcnParameters;

/// Probabilities and frequencies per packet (CoNEXT 2016, equations 5 to 9).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Probability of a notification within a notification interval: a.
    pub notified: f64,
    /// Probability of a notification within a period of the estimate's timer.
    pub noticed: f64,
    /// Increases by volume per packet: b.
    pub by_volume: f64,
    /// Additive increases by volume per packet: c.
    pub additive_by_volume: f64,
    /// Increases by time per packet: d.
    pub by_time: f64,
    /// Additive increases by time per packet: e.
    pub additive_by_time: f64,
}

/// Derivatives of [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slopes {
    /// With respect to the probability of a mark.
    pub probability: Terms,
    /// With respect to the rate.
    pub rate: Terms,
}

impl Terms {
    /// The terms at marking probability `p` and `rate` packets per second; the rate must be positive.
    #[must_use]
    pub fn new(law: &DcqcnParameters, p: f64, rate: f64) -> Terms {
        let log = (-p).ln_1p();
        let unmarked = |packets: f64| unmarked(log, packets);
        let per_timer = law.increase_timer * rate;
        let notified = -(law.notification * rate * log).exp_m1();
        let same = law.estimate_timer == law.notification;
        let noticed = if same { notified } else { -(law.estimate_timer * rate * log).exp_m1() };
        let (by_volume, by_time) = (runs(p, log, law.byte_counter), runs(p, log, per_timer));
        Terms {
            notified,
            noticed,
            by_volume,
            additive_by_volume: unmarked(law.recovery * law.byte_counter) * by_volume,
            by_time,
            additive_by_time: unmarked(law.recovery * per_timer) * by_time,
        }
    }
}

/// The probability that none of `packets` packets is marked; `log` is the logarithm of that probability for one
/// packet. It is 1 for no packets, even where every packet is marked.
fn unmarked(log: f64, packets: f64) -> f64 {
    if packets == 0.0 { 1.0 } else { (packets * log).exp() }
}

/// Frequency per packet with which a run of `length` packets without a mark completes: `p / ((1-p)^-length - 1)`.
fn runs(p: f64, log: f64, length: f64) -> f64 {
    if p <= 0.0 { 1.0 / length } else { p / (-length * log).exp_m1() }
}

/// The derivatives of [`runs`] with respect to `p` and to `length`.
fn slopes_of_runs(p: f64, log: f64, length: f64) -> (f64, f64) {
    let grown = (-length * log).exp_m1();
    if !grown.is_finite() {
        return (0.0, 0.0);
    }
    // (grown + 1) / grown first: the square overflows long before `grown` itself
    let share = 1.0 + 1.0 / grown;
    ((1.0 - p * length * share / (1.0 - p)) / grown, p * log * share / grown)
}

impl Slopes {
    /// The derivatives at probability `p` in (0, 1) and `rate` packets per second.
    #[must_use]
    pub fn new(law: &DcqcnParameters, p: f64, rate: f64) -> Slopes {
        let log = (-p).ln_1p();
        let terms = Terms::new(law, p, rate);
        // the relative changes of (1-p)^n
        let unmarked = |packets: f64| unmarked(log, packets);
        let per_probability = |packets: f64| -packets / (1.0 - p) * unmarked(packets);
        let (volume, interval) = (law.byte_counter, law.increase_timer * rate);
        let (volume_slope, _) = slopes_of_runs(p, log, volume);
        let (timer_slope, length_slope) = slopes_of_runs(p, log, interval);
        let timer_by_rate = length_slope * law.increase_timer;
        let (recovery_volume, recovery_time) = (law.recovery * volume, law.recovery * interval);
        let by_rate = |time: f64| time * log * unmarked(time * rate);
        let probability = Terms {
            notified: -per_probability(law.notification * rate),
            noticed: -per_probability(law.estimate_timer * rate),
            by_volume: volume_slope,
            additive_by_volume: per_probability(recovery_volume) * terms.by_volume
                + unmarked(recovery_volume) * volume_slope,
            by_time: timer_slope,
            additive_by_time: per_probability(recovery_time) * terms.by_time
                + unmarked(recovery_time) * timer_slope,
        };
        let rate_slopes = Terms {
            notified: -by_rate(law.notification),
            noticed: -by_rate(law.estimate_timer),
            by_volume: 0.0,
            additive_by_volume: 0.0,
            by_time: timer_by_rate,
            additive_by_time: by_rate(law.recovery * law.increase_timer) * terms.by_time
                + unmarked(recovery_time) * timer_by_rate,
        };
        Slopes { probability, rate: rate_slopes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::dcqcn::tests::law;

    fn all(terms: &Terms) -> [f64; 6] {
        let Terms { notified, noticed, by_volume, additive_by_volume, by_time, additive_by_time } = *terms;
        [notified, noticed, by_volume, additive_by_volume, by_time, additive_by_time]
    }

    #[test]
    fn limits_without_and_with_every_mark() {
        let law = law();
        let rate = 5e6;
        let (b, t) = (1.0 / law.byte_counter, 1.0 / (law.increase_timer * rate));
        assert_eq!(all(&Terms::new(&law, 0.0, rate)), [0.0, 0.0, b, b, t, t]);
        assert_eq!(all(&Terms::new(&law, 1.0, rate)), [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        let nearly = all(&Terms::new(&law, 1e-13, rate));
        for (near, limit) in nearly.into_iter().zip([0.0, 0.0, b, b, t, t]) {
            assert!((near - limit).abs() <= 1e-6 * limit.max(1.0), "{nearly:?}");
        }
        assert!(all(&Terms::new(&law, 0.3, rate)).iter().all(|term| term.is_finite()), "overflow is a limit");
    }

    /// Without recovery every increase is additive, also where every packet is marked, which leaves no increase.
    #[test]
    fn no_recovery_leaves_every_increase_additive() {
        let law = DcqcnParameters { recovery: 0.0, ..law() };
        for p in [0.0, 1e-3, 0.5, 1.0] {
            let terms = Terms::new(&law, p, 5e5);
            assert_eq!((terms.additive_by_volume, terms.additive_by_time), (terms.by_volume, terms.by_time));
            assert!(all(&terms).iter().all(|term| term.is_finite()), "{p}: {terms:?}");
        }
    }

    #[test]
    fn slopes_agree_with_differences() {
        let law = law();
        for (p, rate) in [(1e-4, 5e6), (6e-3, 5e5), (0.05, 8e4)] {
            let slopes = Slopes::new(&law, p, rate);
            let difference = |dp: f64, dr: f64| {
                let (above, below) =
                    (Terms::new(&law, p + dp, rate + dr), Terms::new(&law, p - dp, rate - dr));
                let per = 2.0 * (dp + dr);
                std::array::from_fn::<f64, 6, _>(|n| (all(&above)[n] - all(&below)[n]) / per)
            };
            let pairs = [
                (slopes.probability, difference(p * 1e-5, 0.0)),
                (slopes.rate, difference(0.0, rate * 1e-5)),
            ];
            for (exact, measured) in pairs {
                for (a, b) in all(&exact).into_iter().zip(measured) {
                    assert!((a - b).abs() <= 1e-6 * a.abs().max(b.abs()) + 1e-14, "{exact:?} {measured:?}");
                }
            }
        }
    }
}
