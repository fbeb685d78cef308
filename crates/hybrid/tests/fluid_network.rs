//! Fluid flows against closed forms: shares of links, windows, slow start.

use weft_core::{Span, Time};
use weft_hybrid::{FluidBulk, FluidNetwork};

/// Wire bytes per second of a link of 25 Gb/s.
const LINE: f64 = 25e9 / 8.0;
const OPEN: (f64, f64) = (f64::INFINITY, f64::INFINITY);

fn bulk(id: u32, payload: f64, links: &[u32]) -> FluidBulk {
    let uses = links.iter().map(|link| (*link, 1.0)).collect();
    FluidBulk { id, payload, uses, count: 1, windows: OPEN, ahead: 0.0, round_trip: Span::ZERO }
}

/// When flows end that begin at their instants, in the order of their numbers.
fn ends(links: usize, flows: &[(Span, FluidBulk)]) -> Vec<f64> {
    let mut network = FluidNetwork::new(vec![LINE; links]);
    let mut ends = vec![f64::NAN; flows.len()];
    let mut later: Vec<_> = flows.to_vec();
    later.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
    loop {
        let start = later.last().map_or(Time::NEVER, |(start, _)| Time::ZERO + *start);
        let next = network.due().min(start);
        if next == Time::NEVER {
            return ends;
        }
        network.advance(next).into_iter().for_each(|id| ends[id as usize] = next.seconds());
        while let Some((_, bulk)) = later.pop_if(|(start, _)| Time::ZERO + *start <= next) {
            network.begin(bulk);
        }
    }
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} instead of {expected}");
}

#[test]
fn two_flows_on_a_link_share_it_until_one_ends() {
    let late = Span::from_ms(10);
    let found = ends(1, &[(Span::ZERO, bulk(0, 62.5e6, &[0])), (late, bulk(1, 31.25e6, &[0]))]);
    // 20 ms of the link and 10 ms of it: the first is alone for 10 ms, then each has half.
    near(found[0], 0.030);
    near(found[1], 0.030);
    let found = ends(1, &[(Span::ZERO, bulk(0, 62.5e6, &[0])), (Span::ZERO, bulk(1, 31.25e6, &[0]))]);
    near(found[1], 0.020);
    near(found[0], 0.030);
}

/// Each of n hosts sends one part to each of n others: all ends together, after bytes of a host over its line rate.
#[test]
fn a_shuffle_ends_when_the_lines_have_carried_it() {
    let (n, part) = (8_u32, 5e6);
    let pairs = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    let flows: Vec<_> = pairs
        .enumerate()
        .map(|(id, (from, to))| (Span::ZERO, bulk(id as u32, part, &[from, n + to])))
        .collect();
    ends(2 * n as usize, &flows).into_iter().for_each(|end| near(end, f64::from(n) * part / LINE));
}

#[test]
fn a_window_limits_the_rate_to_a_window_in_a_round_trip() {
    let (window, round_trip) = (3e6, Span::from_ms(15));
    let flow = FluidBulk { windows: (window, window), round_trip, ..bulk(0, 300e6, &[0]) };
    // 99 round trips for all windows but the last, which goes at line rate.
    near(ends(1, &[(Span::ZERO, flow)])[0], 99.0 * 0.015 + window / LINE);
}

#[test]
fn slow_start_takes_a_round_trip_for_each_doubling() {
    let round_trip = Span::from_ms(20);
    let flow = FluidBulk { windows: (100e3, 1e12), round_trip, ..bulk(0, 700e3, &[0]) };
    // 100, 200 and 400 kB: two round trips, and the last window at line rate.
    near(ends(1, &[(Span::ZERO, flow)])[0], 2.0 * 0.020 + 400e3 / LINE);
    let opened = FluidBulk { windows: (100e3, 1e12), ahead: 10e3, round_trip, ..bulk(0, 690e3, &[0]) };
    near(ends(1, &[(Span::ZERO, opened)])[0], 2.0 * 0.020 + 400e3 / LINE);
}

#[test]
fn flows_that_are_held_back_leave_the_rest_to_others() {
    let slow = FluidBulk { windows: (1e6, 1e6), round_trip: Span::from_ms(10), ..bulk(0, 100e6, &[0]) };
    let found = ends(1, &[(Span::ZERO, slow), (Span::ZERO, bulk(1, (LINE - 1e8) * 0.1, &[0]))]);
    near(found[1], 0.1);
}

#[test]
fn sixteen_flows_in_one_entry_are_sixteen_flows() {
    let many = FluidBulk { count: 16, ..bulk(0, 1e15, &[0]) };
    near(ends_of_second(many), 17.0 * 10e6 / LINE);
}

fn ends_of_second(first: FluidBulk) -> f64 {
    let mut network = FluidNetwork::new(vec![LINE]);
    network.begin(first);
    network.begin(bulk(1, 10e6, &[0]));
    let next = network.due();
    assert_eq!(network.advance(next), [1]);
    near(network.arrived(0).unwrap_or_default(), 10e6);
    next.seconds()
}
