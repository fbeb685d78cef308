//! The order of departures: schedulers tested through the switch.

use super::*;
use crate::schedule::{
    SchedulerSettings, drr::DrrSettings, fifo::FifoSettings, strict::StrictSettings,
    strict_drr::StrictDrrSettings, strict_wrr::StrictWrrSettings,
};

fn one_port(schedule: SchedulerSettings, queues: u32) -> Bench {
    let settings = SwitchSettings { schedule, queues, ..BenchOptions::default().settings };
    BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build()
}

fn weighted(quantum: u64, weights: &[u32]) -> SchedulerSettings {
    SchedulerSettings::Drr(DrrSettings { quantum: Bytes(quantum), weights: weights.to_vec() })
}

#[test]
fn fifo_serves_by_arrival_whatever_the_class() {
    let mut bench = one_port(SchedulerSettings::Fifo(FifoSettings {}), 4);
    for (n, priority) in [3, 0, 2, 2, 1, 0, 3].into_iter().enumerate() {
        bench.now = Time(n as u64);
        bench.receive(0, class(priority, far(100 + n as u16)));
    }
    assert_eq!(bench.drain(0), [100, 101, 102, 103, 104, 105, 106]);
    for priority in [1, 0, 1, 0] {
        bench.receive(0, class(priority, far(100 + u16::from(priority))));
    }
    assert_eq!(bench.drain(0), [100, 100, 101, 101], "of one instant the lower class first");
}

#[test]
fn strict_priority_serves_the_first_queue_with_packets_and_interrupts_nobody() {
    let mut bench = one_port(SchedulerSettings::Strict(StrictSettings {}), 3);
    for (priority, wire) in [(2, 201), (1, 101), (2, 202), (0, 1), (7, 203), (1, 102)] {
        bench.receive(0, class(priority, far(wire)));
    }
    let first = bench.next(0).map(|packet| bench.pool.headers.get(packet).wire);
    assert_eq!(first, Some(1));
    bench.receive(0, class(0, far(2)));
    assert_eq!(bench.drain(0), [2, 101, 102, 201, 202, 203], "classes beyond the last queue share it");
}

/// While all queues have packets, each gets bytes by weight, whatever its packet sizes; a queue's share never differs
/// from its due by more than a quantum and a packet per queue.
#[test]
fn drr_shares_bytes_by_weight_with_mixed_sizes() {
    let weights = [1u32, 2, 5, 3];
    let mut bench = one_port(weighted(1_538, &weights), 4);
    let mut dice = Random::new(3, Purpose::Test, 0);
    let sizes: [&[u16]; 4] = [&[1_538], &[84, 100], &[84, 1_538, 700], &[1_000]];
    let mut sent = [0u64; 4];
    for priority in 0..4u8 {
        for _ in 0..60 {
            let of_class = sizes[usize::from(priority)];
            bench.receive(0, class(priority, far(of_class[dice.below(of_class.len() as u32) as usize])));
        }
    }
    for _ in 0..20_000 {
        let packet = bench.next(0).expect("all queues are kept busy");
        let header = *bench.pool.headers.get(packet);
        bench.pool.remove(packet);
        sent[usize::from(header.class.0)] += u64::from(header.wire);
        let of_class = sizes[usize::from(header.class.0)];
        let wire = of_class[dice.below(of_class.len() as u32) as usize];
        bench.receive(0, class(header.class.0, far(wire)));
        let rounds: Vec<f64> = (0..4).map(|n| sent[n] as f64 / f64::from(weights[n]) / 1_538.0).collect();
        let (least, most) =
            (rounds.iter().copied().fold(f64::MAX, f64::min), rounds.iter().copied().fold(0.0, f64::max));
        assert!(most - least <= 2.0, "rounds served: {rounds:?}");
    }
    let total: u64 = sent.iter().sum();
    for (weight, bytes) in weights.iter().zip(sent) {
        let share = bytes as f64 / total as f64;
        assert!((share - f64::from(*weight) / 11.0).abs() < 0.002, "{sent:?}");
    }
}

#[test]
fn drr_gives_an_unused_share_to_the_others_and_saves_nothing_for_later() {
    let mut bench = one_port(weighted(1_000, &[]), 2);
    for _ in 0..50 {
        bench.receive(0, class(0, far(1_000)));
    }
    assert_eq!(bench.drain(0), vec![1_000; 50], "alone, a queue has the whole port");
    for _ in 0..10 {
        bench.receive(0, class(0, far(1_000)));
        bench.receive(0, class(1, far(500)));
        bench.receive(0, class(1, far(500)));
    }
    let sizes = bench.drain(0);
    for round in sizes.chunks(3) {
        assert!(round == [1_000, 500, 500] || round == [500, 500, 1_000], "{sizes:?}");
    }
}

#[test]
fn drr_forgets_what_an_empty_queue_did_not_use() {
    let mut bench = one_port(weighted(1_000, &[]), 2);
    for _ in 0..60 {
        bench.receive(0, class(1, far(1_000)));
    }
    for _ in 0..10 {
        bench.receive(0, class(0, far(100)));
        bench.next(0);
        bench.next(0);
    }
    for _ in 0..10 {
        bench.receive(0, class(0, far(999)));
    }
    let mut burst: Vec<u16> = bench.drain(0);
    burst.truncate(10);
    assert!(burst.chunks(2).all(|pair| pair.contains(&999) && pair.contains(&1_000)), "in turns: {burst:?}");
}

#[test]
fn drr_starts_a_busy_period_where_it_stopped_with_a_full_quantum() {
    let mut bench = one_port(weighted(1_000, &[]), 2);
    bench.receive(0, class(0, far(900)));
    assert_eq!(bench.drain(0), [900]);
    bench.receive(0, class(0, far(901)));
    bench.receive(0, class(1, far(902)));
    assert_eq!(bench.drain(0), [901, 902], "queue 0 does not lose its turn for having been empty");
}

#[test]
fn drr_serves_packets_larger_than_its_quantum() {
    let mut bench = one_port(weighted(100, &[1, 3]), 2);
    for _ in 0..30 {
        bench.receive(0, class(0, far(1_538)));
        bench.receive(0, class(1, far(1_538)));
    }
    let mut count = [0; 2];
    for _ in 0..36 {
        let packet = bench.next(0).unwrap();
        count[usize::from(bench.pool.headers.get(packet).class.0)] += 1;
    }
    assert!((8..=10).contains(&count[0]), "{count:?}");
}

#[test]
fn work_is_announced_exactly_when_the_transmitter_is_idle() {
    let mut bench = one_port(SchedulerSettings::default(), 1);
    bench.receive(0, far(FULL));
    assert_eq!(bench.effects, [Effect::HasWork(PortId(0))]);
    assert!(bench.next(0).is_some());
    bench.receive(0, far(FULL));
    assert_eq!(bench.effects, [], "it is sending and will ask by itself");
    assert!(bench.next(0).is_some() && bench.next(0).is_none());
    bench.receive(0, far(FULL));
    assert_eq!(bench.effects, [Effect::HasWork(PortId(0))]);
}

#[test]
fn a_packet_carries_where_and_when_it_came_in() {
    let mut bench = BenchOptions::default().build();
    bench.now = Time(77);
    let packet = bench.receive(3, Header { hops: 2, ..far(FULL) });
    let header = bench.pool.headers.get(packet);
    assert_eq!((header.arrived, header.ingress, header.hops), (Time(77), PortId(3), 3));
}

/// A packet that is sent with a TTL of 64 reaches the 64th switch with 1, which forwards it no further.
#[test]
fn a_packet_passes_as_many_switches_as_its_hop_limit_allows() {
    for (hops, lost) in [(62, vec![]), (63, vec![Reason::HopLimit]), (u8::MAX, vec![Reason::HopLimit])] {
        let mut bench = BenchOptions::default().build();
        bench.receive(3, Header { hops, ..far(FULL) });
        assert_eq!(bench.drops(), lost, "{hops} switches passed");
    }
}

/// Queues 0 and 1 go first; queues 2 and 3 share the rest as 1 to 3, by bytes or by packets. All queues except the
/// first two always have packets, of different sizes; of 40 000 packets one in ten is urgent.
#[test]
fn weights_apply_to_what_strict_queues_leave() {
    let by_bytes = StrictDrrSettings { first: 2, quantum: Bytes(1_538), weights: vec![1, 3] };
    let by_packets = StrictWrrSettings { first: 2, weights: vec![1, 3] };
    for schedule in [SchedulerSettings::StrictDrr(by_bytes), SchedulerSettings::StrictWrr(by_packets)] {
        let in_bytes = matches!(schedule, SchedulerSettings::StrictDrr(_));
        let (mut bench, mut dice) = (one_port(schedule, 4), Random::new(5, Purpose::Test, 0));
        let wire = |queue: u8| if queue == 2 { 1_500 } else { 500 };
        for queue in [2, 3] {
            (0..40).for_each(|_| _ = bench.receive(0, class(queue, far(wire(queue)))));
        }
        let (mut offered, mut waiting, mut sent) = (0_u64, [0_u64; 2], [0_u64; 4]);
        for _ in 0..40_000 {
            if dice.chance(0.1) {
                let urgent = dice.below(2) as u8;
                bench.receive(0, class(urgent, far(100)));
                (offered, waiting[usize::from(urgent)]) = (offered + 1, waiting[usize::from(urgent)] + 1);
            }
            let packet = bench.next(0).expect("there always is one");
            let header = *bench.pool.headers.get(packet);
            bench.pool.remove(packet);
            let queue = header.class.0;
            let first = waiting.iter().position(|packets| *packets > 0);
            let due = first.map_or(queue >= 2, |first| first == usize::from(queue));
            assert!(due, "{waiting:?}, sent {queue}");
            match waiting.get_mut(usize::from(queue)) {
                Some(packets) => *packets -= 1,
                None => _ = bench.receive(0, class(queue, far(wire(queue)))),
            }
            sent[usize::from(queue)] += if in_bytes { u64::from(header.wire) } else { 1 };
        }
        let urgent = if in_bytes { (sent[0] + sent[1]) / 100 } else { sent[0] + sent[1] };
        assert_eq!(urgent + waiting.iter().sum::<u64>(), offered, "what is urgent is sent, and once");
        let share = sent[3] as f64 / (sent[2] + sent[3]) as f64;
        assert!((share - 0.75).abs() < 0.002, "{share} of what is left");
    }
}

/// A held queue of high priority holds back no other, and when all others are held the last has the port.
#[test]
fn strict_queues_that_are_empty_leave_everything() {
    let schedule = SchedulerSettings::StrictDrr(StrictDrrSettings { first: 7, ..Default::default() });
    let mut bench = one_port(schedule, 3);
    for (priority, wire) in [(2, 201), (2, 202), (1, 101), (0, 1)] {
        bench.receive(0, class(priority, far(wire)));
    }
    assert_eq!(bench.drain(0), [1, 101, 201, 202], "of three queues two go first, and the last has the rest");
}
