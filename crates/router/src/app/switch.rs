//! The switch of the simulator as an application: its balancer, queues, marks and drops, on real packets.
//!
//! Host n of the fabric has the address 10.0.0.0 + n, which is what the simulator hashes. Every port is one cable:
//! the MAC address at its other end is that of the last frame from there, and is asked for until there is one.
//!
//! ```text
//! worker: frame -> header -> engine ─┐ output port: admit, mark, queue, schedule ┌─> rewrite, mark, send
//! worker: frame -> header -> engine ─┘ (locked for one packet at a time)         └─> rewrite, mark, send
//! ```

use std::net::Ipv4Addr;
use std::sync::Arc;

use weft_core::{Class, Ecn, Header, HostId, PacketKind, PortId, Time};
use weft_packet::{
    ArpMessage, ArpOperation, EtherType, EthernetFrame, EthernetHeader, Ipv4Packet, Mac, ipv4, ports,
};

use crate::app::station::{
    FarEnd, LEAST_FRAME, WaitingFrames, WireEnd, answer, consume, drop_frame, untagged,
};
use crate::app::{Application, Desk};
use crate::counters::DropCause;
use crate::driver::SwitchOutcome;
use crate::interface::longest_frame;
use crate::pool::{Frame, FrameBatch};

mod engine;
mod fitness;
mod shared;

pub use fitness::not_on_the_wire;
pub use shared::{SharedSwitch, SwitchShape};

use engine::WorkerEngine;

/// The address of host 0.
const FIRST_HOST: u32 = 0x0a00_0000;
/// The overhead of a packet on the wire: FCS, preamble and gap.
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
    /// The MAC address at the other end: that of the last frame.
    far: FarEnd,
    /// The longest frame that its link carries, without FCS.
    longest: u16,
}

impl SwitchPort {
    /// A port with the MAC address at its other end; without one, packets wait until it has been found.
    #[must_use]
    pub fn new(number: PortId, mac: Mac, host: Option<HostId>, far: Option<Mac>) -> SwitchPort {
        SwitchPort { number, mac, host, far: FarEnd::new(far), longest: u16::MAX }
    }

    /// Drops packets longer than this MTU as they leave.
    #[must_use]
    pub fn with_mtu(self, mtu: u16) -> SwitchPort {
        SwitchPort { longest: longest_frame(mtu), ..self }
    }
}

impl SharedSwitch {
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
        Some(header.with_protocol(packet.protocol))
    }
}

/// The application of one worker.
pub struct Switching {
    shared: Arc<SharedSwitch>,
    worker: u16,
    /// The engines, if the switch is in parts.
    engine: Option<WorkerEngine>,
    /// Frames of this worker inside the switch.
    inside: usize,
    /// Frames that have left the switch and wait for the address at the other end, by device.
    waiting: Box<[WaitingFrames]>,
    outcomes: Vec<SwitchOutcome>,
}

/// What to do with a frame.
enum Wanted {
    Switching(Header),
    Answer(ArpMessage),
    /// The frame only said who is at the other end; nothing is left to do.
    Nothing,
    Drop(DropCause),
}

impl Switching {
    /// The application of worker number `worker`.
    ///
    /// # Panics
    /// The switch has already been given to as many workers as it was built for.
    #[must_use]
    pub fn new(shared: Arc<SharedSwitch>, worker: u16) -> Switching {
        let engine = shared.engine(worker);
        let waiting = shared.ports().iter().map(|_| WaitingFrames::default()).collect();
        Switching { shared, worker, engine, inside: 0, waiting, outcomes: Vec::new() }
    }

    /// Passes a frame to the switch.
    fn switch(&mut self, desk: &mut Desk<'_>, frame: Frame, mut header: Header) {
        let (now, held) = (desk.now, (self.worker, frame));
        let from = self.shared.ports()[usize::from(frame.port)].number;
        self.inside += 1;
        match &mut self.engine {
            None => self.shared.receive(now, from, held, header),
            Some(engine) => match engine.decide(now, from, &mut header, self.shared.links()) {
                Some(port) => self.shared.enqueue(now, port, held, header),
                None => {
                    self.inside -= 1;
                    self.shared.note_unrouted();
                    drop_frame(desk, frame, DropCause::Switch);
                }
            },
        }
    }

    fn wanted(&self, bytes: &[u8], port: u16) -> Wanted {
        let Ok(frame) = EthernetFrame::parse(bytes) else { return Wanted::Drop(DropCause::Malformed) };
        let port = &self.shared.ports()[usize::from(port)];
        if frame.source.is_multicast() {
            return Wanted::Drop(DropCause::Malformed);
        }
        if frame.destination != port.mac && !frame.destination.is_multicast() {
            return Wanted::Drop(DropCause::OtherStation);
        }
        if frame.names_vlan() {
            return Wanted::Drop(DropCause::Unsupported);
        }
        port.far.hear(frame.source, port.mac);
        match frame.kind {
            _ if frame.destination != port.mac && frame.destination != Mac::BROADCAST => {
                Wanted::Drop(DropCause::Multicast)
            }
            // RFC 1812, section 5.3.4.
            EtherType::IPV4 if frame.destination != port.mac => Wanted::Drop(DropCause::Multicast),
            EtherType::IPV4 => self.wanted_packet(frame.payload, bytes.len() as u16),
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
        if asks { Wanted::Answer(message.answer(port.mac)) } else { Wanted::Nothing }
    }

    /// Sends the frames that wait for an address, if it has been found, or asks again.
    fn look(&mut self, desk: &mut Desk<'_>) {
        for ((port, own), waiting) in (0..).zip(self.shared.ports()).zip(&mut self.waiting) {
            waiting.look(desk, WireEnd { port, mac: own.mac, far: &own.far });
        }
    }

    /// Sends or drops this worker's frames as decided.
    fn collect(&mut self, desk: &mut Desk<'_>) {
        if self.glance().is_some() {
            self.look(desk);
        }
        self.shared.take_outcomes(self.worker, &mut self.outcomes);
        let mut outcomes = std::mem::take(&mut self.outcomes);
        self.inside -= outcomes.len();
        for outcome in outcomes.drain(..) {
            self.carry_out(desk, outcome);
        }
        self.outcomes = outcomes;
    }

    /// When to check again for frames that wait for an address.
    fn glance(&self) -> Option<Time> {
        self.waiting.iter().filter_map(WaitingFrames::glance).min()
    }

    fn carry_out(&mut self, desk: &mut Desk<'_>, outcome: SwitchOutcome) {
        match outcome {
            SwitchOutcome::Sent { port, frame, marked } => {
                let device = self.shared.device_of(port);
                let own = &self.shared.ports()[usize::from(device)];
                if frame.length > own.longest {
                    return drop_frame(desk, frame, DropCause::TooBig);
                }
                let bytes = desk.pool.bytes_mut(frame);
                bytes[6..12].copy_from_slice(&own.mac.0);
                let packet = &mut bytes[EthernetHeader::LEN..];
                ipv4::decrement_ttl(packet);
                if marked {
                    ipv4::mark_congestion(packet);
                }
                let end = WireEnd { port: device, mac: own.mac, far: &own.far };
                self.waiting[usize::from(device)].send(desk, end, frame);
            }
            SwitchOutcome::Dropped(frame) => drop_frame(desk, frame, DropCause::Switch),
        }
    }
}

impl Application for Switching {
    fn handle(&mut self, desk: &mut Desk<'_>, batch: &FrameBatch) {
        self.shared.advance(desk.now);
        for frame in batch.frames().iter().copied() {
            let frame = untagged(desk, frame);
            match self.wanted(desk.pool.bytes(frame), frame.port) {
                Wanted::Switching(header) => self.switch(desk, frame, header),
                Wanted::Answer(message) => answer(desk, frame, &message),
                Wanted::Nothing => consume(desk, frame),
                Wanted::Drop(cause) => drop_frame(desk, frame, cause),
            }
        }
        self.collect(desk);
    }

    fn tick(&mut self, desk: &mut Desk<'_>) {
        self.shared.advance(desk.now);
        self.collect(desk);
    }

    fn end(&mut self, desk: &mut Desk<'_>) {
        self.waiting.iter_mut().for_each(|waiting| waiting.abandon(desk));
        desk.counters.drop(DropCause::Ended, std::mem::take(&mut self.inside) as u64);
    }

    fn next_tick(&self) -> Option<Time> {
        let due = match self.inside {
            0 => None,
            _ if self.shared.has_outcomes(self.worker) => Some(Time::ZERO),
            _ => self.shared.next_due(),
        };
        due.into_iter().chain(self.glance()).min()
    }
}
