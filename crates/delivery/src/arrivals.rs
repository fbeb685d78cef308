//! The receiver's side.

use weft_core::bitmap::Bitmap;
use weft_core::order::ReorderCounts;
use weft_core::{Bytes, ReceiverReport, Time};

/// The packets that have arrived.
#[derive(Debug, Default)]
pub struct ArrivedPackets {
    /// Packets of the flow.
    count: u64,
    arrived: Bitmap,
    done: u64,
    delivered: u64,
    missing: u64,
    completed: Option<Time>,
    order: ReorderCounts,
}

impl ArrivedPackets {
    /// None of `count` packets.
    #[must_use]
    pub fn new(count: u64) -> ArrivedPackets {
        ArrivedPackets { count, ..ArrivedPackets::default() }
    }

    /// Records the arrival of a packet of `length` bytes in a flow whose full packets carry `mss` bytes; `again`: it
    /// is a retransmission.
    pub fn take(&mut self, now: Time, (number, length, again): (u64, u64, bool), mss: u64) {
        self.order.arrived(number * mss + length, again, mss);
        if number < self.missing || !self.arrived.insert(number) {
            return;
        }
        self.missing = self.arrived.first_missing(self.missing);
        self.arrived.advance(self.missing);
        self.done += 1;
        self.delivered += length;
        if self.done == self.count {
            self.completed = Some(now);
        }
    }

    /// The number of the first packet that has not arrived.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// When the last packet arrived.
    #[must_use]
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// The counts of a receiver.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        ReceiverReport {
            delivered: Bytes(self.delivered),
            completed: self.completed,
            out_of_order: self.order.out_of_order,
            displacement: self.order.displacement,
            displaced: self.order.displaced.into(),
            ..ReceiverReport::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_complete_when_each_packet_has_arrived_once() {
        let mut arrivals = ArrivedPackets::new(3);
        let mut take = |at, number, again| {
            arrivals.take(Time(at), (number, 100, again), 100);
            (arrivals.missing(), arrivals.completed(), arrivals.report().delivered.0)
        };
        assert_eq!(take(1, 0, false), (1, None, 100));
        assert_eq!(take(2, 2, false), (1, None, 200));
        assert_eq!(take(3, 2, true), (1, None, 200), "a copy counts once");
        assert_eq!(take(4, 1, true), (3, Some(Time(4)), 300));
    }
}
