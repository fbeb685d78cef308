//! What each port holds of what came in by it, by class, and when that is too much.
//!
//! A packet is charged to shared memory as long as its sender has not been asked to stop, else to headroom. The packet
//! that crosses XOFF may exceed the shared memory by its own size: for that, one full-size packet is set aside for each
//! port and lossless class. What leaves frees headroom first.

use weft_core::{Bytes, PortId};

use super::headroom::{Situation, headroom};
use super::{PauseCounters, PauseFrame};
use crate::settings::SwitchSettings;
use crate::switch::SwitchSite;

/// How much a class may hold before its sender is asked to stop.
#[derive(Clone, Copy, Debug)]
enum Xoff {
    /// So many bytes.
    Static(u64),
    /// So many times what is free of a pool.
    Dynamic { alpha: f64, pool: u64 },
}

/// One class of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Bytes held.
    used: u64,
    /// Of these, in headroom.
    beyond: u64,
    /// The sender has been asked to stop.
    stopped: bool,
    counters: PauseCounters,
}

/// See the file's head.
#[derive(Clone, Debug)]
pub(crate) struct Ingress {
    /// By port, then queue.
    groups: Vec<Group>,
    /// What is to be told to the far end of each port.
    frames: Vec<PauseFrame>,
    queues: usize,
    /// Bit q: queue q pauses.
    lossless: u8,
    xoff: Xoff,
    xon_offset: u64,
    quanta: u16,
    /// Bytes in the whole switch that are not in headroom.
    shared: u64,
}

/// Memory that is not shared: headroom, and a full-size packet, for each port and lossless class; with a static XOFF, that.
#[must_use]
pub fn set_aside(settings: &SwitchSettings, site: &SwitchSite) -> Bytes {
    let each = site.full_packet + settings.pfc.xoff.unwrap_or(Bytes::ZERO);
    let lossless = u64::from(settings.pfc.lossless(settings.queues as usize).count_ones());
    if lossless == 0 {
        return Bytes::ZERO;
    }
    let ports = 0..site.rates.len();
    ports.fold(Bytes::ZERO, |sum, port| sum + (headroom_of(settings, site, port) + each) * lossless)
}

/// Headroom of a port, for each of its lossless classes.
fn headroom_of(settings: &SwitchSettings, site: &SwitchSite, port: usize) -> Bytes {
    settings.pfc.headroom.unwrap_or_else(|| needed(settings, site, port))
}

/// What cable, speed, packet size and response time of a port need as headroom, whatever the settings set aside.
#[must_use]
pub fn needed(settings: &SwitchSettings, site: &SwitchSite, port: usize) -> Bytes {
    let rate = site.rates[port];
    headroom(&Situation {
        rate,
        cable: site.cables[port],
        latency: settings.latency,
        response: settings.pfc.response_at(rate),
        full: site.full_packet,
    })
}

impl Ingress {
    /// Of an empty switch; `None` if no class pauses.
    pub(crate) fn new(settings: &SwitchSettings, site: &SwitchSite) -> Option<Ingress> {
        let pfc = &settings.pfc;
        if !pfc.is_on() {
            return None;
        }
        let queues = settings.queues as usize;
        let group = |slot: usize| {
            let counters = PauseCounters {
                headroom: headroom_of(settings, site, slot / queues),
                ..PauseCounters::default()
            };
            Group { counters, ..Group::default() }
        };
        let pool =
            settings.buffer.map_or(u64::MAX, |buffer| buffer.0.saturating_sub(set_aside(settings, site).0));
        Some(Ingress {
            groups: (0..site.rates.len() * queues).map(group).collect(),
            frames: vec![PauseFrame::default(); site.rates.len()],
            queues,
            lossless: pfc.lossless(queues),
            xoff: pfc.xoff.map_or(Xoff::Dynamic { alpha: pfc.alpha, pool }, |bytes| Xoff::Static(bytes.0)),
            xon_offset: pfc.xon_offset.0,
            quanta: pfc.quanta as u16,
            shared: 0,
        })
    }

    pub(crate) fn is_lossless(&self, queue: usize) -> bool {
        self.lossless >> queue & 1 == 1
    }

    /// Whether a queue has memory of its own, so that the sharing rule need not know of what it holds.
    pub(crate) fn keeps(&self, queue: usize) -> bool {
        self.is_lossless(queue) && matches!(self.xoff, Xoff::Static(_))
    }

    /// Whether a packet of a lossless class that came in by `port` has room.
    pub(crate) fn has_room(&self, port: PortId, queue: usize, wire: u16) -> bool {
        let group = &self.groups[port.index() * self.queues + queue];
        !group.stopped || group.beyond + u64::from(wire) <= group.counters.headroom.0
    }

    /// A packet is stored. True if there is something to tell to the far end of its port.
    pub(crate) fn stored(&mut self, port: PortId, queue: usize, wire: u16) -> bool {
        let wire = u64::from(wire);
        if !self.is_lossless(queue) {
            self.shared += wire;
            return false;
        }
        let group = &mut self.groups[port.index() * self.queues + queue];
        group.used += wire;
        if group.stopped {
            group.beyond += wire;
            group.counters.headroom_peak = group.counters.headroom_peak.max(Bytes(group.beyond));
            return false;
        }
        self.shared += wire;
        let group = &self.groups[port.index() * self.queues + queue];
        if group.used as f64 <= self.limit() {
            return false;
        }
        let group = &mut self.groups[port.index() * self.queues + queue];
        group.stopped = true;
        group.counters.stops += 1;
        self.frames[port.index()].set(queue, self.quanta);
        true
    }

    /// A packet is gone. True if there is something to tell to the far end of the port by which it came in.
    pub(crate) fn released(&mut self, port: PortId, queue: usize, wire: u16) -> bool {
        let wire = u64::from(wire);
        if !self.is_lossless(queue) {
            self.shared -= wire;
            return false;
        }
        let group = &mut self.groups[port.index() * self.queues + queue];
        let from_headroom = wire.min(group.beyond);
        group.used -= wire;
        group.beyond -= from_headroom;
        self.shared -= wire - from_headroom;
        self.resumes(port, queue)
    }

    /// Whether the sender of a class may go on; if so, it is to be told.
    fn resumes(&mut self, port: PortId, queue: usize) -> bool {
        let limit = self.limit();
        let group = &mut self.groups[port.index() * self.queues + queue];
        let low = group.used == 0 || (group.used + self.xon_offset) as f64 <= limit;
        if !group.stopped || group.beyond > 0 || !low {
            return false;
        }
        group.stopped = false;
        group.counters.resumes += 1;
        self.frames[port.index()].set(queue, 0);
        true
    }

    /// What a class may hold now.
    fn limit(&self) -> f64 {
        match self.xoff {
            Xoff::Static(bytes) => bytes as f64,
            Xoff::Dynamic { alpha, pool } => alpha * pool.saturating_sub(self.shared) as f64,
        }
    }

    /// A sender may go on when no more of it is left than this, if nothing else were stored.
    pub(crate) fn goes_on_at(&self) -> Bytes {
        let xoff = match self.xoff {
            Xoff::Static(bytes) => bytes as f64,
            // Of a class that alone holds x: x <= alpha (pool - x).
            Xoff::Dynamic { alpha, pool } => alpha * pool as f64 / (1.0 + alpha),
        };
        Bytes((xoff as u64).saturating_sub(self.xon_offset))
    }

    /// The pauses of a port are about to end: those that are still needed are asked for again. True if there is something
    /// to tell.
    pub(crate) fn refresh(&mut self, port: PortId) -> bool {
        for queue in 0..self.queues {
            let stopped = self.groups[port.index() * self.queues + queue].stopped;
            if stopped && !self.resumes(port, queue) {
                self.frames[port.index()].set(queue, self.quanta);
            }
        }
        self.frames[port.index()].classes != 0
    }

    /// Takes what is to be told to the far end of a port.
    pub(crate) fn take(&mut self, port: PortId) -> Option<PauseFrame> {
        let frame = std::mem::take(&mut self.frames[port.index()]);
        (frame.classes != 0).then_some(frame)
    }

    pub(crate) fn has_frame(&self, port: PortId) -> bool {
        self.frames[port.index()].classes != 0
    }

    /// Whether the sender of a class has been asked to stop.
    pub(crate) fn has_stopped(&self, port: PortId, queue: usize) -> bool {
        self.groups[port.index() * self.queues + queue].stopped
    }

    pub(crate) fn counters(&self, port: PortId, queue: usize) -> PauseCounters {
        self.groups[port.index() * self.queues + queue].counters
    }
}
