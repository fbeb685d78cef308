//! One thread per domain. All meet after every step; then each has the state of all, makes the same decision and
//! continues. Where that is slower, the first thread simulates all domains for a while, and the others sleep (`pace`).
//! Domains whose thread the system refuses are always the first thread's. Handlers must not depend on this file.
//!
//! Data written before a meeting is read after it and not overwritten before the next one, so there are two sets of
//! everything shared, used in turn.

mod handover;
mod pace;

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Builder};

use weft_barrier::Barrier;
use weft_core::Time;
use weft_plan::{EngineProgress, Watch};
use weft_recorder::deadlock::{Deadlocks, Wait};
use weft_recorder::sample::{Look, Sampler};

use crate::course::{Course, CourseStep, Standing};
use crate::domain::Domain;
use crate::ends::Closed;
use crate::exchange::Mail;
use crate::ledger::Ledger;
use crate::plan::RunPlan;
use crate::simulation::{Finish, LOOKS_AT_ONCE, Simulation, WATCH_EVERY};
use handover::Handover;
use pace::{Division, Pace};

/// What the threads share.
struct Meeting<'a> {
    plan: Arc<RunPlan>,
    domains: usize,
    /// Each locked by the thread that simulates it.
    seats: Vec<Mutex<&'a mut Domain>>,
    barrier: Barrier,
    /// Whether the first thread simulates all domains after the meeting; two sets.
    alone: [AtomicBool; 2],
    handover: Handover<Point>,
    mail: Mail,
    /// The published states, two sets with one entry per domain.
    standings: Vec<Published>,
    looks: Vec<Mutex<Vec<Look>>>,
    /// The waits between paused transmitters, if any class pauses.
    waits: Vec<Mutex<Vec<Wait>>>,
    /// Whether any flow of the domain could still finish at the last check.
    hopes: Vec<AtomicBool>,
    /// Closed ends of flows.
    closed: Vec<Mutex<Vec<Closed>>>,
}

/// The state of a run after a meeting.
#[derive(Clone)]
struct Point {
    course: Course,
    all: Standing,
    round: usize,
}

/// A domain's state and event count, for all to read; on its own cache lines.
#[derive(Default)]
#[repr(align(128))]
struct Published {
    next: AtomicU64,
    last: AtomicU64,
    completed: AtomicU64,
    wanted: AtomicU64,
    events: AtomicU64,
    interrupted: AtomicBool,
    stuck: AtomicBool,
    /// Whether ends of flows have closed.
    closed: AtomicBool,
}

/// Runs all domains to the end, the first on this thread.
pub(crate) fn run(simulation: &mut Simulation, ledger: &mut Ledger<'_>, watch: Watch<'_>) -> Finish {
    let barrier = Barrier::new(simulation.domains.len());
    let pace = Pace::new(barrier.cores_suffice());
    run_on(simulation, (ledger, watch), (barrier, pace), |_| Builder::new())
}

/// Runs all domains to the end on this thread and those that can be started; `builder` is for the thread of a domain.
fn run_on(
    simulation: &mut Simulation,
    (ledger, watch): (&mut Ledger<'_>, Watch<'_>),
    (barrier, pace): (Barrier, Pace),
    builder: impl Fn(usize) -> Builder,
) -> Finish {
    let domains = simulation.domains.len();
    let meeting = Meeting {
        plan: Arc::clone(&simulation.plan),
        domains,
        seats: simulation.domains.iter_mut().map(Mutex::new).collect(),
        barrier,
        alone: [const { AtomicBool::new(false) }; 2],
        handover: Handover::new(),
        mail: Mail::new(domains),
        standings: (0..2 * domains).map(|_| Published::default()).collect(),
        looks: (0..2 * domains).map(|_| Mutex::default()).collect(),
        waits: (0..2 * domains).map(|_| Mutex::default()).collect(),
        closed: (0..2 * domains).map(|_| Mutex::default()).collect(),
        hopes: (0..2 * domains).map(|_| AtomicBool::new(true)).collect(),
    };
    let leader = Leader {
        pace,
        watch,
        ledger,
        sampler: &mut simulation.sampler,
        deadlocks: &mut simulation.deadlocks,
        watched: 0,
        meetings: 0,
        interrupted: false,
        stuck: false,
    };
    thread::scope(|scope| {
        let meeting = &meeting;
        let _starting = meeting.barrier.watch_over();
        let starts = |number: usize| {
            let member = move || Member::new(meeting, number, 0..0).run(None);
            builder(number).spawn_scoped(scope, member).is_ok()
        };
        // Where one thread is refused, the next would be as well.
        let started = (1..domains).take_while(|number| starts(*number)).count();
        meeting.barrier.do_without(domains - 1 - started);
        let first = Member::new(meeting, 0, started + 1..domains);
        first.run(Some(leader)).expect("the first thread never sleeps")
    })
}

/// The extra tasks of the first thread: it calls the watcher and collects the samples and the records of flows.
struct Leader<'a, 'w, 'l> {
    pace: Pace,
    watch: Watch<'w>,
    ledger: &'a mut Ledger<'l>,
    sampler: &'a mut Option<Sampler>,
    deadlocks: &'a mut Deadlocks,
    /// Event count at the last call of the watcher.
    watched: u64,
    /// Meetings since then.
    meetings: u32,
    interrupted: bool,
    stuck: bool,
}

/// A domain that a thread simulates now.
type Held<'m, 'd> = MutexGuard<'m, &'d mut Domain>;

/// One thread's part.
struct Member<'m, 'd> {
    meeting: &'m Meeting<'d>,
    /// Its own domains, or, of the first thread, at times all of them.
    held: Vec<Held<'m, 'd>>,
    number: usize,
    /// How many are its own: one, and of the first thread also those without a thread.
    own: usize,
    /// Meetings so far.
    round: usize,
    /// Events so far, in all domains.
    events: u64,
    /// Number of times it has slept.
    told: u64,
}

impl<'m, 'd> Member<'m, 'd> {
    fn new(meeting: &'m Meeting<'d>, number: usize, alone: Range<usize>) -> Member<'m, 'd> {
        let (held, own) = (Vec::with_capacity(meeting.domains), 1 + alone.len());
        let mut member = Member { meeting, held, number, own, round: 0, events: 0, told: 0 };
        std::iter::once(number).chain(alone).for_each(|domain| member.hold(domain));
        member
    }

    /// Takes a domain, as soon as its thread has left it.
    fn hold(&mut self, domain: usize) {
        self.held.push(self.meeting.seats[domain].lock().expect("no thread panics here"));
    }

    /// Follows the run to its end; only the first thread knows how it ended if others slept at the time.
    fn run(mut self, mut leader: Option<Leader<'_, '_, '_>>) -> Option<Finish> {
        let meeting = self.meeting;
        let _ending = meeting.barrier.watch_over();
        let mut course = Course::new(&meeting.plan);
        let mut looked = None;
        loop {
            let mut all = self.meet(leader.as_mut());
            if let Some(leader) = &mut leader {
                leader.pass_on_flows(all.next, (self.round + 1) % 2, meeting);
                leader.tell(&all, self.events, meeting.plan.setup.flows.len());
                leader.put_together(looked.take(), meeting);
                self.divide(&course, &all);
            } else if self.is_released() {
                let point = self.sleep()?;
                (course, all, self.round) = (point.course, point.all, point.round);
            }
            match course.next(&all) {
                CourseStep::Run(until) => {
                    self.each(|domain| {
                        domain.cx.calendar.set_end(until);
                        domain.run(u64::MAX);
                    });
                    course.reached = until;
                }
                CourseStep::Change(number) => self.each(|domain| domain.change(number)),
                CourseStep::Note(now) => self.each(|domain| domain.note_carried(now)),
                CourseStep::Look(now) => looked = Some(self.look(now)),
                CourseStep::Stop(stop) => {
                    if self.is_alone() {
                        meeting.handover.tell(None);
                    }
                    return Some(Finish { stop, at: course.reached });
                }
            }
        }
    }

    fn each(&mut self, mut what: impl FnMut(&mut Domain)) {
        self.held.iter_mut().for_each(|domain| what(domain));
    }

    /// Whether this thread simulates all domains.
    fn is_alone(&self) -> bool {
        self.held.len() == self.meeting.domains
    }

    /// Whether the first thread simulates all domains after the last meeting.
    fn is_released(&self) -> bool {
        self.meeting.alone[(self.round + 1) % 2].load(Ordering::Relaxed)
    }

    /// The first thread takes all domains, or gives them back, as decided before the last meeting.
    fn divide(&mut self, course: &Course, all: &Standing) {
        let others = self.meeting.domains - self.own;
        match (self.is_released(), self.is_alone()) {
            (true, false) => (1..=others).for_each(|domain| self.hold(domain)),
            (false, true) if others > 0 => {
                self.held.truncate(self.own);
                let point = Point { course: course.clone(), all: *all, round: self.round };
                self.meeting.handover.tell(Some(point));
            }
            _ => {}
        }
    }

    /// Leaves the domain to the first thread and sleeps until it gives it back. Returns where the run is then; `None`: it
    /// is over.
    fn sleep(&mut self) -> Option<Point> {
        self.held.clear();
        self.told += 1;
        let point = self.meeting.handover.listen(self.told, || self.meeting.barrier.is_broken())?;
        self.hold(self.number);
        Some(point)
    }

    /// Publishes the states of the domains, hands over their messages, waits for all, and takes in the messages of
    /// others. Returns the combined state.
    fn meet(&mut self, leader: Option<&mut Leader<'_, '_, '_>>) -> Standing {
        let (meeting, set) = (self.meeting, self.round % 2);
        let first = meeting.domains * set;
        let mut wants = (false, false);
        if let Some(leader) = leader {
            wants = (leader.interrupted, leader.stuck);
            let alone = leader.pace.next(self.events) == Division::Alone;
            meeting.alone[set].store(alone, Ordering::Relaxed);
        }
        self.each(|domain| {
            let own = first + domain.cx.number;
            let (interrupted, stuck) = std::mem::take(&mut wants);
            meeting.standings[own].publish(&Standing { stuck, ..domain.standing(interrupted) }, domain);
            meeting.hand_in_closed(own, domain);
            meeting.mail.post(set, domain);
        });
        if !self.is_alone() {
            meeting.barrier.wait();
        }
        self.each(|domain| meeting.mail.collect(set, domain));
        self.round += 1;
        let (all, events) = together(&meeting.standings[first..first + meeting.domains]);
        self.events = events;
        all
    }

    /// Samples the queues of the domains. Returns when, and in which set the samples are.
    fn look(&mut self, now: Time) -> (Time, usize) {
        let (meeting, set) = (self.meeting, self.round % 2);
        self.each(|domain| {
            let own = meeting.domains * set + domain.cx.number;
            if let Some(looked) = domain.look(now) {
                meeting.looks[own].lock().expect("no thread panics here").clone_from(looked);
            }
            if domain.cx.pauses.is_some() {
                *meeting.waits[own].lock().expect("no thread panics here") = domain.waits();
            }
            meeting.hopes[own].store(domain.has_hope(now), Ordering::Relaxed);
        });
        (now, set)
    }
}

impl Meeting<'_> {
    /// Leaves the closed ends of flows to the leader.
    fn hand_in_closed(&self, own: usize, domain: &mut Domain) {
        let closed = &mut domain.hosts.ends.closed;
        if !closed.is_empty() {
            std::mem::swap(&mut *self.closed[own].lock().expect("no thread panics here"), closed);
        }
    }
}

impl Leader<'_, '_, '_> {
    /// Combines the samples of all domains, after the meeting that followed them.
    fn put_together(&mut self, looked: Option<(Time, usize)>, meeting: &Meeting<'_>) {
        let Some((now, set)) = looked else { return };
        let plan = &meeting.plan;
        if plan.setup.pauses() {
            let waits = meeting.waits[meeting.domains * set..][..meeting.domains].iter();
            let waits =
                waits.flat_map(|own| std::mem::take(&mut *own.lock().expect("no thread panics here")));
            self.stuck |= self.deadlocks.look(now, waits) && plan.ends_by_deadlock();
        }
        let hopes = &meeting.hopes[meeting.domains * set..][..meeting.domains];
        self.stuck |= !hopes.iter().any(|hope| hope.load(Ordering::Relaxed));
        let Some(sampler) = self.sampler.as_mut() else { return };
        let looks = &meeting.looks[meeting.domains * set..][..meeting.domains];
        let looks: Vec<_> = looks.iter().map(|look| look.lock().expect("no thread panics here")).collect();
        sampler.add(now, &looks.iter().map(|look| look.as_slice()).collect::<Vec<_>>());
    }

    /// Takes the closed ends left at the last meeting, and hands on the flows done before `next`.
    fn pass_on_flows(&mut self, next: Time, set: usize, meeting: &Meeting<'_>) {
        for own in meeting.domains * set..meeting.domains * (set + 1) {
            if meeting.standings[own].closed.load(Ordering::Relaxed) {
                let mut closed = meeting.closed[own].lock().expect("no thread panics here");
                closed.drain(..).for_each(|closed| self.ledger.add(closed));
            }
        }
        self.interrupted |= !self.ledger.pass_on(next);
    }

    fn tell(&mut self, all: &Standing, events: u64, total: usize) {
        self.meetings += 1;
        let long = events >= self.watched + WATCH_EVERY || self.meetings == LOOKS_AT_ONCE;
        if long || all.completed == total {
            (self.watched, self.meetings) = (events, 0);
            let progress =
                EngineProgress { now: all.last, events, flows_done: all.completed, flows_total: total };
            self.interrupted |= !(self.watch)(&progress);
        }
    }
}

impl Published {
    fn publish(&self, standing: &Standing, domain: &Domain) {
        self.next.store(standing.next.0, Ordering::Relaxed);
        self.last.store(standing.last.0, Ordering::Relaxed);
        self.completed.store(standing.completed as u64, Ordering::Relaxed);
        self.wanted.store(standing.wanted as u64, Ordering::Relaxed);
        self.events.store(domain.cx.tally.events, Ordering::Relaxed);
        self.closed.store(!domain.hosts.ends.closed.is_empty(), Ordering::Relaxed);
        self.interrupted.store(standing.interrupted, Ordering::Relaxed);
        self.stuck.store(standing.stuck, Ordering::Relaxed);
    }

    fn read(&self) -> (Standing, u64) {
        let standing = Standing {
            next: Time(self.next.load(Ordering::Relaxed)),
            last: Time(self.last.load(Ordering::Relaxed)),
            completed: self.completed.load(Ordering::Relaxed) as usize,
            wanted: self.wanted.load(Ordering::Relaxed) as usize,
            interrupted: self.interrupted.load(Ordering::Relaxed),
            stuck: self.stuck.load(Ordering::Relaxed),
        };
        (standing, self.events.load(Ordering::Relaxed))
    }
}

/// The combined state and event count.
fn together(standings: &[Published]) -> (Standing, u64) {
    let start = Standing { next: Time::NEVER, ..Standing::default() };
    standings.iter().map(Published::read).fold((start, 0), |(all, total), (one, events)| {
        let all = Standing {
            next: all.next.min(one.next),
            last: all.last.max(one.last),
            completed: all.completed + one.completed,
            wanted: all.wanted.max(one.wanted),
            interrupted: all.interrupted || one.interrupted,
            stuck: all.stuck || one.stuck,
        };
        (all, total + events)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::collect;
    use weft_core::record::RunRecord;
    use weft_core::{Bytes, Grouping, HostId, Span};
    use weft_plan::{Division, Setup, keeping_flows};
    use weft_topology::shapes::leaf_spine::LeafSpineSettings;
    use weft_topology::{FailurePlan, RoutingSettings, TopologySettings, build, timeline};
    use weft_transport::{Transport, TransportSettings};
    use weft_workload::Flow;

    /// Four leaves whose hosts all send to those of other leaves, cut into four domains.
    fn simulation(domains: usize) -> Simulation {
        let shape = LeafSpineSettings { leaves: 4, spines: 4, hosts_per_leaf: 4, ..Default::default() };
        let graph = build(&TopologySettings::LeafSpine(shape)).expect("a valid topology");
        let routing = RoutingSettings::default();
        let timeline = timeline(&graph, &FailurePlan::default(), &routing, Grouping::Together);
        let transport = Transport::new(&TransportSettings::Dctcp(Default::default()));
        let flow = |n: u32| {
            let ends = (HostId(n % 16), HostId((n * 5 + 4) % 16));
            Flow::new(0, Time::ZERO + Span::from_us(u64::from(n)), ends, Bytes(20_000 + u64::from(n)))
        };
        let flows: Vec<Flow> = (0..64).map(flow).filter(|flow| flow.source != flow.destination).collect();
        Simulation::new(Setup {
            tags: vec!["test".into()],
            until: Time::ZERO + Span::from_s(1),
            division: Division::threads(domains),
            flows: flows.into(),
            ..Setup::new(graph, timeline, transport)
        })
    }

    /// The record if the system starts this many threads beside the first and refuses the next.
    fn record(started: usize, cores_suffice: bool) -> RunRecord {
        let mut simulation = simulation(4);
        assert_eq!(simulation.threads(), 4);
        let builder = |number| match number <= started {
            true => Builder::new(),
            // no machine has so much memory for its stack
            false => Builder::new().stack_size(1 << 60),
        };
        keeping_flows(|sink| {
            let plan = Arc::clone(&simulation.plan);
            let mut ledger = Ledger::new(&plan, sink);
            let how = (Barrier::new(4), Pace::new(cores_suffice));
            let finish = run_on(&mut simulation, (&mut ledger, &mut |_| true), how, builder);
            collect(simulation, finish, &mut ledger)
        })
    }

    /// Fewer threads than domains, whether the first does everything for a while or not: nobody waits for those that are not
    /// there, and the results are those of one thread.
    #[test]
    fn domains_without_a_thread_are_simulated_by_the_first() {
        let alone = simulation(1).run(&mut |_| true);
        assert!(alone.flows.len() > 40 && alone.flows.iter().all(|flow| flow.end.is_some()));
        for started in 0..=3 {
            for cores_suffice in [true, false] {
                let record = record(started, cores_suffice);
                assert!(record.flows == alone.flows, "{started} threads");
                assert_eq!((record.events, record.ended), (alone.events, alone.ended), "{started} threads");
            }
        }
    }
}
