//! The state that the kernel has reported, and the resulting state of the router. Must not depend on sockets.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use weft_netlink::{KernelAddress, KernelLink, KernelMessage, KernelNeighbour};
use weft_packet::Mac;

use super::routes::KernelRoutes;
use crate::control::ControlState;
use crate::interface::Interface;
use crate::neighbours::Station;

/// See the file's head.
#[derive(Debug)]
pub struct KernelMirror {
    /// The interfaces of the router's ports, by port.
    names: Vec<String>,
    /// The ports by index of their interface.
    ports: BTreeMap<u32, u16>,
    up: BTreeMap<u32, bool>,
    addresses: BTreeSet<(u32, IpAddr, u8)>,
    /// Addresses not yet mentioned in the current reading.
    unread: BTreeSet<(u32, IpAddr, u8)>,
    /// Neighbours that were set explicitly, by interface, and those not yet mentioned in the current reading.
    permanent: BTreeSet<(u32, IpAddr)>,
    unread_permanent: BTreeSet<(u32, IpAddr)>,
    routes: KernelRoutes,
    /// Whether everything has been read once.
    has_read: bool,
    /// Whether routes may have changed without a message.
    doubtful: bool,
}

impl KernelMirror {
    /// An empty mirror; `names` are the interfaces of the ports.
    #[must_use]
    pub fn new(names: Vec<String>) -> KernelMirror {
        KernelMirror {
            names,
            ports: BTreeMap::new(),
            up: BTreeMap::new(),
            addresses: BTreeSet::new(),
            unread: BTreeSet::new(),
            permanent: BTreeSet::new(),
            unread_permanent: BTreeSet::new(),
            routes: KernelRoutes::default(),
            has_read: false,
            doubtful: false,
        }
    }

    /// Called before everything is read again.
    pub fn begin_reading(&mut self) {
        self.unread.clone_from(&self.addresses);
        self.unread_permanent.clone_from(&self.permanent);
        self.routes.begin_reading();
    }

    /// Called after everything has been read: whatever was not mentioned is gone.
    pub fn end_reading(&mut self, state: &mut ControlState) {
        for (interface, address, length) in std::mem::take(&mut self.unread) {
            self.addresses.remove(&(interface, address, length));
            self.describe(state, interface);
        }
        for (interface, address) in std::mem::take(&mut self.unread_permanent) {
            self.release(state, (interface, address));
        }
        self.routes.end_reading(state, &self.ports);
        self.has_read = true;
    }

    /// Records that routes may have changed without a message.
    pub fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Whether everything must be read again; resets the request.
    pub fn take_doubt(&mut self) -> bool {
        std::mem::take(&mut self.doubtful)
    }

    /// Applies a message. Returns a station that the kernel has found.
    pub fn apply(&mut self, state: &mut ControlState, message: KernelMessage) -> Option<(Station, Mac)> {
        match message {
            KernelMessage::Route(route) => self.routes.change(state, &self.ports, route),
            KernelMessage::Object(object) => {
                // The kernel repeats routes that use an object, except when the object disappears.
                self.doubtful |= object.removed;
                self.routes.change_object(state, &self.ports, object);
            }
            KernelMessage::Link(link) => self.link(state, &link),
            KernelMessage::Address(address) => self.address(state, address),
            KernelMessage::Neighbour(neighbour) => return self.neighbour(state, neighbour),
            KernelMessage::Done { .. } | KernelMessage::Failed { .. } | KernelMessage::Other => {}
        }
        None
    }

    fn link(&mut self, state: &mut ControlState, link: &KernelLink) {
        let Some(port) = self.names.iter().position(|name| *name == link.name) else { return };
        let port = port as u16;
        if link.removed {
            self.ports.remove(&link.index);
        } else {
            self.ports.insert(link.index, port);
        }
        // The kernel removes and revives routes with their links, without messages for IPv4 routes.
        let before = self.up.insert(link.index, link.up);
        self.doubtful |= before.is_some_and(|before| before != link.up);
        state.set_link(port, link.up);
        let mut own = state.ports()[usize::from(port)].clone();
        own.mac = link.mac.map_or(own.mac, Mac);
        own.mtu = link.mtu.map_or(own.mtu, |mtu| mtu.min(u32::from(Interface::MOST_MTU)) as u16);
        if own != state.ports()[usize::from(port)] {
            state.set_port(port, own);
        }
    }

    fn address(
        &mut self,
        state: &mut ControlState,
        KernelAddress { removed, interface, address, length }: KernelAddress,
    ) {
        let entry = (interface, address, length);
        self.unread.remove(&entry);
        let changed = if removed { self.addresses.remove(&entry) } else { self.addresses.insert(entry) };
        if changed {
            // Next hops die with the last address of their link and revive with the first, without a message.
            self.doubtful |= removed || self.has_read;
            self.describe(state, interface);
            if let Some(port) = self.ports.get(&interface).filter(|_| removed) {
                state.forget_stations(*port);
            }
        }
    }

    /// Gives a port the addresses of its interface.
    fn describe(&self, state: &mut ControlState, interface: u32) {
        let Some(port) = self.ports.get(&interface).copied() else { return };
        let mut own = state.ports()[usize::from(port)].clone();
        let on_it = self.addresses.iter().filter(|(on, ..)| *on == interface);
        own.addresses = on_it.map(|(_, address, length)| (*address, *length)).collect();
        // Global addresses come first, because errors are sent from them.
        own.addresses.sort_by_key(|(address, _)| crate::interface::is_link_local(*address));
        state.set_port(port, own);
    }

    /// An explicitly set neighbour stays until it is withdrawn; any other is only a suggestion.
    fn neighbour(
        &mut self,
        state: &mut ControlState,
        KernelNeighbour { interface, address, mac, permanent, .. }: KernelNeighbour,
    ) -> Option<(Station, Mac)> {
        let station = (*self.ports.get(&interface)?, address);
        let mac = mac.map(Mac).filter(|mac| !mac.is_multicast() && !address.is_multicast());
        if let (Some(mac), true) = (mac, permanent) {
            self.unread_permanent.remove(&(interface, address));
            // Neighbours of the file take precedence.
            if !state.neighbours().is_fixed(station) || self.permanent.contains(&(interface, address)) {
                self.permanent.insert((interface, address));
                state.fix_neighbour(station, mac);
            }
            return None;
        }
        self.release(state, (interface, address));
        mac.map(|mac| (station, mac))
    }

    /// Called when a neighbour is no longer explicitly set.
    fn release(&mut self, state: &mut ControlState, (interface, address): (u32, IpAddr)) {
        if self.permanent.remove(&(interface, address))
            && let Some(port) = self.ports.get(&interface)
        {
            state.release_neighbour((*port, address));
        }
    }
}
