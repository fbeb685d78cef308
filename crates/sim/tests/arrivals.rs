//! The part of a run in which flows arrive, over which loads are averaged: closed forms for flows of constant rate.

mod lab;

use weft_core::record::RunRecord;
use weft_core::{Bytes, Rate, Span, Time};
use weft_plan::{Division, Setup};

const DATAGRAM: u64 = 1_472;
/// A datagram on the wire: headers and framing of Ethernet.
const WIRE: u64 = 1_538;

/// A constant rate of one datagram each 10 us for 1 ms, and a last small flow that starts at `last`.
fn steady(last: Span) -> Setup {
    let rate = Rate(DATAGRAM * 8 * 100_000);
    let flows =
        vec![lab::constant(Span::ZERO, 0, 5, 100 * DATAGRAM, rate), lab::constant(last, 1, 6, 1, rate)];
    Setup { flows: flows.into(), ..lab::leaf_spine() }
}

fn run(last: Span) -> RunRecord {
    lab::run(steady(last))
}

/// The last flow starts 5 us after a datagram: packets begun by then count, later ones do not.
#[test]
fn what_is_sent_after_the_last_start_is_left_out() {
    let record = run(Span::from_us(705));
    let arrivals = record.arrivals.expect("most was delivered by then");
    assert_eq!(arrivals.until, Time::ZERO + Span::from_us(705));
    // The datagram of 700 us has not crossed four links yet.
    assert_eq!(arrivals.delivered, Bytes(70 * DATAGRAM));
    assert_eq!(record.links[0].sent_in_arrivals, Bytes(71 * WIRE));
    assert_eq!(record.links[0].sent, Bytes(100 * WIRE));
}

/// If most of the payload comes later, the record says so; if all flows start together, there is no such part.
#[test]
fn a_run_that_mostly_drains_says_so() {
    let drains = run(Span::from_us(305)).arrivals.expect("flows arrive over time");
    assert!(!drains.most && drains.delivered < Bytes(50 * DATAGRAM), "{drains:?}");
    assert!(run(Span::from_us(705)).arrivals.expect("they do").most);
    assert_eq!(run(Span::ZERO).arrivals, None);
}

#[test]
fn threads_find_the_same_part() {
    let setup = Setup { division: Division::threads(2), ..steady(Span::from_us(705)) };
    assert_eq!(lab::run(setup).arrivals, run(Span::from_us(705)).arrivals);
}
