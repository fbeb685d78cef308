//! What surrounds a measure, and where the runs behind its terms are.

use crate::form::Form;

/// Where a term's values are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TermCases {
    pub(crate) stage: usize,
    /// The cases: one, or those along an axis with their places on it.
    pub(crate) cases: Vec<(f64, usize)>,
}

/// What surrounds a measure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeasureContext<'a> {
    /// The experiment of terms that name none.
    pub(crate) experiment: &'a str,
    /// Selectors that all terms share.
    pub(crate) at: &'a str,
    /// Overrides of a variant.
    pub(crate) set: &'a [String],
    /// How much is run.
    pub(crate) form: Form,
    /// It belongs to a table of variants.
    pub(crate) varied: bool,
    /// The only seed, if there is but one.
    pub(crate) seed: Option<u64>,
}
