//! The packet memory of a switch, under any sharing rule.

use weft_core::record::Reason;

use crate::{AnySharing, Occupancy};

/// The packet memory of a switch.
pub struct PacketMemory {
    /// Bytes in the whole switch, if the sharing rule depends on them.
    total: u64,
    sharing: AnySharing,
    counts: bool,
    /// See [`crate::Sharing::admits_up_to`].
    always: u64,
}

impl PacketMemory {
    /// Empty memory.
    #[must_use]
    pub fn new(sharing: AnySharing) -> PacketMemory {
        PacketMemory {
            total: 0,
            counts: sharing.looks_beyond_port(),
            always: sharing.admits_up_to(),
            sharing,
        }
    }

    /// A packet has room while the port, including it, holds at most this many bytes.
    #[inline]
    pub fn admits_up_to(&self) -> u64 {
        self.always
    }

    /// Under chip memory management: bytes within queue minima, and in pools.
    pub fn charged(&self) -> Option<(u64, u64)> {
        match &self.sharing {
            AnySharing::Mmu(mmu) => Some(mmu.charged()),
            _ => None,
        }
    }

    /// Whether storing and releasing must be reported.
    #[inline]
    pub fn counts(&self) -> bool {
        self.counts
    }

    /// Whether there is room for a packet of `wire` bytes in a queue of a class that holds `queue` bytes.
    #[inline(always)]
    pub fn admit(&self, (class, queue): (usize, u64), port: u64, wire: u16) -> Result<(), Reason> {
        let packet = u64::from(wire);
        self.sharing.admit(&Occupancy { packet, class, queue, port, total: self.total })
    }

    /// Bytes stored, by its own count and by the sharing rule's.
    pub fn counted(&self) -> (u64, u64) {
        (self.total, self.sharing.counted())
    }

    /// Replaces [`PacketMemory::counted`].
    pub fn count(&mut self, (total, shared): (u64, u64)) {
        self.total = total;
        self.sharing.count(shared);
    }

    /// See [`crate::Sharing::admits_while`].
    pub fn admits_while(&self) -> u64 {
        self.sharing.admits_while()
    }

    /// Bytes that a queue of this class may hold now.
    pub fn allows(&self, class: usize) -> u64 {
        self.sharing.allows(class)
    }

    /// Counts a packet stored in a queue of a class that now holds `queue` bytes.
    #[inline]
    pub fn stored(&mut self, (class, queue): (usize, u64), wire: u16) {
        if self.counts {
            self.total += u64::from(wire);
            self.sharing.stored(class, queue, u64::from(wire));
        }
    }

    /// Counts bytes of a queue that has no minimum of its own.
    #[inline]
    pub fn charge(&mut self, bytes: u64) {
        if self.counts {
            self.total += bytes;
            self.sharing.charge(bytes);
        }
    }

    /// Takes back what [`PacketMemory::charge`] has counted.
    #[inline]
    pub fn discharge(&mut self, bytes: u64) {
        if self.counts {
            self.total -= bytes;
            self.sharing.discharge(bytes);
        }
    }

    /// Counts bytes, of one packet or several, that left a queue of a class that now holds `queue` bytes.
    #[inline]
    pub fn released(&mut self, (class, queue): (usize, u64), bytes: u64) {
        if self.counts {
            self.total -= bytes;
            self.sharing.released(class, queue, bytes);
        }
    }
}
