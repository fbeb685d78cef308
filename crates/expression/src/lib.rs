//! The language of measures: `fct.mean(ecmp) / fct.mean(drill)`, `1 - imbalance.hop1(drill) / imbalance.hop1(random)`.
//! Expectations of a scenario and claims of a reproduction are written in it.
//!
//! Numbers, `+ - * /`, parentheses, `min`, `max` and `reach`, and metrics with selectors: a word in parentheses picks
//! the case with this value. `E3:fct.mean(ecmp)` takes the metric from another experiment. Must not depend on the
//! list of metrics or on cases: the caller resolves metrics and selectors.

mod reader;
mod selector;

pub use selector::{Selector, list as selectors, same};

/// A metric and the selectors that the text gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The experiment; `None`: the claim's own.
    pub experiment: Option<String>,
    /// Its dotted path, for example `fct.mean`.
    pub metric: String,
    /// The selectors of the case.
    pub selectors: Vec<Selector>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A constant.
    Number(f64),
    /// A measured value.
    Term(Term),
    /// Two operands and their operator: `+`, `-`, `*` or `/`.
    Binary(char, Box<Expression>, Box<Expression>),
    /// The least or the greatest of several expressions.
    Extreme(Extreme, Vec<Expression>),
    /// The point on the axis left open by the term at which its metric reaches the level: interpolated between points
    /// of the sweep, or found by bisection between two bounds.
    Reach(Term, Box<Expression>, Option<(f64, f64)>),
}

/// The use of a term in an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// As a value.
    Value,
    /// As a curve along the axis that it leaves open.
    Curve,
    /// At the points where a search evaluates it.
    Searched,
}

/// An extreme of several values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// `min`.
    Least,
    /// `max`.
    Greatest,
}

/// The source of measured values.
pub trait Values {
    /// The value of a term.
    fn value(&self, term: &Term) -> Option<f64>;
    /// The values of a term along the axis that it leaves open, by axis value; `None` where such terms are not
    /// supported.
    fn curve(&self, _: &Term) -> Option<Vec<(f64, f64)>> {
        None
    }
}

impl Expression {
    /// Parses an expression.
    ///
    /// # Errors
    /// The problem with the text.
    pub fn parse(text: &str) -> Result<Expression, String> {
        reader::read(text)
    }

    /// Its value; `None` if a part of it has none.
    #[must_use]
    pub fn value(&self, values: &dyn Values) -> Option<f64> {
        let value = match self {
            Expression::Number(number) => *number,
            Expression::Term(term) => values.value(term)?,
            Expression::Binary(sign, left, right) => {
                applied(*sign, left.value(values)?, right.value(values)?)
            }
            Expression::Extreme(which, parts) => {
                let all = parts.iter().map(|part| part.value(values)).collect::<Option<Vec<f64>>>()?;
                all.into_iter().reduce(match which {
                    Extreme::Least => f64::min,
                    Extreme::Greatest => f64::max,
                })?
            }
            Expression::Reach(term, level, _) => reached(&values.curve(term)?, level.value(values)?)?,
        };
        value.is_finite().then_some(value)
    }

    /// All its terms, and how each is used.
    #[must_use]
    pub fn terms(&self) -> Vec<(&Term, Use)> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Term(term) => vec![(term, Use::Value)],
            Expression::Binary(_, left, right) => [left.terms(), right.terms()].concat(),
            Expression::Extreme(_, parts) => parts.iter().flat_map(Expression::terms).collect(),
            Expression::Reach(term, level, None) => [vec![(term, Use::Curve)], level.terms()].concat(),
            Expression::Reach(term, level, _) => [vec![(term, Use::Searched)], level.terms()].concat(),
        }
    }

    /// Every search in it: metric, level, bounds.
    #[must_use]
    pub fn searches(&self) -> Vec<(&Term, &Expression, (f64, f64))> {
        match self {
            Expression::Number(_) | Expression::Term(_) => Vec::new(),
            Expression::Binary(_, left, right) => [left.searches(), right.searches()].concat(),
            Expression::Extreme(_, parts) => parts.iter().flat_map(Expression::searches).collect(),
            Expression::Reach(term, level, between) => {
                let own = between.map(|between| (term, level.as_ref(), between));
                own.into_iter().chain(level.searches()).collect()
            }
        }
    }

    /// Whether it is a quotient, whose values are compared as ratios.
    #[must_use]
    pub fn is_ratio(&self) -> bool {
        matches!(self, Expression::Binary('/', ..))
    }
}

fn applied(sign: char, left: f64, right: f64) -> f64 {
    match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    }
}

/// Where a curve first reaches a level, interpolated linearly in the logarithm of the value between two measured
/// points. `None` if it starts above the level or never reaches it.
fn reached(curve: &[(f64, f64)], level: f64) -> Option<f64> {
    let [(from, low), (to, high)] = crossing(curve, level)?;
    let share = if high > low { (level / low).ln() / (high / low).ln() } else { 0.0 };
    Some(from + share * (to - from))
}

/// The first two adjacent points of a curve between which it reaches a level.
#[must_use]
pub fn crossing(curve: &[(f64, f64)], level: f64) -> Option<[(f64, f64); 2]> {
    let crosses = |pair: &&[(f64, f64)]| pair[0].1 <= level && level <= pair[1].1;
    curve.windows(2).find(crosses).map(|pair| [pair[0], pair[1]])
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Table;

    impl Values for Table {
        fn value(&self, term: &Term) -> Option<f64> {
            match term.selectors.first()?.value() {
                "ecmp" => Some(8.0),
                "drill" => Some(2.0),
                _ => None,
            }
        }

        fn curve(&self, _: &Term) -> Option<Vec<(f64, f64)>> {
            Some(vec![(0.1, 1.0), (0.3, 4.0), (0.5, 16.0)])
        }
    }

    fn value(text: &str) -> Option<f64> {
        Expression::parse(text).unwrap().value(&Table)
    }

    #[test]
    fn arithmetic_has_its_usual_order() {
        assert_eq!(value("1 - fct.mean(drill) / fct.mean(ecmp)"), Some(0.75));
        assert_eq!(value("(1 + 2) * fct.p99_9(ecmp) - 4"), Some(20.0));
        assert_eq!(value("max(fct.mean(drill), fct.mean(ecmp)) / min(fct.mean(drill), 1)"), Some(8.0));
        assert_eq!(value("fct.mean(other) / 2"), None);
        assert_eq!(value("1 / (fct.mean(ecmp) - 8)"), None);
    }

    #[test]
    fn a_level_is_found_between_measured_places() {
        let half_way = value("reach(fct.p99(drill), fct.mean(ecmp))").unwrap();
        assert!((half_way - 0.4).abs() < 1e-12, "{half_way}");
        assert_eq!(value("reach(fct.p99(drill), 17)"), None);
        assert_eq!(value("reach(fct.p99(drill), 0.5)"), None);
    }

    #[test]
    fn terms_name_experiment_metric_and_case() {
        let text = "E1-shim:fct.mean(drill choices=1 memory=2, load = 0.8) / fct.mean(round-robin)";
        let expression = Expression::parse(text).unwrap();
        let terms = expression.terms();
        assert_eq!(terms[0].0.experiment.as_deref(), Some("E1-shim"));
        assert_eq!(terms[0].0.selectors[0].value(), "drill choices=1 memory=2");
        assert_eq!(terms[0].0.selectors[1].path(), Some("load"));
        assert_eq!(terms[1].0.selectors, selectors("round-robin").unwrap());
        assert!(expression.is_ratio());
    }

    #[test]
    fn what_is_no_expression_is_refused() {
        for text in [
            "",
            "1 +",
            "fct.mean(",
            "fct.mean()",
            "(1",
            "a b",
            "/ 2",
            "reach(1, 2)",
            "reach(a.b(c), 1, 2)",
            "reach(a.b(c), 1, 2, 1)",
            "E1:",
            "1.2.3",
            "fct.mean(load =)",
            "fct.mean(,)",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn no_text_is_too_much_for_the_stack() {
        let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
        assert!(Expression::parse(&nested(30)).is_ok());
        assert!(Expression::parse(&nested(40)).unwrap_err().contains("32 deep"));
        assert!(Expression::parse(&nested(100_000)).is_err());
        assert!(Expression::parse(&"1+".repeat(100_000)).unwrap_err().contains("longer than"));
        assert_eq!(value(&format!("{}1", "1+".repeat(900))), Some(901.0));
    }
}
