//! The folder of a run: complete or absent, and read back as written.

use std::fs;
use std::path::{Path, PathBuf};
use weft_core::record::{
    ArrivalRecord, DropRecord, FlowRecord, FlowSample, FlowSeries, FlowState, GroupBin, HopRecord, Incident,
    IncidentRecord, JobRecord, LinkGroup, LinkRecord, NodeRecord, PauseRecord, PausedLink, QueueEvent,
    QueueEvents, QueueSeries, QueueStage, Reason, RunRecord, TimeBin, TimeSeries,
};
use weft_core::{Bytes, FlowId, HostId, LinkId, Rate, Span, Time};
use weft_report::files::partial;
use weft_report::{
    CsvTables, Headline, Kept, Listing, Manifest, Run, Summary, Sweep, page, read_run, read_runs, write_run,
    write_sweep,
};

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
        acknowledged: n.is_multiple_of(2).then(|| Time(u64::from(n)) + Span::from_us(8)),
        ideal: Span::from_us(7),
        dupacks: 4,
        ..FlowRecord::default()
    };
    let mut hop = HopRecord::default();
    hop.wait_ns.add(250);
    RunRecord {
        tags: vec!["trace".into()],
        nodes: vec![node("host0", 0), node("host1", 0), node("leaf0", 1)],
        links: vec![link(0, 2), link(2, 0), link(1, 2), link(2, 1)],
        flows: (0..flows).map(flow).collect(),
        hops: vec![hop.clone(), hop],
        queues: Some(QueueSeries {
            every: Span::from_us(1),
            begins: Time::ZERO + Span::from_us(40),
            samples_per_bin: 2,
            links: vec![LinkId(3)],
            peak: vec![5, 9],
            sum: vec![10, 9],
            samples: 3,
        }),
        flow_series: Some(FlowSeries {
            every: Span::from_us(10),
            rows: vec![FlowSample {
                time: Time::ZERO + Span::from_us(10),
                cwnd: Bytes(14_600),
                srtt: Span::from_us(3),
                state: FlowState::Reducing,
                ..FlowSample::default()
            }],
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
    let written =
        write_run(&place, &record(4), &manifest("ecmp", 1), "weft = 1\n", &Kept::ALL).expect("written");
    assert_eq!(read_run(&place).expect("read"), written);
    assert_eq!((written.summary.flows.finished, written.summary.flows.unfinished), (2, 2));
    for table in ["flows", "links", "hops", "drops", "queues", "flow-samples"] {
        assert!(
            place.join(format!("{table}.parquet")).exists() && place.join(format!("{table}.csv")).exists()
        );
    }
    let flows = fs::read_to_string(place.join("flows.csv")).expect("text");
    let lines: Vec<&str> = flows.lines().collect();
    assert!(
        lines[1].starts_with("0,trace,host0,host1,1000,0,7000000,8000000,7000000,1,true,"),
        "{}",
        lines[1]
    );
    assert!(lines[2].starts_with("1,trace,host0,host1,1000,1,,,7000000,,true,"), "{}", lines[2]);
    let queues = fs::read_to_string(place.join("queues.csv")).expect("text");
    assert_eq!(
        queues.lines().nth(2),
        Some("42000000,leaf0,0,9,9,ecmp-01234567,1"),
        "the last bin holds one sample"
    );
    let windows = fs::read_to_string(place.join("flow-samples.csv")).expect("text");
    assert_eq!(windows.lines().nth(1), Some("10000000,0,14600,,0,3000000,cwr,0,0,,ecmp-01234567,1"));
}

/// Everything that adds a column is in the record.
fn widest() -> RunRecord {
    let mut record = record(4);
    record.flows[0].listed = Some(7);
    record.links[0].trimmed = 1;
    record.arrivals =
        Some(ArrivalRecord { until: Time::ZERO + Span::from_us(9), delivered: Bytes(9), most: true });
    record.pauses = vec![PauseRecord::default()];
    let line = QueueEvent {
        time: Time::ZERO,
        stage: QueueStage::Start,
        link: LinkId(3),
        inputs: "0-1".into(),
        length: Bytes(9),
        lasted: None,
    };
    record.queue_events = Some(QueueEvents { lines: vec![line], left_out: 0 });
    record.jobs = vec![JobRecord::default()];
    let place = "leaf0-spine0".to_owned();
    record.incidents =
        vec![IncidentRecord { at: Time::ZERO, kind: Incident::Failure, places: vec![place], lost: 0 }];
    record.series = Some(TimeSeries {
        later: Span::from_ms(1),
        groups: vec![LinkGroup { from: 1, to: 0, links: 1, capacity: Rate::from_gbps(10) }],
        bins: vec![TimeBin { groups: vec![GroupBin::default()], ..TimeBin::default() }],
        paused: vec![PausedLink { link: LinkId(0), paused: vec![Span::from_us(3)] }],
        ..TimeSeries::default()
    });
    record.flows[0].deadline = Some(Span::from_us(5));
    record
}

#[test]
fn the_list_of_columns_is_that_of_the_tables() {
    let root = folder("columns");
    let place = root.join("ecmp-01234567").join("seed-1");
    fs::create_dir_all(place.parent().expect("a case folder")).expect("writable");
    let run = write_run(&place, &widest(), &manifest("ecmp", 1), "", &Kept::ALL).expect("written");
    write_sweep(&root, &[run], CsvTables::All).expect("the table is written");
    for table in weft_report::columns::TABLES {
        let folder = if table.name == "sweep" { &root } else { &place };
        let text = fs::read_to_string(folder.join(format!("{}.csv", table.name))).expect(table.name);
        let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
        let named: Vec<&str> = table.all().map(|(name, ..)| *name).collect();
        match table.name {
            "sweep" => assert_eq!(header[1..=named.len()], named, "after the label, before the metrics"),
            _ => assert_eq!(header, named, "{}", table.name),
        }
    }
}

#[test]
fn a_folder_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
    let root = folder("replaced");
    let place = root.join("seed-1");
    write_run(&place, &record(4), &manifest("ecmp", 1), "", &Kept::ALL).expect("written");
    fs::write(place.join("pauses.csv"), "of the run before").expect("writable");
    fs::write(place.join("notes.txt"), "mine").expect("writable");
    write_run(&place, &record(2), &manifest("ecmp", 1), "", &Kept::ALL).expect("written again");
    assert!(!place.join("pauses.csv").exists());
    assert_eq!(fs::read_to_string(place.join("notes.txt")).expect("it moved along"), "mine");
    assert_eq!(fs::read_dir(&root).expect("readable").count(), 1);
}

#[test]
fn a_failure_names_file_and_cause_and_leaves_no_folder() {
    let root = folder("failure");
    fs::write(root.join("file"), "").expect("writable");
    let place = root.join("file").join("seed-1");
    let message = write_run(&place, &record(1), &manifest("ecmp", 1), "", &Kept::ALL)
        .expect_err("a file is no folder")
        .to_string();
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
        runs.push(write_run(&place, &record(4), &manifest, "", &Kept::ALL).expect("written"));
    }
    write_sweep(&root, &runs, CsvTables::All).expect("the table is written");
    let path = |run: &weft_report::Run| format!("{}/seed-{}", run.manifest.case_folder(), run.manifest.seed);
    let planned = ["zeta-99999999/seed-1".to_owned()].into_iter().chain(runs.iter().map(path));
    Listing { runs: planned.collect(), ..Listing::default() }.write(&root).expect("the list is written");
    let back = read_runs(&root).expect("read");
    let order: Vec<(&str, u64)> = back.iter().map(|run| (run.label("balance"), run.manifest.seed)).collect();
    assert_eq!(order, [("zeta", 2), ("zeta", 10), ("alpha", 2), ("alpha", 10)]);
    assert_eq!(back[0].link, "zeta-01234567/seed-2/summary.json");
    assert_eq!(Sweep::new(back).schemes, labels);
    let csv = fs::read_to_string(root.join("sweep.csv")).expect("text");
    assert!(
        csv.starts_with("balance,seed,case,path,stop,fct.count,fct.mean_us,"),
        "{}",
        csv.lines().next().unwrap_or_default()
    );
}

#[test]
fn an_interrupted_run_counts_only_until_the_complete_one_is_there() {
    let root = folder("partial");
    let place = root.join("case-01234567").join("seed-1");
    fs::create_dir_all(root.join("case-01234567")).expect("writable");
    let stopped = RunRecord { stop: weft_core::record::Stop::Interrupted, ..record(2) };
    write_run(&partial(&place), &stopped, &manifest("ecmp", 1), "", &Kept::ALL).expect("written");
    let alone = read_runs(&root).expect("read");
    assert_eq!((alone.len(), alone[0].summary.interrupted()), (1, true));
    assert_eq!(alone[0].link, "case-01234567/seed-1.partial/summary.json");
    let warnings = Headline::of_run(&alone[0], &[]).warnings;
    assert!(warnings[0].starts_with("The run: interrupted"), "{warnings:?}");
    let listing = Listing { runs: vec!["case-01234567/seed-1".into()], ..Listing::default() };
    listing.write(&root).expect("written");
    assert_eq!(read_runs(&root).expect("read by list"), alone);
    write_run(&place, &record(4), &manifest("ecmp", 1), "", &Kept::ALL).expect("written");
    for found in [read_runs(&root), read_runs(&root.join("case-01234567"))] {
        let found = found.expect("read");
        assert_eq!((found.len(), found[0].summary.flows.started), (1, 4));
    }
}

#[test]
fn interrupted_runs_stay_out_of_means_and_are_told() {
    let run = |seed: u64, stop: &str| Run {
        manifest: manifest("ecmp", seed),
        summary: Summary { stop: stop.into(), ..Summary::default() },
        ..Run::default()
    };
    let sweep = Sweep::new(vec![run(1, "finished"), run(2, "interrupted"), run(3, "finished")]);
    assert_eq!((sweep.runs.len(), sweep.left_out), (2, 1));
    assert!(Headline::of_sweep(&sweep, &[]).warnings[0].contains("1 run was interrupted and is excluded"));
    assert_eq!(Sweep::new(vec![run(1, "interrupted"), run(2, "interrupted")]).runs.len(), 2);
}

#[test]
fn large_tables_are_csv_only_when_asked() {
    let root = folder("csv");
    for (csv, flows, there) in [
        (CsvTables::Small, 10_000, true),
        (CsvTables::Small, 10_001, false),
        (CsvTables::All, 10_001, true),
        (CsvTables::Never, 1, false),
    ] {
        let place = root.join(format!("{csv:?}-{flows}"));
        let kept = Kept { csv, ..Kept::ALL };
        write_run(&place, &record(flows), &manifest("ecmp", 1), "", &kept).expect("written");
        assert_eq!(place.join("flows.csv").exists(), there, "{csv:?} {flows}");
        assert_eq!(place.join("links.csv").exists(), csv != CsvTables::Never, "{csv:?} {flows}");
        assert!(place.join("flows.parquet").exists() && place.join("links.parquet").exists());
    }
}

/// The axis of named cases is not the folder of the case.
#[test]
fn no_column_of_a_sweep_has_the_name_of_another() {
    let of = |case: &str| {
        let labels = vec![("case".to_owned(), case.to_owned())];
        Run {
            manifest: Manifest { labels, ..manifest("", 1) },
            link: format!("{case}-0/seed-1/report.html"),
            ..Run::default()
        }
    };
    let table = weft_report::tables::of_sweep(&[of("drill"), of("ecmp")]);
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names[..4], ["case_name", "seed", "case", "path"]);
    let distinct: std::collections::BTreeSet<&&str> = names.iter().collect();
    assert_eq!(distinct.len(), names.len());
}

/// A part of the record, a file that contains it, and whether the run has it.
type Part = (&'static str, fn(&mut Kept) -> &mut bool, fn(&Run) -> bool);

#[test]
fn what_is_not_kept_is_in_no_table_no_statistic_and_no_plot() {
    let parts: [Part; 6] = [
        ("flows", |kept| &mut kept.flows, |_| true),
        ("links", |kept| &mut kept.links, |_| true),
        ("hops", |kept| &mut kept.hops, |run| run.summary.metric("queueing.total").is_some()),
        ("queues", |kept| &mut kept.queues, |run| run.detail.heat.is_some()),
        ("", |kept| &mut kept.reordering, |run| run.summary.metric("reordering.over_3").is_some()),
        ("drops", |kept| &mut kept.drops, |run| run.summary.metric("drops.port_full").is_some()),
    ];
    let figures = |run: &Run| page::of_run(run, &[]).sections.iter().map(|s| s.figures.len()).sum::<usize>();
    let root = folder("kept");
    let record = RunRecord {
        drops: vec![DropRecord { hop: 1, reason: Reason::PortFull, packets: 3, bytes: Bytes(4_500) }],
        ..record(4)
    };
    let write = |name: &str, kept: &Kept| {
        write_run(&root.join(name), &record, &manifest("ecmp", 1), "", kept).expect("written")
    };
    let all = write("all", &Kept::ALL);
    for (number, (table, part, told)) in parts.into_iter().enumerate() {
        let mut kept = Kept::ALL;
        *part(&mut kept) = false;
        let run = write(&number.to_string(), &kept);
        assert_eq!(run.summary.metric("drops.total"), Some(3.0));
        if !table.is_empty() {
            for ending in ["csv", "parquet"] {
                let file = format!("{table}.{ending}");
                assert!(root.join("all").join(&file).exists(), "{file}");
                assert!(!root.join(number.to_string()).join(&file).exists(), "{file}");
            }
        }
        if number >= 2 {
            assert!(told(&all) && !told(&run), "{table} {number}");
            assert!(figures(&run) < figures(&all), "{table} {number}");
        }
    }
}

/// Two finished flows have no 99th percentile: nothing on the page speaks of it.
#[test]
fn no_title_speaks_of_a_number_that_is_not_there() {
    let place = folder("few").join("seed-1");
    let run = write_run(&place, &record(4), &manifest("ecmp", 1), "", &Kept::ALL).expect("written");
    assert_eq!(run.summary.metric("fct.p99"), None);
    let page = page::of_run(&run, &[]);
    let titles: Vec<&String> = page.sections.iter().flat_map(|s| &s.figures).map(|f| &f.title).collect();
    assert!(titles.iter().any(|title| *title == "How long flows take"), "{titles:?}");
    assert!(titles.iter().all(|title| !title.contains('–')), "{titles:?}");
}
