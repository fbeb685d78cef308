//! The loop: take the next event, hand it to its handler. The tour of the code starts here.

use std::sync::{Arc, Mutex};

use weft_core::record::RunRecord;
use weft_core::trace::FlowTrace;
use weft_core::{FlowId, LinkId, PacketId, Time};
use weft_plan::{EngineProgress, Sink, Watch, keeping_flows};
use weft_recorder::tap::{Tap, Watching};
use weft_topology::Node;
use weft_transport::{Receiver, Sender};

use crate::calendar::Next;
use crate::collect::collect;
use crate::course::{Course, CourseStep, Standing};
use crate::domain::Domain;
use crate::event::Event;
use crate::ledger::Ledger;
use crate::parallel;
use crate::simulation::{Finish, LOOKS_AT_ONCE, Simulation, WATCH_EVERY};
use crate::wire::Wire;

impl Simulation {
    /// Runs to the end with a tap on one switch.
    #[must_use]
    pub fn run_tapped(mut self, tap: Tap) -> (RunRecord, Tap) {
        let (owner, switch) = (self.plan.partition.of_switch(tap.switch), tap.switch);
        let tap = Arc::new(Mutex::new(tap));
        self.domains[owner].devices.observe(&self.plan, switch, Box::new(Watching(Arc::clone(&tap))));
        let record = self.run(&mut |_| true);
        let tap = Arc::into_inner(tap).expect("the run is over, and with it the switch that held the tap");
        (record, tap.into_inner().expect("nobody panicked while holding the tap"))
    }

    /// Runs to the end and follows one flow: every packet of it, wherever it is. The run must have one thread.
    #[must_use]
    pub fn run_traced(mut self, flow: FlowId) -> (RunRecord, FlowTrace) {
        assert!(self.domains.len() == 1, "a flow is followed on one thread");
        let trace = self.domains[0].follow(flow);
        let record = self.run(&mut |_| true);
        let found = trace.finish(record.ended);
        (record, found)
    }

    /// Runs to the end: all flows finished, the time limit, or `watch` returns false. `watch` is called occasionally
    /// and does not change the result unless it stops the run. The record holds all flows.
    #[must_use]
    pub fn run(self, watch: Watch<'_>) -> RunRecord {
        keeping_flows(|sink| self.run_into(sink, watch))
    }

    /// Runs to the end as [`Simulation::run`] does, but hands the record of each flow to `sink` as soon as both its
    /// ends are closed, and at the end those of unfinished flows; the returned record holds none. So the memory of a
    /// run depends on the number of open flows, not on the total. The order is by completion time, then by number; it
    /// does not depend on threads.
    #[must_use]
    pub fn run_into(mut self, sink: Sink<'_>, watch: Watch<'_>) -> RunRecord {
        let plan = Arc::clone(&self.plan);
        let mut ledger = Ledger::new(&plan, sink);
        let finish = self.go(&mut ledger, watch);
        collect(self, finish, &mut ledger)
    }

    fn go(&mut self, ledger: &mut Ledger<'_>, watch: Watch<'_>) -> Finish {
        if self.domains.len() > 1 {
            parallel::run(self, ledger, watch)
        } else {
            self.run_alone(ledger, watch)
        }
    }

    /// Runs all domains on this thread.
    fn run_alone(&mut self, ledger: &mut Ledger<'_>, watch: Watch<'_>) -> Finish {
        let mut course = Course::new(&self.plan);
        let domain = &mut self.domains[0];
        let (mut interrupted, mut stuck, mut found) = (false, false, false);
        let mut looks = 0;
        loop {
            let step = course.next(&Standing { stuck, ..domain.standing(interrupted) });
            stuck = found;
            match step {
                CourseStep::Run(until) => {
                    interrupted = !domain.run_watched(until, ledger, watch);
                    course.reached = domain.cx.calendar.end();
                }
                CourseStep::Change(number) => domain.change(number),
                CourseStep::Note(now) => domain.note_carried(now),
                CourseStep::Look(now) => {
                    if let (Some(sampler), Some(look)) = (&mut self.sampler, domain.look(now)) {
                        sampler.add(now, &[look]);
                    }
                    let circle =
                        domain.cx.pauses.is_some() && self.deadlocks.look(now, domain.waits().into_iter());
                    found |= circle && domain.cx.plan.ends_by_deadlock();
                    found |= !domain.has_hope(now);
                    looks += 1;
                    if looks == LOOKS_AT_ONCE {
                        looks = 0;
                        interrupted |= !watch(&domain.progress());
                    }
                }
                CourseStep::Stop(stop) => {
                    watch(&domain.progress());
                    return Finish { stop, at: course.reached };
                }
            }
        }
    }
}

impl Domain {
    /// Runs all events before `until`, or before the end of the grid interval in which the last flow completed.
    /// `false` if the watcher or the sink wants to stop.
    fn run_watched(&mut self, until: Time, ledger: &mut Ledger<'_>, watch: Watch<'_>) -> bool {
        self.cx.calendar.set_end(until);
        while !self.run(self.events_at_once()) {
            self.note_sender();
            self.hosts.ends.closed.drain(..).for_each(|closed| ledger.add(closed));
            if !ledger.pass_on(self.cx.calendar.next_time()) || !watch(&self.progress()) {
                return false;
            }
        }
        true
    }

    /// Events until the watcher is called; one if a flow is followed.
    fn events_at_once(&self) -> u64 {
        let one = self.cx.trace.is_some();
        if one { 1 } else { WATCH_EVERY - self.cx.tally.events % WATCH_EVERY }
    }

    /// Runs events before the calendar's end, at most `budget` of them, and at least one if there is any. Returns true
    /// if none remains.
    pub(crate) fn run(&mut self, budget: u64) -> bool {
        self.left = budget;
        let done = loop {
            let (time, row, packet) = match self.cx.calendar.pop() {
                Some(next) => next,
                None => match self.next_aside() {
                    Some(next) => next,
                    None => break true,
                },
            };
            self.cx.now = time;
            match self.cx.calendar.arrival(row) {
                Some(link) => self.arrive(link, packet),
                None => match self.cx.calendar.transmission(row) {
                    Some(link) => self.transmitted(link),
                    None => self.handle(self.cx.calendar.event(row)),
                },
            }
            self.left -= 1;
            if self.left == 0 {
                break false;
            }
        };
        self.cx.tally.events += budget - self.left;
        done
    }

    /// Lands a packet at the far end of a link, unless it was lost when the cable failed.
    #[inline(always)]
    fn arrive(&mut self, link: LinkId, packet: PacketId) {
        if packet == PacketId::NONE {
            return self.cx.land_nothing(link);
        }
        let (to, port) = self.cx.land(link, packet);
        match to {
            Node::Host(host) => self.hosts.receive(&mut self.cx, host, packet),
            Node::Switch(switch) => self.devices.receive(&mut self.cx, switch, port, packet),
        }
    }

    /// Called when the last bit of a packet has left a transmitter, which is now idle.
    #[inline(never)]
    fn transmitted(&mut self, link: LinkId) {
        let &mut Wire { from, port, .. } = self.cx.wires.of(link);
        match from {
            Node::Host(host) => self.hosts.card_idle(&mut self.cx, host),
            Node::Switch(switch) => self.devices.transmitted(&mut self.cx, (switch, port), link),
        }
    }

    /// Handles a timer of the node that transmits on a link.
    fn wake(&mut self, link: LinkId) {
        let &Wire { from, port, .. } = &self.cx.wires[link];
        self.cx.calendar.take_wake(self.cx.now, link);
        match from {
            Node::Host(host) => self.hosts.host_wake(&mut self.cx, host),
            Node::Switch(switch) => self.devices.wake(&mut self.cx, switch, port),
        }
    }

    /// The next event before the calendar's end, if it is not in the wheel alone.
    #[inline(never)]
    fn next_aside(&mut self) -> Option<Next> {
        self.scout_ahead();
        self.cx.calendar.pop_aside()
    }

    /// Dispatches an event to its handler.
    #[inline(never)]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Arrive(_) => unreachable!("links have a path of their own"),
            // far ahead, it has no row of its own
            Event::Transmitted(link) => self.transmitted(link),
            Event::SenderWake(flow) => self.hosts.end_wake::<Sender>(&mut self.cx, flow),
            Event::ReceiverWake(flow) => self.hosts.end_wake::<Receiver>(&mut self.cx, flow),
            Event::FlowStart(flow) => self.hosts.flow_start(&mut self.cx, flow),
            Event::Pause(link) => self.pause_due(link),
            Event::Wake(link) => self.wake(link),
            Event::Job => self.hosts.job_due(&mut self.cx),
        }
    }

    /// The progress of this domain.
    pub(crate) fn standing(&self, interrupted: bool) -> Standing {
        Standing {
            next: self.cx.calendar.next_time().min(self.cx.outbox.first()),
            last: self.cx.now,
            completed: self.hosts.ends.completed,
            wanted: self.hosts.flows_wanted(self.cx.plan.setup.flows.len()),
            interrupted,
            stuck: false,
        }
    }

    /// Whether a flow here can still start or finish, or anything is in flight; evaluated after all events of an
    /// instant.
    pub(crate) fn has_hope(&self, now: Time) -> bool {
        let setup = &self.cx.plan.setup;
        let network = (&*setup.graph, &*setup.timeline);
        let Some(remains) = &self.cx.plan.remains else { return true };
        self.hosts.is_expecting()
            || self.cx.pool.alive() > 0
            || !self.hosts.ends.senders.between().all(|hosts| remains.cuts_off(network, now, hosts))
    }

    pub(crate) fn progress(&self) -> EngineProgress {
        EngineProgress {
            now: self.cx.now,
            events: self.cx.tally.events,
            flows_done: self.hosts.ends.completed,
            flows_total: self.hosts.flows_wanted(self.cx.plan.setup.flows.len()),
        }
    }
}
