//! The `[[route]]` and `[[neighbour]]` tables of a file.

use std::collections::BTreeSet;
use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_mistake::Mistake;
use weft_mistake::node::Toml;
use weft_packet::Mac;
use weft_router::control::ControlState;
use weft_router::neighbours::Station;

use crate::plan::{PlannedHop, PlannedPort};
use crate::ports::{STATION, named};
use weft_mistake::TableReader;

const ROUTE_KEYS: &[&str] = &["prefix", "via", "port", "tunnel", "reject"];
const NEIGHBOUR_KEYS: &[&str] = &["address", "station", "port"];
const PREFIX: &str = "a prefix such as \"198.51.100.0/24\"";
const NEIGHBOUR: &str = "the address of a station on a link, such as \"192.0.2.9\"";

/// A `[[route]]`.
pub(crate) fn route(
    table: &Toml,
    (ports, names, tunnels): (&[PlannedPort], &[&str], &[&str]),
    before: &mut BTreeSet<IpPrefix>,
    mistakes: &mut Vec<Mistake>,
) -> Option<(IpPrefix, PlannedHop)> {
    let mut route = TableReader::new(table, "route", ROUTE_KEYS, mistakes);
    route.require("prefix", PREFIX);
    let prefix: Option<IpPrefix> = route.parsed("prefix", PREFIX);
    if let Some(prefix) = prefix {
        if ControlState::is_never_forwarded(prefix) {
            route.wrong("prefix", format!("no router forwards packets for {prefix}"), PREFIX);
        }
        if !before.insert(prefix) {
            route.wrong(
                "prefix",
                format!("there is a route for {prefix} already"),
                "one route for each prefix",
            );
        }
    }
    let port = route.text("port", "the name of a port").map(|name| named(&mut route, "port", name, names));
    if route.flag("reject") {
        route.refuse("via", "with reject = true");
        route.refuse("port", "with reject = true");
        route.refuse("tunnel", "with reject = true");
        return Some((prefix?, PlannedHop::Reject));
    }
    if let Some(name) = route.text("tunnel", "the name of a tunnel") {
        ["via", "port"].iter().for_each(|key| route.refuse(key, "beside `tunnel`"));
        let number = tunnels.iter().position(|tunnel| *tunnel == name);
        if number.is_none() {
            route.misnamed("tunnel", format!("there is no tunnel `{name}`"), tunnels);
        }
        return Some((prefix?, PlannedHop::Tunnel(number? as u16)));
    }
    if !route.has("via") {
        if port.is_none() {
            route.wrong(
                "via",
                "a route needs `via`, `port`, `tunnel` or `reject = true`",
                "via = \"192.0.2.9\"",
            );
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

/// A `[[neighbour]]`: a station whose MAC address is given instead of asked for.
pub(crate) fn neighbour(
    table: &Toml,
    (ports, names): (&[PlannedPort], &[&str]),
    mistakes: &mut Vec<Mistake>,
) -> Option<(Station, Mac)> {
    let mut reader = TableReader::new(table, "neighbour", NEIGHBOUR_KEYS, mistakes);
    reader.require("address", NEIGHBOUR);
    reader.require("station", STATION);
    let address: Option<IpAddr> = reader.parsed("address", NEIGHBOUR);
    let mac: Option<Mac> = reader.parsed("station", STATION);
    if mac.is_some_and(Mac::is_multicast) {
        reader.wrong("station", "the address of a group of stations", STATION);
    }
    let port = reader.text("port", "the name of a port").map(|name| named(&mut reader, "port", name, names));
    let (address, mac) = (address?, mac?);
    let port = match port {
        Some(port) => port?,
        None => match ports.iter().position(|port| reaches(port, address)) {
            Some(near) => near as u16,
            None => {
                let allowed = "an address on a link, or `port` beside it";
                reader.wrong("address", format!("{address} is on the link of no port"), allowed);
                return None;
            }
        },
    };
    Some(((port, address), mac))
}
