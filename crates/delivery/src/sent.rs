//! The sender's side.

use std::collections::VecDeque;

use weft_core::bitmap::Bitmap;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
struct Flight {
    number: u64,
    /// Packets of different lanes may overtake each other.
    lane: u8,
    /// Number of packets of its lane that were sent after it and have arrived.
    passed: u32,
}

/// The packets of a flow: never sent, in flight, arrived, or to be sent again.
#[derive(Debug, Default)]
pub struct SentPackets {
    /// Packets of the flow.
    count: u64,
    /// The first packet never sent.
    next: u64,
    /// Acknowledged packets, their number, and the first that is not.
    arrived: Bitmap,
    done: u64,
    missing: u64,
    /// In the order in which they were sent.
    flying: VecDeque<Flight>,
    /// Ascending.
    again: VecDeque<u64>,
}

impl SentPackets {
    /// None of `count` packets sent.
    #[must_use]
    pub fn new(count: u64) -> SentPackets {
        SentPackets { count, ..SentPackets::default() }
    }

    /// Packets of the flow.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Packets known to have arrived.
    #[must_use]
    pub fn arrived(&self) -> u64 {
        self.done
    }

    /// The first packet not known to have arrived.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Packets in flight.
    #[must_use]
    pub fn flying(&self) -> u64 {
        self.flying.len() as u64
    }

    /// Payload of the packets in flight, if the flow has `size` bytes with `mss` in each packet but the last.
    #[must_use]
    pub fn bytes_in_flight(&self, size: u64, mss: u64) -> u64 {
        let numbers = self.flying.iter().filter(|_| !self.is_done()).map(|flight| flight.number);
        numbers.map(|number| mss.min(size - number * mss)).sum()
    }

    /// Payload known to have arrived, likewise.
    #[must_use]
    pub fn bytes_arrived(&self, size: u64, mss: u64) -> u64 {
        let last = self.count.saturating_sub(1);
        let has_last = last < self.missing || self.arrived.contains(last);
        match (self.is_done(), has_last) {
            (true, _) => size,
            (false, true) => (self.done - 1) * mss + (size - last * mss),
            (false, false) => self.done * mss,
        }
    }

    /// The first packet that was never sent.
    #[must_use]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Packets that have to be sent again.
    #[must_use]
    pub fn again(&self) -> u64 {
        self.again.len() as u64
    }

    /// Whether all packets are known to have arrived.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done == self.count
    }

    /// The packet to send next; `None`: all have been sent.
    #[must_use]
    pub fn upcoming(&self) -> Option<u64> {
        self.again.front().copied().or_else(|| (self.next < self.count).then_some(self.next))
    }

    /// Sends the next packet in a lane. Returns its number, and whether it is a retransmission.
    ///
    /// # Panics
    /// If all packets have been sent.
    pub fn send(&mut self, lane: u8) -> (u64, bool) {
        let again = self.again.pop_front();
        let number = again.unwrap_or(self.next);
        assert!(number < self.count, "there is a packet to send");
        self.next += u64::from(again.is_none());
        self.flying.push_back(Flight { number, lane, passed: 0 });
        (number, again.is_some())
    }

    /// The receiver has everything.
    pub fn finish(&mut self) {
        self.done = self.count;
    }

    /// Nothing in flight is expected any longer.
    pub fn abandon(&mut self) {
        self.flying.clear();
    }

    /// Records an answer: packet `number` has arrived, and so have all before `missing`. Numbers beyond the end are
    /// ignored. Returns whether that was news.
    pub fn acknowledge(&mut self, number: u64, missing: u64) -> bool {
        let before = self.done;
        self.pass(number);
        if number < self.count {
            self.note(number);
        }
        (self.missing..missing.min(self.count)).for_each(|number| self.note(number));
        self.missing = self.arrived.first_missing(self.missing.max(missing));
        self.arrived.advance(self.missing);
        self.done > before
    }

    /// A packet is known to have arrived.
    fn note(&mut self, number: u64) {
        if number >= self.missing && self.arrived.insert(number) {
            self.done += 1;
            self.place(number).map(|place| self.flying.remove(place));
            self.again.binary_search(&number).map(|place| self.again.remove(place)).ok();
        }
    }

    /// The place of a packet among those in flight, near the front unless packets overtake each other.
    fn place(&self, number: u64) -> Option<usize> {
        self.flying.iter().position(|flight| flight.number == number)
    }

    /// Counts the arrival of a packet against those sent before it in its lane.
    fn pass(&mut self, number: u64) {
        let Some(place) = self.place(number) else { return };
        let lane = self.flying[place].lane;
        let before = self.flying.iter_mut().take(place).filter(|flight| flight.lane == lane);
        before.for_each(|flight| flight.passed += 1);
    }

    /// Declares packets lost that at least `threshold` later ones of their lane have overtaken. Returns their number.
    pub fn lose_overtaken(&mut self, threshold: u32) -> u64 {
        let is_lost = |flight: &Flight| flight.passed >= threshold;
        let lost: Vec<u64> =
            self.flying.iter().filter(|flight| is_lost(flight)).map(|flight| flight.number).collect();
        self.flying.retain(|flight| !is_lost(flight));
        self.send_again(&lost);
        lost.len() as u64
    }

    /// Declares everything in flight lost.
    pub fn lose_all(&mut self) {
        let lost: Vec<u64> = self.flying.drain(..).map(|flight| flight.number).collect();
        self.send_again(&lost);
    }

    fn send_again(&mut self, lost: &[u64]) {
        self.again.extend(lost);
        self.again.make_contiguous().sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_packets_go_again_before_new_ones() {
        let mut packets = SentPackets::new(5);
        assert_eq!([0, 1, 2].map(|_| packets.send(0)), [(0, false), (1, false), (2, false)]);
        assert!(packets.acknowledge(1, 0) && !packets.acknowledge(1, 0));
        packets.lose_all();
        assert_eq!((packets.flying(), packets.again(), packets.upcoming()), (0, 2, Some(0)));
        assert_eq!([0, 1, 2].map(|_| packets.send(0)), [(0, true), (2, true), (3, false)]);
        assert!(packets.acknowledge(9, 4), "all before 4 have arrived");
        assert_eq!((packets.arrived(), packets.missing(), packets.flying()), (4, 4, 0));
        packets.send(0);
        assert!(packets.acknowledge(4, 5) && packets.is_done() && packets.upcoming().is_none());
    }

    /// Three packets of 100 bytes and one of 7.
    #[test]
    fn the_last_packet_counts_with_its_own_payload() {
        let mut packets = SentPackets::new(4);
        let told =
            |packets: &SentPackets| (packets.bytes_arrived(307, 100), packets.bytes_in_flight(307, 100));
        assert_eq!(told(&packets), (0, 0));
        (0..3).for_each(|_| _ = packets.send(0));
        assert_eq!(told(&packets), (0, 300));
        packets.send(0);
        assert_eq!(told(&packets), (0, 307));
        packets.acknowledge(3, 0);
        assert_eq!(told(&packets), (7, 300), "the last before all others");
        packets.acknowledge(0, 1);
        assert_eq!(told(&packets), (107, 200));
        packets.lose_all();
        assert_eq!(told(&packets), (107, 0));
        packets.send(0);
        packets.finish();
        assert_eq!(told(&packets), (307, 0), "the receiver has everything, whatever is still on its way");
    }

    #[test]
    fn three_later_packets_of_a_lane_betray_a_loss() {
        let mut packets = SentPackets::new(8);
        (0..4).for_each(|_| _ = packets.send(1));
        (4..8).for_each(|_| _ = packets.send(0));
        (4..8).for_each(|number| _ = packets.acknowledge(number, 0));
        assert_eq!(packets.lose_overtaken(3), 0, "another lane is faster");
        [1, 2].into_iter().for_each(|number| _ = packets.acknowledge(number, 0));
        assert_eq!(packets.lose_overtaken(3), 0);
        packets.acknowledge(3, 0);
        assert_eq!((packets.lose_overtaken(3), packets.upcoming()), (1, Some(0)));
    }
}
