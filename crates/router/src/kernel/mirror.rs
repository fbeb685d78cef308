//! What the kernel has said, and the state of the router that follows from it. Must not depend on sockets.

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
    /// Addresses not yet mentioned in the reading under way.
    unread: BTreeSet<(u32, IpAddr, u8)>,
    routes: KernelRoutes,
    /// Whether routes may have changed without a message.
    doubtful: bool,
}

impl KernelMirror {
    /// Knows nothing yet; `names` are the interfaces of the ports.
    #[must_use]
    pub fn new(names: Vec<String>) -> KernelMirror {
        KernelMirror {
            names,
            ports: BTreeMap::new(),
            up: BTreeMap::new(),
            addresses: BTreeSet::new(),
            unread: BTreeSet::new(),
            routes: KernelRoutes::default(),
            doubtful: false,
        }
    }

    /// Everything will be read again.
    pub fn begin_reading(&mut self) {
        self.unread.clone_from(&self.addresses);
        self.routes.begin_reading();
    }

    /// Everything has been read: what was not mentioned is gone.
    pub fn end_reading(&mut self, state: &mut ControlState) {
        for (interface, address, length) in std::mem::take(&mut self.unread) {
            self.addresses.remove(&(interface, address, length));
            self.describe(state, interface);
        }
        self.routes.end_reading(state, &self.ports);
    }

    /// Routes may have changed without a message.
    pub fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Whether everything must be read again; asked once.
    pub fn take_doubt(&mut self) -> bool {
        std::mem::take(&mut self.doubtful)
    }

    /// Applies a message. Returns a station that the kernel has found.
    pub fn apply(&mut self, state: &mut ControlState, message: KernelMessage) -> Option<(Station, Mac)> {
        match message {
            KernelMessage::Route(route) => self.routes.change(state, &self.ports, route),
            KernelMessage::Object(object) => {
                // Routes by objects are told again, except when one disappears.
                self.doubtful |= object.removed;
                self.routes.change_object(state, &self.ports, object);
            }
            KernelMessage::Link(link) => self.link(state, &link),
            KernelMessage::Address(address) => self.address(state, address),
            KernelMessage::Neighbour(neighbour) => return self.neighbour(neighbour),
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
        // The kernel removes and revives routes with their links, and does not say so of IPv4 routes.
        let before = self.up.insert(link.index, link.up);
        self.doubtful |= before.is_some_and(|before| before != link.up);
        if !link.up {
            state.forget_stations(port);
        }
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
            self.doubtful |= removed;
            self.describe(state, interface);
            if let Some(port) = self.ports.get(&interface).filter(|_| removed) {
                state.forget_stations(*port);
            }
        }
    }

    /// A port gets the addresses of its interface.
    fn describe(&self, state: &mut ControlState, interface: u32) {
        let Some(port) = self.ports.get(&interface).copied() else { return };
        let mut own = state.ports()[usize::from(port)].clone();
        let on_it = self.addresses.iter().filter(|(on, ..)| *on == interface);
        own.addresses = on_it.map(|(_, address, length)| (*address, *length)).collect();
        // Global addresses come first: errors are sent from them.
        own.addresses.sort_by_key(|(address, _)| crate::interface::is_link_local(*address));
        state.set_port(port, own);
    }

    fn neighbour(
        &self,
        KernelNeighbour { interface, address, mac, .. }: KernelNeighbour,
    ) -> Option<(Station, Mac)> {
        let port = *self.ports.get(&interface)?;
        let mac = Mac(mac?);
        (!mac.is_multicast() && !address.is_multicast()).then_some(((port, address), mac))
    }
}
