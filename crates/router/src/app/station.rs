//! Tasks of applications at a port that is one end of a cable: answer the ARP requests of the host at the other end,
//! find its MAC address, drop its frames.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_core::{Span, Time};
use weft_packet::{ArpMessage, ArpOperation, EtherType, EthernetHeader, Ipv4Header, Mac, VlanTag};

use crate::app::Desk;
use crate::counters::DropCause;
use crate::pool::Frame;

/// Minimum bytes of a frame without FCS.
pub(crate) const LEAST_FRAME: u16 = 60;

/// Drops a frame for a cause.
pub(crate) fn drop_frame(desk: &mut Desk<'_>, frame: Frame, cause: DropCause) {
    desk.counters.drop_at(frame.port, cause, 1);
    desk.pool.give(frame.buffer);
}

/// Releases the buffer of a frame that has been processed.
pub(crate) fn consume(desk: &mut Desk<'_>, frame: Frame) {
    desk.counters.consumed += 1;
    desk.pool.give(frame.buffer);
}

/// The frame without tags of VLAN 0, which only give its priority (IEEE 802.1Q, table 9-2).
#[inline]
pub(crate) fn untagged(desk: &mut Desk<'_>, mut frame: Frame) -> Frame {
    while let [_, _, _, _, _, _, _, _, _, _, _, _, 0x81, 0x00, high, 0, ..]
    | [_, _, _, _, _, _, _, _, _, _, _, _, 0x88, 0xa8, high, 0, ..] = desk.pool.bytes(frame)
        && high & 0x0f == 0
    {
        desk.pool.bytes_mut(frame).copy_within(12 + VlanTag::LEN.., 12);
        frame.length -= VlanTag::LEN as u16;
    }
    frame
}

/// Sends the answer in the buffer of the request.
pub(crate) fn answer(desk: &mut Desk<'_>, frame: Frame, message: &ArpMessage) {
    let header =
        EthernetHeader { destination: message.target.0, source: message.sender.0, kind: EtherType::ARP };
    let bytes = desk.pool.buffer(frame.buffer);
    bytes[..EthernetHeader::LEN].copy_from_slice(&header.to_bytes());
    bytes[EthernetHeader::LEN..][..ArpMessage::LEN].copy_from_slice(&message.to_bytes());
    bytes[EthernetHeader::LEN + ArpMessage::LEN..usize::from(LEAST_FRAME)].fill(0);
    desk.counters.consumed += 1;
    desk.counters.made += 1;
    desk.out.push(frame.port, Frame { length: LEAST_FRAME, ..frame });
}

/// The MAC address at the other end of a cable, once it is known; shared by workers.
#[derive(Debug, Default)]
pub(crate) struct FarEnd(AtomicU64);

impl FarEnd {
    pub(crate) fn new(mac: Option<Mac>) -> FarEnd {
        let far = FarEnd::default();
        mac.iter().for_each(|mac| far.learn(*mac));
        far
    }

    /// Records the station at the other end.
    pub(crate) fn learn(&self, Mac([a, b, c, d, e, f]): Mac) {
        let word = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        // Written only when it changes, so that workers share the cache line.
        if self.0.load(Ordering::Relaxed) != word {
            self.0.store(word, Ordering::Relaxed);
        }
    }

    /// Records the sender of a frame as the station at the other end, unless it is the port itself, whose station is
    /// `own`: then another program of this machine has sent the frame, or somebody claims to be the port.
    pub(crate) fn hear(&self, sender: Mac, own: Mac) {
        if sender != own {
            self.learn(sender);
        }
    }

    pub(crate) fn mac(&self) -> Option<Mac> {
        let word = self.0.load(Ordering::Relaxed);
        let [.., a, b, c, d, e, f] = word.to_be_bytes();
        (word != 0).then_some(Mac([a, b, c, d, e, f]))
    }
}

/// Maximum number of frames of a worker that wait for one cable; a new one replaces the oldest.
const MOST_WAITING: usize = 64;
/// Interval between requests, and their number.
const RETRY: Span = Span::from_s(1);
const REQUESTS: u8 = 3;
/// Time within which a worker sees that another has learnt an address.
const GLANCE: Span = Span::from_ms(10);

/// Frames of a worker that will leave by a cable whose other end is not known yet.
#[derive(Debug, Default)]
pub(crate) struct WaitingFrames {
    frames: VecDeque<Frame>,
    /// When the next request is due.
    due: Time,
    asked: u8,
    /// When to check them again.
    glance: Option<Time>,
}

/// A port that is one end of a cable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireEnd<'a> {
    pub(crate) port: u16,
    pub(crate) mac: Mac,
    pub(crate) far: &'a FarEnd,
}

impl WaitingFrames {
    /// Sends an IPv4 packet in a frame that lacks only the destination, or keeps it and asks for the destination.
    pub(crate) fn send(&mut self, desk: &mut Desk<'_>, end: WireEnd<'_>, frame: Frame) {
        match end.far.mac() {
            Some(mac) => {
                self.flush(desk, (end.port, mac));
                address(desk, (end.port, mac), frame);
            }
            None => {
                if self.frames.len() == MOST_WAITING
                    && let Some(oldest) = self.frames.pop_front()
                {
                    drop_frame(desk, oldest, DropCause::WaitingFull);
                }
                self.frames.push_back(frame);
                self.look(desk, end);
            }
        }
    }

    /// Sends the waiting frames, if the other end is known by now; otherwise asks again, or gives up.
    pub(crate) fn look(&mut self, desk: &mut Desk<'_>, end: WireEnd<'_>) {
        let Some(first) = self.frames.front().copied() else { return };
        if let Some(mac) = end.far.mac() {
            return self.flush(desk, (end.port, mac));
        }
        self.glance = Some(desk.now + GLANCE);
        if self.asked > 0 && desk.now < self.due {
            return;
        }
        if self.asked == REQUESTS {
            self.frames.drain(..).for_each(|frame| drop_frame(desk, frame, DropCause::Unreachable));
            (self.asked, self.glance) = (0, None);
            return;
        }
        (self.asked, self.due) = (self.asked + 1, desk.now + RETRY);
        ask(desk, end, first);
    }

    /// Drops the waiting frames, because the router ends.
    pub(crate) fn abandon(&mut self, desk: &mut Desk<'_>) {
        self.frames.drain(..).for_each(|frame| drop_frame(desk, frame, DropCause::Ended));
        self.glance = None;
    }

    /// When to call [`WaitingFrames::look`], if any frames wait.
    pub(crate) fn glance(&self) -> Option<Time> {
        self.glance
    }

    fn flush(&mut self, desk: &mut Desk<'_>, to: (u16, Mac)) {
        self.frames.drain(..).for_each(|frame| address(desk, to, frame));
        (self.asked, self.glance) = (0, None);
    }
}

fn address(desk: &mut Desk<'_>, (port, mac): (u16, Mac), frame: Frame) {
    desk.pool.bytes_mut(frame)[..6].copy_from_slice(&mac.0);
    desk.out.push(port, frame);
}

/// Asks who has the destination of a frame's packet. The port has no IP address, so it sends an ARP probe (RFC 5227),
/// which hosts answer like requests.
fn ask(desk: &mut Desk<'_>, end: WireEnd<'_>, frame: Frame) {
    let packet = desk.pool.bytes(frame).get(EthernetHeader::LEN..).unwrap_or_default();
    let Some([.., a, b, c, d]) = packet.first_chunk::<{ Ipv4Header::LEN }>().copied() else { return };
    let target = (Mac::default(), Ipv4Addr::new(a, b, c, d));
    let sender = (end.mac, Ipv4Addr::UNSPECIFIED);
    let message = ArpMessage { operation: ArpOperation::Request, sender, target }.to_bytes();
    let header = EthernetHeader { destination: Mac::BROADCAST, source: end.mac, kind: EtherType::ARP };
    let padding = [0; LEAST_FRAME as usize - EthernetHeader::LEN - ArpMessage::LEN];
    if let Some(frame) = desk.pool.store_parts(&[&header.to_bytes(), &message, &padding], end.port) {
        desk.counters.made += 1;
        desk.out.push(end.port, frame);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::RouterCounters;
    use crate::pool::{FramePool, SendQueues};
    use weft_packet::{EthernetFrame, ports};

    const OWN: Mac = Mac([2, 0, 0, 0, 0, 1]);
    const FAR: Mac = Mac([2, 0, 0, 0, 0, 2]);

    struct Bench {
        pool: FramePool,
        out: SendQueues,
        counters: RouterCounters,
        waiting: WaitingFrames,
        far: FarEnd,
    }

    impl Bench {
        fn new() -> Bench {
            let (pool, out) = (FramePool::new(256), SendQueues::new(1));
            Bench {
                pool,
                out,
                counters: RouterCounters::default(),
                waiting: WaitingFrames::default(),
                far: FarEnd::default(),
            }
        }

        /// Sends datagram number n, or looks again; returns what has left.
        fn at(&mut self, milliseconds: u64, datagram: Option<u16>) -> Vec<Vec<u8>> {
            let Bench { pool, out, counters, waiting, far } = self;
            let mut desk = Desk { now: Time::ZERO + Span::from_ms(milliseconds), pool, out, counters };
            let end = WireEnd { port: 0, mac: OWN, far };
            match datagram {
                Some(n) => {
                    let ip = Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
                    let bytes = [&[0; 14][..], &ports::udp_v4(ip, (n, 7), b"x")].concat();
                    let frame = desk.pool.store(&bytes, 0).unwrap();
                    waiting.send(&mut desk, end, frame);
                }
                None => waiting.look(&mut desk, end),
            }
            let sent: Vec<Frame> = self.out.queue(0).drain(..).collect();
            sent.into_iter()
                .map(|frame| {
                    let bytes = self.pool.bytes(frame).to_vec();
                    self.pool.give(frame.buffer);
                    bytes
                })
                .collect()
        }
    }

    fn question(frames: &[Vec<u8>]) -> ArpMessage {
        assert_eq!(frames.len(), 1);
        let frame = EthernetFrame::parse(&frames[0]).unwrap();
        assert_eq!((frame.destination, frame.source, frame.kind), (Mac::BROADCAST, OWN, EtherType::ARP));
        ArpMessage::parse(frame.payload).unwrap()
    }

    #[test]
    fn a_host_that_has_not_spoken_is_asked_and_gets_its_packets_in_order() {
        let mut bench = Bench::new();
        let asked = question(&bench.at(0, Some(0)));
        assert_eq!((asked.operation, asked.target.1), (ArpOperation::Request, [10, 0, 0, 2].into()));
        assert!(bench.at(1, Some(1)).is_empty(), "one request is enough for a second");
        assert_eq!(bench.waiting.glance(), Some(Time::ZERO + Span::from_ms(11)));
        bench.far.learn(FAR);
        let sent = bench.at(2, Some(2));
        assert!(sent.iter().all(|frame| frame[..6] == FAR.0), "no packet for one host is broadcast");
        let numbers: Vec<u16> = sent.iter().map(|frame| u16::from_be_bytes([frame[34], frame[35]])).collect();
        assert_eq!((numbers, bench.waiting.glance(), bench.pool.free()), (vec![0, 1, 2], None, 256));
    }

    #[test]
    fn a_host_that_does_not_answer_costs_a_bounded_number_of_buffers() {
        let mut bench = Bench::new();
        question(&bench.at(0, Some(0)));
        (1..100).for_each(|n| assert!(bench.at(1, Some(n)).is_empty()));
        assert_eq!((bench.counters.dropped(DropCause::WaitingFull), bench.pool.free()), (36, 256 - 64));
        for second in [1000, 2000] {
            question(&bench.at(second, None));
        }
        assert!(bench.at(3000, None).is_empty());
        assert_eq!((bench.counters.dropped(DropCause::Unreachable), bench.pool.free()), (64, 256));
        question(&bench.at(4000, Some(7)));
    }
}
