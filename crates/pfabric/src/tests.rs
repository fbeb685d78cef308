//! A sender and a receiver with a path between them: a line of 10 Gb/s, a delay each way, and whatever a test does to single
//! packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_core::stack::{End, Layout, Receiving, Sending, Side, Stack};
use weft_core::{Bytes, FlowSite, Header, PacketKind, Rate, Span, Time};

use crate::packet::{PfabricPacket, PfabricPacketKind};
use crate::settings::{PfabricSettings, RankBy};
use crate::{PfabricReceiver, PfabricSender, PfabricStack};

const DELAY: Span = Span::from_us(5);
const MSS: u64 = 1_460;

struct Pair {
    now: Time,
    sender: PfabricSender,
    receiver: PfabricReceiver,
    /// In flight, by arrival and number.
    flying: BTreeMap<(Time, usize), (Header, PfabricPacket)>,
    busy: Time,
    /// What the sender sent, and when.
    sent: Vec<(Time, Header, PfabricPacket)>,
}

impl Pair {
    fn new(packets: u64, change: impl FnOnce(&mut PfabricSettings)) -> Pair {
        let mut settings = PfabricSettings { rto: Span::from_us(100), ..PfabricSettings::default() };
        change(&mut settings);
        let pfabric = Arc::new(PfabricStack::new(&settings));
        let site = FlowSite { size: Bytes(packets * MSS), ..FlowSite::default() };
        Pair {
            now: Time::ZERO,
            sender: Stack::sender(&pfabric, &site, Time::ZERO),
            receiver: Stack::receiver(&pfabric, &site),
            flying: BTreeMap::new(),
            busy: Time::ZERO,
            sent: Vec::new(),
        }
    }

    /// Runs until the sender is done; `lost` says whether the n-th packet of the sender is lost.
    fn run(mut self, mut lost: impl FnMut(usize) -> bool) -> Pair {
        while !self.sender.needs().done {
            assert!(self.now < Time::ZERO + Span::from_s(1), "stuck: {:?}", self.sender.report());
            self.step(&mut lost);
        }
        self
    }

    fn step(&mut self, lost: &mut impl FnMut(usize) -> bool) {
        let card = if self.sender.needs().ready { self.busy } else { Time::NEVER };
        let first = self.flying.keys().next().map_or(Time::NEVER, |(time, _)| *time);
        self.now = self.now.max(first.min(card).min(self.sender.needs().wake));
        while let Some(next) = self.flying.first_entry().filter(|next| next.key().0 <= self.now) {
            let (header, packet) = next.remove();
            match packet.side(&header) {
                Side::Sender => self.sender.on_packet(self.now, &header, &packet),
                Side::Receiver => self.receiver.on_packet(self.now, &header, &packet),
            }
        }
        self.sender.on_wakeup(self.now);
        while self.receiver.needs().ready {
            let (mut header, mut packet) = (Header::default(), PfabricPacket::default());
            self.receiver.send(self.now, &mut header, &mut packet);
            assert_eq!((header.note, header.kind), (0, PacketKind::Ack), "answers go first");
            self.fly(self.now, header, packet);
        }
        if self.sender.needs().ready && self.now >= self.busy {
            let (mut header, mut packet) = (Header::default(), PfabricPacket::default());
            self.sender.send(self.now, &mut header, &mut packet);
            self.busy = self.now + Rate::from_gbps(10).time_for(Bytes(u64::from(header.wire)));
            if !lost(self.sent.len()) {
                self.fly(self.busy, header, packet);
            }
            self.sent.push((self.now, header, packet));
        }
    }

    fn fly(&mut self, leaves: Time, header: Header, packet: PfabricPacket) {
        let number = self.flying.keys().map(|key| key.1 + 1).max().unwrap_or(0);
        self.flying.insert((leaves + DELAY, number), (header, packet));
    }

    fn numbers(&self) -> Vec<u64> {
        self.sent.iter().map(|(_, _, packet)| packet.number).collect()
    }
}

/// Starts with a window of twelve at line rate; every answer brings the next packet, so that a line of ten packets' round trip
/// never falls silent.
#[test]
fn a_flow_starts_at_line_rate_and_stays_there() {
    let pair = Pair::new(100, |_| ()).run(|_| false);
    let slot = Rate::from_gbps(10).time_for(Bytes(MSS + 78));
    for (number, (time, _, packet)) in pair.sent.iter().enumerate() {
        assert_eq!((*time, packet.number), (Time::ZERO + slot * number as u64, number as u64));
    }
    assert_eq!((pair.sent.len(), pair.sender.report().timeouts), (100, 0));
    assert_eq!(pair.receiver.completed(), Some(Time::ZERO + slot * 100 + DELAY));
}

#[test]
fn ranks_say_what_is_left_what_was_sent_or_the_size() {
    let ranks = |rank| {
        let pair = Pair::new(3, |settings| settings.rank = rank).run(|_| false);
        pair.sent.iter().map(|(_, header, _)| u64::from(header.note)).collect::<Vec<_>>()
    };
    assert_eq!(ranks(RankBy::Remaining), [3 * MSS; 3], "nothing is answered yet");
    assert_eq!(ranks(RankBy::Sent), [1, MSS + 1, 2 * MSS + 1]);
    assert_eq!(ranks(RankBy::Size), [3 * MSS; 3]);
    let long = Pair::new(30, |_| ()).run(|_| false);
    let (_, last, _) = long.sent[29];
    assert!(u64::from(last.note) < 20 * MSS, "the rank falls with what is answered: {}", last.note);
}

/// A lost packet is retransmitted after a time-out, in a window of one; packets acknowledged by then are not.
#[test]
fn one_loss_costs_one_timeout_and_one_packet() {
    let pair = Pair::new(20, |_| ()).run(|sent| sent == 3);
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.retransmitted), (1, Bytes(MSS)));
    assert_eq!(pair.numbers().iter().filter(|number| **number == 3).count(), 2);
    assert_eq!(pair.sent.len(), 21);
}

/// After five time-outs in a row packets without payload go, one for each time-out, until one is answered; then slow start.
#[test]
fn persistent_loss_is_probed() {
    let mut since = 0;
    let pair = Pair::new(40, |_| ()).run(|sent| {
        since = sent;
        (3..28).contains(&sent)
    });
    assert!(since > 28);
    let probes: Vec<_> =
        pair.sent.iter().filter(|(_, _, packet)| packet.what == PfabricPacketKind::Probe).collect();
    assert!(probes.len() > 3, "{}", probes.len());
    assert!(probes.iter().all(|(_, header, packet)| packet.length == 0 && header.wire == 84));
    let gaps = probes.windows(2).map(|pair| pair[1].0.since(pair[0].0));
    assert!(gaps.clone().all(|gap| gap == Span::from_us(100)), "{:?}", gaps.collect::<Vec<_>>());
    assert_eq!(pair.sender.report().timeouts, 5);
    assert_eq!(pair.receiver.report().delivered, Bytes(40 * MSS));
}

/// Later acknowledgements make up for lost ones, because they report what has arrived without a gap.
#[test]
fn what_arrived_is_told_again() {
    let pfabric = Arc::new(PfabricStack::new(&PfabricSettings::default()));
    let site = FlowSite { size: Bytes(4 * MSS), ..FlowSite::default() };
    let mut sender: PfabricSender = Stack::sender(&pfabric, &site, Time::ZERO);
    for _ in 0..4 {
        sender.send(Time::ZERO, &mut Header::default(), &mut PfabricPacket::default());
    }
    let answer =
        PfabricPacket { what: PfabricPacketKind::Ack, number: 2, missing: 3, ..PfabricPacket::default() };
    sender.on_packet(Time(1), &Header::default(), &answer);
    assert_eq!(sender.report().acknowledged, Bytes(3 * MSS));
    assert_eq!(sender.report().in_flight, Bytes(MSS));
}
