//! Routes of single stations, so that packets for stations on a link need no second look-up. Must not depend on how
//! stations are discovered.
//!
//! A station has such a route only while the longest prefix around its address leads straight onto its link: a route
//! that is added later and leads elsewhere takes over its packets.

use std::net::IpAddr;

use weft_fib::IpPrefix;

use super::adjacency::NextHop;
use super::hosts::whole;
use super::state::ControlState;
use crate::interface::is_link_local;
use crate::neighbours::Station;

impl ControlState {
    /// Gives a resolved station a route of its own, unless its address already has one or is reached otherwise.
    /// Returns whether there is a new route.
    pub(super) fn add_station(&mut self, (port, address): Station) -> bool {
        let Some(prefix) = whole(address).filter(|_| !is_link_local(address)) else { return false };
        let leads_there = self.route(prefix).is_none() && self.around(address) == Some(NextHop::Link(port));
        // Without room for the route, its packets are resolved one by one.
        let is_new = leads_there && self.put_route(prefix, NextHop::Station((port, address))).is_ok();
        if is_new {
            self.hosts.take((port, address));
        }
        is_new
    }

    pub(super) fn remove_station(&mut self, (port, address): Station) {
        if self.hosts.has((port, address)) {
            whole(address).map(|prefix| self.remove_route(prefix));
        }
    }

    /// Called when the route of a prefix has changed: stations within it that it no longer leads to lose their own
    /// routes.
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
