//! Plausible records of a leaf-spine network under four balancers, made from formulas: for tests of what comes after
//! the simulator. The figures mean nothing.

use weft_core::record::{
    DropRecord, FlowRecord, HopRecord, ImbalanceRecord, LinkRecord, NodeRecord, QueueSeries, Reason,
    RunRecord, Stop,
};
use weft_core::{Bytes, FlowId, HostId, LinkId, Purpose, Random, Rate, Span, Time};
use weft_report::detail::Detail;
use weft_report::{Manifest, Run, RunFacts, Summary};

/// A balancer, as far as the formulas know it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scheme {
    /// Its name in the scenario.
    pub name: &'static str,
    /// How much queueing it leaves, relative to ECMP.
    pub queueing: f64,
    /// How uneven it leaves the uplinks.
    pub uneven: f64,
    /// Share of flows that see reordering at full load.
    pub reordering: f64,
}

/// Four schemes; the first is the baseline.
pub const SCHEMES: [Scheme; 4] = [
    Scheme { name: "ecmp", queueing: 1.0, uneven: 0.32, reordering: 0.0 },
    Scheme { name: "conga", queueing: 0.78, uneven: 0.16, reordering: 0.001 },
    Scheme { name: "presto", queueing: 0.66, uneven: 0.07, reordering: 0.02 },
    Scheme { name: "drill", queueing: 0.5, uneven: 0.03, reordering: 0.005 },
];
/// Offered loads as written in the scenario.
pub const LOADS: [&str; 4] = ["0.1", "0.3", "0.5", "0.8"];

/// Leaves, spines and hosts per leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Switches with hosts.
    pub leaves: u32,
    /// Switches above them.
    pub spines: u32,
    /// Hosts on each leaf.
    pub hosts: u32,
}

/// The network of the DRILL paper's first experiment.
pub const SHAPE: Shape = Shape { leaves: 16, spines: 4, hosts: 20 };

const ENDED: Span = Span::from_ms(400);

/// The record of one run with `flows` flows.
#[must_use]
pub fn record(scheme: &Scheme, load: f64, seed: u64, flows: u32) -> RunRecord {
    let mut random = Random::new(seed, Purpose::Test, (load * 100.0) as u64);
    let flows = flow_records(scheme, load, flows, &mut random);
    let drops = drops(scheme, load);
    RunRecord {
        tags: vec!["trace".to_owned()],
        nodes: nodes(SHAPE),
        links: links(SHAPE, scheme, load, &mut random),
        flows,
        hops: hops(scheme, load, &mut random),
        packet_hops: 9_000_000,
        drops,
        queues: Some(queues(scheme, load, &mut random)),
        imbalance: imbalance(scheme, load),
        events: 41_000_000,
        ended: Time::ZERO + ENDED,
        warm_up: Time::ZERO + Span::from_ms(20),
        stop: Stop::Finished,
        ..RunRecord::default()
    }
}

/// The nodes of a leaf-spine network.
#[must_use]
pub fn nodes(shape: Shape) -> Vec<NodeRecord> {
    let named = |word: &'static str, tier, count| {
        (0..count).map(move |n| NodeRecord { name: format!("{word}{n}"), tier })
    };
    let hosts = named("host", 0, shape.leaves * shape.hosts);
    hosts.chain(named("leaf", 1, shape.leaves)).chain(named("spine", 2, shape.spines)).collect()
}

fn links(shape: Shape, scheme: &Scheme, load: f64, random: &mut Random) -> Vec<LinkRecord> {
    let Shape { leaves, spines, hosts } = shape;
    let (leaf, spine) = (|n: u32| leaves * hosts + n, |n: u32| leaves * (hosts + 1) + n);
    let access = (0..leaves * hosts).map(|host| (host, leaf(host / hosts), host % hosts, 10));
    let fabric = (0..leaves).flat_map(|l| (0..spines).map(move |s| (l, s)));
    let fabric = fabric.map(|(l, s)| (leaf(l), spine(s), hosts + s, 40));
    let mut links = Vec::new();
    for (from, to, port, gbps) in access.chain(fabric).collect::<Vec<_>>() {
        let spread = if gbps == 40 { scheme.uneven } else { 0.15 };
        for (from, to, port) in [(from, to, port), (to, from, from)] {
            let busy = (load * (1.0 + spread * (2.0 * random.unit() - 1.0) * 1.4)).min(0.99);
            links.push(link(from, to, port, gbps, busy * if gbps == 10 { 0.8 } else { 1.0 }));
        }
    }
    let failed = links.len() - 9;
    links[failed] = LinkRecord { failed: true, sent: Bytes(0), packets: 0, ..links[failed].clone() };
    links
}

fn link(from: u32, to: u32, port: u32, gbps: u64, busy: f64) -> LinkRecord {
    let rate = Rate::from_gbps(gbps);
    let sent = Bytes((rate.bytes_in(ENDED).0 as f64 * busy) as u64);
    LinkRecord {
        from,
        to,
        port: port as u16,
        rate,
        delay: Span::from_us(1),
        sent,
        packets: sent.0 / 1_200,
        dropped: (busy.powi(9) * 300.0) as u64,
        peak: Bytes((busy.powi(3) * 1_400_000.0) as u64),
        mean_queue: busy.powi(3) * 40_000.0,
        ..LinkRecord::default()
    }
}

fn exponential(random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln()
}

/// A size between 200 B and 30 MB, heavy-tailed.
fn flow_size(random: &mut Random) -> u64 {
    let (low, high) = match random.unit() {
        x if x < 0.6 => (200f64, 20_000f64),
        x if x < 0.92 => (20_000.0, 1_000_000.0),
        _ => (1_000_000.0, 30_000_000.0),
    };
    (low * (high / low).powf(random.unit())) as u64
}

fn flow_records(scheme: &Scheme, load: f64, count: u32, random: &mut Random) -> Vec<FlowRecord> {
    let hosts = SHAPE.leaves * SHAPE.hosts;
    let step = Span::from_ms(360).0 / u64::from(count.max(1));
    let mut one = |n: u32| flow(n, Time(u64::from(n) * step), hosts, (scheme, load), random);
    (0..count).map(&mut one).collect()
}

fn flow(n: u32, start: Time, hosts: u32, (scheme, load): (&Scheme, f64), random: &mut Random) -> FlowRecord {
    let size = flow_size(random);
    let ideal = Span::from_us(12) + Rate::from_gbps(10).time_for(Bytes(size * 1_500 / 1_448));
    let queueing = 0.55 * scheme.queueing * load / (1.05 - load);
    let burst = if random.unit() < 0.03 * queueing { 12.0 * exponential(random) } else { 1.0 };
    let small = 1.0 + (30_000.0 / size as f64).min(6.0).sqrt();
    let slowdown = 1.0 + queueing * exponential(random) * small * burst;
    let lost = random.unit() < 0.004 * scheme.queueing * load.powi(4);
    let timeout = if lost { Span::from_ms(10) } else { Span::ZERO };
    let fct = Span::from_seconds_rounded(ideal.seconds() * slowdown) + timeout;
    let reordered = random.unit() < scheme.reordering * load;
    let dupacks = if reordered { 1 + (exponential(random) * 1.4) as u32 } else { 0 };
    FlowRecord {
        flow: FlowId(n),
        source: HostId(random.below(hosts)),
        destination: HostId(random.below(hosts)),
        size: Bytes(size),
        start,
        end: Some(start + fct),
        ideal,
        delivered: Bytes(size),
        retransmitted: Bytes(if lost { 1_448 } else { 0 }),
        timeouts: u32::from(lost),
        dupacks: dupacks + if lost { 4 } else { 0 },
        dupacks_reorder: dupacks,
        out_of_order: dupacks,
        displacement: dupacks,
        gro_batches: 1 + (size / 64_000) as u32,
        ..FlowRecord::default()
    }
}

fn hops(scheme: &Scheme, load: f64, random: &mut Random) -> Vec<HopRecord> {
    let share = [2.0, 9.0 * scheme.queueing.powi(2), 1.5 * scheme.queueing, 6.5];
    let mut hop = |mean_us: f64| {
        let mut record = HopRecord::default();
        let mean = mean_us * load / (1.1 - load) * 1_000.0;
        (0..4_000).for_each(|_| record.wait_ns.add((mean * exponential(random)) as u64));
        record
    };
    share.into_iter().map(&mut hop).collect()
}

fn drops(scheme: &Scheme, load: f64) -> Vec<DropRecord> {
    let amount = load.powi(6) * 30_000.0;
    let row = |hop, reason, packets: f64| DropRecord {
        hop,
        reason,
        packets: packets as u64,
        bytes: Bytes(packets as u64 * 1_518),
    };
    let rows = [
        row(1, Reason::Threshold, amount * scheme.queueing.powi(3)),
        row(2, Reason::Threshold, amount * 0.1 * scheme.queueing),
        row(3, Reason::PortFull, amount * 0.08),
        row(3, Reason::Threshold, amount * 0.25),
    ];
    rows.into_iter().filter(|row| row.packets > 0).collect()
}

fn imbalance(scheme: &Scheme, load: f64) -> Vec<ImbalanceRecord> {
    let packets = 60.0 * scheme.uneven * load / (1.1 - load);
    let set = |name: &str, hop, packets| ImbalanceRecord {
        name: name.to_owned(),
        hop,
        samples: 500_000,
        packets,
        bytes: packets * 1_500.0,
        ..ImbalanceRecord::default()
    };
    vec![set("uplinks of a leaf", 1, packets), set("spine ports towards a leaf", 2, packets * 0.4)]
}

/// Queues of every fabric port: a slow wave per port, and bursts.
fn queues(scheme: &Scheme, load: f64, random: &mut Random) -> QueueSeries {
    let (fabric, bins) = (SHAPE.leaves * SHAPE.spines, 400u32);
    let first = 2 * SHAPE.leaves * SHAPE.hosts;
    let phases: Vec<f64> = (0..fabric).map(|_| random.unit() * 6.3).collect();
    let mut series = QueueSeries {
        every: Span::from_us(10),
        samples_per_bin: 100,
        links: (0..fabric).map(|n| LinkId(first + 2 * n)).collect(),
        samples: u64::from(bins) * 100,
        ..QueueSeries::default()
    };
    for bin in 0..bins {
        for phase in &phases {
            let wave = 1.0 + (f64::from(bin) / 31.0 + phase).sin() * scheme.uneven * 2.8;
            let burst = if random.unit() < 0.02 { 4.0 } else { 1.0 };
            let mean = 60_000.0 * scheme.queueing * load / (1.1 - load) * wave.max(0.02) * burst;
            series.peak.push((mean * (1.5 + exponential(random))) as u64);
            series.sum.push((mean * 100.0) as u64);
        }
    }
    series
}

/// The complete scenario as it would stand beside such a run.
#[must_use]
pub fn scenario(scheme: &Scheme, load: &str) -> String {
    format!(
        "weft = 1\nname = \"drill-80\"\nseeds = [1, 2, 3]\n\n[topology.leaf-spine]\nleaves = 16\nspines = 4\n\
         hosts_per_leaf = 20\nhost_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         fabric_link = {{ rate = \"40 Gbps\", delay = \"1 us\" }}\n\n[switch]\nbuffer = \"12 MiB\"\nengines = 1  # \
         default\n\n[balance.{}]\n\n[[traffic]]\ntag = \"trace\"\nload = {load}\nsizes = \"facebook-web\"\n",
        scheme.name
    )
}

/// The manifest of a run of the sweep.
#[must_use]
pub fn manifest(scheme: &Scheme, load: &str, seed: u64) -> Manifest {
    let case = SCHEMES.iter().position(|other| other == scheme).unwrap_or(0) as u64;
    let case = case * 10 + LOADS.iter().position(|other| *other == load).unwrap_or(0) as u64;
    Manifest {
        version: "0.1.0".into(),
        commit: "synthetic".into(),
        name: "drill-80".into(),
        about: "Mean and tail FCT of four load balancers at 10–80 % load".into(),
        labels: vec![("balance".into(), scheme.name.into()), ("traffic.trace.load".into(), load.into())],
        seed,
        command: "weft run scenarios/drill-80.toml".into(),
        hash: format!("{:016x}", weft_core::random::mix(case + 1)),
        host: "a formula".into(),
        wall_s: 12.3,
        threads: 2,
        events: 41_000_000,
        ..Manifest::default()
    }
}

/// A finished run without a folder.
#[must_use]
pub fn run(scheme: &Scheme, load: &str, seed: u64, flows: u32) -> Run {
    let record = record(scheme, load.parse().unwrap_or(0.5), seed, flows);
    let manifest = manifest(scheme, load, seed);
    Run {
        summary: Summary::new(&record, &RunFacts { wall_s: manifest.wall_s, threads: manifest.threads }),
        detail: Detail::new(&record),
        scenario: scenario(scheme, load),
        link: format!("{}/seed-{seed}/summary.json", manifest.case_folder()),
        quiver: String::new(),
        manifest,
    }
}

/// Every scheme at every load with the given number of seeds and flows per run.
#[must_use]
pub fn sweep(seeds: u64, flows: u32) -> Vec<Run> {
    let cases = SCHEMES.iter().flat_map(|scheme| LOADS.iter().map(move |load| (scheme, load)));
    cases.flat_map(|(scheme, load)| (1..=seeds).map(move |seed| run(scheme, load, seed, flows))).collect()
}
