//! Numbers in arguments: at least one job, thread or pass.

use std::num::NonZero;

/// Parses a whole number of 1 or more.
///
/// # Errors
/// Anything else, in words.
pub(crate) fn at_least_one(text: &str) -> Result<NonZero<usize>, &'static str> {
    text.parse().map_err(|_| "not a whole number of 1 or more")
}

/// Parses a number of trials: at least two, because the first two compare the starting points of the search.
pub(crate) fn at_least_two(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|trials| *trials >= 2).ok_or("not a whole number of 2 or more")
}
