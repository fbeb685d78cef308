//! Marking: does a packet get a congestion mark (or an early drop)? One marker per queue, or per port.

use weft_core::{Ecn, Header, Random, Rate, Time, choice, family};

pub mod codel;
pub mod off;
pub mod pi;
pub mod pie;
pub mod red;
pub mod step;

mod sampling;

/// What to do with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Leave it alone.
    Pass,
    /// Set "congestion experienced".
    Mark,
    /// Drop it, because it cannot be marked.
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
    /// Which bytes a marker looks at.
    pub enum Scope {
        /// Those of the packet's own queue.
        Queue = "queue",
        /// Those of all queues of the port (as in PIAS).
        Port = "port",
    }
}

/// The situation of a packet at a marker.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// When it is looked at.
    pub now: Time,
    /// The packet.
    pub packet: &'a Header,
    /// Bytes in its queue without the packet itself, the packet in service included.
    pub queue: u64,
    /// The same over all queues of the port.
    pub port: u64,
}

impl Sight<'_> {
    /// The bytes within `scope`.
    #[must_use]
    pub fn bytes(&self, scope: Scope) -> u64 {
        match scope {
            Scope::Queue => self.queue,
            Scope::Port => self.port,
        }
    }

    /// Bytes of the packet that its queue holds from now on: until its last bit has left, unless it is dropped.
    fn stays(&self, action: Action) -> u64 {
        if action == Action::Drop { 0 } else { u64::from(self.packet.wire) }
    }

    /// The action on a packet that was chosen.
    #[must_use]
    pub fn chosen(&self, non_ect: NonEct) -> Action {
        match (self.packet.marks.ecn, non_ect) {
            (Ecn::NotCapable, NonEct::Drop) => Action::Drop,
            (Ecn::NotCapable, NonEct::Pass) => Action::Pass,
            _ => Action::Mark,
        }
    }
}

/// Decides on marks. State is per queue. Built at the rate of the line that the queue waits for.
pub trait Marker {
    /// A packet wants to enter.
    fn arriving(&mut self, _sight: &Sight<'_>, _random: &mut Random) -> Action {
        Action::Pass
    }
    /// A packet is about to leave.
    fn leaving(&mut self, _sight: &Sight<'_>, _random: &mut Random) -> Action {
        Action::Pass
    }
    /// A packet with which its queue, the only one of its port, holds at most so many bytes passes on arrival, and leaves
    /// no trace in the marker: then nobody asks.
    fn passes_up_to(&self) -> u64 {
        0
    }
    /// Whether [`Marker::leaving`] ever says anything else than [`Action::Pass`].
    fn looks_at_departures(&self) -> bool {
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
    }
}

impl MarkerSettings {
    /// What happens to packets that are chosen and cannot be marked; nothing if none is ever chosen.
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
