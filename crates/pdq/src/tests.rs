//! A sender and a receiver with a path between them: a line of 10 Gb/s, a delay each way, and an arbiter that follows
//! a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_core::scheduling::{Role, SchedulingHeader};
use weft_core::stack::{End, Layout, Receiving, Sending, Side, Stack};
use weft_core::{Bytes, FlowSite, Header, Rate, Span, Time};

use crate::packet::{PdqPacket, PdqPacketKind};
use crate::settings::PdqSettings;
use crate::{PdqReceiver, PdqSender, PdqStack};

const DELAY: Span = Span::from_us(5);
const LINE: Rate = Rate::from_gbps(10);
const MSS: u64 = 1_444;

type Packet = (Header, PdqPacket, SchedulingHeader);

struct Pair {
    now: Time,
    sender: PdqSender,
    receiver: PdqReceiver,
    flying: BTreeMap<(Time, usize), Packet>,
    busy: Time,
    /// What the sender sent, and when.
    sent: Vec<(Time, Packet)>,
}

impl Pair {
    fn new(packets: u64) -> Pair {
        Pair::with_deadline(packets, None)
    }

    fn with_deadline(packets: u64, deadline: Option<Time>) -> Pair {
        let settings = PdqSettings { round_trip: DELAY * 2, ..PdqSettings::default() };
        let pdq = Arc::new(PdqStack::new(&settings));
        let site = FlowSite { size: Bytes(packets * MSS), line_rate: LINE, deadline, ..FlowSite::default() };
        Pair {
            now: Time::ZERO,
            sender: Stack::sender(&pdq, &site, Time::ZERO),
            receiver: Stack::receiver(&pdq, &site),
            flying: BTreeMap::new(),
            busy: Time::ZERO,
            sent: Vec::new(),
        }
    }

    /// Runs until the sender is done. `path` sees each of its packets; false: it is lost.
    fn run(mut self, mut path: impl FnMut(Time, &mut Packet) -> bool) -> Pair {
        while !self.sender.needs().done {
            assert!(self.now < Time::ZERO + Span::from_s(1), "stuck: {:?}", self.sender.report());
            self.step(&mut path);
        }
        self
    }

    fn step(&mut self, path: &mut impl FnMut(Time, &mut Packet) -> bool) {
        let card = if self.sender.needs().ready { self.busy } else { Time::NEVER };
        let first = self.flying.keys().next().map_or(Time::NEVER, |(time, _)| *time);
        self.now = self.now.max(first.min(card).min(self.sender.needs().wake));
        while let Some(next) = self.flying.first_entry().filter(|next| next.key().0 <= self.now) {
            let (header, packet, scheduling) = next.remove();
            match packet.side(&header) {
                Side::Sender => {
                    self.sender.on_grant(self.now, &scheduling);
                    self.sender.on_packet(self.now, &header, &packet);
                }
                Side::Receiver => {
                    self.receiver.on_grant(self.now, &scheduling);
                    self.receiver.on_packet(self.now, &header, &packet);
                }
            }
        }
        self.sender.on_wakeup(self.now);
        while self.receiver.needs().ready {
            let (mut header, mut packet) = (Header::default(), PdqPacket::default());
            self.receiver.send(self.now, &mut header, &mut packet);
            let scheduling = self.receiver.request();
            assert_eq!(scheduling.role, Role::Grant);
            self.fly(self.now, (header, packet, scheduling));
        }
        if self.sender.needs().ready && self.now >= self.busy {
            let (mut header, mut packet) = (Header::default(), PdqPacket::default());
            self.sender.send(self.now, &mut header, &mut packet);
            self.busy = self.now + LINE.time_for(Bytes(u64::from(header.wire)));
            let mut all = (header, packet, self.sender.request());
            self.sent.push((self.now, all));
            if path(self.now, &mut all) {
                self.fly(self.busy, all);
            }
        }
    }

    fn fly(&mut self, leaves: Time, packet: Packet) {
        let number = self.flying.keys().map(|key| key.1 + 1).max().unwrap_or(0);
        self.flying.insert((leaves + DELAY, number), packet);
    }

    fn times_of(&self, what: PdqPacketKind) -> Vec<Time> {
        let of_kind = self.sent.iter().filter(|(_, (_, packet, _))| packet.what == what);
        of_kind.map(|(time, _)| *time).collect()
    }
}

fn pause(packet: &mut Packet, probe_gap: u32) {
    (packet.2.rate, packet.2.paused_by, packet.2.probe_gap) = (Rate(0), 9, probe_gap);
}

#[test]
fn a_flow_opens_sends_at_the_granted_rate_and_takes_its_leave() {
    let rate = Rate::from_gbps(4);
    let pair = Pair::new(20).run(|_, packet| {
        packet.2.rate = rate;
        true
    });
    let data = pair.times_of(PdqPacketKind::Data);
    assert_eq!(data.len(), 20);
    let gap = rate.time_for(Bytes(1_538));
    assert!(data.windows(2).all(|pair| pair[1].since(pair[0]) == gap), "{data:?}");
    assert_eq!(pair.times_of(PdqPacketKind::Probe), [Time::ZERO], "it opens");
    let (_, (header, last, scheduling)) = pair.sent.last().expect("it sent");
    assert_eq!((last.what, scheduling.role, header.wire), (PdqPacketKind::Leave, Role::Leave, 94));
    assert_eq!(pair.receiver.report().delivered, Bytes(20 * MSS));
}

#[test]
fn a_request_says_what_is_left_of_the_flow() {
    let pair = Pair::new(3).run(|_, _| true);
    let left: Vec<Span> = pair.sent.iter().map(|(_, (_, _, scheduling))| scheduling.remaining).collect();
    let packet = LINE.time_for(Bytes(1_538));
    assert_eq!(left, [packet * 3, packet * 2, packet, Span::ZERO, Span::ZERO]);
    assert!(pair.sent.iter().all(|(_, (_, _, scheduling))| scheduling.rate == LINE), "it asks for the line");
}

/// A paused flow probes at its arbiter's interval, names the arbiter, and sends no payload.
#[test]
fn a_paused_flow_probes() {
    let until = Time::ZERO + Span::from_us(400);
    let pair = Pair::new(5).run(|now, packet| {
        if now < until {
            pause(packet, 30);
        } else {
            packet.2.paused_by = 0;
        }
        true
    });
    let probes = pair.times_of(PdqPacketKind::Probe);
    let trip = probes[1].since(Time::ZERO);
    assert!(trip > DELAY * 2);
    let gaps =
        probes[1..].windows(2).map(|pair| pair[1].since(pair[0]).micros() / (3.0 * (DELAY * 2).micros()));
    assert!(gaps.clone().all(|gap| (0.99..1.05).contains(&gap)), "{:?}", gaps.collect::<Vec<_>>());
    assert!(pair.times_of(PdqPacketKind::Data)[0] > until);
    assert!(pair.sent[2..5].iter().all(|(_, (_, _, scheduling))| scheduling.paused_by == 9));
    assert_eq!(pair.sender.report().timeouts, 0);
}

/// A request that still names an arbiter but has a rate has not passed it: the path has changed.
#[test]
fn a_pause_by_an_arbiter_off_the_path_is_void() {
    let mut first = true;
    let pair = Pair::new(5).run(|_, packet| {
        if std::mem::take(&mut first) {
            pause(packet, 2);
        }
        true
    });
    let names = |from: Span, to: Span| {
        let within = move |time: &Time| (from..to).contains(&time.since(Time::ZERO));
        pair.sent
            .iter()
            .filter(move |(time, _)| within(time))
            .map(|(_, (_, _, scheduling))| scheduling.paused_by)
    };
    let told = (DELAY * 2 + Span::from_us(1), DELAY * 4);
    assert!(names(told.0, told.1).count() > 2 && names(told.0, told.1).all(|arbiter| arbiter == 9));
    let corrected = (DELAY * 4 + Span::from_us(1), Span::from_s(1));
    assert!(
        names(corrected.0, corrected.1).count() > 5
            && names(corrected.0, corrected.1).all(|arbiter| arbiter == 0)
    );
    assert_eq!(pair.receiver.report().delivered, Bytes(5 * MSS));
}

#[test]
fn whatever_is_lost_is_sent_again() {
    for lost in 0..12 {
        let mut number = 0;
        let pair = Pair::new(8).run(|_, packet| {
            number += 1;
            number - 1 != lost || packet.1.what == PdqPacketKind::Leave
        });
        assert_eq!(pair.receiver.report().delivered, Bytes(8 * MSS), "{lost}");
        let timeouts = u32::from(lost < 9);
        assert_eq!(pair.sender.report().timeouts, timeouts, "{lost}");
        assert_eq!(pair.sender.report().syn_timeouts, u32::from(lost == 0));
        assert_eq!(pair.sender.report().retransmitted.0 > 0, (1..9).contains(&lost), "{lost}");
    }
}

/// The first six packets are lost; the time-out is 1 ms. What follows is answered, so that the next loss waits 1 ms again.
#[test]
fn consecutive_time_outs_wait_twice_as_long_each() {
    let mut number = 0;
    let pair = Pair::new(8).run(|_, _| {
        number += 1;
        number > 6 && number != 9
    });
    let at: Vec<u64> = pair.sent.iter().map(|(time, _)| time.0 / Span::from_ms(1).0).collect();
    assert_eq!(at[..7], [0, 1, 3, 7, 15, 31, 63]);
    let last = pair.sent.last().expect("it ends").0;
    assert!(last.0 / Span::from_ms(1).0 == 64, "{last:?}");
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (7, 6));
}

/// Ten packets take 12.3 us on the line, and opening a round trip of 10 us.
#[test]
fn a_flow_gives_up_as_soon_as_its_deadline_is_out_of_reach() {
    let deadline = |us| Some(Time::ZERO + Span::from_us(us));
    let ends = |us, pausing: bool| {
        Pair::with_deadline(10, deadline(us)).run(|_, packet| {
            if pausing {
                pause(packet, 0);
            }
            true
        })
    };
    let met = ends(40, false);
    assert!(!met.sender.report().terminated && met.receiver.completed().is_some());
    for (us, pausing) in [(15, false), (400, true)] {
        let given_up = ends(us, pausing);
        assert!(given_up.sender.report().terminated, "{us}");
        let (needs, at) = (given_up.receiver.needs(), given_up.times_of(PdqPacketKind::GiveUp));
        assert!(needs.complete && needs.done && given_up.receiver.completed().is_none(), "{needs:?}");
        assert!(at.len() == 1 && at[0] <= deadline(us).expect("there is one"), "{at:?}");
    }
    // A paused flow gives up a round trip before its deadline, or when what is left no longer fits.
    let at = ends(400, true).times_of(PdqPacketKind::GiveUp)[0];
    assert!(at > Time::ZERO + Span::from_us(370), "{at:?}");
}

#[test]
fn a_lost_farewell_is_repeated() {
    let mut lost = 2;
    let pair = Pair::with_deadline(10, Some(Time::ZERO + Span::from_us(12))).run(|_, packet| {
        let loses = packet.1.what == PdqPacketKind::GiveUp && lost > 0;
        lost -= u32::from(loses);
        !loses
    });
    assert_eq!(pair.times_of(PdqPacketKind::GiveUp).len(), 3);
    assert!(pair.receiver.needs().done);
}

/// A paused flow has nothing to retransmit. Its probes are lost from 1 ms to 20 ms: silence of 1, 2, 4 and 8 ms counts as four time-outs
/// in a row. A flow that is paused as long and gets answers has none.
#[test]
fn silence_counts_as_time_outs_while_a_flow_is_paused() {
    let at = |ms| Time::ZERO + Span::from_ms(ms);
    for (silent, timeouts) in [(true, 4), (false, 0)] {
        let pair = Pair::new(8).run(|now, packet| {
            if now < at(20) {
                pause(packet, 20);
            }
            !(silent && now >= at(1) && now < at(20))
        });
        let report = pair.sender.report();
        assert_eq!((report.timeouts, report.timeouts_in_a_row), (timeouts, timeouts), "{silent}");
        assert_eq!(pair.receiver.report().delivered, Bytes(8 * MSS));
        assert_eq!(report.retransmitted, Bytes::ZERO, "there was nothing to retransmit");
    }
}
