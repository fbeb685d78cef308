//! Whatever the network, the balancer, the buffer and the failures: nothing appears, nothing disappears, every flow
//! finishes in order, and the same input gives the same bytes.

mod lab;

use weft_core::record::{RunRecord, Stop};
use weft_core::settings::Amount;
use weft_core::{Bytes, Purpose, Random, Rate, Span};
use weft_sim::Setup;
use weft_switch::BalancerSettings;
use weft_switch::balance::{drill, ecmp, flow_drill, random, round_robin};
use weft_switch::mark::{MarkerSettings, step};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::{SharingSettings, dynamic, fixed};
use weft_topology::shapes::{diamond, fat_tree, full_mesh, leaf_spine, single_switch};
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;

fn topology(random: &mut Random) -> TopologySettings {
    let link = |random: &mut Random| LinkSettings {
        delay: Span::from_ns(u64::from(random.below(3_000))),
        ..LinkSettings::of(Rate::from_gbps([10, 25, 40][random.below(3) as usize]))
    };
    match random.below(5) {
        0 => TopologySettings::LeafSpine(leaf_spine::Settings {
            leaves: 2 + random.below(3),
            spines: 1 + random.below(4),
            hosts_per_leaf: 1 + random.below(4),
            host_link: link(random),
            fabric_link: link(random),
            ..Default::default()
        }),
        1 => TopologySettings::FatTree(fat_tree::Settings { k: 4, ..Default::default() }),
        2 => TopologySettings::Diamond(diamond::Settings::default()),
        3 => TopologySettings::FullMesh(full_mesh::Settings::default()),
        _ => TopologySettings::SingleSwitch(single_switch::Settings::default()),
    }
}

fn balancer(random: &mut Random) -> BalancerSettings {
    match random.below(5) {
        0 => BalancerSettings::Ecmp(ecmp::Settings::default()),
        1 => BalancerSettings::PerPacketRandom(random::Settings::default()),
        2 => BalancerSettings::RoundRobin(round_robin::Settings::default()),
        3 => BalancerSettings::FlowDrill(flow_drill::Settings::default()),
        _ => BalancerSettings::Drill(drill::Settings {
            choices: 1 + random.below(4),
            memory: random.below(4),
            ..Default::default()
        }),
    }
}

/// A random small case: shallow buffers, so that losses happen.
fn case(seed: u64) -> Setup {
    let mut random = Random::new(seed, Purpose::Test, 0);
    let topology = topology(&mut random);
    let law = random.below(4);
    let transport = match law {
        0 => TransportSettings::NewReno(Default::default()),
        1 => TransportSettings::Cubic(Default::default()),
        2 => TransportSettings::Htcp(Default::default()),
        _ => TransportSettings::Dctcp(Default::default()),
    };
    let mut setup = lab::setup(&topology, &transport);
    setup.seed = seed;
    setup.balancer = balancer(&mut random);
    setup.switch.engines = 1 + random.below(4);
    setup.switch.sharing = match random.below(2) {
        0 => SharingSettings::Fixed(fixed::Settings {
            per_port: Bytes(20_000 + u64::from(random.below(100_000))),
        }),
        _ => SharingSettings::Dynamic(dynamic::Settings { alpha: 0.5, ..Default::default() }),
    };
    setup.switch.buffer = Some(Bytes(200_000));
    setup.switch.queues = 1 + random.below(3);
    setup.switch.schedule = match random.below(3) {
        0 => SchedulerSettings::Fifo(Default::default()),
        1 => SchedulerSettings::Strict(Default::default()),
        _ => SchedulerSettings::Drr(Default::default()),
    };
    if law == 3 {
        setup.switch.ecn =
            MarkerSettings::Step(step::Settings { threshold: Amount::Packets(10), ..Default::default() });
    }
    setup.until = weft_core::Time::ZERO + Span::from_s(60);
    setup.queues_every = (random.below(2) == 0).then(|| Span::from_us(7));
    setup.flows = lab::random_flows(&setup, 60, Span::from_us(300), 50_000);
    setup
}

fn check(setup: &Setup, record: &RunRecord) {
    let packets = record.packets;
    assert_eq!(packets.created, packets.delivered + packets.dropped + packets.left, "packets are conserved");
    let counted: u64 = record.drops.iter().map(|drop| drop.packets).sum();
    let by_link: u64 = record.links.iter().map(|link| link.dropped).sum();
    assert_eq!((counted, by_link), (packets.dropped, packets.dropped), "every drop has a place and a reason");
    let sent: u64 = record.links.iter().map(|link| link.packets).sum();
    assert_eq!(sent, record.packet_hops);
    assert!(record.links.iter().all(|link| link.peak.0 <= 200_000), "no buffer is exceeded");
    assert_eq!(record.stop, Stop::Finished, "every flow finishes");
    for (flow, spec) in record.flows.iter().zip(&setup.flows) {
        assert_eq!((flow.size, flow.delivered), (spec.size, spec.size));
        // Packets on several slow paths at once may beat the single path of the closed form.
        let single_path =
            matches!(setup.balancer, BalancerSettings::Ecmp(_) | BalancerSettings::FlowDrill(_));
        let taken = flow.end.expect("finished").since(flow.start);
        assert!(taken >= flow.ideal || !single_path, "{taken} beats the empty network's {}", flow.ideal);
    }
}

#[test]
fn random_networks_conserve_packets_and_finish_every_flow() {
    let mut dropped = 0;
    for seed in 1..=60 {
        let setup = case(seed);
        let record = lab::run(setup.clone());
        check(&setup, &record);
        dropped += record.packets.dropped;
    }
    assert!(dropped > 1_000, "the cases lose packets: {dropped}");
}

#[test]
fn the_same_input_gives_the_same_record() {
    for seed in [3, 4, 5, 6] {
        assert_eq!(lab::run(case(seed)), lab::run(case(seed)));
    }
}

/// Sampling queues, or watching the progress, changes nothing but the samples.
#[test]
fn looking_changes_nothing() {
    for seed in [7, 8] {
        let (mut with, mut without) = (case(seed), case(seed));
        with.queues_every = Some(Span::from_us(1));
        without.queues_every = None;
        let (with, without) = (lab::run(with), lab::run(without));
        assert_eq!(with.flows, without.flows);
        assert_eq!((with.packet_hops, with.ended), (without.packet_hops, without.ended));
    }
}
