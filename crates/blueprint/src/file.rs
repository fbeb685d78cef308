//! The description of a cluster: nodes and links, how paths are chosen, what its servers can do, traffic to simulate, and
//! the prefixes behind each node. Reads a file, or reports all its mistakes at once.

use std::collections::BTreeMap;
use std::path::Path;

use weft_cluster::simulate::{ClusterModel, NodeChange};
use weft_cluster::station::MOST_NODES;
use weft_cluster::traffic::SizeMix;
use weft_cluster::{ClusterShape, DirectorSettings, RelayOrder, ServerModel, VlbKind};
use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate, Span};
use weft_fib::IpPrefix;
use weft_mistake::document::{document_value, read_document};
use weft_mistake::node::{Content, Toml};
use weft_mistake::{Mistake, Mistakes, TableReader};

use crate::changes::{SPAN, change, node, refuse_idle_changes};
use crate::clock_rate::ClockRate;

const KEYS: &[&str] = &[
    "nodes",
    "arity",
    "ranks",
    "rate",
    "link",
    "spreading",
    "order",
    "depth",
    "delta",
    "flows",
    "notice",
    "server",
    "traffic",
    "change",
    "route",
];
const SERVER_KEYS: &[&str] = &[
    "cores",
    "clock",
    "route_cycles",
    "relay_cycles",
    "avoidance_cycles",
    "card",
    "ports_per_card",
    "transfer",
    "batch",
    "batch_wait",
    "ring",
];
const TRAFFIC_KEYS: &[&str] = &["matrix", "load", "packets", "duration", "warm_up", "seed"];
const ROUTE_KEYS: &[&str] = &["prefix", "node"];

const LOAD: &str = "a share above 0, at most 1, or \"most\"";
const RATE: &str = "a rate such as \"10 Gbps\"";
const PACKETS: &str =
    "a size such as \"64 B\", or \"mixed\" (741 B on average), or \"trace\" (flows as of TCP)";
/// Maximum numbers of nodes and of ranks of an n-fly.
const MOST_OF_FLY: u32 = 4096;

/// How much each node sends to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrafficPattern {
    /// From every node to every other equally.
    Uniform,
    /// All traffic of a node to the next.
    Permutation,
    /// All to node 0.
    HotSpot,
    /// Node 0 to node 1.
    OneToOne,
    /// A random doubly stochastic matrix.
    Random,
}

/// How much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrafficLoad {
    /// A share of the external rate.
    Share(f64),
    /// The largest rate that gets through without loss.
    Most,
}

/// Traffic to simulate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlannedTraffic {
    /// Who sends to whom.
    pub pattern: TrafficPattern,
    /// How much.
    pub load: TrafficLoad,
    /// Sizes of packets; `None`: a trace of flows.
    pub packets: Option<SizeMix>,
    /// How long packets enter.
    pub duration: Span,
    /// The part of it before measurement begins.
    pub warm_up: Span,
    /// Seed of its random draws.
    pub seed: u64,
}

/// A cluster as its file describes it.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// Its model; on real packets the shape and the director's settings.
    pub model: ClusterModel,
    /// Traffic to simulate, in the order of the file.
    pub traffic: Vec<PlannedTraffic>,
    /// Failures and returns of nodes.
    pub changes: Vec<NodeChange>,
    /// The prefixes behind each node, for real packets.
    pub routes: Vec<(IpPrefix, u16)>,
}

/// Reads a file.
///
/// # Errors
/// All mistakes of the file.
pub fn read_blueprint(path: &Path) -> Result<Blueprint, Mistakes> {
    read_document(path, parse_blueprint)
}

/// Parses a text; `name` is its name in messages.
///
/// # Errors
/// All mistakes of the text.
pub fn parse_blueprint(text: &str, name: &str) -> Result<Blueprint, Mistakes> {
    document_value((text, name), blueprint)
}

fn blueprint(document: &Toml, mistakes: &mut Vec<Mistake>) -> Option<Blueprint> {
    let mut root = TableReader::new(document, "", KEYS, mistakes);
    let shape = shape(&mut root);
    let director = director(&mut root);
    let notice = root.parsed("notice", SPAN).unwrap_or(Span::ZERO);
    if !root.has("change") {
        root.refuse("notice", "without a [[change]] of a node");
    }
    let tables = ["traffic", "change", "route"].map(|key| root.list(key, &format!("[[{key}]]")));
    // Tables are read even if nodes are not known, so that all mistakes are reported.
    let (known, shape) = (shape, shape.unwrap_or(ClusterShape::Mesh { nodes: MOST_NODES }));
    let is_fly = matches!(shape, ClusterShape::Fly { .. });
    let idle = "in an n-fly, where every packet is spread over the next rank";
    if is_fly {
        ["spreading", "depth"].iter().for_each(|key| root.refuse(key, idle));
        root.refuse("route", "in an n-fly: real packets cross a mesh");
    }
    let server = match document.get("server") {
        Some(table) => server(table, mistakes),
        None => ServerModel::of_2009(),
    };
    let [traffic_tables, change_tables, route_tables] = tables;
    let traffic = numbered(traffic_tables, |table, number| traffic(table, (number, shape), mistakes));
    let changes = numbered(change_tables, |table, number| change(table, (number, shape), mistakes));
    let mut behind = BTreeMap::new();
    let routes = numbered(route_tables, |table, number| route(table, (number, shape), &mut behind, mistakes));
    if !changes.is_sorted_by_key(|change| change.time) {
        let mistake = Mistake::new(document.place, "change", "changes are not in order of time".to_owned());
        mistakes.push(mistake);
    } else if changes.len() == change_tables.len() {
        let longest = traffic.iter().map(|traffic| traffic.duration).max();
        let longest = longest.filter(|_| traffic.len() == traffic_tables.len());
        refuse_idle_changes(change_tables, (&changes, longest), mistakes);
    }
    let model = ClusterModel { shape: known?, server, director: director?, notice };
    Some(Blueprint { model, traffic, changes, routes })
}

fn numbered<T>(tables: &[Toml], mut read: impl FnMut(&Toml, usize) -> Option<T>) -> Vec<T> {
    tables.iter().enumerate().filter_map(|(number, table)| read(table, number)).collect()
}

fn shape(root: &mut TableReader<'_, '_>) -> Option<ClusterShape> {
    if root.has("arity") || root.has("ranks") {
        root.refuse("nodes", "with `arity` and `ranks`: an n-fly has arity to the power of ranks ports");
        root.require("arity", "links to the next rank");
        root.require("ranks", "ranks of nodes without external ports");
        let arity = root.number("arity", 2, 64)? as u16;
        let ranks = root.number("ranks", 1, 10)? as u16;
        let nodes = u32::from(arity).saturating_pow(ranks.into()).saturating_mul(u32::from(ranks) + 1);
        if nodes > MOST_OF_FLY {
            root.wrong("ranks", format!("{nodes} nodes"), &format!("at most {MOST_OF_FLY}"));
            return None;
        }
        return Some(ClusterShape::Fly { arity, ranks });
    }
    root.require("nodes", "the number of nodes, all linked to each other; or `arity` and `ranks`");
    Some(ClusterShape::Mesh { nodes: root.number("nodes", 2, MOST_NODES.into())? as u16 })
}

fn director(root: &mut TableReader<'_, '_>) -> Option<DirectorSettings> {
    root.require("rate", RATE);
    let (rate, link): (Option<Rate>, Option<Rate>) = (root.parsed("rate", RATE), root.parsed("link", RATE));
    let rate = rate?;
    let link = link.unwrap_or(rate);
    for (key, rate) in [("rate", rate), ("link", link)] {
        if rate < Rate::from_mbps(1) {
            root.wrong(key, format!("found {rate}"), "at least \"1 Mbps\"");
            return None;
        }
    }
    let prescribed = DirectorSettings::new(0, rate, link);
    let spreading = match root.word("spreading", &["direct", "valiant"]) {
        Some("valiant") => VlbKind::Valiant,
        _ => VlbKind::Direct,
    };
    let order = match root.word("order", &["round-robin", "random"]) {
        Some("random") => RelayOrder::Random,
        _ => RelayOrder::RoundRobin,
    };
    if spreading == VlbKind::Valiant {
        root.refuse("depth", "with spreading = \"valiant\", which has no buckets");
    }
    let delta = root.parsed("delta", SPAN).unwrap_or(prescribed.delta);
    if delta == Span::ZERO {
        root.refuse("flows", "with delta = \"0 s\": no flow is remembered");
    }
    let depth = root.parsed("depth", SPAN).unwrap_or(prescribed.depth);
    let flows = root.number("flows", 1, 1 << 24).map_or(prescribed.flows, |flows| flows as u32);
    Some(DirectorSettings { spreading, order, delta, depth, flows, ..prescribed })
}

fn server(table: &Toml, mistakes: &mut Vec<Mistake>) -> ServerModel {
    let mut server = TableReader::new(table, "server", SERVER_KEYS, mistakes);
    let default = ServerModel::of_2009();
    let mut count =
        |key: &str, default: u16, most: i64| server.number(key, 1, most).map_or(default, |n| n as u16);
    let cores = count("cores", default.cores, 1024);
    let ports_per_card = count("ports_per_card", default.ports_per_card, 64);
    let (batch, ring) =
        (count("batch", default.batch as u16, 1024), count("ring", default.ring as u16, 1 << 15));
    let mut cycles =
        |key: &str, default: f64| server.number(key, 0, 10_000_000).map_or(default, |n| n as f64);
    let (mut route, mut relay) = (default.route, default.relay);
    route.cycles = cycles("route_cycles", route.cycles);
    relay.cycles = cycles("relay_cycles", relay.cycles);
    let avoidance = cycles("avoidance_cycles", default.avoidance);
    let frequency =
        server.parsed("clock", "a clock such as \"2.8 GHz\"").unwrap_or(ClockRate(default.frequency)).0;
    let card: Rate = server.parsed("card", RATE).unwrap_or(default.card);
    if card < Rate::from_mbps(1) {
        server.wrong("card", format!("found {card}"), "at least \"1 Mbps\"");
    }
    let transfer = server.parsed("transfer", SPAN).unwrap_or(default.transfer);
    let batch_wait = server.parsed("batch_wait", SPAN).unwrap_or(default.batch_wait);
    if batch == 1 {
        server.refuse("batch_wait", "with batch = 1");
    }
    let (batch, ring) = (batch.into(), ring.into());
    ServerModel {
        cores,
        frequency,
        route,
        relay,
        avoidance,
        card,
        ports_per_card,
        transfer,
        batch,
        batch_wait,
        ring,
    }
}

fn traffic(
    table: &Toml,
    (number, shape): (usize, ClusterShape),
    mistakes: &mut Vec<Mistake>,
) -> Option<PlannedTraffic> {
    let mut traffic = TableReader::new(table, &format!("traffic[{number}]"), TRAFFIC_KEYS, mistakes);
    let matrices = ["uniform", "permutation", "hot-spot", "one-to-one", "random"];
    traffic.require("matrix", &matrices.join(", "));
    let pattern = traffic.word("matrix", &matrices).map(|word| match word {
        "permutation" => TrafficPattern::Permutation,
        "hot-spot" => TrafficPattern::HotSpot,
        "one-to-one" => TrafficPattern::OneToOne,
        "random" => TrafficPattern::Random,
        _ => TrafficPattern::Uniform,
    });
    traffic.require("load", LOAD);
    let load = load(&mut traffic);
    let packets = packets(&mut traffic);
    let trace_fits =
        pattern.is_none_or(|pattern| pattern == TrafficPattern::OneToOne) && load != Some(TrafficLoad::Most);
    if packets == Some(None) && !trace_fits {
        traffic.wrong(
            "packets",
            "a trace goes from one node to another at a given load",
            "matrix = \"one-to-one\"",
        );
    }
    let duration: Span = traffic.parsed("duration", SPAN).unwrap_or(Span::from_ms(20));
    let warm_up: Span = traffic.parsed("warm_up", SPAN).unwrap_or(Span(duration.0 / 4));
    if duration == Span::ZERO || duration > Span::from_s(10) || warm_up >= duration {
        traffic.wrong(
            "duration",
            format!("{duration} with a warm-up of {warm_up}"),
            "above the warm-up, at most \"10 s\"",
        );
    }
    let seed = traffic.number("seed", 0, i64::MAX).unwrap_or(1) as u64;
    let (pattern, load, packets) = (pattern?, load?, packets?);
    (shape.ports() >= 2).then_some(PlannedTraffic { pattern, load, packets, duration, warm_up, seed })
}

fn load(traffic: &mut TableReader<'_, '_>) -> Option<TrafficLoad> {
    let node = traffic.table.get("load")?;
    let load = match node.content {
        Content::Integer(number) => TrafficLoad::Share(number as f64),
        Content::Float(number) => TrafficLoad::Share(number),
        _ if node.text() == Some("most") => TrafficLoad::Most,
        _ => TrafficLoad::Share(f64::NAN),
    };
    let is_right = !matches!(load, TrafficLoad::Share(share) if !(share > 0.0 && share <= 1.0));
    if !is_right {
        traffic.wrong("load", format!("found {}", node.described()), LOAD);
    }
    is_right.then_some(load)
}

/// The sizes of packets; `None` for a trace.
fn packets(traffic: &mut TableReader<'_, '_>) -> Option<Option<SizeMix>> {
    let text = match traffic.text("packets", PACKETS) {
        None | Some("mixed") => return Some(Some(SizeMix::Mixed)),
        Some("trace") => return Some(None),
        Some(text) => text,
    };
    match text.parse::<Bytes>() {
        Ok(size) if (64..=9000).contains(&size.0) => return Some(Some(SizeMix::Fixed(size))),
        Ok(size) => traffic.wrong("packets", format!("found {size}"), "from \"64 B\" to \"9000 B\""),
        Err(error) => {
            let meant = did_you_mean(text, ["mixed", "trace"]);
            let why = if meant.is_empty() { format!(": {error}") } else { format!(" is no size{meant}") };
            traffic.wrong("packets", format!("`{text}`{why}"), PACKETS);
        }
    }
    None
}

fn route(
    table: &Toml,
    (number, shape): (usize, ClusterShape),
    behind: &mut BTreeMap<IpPrefix, u16>,
    mistakes: &mut Vec<Mistake>,
) -> Option<(IpPrefix, u16)> {
    let mut route = TableReader::new(table, &format!("route[{number}]"), ROUTE_KEYS, mistakes);
    let prefix = "an IPv4 prefix such as \"10.1.0.0/16\"";
    route.require("prefix", prefix);
    let found: Option<IpPrefix> = route.parsed("prefix", prefix);
    if let Some(found) = found.filter(|found| found.address().is_ipv6()) {
        route.wrong("prefix", format!("{found} is no IPv4 prefix: nodes forward no IPv6"), prefix);
    }
    let node = node(&mut route, shape.ports());
    let (found, node) = (found?, node?);
    if let Some(other) = behind.insert(found, node) {
        route.wrong(
            "prefix",
            format!("{found} is behind node {other} already"),
            "each prefix behind one node",
        );
    }
    Some((found, node))
}
