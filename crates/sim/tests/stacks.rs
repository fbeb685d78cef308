//! Flows with different transports in one network.

mod lab;

use std::sync::Arc;

use weft_core::record::{FlowSample, RunRecord};
use weft_core::settings::Amount;
use weft_core::{Bytes, Class, Rate, Span, Time};
use weft_plan::{FlowSampling, Setup, Stacks};
use weft_switch::PfcSettings;
use weft_switch::arbiter::{ArbiterSettings, pdq::PdqArbiterSettings};
use weft_switch::mark::{MarkerSettings, NonEct, step::StepSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::{SharingSettings, fixed::FixedSharingSettings};
use weft_topology::shapes::single_switch::SingleSwitchSettings;
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::protocols::cubic::TcpCubicSettings;
use weft_transport::protocols::dcqcn::RoceDcqcnSettings;
use weft_transport::protocols::newreno::TcpNewRenoSettings;
use weft_transport::protocols::pase::PaseSettings;
use weft_transport::rate::notification::NotificationScope;
use weft_transport::settings::{AutotuneSettings, EcnUse, Tcp};
use weft_transport::{Transport, TransportSettings};
use weft_workload::Flow;

/// Each traffic entry has a transport of its own.
fn by_entry(setup: &Setup, transports: &[TransportSettings]) -> Stacks {
    let numbers: Vec<u16> = (0..transports.len() as u16).collect();
    Stacks {
        all: transports.iter().map(|own| Arc::new(Transport::new(own))).collect(),
        group_of_host: vec![0; setup.graph.hosts() as usize],
        senders: vec![numbers.clone()],
        receivers: vec![vec![numbers]],
    }
}

fn tagged(tag: u16, flow: Flow) -> Flow {
    Flow { tag, ..flow }
}

fn delivered(record: &RunRecord, tag: u16) -> u64 {
    record.flows.iter().filter(|flow| flow.tag == tag).map(|flow| flow.delivered.0).sum()
}

fn dctcp() -> TransportSettings {
    TransportSettings::Dctcp(Default::default())
}

fn cubic() -> TransportSettings {
    TransportSettings::Cubic(Default::default())
}

/// At a queue that marks early, DCTCP backs off and CUBIC, which cannot be marked, fills the buffer: the known
/// failure to coexist. Each is fair to flows of its own kind.
#[test]
fn cubic_takes_the_share_of_dctcp_at_a_marking_queue() {
    let share = |transports: [TransportSettings; 2]| {
        let mut setup = lab::leaf_spine();
        let step = StepSettings { threshold: Amount::Packets(20), ..Default::default() };
        setup.switch.ecn = MarkerSettings::Step(step);
        setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(600_000) });
        setup.stacks = by_entry(&setup, &transports);
        setup.tags = vec!["first".into(), "second".into()];
        setup.flows = (0..2)
            .map(|tag| tagged(tag, lab::flow(Span::ZERO, u32::from(tag) + 1, 0, 1 << 40)))
            .collect::<Vec<_>>()
            .into();
        setup.until = Time::ZERO + Span::from_ms(60);
        let record = lab::run(setup);
        delivered(&record, 0) as f64 / (delivered(&record, 0) + delivered(&record, 1)) as f64
    };
    assert!(share([cubic(), dctcp()]) > 0.75);
    assert!(share([dctcp(), cubic()]) < 0.25);
    assert!((0.4..0.6).contains(&share([dctcp(), dctcp()])));
}

/// RoCE in a lossless class beside TCP in one that drops: only TCP loses packets, and only RoCE's class pauses. Any number of
/// threads gives the same record, and every flow is compared with the ideal of its own transport.
fn roce_beside_tcp() -> Setup {
    let mut setup = lab::leaf_spine();
    setup.switch.queues = 2;
    setup.switch.schedule = SchedulerSettings::Drr(Default::default());
    setup.switch.buffer = Some(Bytes(4_000_000));
    setup.switch.sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(30_000) });
    setup.switch.pfc = PfcSettings { classes: vec![1], xoff: Some(Bytes(20_000)), ..PfcSettings::default() };
    let dcqcn = TransportSettings::Dcqcn(Default::default());
    setup.stacks = by_entry(&setup, &[cubic(), dcqcn]);
    setup.tags = vec!["tcp".into(), "roce".into()];
    setup.classes = vec![Some(Class(0)), Some(Class(1))];
    let flows = (4..12).flat_map(|from| {
        (0..2).map(move |tag| tagged(tag, lab::flow(Span::ZERO, from, u32::from(tag), 300_000)))
    });
    setup.flows = flows.collect::<Vec<_>>().into();
    setup
}

#[test]
fn only_the_class_of_roce_is_lossless() {
    let record = lab::run(roce_beside_tcp());
    let of = |tag| record.flows.iter().filter(move |flow| flow.tag == tag);
    assert!(record.flows.iter().all(|flow| flow.end.is_some()), "every flow finishes");
    assert!(record.packets.dropped > 0 && of(0).any(|flow| flow.retransmitted > Bytes::ZERO));
    assert!(of(1).all(|flow| flow.retransmitted == Bytes::ZERO), "nothing of RoCE is lost");
    assert!(record.pauses.iter().any(|pause| pause.class == 1 && pause.stopped > 0));
    assert!(record.pauses.iter().all(|pause| pause.class == 1 || pause.stopped == 0));
    let ideal = |tag| of(tag).map(|flow| flow.ideal).max();
    assert_ne!(ideal(0), ideal(1), "packets of RoCE are smaller, and it opens no connection");
}

/// A card that sends one notification per interval for all its queue pairs does not hold back the SYN-ACKs of TCP,
/// which are control packets too: a connection to this host takes as long as in the empty network.
#[test]
fn limits_on_notifications_leave_other_transports_alone() {
    let mut setup = lab::leaf_spine();
    setup.switch.ecn =
        MarkerSettings::Step(StepSettings { threshold: Amount::Packets(1), ..Default::default() });
    let mut dcqcn = RoceDcqcnSettings::default();
    dcqcn.notification.np_scope = NotificationScope::Port;
    dcqcn.notification.cnp_interval = Span::from_ms(50);
    let tcp = TransportSettings::Cubic(TcpCubicSettings {
        tcp: Tcp { handshake: true, ..Tcp::default() },
        ..Default::default()
    });
    setup.stacks = by_entry(&setup, &[tcp, TransportSettings::Dcqcn(dcqcn)]);
    setup.tags = vec!["tcp".into(), "roce".into()];
    let busy = (4..6).map(|from| tagged(1, lab::flow(Span::ZERO, from, 0, 100_000)));
    let connections = (0..2).map(|number| tagged(0, lab::flow(Span::from_ms(10 + number), 8, 0, 1_000)));
    setup.flows = busy.chain(connections).collect::<Vec<_>>().into();
    let record = lab::run(setup);
    let (queue_pairs, connections) = record.flows.split_at(2);
    assert!(queue_pairs.iter().any(|flow| flow.ecn_marks > 0), "the card has sent a notification");
    for flow in connections {
        assert_eq!(flow.end.map(|end| end.since(flow.start)), Some(flow.ideal), "{flow:?}");
    }
}

/// One host has a receive window of one segment: it receives segment by segment, each a round trip after the one
/// before; it sends as if the window were open.
#[test]
fn a_receive_window_limits_what_its_host_receives() {
    let link = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(Rate::from_gbps(10)) };
    let topology = SingleSwitchSettings { hosts: 3, host_link: link.clone() };
    let tcp = Tcp { handshake: false, close: false, delayed_ack: 1, ..Tcp::default() };
    let newreno = |tcp: Tcp| TransportSettings::NewReno(TcpNewRenoSettings { tcp, ..Default::default() });
    let constant = Tcp { receive_window: Some(Bytes(1_460)), ..tcp.clone() };
    let autotune = AutotuneSettings { initial: Bytes(1_460), max: Bytes(1_460) };
    let tuned = Tcp { autotune: Some(autotune), ..tcp.clone() };
    let base = lab::setup(&TopologySettings::SingleSwitch(topology), &newreno(tcp.clone()));
    let one_way = |wire| link.rate.time_for(Bytes(wire)) * 2 + link.delay * 2 + base.switch.latency;
    let (data, ack) = (one_way(1_538), one_way(84));
    let unlimited = data + link.rate.time_for(Bytes(9 * 1_538));
    for limited in [constant, tuned] {
        let stacks = Stacks {
            all: [tcp.clone(), limited].map(|tcp| Arc::new(Transport::new(&newreno(tcp)))).into(),
            group_of_host: vec![1, 0, 0],
            senders: vec![vec![0], vec![1]],
            receivers: vec![vec![vec![0], vec![1]]; 2],
        };
        let takes = |from, to| {
            let flows = vec![lab::flow(Span::ZERO, from, to, 14_600)].into();
            let flow = lab::run(Setup { stacks: stacks.clone(), flows, ..base.clone() }).flows[0].clone();
            flow.end.expect("it finishes").since(flow.start)
        };
        assert_eq!((takes(1, 0), takes(0, 2)), ((data + ack) * 9 + data, unlimited));
    }
}

#[test]
fn threads_agree_on_mixed_transports() {
    let setup = roce_beside_tcp();
    let alone = lab::run(setup.clone());
    lab::laws::same_on_threads(&setup, &alone, 2..=3);
}

/// Flows whose last packet is short: what has arrived and what is in flight are never more than there is.
#[test]
fn samples_count_the_last_packet_with_its_own_payload() {
    let pdq = PdqArbiterSettings::default();
    let pase = PaseSettings { arbitration: false, ..Default::default() };
    for (transport, arbiter) in [
        (TransportSettings::Ndp(Default::default()), ArbiterSettings::default()),
        (TransportSettings::Pfabric(Default::default()), ArbiterSettings::default()),
        (TransportSettings::Pase(pase), ArbiterSettings::default()),
        (TransportSettings::Pdq(Default::default()), ArbiterSettings::PdqArbiter(pdq)),
    ] {
        let topology = SingleSwitchSettings { hosts: 4, ..Default::default() };
        let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &transport);
        setup.switch.arbiter = arbiter;
        setup.flows = (1..4).map(|host| lab::flow(Span::ZERO, host, 0, 50_000 + u64::from(host))).collect();
        setup.flow_samples = Some(FlowSampling { every: Span::from_ns(200), flows: 3 });
        let record = lab::run(setup);
        assert!(record.flows.iter().all(|flow| flow.end.is_some()), "{transport:?}");
        let rows = record.flow_series.expect("sampled").rows;
        let sum = |row: &FlowSample| row.acknowledged.0 + row.in_flight.0;
        let size = |row: &FlowSample| record.flows[row.flow.0 as usize].size.0;
        assert!(rows.iter().all(|row| sum(row) <= size(row)), "{transport:?}");
        let all_sent = |row: &&FlowSample| row.acknowledged.0 > 0 && sum(row) == size(row);
        assert!(rows.iter().filter(all_sent).count() > 3, "{transport:?}: the last packet is in flight too");
    }
}

/// Six hosts on a switch, two of each kind: host 2k and 2k + 1 have `kinds[k]`. Returns whether marks reached the receiver of a flow,
/// by the kinds of the sender and the receiver. Every packet that can be marked is.
fn marked_between(kinds: &[TransportSettings; 3], fetched: bool) -> [[bool; 3]; 3] {
    let link = LinkSettings { delay: Span::from_us(1), ..LinkSettings::of(Rate::from_gbps(10)) };
    let topology = SingleSwitchSettings { hosts: 6, host_link: link };
    let mut setup = lab::setup(&TopologySettings::SingleSwitch(topology), &kinds[0]);
    let step = StepSettings { threshold: Amount::Bytes(Bytes(1)), ..Default::default() };
    setup.switch.ecn = MarkerSettings::Step(step);
    setup.stacks = of_pairs(kinds);
    let start = |number: u32| Span::from_ms(u64::from(number));
    let flows = (0..9)
        .map(|pair| Flow { fetched, ..lab::flow(start(pair), pair / 3 * 2, pair % 3 * 2 + 1, 100_000) });
    setup.flows = flows.collect::<Vec<_>>().into();
    let record = lab::run(setup);
    let of = |pair: usize| {
        let flow = &record.flows[pair];
        assert!(flow.end.is_some());
        flow.ecn_marks > 0
    };
    std::array::from_fn(|sender| std::array::from_fn(|receiver| of(3 * sender + receiver)))
}

/// Hosts 2k and 2k + 1 have `kinds[k]`, and receive as they send.
fn of_pairs(kinds: &[TransportSettings; 3]) -> Stacks {
    let own = |number: u16| vec![number];
    Stacks {
        all: kinds.iter().map(|kind| Arc::new(Transport::new(kind))).collect(),
        group_of_host: (0..6).map(|host| host / 2).collect(),
        senders: (0..3).map(own).collect(),
        receivers: (0..3).map(|_| (0..3).map(own).collect()).collect(),
    }
}

fn kinds_of_ecn(handshake: bool) -> [TransportSettings; 3] {
    [EcnUse::Off, EcnUse::Accept, EcnUse::On].map(|ecn| {
        let tcp = Tcp { handshake, ecn, ..Tcp::default() };
        TransportSettings::NewReno(TcpNewRenoSettings { tcp, ..Default::default() })
    })
}

/// Rows: off, accept, on at the host that opened the connection; columns: at the other.
#[test]
fn connections_use_ecn_if_the_opener_asks_and_the_other_host_agrees() {
    let agreed = [[false; 3], [false; 3], [false, true, true]];
    for handshake in [true, false] {
        let kinds = kinds_of_ecn(handshake);
        assert_eq!(marked_between(&kinds, false), agreed, "handshake: {handshake}");
        let fetched = marked_between(&kinds, true);
        let by_opener = std::array::from_fn(|opener| std::array::from_fn(|other| fetched[other][opener]));
        assert_eq!(by_opener, agreed, "payload from the host that was asked; handshake: {handshake}");
    }
}

/// DCTCP asks and agrees whatever its setting; facing `off` it goes without marks.
#[test]
fn dctcp_uses_marks_unless_the_other_host_refuses() {
    for handshake in [true, false] {
        let tcp = |ecn| Tcp { handshake, ecn, ..Tcp::default() };
        let cubic = |ecn| TransportSettings::Cubic(TcpCubicSettings { tcp: tcp(ecn), ..Default::default() });
        let dctcp = lab::dctcp(|own| *own = tcp(EcnUse::Off));
        let kinds = [cubic(EcnUse::Off), cubic(EcnUse::Accept), dctcp];
        assert_eq!(marked_between(&kinds, false), [[false; 3], [false; 3], [false, true, true]]);
    }
}

/// A switch that drops what it cannot mark: flows without ECN lose payload, those with ECN are marked instead.
#[test]
fn a_switch_that_drops_what_it_cannot_mark_spares_those_who_agreed() {
    let mut setup = lab::setup(
        &TopologySettings::SingleSwitch(SingleSwitchSettings {
            hosts: 6,
            host_link: LinkSettings::of(Rate::from_gbps(10)),
        }),
        &cubic(),
    );
    let threshold = Amount::Packets(20);
    setup.switch.ecn =
        MarkerSettings::Step(StepSettings { threshold, non_ect: NonEct::Drop, ..Default::default() });
    setup.stacks = of_pairs(&kinds_of_ecn(true));
    let pairs = [(4, 2), (5, 2), (4, 3), (0, 3), (1, 5), (2, 5)];
    let flows = pairs.map(|(from, to)| lab::flow(Span::ZERO, from, to, 1_000_000));
    setup.flows = flows.to_vec().into();
    let record = lab::run(setup);
    for flow in &record.flows {
        let agreed = flow.source.0 >= 4;
        assert_eq!((flow.ecn_marks > 0, flow.retransmitted > Bytes::ZERO), (agreed, !agreed), "{flow:?}");
    }
}
