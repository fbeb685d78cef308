//! A tap on one switch: every packet that arrives, leaves or is dropped there, in order. Has no effect on the run.
//! Another driver that replays the arrivals through an identical switch must see the same departures and drops.

use std::sync::{Arc, Mutex};

use weft_core::record::Reason;
use weft_core::{Ecn, Header, PacketId, PortId, SwitchId, Time};
use weft_switch::Observer;

/// An observation at the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// A whole packet arrived; packets are numbered in this order.
    Arrived {
        /// The instant.
        time: Time,
        /// The port by which it arrived.
        port: PortId,
        /// Its header before the switch touched it.
        header: Header,
    },
    /// A packet started to leave.
    Left {
        /// The instant.
        time: Time,
        /// The port by which it left.
        port: PortId,
        /// Its number.
        packet: u32,
        /// Its mark.
        ecn: Ecn,
    },
    /// A packet was dropped.
    Dropped {
        /// The instant.
        time: Time,
        /// Its number.
        packet: u32,
        /// The reason.
        reason: Reason,
    },
}

/// A tap.
#[derive(Clone, Debug)]
pub struct Tap {
    /// The switch.
    pub switch: SwitchId,
    /// Everything seen, in order.
    pub seen: Vec<Seen>,
    arrivals: u32,
    /// Number of the packet now in a slot of the pool.
    numbers: Vec<u32>,
}

impl Tap {
    /// A tap on `switch`.
    #[must_use]
    pub fn new(switch: SwitchId) -> Tap {
        Tap { switch, seen: Vec::new(), arrivals: 0, numbers: Vec::new() }
    }
}

/// The observer that a tap attaches to the switch; both share the observations.
#[derive(Debug)]
pub struct Watching(pub Arc<Mutex<Tap>>);

impl Watching {
    fn note(&self, note: impl FnOnce(&mut Tap)) {
        note(&mut self.0.lock().expect("nobody panics while holding a tap"));
    }
}

impl Observer for Watching {
    fn received(&mut self, time: Time, port: PortId, packet: PacketId, header: &Header) {
        self.note(|tap| {
            if packet.index() >= tap.numbers.len() {
                tap.numbers.resize(packet.index() + 1, 0);
            }
            tap.numbers[packet.index()] = tap.arrivals;
            tap.arrivals += 1;
            tap.seen.push(Seen::Arrived { time, port, header: *header });
        });
    }

    fn sends(&mut self, time: Time, port: PortId, packet: PacketId, header: &Header) {
        self.note(|tap| {
            let packet = tap.numbers[packet.index()];
            tap.seen.push(Seen::Left { time, port, packet, ecn: header.marks.ecn });
        });
    }

    fn dropped(&mut self, time: Time, packet: PacketId, reason: Reason) {
        self.note(|tap| {
            tap.seen.push(Seen::Dropped { time, packet: tap.numbers[packet.index()], reason });
        });
    }
}
