//! Routes of single stations, so that packets for stations on a link need no second look-up. Must not depend on who tells of stations.
//!
//! A station has such a route only while the longest prefix around its address leads straight onto its link: a route that is added later
//! and leads elsewhere takes its packets along.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_fib::IpPrefix;

use super::adjacency::NextHop;
use super::state::ControlState;
use crate::interface::is_link_local;
use crate::neighbours::Station;

/// The stations with a route of their own, by address; each with its port.
#[derive(Debug, Default)]
pub(super) struct HostRoutes(BTreeMap<IpAddr, u16>);

impl HostRoutes {
    /// Somebody else has the route of this prefix.
    pub(super) fn give_up(&mut self, prefix: IpPrefix) {
        if whole(prefix.address()) == Some(prefix) {
            self.0.remove(&prefix.address());
        }
    }

    fn within(&self, prefix: IpPrefix) -> Vec<Station> {
        let range = self.0.range(prefix.address()..=last_of(prefix));
        range.map(|(address, port)| (*port, *address)).collect()
    }
}

impl ControlState {
    /// Gives a station that has been resolved a route of its own, unless its address has one already or is reached another way. Returns
    /// whether there is a new route.
    pub(super) fn add_station(&mut self, (port, address): Station) -> bool {
        let Some(prefix) = whole(address).filter(|_| !is_link_local(address)) else { return false };
        let leads_there = self.route(prefix).is_none() && self.around(address) == Some(NextHop::Link(port));
        // Without room for the route, its packets are resolved one by one.
        let is_new = leads_there && self.put_route(prefix, NextHop::Station((port, address))).is_ok();
        if is_new {
            self.hosts.0.insert(address, port);
        }
        is_new
    }

    pub(super) fn remove_station(&mut self, (port, address): Station) {
        if self.hosts.0.get(&address) == Some(&port) {
            whole(address).map(|prefix| self.remove_route(prefix));
        }
    }

    /// The route of a prefix has changed: stations within it that it no longer leads to lose their own.
    pub(super) fn review_stations(&mut self, prefix: IpPrefix) {
        for station in self.hosts.within(prefix) {
            if self.around(station.1) != Some(NextHop::Link(station.0)) {
                self.remove_station(station);
            }
        }
    }

    /// The next hop of the longest prefix around an address, other than the address itself.
    fn around(&self, address: IpAddr) -> Option<NextHop> {
        let longest = if address.is_ipv4() { 31 } else { 127 };
        let mut prefixes = (0..=longest).rev().filter_map(|length| IpPrefix::around(address, length));
        prefixes.find_map(|prefix| self.route(prefix))
    }
}

/// The next hop of a route, which for a single address on a link is the station with this address.
pub(super) fn onto_link(prefix: IpPrefix, next: NextHop) -> NextHop {
    match next {
        NextHop::Link(port) if whole(prefix.address()) == Some(prefix) => {
            NextHop::Station((port, prefix.address()))
        }
        next => next,
    }
}

/// The prefix of a single address.
fn whole(address: IpAddr) -> Option<IpPrefix> {
    IpPrefix::around(address, if address.is_ipv4() { 32 } else { 128 })
}

/// The last address of a prefix.
fn last_of(prefix: IpPrefix) -> IpAddr {
    let length = u32::from(prefix.length());
    match prefix.address() {
        IpAddr::V4(first) => {
            Ipv4Addr::from(u32::from(first) | u32::MAX.checked_shr(length).unwrap_or(0)).into()
        }
        IpAddr::V6(first) => {
            Ipv6Addr::from(u128::from(first) | u128::MAX.checked_shr(length).unwrap_or(0)).into()
        }
    }
}
