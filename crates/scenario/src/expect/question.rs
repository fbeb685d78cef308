//! An expectation as written. Must not depend on cases or results.

use super::Bound;
use super::quantity::LimitWithUnit;
use weft_expression::{Expression, Term};
use weft_mistake::SourceSpan;
use weft_mistake::node::Toml;

/// An expectation as written.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) place: SourceSpan,
    pub(crate) subject: SourceSpan,
    /// What is measured, as written.
    pub(crate) text: String,
    pub(crate) expression: Expression,
    pub(crate) selection: Vec<(String, Toml, SourceSpan)>,
    /// Limits with units, and the total number of limits.
    pub(crate) limits: Vec<LimitWithUnit>,
    pub(crate) given: usize,
    /// Limits with units are in their base units, see [`limits`](super::limits).
    pub(crate) bound: Bound,
    pub(crate) reduced: bool,
}

impl Question {
    pub(super) fn terms(&self) -> impl Iterator<Item = &Term> {
        self.expression.terms().into_iter().map(|(term, _)| term)
    }
}
