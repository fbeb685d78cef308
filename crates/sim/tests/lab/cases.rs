//! Crowded networks: shallow buffers and flows enough that losses happen everywhere, and failing cables.

use std::sync::Arc;

use weft_core::settings::Amount;
use weft_core::{Bytes, Purpose, Random, Rate, Span, Time};
use weft_plan::{FlowSampling, Setup};
use weft_switch::BalancerSettings;
use weft_switch::balance::{
    conga::CongaSettings, drill::DrillSettings, ecmp::EcmpSettings, flow_drill::FlowDrillSettings,
    letflow::LetFlowSettings, presto::PrestoSettings, random::RandomSettings,
    round_robin::RoundRobinSettings, wcmp::WcmpSettings,
};
use weft_switch::mark::{MarkerSettings, step::StepSettings};
use weft_switch::schedule::SchedulerSettings;
use weft_switch::share::{SharingSettings, dynamic::DynamicSharingSettings, fixed::FixedSharingSettings};
use weft_topology::failure::Outage;
use weft_topology::shapes::{
    diamond::DiamondSettings, fat_tree::FatTreeSettings, full_mesh::FullMeshSettings,
    leaf_spine::LeafSpineSettings, single_switch::SingleSwitchSettings,
};
use weft_topology::{FailurePlan, LinkSettings, RoutingSettings, TopologySettings, timeline};
use weft_transport::TransportSettings;

fn topology(random: &mut Random) -> TopologySettings {
    let link = |random: &mut Random| LinkSettings {
        delay: Span::from_ns(u64::from(random.below(3_000))),
        ..LinkSettings::of(Rate::from_gbps([10, 25, 40][random.below(3) as usize]))
    };
    match random.below(5) {
        0 => TopologySettings::LeafSpine(LeafSpineSettings {
            leaves: 2 + random.below(3),
            spines: 1 + random.below(4),
            hosts_per_leaf: 1 + random.below(4),
            host_link: link(random),
            fabric_link: link(random),
            ..Default::default()
        }),
        1 => TopologySettings::FatTree(FatTreeSettings { k: 4, ..Default::default() }),
        2 => TopologySettings::Diamond(DiamondSettings::default()),
        3 => TopologySettings::FullMesh(FullMeshSettings::default()),
        _ => TopologySettings::SingleSwitch(SingleSwitchSettings::default()),
    }
}

fn balancer(random: &mut Random) -> BalancerSettings {
    match random.below(9) {
        0 => BalancerSettings::Ecmp(EcmpSettings::default()),
        1 => BalancerSettings::PerPacketRandom(RandomSettings::default()),
        2 => BalancerSettings::RoundRobin(RoundRobinSettings::default()),
        3 => BalancerSettings::FlowDrill(FlowDrillSettings::default()),
        4 => BalancerSettings::LetFlow(LetFlowSettings::default()),
        7 => BalancerSettings::Presto(PrestoSettings::default()),
        6 => BalancerSettings::Wcmp(WcmpSettings::default()),
        5 => BalancerSettings::Conga(CongaSettings::default()),
        _ => BalancerSettings::Drill(DrillSettings {
            choices: 1 + random.below(4),
            memory: random.below(4),
            ..Default::default()
        }),
    }
}

/// TCP whose timers are those of data centres, so that idle waiting stays short.
fn transport(law: u32) -> TransportSettings {
    let mut settings = match law {
        0 => TransportSettings::NewReno(Default::default()),
        1 => TransportSettings::Cubic(Default::default()),
        2 => TransportSettings::Htcp(Default::default()),
        _ => TransportSettings::Dctcp(Default::default()),
    };
    let tcp = match &mut settings {
        TransportSettings::NewReno(own) => &mut own.tcp,
        TransportSettings::Cubic(own) => &mut own.tcp,
        TransportSettings::Htcp(own) => &mut own.tcp,
        TransportSettings::Dctcp(own) => &mut own.tcp,
        _ => unreachable!("chosen above"),
    };
    (tcp.min_rto, tcp.initial_rto) = (Span::from_ms(1), Span::from_ms(2));
    settings
}

/// A random small case: shallow buffers, so that losses happen.
pub(crate) fn case(seed: u64) -> Setup {
    let mut random = Random::new(seed, Purpose::Test, 0);
    let topology = topology(&mut random);
    let law = random.below(4);
    let transport = transport(law);
    let mut setup = super::setup(&topology, &transport);
    setup.seed = seed;
    setup.balancer = balancer(&mut random);
    setup.switch.engines = 1 + random.below(4);
    setup.switch.sharing = match random.below(2) {
        0 => SharingSettings::Fixed(FixedSharingSettings {
            per_port: Bytes(20_000 + u64::from(random.below(100_000))),
        }),
        _ => SharingSettings::Dynamic(DynamicSharingSettings { alpha: 0.5, ..Default::default() }),
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
            MarkerSettings::Step(StepSettings { threshold: Amount::Packets(10), ..Default::default() });
    }
    setup.until = weft_core::Time::ZERO + Span::from_s(60);
    setup.queues_every = (random.below(2) == 0).then(|| Span::from_us(7));
    setup.flow_samples =
        (seed.is_multiple_of(3)).then(|| FlowSampling { every: Span::from_us(5), flows: 20 });
    setup.flows = super::random_flows(&setup, 60, Span::from_us(300), 50_000).into();
    setup
}

/// The same with cables that fail and come back while flows run.
pub(crate) fn failing(seed: u64) -> Setup {
    let mut setup = case(seed);
    let mut random = Random::new(seed, Purpose::Test, 1);
    let fabric = setup.graph.fabric_cables();
    let mut outages = Vec::new();
    for cable in &fabric {
        if random.below(3) > 0 {
            continue;
        }
        let at = Time::ZERO + Span::from_us(u64::from(random.below(300)));
        let repair = at + Span::from_us(u64::from(20 + random.below(200)));
        outages.push(Outage { cables: vec![*cable], at: Some(at), repair: Some(repair) });
    }
    let plan = FailurePlan { outages };
    let grouping = setup.balancer.grouping();
    setup.timeline = Arc::new(timeline(&setup.graph, &plan, &RoutingSettings::default(), grouping));
    setup
}
