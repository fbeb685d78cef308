//! Prefetches memory for upcoming events. In a network larger than the caches, every step of a hop waits for memory,
//! one after the other: the wire, its ring, the header, the switch, its port, the next wire. Here a group of upcoming
//! events takes each step together, so that their cache misses overlap; afterwards the events find what they need in
//! the cache.
//!
//! Affects only speed: an event that is added later, or takes another port, waits as
//! before.

use weft_core::stack::{Layout, Side};
use weft_core::{HostId, LinkId, PacketId, PortId, SwitchId, prefetch};
use weft_topology::Node;

use crate::domain::Domain;

/// Events prefetched together: enough to keep memory busy, and few enough that the first is still in the cache when its
/// turn comes.
const GROUP: usize = 96;
/// Minimum number of links for which prefetching pays. A network of a thousand links, which fits into a cache, would
/// run a quarter slower.
const MANY: usize = 4_096;

/// See the file's head.
#[derive(Default)]
pub(crate) struct Scout {
    arrivals: Vec<(LinkId, PacketId)>,
    at_switch: Vec<(SwitchId, PacketId)>,
    at_host: Vec<(HostId, PacketId)>,
    out: Vec<(SwitchId, PortId)>,
}

/// Whether a network of this many links is worth a scout.
pub(crate) fn pays(links: usize) -> bool {
    links >= MANY && cfg!(target_arch = "x86_64")
}

impl Domain {
    /// Starts or stops looking ahead.
    pub(crate) fn look_ahead(&mut self, looks: bool) {
        self.scout = looks.then(Box::default);
        self.cx.calendar.set_seen(looks.then_some(0));
    }

    /// Prefetches for the next events, unless already done.
    #[inline]
    pub(crate) fn scout(&mut self) {
        if self.scout.is_some() && self.cx.calendar.is_unseen() {
            self.fetch();
        }
    }

    #[inline(never)]
    fn fetch(&mut self) {
        let Some(mut scout) = self.scout.take() else { return };
        let seen = self.cx.calendar.ahead(GROUP, |link, packet| scout.arrivals.push((link, packet)));
        self.cx.calendar.set_seen(Some(seen));
        self.fetch_packets(&mut scout);
        self.fetch_ends(&mut scout);
        self.fetch_ports(&mut scout);
        self.scout = Some(scout);
    }

    /// Prefetches the wires, the packets that will land, and the nodes where they land.
    fn fetch_packets(&self, scout: &mut Scout) {
        let wire = |link: LinkId| &self.cx.wires[link];
        for (link, packet) in &scout.arrivals {
            prefetch(wire(*link));
            prefetch(self.cx.pool.headers.get(*packet));
        }
        for (link, packet) in scout.arrivals.drain(..) {
            let wire = wire(link);
            wire.behind.prefetch_front();
            match wire.to {
                Node::Host(host) => {
                    prefetch(self.cx.pool.body(packet));
                    self.hosts.prefetch(host);
                    scout.at_host.push((host, packet));
                }
                Node::Switch(switch) => {
                    self.devices.prefetch(switch);
                    scout.at_switch.push((switch, packet));
                }
            }
        }
    }

    /// Prefetches the ends of the packets' flows.
    fn fetch_ends(&self, scout: &mut Scout) {
        for (_, packet) in scout.at_host.drain(..) {
            let body = self.cx.pool.body(packet);
            if body.side(self.cx.pool.headers.get(packet)) == Side::Sender {
                self.hosts.ends.senders.prefetch(body.flow());
            } else {
                self.hosts.ends.receivers.prefetch(body.flow());
            }
        }
    }

    /// Prefetches the ports by which packets will leave, and the wires behind them.
    fn fetch_ports(&self, scout: &mut Scout) {
        for (at, packet) in scout.at_switch.drain(..) {
            let Some(own) = self.devices.get(at) else { continue };
            if let Some(port) = own.switch.likely(self.cx.pool.headers.get(packet)) {
                own.switch.prefetch(port);
                prefetch(&self.cx.wires[own.link(port)]);
                self.cx.calendar.prefetch(own.link(port));
                scout.out.push((at, port));
            }
        }
        for (at, port) in scout.out.drain(..) {
            let Some(own) = self.devices.get(at) else { continue };
            own.switch.prefetch_beyond(port);
            self.cx.wires[own.link(port)].behind.prefetch_back();
        }
    }
}
