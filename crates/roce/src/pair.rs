//! A sender and a receiver with a path between them, for tests: a 10 Gb/s link, a delay each way, and the test's
//! interference with single packets.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft_core::segment::Segment;
use weft_core::{Ecn, FlowSite, Header, Marks, PacketKind, Rate, Span, Time};
use weft_rate::{RateLawSettings, fixed::FixedRateSettings, notification::NotificationSettings};

use crate::settings::{QueuePairSettings, RoceRecovery};
use crate::{QueuePairs, QueueReceiver, QueueSender};

mod tests;
mod tlt;

/// What happens to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Mark,
    Late(Span),
}

const DELAY: Span = Span::from_us(5);

struct Pair {
    now: Time,
    sender: QueueSender,
    receiver: QueueReceiver,
    /// A packet in flight: when it arrives, its number, whether it is payload, its mark, and the packet itself.
    flying: BTreeMap<(Time, u64), (bool, Header, Segment)>,
    /// The cards are busy until then.
    busy: [Time; 2],
    /// Data packets and answers, as they left.
    sent: Vec<(Time, Header, Segment)>,
    answers: Vec<(Time, Header, Segment)>,
    number: u64,
}

fn pairs(law: RateLawSettings, change: impl FnOnce(&mut QueuePairSettings)) -> Arc<QueuePairs> {
    let mut settings = QueuePairSettings { mtu: weft_core::Bytes(1_044), ..QueuePairSettings::default() };
    change(&mut settings);
    let notification = matches!(law, RateLawSettings::Dcqcn(_)).then(NotificationSettings::default);
    Arc::new(QueuePairs::new(law, notification, settings))
}

fn plain(change: impl FnOnce(&mut QueuePairSettings)) -> Arc<QueuePairs> {
    pairs(RateLawSettings::FixedRate(FixedRateSettings::default()), change)
}

impl Pair {
    fn new(pairs: &Arc<QueuePairs>, size: u64) -> Pair {
        let size = weft_core::Bytes(size);
        let site = FlowSite { size, line_rate: Rate::from_gbps(10), seed: 3, ..FlowSite::default() };
        Pair {
            now: Time::ZERO,
            sender: QueueSender::new(pairs, &site, Time::ZERO),
            receiver: QueueReceiver::new(pairs, &site),
            flying: BTreeMap::new(),
            busy: [Time::ZERO; 2],
            sent: Vec::new(),
            answers: Vec::new(),
            number: 0,
        }
    }

    /// Runs until the message is acknowledged, for at most a second. `fate` is called with the number of each data
    /// packet and answer, in sending order.
    fn run(&mut self, mut fate: impl FnMut(bool, usize, &Segment) -> Fate) -> Time {
        while !self.sender.needs().done && self.now < Time(1_000_000_000_000) {
            self.step(&mut fate);
        }
        assert!(self.sender.needs().done, "stuck: {:?}", self.sender.report());
        self.now
    }

    fn step(&mut self, fate: &mut impl FnMut(bool, usize, &Segment) -> Fate) {
        let (mut data, mut answers) = (self.sent.len(), self.answers.len());
        self.step_by(&mut |payload, _, segment| {
            let number = if payload { &mut data } else { &mut answers };
            *number += 1;
            fate(payload, *number - 1, segment)
        });
    }

    /// The same, where only the colour of a packet decides its fate.
    fn step_colored(&mut self, fate: &mut impl FnMut(bool) -> Fate) {
        self.step_by(&mut |payload, header, _| fate(payload && header.kind == PacketKind::Red));
    }

    /// Important packets and echoes in flight.
    fn important(&self) -> usize {
        let counts = |(payload, header, segment): &&(bool, Header, Segment)| match payload {
            true => header.kind == PacketKind::Data,
            false => segment.flags.has(crate::flags::ECHO),
        };
        self.flying.values().filter(counts).count()
    }

    fn step_by(&mut self, fate: &mut impl FnMut(bool, &Header, &Segment) -> Fate) {
        let (sender, receiver) = (self.sender.needs(), self.receiver.needs());
        let ready = |ready: bool, busy: Time| if ready { busy } else { Time::NEVER };
        let first = self.flying.keys().next().map_or(Time::NEVER, |(time, _)| *time);
        let next = [
            first,
            sender.wake,
            receiver.wake,
            ready(sender.ready, self.busy[0]),
            ready(receiver.ready, self.busy[1]),
        ];
        self.now = self.now.max(next.into_iter().min().expect("five"));
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                (true, header, segment) => self.receiver.on_packet(self.now, &header, &segment),
                (false, _, segment) => self.sender.on_packet(self.now, &segment),
            }
        }
        if self.sender.needs().wake <= self.now {
            self.sender.on_wakeup(self.now);
        }
        if self.receiver.needs().wake <= self.now {
            self.receiver.on_wakeup(self.now);
        }
        self.transmit(fate);
    }

    fn transmit(&mut self, fate: &mut impl FnMut(bool, &Header, &Segment) -> Fate) {
        let (mut header, mut segment) = (Header::default(), Segment::default());
        if self.sender.needs().ready && self.busy[0] <= self.now {
            self.sender.send(self.now, &mut header, &mut segment);
            let what = fate(true, &header, &segment);
            self.sent.push((self.now, header, segment));
            self.fly(true, &header, segment, what);
        }
        if self.receiver.needs().ready && self.busy[1] <= self.now {
            self.receiver.send(self.now, &mut header, &mut segment);
            let what = fate(false, &header, &segment);
            self.answers.push((self.now, header, segment));
            self.fly(false, &header, segment, what);
        }
    }

    fn fly(&mut self, payload: bool, header: &Header, segment: Segment, what: Fate) {
        let end = self.now + Rate::from_gbps(10).time_for(weft_core::Bytes(u64::from(header.wire)));
        self.busy[usize::from(!payload)] = end;
        let (late, ecn) = match what {
            Fate::Lose => return,
            Fate::Pass => (Span::ZERO, header.marks.ecn),
            Fate::Mark => (Span::ZERO, Ecn::Marked),
            Fate::Late(span) => (span, header.marks.ecn),
        };
        let header = Header { marks: Marks { ecn }, ..*header };
        self.number += 1;
        self.flying.insert((end + DELAY + late, self.number), (payload, header, segment));
    }

    fn sequences(&self) -> Vec<u64> {
        self.sent.iter().map(|(_, _, segment)| segment.sequence / 1_000).collect()
    }
}

fn selective(settings: &mut QueuePairSettings) {
    settings.recovery = RoceRecovery::Selective;
}
