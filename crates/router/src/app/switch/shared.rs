//! The state that the workers of a switch share: its ports, each with a lock of its own.
//!
//! With one worker the switch is one part, driven as the simulator drives it. With several, each worker decides with its
//! own forwarding engines about the packets of its own inputs, reads queue lengths without a lock, and locks an output
//! port for the time of one packet. A frame stays in the buffers of the worker that received it, which also sends it.
//!
//! Order at one instant, as in the simulator: arrivals, in the order of workers' calls; then transmitters; then timers,
//! each in the order of ports.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_core::record::Reason;
use weft_core::{Bytes, Header, PortId, Rate, Time};
use weft_switch::{PortCounters, SharedOutputs, Switch};

use super::engine::{LinkStates, WorkerEngine};
use super::{ClassOfCodePoint, SwitchPort};
use crate::driver::{QueueReading, SwitchDriver, SwitchOutcome};
use crate::pool::Frame;

/// A part of the switch.
struct Part {
    driver: Mutex<SwitchDriver>,
    /// When the next event is due, picoseconds.
    due: AtomicU64,
}

/// Decided frames of a worker.
#[derive(Default)]
struct Mailbox {
    outcomes: Mutex<Vec<SwitchOutcome>>,
    filled: AtomicBool,
}

/// A switch that several workers share.
pub struct SharedSwitch {
    /// One, or one for each port.
    parts: Box<[Part]>,
    mailboxes: Box<[Mailbox]>,
    /// The engines of each worker that has not taken them; empty if the switch is one part.
    engines: Mutex<Vec<Option<WorkerEngine>>>,
    /// The ports, in the order of the workers' back ends.
    ports: Box<[SwitchPort]>,
    /// For each port of the switch, the number of its back end.
    device_of: Box<[u16]>,
    links: LinkStates,
    unrouted: AtomicU64,
    pub(super) hosts: u32,
    pub(super) class_of: ClassOfCodePoint,
}

/// How a switch is built: one, or as many copies of it as it needs parts.
pub struct SwitchShape<'a> {
    /// Builds a copy.
    pub build: &'a dyn Fn() -> Switch,
    /// The line rates of its ports.
    pub rates: Vec<Rate>,
    /// The number of workers; several only if [`Switch::indivisible`] allows it.
    pub workers: u16,
    /// Number of hosts of the fabric, at most [`super::MOST_HOSTS`].
    pub hosts: u32,
    /// The class of each code point.
    pub class_of: ClassOfCodePoint,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedSwitch {
    /// A switch whose ports are in the order of the workers' back ends; the links of all others are down.
    #[must_use]
    pub fn new(shape: SwitchShape<'_>, ports: Vec<SwitchPort>) -> SharedSwitch {
        let SwitchShape { build, rates, workers, hosts, class_of } = shape;
        let device = |number: u16| ports.iter().position(|port| port.number.0 == number);
        let device_of: Vec<Option<usize>> = (0..rates.len() as u16).map(device).collect();
        let outputs = (workers > 1).then(|| Arc::new(build().shared_outputs()));
        let engine = |outputs: &Arc<SharedOutputs>| {
            (0..workers).map(|_| Some(WorkerEngine::new(build(), Arc::clone(outputs)))).collect()
        };
        let count = if outputs.is_some() { rates.len() } else { 1 };
        let part = |_| Part {
            driver: Mutex::new(SwitchDriver::new(build(), rates.clone(), outputs.clone())),
            due: AtomicU64::new(u64::MAX),
        };
        let shared = SharedSwitch {
            parts: (0..count).map(part).collect(),
            mailboxes: (0..workers).map(|_| Mailbox::default()).collect(),
            engines: Mutex::new(outputs.as_ref().map_or(Vec::new(), engine)),
            device_of: device_of.iter().map(|device| device.unwrap_or_default() as u16).collect(),
            links: LinkStates::all_up(rates.len()),
            unrouted: AtomicU64::new(0),
            ports: ports.into(),
            hosts,
            class_of,
        };
        for (number, _) in device_of.iter().enumerate().filter(|(_, device)| device.is_none()) {
            shared.set_port(Time::ZERO, PortId(number as u16), false);
        }
        shared
    }

    /// The ports, in the order of the workers' back ends.
    pub(super) fn ports(&self) -> &[SwitchPort] {
        &self.ports
    }

    pub(super) fn device_of(&self, port: PortId) -> u16 {
        self.device_of[port.index()]
    }

    /// Hands out the engines of a worker.
    pub(super) fn engine(&self, worker: u16) -> Option<WorkerEngine> {
        let mut engines = lock(&self.engines);
        engines.get_mut(usize::from(worker)).map(|engine| engine.take().expect("once for each worker"))
    }

    fn part(&self, port: PortId) -> &Part {
        &self.parts[port.index() % self.parts.len()]
    }

    /// Called when a worker has received a frame; for a switch of one part.
    pub(super) fn receive(&self, now: Time, from: PortId, frame: (u16, Frame), header: Header) {
        let part = &self.parts[0];
        let mut driver = lock(&part.driver);
        driver.receive(now, from, frame, header);
        self.publish(part, &mut driver);
    }

    /// Called when an engine has chosen a port for a frame.
    pub(super) fn enqueue(&self, now: Time, port: PortId, frame: (u16, Frame), header: Header) {
        let part = self.part(port);
        let mut driver = lock(&part.driver);
        driver.enqueue(now, port, frame, header);
        self.publish(part, &mut driver);
    }

    /// Handles everything due before `now`, except at ports that another worker has locked, which handles it itself.
    pub(super) fn advance(&self, now: Time) {
        let is_due = |part: &&Part| part.due.load(Ordering::Acquire) < now.0;
        let mut due: Vec<_> = self.parts.iter().filter(is_due).collect();
        if due.is_empty() {
            return;
        }
        let mut locked: Vec<_> =
            due.drain(..).filter_map(|part| Some((part, part.driver.try_lock().ok()?))).collect();
        // Ports share the random stream of the markers, so events due at several ports are handled in order.
        while let Some((_, next)) = locked
            .iter()
            .enumerate()
            .filter_map(|(number, (_, driver))| Some((driver.next_due()?, number)))
            .filter(|((time, ..), _)| *time < now)
            .min()
        {
            locked[next].1.step();
        }
        for (part, driver) in &mut locked {
            self.publish(part, driver);
        }
    }

    /// Passes outcomes to the workers that have the frames, and announces the next due event.
    fn publish(&self, part: &Part, driver: &mut SwitchDriver) {
        part.due.store(driver.next_due().map_or(u64::MAX, |(time, ..)| time.0), Ordering::Release);
        for (worker, outcome) in driver.outcomes().drain(..) {
            let mailbox = &self.mailboxes[usize::from(worker)];
            lock(&mailbox.outcomes).push(outcome);
            mailbox.filled.store(true, Ordering::Release);
        }
    }

    /// Takes the outcomes of a worker's frames.
    pub(super) fn take_outcomes(&self, worker: u16, outcomes: &mut Vec<SwitchOutcome>) {
        let mailbox = &self.mailboxes[usize::from(worker)];
        if mailbox.filled.swap(false, Ordering::AcqRel) {
            outcomes.append(&mut lock(&mailbox.outcomes));
        }
    }

    pub(super) fn has_outcomes(&self, worker: u16) -> bool {
        self.mailboxes[usize::from(worker)].filled.load(Ordering::Acquire)
    }

    /// When the next event is due.
    pub(super) fn next_due(&self) -> Option<Time> {
        let due = self.parts.iter().map(|part| part.due.load(Ordering::Acquire)).min()?;
        (due < u64::MAX).then_some(Time(due))
    }

    pub(super) fn note_unrouted(&self) {
        self.unrouted.fetch_add(1, Ordering::Relaxed);
    }

    /// Called when the link of a port goes down or comes back: packets queued at a dead port are dropped, and engines
    /// exclude it.
    pub fn set_port(&self, now: Time, port: PortId, up: bool) {
        self.links.set(port, up);
        let part = self.part(port);
        let mut driver = lock(&part.driver);
        driver.set_port(now, port, up);
        self.publish(part, &mut driver);
    }

    /// Whether the link of a port is up.
    #[must_use]
    pub fn is_up(&self, port: PortId) -> bool {
        self.links.is_up(port)
    }

    pub(super) fn links(&self) -> &LinkStates {
        &self.links
    }

    /// The activity of a port so far: packets and wire bytes sent, and the counters of its queues.
    pub fn port(&self, port: PortId) -> ((u64, Bytes), PortCounters) {
        lock(&self.part(port).driver).port(port)
    }

    /// The queues of a port, by class. All workers share a port, so these are exact for any number of workers.
    #[must_use]
    pub fn queues(&self, port: PortId) -> Vec<QueueReading> {
        lock(&self.part(port).driver).queues(port)
    }

    /// Packets inside.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.parts.iter().map(|part| lock(&part.driver).inside()).sum()
    }

    /// Packets dropped for a reason.
    #[must_use]
    pub fn dropped(&self, reason: Reason) -> u64 {
        let unrouted = if reason == Reason::NoRoute { self.unrouted.load(Ordering::Relaxed) } else { 0 };
        self.parts.iter().map(|part| lock(&part.driver).dropped(reason)).sum::<u64>() + unrouted
    }
}
