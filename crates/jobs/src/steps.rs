//! Steps of tasks. A step has needs that are met in parallel (a delay, a core, a disk, a transfer, remote
//! procedure calls) and ends with the last of them, which bounds it.
//!
//! Must not depend on what a task computes.

use std::collections::BTreeMap;

use weft_core::record::{Activity, Resource, StepRecord};
use weft_core::{Bytes, HostId, Span, Time};

use crate::disks::{Access, Disks, HostDisks};

/// A transfer over the network that starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Its number within the job, in order of start.
    pub number: u32,
    /// Sender.
    pub from: HostId,
    /// Receiver, another host.
    pub to: HostId,
    /// Payload.
    pub size: Bytes,
    /// The last round trip of its connection, if that is already open.
    pub round_trip: Option<Span>,
    /// Whether the receiver has opened the connection: it fetches, or gets the answer to its call.
    pub fetched: bool,
}

/// What a step needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Need {
    /// A fixed time.
    Delay(Span),
    /// A core for a time.
    Core(Span),
    /// Bytes read from or written to a disk of a host.
    Disk(HostId, Access, Bytes),
    /// Bytes from one host to another, which the first sends on its own account; none if they are the same.
    Transfer(HostId, HostId, Bytes),
    /// As [`Need::Transfer`], but the second host reads them.
    Read(HostId, HostId, Bytes),
    /// As [`Need::Read`], but part of a series: its number is returned when it has arrived.
    Fetch(HostId, HostId, Bytes, usize),
    /// Sequential remote procedure calls: a request to the second host, and its answer.
    Calls(HostId, HostId, u32),
}

/// An event of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobEvent {
    /// The job is submitted.
    Submit,
    /// A need of a task has been served.
    Served(u32, Resource),
    /// A fetch of a task has arrived.
    Fetched(u32, usize),
    /// A host reports to the scheduler.
    Heartbeat(usize),
    /// The search for tasks that take too long.
    Speculate,
}

/// The purpose of a transfer in flight.
#[derive(Clone, Copy, Debug)]
enum Purpose {
    Bulk,
    /// As [`Purpose::Bulk`], fetched by the receiver.
    Read,
    /// Nothing waits for it.
    Unawaited,
    Fetch(usize),
    /// A message of remote procedure calls.
    Call(Message),
}

impl Purpose {
    /// Whether the receiver has opened the connection. Requests and answers alternate, and the last message is an answer.
    fn is_fetched(self) -> bool {
        match self {
            Purpose::Bulk | Purpose::Unawaited => false,
            Purpose::Read | Purpose::Fetch(_) => true,
            Purpose::Call(message) => message.left.is_multiple_of(2),
        }
    }
}

/// A message of consecutive remote procedure calls.
#[derive(Clone, Copy, Debug)]
struct Message {
    /// Sender and receiver.
    ends: (HostId, HostId),
    /// Messages that follow.
    left: u32,
    /// How long the previous message took; zero: it is the first.
    before: Span,
}

/// A transfer in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    task: u32,
    purpose: Purpose,
    since: Time,
    size: Bytes,
}

/// The resources that the job uses, over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Used {
    pub(crate) cores: Activity,
    pub(crate) disks: Activity,
    pub(crate) network: Activity,
}

/// The step a task is in.
#[derive(Clone, Copy, Debug)]
struct Open {
    record: usize,
    pending: u32,
    /// When its core has done the step's work.
    core_until: Time,
    /// The latest end that is known beforehand, and its resource: a delay, a core or a disk.
    known: (Time, Resource),
}

/// The steps of all tasks of a job.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    open: Vec<Option<Open>>,
    pub(crate) records: Vec<StepRecord>,
    pub(crate) disks: HostDisks,
    /// Size of a remote procedure call in each direction, and whether those of a step share a connection.
    call: (Bytes, bool),
    due: BTreeMap<(Time, u64), JobEvent>,
    scheduled: u64,
    flying: BTreeMap<u32, Flying>,
    next: u32,
    /// Transfers that start now and have not been taken.
    pub(crate) out: Vec<Transfer>,
    pub(crate) transferred: Bytes,
    pub(crate) used: Used,
}

impl Steps {
    pub(crate) fn new(tasks: usize, disks: HostDisks, call: (Bytes, bool)) -> Steps {
        Steps {
            open: vec![None; tasks],
            records: Vec::new(),
            disks,
            call,
            due: BTreeMap::new(),
            scheduled: 0,
            flying: BTreeMap::new(),
            next: 0,
            out: Vec::new(),
            transferred: Bytes::ZERO,
            used: Used::default(),
        }
    }

    /// The task whose end began the step that was opened last.
    pub(crate) fn began_after(&mut self, task: u32) {
        self.records.last_mut().expect("a step was opened").after = Some(task);
    }

    /// Opens a step. It ends after all its needs have been served and [`Steps::served`] has been called once more.
    pub(crate) fn begin(&mut self, now: Time, task: u32, name: &'static str) {
        let bound = Resource::Latency;
        self.records.push(StepRecord { task, name, start: now, end: None, bound, after: None });
        self.open[task as usize] = Some(Open {
            record: self.records.len() - 1,
            pending: 1,
            core_until: Time::ZERO,
            known: (now, bound),
        });
    }

    /// Opens a step with all its needs.
    pub(crate) fn step(&mut self, now: Time, task: u32, name: &'static str, needs: &[Need]) {
        self.begin(now, task, name);
        needs.iter().for_each(|need| self.need(now, task, *need));
        self.schedule(now, JobEvent::Served(task, Resource::Latency));
    }

    /// Adds a need to the open step of a task.
    pub(crate) fn need(&mut self, now: Time, task: u32, need: Need) {
        self.open_step(task).pending += 1;
        match need {
            Need::Delay(span) => self.serve_at(now + span, task, Resource::Fixed),
            Need::Core(span) => {
                self.used.cores.add(now, now + span, span.0);
                self.open_step(task).core_until = now + span;
                self.serve_at(now + span, task, Resource::Cpu);
            }
            Need::Disk(host, access, size) => {
                let disks = self.disks.get_mut(&host).expect("every host of a cluster has disks");
                let (begins, done) = disks.serve(now, (access, size));
                self.used.disks.add(begins, done, done.since(begins).0);
                self.serve_at(done, task, Resource::Disk);
            }
            Need::Transfer(from, to, size) | Need::Read(from, to, size)
                if from == to || size == Bytes::ZERO =>
            {
                self.schedule(now, JobEvent::Served(task, Resource::Latency));
            }
            Need::Transfer(from, to, size) => self.send((now, task), (from, to, size), Purpose::Bulk),
            Need::Read(from, to, size) => self.send((now, task), (from, to, size), Purpose::Read),
            Need::Fetch(from, to, size, number) if from == to || size == Bytes::ZERO => {
                self.schedule(now, JobEvent::Fetched(task, number));
            }
            Need::Fetch(from, to, size, number) => {
                self.send((now, task), (from, to, size), Purpose::Fetch(number));
            }
            Need::Calls(from, to, times) if from == to || times == 0 => {
                self.schedule(now, JobEvent::Served(task, Resource::Latency));
            }
            Need::Calls(from, to, times) => {
                self.send_call(
                    (now, task),
                    Message { ends: (from, to), left: 2 * times - 1, before: Span::ZERO },
                    None,
                );
            }
        }
    }

    /// Room for one more task.
    pub(crate) fn grow(&mut self) {
        self.open.push(None);
    }

    /// Records that a need of a task's open step will be served at a known instant.
    fn serve_at(&mut self, at: Time, task: u32, by: Resource) {
        let known = &mut self.open_step(task).known;
        *known = (*known).max((at, by));
        self.schedule(at, JobEvent::Served(task, by));
    }

    /// Ends the step of a task that is killed. Its outstanding requests are still served, without effect; its core
    /// becomes free. What the step still waited for bounds it.
    pub(crate) fn close(&mut self, now: Time, task: u32) {
        let Some(open) = self.open[task as usize].take() else { return };
        let bound = self.awaited(now, task, &open);
        let record = &mut self.records[open.record];
        (record.end, record.bound) = (Some(now), bound);
        if open.core_until > now {
            self.used.cores.take_back(now, open.core_until, open.core_until.since(now).0);
        }
    }

    /// All steps so far. What an open step waits for bounds it.
    pub(crate) fn records_until(&self, now: Time) -> Vec<StepRecord> {
        let mut records = self.records.clone();
        for (task, open) in (0..).zip(&self.open) {
            if let Some(open) = open {
                records[open.record].bound = self.awaited(now, task, open);
            }
        }
        records
    }

    /// What an open step waits for: the last of the needs known beforehand, then bulk transfers, then calls. A fetch
    /// without a transfer, or before the last map is done, waits for tasks.
    fn awaited(&self, now: Time, task: u32, open: &Open) -> Resource {
        let bulk = |flying: &Flying| {
            flying.task == task && matches!(flying.purpose, Purpose::Bulk | Purpose::Read | Purpose::Fetch(_))
        };
        match self.records[open.record].name {
            _ if open.known.0 > now => open.known.1,
            "fetch early" => Resource::Tasks,
            _ if self.flying.values().any(bulk) => Resource::Network,
            "fetch" => Resource::Tasks,
            _ => Resource::Latency,
        }
    }

    fn open_step(&mut self, task: u32) -> &mut Open {
        self.open[task as usize].as_mut().expect("needs belong to an open step")
    }

    /// Sends data to another host that no task waits for.
    pub(crate) fn send_unawaited(&mut self, now: Time, ends: (HostId, HostId), size: Bytes) {
        if ends.0 != ends.1 && size > Bytes::ZERO {
            self.send((now, 0), (ends.0, ends.1, size), Purpose::Unawaited);
        }
    }

    fn send(
        &mut self,
        (since, task): (Time, u32),
        (from, to, size): (HostId, HostId, Bytes),
        purpose: Purpose,
    ) {
        let number = self.next;
        self.next += 1;
        self.flying.insert(number, Flying { task, purpose, since, size });
        self.out.push(Transfer { number, from, to, size, round_trip: None, fetched: purpose.is_fetched() });
    }

    /// Sends a message of remote procedure calls, over an open connection if there is a round trip.
    fn send_call(&mut self, start: (Time, u32), message: Message, round_trip: Option<Span>) {
        let (from, to) = message.ends;
        self.send(start, (from, to, self.call.0), Purpose::Call(message));
        if let Some(transfer) = self.out.last_mut() {
            transfer.round_trip = round_trip.filter(|_| self.call.1);
        }
    }

    pub(crate) fn schedule(&mut self, at: Time, due: JobEvent) {
        self.scheduled += 1;
        self.due.insert((at, self.scheduled), due);
    }

    /// Disks of all hosts.
    pub(crate) fn disk_count(&self) -> u64 {
        self.disks.values().map(Disks::count).sum()
    }

    /// All events to come.
    pub(crate) fn due(&self) -> impl Iterator<Item = JobEvent> + '_ {
        self.due.values().copied()
    }

    /// When the next event is due.
    pub(crate) fn next_due(&self) -> Time {
        self.due.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }

    /// Takes one event that is due by now.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<JobEvent> {
        let entry = self.due.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(entry.remove())
    }

    /// Called when a transfer has arrived; returns the resulting event.
    pub(crate) fn delivered(&mut self, now: Time, transfer: u32) -> Option<JobEvent> {
        let Flying { task, purpose, since, size } =
            self.flying.remove(&transfer).expect("a transfer arrives once");
        self.transferred += size;
        self.used.network.add(since, now, size.0);
        match purpose {
            Purpose::Bulk | Purpose::Read => Some(JobEvent::Served(task, Resource::Network)),
            Purpose::Unawaited => None,
            Purpose::Fetch(number) => Some(JobEvent::Fetched(task, number)),
            Purpose::Call(Message { left: 0, .. }) => Some(JobEvent::Served(task, Resource::Latency)),
            Purpose::Call(_) if self.open[task as usize].is_none() => None,
            Purpose::Call(Message { ends: (from, to), left, before }) => {
                let took = now.since(since);
                let next = Message { ends: (to, from), left: left - 1, before: took };
                self.send_call((now, task), next, Some(before + took));
                None
            }
        }
    }

    /// Called when a need of a task has been served; returns `true` if that ends its step.
    pub(crate) fn served(&mut self, now: Time, task: u32, bound: Resource) -> bool {
        let open = self.open_step(task);
        open.pending -= 1;
        let Open { record, pending, .. } = *open;
        self.records[record].bound = bound;
        if pending > 0 {
            return false;
        }
        self.open[task as usize] = None;
        self.records[record].end = Some(now);
        true
    }

    /// Ends the record of the open step and continues it under another name: its needs stay.
    pub(crate) fn rename(&mut self, now: Time, task: u32, name: &'static str) {
        let next = self.records.len();
        let record = std::mem::replace(&mut self.open_step(task).record, next);
        self.records[record].end = Some(now);
        self.records[record].bound = Resource::Tasks;
        let bound = Resource::Latency;
        self.records.push(StepRecord { task, name, start: now, end: None, bound, after: None });
    }
}
