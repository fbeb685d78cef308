//! Rules on ranks: who writes them, who goes by them, and who else writes there.

use super::{Facts, Finding, impossible};
use weft_switch::BalancerSettings;
use weft_switch::order::AnyOrder;

/// Ranks that packets carry are read by switches, and none is read that nobody wrote.
pub(super) fn ranks_are_written_and_read(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let name = facts.stack.name();
    let written = facts.stack.stack().ranks_packets();
    let read = AnyOrder::new(&facts.switch.order, ()).reads_ranks();
    if read && !written {
        facts.idle("switch.order", &format!("packets of {name} have no ranks"), found);
    }
    if written && !read {
        let message = format!("{name} needs switches that go by ranks: set switch.order = \"ranked\"");
        found.push(impossible("transport", message));
    }
    if written && matches!(facts.balance, BalancerSettings::Conga(_) | BalancerSettings::Presto(_)) {
        let balancer = facts.balance.name();
        let message = format!("{balancer} writes into packets where {name} has their ranks");
        found.push(impossible("balance", message));
    }
}
