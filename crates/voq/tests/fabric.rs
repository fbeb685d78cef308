//! A fabric on its own: rates, shares, latency, memory.

use weft_core::record::Reason;
use weft_core::{Bytes, Header, Pool, PortId, Purpose, Random, Rate, Span, Time};
use weft_mark::MarkerSettings;
use weft_queue::schedule::SchedulerSettings;
use weft_queue::schedule::strict::StrictSettings;
use weft_voq::{FabricSite, Passed, VoqFabric, VoqKey, VoqSettings};

const WIRE: u16 = 1_500;

/// A fabric of four ports of 100 Gb/s, and what came out of it for port 0.
struct Bench {
    fabric: VoqFabric,
    pool: Pool<u64>,
    random: Random,
    now: Time,
    /// When the packet left, and its number.
    out: Vec<(Time, u64)>,
    wake: Option<Time>,
}

impl Bench {
    fn new(settings: &VoqSettings, classes: usize) -> Bench {
        let rates = [Rate::from_gbps(100); 4];
        let schedule = SchedulerSettings::Strict(StrictSettings {});
        let site =
            FabricSite { rates: &rates, classes, ecn: &MarkerSettings::default(), schedule: &schedule };
        Bench {
            fabric: VoqFabric::new(settings, &site),
            pool: Pool::new(),
            random: Random::new(1, Purpose::Test, 0),
            now: Time::ZERO,
            out: Vec::new(),
            wake: None,
        }
    }

    fn enter(&mut self, (group, class): (u16, u8), number: u64) -> Result<(), Reason> {
        let packet = self.pool.insert(Header { wire: WIRE, ..Header::default() }, number);
        let key = VoqKey { group, port: PortId(0), class };
        let entered = self.fabric.enter(
            self.now,
            key,
            (packet, &mut self.pool.headers),
            (&mut self.random, Time::ZERO),
        )?;
        self.wake = [self.wake, entered.wake].into_iter().flatten().min();
        Ok(())
    }

    /// Runs up to an instant; the port sends whatever arrives at once.
    fn run(&mut self, until: Time) {
        while let Some(at) = self.wake.filter(|at| *at <= until) {
            (self.now, self.wake) = (at, None);
            while let Some(passed) =
                self.fabric.advance(at, (PortId(0), |_| [0; 2]), &mut self.pool.headers, &mut self.random)
            {
                let Passed::Arrived { packet, marked: false, .. } = passed else { panic!("nothing marks") };
                self.out.push((at, *self.pool.body(packet)));
                self.pool.remove(packet);
            }
            self.wake = self.fabric.next(at, PortId(0), Time::ZERO);
        }
        self.now = until;
    }
}

/// A packet that comes alone takes the three delays of request, credit and fabric.
#[test]
fn a_lone_packet_takes_the_loop_and_the_crossing() {
    let settings = VoqSettings::default();
    let mut bench = Bench::new(&settings, 1);
    bench.enter((0, 0), 7).expect("there is room");
    bench.run(Time::ZERO + Span::from_ms(1));
    let delay = Span(2 * settings.credit_delay.0 + settings.crossing.0);
    assert_eq!(bench.out, [(Time::ZERO + delay, 7)]);
}

/// A queue that never runs empty leaves at the speed of its credits, in its own order.
#[test]
fn a_backlog_crosses_at_the_rate_of_its_credits() {
    let settings = VoqSettings { spill: Bytes(1 << 30), ..VoqSettings::default() };
    let mut bench = Bench::new(&settings, 1);
    for number in 0..10_000 {
        bench.enter((0, 0), number).expect("there is room");
    }
    bench.run(Time::ZERO + Span::from_ms(10));
    assert!(bench.out.iter().map(|(_, number)| *number).eq(0..10_000), "all, in order");
    let took = bench.out.last().expect("some").0.since(bench.out[0].0).0 as f64;
    let line = Rate::from_gbps(100).time_for(Bytes(9_999 * u64::from(WIRE))).0 as f64;
    assert!((line / took / settings.speedup - 1.0).abs() < 1e-3, "{}", line / took);
    assert_eq!(bench.fabric.held(bench.now), (Bytes(0), Bytes(0)));
}

/// Groups share an output equally, classes by priority.
#[test]
fn groups_in_turn_and_classes_by_priority() {
    let settings = VoqSettings { groups: 2, ..VoqSettings::default() };
    let mut bench = Bench::new(&settings, 2);
    for number in 0..400 {
        for (group, class) in [(0, 1), (1, 1), (1, 0)] {
            let name = u64::from(group) * 2 + u64::from(class);
            bench.enter((group, class), 10 * number + name).expect("there is room");
        }
    }
    bench.run(Time::ZERO + Span::from_ms(1));
    let kinds: Vec<u64> = bench.out.iter().map(|(_, number)| number % 10).collect();
    assert_eq!(kinds.len(), 1_200);
    // Class 0 asks at the same instant as class 1, after it: one credit of class 1 may go first.
    let last_urgent = kinds.iter().rposition(|kind| *kind == 2).expect("some");
    assert!(last_urgent <= 403, "{last_urgent}");
    for half in kinds[404..].chunks(200).take(3) {
        let first = half.iter().filter(|kind| **kind == 1).count();
        assert!((97..=103).contains(&first), "{first} of {}", half.len());
    }
}

/// Spilled bytes are written and read over one channel: a backlog leaves at half of its rate, and every byte is found
/// again.
#[test]
fn deep_memory_has_the_bandwidth_of_its_channel() {
    let settings = VoqSettings { spill: Bytes(0), deep_rate: Rate::from_gbps(40), ..VoqSettings::default() };
    let mut bench = Bench::new(&settings, 1);
    let gap = Rate::from_gbps(100).time_for(Bytes(u64::from(WIRE)));
    for number in 0..4_000 {
        let at = Time::ZERO + gap * number;
        bench.run(at);
        bench.enter((0, 0), number).expect("there is room");
    }
    bench.run(Time::ZERO + Span::from_ms(20));
    assert!(bench.out.iter().map(|(_, number)| *number).eq(0..4_000), "all, in order");
    let took = bench.out.last().expect("some").0.since(Time::ZERO).0 as f64;
    let twice = 2.0 * Rate::from_gbps(40).time_for(Bytes(4_000 * u64::from(WIRE))).0 as f64;
    assert!((took / twice - 1.0).abs() < 0.01, "{}", took / twice);
    assert_eq!(bench.fabric.held(bench.now), (Bytes(0), Bytes(0)));
}

#[test]
fn limits_of_queue_chip_and_deep_memory_drop() {
    let small = VoqSettings::default();
    let limit = VoqSettings { limit: Bytes(3_000), ..small.clone() };
    let on_chip = VoqSettings { on_chip: Bytes(4_500), spill: Bytes(1 << 30), ..small.clone() };
    let deep = VoqSettings { deep: Bytes(6_000), spill: Bytes(0), ..small };
    for (settings, room, reason) in
        [(limit, 2, Reason::PortFull), (on_chip, 3, Reason::BufferFull), (deep, 4, Reason::BufferFull)]
    {
        let mut bench = Bench::new(&settings, 1);
        for number in 0..room {
            assert_eq!(bench.enter((0, 0), number), Ok(()));
        }
        assert_eq!(bench.enter((0, 0), room), Err(reason));
    }
}

/// No credit while the output is full: nothing crosses.
#[test]
fn a_full_output_grants_nothing() {
    let settings = VoqSettings::default();
    let mut bench = Bench::new(&settings, 1);
    bench.enter((0, 0), 0).expect("there is room");
    let full = settings.output.0;
    let mut at = bench.wake.expect("it asks");
    for _ in 0..50 {
        let passed =
            bench.fabric.advance(at, (PortId(0), |_| [full, 0]), &mut bench.pool.headers, &mut bench.random);
        assert_eq!(passed, None);
        at = bench.fabric.next(at, PortId(0), Time::ZERO).expect("it asks on");
    }
    bench.wake = Some(at);
    bench.run(at + Span::from_ms(1));
    assert_eq!(bench.out.len(), 1);
}
