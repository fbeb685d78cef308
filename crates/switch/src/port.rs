//! The output side of a switch: queues per port, what is in service, and the counters of an operator.

use weft_core::{Bytes, Headers, PacketId, PortId, Queue, Time};

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
struct InService {
    queue: u8,
    wire: u16,
}

/// The state of one port beside its queues.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    in_service: Option<InService>,
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

    pub(crate) fn slot(&self, port: PortId, queue: usize) -> usize {
        port.index() * self.per_port + queue
    }

    pub(crate) fn port(&self, port: PortId) -> &Port {
        &self.ports[port.index()]
    }

    pub(crate) fn port_mut(&mut self, port: PortId) -> &mut Port {
        &mut self.ports[port.index()]
    }

    pub(crate) fn queues(&self, port: PortId) -> &[ClassQueue] {
        let first = self.slot(port, 0);
        &self.queues[first..first + self.per_port]
    }

    pub(crate) fn queue_bytes(&self, slot: usize) -> u64 {
        self.queues[slot].bytes
    }

    pub(crate) fn is_sending(&self, port: PortId) -> bool {
        self.ports[port.index()].in_service.is_some()
    }

    /// Charges and queues a packet.
    pub(crate) fn push(&mut self, now: Time, at: (PortId, usize), packet: PacketId, headers: &mut Headers) {
        let (port, queue) = at;
        let wire = u64::from(headers.get(packet).wire);
        let slot = self.slot(port, queue);
        self.queues[slot].packets.push(packet, headers);
        self.queues[slot].bytes += wire;
        self.total += wire;
        self.ports[port.index()].packets += 1;
        self.ports[port.index()].hold(now, |bytes| bytes + wire);
    }

    /// Takes the head of a queue; its bytes stay charged.
    pub(crate) fn pop(&mut self, slot: usize, headers: &Headers) -> PacketId {
        self.queues[slot].packets.pop(headers).expect("the scheduler picks a queue with packets")
    }

    /// A packet of `wire` bytes of queue `queue` goes on the wire.
    pub(crate) fn serve(&mut self, port: PortId, queue: usize, wire: u16) {
        self.ports[port.index()].in_service = Some(InService { queue: queue as u8, wire });
    }

    /// The last bit of the packet in service has left: what it was, if any.
    pub(crate) fn served(&mut self, port: PortId) -> Option<(usize, u16)> {
        let done = self.ports[port.index()].in_service.take()?;
        Some((usize::from(done.queue), done.wire))
    }

    /// Gives back the bytes of a packet of a queue.
    pub(crate) fn release(&mut self, now: Time, at: (PortId, usize), wire: u16) {
        let (port, queue) = at;
        let slot = self.slot(port, queue);
        let wire = u64::from(wire);
        self.queues[slot].bytes -= wire;
        self.total -= wire;
        self.ports[port.index()].packets -= 1;
        self.ports[port.index()].hold(now, |bytes| bytes - wire);
    }

    /// The counters of a port with the time integral up to `now`.
    pub(crate) fn counters(&mut self, now: Time, port: PortId) -> PortCounters {
        let port = &mut self.ports[port.index()];
        port.hold(now, |bytes| bytes);
        port.counters
    }
}

impl Port {
    /// Changes the bytes held, keeping peak and time integral.
    fn hold(&mut self, now: Time, change: impl Fn(u64) -> u64) {
        let elapsed = now.since(self.counted_until).0;
        self.counters.byte_time += u128::from(self.bytes) * u128::from(elapsed);
        self.counted_until = now;
        self.bytes = change(self.bytes);
        self.counters.peak = self.counters.peak.max(Bytes(self.bytes));
    }
}
