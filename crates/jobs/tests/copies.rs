//! Stragglers and copies: the slow tasks, the waits of killed copies, and the containers that they leave.

mod idle;

use std::collections::BTreeSet;

use idle::cluster;
use weft_core::record::{JobRecord, Resource, StepRecord};
use weft_core::settings::Share;
use weft_core::{Bytes, Rate, Span, Time};
use weft_jobs::{Framework, FrameworkSettings, TeraSortSettings};

const FRAMEWORKS: [Framework; 3] = [Framework::MapReduce, Framework::Tez, Framework::Spark];

/// 40 maps of 2 s and 6 reducers of 6.67 s on four hosts; a fifth are ten times as slow.
fn straggling(framework: Framework, speculation: bool) -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(4_000_000_000),
        block: Bytes(100_000_000),
        reducers: 6,
        map_rate: Rate::from_mbps(400),
        runs: FrameworkSettings {
            framework,
            map_containers: 4,
            reduce_containers: 2,
            stragglers: Share(0.2),
            straggler_slowdown: 10.0,
            speculation,
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

fn run(settings: &TeraSortSettings) -> JobRecord {
    idle::run(settings.plan(), cluster()).0
}

/// Tasks that are no copies and compute for longer than others of their stage ever do.
fn slow(record: &JobRecord) -> BTreeSet<&str> {
    let usual = |name| if name == "map" { Span::from_ms(2_001) } else { Span::from_ms(6_700) };
    let computing = record.steps.iter().filter(|step| matches!(step.name, "map" | "reduce"));
    let long = computing.filter(|step| step.end.is_some_and(|end| end.since(step.start) > usual(step.name)));
    long.map(|step| &record.tasks[step.task as usize])
        .filter(|task| !task.copy)
        .map(|task| &*task.name)
        .collect()
}

/// Frameworks start tasks in other orders, and copies take containers from others: neither makes another task slow.
#[test]
fn the_same_tasks_are_stragglers_whatever_starts_first() {
    let usual = run(&straggling(Framework::MapReduce, false));
    let expected = slow(&usual);
    assert!(expected.iter().any(|name| name.starts_with("reduce")) && expected.len() < 20, "{expected:?}");
    for framework in FRAMEWORKS {
        for speculation in [false, true] {
            let record = run(&straggling(framework, speculation));
            assert_eq!(slow(&record), expected, "{framework:?}, speculation {speculation}");
            assert!(!speculation || record.tasks.iter().any(|task| task.copy));
        }
    }
}

/// The copy begins in the middle of the straggler's step, which is on its core: that time is the core's, no fixed delay.
#[test]
fn until_its_copy_begins_a_straggler_waits_for_its_core() {
    let mut seen = 0;
    for framework in FRAMEWORKS {
        let record = run(&straggling(framework, true));
        let path = record.critical_path();
        assert_eq!(
            path.iter().map(|part| part.end.since(part.start)).sum::<Span>(),
            record.duration().unwrap()
        );
        for two in path.windows(2).filter(|two| two[0].task != two[1].task) {
            let (before, copy) = (&record.tasks[two[0].task as usize], &record.tasks[two[1].task as usize]);
            if copy.copy {
                assert_eq!(
                    (copy.name.as_str(), two[0].bound),
                    (&*format!("{} copy", before.name), Resource::Cpu)
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 0, "a copy is on a critical path");
}

/// A few maps, some of which are done when the first copies begin; containers take 5 s to start, so that some copies
/// are killed before. Then 24 reducers take all containers of the four hosts at once, six of each.
fn slow_containers(framework: Framework, maps: u64) -> JobRecord {
    let usual = straggling(framework, true);
    run(&TeraSortSettings {
        input: Bytes(maps * 100_000_000),
        reducers: 24,
        runs: FrameworkSettings {
            map_containers: 6,
            container_start: Span::from_s(5),
            stragglers: Share(0.3),
            straggler_slowdown: 4.0,
            speculation_share: Share(0.5),
            ..usual.runs
        },
        ..usual
    })
}

/// The activity of a killed task decides what bounded its last step: a start is a fixed delay, not a call.
#[test]
fn only_calls_are_bounded_by_calls() {
    let calls = ["allocate", "open", "report", "set up", "end calls"];
    let mut killed = 0;
    for (framework, maps) in FRAMEWORKS.into_iter().flat_map(|one| (4..12).map(move |maps| (one, maps))) {
        let record = slow_containers(framework, maps);
        let mut lasting = record.steps.iter().filter(|step| step.end.is_some_and(|end| end > step.start));
        let other = |step: &&StepRecord| step.bound == Resource::Latency && !calls.contains(&step.name);
        assert_eq!(lasting.find(other), None, "{framework:?}, {maps} maps");
        let starts: Vec<_> = record.steps.iter().filter(|step| step.name == "start").collect();
        killed += starts.iter().filter(|step| record.tasks[step.task as usize].killed).count();
        assert!(starts.iter().all(|step| step.bound == Resource::Fixed));
    }
    assert!(killed > 0, "a copy is killed while its container starts");
}

/// An executor runs no more tasks at a time on a host than containers have started there, whatever was killed.
#[test]
fn a_container_that_was_killed_before_it_had_started_starts_again() {
    let mut killed = 0;
    for record in (4..12).map(|maps| slow_containers(Framework::Spark, maps)) {
        for host in cluster().compute {
            let mut changes: Vec<(Time, i32, i32)> = Vec::new();
            for step in &record.steps {
                let (task, end) = (&record.tasks[step.task as usize], step.end.expect("it is done"));
                match step.name {
                    _ if task.host != Some(host) => {}
                    "start" if task.killed && task.end == step.end => killed += 1,
                    "start" => changes.push((end, 1, 0)),
                    "open" => changes.extend([(step.start, 0, 1), (task.end.expect("it is done"), 0, -1)]),
                    _ => {}
                }
            }
            changes.sort_unstable();
            let (mut started, mut running) = (0, 0);
            for at in changes.chunk_by(|a, b| a.0 == b.0) {
                started += at.iter().map(|change| change.1).sum::<i32>();
                running += at.iter().map(|change| change.2).sum::<i32>();
                assert!(running <= started, "{running} tasks in {started} containers on {host:?}");
            }
        }
    }
    assert!(killed > 0, "a copy is killed while its container starts");
}
