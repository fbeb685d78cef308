//! Shares of long flows: equal where all meet at one place, max-min where one is held back elsewhere, less than max-min
//! over several bottlenecks.

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::Setup;
use weft_theory_tests::lab::{self, PACKET, SharedPath};
use weft_topology::shapes::parking_lot::ParkingLotSettings;
use weft_topology::{LinkSettings, TopologySettings, Wiring};
use weft_transport::TransportSettings;
use weft_transport::congestion::dctcp::Cut;

/// Payload per second of each flow from `from` to the end of the run.
fn rates(setup: &Setup, from: Span) -> Vec<f64> {
    let delivered = |record: &RunRecord| -> Vec<f64> {
        record.flows.iter().map(|flow| flow.delivered.0 as f64 * 8.0).collect()
    };
    let until = setup.until;
    let early = delivered(&lab::run(Setup { until: Time::ZERO + from, ..setup.clone() }));
    let late = delivered(&lab::run(setup.clone()));
    let span = until.since(Time::ZERO + from).seconds();
    late.iter().zip(early).map(|(late, early)| (late - early) / span).collect()
}

/// Jain's index: 1 for equal shares, 1 / n if one has everything.
fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(s, q), rate| (s + rate, q + rate * rate));
    sum * sum / (rates.len() as f64 * squares)
}

/// Equal round trips, equal shares (Chiu and Jain 1989). The index is 1 / (1 + v^2) with v the relative deviation of a share:
/// windows between 2/3 and 4/3 of their mean, over 30 epochs that are not quite independent, v is 10 % at most.
#[test]
fn eight_long_flows_of_a_dumbbell_are_fair() {
    let path = SharedPath { senders: 8, rate: Rate::from_gbps(1), round_trip: Span::from_us(1_000) };
    for (name, transport) in
        [("dctcp", lab::dctcp(lab::model_tcp())), ("newreno", lab::newreno(lab::model_tcp()))]
    {
        let mut setup = path.setup(&transport);
        setup.switch.sharing = lab::port_buffer(200 * PACKET);
        if name == "dctcp" {
            setup.switch.ecn = lab::step_marking(20);
        }
        setup.flows = path.endless(Span::from_us(700)).into();
        setup.until = Time::ZERO + Span::from_s(3);
        let rates = rates(&setup, Span::from_ms(500));
        let used = rates.iter().sum::<f64>() / 1e9 * PACKET as f64 / (PACKET - 78) as f64;
        assert!(jain(&rates) > 0.99, "{name}: {} {rates:?}", jain(&rates));
        assert!(used > 0.98 && used < 1.001, "{name}: {used}");
    }
}

/// Two switches; the card of the first sender is ten times slower than the line between them.
fn slow_card(senders: u32, transport: &TransportSettings) -> Setup {
    let mut wiring = Wiring::default();
    let link =
        |gbps: u64| LinkSettings { delay: Span::from_us(15), ..LinkSettings::of(Rate::from_gbps(gbps)) };
    let (left, right) = (wiring.switch("left"), wiring.switch("right"));
    wiring.hosts_on(left, 1, &link(1));
    wiring.hosts_on(left, senders - 1, &link(40));
    wiring.hosts_on(right, senders, &link(40));
    wiring.cable(left, right, &link(10));
    let mut setup = lab::on(wiring.finish().expect("a connected network"), transport);
    setup.flows = (0..senders).map(|n| lab::flow(Span::ZERO, n, senders + n, lab::ENDLESS)).collect();
    setup
}

/// Max-min: who cannot use his share leaves it to the others. The slow flow needs a tenth of the window that the others are
/// cut back to, so marks do not hold it; it must have 95 % of its card, the others nine tenths of the line in equal parts,
/// within 10 % for the noise of half a second.
#[test]
fn who_is_slow_gets_all_it_can_use_and_the_others_share_the_rest() {
    let mut setup = slow_card(4, &lab::dctcp(lab::model_tcp()));
    setup.switch.sharing = lab::port_buffer(1_000 * PACKET);
    setup.switch.ecn = lab::step_marking(65);
    setup.until = Time::ZERO + Span::from_ms(600);
    let rates = rates(&setup, Span::from_ms(100));
    let payload = (PACKET - 78) as f64 / PACKET as f64;
    assert!(rates[0] > 0.95 * 1e9 * payload, "{rates:?}");
    for rate in &rates[1..] {
        assert!(lab::near(*rate, 3e9 * payload, 0.1), "{rates:?}");
    }
    assert!(jain(&rates[1..]) > 0.995, "{rates:?}");
}

/// A flow over three bottlenecks, each of which it shares with a flow of its own; marks above 20 packets.
struct Lot {
    /// Shares of a bottleneck: the long flow, then the short ones.
    shares: Vec<f64>,
}

impl Lot {
    const THRESHOLD: u64 = 20;
    const BOTTLENECK: Rate = Rate::from_gbps(1);
    const CARD: Rate = Rate::from_gbps(10);
    const DELAY: Span = Span::from_us(20);

    fn run(transport: &TransportSettings) -> Lot {
        let link = |rate| LinkSettings { delay: Self::DELAY, ..LinkSettings::of(rate) };
        let shape = ParkingLotSettings {
            switches: 4,
            hosts_per_switch: 2,
            host_link: link(Self::CARD),
            bottleneck: link(Self::BOTTLENECK),
        };
        let mut setup = lab::setup(&TopologySettings::ParkingLot(shape), transport);
        setup.switch.sharing = lab::port_buffer(1_000 * PACKET);
        setup.switch.ecn = lab::step_marking(Self::THRESHOLD);
        let short = |n: u32| lab::flow(Span::from_us(u64::from(n) * 70), 2 * n + 1, 2 * n + 3, lab::ENDLESS);
        setup.flows =
            std::iter::once(lab::flow(Span::ZERO, 0, 6, lab::ENDLESS)).chain((0..3).map(short)).collect();
        setup.until = Time::ZERO + Span::from_s(2);
        let line = 1e9 * (PACKET - 78) as f64 / PACKET as f64;
        let shares: Vec<f64> = rates(&setup, Span::from_ms(200)).iter().map(|rate| rate / line).collect();
        for short in &shares[1..] {
            assert!(lab::near(shares[0] + short, 1.0, 0.02), "every bottleneck is full: {shares:?}");
        }
        Lot { shares }
    }

    /// The round trip over a number of bottlenecks with empty queues, in packets of a bottleneck.
    fn empty(places: f64) -> f64 {
        let both = |rate: Rate| (rate.time_for(Bytes(PACKET)) + rate.time_for(Bytes(lab::ACK))).seconds();
        let wires = 2.0 * (2.0 + places) * Self::DELAY.seconds();
        (wires + places * both(Self::BOTTLENECK) + 2.0 * both(Self::CARD))
            / Self::BOTTLENECK.time_for(Bytes(PACKET)).seconds()
    }
}

/// Over several bottlenecks DCTCP is far from max-min, which would give the long flow a half. A short flow alone at its
/// bottleneck has a share alpha = sqrt(2 / W*) of its packets marked, W* = C RTT + K (SIGCOMM 2010, section 3.3), all in one
/// round trip of many. The long flow meets these round trips at n places, each at its own time: a share n alpha of its packets
/// is marked, spread over its windows, and then W = 2 / (n alpha) = sqrt(2 W*) / n (SIGMETRICS 2011, W = 2 / p). That is less
/// than three packets here, so 30 %: a third of a packet up or down at each end, and the approximation of alpha.
#[test]
fn over_three_bottlenecks_dctcp_gets_what_is_left_when_marks_add_up() {
    let threshold = Lot::THRESHOLD as f64;
    let top = Lot::empty(1.0) + threshold;
    let expected = (2.0 * top).sqrt() / 3.0 / (Lot::empty(3.0) + 3.0 * threshold);
    let share = Lot::run(&lab::dctcp(lab::model_tcp())).shares[0];
    assert!(lab::near(share, expected, 0.3), "{share:.4}, expected {expected:.4}");
}

/// Who lowers the window at the end of every window of data has W = 2 / p instead of 2 / p^2. Marked at three places, the
/// long flow then keeps a third of the window of a short one, where DCTCP leaves it a fraction of that: shares are in
/// proportion (Kelly 1997), still not max-min. With queues at the threshold, share = W / RTT gives r / (1 - r) = RTT(1) / (3
/// RTT(3)). 25 %: queues move about the threshold.
#[test]
fn cut_at_every_window_dctcp_shares_three_bottlenecks_in_proportion() {
    let TransportSettings::Dctcp(mut settings) = lab::dctcp(lab::model_tcp()) else { unreachable!() };
    settings.law.cut = Cut::EveryWindow;
    let share = Lot::run(&TransportSettings::Dctcp(settings)).shares[0];
    let threshold = Lot::THRESHOLD as f64;
    let odds = (Lot::empty(1.0) + threshold) / (Lot::empty(3.0) + 3.0 * threshold) / 3.0;
    let expected = odds / (1.0 + odds);
    assert!(lab::near(share, expected, 0.25), "{share:.4}, expected {expected:.4}");
}
