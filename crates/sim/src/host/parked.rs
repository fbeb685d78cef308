//! Ends that a pause keeps from the card. Must not depend on the card.

use weft_core::stack::Side;
use weft_core::{Header, Time};
use weft_transport::Body;

use crate::ends::Seat;

/// Ends that wanted the card while their queues were paused, in order.
#[derive(Default)]
pub(super) struct Parked {
    /// The parked senders, and since when each has been parked.
    pub(super) senders: Vec<(Seat, Time)>,
    receivers: Vec<(Seat, Time)>,
    pub(super) replies: Vec<(Header, Body)>,
}

impl Parked {
    /// The ends of one side.
    pub(super) fn of(&mut self, side: Side) -> &mut Vec<(Seat, Time)> {
        match side {
            Side::Sender => &mut self.senders,
            Side::Receiver => &mut self.receivers,
        }
    }
}
