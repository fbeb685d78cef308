//! TLT: which packets are important, what an echo repairs, and that no time-out is needed while green packets arrive.

use weft_core::settings::Amount;
use weft_core::{PacketKind, Purpose, Random, Rate, Span, Time};
use weft_tlt::settings::Clocking;
use weft_transport::protocols::dctcp::TcpDctcpSettings;
use weft_transport::segment::Flags;
use weft_transport::settings::{EcnUse, LossDetection, Recovery, Tcp};
use weft_transport::{Outgoing, Segment, TransportSettings};

use crate::path::{Path, Script, Setup};
use crate::{MSS, newreno, seconds};

/// The flags of payload that is sent although the window is closed.
const FORCED: Flags = Flags::ECE;

fn tlt(tcp: &mut Tcp) {
    tcp.tlt = Some(Default::default());
    tcp.dup_threshold = 1;
    tcp.delayed_ack = 1;
    tcp.handshake = false;
}

/// Runs one flow step by step: while anything is in flight, one important packet or echo is, and never two.
fn checked(settings: &TransportSettings, setup: Setup, size: u64) -> Path {
    let mut path = Path::new(settings, setup, &[size]);
    while !path.is_over() && path.now < seconds(20) {
        path.step();
        let important = path.important();
        assert!(important <= 1, "{important} in flight at {:?}", path.now);
        let pair = &path.pairs[0];
        let done = pair.sender.finished() || pair.receiver.closed();
        let waits = pair.sender.is_ready();
        assert!(important == 1 || done || waits, "none in flight at {:?}", path.now);
    }
    assert!(path.pairs[0].sender.finished(), "{:?}", path.pairs[0].sender.report());
    assert_eq!(path.pairs[0].receiver.report().delivered.0, size);
    path
}

fn timeouts(path: &Path) -> u32 {
    path.pairs[0].sender.report().timeouts
}

fn forced(path: &Path) -> Vec<(Time, Outgoing)> {
    let sent = &path.pairs[0].sent;
    sent.iter().filter(|(_, out)| out.segment.flags.has(FORCED)).copied().collect()
}

/// Loses the red packets that a script says, by what they carry.
fn lose_red(mut which: impl FnMut(&Outgoing) -> bool + 'static) -> Script {
    Box::new(move |out, _| out.kind == PacketKind::Red && which(out))
}

#[test]
fn with_every_red_packet_lost_a_segment_arrives_each_round_trip() {
    let size = 40 * MSS;
    let path = checked(&newreno(tlt), Setup { lose: lose_red(|_| true), ..Setup::default() }, size);
    assert_eq!(timeouts(&path), 0);
    let pair = &path.pairs[0];
    let last = pair.acks.last().expect("it is answered").0;
    let round = Span::from_us(100);
    let rounds = last.since(Time::ZERO).0 / round.0;
    assert!((40..=60).contains(&rounds), "{rounds} round trips for 40 segments");
}

/// The last packets of a window are lost, which plain TCP cannot see: its timer must expire.
#[test]
fn a_lost_tail_is_repaired_within_two_round_trips() {
    let tail = |out: &Outgoing| out.segment.sequence >= 17 * MSS && !out.segment.flags.has(Flags::AGAIN);
    let window = |tcp: &mut Tcp| tcp.initial_window = Amount::Packets(10);
    let with = newreno(|tcp| (tlt(tcp), window(tcp)).1);
    let path = checked(&with, Setup { lose: lose_red(tail), ..Setup::default() }, 20 * MSS);
    assert_eq!(timeouts(&path), 0);
    let end = |path: &Path| path.pairs[0].receiver.completed().expect("it arrives");
    let whole = end(&checked(&with, Setup::default(), 20 * MSS));
    let late = end(&path).since(whole);
    assert!(late <= Span::from_us(250), "{late:?} after the end without losses");

    let without = newreno(|tcp| {
        tlt(tcp);
        tcp.tlt = None;
        window(tcp);
    });
    let lose: Script = Box::new(move |out, _| tail(out));
    let mut path = Path::new(&without, Setup { lose, ..Setup::default() }, &[20 * MSS]);
    assert!(path.run(seconds(20)));
    assert_eq!(timeouts(&path), 1);
}

/// Where no window closes, nothing is forced: the segments and their times are those of TCP without TLT.
#[test]
fn an_open_window_is_not_forced_while_the_pace_waits() {
    let paced = |tcp: &mut Tcp| {
        tlt(tcp);
        tcp.pacing = true;
        tcp.initial_window = Amount::Packets(20);
    };
    let sent = |settings: &TransportSettings| {
        let setup = Setup { rate: Rate::from_gbps(40), card: Rate::from_gbps(40), ..Setup::default() };
        let mut path = Path::new(settings, setup, &[300 * MSS]);
        assert!(path.run(seconds(10)));
        let data = path.pairs[0].sent.iter().filter(|(_, out)| out.segment.length > 0);
        data.map(|(at, out)| (*at, out.segment.sequence, out.segment.length)).collect::<Vec<_>>()
    };
    let plain = newreno(|tcp| (paced(tcp), tcp.tlt = None).1);
    let (with, without) = (sent(&newreno(paced)), sent(&plain));
    // At the end of the flow TLT may repeat bytes, for want of a window to fill.
    assert_eq!(with[..300], without[..300]);
}

/// While a burst of segments is not worth sending, the important packet that is due goes as a new one.
#[test]
fn an_important_packet_does_not_wait_for_a_burst() {
    let bursts = newreno(|tcp| {
        tlt(tcp);
        tcp.tso = true;
        tcp.initial_window = Amount::Packets(20);
    });
    let path = checked(&bursts, Setup::default(), 300 * MSS);
    let is_last = |(_, out): &&(Time, Outgoing)| out.segment.end() == 300 * MSS;
    let end = path.pairs[0].sent.iter().find(is_last).expect("all is sent").0;
    let before_the_end = forced(&path).iter().filter(|(at, _)| *at < end).count();
    assert_eq!((before_the_end, timeouts(&path)), (0, 0));
}

/// A packet and its retransmission are lost.
#[test]
fn a_lost_retransmission_is_sent_again() {
    for loss_detection in [LossDetection::DupThresh, LossDetection::Rack] {
        let settings = newreno(|tcp| {
            tlt(tcp);
            tcp.loss_detection = loss_detection;
        });
        let mut left = 4;
        let lose = lose_red(move |out| {
            let loses = left > 0 && [3 * MSS, 4 * MSS].contains(&out.segment.sequence);
            left -= i32::from(loses);
            loses
        });
        let path = checked(&settings, Setup { lose, ..Setup::default() }, 60 * MSS);
        assert_eq!(timeouts(&path), 0, "{loss_detection:?}");
        let end = path.pairs[0].receiver.completed().expect("it arrives");
        assert!(end.since(Time::ZERO) < Span::from_us(1_200), "{end:?}");
    }
}

/// Without losses TLT changes colours and adds the packets it forces while the window is closed; everything else is
/// unchanged.
#[test]
fn without_losses_the_same_data_goes_at_the_same_times() {
    let dctcp = |tlt_on: bool, size: u64| {
        let mut settings = TcpDctcpSettings::default();
        tlt(&mut settings.tcp);
        if !tlt_on {
            settings.tcp.tlt = None;
        }
        let setup = Setup { rate: Rate::from_gbps(9), mark_from: 20, ..Setup::default() };
        let mut path = Path::new(&TransportSettings::Dctcp(settings), setup, &[size]);
        assert!(path.run(seconds(20)));
        path
    };
    for packets in [1, 2, 10, 11, 200] {
        let (with, without) = (dctcp(true, packets * MSS), dctcp(false, packets * MSS));
        let new = |path: &Path| -> Vec<(Time, u64)> {
            let sent = path.pairs[0].sent.iter().filter(|(_, out)| !out.segment.flags.has(FORCED));
            sent.filter(|(_, out)| out.kind.is_payload())
                .map(|(at, out)| (*at, out.segment.sequence))
                .collect()
        };
        assert_eq!(new(&with).len(), new(&without).len(), "{packets} packets");
        let closed = forced(&with).first().map_or(Time::NEVER, |(at, _)| *at);
        let before =
            |all: Vec<(Time, u64)>| all.into_iter().filter(|(at, _)| *at < closed).collect::<Vec<_>>();
        assert_eq!(before(new(&with)), before(new(&without)), "{packets} packets");
    }
}

/// A message of one packet is all green: none of it can be dropped for its colour.
#[test]
fn single_packets_are_green() {
    let path = checked(&newreno(tlt), Setup { lose: lose_red(|_| true), ..Setup::default() }, MSS);
    assert_eq!(timeouts(&path), 0);
    assert!(path.pairs[0].sent.iter().all(|(_, out)| out.kind != PacketKind::Red));
}

/// When the sender forced a single byte although it had more to send.
fn singles(path: &Path, size: u64) -> Vec<Time> {
    let single = |(_, out): &&(Time, Outgoing)| out.segment.length == 1 && out.segment.end() < size;
    forced(path).iter().filter(single).map(|(at, _)| *at).collect()
}

/// Whether any red packet sent before an instant has neither been acknowledged by then, at a sender this far away, nor sent again.
fn is_pending(path: &Path, delay: Span, at: Time) -> bool {
    let pair = &path.pairs[0];
    let known = |start: u64| {
        let heard = pair.acks.iter().filter(|(left, _)| *left + delay <= at);
        let covers =
            |ack: &Segment| start < ack.ack || ack.sacked().any(|(from, to)| (from..to).contains(&start));
        heard.into_iter().any(|(_, ack)| covers(ack))
    };
    let before = pair.sent.iter().enumerate().take_while(|(_, (sent, _))| *sent < at);
    let mut red = before.filter(|(_, (_, out))| out.kind == PacketKind::Red);
    red.any(|(number, (_, out))| {
        let start = out.segment.sequence;
        let later = pair.sent[number + 1..].iter().take_while(|(sent, _)| *sent < at);
        let again = |(_, out): &(Time, Outgoing)| (out.segment.sequence..out.segment.end()).contains(&start);
        !later.into_iter().any(again) && !known(start)
    })
}

/// A mark that closes the first window before its last packet is sent leaves nothing green in flight, unless a packet is
/// forced: with the red packets lost, the timer would have to expire.
#[test]
fn a_mark_in_the_first_window_needs_no_time_out() {
    for recovery in [Recovery::Halve, Recovery::Prr] {
        let mut settings = TcpDctcpSettings::default();
        tlt(&mut settings.tcp);
        (settings.tcp.initial_window, settings.tcp.recovery) = (Amount::Packets(100), recovery);
        let mark: Script = Box::new(|_, nth| nth < 4);
        let lose = lose_red(|out| (10 * MSS..100 * MSS).contains(&out.segment.sequence));
        let setup = Setup { mark, lose, ..Setup::default() };
        let path = checked(&TransportSettings::Dctcp(settings), setup, 300 * MSS);
        assert_eq!(timeouts(&path), 0, "{recovery:?}");
    }
}

/// Any share of red losses and of marks, classic or for DCTCP, any window, any path: no time-out, exactly one important
/// packet, forced packets at most
/// once per round trip, and single bytes only while no loss is known or likely.
#[test]
fn whatever_red_packets_are_lost_no_timer_expires() {
    for seed in 0..200 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let share = [0.01, 0.1, 0.5, 0.9][random.below(4) as usize];
        let size = 1 + u64::from(random.below(150_000));
        let marked = [0.0, 0.1, 0.5][random.below(3) as usize];
        let mut tcp = Tcp::default();
        tlt(&mut tcp);
        (tcp.ecn, tcp.limited_transmit) = (EcnUse::On, random.chance(0.5));
        tcp.recovery = if random.chance(0.5) { Recovery::Prr } else { Recovery::Halve };
        tcp.initial_window = Amount::Packets(1 + u64::from(random.below(100)));
        tcp.loss_detection = if random.chance(0.5) { LossDetection::Rack } else { LossDetection::DupThresh };
        tcp.delayed_ack = 1 + random.below(3);
        tcp.quick_acks = 0;
        tcp.timestamps = random.chance(0.5);
        tcp.close = random.chance(0.5);
        let settings = match random.chance(0.5) {
            true => newreno(|own| *own = tcp),
            false => TransportSettings::Dctcp(TcpDctcpSettings { tcp, ..TcpDctcpSettings::default() }),
        };
        let delay = Span::from_us(5 + u64::from(random.below(60)));
        let rate = Rate::from_gbps(1 + u64::from(random.below(9)));
        let mut losses = Random::new(seed, Purpose::Test, 1);
        let mut marks = Random::new(seed, Purpose::Test, 2);
        let mark: Script = Box::new(move |_, _| marks.chance(marked));
        let setup =
            Setup { delay, rate, lose: lose_red(move |_| losses.chance(share)), mark, ..Setup::default() };
        let path = checked(&settings, setup, size);
        assert_eq!(timeouts(&path), 0, "seed {seed}: {:?}", path.pairs[0].sender.report());
        let times: Vec<Time> = forced(&path).iter().map(|(at, _)| *at).collect();
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= delay * 2), "seed {seed}");
        // The echo that tells what is likely to be lost is the answer to the first green packet.
        let first = path.pairs[0].sent.iter().find(|(_, out)| out.kind == PacketKind::Data).expect("one").0;
        for at in singles(&path, size).into_iter().filter(|at| *at > first) {
            assert!(!is_pending(&path, delay, at), "seed {seed}: one byte at {at:?}");
        }
    }
}

/// A sender set to always send single bytes sends some while losses are pending: the check of the path above would
/// see it.
#[test]
fn single_bytes_whatever_is_lost_are_for_those_who_ask() {
    let settings = newreno(|tcp| {
        tlt(tcp);
        tcp.tlt.as_mut().expect("it is on").clocking = Clocking::Byte;
    });
    let (size, setup) = (40 * MSS, Setup { lose: lose_red(|_| true), ..Setup::default() });
    let delay = setup.delay;
    let path = checked(&settings, setup, size);
    let sent = singles(&path, size);
    assert!(sent.iter().any(|at| is_pending(&path, delay, *at)), "{} single bytes", sent.len());
}
