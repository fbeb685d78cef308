//! The memory management of merchant switch chips (Broadcom's, as public simulators model it): a packet is stored
//! once and charged twice, at ingress and at egress.
//!
//! At ingress, every class of every port first fills its minimum, then the rest of its port's minimum, then the
//! shared pool of its class up to a limit. What does not fit is dropped if the class is lossy; a lossless class puts
//! it into headroom and pauses the sender. At egress, a lossy queue fills its minimum, then takes from the pool while
//! its part, packet included, is at most alpha times the free part; lossless queues are charged, never refused.
//!
//! Ingress pool: (buffer - headroom - ports max(classes group_minimum, port_minimum)) share. Egress pool: (buffer -
//! queues queue_minimum) share.
//!
//! This file has the settings and the egress side; the switch, which knows ports and headroom, has the ingress side.

use weft_core::record::Reason;
use weft_core::settings::Share;
use weft_core::{Bytes, Class, settings};

use crate::{Memory, Occupancy, Sharing};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "memory management of merchant chips: service pools, minima, ingress and egress limits, pooled headroom";

settings! {
    /// A service pool.
    pub struct PoolSettings {
        /// The classes that use it.
        classes: Vec<u32>,
        /// Its share of the memory that is not reserved.
        share: Share,
    }
}

settings! {
    /// Memory management of merchant chips. Limits of lossless classes are those of switch.pfc.
    pub struct MmuSettings {
        /// Bytes that every class of every ingress port may hold.
        group_minimum: Bytes = Bytes(1_538),
        /// Bytes that every ingress port may hold; the minima of its classes count towards them.
        port_minimum: Bytes = Bytes(0),
        /// A lossy class of an ingress port may hold, beyond its minima, alpha times the free part of its pool.
        lossy_alpha: f64 [0.0009765625, 1024] = 8.0,
        /// A fixed limit instead of `lossy_alpha`.
        lossy_limit: Option<Bytes> = None,
        /// Headroom shared by all ports; each port and class takes at most what its own headroom would be. Absent:
        /// every port and lossless class has its own.
        headroom_pool: Option<Bytes> = None,
        /// Bytes that every queue may always hold.
        queue_minimum: Bytes = Bytes(1_538),
        /// A lossy queue may hold, beyond its minimum, alpha times the free part of its pool.
        queue_alpha: f64 [0.0009765625, 1024] = 1.0,
        /// Bytes that the lossy queues of a port may hold together, their minima included; a packet within the
        /// minimum of its queue is admitted in any case. Absent: no limit.
        port_limit: Option<Bytes> = None,
        /// Service pools. Absent: one for all classes.
        pools: Vec<PoolSettings> = Vec::new(),
    }
}

impl MmuSettings {
    /// The number of the pool of each class.
    #[must_use]
    pub fn pool_of(&self) -> [u8; Class::COUNT] {
        let mut of = [0; Class::COUNT];
        for (number, pool) in self.pools.iter().enumerate() {
            pool.classes.iter().for_each(|class| of[*class as usize % Class::COUNT] = number as u8);
        }
        of
    }

    /// The empty pools, with `bytes` divided among them.
    #[must_use]
    pub fn divide(&self, bytes: u64) -> Vec<MmuPool> {
        if self.pools.is_empty() {
            return vec![MmuPool { size: bytes, used: 0 }];
        }
        let part = |pool: &PoolSettings| (bytes as f64 * pool.share.0) as u64;
        self.pools.iter().map(|pool| MmuPool { size: part(pool), used: 0 }).collect()
    }
}

/// Memory that several queues or ports share.
#[derive(Clone, Copy, Debug)]
pub struct MmuPool {
    /// Bytes.
    pub size: u64,
    /// Bytes taken.
    pub used: u64,
}

impl MmuPool {
    /// Free bytes.
    #[must_use]
    pub fn free(self) -> u64 {
        self.size.saturating_sub(self.used)
    }
}

/// The egress side of the memory management; see the module's docs.
#[derive(Clone, Debug)]
pub struct Mmu {
    minimum: u64,
    alpha: f64,
    port_limit: u64,
    pool_of: [u8; Class::COUNT],
    pools: Vec<MmuPool>,
    /// Bytes within minima.
    in_minima: u64,
}

impl Mmu {
    /// From the settings; the scenario guarantees a buffer larger than all minima.
    #[must_use]
    pub fn new(settings: &MmuSettings, memory: Memory) -> Mmu {
        let buffer = memory.buffer.expect("checked with the scenario: there is a buffer to manage").0;
        let minimum = settings.queue_minimum.0;
        Mmu {
            minimum,
            alpha: settings.queue_alpha,
            port_limit: settings.port_limit.map_or(u64::MAX, |bytes| bytes.0),
            pool_of: settings.pool_of(),
            pools: settings.divide(buffer.saturating_sub(memory.queues * minimum)),
            in_minima: 0,
        }
    }

    fn shared_part(&self, queue: u64) -> u64 {
        queue.saturating_sub(self.minimum)
    }

    fn pool(&mut self, class: usize) -> &mut MmuPool {
        &mut self.pools[usize::from(self.pool_of[class])]
    }

    /// Bytes within minima, and in all pools.
    #[must_use]
    pub fn charged(&self) -> (u64, u64) {
        (self.in_minima, self.pools.iter().map(|pool| pool.used).sum())
    }
}

impl Sharing for Mmu {
    fn admit(&self, occupancy: &Occupancy) -> Result<(), Reason> {
        let after = self.shared_part(occupancy.queue + occupancy.packet);
        if after == 0 {
            return Ok(());
        }
        let more = after - self.shared_part(occupancy.queue);
        let pool = self.pools[usize::from(self.pool_of[occupancy.class])];
        if more > pool.free() {
            return Err(Reason::BufferFull);
        }
        if occupancy.port + occupancy.packet > self.port_limit {
            return Err(Reason::PortFull);
        }
        if after as f64 > self.alpha * pool.free() as f64 { Err(Reason::Threshold) } else { Ok(()) }
    }

    fn allows(&self, class: usize) -> u64 {
        let pool = self.pools[usize::from(self.pool_of[class])];
        self.minimum + (self.alpha * pool.free() as f64) as u64
    }

    fn stored(&mut self, class: usize, queue: u64, bytes: u64) {
        let shared = self.shared_part(queue) - self.shared_part(queue - bytes);
        self.pool(class).used += shared;
        self.in_minima += bytes - shared;
    }

    fn released(&mut self, class: usize, queue: u64, bytes: u64) {
        let shared = self.shared_part(queue + bytes) - self.shared_part(queue);
        self.pool(class).used -= shared;
        self.in_minima -= bytes - shared;
    }
}
