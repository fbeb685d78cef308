//! The simulator's switch, or a port of it, driven by a clock: the packets inside, and when transmitters become free.
//!
//! The simulator drives the same [`Switch`] with events. As in the simulator, at one instant arrivals come first,
//! then transmitters, then timers. So equal arrivals at equal times leave by the same ports with the same marks, and
//! the same packets are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use weft_core::record::Reason;
use weft_core::{Bytes, Ecn, Header, PacketId, Pool, PortId, Rate, Time};
use weft_switch::{Effect, Effects, PortCounters, Sent, SharedOutputs, Switch, Turn, Verdict};

use crate::pool::Frame;

mod queues;

pub use queues::QueueReading;
use queues::{QueueAt, QueueBooks};

/// A packet inside the switch: a frame in a buffer of the worker that received it and will send it.
#[derive(Clone, Copy, Debug, Default)]
struct HeldFrame {
    worker: u16,
    frame: Frame,
    /// The output port, once the switch has chosen it.
    port: PortId,
}

/// The outcome of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchOutcome {
    /// It leaves by a port, possibly marked.
    Sent {
        /// The port.
        port: PortId,
        /// The frame.
        frame: Frame,
        /// Whether it must be marked "congestion experienced".
        marked: bool,
    },
    /// It is dropped.
    Dropped(Frame),
}

/// An event at a port; at one instant transmitters come before timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PortEvent {
    /// Its transmitter is idle.
    Idle,
    /// The time of a wake-up.
    Wake,
}

/// The event due at a port, and its time.
pub type DueAt = (Time, PortEvent, u16);

/// A switch, its packets and its clock. With [`SharedOutputs`] it is a part that serves some ports.
pub struct SwitchDriver {
    switch: Switch,
    rates: Box<[Rate]>,
    pool: Pool<HeldFrame>,
    effects: Effects,
    due: BinaryHeap<Reverse<DueAt>>,
    now: Time,
    /// Outcomes, each with the worker that has the frame.
    outcomes: Vec<(u16, SwitchOutcome)>,
    sent: Box<[(u64, Bytes)]>,
    drops: [u64; Reason::ALL.len()],
    books: QueueBooks,
    shared: Option<Arc<SharedOutputs>>,
}

impl SwitchDriver {
    /// An empty switch with the line rates of its ports or, with the shared state of a switch's ports, a part of it.
    #[must_use]
    pub fn new(switch: Switch, rates: Vec<Rate>, shared: Option<Arc<SharedOutputs>>) -> SwitchDriver {
        let queues = switch.queues();
        SwitchDriver {
            books: QueueBooks::new(rates.len(), queues),
            switch,
            shared,
            sent: rates.iter().map(|_| (0, Bytes::ZERO)).collect(),
            rates: rates.into(),
            pool: Pool::new(),
            effects: Effects::new(),
            due: BinaryHeap::new(),
            now: Time::ZERO,
            outcomes: Vec::new(),
            drops: [0; Reason::ALL.len()],
        }
    }

    /// Called when a worker has received a frame with this header by the port `from`. Time never goes back: an
    /// earlier `now` counts as the current time.
    pub fn receive(&mut self, now: Time, from: PortId, (worker, frame): (u16, Frame), header: Header) {
        self.advance(now);
        let packet = self.pool.insert(header, HeldFrame { worker, frame, port: PortId(0) });
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let verdict = self.switch.receive(&mut turn, from, packet);
        self.follow(packet, verdict);
    }

    /// Called when a worker's engine has chosen `port` for a frame with this header. Only for a part of a switch.
    pub fn enqueue(&mut self, now: Time, port: PortId, (worker, frame): (u16, Frame), header: Header) {
        self.advance(now);
        let packet = self.pool.insert(header, HeldFrame { worker, frame, port });
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let shared = self.shared.as_ref().expect("a part of a switch");
        let verdict = self.switch.enqueue(&mut turn, port, packet, shared);
        self.follow(packet, verdict);
    }

    fn follow(&mut self, packet: PacketId, verdict: Verdict) {
        match verdict {
            Verdict::Ready(port) => {
                self.join(packet, port);
                self.transmit(port);
            }
            Verdict::Queued(port) => self.join(packet, port),
            Verdict::QueuedUntil(..) => unreachable!("no port was told to foresee departures"),
            Verdict::Dropped(reason) => {
                self.pool.body_mut(packet).port = self.switch.reading().refused_at();
                self.drop(packet, Bytes::ZERO, reason);
            }
            Verdict::LeavesAt(_) | Verdict::LeavesUnlessHeld(..) | Verdict::RevokeFirst => {
                unreachable!("no port was told to foresee departures")
            }
            Verdict::Returned => unreachable!("switches that trim are refused"),
        }
        self.carry_out();
    }

    /// The queue of a packet's class at its port, and its bytes on the wire.
    fn queue_of(&self, packet: PacketId) -> (QueueAt, Bytes) {
        let header = self.pool.headers.get(packet);
        let at = (self.pool.body(packet).port, self.switch.queue_of(header.class));
        (at, Bytes(header.wire.into()))
    }

    /// Called when a packet has joined the queue of its class at a port.
    fn join(&mut self, packet: PacketId, port: PortId) {
        self.pool.body_mut(packet).port = port;
        let (at, wire) = self.queue_of(packet);
        self.books.join(at, wire);
    }

    /// Advances the time: handles everything due before `now`.
    pub fn advance(&mut self, now: Time) {
        while self.next_due().is_some_and(|(time, ..)| time < now) {
            self.step();
        }
        self.now = self.now.max(now);
    }

    /// Handles the next due event.
    pub fn step(&mut self) {
        let Some(Reverse((time, due, port))) = self.due.pop() else { return };
        self.now = self.now.max(time);
        match due {
            PortEvent::Idle => self.transmit(PortId(port)),
            PortEvent::Wake => self.wake(PortId(port)),
        }
    }

    /// What is due next.
    #[must_use]
    pub fn next_due(&self) -> Option<DueAt> {
        self.due.peek().map(|next| next.0)
    }

    /// The outcomes of frames since the last call, each with the worker that has the frame; the caller drains them.
    pub fn outcomes(&mut self) -> &mut Vec<(u16, SwitchOutcome)> {
        &mut self.outcomes
    }

    /// Called when the link of a port goes down or comes back.
    pub fn set_port(&mut self, now: Time, port: PortId, up: bool) {
        self.advance(now);
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let mut set = |switch: &mut Switch| switch.set_port(&mut turn, port, up);
        match &self.shared {
            None => set(&mut self.switch),
            Some(shared) => self.switch.apart(shared, port, set),
        }
        self.carry_out();
    }

    /// Packets inside.
    #[must_use]
    pub fn inside(&self) -> usize {
        self.pool.alive()
    }

    /// Packets dropped for a reason.
    #[must_use]
    pub fn dropped(&self, reason: Reason) -> u64 {
        self.drops[reason as usize]
    }

    /// The activity of a port so far: packets and wire bytes sent, and the counters of its queues.
    pub fn port(&mut self, port: PortId) -> ((u64, Bytes), PortCounters) {
        (self.sent[port.index()], self.switch.reading().counters(self.now, port))
    }

    /// The queues of a port, by class.
    #[must_use]
    pub fn queues(&self, port: PortId) -> Vec<QueueReading> {
        self.books.of_port(port)
    }

    fn wake(&mut self, port: PortId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let mut wake = |switch: &mut Switch| switch.wake(&mut turn, port);
        match &self.shared {
            None => wake(&mut self.switch),
            Some(shared) => self.switch.apart(shared, port, wake),
        }
        self.carry_out();
    }

    /// Called when the transmitter of a port is idle: the next packet leaves and occupies it for its transmission
    /// time.
    fn transmit(&mut self, port: PortId) {
        self.books.finish(port);
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        let mut transmit = |switch: &mut Switch| switch.transmit(&mut turn, port);
        let sent = match &self.shared {
            None => transmit(&mut self.switch),
            Some(shared) => self.switch.apart(shared, port, transmit),
        };
        match sent {
            Some(Sent::Packet(packet)) => self.leave(port, packet),
            Some(Sent::Frame(_)) => unreachable!("switches that pause are refused"),
            None => {}
        }
        self.carry_out();
    }

    fn leave(&mut self, port: PortId, packet: PacketId) {
        let marked = self.pool.headers.get(packet).marks.ecn == Ecn::Marked;
        let (at, wire) = self.queue_of(packet);
        self.books.send(at, wire);
        let HeldFrame { worker, frame, .. } = *self.pool.body(packet);
        self.pool.remove(packet);
        self.outcomes.push((worker, SwitchOutcome::Sent { port, frame, marked }));
        let sent = &mut self.sent[port.index()];
        *sent = (sent.0 + 1, sent.1 + wire);
        self.due.push(Reverse((self.now + self.rates[port.index()].time_for(wire), PortEvent::Idle, port.0)));
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::HasWork(port) => self.transmit(port),
                Effect::Dropped(packet, reason) => {
                    let (_, held) = self.queue_of(packet);
                    self.drop(packet, held, reason);
                }
                Effect::WakeAt(time, port) => self.due.push(Reverse((time, PortEvent::Wake, port.0))),
            }
        }
    }

    /// Called when a packet is dropped; `held` are its bytes if it was in a queue.
    fn drop(&mut self, packet: PacketId, held: Bytes, reason: Reason) {
        let HeldFrame { worker, frame, .. } = *self.pool.body(packet);
        if reason != Reason::NoRoute {
            self.books.drop(self.queue_of(packet).0, held, reason);
        }
        self.pool.remove(packet);
        self.outcomes.push((worker, SwitchOutcome::Dropped(frame)));
        self.drops[reason as usize] += 1;
    }
}
