//! Additive increase, multiplicative decrease over a drop-tail queue: throughput, period and depth of the sawtooth, and
//! how flows share.
//!
//! Closed forms for one flow, pipe P and buffer B in packets, b = B / P: the window swings between (P + B) / 2 and P + B,
//! one packet per round trip; the queue is empty while it is below P. So the line is used for a share of
//! 3/4 (1 + b)^2 / (1 + b + b^2): three quarters without a buffer, all of it from B = P on (Appenzeller et al., SIGCOMM
//! 2004, has the rule).

use weft_core::{PortId, Rate, Span, SwitchId, Time};
use weft_theory_tests::lab::{self, PACKET, SharedPath};
use weft_theory_tests::port::{self, Port};
use weft_topology::shapes::parking_lot::ParkingLotSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

/// P = 60 packets.
const PATH: SharedPath =
    SharedPath { senders: 1, rate: Rate::from_mbps(100), round_trip: Span::from_us(7_200) };

/// What the bottleneck saw of endless flows that started 13 ms apart, from 3 s to 15 s.
fn watch(path: &SharedPath, transport: &TransportSettings, buffer: u64) -> Port {
    let mut setup = path.setup(transport);
    setup.switch.sharing = lab::port_buffer(buffer * PACKET);
    setup.flows = path.endless(Span::from_ms(13)).into();
    setup.until = Time::ZERO + Span::from_s(15);
    port::watch(setup, SwitchId(0), PortId(path.senders as u16), Span::from_s(3)).0
}

/// Within 1 %: only the burst of two packets at each increase needs a little more buffer than the formula knows.
#[test]
fn utilisation_of_one_newreno_flow_by_buffer() {
    for buffer in [4, 6, 15, 30, 45, 60, 120] {
        let b = (buffer as f64 / PATH.pipe()).min(1.0);
        let expected = 0.75 * (1.0 + b).powi(2) / (1.0 + b + b * b);
        let seen = watch(&PATH, &lab::newreno(lab::model_tcp()), buffer).utilisation();
        assert!(lab::near(seen, expected, 0.01), "buffer {buffer}: {seen}, expected {expected}");
    }
}

/// Time for a swing of (P + B) / 2 windows: a window below P takes one empty round trip, one above as long as it has
/// packets. Within 4 %: recovery takes one round trip more.
#[test]
fn period_of_one_newreno_flow_by_buffer() {
    for buffer in [6, 15, 30, 60, 120] {
        let seen = watch(&PATH, &lab::newreno(lab::model_tcp()), buffer);
        let (pipe, top) = (PATH.pipe(), PATH.pipe() + buffer as f64);
        let bottom = top / 2.0;
        let below = (pipe - bottom).max(0.0);
        let above = (top * top - bottom.max(pipe).powi(2)) / 2.0 / pipe;
        let expected = below + above;
        let period = port::mean_period(&seen.losses(PATH.round_trip * 3)) / PATH.round_trip.seconds();
        assert!(lab::near(period, expected, 0.04), "buffer {buffer}: {period:.1}, expected {expected:.1}");
    }
}

/// With B = 2 P the queue never empties, and window = P + queue shows the factor of decrease: 1/2 by RFC 5681, 0.7 by
/// RFC 9438. Within 2 %: one packet of rounding and one of growth.
#[test]
fn the_window_falls_to_half_with_newreno_and_to_seven_tenths_with_cubic() {
    let tcp = lab::model_tcp;
    for (transport, factor) in [(lab::newreno(tcp()), 0.5), (lab::cubic(tcp()), 0.7)] {
        let seen = watch(&PATH, &transport, 120);
        let range = seen.range(&seen.losses(PATH.round_trip * 3), PACKET);
        let fell = (PATH.pipe() + range.low) / (PATH.pipe() + range.high);
        assert!(lab::near(fell, factor, 0.02), "{fell:.3}, expected {factor}");
    }
}

/// Flows of equal round trip end with equal shares (Chiu and Jain 1989). 15 %: some thirty losses per flow, and which
/// flow loses at a full buffer is not drawn but follows the phase of its packets.
#[test]
fn flows_of_equal_round_trip_share_equally() {
    let tcp = lab::model_tcp;
    for (transport, name) in [(lab::newreno(tcp()), "newreno"), (lab::cubic(tcp()), "cubic")] {
        for senders in [2, 4] {
            let shares = watch(&SharedPath { senders, ..PATH }, &transport, 60).shares(senders);
            let equal = 1.0 / f64::from(senders);
            assert!(shares.iter().all(|share| lab::near(*share, equal, 0.15)), "{name}: {shares:?}");
        }
    }
}

/// In a chain of three bottlenecks the flow over all of them gets less than each of those over one (max-min would give
/// halves; proportional fairness a quarter; drop-tail treats it worse, for it meets three queues with one window), but
/// is not starved, and every bottleneck is full.
#[test]
fn the_long_flow_of_a_parking_lot_gets_less_than_the_short_ones() {
    let link = |rate| LinkSettings { delay: Span::from_ms(1), ..LinkSettings::of(rate) };
    let shape = ParkingLotSettings {
        switches: 4,
        hosts_per_switch: 2,
        host_link: link(Rate::from_gbps(1)),
        bottleneck: link(Rate::from_mbps(100)),
    };
    let mut setup = lab::setup(&TopologySettings::ParkingLot(shape), &lab::newreno(lab::model_tcp()));
    setup.switch.sharing = lab::port_buffer(80 * PACKET);
    let short = |n: u32| lab::flow(Span::from_ms(u64::from(n) * 7), 2 * n + 1, 2 * n + 3, lab::ENDLESS);
    setup.flows =
        std::iter::once(lab::flow(Span::ZERO, 0, 6, lab::ENDLESS)).chain((0..3).map(short)).collect();
    setup.until = Time::ZERO + Span::from_s(20);
    let record = lab::run(setup);
    let rates: Vec<f64> =
        record.flows.iter().map(|flow| flow.delivered.0 as f64 * 8.0 / 20.0 / 1e8).collect();
    for short in &rates[1..] {
        assert!(rates[0] < 0.5 && *short > 0.5 && rates[0] > 0.02, "{rates:?}");
        assert!(rates[0] + short > 0.9, "{rates:?}");
    }
}
