//! Static sharing: each port owns a fixed buffer, tail drop.
//!
//! Rule: accept if the bytes of the port plus the packet fit into `per_port` (and, if the switch has a total buffer,
//! into that). Used by most studies because it needs no explanation: 1 MB per port here, 100 kB in the DCTCP incast
//! experiments, 36 kB for pFabric.

use weft_core::record::Reason;
use weft_core::{Bytes, settings};

use crate::{Memory, Occupancy, Sharing};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "a fixed buffer per port, tail drop";

settings! {
    /// Static buffers.
    pub struct FixedSharingSettings {
        /// Buffer of one port over all its queues, in wire bytes, including the packet in service.
        per_port: Bytes = Bytes(1_000_000),
    }
}

/// A fixed buffer for every port.
#[derive(Clone, Debug)]
pub struct Fixed {
    per_port: u64,
    total: u64,
}

impl Fixed {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &FixedSharingSettings, memory: Memory) -> Fixed {
        Fixed { per_port: settings.per_port.0, total: memory.buffer.map_or(u64::MAX, |bytes| bytes.0) }
    }
}

impl Sharing for Fixed {
    #[inline]
    fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason> {
        if occupancy.port + occupancy.packet > self.per_port {
            return Err(Reason::PortFull);
        }
        if occupancy.total + occupancy.packet > self.total {
            return Err(Reason::BufferFull);
        }
        Ok(())
    }
    fn allows(&self, _class: usize) -> u64 {
        self.per_port
    }
    fn admits_up_to(&self) -> u64 {
        if self.looks_beyond_port() { 0 } else { self.per_port }
    }

    fn admits_while(&self) -> u64 {
        self.per_port.min(self.total)
    }

    fn looks_beyond_port(&self) -> bool {
        self.total < u64::MAX
    }
}
