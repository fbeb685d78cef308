//! The report of a receiver.

use weft_core::stack::Receiving;
use weft_core::{Bytes, Time};

use super::TcpReceiver;
use crate::ReceiverReport;

impl Receiving for TcpReceiver {
    fn completed(&self) -> Option<Time> {
        self.is_complete().then_some(self.completed)
    }

    fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.arrivals.expected()),
            completed: self.completed(),
            dupacks: self.order.dupacks,
            dupacks_reorder: self.order.dupacks_reorder,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            gro_batches: self.batches.batches() as u32,
            ecn_marks: self.marks,
            ..ReceiverReport::default()
        }
    }
}
