//! The part of a file that makes the router act as one node of a cluster, and what the node reports about itself.

use std::fmt;
use std::path::Path;

use weft_blueprint::read_blueprint;
use weft_cluster::{ClusterShape, DirectorSettings};
use weft_packet::Mac;
use weft_router::Interface;
use weft_router::app::cluster::{ClusterEnd, ClusterNode, ClusterNodeCounters};

use crate::failure::ApplianceError;
use crate::plan::{PlannedNode, PlannedPort, PortUse, RouterPlan};
use weft_mistake::TableReader;

/// Keys of the file that only a node of a cluster uses.
pub(crate) const KEYS: &[&str] = &["cluster", "node"];

const CLUSTER: &str = "the path of a cluster's description, relative to this file's folder";

/// The counters of a node.
#[derive(Clone, Debug)]
pub struct ClusterReport {
    /// Its number.
    pub node: u8,
    /// Its counters.
    pub counters: ClusterNodeCounters,
    /// The other nodes, and whether they are up.
    pub others: Vec<(u8, bool)>,
}

/// Reads the keys of a node; complete only if there are no mistakes.
pub(crate) fn planned(root: &mut TableReader<'_, '_>, folder: &Path) -> Option<PlannedNode> {
    root.require("cluster", CLUSTER);
    root.require("node", "the number of a node, from 0");
    let path = folder.join(root.text("cluster", CLUSTER)?);
    let blueprint = match read_blueprint(&path) {
        Ok(blueprint) => blueprint,
        Err(mistakes) => {
            let text = mistakes.short();
            let first = text.lines().next().unwrap_or_default().to_owned();
            let hint = format!("see all with: weft router simulate {}", path.display());
            root.wrong("cluster", format!("the description has mistakes: {first}"), &hint);
            return None;
        }
    };
    let ClusterShape::Mesh { nodes } = blueprint.model.shape else {
        root.wrong("cluster", "an n-fly has relays that real packets do not know", "a full mesh: `nodes`");
        return None;
    };
    if blueprint.routes.is_empty() {
        root.wrong(
            "cluster",
            "the description has no routes: nothing would leave",
            "[[route]] with prefix and node",
        );
    }
    let node = root.number("node", 0, i64::from(nodes) - 1)? as u8;
    Some(PlannedNode { blueprint, node })
}

/// Where a `[[port]]` leads: `to = "outside"`, or a node.
pub(crate) fn port_use(
    port: &mut TableReader<'_, '_>,
    planned: &PlannedNode,
    (station, before): (Option<Mac>, &[PlannedPort]),
) -> Option<PortUse> {
    let names: Vec<String> = std::iter::once("outside".to_owned())
        .chain(
            (0..planned.nodes())
                .filter(|node| *node != u16::from(planned.node))
                .map(|node| format!("node{node}")),
        )
        .collect();
    port.require("to", "outside, or the node at the other end, such as \"node1\"");
    let to = port.text("to", "outside, or the node at the other end")?;
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    if !known.contains(&to) {
        port.misnamed("to", format!("no cable leads to `{to}`"), &known);
        return None;
    }
    let end = match to.strip_prefix("node").and_then(|number| number.parse().ok()) {
        Some(node) => {
            port.refuse("station", "inside a cluster, where the output node is the address");
            ClusterEnd::Node(node)
        }
        None => ClusterEnd::Outside(station),
    };
    let is_same = |other: &PlannedPort| match (other.use_of, end) {
        (PortUse::OfNode(ClusterEnd::Outside(_)), ClusterEnd::Outside(_)) => true,
        (PortUse::OfNode(one), other) => one == other,
        _ => false,
    };
    if before.iter().any(is_same) {
        port.wrong(
            "to",
            format!("a port leads to `{to}` already"),
            "one port outside, and one to each other node",
        );
    }
    Some(PortUse::OfNode(end))
}

/// Refuses a node without an external port, or without a link to another node.
pub(crate) fn check_ports(root: &mut TableReader<'_, '_>, planned: &PlannedNode, ports: &[PlannedPort]) {
    let has = |wanted: &dyn Fn(ClusterEnd) -> bool| {
        ports.iter().any(|port| matches!(port.use_of, PortUse::OfNode(end) if wanted(end)))
    };
    let mut missing: Vec<String> = Vec::new();
    if !has(&|end| matches!(end, ClusterEnd::Outside(_))) {
        missing.push("outside".to_owned());
    }
    let others = (0..planned.nodes()).filter(|node| *node != u16::from(planned.node));
    missing.extend(
        others
            .filter(|node| !has(&|end| end == ClusterEnd::Node(*node as u8)))
            .map(|node| format!("node{node}")),
    );
    if !missing.is_empty() {
        let message = format!("no port leads to {}", missing.join(", "));
        root.wrong("port", message, "one port outside, and one to each other node");
    }
}

impl PlannedNode {
    fn nodes(&self) -> u16 {
        self.blueprint.model.shape.ports()
    }

    /// The node with its ports' stations.
    pub(crate) fn open(
        &self,
        plan: &RouterPlan,
        interfaces: &[Interface],
    ) -> Result<ClusterNode, ApplianceError> {
        let settings = DirectorSettings { nodes: self.nodes(), ..self.blueprint.model.director };
        let port = |(port, interface): (&PlannedPort, &Interface)| match port.use_of {
            PortUse::OfNode(end) => Some((end, interface.mac)),
            _ => None,
        };
        let ports = plan.ports.iter().zip(interfaces).filter_map(port).collect();
        let mtus: Vec<u16> = interfaces.iter().map(|interface| interface.mtu).collect();
        let node = ClusterNode::new((self.node, plan.workers), settings, ports, &self.blueprint.routes)?;
        Ok(node.with_mtus(&mtus))
    }

    /// The counters of the node, and which other nodes are up.
    pub(crate) fn report(&self, node: &ClusterNode) -> ClusterReport {
        ClusterReport { node: self.node, counters: node.counters(), others: node.others() }
    }
}

impl fmt::Display for ClusterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "node {} of a cluster, packets:", self.node)?;
        for (name, count) in self.counters.named() {
            writeln!(f, "  {name:<16} {count:>7}")?;
        }
        let down: Vec<String> =
            self.others.iter().filter(|(_, up)| !up).map(|(node, _)| format!("node{node}")).collect();
        match down.len() {
            0 => Ok(()),
            _ => writeln!(f, "silent: {}", down.join(", ")),
        }
    }
}
