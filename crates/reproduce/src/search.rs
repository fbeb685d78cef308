//! Finds where a metric reaches a level, by bisection: which runs a search needs next. Each seed halves its own
//! bracket. Must not depend on how runs are computed.

use crate::context::{MeasureContext, TermCases};
use crate::form::Form;
use weft_expression::{Expression, Term, crossing};

/// Number of times that a bracket is halved: 5 times reduces it to 1/32 of the bounds.
const HALVINGS: usize = 5;

/// A search and the positions it has tried.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    /// The metric.
    pub(crate) term: Term,
    /// The level.
    pub(crate) level: Expression,
    /// The bounds.
    pub(crate) between: (f64, f64),
    /// The setting that is searched, a dotted path.
    pub(crate) axis: String,
    /// All positions requested so far.
    pub(crate) tried: Vec<Tried>,
    experiment: String,
    at: String,
    set: Vec<String>,
    form: Form,
}

/// A position that a search has tried.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub(crate) seed: u64,
    /// The position on the axis.
    pub(crate) at: f64,
    pub(crate) place: TermCases,
}

impl Search {
    /// A search that has tried nothing.
    pub(crate) fn new(
        (term, axis): (Term, String),
        (level, between): (Expression, (f64, f64)),
        context: &MeasureContext<'_>,
    ) -> Search {
        Search {
            term,
            level,
            between,
            axis,
            tried: Vec::new(),
            experiment: context.experiment.to_owned(),
            at: context.at.to_owned(),
            set: context.set.to_vec(),
            form: context.form,
        }
    }

    /// The overrides of a run at a position on the axis.
    pub(crate) fn overrides(&self, at: f64) -> Vec<String> {
        [self.set.as_slice(), &[format!("{}={at}", self.axis)]].concat()
    }

    /// The context of such a run.
    pub(crate) fn context<'a>(&'a self, set: &'a [String], seed: u64) -> MeasureContext<'a> {
        MeasureContext {
            experiment: &self.experiment,
            at: &self.at,
            set,
            form: self.form,
            varied: true,
            seed: Some(seed),
        }
    }

    /// The next positions for a seed, given the values at the positions it has tried, in order: first the bounds, then
    /// the middle of the bracket. Empty if the search is done, or the level lies outside the bounds.
    pub(crate) fn next(&self, seed: u64, points: &[(f64, f64)], level: Option<f64>) -> Vec<f64> {
        let tried = self.tried.iter().filter(|one| one.seed == seed).count();
        if tried == 0 {
            return vec![self.between.0, self.between.1];
        }
        let goes_on = points.len() == tried && tried < 2 + HALVINGS;
        let bracket = level.filter(|_| goes_on).and_then(|level| crossing(points, level));
        bracket.map_or(Vec::new(), |[(from, _), (to, _)]| vec![(from + to) / 2.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a search for `level` of `metric`.
    fn searched(metric: fn(f64) -> f64, level: f64) -> (usize, Option<[(f64, f64); 2]>) {
        let Expression::Reach(term, text, Some(between)) =
            Expression::parse("reach(fct.p99(drill), fct.p99(ecmp), 0.2, 1)").unwrap()
        else {
            panic!("no search");
        };
        let context = MeasureContext::default();
        let mut search = Search::new((term, "load".to_owned()), (*text, between), &context);
        let points = |search: &Search| {
            let mut points: Vec<(f64, f64)> =
                search.tried.iter().map(|one| (one.at, metric(one.at))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            points
        };
        loop {
            let next = search.next(7, &points(&search), Some(level));
            if next.is_empty() {
                return (search.tried.len(), crossing(&points(&search), level));
            }
            let place = || TermCases { stage: 0, cases: Vec::new() };
            search.tried.extend(next.into_iter().map(|at| Tried { seed: 7, at, place: place() }));
        }
    }

    #[test]
    fn a_bracket_is_halved_until_it_is_a_thirty_second() {
        let (tried, bracket) = searched(|load| load * load, 0.35);
        let [(from, _), (to, _)] = bracket.unwrap();
        assert_eq!(tried, 7);
        assert!((to - from - 0.8 / 32.0).abs() < 1e-12);
        assert!(from <= 0.35_f64.sqrt() && 0.35_f64.sqrt() <= to, "{from} {to}");
    }

    #[test]
    fn a_level_outside_costs_no_more_than_the_bounds() {
        assert_eq!(searched(|load| load, 0.1), (2, None));
        assert_eq!(searched(|load| load, 1.1), (2, None));
    }
}
