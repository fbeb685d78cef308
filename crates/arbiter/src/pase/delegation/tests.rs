//! Tests of delegation in PASE.

use super::*;
use weft_core::HostId;
use weft_core::scheduling::FlowKey;

const FULL: Bytes = Bytes(1_500);
/// Hosts of leaves 0, 1 (near each other) and 2.
const HOME: HostId = HostId(0);
const FAR: HostId = HostId(2);

fn gbps(rates: [u64; 2]) -> [Rate; 2] {
    rates.map(Rate::from_gbps)
}

fn settings() -> PaseArbiterSettings {
    PaseArbiterSettings { delegation: true, least_slice: 0.2, ..Default::default() }
}

fn site(ports: &[TreePort]) -> TreeSite {
    TreeSite { ports: ports.to_vec(), leaf_of_host: [0, 1, 2].into(), near: vec![true, true, false] }
}

/// Three leaves below and two links of 10 Gbps above, as ports 0 to 4.
fn parent() -> Delegation {
    let up = TreePort::Upper(Rate::from_gbps(10));
    let site = site(&[TreePort::Child, TreePort::Child, TreePort::Child, up, up]);
    Delegation::new(&settings(), &site, FULL).expect("it has a part")
}

/// A host at port 0, a parent at port 1, with two other leaves below and 20 Gbps above.
fn leaf(settings: &PaseArbiterSettings) -> Delegation {
    let above = Above { capacity: Rate::from_gbps(20), link: Rate::from_gbps(10), children: 3 };
    let site = site(&[TreePort::Elsewhere, TreePort::Parent(above)]);
    Delegation::new(settings, &site, FULL).expect("it has a part")
}

fn at(us: u64) -> Time {
    Time::ZERO + Span::from_us(us)
}

fn report(parent: &mut Delegation, now: Time, port: u16, demands: [u64; 2]) {
    let mut header =
        SchedulingHeader { message: SliceMessage::Demand(gbps(demands)), ..SchedulingHeader::NONE };
    parent.arrives(now, PortId(port), &mut header);
    assert_eq!(header.message, SliceMessage::None, "it is for this switch only");
}

/// The content of the next packet down to a leaf.
fn answer(parent: &mut Delegation, now: Time, port: u16) -> SliceMessage {
    let mut header = SchedulingHeader::NONE;
    parent.leaves(now, PortId(port), &mut header);
    header.message
}

fn request(rate: u64, remaining_us: u64) -> SchedulingHeader {
    SchedulingHeader {
        role: Role::Request,
        rate: Rate::from_gbps(rate),
        remaining: Span::from_us(remaining_us),
        round_trip: Span::from_us(12),
        ..SchedulingHeader::NONE
    }
}

fn passing(flow: u32, now: Time, (source, destination): (HostId, HostId)) -> Passing {
    Passing { now, flow: FlowKey { ports: flow, source, destination }, wire: 1_500 }
}

/// A flow's request on its way up.
fn ask(leaf: &mut Delegation, flow: u32, now: Time, header: SchedulingHeader) -> (u8, Rate) {
    let mut header = header;
    leaf.decide((PortId(0), PortId(1)), &passing(flow, now, (HOME, FAR)), &mut header);
    (header.queue, header.rate)
}

fn give(leaf: &mut Delegation, now: Time, rates: [u64; 2]) {
    let mut header = SchedulingHeader { message: SliceMessage::Slice(gbps(rates)), ..SchedulingHeader::NONE };
    leaf.arrives(now, PortId(1), &mut header);
}

#[test]
fn slices_sum_to_the_capacity_whatever_the_demands() {
    let thirds = PaseArbiterSettings { least_slice: 1.0 / 3.0, ..settings() };
    for capacity in [1, 2, 10_000_000_007, 100_000_000_000] {
        for demands in [&[0, 0, 0][..], &[1], &[7, 0, u64::MAX, 3], &[5, 5, 5, 5, 5, 5, 5]] {
            let slices = divide(capacity, &thirds, demands);
            assert_eq!(slices.iter().map(|slice| slice.0).sum::<u64>(), capacity, "{demands:?}");
            let least = shared(capacity, &thirds) / demands.len() as u64;
            assert!(slices.iter().all(|slice| slice.0 >= least), "{slices:?}");
        }
    }
}

/// 20 Gbps of which 4 are divided equally and 16 by demand.
#[test]
fn demand_moves_slices_and_silence_takes_them_back() {
    let mut parent = parent();
    let least = Rate(4_000_000_000 / 3);
    report(&mut parent, at(0), 0, [10, 0]);
    let SliceMessage::Slice([up, down]) = answer(&mut parent, at(1), 0) else { panic!("a slice") };
    assert!(up.0.abs_diff(16_000_000_000 + least.0) <= 1, "{up:?}: nobody else wants anything");
    assert!(down.0.abs_diff(20_000_000_000 / 3) <= 1, "{down:?}: nobody wants anything");
    assert_eq!(answer(&mut parent, at(2), 0), SliceMessage::None, "one slice for each report");

    report(&mut parent, at(100), 0, [10, 0]);
    report(&mut parent, at(100), 1, [30, 0]);
    let quarter = |parent: &mut Delegation, now| match answer(parent, now, 0) {
        SliceMessage::Slice([up, _]) => up.0 - least.0,
        other => panic!("{other:?}"),
    };
    assert!(quarter(&mut parent, at(101)).abs_diff(4_000_000_000) <= 1);
    report(&mut parent, at(399), 0, [10, 0]);
    assert!(quarter(&mut parent, at(399)).abs_diff(4_000_000_000) <= 1, "a report holds for 300 us");
    report(&mut parent, at(400), 0, [10, 0]);
    assert!(quarter(&mut parent, at(400)).abs_diff(16_000_000_000) <= 1, "the other is silent");
    report(&mut parent, at(400), 2, [0, 1]);
    let SliceMessage::Slice([up, _]) = answer(&mut parent, at(400), 2) else { panic!("a slice") };
    assert!(up.0.abs_diff(least.0) <= 1, "{up:?}");
}

#[test]
fn a_parent_divides_the_links_it_has_left() {
    let mut parent = parent();
    parent.set_port(PortId(4), false);
    let mut slice = |port| {
        report(&mut parent, at(0), port, [1, 1]);
        match answer(&mut parent, at(0), port) {
            SliceMessage::Slice([up, _]) => up,
            other => panic!("{other:?}"),
        }
    };
    [0, 1].into_iter().for_each(|port| _ = slice(port));
    assert!(slice(2).0.abs_diff(10_000_000_000 / 3) <= 1);
}

/// Without a slice a leaf has a fifteenth of 20 Gbps; with one of 5 Gbps a flow of 3 and a part of the next are in the highest class.
#[test]
fn a_leaf_decides_on_its_slice_while_it_holds() {
    let mut leaf = leaf(&settings());
    let least = Rate(4_000_000_000 / 3);
    assert_eq!(ask(&mut leaf, 1, at(0), request(3, 10)), (0, least));
    give(&mut leaf, at(1), [5, 1]);
    assert_eq!(ask(&mut leaf, 1, at(2), request(3, 10)), (0, Rate::from_gbps(3)));
    assert_eq!(ask(&mut leaf, 2, at(2), request(3, 20)), (0, Rate::from_gbps(2)));
    assert_eq!(ask(&mut leaf, 3, at(2), request(3, 30)), (1, Rate::from_gbps(1)), "a packet per round trip");
    assert_eq!(ask(&mut leaf, 1, at(301), request(3, 10)), (0, least), "three intervals have passed");
    give(&mut leaf, at(302), [20, 20]);
    assert_eq!(
        ask(&mut leaf, 4, at(303), request(40, 1)).1,
        Rate::from_gbps(10),
        "no link up there is faster"
    );
}

#[test]
fn a_leaf_reports_what_far_flows_want_once_an_interval() {
    let mut leaf = leaf(&settings());
    assert_eq!(answer(&mut leaf, at(0), 1), SliceMessage::None, "nobody wants anything");
    let mut near = request(10, 1);
    leaf.decide((PortId(0), PortId(1)), &passing(9, at(0), (HOME, HostId(1))), &mut near);
    assert_eq!(
        (near, answer(&mut leaf, at(0), 1)),
        (request(10, 1), SliceMessage::None),
        "no upper link on its way"
    );
    ask(&mut leaf, 1, at(0), request(3, 10));
    ask(&mut leaf, 2, at(0), request(4, 10));
    leaf.decide((PortId(1), PortId(0)), &passing(3, at(0), (FAR, HOME)), &mut request(2, 10));
    assert_eq!(answer(&mut leaf, at(1), 0), SliceMessage::None, "not to hosts");
    assert_eq!(answer(&mut leaf, at(1), 1), SliceMessage::Demand(gbps([7, 2])));
    assert_eq!(answer(&mut leaf, at(100), 1), SliceMessage::None);
    let mut farewell = SchedulingHeader { role: Role::Leave, ..request(0, 0) };
    leaf.decide((PortId(0), PortId(1)), &passing(1, at(101), (HOME, FAR)), &mut farewell);
    assert_eq!(answer(&mut leaf, at(101), 1), SliceMessage::Demand(gbps([4, 2])));
    assert_eq!(leaf.counts(), ArbitrationCounts { reports: 2, ..Default::default() });
}

#[test]
fn upper_links_decide_only_without_delegation() {
    let off = PaseArbiterSettings { delegation: false, ..settings() };
    for (settings, counts) in [
        (settings(), ArbitrationCounts { spared: 1, ..Default::default() }),
        (off, ArbitrationCounts { upper: 1, ..Default::default() }),
    ] {
        let site = site(&[TreePort::Child, TreePort::Upper(Rate::from_gbps(10))]);
        let mut switch = Delegation::new(&settings, &site, FULL).expect("it has a part");
        let pruned = SchedulingHeader { queue: 1, ..request(1, 1) };
        assert_eq!(switch.keeps(PortId(1), &request(1, 1)), !settings.delegation);
        assert_eq!(switch.keeps(PortId(1), &pruned), !settings.delegation, "nobody decides on it");
        assert!(switch.keeps(PortId(0), &request(1, 1)), "a link down to a leaf decides for itself");
        assert_eq!(switch.counts(), counts);
    }
}
