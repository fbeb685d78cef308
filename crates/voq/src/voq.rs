//! One virtual output queue, and its packets in deep memory.

use std::collections::VecDeque;

use weft_core::{Header, Headers, PacketId, Time};
use weft_mark::AnyMarker;
use weft_queue::ClassQueue;

/// One virtual output queue.
pub(crate) struct Voq {
    pub(crate) queue: ClassQueue,
    pub(crate) marker: AnyMarker,
    /// For each packet in deep memory (the last of the queue): when it was written.
    pub(crate) deep: VecDeque<Time>,
    pub(crate) packets: usize,
    /// Unused credit, which a queue with packets has only until it is served again at the same instant; negative if the
    /// last packet exceeded it.
    pub(crate) balance: i64,
    /// When the last packet that left was on the chip: the next must not overtake it.
    left: Time,
    /// Whether it has requested credit and not withdrawn the request.
    pub(crate) asks: bool,
}

impl Voq {
    pub(crate) fn new(marker: AnyMarker) -> Voq {
        Voq {
            queue: ClassQueue::default(),
            marker,
            deep: VecDeque::new(),
            packets: 0,
            balance: 0,
            left: Time::ZERO,
            asks: false,
        }
    }

    pub(crate) fn push(&mut self, packet: PacketId, headers: &mut Headers) {
        self.queue.bytes += u64::from(headers.get(packet).wire);
        self.packets += 1;
        self.queue.packets.push(packet, headers);
    }

    /// Removes the first packet; also returns when it was written to deep memory, if it is there.
    pub(crate) fn pop(&mut self, headers: &Headers) -> Option<(PacketId, Option<Time>)> {
        let packet = self.queue.packets.pop(headers)?;
        let Header { wire, .. } = *headers.get(packet);
        self.queue.bytes -= u64::from(wire);
        let written = if self.deep.len() == self.packets { self.deep.pop_front() } else { None };
        self.packets -= 1;
        Some((packet, written))
    }

    /// Whether it has a packet and credit.
    pub(crate) fn may_send(&self) -> bool {
        self.packets > 0 && self.balance > 0
    }

    /// Whether its next packet finds credit.
    #[inline]
    pub(crate) fn has_spare_credit(&self) -> bool {
        self.packets == 0 && self.balance > 0
    }

    /// When a packet that is on the chip at `on_chip` enters the fabric: in the order of the queue.
    pub(crate) fn leaves(&mut self, on_chip: Time) -> Time {
        self.left = self.left.max(on_chip);
        self.left
    }

    /// If it has become empty with a request pending, withdraws the request; returns whether it did. It keeps the
    /// rest of its credit: if it gave that up, a queue that holds less than a credit would waste the output's time.
    pub(crate) fn rests(&mut self) -> bool {
        self.packets == 0 && std::mem::take(&mut self.asks)
    }
}
