//! The switch of the simulator as an application: its balancer, queues, marks and drops, on real packets.
//!
//! Host n of the fabric has the address 10.0.0.0 + n, which is what the simulator hashes. Every port is one cable: the
//! station at its other end is the sender of the last frame.
//!
//! ```text
//! worker: frame -> header ─┐                                   ┌─> rewrite, mark, send
//! worker: frame -> header ─┴─> lock: the switch, in turn, with its clock ─┴─> rewrite, mark, send
//! ```

use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::{Class, Ecn, Header, HostId, PacketKind, PortId, Time};
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetFrame, EthernetHeader, Ipv4Packet, Mac, ipv4, ports,
};

use crate::app::{Application, Desk};
use crate::counters::DropCause;
use crate::driver::{SwitchDriver, SwitchOutcome};
use crate::pool::{Frame, FrameBatch};

/// The address of host 0.
const FIRST_HOST: u32 = 0x0a00_0000;
/// Minimum bytes of a frame without FCS, and the overhead of a packet on the wire: FCS, preamble and gap.
const LEAST_FRAME: u16 = 60;
const BESIDES: u16 = 24;
/// Maximum number of hosts: host numbers have the 24 low bits of an address.
pub const MOST_HOSTS: u32 = 1 << 24;

/// The class of each differentiated services code point.
pub type ClassOfCodePoint = [Class; 64];

/// One end of a cable.
#[derive(Debug)]
pub struct SwitchPort {
    /// Its number on the switch.
    pub number: PortId,
    /// Its own station address.
    pub mac: Mac,
    /// The host at the other end, if it is one.
    pub host: Option<HostId>,
    /// The station at the other end: the sender of the last frame.
    station: AtomicU64,
}

impl SwitchPort {
    /// A port with the station at its other end; without one, frames are broadcast until the first frame arrives.
    #[must_use]
    pub fn new(number: PortId, mac: Mac, host: Option<HostId>, station: Option<Mac>) -> SwitchPort {
        SwitchPort { number, mac, host, station: AtomicU64::new(as_word(station.unwrap_or(Mac::BROADCAST))) }
    }

    fn learn(&self, station: Mac) {
        let station = as_word(station);
        if self.station.load(Ordering::Relaxed) != station {
            self.station.store(station, Ordering::Relaxed);
        }
    }

    /// The station at the other end; broadcast while it is unknown.
    fn station(&self) -> Mac {
        let [.., a, b, c, d, e, f] = self.station.load(Ordering::Relaxed).to_be_bytes();
        Mac([a, b, c, d, e, f])
    }
}

fn as_word(Mac([a, b, c, d, e, f]): Mac) -> u64 {
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

/// A switch that several workers share.
pub struct SharedSwitch {
    driver: Mutex<SwitchDriver>,
    /// The ports, in the order of the workers' back ends.
    ports: Box<[SwitchPort]>,
    /// For each port of the switch, the number of its back end.
    device_of: Box<[u16]>,
    hosts: u32,
    class_of: ClassOfCodePoint,
    /// When a worker must look again, picoseconds.
    next_look: AtomicU64,
}

impl SharedSwitch {
    /// A switch in a fabric of `hosts` hosts, at most [`MOST_HOSTS`]. Its ports are in the order of the workers' back
    /// ends; the links of all others are down.
    #[must_use]
    pub fn new(
        mut driver: SwitchDriver,
        ports: Vec<SwitchPort>,
        hosts: u32,
        class_of: ClassOfCodePoint,
    ) -> SharedSwitch {
        let device = |number: u16| ports.iter().position(|port| port.number.0 == number);
        let device_of: Box<[_]> = (0..driver.ports() as u16).map(device).collect();
        for (number, _) in device_of.iter().enumerate().filter(|(_, device)| device.is_none()) {
            driver.set_port(Time::ZERO, PortId(number as u16), false);
        }
        let device_of = device_of.iter().map(|device| device.unwrap_or_default() as u16).collect();
        let next_look = AtomicU64::new(u64::MAX);
        SharedSwitch {
            driver: Mutex::new(driver),
            ports: ports.into(),
            device_of,
            hosts,
            class_of,
            next_look,
        }
    }

    /// The switch itself; workers wait while it is locked.
    pub fn driver(&self) -> MutexGuard<'_, SwitchDriver> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The host with this address.
    fn host(&self, address: Ipv4Addr) -> Option<HostId> {
        let number = u32::from(address).checked_sub(FIRST_HOST)?;
        (number < self.hosts).then_some(HostId(number))
    }

    /// The header of a packet, as the switch reads it, in a frame of this length.
    fn header(&self, packet: &Ipv4Packet<'_>, length: u16) -> Option<Header> {
        let (source, destination) = (self.host(packet.source)?, self.host(packet.destination)?);
        let (from, to) = ports::of_v4(packet).unwrap_or((0, 0));
        let mut header = Header {
            source,
            destination,
            ports: u32::from(from) << 16 | u32::from(to),
            wire: length.max(LEAST_FRAME) + BESIDES,
            kind: PacketKind::Data,
            class: self.class_of[usize::from(packet.traffic_class >> 2)],
            ..Header::default()
        };
        header.marks.ecn = match packet.traffic_class & 3 {
            0 => Ecn::NotCapable,
            3 => Ecn::Marked,
            _ => Ecn::Capable,
        };
        Some(header)
    }
}

/// The application of one worker.
pub struct Switching {
    shared: Arc<SharedSwitch>,
    worker: u16,
    arrivals: Vec<(Frame, Header)>,
    outcomes: Vec<SwitchOutcome>,
}

/// What to do with a frame.
enum Wanted {
    Switching(Header),
    Answer(ArpMessage),
    Drop(DropCause),
}

impl Switching {
    /// The application of worker number `worker`.
    #[must_use]
    pub fn new(shared: Arc<SharedSwitch>, worker: u16) -> Switching {
        Switching { shared, worker, arrivals: Vec::new(), outcomes: Vec::new() }
    }

    fn wanted(&self, bytes: &[u8], port: u16) -> Wanted {
        let Ok(frame) = EthernetFrame::parse(bytes) else { return Wanted::Drop(DropCause::Malformed) };
        let port = &self.shared.ports[usize::from(port)];
        if frame.source.is_multicast() {
            return Wanted::Drop(DropCause::Malformed);
        }
        if frame.destination != port.mac && frame.destination != Mac::BROADCAST {
            let several = frame.destination.is_multicast();
            return Wanted::Drop(if several { DropCause::Multicast } else { DropCause::OtherStation });
        }
        port.learn(frame.source);
        match frame.kind {
            EtherType::IPV4 if frame.tags == [None; 2] => {
                self.wanted_packet(frame.payload, bytes.len() as u16)
            }
            EtherType::ARP => self.wanted_address(frame.payload, port),
            _ => Wanted::Drop(DropCause::Unsupported),
        }
    }

    fn wanted_packet(&self, bytes: &[u8], length: u16) -> Wanted {
        match Ipv4Packet::parse(bytes) {
            Err(_) => Wanted::Drop(DropCause::Malformed),
            Ok(packet) if packet.ttl <= 1 => Wanted::Drop(DropCause::Expired),
            Ok(packet) => {
                let header = self.shared.header(&packet, length);
                header.map_or(Wanted::Drop(DropCause::NoRoute), Wanted::Switching)
            }
        }
    }

    /// The switch answers for all hosts, except for the host that may be asking about itself.
    fn wanted_address(&self, bytes: &[u8], port: &SwitchPort) -> Wanted {
        let Ok(message) = ArpMessage::parse(bytes) else { return Wanted::Drop(DropCause::Malformed) };
        let host = self.shared.host(message.target.1);
        let asks = message.operation == ArpOperation::Request && host.is_some() && host != port.host;
        if asks { Wanted::Answer(message.answer(port.mac)) } else { Wanted::Drop(DropCause::Local) }
    }

    /// Calls `act` with the switch; then sends or drops this worker's frames as decided.
    fn with_switch(&mut self, desk: &mut Desk<'_>, act: impl FnOnce(&mut SwitchDriver)) {
        let shared = Arc::clone(&self.shared);
        let mut driver = shared.driver();
        act(&mut driver);
        std::mem::swap(driver.outcomes(self.worker), &mut self.outcomes);
        let next = driver.next_look().map_or(u64::MAX, |time| time.0);
        shared.next_look.store(next, Ordering::Release);
        drop(driver);
        for outcome in std::mem::take(&mut self.outcomes) {
            self.carry_out(desk, outcome);
        }
    }

    fn carry_out(&self, desk: &mut Desk<'_>, outcome: SwitchOutcome) {
        match outcome {
            SwitchOutcome::Sent { port, frame, marked } => {
                let device = self.shared.device_of[port.index()];
                let (own, bytes) = (&self.shared.ports[usize::from(device)], desk.pool.bytes_mut(frame));
                bytes[..6].copy_from_slice(&own.station().0);
                bytes[6..12].copy_from_slice(&own.mac.0);
                let packet = &mut bytes[EthernetHeader::LEN..];
                ipv4::decrement_ttl(packet);
                if marked {
                    ipv4::mark_congestion(packet);
                }
                desk.out.push(device, frame);
            }
            SwitchOutcome::Dropped(frame) => drop_frame(desk, frame, DropCause::Switch),
        }
    }
}

fn drop_frame(desk: &mut Desk<'_>, frame: Frame, cause: DropCause) {
    desk.counters.drop(cause, 1);
    desk.pool.give(frame.buffer);
}

/// Sends the answer in the buffer of the request.
fn answer(desk: &mut Desk<'_>, frame: Frame, message: &ArpMessage) {
    let header =
        EthernetHeader { destination: message.target.0, source: message.sender.0, kind: EtherType::ARP };
    let bytes = desk.pool.buffer(frame.buffer);
    bytes[..EthernetHeader::LEN].copy_from_slice(&header.to_bytes());
    bytes[EthernetHeader::LEN..][..ArpMessage::LEN].copy_from_slice(&message.to_bytes());
    bytes[EthernetHeader::LEN + ArpMessage::LEN..usize::from(LEAST_FRAME)].fill(0);
    desk.counters.consumed += 1;
    desk.counters.made += 1;
    desk.out.push(frame.port, Frame { length: LEAST_FRAME, ..frame });
}

impl Application for Switching {
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch) {
        let mut arrivals = std::mem::take(&mut self.arrivals);
        for frame in batch.frames().iter().copied() {
            match self.wanted(desk.pool.bytes(frame), frame.port) {
                Wanted::Switching(header) => arrivals.push((frame, header)),
                Wanted::Answer(message) => answer(desk, frame, &message),
                Wanted::Drop(cause) => drop_frame(desk, frame, cause),
            }
        }
        let (now, worker, shared) = (desk.now, self.worker, Arc::clone(&self.shared));
        self.with_switch(desk, |driver| {
            for (frame, header) in arrivals.drain(..) {
                let from = shared.ports[usize::from(frame.port)].number;
                driver.receive(now, from, (worker, frame), header);
            }
        });
        self.arrivals = arrivals;
    }

    fn tick(&mut self, desk: &mut Desk<'_>) {
        let now = desk.now;
        self.with_switch(desk, |driver| driver.advance(now));
    }

    fn next_tick(&self) -> Option<Time> {
        Some(Time(self.shared.next_look.load(Ordering::Acquire))).filter(|time| time.0 < u64::MAX)
    }
}
