//! RB4 with the cores of this machine: the time that our router takes for a packet, put into the model of a cluster.

use weft::Error;
use weft_blueprint::file::{Blueprint, TrafficLoad};
use weft_blueprint::simulated;
use weft_cluster::traffic::SizeMix;
use weft_cluster::{Director, ServerModel, Work};
use weft_core::{Bytes, Span, Time};

use super::{FigureRequest, Figures};
use crate::{clock, router};

/// Names of these figures.
pub const TODAY_FIGURES: &[&str] =
    &["today.route_ns", "today.relay_ns", "today.decision_ns", "today.cores", "today.small", "today.mixed"];

/// Decisions of a director that are timed, and the flows among them.
const DECISIONS: u64 = 4_000_000;
const FLOWS: u64 = 10_000;

/// Measures the router, then simulates the cluster of a description with its times.
pub(super) fn measure(blueprint: &Blueprint, request: &FigureRequest<'_>) -> Result<Figures, Error> {
    let best = |name: &str| {
        (request.progress)(&format!("{name} on one core"))?;
        Ok::<f64, Error>(1e3 / router::mpps(name, 1, request.passes))
    };
    let (route, relay) = (best("route-256k")?, best("forward")?);
    let decision = (0..request.passes).map(|_| decision_ns(blueprint)).fold(f64::INFINITY, f64::min);
    let mut described = blueprint.clone();
    // One cycle is a nanosecond here, because times were measured.
    let work = |cycles| Work { cycles, per_byte: 0.0 };
    let server = described.model.server;
    described.model.server =
        ServerModel { frequency: 1e9, route: work(route), relay: work(relay), avoidance: decision, ..server };
    let most = |sizes: SizeMix| {
        (request.progress)("simulating RB4 with these cores")?;
        let Some(traffic) = described.traffic.first() else { return Ok(None) };
        let traffic =
            weft_blueprint::PlannedTraffic { load: TrafficLoad::Most, packets: Some(sizes), ..*traffic };
        Ok::<_, Error>(Some(simulated::run(&described, &traffic).outcome.throughput().gbps()))
    };
    let (small, mixed) = (most(SizeMix::Fixed(Bytes(64)))?, most(SizeMix::Mixed)?);
    // The rate of 64-byte packets that the cores alone would carry, whatever cards and links allow.
    let nodes = f64::from(described.model.shape.ports());
    let cores = described.model.server.packets_per_second(Bytes(64)) * nodes * Bytes(64).bits() as f64 / 1e9;
    let values = [Some(route), Some(relay), Some(decision), Some(cores), small, mixed];
    let named = TODAY_FIGURES.iter().zip(values);
    Ok(named.filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect())
}

/// Nanoseconds of a decision about a packet, flowlet table included.
fn decision_ns(blueprint: &Blueprint) -> f64 {
    let settings =
        weft_cluster::DirectorSettings { nodes: blueprint.model.shape.ports(), ..blueprint.model.director };
    let (mut director, size) = (Director::new(settings, 0), Bytes(64));
    let (kept, seconds) = clock::timed(|| {
        for n in 0..DECISIONS {
            let flow = n % FLOWS;
            let now = Time::ZERO + Span::from_ns(50 * n);
            std::hint::black_box(director.choose(now, flow, 1 + (flow % 3) as u16, size));
        }
        director.counters().kept
    });
    std::hint::black_box(kept);
    seconds * 1e9 / DECISIONS as f64
}
