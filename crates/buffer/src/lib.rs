//! Sharing: how the packet memory of a switch is divided among its queues, and whether a packet may enter its queue, whole or
//! [trimmed](trim).

use weft_core::record::Reason;
use weft_core::{Bytes, family};

pub mod color;
pub mod dynamic;
pub mod fixed;
pub mod infinite;
pub mod memory;
pub mod mmu;
pub mod trim;

/// The facts that a sharing rule may take into account.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Bytes of the packet to be admitted.
    pub packet: u64,
    /// Index of the queue within its port.
    pub class: usize,
    /// Bytes in its queue, the packet in service included.
    pub queue: u64,
    /// Bytes in all queues of its port.
    pub port: u64,
    /// Bytes in the whole switch.
    pub total: u64,
}

/// The packet memory of a switch.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes of packet memory; `None`: no limit over all ports.
    pub buffer: Option<Bytes>,
    /// Number of queues of the whole switch.
    pub queues: u64,
}

/// Decides on admission. Called for every packet before it is stored.
pub trait Sharing {
    /// `Err` gives the reason for refusal. A packet that is admitted must also be admitted if less is stored elsewhere
    /// in the switch: memory of packets that have left other ports is released late, and released only when this
    /// refuses.
    fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason>;
    /// A packet is admitted, whatever else is stored, while its port, including it, holds at most this many bytes:
    /// the rule need not be called.
    fn admits_up_to(&self) -> u64 {
        0
    }
    /// Every packet is admitted while the whole switch, including it, holds at most this many bytes.
    fn admits_while(&self) -> u64 {
        0
    }
    /// Bytes that a queue of a class may hold, if nothing else changes.
    fn allows(&self, class: usize) -> u64;
    /// Whether the rule depends on anything beyond the port; if not, the switch need not count its bytes.
    fn looks_beyond_port(&self) -> bool {
        true
    }
    /// Bytes that the rule itself counts over all ports, if any: ports on different threads share this count.
    fn counted(&self) -> u64 {
        0
    }
    /// Replaces [`Sharing::counted`].
    fn count(&mut self, _bytes: u64) {}
    /// Called after `bytes` were stored in the queue of a class, which now holds `queue` bytes.
    fn stored(&mut self, _class: usize, _queue: u64, _bytes: u64) {}
    /// Called after `bytes`, of one packet or several, left the queue of a class, which now holds `queue` bytes.
    fn released(&mut self, _class: usize, _queue: u64, _bytes: u64) {}
    /// Called after `bytes` were stored in a queue that has no minimum.
    fn charge(&mut self, _bytes: u64) {}
    /// Called after such bytes have left.
    fn discharge(&mut self, _bytes: u64) {}
}

family! {
    /// All sharing rules.
    pub enum AnySharing: Sharing;
    /// The sharing rule of a scenario.
    pub enum SharingSettings;
    called "sharing" built at Memory;
    members {
        "static" => fixed::Fixed(FixedSharingSettings),
        "dynamic" => dynamic::Dynamic(DynamicSharingSettings),
        "infinite" => infinite::Infinite(InfiniteSharingSettings),
        "mmu" => mmu::Mmu(MmuSettings),
    }
    methods {
        fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason>;
        fn admits_up_to(&self) -> u64;
        fn admits_while(&self) -> u64;
        fn allows(&self, class: usize) -> u64;
        fn looks_beyond_port(&self) -> bool;
        fn counted(&self) -> u64;
        fn count(&mut self, bytes: u64);
        fn stored(&mut self, class: usize, queue: u64, bytes: u64);
        fn released(&mut self, class: usize, queue: u64, bytes: u64);
        fn charge(&mut self, bytes: u64);
        fn discharge(&mut self, bytes: u64);
    }
}
