//! An output sends at line rate while any packet waits for it, whatever the size of its credits and whichever other
//! groups request them.

mod port;

use port::{Passage, Port};
use weft_core::{Bytes, Purpose, Random, Rate, Span, Time};
use weft_mark::MarkerSettings;
use weft_mark::codel::CodelSettings;
use weft_voq::VoqSettings;

const LINE: Rate = Rate::from_gbps(25);
/// Nothing moves to deep memory; the chip holds everything.
const ROOMY: Bytes = Bytes(1 << 30);

fn settings(credit: u64, output: u64) -> VoqSettings {
    let (credit, output) = (Bytes(credit), Bytes(output));
    VoqSettings { groups: 3, credit, output, on_chip: ROOMY, spill: ROOMY, ..VoqSettings::default() }
}

/// `count` packets of a group, all together or one every `gap`.
fn train(group: u16, wire: u16, count: u64, gap: Span) -> Vec<Passage> {
    (0..count).map(|number| Passage { group, wire, at: Time::ZERO + gap * number }).collect()
}

fn merged(trains: &[Vec<Passage>]) -> Vec<Passage> {
    let mut all = trains.concat();
    all.sort_by_key(|entry| entry.at);
    all
}

fn time_of(entries: &[Passage]) -> Span {
    LINE.time_for(Bytes(entries.iter().map(|entry| u64::from(entry.wire)).sum()))
}

/// Request, credit and crossing.
fn round(settings: &VoqSettings) -> Span {
    settings.credit_delay * 2 + settings.crossing
}

/// One group has a backlog; another sends a packet now and then, from a hundredth to two fifths of the line rate. A
/// queue that runs empty keeps the rest of its credit, so the backlog drains in the time of its bytes and the other
/// group's, to within one round of the credits and one credit for each group. Without that a credit of 64 kB spent on
/// one packet costs half of the line.
#[test]
fn a_trickle_takes_no_more_than_its_bytes() {
    for (credit, output) in [(300, 131_072), (2_000, 131_072), (4_096, 131_072), (64_000, 256_000)] {
        for percent in [0, 1, 5, 20, 40] {
            let settings = settings(credit, output);
            let backlog = train(0, 1_500, 32_000, Span::ZERO);
            let gap = LINE.time_for(Bytes(150_000 / percent.max(1)));
            let count = if percent == 0 { 0 } else { Span::from_ms(15).0 / gap.0 };
            let entries = merged(&[backlog, train(1, 1_500, count, gap)]);
            let least = time_of(&entries);
            let mut port = Port::new(&settings, LINE);
            port.run(entries.iter().copied(), Time::ZERO + Span::from_ms(100));
            assert_eq!(port.sent.len(), entries.len());
            let took = port.sent.last().expect("some").1.since(Time::ZERO);
            let slack = round(&settings) + LINE.time_for(settings.credit) * 2;
            assert!(
                took >= least && took <= least + slack,
                "{credit} B, {percent} %: {took:?} for {least:?}"
            );
        }
    }
}

/// The trickle waits for the bytes that the output already holds and one credit of the backlog, not for the backlog.
#[test]
fn a_trickle_waits_for_the_output_not_for_the_backlog() {
    for (credit, output) in [(4_096, 131_072), (64_000, 256_000)] {
        let settings = settings(credit, output);
        let gap = Span::from_us(100);
        let entries = merged(&[train(0, 1_500, 32_000, Span::ZERO), train(1, 1_500, 150, gap)]);
        let mut port = Port::new(&settings, LINE);
        port.run(entries, Time::ZERO + Span::from_ms(100));
        let waits = port.sent.iter().filter(|(entry, _)| entry.group == 1);
        let longest = waits.map(|(entry, at)| at.since(entry.at)).max().expect("some");
        // The output is filled up to one credit above its limit; then one credit of the other group may go first.
        let most = round(&settings) + LINE.time_for(settings.output + settings.credit * 2 + Bytes(3_000));
        assert!(longest <= most, "{credit} B: {longest:?} of {most:?}");
    }
}

/// Random credits, outputs, delays, packets and bursts. While bytes wait, the line is never idle for longer than a
/// round of the credits, one credit for each other group, which may keep what is left of it, and the debt of every
/// group, which is less than a packet. Each packet that enters leaves once, in the order of its group, and nothing
/// stays behind.
#[test]
fn the_line_never_rests_while_bytes_wait() {
    for seed in 0..300 {
        let mut random = Random::new(seed, Purpose::Test, 0);
        let credit = 200 + u64::from(random.below(70_000));
        let output = credit.max(20_000) + u64::from(random.below(200_000));
        let settings = VoqSettings {
            credit_delay: Span::from_ns(u64::from(random.below(1_000))),
            crossing: Span::from_ns(u64::from(random.below(1_000))),
            ..settings(credit, output)
        };
        let sizes = [64, 300, 1_500, 9_000];
        let mut burst = |group: u16| {
            let wire = sizes[random.below(4) as usize];
            let (mut at, mut entries) = (Time::ZERO, Vec::new());
            for _ in 0..40 {
                let count = 1 + random.below(60);
                entries.extend((0..count).map(|_| Passage { group, wire, at }));
                at += LINE.time_for(Bytes(u64::from(wire))) * u64::from(random.below(300));
            }
            entries
        };
        let entries = merged(&[burst(0), burst(1), burst(2)]);
        let mut port = Port::new(&settings, LINE);
        let end = Time::ZERO + Span::from_ms(400);
        port.run(entries.iter().copied(), end);
        let largest = entries.iter().map(|entry| entry.wire).max().expect("some");
        let bound = round(&settings)
            + LINE.time_for(settings.credit) * 2
            + LINE.time_for(Bytes(u64::from(largest))) * 3;
        assert!(port.longest_idle <= bound, "{seed}: idle for {:?}, {settings:?}", port.longest_idle);
        for group in 0..3 {
            let own = |entry: &&Passage| entry.group == group;
            let sent = port.sent.iter().map(|(entry, _)| entry);
            assert!(sent.filter(own).eq(entries.iter().filter(own)), "{seed}: group {group} in order");
        }
        assert_eq!((port.held(end), port.waiting), (0, [0; 4]));
    }
}

/// Of two groups with a backlog neither is ever ahead by more than a credit and a packet, whatever the sizes of their
/// packets, and whatever a third group takes in between.
#[test]
fn backlogs_share_by_bytes() {
    for credit in [1_000u64, 4_096, 64_000] {
        for (one, other) in [(1_500u16, 1_500u16), (9_000, 300), (64, 9_000)] {
            let settings = settings(credit, 131_072);
            let backlog = |group, wire: u16| train(group, wire, 9_000_000 / u64::from(wire), Span::ZERO);
            let third = train(2, 700, 100, Span::from_us(20));
            let entries = merged(&[backlog(0, one), backlog(1, other), third]);
            let mut port = Port::new(&settings, LINE);
            port.run(entries, Time::ZERO + Span::from_ms(100));
            let mut sent = [0i64; 3];
            for (entry, _) in &port.sent {
                sent[usize::from(entry.group)] += i64::from(entry.wire);
                if sent[0].max(sent[1]) > 8_900_000 {
                    break;
                }
                let ahead = (sent[0] - sent[1]).unsigned_abs();
                assert!(
                    ahead <= credit + u64::from(one.max(other)),
                    "{credit} B, {one} and {other}: {sent:?}"
                );
            }
        }
    }
}

/// A queue that has left deep memory does not overtake itself: its last packets may still be being read when the next
/// one comes and finds credit.
#[test]
fn what_comes_with_credit_at_hand_stays_behind_what_is_read() {
    let slow = Rate::from_gbps(1);
    let settings = VoqSettings { spill: Bytes(3_000), deep_rate: slow, ..settings(64_000, 256_000) };
    let mut entries = train(0, 1_500, 10, Span::ZERO);
    // All ten are written within 120 us and read by 240 us.
    entries.extend((0..40).map(|number| Passage {
        group: 0,
        wire: 64,
        at: Time::ZERO + Span::from_us(5) * number,
    }));
    let entries = merged(&[entries]);
    let mut port = Port::new(&settings, LINE);
    port.run(entries.iter().copied(), Time::ZERO + Span::from_ms(10));
    assert!(port.sent.iter().map(|(entry, _)| entry).eq(entries.iter()));
}

/// CoDel drops several packets that cannot be marked on one large credit, while others enter. Every packet is sent or
/// dropped, once, in the order of the queue; and a queue that has credit left after a drop uses it.
#[test]
fn a_marker_that_drops_at_departure_loses_no_other_packet() {
    let settings = settings(64_000, 256_000);
    let codel =
        MarkerSettings::Codel(CodelSettings { interval: Span::from_us(20), ..CodelSettings::default() });
    let mut port = Port::marking(&settings, LINE, &codel);
    let entries = train(0, 1_500, 4_000, LINE.time_for(Bytes(1_200)));
    port.run(entries.iter().copied(), Time::ZERO + Span::from_ms(20));
    assert!(port.dropped.len() > 20 && port.sent.len() > 1_000, "{} dropped", port.dropped.len());
    let sent: Vec<Passage> = port.sent.iter().map(|(passage, _)| *passage).collect();
    assert!(sent.is_sorted_by_key(|passage| passage.at), "no packet overtakes another");
    let mut ended = [sent, port.dropped.clone()].concat();
    ended.sort_by_key(|passage| passage.at);
    assert_eq!(ended, entries);
    assert_eq!((port.held(Time::ZERO + Span::from_ms(20)), port.waiting), (0, [0; 4]));
}
