//! Random worlds: every shape, rate, delay, buffer, marker, scheduler, balancer and transport that a scenario can name,
//! with losses, failing cables and time limits. Small, so that thousands of them run in a minute. Judges nothing.

mod carriers;
mod ends;
mod network;
mod switching;

use std::sync::Arc;

use weft_core::{Bytes, Purpose, Random, Rate, Span, Time};
use weft_plan::{FlowSampling, Setup};
use weft_switch::SwitchSettings;
use weft_switch::mark::NonEct;
use weft_switch::share::SharingSettings;
use weft_topology::failure::Outage;
use weft_topology::timeline::Convergence;
use weft_topology::{FailurePlan, Graph, LinkState, RoutingSettings, TopologySettings, timeline};
use weft_transport::card::CardSettings;
use weft_transport::{Transport, TransportSettings};
use weft_workload::Flow;

/// A random run, and the settings it was made of.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) topology: TopologySettings,
    /// All transports in use; the first is the default for flows.
    pub(crate) transports: Vec<TransportSettings>,
    /// Some cables fail, some of them permanently.
    pub(crate) plan: FailurePlan,
    /// Some cable loses packets by chance.
    pub(crate) lossy: bool,
}

/// Nothing that should finish takes longer.
pub(crate) const AGES: Span = Span::from_s(60);

impl World {
    /// The world of a seed.
    pub(crate) fn new(seed: u64) -> World {
        let mut random = Random::new(seed, Purpose::Test, 100);
        let topology = network::topology(&mut random);
        // Shapes added later have random streams of their own, so that the worlds of most seeds are unchanged.
        let mut topology = network::later(&mut Random::new(seed, Purpose::Test, 107)).unwrap_or(topology);
        network::stall(&mut topology, &mut Random::new(seed, Purpose::Test, 109));
        let transport = ends::transport(&mut random);
        let mut transport = ends::later(&mut Random::new(seed, Purpose::Test, 111)).unwrap_or(transport);
        if let Some(pase) = ends::arbitrated(&mut Random::new(seed, Purpose::Test, 131)) {
            transport = pase;
        }
        if let Some(pfabric) = ends::ranked(&mut Random::new(seed, Purpose::Test, 120)) {
            transport = pfabric;
        }
        if let Some(ndp) = ends::receiver_driven(&mut Random::new(seed, Purpose::Test, 118)) {
            transport = ndp;
        }
        if let Some(pdq) = ends::granted(&mut Random::new(seed, Purpose::Test, 124)) {
            transport = pdq;
        }
        if let Some(hpcc) = ends::reported(&mut Random::new(seed, Purpose::Test, 133)) {
            transport = hpcc;
        }
        ends::read_late_and_cut(&mut transport, &mut Random::new(seed, Purpose::Test, 110));
        let mut setup = super::setup(&topology, &transport);
        let lossy = setup.graph.links().iter().any(|link| link.loss > 0.0);
        setup.seed = seed;
        let transports = carriers::mix(&mut setup, &transport, &mut Random::new(seed, Purpose::Test, 125));
        setup.balancer = switching::balancer(&mut random);
        switching::compare_paths(&mut setup.balancer, &mut Random::new(seed, Purpose::Test, 108));
        setup.switch = switching::switch(&mut random, &setup.graph, full_packet(&setup));
        switching::pause(&mut setup.switch, &mut Random::new(seed, Purpose::Test, 117));
        let full = full_packet(&setup);
        switching::manage(&mut setup.switch, &mut Random::new(seed, Purpose::Test, 115), full);
        switching::cells(&mut setup.switch, &mut Random::new(seed, Purpose::Test, 123));
        switching::trim(&mut setup, &mut Random::new(seed, Purpose::Test, 119));
        if setup.transports().any(|own| own.stack().ranks_packets()) {
            // CONGA and Presto write where ranks are; scenarios refuse that.
            setup.balancer = switching::without_notes(setup.balancer);
        }
        switching::arbitrate(&mut setup, &mut Random::new(seed, Purpose::Test, 124));
        switching::rank(&mut setup, &mut Random::new(seed, Purpose::Test, 120));
        switching::choose_classes(&mut setup, &mut Random::new(seed, Purpose::Test, 116));
        let flows = flows(&mut random, &setup.graph, &setup.transport);
        setup.flows = carriers::deal(&setup, flows, &mut Random::new(seed, Purpose::Test, 126)).into();
        if one_in(&mut Random::new(seed, Purpose::Test, 114), 6) {
            setup.flows = setup.flows.taking_turns(&[Some(Time::NEVER)]);
        }
        setup.queues_every =
            one_in(&mut random, 2).then(|| Span::from_ns(10_000 + u64::from(random.below(20_000))));
        setup.flow_samples = one_in(&mut random, 3).then(|| FlowSampling {
            every: Span::from_ns(5_000 + u64::from(random.below(20_000))),
            flows: 1 + random.below(20),
        });
        let mut own = Random::new(seed, Purpose::Test, 130);
        setup.series_bins = one_in(&mut own, 2).then(|| 2 + own.below(60) as usize);
        setup.flow_waits = one_in(&mut own, 2);
        let plan =
            if one_in(&mut random, 4) { failures(&mut random, &setup.graph) } else { Default::default() };
        setup.timeline =
            Arc::new(timeline(&setup.graph, &plan, &routing(&mut random), setup.balancer.grouping()));
        switching::mix(&mut setup, &mut Random::new(seed, Purpose::Test, 118));
        switching::fabric(&mut setup, &mut Random::new(seed, Purpose::Test, 122));
        switching::go_ahead(&mut setup, &mut Random::new(seed, Purpose::Test, 132));
        switching::shape(&mut setup, &mut Random::new(seed, Purpose::Test, 121));
        carriers::queue_at_cards(&mut setup, &transports, &mut Random::new(seed, Purpose::Test, 127));
        let mut world = World { setup, topology, transports, plan, lossy };
        world.setup.until = Time::ZERO + world.limit(&mut random);
        world
    }

    fn limit(&self, random: &mut Random) -> Span {
        match () {
            () if one_in(random, 6) => Span::from_ns(20_000 + u64::from(random.below(400_000))),
            () if self.may_stay_apart() || self.may_collapse() => Span::from_ms(30),
            () => AGES,
        }
    }

    /// Whether the run ends by its time limit although every flow would finish.
    pub(crate) fn is_cut(&self) -> bool {
        self.setup.until < Time::ZERO + AGES
    }

    /// Whether some hosts can never reach each other again.
    pub(crate) fn may_stay_apart(&self) -> bool {
        self.plan.outages.iter().any(|outage| outage.repair.is_none())
    }

    /// Whether queue pairs may retry without success for a very long time. Payload in both directions may keep every
    /// answer out, because markers drop what they cannot mark and nobody falls silent; or time-outs that do not grow
    /// may endlessly repeat what still waits in a queue, which then grows faster than it drains.
    fn may_collapse(&self) -> bool {
        let endless = |switch: &SwitchSettings| matches!(switch.sharing, SharingSettings::Infinite(_));
        let drops = |switch: &SwitchSettings| switch.ecn.non_ect() == Some(NonEct::Drop);
        let repeats = |transport: &TransportSettings| match (transport, transport.roce()) {
            (TransportSettings::Ndp(ndp), _) => ndp.pull_timeout <= ndp.rto,
            (_, Some(pairs)) => {
                self.setup.switch_kinds().any(drops)
                    || self.setup.ports.values().any(|port| port.ecn.non_ect() == Some(NonEct::Drop))
                    || self.setup.switch_kinds().any(endless)
                        && pairs.retry_timeout_max <= pairs.retry_timeout
            }
            _ => false,
        };
        self.transports.iter().any(repeats)
    }

    /// Whether some flows are datagrams, which are never retransmitted.
    pub(crate) fn has_datagrams(&self) -> bool {
        self.setup.flows.iter().any(|flow| self.is_datagrams(&flow))
    }

    /// Whether a flow is sent as datagrams.
    pub(crate) fn is_datagrams(&self, flow: &Flow) -> bool {
        flow.constant_rate().is_some() || matches!(self.sending(flow), TransportSettings::Udp(_))
    }

    /// The transport of the sender of a flow.
    pub(crate) fn sending(&self, flow: &Flow) -> &TransportSettings {
        let sender = self.setup.sender(flow);
        let number = self.setup.stacks.all.iter().position(|one| Arc::ptr_eq(one, sender));
        &self.transports[number.unwrap_or(0)]
    }

    /// All cards in use.
    pub(crate) fn cards(&self) -> impl Iterator<Item = &CardSettings> {
        std::iter::once(&self.setup.card).chain(self.setup.cards.values())
    }

    /// Wire size of the largest full packet.
    pub(crate) fn full(&self) -> Bytes {
        full_packet(&self.setup)
    }

    /// Everything that distinguishes this world from others.
    pub(crate) fn describe(&self) -> String {
        let Setup {
            graph,
            timeline,
            switch,
            balancer,
            devices,
            card,
            cards,
            flows,
            until,
            queues_every,
            flow_samples,
            ..
        } = &self.setup;
        format!(
            "{:?}\n{balancer:?}\n{switch:?}\n{devices:?}\n{card:?} {cards:?}\n{:?}\n{:?}\n{} changes, {} hosts, {} flows until {until}, sampled {queues_every:?} {flow_samples:?}",
            self.topology,
            self.transports,
            self.plan,
            timeline.changes.len(),
            graph.hosts(),
            flows.len(),
        )
    }
}

/// True once in `n` times.
fn one_in(random: &mut Random, n: u32) -> bool {
    random.below(n) == 0
}

/// One of these.
fn pick<T: Copy>(random: &mut Random, among: &[T]) -> T {
    among[random.below(among.len() as u32) as usize]
}

/// At most a thousand packets or so, at instants that collide or do not.
fn flows(random: &mut Random, graph: &Graph, transport: &Transport) -> Vec<Flow> {
    let count = pick(random, &[1, 3, 10, 30, 60]);
    let mean = pick(random, &[1, 500, 3_000, 10_000, 500 * transport.mss() / count]);
    let within = pick(random, &[1, 20, 100, 400]) * 1_000_000;
    let grid = pick(random, &[1, 1_000_000, within]);
    let constant = pick(random, &[0, 0, 1, 4]);
    let hosts = graph.hosts();
    let target = one_in(random, 3).then(|| random.below(hosts));
    let mut flows: Vec<_> = (0..count)
        .map(|_| {
            let source = random.below(hosts);
            let other = (source + 1 + random.below(hosts - 1)) % hosts;
            let destination = target.filter(|target| *target != source).unwrap_or(other);
            let start = Span(random.bits() % within / grid * grid);
            let size = (1 + random.exponential(mean as f64) as u64).min(1_000 * transport.mss());
            let rate =
                if random.below(5) < constant { pick(random, &[200, 1_000, 9_000, 30_000]) } else { 0 };
            Flow { rate: Rate::from_mbps(rate), ..super::flow(start, source, destination, size) }
        })
        .collect();
    flows.sort_by_key(|flow| flow.start);
    flows
}

/// Some cables fail before or during the run; some come back.
fn failures(random: &mut Random, graph: &Graph) -> FailurePlan {
    let mut outages = Vec::new();
    let for_ever = one_in(random, 2);
    for cable in 0..graph.cables().len() {
        let host_cable = graph.links_of_cable(cable).iter().any(|link| link.0 < graph.hosts());
        if !one_in(random, if host_cable { 10 } else { 3 }) {
            continue;
        }
        let at = Time(u64::from(random.below(300)) * 1_000_000);
        let repair = at + Span::from_us(u64::from(1 + random.below(200)));
        let before = one_in(random, 4);
        let at = (!before).then_some(at);
        let repair = (!for_ever || one_in(random, 2)).then_some(repair);
        outages.push(Outage { cables: vec![cable], at, repair });
    }
    FailurePlan { outages }
}

fn routing(random: &mut Random) -> RoutingSettings {
    let us = |random: &mut Random, most: u32| Span::from_us(u64::from(random.below(most)));
    RoutingSettings {
        convergence: pick(random, &[Convergence::Flooded, Convergence::Flooded, Convergence::Instant]),
        detection: us(random, 30),
        flooding: us(random, 10),
        spf_delay: us(random, 100),
        install: us(random, 30),
    }
}

/// A cable that "comes back" at the start although it was never down changes nothing, but makes its ports be asked for
/// every packet instead of foreseeing departures.
pub(crate) fn asked(setup: &Setup) -> Setup {
    let up = |cable: &usize| LinkState::is_up(&setup.timeline.initial, *cable);
    let back = |cable| (Time::ZERO, weft_topology::Change::CableUp(cable));
    let mut changes: Vec<_> = (0..setup.graph.cables().len()).filter(up).map(back).collect();
    changes.extend(setup.timeline.changes.iter().cloned());
    let timeline = weft_topology::Timeline { changes, ..(*setup.timeline).clone() };
    Setup { timeline: Arc::new(timeline), ..setup.clone() }
}

/// Wire size of a full packet, whatever the transport.
pub(crate) fn full_packet(setup: &Setup) -> Bytes {
    let full =
        |own: &Arc<Transport>| u64::from(own.full_wire()).max(own.datagrams(Bytes(1 << 20)).full_wire.0);
    Bytes(setup.transports().map(full).max().unwrap_or_default())
}
