//! From the settings of a case to the parts of a run. What a seed decides (failed cables, flows) is decided here.

use std::path::Path;

use weft_core::{Bytes, Class, Time};
use weft_plan::{FlowSampling, Setup, Storm};
use weft_scenario::ScenarioSettings;
use weft_switch::pause::PauseStormSettings;
use weft_topology::{Graph, LinkState, Node, build_in, plan, timeline};
use weft_transport::Transport;
use weft_workload::{Flows, Framing, Limits, Shape, generate};

/// The parts of the run of a case with a seed. `folder` is where relative file names start.
///
/// # Errors
/// What can only be found out while building, each with the path of its setting: files that cannot be read or that
/// changed since the scenario was checked.
pub(crate) fn setup(settings: &ScenarioSettings, folder: &Path, seed: u64) -> Result<Setup, String> {
    let graph = build_in(&settings.topology, folder).map_err(|problems| told(&problems))?;
    let plan = plan(&graph, &settings.failure, seed).map_err(|problems| told(&problems))?;
    let timeline = timeline(&graph, &plan, &settings.routing, settings.balance.grouping());
    let transport = Transport::new(&settings.transport);
    let flows = flows(settings, (&graph, &timeline.initial), (&transport, folder), seed)?;
    let measure = &settings.measure;
    let storms = storms(settings, &graph)?;
    Ok(Setup {
        switch: settings.switch.clone(),
        balancer: settings.balance.clone(),
        flows,
        storms,
        tags: settings.traffic.iter().map(|traffic| traffic.tag.clone()).collect(),
        classes: settings
            .traffic
            .iter()
            .map(|traffic| traffic.class.map(|class| Class(class as u8)))
            .collect(),
        warm_up: Time::ZERO + measure.warm_up,
        until: measure.until.map_or(Time::NEVER, |span| Time::ZERO + span),
        queues_every: measure.queues_every,
        queues_averaged: measure.queues_averaged(),
        flow_samples: measure.flows_every.map(|every| FlowSampling { every, flows: measure.flows_sampled }),
        seed,
        ..Setup::new(graph, timeline, transport)
    })
}

/// Hosts that send pauses without end.
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

/// What is sent.
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
        framing: framing(transport),
        folder,
    };
    let limits = Limits {
        warm_up: Time::ZERO + settings.measure.warm_up,
        measured_flows: settings.measure.flows,
        until: settings.measure.until.map(|span| Time::ZERO + span),
    };
    generate(&settings.traffic, &shape, &limits, seed).map_err(|problems| told(&problems))
}

fn framing(transport: &Transport) -> Framing {
    Framing { mss: Bytes(transport.mss()), overhead: Bytes(transport.overhead_wire()) }
}

/// All problems of something that could not be built, one a line.
#[must_use]
pub fn told(problems: &[impl ToString]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
