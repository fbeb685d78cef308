//! The `[[change]]` tables of a description: failures and returns of nodes. Must not depend on how they are simulated.

use std::collections::BTreeSet;

use weft_cluster::ClusterShape;
use weft_cluster::simulate::NodeChange;
use weft_core::{Span, Time};
use weft_mistake::node::Toml;
use weft_mistake::{Mistake, TableReader};

pub(crate) const SPAN: &str = "a time such as \"100 ms\"";
const CHANGE_KEYS: &[&str] = &["time", "node", "up"];

/// A key that names a node.
pub(crate) fn node(reader: &mut TableReader<'_, '_>, nodes: u16) -> Option<u16> {
    reader.require("node", &format!("a node from 0 to {}", nodes - 1));
    Some(reader.number("node", 0, i64::from(nodes) - 1)? as u16)
}

/// A `[[change]]`.
pub(crate) fn change(
    table: &Toml,
    (number, shape): (usize, ClusterShape),
    mistakes: &mut Vec<Mistake>,
) -> Option<NodeChange> {
    let mut change = TableReader::new(table, &format!("change[{number}]"), CHANGE_KEYS, mistakes);
    change.require("time", SPAN);
    change.require("up", "true, false");
    let (time, node) = (change.parsed("time", SPAN), node(&mut change, shape.nodes()));
    let up = change.flag("up");
    Some(NodeChange { time: Time::ZERO + time?, node: node?, up })
}

/// Refuses changes without effect: the node is already in that state, or no traffic lasts until then.
pub(crate) fn refuse_idle_changes(
    tables: &[Toml],
    (changes, longest): (&[NodeChange], Option<Span>),
    mistakes: &mut Vec<Mistake>,
) {
    let mut down = BTreeSet::new();
    for (number, (table, change)) in tables.iter().zip(changes).enumerate() {
        let changes = if change.up { down.remove(&change.node) } else { down.insert(change.node) };
        let message = match longest {
            _ if !changes => {
                let state = if change.up { "up" } else { "down" };
                format!("the change has no effect: node {} is {state} already", change.node)
            }
            Some(longest) if change.time >= Time::ZERO + longest => {
                format!("the change has no effect: no traffic lasts longer than {longest}")
            }
            _ => continue,
        };
        mistakes.push(Mistake::new(table.place, &format!("change[{number}]"), message));
    }
}
