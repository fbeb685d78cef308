//! Departures that are known when a packet arrives. A port that marks on arrival and keeps its link needs no event
//! for the end of a transmission if no later packet can change what it sends: always with one [queue](Foresight),
//! often with [strict priority](StrictForesight), and [until further notice](RevocableForesight) if the far end may
//! pause the port. Memory is released lazily, when the port is inspected.
//!
//! Nothing else changes: the same packets are admitted, marked and sent at the same instants as by a port with an
//! event per departure. Must not depend on other ports, or on what admission and markers decide.

use weft_core::{Time, Transmission};

mod line;
mod revocable;
mod strict;

pub use line::Foresight;
pub use revocable::{RevocableForesight, Revocation};
pub use strict::{QUEUES, StrictForesight, StrictLeaving};

/// A packet whose end of transmission is known: 10 bytes, because long queues hold many of them.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, packed(2))]
pub struct Leaving {
    /// Its last bit leaves.
    pub at: Time,
    /// Its size on the wire, bytes.
    pub wire: u16,
}

/// The number and the bytes of these packets whose first bit has not left before `now`.
fn to_start(packets: impl Iterator<Item = Leaving>, line: &Transmission, now: Time) -> (u64, u64) {
    let waits = |packet: &Leaving| packet.at.0 >= now.0 && packet.at.since(now) >= line.time(packet.wire);
    packets
        .filter(waits)
        .fold((0, 0), |(packets, bytes), packet| (packets + 1, bytes + u64::from(packet.wire)))
}

/// The byte-picoseconds that these packets add from `now` until they leave.
fn byte_time_after(packets: impl Iterator<Item = Leaving>, now: Time) -> u128 {
    packets.map(|packet| u128::from(packet.wire) * u128::from(packet.at.since(now).0)).sum()
}

/// When a packet occupies the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its first bit leaves.
    pub start: Time,
    /// Its last bit leaves.
    pub end: Time,
}
