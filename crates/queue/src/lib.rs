//! What waits at a port of a switch: the order within a queue, which queue is served next, and how fast. Must not depend on
//! admission, marks, or what a packet is for.

use weft_core::{PacketId, Queue};

pub mod order;
pub mod schedule;
mod shaper;

pub use shaper::{Shaper, ShaperSettings};

/// One queue of a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassQueue {
    /// The waiting packets; not the one in service.
    pub packets: Queue,
    /// Wire bytes charged to the queue, the packet in service included.
    pub bytes: u64,
    /// Of these, those of red packets.
    pub red: u64,
    /// Why nothing may be sent now: [`ClassQueue::PAUSED`], [`ClassQueue::SHAPED`].
    pub held: u8,
    /// Its watchdog throws away what comes.
    pub discards: bool,
}

impl ClassQueue {
    /// The far end has asked that nothing be sent (priority flow control).
    pub const PAUSED: u8 = 1;
    /// The shaper of the port is closed.
    pub const SHAPED: u8 = 2;

    /// A reason holds the queue, or no longer does.
    #[inline]
    pub fn hold(&mut self, reason: u8, held: bool) {
        self.held = self.held & !reason | if held { reason } else { 0 };
    }

    /// The packet that may be sent next.
    #[inline]
    #[must_use]
    pub fn ready(&self) -> Option<PacketId> {
        if self.held == 0 { self.packets.front() } else { None }
    }
}
