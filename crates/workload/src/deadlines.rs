//! Distributions of deadlines, counted from the start of a flow. Must not depend on sizes or arrival processes.
//!
//! Written in a scenario as a time (`"5 ms"`: every flow) or a formula: `"uniform(2 ms, 10 ms)"`,
//! `"exponential(20 ms)"`, and `"exponential(20 ms, 3 ms)"`, where shorter draws become 3 ms.

use weft_core::{Random, Span};

/// A distribution of deadlines.
#[derive(Clone, Debug, PartialEq)]
pub enum DeadlineDistribution {
    /// All flows have the same time.
    Fixed(Span),
    /// Uniform between these.
    Uniform(Span, Span),
    /// Exponential with this mean; shorter draws become the least (PDQ, SIGCOMM 2012, section 5.1: 20 ms and 3 ms).
    Exponential {
        /// The mean before short draws are raised.
        mean: Span,
        /// The least deadline.
        least: Span,
    },
}

impl DeadlineDistribution {
    /// Parses a scenario's value.
    ///
    /// # Errors
    /// One sentence on what is wrong and what is allowed.
    pub fn read(text: &str) -> Result<DeadlineDistribution, String> {
        let text = text.trim();
        match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((name, list)) => {
                formula(name.trim(), &list.split(',').map(str::trim).collect::<Vec<_>>(), text)
            }
            None => time(text).map(DeadlineDistribution::Fixed),
        }
    }

    /// A deadline of at least a picosecond.
    pub fn draw(&self, random: &mut Random) -> Span {
        let span = match self {
            DeadlineDistribution::Fixed(span) => *span,
            DeadlineDistribution::Uniform(least, most) => {
                Span(least.0 + ((most.0 - least.0) as f64 * random.unit()).round() as u64)
            }
            DeadlineDistribution::Exponential { mean, least } => {
                Span(random.exponential(mean.0 as f64).round() as u64).max(*least)
            }
        };
        span.max(Span(1))
    }
}

fn time(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(Span::ZERO) => Err("a deadline of zero cannot be met".to_owned()),
        Ok(span) => Ok(span),
        Err(error) => Err(format!("`{text}`: {error}")),
    }
}

fn formula(name: &str, arguments: &[&str], whole: &str) -> Result<DeadlineDistribution, String> {
    match (name, arguments) {
        ("uniform", [least, most]) => {
            let (least, most) = (time(least)?, time(most)?);
            let ordered = (least <= most).then_some(DeadlineDistribution::Uniform(least, most));
            ordered.ok_or_else(|| format!("`{whole}`: the shorter time comes first"))
        }
        ("exponential", [mean]) => {
            Ok(DeadlineDistribution::Exponential { mean: time(mean)?, least: Span(1) })
        }
        ("exponential", [mean, least]) => {
            Ok(DeadlineDistribution::Exponential { mean: time(mean)?, least: time(least)? })
        }
        _ => Err(format!(
            "`{whole}` is not a known formula; there are uniform(2 ms, 10 ms), exponential(20 ms), exponential(20 ms, 3 ms)"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Purpose;

    fn mean(text: &str) -> f64 {
        let (deadlines, mut random) =
            (DeadlineDistribution::read(text).expect(text), Random::new(1, Purpose::Test, 0));
        (0..100_000).map(|_| deadlines.draw(&mut random).micros()).sum::<f64>() / 1e5
    }

    #[test]
    fn draws_have_their_mean() {
        assert!((mean("5 ms") - 5_000.0).abs() < 1e-6);
        assert!((mean("uniform(2 ms, 10 ms)") - 6_000.0).abs() < 30.0);
        assert!((mean("exponential(20 ms)") - 20_000.0).abs() < 200.0);
        // E[max(X, a)] = a + m e^(-a/m)
        let raised = 3_000.0 + 20_000.0 * (-0.15f64).exp();
        assert!((mean("exponential(20 ms, 3 ms)") - raised).abs() < 200.0);
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        for (text, part) in [
            ("20", "20"),
            ("0 ms", "cannot be met"),
            ("uniform(3 ms, 2 ms)", "shorter time comes first"),
            ("pareto(1 ms)", "there are uniform"),
        ] {
            let message = DeadlineDistribution::read(text).expect_err(text);
            assert!(message.contains(part), "{message}");
        }
    }
}
