//! A node of a cluster of routers that acts as one (RouteBricks): the decisions of `weft-cluster` on real packets.
//!
//! A packet that enters by the external port is parsed here and nowhere else: its output node goes into the
//! destination address. Frames from internal ports are moved by that address alone. Neighbours send hellos; one that
//! is silent for a while is considered down, and its traffic is spread over the others.
//!
//! ```text
//! outside: parse, look up, choose a path ──> inside: relay, address unchanged ──> inside: outside port, station address
//! ```

use std::sync::Arc;
use std::sync::atomic::Ordering;

use weft_cluster::{ClusterPath, ClusterPhase, ClusterStation, Director, RelayMove};
use weft_core::{Bytes, Span, Time};
use weft_fib::RouteReader;
use weft_packet::rss::FlowQueues;
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetFrame, EthernetHeader, Ipv4Packet, Mac, ipv4,
};

use crate::app::station::{WaitingFrames, answer, consume, drop_frame, untagged};
use crate::app::{Application, Desk};
use crate::counters::DropCause;
use crate::pool::{Frame, FrameBatch};

mod node;

pub use node::{ClusterEnd, ClusterNode, ClusterNodeCounters};
use node::{ClusterPort, NodeSet, add};

/// Interval between a node's hellos on each internal link, and the longest silence of a neighbour.
const HELLO: Span = Span::from_ms(20);
/// A neighbour silent for this long is down.
const SILENCE: Span = Span::from_ms(100);
/// The type of hellos: local experimental (IEEE 802).
const HELLO_TYPE: EtherType = EtherType(0x88b5);
/// Bytes of a hello, the shortest frame without FCS.
const HELLO_BYTES: usize = 60;
/// Where a hello says which nodes its sender hears, behind a byte that is 1 if it does.
const HEARD_AT: usize = EthernetHeader::LEN + 1;
const _: () = assert!(HEARD_AT + NodeSet::BYTES <= HELLO_BYTES);

/// The application of one worker of a node.
pub struct Clustering {
    shared: Arc<ClusterNode>,
    worker: u16,
    director: Director,
    routes: RouteReader<u32>,
    flows: FlowQueues,
    /// Packets that wait for the external MAC address.
    waiting: WaitingFrames,
    due: Time,
}

/// What to do with a frame from outside.
enum Entering {
    /// It is addressed to this node; the size is that of the packet.
    Packet(u16, u64),
    Answer(ArpMessage),
    /// The frame only said who is outside; nothing is left to do.
    Nothing,
    Drop(DropCause),
}

impl Clustering {
    /// The application of worker number `worker`.
    #[must_use]
    pub fn new(shared: Arc<ClusterNode>, worker: u16) -> Clustering {
        let director = Director::new(shared.settings.divided(shared.workers), shared.me.into());
        let routes = shared.routes.reader();
        let (flows, waiting) = (FlowQueues::among(1), WaitingFrames::default());
        Clustering { shared, worker, director, routes, flows, waiting, due: Time::ZERO }
    }

    /// A frame from outside.
    fn arrive(&mut self, desk: &mut Desk<'_>, frame: Frame, port: &ClusterPort) {
        let frame = untagged(desk, frame);
        match self.entering(desk.pool.bytes(frame), port) {
            Entering::Packet(to, flow) => self.enter(desk, frame, (to, flow)),
            Entering::Answer(message) => answer(desk, frame, &message),
            Entering::Nothing => consume(desk, frame),
            Entering::Drop(cause) => drop_frame(desk, frame, cause),
        }
    }

    /// Examines a frame from outside: the only place where headers are parsed.
    fn entering(&self, bytes: &[u8], port: &ClusterPort) -> Entering {
        let Ok(frame) = EthernetFrame::parse(bytes) else { return Entering::Drop(DropCause::Malformed) };
        if frame.source.is_multicast() {
            return Entering::Drop(DropCause::Malformed);
        }
        if frame.destination != port.mac && !frame.destination.is_multicast() {
            return Entering::Drop(DropCause::OtherStation);
        }
        if frame.names_vlan() {
            return Entering::Drop(DropCause::Unsupported);
        }
        if port.end == ClusterEnd::Outside(None) {
            port.far.hear(frame.source, port.mac);
        }
        match frame.kind {
            _ if frame.destination != port.mac && frame.destination != Mac::BROADCAST => {
                Entering::Drop(DropCause::Multicast)
            }
            // RFC 1812, section 5.3.4.
            EtherType::IPV4 if frame.destination != port.mac => Entering::Drop(DropCause::Multicast),
            EtherType::IPV4 => self.entering_packet(frame.payload),
            EtherType::ARP => self.question(frame.payload, port),
            _ => Entering::Drop(DropCause::Unsupported),
        }
    }

    fn entering_packet(&self, bytes: &[u8]) -> Entering {
        add(&self.shared.counters.parsed);
        match Ipv4Packet::parse(bytes) {
            Err(_) => Entering::Drop(DropCause::Malformed),
            Ok(packet) if packet.ttl <= 1 => Entering::Drop(DropCause::Expired),
            Ok(packet) => {
                let flow = self.flows.hash_of_packet(EtherType::IPV4, bytes).unwrap_or_default();
                let node = ClusterNode::node_of(self.routes.lookup(packet.destination.into()));
                node.map_or(Entering::Drop(DropCause::NoRoute), |node| Entering::Packet(node, flow.into()))
            }
        }
    }

    /// The node answers for everything that is not behind it.
    fn question(&self, bytes: &[u8], port: &ClusterPort) -> Entering {
        let Ok(message) = ArpMessage::parse(bytes) else { return Entering::Drop(DropCause::Malformed) };
        let node = ClusterNode::node_of(self.routes.lookup(message.target.1.into()));
        let answers = message.operation == ArpOperation::Request
            && node.is_some_and(|node| node != u16::from(self.shared.me));
        if answers { Entering::Answer(message.answer(port.mac)) } else { Entering::Nothing }
    }

    /// Sends a packet along the path that the director chooses.
    fn enter(&mut self, desk: &mut Desk<'_>, frame: Frame, (to, flow): (u16, u64)) {
        ipv4::decrement_ttl(&mut desk.pool.bytes_mut(frame)[EthernetHeader::LEN..]);
        let size = Bytes(u64::from(frame.length));
        let counters = &self.shared.counters;
        let (next, phase, counter) = match self.director.choose(desk.now, flow, to, size) {
            ClusterPath::Here => {
                add(&counters.here);
                return self.leave(desk, frame);
            }
            ClusterPath::Direct => (to, ClusterPhase::Second, &counters.direct),
            ClusterPath::Via(relay) => (relay, ClusterPhase::First, &counters.relayed),
            ClusterPath::Lost => {
                add(&counters.unreachable);
                return drop_frame(desk, frame, DropCause::Unreachable);
            }
        };
        let Some(port) = self.shared.links[usize::from(next)] else {
            return drop_frame(desk, frame, DropCause::Unreachable);
        };
        if frame.length > self.shared.ports[usize::from(port)].longest {
            return drop_frame(desk, frame, DropCause::TooBig);
        }
        add(counter);
        let station = ClusterStation { node: to as u8, phase };
        let bytes = desk.pool.bytes_mut(frame);
        bytes[..6].copy_from_slice(&station.to_bytes());
        bytes[6..12].copy_from_slice(&self.shared.ports[usize::from(port)].mac.0);
        desk.out.push(port, frame);
    }

    /// Sends a packet out of the cluster.
    fn leave(&mut self, desk: &mut Desk<'_>, frame: Frame) {
        let port = &self.shared.ports[usize::from(self.shared.outside)];
        if frame.length > port.longest {
            return drop_frame(desk, frame, DropCause::TooBig);
        }
        desk.pool.bytes_mut(frame)[6..12].copy_from_slice(&port.mac.0);
        add(&self.shared.counters.out);
        self.waiting.send(desk, self.shared.way_out(), frame);
    }

    /// Handles a frame from node `from`: reads only its address and type.
    fn inside(&mut self, desk: &mut Desk<'_>, frame: Frame, from: u8) {
        let bytes = desk.pool.bytes(frame);
        let Some(([station @ .., _, _, _, _, _, _, kind_high, kind_low], _)) =
            bytes.split_first_chunk::<14>()
        else {
            return drop_frame(desk, frame, DropCause::Malformed);
        };
        let station: [u8; 6] = *station;
        if [*kind_high, *kind_low] == HELLO_TYPE.0.to_be_bytes() {
            if let Some(heard) = heard_in(bytes) {
                self.shared.ports[usize::from(frame.port)].hears.set(heard);
            }
            return consume(desk, frame);
        }
        match ClusterStation::parse(station).map(|station| station.next(self.shared.me, from)) {
            Some(RelayMove::Out) => self.leave(desk, frame),
            Some(RelayMove::To(node)) => match self.shared.links.get(usize::from(node)).copied().flatten() {
                Some(port) if frame.length > self.shared.ports[usize::from(port)].longest => {
                    drop_frame(desk, frame, DropCause::TooBig);
                }
                Some(_) if !self.director.is_up(node.into()) => {
                    add(&self.shared.counters.unreachable);
                    drop_frame(desk, frame, DropCause::Unreachable);
                }
                Some(port) => {
                    self.director.load(desk.now, node.into(), Bytes(u64::from(frame.length)));
                    add(&self.shared.counters.moved);
                    desk.out.push(port, frame);
                }
                None => drop_frame(desk, frame, DropCause::NoRoute),
            },
            Some(RelayMove::Astray) => {
                add(&self.shared.counters.astray);
                drop_frame(desk, frame, DropCause::OtherStation);
            }
            None => drop_frame(desk, frame, DropCause::OtherStation),
        }
    }

    /// Sends a hello to every neighbour.
    fn greet(&self, desk: &mut Desk<'_>) {
        let heard = self.shared.heard_nodes().to_bytes();
        for (number, port) in (0..).zip(&self.shared.ports) {
            let ClusterEnd::Node(node) = port.end else { continue };
            let station = ClusterStation { node, phase: ClusterPhase::Second };
            let header =
                EthernetHeader { destination: Mac(station.to_bytes()), source: port.mac, kind: HELLO_TYPE };
            let mut bytes = [0; HELLO_BYTES];
            bytes[..EthernetHeader::LEN].copy_from_slice(&header.to_bytes());
            bytes[HEARD_AT - 1] = 1;
            bytes[HEARD_AT..HEARD_AT + NodeSet::BYTES].copy_from_slice(&heard);
            if let Some(frame) = desk.pool.store(&bytes, number) {
                desk.counters.made += 1;
                desk.out.push(number, frame);
            }
        }
    }
}

/// The nodes that the sender of a hello hears; `None` if it does not say.
fn heard_in(hello: &[u8]) -> Option<NodeSet> {
    let said = *hello.get(HEARD_AT - 1)? == 1;
    hello.get(HEARD_AT..)?.first_chunk().filter(|_| said).map(NodeSet::from_bytes)
}

/// Whether a node of the cluster has sent this frame. The kernel of a machine whose node is dead sends some, too.
fn is_of_cluster(bytes: &[u8]) -> bool {
    let Some(([station @ .., _, _, _, _, _, _, high, low], _)) = bytes.split_first_chunk::<14>() else {
        return false;
    };
    [*high, *low] == HELLO_TYPE.0.to_be_bytes() || ClusterStation::parse(*station).is_some()
}

impl Application for Clustering {
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch) {
        let Some(first) = batch.frames().first() else { return };
        let shared = Arc::clone(&self.shared);
        let port = &shared.ports[usize::from(first.port)];
        // Hellos wait behind data; a node that sends anything of the cluster is alive.
        let is_heard = |frame: &Frame| is_of_cluster(desk.pool.bytes(*frame));
        if matches!(port.end, ClusterEnd::Node(_)) && batch.frames().iter().any(is_heard) {
            port.heard.fetch_max(desk.now.0, Ordering::Relaxed);
        }
        for frame in batch.frames().iter().copied() {
            match port.end {
                ClusterEnd::Node(from) => self.inside(desk, frame, from),
                ClusterEnd::Outside(_) => self.arrive(desk, frame, port),
            }
        }
        self.waiting.look(desk, shared.way_out());
    }

    fn tick(&mut self, desk: &mut Desk<'_>) {
        self.waiting.look(desk, self.shared.way_out());
        if desk.now < self.due {
            return;
        }
        self.due = desk.now + HELLO;
        if self.worker == 0 {
            self.greet(desk);
        }
        self.shared.now.fetch_max(desk.now.0, Ordering::Relaxed);
        for (from, to, up) in self.shared.links() {
            self.director.set_link(from, to, up);
        }
    }

    fn end(&mut self, desk: &mut Desk<'_>) {
        self.waiting.abandon(desk);
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.waiting.glance().map_or(self.due, |glance| glance.min(self.due)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::RouterCounters;
    use crate::pool::{FramePool, SendQueues};
    use weft_cluster::DirectorSettings;
    use weft_core::Rate;
    use weft_fib::IpPrefix;
    use weft_packet::{Ipv4Header, ports};

    const NODES: u16 = 4;
    const CLIENT: Mac = Mac([2, 0, 0, 0, 9, 9]);

    /// A cluster in memory: a frame that leaves a port arrives at the other end at once.
    struct Cluster {
        nodes: Vec<(Clustering, FramePool, RouterCounters)>,
        now: Time,
    }

    fn mac(node: u16, port: u16) -> Mac {
        Mac([2, 0, 0, 1, node as u8, port as u8])
    }

    /// Port 0 leads outside, the others to the other nodes in order.
    fn ends(node: u16) -> Vec<ClusterEnd> {
        let others = (0..NODES).filter(|other| *other != node).map(|other| ClusterEnd::Node(other as u8));
        std::iter::once(ClusterEnd::Outside(Some(CLIENT))).chain(others).collect()
    }

    impl Cluster {
        fn new(settings: DirectorSettings) -> Cluster {
            let prefixes: Vec<(IpPrefix, u16)> =
                (0..NODES).map(|node| (format!("10.0.{}.0/24", node + 1).parse().unwrap(), node)).collect();
            let node = |node: u16| {
                let ports = (0..).zip(ends(node)).map(|(port, end)| (end, mac(node, port))).collect();
                let shared = ClusterNode::new((node as u8, 1), settings, ports, &prefixes).unwrap();
                (Clustering::new(Arc::new(shared), 0), FramePool::new(256), RouterCounters::default())
            };
            Cluster { nodes: (0..NODES).map(node).collect(), now: Time::ZERO }
        }

        /// Delivers a frame to a port; returns the frames that leave the cluster as a result, with the nodes they
        /// visited.
        fn arrive(&mut self, node: u16, port: u16, bytes: &[u8]) -> Vec<(u16, Vec<u8>, u32)> {
            let mut left = Vec::new();
            let mut waiting = vec![(node, port, bytes.to_vec(), 1)];
            while let Some((node, port, bytes, visited)) = waiting.pop() {
                let (app, pool, counters) = &mut self.nodes[usize::from(node)];
                let mut out = SendQueues::new(usize::from(NODES));
                let mut batch = FrameBatch::default();
                batch.limit(1);
                batch.push(pool.store(&bytes, port).unwrap());
                app.handle(&mut Desk { now: self.now, pool, out: &mut out, counters }, &batch);
                let entered = matches!(ends(node)[usize::from(port)], ClusterEnd::Outside(_));
                let came = bytes;
                for port in 0..NODES {
                    for frame in out.queue(usize::from(port)).drain(..) {
                        let bytes = pool.bytes(frame).to_vec();
                        pool.give(frame.buffer);
                        match ends(node)[usize::from(port)] {
                            ClusterEnd::Outside(_) => left.push((node, bytes, visited)),
                            ClusterEnd::Node(to) => {
                                assert!(entered || bytes == came, "only the input writes addresses");
                                let to = u16::from(to);
                                let back =
                                    ends(to).iter().position(|end| *end == ClusterEnd::Node(node as u8));
                                waiting.push((to, back.unwrap() as u16, bytes, visited + 1));
                            }
                        }
                    }
                }
            }
            left
        }

        fn counted(&self, of: impl Fn(ClusterNodeCounters) -> u64) -> u64 {
            self.nodes.iter().map(|(app, ..)| of(app.shared.counters())).sum()
        }
    }

    fn settings() -> DirectorSettings {
        let rate = Rate::from_gbps(1);
        DirectorSettings { delta: Span::ZERO, ..DirectorSettings::new(NODES, rate, rate) }
    }

    fn packet(from: u16, to: u16, port: u16) -> Vec<u8> {
        let header = EthernetHeader { destination: mac(from, 0), source: CLIENT, kind: EtherType::IPV4 };
        let address = |node: u16| std::net::Ipv4Addr::new(10, 0, node as u8 + 1, 2);
        let ip = Ipv4Header { ttl: 64, ..Ipv4Header::between(address(from), address(to)) };
        [&header.to_bytes()[..], &ports::udp_v4(ip, (port, 53), &[7; 600])].concat()
    }

    #[test]
    fn packets_cross_parsed_once_and_by_at_most_one_relay() {
        // A bucket holds one packet, and they come faster than R/N.
        let mut cluster = Cluster::new(DirectorSettings { depth: Span::from_us(21), ..settings() });
        let mut relays = 0;
        for n in 0..400 {
            cluster.now = Time::ZERO + Span::from_us(u64::from(n));
            let (from, to) = (n % NODES, (n / NODES) % NODES);
            let left = cluster.arrive(from, 0, &packet(from, to, n));
            let [(node, bytes, visited)] = &left[..] else { panic!("{from} -> {to}: {}", left.len()) };
            assert_eq!((*node, &bytes[6..12]), (to, &mac(to, 0).0[..]));
            let sent = packet(from, to, n);
            let mut expected = sent[EthernetHeader::LEN..].to_vec();
            ipv4::decrement_ttl(&mut expected);
            assert_eq!(bytes[EthernetHeader::LEN..], expected, "one hop, and nothing else has changed");
            assert!(*visited <= 3);
            relays += u64::from(*visited == 3);
        }
        assert_eq!(cluster.counted(|one| one.parsed), 400, "headers are parsed once");
        assert_eq!((cluster.counted(|one| one.out), cluster.counted(|one| one.astray)), (400, 0));
        assert_eq!((cluster.counted(|one| one.moved), cluster.counted(|one| one.relayed)), (relays, relays));
        assert!(relays > 0 && cluster.counted(|one| one.direct) > 0);
        assert!(cluster.nodes.iter().all(|(_, pool, _)| pool.free() == 256), "no buffer is lost");
    }

    /// A flow leaves its relay once the link to it carries more than its rate, most of it for another node.
    #[test]
    fn what_a_node_relays_loads_its_links_too() {
        let (depth, delta) = (Span::ZERO, Span::from_ms(100));
        let mut cluster = Cluster::new(DirectorSettings { depth, delta, ..settings() });
        let relay = |cluster: &mut Cluster| {
            let before = [2, 3].map(|node: usize| cluster.nodes[node].0.shared.counters().moved);
            cluster.arrive(0, 0, &packet(0, 1, 5));
            (2..4).find(|node| cluster.nodes[*node].0.shared.counters().moved > before[node - 2]).unwrap()
        };
        let first = relay(&mut cluster);
        assert_eq!(relay(&mut cluster), first);
        // 1 Gb/s is 195 of these frames in 1 ms.
        let mut relayed = packet(1, first as u16, 9);
        let station = ClusterStation { node: first as u8, phase: ClusterPhase::First };
        relayed[..6].copy_from_slice(&station.to_bytes());
        (0..200).for_each(|_| assert_eq!(cluster.arrive(0, 1, &relayed).len(), 1));
        assert_ne!(relay(&mut cluster), first);
    }

    /// The tag of VLAN 0 stays outside; any other makes a frame one of another network.
    #[test]
    fn what_only_says_how_urgent_it_is_crosses_without_its_tag() {
        let mut cluster = Cluster::new(settings());
        let plain = packet(0, 1, 7);
        let expected = cluster.arrive(0, 0, &plain);
        let tagged = |tag: [u8; 4]| [&plain[..12], &tag, &plain[12..]].concat();
        assert_eq!(cluster.arrive(0, 0, &tagged([0x81, 0, 0xe0, 0])), expected);
        assert!(cluster.arrive(0, 0, &tagged([0x81, 0, 0xe0, 5])).is_empty());
        assert_eq!(cluster.nodes[0].2.dropped(DropCause::Unsupported), 1);
    }

    /// The departing packets of each flow, in order.
    fn by_flow(workers: u16) -> std::collections::BTreeMap<u16, Vec<Vec<u8>>> {
        let settings = DirectorSettings { depth: Span::from_us(21), ..settings() };
        let mut clusters: Vec<Cluster> =
            (0..workers).map(|_| Cluster::new(settings.divided(workers))).collect();
        let (queues, mut left) = (FlowQueues::among(workers), std::collections::BTreeMap::new());
        for n in 0..600_u16 {
            let flow = n * 7 % 23;
            let mut bytes = packet(0, 1 + flow % 3, flow);
            // The number of the packet, in an unused field.
            bytes[60..62].copy_from_slice(&n.to_be_bytes());
            let worker = usize::from(queues.queue_of(&bytes));
            clusters[worker].now = Time::ZERO + Span::from_us(n.into());
            for (_, bytes, _) in clusters[worker].arrive(0, 0, &bytes) {
                left.entry(flow).or_insert_with(Vec::new).push(bytes);
            }
        }
        left
    }

    #[test]
    fn each_flow_leaves_one_worker_and_several_alike() {
        let alone = by_flow(1);
        assert_eq!(alone.values().map(Vec::len).sum::<usize>(), 600);
        assert_eq!(by_flow(4), alone);
    }

    #[test]
    fn hostile_frames_crash_nothing_and_keep_no_buffer() {
        let mut cluster = Cluster::new(settings());
        let mut random = weft_core::Random::new(1, weft_core::Purpose::Test, 0);
        for n in 0..60_000_u16 {
            let mut bytes = packet(n % NODES, (n / 3) % NODES, n);
            match random.below(4) {
                0 => bytes.truncate(random.below(bytes.len() as u32) as usize),
                1 => bytes[..6].copy_from_slice(
                    &ClusterStation { node: random.below(8) as u8, phase: ClusterPhase::First }.to_bytes(),
                ),
                2 => (0..bytes.len()).for_each(|at| bytes[at] = random.bits() as u8),
                _ => {}
            }
            for _ in 0..random.below(4) {
                if let Some(byte) = (!bytes.is_empty()).then(|| random.below(bytes.len() as u32)) {
                    bytes[byte as usize] = random.bits() as u8;
                }
            }
            for (_, _, visited) in cluster.arrive(n % NODES, random.below(u32::from(NODES)) as u16, &bytes) {
                assert!(visited <= 3);
            }
        }
        for (_, pool, counters) in &cluster.nodes {
            assert!(pool.free() == 256 && counters.dropped_in_all() > 1000);
        }
    }

    #[test]
    fn a_silent_node_is_avoided_and_used_again() {
        let mut cluster = Cluster::new(DirectorSettings { depth: Span::ZERO, ..settings() });
        // Each of the others hears all nodes but the silent one and, if it is that of a cut cable, its other end.
        let hello = |cluster: &mut Cluster, silent: Option<u8>, cut: Option<(u8, u8)>| {
            let mut out = SendQueues::new(usize::from(NODES));
            for port in 1..NODES {
                let ClusterEnd::Node(node) = ends(0)[usize::from(port)] else { continue };
                let is_cut = |from: u8, to: u8| {
                    cut.is_some_and(|(one, other)| [(one, other), (other, one)].contains(&(from, to)))
                };
                if Some(node) != silent && !is_cut(0, node) {
                    let heard = (0..4).filter(|other| {
                        ![Some(node), silent].contains(&Some(*other)) && !is_cut(node, *other)
                    });
                    let heard = heard.fold(NodeSet::default(), NodeSet::with).to_bytes();
                    let station = ClusterStation { node: 0, phase: ClusterPhase::Second };
                    let header = EthernetHeader {
                        destination: Mac(station.to_bytes()),
                        source: CLIENT,
                        kind: HELLO_TYPE,
                    };
                    let hello = [&header.to_bytes()[..], &[1], &heard, &[0; 13]].concat();
                    assert!(cluster.arrive(0, port, &hello).is_empty());
                }
            }
            let (app, pool, counters) = &mut cluster.nodes[0];
            app.tick(&mut Desk { now: cluster.now, pool, out: &mut out, counters });
            (1..4)
                .map(|port| out.queue(port).drain(..).map(|frame| pool.give(frame.buffer)).count())
                .sum::<usize>()
        };
        // Of twenty packets for node 1, those that nodes 2 and 3 move.
        let moved =
            |cluster: &Cluster| [2, 3].map(|node: usize| cluster.nodes[node].0.shared.counters().moved);
        let sent = |cluster: &mut Cluster| {
            let before = moved(cluster);
            (0..20).for_each(|n| assert!(!cluster.arrive(0, 0, &packet(0, 1, n)).is_empty(), "{n} arrives"));
            [0, 1].map(|n| moved(cluster)[n] - before[n])
        };
        cluster.now = Time::ZERO + Span::from_ms(200);
        assert_eq!(hello(&mut cluster, None, None), 3, "a hello on each inside link");
        assert_eq!(sent(&mut cluster), [10, 10], "half of the packets by each of two relays");
        // The cable between a relay and the output: by the other relay. The node's own cable to the output: by both.
        cluster.now += HELLO;
        hello(&mut cluster, None, Some((2, 1)));
        assert_eq!(sent(&mut cluster), [0, 20]);
        cluster.now += Span::from_ms(101);
        hello(&mut cluster, None, Some((0, 1)));
        assert_eq!(sent(&mut cluster), [10, 10]);
        // What it should relay to the other end of that cable ends here.
        let mut relayed = packet(2, 1, 5);
        relayed[..6].copy_from_slice(&ClusterStation { node: 1, phase: ClusterPhase::First }.to_bytes());
        assert!(cluster.arrive(0, 2, &relayed).is_empty());
        assert_eq!(cluster.nodes[0].2.dropped(DropCause::Unreachable), 1);
        assert_eq!(cluster.nodes[0].0.shared.counters().unreachable, 1);
        cluster.now += Span::from_ms(101);
        hello(&mut cluster, Some(2), None);
        assert_eq!(sent(&mut cluster), [0, 20]);
        assert!(cluster.arrive(0, 0, &packet(0, 2, 9)).is_empty(), "its own port is gone");
        assert_eq!(cluster.nodes[0].2.dropped(DropCause::Unreachable), 2);
        // The kernel of its machine is alive and solicits routers. That is not the node.
        let solicitation = [&[0x33, 0x33, 0, 0, 0, 2][..], &CLIENT.0, &[0x86, 0xdd], &[0; 46]].concat();
        assert!(cluster.arrive(0, 2, &solicitation).is_empty());
        cluster.now += HELLO;
        hello(&mut cluster, Some(2), None);
        assert_eq!(sent(&mut cluster), [0, 20]);
        cluster.now += HELLO;
        hello(&mut cluster, None, None);
        assert_eq!(sent(&mut cluster), [10, 10]);
        // All others fall silent: none has been heard after the others.
        let states = |cluster: &Cluster| cluster.nodes[0].0.shared.others();
        assert_eq!(states(&cluster), [(1, true), (2, true), (3, true)]);
        cluster.now += Span::from_ms(101);
        let (app, pool, counters) = &mut cluster.nodes[0];
        let mut out = SendQueues::new(usize::from(NODES));
        app.tick(&mut Desk { now: cluster.now, pool, out: &mut out, counters });
        assert_eq!(states(&cluster), [(1, false), (2, false), (3, false)]);
    }

    /// The external host is silent: it is asked for once a second, and no packet for it is broadcast.
    #[test]
    fn a_node_asks_for_the_host_outside_and_hears_its_router_solicitation() {
        let ends = vec![(ClusterEnd::Outside(None), mac(0, 0)), (ClusterEnd::Node(1), mac(0, 1))];
        let prefixes =
            ["10.0.1.0/24", "10.0.2.0/24"].map(|prefix| prefix.parse().unwrap()).into_iter().zip(0..);
        let prefixes: Vec<(IpPrefix, u16)> = prefixes.collect();
        let settings = DirectorSettings { nodes: 2, ..settings() };
        let node = Arc::new(ClusterNode::new((0, 1), settings, ends, &prefixes).unwrap());
        let (mut app, mut pool) = (Clustering::new(node, 0), FramePool::new(64));
        let mut counters = RouterCounters::default();
        let mut handle = |port: u16, bytes: &[u8]| {
            let mut out = SendQueues::new(2);
            let mut batch = FrameBatch::default();
            batch.push(pool.store(bytes, port).unwrap());
            let now = Time::ZERO;
            app.handle(&mut Desk { now, pool: &mut pool, out: &mut out, counters: &mut counters }, &batch);
            let sent: Vec<Frame> = out.queue(0).drain(..).collect();
            sent.into_iter()
                .map(|frame| {
                    let bytes = pool.bytes(frame).to_vec();
                    pool.give(frame.buffer);
                    bytes
                })
                .collect::<Vec<_>>()
        };
        let inside = |n: u16| {
            let mut bytes = packet(1, 0, n);
            bytes[..6].copy_from_slice(&ClusterStation { node: 0, phase: ClusterPhase::Second }.to_bytes());
            bytes
        };
        let asked = handle(1, &inside(1));
        let question = ArpMessage::parse(EthernetFrame::parse(&asked[0]).unwrap().payload).unwrap();
        assert_eq!((asked.len(), question.target.1), (1, [10, 0, 1, 2].into()));
        assert!(handle(1, &inside(2)).is_empty());
        let solicitation = [&[0x33, 0x33, 0, 0, 0, 2][..], &CLIENT.0, &[0x86, 0xdd], &[0; 46]].concat();
        let of_its_own = [&solicitation[..6], &mac(0, 0).0, &solicitation[12..]].concat();
        assert!(handle(0, &of_its_own).is_empty(), "the port is not at its own other end");
        let sent = handle(0, &solicitation);
        assert!(sent.len() == 2 && sent.iter().all(|frame| frame[..6] == CLIENT.0), "{sent:?}");
        assert_eq!(pool.free(), 64);
    }

    #[test]
    fn what_is_not_of_the_cluster_goes_nowhere_inside() {
        let mut cluster = Cluster::new(settings());
        let addressed = |station: [u8; 6]| [&station[..], &CLIENT.0, &[8, 0], &[0; 46]].concat();
        let direct_for_another = ClusterStation { node: 3, phase: ClusterPhase::Second }.to_bytes();
        for station in [direct_for_another, mac(1, 2).0, [0xff; 6]] {
            assert!(cluster.arrive(1, 1, &addressed(station)).is_empty());
        }
        assert!(cluster.arrive(1, 1, &[1, 2, 3]).is_empty());
        // A packet for a node that does not exist.
        let beyond = ClusterStation { node: 200, phase: ClusterPhase::First }.to_bytes();
        assert!(cluster.arrive(1, 1, &addressed(beyond)).is_empty());
        assert_eq!((cluster.counted(|one| one.astray), cluster.counted(|one| one.out)), (1, 0));
        assert_eq!(cluster.nodes[1].2.dropped_in_all(), 5);
        assert_eq!(cluster.nodes[1].1.free(), 256);
    }
}
