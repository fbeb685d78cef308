//! The context of a measure, and the cases that its terms refer to.

use weft_bench::routebricks;
use weft_expression::Term;

use crate::form::Form;

/// The cases with a term's values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TermCases {
    pub(crate) stage: usize,
    /// The cases: one, or those along an axis, each with its position on the axis.
    pub(crate) cases: Vec<(f64, usize)>,
}

/// The context of a measure.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeasureContext<'a> {
    /// The experiment of terms that do not name one.
    pub(crate) experiment: &'a str,
    /// Selectors shared by all terms.
    pub(crate) at: &'a str,
    /// Overrides of a variant.
    pub(crate) set: &'a [String],
    /// The form to run.
    pub(crate) form: Form,
    /// Whether it belongs to a table of variants.
    pub(crate) varied: bool,
    /// The seed, if there is only one.
    pub(crate) seed: Option<u64>,
}

/// How the value of a term is obtained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermKind {
    /// By running packets.
    Packets,
    /// By solving a fluid model.
    Fluid,
    /// As a figure from a machine, a simulated cluster, or arithmetic.
    Figure,
}

impl TermKind {
    pub(crate) fn of(term: &Term) -> TermKind {
        match () {
            () if term.metric.starts_with("fluid.") => TermKind::Fluid,
            () if routebricks::is_figure(&term.metric) => TermKind::Figure,
            () => TermKind::Packets,
        }
    }
}
