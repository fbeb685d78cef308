//! Parses a file into a checked plan, or reports all its mistakes at once.

use std::collections::BTreeSet;
use std::path::Path;

use weft_core::units::nearest;
use weft_fib::IpPrefix;
use weft_mistake::document::{document_value, read_document};
use weft_mistake::node::{Content, Toml};
use weft_mistake::{Mistake, Mistakes};
use weft_packet::Mac;
use weft_router::neighbours::Station;

use crate::plan::{PlannedApplication, PlannedHop, PlannedPort, PlannedTunnel, PortDevice, RouterPlan};
use crate::ports::{PortPurpose, ports};
use crate::routes::{RouteContext, check_far_ends, neighbour, refuse_idle_tunnels, route};
use crate::tunnels::tunnels;
use crate::watch::WatchAddress;
use crate::{cluster, switch};
use weft_mistake::TableReader;

const KEYS: &[&str] = &[
    "application",
    "workers",
    "burst",
    "send_burst",
    "pin",
    "metrics",
    "errors_per_second",
    "kernel",
    "port",
    "route",
    "neighbour",
    "tunnel",
    "scenario",
    "case",
    "seed",
    "switch",
    "code_points",
    "cluster",
    "node",
];
/// The applications of a router.
const APPLICATIONS: [&str; 4] = ["route", "forward", "switch", "cluster"];
const METRICS: &str =
    "a loopback address such as \"127.0.0.1:9469\", or a socket such as \"unix:/run/weft-router\"";
/// Maximum number of ports, and of workers.
const MOST: i64 = 256;
/// Maximum number of neighbours in a file: half of what the cache holds for a link.
const MOST_NEIGHBOURS: usize = 2048;

/// Reads a file.
///
/// # Errors
/// All mistakes of the file.
pub fn read_plan(path: &Path) -> Result<RouterPlan, Mistakes> {
    read_document(path, parse_plan)
}

/// Parses a text; `name` is its name in messages.
///
/// # Errors
/// All mistakes of the text.
pub fn parse_plan(text: &str, name: &str) -> Result<RouterPlan, Mistakes> {
    let folder = Path::new(name).parent().unwrap_or(Path::new("."));
    document_value((text, name), |document, mistakes| plan(document, folder, mistakes))
}

/// The application. For an unknown name, the nearest one, so that the rest of the file can be read.
fn application(document: &Toml, root: &mut TableReader<'_, '_>) -> Option<&'static str> {
    let named = root.word("application", &APPLICATIONS);
    match document.get("application").map(|node| &node.content) {
        None => Some("route"),
        Some(Content::Text(text)) if named.is_none() => nearest(text, APPLICATIONS),
        Some(_) => named,
    }
}

/// The plan, complete only if there are no mistakes. Relative names of files start at `folder`.
fn plan(document: &Toml, folder: &Path, mistakes: &mut Vec<Mistake>) -> Option<RouterPlan> {
    let mut root = TableReader::new(document, "", KEYS, mistakes);
    let application = application(document, &mut root)?;
    let workers = root.number("workers", 1, MOST).unwrap_or(1) as u16;
    let burst = root.number("burst", 1, 64).unwrap_or(64) as usize;
    let send_burst = root.number("send_burst", 1, 64).map(|burst| burst as usize);
    let pin = root.flag("pin");
    let cores = std::thread::available_parallelism().map_or(usize::MAX, std::num::NonZero::get);
    if pin && usize::from(workers) > cores {
        let message = format!("{workers} workers need a core each, but there are {cores} cores");
        root.wrong("pin", message, "as many workers as cores at most, or pin = false");
    }
    let metrics = root.parsed("metrics", METRICS).map(|address| match address {
        WatchAddress::Unix(path) => WatchAddress::Unix(folder.join(path)),
        address => address,
    });
    let errors_per_second = root.number("errors_per_second", 0, 1_000_000).unwrap_or(1_000) as u32;
    let kernel = root.flag("kernel");
    root.require("port", "[[port]] with name and device");
    let why = format!("with application = \"{application}\"");
    if application != "route" {
        ["errors_per_second", "kernel", "route", "neighbour", "tunnel"]
            .iter()
            .for_each(|key| root.refuse(key, &why));
    }
    let planned_switch = match application {
        "switch" => switch::planned(&mut root, folder, workers),
        _ => {
            switch::KEYS.iter().for_each(|key| root.refuse(key, &why));
            None
        }
    };
    let planned_node = if application == "cluster" {
        cluster::planned(&mut root, folder)
    } else {
        cluster::KEYS.iter().for_each(|key| root.refuse(key, &why));
        None
    };
    let (port_tables, route_tables) = (root.list("port", "[[port]]"), root.list("route", "[[route]]"));
    let tunnel_tables = root.list("tunnel", "[[tunnel]]");
    let neighbour_tables = root.list("neighbour", "[[neighbour]]");
    if neighbour_tables.len() > MOST_NEIGHBOURS {
        let found = format!("{} neighbours", neighbour_tables.len());
        root.wrong("neighbour", found, &format!("at most {MOST_NEIGHBOURS}"));
    }
    if port_tables.len() > MOST as usize {
        root.wrong("port", format!("{} ports", port_tables.len()), &format!("at most {MOST}"));
    }
    let purpose = match application {
        "route" => PortPurpose::Route { kernel },
        "forward" => PortPurpose::Forward,
        "switch" => PortPurpose::Switch(planned_switch.as_ref()),
        _ => PortPurpose::Cluster(planned_node.as_ref()),
    };
    let before = mistakes.len();
    let ports = ports(port_tables, (workers, purpose, folder), mistakes);
    let sound = mistakes.len() == before;
    if sound {
        check_together(document, (&ports, workers, application), purpose, mistakes);
    }
    let application = match purpose {
        PortPurpose::Route { .. } => {
            let tables = [tunnel_tables, route_tables, neighbour_tables];
            let (tunnels, routes, neighbours) = routing(tables, (&ports, sound, kernel, folder), mistakes);
            PlannedApplication::Route { routes, neighbours, tunnels, errors_per_second, kernel }
        }
        PortPurpose::Forward => PlannedApplication::Forward,
        PortPurpose::Switch(switch) => PlannedApplication::Switch(switch?.clone()),
        PortPurpose::Cluster(node) => PlannedApplication::Cluster(node?.clone()),
    };
    Some(RouterPlan { workers, burst, send_burst, pin, metrics, application, ports })
}

/// The content of the tables `[[tunnel]]`, `[[route]]` and `[[neighbour]]`.
type RoutingTables = (Vec<PlannedTunnel>, Vec<(IpPrefix, PlannedHop)>, Vec<(Station, Mac)>);

/// Reads these tables; right only if there are no mistakes.
fn routing(
    [tunnel_tables, route_tables, neighbour_tables]: [&[Toml]; 3],
    (ports, sound, kernel, folder): (&[PlannedPort], bool, bool, &Path),
    mistakes: &mut Vec<Mistake>,
) -> RoutingTables {
    let before = mistakes.len();
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let found = tunnels(tunnel_tables, (ports, sound && !kernel, folder), mistakes);
    let name = |table: &'_ Toml| table.get("name").and_then(Toml::text).unwrap_or("").to_owned();
    let written: Vec<String> = tunnel_tables.iter().map(name).collect();
    let tunnel_names: Vec<&str> = written.iter().map(String::as_str).collect();
    let around = RouteContext { ports, names: &names, tunnels: &tunnel_names, sound };
    let (mut prefixes, mut stations) = (BTreeSet::new(), BTreeSet::new());
    let routes: Vec<_> =
        route_tables.iter().flat_map(|table| route(table, around, &mut prefixes, mistakes)).collect();
    let neighbours = neighbour_tables
        .iter()
        .filter_map(|table| neighbour(table, around, &mut stations, mistakes))
        .collect();
    refuse_idle_tunnels(tunnel_tables, route_tables, mistakes);
    // The kernel may have routes to the other ends.
    if sound && !kernel && mistakes.len() == before {
        check_far_ends(tunnel_tables, (&found, &routes, around), mistakes);
    }
    (found, routes, neighbours)
}

/// Checks that concern several ports.
fn check_together(
    document: &Toml,
    (ports, workers, application): (&[PlannedPort], u16, &str),
    purpose: PortPurpose<'_>,
    mistakes: &mut Vec<Mistake>,
) {
    check_captures(document, (ports, application), mistakes);
    let mut root = TableReader::new(document, "", KEYS, mistakes);
    match purpose {
        PortPurpose::Cluster(Some(node)) => cluster::check_ports(&mut root, node, ports),
        PortPurpose::Switch(Some(switch)) if workers > 1 => {
            switch::refuse_idle(&mut root, switch, (workers, ports));
        }
        _ => {}
    }
}

/// Captures run in recorded time and devices in real time, so all ports must be of one kind.
fn check_captures(
    document: &Toml,
    (ports, application): (&[PlannedPort], &str),
    mistakes: &mut Vec<Mistake>,
) {
    let captures = ports.iter().filter(|port| matches!(port.device, PortDevice::Capture { .. })).count();
    let mut root = TableReader::new(document, "", KEYS, mistakes);
    if captures == 0 {
        return;
    }
    if captures < ports.len() {
        root.wrong("port", "some ports are captures and some are devices", "all ports of one kind");
    }
    if application == "cluster" {
        root.wrong("port", "nodes of a cluster say hello to each other, which captures do not", "interfaces");
    }
    for key in ["metrics", "pin", "send_burst"] {
        root.refuse(key, "with captures");
    }
}
