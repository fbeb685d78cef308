//! A second engine behind the facade: it answers every flow with the closed form of a lone flow, and measures nothing
//! else. Its results and reports say "not measured" wherever packets would be needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weft::{Engine, Outcome, PACKETS, RunOptions};
use weft_core::FlowId;
use weft_core::record::{FlowRecord, Measured, Quantity, RunRecord, Stop};
use weft_plan::{Alone, EngineProgress, Finished, Setup, Sink, Watch};
use weft_report::{Run, files};

/// Flows in an empty network.
struct Unloaded;

impl Engine for Unloaded {
    fn name(&self) -> &'static str {
        "unloaded"
    }

    fn run(&self, setup: Setup, sink: Sink<'_>, watch: Watch<'_>) -> Finished {
        let mut alone = Alone::new(&setup);
        let record = |(number, flow): (usize, weft_workload::Flow)| {
            let ideal = alone.completion(&flow, flow.start);
            FlowRecord {
                flow: FlowId(number as u32),
                tag: flow.tag,
                source: flow.source,
                destination: flow.destination,
                size: flow.size,
                start: flow.start,
                end: Some(flow.start + ideal),
                ideal,
                delivered: flow.size,
                ..FlowRecord::default()
            }
        };
        let mut flows: Vec<FlowRecord> = setup.flows.iter().enumerate().map(record).collect();
        flows.sort_by_key(|flow| (flow.end, flow.flow));
        let ended = flows.iter().filter_map(|flow| flow.end).max().unwrap_or_default();
        let (done, total) = (flows.len(), setup.flows.len());
        let took_all = flows.iter().all(sink);
        let goes_on = watch(&EngineProgress { now: ended, events: 0, flows_done: done, flows_total: total });
        let stop = if took_all && goes_on { Stop::Finished } else { Stop::Interrupted };
        let record = RunRecord { ended, stop, measured: Measured::FLOWS, ..setup.record() };
        Finished { record, threads: 1, facts: Vec::new() }
    }
}

/// Three flows, each done long before the next begins.
const LONE: &str = r#"
weft = 1
name = "lone"

[topology.leaf-spine]
leaves         = 2
spines         = 2
hosts_per_leaf = 2

[transport.newreno]
initial_window = "64 pkt"

[[traffic]]
tag   = "lone"
kind  = "list"
flows = [
    { at = "0 us", from = 0, to = 3, size = "1 B" },
    { at = "1 ms", from = 1, to = 2, size = "20 kB" },
    { at = "2 ms", from = 2, to = 3, size = "60 kB" },
]

[[expect]]
value = "drops.total"
below = 1
"#;

fn run(scenario: &Path, out: &Path, engine: &'static dyn Engine) -> (Outcome, String) {
    let options = RunOptions {
        out: out.to_owned(),
        demo: false,
        seeds: None,
        set: Vec::new(),
        engine,
        jobs: 1,
        reuse: weft::Reuse::SameBuild,
        threads: None,
        progress: Box::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    };
    let outcome = weft::run(scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    let page = fs::read_to_string(&outcome.report).expect("the report is written");
    (outcome, page)
}

/// An empty folder with the scenario in it.
fn place(name: &str) -> (PathBuf, PathBuf) {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder of tests can be written");
    let scenario = folder.join("lone.toml");
    fs::write(&scenario, LONE).expect("it can be written");
    (scenario, folder.join("out"))
}

fn only(folder: &Path) -> Run {
    let mut runs = files::read_runs(folder).expect("results can be read");
    assert_eq!(runs.len(), 1, "{}", folder.display());
    runs.remove(0)
}

#[test]
fn an_interrupted_sweep_counts_the_runs_that_did_not_start() {
    let (scenario, out) = place("engines-interrupted");
    let stop = Arc::new(AtomicBool::new(false));
    let after_the_first = Arc::clone(&stop);
    let options = RunOptions {
        out,
        demo: false,
        seeds: Some((1..=5).collect()),
        set: Vec::new(),
        engine: PACKETS,
        jobs: 1,
        reuse: weft::Reuse::SameBuild,
        threads: None,
        progress: Box::new(move |progress| {
            after_the_first.fetch_or(progress.finished.is_some(), Ordering::Relaxed);
        }),
        stop,
    };
    let outcome = weft::run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((outcome.interrupted, outcome.failed_runs), (true, 0));
    assert_eq!(outcome.terminal.matches("not started").count(), 1, "{}", outcome.terminal);
    assert!(outcome.terminal.contains("4 runs not started\n") && !outcome.terminal.contains("failed"));
}

#[test]
fn lone_flows_take_as_long_in_packets_as_the_closed_form_says() {
    let (scenario, out) = place("engines-agree");
    run(&scenario, &out.join("packets"), PACKETS);
    run(&scenario, &out.join("unloaded"), &Unloaded);
    let [packets, unloaded] = ["packets", "unloaded"].map(|engine| only(&out.join(engine)));
    assert_eq!(packets.summary.fct_us, unloaded.summary.fct_us);
    assert_eq!(packets.summary.slowdown.all.max, Some(1.0));
    assert_eq!(packets.manifest.flows_hash, unloaded.manifest.flows_hash);
}

#[test]
fn what_an_engine_does_not_measure_is_called_not_measured_and_never_zero() {
    let (scenario, out) = place("engines-measure");
    let (outcome, page) = run(&scenario, &out, &Unloaded);
    let run = only(&out);
    assert_eq!((run.manifest.engine.as_str(), run.summary.flows.finished), ("unloaded", 3));
    assert_eq!(run.summary.not_measured, Quantity::ALL.map(Quantity::name));
    for metric in ["drops.total", "drops.hop1", "queue.peak", "queueing.total", "marks", "utilisation.max"] {
        assert_eq!(run.summary.metric(metric), None, "{metric}");
    }
    assert!(outcome.terminal.contains("drops not measured"), "{}", outcome.terminal);
    assert!(!outcome.terminal.contains("0 packets dropped"), "{}", outcome.terminal);
    assert!(page.contains("gives the same numbers, to the last bit"), "a closed form is no measurement");
    assert_eq!(outcome.missed_expectations, 1, "a claim about drops is not met by silence");
    let words = Quantity::ALL.map(Quantity::name).join(", ");
    assert!(page.contains("not measured") && page.contains(&words), "the page names what is missing");
}

#[test]
fn files_hold_no_column_of_what_was_not_measured() {
    let (scenario, out) = place("engines-files");
    run(&scenario, &out, &Unloaded);
    let folder = out.join(only(&out).manifest.path());
    let head = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert!(head("flows.csv").contains("fct_ps") && head("links.csv").contains("rate_bps"));
    for (file, columns) in [
        ("flows.csv", ["retx_bytes", "timeouts", "dupacks", "ecn_marks", "nacks"].as_slice()),
        ("links.csv", &["tx_bytes", "utilisation", "dropped_packets", "marked_packets", "peak_queue_bytes"]),
    ] {
        for column in columns {
            assert!(!head(file).contains(column), "{file}: {column}");
        }
    }
    for file in ["hops.csv", "drops.csv", "queues.csv"] {
        assert!(!folder.join(file).exists(), "{file}");
    }
    let summary = fs::read_to_string(folder.join("summary.json")).expect("it is written");
    for key in ["drops", "marks", "timeouts", "packet_hops", "utilisation_max"] {
        assert!(!summary.contains(&format!("\"{key}\":")), "{key}");
    }
}

/// Two engines write to the same folder, and each finds its own results again.
#[test]
fn results_of_one_engine_are_never_taken_for_those_of_another() {
    let (scenario, out) = place("engines-apart");
    assert_eq!(run(&scenario, &out, PACKETS).0.reused, 0);
    assert_eq!(run(&scenario, &out, &Unloaded).0.reused, 0);
    assert_eq!(run(&scenario, &out, PACKETS).0.reused, 1);
    assert_eq!(run(&scenario, &out, &Unloaded).0.reused, 1);
}
