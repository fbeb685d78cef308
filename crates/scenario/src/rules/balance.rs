//! Rules on balancers.

use super::{Facts, Finding};
use weft_switch::BalancerSettings;
use weft_switch::flowlet;

/// The flowlets of the chosen balancer, if it has any.
fn flowlets<'a>(facts: &'a Facts<'_>) -> Option<&'a flowlet::Settings> {
    match &facts.settings.balance {
        BalancerSettings::LetFlow(own) => Some(&own.flowlets),
        _ => None,
    }
}

impl Facts<'_> {
    /// The path of a setting of the chosen balancer.
    fn balancer(&self, setting: &str) -> String {
        format!("balance.{}.{setting}", self.settings.balance.name())
    }
}

/// A table with an entry for every flow has no size.
pub(super) fn tables_of_flowlets_have_one_size(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if flowlets(facts).is_some_and(|flowlets| flowlets.exact) {
        facts.idle(&facts.balancer("table_size"), "every flow has an entry of its own (exact)", found);
    }
}
