//! The `[[route]]` and `[[neighbour]]` tables of a file.

use std::collections::BTreeSet;
use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_mistake::Mistake;
use weft_mistake::node::{Content, Toml};
use weft_packet::Mac;
use weft_router::control::ControlState;
use weft_router::neighbours::Station;

use crate::plan::{PlannedHop, PlannedPort};
use crate::ports::{STATION, named};
use weft_mistake::TableReader;

const ROUTE_KEYS: &[&str] = &["prefix", "via", "port", "tunnel", "reject"];
const NEIGHBOUR_KEYS: &[&str] = &["address", "station", "port"];
const VIA: &str = "the address of a router, such as \"192.0.2.9\", or a list of some";
const PREFIX: &str = "a prefix such as \"198.51.100.0/24\"";
const NEIGHBOUR: &str = "the address of a station on a link, such as \"192.0.2.9\"";

/// A `[[route]]`: its prefix with each of its next hops.
pub(crate) fn route(
    table: &Toml,
    (ports, names, tunnels): (&[PlannedPort], &[&str], &[&str]),
    before: &mut BTreeSet<IpPrefix>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<(IpPrefix, PlannedHop)> {
    let mut hops = Vec::new();
    let prefix = hops_of(table, (ports, names, tunnels), before, (&mut hops, mistakes));
    prefix.map_or(Vec::new(), |prefix| hops.into_iter().map(|hop| (prefix, hop)).collect())
}

/// The prefix of a `[[route]]`; adds its next hops.
fn hops_of(
    table: &Toml,
    (ports, names, tunnels): (&[PlannedPort], &[&str], &[&str]),
    before: &mut BTreeSet<IpPrefix>,
    (hops, mistakes): (&mut Vec<PlannedHop>, &mut Vec<Mistake>),
) -> Option<IpPrefix> {
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
        hops.push(PlannedHop::Reject);
        return prefix;
    }
    if let Some(name) = route.text("tunnel", "the name of a tunnel") {
        ["via", "port"].iter().for_each(|key| route.refuse(key, "beside `tunnel`"));
        let number = tunnels.iter().position(|tunnel| *tunnel == name);
        if number.is_none() {
            route.misnamed("tunnel", format!("there is no tunnel `{name}`"), tunnels);
        }
        hops.push(PlannedHop::Tunnel(number? as u16));
        return prefix;
    }
    if !route.has("via") {
        if port.is_none() {
            route.wrong(
                "via",
                "a route needs `via`, `port`, `tunnel` or `reject = true`",
                "via = \"192.0.2.9\"",
            );
        }
        hops.push(PlannedHop::Link(port??));
        return prefix;
    }
    let several = matches!(table.get("via").map(|node| &node.content), Some(Content::List(_)));
    if several && port.is_some() {
        route.refuse("port", "beside several addresses");
    }
    let items = if several { route.list("via", VIA) } else { std::slice::from_ref(table.get("via")?) };
    if items.is_empty() {
        route.wrong("via", "found no address", VIA);
    }
    for item in items {
        match gateway(item, prefix, (ports, port)) {
            Ok(hop) if hops.contains(&hop) => {
                route.wrong_item("via", item, ("it is there already".to_owned(), "each address once"));
            }
            Ok(hop) => hops.push(hop),
            Err(mistake) => route.wrong_item("via", item, mistake),
        }
    }
    prefix.filter(|_| !hops.is_empty())
}

/// A next hop by its address, with what is wrong about it otherwise, and what is allowed.
fn gateway(
    item: &Toml,
    prefix: Option<IpPrefix>,
    (ports, port): (&[PlannedPort], Option<Option<u16>>),
) -> Result<PlannedHop, (String, &'static str)> {
    let text = item.text().ok_or_else(|| (format!("found {}, expected a text", item.described()), VIA))?;
    let via: IpAddr = text.parse().map_err(|error| (format!("`{text}`: {error}"), VIA))?;
    if prefix.is_some_and(|prefix| prefix.address().is_ipv4() != via.is_ipv4()) {
        let message = format!("{via} and the prefix are of different families");
        return Err((message, "an address of the prefix's family"));
    }
    let near = (0..ports.len()).find(|number| reaches(&ports[*number], via)).map(|number| number as u16);
    let number = port.flatten().or(near.filter(|_| port.is_none()));
    let nowhere =
        || (format!("{via} is on the link of no port"), "an address on a link, or `port` beside it");
    // A port that does not exist has been told of.
    let number = number.or(port.map(|_| 0)).ok_or_else(nowhere)?;
    Ok(PlannedHop::Gateway(number, via))
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
