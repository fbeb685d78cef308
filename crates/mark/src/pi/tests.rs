//! PI against its differential equation and against a controller that is asked at every sample.

use weft_core::{Ecn, Header, Purpose, Time};

use super::super::tests::{LINE, packet};
use super::*;

const REFERENCE: u64 = 50_000;

fn settings() -> PiSettings {
    PiSettings { reference: Amount::Bytes(Bytes(REFERENCE)), k1: 1e-5, k2: 1e-3, ..Default::default() }
}

/// A marker, and the means to show it a queue. Observation adds nothing to it.
struct Bench {
    pi: Pi,
    random: Random,
    shown: Header,
}

impl Bench {
    fn new(settings: &PiSettings) -> Bench {
        let shown = Header { wire: 0, ..packet(Ecn::Capable) };
        Bench { pi: Pi::new(settings, LINE), random: Random::new(3, Purpose::Test, 0), shown }
    }

    fn show(&mut self, now: Span, queue: u64) -> Action {
        let sight = Sight::new(Time::ZERO + now, &self.shown, (queue, queue));
        self.pi.arriving(&sight, &mut self.random)
    }

    fn probability(&self) -> f64 {
        self.pi.0.probability
    }
}

fn close(found: f64, due: f64) {
    assert!((found - due).abs() < 1e-12, "{found} {due}");
}

/// p = K1 q + K2 (q - reference) t at a queue that stays where it is.
#[test]
fn at_a_constant_queue_the_probability_grows_by_k2_times_the_error_per_second() {
    let mut bench = Bench::new(&settings());
    let queue = 90_000;
    bench.show(Span::ZERO, queue);
    for n in 1..=200 {
        bench.show(Span::from_us(50) * n, queue);
        let seconds = 50e-6 * n as f64;
        close(bench.probability(), 1e-5 * 90.0 + 1e-3 * 40.0 * seconds);
    }
}

#[test]
fn a_step_of_the_queue_moves_the_probability_by_k1_times_its_height_at_once() {
    let mut bench = Bench::new(&settings());
    bench.show(Span::ZERO, REFERENCE);
    bench.show(Span::from_us(15), REFERENCE);
    close(bench.probability(), 1e-5 * 50.0);
    bench.show(Span::from_us(15), 80_000);
    bench.show(Span::from_us(20), 80_000);
    close(bench.probability(), 1e-5 * 80.0 + 1e-3 * 30.0 * 10e-6);
}

/// One observation after a long time gives the same as observations at every sample: the queue drains and stays
/// empty, and the probability ends at 0, where it does not wind up.
#[test]
fn what_happens_between_two_packets_is_made_up_for() {
    let settings = PiSettings { k1: 1e-4, k2: 1.0, ..settings() };
    for (start, gap) in [(300_000, 100), (300_000, 235), (300_000, 5_000), (300_000, 50_000), (0, 999)] {
        let (mut late, mut often) = (Bench::new(&settings), Bench::new(&settings));
        let at = |us: u64| if us < gap { start - start.min(1_250 * us) } else { 0 };
        for bench in [&mut late, &mut often] {
            bench.show(Span::ZERO, 300_000);
            bench.show(Span::from_us(1_000), start);
        }
        let end = Span::from_us(1_000 + gap);
        let left = start - start.min(1_250 * gap);
        for us in (10..gap).step_by(10) {
            often.show(Span::from_us(1_000 + us), at(us));
        }
        often.show(end, left);
        late.show(end, left);
        close(late.probability(), often.probability());
        assert!(gap < 50_000 || late.probability() == 0.0, "an empty queue unlearns");
        late.show(end, 400_000);
        late.show(end + Span::from_us(10), 400_000);
        assert!(late.probability() > 0.01, "and is ready at once: {}", late.probability());
    }
}

#[test]
fn the_probability_does_not_wind_up_at_one() {
    let mut bench = Bench::new(&PiSettings { k2: 1.0, ..settings() });
    bench.show(Span::ZERO, 500_000);
    assert_eq!(bench.show(Span::from_s(10), 500_000), Action::Mark);
    assert_eq!(bench.probability(), 1.0);
    bench.show(Span::from_s(10), 0);
    bench.show(Span::from_s(10) + Span::from_us(10), 0);
    close(bench.probability(), 1.0 - 1e-5 * 500.0 - 50.0 * 10e-6);
}

#[test]
fn the_discrete_gains_are_the_same_controller() {
    let (k1, k2) = (1e-5, 1e-3);
    let discrete = PiSettings { a: Some(k1 + k2 * 10e-6), b: Some(k1), k1: 0.5, k2: 0.5, ..settings() };
    let mut benches = [Bench::new(&settings()), Bench::new(&discrete)];
    for (n, queue) in [20_000, 90_000, 120_000, 60_000].into_iter().enumerate() {
        benches.iter_mut().for_each(|bench| {
            bench.show(Span::from_us(100) * n as u64, queue);
        });
        close(benches[0].probability(), benches[1].probability());
    }
    assert!(benches[0].probability() > 0.0);
}

#[test]
fn packets_are_marked_with_the_probability_where_the_marker_is_told_to() {
    for at in [At::Enqueue, At::Dequeue] {
        let mut pi = Pi::new(&PiSettings { at, ..settings() }, LINE);
        pi.0.probability = 0.3;
        let mut random = Random::new(3, Purpose::Test, 0);
        let packet = packet(Ecn::Capable);
        let sight = Sight::new(Time::ZERO, &packet, (0, 0));
        let mut count = |leaves: bool| {
            let mut judge = || match leaves {
                true => pi.leaving(&sight, &mut random),
                false => pi.arriving(&sight, &mut random),
            };
            (0..100_000).filter(|_| judge() == Action::Mark).count() as f64
        };
        let (here, there) = (count(at == At::Dequeue), count(at == At::Enqueue));
        assert!((here - 30_000.0).abs() < 3.0 * 145.0, "{here}");
        assert_eq!(there, 0.0);
    }
}

/// A packet that leaves counts until its last bit has left, and one that is dropped does not count at all.
#[test]
fn the_queue_after_a_packet_is_the_one_that_drains() {
    let mut pi = Pi::new(&PiSettings { at: At::Dequeue, ..settings() }, LINE);
    let mut random = Random::new(3, Purpose::Test, 0);
    let mut leave = |pi: &mut Pi, probability, ecn| {
        pi.0.probability = probability;
        let packet = packet(ecn);
        let sight = Sight::new(Time::ZERO, &packet, (10_000, 10_000));
        let action = pi.leaving(&sight, &mut random);
        (action, pi.0.sampling.take(Time::ZERO + Span::from_us(10), 0).map(|sample| sample.bytes))
    };
    assert_eq!(leave(&mut pi.clone(), 1.0, Ecn::Capable), (Action::Mark, Some(0.0)));
    let slow = Pi::new(&PiSettings { at: At::Dequeue, ..settings() }, Rate::from_mbps(80));
    assert_eq!(leave(&mut slow.clone(), 0.0, Ecn::NotCapable), (Action::Pass, Some(10_900.0)));
    assert_eq!(leave(&mut slow.clone(), 1.0, Ecn::NotCapable), (Action::Drop, Some(9_900.0)));
    assert!(pi.looks_at_departures());
    pi.0.at = At::Enqueue;
    assert!(!pi.looks_at_departures());
}
