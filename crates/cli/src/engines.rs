//! Engines by name, and the message about a scenario that one of them cannot run.

use std::collections::BTreeSet;
use std::path::Path;

use clap::builder::PossibleValuesParser;

/// Parses the name of an engine.
pub(crate) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(weft::ENGINES.map(weft::Engine::name))
}

/// An error that lists why an engine, described by `who`, cannot run a scenario, if there are reasons.
pub(crate) fn refuse(scenario: &Path, who: &str, misfits: &BTreeSet<String>) -> Result<(), weft::Error> {
    if misfits.is_empty() {
        return Ok(());
    }
    let reasons: String = misfits.iter().map(|reason| format!("\n  {reason}")).collect();
    Err(weft::Error::BadInput(format!("{}: {who} cannot run it:{reasons}", scenario.display())))
}
