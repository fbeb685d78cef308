//! Checks of the law alone: closed forms of the papers, and every switch.

use super::*;
use crate::rig::{assert_gbps, site, us};

fn law(change: impl FnOnce(&mut DcqcnSettings)) -> Dcqcn {
    let mut settings = DcqcnSettings::default();
    change(&mut settings);
    Dcqcn::new(&settings, site(40))
}

#[test]
fn a_flow_that_is_never_notified_stays_at_line_rate() {
    let mut law = law(|_| {});
    for now in (0..10_000).step_by(100) {
        law.advance(us(now));
        law.on_sent(us(now), Bytes(500_000));
    }
    assert_eq!((law.rate(), law.alpha(), law.next_wakeup()), (Rate::from_gbps(40), 1.0, Time::NEVER));
}

#[test]
fn one_notification_halves_and_five_events_recover() {
    let mut law = law(|_| {});
    law.on_notification(us(100));
    assert_gbps(law.rate(), 20.0);
    for (event, rate) in [30.0, 35.0, 37.5, 38.75, 39.375].into_iter().enumerate() {
        law.advance(Time(us(100 + 55 * (event as u64 + 1)).0 - 1));
        let before = law.rate();
        law.advance(us(100 + 55 * (event as u64 + 1)));
        assert!(before < law.rate());
        assert_gbps(law.rate(), rate);
    }
    law.advance(us(100 + 55 * 6));
    assert_eq!(law.target(), Rate::from_gbps(40), "clipped at line rate");
    law.advance(us(1_000_000));
    assert_eq!(law.rate(), Rate::from_gbps(40));
}

#[test]
fn permanent_marking_halves_the_rate_in_each_interval() {
    let mut law = law(|_| {});
    let mut rate = 40.0;
    for n in 1..=10 {
        law.advance(us(50 * n));
        law.on_notification(us(50 * n));
        assert_gbps(law.target(), rate);
        rate /= 2.0;
        assert_gbps(law.rate(), rate);
        assert!((law.alpha() - 1.0).abs() < 1e-12);
    }
    (11..200).for_each(|n| law.on_notification(us(50 * n)));
    assert_eq!(law.rate(), Rate::from_mbps(10), "never below the least rate");
}

#[test]
fn the_estimate_rises_to_one_and_halves_in_177_silent_periods() {
    let mut law = law(|settings| settings.initial_alpha = 0.0);
    for n in 1..=3 {
        law.on_notification(us(50 * n));
        assert!((law.alpha() - (1.0 - (255.0f64 / 256.0).powi(n as i32))).abs() < 1e-12);
    }
    let before = law.alpha();
    law.advance(us(150 + 177 * 55));
    assert!((law.alpha() / before - (255.0f64 / 256.0).powi(177)).abs() < 1e-12);
    assert!((law.alpha() / before - 0.5).abs() < 1e-3);
}

/// Lazy and punctual calls give the same.
#[test]
fn it_does_not_matter_when_timers_are_looked_at() {
    for timing in [ReactionTiming::Paper, ReactionTiming::FreeRunning] {
        let (mut lazy, mut punctual) = (law(|s| s.timing = timing), law(|s| s.timing = timing));
        for end in [70, 130, 1_000, 1_020, 3_333, 9_000] {
            while punctual.next_wakeup() <= us(end) {
                let now = punctual.next_wakeup();
                punctual.advance(now);
            }
            lazy.advance(us(end));
            for law in [&mut lazy, &mut punctual] {
                law.on_notification(us(end));
            }
            assert_eq!(lazy.rate(), punctual.rate());
            assert!((lazy.alpha() - punctual.alpha()).abs() < 1e-12);
        }
    }
}

#[test]
fn the_byte_counter_counts_as_the_timer_does() {
    let mut law = law(|settings| settings.byte_counter = Bytes(150_000));
    law.on_notification(us(0));
    law.on_sent(us(20), Bytes(149_999));
    assert_gbps(law.rate(), 20.0);
    law.on_sent(us(30), Bytes(1));
    assert_gbps(law.rate(), 30.0);
    law.on_sent(us(40), Bytes(300_000));
    assert_gbps(law.rate(), 37.5);
}

/// Rates by increase after a cut from 4 to 2 Gb/s, with both counters in step.
fn targets(change: impl FnOnce(&mut DcqcnSettings)) -> Vec<f64> {
    let mut law = law(|settings| {
        settings.initial_rates = vec![Rate::from_gbps(4)];
        settings.byte_counter = Bytes(1_000_000);
        change(settings);
    });
    law.on_notification(us(0));
    let mut targets = Vec::new();
    for n in 1..=8 {
        law.advance(us(55 * n));
        law.on_sent(us(55 * n), Bytes(1_000_000));
        targets.push((law.target().gbps() * 1e3).round());
    }
    targets
}

/// Before its first notification nothing raises the rate of a flow that waits for it; after that it recovers like any other.
#[test]
fn a_flow_may_wait_for_its_first_notification() {
    for waits in [false, true] {
        let mut law = law(|settings| {
            settings.initial_rates = vec![Rate::from_gbps(1)];
            settings.recovery_events = 0;
            settings.hyper_increase = HyperIncrease::Off;
            settings.wait_for_notification = waits;
        });
        law.advance(us(60));
        law.on_sent(us(60), Bytes(1_000_000));
        assert_eq!(law.rate() > Rate::from_gbps(1), !waits);
        (1..400).for_each(|n| law.advance(us(60 + 55 * n)));
        assert_eq!(law.rate() > Rate::from_gbps(5), !waits);
        let at_first = law.rate();
        law.on_notification(us(30_000));
        assert_eq!(law.rate().0, at_first.0 / 2);
        law.advance(us(30_056));
        assert!(law.rate().0 > at_first.0 / 2, "it recovers");
    }
}

#[test]
fn stages_follow_both_counters() {
    let both = targets(|_| {});
    assert_eq!(both, [4000.0, 4000.0, 4000.0, 4000.0, 4000.0, 4240.0, 4240.0 + 600.0, 4840.0 + 1000.0]);
    let off = targets(|settings| settings.hyper_increase = HyperIncrease::Off);
    assert_eq!(off, [4000.0, 4000.0, 4000.0, 4000.0, 4000.0, 4080.0, 4160.0, 4240.0]);
    let ns3 = targets(|settings| {
        settings.hyper_increase = HyperIncrease::Off;
        settings.recovery_count = RecoveryCount::Ns3;
    });
    assert_eq!(ns3, [4000.0, 4000.0, 4000.0, 4000.0, 4080.0, 4160.0, 4240.0, 4320.0]);
}

#[test]
fn by_the_timer_alone_the_second_increase_is_hyper() {
    let mut law = law(|settings| {
        settings.initial_rates = vec![Rate::from_gbps(4)];
        settings.hyper_increase = HyperIncrease::Timer;
        settings.recovery_events = 1;
    });
    law.on_notification(us(0));
    let mut target = |n: u64| {
        law.advance(us(55 * n));
        (law.target().gbps() * 1e3).round()
    };
    assert_eq!([1u64, 2, 3, 4].map(&mut target), [4000.0, 4040.0, 4240.0, 4440.0]);
}

#[test]
fn switches_of_the_cut() {
    let mut updated = law(|s| (s.cut_by, s.initial_alpha, s.gain) = (CutBy::Updated, 0.5, 0.5));
    updated.on_notification(us(0));
    assert_gbps(updated.rate(), 40.0 * (1.0 - 0.75 / 2.0));
    let mut old = law(|s| (s.initial_alpha, s.gain) = (0.5, 0.5));
    old.on_notification(us(0));
    assert_gbps(old.rate(), 30.0);
    let mut kept = law(|s| s.clamp_target = false);
    (0..2).for_each(|n| kept.on_notification(us(n)));
    assert_gbps(kept.target(), 40.0);
    kept.advance(us(60));
    kept.on_notification(us(60));
    assert!(kept.target() < Rate::from_gbps(40));
}

#[test]
fn qcn_lets_the_byte_meter_run_on() {
    let after = |reset| {
        let mut law = law(|s| s.reset_byte_meter = reset);
        law.on_notification(us(0));
        law.on_sent(us(1), Bytes(9_000_000));
        law.on_notification(us(2));
        law.on_sent(us(3), Bytes(1_000_000));
        law.rate().gbps()
    };
    assert!((after(true) - 10.0).abs() < 1e-6 && (after(false) - 15.0).abs() < 1e-6);
}

#[test]
fn a_far_target_may_collapse() {
    let mut law = law(|s| (s.collapse_target, s.clamp_target) = (true, false));
    (0..5).for_each(|n| law.on_notification(us(n)));
    assert_gbps(law.rate(), 1.25);
    law.advance(us(4 + 55));
    assert_gbps(law.target(), 5.0);
}

#[test]
fn a_start_below_line_rate_recovers_without_notification() {
    let mut law = law(|s| s.initial_rates = vec![Rate::from_gbps(10)]);
    law.advance(us(55 * 6));
    assert_gbps(law.target(), 10.04);
}

/// Cuts come at ticks of 50 us and estimates at ticks of 1 us, whenever the notifications came.
#[test]
fn free_running_timers_react_at_their_ticks() {
    let mut law = law(|s| {
        (s.timing, s.alpha_timer, s.first_cut) = (ReactionTiming::FreeRunning, Span::from_us(1), 0.5);
    });
    law.on_notification(us(10));
    assert_gbps(law.rate(), 20.0);
    assert_eq!(law.alpha(), 1.0);
    law.advance(us(30));
    let alpha = (255.0f64 / 256.0).powi(20);
    assert!((law.alpha() - alpha).abs() < 1e-12);
    (0..3).for_each(|_| law.on_notification(us(30)));
    law.advance(us(59));
    assert_gbps(law.rate(), 20.0);
    law.advance(us(60));
    let raised = alpha + (1.0 - alpha) / 256.0;
    let at_tick = raised * (255.0f64 / 256.0).powi(29);
    assert!((law.alpha() - at_tick).abs() < 1e-12);
    assert_gbps(law.rate(), 20.0 * (1.0 - at_tick / 2.0));
}

/// The first notification is answered twice: at once, and by a cut at the first tick, which starts the increases.
#[test]
fn a_lone_first_notification_cuts_at_the_first_tick() {
    let mut law = law(|s| {
        (s.timing, s.alpha_timer) = (ReactionTiming::FreeRunning, Span::from_us(1));
        (s.decrease_interval, s.increase_timer) = (Span::from_us(4), Span::from_us(300));
    });
    law.on_notification(us(100));
    law.advance(us(103));
    assert_gbps(law.rate(), 40.0);
    law.advance(us(104));
    let cut = 40.0 * (1.0 - (255.0f64 / 256.0).powi(4) / 2.0);
    assert_gbps(law.rate(), cut);
    law.advance(us(403));
    assert_gbps(law.rate(), cut);
    law.advance(us(404));
    assert_gbps(law.rate(), f64::midpoint(cut, 40.0));
}

/// Only a target more than ten times the rate is far: eight times is not, sixteen times is.
#[test]
fn a_near_target_does_not_collapse() {
    for (cuts, target) in [(3, 40.0), (4, 5.0)] {
        let mut law = law(|s| (s.collapse_target, s.clamp_target) = (true, false));
        (0..cuts).for_each(|n| law.on_notification(us(n)));
        law.advance(us(cuts - 1 + 55));
        assert_gbps(law.target(), target);
    }
}
