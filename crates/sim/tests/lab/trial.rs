//! One world on trial: all laws, and the same record from threads, cuts, asked departures and without samples.

use std::collections::BTreeMap;

use weft_core::record::{FlowRecord, HopWaits, RunRecord, Stop};
use weft_plan::{Division, Setup};
use weft_sim::Simulation;

use super::laws::{LAWS, Verdict, may_collapse, same, same_but_foreseen};
use super::worlds::{World, asked};

/// The extent of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The laws, and asked against foreseen departures: all on one thread.
    Alone,
    /// Everything.
    Threads,
}

/// The occurrences, so that a search shows what it has covered.
pub(crate) type Coverage = BTreeMap<&'static str, u64>;

/// No world takes more events; one that does never ends.
const ENDLESS: u64 = 30_000_000;

fn run(setup: Setup) -> Result<RunRecord, String> {
    ended(Simulation::new(setup))
}

fn ended(simulation: Simulation) -> Result<RunRecord, String> {
    let record = simulation.run(&mut |progress| progress.events < ENDLESS);
    match record.stop {
        Stop::Interrupted => Err(format!("never ends: {} events until {}", record.events, record.ended)),
        _ => Ok(record),
    }
}

/// On several threads, looking ahead for memory, which may change as little.
fn divided(setup: &Setup, domains: usize, scatter: Option<u64>) -> Result<RunRecord, String> {
    let setup = Setup { division: Division { scatter, ..Division::threads(domains) }, ..setup.clone() };
    ended(Simulation::new(setup).looking_ahead(true))
}

/// Tests the world of a seed.
pub(crate) fn trial(seed: u64, extent: Extent) -> Result<Coverage, String> {
    let world = World::new(seed);
    let told = |what: &str, verdict: Verdict| verdict.map_err(|why| format!("{what}: {why}"));
    let setup = &world.setup;
    let alone = match run(setup.clone()) {
        Err(_) if may_collapse(&world) => return Ok(Coverage::from([("worlds: collapsed", 1)])),
        alone => alone?,
    };
    for (name, law) in LAWS {
        told(name, law(&world, &alone))?;
    }
    let by_asking = run(asked(setup))?;
    let foresees = alone.events < by_asking.events;
    told("asked departures", same_but_foreseen(&alone, &by_asking))?;
    told("without samples", unsampled(setup, &alone))?;
    if extent == Extent::Threads {
        let domains = 2 + seed as usize % 3;
        told("threads", same(&alone, &divided(setup, domains, None)?))?;
        told("random cut", same(&alone, &divided(setup, 2 + seed as usize / 3 % 3, Some(seed))?))?;
    }
    let mut covered = coverage(&world, &alone, foresees);
    covered.insert("worlds: divided", u64::from(extent == Extent::Threads && parts(setup) > 1));
    Ok(covered)
}

/// The number of domains into which a world is really cut.
fn parts(setup: &Setup) -> usize {
    Simulation::new(Setup { division: Division::threads(4), ..setup.clone() }).threads()
}

/// Sampling changes only the samples.
fn unsampled(setup: &Setup, record: &RunRecord) -> Verdict {
    let series = setup.series_bins.is_some() || setup.flow_waits;
    if setup.queues_every.is_none() && setup.flow_samples.is_none() && !series {
        return Ok(());
    }
    let seeing = setup.clone();
    let blind = run(Setup {
        queues_every: None,
        flow_samples: None,
        series_bins: None,
        flow_waits: false,
        ..seeing
    })?;
    let without = |flow: &FlowRecord| FlowRecord { waits: HopWaits::default(), ..flow.clone() };
    let flows = record.flows.iter().map(without).collect();
    let (queues, imbalance, flow_series, series) = (None, Vec::new(), None, None);
    same(&RunRecord { queues, imbalance, flow_series, series, flows, ..record.clone() }, &blind)
}

fn coverage(world: &World, record: &RunRecord, foresees: bool) -> Coverage {
    let mut coverage = Coverage::new();
    let mut count = |what, n: u64| *coverage.entry(what).or_insert(0) += n;
    count("worlds", 1);
    count("events", record.events);
    count("packets", record.packets.created);
    count("packets left", record.packets.left);
    count("out of order", record.flows.iter().map(|flow| u64::from(flow.out_of_order)).sum());
    count("time-outs", record.flows.iter().map(|flow| u64::from(flow.timeouts)).sum());
    count("marked", record.links.iter().map(|link| link.marked).sum());
    count("trimmed", record.links.iter().map(|link| link.trimmed).sum());
    count("returned", record.links.iter().map(|link| link.returned).sum());
    for drop in &record.drops {
        count(drop.reason.name(), drop.packets);
    }
    count("worlds: foreseen", u64::from(foresees));
    count("worlds: sampled", u64::from(record.queues.is_some()));
    count("worlds: series", u64::from(record.series.is_some()));
    count("worlds: flows sampled", u64::from(record.flow_series.is_some()));
    count("worlds: mixed switches", u64::from(!world.setup.devices.kinds().is_empty()));
    count("worlds: paused", u64::from(!record.pauses.is_empty()));
    count("worlds: deadlocked", u64::from(!record.deadlocks.is_empty()));
    count(world.topology.name(), 1);
    count("worlds: several transports", u64::from(world.transports.len() > 1));
    world.transports.iter().for_each(|transport| count(transport.name(), 1));
    count(world.setup.balancer.name(), 1);
    let stop = match record.stop {
        Stop::Finished => "worlds: finished",
        Stop::TimeLimit => "worlds: time limit",
        Stop::Stuck => "worlds: datagrams lost",
        Stop::Interrupted => unreachable!("refused above"),
    };
    count(stop, 1);
    coverage
}

/// Adds what another trial has covered.
pub(crate) fn add(to: &mut Coverage, more: Coverage) {
    for (what, n) in more {
        *to.entry(what).or_insert(0) += n;
    }
}
