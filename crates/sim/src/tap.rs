//! A tap on one switch: every packet that arrives, leaves or is dropped there, in order. Changes nothing. Another
//! driver can replay the arrivals through the same switch and must see the same.

use weft_core::record::Reason;
use weft_core::{Ecn, Header, PacketId, PortId, SwitchId, Time};

/// Something seen at the switch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// A whole packet came in; packets are numbered in this order.
    Arrived {
        /// When.
        time: Time,
        /// By which port.
        port: PortId,
        /// Its header before the switch touched it.
        header: Header,
    },
    /// A packet started to leave.
    Left {
        /// When.
        time: Time,
        /// By which port.
        port: PortId,
        /// Its number.
        packet: u32,
        /// Its mark.
        ecn: Ecn,
    },
    /// A packet was dropped.
    Dropped {
        /// When.
        time: Time,
        /// Its number.
        packet: u32,
        /// Why.
        reason: Reason,
    },
}

/// The tap.
#[derive(Clone, Debug)]
pub struct Tap {
    pub(crate) switch: SwitchId,
    /// Everything seen, in order.
    pub seen: Vec<Seen>,
    arrivals: u32,
    /// Number of the packet that has a place in the pool now.
    numbers: Vec<u32>,
}

impl Tap {
    /// A tap on `switch`.
    #[must_use]
    pub fn new(switch: SwitchId) -> Tap {
        Tap { switch, seen: Vec::new(), arrivals: 0, numbers: Vec::new() }
    }

    pub(crate) fn arrived(
        &mut self,
        switch: SwitchId,
        at: (Time, PortId),
        packet: PacketId,
        header: &Header,
    ) {
        if switch != self.switch {
            return;
        }
        if packet.index() >= self.numbers.len() {
            self.numbers.resize(packet.index() + 1, 0);
        }
        self.numbers[packet.index()] = self.arrivals;
        self.arrivals += 1;
        self.seen.push(Seen::Arrived { time: at.0, port: at.1, header: *header });
    }

    pub(crate) fn left(&mut self, switch: SwitchId, at: (Time, PortId), packet: PacketId, header: &Header) {
        if switch == self.switch {
            let packet = self.numbers[packet.index()];
            self.seen.push(Seen::Left { time: at.0, port: at.1, packet, ecn: header.marks.ecn });
        }
    }

    pub(crate) fn dropped(&mut self, switch: SwitchId, time: Time, packet: PacketId, reason: Reason) {
        if switch == self.switch {
            self.seen.push(Seen::Dropped { time, packet: self.numbers[packet.index()], reason });
        }
    }
}
