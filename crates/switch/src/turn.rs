//! What a switch and its driver say to each other.

use weft_core::record::Reason;
use weft_core::{Bytes, Headers, PacketId, PortId, Rate, Span, SwitchId, Time};

/// What the driver of a switch has to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The idle transmitter of this port has a packet: ask [`crate::Switch::next_packet`].
    HasWork(PortId),
    /// The packet is lost; its place in the pool is the driver's to free.
    Dropped(PacketId, Reason),
}

/// A reused list of effects, drained by the driver after each call.
pub type Effects = Vec<Effect>;

/// What a driver lends to a switch for one call.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The time.
    pub now: Time,
    /// The headers of all packets.
    pub headers: &'a mut Headers,
    /// Where the switch writes what is to be done.
    pub effects: &'a mut Effects,
}

/// What a switch must be told about its place.
#[derive(Clone, Debug)]
pub struct SwitchSite {
    /// Seed of the run.
    pub seed: u64,
    /// Which switch it is.
    pub switch: SwitchId,
    /// Line rate of each port.
    pub rates: Vec<Rate>,
    /// One-way delay of the cable of each port.
    pub cables: Vec<Span>,
    /// Wire size of a full-size packet, for the time an engine may take per packet.
    pub full_packet: Bytes,
}

#[cfg(test)]
impl SwitchSite {
    /// Two ports of 10 Gb/s on cables without delay.
    pub(crate) fn of_two_ports() -> SwitchSite {
        SwitchSite {
            seed: 1,
            switch: SwitchId(0),
            rates: vec![Rate::from_gbps(10); 2],
            cables: vec![Span::ZERO; 2],
            full_packet: Bytes(1_500),
        }
    }
}

/// When a packet that was received leaves: known at once of a port whose departures are foreseen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// By which port.
    pub port: PortId,
    /// Its first bit leaves.
    pub start: Time,
    /// Its last bit leaves.
    pub end: Time,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has a place on the line of a port whose departures are foreseen.
    Leaves(Departure),
    /// It is to join the queue of this port.
    Joins(PortId),
    /// It is lost.
    Lost(Reason),
}
