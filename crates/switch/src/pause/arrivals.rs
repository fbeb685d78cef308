//! Ingress accounting of a chip, by port and class: minima, shared pools, headroom. Each byte is charged to one of
//! them.

use weft_core::record::Reason;
use weft_core::{Bytes, Class};

use weft_buffer::mmu::{MmuPool, MmuSettings};
use weft_pfc::ResumeLimit;

use super::reserve::headroom_of;
use crate::groups::PriorityGroups;
use crate::settings::SwitchSettings;
use crate::site::SwitchSite;

/// The parts of a switch's buffer taken by minima and headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryNeeds {
    /// Ingress minima.
    pub minima: Bytes,
    /// Headroom: its pool, or the sum over the ports.
    pub headroom: Bytes,
    /// Maximum headroom one class of one port may need, including the packet that crosses XOFF.
    pub largest: Bytes,
}

/// Computes [`MemoryNeeds`] of a switch.
#[must_use]
pub fn needs(own: &MmuSettings, settings: &SwitchSettings, site: &SwitchSite) -> MemoryNeeds {
    let ports = site.rates.len() as u64;
    let groups = PriorityGroups::new(settings).all().count() as u64;
    let lossless = settings.lossless_groups();
    let caps = (0..site.rates.len()).map(|port| cap(settings, site, port));
    let each = if lossless == 0 { Vec::new() } else { caps.collect() };
    let all = each.iter().fold(Bytes::ZERO, |sum, cap| sum + *cap * lossless);
    MemoryNeeds {
        minima: (own.group_minimum * groups).max(own.port_minimum) * ports,
        headroom: own.headroom_pool.filter(|_| lossless > 0).unwrap_or(all),
        largest: each.into_iter().max().unwrap_or(Bytes::ZERO),
    }
}

/// Headroom that a class of a port may use: room for the packet that crosses XOFF, and for what follows it.
fn cap(settings: &SwitchSettings, site: &SwitchSite, port: usize) -> Bytes {
    headroom_of(settings, site, port) + site.full_packet
}

/// The limit of a class in its pool.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Static(u64),
    Dynamic(f64),
}

impl Limit {
    fn of(fixed: Option<Bytes>, alpha: f64) -> Limit {
        fixed.map_or(Limit::Dynamic(alpha), |bytes| Limit::Static(bytes.0))
    }

    fn now(self, pool: MmuPool) -> f64 {
        match self {
            Limit::Static(bytes) => bytes as f64,
            Limit::Dynamic(alpha) => alpha * pool.free() as f64,
        }
    }
}

/// One class of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    minimum: u64,
    port: u64,
    shared: u64,
    headroom: u64,
    /// The limit of its headroom.
    cap: u64,
}

/// How the bytes of a packet are charged.
struct Parts {
    minimum: u64,
    port: u64,
    shared: u64,
    headroom: u64,
}

/// The ingress accounting of a chip, by port and class.
#[derive(Clone, Debug)]
pub(crate) struct IngressMemory {
    /// By port, then class.
    groups: Vec<Group>,
    /// By port: the bytes charged to its own minimum, beyond its classes' minima.
    ports: Vec<u64>,
    pools: Vec<MmuPool>,
    headroom: MmuPool,
    group_minimum: u64,
    /// The minimum of a port, beyond the minima of its classes.
    port_minimum: u64,
    classes: usize,
    pool_of: [u8; Class::COUNT],
    lossless: u8,
    lossless_limit: Limit,
    lossy_limit: Limit,
    xon_offset: u64,
}

impl IngressMemory {
    /// The accounting of an empty switch.
    pub(crate) fn new(own: &MmuSettings, settings: &SwitchSettings, site: &SwitchSite) -> IngressMemory {
        let buffer = settings.buffer.expect("checked with the scenario: there is a buffer to manage").0;
        let classes = settings.queues as usize;
        let groups = PriorityGroups::new(settings).all().count() as u64;
        let needs = needs(own, settings, site);
        let lossless = settings.pfc.lossless(classes);
        let group = |slot: usize| {
            let has_headroom = lossless >> (slot % classes) & 1 == 1;
            let cap = if has_headroom { cap(settings, site, slot / classes).0 } else { 0 };
            Group { cap, ..Group::default() }
        };
        IngressMemory {
            groups: (0..site.rates.len() * classes).map(group).collect(),
            ports: vec![0; site.rates.len()],
            pools: own.divide(buffer.saturating_sub(needs.minima.0 + needs.headroom.0)),
            headroom: MmuPool { size: needs.headroom.0, used: 0 },
            group_minimum: own.group_minimum.0,
            port_minimum: own.port_minimum.0.saturating_sub(own.group_minimum.0 * groups),
            classes,
            pool_of: own.pool_of(),
            lossless,
            lossless_limit: Limit::of(settings.pfc.xoff, settings.pfc.alpha),
            lossy_limit: Limit::of(own.lossy_limit, own.lossy_alpha),
            xon_offset: settings.pfc.xon_offset.0,
        }
    }

    fn group(&self, (port, class): (usize, usize)) -> &Group {
        &self.groups[port * self.classes + class]
    }

    fn pool(&self, class: usize) -> MmuPool {
        self.pools[usize::from(self.pool_of[class])]
    }

    fn limit(&self, class: usize) -> Limit {
        if self.lossless >> class & 1 == 1 { self.lossless_limit } else { self.lossy_limit }
    }

    /// How a packet would be charged; bytes that neither minima nor pool take go to headroom.
    fn parts(&self, at: (usize, usize), wire: u64) -> Parts {
        let (group, pool) = (self.group(at), self.pool(at.1));
        let minimum = wire.min(self.group_minimum - group.minimum);
        let port = (wire - minimum).min(self.port_minimum - self.ports[at.0]);
        let rest = wire - minimum - port;
        let fits = rest <= pool.free() && (group.shared + rest) as f64 <= self.limit(at.1).now(pool);
        let (shared, headroom) = if fits { (rest, 0) } else { (0, rest) };
        Parts { minimum, port, shared, headroom }
    }

    /// Whether there is room for a packet of a class from a port.
    pub(crate) fn admit(&self, at: (usize, usize), wire: u64) -> Result<(), Reason> {
        let beyond = self.parts(at, wire).headroom;
        if beyond == 0 {
            return Ok(());
        }
        let group = self.group(at);
        match self.lossless >> at.1 & 1 == 1 {
            true if group.headroom + beyond <= group.cap && beyond <= self.headroom.free() => Ok(()),
            true => Err(Reason::Headroom),
            false => Err(Reason::Ingress),
        }
    }

    /// Charges a stored packet. Returns `true` if the sender of its class must be paused.
    pub(crate) fn stored(&mut self, at: (usize, usize), wire: u64) -> bool {
        let parts = self.parts(at, wire);
        let group = &mut self.groups[at.0 * self.classes + at.1];
        group.minimum += parts.minimum;
        group.port += parts.port;
        group.shared += parts.shared;
        group.headroom += parts.headroom;
        self.ports[at.0] += parts.port;
        self.pools[usize::from(self.pool_of[at.1])].used += parts.shared;
        self.headroom.used += parts.headroom;
        parts.headroom > 0
    }

    /// Credits a packet that has left: headroom is released first, minima last.
    pub(crate) fn released(&mut self, at: (usize, usize), wire: u64) {
        let group = &mut self.groups[at.0 * self.classes + at.1];
        let mut left = wire;
        let mut from = |part: &mut u64| {
            let taken = left.min(*part);
            *part -= taken;
            left -= taken;
            taken
        };
        self.headroom.used -= from(&mut group.headroom);
        self.pools[usize::from(self.pool_of[at.1])].used -= from(&mut group.shared);
        self.ports[at.0] -= from(&mut group.port);
        from(&mut group.minimum);
        assert!(left == 0, "more leaves than came in");
    }

    /// Whether the sender of a class may resume.
    pub(crate) fn is_low(&self, at: (usize, usize)) -> bool {
        let (group, limit) = (self.group(at), self.limit(at.1).now(self.pool(at.1)));
        group.headroom == 0 && (group.shared == 0 || (group.shared + self.xon_offset) as f64 <= limit)
    }

    /// When a paused sender of a class may resume.
    pub(crate) fn resumes_at(&self, class: usize) -> ResumeLimit {
        let minimum = Bytes(self.group_minimum + self.port_minimum);
        let xon_offset = Bytes(self.xon_offset);
        match self.limit(class) {
            Limit::Static(bytes) => {
                ResumeLimit::Fixed(minimum + Bytes(bytes.saturating_sub(self.xon_offset)))
            }
            Limit::Dynamic(alpha) => {
                let (pool, number) = (Bytes(self.pool(class).size), self.pool_of[class]);
                ResumeLimit::Dynamic { alpha, pool, number, minimum, xon_offset }
            }
        }
    }

    /// Bytes of a class from a port in headroom or minima.
    pub(crate) fn apart(&self, at: (usize, usize)) -> u64 {
        let group = self.group(at);
        group.minimum + group.port + group.headroom
    }

    /// A class's use of headroom at a port, and its limit.
    pub(crate) fn headroom(&self, at: (usize, usize)) -> (u64, u64) {
        let group = self.group(at);
        (group.headroom, group.cap)
    }

    /// Bytes within minima, in all pools, and in headroom.
    pub(crate) fn charged(&self) -> (u64, u64, u64) {
        let minima: u64 = self.groups.iter().map(|group| group.minimum + group.port).sum();
        (minima, self.pools.iter().map(|pool| pool.used).sum(), self.headroom.used)
    }
}
