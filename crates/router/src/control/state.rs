//! Routes, next hops and neighbours, and how they change.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use weft_fib::ipv4::Ipv4Routes;
use weft_fib::ipv6::Ipv6Routes;
use weft_fib::{Hop, IpPrefix, RouteError};
use weft_packet::Mac;

use super::adjacency::{Adjacency, AdjacencyTable, NextHop, SharedPath};
use super::hosts::{HostRoutes, onto_link};
use super::linked::LinkedRoutes;
use crate::backend::system;
use crate::interface::{Interface, broadcasts, longest_frame};
use crate::neighbours::{NeighbourLimits, Neighbours, Station};

/// Destinations that no router forwards, whatever its default route (RFC 1812, section 5.3.7; RFC 3927, section 7;
/// RFC 4291, section 2.5.6).
const NEVER_FORWARDED: [(IpAddr, u8); 8] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(169, 254, 0, 0)), 16),
    (IpAddr::V4(Ipv4Addr::new(224, 0, 0, 0)), 3),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 128),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
    (IpAddr::V6(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0)), 8),
];

/// Routes, next hops and neighbours; behind a lock.
pub struct ControlState {
    ports: Arc<[Interface]>,
    routes4: Ipv4Routes,
    routes6: Ipv6Routes,
    /// Next hops by number, from 1, each with the number of routes that use it.
    hops: Vec<Option<(NextHop, usize)>>,
    numbers: HashMap<NextHop, Hop>,
    /// Lists of next hops that share flows, with their shares, by number.
    lists: Vec<Option<Arc<PathList>>>,
    list_numbers: HashMap<Arc<PathList>, u16>,
    /// Prefixes with permanent routes.
    pub(super) fixed: HashSet<IpPrefix>,
    pub(super) linked: LinkedRoutes,
    pub(super) hosts: HostRoutes,
    neighbours: Neighbours,
    /// Next hops that routes no longer use, but look-ups still find.
    leaving: Vec<Hop>,
    /// Whether workers need a new snapshot.
    changed: bool,
}

/// Next hops that share flows, each with its share.
pub type PathList = [(NextHop, u16)];

impl ControlState {
    /// A state without routes, except those of destinations that are never forwarded.
    pub(super) fn new(ports: Arc<[Interface]>, limits: NeighbourLimits) -> Result<ControlState, RouteError> {
        let mut state = ControlState {
            ports,
            routes4: Ipv4Routes::in_memory(system::prefer_large_pages),
            routes6: weft_fib::ipv6::table(),
            hops: vec![None],
            numbers: HashMap::new(),
            lists: Vec::new(),
            list_numbers: HashMap::new(),
            fixed: HashSet::new(),
            linked: LinkedRoutes::default(),
            hosts: HostRoutes::default(),
            neighbours: Neighbours::new(limits),
            leaving: Vec::new(),
            changed: false,
        };
        for prefix in
            NEVER_FORWARDED.iter().filter_map(|(address, length)| IpPrefix::around(*address, *length))
        {
            state.set_route(prefix, NextHop::Reject)?;
        }
        Ok(state)
    }

    /// Routes to a port's link and to its own addresses. Packets for all stations of the link are dropped
    /// silently (RFC 1812, section 5.3.5; RFC 2644).
    pub(super) fn add_own_routes(&mut self, number: u16, port: &Interface) -> Result<(), RouteError> {
        for (address, length) in &port.addresses {
            let whole = if address.is_ipv4() { 32 } else { 128 };
            let link = IpPrefix::around(*address, *length).filter(|_| *length < whole);
            if let Some(prefix) = link.filter(|prefix| !ControlState::is_never_forwarded(*prefix)) {
                self.want_route(prefix, &[NextHop::Link(number)])?;
                for all in broadcasts(prefix).into_iter().flatten() {
                    IpPrefix::around(all, whole)
                        .map_or(Ok(()), |all| self.set_route(all, NextHop::Blackhole))?;
                }
            }
            if let Some(own) = IpPrefix::around(*address, whole) {
                self.set_route(own, NextHop::Local)?;
            }
        }
        Ok(())
    }

    /// The ports.
    #[must_use]
    pub fn ports(&self) -> &[Interface] {
        &self.ports
    }

    /// Replaces the description of a port, such as its addresses; routes stay as they are.
    pub fn set_port(&mut self, number: u16, port: Interface) {
        let mut ports = self.ports.to_vec();
        if let Some(place) = ports.get_mut(usize::from(number)) {
            *place = port;
            (self.ports, self.changed) = (ports.into(), true);
        }
    }

    /// Whether a prefix lies among those that no router forwards.
    #[must_use]
    pub fn is_never_forwarded(prefix: IpPrefix) -> bool {
        NEVER_FORWARDED.iter().any(|(address, length)| {
            let never = IpPrefix::around(*address, *length);
            *length <= prefix.length() && never.is_some_and(|never| never.contains(prefix.address()))
        })
    }

    /// Adds or replaces a route whose flows are divided among several next hops by shares of at least 1.
    ///
    /// # Errors
    /// There is no room for the prefix, or there are too many next hops or lists of them.
    pub fn set_shared_route(&mut self, prefix: IpPrefix, paths: &PathList) -> Result<(), RouteError> {
        let number = match self.list_numbers.get(paths) {
            Some(number) => *number,
            None => self.new_list(paths).ok_or(RouteError::Hop(prefix))?,
        };
        self.set_route(prefix, NextHop::Multipath(number))
    }

    fn new_list(&mut self, paths: &PathList) -> Option<u16> {
        let free = self.lists.iter().position(Option::is_none);
        let number = u16::try_from(free.unwrap_or(self.lists.len())).ok()?;
        if free.is_none() {
            self.lists.push(None);
        }
        let list: Arc<PathList> = paths.into();
        self.list_numbers.insert(Arc::clone(&list), number);
        self.lists[usize::from(number)] = Some(list);
        Some(number)
    }

    /// The next hops of a list.
    #[must_use]
    pub fn list(&self, number: u16) -> Option<&PathList> {
        self.lists.get(usize::from(number))?.as_deref()
    }

    /// Called when the link of a port is down, or has other addresses: its stations are resolved again when needed.
    pub fn forget_stations(&mut self, port: u16) {
        for station in self.neighbours.forget(port) {
            self.remove_station(station);
            self.changed = true;
        }
    }

    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn neighbours_mut(&mut self) -> &mut Neighbours {
        &mut self.neighbours
    }

    /// The table of IPv4 routes, for readers.
    #[must_use]
    pub fn v4(&self) -> &Ipv4Routes {
        &self.routes4
    }

    /// The table of IPv6 routes, for readers.
    #[must_use]
    pub fn v6(&self) -> &Ipv6Routes {
        &self.routes6
    }

    /// The neighbours.
    #[must_use]
    pub fn neighbours(&self) -> &Neighbours {
        &self.neighbours
    }

    /// Adds or replaces a route; look-ups see it once it has been painted.
    ///
    /// # Errors
    /// There is no room for the prefix, or there are more than 32 766 next hops.
    pub fn set_route(&mut self, prefix: IpPrefix, next: NextHop) -> Result<(), RouteError> {
        self.put_route(prefix, onto_link(prefix, next))?;
        self.hosts.give_up(prefix);
        self.review_stations(prefix);
        Ok(())
    }

    /// The same, including a station's own route.
    pub(super) fn put_route(&mut self, prefix: IpPrefix, next: NextHop) -> Result<(), RouteError> {
        let hop = self.number(next).ok_or(RouteError::Hop(prefix))?;
        let before = match prefix.address() {
            IpAddr::V4(_) => self.routes4.begin_insert(prefix, hop),
            IpAddr::V6(_) => self.routes6.begin_insert(prefix, hop),
        };
        match before {
            Ok(before) => self.leaving.extend(before),
            Err(error) => {
                self.release(hop);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes some of the changed routes visible to look-ups: at most `slots` slots of each table. Returns whether all
    /// are visible.
    pub(super) fn repaint(&mut self, slots: usize) -> bool {
        let all = self.routes4.repaint(slots) && self.routes6.repaint(slots);
        if all {
            std::mem::take(&mut self.leaving).into_iter().for_each(|hop| self.release(hop));
        }
        all
    }

    /// Whether the route of exactly this prefix is permanent.
    #[must_use]
    pub fn is_fixed(&self, prefix: IpPrefix) -> bool {
        self.fixed.contains(&prefix)
    }

    /// Removes a route; returns whether there was one.
    pub fn remove_route(&mut self, prefix: IpPrefix) -> bool {
        let before = match prefix.address() {
            IpAddr::V4(_) => self.routes4.begin_remove(prefix),
            IpAddr::V6(_) => self.routes6.begin_remove(prefix),
        };
        self.leaving.extend(before);
        self.hosts.give_up(prefix);
        self.review_stations(prefix);
        before.is_some()
    }

    /// Sets the MAC address of a station permanently.
    pub fn fix_neighbour(&mut self, station: Station, mac: Mac) {
        self.neighbours.fix(station, mac);
        self.changed = true;
        self.add_station(station);
    }

    /// Withdraws the permanent MAC address of a station: it is resolved when needed.
    pub fn release_neighbour(&mut self, station: Station) {
        self.neighbours.release(station);
        self.changed = true;
        self.remove_station(station);
    }

    /// The numbers of IPv4 and IPv6 routes.
    #[must_use]
    pub fn route_counts(&self) -> [usize; 2] {
        [self.routes4.len(), self.routes6.len()]
    }

    /// All routes, in no particular order.
    #[must_use]
    pub fn routes(&self) -> Vec<(IpPrefix, NextHop)> {
        let all = self.routes4.iter().chain(self.routes6.iter());
        all.filter_map(|(prefix, hop)| Some((prefix, self.hops[usize::from(hop.0)]?.0))).collect()
    }

    /// The next hop of exactly this prefix.
    #[must_use]
    pub fn route(&self, prefix: IpPrefix) -> Option<NextHop> {
        let hop = match prefix.address() {
            IpAddr::V4(_) => self.routes4.get(prefix),
            IpAddr::V6(_) => self.routes6.get(prefix),
        }?;
        self.hops[usize::from(hop.0)].map(|(next, _)| next)
    }

    /// The number of a next hop, for one more route.
    fn number(&mut self, next: NextHop) -> Option<Hop> {
        if let Some(hop) = self.numbers.get(&next).copied() {
            if let Some((_, users)) = &mut self.hops[usize::from(hop.0)] {
                *users += 1;
            }
            return Some(hop);
        }
        let free = self.hops.iter().skip(1).position(Option::is_none).map(|at| at + 1);
        let number = free.unwrap_or(self.hops.len());
        let hop = Hop(u16::try_from(number).ok().filter(|number| *number <= Hop::MAX.0)?);
        if free.is_none() {
            self.hops.push(None);
        }
        self.hops[number] = Some((next, 1));
        self.changed = true;
        self.numbers.insert(next, hop);
        Some(hop)
    }

    /// Records that a route no longer uses a next hop.
    fn release(&mut self, hop: Hop) {
        let place = &mut self.hops[usize::from(hop.0)];
        if let Some((next, users)) = place {
            *users -= 1;
            if *users == 0 {
                self.numbers.remove(next);
                if let NextHop::Multipath(number) = *next
                    && let Some(list) = self.lists[usize::from(number)].take()
                {
                    self.list_numbers.remove(&list);
                }
                *place = None;
                self.changed = true;
            }
        }
    }

    pub(super) fn adjacencies(&self) -> AdjacencyTable {
        let adjacency = |hop: &Option<(NextHop, usize)>| self.adjacency((*hop)?.0);
        AdjacencyTable::new(
            self.hops.iter().map(|hop| adjacency(hop).unwrap_or(Adjacency::UNRESOLVED)).collect(),
            self.hops.iter().map(|hop| hop.map(|(next, _)| next)).collect(),
            self.hops.iter().map(|hop| hop.map_or_else(Box::default, |(next, _)| self.paths(next))).collect(),
            Arc::clone(&self.ports),
        )
    }

    /// The paths of a next hop that is a list of several.
    fn paths(&self, next: NextHop) -> Box<[SharedPath]> {
        let NextHop::Multipath(number) = next else { return Box::default() };
        let mut up_to = 0;
        let path = |(next, share): &(NextHop, u16)| {
            up_to += u32::from(*share);
            SharedPath::new(up_to, self.adjacency(*next).unwrap_or(Adjacency::UNRESOLVED), *next)
        };
        self.list(number).unwrap_or_default().iter().map(path).collect()
    }

    /// The adjacency of a next hop whose station is known.
    fn adjacency(&self, next: NextHop) -> Option<Adjacency> {
        let NextHop::Station(station) = next else { return None };
        let mac = self.neighbours.mac(station)?;
        let port = self.ports.get(usize::from(station.0))?;
        let mut addresses = [0; 12];
        addresses[..6].copy_from_slice(&mac.0);
        addresses[6..].copy_from_slice(&port.mac.0);
        Some(Adjacency { addresses, port: station.0, below: longest_frame(port.mtu).saturating_add(1) })
    }
}
