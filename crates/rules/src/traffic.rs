//! Rules on traffic.

use crate::transport::framing;
use crate::{Facts, Finding, impossible};
use weft_core::Time;
use weft_topology::{LinkState, plan};
use weft_workload::{Limits, Shape, check};

/// The traffic crate's checks in this network, with the first seed's failures.
pub(crate) fn traffic_fits_the_network(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let settings = facts.settings;
    let seed = settings.seeds.first().copied().unwrap_or(1);
    let state = match plan(graph, &settings.failure, seed) {
        Ok(plan) => plan.initial(graph),
        Err(_) => LinkState::all_up(graph),
    };
    if settings.traffic.is_empty() {
        found.push(impossible("traffic", "no traffic: give at least one [[traffic]]"));
    }
    let (host_rate, uplink_capacity) = (graph.host_rates(&state), graph.uplink_capacity(&state));
    let shape = Shape {
        leaf_of_host: graph.leaf_of_host(),
        host_rate: &host_rate,
        uplink_capacity: &uplink_capacity,
        framing: framing(&settings.transport),
        folder: facts.folder,
        host_names: graph.host_names(),
    };
    let limits = Limits {
        warm_up: Time::ZERO + settings.measure.warm_up,
        measured_flows: settings.measure.flows,
        until: settings.measure.until.map(|span| Time::ZERO + span),
    };
    found.extend(check(&settings.flows(), &shape, &limits).iter().map(Finding::from));
}

/// A class that an entry chooses has a queue of its own.
pub(crate) fn classes_have_queues(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    if facts.stacks.iter().any(|stack| stack.transport.stack().goes_by_classes()) {
        return;
    }
    let queues = facts.devices.iter().map(|device| device.switch.queues).max().unwrap_or(1);
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        if let Some(class) = entry.class.filter(|class| *class >= queues) {
            let message = format!(
                "class {class} has no queue of its own: ports have {queues} (switch.queues), numbered from 0"
            );
            found.push(impossible(format!("traffic[{index}].class"), message));
        }
    }
}

/// An entry that stops before it starts, or starts after the run ends, sends nothing.
pub(crate) fn every_entry_sends_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    for (index, entry) in facts.settings.flows().iter().enumerate() {
        if let Some(stop) = entry.stop.filter(|stop| *stop <= entry.start) {
            let message = format!("stops at {stop}, before it starts at {}: it sends nothing", entry.start);
            found.push(impossible(format!("traffic[{index}].stop"), message));
        }
        if let Some(until) = facts.settings.measure.until.filter(|until| *until <= entry.start) {
            let message = format!("starts at {}, but the run ends at {until}: it sends nothing", entry.start);
            found.push(impossible(format!("traffic[{index}].start"), message));
        }
    }
}
