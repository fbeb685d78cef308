//! The switch of the simulator, driven by a clock: the packets inside it, and when its transmitters are free.
//!
//! The simulator drives the same [`Switch`] with events. As in the simulator, at one instant arrivals come first, then
//! transmitters, then timers; so equal arrivals at equal times leave by equal ports with equal marks, and the same
//! packets are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::record::Reason;
use weft_core::{Bytes, Ecn, Header, PacketId, Pool, PortId, Rate, Time};
use weft_switch::{Effect, Effects, PortCounters, Sent, Switch, Turn, Verdict};

use crate::pool::Frame;

/// A packet inside the switch: a frame in a buffer of the worker that received it and will send it.
#[derive(Clone, Copy, Debug, Default)]
struct HeldFrame {
    worker: u16,
    frame: Frame,
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
enum Due {
    Idle,
    Wake,
}

/// A switch, its packets and its clock.
pub struct SwitchDriver {
    switch: Switch,
    rates: Box<[Rate]>,
    pool: Pool<HeldFrame>,
    effects: Effects,
    due: BinaryHeap<Reverse<(Time, Due, u16)>>,
    now: Time,
    /// Outcomes by worker.
    outcomes: Box<[Vec<SwitchOutcome>]>,
    sent: Box<[(u64, Bytes)]>,
    drops: [u64; Reason::ALL.len()],
}

impl SwitchDriver {
    /// An empty switch with the line rates of its ports, for `workers` workers.
    #[must_use]
    pub fn new(switch: Switch, rates: Vec<Rate>, workers: usize) -> SwitchDriver {
        SwitchDriver {
            switch,
            sent: rates.iter().map(|_| (0, Bytes::ZERO)).collect(),
            rates: rates.into(),
            pool: Pool::new(),
            effects: Effects::new(),
            due: BinaryHeap::new(),
            now: Time::ZERO,
            outcomes: vec![Vec::new(); workers].into(),
            drops: [0; Reason::ALL.len()],
        }
    }

    /// A worker has received a frame with this header by the port `from`. Time never goes back: an earlier `now` counts
    /// as the current time.
    pub fn receive(&mut self, now: Time, from: PortId, (worker, frame): (u16, Frame), header: Header) {
        self.advance(now);
        let packet = self.pool.insert(header, HeldFrame { worker, frame });
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        match self.switch.receive(&mut turn, from, packet) {
            Verdict::Ready(port) => self.transmit(port),
            Verdict::Queued(_) => {}
            Verdict::Dropped(reason) => self.drop(packet, reason),
            Verdict::LeavesAt(_) => unreachable!("no port was told to foresee departures"),
            Verdict::Returned => unreachable!("switches that trim are refused"),
        }
        self.carry_out();
    }

    /// Advances the time: handles everything due before `now`.
    pub fn advance(&mut self, now: Time) {
        while let Some(Reverse((time, due, port))) = self.due.peek().copied().filter(|next| next.0.0 < now) {
            self.due.pop();
            self.now = self.now.max(time);
            match due {
                Due::Idle => self.transmit(PortId(port)),
                Due::Wake => self.wake(PortId(port)),
            }
        }
        self.now = self.now.max(now);
    }

    /// The outcomes of a worker's frames since the last call; the caller drains them.
    pub fn outcomes(&mut self, worker: u16) -> &mut Vec<SwitchOutcome> {
        &mut self.outcomes[usize::from(worker)]
    }

    /// When a worker must look again: at once if there are outcomes, otherwise when something is due.
    #[must_use]
    pub fn next_look(&self) -> Option<Time> {
        if self.outcomes.iter().any(|outcomes| !outcomes.is_empty()) {
            return Some(Time::ZERO);
        }
        self.due.peek().map(|next| next.0.0)
    }

    /// The link of a port goes down or comes back.
    pub fn set_port(&mut self, now: Time, port: PortId, up: bool) {
        self.advance(now);
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.switch.set_port(&mut turn, port, up);
        self.carry_out();
    }

    /// Number of ports.
    #[must_use]
    pub fn ports(&self) -> usize {
        self.rates.len()
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

    fn wake(&mut self, port: PortId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.switch.wake(&mut turn, port);
        self.carry_out();
    }

    /// The transmitter of a port is idle: the next packet leaves and occupies it for its transmission time.
    fn transmit(&mut self, port: PortId) {
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        match self.switch.transmit(&mut turn, port) {
            Some(Sent::Packet(packet)) => self.leave(port, packet),
            Some(Sent::Frame(_)) => unreachable!("switches that pause are refused"),
            None => {}
        }
        self.carry_out();
    }

    fn leave(&mut self, port: PortId, packet: PacketId) {
        let header = self.pool.headers.get(packet);
        let (wire, marked) = (Bytes(header.wire.into()), header.marks.ecn == Ecn::Marked);
        let HeldFrame { worker, frame } = *self.pool.body(packet);
        self.pool.remove(packet);
        self.outcomes[usize::from(worker)].push(SwitchOutcome::Sent { port, frame, marked });
        let sent = &mut self.sent[port.index()];
        *sent = (sent.0 + 1, sent.1 + wire);
        self.due.push(Reverse((self.now + self.rates[port.index()].time_for(wire), Due::Idle, port.0)));
    }

    fn carry_out(&mut self) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::HasWork(port) => self.transmit(port),
                Effect::Dropped(packet, reason) => self.drop(packet, reason),
                Effect::WakeAt(time, port) => self.due.push(Reverse((time, Due::Wake, port.0))),
            }
        }
    }

    fn drop(&mut self, packet: PacketId, reason: Reason) {
        let HeldFrame { worker, frame } = *self.pool.body(packet);
        self.pool.remove(packet);
        self.outcomes[usize::from(worker)].push(SwitchOutcome::Dropped(frame));
        self.drops[reason as usize] += 1;
    }
}
