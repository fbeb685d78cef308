//! The `[[route]]` and `[[neighbour]]` tables of a file.

use std::collections::BTreeSet;
use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_mistake::Mistake;
use weft_mistake::node::{Content, Toml};
use weft_packet::Mac;
use weft_router::control::{ControlState, broadcasts};
use weft_router::interface::is_link_local;
use weft_router::neighbours::Station;

use crate::narrow::{NarrowWay, narrow_way, ways_to};
use crate::plan::{PlannedHop, PlannedPort, PlannedTunnel};
use crate::ports::{is_of_a_station, named, station};
use weft_mistake::TableReader;

const ROUTE_KEYS: &[&str] = &["prefix", "via", "port", "tunnel", "reject"];
const NEIGHBOUR_KEYS: &[&str] = &["address", "station", "port"];
const VIA: &str = "the address of a router, such as \"192.0.2.9\", or a list of some";
const PREFIX: &str = "a prefix such as \"198.51.100.0/24\"";
const NEIGHBOUR: &str = "the address of a station on a link, such as \"192.0.2.9\"";

/// What routes and neighbours refer to.
#[derive(Clone, Copy)]
pub(crate) struct RouteContext<'a> {
    /// The ports, and their names.
    pub(crate) ports: &'a [PlannedPort],
    pub(crate) names: &'a [&'a str],
    /// The names of tunnels.
    pub(crate) tunnels: &'a [&'a str],
    /// Whether the ports are free of mistakes, so that their links are known.
    pub(crate) sound: bool,
}

impl<'a> RouteContext<'a> {
    /// The port that has an address; the same link-local address may be on every link.
    fn owner(&self, address: IpAddr) -> Option<&'a PlannedPort> {
        if is_link_local(address) {
            return None;
        }
        self.ports.iter().find(|port| port.addresses.iter().any(|(own, _)| *own == address))
    }

    /// Why a port cannot find the stations behind a prefix, if it cannot.
    fn cannot_ask(&self, port: u16, prefix: IpPrefix) -> Option<String> {
        let PlannedPort { name, addresses, .. } = self.ports.get(usize::from(port))?;
        let asks = addresses.is_empty() || addresses.iter().any(|(own, _)| own.is_ipv4());
        let missing = self.sound && prefix.address().is_ipv4() && !asks;
        missing.then(|| format!("port `{name}` has no IPv4 address with which to ask for stations"))
    }

    /// Why an address does not name a single station, if it does not.
    fn why_no_station(&self, address: IpAddr) -> Option<String> {
        if !is_of_a_station(address, if address.is_ipv4() { 32 } else { 128 }) {
            return Some(format!("{address} is not the address of a station"));
        }
        let is_beside = |(own, length): &(IpAddr, u8)| {
            let link = IpPrefix::around(*own, *length);
            link.is_some_and(|link| link.contains(address)) && !is_of_a_station(address, *length)
        };
        let port = self.ports.iter().find(|port| port.addresses.iter().any(is_beside))?;
        Some(format!(
            "{address} is the address of the link of port `{}`, or of all stations on it",
            port.name
        ))
    }
}

/// A `[[route]]`: its prefix with each of its next hops.
pub(crate) fn route(
    table: &Toml,
    around: RouteContext<'_>,
    before: &mut BTreeSet<IpPrefix>,
    mistakes: &mut Vec<Mistake>,
) -> Vec<(IpPrefix, PlannedHop)> {
    let mut hops = Vec::new();
    let prefix = hops_of(table, around, before, (&mut hops, mistakes));
    prefix.map_or(Vec::new(), |prefix| hops.into_iter().map(|hop| (prefix, hop)).collect())
}

/// The prefix of a `[[route]]`; adds its next hops.
fn hops_of(
    table: &Toml,
    around: RouteContext<'_>,
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
        refuse_own(&mut route, prefix, around);
    }
    let (names, tunnels) = (around.names, around.tunnels);
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
        let missing = format!("there is no tunnel `{name}`");
        match number {
            Some(_) => {}
            None if tunnels.is_empty() => route.wrong("tunnel", missing, "a [[tunnel]] with this name"),
            None => route.misnamed("tunnel", missing, tunnels),
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
        let port = port??;
        if let Some(message) = prefix.and_then(|prefix| around.cannot_ask(port, prefix)) {
            route.wrong("port", message, "a port with an IPv4 address, or `via` and a [[neighbour]]");
        }
        hops.push(PlannedHop::Link(port));
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
        match gateway(item, prefix, (around, port)) {
            Ok(hop) if hops.contains(&hop) => {
                route.wrong_item("via", item, ("it is there already".to_owned(), "each address once"));
            }
            Ok(hop) => hops.push(hop),
            Err(Some(mistake)) => route.wrong_item("via", item, mistake),
            Err(None) => {}
        }
    }
    prefix.filter(|_| !hops.is_empty())
}

/// Refuses a route that cuts the router off: from itself, or from the neighbours on a link.
fn refuse_own(route: &mut TableReader<'_, '_>, prefix: IpPrefix, around: RouteContext<'_>) {
    let whole = if prefix.address().is_ipv4() { 32 } else { 128 };
    if let Some(owner) = around.owner(prefix.address()).filter(|_| prefix.length() == whole) {
        let message =
            format!("{} is the address of port `{}`: nobody could reach it", prefix.address(), owner.name);
        return route.wrong("prefix", message, "a prefix behind other routers");
    }
    let is_for_all = |(own, length): &(IpAddr, u8)| {
        let all = IpPrefix::around(*own, *length).and_then(broadcasts);
        prefix.length() == whole && all.is_some_and(|all| all.contains(&prefix.address()))
    };
    if let Some(linked) = around.ports.iter().find(|port| port.addresses.iter().any(is_for_all)) {
        let message = format!(
            "{} is for all stations on the link of port `{}`: the router forwards nothing to them",
            prefix.address(),
            linked.name
        );
        return route.wrong("prefix", message, "a prefix behind other routers");
    }
    let is_link = |(own, length): &(IpAddr, u8)| IpPrefix::around(*own, *length) == Some(prefix);
    let Some(linked) = around.ports.iter().find(|port| port.addresses.iter().any(is_link)) else { return };
    if route.text("port", "") != Some(linked.name.as_str()) {
        let message = format!(
            "{prefix} is the link of port `{}`: the router could not reach its neighbours",
            linked.name
        );
        route.wrong("prefix", message, "no route for the prefix of a link");
    }
}

/// The problem with an item of a list, and what is allowed; `None` if it has been reported elsewhere.
type WrongItem = Option<(String, &'static str)>;

/// A next hop by its address, or else the problem with it.
fn gateway(
    item: &Toml,
    prefix: Option<IpPrefix>,
    (around, port): (RouteContext<'_>, Option<Option<u16>>),
) -> Result<PlannedHop, WrongItem> {
    let text =
        item.text().ok_or_else(|| Some((format!("found {}, expected a text", item.described()), VIA)))?;
    let via: IpAddr = text.parse().map_err(|error| Some((format!("`{text}`: {error}"), VIA)))?;
    if prefix.is_some_and(|prefix| prefix.address().is_ipv4() != via.is_ipv4()) {
        let message = format!("{via} and the prefix are of different families");
        return Err(Some((message, "an address of the prefix's family")));
    }
    if let Some(message) = around.why_no_station(via) {
        return Err(Some((message, "the address of another router")));
    }
    if let Some(owner) = around.owner(via) {
        let message = format!("{via} is this router's own address, at port `{}`", owner.name);
        return Err(Some((message, "the address of another router")));
    }
    let near = around.ports.iter().position(|port| reaches(port, via)).map(|number| number as u16);
    let number = port.flatten().or(near.filter(|_| port.is_none()));
    let nowhere = || {
        let told = (format!("{via} is on the link of no port"), "an address on a link, or `port` beside it");
        around.sound.then_some(told)
    };
    // A port that does not exist has already been reported.
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
    around: RouteContext<'_>,
    before: &mut BTreeSet<Station>,
    mistakes: &mut Vec<Mistake>,
) -> Option<(Station, Mac)> {
    let mut reader = TableReader::new(table, "neighbour", NEIGHBOUR_KEYS, mistakes);
    reader.require("address", NEIGHBOUR);
    reader.require("station", "an address such as \"02:00:00:00:00:01\"");
    let address: Option<IpAddr> = reader.parsed("address", NEIGHBOUR);
    let mac = station(&mut reader, "station");
    let port =
        reader.text("port", "the name of a port").map(|name| named(&mut reader, "port", name, around.names));
    let address = address?;
    if let Some(owner) = around.owner(address) {
        let message = format!("{address} is this router's own address, at port `{}`", owner.name);
        reader.wrong("address", message, NEIGHBOUR);
    } else if let Some(message) = around.why_no_station(address) {
        reader.wrong("address", message, NEIGHBOUR);
        return None;
    }
    let near = around.ports.iter().position(|port| reaches(port, address));
    let port = match port {
        Some(port) => {
            let elsewhere = near.filter(|near| !is_link_local(address) && Some(*near as u16) != port);
            if let Some(near) = elsewhere.map(|near| &around.ports[near]) {
                let message = format!("{address} is on the link of port `{}`", near.name);
                reader.wrong("port", message, "the port to whose link the address belongs");
            }
            port?
        }
        None => match near {
            Some(near) => near as u16,
            None if !around.sound => return None,
            None => {
                let allowed = "an address on a link, or `port` beside it";
                reader.wrong("address", format!("{address} is on the link of no port"), allowed);
                return None;
            }
        },
    };
    if !before.insert((port, address)) {
        reader.wrong("address", format!("there is a neighbour {address} already"), "one for each address");
    }
    Some(((port, address), mac?))
}

/// Refuses tunnels that no route uses. A route that names none is reported elsewhere.
pub(crate) fn refuse_idle_tunnels(tunnels: &[Toml], routes: &[Toml], mistakes: &mut Vec<Mistake>) {
    let text = |table: &Toml, key: &str| table.get(key).and_then(Toml::text).map(str::to_owned);
    let named: BTreeSet<String> = tunnels.iter().filter_map(|tunnel| text(tunnel, "name")).collect();
    let used: BTreeSet<String> = routes.iter().filter_map(|route| text(route, "tunnel")).collect();
    if !used.is_subset(&named) {
        return;
    }
    for (number, tunnel) in tunnels.iter().enumerate() {
        let Some(name) = text(tunnel, "name").filter(|name| !used.contains(name)) else { continue };
        let message = format!("the tunnel `{name}` has no effect: no route leads through it");
        let mistake = Mistake::new(tunnel.place, &format!("tunnel[{number}]"), message);
        mistakes.push(mistake.allowing(format!("a [[route]] with tunnel = \"{name}\"")));
    }
}

/// Refuses tunnels whose own packets could not leave, because the other end lies behind the tunnel itself or is
/// unreachable, and tunnels that carry too little.
pub(crate) fn check_far_ends(
    tables: &[Toml],
    (tunnels, routes, around): (&[PlannedTunnel], &[(IpPrefix, PlannedHop)], RouteContext<'_>),
    mistakes: &mut Vec<Mistake>,
) {
    for ((table, tunnel), number) in tables.iter().zip(tunnels).zip(0..) {
        let remote = tunnel.ends.1;
        let way = ways_to(remote, (around.ports, routes));
        let message = match way.as_ref().map(|(prefix, hops)| (prefix, hops.first())) {
            _ if around.owner(remote).is_some() => format!("{remote} is this router's own address"),
            None | Some((_, None)) => format!("no route leads to {remote}"),
            Some((prefix, Some(PlannedHop::Reject))) => {
                format!("the route for {prefix} rejects packets for {remote}")
            }
            Some((prefix, Some(PlannedHop::Tunnel(_)))) => {
                format!(
                    "{remote} is in {prefix}, which goes through a tunnel: sealed packets would never leave"
                )
            }
            Some((_, Some(PlannedHop::Gateway(..) | PlannedHop::Link(_)))) => {
                let mtu = |port: u16| around.ports[usize::from(port)].mtu;
                let narrow = narrow_way((number, tunnel), (around.ports, routes), mtu);
                mistakes.extend(narrow.map(|NarrowWay { message, allowed }| {
                    Mistake::new(table.place, &format!("tunnel[{number}]"), message).allowing(allowed)
                }));
                continue;
            }
        };
        let place = table.get("remote").map_or(table.place, |node| node.place);
        mistakes.push(
            Mistake::new(place, "tunnel.remote", message)
                .allowing("an address to which a route leads outside tunnels"),
        );
    }
}
