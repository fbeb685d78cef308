//! One thread per domain. All meet after every step; then each has the state of all, makes the same decision and
//! continues. Handlers must not depend on this file.
//!
//! What is written before a meeting is read after it and not written again before the next one: hence two sets of
//! everything shared, used in turn.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use weft_core::Time;
use weft_plan::{EngineProgress, Watch};
use weft_recorder::deadlock::{Deadlocks, Wait};
use weft_recorder::sample::{Look, Sampler};

use crate::barrier::Barrier;
use crate::course::{Course, CourseStep, Standing};
use crate::domain::Domain;
use crate::ends::Closed;
use crate::exchange::Mail;
use crate::ledger::Ledger;
use crate::plan::RunPlan;
use crate::simulation::{Finish, Simulation, WATCH_EVERY};

/// What the threads share.
struct Meeting {
    domains: usize,
    barrier: Barrier,
    mail: Mail,
    /// The published states, two sets with one entry per domain.
    standings: Vec<Published>,
    looks: Vec<Mutex<Vec<Look>>>,
    /// The waits between paused transmitters, if any class pauses.
    waits: Vec<Mutex<Vec<Wait>>>,
    /// Whether any flow of the domain can still finish, as of the last check.
    hopes: Vec<AtomicBool>,
    /// Closed ends of flows.
    closed: Vec<Mutex<Vec<Closed>>>,
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
    let domains = simulation.domains.len();
    let meeting = Meeting {
        domains,
        barrier: Barrier::new(domains),
        mail: Mail::new(domains),
        standings: (0..2 * domains).map(|_| Published::default()).collect(),
        looks: (0..2 * domains).map(|_| Mutex::default()).collect(),
        waits: (0..2 * domains).map(|_| Mutex::default()).collect(),
        closed: (0..2 * domains).map(|_| Mutex::default()).collect(),
        hopes: (0..2 * domains).map(|_| AtomicBool::new(true)).collect(),
    };
    let (first, others) = simulation.domains.split_first_mut().expect("a run has a domain");
    let leader = Leader {
        watch,
        ledger,
        sampler: &mut simulation.sampler,
        deadlocks: &mut simulation.deadlocks,
        watched: 0,
        interrupted: false,
        stuck: false,
    };
    thread::scope(|scope| {
        for domain in others {
            let member = Member { meeting: &meeting, domain, round: 0 };
            scope.spawn(|| member.run(None));
        }
        Member { meeting: &meeting, domain: first, round: 0 }.run(Some(leader))
    })
}

/// The extra tasks of the first thread: it calls the watcher and collects the samples and the records of flows.
struct Leader<'a, 'w, 'l> {
    watch: Watch<'w>,
    ledger: &'a mut Ledger<'l>,
    sampler: &'a mut Option<Sampler>,
    deadlocks: &'a mut Deadlocks,
    /// Event count at the last call of the watcher.
    watched: u64,
    interrupted: bool,
    stuck: bool,
}

/// One thread's part.
struct Member<'a> {
    meeting: &'a Meeting,
    domain: &'a mut Domain,
    /// Meetings so far.
    round: usize,
}

impl Member<'_> {
    fn run(mut self, mut leader: Option<Leader<'_, '_, '_>>) -> Finish {
        let meeting = self.meeting;
        let _ending = meeting.barrier.watch_over();
        let mut course = Course::new(&self.domain.cx.plan);
        let mut looked = None;
        loop {
            let wants = leader.as_ref().map_or((false, false), |leader| (leader.interrupted, leader.stuck));
            let (all, events) = self.meet(wants);
            if let Some(leader) = &mut leader {
                leader.pass_on_flows(all.next, (self.round + 1) % 2, meeting);
                leader.tell(&all, events, self.domain.cx.plan.setup.flows.len());
                leader.put_together(looked.take(), meeting, &self.domain.cx.plan);
            }
            match course.next(&all) {
                CourseStep::Run(until) => {
                    self.domain.cx.calendar.set_end(until);
                    self.domain.run(u64::MAX);
                    course.reached = until;
                }
                CourseStep::Change(number) => self.domain.change(number),
                CourseStep::Note(now) => self.domain.note_carried(now),
                CourseStep::Look(now) => looked = Some(self.look(now)),
                CourseStep::Stop(stop) => return Finish { stop, at: course.reached },
            }
        }
    }

    /// Publishes this domain's state, hands over what it has for others, waits for all, takes in what they have.
    /// Returns the combined state and event count.
    fn meet(&mut self, (interrupted, stuck): (bool, bool)) -> (Standing, u64) {
        let set = self.round % 2;
        let own = self.meeting.domains * set + self.domain.cx.number;
        self.meeting.standings[own]
            .publish(&Standing { stuck, ..self.domain.standing(interrupted) }, self.domain);
        self.hand_in_closed(own);
        self.meeting.mail.post(set, self.domain);
        self.meeting.barrier.wait();
        self.meeting.mail.collect(set, self.domain);
        self.round += 1;
        let first = self.meeting.domains * set;
        together(&self.meeting.standings[first..first + self.meeting.domains])
    }

    /// Leaves the closed ends of flows to the leader.
    fn hand_in_closed(&mut self, own: usize) {
        let closed = &mut self.domain.hosts.ends.closed;
        if !closed.is_empty() {
            std::mem::swap(&mut *self.meeting.closed[own].lock().expect("no thread panics here"), closed);
        }
    }

    /// Samples the domain's queues. Returns when, and in which set the samples are.
    fn look(&mut self, now: Time) -> (Time, usize) {
        let set = self.round % 2;
        let own = &self.meeting.looks[self.meeting.domains * set + self.domain.cx.number];
        if let Some(looked) = self.domain.look(now) {
            own.lock().expect("no thread panics here").clone_from(looked);
        }
        if self.domain.cx.pauses.is_some() {
            let own = &self.meeting.waits[self.meeting.domains * set + self.domain.cx.number];
            *own.lock().expect("no thread panics here") = self.domain.waits();
        }
        let hope = &self.meeting.hopes[self.meeting.domains * set + self.domain.cx.number];
        hope.store(self.domain.has_hope(now), Ordering::Relaxed);
        (now, set)
    }
}

impl Leader<'_, '_, '_> {
    /// Combines the samples of all domains, after the meeting that followed them.
    fn put_together(&mut self, looked: Option<(Time, usize)>, meeting: &Meeting, plan: &RunPlan) {
        let Some((now, set)) = looked else { return };
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
    fn pass_on_flows(&mut self, next: Time, set: usize, meeting: &Meeting) {
        for own in meeting.domains * set..meeting.domains * (set + 1) {
            if meeting.standings[own].closed.load(Ordering::Relaxed) {
                let mut closed = meeting.closed[own].lock().expect("no thread panics here");
                closed.drain(..).for_each(|closed| self.ledger.add(closed));
            }
        }
        self.interrupted |= !self.ledger.pass_on(next);
    }

    fn tell(&mut self, all: &Standing, events: u64, total: usize) {
        if events >= self.watched + WATCH_EVERY || all.completed == total {
            self.watched = events;
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
    let start = Standing {
        next: Time::NEVER,
        last: Time::ZERO,
        completed: 0,
        wanted: 0,
        interrupted: false,
        stuck: false,
    };
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
