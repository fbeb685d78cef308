//! Pauses and resumes that each port must send to the far end of its cable, by class. The ingress accounting decides
//! when: [`Own`] with ordinary sharing rules, [`IngressMemory`] under chip memory management.

use weft_core::record::Reason;
use weft_core::{Bytes, PortId};

use super::own::Own;
use super::{PauseCounters, PauseFrame};
use crate::groups::PriorityGroups;
use crate::pause::arrivals::IngressMemory;
use crate::settings::SwitchSettings;
use crate::share::SharingSettings;
use crate::site::SwitchSite;
use weft_pfc::{Blame, ResumeLimit};

/// The accounting for the bytes of each ingress port.
#[derive(Clone, Debug)]
enum Books {
    Own(Own),
    Mmu(IngressMemory),
}

/// One priority group of one port.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Whether the sender has been paused.
    stopped: bool,
    counters: PauseCounters,
}

/// The pauses and resumes that a switch owes the far ends of its ports.
#[derive(Clone, Debug)]
pub(crate) struct Ingress {
    /// By port, then queue; the state of a group is that of its lowest queue.
    groups: Vec<Group>,
    group_of: PriorityGroups,
    /// The frame due for the far end of each port.
    frames: Vec<PauseFrame>,
    books: Books,
    blame: Blame,
    /// The number of groups whose senders have been paused.
    stopped: usize,
    queues: usize,
    /// Bit q: queue q pauses.
    lossless: u8,
    quanta: u16,
}

impl Ingress {
    /// The state of an empty switch; `None` if the ingress port of packets does not matter.
    pub(crate) fn new(settings: &SwitchSettings, site: &SwitchSite) -> Option<Ingress> {
        let books = match &settings.sharing {
            SharingSettings::Mmu(own) => Books::Mmu(IngressMemory::new(own, settings, site)),
            _ if settings.pfc.is_on() => Books::Own(Own::new(settings, site)),
            _ => return None,
        };
        let queues = settings.queues as usize;
        let lossless = settings.pfc.lossless(queues);
        let mut ingress = Ingress {
            groups: vec![Group::default(); site.rates.len() * queues],
            group_of: PriorityGroups::new(settings),
            frames: vec![PauseFrame::default(); site.rates.len()],
            books,
            blame: Blame::new(site.rates.len(), queues, lossless),
            stopped: 0,
            queues,
            lossless,
            quanta: settings.pfc.quanta as u16,
        };
        for slot in 0..ingress.groups.len() {
            ingress.groups[slot].counters.headroom =
                Bytes(ingress.headroom((slot / queues, slot % queues)).1);
        }
        Some(ingress)
    }

    #[inline]
    pub(crate) fn is_lossless(&self, queue: usize) -> bool {
        self.lossless >> queue & 1 == 1
    }

    /// The bytes of a packet that are about to be charged to the pool of the sharing rule, beside headroom and memory of
    /// the class; `None`: its queue is charged by that rule itself.
    #[inline]
    pub(crate) fn pooled(&self, port: PortId, queue: usize, wire: u16) -> Option<u64> {
        let Books::Own(own) = &self.books else { return None };
        let apart = own.keeps_apart() || self.has_stopped(port, queue);
        self.is_lossless(queue).then_some(if apart { 0 } else { u64::from(wire) })
    }

    /// The same for a packet that is about to leave: headroom is released first.
    #[inline]
    pub(crate) fn pooled_of_leaving(&self, port: PortId, queue: usize, wire: u16) -> Option<u64> {
        let Books::Own(own) = &self.books else { return None };
        let in_headroom = own.headroom(self.account(port, queue)).0;
        let pooled = if own.keeps_apart() { 0 } else { u64::from(wire).saturating_sub(in_headroom) };
        self.is_lossless(queue).then_some(pooled)
    }

    /// The account of the packets of a queue that entered by a port: the port, and the group by its lowest queue.
    #[inline]
    fn account(&self, port: PortId, queue: usize) -> (usize, usize) {
        (port.index(), self.group_of.of(queue))
    }

    #[inline]
    fn group(&mut self, (port, group): (usize, usize)) -> &mut Group {
        &mut self.groups[port * self.queues + group]
    }

    /// Puts a pause time into the frame for the far end of a port, for every queue in a group.
    fn tell(&mut self, port: PortId, queue: usize, quanta: u16) {
        let frame = &mut self.frames[port.index()];
        self.group_of.members(queue).for_each(|member| frame.set(member, quanta));
    }

    fn headroom(&self, at: (usize, usize)) -> (u64, u64) {
        match &self.books {
            Books::Own(own) => own.headroom(at),
            Books::Mmu(arrivals) => arrivals.headroom(at),
        }
    }

    /// Whether there is room for a packet that entered by `port`.
    #[inline]
    pub(crate) fn admit(&self, port: PortId, queue: usize, wire: u16) -> Result<(), Reason> {
        let (at, wire) = (self.account(port, queue), u64::from(wire));
        match &self.books {
            Books::Own(own) => own.admit(at, wire, self.has_stopped(port, queue)),
            Books::Mmu(arrivals) => arrivals.admit(at, wire),
        }
    }

    /// Called when a packet that entered by `port` is stored in a queue. Returns `true` if `port` must send a frame.
    #[inline]
    pub(crate) fn stored(&mut self, port: PortId, to: (PortId, usize), wire: u16) -> bool {
        let queue = to.1;
        if self.is_lossless(queue) {
            self.blame.stored(port, to, wire);
        }
        let (at, wire) = (self.account(port, queue), u64::from(wire));
        let stopped = self.has_stopped(port, queue);
        let stops = match &mut self.books {
            Books::Own(own) => own.stored(at, wire, stopped),
            Books::Mmu(arrivals) => arrivals.stored(at, wire),
        };
        if !stops {
            return false;
        }
        let used = Bytes(self.headroom(at).0);
        let group = self.group(at);
        group.counters.headroom_peak = group.counters.headroom_peak.max(used);
        self.stop(port, queue)
    }

    /// Called when the sender of a class must be paused. Returns `true` if a frame is needed, `false` if it is
    /// already paused.
    pub(crate) fn stop(&mut self, port: PortId, queue: usize) -> bool {
        let at = self.account(port, queue);
        let group = self.group(at);
        if std::mem::replace(&mut group.stopped, true) {
            return false;
        }
        group.counters.stops += 1;
        self.stopped += 1;
        self.blame.stopped(port, self.group_of.members(queue));
        self.tell(port, queue, self.quanta);
        true
    }

    /// Called when a packet that entered by `port` has left. Returns `true` if `port` must send a frame.
    #[inline]
    pub(crate) fn released(&mut self, port: PortId, to: (PortId, usize), wire: u16) -> bool {
        let queue = to.1;
        if self.is_lossless(queue) {
            self.blame.released(port, to, wire);
        }
        let (at, wire) = (self.account(port, queue), u64::from(wire));
        match &mut self.books {
            Books::Own(own) => own.released(at, wire),
            Books::Mmu(arrivals) => arrivals.released(at, wire),
        }
        self.is_lossless(queue) && self.resumes(port, queue)
    }

    /// Whether the paused sender of a class may resume; if so, a resume frame must be sent.
    #[inline]
    fn resumes(&mut self, port: PortId, queue: usize) -> bool {
        self.has_stopped(port, queue) && self.resumes_if_low(port, queue)
    }

    #[inline(never)]
    fn resumes_if_low(&mut self, port: PortId, queue: usize) -> bool {
        let at = self.account(port, queue);
        let low = match &self.books {
            Books::Own(own) => own.is_low(at),
            Books::Mmu(arrivals) => arrivals.is_low(at),
        };
        if !low {
            return false;
        }
        let group = self.group(at);
        group.stopped = false;
        group.counters.resumes += 1;
        self.stopped -= 1;
        self.tell(port, queue, 0);
        true
    }

    /// The number of bytes in the switch up to which no sender can be paused, unless memory is managed as on a chip.
    pub(crate) fn quiet_up_to(&self) -> Option<u64> {
        match &self.books {
            Books::Own(own) => Some(own.quiet_up_to()),
            Books::Mmu(_) => None,
        }
    }

    pub(crate) fn groups(&self) -> &PriorityGroups {
        &self.group_of
    }

    /// See [`Own::room`].
    pub(crate) fn room(&self, uncharged: &[u64], total: u64) -> u64 {
        match &self.books {
            Books::Own(own) => own.room(uncharged, total),
            Books::Mmu(_) => 0,
        }
    }

    /// Bytes charged outside headroom.
    #[inline]
    pub(crate) fn shared(&self) -> u64 {
        match &self.books {
            Books::Own(own) => own.shared(),
            Books::Mmu(_) => 0,
        }
    }

    /// Whether no sender is paused and no frame is due.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.stopped == 0 && self.frames.iter().all(|frame| frame.classes == 0)
    }

    /// When a paused sender of a class may resume.
    pub(crate) fn resumes_at(&self, queue: usize) -> ResumeLimit {
        match &self.books {
            Books::Own(own) => own.resumes_at(),
            Books::Mmu(arrivals) => arrivals.resumes_at(self.group_of.of(queue)),
        }
    }

    /// Bytes of a class from a port in headroom or minima.
    pub(crate) fn apart(&self, port: PortId, queue: usize) -> u64 {
        let at = self.account(port, queue);
        match &self.books {
            Books::Own(own) => own.headroom(at).0,
            Books::Mmu(arrivals) => arrivals.apart(at),
        }
    }

    /// Under chip memory management: bytes within minima, in all pools, and in headroom.
    pub(crate) fn charged(&self) -> Option<(u64, u64, u64)> {
        match &self.books {
            Books::Own(_) => None,
            Books::Mmu(arrivals) => Some(arrivals.charged()),
        }
    }

    /// Called when the pauses of a port are about to expire: refreshes those still needed. Returns `true` if there is
    /// a frame to send.
    pub(crate) fn refresh(&mut self, port: PortId) -> bool {
        for group in self.group_of.all() {
            if self.has_stopped(port, group) && !self.resumes(port, group) {
                self.tell(port, group, self.quanta);
            }
        }
        self.frames[port.index()].classes != 0
    }

    /// Takes the frame due for the far end of a port.
    #[inline]
    pub(crate) fn take(&mut self, port: PortId) -> Option<PauseFrame> {
        let frame = &mut self.frames[port.index()];
        if frame.classes == 0 { None } else { Some(std::mem::take(frame)) }
    }

    pub(crate) fn has_frame(&self, port: PortId) -> bool {
        self.frames[port.index()].classes != 0
    }

    /// Whether the sender of a class is paused.
    #[inline]
    pub(crate) fn has_stopped(&self, port: PortId, queue: usize) -> bool {
        self.groups[port.index() * self.queues + self.group_of.of(queue)].stopped
    }

    /// Counts a packet for which the input had no room.
    pub(crate) fn discarded(&mut self, port: PortId, queue: usize) {
        self.groups[port.index() * self.queues + queue].counters.in_discards += 1;
    }

    /// The counters of a queue. A group pauses all its queues, so that each has its stops, resumes and headroom.
    pub(crate) fn counters(&self, port: PortId, queue: usize) -> PauseCounters {
        let of = |queue: usize| self.groups[port.index() * self.queues + queue].counters;
        PauseCounters {
            caused: self.blame.stops((port, queue)),
            in_discards: of(queue).in_discards,
            ..of(self.group_of.of(queue))
        }
    }

    /// Called when the far end holds or releases a queue.
    pub(crate) fn hold(&mut self, at: (PortId, usize), held: bool) {
        self.blame.hold(at, held);
    }

    /// Whether a queue has made the switch pause a sender since it was last empty.
    #[inline]
    pub(crate) fn is_congested(&self, at: (PortId, usize)) -> bool {
        self.blame.is_any_marked() && self.blame.is_congested(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PfcSettings;

    /// Port 0 is stopped because port 1 has used up the memory. When memory is free again, no packet from port 0
    /// leaves; so its sender is released when its pause is due to be refreshed.
    #[test]
    fn a_sender_that_may_go_on_is_not_stopped_again() {
        let pfc = PfcSettings {
            classes: vec![0],
            alpha: 1.0,
            xon_offset: Bytes(1_000),
            headroom: Some(Bytes(2_000)),
            ..PfcSettings::default()
        };
        let buffer = Some(Bytes(17_000));
        let site = SwitchSite::of_two_ports();
        let settings = SwitchSettings { pfc, buffer, ..SwitchSettings::default() };
        let mut ingress = Ingress::new(&settings, &site).expect("a class pauses");
        let (a, b) = (PortId(0), PortId(1));
        ingress.stored(b, (a, 0), 9_000);
        assert!(ingress.stored(a, (b, 0), 1_001) && ingress.take(a).is_some_and(PauseFrame::stops));
        assert!(ingress.refresh(a) && ingress.take(a).is_some_and(PauseFrame::stops), "it must stay stopped");
        for wire in [500, 100] {
            ingress.stored(a, (b, 0), wire);
            ingress.released(a, (b, 0), wire);
        }
        assert_eq!(ingress.counters(a, 0).headroom_peak, Bytes(500));
        ingress.released(b, (a, 0), 9_000);
        assert!(ingress.refresh(a) && ingress.take(a).is_some_and(|frame| !frame.stops()));
        assert!(!ingress.refresh(a), "nothing is left to say");
    }
}
