//! Several jobs on the same hosts: disks are shared, containers are not.

mod idle;

use idle::{cluster, run_all};
use weft_core::record::JobRecord;
use weft_core::settings::Share;
use weft_core::{Bytes, HostId, Rate, Span, Time};
use weft_jobs::{Cluster, FrameworkSettings, TeraSortSettings};

/// Maps of 16 MB on hosts with two disks.
fn sorting(maps: u64, map_containers: u32) -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(maps * 16_000_000),
        block: Bytes(16_000_000),
        reducers: 4,
        map_rate: Rate::from_gbps(1),
        runs: FrameworkSettings {
            map_containers,
            reduce_containers: 1,
            disks: 2,
            slow_start: Share(1.0),
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

/// How long the spills on a host take, shortest first.
fn spills(records: &[JobRecord], host: u32) -> Vec<Span> {
    let of = |record: &JobRecord| {
        let here = |task: u32| record.tasks[task as usize].host == Some(HostId(host));
        let spills = record.steps.iter().filter(|step| step.name == "spill" && here(step.task));
        spills.map(|step| step.end.expect("it is done").since(step.start)).collect::<Vec<_>>()
    };
    let mut all: Vec<Span> = records.iter().flat_map(of).collect();
    all.sort_unstable();
    all
}

/// Two jobs with two maps on each host write as one job with four: two spills at a time on two disks.
#[test]
fn two_jobs_write_to_the_disks_of_a_host_as_one_of_twice_the_size() {
    let job = |maps, containers| (sorting(maps, containers).plan(), cluster(), Time::ZERO);
    let (two, _) = run_all(vec![job(8, 2), job(8, 2)]);
    let (one, _) = run_all(vec![job(16, 4)]);
    let each = Span::from_ms(8) + Rate::from_mbps(1_200).time_for(Bytes(16_000_000));
    for host in 1..=4 {
        assert_eq!(spills(&two, host), [each, each, each * 2, each * 2], "host {host}");
        assert_eq!(spills(&one, host), spills(&two, host));
    }
}

/// However many jobs use a disk, it works no longer than time passes; and all of them end.
#[test]
fn a_disk_serves_one_request_at_a_time_whosever_it_is() {
    let hosts = Cluster { compute: vec![HostId(1)], data: vec![HostId(1)], master: HostId(0) };
    let job = |start| {
        let usual = sorting(12, 4);
        let runs = FrameworkSettings { disks: 1, replicas: 1, ..usual.runs };
        (TeraSortSettings { runs, ..usual }.plan(), hosts.clone(), Time::ZERO + Span::from_ms(start))
    };
    let (records, _) = run_all(vec![job(0), job(100), job(1_000)]);
    assert!(records.iter().all(|record| record.end.is_some()));
    let width = records[0].disks.width();
    assert!(records.iter().all(|record| record.disks.width() == width));
    let most = records.iter().map(|record| record.disks.bins().len()).max().unwrap_or(0);
    let busy = |bin: usize| records.iter().filter_map(|one| one.disks.bins().get(bin)).sum::<u64>();
    // Rounding loses up to a picosecond for each request in a bin.
    let late: Vec<_> = (0..most).filter(|bin| busy(*bin) > width.0 + 1_000).collect();
    assert!(late.is_empty(), "bins of {width} with more work than that: {late:?}");
    assert!((0..most).any(|bin| busy(bin) > width.0 / 2), "the disk is busy at times");
}
