//! Flows that take turns: a host sends the next when the one before it has been acknowledged and closed.

mod lab;

use lab::laws::same;
use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::{HostId, Span, Time};
use weft_plan::{Division, Setup};
use weft_workload::{Flow, Flows};

/// Two hosts with three flows each, in turn, to different receivers; one flow of another entry, which does not wait.
fn in_turn() -> Setup {
    until(Time::NEVER)
}

/// The same, without turns after a given instant.
fn until(last_turn: Time) -> Setup {
    let flow = |moment, source, destination, size| lab::flow(Span(moment), source, destination, size);
    let mut flows: Vec<Flow> = Vec::new();
    for (source, far) in [(0, 8), (1, 12)] {
        flows.extend((0..3).map(|turn| flow(u64::from(turn), source, far + turn, 100_000)));
    }
    flows.push(Flow { tag: 1, ..flow(1, 0, 7, 1_000) });
    let flows = Flows::from(flows).taking_turns(&[Some(last_turn), None]);
    Setup { flows, tags: vec!["shuffle".into(), "other".into()], ..lab::leaf_spine() }
}

fn of(record: &RunRecord, source: u32, tag: u16) -> Vec<FlowRecord> {
    let own = |flow: &&FlowRecord| flow.source == HostId(source) && flow.tag == tag;
    record.flows.iter().filter(own).cloned().collect()
}

#[test]
fn a_flow_starts_when_the_one_before_it_is_acknowledged() {
    let record = lab::run(in_turn());
    assert_eq!((record.stop, record.flows.len()), (Stop::Finished, 7));
    let moment = Span::from_us(20);
    for source in [0, 1] {
        let turns = of(&record, source, 0);
        assert!(turns[0].start == Time::ZERO && turns.iter().all(|flow| flow.end.is_some()));
        for pair in turns.windows(2) {
            let (end, next) = (pair[0].end.expect("finished"), pair[1].start);
            // The receiver has the last byte; its acknowledgement takes a moment.
            assert!(end < next && next < end + moment, "ends {end}, next {next}");
            assert!(pair[1].end.expect("finished").since(next) >= pair[1].ideal);
        }
    }
    assert_eq!(of(&record, 0, 1)[0].start, Time(1), "another entry waits for nobody");
}

#[test]
fn flows_whose_turn_has_not_come_have_not_started() {
    let end = Time::ZERO + Span::from_us(120);
    let record = lab::run(Setup { until: end, ..in_turn() });
    assert_eq!((record.stop, record.flows.len()), (Stop::TimeLimit, 5));
    for source in [0, 1] {
        let [first, second] = &of(&record, source, 0)[..] else { panic!("the third waits") };
        assert!(first.end.is_some_and(|end| end < second.start) && second.end.is_none());
        assert!(second.start < end && second.delivered < second.size);
    }
}

/// Of three flows, the second starts before the last turn and completes; then the run is over.
#[test]
fn no_turn_comes_after_the_last() {
    let stop = Time::ZERO + Span::from_us(120);
    let alone = lab::run(until(stop));
    assert_eq!((alone.stop, alone.flows.len()), (Stop::Finished, 5));
    let whole = lab::run(in_turn());
    for source in [0, 1] {
        let turns = of(&alone, source, 0);
        assert_eq!(turns, of(&whole, source, 0)[..2], "until then nothing differs");
        assert!(turns[1].start < stop && turns[1].end.is_some_and(|end| end > stop));
    }
    let divided = lab::run(Setup { division: Division::threads(3), ..until(stop) });
    same(&alone, &divided).unwrap_or_else(|why| panic!("three threads: {why}"));
}

#[test]
fn turns_are_the_same_on_any_number_of_threads() {
    let alone = lab::run(in_turn());
    lab::laws::same_on_threads(&in_turn(), &alone, 2..=4);
}
