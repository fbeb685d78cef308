//! What a pause keeps from the card. Must not depend on the card.

use weft_core::stack::Side;
use weft_core::{Class, Header, PacketId, Span, Time};
use weft_transport::Body;

use crate::ends::Seat;

/// A packet that goes before those of the ends.
pub(super) enum Loose {
    /// The reply of a closed connection.
    Reply(Header, Body),
    /// A packet that an end wrote in a class whose queue was paused, and since when it has been held.
    Written { packet: PacketId, class: Class, end: (Side, Seat), since: Time },
}

impl Loose {
    /// Its priority class.
    pub(super) fn class(&self) -> Class {
        match self {
            Loose::Reply(header, _) => header.class,
            Loose::Written { class, .. } => *class,
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
        let waits = |loose: &Loose| matches!(loose, Loose::Written { end: of, .. } if *of == end);
        end.0 == Side::Sender && self.loose.iter().any(waits)
    }

    /// Each sender that is parked, or has a packet here, and for how long. From `now` on the hold times restart.
    pub(super) fn tell_held_senders(&mut self, now: Time, mut told: impl FnMut(Seat, Span)) {
        for (seat, since) in &self.senders {
            told(*seat, now.since(*since));
        }
        for loose in &mut self.loose {
            if let Loose::Written { end: (Side::Sender, seat), since, .. } = loose {
                let held = now.since(std::mem::replace(since, now));
                if self.senders.iter().all(|(parked, _)| parked != seat) {
                    told(*seat, held);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(end: (Side, Seat), since: u64) -> Loose {
        Loose::Written { packet: PacketId::NONE, class: Class(1), end, since: Time(since) }
    }

    /// A sender waits with its packet; a receiver writes on, so that notifications pass acknowledgements.
    #[test]
    fn only_senders_wait_behind_their_packets() {
        let (sender, receiver) = ((Side::Sender, Seat(4)), (Side::Receiver, Seat(5)));
        let parked = Parked { loose: vec![written(sender, 0), written(receiver, 0)], ..Parked::default() };
        assert!(parked.has_packet_of(sender) && !parked.has_packet_of(receiver));
        assert!(
            !parked.has_packet_of((Side::Sender, Seat(5))) && !parked.has_packet_of((Side::Sender, Seat(6)))
        );
    }

    /// Whether the sender has more to send, and is parked as well, or not: its time counts once, and goes on counting.
    #[test]
    fn a_sender_is_held_once() {
        let senders = vec![(Seat(1), Time(10))];
        let loose = vec![
            written((Side::Sender, Seat(1)), 10),
            written((Side::Sender, Seat(2)), 30),
            written((Side::Receiver, Seat(3)), 0),
        ];
        let mut parked = Parked { senders, loose, ..Parked::default() };
        let mut told = Vec::new();
        parked.tell_held_senders(Time(100), |Seat(seat), held| told.push((seat, held.0)));
        assert_eq!(told, [(1, 90), (2, 70)]);
        parked.senders.clear();
        told.clear();
        parked.tell_held_senders(Time(105), |Seat(seat), held| told.push((seat, held.0)));
        assert_eq!(told, [(1, 5), (2, 5)]);
    }
}
