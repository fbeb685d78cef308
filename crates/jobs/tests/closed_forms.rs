//! TeraSort on a network without contention, against phases computed by hand; conservation of bytes; waves.

mod idle;

use std::collections::BTreeMap;

use idle::{LINE, cluster};
use weft_core::record::{JobPhase, JobRecord, Resource, RunRecord, StepRecord};
use weft_core::settings::Share;
use weft_core::{Bytes, HostId, Purpose, Random, Rate, Span, Time};
use weft_jobs::{Cluster, ClusterJob, Framework, FrameworkSettings, TeraSortSettings, Transfer};

fn run(settings: &TeraSortSettings, cluster: Cluster) -> (JobRecord, Vec<Transfer>) {
    idle::run(settings.plan(), cluster)
}

/// 1 GB in blocks of 125 MB: eight maps on eight containers, four reducers.
fn gigabyte() -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(1_000_000_000),
        block: Bytes(125_000_000),
        reducers: 4,
        runs: FrameworkSettings {
            map_containers: 2,
            reduce_containers: 1,
            slow_start: Share(1.0),
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

fn seconds(step: &StepRecord) -> f64 {
    step.end.expect("the job is done").since(step.start).seconds()
}

fn lasting(record: &JobRecord, name: &str) -> Vec<f64> {
    record.steps.iter().filter(|step| step.name == name).map(seconds).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-6
}

/// 125 MB: 1 s on a core at 1 Gb/s, 8 ms and 0.8333 s on a disk of 1.2 Gb/s, 0.1 s on the wire.
#[test]
fn the_phases_of_a_gigabyte_are_those_computed_by_hand() {
    let settings = TeraSortSettings { map_rate: Rate::from_gbps(1), ..gigabyte() };
    let (record, _) = run(&settings, cluster());
    let disk = 0.008 + 125e6 * 8.0 / 1.2e9;
    let call = 2.0 * (50e-6 + 512.0 * 8.0 / 10e9);
    for (name, expected) in [
        ("submit", 10.0),
        ("allocate", call),
        ("start", 2.0),
        ("open", 2.0 * call),
        ("map", 1.0),
        ("spill", disk),
        ("report", call),
        ("commit", 2.0),
    ] {
        let found = lasting(&record, name);
        assert!(found.iter().all(|found| close(*found, expected)), "{name}: {found:?}, by hand {expected}");
    }
    // A reducer gets 250 MB in four fetches at once, sorts 2.5 s at 800 Mb/s, and writes 1.667 s to one disk.
    let fetches = lasting(&record, "fetch");
    assert!(fetches.iter().all(|found| close(*found, 50e-6 + 62.5e6 * 8.0 / 10e9)), "{fetches:?}");
    assert!(lasting(&record, "reduce").iter().all(|found| close(*found, 2.5)));
    let bound = |name| record.steps.iter().filter(move |step| step.name == name).map(|step| step.bound);
    assert!(bound("map").all(|by| by == Resource::Cpu) && bound("spill").all(|by| by == Resource::Disk));
    assert!(bound("fetch").all(|by| by == Resource::Network));
}

/// A host with one disk stores the files of two maps that start at once: 125 MB at 400 Mb/s take 2.508 s, and the second map
/// waits for the first. It writes 250 MB at 200 Mb/s; the host that runs the tasks spills 125 MB at 600 Mb/s.
#[test]
fn hosts_that_only_store_files_have_disks_of_their_own() {
    let runs = FrameworkSettings {
        disk_write_rate: Some(Rate::from_mbps(600)),
        data_disks: Some(1),
        data_disk_rate: Some(Rate::from_mbps(400)),
        data_disk_write_rate: Some(Rate::from_mbps(200)),
        replicas: 1,
        compute: vec![1],
        data: vec![5],
        ..gigabyte().runs
    };
    let settings = TeraSortSettings { input: Bytes(250_000_000), reducers: 1, runs, ..gigabyte() };
    assert!(settings.problems().is_empty());
    let hosts = Cluster { compute: vec![HostId(1)], data: vec![HostId(5)], master: HostId(0) };
    let (record, _) = run(&settings, hosts.clone());
    let expect = |record: &JobRecord, name: &str, expected: &[f64]| {
        let found = lasting(record, name);
        let alike = found.iter().zip(expected).all(|(found, expected)| close(*found, *expected));
        assert!(found.len() == expected.len() && alike, "{name}: {found:?}, by hand {expected:?}");
    };
    let spill = 0.008 + 125e6 * 8.0 / 600e6;
    expect(&record, "map", &[2.508, 5.016]);
    expect(&record, "spill", &[spill, spill]);
    expect(&record, "reduce", &[10.008]);
    // Without a write rate of their own, they write as fast as they read.
    let runs = FrameworkSettings { data_disk_write_rate: None, ..settings.runs.clone() };
    let (record, _) = run(&TeraSortSettings { runs, ..settings }, hosts);
    expect(&record, "reduce", &[5.008]);
}

#[test]
fn disks_of_hosts_that_do_not_exist_are_a_mistake() {
    let told = |compute: &[u32], data: &[u32]| {
        let (compute, data) = (compute.to_vec(), data.to_vec());
        let runs = FrameworkSettings { data_disks: Some(4), compute, data, ..FrameworkSettings::default() };
        runs.problems().into_iter().map(|problem| problem.message).collect::<Vec<_>>().join("; ")
    };
    let idle = "`data_disks` has no effect: every host that stores files runs tasks too";
    assert_eq!([told(&[], &[]), told(&[1, 2], &[2]), told(&[], &[3])], [idle; 3]);
    assert_eq!([told(&[1, 2], &[2, 3]), told(&[], &[0, 3])], [""; 2], "host 0 is the master");
    let never = FrameworkSettings { disk_write_rate: Some(Rate(0)), ..FrameworkSettings::default() };
    assert_eq!(never.problems()[0].message, "it must be more than zero");
}

/// Tez fetches from all of eight hosts at once, MapReduce from five; a number in the scenario holds for both.
#[test]
fn parallel_fetches_are_those_of_the_framework_unless_given() {
    let most = |framework, fetchers| {
        let compute: Vec<HostId> = (1..=8).map(HostId).collect();
        let hosts = Cluster { data: compute.clone(), compute, master: HostId(0) };
        let runs = FrameworkSettings { framework, fetchers, ..gigabyte().runs };
        let settings = TeraSortSettings { reducers: 1, block: Bytes(62_500_000), runs, ..gigabyte() };
        let fetch = Bytes(125_000_000);
        let (record, transfers) = run(&settings, hosts);
        let remote = transfers.iter().filter(|transfer| transfer.size == fetch).count();
        let fetching = lasting(&record, "fetch").iter().sum::<f64>();
        (remote, (fetching / (50e-6 + LINE.time_for(fetch).seconds())).round() as u32)
    };
    // Seven hosts are remote; each fetch takes its time alone, so rounds of fetches count.
    assert_eq!(most(Framework::MapReduce, None), (7, 2));
    assert_eq!(most(Framework::Tez, None), (7, 1));
    assert_eq!(most(Framework::Tez, Some(5)), (7, 2));
}

/// 512 B take 50.4096 us each way: the first call of a task opens its connection, and what follows knows the round trip.
#[test]
fn persistent_calls_open_one_connection_for_each_step() {
    let with = |persistent_calls| {
        let runs = FrameworkSettings { persistent_calls, job_calls: 6, ..gigabyte().runs };
        let (record, transfers) = run(&TeraSortSettings { runs, ..gigabyte() }, cluster());
        let calls: Vec<_> = transfers.into_iter().filter(|transfer| transfer.size == Bytes(512)).collect();
        (record.steps.iter().map(|step| step.end).max(), calls)
    };
    let ((end, apart), (same_end, kept)) = (with(false), with(true));
    assert_eq!((end, apart.len()), (same_end, kept.len()), "the network decides what it saves");
    assert!(apart.iter().all(|call| call.round_trip.is_none()));
    let one_way = Span::from_us(50) + LINE.time_for(Bytes(512));
    // Twelve tasks allocate, open and report; the job calls before and after them.
    let count = |round_trip| kept.iter().filter(|call| call.round_trip == round_trip).count();
    let (opened, first, later) = (count(None), count(Some(one_way)), count(Some(one_way * 2)));
    assert_eq!((opened, first, opened + first + later), (38, 38, kept.len()));
}

/// The last host reports 0.75 s after the submission; its reducer then waits for the first heartbeat after the last map.
#[test]
fn a_job_lasts_as_long_as_its_longest_chain_of_steps() {
    let (record, _) = run(&TeraSortSettings { map_rate: Rate::from_gbps(1), ..gigabyte() }, cluster());
    let (disk, call) = (0.008 + 125e6 * 8.0 / 1.2e9, 2.0 * (50e-6 + 512.0 * 8.0 / 10e9));
    let map = 4.0 * call + 2.0 + 1.0 + disk;
    let last_map: f64 = 10.75 + map;
    // Hosts report at whole seconds and 0, 0.25, 0.5 and 0.75 s after; the last of the four is the slowest.
    let heartbeat = (last_map * 4.0).floor() / 4.0 + 1.0;
    let reduce = 4.0 * call + 2.0 + 50e-6 + 0.05 + 2.5;
    let found = record.duration().expect("it ends").seconds();
    assert!(close(found, heartbeat + reduce + 2.0), "{found} s, by hand {}", heartbeat + reduce + 2.0);
}

fn volume(transfers: &[Transfer], kind: impl Fn(&Transfer) -> bool) -> u64 {
    transfers.iter().filter(|transfer| transfer.size != Bytes(512) && kind(transfer)).map(|t| t.size.0).sum()
}

#[test]
fn bytes_are_conserved_from_input_to_output() {
    for (replicas, reducers, input) in [(1, 4, 1_000_000_000), (3, 5, 1_000_000_007), (2, 7, 90_000_001)] {
        let settings = TeraSortSettings {
            input: Bytes(input),
            reducers,
            runs: FrameworkSettings { output_replicas: replicas, slow_start: Share(0.05), ..gigabyte().runs },
            ..gigabyte()
        };
        let (record, transfers) = run(&settings, cluster());
        let (compute, data) = (1..=4, 5..=7);
        let between = |from: &std::ops::RangeInclusive<u32>, to: &std::ops::RangeInclusive<u32>| {
            volume(&transfers, |t| from.contains(&t.from.0) && to.contains(&t.to.0))
        };
        assert_eq!(between(&data, &compute), input, "every block is read from a host that stores it");
        assert_eq!(between(&compute, &data), input, "the first replica of the output");
        assert_eq!(between(&data, &data), input * u64::from(replicas - 1), "the others, from host to host");
        assert_eq!(record.shuffled, Bytes(input), "reducers get what maps put out");
        assert!(between(&compute, &compute) < input, "a reducer's own host needs no network");
        assert_eq!(record.unfinished().count(), 0);
    }
}

/// With equal containers and equal maps, a container takes one map of every wave.
#[test]
fn maps_come_in_waves() {
    for (input, waves) in [(1_000_000_000, 1), (1_000_000_001, 2), (3_000_000_000, 3)] {
        for framework in [Framework::MapReduce, Framework::Tez] {
            let settings = TeraSortSettings {
                input: Bytes(input),
                runs: FrameworkSettings { framework, ..gigabyte().runs },
                ..gigabyte()
            };
            let (record, _) = run(&settings, cluster());
            let mut maps = BTreeMap::new();
            for task in record.tasks.iter().filter(|task| task.name.starts_with("map")) {
                *maps.entry(task.host).or_insert(0) += 1;
            }
            let most = maps.values().max().expect("there are maps");
            assert_eq!(
                (*most as u32).div_ceil(settings.runs.map_containers),
                waves,
                "{input} B, {framework:?}"
            );
        }
    }
}

#[test]
fn tez_starts_a_container_once_and_mapreduce_for_every_task() {
    for (framework, starts) in [(Framework::MapReduce, 24 + 4), (Framework::Tez, 8 + 4)] {
        let settings = TeraSortSettings {
            input: Bytes(3_000_000_000),
            runs: FrameworkSettings { framework, ..gigabyte().runs },
            ..gigabyte()
        };
        let (record, _) = run(&settings, cluster());
        assert_eq!(lasting(&record, "start").len(), starts, "{framework:?}");
    }
}

#[test]
fn reducers_start_when_their_share_of_the_maps_is_done_and_not_before() {
    for share in [0.0, 0.25, 0.5, 1.0] {
        let settings = TeraSortSettings {
            input: Bytes(2_000_000_000),
            runs: FrameworkSettings { slow_start: Share(share), ..gigabyte().runs },
            ..gigabyte()
        };
        let (record, _) = run(&settings, cluster());
        let of = |kind: &'static str| {
            record.tasks.iter().enumerate().filter(move |(_, t)| t.name.starts_with(kind))
        };
        let mut ends: Vec<Time> = of("map").filter_map(|(_, task)| task.end).collect();
        ends.sort_unstable();
        let started = |task: usize| record.steps.iter().find(|step| step.task as usize == task);
        let first = of("reduce").filter_map(|(n, _)| Some(started(n)?.start)).min().expect("it starts");
        let done = ends.iter().filter(|end| **end <= first).count() as f64;
        assert!(done >= share * 16.0, "{done} of 16 maps were done at a slow start of {share}");
        assert_eq!(record.shuffled, Bytes(2_000_000_000));
        let waited = record.bounded_by(Resource::Tasks) > Span::ZERO;
        assert_eq!(waited, share < 1.0, "early reducers wait for maps");
    }
}

/// The critical path has no gap, and its parts are those computed by hand above.
#[test]
fn the_critical_path_adds_up_to_the_job_and_attributes_its_phases() {
    let (record, _) = run(&TeraSortSettings { map_rate: Rate::from_gbps(1), ..gigabyte() }, cluster());
    let path = record.critical_path();
    assert!(path.windows(2).all(|two| two[0].end == two[1].start));
    assert_eq!((Some(path[0].start), path.last().map(|part| part.end)), (Some(record.start), record.end));
    let on_path = |bound: Resource| -> f64 {
        path.iter().filter(|part| part.bound == bound).map(|part| part.end.since(part.start).seconds()).sum()
    };
    let disk = 0.008 + 125e6 * 8.0 / 1.2e9;
    let call = 2.0 * (50e-6 + 512.0 * 8.0 / 10e9);
    for (bound, expected) in [
        (Resource::Cpu, 1.0 + 2.5),
        (Resource::Disk, disk),
        (Resource::Network, 50e-6 + 0.05),
        (Resource::Latency, 8.0 * call),
        (Resource::Tasks, 0.0),
    ] {
        let found = on_path(bound);
        assert!(close(found, expected), "{}: {found} s, by hand {expected}", bound.name());
    }
    for phase in JobPhase::ALL {
        assert!(path.iter().any(|part| part.phase == phase), "{} is on it", phase.name());
    }
}

/// With slow start and several waves the path still reaches the submission, whatever the framework.
#[test]
fn every_job_has_a_critical_path_as_long_as_itself() {
    for framework in [Framework::MapReduce, Framework::Tez] {
        for share in [0.0, 0.25, 1.0] {
            let settings = TeraSortSettings {
                input: Bytes(3_000_000_000),
                reducers: 9,
                runs: FrameworkSettings {
                    framework,
                    slow_start: Share(share),
                    job_calls: 5,
                    history: Bytes(1_000_000),
                    ..gigabyte().runs
                },
                ..gigabyte()
            };
            let (record, _) = run(&settings, cluster());
            let path: Span = record.critical_path().iter().map(|part| part.end.since(part.start)).sum();
            assert_eq!(Some(path), record.duration(), "{framework:?}, slow start {share}");
            let by_phase: Span = record.path_times().iter().flatten().copied().sum();
            assert_eq!(by_phase, path);
        }
    }
}

/// Eight maps of 1 s and four reducers of 2.5 s on cores; each transfer is counted once.
#[test]
fn use_over_time_adds_up_to_what_tasks_asked_for() {
    let (record, transfers) =
        run(&TeraSortSettings { map_rate: Rate::from_gbps(1), ..gigabyte() }, cluster());
    let sum = |activity: &weft_core::record::Activity| activity.bins().iter().sum::<u64>();
    assert_eq!(sum(&record.cores), Span::from_s(8 + 10).0);
    assert_eq!(sum(&record.network), record.transferred.0);
    assert_eq!(record.transferred.0, transfers.iter().map(|transfer| transfer.size.0).sum::<u64>());
    assert_eq!((record.core_count, record.disk_count), (4 * 3, 7 * 12));
}

/// Half of the calls precede the first container, half follow the last reducer; history is written before the end,
/// and nothing waits for logs.
#[test]
fn calls_of_the_application_master_and_history_lie_on_the_path_and_logs_do_not() {
    let plain = run(&gigabyte(), cluster()).0.duration().expect("it ends").seconds();
    let settings = TeraSortSettings {
        runs: FrameworkSettings { log: Bytes(1_000_000), ..gigabyte().runs },
        ..gigabyte()
    };
    let (record, transfers) = run(&settings, cluster());
    assert!(close(record.duration().expect("it ends").seconds(), plain));
    assert_eq!(
        transfers.iter().filter(|transfer| transfer.size == settings.runs.log).count(),
        12,
        "one for each task"
    );
    let settings = TeraSortSettings {
        runs: FrameworkSettings { job_calls: 7, history: Bytes(2_000_000), ..gigabyte().runs },
        ..gigabyte()
    };
    let (record, _) = run(&settings, cluster());
    let call = 2.0 * (50e-6 + 512.0 * 8.0 / 10e9);
    assert!(
        close(lasting(&record, "set up")[0], 4.0 * call)
            && close(lasting(&record, "end calls")[0], 3.0 * call)
    );
    assert!(close(lasting(&record, "history")[0], 0.008 + 2e6 * 8.0 / 1.2e9), "the disk is the slower part");
}

/// With as many equal maps and reducers on each of n hosts, (n - 1) / n of the shuffle crosses the leaf, and nothing else
/// passes between hosts that run tasks; uplinks carry the input and the output.
#[test]
fn volumes_at_the_leaf_and_on_the_uplinks_are_those_of_the_closed_form() {
    let input = 1_000_000_000;
    let (_, transfers) = run(
        &TeraSortSettings { runs: FrameworkSettings { output_replicas: 1, ..gigabyte().runs }, ..gigabyte() },
        cluster(),
    );
    let compute = |host: HostId| (1..=4).contains(&host.0);
    assert_eq!(volume(&transfers, |t| compute(t.from) && compute(t.to)), input * 3 / 4);
    assert_eq!(volume(&transfers, |t| compute(t.from) != compute(t.to)), 2 * input);
}

/// Time against input is a straight line for whole waves; twice the hosts halve its slope.
#[test]
fn a_tiny_job_takes_its_fixed_times_and_twice_the_hosts_halve_the_slope() {
    let hosts = |range: std::ops::Range<u32>| range.map(HostId).collect::<Vec<_>>();
    let seconds = |count: u32, input: u64| {
        let cluster = Cluster { compute: hosts(1..count + 1), data: hosts(101..107), master: HostId(0) };
        let settings = TeraSortSettings { input: Bytes(input), reducers: count, ..gigabyte() };
        run(&settings, cluster).0.duration().expect("it ends").seconds()
    };
    let tiny = seconds(4, 1_000);
    // submission, commit, a heartbeat at most for each of two tasks, two container starts, two disks
    assert!((16.0..18.5).contains(&tiny), "{tiny} s");
    let slope = |count: u32| seconds(count, 32_000_000_000) - seconds(count, 16_000_000_000);
    let ratio = slope(4) / slope(8);
    assert!((1.9..2.1).contains(&ratio), "{ratio}");
}

/// One block whose only transfer never arrives.
#[test]
fn an_unfinished_job_names_its_tasks() {
    let settings = TeraSortSettings { input: Bytes(125_000_000), reducers: 1, ..gigabyte() };
    let mut job =
        ClusterJob::new(settings.plan(), cluster(), (0, Time::ZERO), Random::new(1, Purpose::Stragglers, 0));
    let mut calls = Vec::new();
    for _ in 0..1_000 {
        let now = job.due();
        if now == Time::NEVER {
            break;
        }
        job.wake(now);
        calls.extend(job.transfers().filter(|transfer| transfer.size == Bytes(512)));
        while let Some(call) = calls.pop() {
            job.delivered(now, call.number);
            calls.extend(job.transfers().filter(|transfer| transfer.size == Bytes(512)));
        }
        if now > Time::ZERO + Span::from_s(60) {
            break;
        }
    }
    assert!(job.due() == Time::NEVER || !job.is_expecting(), "heartbeats alone are no progress");
    let record = job.record(Time::ZERO + Span::from_s(61));
    assert_eq!(record.unfinished().collect::<Vec<_>>(), ["job", "map 0", "reduce 0"]);
    assert_eq!(record.duration(), None);
    let open = record.steps.iter().find(|step| step.end.is_none()).expect("the map is open");
    assert_eq!((open.name, open.task, open.bound), ("map", 1, Resource::Network));
    let over = JobPhase::ALL.map(|phase| record.is_over(phase));
    assert_eq!(over, [true, false, false, false, false], "only the submission");
    let [seconds, map, ..] = (RunRecord { jobs: vec![record], ..RunRecord::default() }).job_measures();
    assert_eq!((seconds, map), (None, None));
}
