//! Queues of a switch port: the order within a queue, which queue is served next, and how fast. Must not depend on
//! admission, marks, or the purpose of a packet.

use weft_core::{PacketId, Queue};

pub mod order;
pub mod schedule;
mod shaper;

pub use shaper::{Shaper, ShaperSettings};

/// One queue of a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassQueue {
    /// The waiting packets, without the one in service.
    pub packets: Queue,
    /// Wire bytes charged to the queue, including the packet in service.
    pub bytes: u64,
    /// Of these, bytes of red packets.
    pub red: u64,
    /// Reasons why the queue may not send now: [`ClassQueue::PAUSED`], [`ClassQueue::SHAPED`].
    pub held: u8,
    /// Whether its watchdog discards what arrives.
    pub discards: bool,
}

impl ClassQueue {
    /// The far end has paused the queue (priority flow control).
    pub const PAUSED: u8 = 1;
    /// The shaper of the port is closed.
    pub const SHAPED: u8 = 2;

    /// Sets or clears a reason to hold the queue.
    #[inline]
    pub fn hold(&mut self, reason: u8, held: bool) {
        self.held = self.held & !reason | if held { reason } else { 0 };
    }

    /// The packet that may be sent next: `None` if the queue is empty, or held by a pause or a shaper. A scheduler must ask this,
    /// not whether the queue holds packets.
    #[inline]
    #[must_use]
    pub fn ready(&self) -> Option<PacketId> {
        if self.held == 0 { self.packets.front() } else { None }
    }
}
