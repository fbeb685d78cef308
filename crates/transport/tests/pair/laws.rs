//! Long flows: windows compared with theory and with a Linux host on the same path.

use weft_core::record::FlowState;
use weft_core::{Bytes, PacketKind, Purpose, Random, Rate, Span, Time};
use weft_transport::congestion::cubic::CubicArithmetic;
use weft_transport::protocols::{cubic::TcpCubicSettings, htcp::TcpHtcpSettings};
use weft_transport::settings::{LossDetection, Tcp};
use weft_transport::{Outgoing, TransportSettings};

use crate::path::{Path, Setup};
use crate::{newreno, seconds};

/// Mean window in segments where `lose` decides on each data packet, by Little's law: packets per round trip.
fn mean_window(delayed: u32, end: Time, mut lose: impl FnMut(u64) -> bool + 'static) -> f64 {
    let settings = newreno(|tcp| {
        (tcp.delayed_ack, tcp.quick_acks) = (delayed, 0);
        tcp.delayed_ack_timeout = Span::from_us(500);
        // Lost retransmissions and lost tails must not cause time-outs, which the formula does not cover.
        (tcp.loss_detection, tcp.tlp, tcp.tlp_slack) = (LossDetection::Rack, true, Span::ZERO);
    });
    let lose = Box::new(move |out: &Outgoing, nth| out.kind == PacketKind::Data && lose(nth));
    let fast = Rate::from_gbps(100);
    let delay = Span::from_us(500);
    let setup = Setup { card: fast, rate: fast, delay, lose, keep: false, ..Setup::default() };
    let mut path = Path::new(&settings, setup, &[1 << 40]);
    path.run(end);
    let round_trips = end.since(Time::ZERO).0 as f64 / (delay.0 * 2) as f64;
    path.pairs[0].receiver.report().delivered.0 as f64 / 1460.0 / round_trips
}

/// Mathis, Semke, Mahdavi and Ott, CCR 1997: the square root of 1.5 / p when every 1/p-th packet is lost.
#[test]
fn at_periodic_loss_the_window_follows_the_square_root_law() {
    for (every, end) in [(100, 5), (1_000, 10), (10_000, 10)] {
        let window = mean_window(1, seconds(end), move |nth| nth % every == every - 1);
        let law = (1.5 * every as f64).sqrt();
        assert!((window / law - 1.0).abs() < 0.1, "1 in {every}: {window} segments, the law says {law}");
    }
}

/// Ott, Kemperman and Mathis, 1996: 1.31 over the square root of p when losses are random. Bytes are counted, so that
/// delayed acknowledgements do not slow the growth.
#[test]
fn at_random_loss_the_window_follows_the_square_root_law() {
    for (p, delayed, end) in [(0.01, 1, 10), (0.01, 2, 10), (0.001, 1, 20), (0.001, 2, 20)] {
        let mut random = Random::new(1, Purpose::Test, 0);
        let window = mean_window(delayed, seconds(end), move |_| random.chance(p));
        let law = 1.31 / f64::sqrt(p);
        assert!((window / law - 1.0).abs() < 0.05, "p = {p}: {window} segments, the law says {law}");
    }
}

/// A path of 100 Mb/s counted in IP bytes, where a host carries 1448 bytes in 1500.
fn slow_path(round_trip: Span, limit: usize) -> Setup {
    let rate = Rate::from_mbps(100);
    Setup { card: Rate::from_gbps(10), rate, delay: round_trip / 2, limit, keep: false, ..Setup::default() }
}

fn linux(tcp: &mut Tcp) {
    (tcp.framing, tcp.least_wire, tcp.timestamps) = (Bytes(0), Bytes(0), true);
    (tcp.loss_detection, tcp.tlp) = (LossDetection::Rack, true);
}

/// The behaviour of a single flow after a given time.
#[derive(Debug, Default)]
struct Course {
    /// Payload per second, in Mb/s, over the whole run.
    goodput: f64,
    /// Retransmitted segments.
    retransmitted: u64,
    /// Window in segments just before and just after each later loss event, and when.
    falls: Vec<(f64, u64, u64)>,
}

fn course(settings: &TransportSettings, setup: Setup, end: u64) -> Course {
    let mut path = Path::new(settings, setup, &[1 << 40]);
    let mss = path.transport.mss();
    let mut course = Course::default();
    let (mut before, mut top) = (FlowState::Open, 0);
    while path.now < seconds(end) {
        path.step();
        let report = path.pairs[0].sender.report();
        if report.state == FlowState::Open {
            if before == FlowState::Recovery {
                course.falls.push((path.now.seconds(), top, report.cwnd.0 / mss));
            }
            top = report.cwnd.0 / mss;
        }
        before = if report.state == FlowState::Disorder { before } else { report.state };
    }
    course.goodput = path.pairs[0].receiver.report().delivered.bits() as f64 / end as f64 / 1e6;
    course.retransmitted = path.pairs[0].sender.report().retransmitted.0 / mss;
    course
}

/// Time from each reduction to the next, without those of slow start.
fn periods(course: &Course, skip: usize) -> Vec<f64> {
    course.falls[skip..].windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

/// Linux 6.18 on this path: 168 to 336 segments in 5.17 s, 337 retransmissions (all but a few in slow start), 94.3 Mb/s.
#[test]
fn reno_saws_as_on_linux() {
    let course = course(&newreno(linux), slow_path(Span::from_ms(20), 166), 20);
    for (_, top, bottom) in &course.falls[1..] {
        assert!((332..=338).contains(top) && (166..=170).contains(bottom), "{course:?}");
    }
    assert!(periods(&course, 1).iter().all(|period| (5.0..5.3).contains(period)), "{course:?}");
    assert!((330..=345).contains(&course.retransmitted), "{course:?}");
    assert!((94.0..96.54).contains(&course.goodput), "{course:?}");
}

/// Linux: 234 to 335 segments (a ratio of 0.70), a loss every 5.04 s, 96.5 Mb/s. The cubic takes K = 6.3 s to its
/// plateau, but in whole segments it arrives when the distance falls below one, 1.36 s earlier, and is a segment
/// above it 1.36 s later.
#[test]
fn cubic_falls_to_seven_tenths_as_on_linux() {
    let mut settings = TcpCubicSettings::default();
    settings.law.arithmetic = CubicArithmetic::Linux;
    linux(&mut settings.tcp);
    let course = course(&TransportSettings::Cubic(settings), slow_path(Span::from_ms(20), 166), 20);
    // Before the first reduction the path is unknown, and the window overshoots.
    for (_, top, bottom) in &course.falls[1..] {
        assert!((332..=338).contains(top) && (232..=236).contains(bottom), "{course:?}");
    }
    assert!(periods(&course, 1).iter().all(|period| (4.9..6.7).contains(period)), "{course:?}");
    assert!((95.5..96.54).contains(&course.goodput), "{course:?}");
}

/// Linux with the same law: 861 to 1724 segments.
#[test]
fn htcp_saws_as_on_linux() {
    let mut settings = TcpHtcpSettings::default();
    linux(&mut settings.tcp);
    let course = course(&TransportSettings::Htcp(settings), slow_path(Span::from_ms(100), 833), 20);
    for (_, top, bottom) in &course.falls[2..] {
        assert!((1720..=1728).contains(top) && (858..=865).contains(bottom), "{course:?}");
    }
}

/// Share of the rate that a Reno flow uses between 2 s and 12 s, at 10 ms and 83 packets on the way.
fn used(limit: usize) -> f64 {
    let settings = newreno(|tcp| {
        linux(tcp);
        tcp.delayed_ack = 1;
    });
    let mut path = Path::new(&settings, slow_path(Span::from_ms(10), limit), &[1 << 40]);
    path.run(seconds(2));
    let before = path.carried;
    path.run(seconds(12));
    (path.carried - before) as f64 / (125_000_000.0 * 1448.0 / 1500.0)
}

#[test]
fn a_buffer_of_one_path_fills_the_link_and_none_leaves_a_quarter() {
    assert!(used(84) > 0.999, "{}", used(84));
    // With room for one packet less, even the pair that a growing window sends would lose one.
    let without = used(2);
    assert!((0.75..0.80).contains(&without), "{without}");
}
