//! What a pause keeps from the card. Must not depend on the card.

use weft_core::stack::Side;
use weft_core::{Class, Header, PacketId, Time};
use weft_transport::Body;

use crate::ends::Seat;

/// A packet that goes before those of the ends.
pub(super) enum Loose {
    /// The reply of a closed connection.
    Reply(Header, Body),
    /// A packet that an end wrote in a class whose queue was paused.
    Written(PacketId, Class, (Side, Seat)),
}

impl Loose {
    /// Its priority class.
    pub(super) fn class(&self) -> Class {
        match self {
            Loose::Reply(header, _) => header.class,
            Loose::Written(_, class, _) => *class,
        }
    }
}

/// What waits for a pause to end, in order.
#[derive(Default)]
pub(super) struct Parked {
    /// The parked senders, and since when each has been parked.
    pub(super) senders: Vec<(Seat, Time)>,
    receivers: Vec<(Seat, Time)>,
    pub(super) loose: Vec<Loose>,
}

impl Parked {
    /// The ends of one side.
    pub(super) fn of(&mut self, side: Side) -> &mut Vec<(Seat, Time)> {
        match side {
            Side::Sender => &mut self.senders,
            Side::Receiver => &mut self.receivers,
        }
    }

    /// Whether a packet of a sender waits, behind which its next ones wait too. Receivers go on: notifications pass
    /// acknowledgements.
    pub(super) fn has_packet_of(&self, end: (Side, Seat)) -> bool {
        let waits = |loose: &Loose| matches!(loose, Loose::Written(_, _, of) if *of == end);
        end.0 == Side::Sender && self.loose.iter().any(waits)
    }
}
