//! Rules on the arbiters of links, and on the transports that depend on them.

use crate::{Facts, Finding, impossible};
use weft_switch::arbiter::ArbiterSettings;

/// Arbiters need a transport that asks them, and such a transport needs its arbiters.
pub(crate) fn arbiters_are_asked(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let (name, asked, there) =
        (facts.stack.name(), facts.stack.stack().arbiter(), facts.switch.arbiter.name());
    let is_on = facts.switch.arbiter != ArbiterSettings::default();
    if let Some(asked) = asked.filter(|asked| *asked != there) {
        let message = format!("{name} needs arbiters at the links: set switch.arbiter = \"{asked}\"");
        found.push(impossible("transport", message));
    } else if is_on && asked.is_none() {
        facts.idle("switch.arbiter", &format!("packets of {name} carry no requests to arbiters"), found);
    }
}

/// The bounds of the list are in order.
pub(crate) fn lists_have_bounds(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let ArbiterSettings::PdqArbiter(pdq) = &facts.switch.arbiter else { return };
    if pdq.least_list > pdq.most_list {
        let message = format!("exceeds most_list = {}, the longest list", pdq.most_list);
        found.push(impossible("switch.arbiter.pdq.least_list", message));
    }
}
