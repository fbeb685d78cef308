//! Arbiters: which flows may send over a link, and at what rate. One arbiter per link, at the switch that feeds it; the
//! switch next to a host also arbitrates for the link on which that host sends.
//!
//! An arbiter reads and writes the scheduling headers of packets that pass ([`weft_core::scheduling`]): requests on
//! their way to the receiver, grants on their way back. The simplest, [`telemetry`], decides nothing: it reports the state of
//! its link to the senders. Must not depend on switches, queues or transports.

use weft_core::scheduling::{FlowKey, SchedulingHeader};
use weft_core::telemetry::Telemetry;
use weft_core::tree::TreeSite;
use weft_core::{Bytes, Rate, Time, family};

pub use pase::delegation::Delegation;

pub mod off;
pub mod pase;
pub mod pdq;
pub mod ports;
pub mod telemetry;

/// The link of an arbiter.
#[derive(Clone, Copy, Debug)]
pub struct ArbiterSite {
    /// A number unique to this arbiter in the network; not zero.
    pub number: u64,
    /// The rate of the link.
    pub line: Rate,
    /// Wire size of a full packet.
    pub full_packet: Bytes,
}

/// A packet passing an arbiter.
#[derive(Clone, Copy, Debug)]
pub struct Passing {
    /// The instant.
    pub now: Time,
    /// Its flow.
    pub flow: FlowKey,
    /// Its size on the wire.
    pub wire: u16,
}

/// A packet whose transmission begins.
#[derive(Clone, Copy, Debug)]
pub struct Starting {
    /// The instant.
    pub now: Time,
    /// Its size on the wire.
    pub wire: u16,
    /// Wire bytes that wait behind it.
    pub queued: Bytes,
}

/// Decides which flows may send over a link.
pub trait Arbiter {
    /// Called when a request, or the last packet of a flow, is about to be forwarded over the link.
    fn forward(&mut self, _passing: &Passing, _header: &mut SchedulingHeader) {}
    /// Called when the answer to such a packet passes on its way back.
    fn reverse(&mut self, _passing: &Passing, _header: &mut SchedulingHeader) {}
    /// Called when the link begins to send a packet, with the reports that it collects, if it does.
    fn sends(&mut self, _starting: &Starting, _reports: Option<&mut Telemetry>) {}
    /// When [`Arbiter::tick`] is due; [`Time::NEVER`] while no flow is listed.
    fn due(&self) -> Time {
        Time::NEVER
    }
    /// Called when the timer has expired; `waiting` bytes wait for the link, not counting the packet in service.
    fn tick(&mut self, _now: Time, _waiting: Bytes) {}
    /// Whether it ever changes a packet.
    fn is_on(&self) -> bool {
        true
    }
}

family! {
    /// All arbiters.
    pub enum AnyArbiter: Arbiter;
    /// The arbiter of a scenario.
    pub enum ArbiterSettings;
    called "arbiter" built at ArbiterSite;
    members {
        "off" => off::NoArbiter(NoArbiterSettings),
        "pdq" => pdq::PdqArbiter(PdqArbiterSettings),
        "pase" => pase::PaseArbiter(PaseArbiterSettings),
        "telemetry" => telemetry::TelemetryArbiter(TelemetryArbiterSettings),
    }
    methods {
        fn forward(&mut self, passing: &Passing, header: &mut SchedulingHeader);
        fn reverse(&mut self, passing: &Passing, header: &mut SchedulingHeader);
        fn sends(&mut self, starting: &Starting, reports: Option<&mut Telemetry>);
        fn due(&self) -> Time;
        fn tick(&mut self, now: Time, waiting: Bytes);
        fn is_on(&self) -> bool;
    }
}

impl ArbiterSettings {
    /// What the arbiters of one switch do jointly, if anything, given the switch's place in the tree.
    #[must_use]
    pub fn delegation(&self, tree: &TreeSite, full_packet: Bytes) -> Option<Delegation> {
        match self {
            ArbiterSettings::PaseArbiter(settings) => Delegation::new(settings, tree, full_packet),
            _ => None,
        }
    }

    /// Whether they depend on the switch's place in the tree.
    #[must_use]
    pub fn looks_at_tree(&self) -> bool {
        matches!(self, ArbiterSettings::PaseArbiter(_))
    }
}
