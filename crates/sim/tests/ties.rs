//! Packets that arrive at the same instant are served in a fair and repeatable order.

mod lab;

use weft_core::{Bytes, Rate, Span};
use weft_switch::share::{SharingSettings, fixed};
use weft_topology::shapes::single_switch;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

/// Two constant senders at line rate into one port, exactly in step: each must lose about half. A fixed order at equal
/// instants would starve one of them.
#[test]
fn two_senders_in_step_share_the_losses() {
    let topology = single_switch::Settings { hosts: 3, host_link: LinkSettings::of(Rate::from_gbps(10)) };
    let mut setup = lab::setup(
        &TopologySettings::SingleSwitch(topology),
        &TransportSettings::NewReno(Default::default()),
    );
    setup.switch.sharing = SharingSettings::Fixed(fixed::Settings { per_port: Bytes(30_000) });
    setup.until = weft_core::Time::ZERO + Span::from_ms(20);
    let rate = Rate::from_gbps(9);
    setup.flows = vec![
        lab::constant(Span::ZERO, 0, 2, 15_000_000, rate),
        lab::constant(Span::ZERO, 1, 2, 15_000_000, rate),
    ];
    let record = lab::run(setup);
    let delivered: Vec<f64> = record.flows.iter().map(|flow| flow.delivered.0 as f64).collect();
    let dropped = record.packets.dropped;
    assert!(dropped > 5_000, "{dropped}");
    let share = delivered[0] / (delivered[0] + delivered[1]);
    assert!((share - 0.5).abs() < 0.02, "{delivered:?}");
}
