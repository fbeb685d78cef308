//! The switches of a lab on one thread: each is a worker of the router with its cables, driven by the scenario's time.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_core::record::Reason;
use weft_core::{Bytes, Class, SwitchId, Time};
use weft_plan::Setup;
use weft_router::app::switch::{SharedSwitch, SwitchPort, SwitchShape, Switching};
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::{Backend, FramePool, RouterWorker};
use weft_switch::PortCounters;
use weft_switch::share::SharingSettings;
use weft_topology::{Link, Node};

use crate::cable::{CableDirection, CableState, CableTally, LabCable};
use crate::clock::LabClock;
use crate::system::{self, Awaited};
use crate::testbed::{interface, station};

/// Buffers per port for frames on the wire and in sockets.
const BUFFERS_PER_PORT: u32 = 512;
/// Bytes of the smallest packet on the wire.
const LEAST_WIRE: u64 = 84;
/// Maximum number of packets that a switch can buffer.
pub(crate) const MOST_STORED: u64 = 1 << 14;
/// The priority of the thread among those that run first.
const PRIORITY: i32 = 50;

/// A switch.
struct FabricSwitch {
    worker: RouterWorker<Switching>,
    shared: Arc<SharedSwitch>,
}

/// A cable as the loop sees it: the switch's outgoing link, its number among the switch's devices, its socket, its state.
struct WatchedCable {
    link: usize,
    device: usize,
    descriptor: RawFd,
    state: Arc<CableState>,
}

/// All switches of a lab.
pub(crate) struct LabFabric {
    switches: Vec<FabricSwitch>,
    cables: Vec<WatchedCable>,
    clock: LabClock,
}

/// The counters of a link: packets and bytes sent, and the queues in front of it.
pub(crate) type LinkCount = ((u64, Bytes), PortCounters);

impl LabFabric {
    /// Opens the cables. Must be called in the namespace of the switches.
    ///
    /// # Errors
    /// A socket cannot be opened.
    pub(crate) fn open(setup: &Setup, clock: LabClock, tally: &Arc<CableTally>) -> io::Result<LabFabric> {
        let mut fabric = LabFabric { switches: Vec::new(), cables: Vec::new(), clock };
        for number in 0..setup.graph.switches().len() as u32 {
            fabric.add(setup, SwitchId(number), tally)?;
        }
        Ok(fabric)
    }

    fn add(&mut self, setup: &Setup, switch: SwitchId, tally: &Arc<CableTally>) -> io::Result<()> {
        let node = Node::Switch(switch);
        let first = setup.graph.first_link(node).index();
        let links = setup.graph.links_of(node);
        let (mut ports, mut ends): (Vec<SwitchPort>, Vec<Box<dyn Backend>>) = (Vec::new(), Vec::new());
        for (place, link) in
            links.iter().enumerate().filter(|(_, link)| setup.timeline.initial.is_up(link.cable))
        {
            let host = match link.to {
                Node::Host(host) => Some(host),
                Node::Switch(_) => None,
            };
            let far = station(link.to, link.to_port);
            let name = interface(switch.0, link.port);
            let socket = PacketSocket::open(&name, ends.len() as u16, false, SocketArrivals::All)?;
            let cable = LabCable::new(socket, wires(setup, switch, link), self.clock, Arc::clone(tally));
            let (descriptor, state) = cable.watched();
            self.cables.push(WatchedCable { link: first + place, device: ends.len(), descriptor, state });
            ports.push(SwitchPort::new(link.port, station(node, link.port), host, Some(far)));
            ends.push(Box::new(cable));
        }
        let shape = SwitchShape {
            build: &|| setup.build_switch(switch),
            rates: setup.port_rates(switch),
            workers: 1,
            hosts: setup.graph.hosts(),
            class_of: std::array::from_fn(|code_point| Class((code_point >> 3) as u8)),
        };
        let buffers = BUFFERS_PER_PORT * (1 + ends.len() as u32) + stored(setup, switch);
        let shared = Arc::new(SharedSwitch::new(shape, ports));
        let app = Switching::new(Arc::clone(&shared), 0);
        self.switches
            .push(FabricSwitch { worker: RouterWorker::new(ends, FramePool::new(buffers), app), shared });
        Ok(())
    }

    /// Forwards until `stop` is set. Returns the bytes that each link had sent at `snapshot`, if the run reached it.
    ///
    /// # Errors
    /// A socket has failed.
    pub(crate) fn run(
        &mut self,
        setup: &Setup,
        stop: &AtomicBool,
        snapshot: Option<Time>,
    ) -> io::Result<Option<Vec<Bytes>>> {
        // Without the privilege, only punctuality suffers, which is measured.
        let _ = system::run_first(PRIORITY);
        let mut awaited: Vec<Awaited> =
            self.cables.iter().map(|cable| system::awaited(cable.descriptor, false)).collect();
        let mut seen = None;
        while !stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            for switch in &mut self.switches {
                switch.worker.poll(now)?;
            }
            if seen.is_none() && snapshot.is_some_and(|instant| instant <= now) {
                seen = Some(self.links(setup).into_iter().map(|((_, bytes), _)| bytes).collect());
            }
            if let Some(due) = self.next_due(now) {
                system::wait(&mut awaited, self.clock.until(due))?;
                let happened =
                    self.cables.iter().zip(&awaited).filter(|(_, awaited)| system::has_happened(awaited));
                happened.for_each(|(cable, _)| cable.state.is_readable.store(true, Ordering::Relaxed));
            }
        }
        self.switches.iter_mut().for_each(|switch| switch.worker.count_losses());
        Ok(seen)
    }

    /// When something is due next; `None`: now.
    fn next_due(&self, now: Time) -> Option<Time> {
        let ticks = self.switches.iter().filter_map(|switch| switch.worker.next_tick());
        let cables = self.cables.iter().map(|cable| cable.state.due());
        // Events due at this very instant are handled once it has passed.
        let due = ticks.chain(cables).min().unwrap_or(Time(u64::MAX));
        (due > now).then_some(due)
    }

    /// The counters of each link.
    pub(crate) fn links(&self, setup: &Setup) -> Vec<LinkCount> {
        let mut counts: Vec<LinkCount> = vec![LinkCount::default(); setup.graph.links().len()];
        for cable in &self.cables {
            let link = &setup.graph.links()[cable.link];
            let Node::Switch(switch) = link.from else { continue };
            counts[cable.link] = self.switches[switch.index()].shared.port(link.port);
            if matches!(link.to, Node::Host(_)) {
                let reverse = setup.graph.link_at(link.to, link.to_port).index();
                counts[reverse].0 = cable.state.entered();
            }
        }
        counts
    }

    /// Packets dropped by each switch, by reason.
    pub(crate) fn drops(&self) -> Vec<Vec<(Reason, u64)>> {
        let of = |switch: &FabricSwitch| {
            let all = Reason::ALL.iter().map(|reason| (*reason, switch.shared.dropped(*reason)));
            all.filter(|(_, count)| *count > 0).collect()
        };
        self.switches.iter().map(of).collect()
    }

    /// Frames that no switch of the scenario has dropped and that were lost all the same: sockets had no room for them or did not
    /// accept them, or workers could not process them.
    pub(crate) fn mishaps(&self) -> u64 {
        use weft_router::DropCause::{DeviceFull, Malformed, NoBuffer, NoRoute, Oversized, Refused};
        let causes = [DeviceFull, Malformed, NoBuffer, NoRoute, Oversized, Refused];
        let of = |switch: &FabricSwitch| {
            let counters = switch.worker.counters();
            counters.missed + causes.iter().map(|cause| counters.dropped(*cause)).sum::<u64>()
        };
        self.switches.iter().map(of).sum()
    }

    /// Those of them that hosts had sent and that never reached a switch.
    pub(crate) fn unheard(&self, setup: &Setup) -> u64 {
        let missed = |cable: &WatchedCable| {
            let link = &setup.graph.links()[cable.link];
            let (Node::Switch(switch), Node::Host(_)) = (link.from, link.to) else { return 0 };
            let devices = self.switches[switch.index()].worker.counters().interfaces();
            devices.get(cable.device).map_or(0, |device| device.missed)
        };
        self.cables.iter().map(missed).sum()
    }
}

/// The wires of a cable at a switch's port: towards the switch, and towards a host.
fn wires(setup: &Setup, switch: SwitchId, link: &Link) -> (CableDirection, Option<CableDirection>) {
    let is_host = matches!(link.to, Node::Host(_));
    let inward = CableDirection::new(link.rate, link.delay + setup.switch_at(switch).latency, is_host);
    (inward, is_host.then(|| CableDirection::new(link.rate, link.delay, false)))
}

/// The bytes that a switch of the scenario may hold.
fn memory(setup: &Setup, switch: SwitchId) -> u64 {
    let settings = setup.switch_at(switch);
    let ports = setup.graph.links_of(Node::Switch(switch)).len() as u64;
    match (settings.buffer, &settings.sharing) {
        (Some(buffer), _) => buffer.0,
        (None, SharingSettings::Fixed(own)) => own.per_port.0.saturating_mul(ports),
        (None, _) => u64::MAX,
    }
}

/// The number of packets that a switch may hold.
fn stored(setup: &Setup, switch: SwitchId) -> u32 {
    (memory(setup, switch) / LEAST_WIRE).min(MOST_STORED) as u32
}

/// Whether a switch of the scenario may hold more full packets than one of the lab.
pub(crate) fn holds_fewer(setup: &Setup) -> bool {
    let mut switches = (0..setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    switches.any(|switch| memory(setup, switch) / u64::from(setup.transport.full_wire()) > MOST_STORED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Grouping;
    use weft_switch::share::fixed::FixedSharingSettings;
    use weft_switch::share::infinite::InfiniteSharingSettings;
    use weft_topology::{FailurePlan, RoutingSettings, TopologySettings, build, timeline};
    use weft_transport::{Transport, TransportSettings};

    /// A scenario whose switches never drop asks for more than a lab has.
    #[test]
    fn a_switch_of_the_lab_holds_fewer_packets_than_one_without_a_limit() {
        let graph = build(&TopologySettings::default()).expect("it is a network");
        let (plan, routing) = (FailurePlan::default(), RoutingSettings::default());
        let timeline = timeline(&graph, &plan, &routing, Grouping::Together);
        let mut setup = Setup::new(graph, timeline, Transport::new(&TransportSettings::default()));
        let mut fewer = |sharing, buffer| {
            (setup.switch.sharing, setup.switch.buffer) = (sharing, buffer);
            holds_fewer(&setup)
        };
        let infinite = || SharingSettings::Infinite(InfiniteSharingSettings::default());
        let fixed = |per_port| SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(per_port) });
        assert!(fewer(infinite(), None) && fewer(fixed(1_000_000_000), None));
        assert!(!fewer(fixed(100_000), None) && !fewer(infinite(), Some(Bytes(1_000_000))));
    }
}
