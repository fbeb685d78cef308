//! The cost of a scenario, estimated before it runs: packet hops from flows and shortest paths, time and memory from
//! the measured cost of a hop and a link. Runs nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

use weft_core::{HostId, SwitchId, Time};
use weft_plan::Setup;
use weft_report::terminal::{WIDTH, wrapped};
use weft_report::text::{count, duration, number, plural, size};
use weft_scenario::Scenario;
use weft_topology::{Graph, Node};
use weft_workload::Flow;

/// Time of a packet hop in the event loop by number of hosts, nanoseconds: `r1-shared` and the large networks of
/// `docs/src/performance.md`, whose memory no cache holds, at 32 ns for the bound loop. Pauses take about twice as long.
const NANOSECONDS_PER_HOP: [(f64, f64); 4] =
    [(400.0, 75.0), (8_192.0, 190.0), (27_648.0, 320.0), (65_536.0, 700.0)];
/// Time of a flow besides its packets: drawing, opening, closing and recording it (case `million`), nanoseconds.
const NANOSECONDS_PER_FLOW: f64 = 5_000.0;
/// Memory of a run regardless of its network, mostly flows on their way to the disk (`docs/src/performance.md`).
const BYTES_OF_A_RUN: f64 = 30e6;
/// Memory per direction of a cable: 8192 hosts below a fat tree have 49 152 of them and take 190 MB (`docs/src/performance.md`).
const BYTES_OF_A_LINK: f64 = 3_300.0;
/// Memory of a value of a queue series: peak and sum.
const BYTES_OF_A_QUEUE_VALUE: f64 = 12.0;
/// Maximum number of flows of a run examined; the first ones represent the others.
const MOST_FLOWS: usize = 200_000;
/// Maximum number of switches from which distances are searched; packets from others go as far as the mean.
const MOST_SEARCHES: usize = 128;
/// Maximum number of cases examined; some at equal distances represent the others.
const MOST_CASES: usize = 3;

/// An estimate of the cost of all runs of a scenario, without losses, retransmissions and idle time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CostEstimate {
    /// Runs of the scenario.
    pub runs: usize,
    /// Flows of a run, the mean over the examined cases.
    pub flows: f64,
    /// Link traversals by any packet in a run, the mean over these cases.
    pub packet_hops: f64,
    /// Memory of a run in bytes, the greatest of these cases.
    pub bytes: f64,
    /// Time of a packet hop, nanoseconds, the mean over these cases.
    pub hop_ns: f64,
    /// Whether the runs end before their flows, so that windows that are still growing send less than estimated.
    pub cut_off: bool,
}

/// Time of a packet hop in a network of this many hosts, nanoseconds: between the measured sizes by powers.
fn hop_ns(hosts: f64) -> f64 {
    let measured = &NANOSECONDS_PER_HOP;
    let hosts = hosts.clamp(measured[0].0, measured[measured.len() - 1].0);
    let above = measured.partition_point(|(size, _)| *size < hosts).max(1);
    let ((few, least), (many, most)) = (measured[above - 1], measured[above]);
    least * (most / least).powf((hosts / few).ln() / (many / few).ln())
}

impl CostEstimate {
    /// Computing time of all runs on one core, seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        (self.packet_hops * self.hop_ns + self.flows * NANOSECONDS_PER_FLOW) * self.runs as f64 / 1e9
    }

    fn words(&self) -> String {
        format!(
            "estimate: {}{} packet hops in {} of about {} flows, without losses; {} {} on one core at {} ns per hop and {} us per \
             flow, {} of memory per run",
            if self.cut_off { "at most " } else { "" },
            number(self.packet_hops * self.runs as f64),
            plural(self.runs as u64, "run"),
            count(self.flows.round() as u64),
            if self.cut_off { "at most" } else { "about" },
            duration(self.seconds() * 1e6),
            number(self.hop_ns.round()),
            number(NANOSECONDS_PER_FLOW / 1e3),
            size(self.bytes)
        )
    }
}

/// The setups of some cases with the first seed, without those that cannot be built, which `run` will report.
fn setups(scenario: &Scenario, folder: &Path) -> Vec<Setup> {
    let (cases, seed) = (scenario.cases(), scenario.settings.seeds.first().copied().unwrap_or(1));
    let each = cases.len().div_ceil(MOST_CASES).max(1);
    cases
        .iter()
        .step_by(each)
        .filter_map(|case| weft_prepare::setup(&case.settings, folder, seed).ok())
        .collect()
}

/// The cost of the runs; `None` if jobs add flows, or nothing can be built.
pub(crate) fn estimate(scenario: &Scenario, folder: &Path) -> Option<CostEstimate> {
    of_setups(scenario, &setups(scenario, folder))
}

fn of_setups(scenario: &Scenario, setups: &[Setup]) -> Option<CostEstimate> {
    let known: Vec<CostEstimate> = setups.iter().filter_map(of_run).collect();
    let mean = |of: fn(&CostEstimate) -> f64| known.iter().map(of).sum::<f64>() / known.len() as f64;
    (!known.is_empty()).then(|| CostEstimate {
        runs: scenario.cases().len() * scenario.settings.seeds.len(),
        flows: mean(|one| one.flows),
        packet_hops: mean(|one| one.packet_hops),
        bytes: known.iter().map(|one| one.bytes).fold(0.0, f64::max),
        hop_ns: mean(|one| one.hop_ns),
        cut_off: known.iter().any(|one| one.cut_off),
    })
}

fn of_run(setup: &Setup) -> Option<CostEstimate> {
    let mut distances = Distances { graph: &setup.graph, from: BTreeMap::new(), found: (0, 0) };
    let flows = setup.flows.iter().take_while(|flow| flow.start < setup.until).take(MOST_FLOWS);
    let flows: Vec<Flow> = flows.collect();
    let (looked, room) = (flows.len(), Room::of(setup, &flows));
    let hops_of = |flow: &Flow| {
        let hops = distances.hops(flow.source, flow.destination);
        setup.packets_of(flow) * hops * room.share(flow)
    };
    let hops: f64 = flows.iter().map(hops_of).sum();
    let cut_off = flows.iter().any(|flow| room.share(flow) < 1.0);
    let all = if looked == MOST_FLOWS { setup.flows.len() } else { looked };
    let links = setup.graph.links();
    let of_switches = links.iter().filter(|link| matches!(link.from, Node::Switch(_))).count();
    let bins = setup.queues_every.map_or(0, |_| setup.queue_bins.unwrap_or(0));
    (looked > 0 && setup.flows.jobs().is_empty()).then(|| CostEstimate {
        runs: 1,
        flows: all as f64,
        packet_hops: hops * all as f64 / looked as f64,
        bytes: BYTES_OF_A_RUN
            + BYTES_OF_A_LINK * links.len() as f64
            + BYTES_OF_A_QUEUE_VALUE * (bins * of_switches) as f64,
        hop_ns: hop_ns(f64::from(setup.graph.hosts())),
        cut_off,
    })
}

/// The shares of their bytes that hosts can send and receive before the run ends.
struct Room {
    /// For every host, the share of the bytes that it sends, and of those that it receives.
    shares: [BTreeMap<HostId, f64>; 2],
}

impl Room {
    fn of(setup: &Setup, flows: &[Flow]) -> Room {
        let rate = |host: HostId| -> f64 {
            setup.graph.links_of(Node::Host(host)).iter().map(|link| link.rate.0 as f64).sum()
        };
        let shares = |end: fn(&Flow) -> HostId| {
            // the first start and the bytes of every host
            let mut all: BTreeMap<HostId, (Time, f64)> = BTreeMap::new();
            for flow in flows {
                let entry = all.entry(end(flow)).or_insert((flow.start, 0.0));
                *entry = (entry.0.min(flow.start), entry.1 + flow.size.0 as f64);
            }
            let share = |(host, (first, bytes)): (HostId, (Time, f64))| {
                let most = rate(host) / 8.0 * setup.until.since(first).seconds();
                (host, (most / bytes.max(1.0)).min(1.0))
            };
            all.into_iter().map(share).collect()
        };
        Room { shares: [shares(|flow| flow.source), shares(|flow| flow.destination)] }
    }

    /// The share of a flow that the slower of its ends lets through.
    fn share(&self, flow: &Flow) -> f64 {
        let [sent, received] = &self.shares;
        sent[&flow.source].min(received[&flow.destination])
    }
}

/// Lengths of shortest paths, by the switch that they start at.
struct Distances<'a> {
    graph: &'a Graph,
    from: BTreeMap<SwitchId, Vec<u32>>,
    /// Paths looked up, and the sum of their lengths.
    found: (u64, u64),
}

impl Distances<'_> {
    /// Links of a shortest path between two hosts; the mean of those found where too many switches were searched from.
    fn hops(&mut self, source: HostId, destination: HostId) -> f64 {
        let graph = self.graph;
        let (first, last) = (graph.switch_of_host(source), graph.switch_of_host(destination));
        if self.from.len() == MOST_SEARCHES && !self.from.contains_key(&first) {
            return self.found.1 as f64 / self.found.0 as f64;
        }
        let hops = 2 + self.from.entry(first).or_insert_with(|| distances(graph, first))[last.index()];
        self.found = (self.found.0 + 1, self.found.1 + u64::from(hops));
        f64::from(hops)
    }
}

/// The distance of every switch from one of them.
fn distances(graph: &Graph, first: SwitchId) -> Vec<u32> {
    let mut found = vec![u32::MAX; graph.switches().len()];
    found[first.index()] = 0;
    let mut open = VecDeque::from([first]);
    while let Some(switch) = open.pop_front() {
        for link in graph.links_of(Node::Switch(switch)) {
            let Node::Switch(next) = link.to else { continue };
            if found[next.index()] == u32::MAX {
                found[next.index()] = found[switch.index()] + 1;
                open.push_back(next);
            }
        }
    }
    // a graph is connected
    found
}

/// The coarseness of queue series: arrivals alone take more samples than a series has bins.
fn thinned(setup: &Setup) -> Option<String> {
    let (every, bins) = (setup.queues_every.filter(|every| every.0 > 0)?, setup.queue_bins? as u64);
    let (_, last) = setup.flows.arrivals()?;
    let sampled = last.min(setup.until).since(setup.warm_up.min(last)).0 / every.0;
    let per_bin = sampled.div_ceil(bins.max(1)).next_power_of_two();
    let asked = setup.queues_averaged.max(1);
    (per_bin > asked).then(|| {
        format!(
            "queue series: {} samples every {every} until the last flow starts, but {} bins (measure.queues_values): {per_bin} or more \
             samples share a bin, which keeps their peak and mean",
            count(sampled),
            count(bins)
        )
    })
}

/// Failures and repairs after the earliest instant at which all flows can be done: the run may be over by then.
fn late(setup: &Setup) -> Option<String> {
    let done = earliest_end(setup)?;
    let of_cables = setup.timeline.changes.iter().filter(|(_, change)| change.cable().is_some());
    let late: Vec<Time> = of_cables.map(|(at, _)| *at).filter(|at| *at > done && *at < setup.until).collect();
    let time = |at: Time| duration(at.seconds() * 1e6);
    Some(format!(
        "failures: {} of cables when all flows can be done ({}), the first at {}: the run may be over by then",
        plural(late.len() as u64, "change"),
        time(done),
        time(*late.first()?)
    ))
}

/// When the last flow starts, or later if one takes longer to leave its host at line rate. `None` for endless flows
/// and for jobs, whose flows are not known yet.
fn earliest_end(setup: &Setup) -> Option<Time> {
    let (_, last) = setup.flows.arrivals()?;
    let rate = |host: HostId| setup.graph.links_of(Node::Host(host)).iter().map(|link| link.rate).max();
    let sent =
        |flow: Flow| rate(flow.source).map_or(flow.start, |rate| flow.start + rate.time_for(flow.size));
    let flows = setup.flows.iter().take_while(|flow| flow.start < setup.until).take(MOST_FLOWS);
    flows.map(sent).chain([last]).max()
}

/// The parts of transports that the estimate does not count.
fn uncounted(setups: &[Setup]) -> Option<String> {
    let transports = setups.iter().flat_map(|setup| setup.stacks.all.iter().chain([&setup.transport]));
    let found: BTreeSet<&str> =
        transports.filter_map(|transport| transport.stack().sends_besides()).collect();
    let all = found.into_iter().collect::<Vec<_>>().join("; ");
    (!all.is_empty()).then(|| format!("not counted: {all}, which may double the packet hops"))
}

/// The note that there is no estimate if jobs create flows while they run.
fn none_for_jobs(setups: &[Setup]) -> Option<String> {
    let jobs = setups.iter().any(|setup| !setup.flows.jobs().is_empty());
    jobs.then(|| "no estimate: jobs determine their flows while they run".to_owned())
}

/// The additions of `check`: an estimate of the cost, a note on thinned queue series, and failures that may come too
/// late.
pub(crate) fn words(scenario: &Scenario, folder: &Path) -> String {
    let setups = setups(scenario, folder);
    let cost = of_setups(scenario, &setups);
    let more = cost.and_then(|_| uncounted(&setups));
    let lines = cost.map(|cost| cost.words()).or_else(|| none_for_jobs(&setups)).into_iter().chain(more);
    let remarks = setups.iter().find_map(thinned).into_iter().chain(setups.iter().find_map(late));
    let lines = lines.chain(remarks).map(|line| line.replace('\u{202f}', " "));
    lines.flat_map(|line| wrapped(&line, WIDTH)).map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::hop_ns;

    #[test]
    fn a_hop_takes_longer_in_networks_that_no_cache_holds() {
        let sizes = [2.0, 400.0, 1_024.0, 8_192.0, 27_648.0, 65_536.0, 1e6];
        let times = sizes.map(hop_ns);
        assert!(times.is_sorted() && times[0] == 75.0 && times[6] == 700.0, "{times:?}");
        assert!((times[3] - 190.0).abs() < 1e-9 && (95.0..115.0).contains(&times[2]), "{times:?}");
    }
}
