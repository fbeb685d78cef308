//! A switch: its packet memory, its marking, its hash, and its ports.

use super::{Metres, PortConfig, RedPackets};
use std::collections::BTreeSet;
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// A switch.
#[derive(Debug, Default)]
pub struct SwitchConfig {
    /// The position that stands for the whole switch.
    pub at: Spot,
    /// Its name in messages.
    pub name: String,
    /// Its tier as the file names it, such as `LeafRouter`.
    pub role: Option<String>,
    /// Its packet memory, if the file gives it.
    pub memory: Option<Bytes>,
    /// The pools of its memory; profiles refer to them by number.
    pub pools: Vec<MemoryPool>,
    /// Its buffer profiles; groups and queues refer to them by number.
    pub profiles: Vec<Profile>,
    /// Its marking profiles; queues refer to them by number.
    pub markings: Vec<MarkingProfile>,
    /// Its ports, whether up or shut down.
    pub ports: Vec<PortConfig>,
    /// How it hashes flows, if the file gives it.
    pub hash: Option<Hash>,
    /// Whether the format can express a watchdog; if not, its absence is not reported.
    pub knows_watchdog: bool,
    /// Whether the file describes priority groups and their headroom.
    pub knows_groups: bool,
    /// Whether the files omit which priorities have PFC.
    pub lacks_pfc: bool,
    /// Whether the files omit which queues mark.
    pub lacks_queues: bool,
    /// Whether a group without headroom in the file has none; otherwise the switch has a default.
    pub knows_headroom: bool,
    /// The target at which a controller holds all queues, instead of marking by thresholds.
    pub held: Option<Placed<Held>>,
    /// A static limit of each port that includes the bytes of lossless queues.
    pub port_limit: Option<Placed<Bytes>>,
    /// The treatment of red packets, if they are dropped early.
    pub red: Option<RedPackets>,
    /// The queue of each class, if a scenario gives it; empty in files, whose maps belong to ports.
    pub class_queues: Vec<u8>,
    /// The queues that carry payload, if the file says.
    pub carried: Option<Vec<u8>>,
    /// What its virtual output queues need of memory and of the fabric, if it has any.
    pub credits: Option<CreditLoop>,
}

/// Virtual output queues that send when their output grants credit.
#[derive(Debug)]
pub struct CreditLoop {
    /// Bandwidth of the deep memory, reads and writes together; `None` if queues never move there.
    pub deep_rate: Option<Placed<Rate>>,
    /// The most that an output has granted and not yet transmitted.
    pub output: Placed<Bytes>,
    /// One credit.
    pub credit: Bytes,
    /// From the grant of a credit until its packets are at the output.
    pub latency: Span,
}

/// The target at which a marking controller holds a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Held {
    /// A queue length.
    Length(Bytes),
    /// A waiting time.
    Delay(Span),
}

/// A pool of packet memory.
#[derive(Debug)]
pub struct MemoryPool {
    /// Where the file defines it.
    pub at: Spot,
    /// Its name in the file.
    pub name: String,
    /// `None`: the switch computes it.
    pub size: Option<Bytes>,
    /// Headroom shared by its groups.
    pub headroom: Option<Placed<Bytes>>,
    /// Whether it counts packets by the port at which they arrive.
    pub ingress: bool,
    /// Whether it counts packets by the port at which they leave.
    pub egress: bool,
}

/// How much a group or a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// Alpha times the free part of the pool.
    Dynamic(f64),
    /// A fixed number of bytes.
    Static(Bytes),
}

/// A buffer profile: the limits of groups or queues.
#[derive(Debug)]
pub struct Profile {
    /// Where the file defines it.
    pub at: Spot,
    /// Its name in the file.
    pub name: String,
    /// The number of its pool; `None` if the file names no known pool.
    pub pool: Option<usize>,
    /// Memory that each group or queue has for itself.
    pub reserved: Bytes,
    /// How much of the pool each group or queue may hold; for a lossless one, XOFF.
    pub threshold: Option<Placed<Threshold>>,
    /// Memory for what arrives after XOFF.
    pub headroom: Option<Placed<Bytes>>,
    /// A pause ends when the group holds no more than this.
    pub xon: Option<Placed<Bytes>>,
    /// A pause ends when the group holds this much less than its threshold.
    pub xon_offset: Option<Placed<Bytes>>,
    /// Speed and cable length given in its name.
    pub made_for: Option<(Rate, Metres)>,
    /// Whether its name or its headroom shows that it is for a lossless class.
    pub lossless: bool,
}

/// A marking profile.
#[derive(Debug, PartialEq)]
pub struct MarkingProfile {
    /// Where the file defines it.
    pub at: Spot,
    /// Its name in the file.
    pub name: String,
    /// Whether it sets marks (rather than only drops).
    pub ecn: bool,
    /// Why it marks no ordinary packet although it has thresholds.
    pub disabled: Option<MarkingOff>,
    /// Other colours that it should mark but does not.
    pub unmarked: Vec<(&'static str, Spot)>,
    /// Whether queues that are not at a port of this switch use it.
    pub bound_elsewhere: bool,
    /// The queue length at which marking begins.
    pub min: Placed<Bytes>,
    /// The queue length at which every packet is marked.
    pub max: Placed<Bytes>,
    /// Probability just below `max`, from 0 to 1.
    pub probability: Placed<f64>,
    /// Whether packets that cannot be marked are dropped instead.
    pub drops_non_ect: bool,
    /// Whether it drops ordinary packets between its thresholds, and marks none.
    pub drops_early: bool,
    /// Whether packets are marked on arrival, so that the mark waits in the queue with the packet.
    pub at_enqueue: bool,
}

impl MarkingProfile {
    /// Whether it marks ordinary packets.
    #[must_use]
    pub fn works(&self) -> bool {
        self.ecn && self.disabled.is_none()
    }
}

/// Why a marking profile marks nothing, and how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkingOff {
    /// The value that disables it, or the profile.
    pub at: Spot,
    /// Why, as the rest of a sentence about the profile.
    pub why: String,
    /// How to fix it.
    pub fix: &'static str,
}

/// How a switch hashes flows onto equal paths.
#[derive(Debug)]
pub struct Hash {
    /// The value that determines the seed.
    pub at: Spot,
    /// The name of the hash function.
    pub function: String,
    /// Its seed.
    pub seed: u64,
    /// The origin of the seed.
    pub origin: String,
}

impl SwitchConfig {
    /// Ports that are not shut down.
    pub fn up(&self) -> impl Iterator<Item = &PortConfig> {
        self.ports.iter().filter(|port| port.up)
    }

    /// The number of ports that can send at the same time, at least 1.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.up().count().max(1)
    }

    /// Whether any marking marks packets of some queue, or this is unknown.
    #[must_use]
    pub fn marks(&self) -> bool {
        let works = |number: &usize| self.markings[*number].works();
        self.lacks_queues || self.held.is_some() || self.used_markings().iter().any(works)
    }

    /// The numbers of the markings used by any queue.
    #[must_use]
    pub fn used_markings(&self) -> BTreeSet<usize> {
        let here = self.ports.iter().flat_map(|port| port.queues.values()).filter_map(|queue| queue.marking);
        let elsewhere = (0..self.markings.len()).filter(|number| self.markings[*number].bound_elsewhere);
        here.chain(elsewhere).collect()
    }

    /// The size of a profile's pool; `None` if the profile names none, or the switch computes the size.
    #[must_use]
    pub fn pool_of(&self, profile: &Profile) -> Option<Bytes> {
        self.pools[profile.pool?].size
    }
}
