//! Queueing delay as runs report it, compared with packets and theory: the hops of a packet sum to its whole delay,
//! and no balancer keeps less in the uplinks of a leaf than one link of their summed rate.

mod lab;

use std::collections::BTreeMap;

use weft_core::record::RunRecord;
use weft_core::{Bytes, HostId, PacketKind, Purpose, Random, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_sim::{Seen, Simulation, Tap};
use weft_switch::BalancerSettings;
use weft_topology::shapes::leaf_spine::LeafSpineSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_workload::Flow;

const HOSTS_PER_LEAF: u32 = 8;
const LEAVES: u32 = 4;

fn network(spines: u32, fabric: u64) -> TopologySettings {
    TopologySettings::LeafSpine(LeafSpineSettings {
        leaves: LEAVES,
        spines,
        hosts_per_leaf: HOSTS_PER_LEAF,
        host_link: LinkSettings::of(Rate::from_gbps(10)),
        fabric_link: LinkSettings::of(Rate::from_gbps(fabric)),
        ..Default::default()
    })
}

// ---- a packet's hops ----

/// Who sends to whom: in these tests each pair has one packet.
type Pair = (HostId, HostId);

/// Every host sends one packet of a random size to every other within 20 us: twice what the links can carry.
fn one_packet_for_each_pair(setup: &Setup) -> Vec<Flow> {
    let mut random = Random::new(1, Purpose::Test, 0);
    let hosts = setup.graph.hosts();
    let pairs = (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to)));
    let packet = |(from, to)| {
        let start = Span::from_ns(u64::from(random.below(20_000)));
        lab::flow(start, from, to, 100 + u64::from(random.below(1_361)))
    };
    let mut flows: Vec<Flow> = pairs.filter(|(from, to)| from != to).map(packet).collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

/// How long data packets waited at a switch, and when they came: per pair the hop, the arrival and the time until the
/// first bit is sent.
fn waits(setup: &Setup, switch: SwitchId) -> BTreeMap<Pair, (usize, Time, Span)> {
    let (_, tap) = Simulation::new(setup.clone()).run_tapped(Tap::new(switch));
    let mut arrived = Vec::new();
    let mut waits = BTreeMap::new();
    for seen in &tap.seen {
        match seen {
            Seen::Arrived { time, header, .. } => arrived.push((*time, *header)),
            Seen::Left { time, packet, .. } => {
                let (came, header) = arrived[*packet as usize];
                if header.kind == PacketKind::Data {
                    let hop = usize::from(header.hops) + 1;
                    let pair = (header.source, header.destination);
                    let twice = waits.insert(pair, (hop, came, time.since(came)));
                    assert_eq!(twice, None, "{pair:?} has one packet");
                }
            }
            Seen::Dropped { .. } => panic!("buffers are large enough"),
        }
    }
    waits
}

/// "Per-hop queueing sums to the difference between packet latency and its unloaded latency": to the picosecond for every
/// packet, and within a nanosecond a packet for every hop of the record.
#[test]
fn the_waits_of_a_packets_hops_are_its_delay() {
    for balancer in [BalancerSettings::default(), BalancerSettings::Drill(Default::default())] {
        let mut setup = lab::setup(&network(4, 10), &lab::dctcp(|tcp| tcp.handshake = false));
        setup.balancer = balancer;
        setup.flows = one_packet_for_each_pair(&setup).into();
        let record = lab::run(setup.clone());
        let mut waited: BTreeMap<Pair, Span> = BTreeMap::new();
        let mut by_hop = vec![(Span::ZERO, 0); record.hops.len()];
        let mut came: BTreeMap<Pair, Time> = BTreeMap::new();
        for switch in 0..setup.graph.switches().len() as u32 {
            for (pair, (hop, time, wait)) in waits(&setup, SwitchId(switch)) {
                *waited.entry(pair).or_default() += wait;
                by_hop[hop] = (by_hop[hop].0 + wait, by_hop[hop].1 + 1);
                came.entry(pair).and_modify(|first| *first = (*first).min(time)).or_insert(time);
            }
        }
        let overhead = setup.transport.overhead_wire();
        let line = LinkSettings::of(Rate::from_gbps(10));
        for flow in &record.flows {
            let pair = (flow.source, flow.destination);
            let unloaded =
                line.rate.time_for(Bytes(flow.size.0 + overhead)) + line.delay + setup.switch.latency;
            let at_card = came[&pair].since(flow.start) - unloaded;
            let delay = flow.end.expect("it arrived").since(flow.start) - flow.ideal;
            assert_eq!(at_card + waited[&pair], delay, "{pair:?}");
        }
        let busy = record.flows.iter().filter(|flow| waited[&(flow.source, flow.destination)] > Span::ZERO);
        assert!(busy.count() > record.flows.len() / 2, "the network is loaded");
        for (hop, (sum, packets)) in by_hop.iter().enumerate().skip(1) {
            let told = &record.hops[hop].wait_ns;
            assert_eq!(told.count(), *packets, "hop {hop}");
            let off = (told.mean() - sum.0 as f64 / 1e3 / *packets as f64).abs();
            assert!(off <= 1.0, "hop {hop}: a packet is off by {off} ns");
        }
    }
}

// ---- the equal split fluid ----

/// Datagrams between leaves at 80 % of the uplinks: flows of 20 packets at 1 Gb/s that come at random.
fn random_datagrams(setup: &Setup) -> Vec<Flow> {
    let mut random = Random::new(setup.seed, Purpose::Test, 0);
    let wire = (20 * u64::from(setup.transport.full_wire()) * 8) as f64;
    let gap = wire / (0.8 * f64::from(LEAVES) * 40e9) * 1e12;
    let size = 20 * setup.transport.mss();
    let mut now = 0.0;
    let flow = |_| {
        now += random.exponential(gap);
        let source = random.below(LEAVES * HOSTS_PER_LEAF);
        let leaf = (source / HOSTS_PER_LEAF + 1 + random.below(LEAVES - 1)) % LEAVES;
        let destination = leaf * HOSTS_PER_LEAF + random.below(HOSTS_PER_LEAF);
        lab::constant(Span(now as u64), source, destination, size, Rate::from_gbps(1))
    };
    (0..4_000).map(flow).collect()
}

/// Mean bytes in the uplinks of all leaves, including the packet being sent; and the mean wait at hop 1.
fn at_hop_1((spines, fabric): (u32, u64), balancer: BalancerSettings) -> (f64, f64) {
    let mut setup = lab::setup(&network(spines, fabric), &TransportSettings::Udp(Default::default()));
    setup.balancer = balancer;
    setup.flows = random_datagrams(&setup).into();
    let record: RunRecord = lab::run(setup);
    let tier = |node: u32| record.nodes[node as usize].tier;
    assert_eq!(record.packets.dropped, 0);
    let uplinks = record.links.iter().filter(|link| (tier(link.from), tier(link.to)) == (1, 2));
    (uplinks.map(|link| link.mean_queue).sum(), record.hops[1].wait_ns.mean())
}

/// One link of the summed rate never idles while there is work: nothing can have a smaller backlog. DRILL lies
/// between it and ECMP. For waits alone, without the packet's own transmission, this is no theorem (four links with
/// one common queue would wait less), but DRILL with a queue for each does not go below it either.
#[test]
fn drill_keeps_more_at_hop_1_than_one_fat_link_and_less_than_ecmp() {
    let (fat, fat_wait) = at_hop_1((1, 40), BalancerSettings::default());
    let (drill, drill_wait) = at_hop_1((4, 10), BalancerSettings::Drill(Default::default()));
    let (ecmp, ecmp_wait) = at_hop_1((4, 10), BalancerSettings::default());
    assert!(fat < drill && drill < ecmp / 2.0, "{fat}, {drill} and {ecmp} bytes");
    assert!(
        fat_wait < drill_wait && drill_wait < ecmp_wait / 2.0,
        "{fat_wait}, {drill_wait}, {ecmp_wait} ns"
    );
}
