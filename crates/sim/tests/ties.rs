//! Packets that arrive at the same instant are served in a fair and repeatable order.

mod lab;

use weft_core::{Bytes, Purpose, Random, Rate, Span, Time};
use weft_switch::share::{SharingSettings, dynamic::DynamicSharingSettings, fixed::FixedSharingSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

/// Two constant senders at line rate into one port, exactly in step: each must lose about half. A fixed order at equal
/// instants would starve one of them.
#[test]
fn two_senders_in_step_share_the_losses() {
    let topology = SingleSwitchSettings { hosts: 3, host_link: LinkSettings::of(Rate::from_gbps(10)) };
    let mut setup = lab::setup(
        &TopologySettings::SingleSwitch(topology),
        &TransportSettings::NewReno(Default::default()),
    );
    setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(30_000) });
    setup.until = weft_core::Time::ZERO + Span::from_ms(20);
    let rate = Rate::from_gbps(9);
    setup.flows = vec![
        lab::constant(Span::ZERO, 0, 2, 15_000_000, rate),
        lab::constant(Span::ZERO, 1, 2, 15_000_000, rate),
    ]
    .into();
    let record = lab::run(setup);
    let delivered: Vec<f64> = record.flows.iter().map(|flow| flow.delivered.0 as f64).collect();
    let dropped = record.packets.dropped;
    assert!(dropped > 5_000, "{dropped}");
    let share = delivered[0] / (delivered[0] + delivered[1]);
    assert!((share - 0.5).abs() < 0.02, "{delivered:?}");
}

/// For any rates, delays, buffers and number of senders, none starves because of its number. Five standard
/// deviations of independent losses; those at one instant depend on each other and vary less.
#[test]
fn senders_in_step_share_the_losses_in_any_switch() {
    const PACKETS: u64 = 2_000;
    for seed in 1..=60 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let senders = 2 + random.below(4);
        let line = Rate([1_000_000_000, 10_000_000_000, 3_333_333_333][random.below(3) as usize]);
        let delay = Span(u64::from(random.below(3)) * 1_000_003);
        let link = LinkSettings { delay, ..LinkSettings::of(line) };
        let topology = SingleSwitchSettings { hosts: senders + 1, host_link: link };
        let transport = TransportSettings::Udp(Default::default());
        let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
        let room = Bytes(1_538 * u64::from(3 + random.below(30)));
        setup.seed = seed;
        setup.switch.engines = 1 + random.below(4);
        setup.switch.queues = 1 + random.below(2);
        setup.switch.buffer = Some(room * 2);
        setup.switch.sharing = match random.below(2) {
            0 => SharingSettings::Fixed(FixedSharingSettings { per_port: room }),
            _ => SharingSettings::Dynamic(DynamicSharingSettings { alpha: 1.0, minimum: Bytes(0) }),
        };
        setup.until = Time::ZERO + Span::from_s(1);
        let excess = 1.1 + random.unit() * (0.9 * f64::from(senders) - 1.1);
        let rate = Rate((line.0 as f64 * excess / f64::from(senders)) as u64);
        let size = PACKETS * 1_472;
        setup.flows = (1..=senders).map(|n| lab::constant(Span::ZERO, n, 0, size, rate)).collect();
        let record = lab::run(setup);
        let delivered: Vec<f64> =
            record.flows.iter().map(|flow| flow.delivered.0 as f64 / size as f64).collect();
        let mean = delivered.iter().sum::<f64>() / f64::from(senders);
        assert!(mean < 0.98, "seed {seed}: nothing is lost");
        let noise = 5.0 * (mean * (1.0 - mean) / PACKETS as f64).sqrt();
        let fair = delivered.iter().all(|share| (share - mean).abs() < noise);
        assert!(fair, "seed {seed}, {senders} senders: {delivered:?} within {noise}");
    }
}
