//! Congestion marks: RFC 3168 and RFC 8257 between two ends.

use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Ecn, EcnConsent, Header, Marks, PacketKind, Purpose, Random, Rate, Span, Time};
use weft_transport::congestion::dctcp::Cut;
use weft_transport::protocols::dctcp::TcpDctcpSettings;
use weft_transport::protocols::l2dct::TcpL2dctSettings;
use weft_transport::segment::Flags;
use weft_transport::settings::{EcnUse, Recovery, Tcp};
use weft_transport::{Body, Outgoing, Segment, Transport, TransportSettings};

use crate::losses::lose_first;
use crate::path::{Pair, Path, Script, Setup};
use crate::{MSS, newreno, seconds};

fn dctcp(change: impl FnOnce(&mut Tcp)) -> TransportSettings {
    let mut settings = TcpDctcpSettings::default();
    change(&mut settings.tcp);
    TransportSettings::Dctcp(settings)
}

fn classic() -> TransportSettings {
    newreno(|tcp| {
        tcp.ecn = EcnUse::On;
        tcp.initial_window = Amount::Packets(20);
        tcp.delayed_ack = 1;
    })
}

/// Marks the data packets of these numbers.
fn mark(numbers: std::ops::Range<u64>) -> Script {
    Box::new(move |out, nth| out.kind == PacketKind::Data && numbers.contains(&nth))
}

#[test]
fn classic_marks_are_possible_on_first_transmissions_of_payload_only() {
    let setup = Setup { lose: lose_first(&[5]), ..Setup::default() };
    let mut path = Path::new(&classic(), setup, &[60 * MSS]);
    assert!(path.run(seconds(10)));
    for (_, out) in &path.pairs[0].sent {
        let first = out.kind == PacketKind::Data && !out.segment.flags.has(Flags::AGAIN);
        assert_eq!(out.ecn == Ecn::Capable, first, "{out:?}");
    }
}

#[test]
fn dctcp_makes_every_packet_capable() {
    let setup = Setup { lose: lose_first(&[5]), ..Setup::default() };
    let mut path = Path::new(&dctcp(|_| {}), setup, &[60 * MSS]);
    assert!(path.run(seconds(10)));
    assert!(path.pairs[0].sent.iter().all(|(_, out)| out.ecn == Ecn::Capable));
}

/// The threshold after a mark on packet 100 and, in the same window, the loss of 110; alpha is as at the start.
fn threshold_after_mark_and_loss(alpha: f64) -> u64 {
    let mut settings = TcpDctcpSettings::default();
    settings.law.initial_alpha = Share(alpha);
    settings.law.gain = Share(0.001);
    settings.tcp.initial_window = Amount::Packets(100);
    settings.tcp.initial_ssthresh = Some(Amount::Packets(100));
    (settings.tcp.delayed_ack, settings.tcp.receive_window) = (1, None);
    let fast = Rate::from_gbps(100);
    let setup =
        Setup { card: fast, rate: fast, mark: mark(100..101), lose: lose_first(&[110]), ..Setup::default() };
    let mut path = Path::new(&TransportSettings::Dctcp(settings), setup, &[400 * MSS]);
    while path.pairs[0].sender.report().recoveries == 0 {
        path.step();
    }
    assert_eq!(path.pairs[0].sender.report().reductions, 1);
    path.pairs[0].sender.report().ssthresh.0 / MSS
}

/// A sender reacts to a loss as TCP does (RFC 8257, section 3.5), whatever a mark has just cut: half of what was in flight, and
/// no more than that where the mark has taken it already.
#[test]
fn a_mark_excuses_no_loss_under_dctcp() {
    let [none, half, all] = [0.0, 0.5, 1.0].map(threshold_after_mark_and_loss);
    assert!((45..=51).contains(&none), "{none}");
    assert!((40..=51).contains(&half), "{half}");
    assert!((40..=51).contains(&all), "{all}");
}

/// Whether the SYN asks, the SYN-ACK agrees, and payload can be marked, between ends that are willing or not.
fn negotiated(settings: &TransportSettings, (sender, receiver): (bool, bool)) -> (bool, bool, bool) {
    let consent = Some(EcnConsent { sender, receiver });
    let setup = Setup { mark: mark(0..1_000), ..Setup::default() };
    let mut path = Path::with_consent(settings, (setup, consent), &[60 * MSS]);
    assert!(path.run(seconds(10)));
    let pair = &path.pairs[0];
    let (syn, syn_ack) = (pair.sent[0].1, pair.acks[0].1);
    let asks = syn.segment.flags.has(Flags::SYN.with(Flags::ECE).with(Flags::CWR));
    let agrees = syn_ack.flags.has(Flags::SYN.with(Flags::ECE));
    let capable = pair.sent.iter().any(|(_, out)| out.segment.length > 0 && out.ecn == Ecn::Capable);
    assert_eq!((pair.marked > 0, pair.sender.report().reductions > 0), (capable, capable));
    (asks, agrees, capable)
}

#[test]
fn ends_use_ecn_if_both_are_willing_and_the_handshake_says_so() {
    for settings in [classic(), dctcp(|_| {})] {
        for (sender, receiver) in [(false, false), (false, true), (true, false), (true, true)] {
            let both = sender && receiver;
            assert_eq!(negotiated(&settings, (sender, receiver)), (sender, both, both));
        }
    }
    let silent = |tcp: &mut Tcp| (tcp.handshake, tcp.ecn) = (false, EcnUse::Accept);
    for settings in [newreno(silent), dctcp(silent)] {
        for (sender, receiver) in [(false, false), (false, true), (true, false), (true, true)] {
            let (.., capable) = negotiated(&settings, (sender, receiver));
            assert_eq!(capable, sender && receiver);
        }
    }
}

/// As DCTCP in Linux: the connection is one of NewReno, packet for packet, whatever the law does with marks.
#[test]
fn without_agreement_laws_that_live_by_marks_are_newreno() {
    let refused = Some(EcnConsent { sender: true, receiver: false });
    for handshake in [true, false] {
        let sent = |settings: &TransportSettings, consent| {
            let setup = Setup { lose: lose_first(&[5, 60, 61]), limit: 40, ..Setup::default() };
            let mut path = Path::with_consent(settings, (setup, consent), &[400 * MSS]);
            assert!(path.run(seconds(10)));
            let pair = &path.pairs[0];
            assert!(pair.drops >= 3);
            assert!(pair.sent.iter().all(|(_, out)| out.segment.length == 0 || out.ecn == Ecn::NotCapable));
            let head = |(at, out): &(Time, Outgoing)| (*at, out.segment.sequence, out.segment.length);
            pair.sent.iter().map(head).collect::<Vec<_>>()
        };
        let reference = sent(&newreno(|tcp| tcp.handshake = handshake), None);
        let mut every = TcpDctcpSettings::default();
        every.law.cut = Cut::EveryWindow;
        every.tcp.handshake = handshake;
        let mut aged = TcpL2dctSettings::default();
        aged.tcp.handshake = handshake;
        for settings in [
            dctcp(|tcp| tcp.handshake = handshake),
            TransportSettings::Dctcp(every),
            TransportSettings::L2dct(aged),
        ] {
            assert_eq!(sent(&settings, refused), reference, "{}", settings.name());
        }
    }
}

/// A reply to payload that comes after the receiver has closed can be marked only if the payload could.
#[test]
fn late_replies_follow_the_packet_they_answer() {
    let transport = Transport::new(&dctcp(|_| {}));
    let late = Body::from(Segment { length: 100, ..Segment::default() });
    for ecn in [Ecn::NotCapable, Ecn::Capable] {
        let header = Header { marks: Marks { ecn }, kind: PacketKind::Data, ..Header::default() };
        let (reply, _) =
            transport.reply_after_close(&header, &late, Time::ZERO).expect("payload is answered");
        assert_eq!(reply.marks.ecn, ecn);
    }
}

#[test]
fn ten_marks_in_a_round_trip_halve_the_window_once() {
    let setup = Setup { mark: mark(5..15), ..Setup::default() };
    let mut path = Path::new(&classic(), setup, &[200 * MSS]);
    assert!(path.run(seconds(10)));
    let report = path.pairs[0].sender.report();
    assert_eq!((report.reductions, report.retransmitted), (1, Bytes(0)));
    // Five acknowledgements opened the window of 20 by one each before the first echo.
    assert_eq!(report.ssthresh, Bytes(25 * MSS / 2));
}

#[test]
fn the_echo_lasts_until_the_sender_says_that_it_reduced() {
    let setup = Setup { mark: mark(5..6), ..Setup::default() };
    let mut path = Path::new(&classic(), setup, &[200 * MSS]);
    assert!(path.run(seconds(10)));
    let pair = &path.pairs[0];
    let reduced: Vec<&Segment> = pair
        .sent
        .iter()
        .map(|(_, out)| &out.segment)
        .filter(|s| s.flags.has(Flags::CWR) && s.length > 0)
        .collect();
    assert_eq!(reduced.len(), 1, "said once");
    let echoes: Vec<u64> =
        pair.acks.iter().filter(|(_, ack)| ack.flags.has(Flags::ECE)).map(|(_, ack)| ack.ack).collect();
    let echoes = &echoes[1..];
    assert_eq!(echoes.first(), Some(&(6 * MSS)), "from the marked packet on (the answer to SYN set aside)");
    assert_eq!(echoes.last(), Some(&reduced[0].sequence), "to the one before the news");
}

/// One window has a loss, then marks, which the receiver echoes until it sees CWR: the recovery is all the reduction there
/// is, and the first new segment after it says so.
#[test]
fn a_window_with_a_loss_and_marks_falls_once() {
    for recovery in [Recovery::Prr, Recovery::Halve] {
        let settings = newreno(|tcp| {
            (tcp.ecn, tcp.delayed_ack, tcp.recovery) = (EcnUse::On, 1, recovery);
            tcp.initial_window = Amount::Packets(20);
        });
        let setup = Setup { mark: mark(10..15), lose: lose_first(&[3]), ..Setup::default() };
        let mut path = Path::new(&settings, setup, &[100 * MSS]);
        assert!(path.run(seconds(10)));
        let pair = &path.pairs[0];
        let report = pair.sender.report();
        assert_eq!((report.recoveries, report.reductions), (1, 0), "{recovery:?}");
        assert!((20 * MSS / 2..=23 * MSS / 2).contains(&report.ssthresh.0), "{report:?}");
        let at = pair.sent.iter().position(|(_, out)| out.segment.flags.has(Flags::AGAIN)).expect("repaired");
        let new: Vec<bool> =
            pair.sent[at + 1..].iter().map(|(_, out)| out.segment.flags.has(Flags::CWR)).collect();
        assert!(new[0] && new[1..].iter().all(|cwr| !cwr), "{recovery:?}");
    }
}

/// Payload acknowledged with an echo.
fn echoed(pair: &Pair) -> u64 {
    let (mut before, mut echoed) = (0, 0);
    for (_, ack) in pair.acks.iter().filter(|(_, ack)| !ack.flags.has(Flags::SYN)) {
        echoed += if ack.flags.has(Flags::ECE) { ack.ack - before } else { 0 };
        before = ack.ack;
    }
    echoed
}

#[test]
fn dctcp_reports_exactly_the_marked_bytes_however_acknowledgements_are_delayed() {
    for delayed in [1, 2, 3, 8] {
        for share in [0.02, 0.5, 0.9] {
            let settings = dctcp(|tcp| {
                (tcp.delayed_ack, tcp.quick_acks) = (delayed, 0);
                tcp.delayed_ack_timeout = Span::from_us(300);
            });
            let mut random = Random::new(u64::from(delayed), Purpose::Test, 0);
            let setup = Setup { mark: Box::new(move |_, _| random.chance(share)), ..Setup::default() };
            let mut path = Path::new(&settings, setup, &[1_000_003]);
            assert!(path.run(seconds(10)));
            let pair = &path.pairs[0];
            assert!(pair.marked > 0);
            assert_eq!(echoed(pair), pair.marked, "one acknowledgement per {delayed}, {share} marked");
        }
    }
}

/// Minimum and maximum queue in packets between 50 and 150 ms, and the share of the rate used from then on.
fn steady_queue(flows: usize, rate: Rate, delay: Span, mark_from: usize) -> (usize, usize, f64) {
    let settings = dctcp(|tcp| tcp.delayed_ack = 1);
    let setup = Setup { card: Rate(rate.0 * 4), rate, delay, mark_from, ..Setup::default() };
    let mut path = Path::new(&settings, setup, &vec![1 << 40; flows]);
    path.run(Time::ZERO + Span::from_ms(50));
    let (from, carried) = (path.waiting.len(), path.carried);
    path.run(Time::ZERO + Span::from_ms(150));
    let seen = path.waiting[from..].iter().map(|(_, waiting)| *waiting);
    let (low, high) = (seen.clone().min().unwrap_or(0), seen.max().unwrap_or(0));
    let possible = rate.bytes_in(Span::from_ms(100)).0 as f64 * 1460.0 / 1538.0;
    (low, high, (path.carried - carried) as f64 / possible)
}

#[test]
fn dctcp_keeps_the_queue_near_its_threshold_at_full_rate() {
    // SIGCOMM'10, section 3.3, at 10 Gb/s, 100 us, K = 65: the queue swings between K + N - A and K + N. The rare
    // deep swings, visible in the minimum over 100 ms, go somewhat lower than those of fully synchronised flows.
    for (flows, least, greatest) in [(1, 57, 66), (2, 55, 67), (10, 46, 75)] {
        let (low, high, used) = steady_queue(flows, Rate::from_gbps(10), Span::from_us(50), 65);
        assert!(high.abs_diff(greatest) <= 2, "{flows} flows: {low} to {high}");
        assert!(low <= least && low + 8 >= least, "{flows} flows: {low} to {high}");
        assert!(used > 0.999, "{used}");
    }
}

#[test]
fn more_dctcp_flows_than_the_threshold_can_serve_rest_at_two_packets_each() {
    // 1 Gb/s, 250 us: 20 packets fit on the way, so 40 flows with two packets each leave 60 at the queue.
    let (low, high, used) = steady_queue(40, Rate::from_gbps(1), Span::from_us(125), 20);
    assert!((56..=62).contains(&low) && (56..=62).contains(&high), "{low} to {high}");
    assert!(used > 0.999, "{used}");
}
