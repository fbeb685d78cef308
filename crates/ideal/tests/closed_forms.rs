//! Schedules against closed forms of queueing theory: one server, Poisson arrivals, mean completion times.

use weft_core::random::Purpose;
use weft_core::{Random, Span, Time};
use weft_ideal::{
    BigSwitch, FlowCompletion, LeastAttained, LinkDemand, PoissonLink, PortDemand, ProcessorSharing,
    RankedLink, Schedule, ServiceOrder, WorkDistribution, WorkPiece, completions,
};

/// Mean work of a flow, picoseconds.
const MEAN: f64 = 1e9;

/// Flows with exponential work at a load.
fn exponential(load: f64, flows: u64, seed: u64) -> Vec<LinkDemand> {
    let mut arrivals = Random::new(seed, Purpose::Arrivals, 0);
    let mut sizes = Random::new(seed, Purpose::Sizes, 0);
    let mut at = 0.0;
    let mut next = |flow| {
        at += arrivals.exponential(MEAN / load);
        let work = Span((sizes.exponential(MEAN).round() as u64).max(1));
        LinkDemand { flow, arrival: Time(at as u64), work, deadline: Time::NEVER }
    };
    (0..flows).map(&mut next).collect()
}

/// Mean time in the system in units of the mean work.
fn mean(demands: &[LinkDemand], done: &[FlowCompletion]) -> f64 {
    assert_eq!(demands.len(), done.len(), "every flow completes once");
    let spent = |(flow, at): &FlowCompletion| at.since(demands[*flow as usize].arrival).0 as f64;
    done.iter().map(spent).sum::<f64>() / done.len() as f64 / MEAN
}

/// Mean over several independent lists of flows, with its standard error.
fn measured(new: &dyn Fn() -> Box<dyn Schedule>, load: f64) -> (f64, f64) {
    let of = |seed| {
        let demands = exponential(load, 100_000, seed);
        mean(&demands, &completions(&mut *new(), &demands))
    };
    let means: Vec<f64> = (1..=10).map(of).collect();
    let centre = means.iter().sum::<f64>() / 10.0;
    let variance = means.iter().map(|one| (one - centre).powi(2)).sum::<f64>() / 9.0;
    (centre, (variance / 10.0).sqrt())
}

fn agrees(name: &str, new: &dyn Fn() -> Box<dyn Schedule>, theory: &dyn Fn(f64) -> f64) {
    for load in [0.5, 0.8] {
        let (mean, error) = measured(new, load);
        let expected = theory(load);
        assert!(
            (mean - expected).abs() < 4.0 * error,
            "{name} at {load}: {mean} +- {error}, theory {expected}"
        );
        assert!(error < 0.03 * expected, "{name}: the test must be able to tell");
    }
}

/// Exponential work of mean 1 in small pieces.
fn memoryless() -> WorkDistribution {
    let at = |n: u32| f64::from(n) / 100.0;
    let piece = |n| WorkPiece { from: at(n), to: at(n + 1), share: (-at(n)).exp() - (-at(n + 1)).exp() };
    WorkDistribution::new((0..4_000).map(piece))
}

/// By formula, with exponential work.
fn theory(of: impl Fn(&PoissonLink<'_>) -> f64) -> impl Fn(f64) -> f64 {
    let work = memoryless();
    move |load| of(&PoissonLink { work: &work, load })
}

/// M/G/1-PS: E[T] = E[X] / (1 - load), whatever the distribution.
#[test]
fn processor_sharing_has_its_insensitive_mean() {
    agrees("PS", &|| Box::new(ProcessorSharing::default()), &theory(|link| link.shared()));
}

/// Pollaczek-Khinchine.
#[test]
fn first_come_first_served_waits_as_pollaczek_and_khinchine_say() {
    agrees("FCFS", &|| Box::new(RankedLink::new(ServiceOrder::FirstCome)), &|load| 1.0 + load / (1.0 - load));
}

#[test]
fn shortest_remaining_has_schrages_mean() {
    let new = || -> Box<dyn Schedule> { Box::new(RankedLink::new(ServiceOrder::ShortestRemaining)) };
    agrees("SRPT", &new, &theory(|link| link.shortest_remaining()));
}

#[test]
fn least_attained_service_has_the_mean_of_foreground_background() {
    agrees("LAS", &|| Box::new(LeastAttained::default()), &theory(|link| link.least_attained()));
}

fn demand(flow: u64, arrival: u64, work: u64, deadline: u64) -> LinkDemand {
    LinkDemand { flow, arrival: Time(arrival), work: Span(work), deadline: Time(deadline) }
}

fn at(done: &[FlowCompletion], flow: u64) -> u64 {
    done.iter().find(|one| one.0 == flow).expect("it completes").1.0
}

/// A small flow arrives while a large one is served.
#[test]
fn two_flows_finish_as_by_hand() {
    let flows = [demand(0, 0, 100, 150), demand(1, 20, 30, 1_000)];
    let times = |schedule: &mut dyn Schedule| {
        let done = completions(schedule, &flows);
        [at(&done, 0), at(&done, 1)]
    };
    assert_eq!(times(&mut RankedLink::new(ServiceOrder::ShortestRemaining)), [130, 50]);
    assert_eq!(times(&mut RankedLink::new(ServiceOrder::ShortestFirst)), [130, 50]);
    assert_eq!(times(&mut RankedLink::new(ServiceOrder::FirstCome)), [100, 130]);
    assert_eq!(times(&mut RankedLink::new(ServiceOrder::EarliestDeadline)), [100, 130]);
    assert_eq!(times(&mut ProcessorSharing::default()), [130, 80]);
    // Alone until 40, when both have received 20; the last 10 of the small flow take 20.
    assert_eq!(times(&mut LeastAttained::default()), [130, 60]);
}

/// No order has a smaller mean than SRPT, on any list of flows.
#[test]
fn no_schedule_beats_the_shortest_remaining() {
    for seed in 1..=20 {
        let demands = exponential(0.9, 2_000, seed);
        let of = |schedule: &mut dyn Schedule| mean(&demands, &completions(schedule, &demands));
        let best = of(&mut RankedLink::new(ServiceOrder::ShortestRemaining));
        for order in [ServiceOrder::ShortestFirst, ServiceOrder::FirstCome, ServiceOrder::EarliestDeadline] {
            assert!(best <= of(&mut RankedLink::new(order)) + 1e-12, "{order:?}");
        }
        assert!(best <= of(&mut ProcessorSharing::default()) + 1e-9);
        assert!(best <= of(&mut LeastAttained::default()) + 1e-9);
    }
}

/// Deadlines can be met exactly if the work that must be done within each interval fits into it.
fn feasible(demands: &[LinkDemand]) -> bool {
    let fits = |from: Time, to: Time| {
        let within = demands.iter().filter(|one| one.arrival >= from && one.deadline <= to);
        within.map(|one| one.work.0).sum::<u64>() <= to.since(from).0
    };
    demands.iter().all(|first| {
        let ends = demands.iter().map(|last| last.deadline).filter(|to| *to >= first.arrival);
        ends.into_iter().all(|to| fits(first.arrival, to))
    })
}

#[test]
fn earliest_deadline_first_meets_all_deadlines_exactly_when_they_can_be_met() {
    let mut random = Random::new(1, Purpose::Arrivals, 1);
    let mut seen = [0; 2];
    for _ in 0..2_000 {
        let mut demands: Vec<LinkDemand> = (0..6)
            .map(|flow| {
                let (arrival, work) = (u64::from(random.below(40)), 1 + u64::from(random.below(12)));
                demand(flow, arrival, work, arrival + work + u64::from(random.below(40)))
            })
            .collect();
        demands.sort_by_key(|one| one.arrival);
        let done = completions(&mut RankedLink::new(ServiceOrder::EarliestDeadline), &demands);
        let met = demands.iter().all(|one| at(&done, one.flow) <= one.deadline.0);
        assert_eq!(met, feasible(&demands), "{demands:?}");
        seen[usize::from(met)] += 1;
    }
    assert!(seen.iter().all(|cases| *cases > 200), "both cases occur: {seen:?}");
}

/// With one port on each side the big switch is a link under SRPT.
#[test]
fn a_big_switch_of_one_port_is_a_link() {
    let demands = exponential(0.8, 5_000, 3);
    let link = completions(&mut RankedLink::new(ServiceOrder::ShortestRemaining), &demands);
    let mut switch = BigSwitch::new(1);
    let mut done = Vec::new();
    for demand in &demands {
        switch.arrive(PortDemand { demand: *demand, ingress: 0, egress: 0 }, &mut done);
    }
    switch.finish(&mut done);
    assert_eq!(done, link);
}

/// Flows that share neither port do not meet; of two that share one, the smaller goes first.
#[test]
fn a_big_switch_matches_ports_greedily() {
    let flow =
        |flow, work, ingress, egress| PortDemand { demand: demand(flow, 0, work, u64::MAX), ingress, egress };
    let mut switch = BigSwitch::new(3);
    let mut done = Vec::new();
    for one in [flow(0, 100, 0, 0), flow(1, 60, 0, 1), flow(2, 50, 1, 1), flow(3, 10, 2, 2)] {
        switch.arrive(one, &mut done);
    }
    switch.finish(&mut done);
    // 3 and 2 from the start, and 0 beside them, since 1 finds its egress busy; then 1, because 60 < 50 left of 0 is
    // false: 0 keeps its ports until 100.
    assert_eq!([0, 1, 2, 3].map(|flow| at(&done, flow)), [100, 160, 50, 10]);
}
