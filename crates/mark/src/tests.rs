//! Markers against their definitions.

use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Ecn, Header, Marks, Purpose, Random};

use super::*;

/// 1250 B in a microsecond.
pub(super) const LINE: Rate = Rate::from_gbps(10);

pub(super) fn packet(ecn: Ecn) -> Header {
    Header { wire: 1_000, marks: Marks { ecn }, ..Header::default() }
}

#[test]
fn red_marks_half_of_max_probability_at_the_midpoint() {
    let settings = red::RedSettings {
        min: Amount::Bytes(Bytes(10_000)),
        max: Amount::Bytes(Bytes(30_000)),
        max_probability: Share(0.1),
        arriving: red::Arriving::Excluded,
        ..Default::default()
    };
    let mut marker = red::Red::new(&settings, LINE);
    let mut random = Random::new(1, Purpose::Test, 0);
    let packet = packet(Ecn::Capable);
    let sight = Sight::new(Time::ZERO, &packet, (20_000, 20_000));
    let marked = (0..100_000).filter(|_| marker.arriving(&sight, &mut random) == Action::Mark).count() as f64;
    let sigma = (100_000.0 * 0.05 * 0.95f64).sqrt();
    assert!((marked - 5_000.0).abs() < 3.0 * sigma, "{marked}");
    let mut look = |queue| marker.arriving(&Sight::new(Time::ZERO, &packet, (queue, 0)), &mut random);
    let edges = [(10_000, Action::Pass), (30_001, Action::Mark)];
    for (queue, action) in edges {
        assert_eq!(look(queue), action);
    }
}

#[test]
fn a_step_marks_above_the_threshold_where_it_is_told_to() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let settings = step::StepSettings { threshold: Amount::Bytes(Bytes(5_000)), ..Default::default() };
    let mut at_enqueue = step::Step::new(&settings, LINE);
    let mut at_dequeue = step::Step::new(&step::StepSettings { at: At::Dequeue, ..settings.clone() }, LINE);
    let packet = packet(Ecn::Capable);
    let sight = |queue| Sight::new(Time::ZERO, &packet, (queue, queue));
    assert_eq!(at_enqueue.arriving(&sight(4_000), &mut random), Action::Pass, "exactly K with the packet");
    assert_eq!(at_enqueue.arriving(&sight(4_001), &mut random), Action::Mark);
    assert_eq!(at_enqueue.leaving(&sight(9_000), &mut random), Action::Pass);
    assert_eq!(at_dequeue.arriving(&sight(9_000), &mut random), Action::Pass);
    assert_eq!(at_dequeue.leaving(&sight(5_000), &mut random), Action::Pass);
    assert_eq!(at_dequeue.leaving(&sight(5_001), &mut random), Action::Mark);
}

#[test]
fn packets_that_cannot_be_marked_are_dropped_or_passed_and_scope_counts_the_port() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let base =
        step::StepSettings { threshold: Amount::Packets(2), packet: Bytes(1_000), ..Default::default() };
    let plain = packet(Ecn::NotCapable);
    let sight = Sight::new(Time::ZERO, &plain, (0, 9_000));
    for (scope, non_ect, action) in [
        (Scope::Port, NonEct::Drop, Action::Drop),
        (Scope::Port, NonEct::Pass, Action::Pass),
        (Scope::Queue, NonEct::Drop, Action::Pass),
    ] {
        let mut marker = step::Step::new(&step::StepSettings { scope, non_ect, ..base.clone() }, LINE);
        assert_eq!(marker.arriving(&sight, &mut random), action);
    }
}

/// From an empty queue the average after n samples of a constant q is q (1 - (1 - w)^n).
#[test]
fn red_follows_the_queue_with_its_weight() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let packet = packet(Ecn::Capable);
    for (average, at) in [(2, At::Enqueue), (4, At::Enqueue), (4, At::Dequeue)] {
        let threshold = Amount::Bytes(Bytes(6_000));
        let settings = red::RedSettings {
            min: threshold,
            max: threshold,
            average,
            at,
            arriving: red::Arriving::Excluded,
            ..Default::default()
        };
        let mut marker = red::Red::new(&settings, LINE);
        let sight = Sight::new(Time::ZERO, &packet, (10_000, 10_000));
        let mut judge = || match at {
            At::Enqueue => marker.arriving(&sight, &mut random),
            At::Dequeue => marker.leaving(&sight, &mut random),
        };
        let first = (1..100).find(|_| judge() == Action::Mark).expect("the average reaches the threshold");
        let weight = 0.5f64.powi(average as i32);
        let due = ((1.0 - 0.6f64).ln() / (1.0 - weight).ln()).ceil();
        assert_eq!(f64::from(first), due, "weight {weight}");
    }
}

/// A port that foresees its departures does not show them, and must reach the same result.
#[test]
fn who_does_not_look_at_departures_learns_nothing_from_them() {
    let red = red::RedSettings { at: At::Enqueue, average: 2, ..Default::default() };
    let pi = pi::PiSettings { at: At::Enqueue, ..Default::default() };
    let pie = pie::PieSettings { estimate: pie::DelayEstimate::Line, ..Default::default() };
    let (mut red, mut pi, mut pie) =
        (red::Red::new(&red, LINE), pi::Pi::new(&pi, LINE), pie::Pie::new(&pie, LINE));
    let before = format!("{red:?} {pi:?} {pie:?}");
    let packet = packet(Ecn::Capable);
    let sight = Sight::new(Time(1 << 40), &packet, (300_000, 300_000));
    let mut random = Random::new(1, Purpose::Test, 0);
    let verdicts =
        [red.leaving(&sight, &mut random), pi.leaving(&sight, &mut random), pie.leaving(&sight, &mut random)];
    assert_eq!(verdicts, [Action::Pass; 3]);
    assert_eq!(format!("{red:?} {pi:?} {pie:?}"), before);
}

/// The trap of DCQCN's literal ramp: beyond `max` it jumps from 1 % to 1, unless the ramp continues.
#[test]
fn a_continued_ramp_keeps_its_slope_beyond_max() {
    let settings = red::RedSettings { beyond: red::Beyond::Continue, ..Default::default() };
    let mut marker = red::Red::new(&settings, LINE);
    let mut random = Random::new(1, Purpose::Test, 0);
    let packet = packet(Ecn::Capable);
    let own = u64::from(packet.wire);
    let mut marked = |queue: u64| {
        let sight = Sight::new(Time::ZERO, &packet, (queue - own, 0));
        (0..100_000).filter(|_| marker.arriving(&sight, &mut random) == Action::Mark).count() as f64
    };
    let slope = 0.01 / 195_000.0;
    for queue in [200_000, 1_180_000, 9_755_000] {
        let due = slope * (queue - 5_000) as f64;
        let sigma = (100_000.0 * due * (1.0 - due)).sqrt();
        let found = marked(queue);
        assert!((found - 100_000.0 * due).abs() <= 3.0 * sigma, "{queue}: {found}");
    }
    assert_eq!(marked(19_505_001), 100_000.0, "the ramp ends at 1");
}

/// While the queue is empty, the average falls as if full-size packets passed by: after 10 000 of them nothing is left of
/// it, and a packet that arrives then is not dropped.
#[test]
fn an_average_falls_while_the_queue_is_empty() {
    for at in [At::Enqueue, At::Dequeue] {
        let settings = red::RedSettings { at, average: 9, ..Default::default() };
        let packet = packet(Ecn::NotCapable);
        let mut random = Random::new(1, Purpose::Test, 0);
        let mut marker = red::Red::new(&settings, LINE);
        let mut judged = |now, queue| {
            let sight = Sight::new(now, &packet, (queue, queue));
            match at {
                At::Enqueue => marker.arriving(&sight, &mut random),
                At::Dequeue => marker.leaving(&sight, &mut random),
            }
        };
        let full = (0..5_000).filter(|_| judged(Time::ZERO, 1_000_000) == Action::Drop).count();
        assert!(full > 1_000, "the average rises, however slowly: {full}");
        assert_eq!(judged(Time::ZERO, 0), Action::Drop, "a queue that has just become empty");
        let later = Time::ZERO + LINE.time_for(Bytes(1_538)) * 10_000;
        assert_eq!(judged(later, 0), Action::Pass, "{at:?}");
    }
}
