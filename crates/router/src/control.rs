//! State shared by the workers of a router: routes, next hops and neighbours. Changed under a lock, read without one.
//!
//! Workers look up routes in tables that may change at any time, and keep a copy of the next hops (an
//! [`AdjacencyTable`]), which they replace when its number shows that there is a newer one.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::Time;
use weft_fib::ipv4::Ipv4Routes;
use weft_fib::ipv6::Ipv6Routes;
use weft_fib::{Hop, IpPrefix, RouteError};
use weft_packet::Mac;

use crate::backend::system;
use crate::interface::Interface;
use crate::neighbours::{DueQuestions, NeighbourLimits, Neighbours, Resolution, Station};

/// Where packets of a route are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NextHop {
    /// The router itself.
    Local,
    /// The station with the packet's own destination address, on the link of this port.
    Link(u16),
    /// This station.
    Station(Station),
    /// None: the sender gets an error.
    Reject,
}

/// How a worker forwards packets to a next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacency {
    /// Destination and source address of the frame.
    pub addresses: [u8; 12],
    /// The port, or [`Adjacency::SLOW`] if it takes more than rewriting the frame.
    pub port: u16,
    /// Longest packet, bytes.
    pub mtu: u16,
}

impl Adjacency {
    /// Not a port: the packet takes the slow path.
    pub const SLOW: u16 = u16::MAX;
    /// Unresolved: every packet is too long for its MTU.
    pub const UNRESOLVED: Adjacency = Adjacency { addresses: [0; 12], port: Adjacency::SLOW, mtu: 0 };
}

/// A snapshot of the next hops, by number.
#[derive(Clone, Debug, Default)]
pub struct AdjacencyTable {
    /// How to forward.
    pub adjacencies: Box<[Adjacency]>,
    /// The next hops themselves.
    pub hops: Box<[Option<NextHop>]>,
}

/// What the caller must send after a change.
#[derive(Debug, Default)]
pub struct PendingSends {
    /// Stations for which to send a request.
    pub ask: Vec<Station>,
    /// IP packets for stations that have been resolved.
    pub ready: Vec<(Station, Mac, Vec<u8>)>,
    /// IP packets whose station does not answer, with the port they arrived by.
    pub failed: Vec<(u16, Vec<u8>)>,
}

/// Routes, next hops and neighbours; behind a lock.
pub struct ControlState {
    ports: Arc<[Interface]>,
    routes4: Ipv4Routes,
    routes6: Ipv6Routes,
    /// Next hops by number, from 1, each with the number of routes that use it.
    hops: Vec<Option<(NextHop, usize)>>,
    numbers: HashMap<NextHop, Hop>,
    neighbours: Neighbours,
}

/// Destinations that no router forwards, whatever its default route says (RFC 1812, section 5.3.7; RFC 4291, section 2.5.6).
const NEVER_FORWARDED: [(IpAddr, u8); 7] = [
    (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 8),
    (IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8),
    (IpAddr::V4(Ipv4Addr::new(224, 0, 0, 0)), 3),
    (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 128),
    (IpAddr::V6(Ipv6Addr::LOCALHOST), 128),
    (IpAddr::V6(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0)), 10),
    (IpAddr::V6(Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0)), 8),
];

/// State shared by workers.
pub struct Control {
    state: Mutex<ControlState>,
    newest: AtomicU64,
    published: Mutex<Arc<AdjacencyTable>>,
}

impl Control {
    /// A router with these ports: routes to its links and to itself.
    ///
    /// # Errors
    /// Two addresses contradict each other.
    pub fn new(ports: Arc<[Interface]>, limits: NeighbourLimits) -> Result<Control, RouteError> {
        let mut state = ControlState {
            ports: Arc::clone(&ports),
            routes4: Ipv4Routes::in_memory(system::prefer_large_pages),
            routes6: weft_fib::ipv6::table(),
            hops: vec![None],
            numbers: HashMap::new(),
            neighbours: Neighbours::new(limits),
        };
        for prefix in
            NEVER_FORWARDED.iter().filter_map(|(address, length)| IpPrefix::around(*address, *length))
        {
            state.set_route(prefix, NextHop::Reject)?;
        }
        for (number, port) in ports.iter().enumerate() {
            for (address, length) in &port.addresses {
                let whole = if address.is_ipv4() { 32 } else { 128 };
                if let Some(prefix) = IpPrefix::around(*address, *length).filter(|_| *length < whole) {
                    state.set_route(prefix, NextHop::Link(number as u16))?;
                }
                if let Some(own) = IpPrefix::around(*address, whole) {
                    state.set_route(own, NextHop::Local)?;
                }
            }
        }
        let control =
            Control { state: Mutex::new(state), newest: AtomicU64::new(0), published: Mutex::default() };
        control.publish(&control.lock());
        Ok(control)
    }

    fn lock(&self) -> MutexGuard<'_, ControlState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state; workers then see the resulting next hops. `change` must not wait for anything, because
    /// packets may wait for it.
    pub fn change<T>(&self, change: impl FnOnce(&mut ControlState) -> T) -> T {
        let mut state = self.lock();
        let result = change(&mut state);
        self.publish(&state);
        result
    }

    /// Reads the state.
    pub fn read<T>(&self, read: impl FnOnce(&ControlState) -> T) -> T {
        read(&self.lock())
    }

    /// The number of the newest next hops.
    #[must_use]
    #[inline]
    pub fn newest(&self) -> u64 {
        self.newest.load(Ordering::Acquire)
    }

    /// The newest next hops.
    #[must_use]
    pub fn adjacencies(&self) -> Arc<AdjacencyTable> {
        Arc::clone(&self.published.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, state: &ControlState) {
        let table = Arc::new(state.adjacencies());
        *self.published.lock().unwrap_or_else(PoisonError::into_inner) = table;
        self.newest.fetch_add(1, Ordering::Release);
    }

    /// Resolves the station of a packet.
    pub fn resolve(&self, now: Time, station: Station, packet: &[u8]) -> Resolution {
        self.lock().neighbours.resolve(now, station, packet)
    }

    /// A station announces its MAC address, in a request to us (`solicits`) or in an answer.
    pub fn learn(&self, now: Time, station: Station, mac: Mac, solicits: bool) -> PendingSends {
        let mut state = self.lock();
        let (waiting, is_new) = state.neighbours.learn(now, station, mac, solicits);
        if is_new {
            state.add_station(station);
            self.publish(&state);
        }
        let ready = waiting.into_iter().map(|packet| (station, mac, packet)).collect();
        PendingSends { ready, ..PendingSends::default() }
    }

    /// Handles what is due by now. Does nothing if another worker is doing so.
    pub fn due(&self, now: Time) -> PendingSends {
        let Ok(mut state) = self.state.try_lock() else { return PendingSends::default() };
        let DueQuestions { ask, gone } = state.neighbours.due(now);
        gone.iter().for_each(|(station, _)| state.remove_station(*station));
        if !gone.is_empty() {
            self.publish(&state);
        }
        let failed = |((port, _), packets): (Station, Vec<Vec<u8>>)| {
            packets.into_iter().map(move |packet| (port, packet))
        };
        PendingSends { ask, failed: gone.into_iter().flat_map(failed).collect(), ..PendingSends::default() }
    }
}

impl ControlState {
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

    /// Adds or replaces a route.
    ///
    /// # Errors
    /// There is no room for the prefix, or there are more than 32 766 next hops.
    pub fn set_route(&mut self, prefix: IpPrefix, next: NextHop) -> Result<(), RouteError> {
        let hop = self.number(next).ok_or(RouteError::Hop(prefix))?;
        let before = match prefix.address() {
            IpAddr::V4(_) => self.routes4.insert(prefix, hop),
            IpAddr::V6(_) => self.routes6.insert(prefix, hop),
        };
        match before {
            Ok(Some(before)) => self.release(before),
            Ok(None) => {}
            Err(error) => {
                self.release(hop);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes a route; returns whether there was one.
    pub fn remove_route(&mut self, prefix: IpPrefix) -> bool {
        let before = match prefix.address() {
            IpAddr::V4(_) => self.routes4.remove(prefix),
            IpAddr::V6(_) => self.routes6.remove(prefix),
        };
        before.map(|hop| self.release(hop)).is_some()
    }

    /// Sets the MAC address of a station for good.
    pub fn fix_neighbour(&mut self, station: Station, mac: Mac) {
        self.neighbours.fix(station, mac);
        self.add_station(station);
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

    /// The number of a next hop for one more route.
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
        self.numbers.insert(next, hop);
        Some(hop)
    }

    /// A route no longer uses a next hop.
    fn release(&mut self, hop: Hop) {
        let place = &mut self.hops[usize::from(hop.0)];
        if let Some((next, users)) = place {
            *users -= 1;
            if *users == 0 {
                self.numbers.remove(next);
                *place = None;
            }
        }
    }

    /// Gives a station that has been resolved a route of its own, unless there is one, so that its packets need no
    /// second look-up.
    fn add_station(&mut self, station: Station) {
        if let Some(prefix) = whole(station.1).filter(|prefix| self.is_on_link(*prefix, station)) {
            // Without room for the route, its packets are resolved one by one.
            let _ = self.set_route(prefix, NextHop::Station(station));
        }
    }

    fn remove_station(&mut self, station: Station) {
        if let Some(prefix) =
            whole(station.1).filter(|prefix| self.route(*prefix) == Some(NextHop::Station(station)))
        {
            self.remove_route(prefix);
        }
    }

    /// Whether an address has no route of its own, is not link-local, and lies on the link of its port.
    fn is_on_link(&self, prefix: IpPrefix, (port, address): Station) -> bool {
        let on_link = |port: &Interface| port.reaches(address) && !crate::interface::is_link_local(address);
        self.route(prefix).is_none() && self.ports.get(usize::from(port)).is_some_and(on_link)
    }

    fn adjacencies(&self) -> AdjacencyTable {
        let adjacency = |hop: &Option<(NextHop, usize)>| self.adjacency((*hop)?.0);
        AdjacencyTable {
            adjacencies: self
                .hops
                .iter()
                .map(|hop| adjacency(hop).unwrap_or(Adjacency::UNRESOLVED))
                .collect(),
            hops: self.hops.iter().map(|hop| hop.map(|(next, _)| next)).collect(),
        }
    }

    /// The adjacency of a next hop whose station is known.
    fn adjacency(&self, next: NextHop) -> Option<Adjacency> {
        let NextHop::Station(station) = next else { return None };
        let mac = self.neighbours.mac(station)?;
        let port = self.ports.get(usize::from(station.0))?;
        let mut addresses = [0; 12];
        addresses[..6].copy_from_slice(&mac.0);
        addresses[6..].copy_from_slice(&port.mac.0);
        Some(Adjacency { addresses, port: station.0, mtu: port.mtu })
    }
}

/// The prefix of a single address.
fn whole(address: IpAddr) -> Option<IpPrefix> {
    IpPrefix::around(address, if address.is_ipv4() { 32 } else { 128 })
}
