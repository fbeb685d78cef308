//! The laws of DRILL for the hardware: they hold for the decisions of the reference, which are those of the hardware
//! bit for bit. Sections are those of the paper (Ghorbani et al., SIGCOMM'17).

use weft_hardware::lfsr::Registers;
use weft_hardware::reference::{ComponentRow, PacketRequest, ReferenceSwitch};
use weft_hardware::set::{PacketSizes, SETS, Set};
use weft_hardware::slotted::{SlottedChance, SlottedLeaf};
use weft_switch::balance::drill::Tie;

const REQUEST: PacketRequest = PacketRequest { group: 0, flow: 0, size: 1 };

/// A switch whose ports are one group, with the given numbers of samples and cells.
fn set(ports: usize, samples: usize, memory: usize) -> Set {
    Set { ports, samples, memory, groups: 1, components: 1, sizes: PacketSizes::One, ..SETS[0] }
}

/// Engines that decide one packet per clock.
struct Switch {
    reference: ReferenceSwitch,
    registers: Vec<Registers>,
    clock: u64,
}

impl Switch {
    fn new(set: Set) -> Switch {
        let mut reference = ReferenceSwitch::new(set);
        reference.install(&[ComponentRow { members: (0..set.ports as u16).collect(), weight: 1 }]);
        let register = |engine| Registers::new(7, engine, set.samples, set.random_bits());
        Switch { reference, registers: (0..set.engines).map(register).collect(), clock: 0 }
    }

    /// Queues of lengths 1, 2, 3 and so on, by port.
    fn ordered(set: Set) -> Switch {
        let mut switch = Switch::new(set);
        (0..set.ports as u16).for_each(|port| switch.reference.joins(0, 0, port, port + 1));
        switch.clock = 2;
        switch
    }

    /// The choice of an engine in the next clock. Queues stay as they are.
    fn choose(&mut self, engine: usize) -> u16 {
        self.clock += 1;
        self.choose_now(engine)
    }

    fn choose_now(&mut self, engine: usize) -> u16 {
        let mut word = self.registers[engine].draw();
        self.reference.choose(engine, REQUEST, self.clock, &mut word).expect("all links are up")
    }
}

/// Pearson's statistic of counts against expectations, and its 99.9 % point (Wilson and Hilferty).
fn chi_square(counts: &[u32], shares: &[f64]) -> (f64, f64) {
    let all: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let of = |(count, share): (&u32, &f64)| (f64::from(*count) - all * share).powi(2) / (all * share);
    let freedom = counts.len() as f64 - 1.0;
    let third = 2.0 / (9.0 * freedom);
    (counts.iter().zip(shares).map(of).sum(), freedom * (1.0 - third + 3.09 * third.sqrt()).powi(3))
}

#[test]
fn ports_of_equal_queues_are_chosen_equally_often() {
    for ports in [7, 48] {
        for (samples, memory) in [(1, 0), (1, 1), (2, 0), (2, 1), (4, 1), (2, 2)] {
            let mut switch = Switch::new(set(ports, samples, memory));
            let mut counts = vec![0; ports];
            // The memory keeps a port for some packets: choices that lie twenty apart are independent.
            for packet in 0..1_000_000 {
                let port = switch.choose(0);
                counts[usize::from(port)] += u32::from(packet % 20 == 0);
            }
            let (statistic, limit) = chi_square(&counts, &vec![1.0 / ports as f64; ports]);
            assert!(statistic < limit, "{ports} ports, ({samples}, {memory}): {statistic} of {limit}");
        }
    }
}

#[test]
fn two_samples_choose_the_port_of_each_rank_as_often_as_the_formula_says() {
    for ports in [5, 8, 48] {
        let mut switch = Switch::ordered(set(ports, 2, 0));
        let mut counts = vec![0; ports];
        (0..1_000_000).for_each(|_| counts[usize::from(switch.choose(0))] += 1);
        assert_eq!(counts.pop(), Some(0), "the longest of {ports} queues is never chosen");
        let k = ports as f64;
        let share = |rank: usize| 2.0 * (k - rank as f64) / (k * (k - 1.0));
        let (statistic, limit) = chi_square(&counts, &(1..ports).map(share).collect::<Vec<_>>());
        assert!(statistic < limit, "{ports} ports: {statistic} of {limit}");
    }
}

#[test]
fn as_many_samples_as_ports_always_find_a_shortest_queue() {
    let mut switch = Switch::ordered(set(8, 8, 0));
    assert!((0..10_000).all(|_| switch.choose(0) == 0));
}

#[test]
fn a_memory_finds_the_shortest_of_still_queues_after_k_over_d_packets_and_keeps_it() {
    for samples in [1, 2, 4] {
        let mut switch = Switch::ordered(set(8, samples, 1));
        let (mut packets, trials) = (0, 4000);
        for _ in 0..trials {
            switch.reference.set_port(7, false);
            switch.reference.set_port(7, true);
            packets += 1;
            while switch.choose(0) != 0 {
                packets += 1;
            }
            assert!((0..20).all(|_| switch.choose(0) == 0), "once found, always chosen");
        }
        let success = samples as f64 / 8.0;
        let (mean, sigma) = (1.0 / success, (1.0 - success).sqrt() / success / f64::from(trials).sqrt());
        let measured = f64::from(packets) / f64::from(trials);
        assert!((measured - mean).abs() < 3.0 * sigma, "{measured} packets, expected {mean}");
    }
}

#[test]
fn a_remembered_port_is_judged_by_its_length_now() {
    let mut switch = Switch::ordered(set(8, 1, 1));
    while switch.choose(0) != 0 {}
    switch.reference.joins(0, switch.clock, 0, 200);
    switch.clock += 2;
    assert!((0..50).any(|_| switch.choose(0) != 0), "another port is sampled soon");
    assert!((0..50).all(|_| switch.choose(0) != 0), "port 0 is now the longest");
}

#[test]
fn an_idle_engine_changes_nothing_for_the_other() {
    let choices = |engines| {
        let mut switch = Switch::new(Set { engines, ..set(8, 2, 1) });
        let mut next = || {
            let port = switch.choose(0);
            switch.reference.joins(0, switch.clock, port, 1);
            port
        };
        (0..1000).map(|_| next()).collect::<Vec<_>>()
    };
    assert_eq!(choices(1), choices(2));
}

#[test]
fn two_engines_that_share_a_snapshot_take_one_port_and_in_turn_they_take_both() {
    let lowest = Set { engines: 2, tie: Tie::LowestPort, ..set(2, 2, 1) };
    let mut switch = Switch::new(lowest);
    switch.clock = 1;
    assert_eq!([switch.choose_now(0), switch.choose_now(1)], [0, 0], "one snapshot");
    let mut switch = Switch::new(lowest);
    let first = switch.choose(0);
    switch.reference.joins(0, switch.clock, first, 1);
    assert_eq!([first, switch.choose(1)], [0, 1], "one after the other");
}

#[test]
fn twenty_samples_and_cells_on_two_ports_join_the_shorter_queue() {
    let mut switch = Switch::new(set(2, 20, 20));
    let mut queues = [0i32; 2];
    for packet in 0..20_000u64 {
        let port = usize::from(switch.choose(0));
        assert!(queues[port] <= queues[1 - port], "{queues:?}, chosen {port}");
        switch.reference.joins(0, switch.clock, port as u16, 1);
        queues[port] += 1;
        // Departures that follow no pattern of arrivals.
        let leaves = (packet * packet / 7 % 2) as usize;
        if queues[leaves] > 0 {
            queues[leaves] -= 1;
            switch.reference.leaves(leaves as u16, 1);
        }
    }
}

#[test]
fn no_port_that_is_down_is_chosen_though_it_was_remembered() {
    let mut switch = Switch::ordered(set(8, 1, 2));
    while switch.choose(0) != 0 {}
    switch.reference.set_port(0, false);
    assert!((0..10_000).all(|_| switch.choose(0) != 0));
}

fn deviation(policy: (usize, usize), engines: usize, load: f64, chance: SlottedChance) -> f64 {
    let (samples, memory) = policy;
    SlottedLeaf { samples, memory, engines, load, chance, seed: 1 }.deviation(40_000)
}

/// Figures 2 and 3 in miniature. Registers and streams agree within 2 %.
#[test]
fn queues_spread_with_shift_registers_as_with_the_random_streams_of_the_simulator() {
    for (policy, engines, load) in [((2, 1), 1, 0.8), ((2, 1), 48, 0.8), ((2, 1), 48, 0.3), ((1, 2), 48, 0.8)]
    {
        let of = |chance| deviation(policy, engines, load, chance);
        let (hardware, simulator) = (of(SlottedChance::Registers), of(SlottedChance::Streams));
        assert!(
            (hardware / simulator - 1.0).abs() < 0.02,
            "{policy:?}, {engines} engines, {load}: {hardware}, {simulator}"
        );
    }
}

/// The paper's statements on (2, 1) against per-packet random, section 3.2.
#[test]
fn two_samples_and_a_memory_beat_random_by_what_the_paper_says() {
    let gain = |engines, load| {
        let of = |policy| deviation(policy, engines, load, SlottedChance::Registers);
        1.0 - of((2, 1)) / of((1, 0))
    };
    assert!(gain(1, 0.8) > 0.65 && gain(48, 0.8) > 0.65, "more than 65 % at 80 % load");
    assert!((0.15..0.30).contains(&gain(48, 0.3)), "about 20 % with 48 engines at 30 %");
    assert!((0.70..0.85).contains(&gain(1, 0.3)), "about 75 % with one engine at 30 %");
}
