//! Sharing: may a packet enter its queue? How the packet memory of a switch is divided among its queues.

use weft_core::record::Reason;
use weft_core::{Bytes, family};

pub mod color;
pub mod dynamic;
pub mod fixed;
pub mod infinite;
pub mod mmu;

/// What a sharing rule may look at.
#[derive(Clone, Copy, Debug)]
pub struct Occupancy {
    /// Bytes of the packet that wants in.
    pub packet: u64,
    /// Which queue of its port.
    pub class: usize,
    /// Bytes in its queue, the packet in service included.
    pub queue: u64,
    /// Bytes in all queues of its port.
    pub port: u64,
    /// Bytes in the whole switch.
    pub total: u64,
}

/// What a sharing rule knows of its switch.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes of packet memory; `None`: no limit over all ports.
    pub buffer: Option<Bytes>,
    /// Number of queues of the whole switch.
    pub queues: u64,
}

/// Decides on admission. Called for every packet before it is stored.
pub trait Sharing {
    /// `Err` names why there is no room. A packet that is admitted must also be admitted if less is stored elsewhere in
    /// the switch: packets of other ports that have left are given back late, and only looked for when this refuses.
    fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason>;
    /// A packet with which its port holds at most so many bytes is admitted, whatever else is stored: then nobody asks.
    fn admits_up_to(&self) -> u64 {
        0
    }
    /// Bytes that a queue of a class may hold if nothing changes elsewhere.
    fn allows(&self, class: usize) -> u64;
    /// Whether anything but the port at hand matters; if not, nobody keeps count.
    fn looks_beyond_port(&self) -> bool {
        true
    }
    /// `bytes` were stored in the queue of a class that now holds `queue` bytes.
    fn stored(&mut self, _class: usize, _queue: u64, _bytes: u64) {}
    /// `bytes` left the queue of a class that now holds `queue` bytes.
    fn released(&mut self, _class: usize, _queue: u64, _bytes: u64) {}
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
        fn allows(&self, class: usize) -> u64;
        fn looks_beyond_port(&self) -> bool;
        fn stored(&mut self, class: usize, queue: u64, bytes: u64);
        fn released(&mut self, class: usize, queue: u64, bytes: u64);
    }
}
