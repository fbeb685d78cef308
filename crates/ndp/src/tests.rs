//! A sender, a receiver and the pulls of its host with a path between them: a line of 10 Gb/s, a delay each way, and
//! whatever a test does to single packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_core::stack::{End, HostPart, Receiving, Sending, Stack};
use weft_core::{Bytes, FlowSite, Header, PacketKind, Rate, Span, Time};

use crate::packet::{NdpPacket, NdpPacketKind};
use crate::settings::NdpSettings;
use crate::{NdpReceiver, NdpSender, NdpStack, PullQueue};

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Trim,
    Return,
}

const DELAY: Span = Span::from_us(5);
/// A full packet of 9038 bytes on the line.
const SLOT: Span = Span(7_230_400);
const MSS: u64 = 8_960;

struct Pair {
    now: Time,
    sender: NdpSender,
    receiver: NdpReceiver,
    host: Box<PullQueue>,
    /// In flight, by arrival and number: to the receiver, or to the sender.
    flying: BTreeMap<(Time, usize), (bool, Header, NdpPacket)>,
    /// The sender's card is busy until then.
    busy: Time,
    /// Data packets and answers, when they left.
    sent: Vec<(Time, NdpPacket)>,
    answers: Vec<(Time, NdpPacket)>,
    most_in_flight: Bytes,
}

impl Pair {
    fn new(packets: u64, change: impl FnOnce(&mut NdpSettings)) -> Pair {
        let mut settings = NdpSettings::default();
        change(&mut settings);
        let ndp = Arc::new(NdpStack::new(&settings));
        let line_rate = Rate::from_gbps(10);
        let site = FlowSite { size: Bytes(packets * MSS), line_rate, ..FlowSite::default() };
        Pair {
            now: Time::ZERO,
            sender: Stack::sender(&ndp, &site, Time::ZERO),
            receiver: Stack::receiver(&ndp, &site),
            host: ndp.host(line_rate),
            flying: BTreeMap::new(),
            busy: Time::ZERO,
            sent: Vec::new(),
            answers: Vec::new(),
            most_in_flight: Bytes::ZERO,
        }
    }

    /// Runs until the sender is done, at most for a second; `fate` is called for each packet with whether it carries
    /// payload and how many left before it.
    fn run(mut self, mut fate: impl FnMut(bool, usize, &NdpPacket) -> Fate) -> Pair {
        while !self.sender.needs().done && self.now < Time::ZERO + Span::from_s(1) {
            self.step(&mut fate);
        }
        assert!(self.sender.needs().done, "stuck: {:?}", self.sender.report());
        self
    }

    fn step(&mut self, fate: &mut impl FnMut(bool, usize, &NdpPacket) -> Fate) {
        let card = if self.sender.needs().ready { self.busy } else { Time::NEVER };
        let first = self.flying.keys().next().map_or(Time::NEVER, |(time, _)| *time);
        let next = [first, card, self.sender.needs().wake, self.host.wake()];
        self.now = self.now.max(next.into_iter().min().expect("four"));
        self.arrive();
        self.sender.on_wakeup(self.now);
        if self.receiver.needs().asks {
            self.receiver.ask(&mut self.host);
        }
        while self.host.next(self.now).is_some() {
            if self.receiver.on_turn(self.now) {
                self.host.used(self.now);
            }
        }
        self.transmit(fate);
        self.most_in_flight = self.most_in_flight.max(self.sender.report().in_flight);
    }

    fn arrive(&mut self) {
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                (true, header, packet) => self.receiver.on_packet(self.now, &header, &packet),
                (false, header, packet) => self.sender.on_packet(self.now, &header, &packet),
            }
        }
    }

    fn transmit(&mut self, fate: &mut impl FnMut(bool, usize, &NdpPacket) -> Fate) {
        let (mut header, mut packet) = (Header::default(), NdpPacket::default());
        if self.sender.needs().ready && self.busy <= self.now {
            self.sender.send(self.now, &mut header, &mut packet);
            self.busy = self.now + SLOT;
            let what = fate(true, self.sent.len(), &packet);
            self.sent.push((self.now, packet));
            self.fly((true, self.busy + DELAY), header, packet, what);
        }
        while self.receiver.needs().ready {
            self.receiver.send(self.now, &mut header, &mut packet);
            let what = fate(false, self.answers.len(), &packet);
            self.answers.push((self.now, packet));
            self.fly((false, self.now + DELAY), header, packet, what);
        }
    }

    fn fly(&mut self, (forward, lands): (bool, Time), mut header: Header, packet: NdpPacket, what: Fate) {
        let to_receiver = match what {
            Fate::Lose => return,
            Fate::Pass => forward,
            Fate::Trim => {
                header.kind = PacketKind::Trimmed;
                forward
            }
            Fate::Return => {
                header.kind = PacketKind::Returned;
                false
            }
        };
        let number = self.sent.len() + self.answers.len();
        self.flying.insert((lands, number), (to_receiver, header, packet));
    }

    fn numbers(&self) -> Vec<u64> {
        self.sent.iter().map(|(_, packet)| packet.number).collect()
    }

    fn pulls(&self) -> Vec<Time> {
        self.answers
            .iter()
            .filter(|(_, answer)| answer.what == NdpPacketKind::Pull)
            .map(|(time, _)| *time)
            .collect()
    }

    /// Time-outs, and whether all was delivered once.
    fn outcome(&self) -> (u32, bool) {
        let delivered = self.receiver.report().delivered;
        (self.sender.report().timeouts, delivered == Bytes(self.sent_once() * MSS))
    }

    fn sent_once(&self) -> u64 {
        let mut numbers = self.numbers();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    }
}

#[test]
fn a_window_goes_at_once_and_the_rest_as_it_is_pulled() {
    let pair = Pair::new(50, |own| own.initial_window = 8).run(|_, _, _| Fate::Pass);
    assert_eq!(pair.numbers(), (0..50).collect::<Vec<_>>());
    assert_eq!(pair.pulls().len(), 50 - 8, "one for each packet beyond the first window, and none in vain");
    assert_eq!(pair.outcome(), (0, true));
    assert!(pair.most_in_flight <= Bytes(8 * MSS), "{}", pair.most_in_flight);
    let ideal = SLOT * 50 + DELAY * 2;
    assert!(pair.now.since(Time::ZERO) <= ideal + SLOT, "{}", pair.now);
}

#[test]
fn pulls_are_as_far_apart_as_the_packets_they_bring() {
    let pair = Pair::new(60, |own| own.initial_window = 30)
        .run(|payload, nth, _| if payload && nth < 30 && nth % 2 == 1 { Fate::Trim } else { Fate::Pass });
    let pulls = pair.pulls();
    assert!(pulls.windows(2).all(|two| two[1].since(two[0]) >= SLOT), "{pulls:?}");
    assert_eq!(pulls.len(), 60 - 30 + 15);
}

#[test]
fn a_trimmed_packet_waits_for_its_pull_and_then_goes_before_new_ones() {
    let trim = |payload, nth, _: &NdpPacket| if payload && nth == 3 { Fate::Trim } else { Fate::Pass };
    let pair = Pair::new(40, |own| own.initial_window = 10).run(trim);
    let again = pair.numbers().iter().rposition(|number| *number == 3).expect("it goes again");
    assert!((10..20).contains(&again), "{:?}", pair.numbers());
    assert_eq!((pair.sent.len(), pair.outcome()), (41, (0, true)));
    let nacks = pair.answers.iter().filter(|(_, answer)| answer.what == NdpPacketKind::Nack).count();
    assert_eq!(nacks, 1);
}

/// Nothing but headers of a whole window, of a short flow: none of it goes before it is pulled.
#[test]
fn a_short_flow_that_is_trimmed_needs_no_time_out() {
    let pair =
        Pair::new(5, |_| {}).run(|payload, nth, _| if payload && nth < 5 { Fate::Trim } else { Fate::Pass });
    assert_eq!(pair.numbers(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    assert_eq!(pair.outcome(), (0, true));
}

#[test]
fn headers_that_come_back_are_sent_again_without_a_time_out() {
    for (window, gone) in [(30, 30), (30, 25), (8, 8), (8, 3)] {
        let back =
            |payload, nth, _: &NdpPacket| if payload && nth < gone { Fate::Return } else { Fate::Pass };
        let pair = Pair::new(40, |own| own.initial_window = window).run(back);
        assert_eq!(pair.outcome(), (0, true), "{window} {gone}");
        assert_eq!(pair.sent.len(), 40 + gone, "each once more");
    }
}

/// While the receiver is about to pull, a sender whose header came back waits, so as not to add to the overload.
#[test]
fn a_sender_that_will_be_pulled_waits() {
    let back = |payload, nth, _: &NdpPacket| if payload && nth == 0 { Fate::Return } else { Fate::Pass };
    let pair = Pair::new(20, |own| own.initial_window = 4).run(back);
    let second = pair.sent.iter().filter(|(_, packet)| packet.number == 0).nth(1).expect("it goes again").0;
    assert!(second >= pair.pulls()[0] + DELAY, "{second}");
}

#[test]
fn what_is_lost_is_sent_again_after_the_time_out() {
    let lose = |payload, nth, _: &NdpPacket| if payload && nth == 6 { Fate::Lose } else { Fate::Pass };
    let pair = Pair::new(30, |own| own.initial_window = 10).run(lose);
    let (sent, _) = pair.sent.iter().filter(|(_, packet)| packet.number == 6).nth(1).expect("it goes again");
    assert!(sent.since(Time::ZERO) >= NdpSettings::default().rto, "{sent}");
    assert_eq!(pair.outcome(), (1, true));
}

#[test]
fn pulls_that_are_lost_come_with_the_next_or_are_asked_for() {
    let some = |payload: bool, nth: usize, packet: &NdpPacket| match packet.what {
        NdpPacketKind::Pull if !payload && nth.is_multiple_of(3) => Fate::Lose,
        _ => Fate::Pass,
    };
    assert!(Pair::new(100, |own| own.initial_window = 8).run(some).outcome().1);
    let mut left = 8;
    let all = |_, _, packet: &NdpPacket| {
        let lose = packet.what == NdpPacketKind::Pull && left > 0;
        left -= i32::from(lose);
        if lose { Fate::Lose } else { Fate::Pass }
    };
    let pair = Pair::new(20, |own| own.initial_window = 8).run(all);
    assert_eq!(pair.outcome(), (1, true), "one packet asks for all of them");
    assert!(pair.now >= Time::ZERO + NdpSettings::default().pull_timeout);
}

#[test]
fn acknowledgements_that_are_lost_cost_a_time_out_and_nothing_is_delivered_twice() {
    let lose = |payload: bool, nth: usize, _: &NdpPacket| {
        if !payload && nth.is_multiple_of(5) { Fate::Lose } else { Fate::Pass }
    };
    let pair = Pair::new(60, |_| {}).run(lose);
    let (timeouts, once) = pair.outcome();
    assert!(timeouts > 0 && once);
}

/// A receiver pulls for a packet whose header it has, although its answer is lost and the time-out sends the packet
/// unasked: the pull is spent with it. Otherwise the packet, trimmed once more, would never be pulled.
#[test]
fn a_packet_that_has_gone_unasked_has_used_its_pull() {
    for pull_comes_first in [true, false] {
        let settings = NdpSettings { initial_window: 10, ..NdpSettings::default() };
        let ndp = Arc::new(NdpStack::new(&settings));
        let site = FlowSite { size: Bytes(10 * MSS), line_rate: Rate::from_gbps(10), ..FlowSite::default() };
        let mut sender: NdpSender = Stack::sender(&ndp, &site, Time::ZERO);
        let (mut header, mut packet) = (Header::default(), NdpPacket::default());
        let tell = |sender: &mut NdpSender, now, what, (number, headers)| {
            let answer = NdpPacket { what, number, headers, ..NdpPacket::default() };
            sender.on_packet(now, &Header::default(), &answer);
        };
        while sender.needs().ready {
            sender.send(Time::ZERO, &mut header, &mut packet);
        }
        (0..9).for_each(|number| tell(&mut sender, Time(1), NdpPacketKind::Ack, (number, 0)));
        let due = sender.needs().wake;
        if pull_comes_first {
            tell(&mut sender, Time(2), NdpPacketKind::Pull, (1, 1));
        }
        sender.on_wakeup(due);
        sender.send(due, &mut header, &mut packet);
        assert_eq!(packet.number, 9, "the time-out sends it");
        if !pull_comes_first {
            tell(&mut sender, due, NdpPacketKind::Pull, (1, 1));
        }
        tell(&mut sender, due, NdpPacketKind::Nack, (9, 2));
        assert!(!sender.needs().ready, "it waits for the pull of its second header");
        tell(&mut sender, due, NdpPacketKind::Pull, (2, 2));
        assert!(sender.needs().ready);
    }
}

/// Whatever happens to packets, flows finish and each byte is delivered once.
#[test]
fn nothing_stops_a_flow_for_ever() {
    use weft_core::{Purpose, Random};
    for seed in 0..300 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let (packets, window) = (1 + u64::from(random.below(80)), 1 + random.below(40));
        let harm = random.below(60);
        let pair = Pair::new(packets, |own| own.initial_window = window).run(|payload, _, _| {
            match random.below(100) {
                n if n >= harm => Fate::Pass,
                n if n % 3 == 0 || !payload => Fate::Lose,
                n if n % 3 == 1 => Fate::Trim,
                _ => Fate::Return,
            }
        });
        assert!(pair.outcome().1 && pair.sent_once() == packets, "seed {seed}: {:?}", pair.receiver.report());
    }
}

#[test]
fn ends_are_small() {
    assert!(size_of::<NdpSender>() <= 320 && size_of::<NdpReceiver>() <= 320 && size_of::<NdpPacket>() <= 56);
}

/// The first three copies of the only packet are lost; the fourth arrives.
#[test]
fn time_outs_in_a_row_are_those_without_an_answer_in_between() {
    let pair = Pair::new(1, |_| {}).run(|data, n, _| if data && n < 3 { Fate::Lose } else { Fate::Pass });
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (3, 3));
    // Each of two packets is lost once, the second after the first has been answered.
    let pair = Pair::new(40, |settings| settings.initial_window = 1);
    let pair = pair.run(|data, n, _| if data && [0, 20].contains(&n) { Fate::Lose } else { Fate::Pass });
    let report = pair.sender.report();
    assert_eq!((report.timeouts, report.timeouts_in_a_row), (2, 1));
}
