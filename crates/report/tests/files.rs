//! The folder of a run: complete or not there, and what is read back is what was written.

use std::fs;
use std::path::{Path, PathBuf};
use weft_core::record::{FlowRecord, HopRecord, LinkRecord, NodeRecord, QueueSeries, RunRecord};
use weft_core::{Bytes, FlowId, HostId, LinkId, Rate, Span, Time};
use weft_report::{Manifest, Sweep, read_run, read_runs, write_run, write_sweep};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the target folder is writable");
    folder
}

/// Two hosts on a switch and `flows` flows, every second one unfinished.
fn record(flows: u32) -> RunRecord {
    let node = |name: &str, tier| NodeRecord { name: name.into(), tier };
    let link = |from, to| LinkRecord {
        from,
        to,
        rate: Rate::from_gbps(10),
        sent: Bytes(1_000),
        ..LinkRecord::default()
    };
    let flow = |n: u32| FlowRecord {
        flow: FlowId(n),
        source: HostId(0),
        destination: HostId(1),
        size: Bytes(1_000),
        start: Time(u64::from(n)),
        end: n.is_multiple_of(2).then(|| Time(u64::from(n)) + Span::from_us(7)),
        ideal: Span::from_us(7),
        ..FlowRecord::default()
    };
    let mut hop = HopRecord::default();
    hop.wait_ns.add(250);
    RunRecord {
        tags: vec!["trace".into()],
        nodes: vec![node("host0", 0), node("host1", 0), node("leaf0", 1)],
        links: vec![link(0, 2), link(2, 0), link(1, 2), link(2, 1)],
        flows: (0..flows).map(flow).collect(),
        hops: vec![hop],
        queues: Some(QueueSeries {
            every: Span::from_us(1),
            samples_per_bin: 2,
            links: vec![LinkId(3)],
            peak: vec![5, 9],
            sum: vec![10, 9],
            samples: 3,
        }),
        ended: Time::ZERO + Span::from_ms(1),
        ..RunRecord::default()
    }
}

fn manifest(balance: &str, seed: u64) -> Manifest {
    Manifest {
        name: "x".into(),
        labels: vec![("balance".into(), balance.into())],
        seed,
        hash: "0123456789abcdef".into(),
        ..Manifest::default()
    }
}

#[test]
fn what_is_written_reads_back() {
    let place = folder("back").join("seed-1");
    let written = write_run(&place, &record(4), &manifest("ecmp", 1), "weft = 1\n").expect("written");
    assert_eq!(read_run(&place).expect("read"), written);
    assert_eq!((written.summary.flows.finished, written.summary.flows.unfinished), (2, 2));
    for table in ["flows", "links", "hops", "drops", "queues"] {
        assert!(
            place.join(format!("{table}.parquet")).exists() && place.join(format!("{table}.csv")).exists()
        );
    }
    let flows = fs::read_to_string(place.join("flows.csv")).expect("text");
    let lines: Vec<&str> = flows.lines().collect();
    assert!(lines[1].starts_with("0,trace,host0,host1,1000,0,7000000,7000000,1,1,"), "{}", lines[1]);
    assert!(lines[2].starts_with("1,trace,host0,host1,1000,1,,7000000,,1,"), "{}", lines[2]);
    let queues = fs::read_to_string(place.join("queues.csv")).expect("text");
    assert_eq!(queues.lines().nth(2), Some("2000000,leaf0,0,9,9"), "the last bin holds one sample");
}

#[test]
fn a_folder_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
    let root = folder("replaced");
    let place = root.join("seed-1");
    write_run(&place, &record(4), &manifest("ecmp", 1), "").expect("written");
    fs::write(place.join("stale"), "").expect("writable");
    write_run(&place, &record(2), &manifest("ecmp", 1), "").expect("written again");
    assert!(!place.join("stale").exists());
    assert_eq!(fs::read_dir(&root).expect("readable").count(), 1);
}

#[test]
fn a_failure_names_file_and_cause_and_leaves_no_folder() {
    let root = folder("failure");
    fs::write(root.join("file"), "").expect("writable");
    let place = root.join("file").join("seed-1");
    let message =
        write_run(&place, &record(1), &manifest("ecmp", 1), "").expect_err("a file is no folder").to_string();
    assert!(message.contains("seed-1") && message.contains(": "), "{message}");
    assert!(read_runs(&root).expect_err("nothing there").to_string().contains("no finished run"));
    fs::write(root.join("summary.json"), "{}").expect("writable");
    let message = read_runs(&root).expect_err("no manifest").to_string();
    assert!(message.contains("manifest.json"), "{message}");
}

#[test]
fn runs_come_back_in_the_order_of_the_sweep() {
    let root = folder("order");
    let labels = ["zeta", "alpha"];
    let mut runs = Vec::new();
    for (balance, seed) in labels.iter().flat_map(|balance| [(balance, 2), (balance, 10)]) {
        let manifest = manifest(balance, seed);
        let place = root.join(manifest.case_folder()).join(format!("seed-{seed}"));
        fs::create_dir_all(place.parent().expect("a case folder")).expect("writable");
        runs.push(write_run(&place, &record(4), &manifest, "").expect("written"));
    }
    write_sweep(&root, &runs).expect("the table is written");
    let back = read_runs(&root).expect("read");
    let order: Vec<(&str, u64)> = back.iter().map(|run| (run.label("balance"), run.manifest.seed)).collect();
    assert_eq!(order, [("zeta", 2), ("zeta", 10), ("alpha", 2), ("alpha", 10)]);
    assert_eq!(back[0].link, "zeta-01234567/seed-2/summary.json");
    assert_eq!(Sweep::new(back).schemes, labels);
    let csv = fs::read_to_string(root.join("sweep.csv")).expect("text");
    assert!(
        csv.starts_with("balance,seed,fct.count,fct.mean_us,"),
        "{}",
        csv.lines().next().unwrap_or_default()
    );
}
