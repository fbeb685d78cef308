//! Queue pairs in a network: shares, queues, notifications per card, the same for any number of threads.

mod lab;

use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::{FlowSampling, Setup};
use weft_switch::mark::{At, MarkerSettings, NonEct, red::RedSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::SharingSettings;
use weft_switch::{BalancerSettings, SwitchSettings};
use weft_topology::shapes::{diamond::DiamondSettings, single_switch::SingleSwitchSettings};
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::{dcqcn::RoceDcqcnSettings, patched_timely::RocePatchedTimelySettings};
use weft_transport::rate::dcqcn::HyperIncrease;
use weft_transport::rate::notification::NotificationScope;
use weft_transport::roce::settings::RoceRecovery;

/// Senders 1, 2, … on one switch, all to host 0, for `span`.
fn incast(senders: u32, rate: Rate, transport: &TransportSettings, span: Span) -> Setup {
    let host_link = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(rate) };
    let topology = SingleSwitchSettings { hosts: senders + 1, host_link };
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), transport);
    setup.switch = SwitchSettings {
        latency: Span::ZERO,
        queues: 2,
        schedule: SchedulerSettings::Strict(Default::default()),
        sharing: SharingSettings::Infinite(Default::default()),
        ecn: MarkerSettings::Red(RedSettings {
            min: Amount::Bytes(Bytes(5_000)),
            max: Amount::Bytes(Bytes(200_000)),
            max_probability: Share(0.01),
            at: At::Dequeue,
            non_ect: NonEct::Pass,
            ..Default::default()
        }),
        ..SwitchSettings::default()
    };
    setup.flows =
        (1..=senders).map(|host| lab::flow(Span::ZERO, host, 0, 1 << 40)).collect::<Vec<_>>().into();
    setup.until = Time::ZERO + span;
    setup.queues_every = Some(Span::from_us(10));
    setup.flow_samples = Some(FlowSampling { every: span / 2, flows: senders });
    setup
}

fn dcqcn(change: impl FnOnce(&mut RoceDcqcnSettings)) -> TransportSettings {
    let mut settings = RoceDcqcnSettings::default();
    settings.pairs.mtu = Bytes(962);
    settings.pairs.ack_every = 16;
    settings.law.hyper_increase = HyperIncrease::Off;
    change(&mut settings);
    TransportSettings::Dcqcn(settings)
}

/// Payload of each flow in the second half of the run, in parts of an equal share.
fn shares(record: &RunRecord) -> Vec<f64> {
    let series = record.flow_series.as_ref().expect("sampled");
    let half: Vec<u64> = series.rows.iter().map(|row| row.acknowledged.0).take(record.flows.len()).collect();
    let gained: Vec<u64> =
        record.flows.iter().zip(half).map(|(flow, half)| flow.delivered.0 - half).collect();
    let fair = gained.iter().sum::<u64>() as f64 / gained.len() as f64;
    gained.iter().map(|gained| *gained as f64 / fair).collect()
}

/// Mean queue in the second half, kilobytes.
fn queue(record: &RunRecord) -> f64 {
    let series = record.queues.as_ref().expect("sampled");
    let full = series.samples / series.samples_per_bin;
    let ports = series.links.len();
    let rows = (full / 2) as usize * ports..full as usize * ports;
    let samples = (full - full / 2) * series.samples_per_bin;
    series.sum[rows].iter().sum::<u64>() as f64 / samples as f64 / 1e3
}

/// Samples cover whole intervals from the start of the run; the series holds the time of its first one.
#[test]
fn queues_are_sampled_from_the_end_of_the_warm_up_on() {
    let mut setup = incast(2, Rate::from_gbps(40), &dcqcn(|_| ()), Span::from_us(200));
    setup.warm_up = Time::ZERO + Span::from_us(25);
    let series = lab::run(setup).queues.expect("sampled");
    assert_eq!(series.begins, Time::ZERO + Span::from_us(30));
    assert!((17..=18).contains(&series.samples), "{}", series.samples);
}

/// Two flows need about 0.1 s to forget a difference (theorem 2 of CoNEXT 2016), so a share within 2 % wants more than a
/// second. Packets of 4 kB with as many marks per byte make that a quarter of the work; payload is counted, and equal.
#[test]
fn two_senders_under_dcqcn_are_fair() {
    let transport = dcqcn(|settings| settings.pairs.mtu = Bytes(3_962));
    let mut setup = incast(2, Rate::from_gbps(40), &transport, Span::from_ms(3_000));
    let MarkerSettings::Red(red) = &mut setup.switch.ecn else { unreachable!("the marker is a ramp") };
    red.max_probability = Share(0.04);
    setup.queues_every = None;
    let shares = shares(&lab::run(setup));
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.02), "{shares:?}");
}

/// A queue of the order of the fluid model's (20 kB), which has no individual packets, and notifications that arrive.
#[test]
fn two_senders_under_dcqcn_hold_a_short_queue() {
    let record = lab::run(incast(2, Rate::from_gbps(40), &dcqcn(|_| {}), Span::from_ms(80)));
    let queue = queue(&record);
    assert!((8.0..25.0).contains(&queue), "{queue} kB");
    assert_eq!(record.packets.dropped, 0);
    let sent: u32 = record.flows.iter().map(|flow| flow.cnps_sent).sum();
    let heard: u32 = record.flows.iter().map(|flow| flow.cnps).sum();
    assert!(sent - heard <= 2 && heard > 100, "{sent} sent, {heard} heard");
}

/// Averaging changes what is recorded, not what is sampled: a value is the sum of its samples, and its peak the
/// greatest of them.
#[test]
fn queues_averaged_over_samples_are_the_means_of_single_ones() {
    let series = |averaged| {
        let mut setup = incast(3, Rate::from_gbps(40), &dcqcn(|_| {}), Span::from_us(1_205));
        setup.queues_averaged = averaged;
        lab::run(setup).queues.expect("sampled")
    };
    let (single, fours) = (series(1), series(4));
    assert_eq!((single.samples, fours.samples), (120, 120));
    let ports = single.links.len();
    assert_eq!((single.sum.len(), fours.sum.len()), (120 * ports, 30 * ports));
    for (row, sums) in fours.sum.chunks(ports).enumerate() {
        let of = |port: usize, all: &[u64]| (0..4).map(|at| all[(4 * row + at) * ports + port]).sum::<u64>();
        let wanted: Vec<u64> = (0..ports).map(|port| of(port, &single.sum)).collect();
        assert_eq!(sums, wanted, "value {row}");
    }
    assert!(fours.sum.iter().any(|sum| *sum > 0), "no queue, no test");
}

/// Patched TIMELY: equal rates from an unequal start, and the queue of its fixed point,
/// `low C (1 + N step / (beta C))`, when the base round trip is subtracted.
#[test]
fn patched_timely_finds_its_fixed_point() {
    let mut settings = RocePatchedTimelySettings::default();
    settings.pairs.mtu = Bytes(962);
    settings.law.measured.segments.base_rtt = Span::from_ns(4_069);
    settings.law.measured.initial_rates = vec![Rate::from_gbps(7), Rate::from_gbps(3)];
    let transport = TransportSettings::PatchedTimely(settings);
    let record = lab::run(incast(2, Rate::from_gbps(10), &transport, Span::from_ms(200)));
    let (shares, queue) = (shares(&record), queue(&record));
    assert!(shares.iter().all(|share| (share - 1.0).abs() < 0.02), "{shares:?}");
    assert!((queue / 78.1 - 1.0).abs() < 0.02, "{queue} kB");
}

/// Where the interval applies to the card, the notifications of all its flows together are that far apart.
#[test]
fn a_card_may_limit_the_notifications_of_all_its_flows() {
    let span = Span::from_ms(5);
    let count = |scope| {
        let transport = dcqcn(|settings| settings.notification.np_scope = scope);
        let record = lab::run(incast(6, Rate::from_gbps(40), &transport, span));
        let sum = |of: fn(&FlowRecord) -> u32| record.flows.iter().map(of).sum::<u32>();
        (sum(|flow| flow.cnps_sent), sum(|flow| flow.cnps))
    };
    let ((asked, heard), (sent, passed)) = (count(NotificationScope::Flow), count(NotificationScope::Port));
    assert!(asked - heard <= 6 && heard > 30, "each flow keeps its own interval: {asked} {heard}");
    assert!(passed <= 101 && passed > 90, "the card keeps it: {passed}");
    assert!(sent - passed <= 6, "only what left is counted: {sent} {passed}");
}

/// A flow that finds others at its host starts with an equal share of the card (TIMELY), at line rate under DCQCN.
#[test]
fn the_start_depends_on_the_flows_of_the_host() {
    let timely = TransportSettings::Timely(Default::default());
    let rates = |transport: &TransportSettings| {
        let mut setup = incast(1, Rate::from_gbps(10), transport, Span::from_us(1));
        setup.flows = vec![lab::flow(Span::ZERO, 1, 0, 1 << 30); 4].into();
        setup.flow_samples = Some(FlowSampling { every: Span::from_us(1), flows: 4 });
        setup.until = Time::ZERO + Span::from_us(2);
        let record = lab::run(setup);
        let rows = record.flow_series.expect("sampled").rows;
        rows.iter().take(4).map(|row| row.rate.expect("a rate").0 / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(rates(&timely), [10_000, 5_000, 3_333, 2_500]);
    assert_eq!(rates(&dcqcn(|_| {})), [10_000; 4]);
}

/// Queue pairs of one card that are paced below line rate take turns, whatever their number.
#[test]
fn queue_pairs_of_a_card_share_it_by_turns() {
    let transport = TransportSettings::Roce(Default::default());
    let mut setup = incast(1, Rate::from_gbps(10), &transport, Span::from_ms(2));
    setup.flows = vec![lab::flow(Span::ZERO, 1, 0, 1 << 30); 50].into();
    setup.flow_samples = None;
    let record = lab::run(setup);
    let delivered: Vec<u64> = record.flows.iter().map(|flow| flow.delivered.0).collect();
    let (least, most) = (delivered.iter().min().unwrap(), delivered.iter().max().unwrap());
    assert!(most - least <= 2 * 1_456 && *least > 0, "{least} to {most}");
}

/// A retry timer that runs out while the next packet waits for its turn at a slow rate is late, not lost. It is due when an
/// answer says that this packet has arrived and the sender has nothing else to send: here packets overtake each other on a
/// short and a long path, some are lost, and a burst is paced for longer than the timer lasts.
#[test]
fn a_timer_that_ran_out_while_the_sender_was_paced_still_fires() {
    let rate = Rate::from_gbps(10);
    let link = |delay, loss| LinkSettings { delay: Span::from_us(delay), loss: Share(loss), rate };
    let topology =
        DiamondSettings { path_a: link(1, 0.1), path_b: link(100, 0.1), ..DiamondSettings::default() };
    let mut settings = RocePatchedTimelySettings::default();
    settings.law.measured.initial_rates = vec![Rate::from_mbps(100)];
    settings.pairs.recovery = RoceRecovery::Selective;
    settings.pairs.retry_timeout = Span::from_us(500);
    let transport = TransportSettings::PatchedTimely(settings);
    let mut setup = lab::setup(&TopologySettings::Diamond(topology), &transport);
    setup.balancer = BalancerSettings::PerPacketRandom(Default::default());
    let flow = |n: u64| lab::flow(Span::from_ms(5 * n), 0, 1, 19_000);
    setup.flows = (0..200).map(flow).collect::<Vec<_>>().into();
    setup.until = Time::ZERO + Span::from_s(10);
    let record = lab::run(setup);
    let open: Vec<_> = record.flows.iter().filter(|flow| flow.end.is_none()).collect();
    assert!(record.stop == Stop::Finished && open.is_empty(), "{:?}: {open:?}", record.stop);
    assert!(record.flows.iter().map(|flow| flow.timeouts).sum::<u32>() > 20, "timers matter here");
}
