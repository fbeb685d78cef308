//! Checks of the repository's own structure.
fn main() {}
