//! An output that foresees departures sends the same packets at the same instants as one with an event for everything.

mod port;

use std::collections::VecDeque;

use port::{Passage, Port};
use weft_core::{Bytes, Header, Pool, PortId, Purpose, Random, Rate, Span, Time};
use weft_mark::MarkerSettings;
use weft_queue::schedule::SchedulerSettings;
use weft_voq::{FabricSite, VoqFabric, VoqKey, VoqSettings};

/// The known state of an output's transmitter.
struct Line {
    rate: Rate,
    /// Size of each packet that has joined, and when its last bit leaves.
    leaving: VecDeque<(u64, Time)>,
    busy_until: Time,
}

impl Line {
    /// Bytes left after the departure at `at`.
    fn behind(&mut self, at: Time) -> u64 {
        while self.leaving.pop_front_if(|(_, end)| *end <= at).is_some() {}
        self.leaving.iter().map(|(wire, _)| wire).sum()
    }

    fn join(&mut self, arrives: Time, wire: u16) -> Time {
        let wire = Bytes(u64::from(wire));
        self.busy_until = self.busy_until.max(arrives) + self.rate.time_for(wire);
        self.leaving.push_back((wire.0, self.busy_until));
        self.busy_until
    }
}

/// One output of a fabric that foresees departures.
struct Foreseeing {
    fabric: VoqFabric,
    pool: Pool<Passage>,
    random: Random,
    line: Line,
    sent: Vec<(Passage, Time)>,
    now: Time,
    calls: usize,
}

impl Foreseeing {
    fn new(settings: &VoqSettings, rate: Rate) -> Foreseeing {
        let schedule = SchedulerSettings::default();
        let ecn = MarkerSettings::default();
        let site = FabricSite { rates: &[rate; 4], classes: 1, ecn: &ecn, schedule: &schedule };
        let mut fabric = VoqFabric::new(settings, &site);
        fabric.foresee(PortId(0));
        Foreseeing {
            fabric,
            pool: Pool::new(),
            random: Random::new(1, Purpose::Test, 0),
            line: Line { rate, leaving: VecDeque::new(), busy_until: Time::ZERO },
            sent: Vec::new(),
            now: Time::ZERO,
            calls: 0,
        }
    }

    fn run(&mut self, entries: &[Passage], until: Time) {
        let mut entries = entries.iter().take_while(|entry| entry.at <= until).peekable();
        let mut wake = None::<Time>;
        loop {
            let entry = entries.peek().map(|entry| entry.at);
            let next = [entry, wake].into_iter().flatten().min().filter(|at| *at <= until);
            let Some(now) = next else { return };
            assert!(now >= self.now, "no call is for the past");
            self.now = now;
            if entry == Some(now) {
                let woken = self.enter(*entries.next().expect("it was seen"));
                wake = [wake, woken].into_iter().flatten().min();
            } else {
                wake = self.cross(now);
            }
        }
    }

    fn enter(&mut self, entry: Passage) -> Option<Time> {
        let Foreseeing { fabric, pool, random, line, .. } = self;
        let packet = pool.insert(Header { wire: entry.wire, arrived: entry.at, ..Header::default() }, entry);
        let key = VoqKey { group: entry.group, port: PortId(0), class: 0 };
        fabric.catch_up(entry.at, (key.port, |at| [line.behind(at), 0]), &mut pool.headers, random);
        if let Some(arrives) = fabric.pass(entry.at, key, entry.wire) {
            pool.remove(packet);
            self.sent.push((entry, line.join(arrives, entry.wire)));
            return None;
        }
        let lent = (&mut *random, line.busy_until);
        let entered = fabric.enter(entry.at, key, (packet, &mut pool.headers), lent);
        entered.expect("there is room").wake
    }

    fn cross(&mut self, now: Time) -> Option<Time> {
        self.calls += 1;
        let Foreseeing { fabric, pool, random, line, sent, .. } = self;
        let port = PortId(0);
        fabric.catch_up(Time(now.0 + 1), (port, |at| [line.behind(at), 0]), &mut pool.headers, random);
        while let Some((packet, at)) = fabric.cross(now, port) {
            assert!(at.max(line.busy_until) >= now, "it is handed over in time");
            let passage = *pool.body(packet);
            sent.push((passage, line.join(at, passage.wire)));
            pool.remove(packet);
        }
        fabric.next(now, port, line.busy_until)
    }
}

fn pick<T: Copy>(random: &mut Random, among: &[T]) -> T {
    among[random.below(among.len() as u32) as usize]
}

/// Bursts and pauses from several groups, of packets of several sizes.
fn entries(random: &mut Random, groups: u32) -> Vec<Passage> {
    let mut at = Time::ZERO;
    let mut entry = |_| {
        at += Span::from_ns(pick(random, &[0, 0, 40, 120, 120, 300, 900, 5_000]));
        Passage { group: random.below(groups) as u16, wire: pick(random, &[64, 700, 1_500, 1_500]), at }
    };
    (0..2_000).map(&mut entry).collect()
}

/// In worlds with little and much memory on the chip, small and large credits, and short and long delays.
#[test]
fn foreseeing_changes_nothing() {
    let mut random = Random::new(7, Purpose::Test, 0);
    for world in 0..300 {
        let groups = 1 + random.below(4);
        let settings = VoqSettings {
            groups,
            spill: Bytes(pick(&mut random, &[3_000, 20_000, 1 << 30])),
            on_chip: Bytes(1 << 30),
            deep_rate: Rate::from_gbps(pick(&mut random, &[60, 900])),
            credit: Bytes(pick(&mut random, &[300, 2_000, 4_096, 16_000])),
            output: Bytes(pick(&mut random, &[16_000, 131_072])),
            credit_delay: Span::from_ns(pick(&mut random, &[0, 250, 2_000])),
            crossing: Span::from_ns(pick(&mut random, &[0, 100, 500, 3_000])),
            ..VoqSettings::default()
        };
        let rate = Rate::from_gbps(pick(&mut random, &[10, 25, 100]));
        let (entries, end) = (entries(&mut random, groups), Time::ZERO + Span::from_ms(20));
        let (mut eager, mut lazy) = (Port::new(&settings, rate), Foreseeing::new(&settings, rate));
        eager.run(entries.iter().copied(), end);
        lazy.run(&entries, end);
        assert_eq!((eager.sent.len(), lazy.sent.len()), (2_000, 2_000), "all leave in world {world}");
        assert!(eager.sent == lazy.sent, "world {world}: {settings:?}");
    }
}

/// A packet that finds credit available needs no call, and a backlog about one per credit.
#[test]
fn calls_are_few() {
    let settings = VoqSettings { spill: Bytes(1 << 30), ..VoqSettings::default() };
    let rate = Rate::from_gbps(100);
    let mut lazy = Foreseeing::new(&settings, rate);
    let gap = rate.time_for(Bytes(1_500));
    let entries: Vec<_> =
        (0..3_000).map(|number| Passage { group: 0, wire: 1_500, at: Time::ZERO + gap * number }).collect();
    lazy.run(&entries, Time::ZERO + Span::from_ms(5));
    assert_eq!(lazy.sent.len(), 3_000);
    assert!(lazy.calls <= 1_100, "{} calls", lazy.calls);
}
