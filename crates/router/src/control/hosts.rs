//! The stations that have routes of their own. Must not depend on tables.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use weft_fib::IpPrefix;

use super::adjacency::NextHop;
use crate::neighbours::Station;

/// The stations with a route of their own, by address; each with its port.
#[derive(Debug, Default)]
pub(super) struct HostRoutes(BTreeMap<IpAddr, u16>);

impl HostRoutes {
    /// The route of this prefix belongs to another owner.
    pub(super) fn give_up(&mut self, prefix: IpPrefix) {
        if whole(prefix.address()) == Some(prefix) {
            self.0.remove(&prefix.address());
        }
    }

    /// Records that a station gets a route of its own.
    pub(super) fn take(&mut self, (port, address): Station) {
        self.0.insert(address, port);
    }

    /// Whether a station has one.
    pub(super) fn has(&self, (port, address): Station) -> bool {
        self.0.get(&address) == Some(&port)
    }

    /// Those within a prefix.
    pub(super) fn within(&self, prefix: IpPrefix) -> Vec<Station> {
        let range = self.0.range(prefix.address()..=last_of(prefix));
        range.map(|(address, port)| (*port, *address)).collect()
    }
}

/// The next hop of a route; for a single address on a link, the station with this address.
pub(super) fn onto_link(prefix: IpPrefix, next: NextHop) -> NextHop {
    match next {
        NextHop::Link(port) if whole(prefix.address()) == Some(prefix) => {
            NextHop::Station((port, prefix.address()))
        }
        next => next,
    }
}

/// The prefix of a single address.
pub(super) fn whole(address: IpAddr) -> Option<IpPrefix> {
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
