//! The path of a packet from the input of a chassis to its output: into a virtual output queue and, once there is
//! credit, across the fabric.

use weft_core::record::Reason;
use weft_core::{Bytes, Ecn, Headers, PacketId, PortId, Random, Rate, Span, Time};
use weft_mark::{Action, AnyMarker, MarkerSettings, Sight};
use weft_queue::schedule::SchedulerSettings;

use crate::credits::Credits;
use crate::egress::{Due, Egress};
use crate::key::VoqKey;
use crate::memory::TieredMemory;
use crate::settings::VoqSettings;
use crate::voq::Voq;

/// What a fabric needs to know about its switch.
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
    /// If present, [`VoqFabric::advance`] must be called for its output at this time.
    pub wake: Option<Time>,
}

/// What has left a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A packet has arrived at the output; true if it was marked when it left its queue.
    Arrived(PacketId, bool),
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
        // A quarter of what an output holds must not drain while it grants nothing.
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

    /// Stores a packet from a port of a group for an output.
    ///
    /// # Errors
    /// The reason for dropping it: its queue, the chip or the deep memory is full, or its marker drops it.
    pub fn enter(
        &mut self,
        now: Time,
        key: VoqKey,
        (packet, headers): (PacketId, &mut Headers),
        random: &mut Random,
    ) -> Result<Entered, Reason> {
        let number = number(key, self.classes, self.queues_per_group());
        let (voq, output) = (&mut self.voqs[number], &mut self.outputs[key.port.index()]);
        let header = headers.get_mut(packet);
        let wire = header.wire;
        if voq.queue.bytes + u64::from(wire) > output.limit {
            return Err(Reason::PortFull);
        }
        let sight = Sight { now, packet: header, queue: voq.queue.bytes, port: output.waiting };
        let action = voq.marker.arriving(&sight, random);
        if action == Action::Drop {
            return Err(Reason::Early);
        }
        let spills = !voq.deep.is_empty() || voq.queue.bytes + u64::from(wire) > self.spill;
        if spills {
            voq.deep.push_back(self.memory.write(now, usize::from(key.group), wire)?);
        } else {
            self.memory.keep(now, usize::from(key.group), wire)?;
        }
        if action == Action::Mark {
            header.marks.ecn = Ecn::Marked;
        }
        let leaves = voq.packets == 0 && voq.balance > 0;
        voq.push(packet, headers);
        output.waiting += u64::from(wire);
        if leaves {
            if self.send((now, key), headers, random).is_some() {
                return Err(Reason::Early);
            }
        } else if !std::mem::replace(&mut voq.asks, true) {
            output.add(now + self.credit_delay, Due::Request(key));
        }
        let wake = self.outputs[key.port.index()].call();
        Ok(Entered { marked: action == Action::Mark, wake })
    }

    /// What has left the fabric at an output by `now`, one packet per call; `behind` is the number of bytes that the
    /// output holds behind the fabric.
    pub fn advance(
        &mut self,
        now: Time,
        (port, behind): (PortId, u64),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<Passed> {
        loop {
            let (at, due) = self.outputs[port.index()].due.pop_front_if(|(at, _)| *at <= now)?;
            let output = &mut self.outputs[port.index()];
            match due {
                Due::Request(key) => {
                    output.credits.request(usize::from(key.class), key.group);
                    output.grant_soon(at);
                }
                Due::Withdrawal(key) => output.credits.withdraw(usize::from(key.class), key.group),
                Due::Grant => self.grant(at, port, behind),
                Due::Credit(key) => {
                    output.under_way -= self.credit;
                    output.due.push_front((at, Due::Spending(key)));
                    let number = number(key, self.classes, self.queues_per_group());
                    self.voqs[number].balance += self.credit as i64;
                }
                Due::Spending(key) => {
                    if let Some(packet) = self.spend((at, key), headers, random) {
                        return Some(Passed::Dropped(packet));
                    }
                }
                Due::Arrival { packet, wire, marked } => {
                    output.under_way -= u64::from(wire);
                    return Some(Passed::Arrived(packet, marked));
                }
            }
        }
    }

    /// When [`VoqFabric::advance`] must be called again, if the owner has not been asked yet. To be called when it has
    /// nothing left.
    pub fn next(&mut self, now: Time, port: PortId) -> Option<Time> {
        let output = &mut self.outputs[port.index()];
        if output.called <= now {
            output.called = Time::NEVER;
        }
        output.call()
    }

    /// Removes one packet that waits for an output whose link is down, to be dropped.
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
        if self.voqs[number].rests() {
            let class = (number % self.classes) as u8;
            let key = VoqKey { group: group as u16, port, class };
            output.add(now + self.credit_delay, Due::Withdrawal(key));
        }
        Some(packet)
    }

    /// Bytes in the first `classes` queues of a group for an output: all that an engine of that group sees.
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

    /// Grants a credit, unless enough is on its way.
    fn grant(&mut self, now: Time, port: PortId, behind: u64) {
        let output = &mut self.outputs[port.index()];
        output.granting = false;
        if behind + output.under_way >= self.output {
            output.credits.skip(now);
        } else if let Some((class, group)) = output.credits.grant(now) {
            output.under_way += self.credit;
            let key = VoqKey { group, port, class: class as u8 };
            output.add(now + self.credit_delay, Due::Credit(key));
        }
        output.grant_soon(now);
    }

    /// A queue sends what its credit allows, as far as the first packet that its marker drops, which is returned; what is
    /// left of the credit waits for its next packets.
    fn spend(
        &mut self,
        (now, key): (Time, VoqKey),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<PacketId> {
        let number = number(key, self.classes, self.queues_per_group());
        while self.voqs[number].may_send() {
            let dropped = self.send((now, key), headers, random);
            if dropped.is_some() {
                self.outputs[key.port.index()].due.push_front((now, Due::Spending(key)));
                return dropped;
            }
        }
        if self.voqs[number].rests() {
            self.outputs[key.port.index()].add(now + self.credit_delay, Due::Withdrawal(key));
        }
        None
    }

    /// The first packet of a queue leaves for the output, on credit. Returns it if its marker drops it.
    fn send(
        &mut self,
        (now, key): (Time, VoqKey),
        headers: &mut Headers,
        random: &mut Random,
    ) -> Option<PacketId> {
        let number = number(key, self.classes, self.queues_per_group());
        let (voq, output) = (&mut self.voqs[number], &mut self.outputs[key.port.index()]);
        let (packet, written) = voq.pop(headers)?;
        let header = headers.get_mut(packet);
        let wire = header.wire;
        output.waiting -= u64::from(wire);
        let on_chip = match written {
            Some(written) => self.memory.read(now, written, wire),
            None => {
                self.memory.take(usize::from(key.group), wire);
                now
            }
        };
        voq.balance -= i64::from(wire);
        let sight = Sight { now, packet: header, queue: voq.queue.bytes, port: output.waiting };
        let action = voq.marker.leaving(&sight, random);
        if action == Action::Drop {
            return Some(packet);
        }
        let marked = action == Action::Mark;
        if marked {
            header.marks.ecn = Ecn::Marked;
        }
        output.under_way += u64::from(wire);
        output.add(voq.leaves(on_chip) + self.crossing, Due::Arrival { packet, wire, marked });
        None
    }
}

/// The index of a virtual output queue among all.
fn number(key: VoqKey, classes: usize, per_group: usize) -> usize {
    usize::from(key.group) * per_group + key.port.index() * classes + usize::from(key.class)
}
