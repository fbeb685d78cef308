//! Files of nodes of a cluster: their meaning, and the reports of mistakes.

use weft_appliance::file::parse_plan;
use weft_appliance::plan::{PlannedApplication, PortUse};
use weft_router::app::cluster::ClusterEnd;

/// The path of a text next to the routers of this repository.
const BESIDE_CLUSTERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../routers/r.toml");
const SOUND: &str = include_str!("../../../routers/rb4-node.toml");

fn mistakes(from: &str, to: &str) -> String {
    let text = SOUND.replacen(from, to, 1);
    assert_ne!(text, SOUND, "{from} is there");
    parse_plan(&text, BESIDE_CLUSTERS).expect_err("has mistakes").draw(false)
}

#[test]
fn a_node_has_a_port_outside_and_one_to_each_other_node() {
    let plan = parse_plan(SOUND, BESIDE_CLUSTERS).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let used: Vec<PortUse> = plan.ports.iter().map(|port| port.use_of).collect();
    let nodes = (1..4).map(|node| PortUse::OfNode(ClusterEnd::Node(node)));
    let expected: Vec<PortUse> =
        std::iter::once(PortUse::OfNode(ClusterEnd::Outside(None))).chain(nodes).collect();
    assert_eq!(used, expected);
    let PlannedApplication::Cluster(node) = plan.application else { panic!() };
    assert_eq!((node.node, node.blueprint.routes.len()), (0, 4));
}

#[test]
fn mistakes_of_a_node_are_told_with_what_is_allowed() {
    for (from, to, words) in [
        ("node        = 0", "node = 4", "a whole number from 0 to 3"),
        ("node        = 0", "node = 1", "`node1`"),
        ("node        = 0", "", "`node`"),
        ("to     = \"node3\"", "to = \"node2\"", "leads to `node2` already"),
        ("to     = \"node3\"", "to = \"node9\"", "no cable leads to `node9`"),
        ("to     = \"node3\"", "to = \"node3\"\nstation = \"02:00:00:00:00:01\"", "inside a cluster"),
        ("to     = \"outside\"", "to = \"outside\"\nmtu = \"1500 B\"", "`mtu` has no effect"),
        ("clusters/rb4.toml", "clusters/none.toml", "does not exist"),
        ("application = \"cluster\"", "application = \"cluster\"\nkernel = true", "`kernel` has no effect"),
        ("\"packet:outside\"", "\"capture\"\nread = \"x.pcap\"\nmac = \"02:00:00:00:00:01\"", "say hello"),
    ] {
        let told = mistakes(from, to);
        assert!(told.contains(words), "{words}: {told}");
    }
    let without = SOUND.split("[[port]]").take(3).collect::<Vec<_>>().join("[[port]]");
    let told = parse_plan(&without, BESIDE_CLUSTERS).expect_err("two nodes are missing").short();
    assert!(told.contains("no port leads to node2, node3"), "{told}");
    let switch = SOUND.replacen("application = \"cluster\"", "application = \"forward\"", 1);
    let told = parse_plan(&switch, BESIDE_CLUSTERS).expect_err("keys without effect").short();
    assert!(told.contains("`cluster` has no effect"), "{told}");
}

/// A mistake in the description is reported with its place there, not with a place in the node's file.
#[test]
fn mistakes_of_the_description_are_told_where_they_are() {
    let folder = std::env::temp_dir().join(format!("weft-clusters-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("clusters")).unwrap();
    let description =
        include_str!("../../../routers/clusters/rb4.toml").replacen("10.0.1.0/24", "2001:db8::/32", 1);
    let line = 1 + description.lines().position(|line| line.contains("2001:db8::/32")).unwrap();
    std::fs::write(folder.join("clusters/rb4.toml"), &description).unwrap();
    let told = parse_plan(SOUND, folder.join("r.toml").to_str().unwrap()).expect_err("IPv6").short();
    let place = format!("clusters/rb4.toml:{line}:");
    assert!(told.contains(&place) && told.contains("2001:db8::/32 is no IPv4 prefix"), "{told}");
    std::fs::remove_dir_all(&folder).unwrap();
}
