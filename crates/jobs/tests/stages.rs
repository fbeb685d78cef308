//! Jobs of several stages, executors, stragglers and speculation, on a network without contention.

mod idle;

use idle::{cluster, run};
use weft_core::record::{JobRecord, Resource, RunRecord};
use weft_core::settings::Share;
use weft_core::{Bytes, Rate, Span, Time};
use weft_jobs::{DagSettings, Framework, FrameworkSettings, StageSettings, TeraSortSettings, Transfer};

const MB: u64 = 1_000_000;

fn files(name: &str, megabytes: u64, output: f64) -> StageSettings {
    StageSettings {
        name: name.to_owned(),
        input: Some(Bytes(megabytes * MB)),
        output,
        ..StageSettings::default()
    }
}

fn reading(name: &str, tasks: u32, from: &[&str]) -> StageSettings {
    let from = from.iter().map(|&name| name.to_owned()).collect();
    StageSettings { name: name.to_owned(), tasks, from, ..StageSettings::default() }
}

/// A query: two tables are scanned, the small one goes whole to every task of the join, and its result is sorted.
fn query(framework: Framework) -> DagSettings {
    let join =
        StageSettings { broadcast: vec!["small".to_owned()], output: 0.5, ..reading("join", 6, &["large"]) };
    DagSettings {
        stages: vec![
            files("large", 1_000, 1.0),
            files("small", 50, 0.2),
            join,
            reading("sort", 3, &["join"]),
        ],
        block: Bytes(125 * MB),
        runs: FrameworkSettings { framework, ..FrameworkSettings::default() },
    }
}

fn bytes(
    transfers: &[Transfer],
    from: std::ops::RangeInclusive<u32>,
    to: std::ops::RangeInclusive<u32>,
) -> u64 {
    let bulk = transfers.iter().filter(|transfer| transfer.size != Bytes(512));
    bulk.filter(|one| from.contains(&one.from.0) && to.contains(&one.to.0)).map(|one| one.size.0).sum()
}

/// When tasks whose names begin so start and end.
fn times(record: &JobRecord, stage: &str) -> (Vec<Time>, Vec<Time>) {
    let of = || record.tasks.iter().zip(0..).filter(|(task, _)| task.name.starts_with(stage));
    let start = |task: u32| record.steps.iter().find(|step| step.task == task).map(|step| step.start);
    (of().filter_map(|(_, task)| start(task)).collect(), of().filter_map(|(task, _)| task.end).collect())
}

#[test]
fn bytes_of_a_query_follow_its_plan_under_every_framework() {
    for framework in [Framework::MapReduce, Framework::Tez, Framework::Spark] {
        let (record, transfers) = run(query(framework).plan(), cluster());
        assert_eq!(record.unfinished().count(), 0, "{framework:?}");
        let scanned = 1_050 * MB;
        // Each of six tasks of the join gets all 10 MB of the small table; half of what they read is passed to the
        // sort.
        let joined = (1_000 + 6 * 10) * MB;
        assert_eq!(bytes(&transfers, 5..=7, 1..=4), scanned, "{framework:?}");
        assert_eq!(record.shuffled.0, joined + joined / 2, "{framework:?}");
        assert_eq!(bytes(&transfers, 1..=4, 5..=7), joined / 2, "only the last stage writes files");
    }
}

#[test]
fn a_stage_of_spark_starts_when_all_that_it_reads_is_done() {
    let (record, _) = run(query(Framework::Spark).plan(), cluster());
    for (stage, parents) in [("join", ["large", "small"].as_slice()), ("sort", &["join"])] {
        let last = parents.iter().flat_map(|parent| times(&record, parent).1).max();
        let (starts, _) = times(&record, stage);
        assert!(
            starts.iter().min().copied() >= last,
            "{stage} starts at {starts:?}, its input is there at {last:?}"
        );
        assert_eq!(record.steps.iter().filter(|step| step.name == "fetch early").count(), 0);
    }
}

/// Executors start once for each container that is used, and nobody waits for a heartbeat.
#[test]
fn executors_stay_for_the_whole_job() {
    let runs = FrameworkSettings { map_containers: 1, ..query(Framework::Spark).runs };
    let (record, _) = run(DagSettings { runs, ..query(Framework::Spark) }.plan(), cluster());
    assert_eq!(
        record.steps.iter().filter(|step| step.name == "start").count(),
        4,
        "one for each of four hosts"
    );
    let waits: Span = record
        .critical_path()
        .iter()
        .filter(|part| part.bound == Resource::Fixed)
        .map(|part| part.end.since(part.start))
        .sum();
    assert_eq!(waits, Span::from_s(10 + 2 + 2), "submission, one start, commit");
}

/// 64 maps on four hosts, two at a time; about a tenth are ten times as slow.
fn straggling(speculation: bool) -> TeraSortSettings {
    TeraSortSettings {
        input: Bytes(64 * 125 * MB),
        block: Bytes(125 * MB),
        reducers: 4,
        map_rate: Rate::from_mbps(500),
        runs: FrameworkSettings {
            map_containers: 2,
            stragglers: Share(0.1),
            straggler_slowdown: 10.0,
            speculation,
            ..FrameworkSettings::default()
        },
        ..TeraSortSettings::default()
    }
}

#[test]
fn stragglers_take_their_factor_longer_and_delay_the_job() {
    let (usual, _) = run(
        TeraSortSettings {
            runs: FrameworkSettings { stragglers: Share(0.0), ..straggling(false).runs },
            ..straggling(false)
        }
        .plan(),
        cluster(),
    );
    let (slow, _) = run(straggling(false).plan(), cluster());
    let lasting = |record: &JobRecord| -> Vec<u64> {
        let maps = record.steps.iter().filter(|step| step.name == "map");
        maps.map(|step| step.end.expect("it ends").since(step.start).0 / 1_000_000_000_000).collect()
    };
    assert!(lasting(&usual).iter().all(|seconds| *seconds == 2));
    let late = lasting(&slow).iter().filter(|seconds| **seconds == 20).count();
    assert!((2..=14).contains(&late), "{late} of 64");
    assert_eq!(lasting(&slow).iter().filter(|seconds| **seconds == 2).count(), 64 - late);
    assert!(slow.duration() > usual.duration());
}

/// Copies shorten the job, their bytes are read twice, every task still counts once, and the loser is killed at once.
#[test]
fn copies_of_stragglers_shorten_a_job_and_count_once() {
    let (without, _) = run(straggling(false).plan(), cluster());
    let (with, transfers) = run(straggling(true).plan(), cluster());
    assert!(with.duration() < without.duration(), "{:?} and {:?}", with.duration(), without.duration());
    let copies: Vec<_> = with.tasks.iter().filter(|task| task.copy).collect();
    assert!(!copies.is_empty() && copies.iter().all(|task| task.name.ends_with(" copy")));
    let killed = with.tasks.iter().filter(|task| task.killed).count();
    assert_eq!(killed, copies.len(), "of a task and its copy, one is killed");
    assert_eq!(with.unfinished().count(), 0);
    // A copy may be killed before it reads.
    let reads = with.steps.iter().filter(|step| step.name == "map").count() as u64;
    assert!(reads > 64, "copies read their blocks again");
    assert_eq!(bytes(&transfers, 5..=7, 1..=4), reads * 125 * MB);
    for copy in &copies {
        let name = copy.name.trim_end_matches(" copy");
        let own = with.tasks.iter().find(|task| task.name == name).expect("a copy has an original");
        assert_ne!(own.host, copy.host, "a copy runs on another host");
        assert!(own.end == copy.end && own.killed != copy.killed, "{name}");
    }
    let path = with.critical_path();
    assert!(path.windows(2).all(|two| two[0].end == two[1].start), "the critical path has no gap");
    assert_eq!(path.first().map(|part| part.start), Some(with.start));
    // A straggler that is killed has read its block long ago: its core bounded it, and is free from then on.
    let killed = |task: u32| with.tasks[task as usize].killed && !with.tasks[task as usize].copy;
    let losers: Vec<_> = with.steps.iter().filter(|step| step.name == "map" && killed(step.task)).collect();
    assert!(!losers.is_empty() && losers.iter().all(|step| step.bound == Resource::Cpu), "{losers:?}");
    let busy = with.cores.bins().iter().rposition(|bin| *bin > 0).expect("cores are used");
    assert!(
        Time::ZERO + with.cores.width() * busy as u64 <= with.end.expect("it ends"),
        "no core works after the end"
    );
}

/// The stages that fetch spill as well, later: the map phase ends with the last spill of those that read files.
#[test]
fn the_map_phase_is_that_of_the_stages_that_read_files() {
    let (record, _) = run(query(Framework::Tez).plan(), cluster());
    let reads = |task: u32| record.steps.iter().any(|step| step.task == task && step.name == "map");
    let ends = |of_maps: bool| {
        let spills = record.steps.iter().filter(|step| step.name == "spill" && reads(step.task) == of_maps);
        spills.filter_map(|step| step.end).max().expect("it spills")
    };
    assert!(ends(true) < ends(false));
    let start = record.phase("map").expect("there are maps").0;
    let expected = ends(true).since(start).seconds();
    let measured = RunRecord { jobs: vec![record], ..RunRecord::default() }.job_measures()[1];
    assert_eq!(measured, Some(expected));
}

/// A job of one stage writes what it has read: that is part of its map phase.
#[test]
fn the_map_phase_lasts_until_the_last_write() {
    let job = DagSettings { stages: vec![files("copy", 512, 1.0)], ..query(Framework::Tez) };
    let (record, _) = run(job.plan(), cluster());
    let (start, write) =
        (record.phase("map").expect("it reads").0, record.phase("write").expect("it writes").1);
    let measured = RunRecord { jobs: vec![record], ..RunRecord::default() }.job_measures()[1];
    assert_eq!(measured, Some(write.since(start).seconds()));
}

#[test]
fn the_same_seed_draws_the_same_stragglers() {
    let found = || run(straggling(true).plan(), cluster()).0;
    assert_eq!(found(), found());
}

#[test]
fn plans_that_cannot_run_are_refused_and_settings_without_effect_named() {
    let problems = |stages: Vec<StageSettings>| {
        let job = DagSettings { stages, ..query(Framework::Tez) };
        let words =
            job.problems().into_iter().map(|problem| format!("{}: {}", problem.path, problem.message));
        words.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(problems(query(Framework::Tez).stages), "");
    assert!(problems(Vec::new()).contains("a job needs a stage"));
    let two = problems(vec![files("a", 1, 1.0), reading("b", 2, &["c"]), reading("c", 2, &["a"])]);
    assert!(
        two.contains("stages[1].from: there is no stage `c` before this one; those before are: a"),
        "{two}"
    );
    assert!(
        problems(vec![files("a", 1, 1.0), files("a", 1, 1.0)]).contains("an earlier stage has this name")
    );
    assert!(problems(vec![reading("a", 2, &[])]).contains("a stage reads files (input) or stages"));
    let twice = problems(vec![files("a", 1, 1.0), reading("b", 2, &["a", "a"])]);
    assert!(twice.contains("stages[1].from: it reads stage `a` twice"), "{twice}");
    let idle = StageSettings { spills: 3, ..files("a", 1, 1.0) };
    assert!(problems(vec![idle]).contains("no other stage reads this one"));
    let spark = FrameworkSettings {
        framework: Framework::Spark,
        slow_start: Share(0.5),
        speculation_factor: 2.0,
        ..FrameworkSettings::default()
    };
    let paths: Vec<String> = spark.without_effect().into_iter().map(|problem| problem.path).collect();
    assert_eq!(paths, ["slow_start", "speculation_factor"]);
}

/// Every task asks for a container and reports its end, whatever `calls` is.
#[test]
fn calls_have_bytes() {
    for calls in [0, 2] {
        let runs = FrameworkSettings { calls, call: Bytes::ZERO, ..FrameworkSettings::default() };
        let found: Vec<String> = runs.problems().iter().map(|problem| problem.path.clone()).collect();
        assert_eq!(found, ["call"], "with calls = {calls}");
        assert!(FrameworkSettings { call: Bytes(1), ..runs }.problems().is_empty());
    }
}

/// When the tasks of a record start, end and where, as changes of the number that run on a host.
fn changes_on(record: &JobRecord, host: u32) -> Vec<(Time, i32)> {
    let start =
        |task: usize| record.steps.iter().find(|step| step.task as usize == task).map(|step| step.start);
    let here = |task: &usize| record.tasks[*task].host.is_some_and(|own| own.0 == host);
    let of = |task: usize| [Some((start(task)?, 1)), record.tasks[task].end.map(|end| (end, -1))].into();
    let mut changes: Vec<(Time, i32)> =
        (1..record.tasks.len()).filter(here).filter_map(of).flat_map(|two: [_; 2]| two).flatten().collect();
    changes.sort_unstable();
    changes
}

/// The container of a killed task takes the next waiting task at that instant, on whichever host it is.
#[test]
fn no_container_of_an_executor_is_idle_while_tasks_wait() {
    let runs = FrameworkSettings { framework: Framework::Spark, ..straggling(true).runs };
    let mut killed = 0;
    for megabits in (300..1_000).step_by(20) {
        // While the last stragglers of the scan have copies, the small table is done and opens a stage of many tasks.
        let scan = StageSettings { rate: Rate::from_mbps(500), ..files("scan", 64 * 125, 1.0) };
        let small = StageSettings { rate: Rate::from_mbps(megabits), ..files("small", 250, 1.0) };
        let many = StageSettings { rate: Rate::from_mbps(10), ..reading("many", 40, &["small"]) };
        let job = DagSettings { stages: vec![scan, small, many], block: Bytes(125 * MB), runs: runs.clone() };
        let (record, _) = run(job.plan(), cluster());
        let (starts, _) = times(&record, "many");
        let (first, last) = (starts.iter().min().copied(), starts[..40].iter().max().copied());
        let waiting = |at: Time| Some(at) >= first && Some(at) < last;
        killed += record.tasks.iter().filter(|task| task.killed && task.end.is_some_and(waiting)).count();
        for host in 1..=4 {
            let mut running = 0;
            for at in changes_on(&record, host).chunk_by(|a, b| a.0 == b.0) {
                running += at.iter().map(|(_, change)| change).sum::<i32>();
                assert!(
                    running == 2 || !waiting(at[0].0),
                    "{running} tasks on host {host} after {}",
                    at[0].0
                );
            }
        }
    }
    assert!(killed > 0, "a task is killed while others wait");
}
