//! Measures of what does not exist: mistakes in the file that show only when cases are located.

use std::collections::BTreeSet;

use weft::Error;

use super::{Asked, Drawn, TOO_SMALL};
use crate::folder::CLAIMS;
use crate::source::PublishedSource;

/// Refuses claims and figures whose cases or settings do not exist, unless the file says that they are awaited. Rows of tables say
/// themselves why they are empty.
///
/// # Errors
/// All of them.
pub(super) fn refuse(
    source: &PublishedSource,
    (asked, figures): (&[Asked<'_>], &[Drawn<'_>]),
) -> Result<(), Error> {
    let mut mistakes = BTreeSet::new();
    let mut add = |what: String, why: Option<&String>| {
        let why = why.filter(|why| why.as_str() != TOO_SMALL && !source.awaits(why));
        mistakes.extend(why.map(|why| format!("{what}: {why}")));
    };
    for Asked { claim, parts, otherwise } in asked {
        let id = claim.id.get_ref();
        parts.iter().for_each(|part| add(format!("claim {id}"), part.as_ref().err()));
        otherwise.iter().for_each(|part| add(format!("claim {id}, otherwise"), part.as_ref().err()));
    }
    for Drawn { drawing, lines } in figures {
        let all = lines.iter().flatten();
        all.for_each(|one| add(format!("figure {}", drawing.id.get_ref()), one.as_ref().err()));
    }
    match mistakes.is_empty() {
        true => Ok(()),
        false => Err(Error::BadInput(format!("{CLAIMS}: {}", Vec::from_iter(mistakes).join("\n")))),
    }
}
