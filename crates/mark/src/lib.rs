//! Marking: whether a packet gets a congestion mark (or is dropped early). One marker per queue, or per port.

use weft_core::{Ecn, Header, Random, Rate, Time, choice, family};

pub mod codel;
pub mod off;
pub mod pi;
pub mod pie;
pub mod red;
pub mod step;

mod sampling;

/// A marker's decision on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Do nothing.
    Pass,
    /// Set "congestion experienced".
    Mark,
    /// Drop it, because it cannot be marked. Results count it as an early drop (`Reason::Early`).
    Drop,
}

choice! {
    /// Where the decision is made.
    pub enum At {
        /// When the packet arrives, on the queue it will find or join.
        Enqueue = "enqueue",
        /// When the packet leaves, on the queue it leaves behind.
        Dequeue = "dequeue",
    }
}

choice! {
    /// What happens to a packet that is chosen for a mark but is not ECN-capable.
    pub enum NonEct {
        /// It is dropped, as RFC 3168 and WRED do.
        Drop = "drop",
        /// It passes; only tail drop affects it.
        Pass = "pass",
    }
}

choice! {
    /// Which bytes a marker takes into account.
    pub enum Scope {
        /// The packet's own queue.
        Queue = "queue",
        /// All queues of the port (as in PIAS).
        Port = "port",
    }
}

/// The view that a marker has of a packet and its queue.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// The time of the decision.
    pub now: Time,
    /// The packet.
    pub packet: &'a Header,
    /// The bytes that it takes in memory, which may count whole cells.
    pub occupied: u16,
    /// Bytes in its queue, including the packet in service but not this packet.
    pub queue: u64,
    /// Bytes in all queues of the port, counted likewise.
    pub port: u64,
}

impl<'a> Sight<'a> {
    /// The view where memory is not in cells.
    #[must_use]
    #[inline(always)]
    pub fn new(now: Time, packet: &'a Header, (queue, port): (u64, u64)) -> Sight<'a> {
        Sight { now, packet, occupied: packet.wire, queue, port }
    }

    /// The bytes within `scope`.
    #[must_use]
    pub fn bytes(&self, scope: Scope) -> u64 {
        match scope {
            Scope::Queue => self.queue,
            Scope::Port => self.port,
        }
    }

    /// Bytes that the packet adds to its queue from now on: all of them until its last bit has left, none if it is
    /// dropped.
    fn stays(&self, action: Action) -> u64 {
        if action == Action::Drop { 0 } else { u64::from(self.occupied) }
    }

    /// The action on a packet chosen for a mark.
    #[must_use]
    pub fn chosen(&self, non_ect: NonEct) -> Action {
        match (self.packet.marks.ecn, non_ect) {
            (Ecn::NotCapable, NonEct::Drop) => Action::Drop,
            (Ecn::NotCapable, NonEct::Pass) => Action::Pass,
            _ => Action::Mark,
        }
    }
}

/// Decides on marks. Has one state per queue, or per port ([`Marker::is_of_port`]), and is built by `new(&Settings, line)` for the rate of the line that drains the
/// queue ([`family!`](weft_core::family!) explains the rest of its file).
pub trait Marker {
    /// A packet that has been admitted is about to join its queue.
    fn arriving(&mut self, _sight: &Sight<'_>, _random: &mut Random) -> Action {
        Action::Pass
    }
    /// Called when a packet is about to leave.
    fn leaving(&mut self, _sight: &Sight<'_>, _random: &mut Random) -> Action {
        Action::Pass
    }
    /// If the queue, the only one of its port, then holds at most this many bytes, an arriving packet passes and does
    /// not change the marker: the port need not call the marker. With 0 it calls for every packet, which is right but slower.
    fn passes_up_to(&self) -> u64 {
        0
    }
    /// Whether [`Marker::leaving`] ever returns anything other than [`Action::Pass`].
    fn looks_at_departures(&self) -> bool {
        false
    }
    /// Whether one marker must see the packets of all queues of a port, because it remembers what the port held.
    fn is_of_port(&self) -> bool {
        false
    }
}

family! {
    /// All markers.
    pub enum AnyMarker: Marker;
    /// The marker of a scenario.
    pub enum MarkerSettings;
    called "marker" built at Rate;
    members {
        "off" => off::Off(OffSettings),
        "step" => step::Step(StepSettings),
        "red" => red::Red(RedSettings),
        "pi" => pi::Pi(PiSettings),
        "pie" => pie::Pie(PieSettings),
        "codel" => codel::Codel(CodelSettings),
    }
    methods {
        fn arriving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action;
        fn leaving(&mut self, sight: &Sight<'_>, random: &mut Random) -> Action;
        fn passes_up_to(&self) -> u64;
        fn looks_at_departures(&self) -> bool;
        fn is_of_port(&self) -> bool;
    }
}

impl MarkerSettings {
    /// What happens to packets that are chosen but cannot be marked; `None` if no packet is ever chosen.
    #[must_use]
    pub fn non_ect(&self) -> Option<NonEct> {
        match self {
            MarkerSettings::Off(_) => None,
            MarkerSettings::Step(own) => Some(own.non_ect),
            MarkerSettings::Red(own) => Some(own.non_ect),
            MarkerSettings::Pi(own) => Some(own.non_ect),
            MarkerSettings::Pie(own) => Some(own.non_ect),
            MarkerSettings::Codel(own) => Some(own.non_ect),
        }
    }
}

#[cfg(test)]
mod tests;
