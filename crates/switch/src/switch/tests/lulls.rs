//! Departures that are foreseen while no sender can be paused, and revoked when one may be.

use super::*;
use crate::pause::PfcSettings;
use crate::schedule::SchedulerSettings;
use crate::turn::Departure;

/// A switch that pauses above 4500 bytes and foresees departures in lulls; balancers do not look.
fn bench() -> Bench {
    pausing(4_500, SwitchSettings::default())
}

/// The same with another threshold.
fn pausing(xoff: u64, settings: SwitchSettings) -> Bench {
    let pfc = PfcSettings {
        classes: vec![settings.queues - 1],
        xoff: Some(Bytes(xoff)),
        xon_offset: Bytes(1_000),
        headroom: Some(Bytes(10_000)),
        ..PfcSettings::default()
    };
    let settings = SwitchSettings { pfc, visibility: Visibility::Instant, ..settings };
    let mut bench = BenchOptions { settings, ..BenchOptions::default() }.build();
    assert!((0..4).all(|port| bench.switch.foresee_in_lulls(PortId(port))));
    bench
}

impl Bench {
    /// Hands a packet for port 3 to the switch.
    fn arrives(&mut self, from: u16) -> (PacketId, Verdict) {
        let packet = self.pool.insert(to(3, FULL), ());
        (packet, self.judge(from, packet))
    }

    fn judge(&mut self, from: u16, packet: PacketId) -> Verdict {
        let (switch, mut turn) = self.turn();
        switch.receive(&mut turn, PortId(from), packet)
    }

    /// Ends the lull; otherwise like [`Bench::revoke_at`].
    fn revoke(&mut self, packets: &[PacketId], before: Time) -> Vec<u64> {
        let waits = self.revoke_at(packets, before);
        self.switch.end_lull();
        waits
    }

    /// Revokes what port 3 foresees; returns the waits that were foreseen, in nanoseconds.
    fn revoke_at(&mut self, packets: &[PacketId], before: Time) -> Vec<u64> {
        let mut waits = Vec::new();
        let (switch, mut turn) = self.turn();
        let found = switch.revocable(before, PortId(3));
        let left = found.map_or(0, |(left, _)| left);
        let last = &packets[packets.len() - left..];
        switch.revoke(&mut turn, PortId(3), last, |_, _, wait| waits.push(wait.0 / 1_000));
        waits
    }
}

fn start(verdict: Verdict) -> Time {
    match verdict {
        Verdict::LeavesUnlessHeld(Departure { start, .. }, 0) => start,
        other => panic!("{other:?} instead of a foreseen departure"),
    }
}

#[test]
fn a_lull_ends_before_a_sender_may_be_paused_and_the_next_begins_at_rest() {
    let mut bench = bench();
    let mut packets = Vec::new();
    for n in 0..4 {
        bench.now = Time(n * 1_000);
        let (packet, verdict) = bench.arrives(0);
        assert_eq!(start(verdict), Time(n * SLOT), "one after the other");
        packets.push(packet);
    }
    bench.now = Time(SLOT);
    let (fifth, verdict) = bench.arrives(0);
    assert_eq!(
        verdict,
        Verdict::RevokeFirst,
        "what leaves now is still there: 5000 bytes are more than 4500"
    );
    assert_eq!(bench.switch.reading().waiting(bench.now, PortId(3)), (3, Bytes(3_000)));
    // The first has its last bit on the link, the three others are queued again with their times of arrival.
    assert_eq!(bench.revoke(&packets, bench.now), [799, 1_598, 2_397]);
    assert_eq!(bench.pool.headers.get(packets[3]).arrived, Time(3_000));
    assert!(!bench.switch.is_in_lull());
    assert_eq!(bench.judge(0, fifth), Verdict::Queued(PortId(3)));
    assert_eq!(bench.switch.reading().pauses((PortId(0), 0)).stops, 1, "now its sender is paused");
    for expected in &packets[1..] {
        assert_eq!(bench.next(3), Some(*expected));
        bench.now += Span(SLOT);
    }
    assert!(!bench.switch.is_in_lull(), "a frame has to be sent");
    assert_eq!(bench.next(0), None, "pause and resume are sent, then port 0 is idle");
    assert_eq!(bench.next(3), Some(fifth));
    bench.now += Span(SLOT);
    assert_eq!(bench.next(3), None);
    assert!(bench.switch.is_in_lull());
    let (_, verdict) = bench.arrives(0);
    assert_eq!(start(verdict), bench.now);
    let counters = bench.switch.reading().counters(bench.now + Span(SLOT), PortId(3));
    // Each packet from its arrival to its last bit: 1, 2, 3, 4, 4 slots except for the thousandths between arrivals,
    // and 1.
    let slots = 1 + 2 + 3 + 4 + 4 + 1;
    assert_eq!(counters.byte_time, 1_000 * u128::from(slots * SLOT - (1_000 + 2_000 + 3_000)));
    assert_eq!(counters.peak, Bytes(5_000));
}

/// Packets of a class and then of another from one port, 20 kB up to XOFF: a lull ends before the class that holds the most may be
/// paused or, where both are one priority group, before their sum may.
#[test]
fn a_lull_counts_by_port_of_entry_and_priority_group() {
    let packets = |group_map: &[u32]| {
        let pfc = PfcSettings {
            classes: vec![0, 1],
            xoff: Some(Bytes(20_000)),
            xon_offset: Bytes(1_000),
            headroom: Some(Bytes(10_000)),
            ..PfcSettings::default()
        };
        let settings = SwitchSettings {
            pfc,
            queues: 2,
            group_map: group_map.to_vec(),
            visibility: Visibility::Instant,
            schedule: SchedulerSettings::Strict(Default::default()),
            ..SwitchSettings::default()
        };
        let mut bench = BenchOptions { settings, ..BenchOptions::default() }.build();
        assert!((0..4).all(|port| bench.switch.foresee_in_lulls(PortId(port))));
        // The first class first, so that nothing is postponed.
        let ends = |number: u8| {
            let packet = bench.pool.insert(class(number, to(3, FULL)), ());
            bench.judge(0, packet) == Verdict::RevokeFirst
        };
        (0..10).map(|_| 0).chain((0..80).map(|_| 1)).map(ends).position(|ended| ended).expect("it ends")
    };
    let (apart, together) = (packets(&[]), packets(&[3, 3]));
    assert!((28..=30).contains(&apart), "{apart} packets");
    assert!((17..=20).contains(&together), "{together} packets");
}

/// A packet of the first queue goes before 18 of the last. For the next packet that would be too many, and departures
/// are revoked.
#[test]
fn a_lull_ends_when_many_are_postponed() {
    let schedule = SchedulerSettings::Strict(Default::default());
    let mut bench = pausing(1_000_000, SwitchSettings { queues: 4, schedule, ..SwitchSettings::default() });
    let arrives = |bench: &mut Bench, number| {
        let packet = bench.pool.insert(class(number, to(3, FULL)), ());
        (packet, bench.judge(0, packet))
    };
    let bulk: Vec<_> = (0..19).map(|_| arrives(&mut bench, 3).0).collect();
    let (urgent, verdict) = arrives(&mut bench, 0);
    let Verdict::LeavesUnlessHeld(departure, 18) = verdict else { panic!("{verdict:?}") };
    assert_eq!((departure.start, departure.end), (Time(SLOT), Time(2 * SLOT)));
    let last = bench.switch.overtaken(PortId(3), 1).last();
    assert_eq!(last, Some((Time::ZERO, Time(20 * SLOT), Span(19 * SLOT))));
    let (next, verdict) = arrives(&mut bench, 0);
    assert_eq!(verdict, Verdict::RevokeFirst);
    let order: Vec<_> = [&bulk[..1], &[urgent], &bulk[1..]].concat();
    assert_eq!(bench.revoke(&order, Time::ZERO).len(), 19);
    assert_eq!(bench.judge(0, next), Verdict::Queued(PortId(3)));
    let left: Vec<_> = std::iter::from_fn(|| bench.next(3)).collect();
    assert_eq!(left, [&[urgent, next], &bulk[1..]].concat());
    assert!(bench.switch.is_in_lull());
}

#[test]
fn a_held_port_foresees_nothing_while_others_go_on() {
    let mut bench = bench();
    let (first, _) = bench.arrives(0);
    let (second, _) = bench.arrives(1);
    assert_eq!(bench.revoke_at(&[first, second], Time(1)), [800]);
    let hold = |bench: &mut Bench, held| {
        let (switch, mut turn) = bench.turn();
        switch.pause(&mut turn, PortId(3), PauseOrder::Hold { queue: 0, held });
    };
    hold(&mut bench, true);
    bench.now += Span(SLOT);
    assert_eq!(bench.next(3), None, "the first has left, the second is held");
    let (third, verdict) = bench.arrives(0);
    assert_eq!((verdict, bench.next(3)), (Verdict::Ready(PortId(3)), None));
    let elsewhere = bench.pool.insert(to(2, FULL), ());
    assert_eq!(start(bench.judge(0, elsewhere)), bench.now, "another port foresees");
    hold(&mut bench, false);
    assert_eq!(bench.next(3), Some(second));
    let (fourth, verdict) = bench.arrives(0);
    assert_eq!(verdict, Verdict::Queued(PortId(3)), "the port is not empty yet");
    for expected in [Some(third), Some(fourth), None] {
        bench.now += Span(SLOT);
        assert_eq!(bench.next(3), expected);
    }
    assert_eq!(start(bench.arrives(0).1), bench.now);
}

/// Packets for port 3 make the switch pause a sender. When the sender may resume, the other ports foresee at once,
/// although port 3 is held and has not been empty since.
#[test]
fn a_lull_begins_while_a_port_is_held() {
    let mut bench = bench();
    let order = |bench: &mut Bench, held| {
        let (switch, mut turn) = bench.turn();
        switch.pause(&mut turn, PortId(3), PauseOrder::Hold { queue: 0, held });
    };
    order(&mut bench, true);
    let to_held: Vec<_> = (0..4).map(|_| bench.arrives(0).0).collect();
    let (last, verdict) = bench.arrives(0);
    assert_eq!(verdict, Verdict::RevokeFirst, "5000 bytes are more than 4500");
    bench.switch.end_lull();
    assert_eq!(bench.judge(0, last), Verdict::Ready(PortId(3)));
    assert_eq!(bench.switch.reading().pauses((PortId(0), 0)).stops, 1);
    order(&mut bench, false);
    for expected in &to_held {
        assert_eq!(bench.next(3), Some(*expected));
        assert!(!bench.switch.is_in_lull());
        bench.now += Span(SLOT);
    }
    order(&mut bench, true);
    assert_eq!(bench.next(3), None, "the fifth is held");
    assert_eq!(bench.next(0), None, "pause and resume are sent");
    assert!(bench.switch.is_in_lull());
    let elsewhere = bench.pool.insert(to(2, FULL), ());
    assert_eq!(start(bench.judge(1, elsewhere)), bench.now);
}
