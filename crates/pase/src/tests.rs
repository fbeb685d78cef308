//! A sender and a receiver with a path between them that makes the grants of a test.

use std::sync::Arc;

use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::stack::{End, Receiving, Sending, Stack};
use weft_core::{Bytes, Class, FlowSite, Header, PacketKind, Rate, Span, Time};

use crate::packet::{PasePacket, PasePacketKind};
use crate::settings::PaseSettings;
use crate::{PaseReceiver, PaseSender, PaseStack};

const MSS: u64 = 1_444;
const TRIP: Span = Span::from_us(10);

struct Pair {
    now: Time,
    sender: PaseSender,
    receiver: PaseReceiver,
}

type Sent = (Header, PasePacket, SchedulingHeader);

impl Pair {
    fn new(packets: u64, settings: &PaseSettings) -> Pair {
        let pase = Arc::new(PaseStack::new(&PaseSettings { round_trip: TRIP, ..settings.clone() }));
        let site =
            FlowSite { size: Bytes(packets * MSS), line_rate: Rate::from_gbps(10), ..FlowSite::default() };
        let (sender, receiver) = (Stack::sender(&pase, &site, Time::ZERO), Stack::receiver(&pase, &site));
        Pair { now: Time::ZERO, sender, receiver }
    }

    /// Everything that the sender can send now.
    fn burst(&mut self) -> Vec<Sent> {
        let next = || {
            self.sender.needs().ready.then(|| {
                let (mut header, mut packet) = (Header::default(), PasePacket::default());
                self.sender.send(self.now, &mut header, &mut packet);
                (header, packet, self.sender.request())
            })
        };
        std::iter::from_fn(next).collect()
    }

    /// The packets arrive and are answered a round trip after they were sent; each request is granted this.
    fn answer(&mut self, sent: &[Sent], grant: (Rate, u8)) {
        self.now += TRIP;
        for (header, packet, scheduling) in sent {
            let (rate, queue) = grant;
            let passed = match scheduling.role {
                Role::Request => SchedulingHeader { rate, queue, ..*scheduling },
                _ => *scheduling,
            };
            self.receiver.on_grant(self.now, &passed);
            self.receiver.on_packet(self.now, header, packet);
            if self.receiver.needs().ready {
                let (mut header, mut answer) = (Header::default(), PasePacket::default());
                self.receiver.send(self.now, &mut header, &mut answer);
                self.sender.on_grant(self.now, &self.receiver.request());
                self.sender.on_packet(self.now, &header, &answer);
            }
        }
        self.sender.on_wakeup(self.now);
    }
}

fn of(sent: &[Sent], what: PasePacketKind) -> usize {
    sent.iter().filter(|(_, packet, _)| packet.what == what).count()
}

/// 10 Gbps in a round trip of 10 us are 12500 bytes: nine packets of 1538 bytes, rounded up; nine answers add one.
#[test]
fn a_grant_of_the_highest_class_sets_the_window() {
    let mut pair = Pair::new(100, &PaseSettings::default());
    let first = pair.burst();
    assert_eq!(first.len(), 10, "the initial window");
    assert_eq!(first.iter().filter(|(.., request)| request.role == Role::Request).count(), 1);
    pair.answer(&first, (Rate::from_gbps(10), 0));
    let next = pair.burst();
    assert!((9..=10).contains(&next.len()), "{}", next.len());
    assert!(next.iter().all(|(header, ..)| header.class == Class(0) && header.kind == PacketKind::Data));
}

/// In a lower class a flow sends a packet at a time in that class, and requests without payload in the highest.
#[test]
fn a_low_class_sends_little_and_keeps_asking() {
    let mut pair = Pair::new(100, &PaseSettings::default());
    let first = pair.burst();
    pair.answer(&first, (Rate::from_gbps(1), 7));
    let next = pair.burst();
    assert_eq!((of(&next, PasePacketKind::Data), of(&next, PasePacketKind::Ask)), (1, 1));
    let class =
        |what| next.iter().find(|(_, packet, _)| packet.what == what).map(|(header, ..)| header.class);
    assert_eq!([PasePacketKind::Data, PasePacketKind::Ask].map(class), [Some(Class(7)), Some(Class(0))]);
    let rto = |pair: &Pair| pair.sender.report().rto;
    assert_eq!(rto(&pair), Span::from_ms(200));
    pair.answer(&next, (Rate::from_gbps(10), 0));
    assert!(pair.burst().len() >= 8, "the class has risen");
    assert_eq!(rto(&pair), Span::from_ms(10));
}

#[test]
fn a_flow_ends_with_a_farewell_and_without_arbitration_with_none() {
    for (arbitration, farewells) in [(true, 1), (false, 0)] {
        let settings = PaseSettings { arbitration, ..PaseSettings::default() };
        let (mut pair, mut left) = (Pair::new(40, &settings), 0);
        for _ in 0..20 {
            let sent = pair.burst();
            left += of(&sent, PasePacketKind::Leave);
            assert_eq!(of(&sent, PasePacketKind::Ask), 0, "no flow is before it");
            pair.answer(&sent, (Rate::from_gbps(10), 0));
        }
        assert!(pair.sender.needs().done && pair.receiver.completed().is_some());
        assert_eq!((left, pair.sender.report().timeouts), (farewells, 0));
    }
}

#[test]
fn an_overtaken_packet_is_sent_again() {
    let mut pair = Pair::new(40, &PaseSettings::default());
    let mut first = pair.burst();
    first.remove(2);
    pair.answer(&first, (Rate::from_gbps(10), 0));
    let next = pair.burst();
    assert_eq!((next[0].1.number, next[0].1.again), (2, true));
    assert_eq!(pair.sender.report().recoveries, 1);
}

/// Nothing arrives twice, then one packet of the window does, then nothing once more: three time-outs, two of them in a row.
#[test]
fn time_outs_in_a_row_end_with_news() {
    let mut pair = Pair::new(40, &PaseSettings::default());
    let lose_all = |pair: &mut Pair| {
        let lost = pair.burst();
        assert!(of(&lost, PasePacketKind::Data) > 0);
        while pair.sender.report().in_flight > Bytes::ZERO {
            pair.now = pair.sender.needs().wake;
            pair.sender.on_wakeup(pair.now);
        }
    };
    lose_all(&mut pair);
    lose_all(&mut pair);
    let again = pair.burst();
    pair.answer(&again[..1], (Rate::from_gbps(10), 0));
    lose_all(&mut pair);
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (3, 2));
}
