//! Switches that differ: each follows its own settings, and nothing else changes.

mod lab;

use std::sync::Arc;

use weft_core::record::RunRecord;
use weft_core::settings::Amount;
use weft_core::{Bytes, Class, LinkId, Rate, Span, SwitchId};
use weft_plan::{DeviceKind, Setup};
use weft_switch::mark::{MarkerSettings, step::StepSettings};
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_switch::{BalancerSettings, PfcSettings, PortSettings, ShaperSettings, SwitchSettings};
use weft_topology::Node;
use weft_transport::{Packetisation, Transport};
use weft_workload::Flow;

/// Makes the switches of a tier different.
fn change(setup: &mut Setup, tier: u8, change: impl FnOnce(&mut SwitchSettings)) {
    let of_tier = |(number, node): (usize, &weft_topology::SwitchNode)| {
        (node.tier == tier).then_some(SwitchId(number as u32))
    };
    let switches: Vec<_> = setup.graph.switches().iter().enumerate().filter_map(of_tier).collect();
    let mut switch = setup.switch.clone();
    change(&mut switch);
    let balancer = setup.balancer.clone();
    setup.devices.add(DeviceKind { switch, balancer }, &switches);
}

fn per_port(bytes: u64) -> SharingSettings {
    SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(bytes) })
}

/// A number of the links that leave the switches of a tier, added up.
fn by_tier(
    setup: &Setup,
    record: &RunRecord,
    of: impl Fn(&weft_core::record::LinkRecord) -> u64,
) -> [u64; 2] {
    let mut sums = [0; 2];
    for (link, record) in setup.graph.links().iter().zip(&record.links) {
        if let Node::Switch(switch) = link.from {
            sums[usize::from(setup.graph.switches()[switch.index()].tier) - 1] += of(record);
        }
    }
    sums
}

/// Eight hosts of two leaves send to four of another: the way down from each spine is crowded, the last hop even more.
fn crowd() -> Setup {
    let setup = lab::leaf_spine();
    let flows: Vec<Flow> =
        (0..8).flat_map(|from| (8..12).map(move |to| lab::flow(Span::ZERO, from, to, 200_000))).collect();
    Setup { flows: flows.into(), ..setup }
}

/// If only one tier has little memory, packets are dropped only in that tier.
#[test]
fn packets_are_dropped_where_memory_is_short() {
    for (deep, shallow) in [(1, 2), (2, 1)] {
        let mut setup = crowd();
        change(&mut setup, deep, |switch| switch.sharing = per_port(100_000_000));
        change(&mut setup, shallow, |switch| switch.sharing = per_port(8_000));
        let dropped = by_tier(&setup, &lab::run(setup.clone()), |link| link.dropped);
        assert_eq!(dropped[deep as usize - 1], 0, "{dropped:?}");
        assert!(dropped[shallow as usize - 1] > 0, "{dropped:?}");
    }
}

/// If only one tier marks, marks come only from that tier.
#[test]
fn packets_are_marked_where_there_is_a_marker() {
    for tier in [1, 2] {
        let mut setup = crowd();
        let step = StepSettings { threshold: Amount::Packets(3), ..Default::default() };
        change(&mut setup, tier, |switch| switch.ecn = MarkerSettings::Step(step));
        let marked = by_tier(&setup, &lab::run(setup.clone()), |link| link.marked);
        assert!(marked[tier as usize - 1] > 0, "{marked:?}");
        assert_eq!(marked[2 - tier as usize], 0, "{marked:?}");
    }
}

/// A threshold of one port marks there, and only there; a limit of one port drops there.
#[test]
fn a_port_marks_and_drops_by_its_own_settings() {
    let mut setup = crowd();
    setup.switch.sharing = per_port(100_000_000);
    let step = StepSettings { threshold: Amount::Packets(3), ..Default::default() };
    let toward = |host: u32| setup.graph.reverse(LinkId(host));
    let (marks, drops) = (toward(8), toward(9));
    let marking = PortSettings { ecn: MarkerSettings::Step(step), ..PortSettings::default() };
    let limited = PortSettings { queue_limit: Some(Bytes(10_000)), ..PortSettings::default() };
    setup.ports = [(marks, marking), (drops, limited)].into();
    for queues in [1, 2] {
        setup.switch.queues = queues;
        let record = lab::run(setup.clone());
        for (number, link) in record.links.iter().enumerate() {
            let link_id = LinkId(number as u32);
            assert_eq!(link.marked > 0, link_id == marks, "{link:?}");
            assert_eq!(link.dropped > 0, link_id == drops, "{link:?}");
        }
        assert!(record.links[drops.index()].peak <= Bytes(10_000));
    }
}

/// A port of 100 cells holds 100 packets of a cell or less, 50 that need two: of n that find it busy for long, those are kept.
#[test]
fn packets_occupy_whole_cells() {
    let mut setup = lab::leaf_spine();
    let line = setup.graph.links()[0].rate;
    let port = setup.graph.reverse(LinkId(1));
    let held = |setup: &Setup, wire: u64| {
        // Two hosts of a leaf send packets of one size to a third at line rate: twice as much as it can take.
        let transport = Transport::new(&lab::dctcp(|tcp| tcp.mtu = Bytes(wire) - tcp.framing));
        let flow = |from: u32| Flow { rate: line, ..lab::flow(Span::ZERO, from, 1, 400 * transport.mss()) };
        let setup =
            Setup { flows: vec![flow(0), flow(2)].into(), transport: Arc::new(transport), ..setup.clone() };
        let record = lab::run(setup);
        assert!(record.links[port.index()].dropped > 0);
        record.links[port.index()].peak
    };
    setup.switch.sharing = per_port(25_600);
    let by_the_byte = held(&setup, 1_000);
    assert!(by_the_byte <= Bytes(25_600) && by_the_byte > Bytes(24_500), "{by_the_byte}");
    setup.switch.cell = Some(Bytes(256));
    assert_eq!(held(&setup, 200), Bytes(25_600), "100 packets of a cell");
    assert_eq!(held(&setup, 400), Bytes(25_600), "50 packets of two cells");
    assert_eq!(held(&setup, 1_000), Bytes(25_600), "20 packets of five cells");
}

/// Of n packets that come back to back at four times the rate of a shaper, the last begins to leave when n - 1 have
/// passed at that rate, apart from the burst.
#[test]
fn a_shaped_port_passes_its_burst_and_then_its_rate() {
    let mut setup = lab::leaf_spine();
    setup.switch.sharing = per_port(100_000_000);
    let (line, port) = (setup.graph.links()[0].rate, setup.graph.reverse(LinkId(9)));
    let size = Bytes(3_000_000);
    let Packetisation { count, full_wire, last_wire, .. } = setup.transport.datagrams(size);
    setup.flows = vec![Flow { rate: line, ..lab::flow(Span::ZERO, 0, 9, size.0) }].into();
    let slow = Rate(line.0 / 4);
    let mut run = |burst: Option<u64>| {
        let shaper = |burst| ShaperSettings { rate: slow, burst: Bytes(burst), ..Default::default() };
        let own = PortSettings { shaper: burst.map(shaper), ..PortSettings::default() };
        setup.ports = [(port, own)].into();
        let record = lab::run(setup.clone());
        let flow = &record.flows[0];
        flow.end.expect("nothing is lost").since(flow.start)
    };
    let (unshaped, shaped) = (run(None), run(Some(0)));
    let held_back = |wire: Bytes| slow.time_for(wire) - line.time_for(wire);
    assert!(count > 2_000 && last_wire <= full_wire);
    assert_eq!(shaped - unshaped, held_back(full_wire) * (count - 1));
    assert_eq!(shaped - run(Some(300_000)), slow.time_for(Bytes(300_000)));
}

/// With latencies that differ by tier a lonely flow takes the time of the closed form, which adds those on its path.
#[test]
fn latencies_of_tiers_add_up_along_the_path() {
    let mut ends = Vec::new();
    for (leaf, spine) in [(500, 500), (500, 2_000), (1_100, 500)] {
        let mut setup = lab::leaf_spine();
        change(&mut setup, 1, |switch| switch.latency = Span::from_ns(leaf));
        change(&mut setup, 2, |switch| switch.latency = Span::from_ns(spine));
        setup.flows = vec![lab::flow(Span::ZERO, 0, 15, 1_000)].into();
        let flow = lab::run(setup).flows[0].clone();
        let taken = flow.end.expect("a lonely flow finishes").since(flow.start);
        assert_eq!(taken, flow.ideal, "{leaf} ns, {spine} ns");
        ends.push(taken);
    }
    // The two packets that open the connection cross the network as well.
    assert_eq!(ends[1].0 - ends[0].0, Span::from_ns(3 * 1_500).0, "one spine on the way");
    assert_eq!(ends[2].0 - ends[0].0, Span::from_ns(3 * 2 * 600).0, "two leaves on the way");
}

/// Differences concern only the switch: any number of threads gives the same record.
#[test]
fn threads_agree_on_switches_that_differ() {
    let mut setup = crowd();
    change(&mut setup, 1, |switch| {
        switch.latency = Span::from_ns(300);
        switch.engines = 3;
        switch.sharing = per_port(60_000);
    });
    change(&mut setup, 2, |switch| switch.ecn = MarkerSettings::Step(StepSettings::default()));
    let random = BalancerSettings::PerPacketRandom(Default::default());
    let one = DeviceKind { switch: setup.switch.clone(), balancer: random };
    setup.devices.add(one, &[SwitchId(1)]);
    let alone = lab::run(setup.clone());
    assert!(alone.flows.iter().any(|flow| flow.out_of_order > 0), "one leaf sprays");
    lab::laws::same_on_threads(&setup, &alone, 2..=4);
}

/// Leaves that pause keep their hosts from overrunning them, and spines without priority flow control do not listen: what
/// they send to a leaf is dropped there when headroom is used up.
#[test]
fn a_switch_without_flow_control_does_not_obey_pauses() {
    let pfc = |switch: &mut SwitchSettings| {
        switch.pfc = PfcSettings { classes: vec![0], xoff: Some(Bytes(20_000)), ..PfcSettings::default() };
        switch.buffer = Some(Bytes(4_000_000));
    };
    let dropped = |tiers: &[u8]| {
        let mut setup = crowd();
        let start = weft_transport::TransportSettings::Udp(Default::default());
        setup.transport = weft_transport::Transport::new(&start).into();
        setup.classes = vec![Some(Class(0))];
        change(&mut setup, 2, |switch| switch.sharing = per_port(100_000_000));
        tiers.iter().for_each(|tier| change(&mut setup, *tier, pfc));
        let record = lab::run(setup.clone());
        let headroom = record.drops.iter().filter(|drop| drop.reason == weft_core::record::Reason::Headroom);
        (by_tier(&setup, &record, |link| link.dropped), headroom.map(|drop| drop.packets).sum::<u64>())
    };
    assert_eq!(dropped(&[1, 2]), ([0, 0], 0), "everybody listens");
    let ([leaf, spine], headroom) = dropped(&[1]);
    assert!(leaf > 0 && spine == 0 && headroom == leaf, "{leaf} {spine} {headroom}");
}
