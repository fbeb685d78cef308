//! Presto's flowcells at a host: where they end, which paths they take, and when a host uses a new list of paths.

use weft_core::label::{PathLabel, cell_of};
use weft_core::{Bytes, FlowId, Grouping, HostId, PortId, Span, SwitchId, Time};
use weft_labels::{FlowcellPosition, HostLabels, Parcel};
use weft_plan::Setup;
use weft_switch::BalancerSettings;
use weft_switch::balance::presto::{ListStart, PathOrder, PrestoSettings};
use weft_topology::shapes::leaf_spine::LeafSpineSettings;
use weft_topology::{FailurePlan, Node, Outage, RoutingSettings, TopologySettings, build, timeline};
use weft_transport::{Transport, TransportSettings};

const LEAF: SwitchId = SwitchId(0);

/// Two leaves and four spines; the second uplink of the first leaf fails after a millisecond. A flowcell has at most 10 kB,
/// and the paths are taken in the order 0, 2, 1, 3.
fn setup(controller_delay: Span) -> Setup {
    let shape = LeafSpineSettings { leaves: 2, spines: 4, hosts_per_leaf: 2, ..LeafSpineSettings::default() };
    let graph = build(&TopologySettings::LeafSpine(shape)).expect("it is a network");
    let uplink = graph.links_of(Node::Switch(LEAF)).iter().filter(|link| matches!(link.to, Node::Switch(_)));
    let cable = uplink.map(|link| link.cable).nth(1).expect("there are four");
    let outage = Outage { cables: vec![cable], at: Some(Time::ZERO + Span::from_ms(1)), repair: None };
    let plan = FailurePlan { outages: vec![outage] };
    let timeline = timeline(&graph, &plan, &RoutingSettings::default(), Grouping::Together);
    let presto = PrestoSettings {
        cell: Bytes(10_000),
        order: PathOrder::BitReversed,
        start: ListStart::First,
        controller_delay,
    };
    let transport = Transport::new(&TransportSettings::default());
    Setup { balancer: BalancerSettings::Presto(presto), ..Setup::new(graph, timeline, transport) }
}

/// A host of the first leaf that sends to one of the second.
struct Sender {
    setup: Setup,
    labels: Box<HostLabels>,
    position: FlowcellPosition,
}

impl Sender {
    fn new(controller_delay: Span) -> Sender {
        let setup = setup(controller_delay);
        let labels = HostLabels::new(&setup).expect("switches forward by labels");
        Sender { setup, labels, position: FlowcellPosition::default() }
    }

    /// The flowcell of a packet with payload, and its place among the uplinks of the leaf.
    fn send(&mut self, now: Time, length: u64, rest: u64) -> (u16, u16) {
        let parcel = Parcel { from: HostId(0), to: HostId(2), flow: FlowId(0), length, rest };
        let note = self.labels.stamp(&self.setup, &mut self.position, parcel, now);
        let PortId(port) = PathLabel::of(note).port(1).expect("paths part at the leaf");
        let uplinks = self.setup.graph.links_of(Node::Switch(LEAF)).iter();
        let first = uplinks.filter(|link| matches!(link.to, Node::Switch(_))).map(|link| link.port.0).min();
        (cell_of(note), port - first.expect("there are four"))
    }

    fn send_many(&mut self, now: Time, packets: usize) -> Vec<(u16, u16)> {
        (0..packets).map(|_| self.send(now, 1_000, 0)).collect()
    }
}

/// A flowcell is full at exactly its size, and the next takes the next path of the list, which begins again after its end.
#[test]
fn a_flowcell_ends_before_it_would_be_too_large() {
    let mut sender = Sender::new(Span::ZERO);
    let sent = sender.send_many(Time::ZERO, 50);
    let expected = [(0, 0), (1, 2), (2, 1), (3, 3), (4, 0)].map(|cell| [cell; 10]);
    assert_eq!(sent, expected.concat());
    assert_eq!([1, 9_999, 1].map(|length| sender.send(Time::ZERO, length, 0)), [(5, 2), (5, 2), (6, 1)]);
}

/// A burst of segmentation offload stays in one flowcell: in a new one if it does not fit, and in one of its own if it is larger.
#[test]
fn a_burst_is_never_cut() {
    let mut sender = Sender::new(Span::ZERO);
    let burst = |sender: &mut Sender, packets: u64| -> Vec<u16> {
        (0..packets).rev().map(|rest| sender.send(Time::ZERO, 1_000, rest * 1_000).0).collect()
    };
    assert_eq!(burst(&mut sender, 8), [0; 8]);
    assert_eq!(burst(&mut sender, 2), [0; 2]);
    assert_eq!(burst(&mut sender, 8), [1; 8]);
    assert_eq!(burst(&mut sender, 3), [2; 3]);
    assert_eq!(burst(&mut sender, 15), [3; 15]);
    assert_eq!(burst(&mut sender, 1), [4]);
}

/// The list changes when the controller has told the host, between two flowcells: the failed path is then in none.
#[test]
fn a_host_takes_a_new_list_with_its_next_flowcell() {
    let mut sender = Sender::new(Span::from_us(100));
    let at = |us| Time::ZERO + Span::from_us(us);
    assert_eq!(sender.send_many(at(1_000), 25)[20..], [(2, 1); 5]);
    let state = sender.setup.timeline.states.len() - 1;
    sender.labels.installed(&sender.setup, LEAF, state, at(1_050));
    assert_eq!(sender.send_many(at(1_150), 5), [(2, 1); 5], "the flowcell keeps its path");
    let later = sender.send_many(at(1_150), 60);
    let expected = [(3, 0), (4, 3), (5, 2), (6, 0), (7, 3), (8, 2)].map(|cell| [cell; 10]);
    assert_eq!(later, expected.concat());
    let mut other = Sender::new(Span::from_us(100));
    other.labels.installed(&other.setup, LEAF, state, at(1_050));
    other.send_many(at(1_149), 20);
    assert_eq!(other.send_many(at(1_149), 1), [(2, 1)], "not yet told");
}
