//! Prefetches memory for upcoming events. In a network larger than the caches, every step of a hop waits for memory
//! in turn: the wire, its ring, the header, the switch, its port, the next wire. Here a group of upcoming events
//! takes each step together, so that their cache misses overlap; afterwards the events find their data in the cache.
//!
//! Affects only speed: an event that is added later, or takes another port, waits as before.

use weft_core::stack::{Layout, Side};
use weft_core::{HostId, LinkId, PacketId, PortId, SwitchId, prefetch, prefetch_part};
use weft_topology::Node;

use crate::context::Context;
use crate::devices::Devices;
use crate::host::Hosts;
use crate::wire::Wire;

/// Events prefetched together: enough to keep memory busy, and few enough that the first is still in the cache when its
/// turn comes.
const GROUP: usize = 96;
/// Minimum number of links for which prefetching pays. A network of a thousand links, which fits into a cache, would
/// run a quarter slower.
const MANY: usize = 4_096;

/// Prefetches the memory that the next events will touch.
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

/// The state that the prefetcher reads.
pub(crate) struct Ground<'a> {
    pub(crate) cx: &'a Context,
    pub(crate) hosts: &'a Hosts,
    pub(crate) devices: &'a Devices,
}

impl Scout {
    /// Prefetches for the next events. Returns the last bucket of the calendar it has seen.
    #[inline(never)]
    pub(crate) fn fetch(&mut self, ground: &Ground<'_>) -> u64 {
        let seen = ground.cx.calendar.ahead(GROUP, |link, packet| self.arrivals.push((link, packet)));
        self.fetch_packets(ground);
        self.fetch_ends(ground);
        self.fetch_ports(ground);
        seen
    }

    /// The wires, the packets that will land, where they land, and where the calendar will put those behind them.
    fn fetch_packets(&mut self, Ground { cx, hosts, devices }: &Ground<'_>) {
        for (link, packet) in &self.arrivals {
            prefetch_part(&cx.wires[*link], Wire::HOT);
            prefetch(cx.pool.headers.get(*packet));
            cx.pool.headers.prefetch_follower(*packet);
        }
        for (link, packet) in self.arrivals.drain(..) {
            let wire = &cx.wires[link];
            if wire.last != packet {
                let (next, lands) = cx.pool.headers.follower(packet);
                prefetch(cx.pool.headers.get(next));
                cx.calendar.prefetch_bucket(lands);
            }
            match wire.to {
                Node::Host(host) => {
                    prefetch(cx.pool.body(packet));
                    hosts.prefetch(host);
                    self.at_host.push((host, packet));
                }
                Node::Switch(switch) => {
                    devices.prefetch(switch);
                    self.at_switch.push((switch, packet));
                }
            }
        }
    }

    /// The ends of the packets' flows.
    fn fetch_ends(&mut self, Ground { cx, hosts, .. }: &Ground<'_>) {
        for (_, packet) in self.at_host.drain(..) {
            let body = cx.pool.body(packet);
            if body.side(cx.pool.headers.get(packet)) == Side::Sender {
                hosts.ends.senders.prefetch(body.flow());
            } else {
                hosts.ends.receivers.prefetch(body.flow());
            }
        }
    }

    /// The ports by which packets will leave, and the wires behind them.
    fn fetch_ports(&mut self, Ground { cx, devices, .. }: &Ground<'_>) {
        for (at, packet) in &self.at_switch {
            if let Some(own) = devices.get(*at) {
                own.switch.reading().prefetch_way(cx.pool.headers.get(*packet));
            }
        }
        for (at, packet) in self.at_switch.drain(..) {
            let Some(own) = devices.get(at) else { continue };
            if let Some(port) = own.switch.reading().likely(cx.pool.headers.get(packet)) {
                own.switch.reading().prefetch(port);
                prefetch_part(&cx.wires[own.link(port)], Wire::HOT);
                cx.calendar.prefetch(own.link(port));
                self.out.push((at, port));
            }
        }
        for (at, port) in self.out.drain(..) {
            let Some(own) = devices.get(at) else { continue };
            own.switch.reading().prefetch_beyond(port);
            cx.pool.headers.prefetch_follower(cx.wires[own.link(port)].last);
        }
    }
}
