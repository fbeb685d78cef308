//! Lossless means lossless: with the headroom of the formula nothing is dropped, whatever the fabric, the sharing of
//! memory, the balancer and the load; notifications are not held by pauses of the payload; and queue pairs end
//! whatever happens to them.

mod lab;

use std::sync::Arc;

use lab::laws::same;
use weft_core::record::{RunRecord, Stop};
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, FlowId, HostId, Purpose, Random, Rate, Span, Time};
use weft_plan::{Division, Setup, Storm};
use weft_sim::Simulation;
use weft_switch::balance::{
    conga::CongaSettings, drill::DrillSettings, ecmp::EcmpSettings, letflow::LetFlowSettings,
    presto::PrestoSettings, random::RandomSettings, round_robin::RoundRobinSettings,
};
use weft_switch::mark::{MarkerSettings, NonEct, red::RedSettings, step::StepSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings, mmu::MmuSettings};
use weft_switch::{BalancerSettings, PfcSettings, SwitchSettings};
use weft_topology::shapes::{leaf_spine::LeafSpineSettings, single_switch::SingleSwitchSettings};
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::protocols::{dcqcn::RoceDcqcnSettings, roce::RoceFixedSettings};
use weft_transport::roce::settings::RoceRecovery;
use weft_transport::{Transport, TransportSettings};

/// Worlds of [`lulls_change_nothing`].
const LULLS: std::ops::Range<u64> = 0..100;

fn any<T: Clone>(dice: &mut Random, of: &[T]) -> T {
    of[dice.below(of.len() as u32) as usize].clone()
}

fn link(dice: &mut Random) -> LinkSettings {
    let rate = any(dice, &[10, 25, 40, 100]);
    LinkSettings {
        delay: Span::from_ns(u64::from(dice.below(3_000))),
        ..LinkSettings::of(Rate::from_gbps(rate))
    }
}

/// Memory that pauses before it drops: static or dynamic XOFF beside a sharing rule, or the memory management of chips.
fn memory(dice: &mut Random) -> SwitchSettings {
    let managed = dice.chance(0.5);
    let fixed = dice.chance(0.5).then(|| Bytes(any(dice, &[5_000, 30_000, 100_000])));
    let alpha = any(dice, &[0.0625, 0.5, 2.0]);
    let xon_offset = Bytes(any(dice, &[0, 3_076]));
    let sharing = match managed {
        true => SharingSettings::Mmu(MmuSettings::default()),
        false => SharingSettings::Infinite(Default::default()),
    };
    SwitchSettings {
        sharing,
        buffer: (managed || fixed.is_none()).then_some(Bytes(30_000_000)),
        pfc: PfcSettings { classes: vec![0], xoff: fixed, alpha, xon_offset, ..PfcSettings::default() },
        ..SwitchSettings::default()
    }
}

/// A fabric in which up and down paths never wait for each other in a cycle.
fn fabric(seed: u64) -> Setup {
    let mut dice = Random::new(seed, Purpose::Test, 1);
    let topology = LeafSpineSettings {
        leaves: 2 + dice.below(3),
        spines: 1 + dice.below(3),
        hosts_per_leaf: 2 + dice.below(5),
        host_link: link(&mut dice),
        fabric_link: link(&mut dice),
        ..Default::default()
    };
    let mut settings = RoceFixedSettings::default();
    settings.pairs.class = 0;
    settings.pairs.mtu = Bytes(any(&mut dice, &[1_068, 4_140]));
    settings.pairs.recovery = any(&mut dice, &[RoceRecovery::GoBackN, RoceRecovery::Selective]);
    let transport = match dice.below(3) {
        0 => TransportSettings::Udp(Default::default()),
        1 => TransportSettings::Roce(settings),
        _ => TransportSettings::default(),
    };
    let mut setup = lab::setup(&TopologySettings::LeafSpine(topology), &transport);
    setup.seed = seed;
    setup.switch = memory(&mut dice);
    setup.balancer = any(
        &mut dice,
        &[
            BalancerSettings::Ecmp(EcmpSettings::default()),
            BalancerSettings::PerPacketRandom(RandomSettings {}),
            BalancerSettings::Drill(DrillSettings { exclude_paused: dice_says(seed), ..Default::default() }),
        ],
    );
    setup
}

fn dice_says(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// All hosts send to a few, as fast as the cards can: a repeated incast.
fn incast(setup: &Setup, seed: u64, flows: u32, size: u64) -> Setup {
    let mut dice = Random::new(seed, Purpose::Test, 2);
    let hosts = setup.graph.hosts();
    let mut list: Vec<_> = (0..flows)
        .map(|_| {
            let to = dice.below(2);
            let from = (to + 1 + dice.below(hosts - 1)) % hosts;
            lab::flow(Span::from_ns(u64::from(dice.below(100_000))), from, to, size)
        })
        .collect();
    list.sort_by_key(|flow| flow.start);
    Setup { flows: list.into(), ..setup.clone() }
}

fn delivered(record: &RunRecord) -> u64 {
    record.flows.iter().map(|flow| flow.delivered.0).sum()
}

/// Four queues with strict priority, some of them lossless, and notifications in another class than payload.
fn several_classes(dice: &mut Random, setup: &mut Setup) {
    setup.switch.queues = 4;
    setup.switch.schedule = SchedulerSettings::Strict(Default::default());
    setup.switch.pfc.classes = any(dice, &[vec![3], vec![1, 3], vec![0, 1, 2, 3]]);
    if !matches!(setup.switch.sharing, SharingSettings::Mmu(_)) {
        setup.switch.buffer = Some(Bytes(any(dice, &[1_000_000, 3_000_000])));
        setup.switch.sharing = any(
            dice,
            &[
                SharingSettings::Infinite(Default::default()),
                SharingSettings::Dynamic(Default::default()),
                SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(20_000) }),
            ],
        );
    }
    let mut settings = RoceDcqcnSettings::default();
    settings.pairs.class = any(dice, &[1, 2, 3]);
    settings.pairs.ack_class = any(dice, &[0, 1, 3]);
    if dice.chance(0.8) {
        setup.transport = Arc::new(Transport::new(&TransportSettings::Dcqcn(settings)));
    }
}

/// Departures foreseen in lulls, and revoked, are those of switches with an event for each, which switches have that are followed:
/// the records are the same to the last wait, and so is the number of events. Also with several threads, where links between
/// domains are never foreseen.
#[test]
fn lulls_change_nothing() {
    let (mut pauses, mut drops) = (0, 0);
    for seed in LULLS {
        let mut dice = Random::new(seed, Purpose::Test, 3);
        let mut setup = fabric(seed);
        setup.switch.ecn = any(
            &mut dice,
            &[
                MarkerSettings::default(),
                MarkerSettings::Red(RedSettings {
                    min: Amount::Bytes(Bytes(3_000)),
                    max: Amount::Bytes(Bytes(30_000)),
                    max_probability: Share(0.2),
                    average: dice_says(seed / 2).into(),
                    ..Default::default()
                }),
            ],
        );
        setup.queues_every = dice.chance(0.5).then(|| Span::from_us(u64::from(1 + dice.below(20))));
        setup.series_bins = any(&mut dice, &[None, Some(16)]);
        setup.flow_waits = dice.chance(0.5);
        if dice.chance(0.6) {
            several_classes(&mut dice, &mut setup);
        }
        if dice.chance(0.3) {
            setup.until = Time::ZERO + Span::from_ns(u64::from(20_000 + dice.below(100_000)));
        }
        let flows = 5 + dice.below(40);
        let setup = incast(&setup, seed, flows, any(&mut dice, &[2_000, 20_000, 60_000]));
        let foreseen = lab::run(setup.clone());
        let (followed, _) = Simulation::new(setup.clone()).run_traced(FlowId(0));
        let what = |why| panic!("seed {seed}: {why}\n{:?}", setup.switch);
        same(&foreseen, &followed).unwrap_or_else(what);
        let division = Division { scatter: dice.chance(0.5).then_some(seed), ..Division::threads(3) };
        same(&foreseen, &lab::run(Setup { division, ..setup.clone() })).unwrap_or_else(what);
        pauses += foreseen.pauses.iter().map(|pause| pause.asked).sum::<u64>();
        drops += foreseen.packets.dropped;
    }
    assert!(pauses > 1_000 && drops > 100, "{pauses} pauses, {drops} drops");
}

#[test]
fn nothing_is_dropped_in_any_fabric() {
    let mut pauses = 0;
    for seed in 0..60 {
        let setup = incast(&fabric(seed), seed, 40, 60_000);
        let record = lab::run(setup.clone());
        let what = || format!("seed {seed}: {:?} {:?}\n{:?}", record.stop, record.drops, setup.switch);
        assert_eq!((record.stop, record.packets.dropped), (Stop::Finished, 0), "{}", what());
        // Datagrams that come out of order may come after the last of their flow.
        let late = record.flows.iter().any(|flow| flow.out_of_order > 0);
        assert!(late || delivered(&record) == 40 * 60_000, "{}", what());
        pauses += record.pauses.iter().map(|pause| pause.asked).sum::<u64>();
    }
    assert!(pauses > 1_000, "senders were stopped: {pauses}");
}

/// The same with 10^9 bytes of payload and more.
#[test]
fn a_billion_bytes_without_a_drop() {
    let mut sum = 0;
    for seed in 0.. {
        let setup = incast(&fabric(seed), seed, 150, 1_000_000);
        let record = lab::run(setup);
        assert_eq!(
            (record.stop, record.packets.dropped),
            (Stop::Finished, 0),
            "seed {seed}: {:?}",
            record.drops
        );
        sum += delivered(&record);
        if sum >= 1_000_000_000 {
            return;
        }
    }
}

/// Host 2 gets marked packets of host 1 while its own payload is paused permanently: its notifications leave, in
/// class 0.
#[test]
fn notifications_are_not_held_by_pauses_of_the_payload() {
    for ack_class in [0, 3] {
        let mut settings = RoceDcqcnSettings::default();
        settings.pairs.ack_class = ack_class;
        let host_link = LinkSettings::of(Rate::from_gbps(10));
        let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: 4, host_link });
        let mut setup = lab::setup(&topology, &TransportSettings::Dcqcn(settings));
        let span = Span::from_ms(3);
        setup.until = Time::ZERO + span;
        setup.switch = SwitchSettings {
            queues: 4,
            schedule: SchedulerSettings::Strict(Default::default()),
            sharing: SharingSettings::Infinite(Default::default()),
            pfc: PfcSettings { classes: vec![3], xoff: Some(Bytes(20_000)), ..PfcSettings::default() },
            ecn: MarkerSettings::Step(StepSettings {
                threshold: Amount::Bytes(Bytes(0)),
                non_ect: NonEct::Pass,
                ..Default::default()
            }),
            ..SwitchSettings::default()
        };
        setup.storms = vec![Storm { host: HostId(3), from: Time::ZERO, until: setup.until }];
        setup.flows = vec![lab::flow(Span::ZERO, 1, 2, 1 << 40), lab::flow(Span::ZERO, 2, 3, 1 << 40)].into();
        let record = lab::run(setup);
        let [marked, held] = [0, 1].map(|flow| &record.flows[flow]);
        assert!(held.delivered < Bytes(100_000), "host 2 is stopped: {held:?}");
        // One notification in 50 us for as long as packets come.
        assert!(marked.cnps > 20, "class {ack_class}: {marked:?}");
    }
}

/// Queue pairs end: over cables that lose packets, fail and come back, behind every balancer, with either recovery.
#[test]
fn queue_pairs_survive_loss_reordering_and_failures() {
    let balancers = [
        BalancerSettings::Ecmp(Default::default()),
        BalancerSettings::PerPacketRandom(RandomSettings {}),
        BalancerSettings::RoundRobin(RoundRobinSettings::default()),
        BalancerSettings::Drill(DrillSettings::default()),
        BalancerSettings::LetFlow(LetFlowSettings::default()),
        BalancerSettings::Conga(CongaSettings::default()),
        BalancerSettings::Presto(PrestoSettings::default()),
    ];
    let mut sent_again = 0;
    for (number, balancer) in balancers.iter().enumerate() {
        for recovery in [RoceRecovery::GoBackN, RoceRecovery::Selective] {
            let seed = number as u64;
            let fabric_link = LinkSettings { loss: Share(0.01), ..LinkSettings::of(Rate::from_gbps(10)) };
            let topology = LeafSpineSettings {
                leaves: 3,
                spines: 3,
                hosts_per_leaf: 2,
                host_link: LinkSettings::of(Rate::from_gbps(10)),
                fabric_link,
                ..Default::default()
            };
            let mut settings = RoceFixedSettings::default();
            settings.pairs.recovery = recovery;
            let topology = TopologySettings::LeafSpine(topology);
            let mut setup = lab::setup(&topology, &TransportSettings::Roce(settings));
            (setup.seed, setup.balancer) = (seed, balancer.clone());
            let cable = setup.graph.fabric_cables()[0];
            let change = |us, what| (Time::ZERO + Span::from_us(us), what);
            let mut timeline = (*setup.timeline).clone();
            timeline.changes.push(change(50, weft_topology::Change::CableDown(cable)));
            timeline.changes.push(change(800, weft_topology::Change::CableUp(cable)));
            setup.timeline = std::sync::Arc::new(timeline);
            let flows = lab::random_flows(&setup, 40, Span::from_us(300), 100_000);
            let size: u64 = flows.iter().map(|flow| flow.size.0).sum();
            let record =
                lab::run(Setup { flows: flows.into(), until: Time::ZERO + Span::from_s(20), ..setup });
            assert_eq!(
                (record.stop, delivered(&record)),
                (Stop::Finished, size),
                "{balancer:?} {recovery:?}"
            );
            sent_again += record.flows.iter().map(|flow| flow.retransmitted.0).sum::<u64>();
        }
    }
    assert!(sent_again > 1_000_000, "{sent_again} B sent again");
}
