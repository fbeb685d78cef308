//! Lengths, peaks and losses of the queues of a switch's ports. Must not depend on the switch.

use std::collections::BTreeMap;

use weft_core::record::Reason;
use weft_core::{Bytes, PortId};

/// A class queue of a port. Lengths are bytes on the wire; virtual output queues and packets crossing a fabric belong
/// to the queue of their output and class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueReading {
    /// Bytes that wait in it, without the packet in transmission.
    pub waiting: Bytes,
    /// Peak since the start, including the packet in transmission.
    pub peak: Bytes,
    /// Packets dropped, by reason; reasons without drops are left out.
    pub drops: Vec<(Reason, u64)>,
}

/// A queue, by port and number.
pub(super) type QueueAt = (PortId, usize);

/// Lengths, peaks and drops of all queues.
#[derive(Debug)]
pub(super) struct QueueBooks {
    queues: usize,
    /// The current and the peak length of each queue, including the packet in transmission.
    lengths: Box<[(Bytes, Bytes)]>,
    /// By port: queue and length of the packet in transmission; zero bytes if there is none.
    sending: Box<[(usize, Bytes)]>,
    drops: BTreeMap<(PortId, usize, Reason), u64>,
}

impl QueueBooks {
    /// Books of empty queues.
    pub(super) fn new(ports: usize, queues: usize) -> QueueBooks {
        QueueBooks {
            queues,
            lengths: vec![(Bytes::ZERO, Bytes::ZERO); ports * queues].into(),
            sending: vec![(0, Bytes::ZERO); ports].into(),
            drops: BTreeMap::new(),
        }
    }

    fn length(&mut self, (port, queue): QueueAt) -> &mut (Bytes, Bytes) {
        &mut self.lengths[port.index() * self.queues + queue]
    }

    /// Called when a packet of `wire` bytes joins a queue.
    #[inline]
    pub(super) fn join(&mut self, at: QueueAt, wire: Bytes) {
        let (held, peak) = self.length(at);
        *held += wire;
        *peak = (*peak).max(*held);
    }

    /// Called when the transmitter of a port takes a packet of `wire` bytes from a queue.
    #[inline]
    pub(super) fn send(&mut self, (port, queue): QueueAt, wire: Bytes) {
        self.sending[port.index()] = (queue, wire);
    }

    /// Called when the transmitter of a port becomes idle.
    #[inline]
    pub(super) fn finish(&mut self, port: PortId) {
        let (queue, wire) = std::mem::take(&mut self.sending[port.index()]);
        self.length((port, queue)).0 -= wire;
    }

    /// Called when a packet is dropped; `held` are its bytes if it was in the queue, and otherwise zero.
    pub(super) fn drop(&mut self, (port, queue): QueueAt, held: Bytes, reason: Reason) {
        self.length((port, queue)).0 -= held;
        *self.drops.entry((port, queue, reason)).or_default() += 1;
    }

    /// The queues of a port.
    pub(super) fn of_port(&self, port: PortId) -> Vec<QueueReading> {
        let reading = |queue: usize| {
            let (held, peak) = self.lengths[port.index() * self.queues + queue];
            let (sending, wire) = self.sending[port.index()];
            let waiting = if sending == queue { held - wire } else { held };
            let (first, last) = (Reason::ALL[0], Reason::ALL[Reason::ALL.len() - 1]);
            let own = self.drops.range((port, queue, first)..=(port, queue, last));
            QueueReading {
                waiting,
                peak,
                drops: own.map(|((.., reason), count)| (*reason, *count)).collect(),
            }
        };
        (0..self.queues).map(reading).collect()
    }
}
