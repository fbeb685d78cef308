//! A router with two ports on which the test lays frames by hand.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use weft_core::{Span, Time};
use weft_esp::{EspCipher, InboundAssociation, OutboundAssociation};
use weft_fib::IpPrefix;
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetHeader, Ipv4Header, Ipv6Packet, Mac, NeighbourMessage, ports,
};
use weft_router::app::route::{ErrorRate, Routing};
use weft_router::clock::RouterClock;
use weft_router::control::{Control, NextHop};
use weft_router::neighbours::NeighbourLimits;
use weft_router::tunnel::{Tunnel, Tunnels};
use weft_router::{Backend, Frame, FrameBatch, FramePool, Interface, RouterCounters, RouterWorker};

/// The router's stations.
pub(crate) const MACS: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 2, 1])];
/// The stations at its ports, with addresses 10.x.0.2 and 2001:db8:x::2.
pub(crate) const STATIONS: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 2]), Mac([2, 0, 0, 0, 2, 2])];

/// The index of packets that the station at port 0 seals for the router; those sent in UDP have the next one.
pub(crate) const SPI: u32 = 301;

/// The keys of the tunnels to that station, the second in UDP.
pub(crate) fn cipher() -> EspCipher {
    EspCipher::aes_128_gcm(&[7; 20])
}

type Shelf = Arc<Mutex<VecDeque<Vec<u8>>>>;

/// A port: frames are taken from one shelf and laid on another.
struct ShelfPort {
    port: u16,
    from: Shelf,
    to: Shelf,
}

impl Backend for ShelfPort {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let mut from = self.from.lock().unwrap();
        while batch.room() > 0 {
            let Some(bytes) = from.pop_front() else { break };
            assert!(batch.push(pool.store(&bytes, self.port).unwrap()));
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        for frame in frames.drain(..) {
            self.to.lock().unwrap().push_back(pool.bytes(frame).to_vec());
            pool.give(frame.buffer);
        }
        Ok(0)
    }
}

/// A router under test. Its first port carries 1500 bytes, the second 1400.
pub(crate) struct Laboratory {
    worker: RouterWorker<Routing>,
    control: Arc<Control>,
    arriving: [Shelf; 2],
    leaving: [Shelf; 2],
    now: Time,
}

impl Laboratory {
    /// Ends the router; returns what its worker has counted.
    pub(crate) fn end(mut self) -> RouterCounters {
        let published = Mutex::default();
        self.worker.run(RouterClock::start(), &AtomicBool::new(true), &published).unwrap();
        published.into_inner().unwrap()
    }

    pub(crate) fn new() -> Laboratory {
        Laboratory::with_buffers(512)
    }

    pub(crate) fn with_buffers(buffers: u32) -> Laboratory {
        Laboratory::built(buffers, false)
    }

    /// Beside a kernel that has the same addresses.
    pub(crate) fn beside_kernel() -> Laboratory {
        Laboratory::built(512, true)
    }

    fn built(buffers: u32, beside_kernel: bool) -> Laboratory {
        let port = |n: usize, mtu| Interface {
            name: format!("port{n}"),
            mac: MACS[n],
            mtu,
            addresses: vec![
                (format!("10.{}.0.1", n + 1).parse().unwrap(), 24),
                (format!("2001:db8:{}::1", n + 1).parse().unwrap(), 64),
            ],
        };
        let interfaces: Arc<[Interface]> = [port(0, 1500), port(1, 1400)].into();
        let control = Arc::new(Control::new(Arc::clone(&interfaces), NeighbourLimits::default()).unwrap());
        let (arriving, leaving) = (<[Shelf; 2]>::default(), <[Shelf; 2]>::default());
        let shelf = |n: usize| {
            let (from, to) = (Arc::clone(&arriving[n]), Arc::clone(&leaving[n]));
            Box::new(ShelfPort { port: n as u16, from, to }) as Box<dyn Backend>
        };
        let tunnel = |udp: Option<(u16, u16)>, spi| Tunnel {
            name: "tunnel".to_owned(),
            ends: ("10.1.0.1".parse().unwrap(), "10.1.0.2".parse().unwrap()),
            udp,
            outbound: OutboundAssociation::new(300, cipher(), 0),
            inbound: InboundAssociation::new(spi, cipher(), 1024),
        };
        let tunnels = Tunnels::new(vec![tunnel(None, SPI), tunnel(Some((4500, 4500)), SPI + 1)]);
        let app = Routing::new(Arc::clone(&control), ErrorRate::default()).with_tunnels(Arc::new(tunnels));
        let app = if beside_kernel { app.beside_kernel() } else { app };
        let worker = RouterWorker::new(vec![shelf(0), shelf(1)], FramePool::new(buffers), app);
        Laboratory { worker, control, arriving, leaving, now: Time::ZERO }
    }

    /// Both stations have announced themselves.
    pub(crate) fn with_stations(mut self) -> Laboratory {
        for (n, mac) in STATIONS.iter().copied().enumerate() {
            let address = |host: u8| [10, n as u8 + 1, 0, host].into();
            let question = ArpMessage {
                operation: ArpOperation::Request,
                sender: (mac, address(2)),
                target: (Mac([0; 6]), address(1)),
            };
            let header = EthernetHeader { destination: Mac::BROADCAST, source: mac, kind: EtherType::ARP };
            self.receive(n, &[&header.to_bytes()[..], &question.to_bytes()].concat());
            let own = format!("2001:db8:{}::1", n + 1).parse().unwrap();
            let from = format!("2001:db8:{}::2", n + 1).parse().unwrap();
            self.receive(n, &frame_v6(n, &NeighbourMessage::solicit(own, (mac, from))));
            assert_eq!(self.sent(n).len(), 2);
        }
        self
    }

    pub(crate) fn receive(&mut self, port: usize, frame: &[u8]) {
        self.receive_all(port, &[frame.to_vec()]);
    }

    pub(crate) fn receive_all(&mut self, port: usize, frames: &[Vec<u8>]) {
        self.arriving[port].lock().unwrap().extend(frames.iter().cloned());
        while self.worker.poll(self.now).unwrap() > 0 {}
    }

    pub(crate) fn advance(&mut self, span: Span) {
        self.now += span;
        self.worker.poll(self.now).unwrap();
    }

    pub(crate) fn sent(&mut self, port: usize) -> Vec<Vec<u8>> {
        self.leaving[port].lock().unwrap().drain(..).collect()
    }

    pub(crate) fn counters(&self) -> &RouterCounters {
        self.worker.counters()
    }

    pub(crate) fn inside(&self) -> i64 {
        self.worker.counters().inside()
    }

    pub(crate) fn free_buffers(&self) -> usize {
        self.worker.free_buffers()
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    pub(crate) fn shared_control(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }

    /// Number of routes.
    pub(crate) fn routes(&self) -> usize {
        self.control.read(|state| state.routes().len())
    }

    pub(crate) fn route(&mut self, prefix: &str, next: NextHop) {
        let prefix: IpPrefix = prefix.parse().unwrap();
        self.control.change(|state| state.set_route(prefix, next)).unwrap();
    }

    pub(crate) fn arp(&self, message: &ArpMessage) -> Vec<u8> {
        let target = message.target.0;
        let destination = if target == Mac::default() { Mac::BROADCAST } else { target };
        let header = EthernetHeader { destination, source: message.sender.0, kind: EtherType::ARP };
        [&header.to_bytes()[..], &message.to_bytes()].concat()
    }
}

/// An IPv4 packet in a frame from the station of a port to the router.
pub(crate) fn frame_v4(port: usize, packet: &[u8]) -> Vec<u8> {
    let header = EthernetHeader { destination: MACS[port], source: STATIONS[port], kind: EtherType::IPV4 };
    [&header.to_bytes()[..], packet].concat()
}

/// The same for IPv6; a group's packet goes to its own address.
pub(crate) fn frame_v6(port: usize, packet: &[u8]) -> Vec<u8> {
    let to = Ipv6Packet::parse(packet).unwrap().destination;
    let destination = if to.is_multicast() { weft_packet::neighbour::multicast_mac(to) } else { MACS[port] };
    let header = EthernetHeader { destination, source: STATIONS[port], kind: EtherType::IPV6 };
    [&header.to_bytes()[..], packet].concat()
}

/// A datagram from the station 10.1.0.2 at port 0.
pub(crate) fn udp_to(destination: &str, ttl: u8, data: &[u8]) -> Vec<u8> {
    let header =
        Ipv4Header { ttl, ..Ipv4Header::between([10, 1, 0, 2].into(), destination.parse().unwrap()) };
    frame_v4(0, &ports::udp_v4(header, (4000, 53), data))
}
