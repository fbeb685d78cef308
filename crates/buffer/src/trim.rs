//! Trimming: a full queue removes the payload of a packet and forwards its header in another queue, so that the
//! receiver still learns of the packet. Must not depend on transports: packets themselves declare that they may be
//! trimmed.
//!
//! *Paper*: Handley et al., SIGCOMM'17, section 3.1 (NDP); the idea of cut payload is from Cheng et al., NSDI'14.

use weft_core::record::Reason;
use weft_core::settings::Amount;
use weft_core::{Bytes, Class, Header, PacketKind, settings};

settings! {
    /// Trimming; off unless a queue is given.
    pub struct TrimSettings {
        /// A packet that would make its queue exceed this, including the packet in service, is trimmed; so is one for
        /// which there is no memory. Absent: nothing is trimmed. `pkt` counts full packets of the transport; NDP's
        /// queues hold 8.
        queue: Option<Amount> = None,
        /// Wire size of a trimmed packet.
        header: Bytes = Bytes(84),
        /// Priority class of headers.
        class: u32 [0, 7] = 0,
        /// Return headers that find no room to their senders; otherwise they are lost.
        returns: bool = true,
    }
}

impl TrimSettings {
    /// Whether anything is cut.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.queue.is_some()
    }
}

/// When and how a port trims.
#[derive(Clone, Copy, Debug)]
pub struct Trim {
    most: u64,
    header: u16,
    class: Class,
    returns: bool,
}

impl Trim {
    /// `None`: nothing is cut.
    pub fn new(settings: &TrimSettings, full_packet: Bytes) -> Option<Trim> {
        let most = settings.queue?.bytes(full_packet).0;
        let header = settings.header.0.clamp(1, u64::from(u16::MAX)) as u16;
        Some(Trim { most, header, class: Class(settings.class as u8), returns: settings.returns })
    }

    /// Whether an untrimmed packet that may be trimmed and takes `occupied` bytes of memory may join a queue that holds
    /// `queue` bytes.
    pub fn admit(&self, (kind, occupied): (PacketKind, u16), queue: u64) -> Result<(), Reason> {
        let full = kind == PacketKind::Trimmable && queue + u64::from(occupied) > self.most;
        if full { Err(Reason::Threshold) } else { Ok(()) }
    }

    /// Trims a packet to its header. `false` if it may not be trimmed or has nothing to trim.
    pub fn cut(&self, header: &mut Header) -> bool {
        let cuts = header.kind == PacketKind::Trimmable;
        if cuts {
            header.wire = header.wire.min(self.header);
            (header.kind, header.class) = (PacketKind::Trimmed, self.class);
        }
        cuts
    }

    /// Addresses the header of a packet back to its sender. `false` if it is lost.
    pub fn turn_back(&self, header: &mut Header) -> bool {
        let returns = self.returns && header.kind == PacketKind::Trimmed;
        if returns {
            header.kind = PacketKind::Returned;
            std::mem::swap(&mut header.source, &mut header.destination);
            header.ports = header.ports.rotate_left(16);
            header.note = 0;
        }
        returns
    }
}
