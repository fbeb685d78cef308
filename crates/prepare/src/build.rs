//! Builds the parts of a run from the settings of a case. Everything that depends on the seed (failed cables, flows) is
//! decided here.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use weft_core::{Class, HostId, Time};
use weft_plan::{DeviceKind, DeviceKinds, FlowSampling, Setup, Storm};
use weft_scenario::{CardsInUse, Device, ScenarioSettings, TransportsInUse, cards, devices, ports, stacks};
use weft_switch::pause::PauseStormSettings;
use weft_topology::{
    FailurePlan, Graph, LinkState, Node, RoutingSettings, Timeline, build_in, plan, timeline,
};
use weft_transport::card::CardSettings;
use weft_transport::{Transport, TransportSettings};
use weft_workload::{Flows, Framing, Limits, Shape, generate};

/// The parts of the run of a case with a seed. Relative file names start at `folder`.
///
/// # Errors
/// Mistakes found only while building, each with the path of its setting: files that cannot be read or that
/// changed since the scenario was checked.
pub(crate) fn setup(settings: &ScenarioSettings, folder: &Path, seed: u64) -> Result<Setup, String> {
    let graph = build_in(&settings.topology, folder, seed).map_err(|problems| told(&problems))?;
    let plan = plan(&graph, &settings.failure, seed).map_err(|problems| told(&problems))?;
    let mut kinds = devices(settings, &graph).into_iter();
    let first = kinds.next().ok_or("a network without switches")?;
    let others: Vec<Device> = kinds.collect();
    let timeline = routes((&graph, &plan, &settings.routing), (&first, &others));
    let (transport, stacks) = carriers(stacks(settings, &graph), &settings.transport);
    let traffic = settings.flows();
    let flows = flows(settings, (&graph, &timeline.initial), (&transport, folder), seed)?;
    let measure = &settings.measure;
    let storms = storms(settings, &graph)?;
    let ports = ports(settings, &graph);
    let cards = differing_cards(settings, &graph);
    let setup = Setup {
        switch: first.switch,
        balancer: first.balance,
        devices: differing(others),
        ports,
        flows,
        storms,
        tags: traffic.iter().map(|traffic| traffic.tag.clone()).collect(),
        stacks,
        card: settings.card.clone(),
        cards,
        classes: traffic.iter().map(|traffic| traffic.class.map(|class| Class(class as u8))).collect(),
        warm_up: Time::ZERO + measure.warm_up,
        until: measure.until.map_or(Time::NEVER, |span| Time::ZERO + span),
        queues_every: measure.queues_every,
        queues_above: measure.queues_above,
        queues_averaged: measure.queues_averaged(),
        queue_bins: Some(measure.queues_values as usize),
        flow_waits: measure.waits,
        flow_samples: measure.flows_every.map(|every| FlowSampling { every, flows: measure.flows_sampled }),
        seed,
        ..Setup::new(graph, timeline, transport)
    };
    let bins = measure.series_bins.map_or_else(|| setup.affordable_bins(), |bins| bins.0 as usize);
    Ok(Setup { series_bins: Some(bins).filter(|bins| *bins > 0), ..setup })
}

/// The transports of flows: one for all, or one per kind. A receiver follows its own host if that uses the same
/// transport over TCP or RoCE, otherwise the sender's host.
fn carriers(stacks: TransportsInUse, base: &TransportSettings) -> (Transport, weft_plan::Stacks) {
    let TransportsInUse { all, group_of_host, of } = stacks;
    if let [one] = all.as_slice() {
        return (Transport::new(&one.transport), weft_plan::Stacks::default());
    }
    let receiver = |sender: u16, own: u16| {
        let (sent, received) = (&all[usize::from(sender)].transport, &all[usize::from(own)].transport);
        let has_ends = sent.tcp().is_some() || sent.roce().is_some();
        if sent.name() == received.name() && has_ends { own } else { sender }
    };
    let between = |senders: &Vec<u16>, receivers: &Vec<u16>| {
        senders.iter().zip(receivers).map(|(sender, own)| receiver(*sender, *own)).collect()
    };
    let receivers = of.iter().map(|senders| of.iter().map(|own| between(senders, own)).collect()).collect();
    let all = all.iter().map(|stack| Arc::new(Transport::new(&stack.transport))).collect();
    (Transport::new(base), weft_plan::Stacks { all, group_of_host, senders: of, receivers })
}

/// The hosts whose cards differ from `card`.
fn differing_cards(settings: &ScenarioSettings, graph: &Graph) -> BTreeMap<HostId, CardSettings> {
    let CardsInUse { all, of_host } = cards(settings, graph);
    let own = of_host.iter().map(|number| &all[usize::from(*number)].card);
    let hosts = (0..graph.hosts()).map(HostId).zip(own);
    hosts.filter(|(_, card)| **card != settings.card).map(|(host, card)| (host, card.clone())).collect()
}

/// The switches that differ from those of the first kind.
fn differing(others: Vec<Device>) -> DeviceKinds {
    let mut devices = DeviceKinds::default();
    for Device { switch, balance, switches, .. } in others {
        devices.add(DeviceKind { switch, balancer: balance }, &switches);
    }
    devices
}

/// The routes over time. Every switch has the groups that its own balancer requires.
fn routes(
    (graph, plan, routing): (&Graph, &FailurePlan, &RoutingSettings),
    (first, others): (&Device, &[Device]),
) -> Timeline {
    let wanted = first.balance.grouping();
    let mut whole = timeline(graph, plan, routing, wanted);
    for device in others.iter().filter(|device| device.balance.grouping() != wanted) {
        let own = timeline(graph, plan, routing, device.balance.grouping());
        for (state, own) in whole.states.iter_mut().zip(own.states) {
            device.switches.iter().for_each(|switch| {
                state.switches[switch.index()] = own.switches[switch.index()].clone();
            });
        }
    }
    whole
}

/// Hosts that send pause storms.
fn storms(settings: &ScenarioSettings, graph: &Graph) -> Result<Vec<Storm>, String> {
    let storm = |storm: &PauseStormSettings| match graph.node_named(&storm.host) {
        Some(Node::Host(host)) => {
            let until = storm.until.map_or(Time::NEVER, |until| Time::ZERO + until);
            Ok(Storm { host, from: Time::ZERO + storm.at, until })
        }
        _ => Err(format!("there is no host called `{}`", storm.host)),
    };
    settings.pause_storm.iter().map(storm).collect()
}

/// The flows.
fn flows(
    settings: &ScenarioSettings,
    (graph, state): (&Graph, &LinkState),
    (transport, folder): (&Transport, &Path),
    seed: u64,
) -> Result<Flows, String> {
    let (host_rate, uplink_capacity) = (graph.host_rates(state), graph.uplink_capacity(state));
    let shape = Shape {
        leaf_of_host: graph.leaf_of_host(),
        host_rate: &host_rate,
        uplink_capacity: &uplink_capacity,
        framing: Framing::from(transport.frames()),
        folder,
        host_names: graph.host_names(),
    };
    let limits = Limits {
        warm_up: Time::ZERO + settings.measure.warm_up,
        measured_flows: settings.measure.flows,
        until: settings.measure.until.map(|span| Time::ZERO + span),
    };
    generate(&settings.flows(), &shape, &limits, seed).map_err(|problems| told(&problems))
}

fn told(problems: &[impl ToString]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
