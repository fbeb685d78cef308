//! The output side of a switch: queues per port, what is in service, and the counters of an operator.

use weft_core::{Bytes, Headers, PacketId, PortId, Queue, Time};

use crate::share::Occupancy;

/// One queue of a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassQueue {
    /// The waiting packets; not the one in service.
    pub packets: Queue,
    /// Wire bytes charged to the queue, the packet in service included.
    pub bytes: u64,
}

/// What has happened at a port so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortCounters {
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Greatest number of bytes held.
    pub peak: Bytes,
    /// Integral of the bytes held over time, in byte-picoseconds.
    pub byte_time: u128,
}

/// A packet on its way out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InService {
    /// The queue it came from.
    pub(crate) queue: u8,
    /// Its wire bytes.
    pub(crate) wire: u16,
}

/// The state of one port beside its queues.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    pub(crate) in_service: Option<InService>,
    pub(crate) up: bool,
    /// Bytes in all queues, the packet in service included.
    pub(crate) bytes: u64,
    /// Packets in all queues, the packet in service included.
    pub(crate) packets: u64,
    counted_until: Time,
    pub(crate) counters: PortCounters,
}

/// All ports of a switch and their queues.
#[derive(Clone, Debug)]
pub(crate) struct Ports {
    ports: Vec<Port>,
    queues: Vec<ClassQueue>,
    per_port: usize,
    /// Bytes in the whole switch.
    pub(crate) total: u64,
}

/// A queue with its port: found once for each packet, and then at hand.
pub(crate) struct Place<'a> {
    pub(crate) port: &'a mut Port,
    pub(crate) queue: &'a mut ClassQueue,
    total: &'a mut u64,
}

impl Ports {
    pub(crate) fn new(ports: usize, per_port: usize) -> Ports {
        let port = Port {
            in_service: None,
            up: true,
            bytes: 0,
            packets: 0,
            counted_until: Time::ZERO,
            counters: PortCounters::default(),
        };
        Ports {
            ports: vec![port; ports],
            queues: vec![ClassQueue::default(); ports * per_port],
            per_port,
            total: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    #[inline]
    pub(crate) fn slot(&self, port: PortId, queue: usize) -> usize {
        port.index() * self.per_port + queue
    }

    #[inline]
    pub(crate) fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()]
    }

    #[inline]
    pub(crate) fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port.index()]
    }

    #[inline]
    pub(crate) fn queues(&self, port: PortId) -> &[ClassQueue] {
        let first = self.slot(port, 0);
        &self.queues[first..first + self.per_port]
    }

    /// The queue in `slot`, which belongs to `port`.
    #[inline]
    pub(crate) fn place(&mut self, port: PortId, slot: usize) -> Place<'_> {
        Place { port: &mut self.ports[port.index()], queue: &mut self.queues[slot], total: &mut self.total }
    }

    /// The counters of a port with the time integral up to `now`.
    pub(crate) fn counters(&mut self, now: Time, port: PortId) -> PortCounters {
        let port = &mut self.ports[port.index()];
        port.count_until(now);
        port.counters
    }
}

impl Place<'_> {
    /// What a sharing rule may look at when a packet of `wire` bytes wants in.
    #[inline]
    pub(crate) fn occupancy(&self, wire: u16) -> Occupancy {
        Occupancy {
            packet: u64::from(wire),
            queue: self.queue.bytes,
            port: self.port.bytes,
            total: *self.total,
        }
    }

    /// Charges and queues a packet.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, packet: PacketId, headers: &mut Headers) {
        let wire = u64::from(headers.get(packet).wire);
        self.queue.packets.push(packet, headers);
        self.queue.bytes += wire;
        *self.total += wire;
        self.port.packets += 1;
        self.port.count_until(now);
        self.port.bytes += wire;
        self.port.counters.peak = self.port.counters.peak.max(Bytes(self.port.bytes));
    }

    /// Takes the head of the queue; its bytes stay charged.
    #[inline]
    pub(crate) fn pop(&mut self, headers: &Headers) -> PacketId {
        self.queue.packets.pop(headers).expect("the scheduler picks a queue with packets")
    }

    /// Gives back the bytes of a packet of the queue.
    #[inline]
    pub(crate) fn release(&mut self, now: Time, wire: u16) {
        let wire = u64::from(wire);
        self.queue.bytes -= wire;
        *self.total -= wire;
        self.port.packets -= 1;
        self.port.count_until(now);
        self.port.bytes -= wire;
    }
}

impl Port {
    /// Keeps the time integral; the bytes held are about to change.
    #[inline]
    fn count_until(&mut self, now: Time) {
        let elapsed = now.since(self.counted_until).0;
        self.counters.byte_time += u128::from(self.bytes) * u128::from(elapsed);
        self.counted_until = now;
    }
}
