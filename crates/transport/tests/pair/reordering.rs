//! How a sender reacts to a path that reorders.

use weft_core::settings::Amount;
use weft_core::{Bytes, PacketKind, Span};
use weft_transport::segment::Flags;
use weft_transport::settings::Tcp;
use weft_transport::{Outgoing, SenderReport};

use crate::path::{Path, Setup};
use crate::{MSS, newreno, seconds};

/// The number of packets that overtake a late one.
const LATE: u64 = 16;

/// A window that does not grow while `segments` are sent, at a threshold far from it.
fn steady(tcp: &mut Tcp) {
    tcp.initial_window = Amount::Packets(40);
    tcp.initial_ssthresh = Some(Amount::Packets(40));
}

/// 4900 segments over a path on which one packet of `every` comes late.
fn reordered(every: u64, change: impl FnOnce(&mut Tcp)) -> SenderReport {
    reordered_path(every, change).pairs[0].sender.report()
}

fn reordered_path(every: u64, change: impl FnOnce(&mut Tcp)) -> Path {
    let late = Span::from_ns(1_231 * LATE);
    let detour = Box::new(
        move |out: &Outgoing, nth: u64| {
            if out.kind == PacketKind::Data && nth % every == 10 { late } else { Span::ZERO }
        },
    );
    let settings = newreno(|tcp| {
        steady(tcp);
        change(tcp);
    });
    let mut path = Path::new(&settings, Setup { detour, ..Setup::default() }, &[4_900 * MSS]);
    assert!(path.run(seconds(30)));
    let received = path.pairs[0].receiver.report();
    assert!(u64::from(received.out_of_order) * every > 3_000, "{received:?}");
    path
}

#[test]
fn an_acknowledgement_that_advances_is_no_duplicate() {
    let held_back = |delayed_ack| {
        let path = reordered_path(50, |tcp| tcp.delayed_ack = delayed_ack);
        let receiver = path.pairs[0].receiver.report();
        let mut repeated = 0;
        for acks in path.pairs[0].acks.windows(2) {
            let (before, after) = (acks[0].1, acks[1].1);
            let news = after.flags.has(Flags::ACK) && !after.flags.has(Flags::DUPLICATE);
            repeated += u32::from(news && before.ack == after.ack);
        }
        assert!(repeated > 300 && receiver.dupacks == repeated, "{repeated} of {receiver:?}");
        repeated
    };
    let (at_once, delayed) = (held_back(1), held_back(2));
    assert!(delayed < at_once, "{delayed} and {at_once}");
}

#[test]
fn a_sender_that_learns_how_far_packets_are_overtaken_waits_so_long() {
    let stubborn = reordered(50, |_| {});
    assert!(stubborn.recoveries > 20, "{stubborn:?}");
    let learning = reordered(50, |tcp| (tcp.max_reordering, tcp.undo) = (Some(127), true));
    assert_eq!(learning.recoveries, 1, "the first time nobody can know: {learning:?}");
    assert_eq!(learning.retransmitted, Bytes(MSS));
    assert!(learning.cwnd.0 >= 40 * MSS, "{learning:?}");
    let limited = reordered(50, |tcp| (tcp.max_reordering, tcp.undo) = (Some(LATE as u32 / 2), true));
    assert!(limited.recoveries > 20, "{limited:?}");
}

#[test]
fn a_recovery_for_nothing_costs_no_window() {
    let punished = reordered(200, |_| {});
    let forgiven = reordered(200, |tcp| tcp.undo = true);
    assert!(forgiven.recoveries > 15 && punished.cwnd.0 < 20 * MSS, "{punished:?}");
    assert!(forgiven.cwnd.0 >= 40 * MSS && forgiven.ssthresh.0 >= 40 * MSS, "{forgiven:?}");
}

#[test]
fn a_recovery_that_was_needed_is_not_undone() {
    let lossy = |change: fn(&mut Tcp)| {
        let lose = Box::new(|out: &Outgoing, nth: u64| out.kind == PacketKind::Data && nth % 500 == 100);
        let settings = newreno(|tcp| {
            steady(tcp);
            change(tcp);
        });
        let mut path = Path::new(&settings, Setup { lose, ..Setup::default() }, &[2_000 * MSS]);
        assert!(path.run(seconds(30)));
        path.pairs[0].sender.report()
    };
    let (plain, undoing) = (lossy(|_| {}), lossy(|tcp| (tcp.max_reordering, tcp.undo) = (Some(127), true)));
    assert_eq!(plain.recoveries, 4);
    assert_eq!(format!("{plain:?}"), format!("{undoing:?}"));
}
