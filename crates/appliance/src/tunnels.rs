//! The `[[tunnel]]` tables of a file.

use std::net::IpAddr;
use std::path::Path;

use weft_esp::{InboundAssociation, OutboundAssociation};
use weft_mistake::Mistake;
use weft_mistake::node::Toml;
use weft_router::tunnel::Tunnel;

use crate::keys::read_keys;
use crate::plan::{PlannedPort, PlannedTunnel};
use weft_mistake::TableReader;

const KEYS: &[&str] =
    &["name", "local", "remote", "keys", "window", "encapsulation", "local_port", "remote_port"];
const LOCAL: &str = "an address of this router";
const REMOTE: &str = "the address of the other router, of the family of `local`";
const FILE: &str = "the path of a file with keys, relative to this file's folder";
/// Default size of the anti-replay window, in packets. Workers of the other end number packets from one counter, and one that the
/// system interrupts sends its batch tens of thousands of packets later; 8 kB per tunnel bear that.
const WINDOW: u32 = 65_536;
/// The UDP port of ESP, unless the file says otherwise (RFC 3948, section 2.1; RFC 7296, section 2.23).
const UDP_PORT: u16 = 4500;

/// All tunnels that are complete; right only if there are no mistakes.
pub(crate) fn tunnels(
    tables: &[Toml],
    place: (&[PlannedPort], bool, &Path),
    mistakes: &mut Vec<Mistake>,
) -> Vec<PlannedTunnel> {
    let mut found: Vec<PlannedTunnel> = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        let Some(tunnel) = tunnel((table, number), place, &found, mistakes) else { continue };
        found.push(tunnel);
    }
    found
}

fn tunnel(
    (table, number): (&Toml, usize),
    (ports, own_addresses, folder): (&[PlannedPort], bool, &Path),
    before: &[PlannedTunnel],
    mistakes: &mut Vec<Mistake>,
) -> Option<PlannedTunnel> {
    let mut reader = TableReader::new(table, &format!("tunnel[{number}]"), KEYS, mistakes);
    for (key, allowed) in [("name", "a name"), ("local", LOCAL), ("remote", REMOTE), ("keys", FILE)] {
        reader.require(key, allowed);
    }
    let name = reader.name("name")?;
    if before.iter().any(|other| other.name == name) {
        reader.wrong("name", format!("there is a tunnel `{name}` already"), "a name of its own");
    }
    let local: Option<IpAddr> = reader.parsed("local", LOCAL);
    let remote: Option<IpAddr> = reader.parsed("remote", REMOTE);
    let window = reader.number("window", 64, 65_536).map_or(WINDOW, |window| window as u32);
    let udp = udp_ports(&mut reader);
    let owns = |port: &PlannedPort| port.addresses.iter().any(|(own, _)| Some(*own) == local);
    if let Some(local) = local.filter(|_| own_addresses && !ports.iter().any(owns)) {
        reader.wrong("local", format!("{local} is the address of no port"), LOCAL);
    }
    let ends = (local?, remote?);
    if ends.0.is_ipv4() != ends.1.is_ipv4() {
        reader.wrong("remote", format!("{} and {} are of different families", ends.0, ends.1), REMOTE);
    }
    let path = folder.join(reader.text("keys", FILE)?);
    let [outbound, inbound] = match read_keys(&path) {
        Ok(keys) => keys,
        Err(problems) => {
            let file = path.display();
            for problem in problems {
                reader.wrong("keys", format!("{file}{problem}"), "");
            }
            return None;
        }
    };
    if before.iter().any(|other| other.inbound.0 == inbound.0) {
        let message = format!("index {:#x} belongs to another tunnel", inbound.0);
        reader.wrong("keys", message, "a different index for the packets that each tunnel receives");
    }
    let tunnel = PlannedTunnel { name: name.to_owned(), ends, udp, outbound, inbound, window };
    if let Some(message) = before.iter().find_map(|other| key_in_common(&tunnel, other)) {
        reader.wrong("keys", message, "a different key for each direction of each tunnel");
    }
    Some(tunnel)
}

impl PlannedTunnel {
    /// The tunnel; its vectors count from `vector`.
    pub(crate) fn open(&self, vector: u64) -> Tunnel {
        let PlannedTunnel { name, ends, udp, outbound, inbound, window } = self;
        Tunnel {
            name: name.clone(),
            ends: *ends,
            udp: *udp,
            outbound: OutboundAssociation::new(outbound.0, outbound.1.clone(), vector),
            inbound: InboundAssociation::new(inbound.0, inbound.1.clone(), *window),
        }
    }
}

/// The key of a tunnel that another tunnel has as well: packets of both would be sealed with the same vectors.
fn key_in_common(tunnel: &PlannedTunnel, other: &PlannedTunnel) -> Option<String> {
    let keys = |of: &PlannedTunnel| [("out", of.outbound.1.clone()), ("in", of.inbound.1.clone())];
    let (own, others) = (keys(tunnel), keys(other));
    let pairs = own.iter().flat_map(|own| others.iter().map(move |other| (own, other)));
    let mut same = pairs.filter(|((_, own), (_, other))| own.has_the_key_of(other));
    same.next().map(|((own, _), (theirs, _))| {
        format!("[{own}] has the key of [{theirs}] of the tunnel `{}`", other.name)
    })
}

/// The UDP ports of both ends, if ESP travels in UDP.
fn udp_ports(reader: &mut TableReader<'_, '_>) -> Option<(u16, u16)> {
    let encapsulation = reader.word("encapsulation", &["none", "udp"]);
    if encapsulation == Some("udp") {
        let mut port = |key| reader.number(key, 1, 65_535).map_or(UDP_PORT, |port| port as u16);
        return Some((port("local_port"), port("remote_port")));
    }
    // A misspelt word has been reported; its ports may still be valid.
    if encapsulation.is_some() || !reader.has("encapsulation") {
        ["local_port", "remote_port"]
            .iter()
            .for_each(|key| reader.refuse(key, "without encapsulation = \"udp\""));
    }
    None
}
