//! Flows that take turns: a host sends the next when the one before it has been acknowledged.

mod lab;

use lab::laws::same;
use weft_core::record::{FlowRecord, RunRecord, Stop};
use weft_core::{HostId, Span, Time};
use weft_plan::{Division, Setup};
use weft_workload::{Flow, Flows};

/// Three flows each of two hosts, in turn, to receivers of their own; one of another entry that waits for none.
fn in_turn() -> Setup {
    let flow = |moment, source, destination, size| lab::flow(Span(moment), source, destination, size);
    let mut flows: Vec<Flow> = Vec::new();
    for (source, far) in [(0, 8), (1, 12)] {
        flows.extend((0..3).map(|turn| flow(u64::from(turn), source, far + turn, 100_000)));
    }
    flows.push(Flow { tag: 1, ..flow(1, 0, 7, 1_000) });
    let flows = Flows::from(flows).taking_turns(&[true, false]);
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
fn flows_whose_turn_has_not_come_are_counted_as_unfinished() {
    let record = lab::run(Setup { until: Time::ZERO + Span::from_us(60), ..in_turn() });
    assert_eq!((record.stop, record.flows.len()), (Stop::TimeLimit, 7));
    let waiting = of(&record, 0, 0);
    assert!(waiting[2].end.is_none() && waiting[2].delivered.0 == 0);
}

#[test]
fn turns_are_the_same_on_any_number_of_threads() {
    let alone = lab::run(in_turn());
    for threads in 2..=4 {
        let divided = lab::run(Setup { division: Division::threads(threads), ..in_turn() });
        same(&alone, &divided).unwrap_or_else(|why| panic!("{threads} threads: {why}"));
    }
}
