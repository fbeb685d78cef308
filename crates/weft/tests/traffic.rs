//! The flows of a run as its results list them: the same under every balancer, and the load they put on the fabric.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft::RunOptions;
use weft_report::{Run, files};

/// 16 leaves with 20 hosts and 4 spines, the network of the paper on DRILL; the fabric limits.
const SCENARIO: &str = r#"
weft = 1
name = "traffic"

[topology.leaf-spine]
leaves         = 16
spines         = 4
hosts_per_leaf = 20
host_link      = { rate = "10 Gbps", delay = "500 ns" }
fabric_link    = { rate = "40 Gbps", delay = "500 ns" }

[[traffic]]
tag      = "all"
arrivals = "poisson"
load     = 0.8
sizes    = "20 kB"
pairs    = "other-leaf"
"#;

const BALANCERS: [&str; 8] = ["ecmp", "wcmp", "random", "round-robin", "drill", "letflow", "conga", "presto"];

fn results(name: &str, end: &str, set: &[&str]) -> Vec<Run> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder of tests can be written");
    let scenario = folder.join("traffic.toml");
    fs::write(&scenario, format!("{SCENARIO}{end}")).expect("it can be written");
    let options = RunOptions {
        out: folder.join("out"),
        demo: false,
        seeds: Some(vec![1, 2]),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        engine: weft::PACKETS,
        jobs: 2,
        reuse: weft::Reuse::SameBuild,
        threads: None,
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let outcome = weft::run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.failed_runs, 0, "{}", outcome.terminal);
    files::read_runs(Path::new(&options.out)).expect("results can be read")
}

fn metric(run: &Run, path: &str) -> f64 {
    run.summary.metric(path).unwrap_or_else(|| panic!("{path} has no value"))
}

/// "Identical flow lists across schemes for equal seed": the result file proves it.
#[test]
fn every_balancer_carries_the_same_flows_and_the_results_say_so() {
    let sweep = format!(
        "[measure]\nflows = 150\n[sweep]\nbalance = {BALANCERS:?}\n\"traffic.0.load\" = [0.3, 0.8]\n"
    );
    let mut hashes: BTreeMap<(u64, String), BTreeSet<String>> = BTreeMap::new();
    let runs = results("flow-lists", &sweep, &[]);
    assert_eq!(runs.len(), 2 * 2 * BALANCERS.len());
    for run in &runs {
        let load = run.manifest.labels.iter().find(|(key, _)| key.ends_with("load")).expect("it is swept");
        assert_eq!(run.manifest.flows_hash.len(), 16);
        hashes
            .entry((run.manifest.seed, load.1.clone()))
            .or_default()
            .insert(run.manifest.flows_hash.clone());
    }
    assert!(hashes.values().all(|of_one| of_one.len() == 1), "{hashes:?}");
    let distinct: BTreeSet<&String> = hashes.values().flatten().collect();
    assert_eq!(distinct.len(), 4, "they depend on seed and load: {hashes:?}");
}

/// 90 % of what is left after one of 64 cables has failed, on three instead of four uplinks: 0.9 * 63 / 64 * 4 / 3 = 118 %.
#[test]
fn a_leaf_without_one_of_four_uplinks_is_offered_a_third_more() {
    let measure = "[measure]\nflows = 20_000\nrecord = [\"links\"]\n";
    let cable = "[[failure]]\ncables = [\"leaf3-spine1\"]\n";
    let whole = results("offered-whole", measure, &[]);
    let failed = results("offered-failed", &format!("{measure}{cable}"), &["traffic.0.load=0.9"]);
    for (whole, failed) in whole.iter().zip(&failed) {
        // Poisson arrivals of 20 000 flows: 0.7 % standard deviation; a leaf has 1 250 of them, 2.8 %.
        let told = |run: &Run, path: &str, value: f64, share: f64| {
            let found = metric(run, path);
            assert!((found / value - 1.0).abs() < share, "{path} is {found}, not {value}");
        };
        told(whole, "offered.uplinks.mean", 0.8, 0.03);
        told(whole, "offered.downlinks.mean", 0.8, 0.03);
        let worst = 0.9 * 63.0 / 64.0 * 4.0 / 3.0;
        told(failed, "offered.uplinks.max", worst, 0.10);
        told(failed, "offered.downlinks.max", worst, 0.10);
        assert!(metric(failed, "offered.uplinks.max") > 1.05 && metric(whole, "offered.uplinks.max") < 1.0);
    }
}

/// Packet hops estimated from flows and shortest paths are those of a run, as far as losses and acknowledgements of several
/// packets allow.
#[test]
fn the_estimate_counts_the_packet_hops_of_a_run() {
    let runs = results("estimate", "[measure]\nflows = 400\n", &[]);
    let scenario = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("estimate/traffic.toml");
    let cost = weft::estimate(&scenario, &[]).expect("a scenario").expect("it has flows");
    let measured = runs.iter().map(|run| metric(run, "packet_hops")).sum::<f64>() / runs.len() as f64;
    assert!((0.5..2.0).contains(&(cost.packet_hops / measured)), "{} and {measured}", cost.packet_hops);
    assert_eq!((cost.runs, cost.flows), (1, 400.0));
    assert!(cost.seconds() > 400.0 * 5e-6 && cost.bytes > 30e6 && !cost.cut_off);
    assert_eq!(cost.hop_ns, 75.0);
}

/// Hosts send and receive no more than fits into the time before the end of the run.
#[test]
fn the_estimate_ends_with_the_run() {
    let cut = "[measure]\nflows = 400\nuntil = \"300 us\"\n";
    let runs = results("estimate-until", cut, &["traffic.all.sizes=10 MB", "traffic.all.load=0.9"]);
    let scenario = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("estimate-until/traffic.toml");
    let set = ["traffic.all.sizes=10 MB", "traffic.all.load=0.9"].map(str::to_owned);
    let cost = weft::estimate(&scenario, &set).expect("a scenario").expect("it has flows");
    let measured = runs.iter().map(|run| metric(run, "packet_hops")).sum::<f64>() / runs.len() as f64;
    assert!((0.5..4.0).contains(&(cost.packet_hops / measured)), "{} and {measured}", cost.packet_hops);
    assert!(cost.cut_off, "windows that still grow send less");
}

/// Each flow counts the headers of its own transport: 20 kB in packets of 160 B of payload take 125 of 238 B on the wire, in datagrams
/// of 1472 B thirteen of 1538 B and one of 930 B.
#[test]
fn offered_counts_the_headers_of_each_transport() {
    let two = "[transport.newreno]\nmtu = \"200 B\"\n[[traffic]]\ntag = \"b\"\nload = 0.1\nsizes = \"20 kB\"\ntransport = \"udp\"\n\
               pairs = \"other-leaf\"\n[measure]\nflows = 4000\nuntil = \"3 ms\"\n";
    let run = &results("headers", two, &["traffic.all.load=0.1"])[0];
    let (tcp, udp) = (125.0 * 238.0, 13.0 * 1538.0 + (20_000.0 - 13.0 * 1472.0 + 28.0 + 38.0));
    // Both loads are computed with the headers of `[transport]`, and so both have as many flows.
    let expected = 0.1 + 0.1 * udp / tcp;
    let offered = metric(run, "offered.uplinks.mean");
    assert!((offered / expected - 1.0).abs() < 0.05, "{offered} and {expected}");
}
