//! Parses a file into a checked plan, or reports all its mistakes at once.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use weft_core::Bytes;
use weft_core::input::{LARGEST_FILE, read};
use weft_fib::IpPrefix;
use weft_mistake::node::{Toml, parse_document};
use weft_mistake::{Mistake, Mistakes, SourceSpan, Sources};

use crate::plan::{
    PlannedApplication, PlannedHop, PlannedPort, PlannedSwitch, PortDevice, PortUse, RouterPlan,
};
use crate::reader::TableReader;
use crate::switch;

const KEYS: &[&str] = &[
    "application",
    "workers",
    "burst",
    "pin",
    "metrics",
    "errors_per_second",
    "port",
    "route",
    "scenario",
    "case",
    "seed",
    "switch",
    "code_points",
];
const PORT_KEYS: &[&str] = &["name", "device", "mac", "mtu", "addresses", "to", "station"];
const ROUTE_KEYS: &[&str] = &["prefix", "via", "port", "reject"];
const DEVICES: &str = "\"packet:NAME\" for a network interface, \"tap:NAME\" for a TAP device";
const STATION: &str = "an address such as \"02:00:00:00:00:01\"";
const ADDRESS: &str = "an address with the length of its link's prefix, such as \"192.0.2.1/24\"";
const PREFIX: &str = "a prefix such as \"198.51.100.0/24\"";
const METRICS: &str =
    "a loopback address such as \"127.0.0.1:9469\", or a socket such as \"unix:/run/weft-router\"";
/// Minimum and maximum MTU of a link: what IPv4 requires, and what a buffer holds.
const MTU: (u64, u64) = (68, 2048);
/// Minimum MTU that IPv6 requires.
const MTU_V6: u16 = 1280;
/// Maximum number of ports, and of workers.
const MOST: i64 = 256;

/// Reads a file.
///
/// # Errors
/// All mistakes of the file.
pub fn read_plan(path: &Path) -> Result<RouterPlan, Mistakes> {
    let name = path.display().to_string();
    let unreadable = |message: String| {
        let mistake = Mistake::new(SourceSpan::new(0, 0..0), "", message);
        Mistakes::new(Arc::new(Sources::of_file(&name, "")), vec![mistake])
    };
    let bytes =
        read(path, LARGEST_FILE).map_err(|error| unreadable(format!("cannot read `{name}`: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable(format!("`{name}` is not UTF-8 text")))?;
    parse_plan(&text, &name)
}

/// Parses a text; `name` is its name in messages.
///
/// # Errors
/// All mistakes of the text.
pub fn parse_plan(text: &str, name: &str) -> Result<RouterPlan, Mistakes> {
    let (document, mut mistakes) = parse_document(text);
    let folder = Path::new(name).parent().unwrap_or(Path::new("."));
    let plan = if mistakes.is_empty() { plan(&document, folder, &mut mistakes) } else { None };
    match plan {
        Some(plan) if mistakes.is_empty() => Ok(plan),
        _ => Err(Mistakes::new(Arc::new(Sources::of_file(name, text)), mistakes)),
    }
}

/// The application for which ports are read.
#[derive(Clone, Copy)]
enum PortPurpose<'a> {
    Route,
    Forward,
    Switch(&'a PlannedSwitch),
}

/// The plan, complete only if there are no mistakes. Relative names of files start at `folder`.
fn plan(document: &Toml, folder: &Path, mistakes: &mut Vec<Mistake>) -> Option<RouterPlan> {
    let mut root = TableReader::new(document, "", KEYS, mistakes);
    let application = root.word("application", &["route", "forward", "switch"]);
    if root.has("application") && application.is_none() {
        return None;
    }
    let application = application.unwrap_or("route");
    let workers = root.number("workers", 1, MOST).unwrap_or(1) as u16;
    let burst = root.number("burst", 1, 64).unwrap_or(64) as usize;
    let pin = root.flag("pin");
    let metrics = root.parsed("metrics", METRICS);
    let errors_per_second = root.number("errors_per_second", 0, 1_000_000).unwrap_or(1_000) as u32;
    root.require("port", "[[port]] with name and device");
    let why = format!("with application = \"{application}\"");
    if application != "route" {
        ["errors_per_second", "route"].iter().for_each(|key| root.refuse(key, &why));
    }
    let planned_switch = match application {
        "switch" => switch::planned(&mut root, folder, workers),
        _ => {
            switch::KEYS.iter().for_each(|key| root.refuse(key, &why));
            None
        }
    };
    let (port_tables, route_tables) = (root.list("port", "[[port]]"), root.list("route", "[[route]]"));
    if port_tables.len() > MOST as usize {
        root.wrong("port", format!("{} ports", port_tables.len()), &format!("at most {MOST}"));
    }
    let purpose = match (application, &planned_switch) {
        ("route", _) => PortPurpose::Route,
        ("forward", _) => PortPurpose::Forward,
        (_, Some(switch)) => PortPurpose::Switch(switch),
        (_, None) => return None,
    };
    let ports = ports(port_tables, (workers, purpose), mistakes)?;
    if let PortPurpose::Switch(switch) = purpose
        && workers > 1
    {
        let mut root = TableReader::new(document, "", KEYS, mistakes);
        switch::refuse_idle(&mut root, switch, (workers, &ports));
    }
    let application = match purpose {
        PortPurpose::Route => {
            let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
            let routes =
                route_tables.iter().filter_map(|table| route(table, (&ports, &names), mistakes)).collect();
            PlannedApplication::Route { routes, errors_per_second }
        }
        PortPurpose::Forward => PlannedApplication::Forward,
        PortPurpose::Switch(switch) => PlannedApplication::Switch(switch.clone()),
    };
    Some(RouterPlan { workers, burst, pin, metrics, application, ports })
}

/// All ports; `None` if any of them is incomplete.
fn ports(
    tables: &[Toml],
    (workers, purpose): (u16, PortPurpose<'_>),
    mistakes: &mut Vec<Mistake>,
) -> Option<Vec<PlannedPort>> {
    let names: Vec<&str> =
        tables.iter().map(|port| port.get("name").and_then(Toml::text).unwrap_or("")).collect();
    let mut ports: Vec<PlannedPort> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let Some(port) = port(table, (number, purpose, &ports), &names, mistakes) else { continue };
        if workers > 1 && matches!(port.device, PortDevice::Tap(_)) {
            let message = "a TAP device has one queue, and several workers need one each".to_owned();
            let mistake = Mistake::new(table.place, "port.device", message);
            mistakes.push(mistake.allowing("workers = 1, or packet:NAME"));
        }
        ports.push(port);
    }
    (ports.len() == tables.len()).then_some(ports)
}

/// A `[[port]]`; complete only if there are no mistakes.
fn port(
    table: &Toml,
    (number, purpose, before): (usize, PortPurpose<'_>, &[PlannedPort]),
    names: &[&str],
    mistakes: &mut Vec<Mistake>,
) -> Option<PlannedPort> {
    let mut port = TableReader::new(table, &format!("port[{number}]"), PORT_KEYS, mistakes);
    let named = port.require("name", "a name for messages and routes");
    let name = port.text("name", "a name")?;
    if named && names[..number].contains(&name) {
        port.wrong("name", format!("there is a port `{name}` already"), "a name of its own");
    }
    let device = if port.require("device", DEVICES) { device(&mut port) } else { None };
    let mac = port.parsed("mac", STATION);
    if matches!(device, Some(PortDevice::Tap(_))) {
        port.require("mac", STATION);
    }
    let mtu = mtu(&mut port);
    let addresses = addresses(&mut port);
    if mtu.is_some_and(|mtu| mtu < MTU_V6) && addresses.iter().any(|(address, _)| address.is_ipv6()) {
        port.wrong("mtu", "IPv6 needs links that carry 1280 bytes", "at least \"1280 B\"");
    }
    let use_of = use_of(&mut port, purpose, (names, before))?;
    Some(PlannedPort { name: name.to_owned(), device: device?, mac, mtu, addresses, use_of })
}

/// The use of a port by the application; refuses keys that the application does not read.
fn use_of(
    port: &mut TableReader<'_, '_>,
    purpose: PortPurpose<'_>,
    (names, before): (&[&str], &[PlannedPort]),
) -> Option<PortUse> {
    let refuse = |port: &mut TableReader<'_, '_>, keys: [&str; 2], application: &str| {
        let why = format!("with application = \"{application}\"");
        keys.iter().for_each(|key| port.refuse(key, &why));
    };
    match purpose {
        PortPurpose::Route => {
            refuse(port, ["to", "station"], "route");
            Some(PortUse::Routed)
        }
        PortPurpose::Forward => {
            refuse(port, ["addresses", "mtu"], "forward");
            wire(port, names)
        }
        PortPurpose::Switch(switch) => {
            refuse(port, ["addresses", "mtu"], "switch");
            let station = port.parsed("station", STATION);
            let taken = |port: &PlannedPort| match port.use_of {
                PortUse::Switched(number, ..) => Some(number),
                _ => None,
            };
            let taken: Vec<_> = before.iter().filter_map(taken).collect();
            switch::port_use(port, switch, station, &taken)
        }
    }
}

fn device(port: &mut TableReader<'_, '_>) -> Option<PortDevice> {
    let text = port.text("device", DEVICES)?;
    match text.split_once(':') {
        Some((_, "")) | None => {}
        Some((_, name)) if name.len() > 15 => {
            port.wrong(
                "device",
                format!("`{name}` is too long"),
                "names of interfaces have at most 15 bytes",
            );
            return None;
        }
        Some(("packet", name)) => return Some(PortDevice::Packet(name.to_owned())),
        Some(("tap", name)) => return Some(PortDevice::Tap(name.to_owned())),
        Some(_) => {}
    }
    port.wrong("device", format!("`{text}` names no device"), DEVICES);
    None
}

fn mtu(port: &mut TableReader<'_, '_>) -> Option<u16> {
    let size: Bytes = port.parsed("mtu", "a size such as \"1500 B\"")?;
    if !(MTU.0..=MTU.1).contains(&size.0) {
        port.wrong("mtu", format!("found {size}"), &format!("from {} B to {} B", MTU.0, MTU.1));
    }
    Some(size.0 as u16)
}

fn addresses(port: &mut TableReader<'_, '_>) -> Vec<(IpAddr, u8)> {
    let mut found = Vec::new();
    for item in port.list("addresses", ADDRESS) {
        match item.text().and_then(address_on_link) {
            Some((address, _)) if !is_of_a_station(address) => {
                port.wrong_item(
                    "addresses",
                    item,
                    (format!("{address} is not the address of a station"), ADDRESS),
                );
            }
            Some(address) if found.contains(&address) => {
                port.wrong_item("addresses", item, (format!("{} is there already", address.0), ADDRESS));
            }
            Some(address) => found.push(address),
            None => port.wrong_item("addresses", item, (format!("found {}", item.described()), ADDRESS)),
        }
    }
    found
}

/// An address and the length of its link's prefix.
fn address_on_link(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok().filter(|_| length.bytes().all(|digit| digit.is_ascii_digit()))?;
    IpPrefix::around(address, length).map(|_| (address, length))
}

fn is_of_a_station(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
    !(address.is_multicast() || address.is_unspecified() || address.is_loopback() || broadcast)
}

fn wire(port: &mut TableReader<'_, '_>, names: &[&str]) -> Option<PortUse> {
    port.require("to", "the name of a port");
    port.require("station", STATION);
    let to = port.text("to", "the name of a port");
    let number = to.and_then(|to| named(port, "to", to, names));
    let station = port.parsed("station", STATION);
    Some(PortUse::Wired(number?, station?))
}

/// The number of the port with this name.
fn named(reader: &mut TableReader<'_, '_>, key: &str, name: &str, names: &[&str]) -> Option<u16> {
    let found = names.iter().position(|other| *other == name && !name.is_empty());
    if found.is_none() {
        reader.misnamed(key, format!("there is no port `{name}`"), names);
    }
    found.map(|number| number as u16)
}

/// A `[[route]]`.
fn route(
    table: &Toml,
    (ports, names): (&[PlannedPort], &[&str]),
    mistakes: &mut Vec<Mistake>,
) -> Option<(IpPrefix, PlannedHop)> {
    let mut route = TableReader::new(table, "route", ROUTE_KEYS, mistakes);
    route.require("prefix", PREFIX);
    let prefix: Option<IpPrefix> = route.parsed("prefix", PREFIX);
    let port = route.text("port", "the name of a port").map(|name| named(&mut route, "port", name, names));
    if route.flag("reject") {
        route.refuse("via", "with reject = true");
        route.refuse("port", "with reject = true");
        return Some((prefix?, PlannedHop::Reject));
    }
    if !route.has("via") {
        if port.is_none() {
            route.wrong("via", "a route needs `via`, `port` or `reject = true`", "via = \"192.0.2.9\"");
        }
        return Some((prefix?, PlannedHop::Link(port??)));
    }
    let via: IpAddr = route.parsed("via", "the address of a router, such as \"192.0.2.9\"")?;
    if prefix.is_some_and(|prefix| prefix.address().is_ipv4() != via.is_ipv4()) {
        route.wrong(
            "via",
            format!("{via} and the prefix are of different families"),
            "an address of the prefix's family",
        );
    }
    let near = (0..ports.len()).find(|number| reaches(&ports[*number], via)).map(|number| number as u16);
    match port {
        None if near.is_none() => {
            route.wrong(
                "via",
                format!("{via} is on the link of no port"),
                "an address on a link, or `port` beside it",
            );
            None
        }
        Some(number) => Some((prefix?, PlannedHop::Gateway(number?, via))),
        None => Some((prefix?, PlannedHop::Gateway(near?, via))),
    }
}

fn reaches(port: &PlannedPort, address: IpAddr) -> bool {
    let on_link = |(own, length): &(IpAddr, u8)| {
        IpPrefix::around(*own, *length).is_some_and(|prefix| prefix.contains(address))
    };
    port.addresses.iter().any(on_link)
}
