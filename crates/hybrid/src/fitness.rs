//! Features that the engine refuses, because fluid flows or the probe would be wrong about them.

use weft_core::HostId;
use weft_plan::Setup;
use weft_transport::Transport;
use weft_workload::Flow;

use crate::background::Background;
use crate::moment::SETTLE;

/// The reasons why this engine cannot run a setup, each with what it can run; empty if it can run the setup.
#[must_use]
pub fn misfits(setup: &Setup) -> Vec<String> {
    let mut reasons: Vec<String> = of_network(setup).into_iter().chain(of_flows(setup)).collect();
    reasons.extend(setup.transports().filter_map(|transport| of_transport(transport)));
    reasons.sort();
    reasons.dedup();
    reasons
}

fn chosen(found: impl IntoIterator<Item = (bool, &'static str)>) -> Vec<String> {
    found.into_iter().filter(|(is, _)| *is).map(|(_, why)| why.to_owned()).collect()
}

fn of_network(setup: &Setup) -> Vec<String> {
    let links = setup.graph.links();
    chosen([
        (
            !setup.timeline.changes.is_empty(),
            "cables fail or return during the run: all must stay as they are at its start",
        ),
        (links.iter().any(|link| link.loss > 0.0), "a cable loses packets at random: only queues may"),
        (links.iter().any(|link| link.stalls.is_some()), "a host stalls: hosts must always accept packets"),
        (!setup.storms.is_empty(), "hosts send pause storms: only queues may cause pauses"),
    ])
}

fn of_flows(setup: &Setup) -> Vec<String> {
    let background = Background::of(setup);
    let flows = &background.flows;
    let apart = background.starts().is_some_and(|(first, last)| last.since(first) > SETTLE.0);
    let ends = setup.flows.jobs().iter().any(weft_workload::ClusterJob::ends_run);
    let classes = |flow: &Flow| setup.queues_of(flow);
    let mut classes: Vec<_> = flows.iter().chain(&of_jobs(setup)).map(classes).collect();
    classes.sort_unstable();
    classes.dedup();
    chosen([
        (setup.flows.jobs().is_empty(), "there is no job: it needs traffic of the kinds `terasort` or `dag`"),
        (
            flows.iter().any(|flow| flow.constant_rate().is_some()),
            "other traffic sends datagrams at a constant rate: its flows must be TCP",
        ),
        (setup.flows.take_turns(), "flows of other traffic take turns: they must all be open together"),
        (apart, "flows of other traffic start over time: all must start within 500 ms and outlast the jobs"),
        (
            !flows.is_empty() && !ends,
            "other traffic continues after the jobs: the run must end with them (ends_run = true)",
        ),
        (classes.len() > 1, "flows differ in priority class: all must share one queue"),
    ])
}

/// A call of each job.
pub(crate) fn of_jobs(setup: &Setup) -> Vec<Flow> {
    let flow = |job: &weft_workload::ClusterJob| {
        let (source, destination) = job.pairs().first().copied().unwrap_or((HostId(0), HostId(0)));
        Flow::new(job.tag(), weft_core::Time::ZERO, (source, destination), job.call())
    };
    setup.flows.jobs().iter().map(flow).collect()
}

fn of_transport(transport: &Transport) -> Option<String> {
    match transport.tcp() {
        None => Some(format!(
            "a transport is not TCP but {}: only windows of TCP are modelled",
            transport.protocol()
        )),
        Some(tcp) if tcp.pias.is_on() => {
            Some("flows are demoted through priority classes (pias): all must share one queue".to_owned())
        }
        Some(_) => None,
    }
}
