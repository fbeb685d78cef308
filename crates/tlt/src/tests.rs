//! The rules of marking, without a transport.

use crate::settings::Clocking;
use crate::{InFlight, Ranges, RateMarker, WindowMarker};

const MSS: u64 = 1_000;

fn packet(number: u64) -> std::ops::Range<u64> {
    number * MSS..(number + 1) * MSS
}

fn range(part: std::ops::Range<u64>) -> Ranges {
    let mut all = Ranges::default();
    all.add(part);
    all
}

/// Every operation against a set of single bytes.
#[test]
fn ranges_are_sets() {
    let mut random = weft_core::Random::new(1, weft_core::Purpose::Mark, 0);
    let mut drawn = |below: u64| (random.unit() * below as f64) as u64;
    let (mut own, mut model) = (Ranges::default(), std::collections::BTreeSet::new());
    for _ in 0..5_000 {
        let start = drawn(60);
        let bytes = start..start + drawn(12);
        if drawn(2) == 0 {
            own.add(bytes.clone());
            model.extend(bytes);
        } else {
            own.remove(&bytes);
            model.retain(|byte| !bytes.contains(byte));
        }
        let all: Vec<u64> = own.iter().flatten().collect();
        assert!(all.iter().eq(model.iter()));
        let parts: Vec<_> = own.iter().collect();
        assert!(parts.iter().all(|part| !part.is_empty()) && parts.windows(2).all(|w| w[0].end < w[1].start));
    }
}

/// A first window of four packets: the last is important, and its echo proves what is missing of the others.
#[test]
fn the_last_packet_of_the_first_window_proves_the_window() {
    let mut marker = WindowMarker::new();
    assert!((0..4).all(|number| !marker.sends(packet(number))));
    assert!(marker.exhausted(&packet(3)));
    assert!(!marker.exhausted(&packet(3)), "only once");
    marker.arrived(MSS, [(3 * MSS, 4 * MSS)].into_iter());
    assert_eq!(marker.echoed(), range(MSS..3 * MSS));
    assert!(marker.is_due());
}

/// A mark closes the first window after two of its packets: an important packet is due, and its echo judges both.
#[test]
fn a_first_window_that_closes_early_forces_a_packet() {
    let flight = InFlight { una: 0, next: 2 * MSS, mss: MSS };
    let mut marker = WindowMarker::new();
    assert!(!marker.sends(packet(0)) && !marker.sends(packet(1)));
    assert_eq!(marker.forced(Clocking::Adaptive, flight), None, "the window is open");
    assert!(marker.closed() && !marker.closed(), "once");
    assert_eq!(marker.forced(Clocking::Adaptive, flight), Some(0..1), "nothing says that they are lost");
    assert!(marker.sends(0..1));
    assert!(!marker.closed(), "it is in flight");
    marker.arrived(1, std::iter::empty());
    assert_eq!(marker.echoed(), range(1..2 * MSS));
}

/// Packets after the important one are judged by the next echo, not by this one.
#[test]
fn an_echo_says_nothing_of_what_went_later() {
    let mut marker = WindowMarker::new();
    assert!(!marker.sends(packet(0)) && marker.exhausted(&packet(0)));
    assert!(!marker.sends(packet(1)) && !marker.sends(packet(2)));
    marker.arrived(MSS, std::iter::empty());
    assert!(marker.echoed().is_empty());
    assert!(marker.sends(packet(3)), "the next packet is important");
    assert!(!marker.sends(packet(1)), "sent again, packet 1 is recent");
    marker.arrived(MSS, [(3 * MSS, 4 * MSS)].into_iter());
    assert_eq!(marker.echoed(), range(2 * MSS..3 * MSS));
}

#[test]
fn one_segment_is_forced_where_a_loss_is_likely_and_one_byte_where_not() {
    let flight = |una| InFlight { una, next: 3 * MSS, mss: MSS };
    let mut marker = WindowMarker::new();
    assert!(!marker.sends(packet(0)) && marker.exhausted(&packet(0)));
    assert_eq!(marker.forced(Clocking::Adaptive, flight(0)), None, "one is in flight");
    assert!(!marker.sends(packet(1)) && !marker.sends(packet(2)));
    marker.arrived(MSS, std::iter::empty());
    marker.echoed();
    assert_eq!(marker.forced(Clocking::Adaptive, flight(MSS)), Some(packet(1)));
    assert_eq!(marker.forced(Clocking::Byte, flight(MSS)), Some(MSS..MSS + 1));
    marker.arrived(MSS, [(MSS, 3 * MSS)].into_iter());
    assert_eq!(marker.forced(Clocking::Adaptive, flight(MSS)), Some(MSS..MSS + 1));
    assert_eq!(marker.forced(Clocking::Segment, flight(MSS)), Some(packet(1)));
    assert_eq!(marker.forced(Clocking::Segment, flight(3 * MSS)), None, "nothing is in flight");
}

#[test]
fn after_a_time_out_an_old_echo_proves_nothing() {
    let mut marker = WindowMarker::new();
    assert!(!marker.sends(packet(0)) && !marker.sends(packet(1)) && marker.exhausted(&packet(1)));
    marker.timed_out();
    assert!(marker.echoed().is_empty() && marker.is_due());
    assert!(marker.sends(packet(0)));
}

#[test]
fn the_last_the_first_of_a_retransmission_and_every_nth_are_important() {
    let mut marker = RateMarker::new(3);
    let calm: Vec<bool> = (0..7).map(|number| marker.sends(packet(number).end, number == 6)).collect();
    assert_eq!(calm, [false, false, true, false, false, true, true]);
    marker.goes_back();
    let again: Vec<bool> = (0..4).map(|number| marker.sends(packet(number).end, false)).collect();
    assert_eq!(again, [true, false, false, true], "counted from the important one on");
}

/// A window of two packets: one packet per window is important.
#[test]
fn a_packet_that_closes_a_window_is_important_if_no_other_is_unacknowledged() {
    let mut marker = RateMarker::new(96);
    assert!(!marker.sends(MSS, false) && !marker.sends(2 * MSS, false));
    assert!(marker.exhausted(0, 2 * MSS));
    assert!(!marker.sends(3 * MSS, false) && !marker.exhausted(MSS, 3 * MSS));
    assert!(!marker.sends(4 * MSS, false) && marker.exhausted(2 * MSS, 4 * MSS));
}
