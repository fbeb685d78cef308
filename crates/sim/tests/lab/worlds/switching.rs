//! Random switches and balancers. Every buffer holds a few packets at least, every threshold lets one pass: a network
//! that never lets a packet through is dead, and tested elsewhere.

use std::sync::Arc;

use weft_core::quiver::{Labels, Score, SourceFactor};
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Class, LinkId, QuiverSettings, Random, Rate, Span, SwitchId};
use weft_plan::{DeviceKind, Setup};
use weft_switch::ColorSettings;
use weft_switch::arbiter::{
    ArbiterSettings, pase::PaseArbiterSettings, pdq::PdqArbiterSettings, telemetry::TelemetryArbiterSettings,
};
use weft_switch::balance::{
    conga::CongaSettings,
    drill::{self, DrillSettings},
    ecmp::{self, EcmpSettings},
    flow_drill::FlowDrillSettings,
    letflow::LetFlowSettings,
    presto::{self, PrestoSettings},
    random::RandomSettings,
    round_robin::RoundRobinSettings,
    wcmp::WcmpSettings,
};
use weft_switch::congestion::CongestionSettings;
use weft_switch::flowlet::{self, Timing};
use weft_switch::hash::HashFunction;
use weft_switch::mark::red::{Arriving, Beyond};
use weft_switch::mark::{
    At, MarkerSettings, NonEct, Scope,
    codel::CodelSettings,
    pi::PiSettings,
    pie::{self, PieSettings},
    red::RedSettings,
    step::StepSettings,
};
use weft_switch::order::OrderSettings;
use weft_switch::order::ranked::RankedOrderSettings;
use weft_switch::pause::WatchdogAction;
use weft_switch::schedule::{
    SchedulerSettings, drr::DrrSettings, strict_drr::StrictDrrSettings, strict_wrr::StrictWrrSettings,
    wrr::WrrSettings,
};
use weft_switch::settings::{ClassLoad, Visibility};
use weft_switch::share::{
    SharingSettings,
    color::ColorCount,
    dynamic::DynamicSharingSettings,
    fixed::FixedSharingSettings,
    mmu::{self, MmuSettings},
};
use weft_switch::{BalancerSettings, PortSettings, ShaperSettings, SwitchSettings, TrimSettings};
use weft_switch::{PfcSettings, VoqSettings};
use weft_topology::{Graph, Link, Node};
use weft_transport::Transport;

use super::{full_packet, one_in, pick};

/// One of all balancers.
pub(super) fn balancer(random: &mut Random) -> BalancerSettings {
    use drill::Tie;
    let ties = [Tie::Random, Tie::MemoryFirst, Tie::SampleFirst, Tie::LowestPort];
    let (choices, memory, tie) = (1 + random.below(4), random.below(4), pick(random, &ties));
    match random.below(13) {
        0 | 1 => BalancerSettings::Ecmp(EcmpSettings {
            hash: pick(
                random,
                &[HashFunction::Mix, HashFunction::Crc32, HashFunction::Crc16, HashFunction::Toeplitz],
            ),
            seeding: pick(random, &[ecmp::Seeding::PerSwitch, ecmp::Seeding::Same]),
            mapping: pick(
                random,
                &[ecmp::Mapping::Multiply, ecmp::Mapping::Modulo, ecmp::Mapping::Resilient],
            ),
        }),
        2 => BalancerSettings::PerPacketRandom(RandomSettings {}),
        3 => BalancerSettings::RoundRobin(RoundRobinSettings { permute_after: random.below(3) }),
        4 => {
            let idle = pick(random, &[Span::from_us(20), Span::from_s(1)]);
            BalancerSettings::FlowDrill(FlowDrillSettings { choices, memory, tie, idle })
        }
        5 => BalancerSettings::LetFlow(LetFlowSettings {
            flowlets: flowlets(random),
            weighted: one_in(random, 3),
        }),
        9 | 10 => BalancerSettings::Presto(PrestoSettings {
            cell: Bytes(pick(random, &[1, 4_000, 64 << 10])),
            order: pick(random, &[presto::PathOrder::Shuffled, presto::PathOrder::BitReversed]),
            start: pick(random, &[presto::ListStart::Random, presto::ListStart::First]),
            controller_delay: pick(random, &[Span::ZERO, Span::from_us(30)]),
        }),
        8 => BalancerSettings::Wcmp(WcmpSettings {
            hash: pick(random, &[HashFunction::Mix, HashFunction::Crc16]),
            oversubscription: pick(random, &[1.0, 1.05, 2.0]),
            table_size: pick(random, &[None, Some(3), Some(64)]),
        }),
        6 | 7 => BalancerSettings::Conga(CongaSettings {
            flowlets: flowlets(random),
            congestion: CongestionSettings {
                metric_bits: 1 + random.below(6),
                dre_period: pick(random, &[Span::from_ns(100), Span::from_us(16)]),
                dre_decay: Share(pick(random, &[0.01, 0.1, 1.0])),
                age_out: pick(random, &[Span::ZERO, Span::from_us(50), Span::from_ms(10)]),
                ce_at_leaf: one_in(random, 2),
                feedback: !one_in(random, 4),
            },
        }),
        _ => {
            let control_by_hash = one_in(random, 4);
            BalancerSettings::Drill(DrillSettings {
                choices,
                memory,
                tie,
                control_by_hash,
                ..Default::default()
            })
        }
    }
}

/// Flowlets of every kind.
fn flowlets(random: &mut Random) -> flowlet::FlowletSettings {
    flowlet::FlowletSettings {
        gap: pick(random, &[Span::ZERO, Span::from_us(3), Span::from_us(30), Span::from_ms(100)]),
        timing: pick(random, &[Timing::Timestamp, Timing::AgeBit]),
        exact: one_in(random, 3),
        table_size: pick(random, &[1, 7, 4_096]),
    }
}

/// Any way to compare paths, for DRILL.
pub(super) fn compare_paths(balancer: &mut BalancerSettings, random: &mut Random) {
    let BalancerSettings::Drill(drill) = balancer else { return };
    drill.components = pick(random, &[drill::Components::Quiver, drill::Components::None]);
    drill.quiver = QuiverSettings {
        labels: pick(random, &[Labels::Multiset, Labels::Set]),
        score: pick(random, &[Score::AllPairs, Score::OwnPair]),
        source_cf: pick(random, &[SourceFactor::Inverse, SourceFactor::Constant]),
        // Without valleys there is no way across shapes whose leaves pass packets on.
        valley_free: false,
    };
}

/// Most switches trim trimmable packets.
pub(super) fn trim(setup: &mut Setup, random: &mut Random) {
    if !trimmable(setup).any(|_| true) || one_in(random, 4) {
        return;
    }
    let full = full_packet(setup).0;
    setup.switch.trim = TrimSettings {
        queue: Some(pick(random, &[Amount::Packets(1), Amount::Packets(8), Amount::Bytes(Bytes(20_000))])),
        header: Bytes(pick(random, &[84, 200.min(full / 3), full / 2])),
        class: pick(random, &[0, 0, 1]),
        returns: !one_in(random, 3),
    };
    // Pulls at the rate of a host's link may ask for more headers than a slower link carries. If large ones always go
    // first, nothing else would then get through.
    let large = setup.switch.trim.header > Bytes(84);
    if one_in(random, 2) || large || headers_share_a_queue(setup) {
        setup.switch.queues = setup.switch.queues.max(2);
        setup.switch.schedule = SchedulerSettings::Wrr(WrrSettings { weights: vec![10, 1] });
        if setup.switch.pfc.is_on() {
            // Classes beside those that pause would find all memory reserved.
            setup.switch.pfc.classes = (0..setup.switch.queues).collect();
        }
    }
    if headers_share_a_queue(setup) {
        setup.switch.trim = TrimSettings::default();
    } else if setup.switch.trim.returns && !setup.switch.pfc.is_on() && one_in(random, 2) {
        // A port is full before it trims: headers go back.
        setup.switch.trim.queue = Some(Amount::Packets(40));
        (setup.switch.sharing, setup.switch.buffer) =
            (SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(3 * full) }), None);
    }
}

/// Whether headers or control packets wait in one queue with payload, which scenarios may not ask for.
fn headers_share_a_queue(setup: &Setup) -> bool {
    let queue = |class: Class| setup.switch.queue_of(class);
    trimmable(setup).any(|transport| {
        let classes = transport.classes(None, None);
        let ahead = classes.receiver.and(Class(setup.switch.trim.class as u8));
        classes.sender.iter().any(|payload| ahead.iter().any(|class| queue(class) == queue(payload)))
    })
}

/// The transports whose packets may be trimmed.
fn trimmable(setup: &Setup) -> impl Iterator<Item = &Arc<Transport>> {
    setup.transports().filter(|transport| transport.stack().is_trimmable())
}

/// Every setting of a switch.
pub(super) fn switch(random: &mut Random, graph: &Graph, full: Bytes) -> SwitchSettings {
    let queues = 1 + random.below(3);
    let visible = [Visibility::EngineSlot, Visibility::Store, Visibility::Instant];
    let (sharing, buffer) = sharing(random, (graph, full), queues);
    SwitchSettings {
        buffer,
        cell: None,
        sharing,
        engines: 1 + random.below(4),
        visibility: pick(random, &visible),
        count_in_service: one_in(random, 2),
        class_load: pick(random, &[ClassLoad::AtOrAbove, ClassLoad::All]),
        latency: pick(random, &[Span::ZERO, Span::from_ns(500), Span(1_234_567)]),
        queues: if one_in(random, 2) { 1 } else { queues },
        schedule: match random.below(3) {
            0 => SchedulerSettings::Fifo(Default::default()),
            1 => SchedulerSettings::Strict(Default::default()),
            _ => SchedulerSettings::Drr(DrrSettings {
                quantum: Bytes(pick(random, &[100, 1_538, 9_038])),
                weights: vec![1 + random.below(3)],
            }),
        },
        order: OrderSettings::default(),
        ecn: marker(random, full),
        pfc: PfcSettings::default(),
        trim: TrimSettings::default(),
        color: color(random, full),
        arbiter: ArbiterSettings::default(),
        voq: None,
        class_map: pick(random, &[&[][..], &[], &[1, 0], &[2, 2, 0]]).to_vec(),
        group_map: Vec::new(),
    }
}

/// Now and then red packets are dropped early.
fn color(random: &mut Random, full: Bytes) -> ColorSettings {
    let red = (!one_in(random, 3)).then(|| full * (2 + u64::from(random.below(20))));
    let red_share = one_in(random, 2).then(|| Share(0.1 + 0.9 * random.unit()));
    let count = pick(random, &[ColorCount::RedOnly, ColorCount::WholeQueue]);
    if one_in(random, 3) { ColorSettings { red, red_share, count } } else { ColorSettings::default() }
}

/// Now and then memory is handed out in cells, where nothing pauses.
pub(super) fn cells(switch: &mut SwitchSettings, random: &mut Random) {
    if one_in(random, 6) && !switch.pfc.is_on() {
        switch.cell = Some(Bytes(pick(random, &[80, 208, 256])));
    }
}

/// Now and then some or all switches have virtual output queues, where nothing pauses, trims or goes by ranks.
pub(super) fn fabric(setup: &mut Setup, random: &mut Random) {
    let ranked = setup.switch_kinds().any(|switch| matches!(switch.order, OrderSettings::Ranked(_)));
    let trims = setup.switch_kinds().any(|switch| switch.trim.is_on());
    if !one_in(random, 6) || ranked || trims || setup.switch.pfc.is_on() {
        return;
    }
    let full = full_packet(setup);
    let mut switch = setup.switch.clone();
    switch.voq = Some(VoqSettings {
        groups: 1 + random.below(3),
        limit: pick(random, &[full * 8, full * 100, Bytes(200_000_000)]),
        on_chip: pick(random, &[full * 40, Bytes(16_000_000)]),
        spill: pick(random, &[Bytes(0), full * 10, Bytes(200_000)]),
        deep: pick(random, &[full * 100, Bytes(8_000_000_000)]),
        credit: pick(random, &[Bytes(300), Bytes(4_096)]),
        speedup: pick(random, &[1.0, 1.02, 1.5]),
        credit_delay: pick(random, &[Span::ZERO, Span::from_ns(250)]),
        crossing: pick(random, &[Span::ZERO, Span::from_ns(500)]),
        ..VoqSettings::default()
    });
    if one_in(random, 2) {
        return setup.switch = switch;
    }
    let all = (0..setup.graph.switches().len()).map(|number| SwitchId(number as u32));
    let some: Vec<_> = all.filter(|_| one_in(random, 2)).collect();
    let balancer = setup.balancer.clone();
    setup.devices.add(DeviceKind { switch, balancer }, &some);
}

/// Now and then nothing is dropped for lack of memory: all classes pause.
pub(super) fn pause(switch: &mut SwitchSettings, random: &mut Random) {
    if !one_in(random, 6) {
        return;
    }
    let xon_offset = Bytes(pick(random, &[0, 100, 3_076]));
    switch.pfc = PfcSettings {
        classes: (0..switch.queues).collect(),
        xoff: Some(Bytes(pick(random, &[4_000, 10_000, 100_000]))),
        xon_offset,
        quanta: pick(random, &[400, 5_000, 65_535]),
        response: pick(random, &[None, Some(Span::ZERO), Some(Span::from_us(2))]),
        deadlock_every: Span::from_us(pick(random, &[20, 100])),
        watchdog: Some(Span::from_us(pick(random, &[500, 2_000]))),
        watchdog_action: pick(random, &[WatchdogAction::Drop, WatchdogAction::Forward]),
        ..PfcSettings::default()
    };
    switch.group_map = pick(random, &[&[][..], &[], &[0, 0], &[2, 1]]).to_vec();
    if one_in(random, 3) {
        // The free memory decides; there is much more than headroom takes.
        switch.pfc.xoff = None;
        switch.buffer = Some(Bytes(pick(random, &[20_000_000, 100_000_000])));
    }
}

/// Now and then a traffic entry has a class of its own, and DRILL leaves out ports that are paused.
pub(super) fn choose_classes(setup: &mut Setup, random: &mut Random) {
    if one_in(random, 3) {
        let entries = setup.tags.len();
        setup.classes = (0..entries).map(|_| Some(Class(random.below(setup.switch.queues) as u8))).collect();
    }
    if let BalancerSettings::Drill(drill) = &mut setup.balancer {
        drill.exclude_paused = one_in(random, 3);
    }
}

/// Now and then some switches are built differently from the others, but route in the same way.
pub(super) fn mix(setup: &mut Setup, random: &mut Random) {
    if setup.switch.pfc.is_on() || !one_in(random, 3) {
        return;
    }
    let alone =
        |own: &BalancerSettings| !matches!(own, BalancerSettings::Conga(_) | BalancerSettings::Presto(_));
    for _ in 0..1 + random.below(2) {
        let mut other = balancer(random);
        if !alone(&other) || !alone(&setup.balancer) || other.grouping() != setup.balancer.grouping() {
            other = setup.balancer.clone();
        }
        let switch = switch(random, &setup.graph, full_packet(setup));
        let all = (0..setup.graph.switches().len()).map(|number| SwitchId(number as u32));
        let some: Vec<_> = all.filter(|_| one_in(random, 2)).collect();
        setup.devices.add(DeviceKind { switch, balancer: other }, &some);
    }
    let full = full_packet(setup);
    for number in setup.graph.hosts()..setup.graph.links().len() as u32 {
        if one_in(random, 6) {
            let queue_limit = pick(random, &[None, Some(full * 4), Some(full * 40)]);
            let own = PortSettings { ecn: marker(random, full), queue_limit, ..PortSettings::default() };
            setup.ports.insert(LinkId(number), own);
        }
    }
}

/// A balancer that does not use the notes of packets: this one, or ECMP.
pub(super) fn without_notes(balancer: BalancerSettings) -> BalancerSettings {
    match balancer {
        BalancerSettings::Conga(_) | BalancerSettings::Presto(_) => {
            BalancerSettings::Ecmp(Default::default())
        }
        other => other,
    }
}

/// Most switches use ranks if packets have them, and some even if they do not.
pub(super) fn rank(setup: &mut Setup, random: &mut Random) {
    let ranks = setup.transports().any(|own| own.stack().ranks_packets());
    if one_in(random, 8) == ranks {
        return;
    }
    let flows_in_order = !one_in(random, 4);
    setup.switch.order = OrderSettings::Ranked(RankedOrderSettings { flows_in_order });
}

/// The links of flows that follow grants have arbiters, and now and then those of others.
pub(super) fn arbitrate(setup: &mut Setup, random: &mut Random) {
    if !setup.schedules() && !one_in(random, 20) {
        return;
    }
    if setup.transports().any(|own| own.stack().arbiter() == Some("pase")) {
        setup.switch.arbiter = ArbiterSettings::PaseArbiter(PaseArbiterSettings {
            queues: 2 + random.below(7),
            pruning: 1 + random.below(8),
            utilization: pick(random, &[0.5, 0.95, 1.0]),
            forget: pick(random, &[Span::from_us(500), Span::from_ms(10)]),
            ..delegation(&mut random.clone())
        });
        return;
    }
    if setup.transports().any(|own| own.stack().arbiter() == Some("telemetry")) {
        setup.switch.arbiter = ArbiterSettings::TelemetryArbiter(TelemetryArbiterSettings {});
        return;
    }
    setup.switch.arbiter = ArbiterSettings::PdqArbiter(PdqArbiterSettings {
        early_start: pick(random, &[0.0, 1.0, 2.0, 10.0]),
        dampening: pick(random, &[0.0, 0.5, 1.0, 3.0]),
        probing: pick(random, &[0.1, 0.2, 1.0]),
        least_list: 1 + random.below(10),
        most_list: pick(random, &[1, 3, 1024]),
        utilization: pick(random, &[0.5, 0.95, 1.0]),
        forget: pick(random, &[Span::from_us(500), Span::from_ms(10)]),
    });
}

/// Every other world with PASE delegates. Drawn aside: the rest of the world stays as it is.
fn delegation(random: &mut Random) -> PaseArbiterSettings {
    PaseArbiterSettings {
        delegation: one_in(random, 2),
        delegation_interval: pick(random, &[Span::from_us(1), Span::from_us(100), Span::from_ms(5)]),
        least_slice: pick(random, &[0.01, 0.2, 1.0]),
        ..Default::default()
    }
}

/// Now and then the first of several queues with weights go ahead of the others.
pub(super) fn go_ahead(setup: &mut Setup, random: &mut Random) {
    let fabrics = setup.switch_kinds().any(|switch| switch.voq.is_some());
    let switch = &mut setup.switch;
    let weighted = matches!(switch.schedule, SchedulerSettings::Drr(_)) && switch.queues > 1;
    if !weighted || fabrics || !one_in(random, 2) {
        return;
    }
    let (first, weights) = (1 + random.below(switch.queues - 1), vec![1 + random.below(3)]);
    switch.schedule = match one_in(random, 2) {
        true => SchedulerSettings::StrictDrr(StrictDrrSettings { first, weights, ..Default::default() }),
        false => SchedulerSettings::StrictWrr(StrictWrrSettings { first, weights }),
    };
}

/// Now and then some ports are shaped.
pub(super) fn shape(setup: &mut Setup, random: &mut Random) {
    if !one_in(random, 6) {
        return;
    }
    let full = full_packet(setup);
    for number in setup.graph.hosts()..setup.graph.links().len() as u32 {
        if one_in(random, 8) {
            let own = Some(shaper(random, full, &setup.graph.links()[number as usize]));
            let (ecn, schedule) = (setup.switch.ecn.clone(), setup.switch.schedule.clone());
            let all = PortSettings { ecn, schedule, ..PortSettings::default() };
            setup.ports.entry(LinkId(number)).or_insert(all).shaper = own;
        }
    }
}

fn shaper(random: &mut Random, full: Bytes, link: &Link) -> ShaperSettings {
    let rate = Rate(link.rate.0 / (2 + random.below(6) as u64) + 1);
    let queues = if one_in(random, 2) { vec![0] } else { Vec::new() };
    ShaperSettings { rate, burst: pick(random, &[Bytes(0), full, full * 20]), queues }
}

/// Now and then memory is managed as chips do, whether classes pause or not.
pub(super) fn manage(switch: &mut SwitchSettings, random: &mut Random, full: Bytes) {
    if !one_in(random, 5) {
        return;
    }
    let pool = |class, share| mmu::PoolSettings { classes: vec![class], share: Share(share) };
    let pools = match switch.queues {
        2 if one_in(random, 2) => vec![pool(0, 0.7), pool(1, 0.3)],
        _ => Vec::new(),
    };
    let own = MmuSettings {
        group_minimum: pick(random, &[full, full * 2]),
        port_minimum: pick(random, &[Bytes(0), full * 5]),
        lossy_alpha: pick(random, &[0.1, 1.0, 8.0]),
        lossy_limit: one_in(random, 4).then_some(full * 4),
        headroom_pool: (switch.pfc.is_on() && one_in(random, 3)).then_some(Bytes(2_000_000)),
        queue_minimum: pick(random, &[full, full * 2]),
        queue_alpha: pick(random, &[0.1, 1.0, 8.0]),
        port_limit: one_in(random, 4).then_some(full * 30),
        pools,
    };
    switch.sharing = SharingSettings::Mmu(own);
    switch.buffer = Some(if switch.pfc.is_on() {
        Bytes(pick(random, &[100_000_000, 200_000_000]))
    } else {
        full * 1_000 + full * u64::from(random.below(1_000))
    });
}

/// A few packets for every queue, up to more than the flows send.
fn sharing(
    random: &mut Random,
    (graph, full): (&Graph, Bytes),
    queues: u32,
) -> (SharingSettings, Option<Bytes>) {
    let packets = pick(random, &[3, 10, 30, 100, 1_000]);
    let ports = (0..graph.switches().len())
        .map(|n| graph.links_of(Node::Switch(weft_core::SwitchId(n as u32))).len() as u64)
        .max()
        .unwrap_or(1);
    match random.below(4) {
        0 => (SharingSettings::Infinite(Default::default()), None),
        1 => {
            let minimum = pick(random, &[Bytes(0), Bytes(100), full]);
            let alpha = pick(random, &[0.5, 1.0, 8.0]);
            let pool = full * 3 * packets;
            let buffer = pool + minimum * ports * u64::from(queues);
            (SharingSettings::Dynamic(DynamicSharingSettings { alpha, minimum }), Some(buffer))
        }
        _ => {
            let buffer = one_in(random, 2).then(|| full * packets * 2 + full * ports);
            (SharingSettings::Fixed(FixedSharingSettings { per_port: full * packets }), buffer)
        }
    }
}

fn marker(random: &mut Random, packet: Bytes) -> MarkerSettings {
    let at = pick(random, &[At::Enqueue, At::Enqueue, At::Dequeue]);
    let scope = pick(random, &[Scope::Queue, Scope::Port]);
    let non_ect = pick(random, &[NonEct::Drop, NonEct::Pass, NonEct::Pass]);
    let packets = pick(random, &[2, 5, 20, 60]);
    match random.below(6) {
        0 => MarkerSettings::Off(Default::default()),
        1 => MarkerSettings::Pi(PiSettings {
            reference: Amount::Packets(packets),
            packet,
            k1: 0.01,
            k2: 10.0,
            at,
            non_ect,
            ..Default::default()
        }),
        2 => MarkerSettings::Pie(PieSettings {
            target: Span::from_us(packets),
            estimate: pick(
                random,
                &[pie::DelayEstimate::Line, pie::DelayEstimate::Departures, pie::DelayEstimate::Waited],
            ),
            packet,
            non_ect,
            ..Default::default()
        }),
        3 => MarkerSettings::Codel(CodelSettings {
            target: Span::from_us(packets),
            interval: Span::from_us(10 * packets),
            least: packet,
            non_ect,
        }),
        4 => MarkerSettings::Step(StepSettings {
            threshold: Amount::Packets(packets),
            packet,
            at,
            scope,
            non_ect,
        }),
        _ => MarkerSettings::Red(RedSettings {
            min: Amount::Bytes(packet * packets),
            max: Amount::Packets(packets * u64::from(1 + random.below(5))),
            max_probability: Share(pick(random, &[0.01, 0.3, 1.0])),
            beyond: pick(random, &[Beyond::MarkAll, Beyond::Continue]),
            average: random.below(3),
            packet,
            at,
            arriving: pick(random, &[Arriving::Included, Arriving::Excluded]),
            scope,
            non_ect,
        }),
    }
}
