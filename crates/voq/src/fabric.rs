//! The path of a packet from the input of a chassis to its output: into a virtual output queue and, once there is
//! credit, across the fabric.

use weft_core::record::Reason;
use weft_core::{Bytes, Ecn, Headers, PacketId, PortId, Random, Rate, Span, Time};
use weft_mark::{Action, AnyMarker, MarkerSettings, Sight};
use weft_queue::schedule::SchedulerSettings;

use crate::credits::Credits;
use crate::egress::{ByShaping, Due, Egress, PacketCrossing};
use crate::key::VoqKey;
use crate::memory::TieredMemory;
use crate::settings::VoqSettings;
use crate::voq::Voq;

mod credit_loop;

/// The facts about its switch that a fabric needs.
#[derive(Clone, Copy, Debug)]
pub struct FabricSite<'a> {
    /// Line rate of each port.
    pub rates: &'a [Rate],
    /// Number of classes, each with its own queue for every output.
    pub classes: usize,
    /// The marker of every virtual output queue.
    pub ecn: &'a MarkerSettings,
    /// How outputs divide credits among classes.
    pub schedule: &'a SchedulerSettings,
}

/// A packet that has been stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Entered {
    /// Whether it was marked.
    pub marked: bool,
    /// If present, [`VoqFabric::advance`], or [`VoqFabric::cross`] if it foresees departures, must be called for its output at this time.
    pub wake: Option<Time>,
}

/// A packet that has left a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A packet arrives at the output.
    Arrived {
        /// The packet.
        packet: PacketId,
        /// Whether it was marked when it left its queue.
        marked: bool,
    },
    /// A marker has dropped a packet that already had credit.
    Dropped(PacketId),
}

/// The virtual output queues of a switch and the fabric behind them.
pub struct VoqFabric {
    voqs: Vec<Voq>,
    outputs: Vec<Egress>,
    memory: TieredMemory,
    classes: usize,
    groups: usize,
    /// The group of each port.
    group_of: Box<[u16]>,
    credit: u64,
    credit_delay: Span,
    crossing: Span,
    spill: u64,
    output: u64,
}

impl VoqFabric {
    /// An empty fabric.
    #[must_use]
    pub fn new(settings: &VoqSettings, site: &FabricSite<'_>) -> VoqFabric {
        let (groups, ports) = (settings.groups as usize, site.rates.len());
        let queue = |port: usize| Voq::new(AnyMarker::new(site.ecn, site.rates[port]));
        let voqs = (0..groups).flat_map(|_| (0..site.rates.len()).flat_map(|port| vec![port; site.classes]));
        // An output must not drain more than a quarter of its contents while it grants nothing.
        let pause = settings.credit.min(Bytes(settings.output.0 / 4));
        let credits = |line: &Rate| {
            let after = |bytes: Bytes| Span((line.time_for(bytes).0 as f64 / settings.speedup) as u64);
            Credits::new(site.schedule, site.classes, (after(settings.credit), after(pause)))
        };
        VoqFabric {
            voqs: voqs.map(queue).collect(),
            outputs: site.rates.iter().map(|rate| Egress::new(credits(rate), settings.limit.0)).collect(),
            memory: TieredMemory::new(settings),
            classes: site.classes,
            groups,
            group_of: (0..ports).map(|port| settings.group_of(port, ports)).collect(),
            credit: settings.credit.0,
            credit_delay: settings.credit_delay,
            crossing: settings.crossing,
            spill: settings.spill.0,
            output: settings.output.0,
        }
    }

    /// Bit c of `classes`: class c of a port is behind a shaper that does not slow down all classes; must be called before any packet.
    pub fn shape(&mut self, port: PortId, classes: u8) {
        self.outputs[port.index()].shaped = classes;
    }

    /// Sets a port's own marks, schedule and limits at its virtual output queues, which must be empty.
    pub fn set_up(
        &mut self,
        port: PortId,
        (ecn, line): (&MarkerSettings, Rate),
        schedule: &SchedulerSettings,
        limit: Option<Bytes>,
    ) {
        for number in self.queues_of(port) {
            self.voqs[number].marker = AnyMarker::new(ecn, line);
        }
        let own = &mut self.outputs[port.index()];
        own.credits.share_by(schedule);
        own.limit = limit.map_or(own.limit, |limit| limit.0.min(own.limit));
    }

    /// The group of an input.
    #[must_use]
    pub fn group_of(&self, input: PortId) -> u16 {
        self.group_of[input.index()]
    }

    /// From now on, the events of an output are processed late and in batches. The owner must be able to say
    /// afterwards how much the output held at any past instant, and must call [`VoqFabric::catch_up`] before a packet
    /// enters for it. What happens, and when, does not change. Packets that cross are taken with
    /// [`VoqFabric::cross`], not [`VoqFabric::advance`]. No marker of the output may [act on
    /// departures](VoqFabric::acts_on_departures), and its link must not change state.
    pub fn foresee(&mut self, port: PortId) {
        let unmarked =
            self.queues_of(port).iter().map(|number| self.voqs[*number].marker.passes_up_to()).min();
        let output = &mut self.outputs[port.index()];
        output.calm_up_to = unmarked.unwrap_or(0).min(output.limit).min(self.spill);
        output.foresee(self.credit_delay, self.crossing);
    }

    /// Whether a marker of an output acts on departures from a virtual output queue.
    #[must_use]
    pub fn acts_on_departures(&self, port: PortId) -> bool {
        self.queues_of(port).into_iter().any(|number| self.voqs[number].marker.looks_at_departures())
    }

    /// Whether the chip of a group may lack room for a packet, so that all outputs must [catch
    /// up](VoqFabric::catch_up) before it enters.
    pub fn is_tight(&mut self, now: Time, group: u16, wire: u16) -> bool {
        !self.memory.has_room(now, usize::from(group), wire)
    }

    /// Processes events due before `now` at an output that foresees departures; `behind` is as for
    /// [`VoqFabric::advance`].
    #[inline]
    pub fn catch_up(
        &mut self,
        now: Time,
        (port, behind): (PortId, impl FnMut(Time) -> ByShaping),
        headers: &mut Headers,
        random: &mut Random,
    ) {
        let output = &self.outputs[port.index()];
        if output.foresees() && output.due.front().is_some_and(|(at, _)| at < now) {
            let dropped = self.process(now, (port, behind), headers, random);
            debug_assert!(dropped.is_none(), "no marker acts on departures");
        }
    }

    /// Returns the time at which a packet reaches an output that foresees departures, if it crosses the fabric at
    /// once: it finds credit, no event is pending, and no limit or marker needs asking. It arrives after all earlier
    /// packets. Otherwise it must [enter](VoqFabric::enter).
    #[inline(always)]
    pub fn pass(&mut self, now: Time, key: VoqKey, wire: u16) -> Option<Time> {
        let number = number(key, self.classes, self.queues_per_group());
        let (voq, output) = (&mut self.voqs[number], &self.outputs[key.port.index()]);
        let passes = voq.has_spare_credit() && output.is_calm(now, wire);
        if !passes || !self.memory.surely_has_room(usize::from(key.group), wire) {
            return None;
        }
        voq.balance -= i64::from(wire);
        Some(voq.leaves(now) + self.crossing)
    }

    /// Stores a packet from a port of a group for an output. If the output foresees departures, its transmitter is busy until
    /// `free` with what it holds.
    ///
    /// # Errors
    /// The reason for dropping it: its queue, the chip or the deep memory is full, or its marker drops it.
    pub fn enter(
        &mut self,
        now: Time,
        key: VoqKey,
        (packet, headers): (PacketId, &mut Headers),
        (random, free): (&mut Random, Time),
    ) -> Result<Entered, Reason> {
        let number = number(key, self.classes, self.queues_per_group());
        let (voq, output) = (&mut self.voqs[number], &mut self.outputs[key.port.index()]);
        let header = headers.get_mut(packet);
        let wire = header.wire;
        let mut action = Action::Pass;
        if output.waiting + u64::from(wire) > output.calm_up_to {
            if voq.queue.bytes + u64::from(wire) > output.limit {
                return Err(Reason::PortFull);
            }
            let sight = Sight::new(now, header, (voq.queue.bytes, output.waiting));
            action = voq.marker.arriving(&sight, random);
        }
        if action == Action::Drop {
            return Err(Reason::Early);
        }
        let marked = action == Action::Mark;
        let spills = !voq.deep.is_empty() || voq.queue.bytes + u64::from(wire) > self.spill;
        let leaves = voq.has_spare_credit();
        if spills {
            voq.deep.push_back(self.memory.write(now, usize::from(key.group), wire)?);
            output.deep += 1;
        } else {
            self.memory.keep(now, usize::from(key.group), wire)?;
        }
        if marked {
            header.marks.ecn = Ecn::Marked;
        }
        voq.push(packet, headers);
        output.waiting += u64::from(wire);
        if leaves {
            if self.send((now, key), headers, random).is_some() {
                return Err(Reason::Early);
            }
        } else if !std::mem::replace(&mut voq.asks, true) {
            output.add(now + self.credit_delay, Due::Request(key));
        } else if !spills {
            // It follows others, for which the owner already has to call.
            return Ok(Entered { marked, wake: None });
        }
        let wake = self.outputs[key.port.index()].call(free);
        Ok(Entered { marked, wake })
    }

    /// Returns the packets that leave the fabric at an output by `now`, one per call, in order of arrival. `behind`
    /// gives the number of bytes, by [shaping](VoqFabric::shape), that the output holds behind the fabric at an instant
    /// up to `now`, without those that leave at that instant; it is called in order of time.
    pub fn advance(
        &mut self,
        now: Time,
        (port, behind): (PortId, impl FnMut(Time) -> ByShaping),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<Passed> {
        if let Some(packet) = self.process(Time(now.0 + 1), (port, behind), headers, random) {
            return Some(Passed::Dropped(packet));
        }
        let PacketCrossing { packet, marked, .. } = self.outputs[port.index()].arrive(now)?;
        Some(Passed::Arrived { packet, marked })
    }

    /// Returns the next packet to arrive at an output that [foresees](VoqFabric::foresee) departures, with its time,
    /// once no other packet can overtake it. Call [`VoqFabric::catch_up`] for `now` first.
    #[inline]
    pub fn cross(&mut self, now: Time, port: PortId) -> Option<(PacketId, Time)> {
        let until = now + self.crossing;
        let PacketCrossing { packet, at, .. } = self.outputs[port.index()].arrive(until)?;
        Some((packet, at))
    }

    /// When [`VoqFabric::advance`] or [`VoqFabric::cross`] must be called again; `None` if the owner has already been
    /// asked. Call it when they return nothing more; `free` is as for [`VoqFabric::enter`].
    pub fn next(&mut self, now: Time, port: PortId, free: Time) -> Option<Time> {
        let output = &mut self.outputs[port.index()];
        if output.called <= now {
            output.called = Time::NEVER;
        }
        output.call(free)
    }

    /// Removes one packet that waits for an output whose link is down; the caller must drop it.
    pub fn flush(&mut self, now: Time, port: PortId, headers: &Headers) -> Option<PacketId> {
        let number = self.queues_of(port).into_iter().find(|number| self.voqs[*number].packets > 0)?;
        let group = number / self.queues_per_group();
        let (packet, written) = self.voqs[number].pop(headers)?;
        let wire = headers.get(packet).wire;
        match written {
            Some(_) => self.memory.discard(wire),
            None => self.memory.take(group, wire),
        }
        let output = &mut self.outputs[port.index()];
        output.waiting -= u64::from(wire);
        output.deep -= usize::from(written.is_some());
        if self.voqs[number].rests() {
            let class = (number % self.classes) as u8;
            let key = VoqKey { group: group as u16, port, class };
            output.add(now + self.credit_delay, Due::Withdrawal(key));
        }
        Some(packet)
    }

    /// Bytes in the first `classes` queues of a group for an output: everything that an engine of that group sees.
    #[must_use]
    pub fn load(&self, group: u16, port: PortId, classes: usize) -> u64 {
        let first = number(VoqKey { group, port, class: 0 }, self.classes, self.queues_per_group());
        self.voqs[first..first + classes].iter().map(|voq| voq.queue.bytes).sum()
    }

    /// Bytes on the chips, and in deep memory.
    pub fn held(&mut self, now: Time) -> (Bytes, Bytes) {
        self.memory.held(now)
    }

    fn queues_per_group(&self) -> usize {
        self.outputs.len() * self.classes
    }

    /// The virtual output queues for an output, of all groups.
    fn queues_of(&self, port: PortId) -> Vec<usize> {
        let queue = |group: usize| {
            let first = group * self.queues_per_group() + port.index() * self.classes;
            first..first + self.classes
        };
        (0..self.groups).flat_map(queue).collect()
    }
}

/// The index of a virtual output queue among all.
fn number(key: VoqKey, classes: usize, per_group: usize) -> usize {
    usize::from(key.group) * per_group + key.port.index() * classes + usize::from(key.class)
}
