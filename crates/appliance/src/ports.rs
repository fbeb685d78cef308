//! The `[[port]]` tables of a file.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;

use weft_core::Bytes;
use weft_core::units::nearest;
use weft_fib::IpPrefix;
use weft_mistake::Mistake;
use weft_mistake::node::Toml;
use weft_packet::Mac;
use weft_router::control::broadcasts;
use weft_router::interface::is_link_local;

use crate::cluster;
use crate::plan::{PlannedNode, PlannedPort, PlannedSwitch, PortDevice, PortUse};
use crate::switch;
use weft_mistake::TableReader;

const PORT_KEYS: &[&str] = &["name", "device", "read", "write", "mac", "mtu", "addresses", "to", "station"];
const DEVICES: &str = "\"packet:NAME\" or \"xdp:NAME\" for a network interface, \"tap:NAME\" for a TAP device, \"capture\" for files";
const CAPTURE_FILE: &str = "the path of a pcap or pcapng file, relative to this file's folder";
const STATION: &str = "an address such as \"02:00:00:00:00:01\"";
const ADDRESS: &str = "an address with the length of its link's prefix, such as \"192.0.2.1/24\"";
/// Minimum and maximum MTU of a link: what IPv4 requires, and what a buffer holds.
const MTU: (u64, u64) = (68, 2048);
/// Minimum MTU that IPv6 requires.
const MTU_V6: u16 = 1280;

/// The application for which ports are read.
#[derive(Clone, Copy)]
pub(crate) enum PortPurpose<'a> {
    Route {
        kernel: bool,
    },
    Forward,
    /// Without the switch, if its description is wrong.
    Switch(Option<&'a PlannedSwitch>),
    /// Likewise.
    Cluster(Option<&'a PlannedNode>),
}

/// All ports. A faulty port is reported and replaced by a placeholder, so that mistakes in routes are found as well.
pub(crate) fn ports(
    tables: &[Toml],
    (workers, purpose, folder): (u16, PortPurpose<'_>, &Path),
    mistakes: &mut Vec<Mistake>,
) -> Vec<PlannedPort> {
    let names: Vec<&str> =
        tables.iter().map(|port| port.get("name").and_then(Toml::text).unwrap_or("")).collect();
    let mut ports: Vec<PlannedPort> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let port = port(table, (number, purpose, &ports), (&names, folder), mistakes);
        let by_queue = matches!(port.device, PortDevice::Xdp(_) | PortDevice::Tap(_));
        if workers > 1 && by_queue && matches!(purpose, PortPurpose::Switch(_)) {
            let message =
                "the device divides arrivals by flow, and a switch with several workers by port".to_owned();
            let mistake = Mistake::new(table.place, "port.device", message);
            mistakes.push(mistake.allowing("workers = 1, or packet:NAME"));
        }
        ports.push(port);
    }
    ports
}

/// A `[[port]]`; right only if there are no mistakes.
fn port(
    table: &Toml,
    (number, purpose, before): (usize, PortPurpose<'_>, &[PlannedPort]),
    (names, folder): (&[&str], &Path),
    mistakes: &mut Vec<Mistake>,
) -> PlannedPort {
    let mut port = TableReader::new(table, &format!("port[{number}]"), PORT_KEYS, mistakes);
    let named = port.require("name", "a name for messages and routes");
    let name = port.name("name").unwrap_or("");
    if named && !name.is_empty() && names[..number].contains(&name) {
        port.wrong("name", format!("there is a port `{name}` already"), "a name of its own");
    }
    let device = if port.require("device", DEVICES) { device(&mut port, folder) } else { None };
    refuse_twice(&mut port, device.as_ref(), before);
    refuse_written(&mut port, device.as_ref(), before);
    let mac = station(&mut port, "mac");
    if matches!(device, Some(PortDevice::Tap(_) | PortDevice::Capture { .. })) {
        port.require("mac", STATION);
    }
    let mtu = mtu(&mut port);
    let addresses = addresses(&mut port, before);
    if mtu.is_some_and(|mtu| mtu < MTU_V6) && addresses.iter().any(|(address, _)| address.is_ipv6()) {
        port.wrong("mtu", "IPv6 needs links that carry 1280 bytes", "at least \"1280 B\"");
    }
    let use_of = use_of(&mut port, purpose, (names, before)).unwrap_or(PortUse::Routed);
    if matches!(use_of, PortUse::Switched(_, _, None))
        && matches!(device, Some(PortDevice::Capture { read: None, .. }))
    {
        port.wrong(
            "device",
            "a capture that is only written tells no MAC address of the other end",
            "`station`",
        );
    }
    let device = device.unwrap_or(PortDevice::Capture { read: None, write: None });
    PlannedPort { name: name.to_owned(), device, mac, mtu, addresses, use_of }
}

/// Refuses an interface that is already a port: each frame would arrive twice.
fn refuse_twice(port: &mut TableReader<'_, '_>, device: Option<&PortDevice>, before: &[PlannedPort]) {
    let interface = |device: &PortDevice| match device {
        PortDevice::Packet(name) | PortDevice::Xdp(name) => Some((name.clone(), false)),
        PortDevice::Tap(name) => Some((name.clone(), true)),
        PortDevice::Capture { .. } => None,
    };
    let Some(own) = device.and_then(interface) else { return };
    if let Some(other) = before.iter().find(|other| interface(&other.device).as_ref() == Some(&own)) {
        let message = format!("`{}` is the interface of port `{}` already", own.0, other.name);
        port.wrong("device", message, "an interface for each port");
    }
}

/// Refuses a file that another port already writes.
fn refuse_written(port: &mut TableReader<'_, '_>, device: Option<&PortDevice>, before: &[PlannedPort]) {
    let written = |device: &PortDevice| match device {
        PortDevice::Capture { write: Some(path), .. } => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok();
            Some(
                folder.zip(path.file_name()).map_or_else(|| path.clone(), |(folder, name)| folder.join(name)),
            )
        }
        _ => None,
    };
    let Some(own) = device.and_then(written) else { return };
    if let Some(other) = before.iter().find(|other| written(&other.device).as_ref() == Some(&own)) {
        port.wrong(
            "write",
            format!("port `{}` writes this file already", other.name),
            "a file for each port",
        );
    }
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
        PortPurpose::Route { kernel } => {
            if kernel {
                ["addresses", "mac"].iter().for_each(|key| {
                    port.refuse(key, "with kernel = true: the kernel's are used");
                });
                let device = port.text("device", DEVICES).unwrap_or("");
                if !device.starts_with("packet:") {
                    let message = "AF_XDP, TAP devices and captures bypass the kernel";
                    port.wrong("device", message, "with kernel = true, \"packet:NAME\"");
                }
            }
            refuse(port, ["to", "station"], "route");
            Some(PortUse::Routed)
        }
        PortPurpose::Forward => {
            refuse(port, ["addresses", "mtu"], "forward");
            wire(port, names)
        }
        PortPurpose::Switch(switch) => {
            refuse(port, ["addresses", "mtu"], "switch");
            let station = station(port, "station");
            let taken = |port: &PlannedPort| match port.use_of {
                PortUse::Switched(number, ..) => Some(number),
                _ => None,
            };
            let taken: Vec<_> = before.iter().filter_map(taken).collect();
            switch::port_use(port, switch?, station, &taken)
        }
        PortPurpose::Cluster(node) => {
            refuse(port, ["addresses", "mtu"], "cluster");
            let station = station(port, "station");
            cluster::port_use(port, node?, (station, before))
        }
    }
}

fn device(port: &mut TableReader<'_, '_>, folder: &Path) -> Option<PortDevice> {
    let text = port.text("device", DEVICES)?;
    if text == "capture" {
        let files = ["read", "write"].map(|key| Some(folder.join(port.text(key, CAPTURE_FILE)?)));
        let [read, write] = files;
        if read.is_none() && write.is_none() {
            port.wrong("device", "a capture needs `read`, `write` or both", "read = \"in.pcap\"");
        }
        return Some(PortDevice::Capture { read, write });
    }
    ["read", "write"].iter().for_each(|key| port.refuse(key, "without device = \"capture\""));
    match text.split_once(':') {
        Some((kind @ ("packet" | "xdp" | "tap"), "")) => {
            port.wrong("device", format!("`{kind}:` lacks the name of an interface"), DEVICES);
            return None;
        }
        None => {}
        Some((_, name)) if name.len() > 15 => {
            port.wrong(
                "device",
                format!("`{name}` is too long"),
                "names of interfaces have at most 15 bytes",
            );
            return None;
        }
        Some(("packet", name)) => return Some(PortDevice::Packet(name.to_owned())),
        Some(("xdp", name)) => return Some(PortDevice::Xdp(name.to_owned())),
        Some(("tap", name)) => return Some(PortDevice::Tap(name.to_owned())),
        Some(_) => {}
    }
    port.wrong("device", format!("`{text}` names no device{}", meant(text)), DEVICES);
    None
}

/// The end of a message about a device that does not exist: the one that may be meant.
fn meant(text: &str) -> String {
    let near = match text.split_once(':') {
        Some((kind, name)) => {
            let name = if name.is_empty() { "NAME" } else { name };
            nearest(kind, ["packet", "xdp", "tap"]).map(|kind| format!("{kind}:{name}"))
        }
        None => nearest(text, ["capture"]).map(str::to_owned),
    };
    near.map_or(String::new(), |near| format!("; did you mean `{near}`?"))
}

/// The address of a station.
pub(crate) fn station(reader: &mut TableReader<'_, '_>, key: &str) -> Option<Mac> {
    let mac: Mac = reader.parsed(key, STATION)?;
    if mac.is_multicast() {
        reader.wrong(key, "the address of a group of stations", STATION);
    } else if mac == Mac::default() {
        reader.wrong(key, "no station has this address", STATION);
    }
    Some(mac)
}

fn mtu(port: &mut TableReader<'_, '_>) -> Option<u16> {
    let size: Bytes = port.parsed("mtu", "a size such as \"1500 B\"")?;
    if !(MTU.0..=MTU.1).contains(&size.0) {
        port.wrong("mtu", format!("found {size}"), &format!("from {} B to {} B", MTU.0, MTU.1));
    }
    Some(size.0 as u16)
}

fn addresses(port: &mut TableReader<'_, '_>, before: &[PlannedPort]) -> Vec<(IpAddr, u8)> {
    let mut found = Vec::new();
    for item in port.list("addresses", ADDRESS) {
        match item.text().and_then(address_on_link) {
            Some((address, length)) if !is_of_a_station(address, length) => {
                port.wrong_item(
                    "addresses",
                    item,
                    (format!("{address} is not the address of a station"), ADDRESS),
                );
            }
            Some(address) if found.iter().any(|(other, _)| *other == address.0) => {
                port.wrong_item("addresses", item, (format!("{} is there already", address.0), ADDRESS));
            }
            Some(address) => {
                if let Some(other) =
                    before.iter().find(|other| other.addresses.iter().any(|one| overlap(*one, address)))
                {
                    let message = format!("{} is on the link of port `{}`", address.0, other.name);
                    port.wrong_item("addresses", item, (message, "a different prefix for each link"));
                }
                found.push(address);
            }
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

/// Whether a station on a link with this prefix length may have the address: it must name a single station, not the
/// link.
pub(crate) fn is_of_a_station(address: IpAddr, length: u8) -> bool {
    let link = IpPrefix::around(address, length);
    let is_link = link.and_then(broadcasts).is_some_and(|all| all.contains(&address));
    let is_broadcast = matches!(address, IpAddr::V4(four) if four.is_broadcast());
    !(address.is_multicast() || address.is_unspecified() || address.is_loopback() || is_broadcast || is_link)
}

/// Whether two addresses are on links whose prefixes overlap. Link-local prefixes are the same everywhere.
fn overlap(one: (IpAddr, u8), other: (IpAddr, u8)) -> bool {
    let link = |(address, length): (IpAddr, u8)| {
        IpPrefix::around(address, length).filter(|_| !is_link_local(address))
    };
    let (Some(one), Some(other)) = (link(one), link(other)) else { return false };
    one.contains(other.address()) || other.contains(one.address())
}

fn wire(port: &mut TableReader<'_, '_>, names: &[&str]) -> Option<PortUse> {
    port.require("to", "the name of a port");
    port.require("station", STATION);
    let to = port.text("to", "the name of a port");
    let number = to.and_then(|to| named(port, "to", to, names));
    let station = station(port, "station");
    Some(PortUse::Wired(number?, station?))
}

/// The number of the port with this name.
pub(crate) fn named(reader: &mut TableReader<'_, '_>, key: &str, name: &str, names: &[&str]) -> Option<u16> {
    let found = names.iter().position(|other| *other == name && !name.is_empty());
    if found.is_none() {
        let there: BTreeSet<&str> = names.iter().copied().filter(|name| !name.is_empty()).collect();
        reader.misnamed(key, format!("there is no port `{name}`"), &there.into_iter().collect::<Vec<_>>());
    }
    found.map(|number| number as u16)
}
