//! PIE against the formulas of RFC 8033.

use weft_core::{Ecn, Purpose};

use super::super::tests::{LINE, packet};
use super::*;

const TARGET: f64 = 50e-6;

fn close(found: f64, due: f64) {
    assert!((found - due).abs() < 1e-12 * due.abs().max(1e-6), "{found} {due}");
}

fn controller(probability: f64, before: f64) -> Controller {
    Controller { probability, before, ..Controller::new(&PieSettings::default()) }
}

#[test]
fn the_step_is_scaled_by_how_small_the_probability_is() {
    let full = 37.5 * (90e-6 - TARGET) + 375.0 * (90e-6 - 70e-6);
    let tiers =
        [(5e-7, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (5e-2, 2.0), (0.5, 1.0)];
    for (probability, divisor) in tiers {
        let mut pie = controller(probability, 70e-6);
        pie.update(90e-6);
        close(pie.probability, probability + full / divisor);
    }
}

#[test]
fn a_high_probability_climbs_by_two_percent_at_most_and_falls_as_it_likes() {
    let mut pie = controller(0.5, 0.0);
    pie.update(400e-6);
    close(pie.probability, 0.52);
    pie.update(200e-6);
    close(pie.probability, 0.52 + 37.5 * 150e-6 - 375.0 * 200e-6);
    let mut low = controller(0.05, 0.0);
    low.update(400e-6);
    close(low.probability, 0.05 + (37.5 * 350e-6 + 375.0 * 400e-6) / 2.0);
    low.probability = 0.999;
    low.update(1.0);
    assert_eq!(low.probability, 1.0);
}

#[test]
fn two_updates_without_delay_take_two_percent_more_away() {
    let mut pie = controller(0.5, TARGET);
    pie.update(0.0);
    close(pie.probability, 0.5 - 37.5 * TARGET - 375.0 * TARGET);
    let before = pie.probability;
    pie.update(0.0);
    close(pie.probability, (before - 37.5 * TARGET) * 0.98);
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

/// Shows a packet to a marker whose queue holds `bytes`.
fn arrive(pie: &mut Pie, us: u64, queue: u64, ecn: Ecn) -> Action {
    let packet = packet(ecn);
    let sight = Sight::new(at(us), &packet, (queue, queue));
    pie.arriving(&sight, &mut Random::new(us, Purpose::Test, queue))
}

/// Marks out of 1000 packets that find a queue of `bytes`.
fn share(pie: &Pie, queue: u64, ecn: Ecn, action: Action) -> usize {
    let mut random = Random::new(5, Purpose::Test, 0);
    let packet = packet(ecn);
    let sight = Sight::new(Time::ZERO, &packet, (queue, queue));
    (0..1_000).filter(|_| pie.0.judge(&sight, &mut random) == action).count()
}

#[test]
fn the_delay_of_a_line_is_its_queue_over_its_rate() {
    let mut pie = Pie::new(&PieSettings::default(), LINE);
    arrive(&mut pie, 10, 124_000, Ecn::Capable);
    arrive(&mut pie, 50, 75_000, Ecn::Capable);
    close(pie.0.controller.before, 60e-6);
}

#[test]
fn nothing_is_marked_during_the_burst_that_an_idle_queue_is_allowed() {
    let settings = PieSettings { burst: Span::from_us(1_000), ..Default::default() };
    let mut pie = Pie::new(&settings, LINE);
    let first = (0..1_000).find(|n| arrive(&mut pie, 10 * n, 1_000_000, Ecn::Capable) != Action::Pass);
    let first = first.expect("a queue of 800 us is marked at last") * 10;
    assert!((1_000..1_100).contains(&first), "{first} us");
    let mut fresh = Pie::new(&PieSettings::default(), LINE);
    let first = (0..1_000).find(|n| arrive(&mut fresh, 10 * n, 1_000_000, Ecn::Capable) != Action::Pass);
    assert!(first.expect("it is marked") * 10 < 500, "without a burst it takes a few updates: {first:?}");
    arrive(&mut pie, 1_000_000, 0, Ecn::Capable);
    assert_eq!(pie.0.controller.allowance, settings.burst, "an idle queue earns it again");
    assert_eq!(pie.0.controller.probability, 0.0);
}

#[test]
fn short_queues_and_calm_ones_pass() {
    let mut pie = Pie::new(&PieSettings::default(), LINE);
    pie.0.controller = controller(0.08, TARGET);
    let marked = share(&pie, 100_000, Ecn::Capable, Action::Mark);
    assert!((55..105).contains(&marked), "{marked}");
    assert_eq!(share(&pie, 3_076, Ecn::Capable, Action::Pass), 1_000, "two packets");
    assert!(share(&pie, 3_077, Ecn::Capable, Action::Mark) > 0);
    pie.0.controller = controller(0.08, 0.49 * TARGET);
    assert_eq!(share(&pie, 100_000, Ecn::Capable, Action::Pass), 1_000, "below half the target");
    pie.0.controller = controller(0.3, 0.49 * TARGET);
    assert!(share(&pie, 100_000, Ecn::Capable, Action::Pass) < 1_000, "unless the probability is high");
}

#[test]
fn beyond_ten_percent_packets_are_dropped_though_they_could_be_marked() {
    let mut pie = Pie::new(&PieSettings::default(), LINE);
    pie.0.controller = controller(0.1, TARGET);
    assert_eq!(share(&pie, 100_000, Ecn::Capable, Action::Drop), 0);
    assert!(share(&pie, 100_000, Ecn::NotCapable, Action::Drop) > 50);
    pie.0.controller.probability = 0.11;
    assert!(share(&pie, 100_000, Ecn::Capable, Action::Drop) > 50);
    assert_eq!(share(&pie, 100_000, Ecn::Capable, Action::Mark), 0);
    pie.0.mark_up_to = 1.0;
    assert!(share(&pie, 100_000, Ecn::Capable, Action::Mark) > 50);
    pie.0.non_ect = NonEct::Pass;
    assert_eq!(share(&pie, 100_000, Ecn::NotCapable, Action::Pass), 1_000);
}

/// Packets of 1000 B, one per microsecond, then one per two: 17 packets make a cycle, and the mean follows by a quarter.
#[test]
fn the_rate_of_departures_is_measured_over_16_kib_and_averaged() {
    let mut pie = Pie::new(&PieSettings { estimate: DelayEstimate::Departures, ..Default::default() }, LINE);
    let packet = packet(Ecn::Capable);
    let mut random = Random::new(5, Purpose::Test, 0);
    let mut leave = |pie: &mut Pie, us: u64, behind: u64| {
        let sight = Sight::new(at(us), &packet, (behind, behind));
        assert_eq!(pie.leaving(&sight, &mut random), Action::Pass);
    };
    (0..17).for_each(|n| leave(&mut pie, n, 100_000));
    assert_eq!(pie.0.departures.rate, 0.0, "nothing is known before a cycle is complete");
    leave(&mut pie, 17, 100_000);
    close(pie.0.departures.rate, 1e9);
    (1..=51).for_each(|n| leave(&mut pie, 17 + 2 * n, 100_000));
    close(pie.0.departures.rate, 5e8 + 5e8 * 0.75f64.powi(3));
    close(pie.0.delay(1e6), 1e6 / pie.0.departures.rate);
    let mut short =
        Pie::new(&PieSettings { estimate: DelayEstimate::Departures, ..Default::default() }, LINE);
    (0..100).for_each(|n| leave(&mut short, n, 15_383));
    assert_eq!(short.0.departures.rate, 0.0, "a shorter queue is not always served");
    assert!(pie.looks_at_departures() && !Pie::new(&PieSettings::default(), LINE).looks_at_departures());
}

#[test]
fn the_time_that_a_packet_has_waited_is_its_delay() {
    let mut pie = Pie::new(&PieSettings { estimate: DelayEstimate::Waited, ..Default::default() }, LINE);
    let packet = weft_core::Header { arrived: at(10), ..packet(Ecn::Capable) };
    let sight = Sight::new(at(45), &packet, (80_000, 80_000));
    pie.leaving(&sight, &mut Random::new(5, Purpose::Test, 0));
    arrive(&mut pie, 50, 70_000, Ecn::Capable);
    close(pie.0.controller.before, 35e-6);
    arrive(&mut pie, 500, 0, Ecn::Capable);
    assert_eq!(pie.0.controller.before, 0.0, "an empty queue has no delay");
}
