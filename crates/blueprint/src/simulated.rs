//! A described cluster, simulated under each of its traffics.

use std::collections::BTreeMap;
use std::fmt;

use weft_cluster::simulate::{ClusterModel, ClusterOutcome, ClusterSpan, LatencySummary, simulate};
use weft_cluster::traffic::{PoissonArrivals, SizeMix, TraceArrivals, TrafficMatrix};
use weft_cluster::{ClusterShape, DirectorCounters, DirectorSettings};
use weft_core::{Rate, Span, Time};
use weft_draw::Columns;

use crate::file::{Blueprint, PlannedTraffic, TrafficLoad, TrafficPattern};

/// Loss that counts as none in the search for the greatest load, and the share of the traffic that must get through
/// in time: traffic that only fills queues has not got through.
const LOSSLESS: f64 = 1e-3;
const IN_TIME: f64 = 0.99;
/// Columns of the table, but for the links, whose unit depends on the shape.
const COLUMNS: [&str; 9] =
    ["traffic", "load", "out, Gb/s", "lost", "server, R", "relayed", "reordered, %", "latency, us", "nodes"];
/// Halvings of that search.
const STEPS: u32 = 9;

/// A traffic and what the cluster did with it.
#[derive(Clone, Debug)]
pub struct SimulatedTraffic {
    /// The traffic.
    pub traffic: PlannedTraffic,
    /// The share of the external rate that each node's traffic was scaled to.
    pub load: f64,
    /// The highest load was wanted, and none passes: this is the lowest that was tried.
    pub none_passes: bool,
    /// What happened.
    pub outcome: ClusterOutcome,
}

/// A simulated cluster.
#[derive(Clone, Debug)]
pub struct SimulatedCluster {
    model: ClusterModel,
    /// One for each traffic of the description.
    pub runs: Vec<SimulatedTraffic>,
}

/// Simulates a cluster under all traffics of its description.
#[must_use]
pub fn simulated(blueprint: &Blueprint) -> SimulatedCluster {
    let run = |traffic: &PlannedTraffic| run(blueprint, traffic);
    SimulatedCluster { model: blueprint.model, runs: blueprint.traffic.iter().map(run).collect() }
}

/// Simulates a cluster under one traffic.
#[must_use]
pub fn run(blueprint: &Blueprint, traffic: &PlannedTraffic) -> SimulatedTraffic {
    let once = |load| {
        let outcome = outcome(blueprint, traffic, load);
        SimulatedTraffic { traffic: *traffic, load, none_passes: false, outcome }
    };
    match traffic.load {
        TrafficLoad::Share(load) => once(load),
        TrafficLoad::Most => most(once),
    }
}

/// The run with the highest load that passes.
fn most(once: impl Fn(f64) -> SimulatedTraffic) -> SimulatedTraffic {
    let mut lowest = once(1.0);
    if lowest.passes() {
        return lowest;
    }
    let mut best: Option<SimulatedTraffic> = None;
    for _ in 0..STEPS {
        let run = once(f64::midpoint(best.as_ref().map_or(0.0, |best| best.load), lowest.load));
        if run.passes() { best = Some(run) } else { lowest = run }
    }
    best.unwrap_or(SimulatedTraffic { none_passes: true, ..lowest })
}

/// The traffic matrix of a pattern.
#[must_use]
pub fn matrix(pattern: TrafficPattern, ports: u16, seed: u64) -> TrafficMatrix {
    match pattern {
        TrafficPattern::Uniform => TrafficMatrix::uniform(ports),
        TrafficPattern::Permutation => TrafficMatrix::permutation(ports),
        TrafficPattern::HotSpot => TrafficMatrix::hot_spot(ports),
        TrafficPattern::OneToOne => TrafficMatrix::one_to_one(ports),
        TrafficPattern::Random => TrafficMatrix::doubly_stochastic(ports, seed),
    }
}

fn outcome(blueprint: &Blueprint, traffic: &PlannedTraffic, load: f64) -> ClusterOutcome {
    let (seed, ports) = (traffic.seed, blueprint.model.shape.ports());
    let director = DirectorSettings { seed, ..blueprint.model.director };
    let model = ClusterModel { director, ..blueprint.model };
    let span = ClusterSpan {
        from: Time::ZERO + traffic.warm_up,
        to: Time::ZERO + traffic.duration,
        changes: blueprint.changes.clone(),
    };
    let rate = Rate((director.external.0 as f64 * load) as u64);
    match traffic.packets {
        Some(sizes) => {
            let matrix = matrix(traffic.pattern, ports, seed);
            simulate(&model, PoissonArrivals::new(&matrix, rate, sizes, seed), &span)
        }
        None => simulate(&model, TraceArrivals::new(rate, seed), &span),
    }
}

/// Names of the figures of a traffic.
pub const TRAFFIC_FIGURES: &[&str] = &[
    "cluster.throughput",
    "cluster.utilisation",
    "cluster.processing",
    "cluster.link",
    "cluster.fairness",
    "cluster.lost",
    "cluster.relayed",
    "cluster.overloaded",
    "cluster.reordering",
    "cluster.parses",
    "cluster.nodes",
    "cluster.latency_2",
    "cluster.latency_3",
];

/// The labels that distinguish one traffic of a description from another.
#[must_use]
pub fn labels(traffic: &PlannedTraffic) -> Vec<(String, String)> {
    let load = match traffic.load {
        TrafficLoad::Share(load) => load.to_string(),
        TrafficLoad::Most => "most".to_owned(),
    };
    [
        ("matrix", pattern_name(traffic.pattern).to_owned()),
        ("packets", packets_name(traffic.packets)),
        ("load", load),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

/// The figures of a traffic with this seed: throughput in Gb/s; utilisation, loss, relayed and overloaded as shares; processing
/// in R, the busiest link in 2R/N; reordered sequences per hundred packets; latencies of packets that visit two and
/// three nodes in microseconds. Where the highest load is wanted and none passes, throughput and utilisation are zero and the others absent.
#[must_use]
pub fn figures(blueprint: &Blueprint, traffic: &PlannedTraffic, seed: u64) -> BTreeMap<String, f64> {
    let run = run(blueprint, &PlannedTraffic { seed, ..*traffic });
    if run.none_passes {
        return TRAFFIC_FIGURES[..2].iter().map(|name| ((*name).to_owned(), 0.0)).collect();
    }
    let (model, outcome) = (&blueprint.model, &run.outcome);
    let decided = |count: fn(&DirectorCounters) -> u64| outcome.decided.iter().map(count).sum::<u64>() as f64;
    let entered = outcome.entered.max(1) as f64;
    let full = model.director.external.gbps() * f64::from(model.shape.ports());
    let latency = |nodes: u8| outcome.latencies.get(&nodes).map(LatencySummary::mean_us);
    let values = [
        Some(outcome.throughput().gbps()),
        Some(outcome.throughput().gbps() / full),
        Some(run.processing(model)),
        Some(run.link_load(model)),
        Some(outcome.fairness()),
        Some(outcome.losses.all() as f64 / entered),
        Some(decided(|one| one.relayed) / entered),
        Some(decided(|one| one.overloaded) / entered),
        Some(100.0 * outcome.reordering()),
        Some(outcome.parsed as f64 / entered),
        Some(outcome.most_nodes.into()),
        latency(2),
        latency(3),
    ];
    let named = TRAFFIC_FIGURES.iter().zip(values);
    named.filter_map(|(name, value)| Some(((*name).to_owned(), value?))).collect()
}

fn pattern_name(pattern: TrafficPattern) -> &'static str {
    match pattern {
        TrafficPattern::Uniform => "uniform",
        TrafficPattern::Permutation => "permutation",
        TrafficPattern::HotSpot => "hot-spot",
        TrafficPattern::OneToOne => "one-to-one",
        TrafficPattern::Random => "random",
    }
}

fn packets_name(packets: Option<SizeMix>) -> String {
    match packets {
        None => "trace".to_owned(),
        Some(SizeMix::Mixed) => "mixed".to_owned(),
        Some(SizeMix::Fixed(size)) => size.to_string(),
    }
}

impl SimulatedTraffic {
    /// Whether hardly anything is lost, and the traffic leaves in time.
    fn passes(&self) -> bool {
        let outcome = &self.outcome;
        let left: u64 = outcome.outputs.iter().sum();
        outcome.losses.all() as f64 <= LOSSLESS * outcome.entered as f64
            && left as f64 >= IN_TIME * outcome.offered as f64
    }

    /// The load of the busiest server, in units of the load to which each node's traffic was scaled.
    #[must_use]
    pub fn processing(&self, model: &ClusterModel) -> f64 {
        self.outcome.busiest().gbps() / (self.load * model.director.external.gbps())
    }

    /// The load of the busiest internal link, in units of 2R/N, or 2R/k in an n-fly.
    #[must_use]
    pub fn link_load(&self, model: &ClusterModel) -> f64 {
        let share = 2.0 * model.director.external.gbps() / f64::from(model.shape.spread());
        self.outcome.busiest_link().gbps() / share
    }

    fn name(&self) -> String {
        format!("{}, {}", pattern_name(self.traffic.pattern), packets_name(self.traffic.packets))
    }

    fn row(&self, model: &ClusterModel) -> Vec<String> {
        if self.none_passes {
            let mut row = vec!["-".to_owned(); COLUMNS.len() + 1];
            (row[0], row[1]) = (self.name(), "none".to_owned());
            return row;
        }
        let outcome = &self.outcome;
        let relayed: u64 = outcome.decided.iter().map(|one| one.relayed).sum();
        let latency = |(least, most): (Span, Span)| format!("{:.1}-{:.1}", least.micros(), most.micros());
        vec![
            self.name(),
            format!("{:.3}", self.load),
            format!("{:.2}", outcome.throughput().gbps()),
            outcome.losses.all().to_string(),
            format!("{:.2}", self.processing(model)),
            format!("{:.2}", self.link_load(model)),
            format!("{:.3}", relayed as f64 / outcome.entered.max(1) as f64),
            format!("{:.4}", 100.0 * outcome.reordering()),
            outcome.latency_range().map_or("-".to_owned(), latency),
            outcome.most_nodes.to_string(),
        ]
    }

    /// A line on what was lost and why, if anything was, or on why there is no highest load.
    fn write_losses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = self.losses();
        match (self.none_passes, lost.as_str()) {
            (false, "") => Ok(()),
            (false, lost) => writeln!(f, "{} at {:.3}: {lost}", self.name(), self.load),
            (true, "") => writeln!(
                f,
                "{}: no load passes; at {:.3} less than 99 % left in time",
                self.name(),
                self.load
            ),
            (true, lost) => writeln!(f, "{}: no load passes; at {:.3}: {lost}", self.name(), self.load),
        }
    }

    /// What was lost, and why.
    fn losses(&self) -> String {
        let losses = self.outcome.losses;
        let causes = [
            ("a card is full", losses.card),
            ("cores are busy", losses.core),
            ("a link is full", losses.link),
            ("in a node that failed", losses.failure),
            ("the output node is down", losses.no_path),
        ];
        let told = causes.iter().filter(|(_, count)| *count > 0);
        told.map(|(cause, count)| format!("{count} {cause}")).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for SimulatedCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = &self.model;
        let unit = match model.shape {
            ClusterShape::Mesh { nodes } => {
                writeln!(f, "{nodes} nodes, full mesh, {} each", model.director.external)?;
                "link, 2R/N"
            }
            ClusterShape::Fly { arity, ranks } => {
                let (ports, nodes) = (model.shape.ports(), model.shape.nodes());
                writeln!(
                    f,
                    "{ports} ports, {nodes} nodes, {arity}-ary {ranks}-fly, {} each",
                    model.director.external
                )?;
                "link, 2R/k"
            }
        };
        let mut header = COLUMNS.to_vec();
        header.insert(5, unit);
        let rows: Vec<Vec<String>> = self.runs.iter().map(|run| run.row(model)).collect();
        f.write_str(&Columns::table(&header, &rows))?;
        self.runs.iter().try_for_each(|run| run.write_losses(f))?;
        let [entered, parsed] = [
            self.runs.iter().map(|run| run.outcome.entered).sum(),
            self.runs.iter().map(|run| run.outcome.parsed).sum(),
        ]
        .map(weft_draw::text::count);
        writeln!(f, "headers were parsed {parsed} times for {entered} packets")
    }
}
