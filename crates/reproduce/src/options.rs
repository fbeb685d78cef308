//! Options of a call that would have no effect.

use weft::Error;

use crate::form::Form;
use crate::reproduce::ReproduceOptions;
use crate::source::{PublishedClaim, PublishedSource};

/// Refuses options without an effect on these claims.
///
/// # Errors
/// The first such option.
pub(crate) fn refuse_idle(
    source: &PublishedSource,
    claims: &[&PublishedClaim],
    options: &ReproduceOptions,
) -> Result<(), Error> {
    let concerns = |ids: &[String]| claims.iter().any(|claim| ids.contains(claim.id.get_ref()));
    let refused = [
        (
            options.form == Form::Large && source.experiments.iter().all(|one| one.large.is_empty()),
            "--large has no effect: no experiment has a larger form",
        ),
        (
            options.tables && !source.tables.iter().any(|table| concerns(&table.claims)),
            "--tables has no effect: no table is about these claims",
        ),
        (
            options.assumptions && source.assumptions.is_empty(),
            "--assumptions has no effect: the source makes none that could be others",
        ),
    ];
    match refused.iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(Error::BadInput((*why).to_owned())),
        None => Ok(()),
    }
}
