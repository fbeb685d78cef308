//! Queue lengths under per-packet balancing: the closed form of M/D/1, the exactness of round robin, the vanishing
//! packet, and a minimal model of one leaf that shows the published effects of samples, memory and engines
//! (SIGCOMM'17, figures 2 and 3).

mod rig;

use std::collections::VecDeque;

use rig::{Rig, RigOptions};
use weft_core::{Bytes, PortId, Purpose, Random, Span, Time};
use weft_switch::balance::drill::Tie;
use weft_switch::balance::{
    BalancerSettings, drill::DrillSettings, ecmp::EcmpSettings, random::RandomSettings,
    round_robin::RoundRobinSettings,
};
use weft_switch::settings::Visibility;

fn leaf(engines: u32, balancer: BalancerSettings) -> RigOptions {
    RigOptions { ports: 48, engines, visibility: Visibility::EngineSlot, balancer, wire: 1_600 }
}

/// Transmission time of a packet.
fn slot(plan: &RigOptions) -> Span {
    RigOptions::RATE.time_for(Bytes(plan.wire.into()))
}

fn per_packet_random() -> BalancerSettings {
    BalancerSettings::PerPacketRandom(RandomSettings {})
}

fn by_turns() -> BalancerSettings {
    BalancerSettings::RoundRobin(RoundRobinSettings::default())
}

fn by_flow() -> BalancerSettings {
    BalancerSettings::Ecmp(EcmpSettings::default())
}

fn drill(choices: u32, memory: u32) -> BalancerSettings {
    drill_with(choices, memory, Tie::Random)
}

fn drill_with(choices: u32, memory: u32, tie: Tie) -> BalancerSettings {
    BalancerSettings::Drill(DrillSettings { choices, memory, tie, ..Default::default() })
}

/// Poisson arrivals over many inputs, split at random, unit packets: each output is an M/D/1 queue. Its mean number
/// waiting is rho^2 / (2 (1 - rho)) = 1.6 at 0.8. The moments of the number in the system follow from those of the
/// waiting time (Pollaczek, Khinchine): E[L(L-1)] = rho^2 E[(W+1)^2], E[W] = 2, E[W^2] = 28/3 in packet times.
#[test]
fn random_splitting_gives_m_d_1_queues() {
    let rho = 0.8;
    let plan = leaf(48, per_packet_random());
    let mut rig = plan.build(1);
    let mut dice = Random::new(1, Purpose::Test, 0);
    let slot = slot(&plan);
    let mean_gap = slot.0 as f64 / (rho * 48.0);
    let mut leaving: VecDeque<(Time, usize)> = VecDeque::new();
    let (mut arrival, mut sums, mut samples) = (Time::ZERO, (0u64, 0u64), 0u64);
    let end = Time(slot.0 * 20_000);
    while arrival < end {
        arrival += Span(dice.exponential(mean_gap) as u64);
        while let Some((time, output)) = leaving.pop_front_if(|(time, _)| *time <= arrival) {
            rig.now = time;
            rig.send(output);
            if rig.serving[output].is_some() {
                leaving.push_back((time + slot, output));
            }
        }
        rig.now = arrival;
        if samples % 16 == 0 {
            // Poisson arrivals see time averages.
            (0..48).for_each(|output| sums = (sums.0 + rig.held(output), sums.1 + rig.held(output).pow(2)));
        }
        samples += 1;
        if let Some(output) = rig.arrive(dice.below(48) as usize, 0) {
            leaving.push_back((arrival + slot, output));
        }
    }
    let byte_time: u128 =
        (0..48).map(|port| rig.switch.reading().counters(rig.now, PortId(port)).byte_time).sum();
    let waiting = byte_time as f64 / 48.0 / rig.now.0 as f64 / 1_600.0 - rho;
    assert!((waiting / 1.6 - 1.0).abs() < 0.05, "{waiting} waiting on the mean");
    let seen = (samples.div_ceil(16) * 48) as f64;
    let (mean, square) = (sums.0 as f64 / seen, sums.1 as f64 / seen);
    let variance = rho * rho * (28.0 / 3.0 + 2.0 * 2.0 + 1.0) + 2.4 - 2.4 * 2.4;
    assert!((mean / 2.4 - 1.0).abs() < 0.04, "{mean} in the system on the mean");
    let deviation = (square - mean * mean).sqrt();
    assert!((deviation / variance.sqrt() - 1.0).abs() < 0.05, "{deviation} around it");
}

#[test]
fn one_engine_by_turns_keeps_all_queues_of_unit_packets_within_one() {
    let plan = leaf(1, by_turns());
    let mut rig = plan.build(1);
    let mut dice = Random::new(2, Purpose::Test, 0);
    let packet = slot(&plan);
    let mut longest = 0;
    for slot in 0..3_000 {
        rig.now = Time(slot * packet.0);
        // Up to five packets per output in one slot, half a packet on average.
        let burst = if dice.chance(0.2) { dice.below(241) } else { 0 };
        for _ in 0..burst {
            rig.arrive(dice.below(48) as usize, 0);
            let held = (0..48).map(|output| rig.held(output));
            let (least, most) = (held.clone().min().unwrap(), held.max().unwrap());
            assert!(most - least <= 1, "between {least} and {most}");
            longest = longest.max(most);
        }
        end_slot(&mut rig);
    }
    assert!(longest >= 5, "there were queues: {longest}");
}

/// At the end of a slot every output has sent one packet if it had one.
fn end_slot(rig: &mut Rig) {
    for output in 0..rig.serving.len() {
        if rig.serving[output].is_some() {
            rig.send(output);
        }
    }
}

// ---- the minimal model ----

/// One leaf: each input is a source that sends bursts of one flow at line rate, geometric with a mean of `burst`
/// packets. At the end of a burst and in every slot of silence the next burst begins with probability q, where 1/q =
/// burst (1 - load) / load. So silences may have no length, and the true load is somewhat above `load` (0.833 for
/// 0.8): the reference that printed the table below does this, as its queue lengths show.
struct Model {
    plan: RigOptions,
    load: f64,
    burst: f64,
    slots: u64,
    sampled_every: u64,
}

impl Model {
    fn new(engines: u32, load: f64, slots: u64, balancer: BalancerSettings) -> Model {
        Model { plan: leaf(engines, balancer), load, burst: 20.0, slots, sampled_every: 8 }
    }

    /// The length of a slot.
    fn packet(&self) -> Span {
        slot(&self.plan)
    }

    /// Packets of one slot: engine e serves the inputs i with i mod F = e, one after the other; engines work in step.
    fn arrival(&self, slot: u64, input: usize) -> Time {
        let (engines, inputs) = (u64::from(self.plan.engines), u64::from(self.plan.ports));
        let turn = input as u64 / engines;
        Time(slot * self.packet().0) + self.packet() * (turn * engines) / inputs
    }

    /// The mean over samples of the standard deviation over the outputs, in packets.
    fn stdv(&self, seed: u64) -> f64 {
        let mut rig = self.plan.build(seed);
        let mut dice = Random::new(seed, Purpose::Test, 1);
        let (stop, begin) = (1.0 / self.burst, self.load / (1.0 - self.load) / self.burst);
        let mut flow_of = vec![None; usize::from(self.plan.ports)];
        let (mut flows, mut sum, mut samples) = (0, 0.0, 0u32);
        for slot in 0..self.slots {
            for (input, flow) in flow_of.iter_mut().enumerate() {
                if flow.is_some() && dice.chance(stop) {
                    *flow = None;
                }
                if flow.is_none() && dice.chance(begin) {
                    flows += 1;
                    *flow = Some(flows);
                }
                if let Some(flow) = *flow {
                    rig.now = self.arrival(slot, input);
                    rig.arrive(input, flow);
                }
            }
            rig.now = Time((slot + 1) * self.packet().0 - 1);
            end_slot(&mut rig);
            if slot > self.slots / 10 && slot % self.sampled_every == 0 {
                sum += deviation(&rig);
                samples += 1;
            }
        }
        sum / f64::from(samples)
    }
}

/// The standard deviation (1/n) of the outputs' lengths.
fn deviation(rig: &Rig) -> f64 {
    let lengths: Vec<f64> = (0..rig.serving.len()).map(|output| rig.held(output) as f64).collect();
    let n = lengths.len() as f64;
    let mean = lengths.iter().sum::<f64>() / n;
    (lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// One column of the table that an independent reference program printed, ties broken by a fair draw. Over eight seeds
/// most cells scatter by 0.5 to 2.5 %; six per cent is allowed, and more where a comment says why.
struct Column {
    load: f64,
    engines: u32,
    slots: u64,
}

const LOW_ONE: Column = Column { load: 0.3, engines: 1, slots: 20_000 };
const LOW_MANY: Column = Column { load: 0.3, engines: 48, slots: 20_000 };
const HIGH_ONE: Column = Column { load: 0.8, engines: 1, slots: 10_000 };
const HIGH_MANY: Column = Column { load: 0.8, engines: 48, slots: 10_000 };

const ALLOWED: f64 = 0.06;

impl Column {
    /// Longer runs: queues without control have a longer memory.
    fn long(&self) -> Column {
        Column { slots: 4 * self.slots, ..*self }
    }

    fn measure(&self, balancer: BalancerSettings) -> f64 {
        Model::new(self.engines, self.load, self.slots, balancer).stdv(1)
    }

    /// The measured cell, which agrees with the printed one.
    #[track_caller]
    fn cell(&self, balancer: BalancerSettings, printed: f64, allowed: f64) -> f64 {
        let stdv = self.measure(balancer);
        assert!((stdv - printed).abs() <= allowed * printed + 0.0005, "{stdv}, printed {printed}");
        stdv
    }
}

/// Per-flow choices do not depend on engines; their queues have so long a memory that runs of this length scatter by
/// 7 %.
#[test]
fn hashing_flows_is_worse_by_an_order_of_magnitude() {
    let at = |load| Column { load, engines: 1, slots: 60_000 }.measure(by_flow());
    let (low, high) = (at(0.3), at(0.8));
    assert!((low / 8.6 - 1.0).abs() < 0.1 && (high / 106.0 - 1.0).abs() < 0.2, "{low} {high}");
    let random = HIGH_ONE.measure(per_packet_random());
    assert!(random < 0.06 * high, "about 94 % better: {random} {high}");
}

#[test]
fn one_engine_at_low_load() {
    let random = LOW_ONE.cell(per_packet_random(), 0.259, ALLOWED);
    LOW_ONE.cell(by_turns(), 0.0, ALLOWED);
    LOW_ONE.cell(drill(1, 1), 0.223, ALLOWED);
    // Rare events: seeds scatter by 3.6 %.
    let two_one = LOW_ONE.cell(drill(2, 1), 0.056, 0.12);
    LOW_ONE.cell(drill(1, 2), 0.156, ALLOWED);
    LOW_ONE.cell(drill(12, 1), 0.0, ALLOWED);
    LOW_ONE.cell(drill(1, 20), 0.0, ALLOWED);
    assert!(two_one < 0.25 * random, "about 75 % better than random: {two_one} {random}");
}

#[test]
fn as_many_engines_as_inputs_at_low_load() {
    let random = LOW_MANY.cell(per_packet_random(), 0.264, ALLOWED);
    let turns = LOW_MANY.cell(by_turns(), 0.231, ALLOWED);
    LOW_MANY.cell(drill(1, 1), 0.195, ALLOWED);
    let two_one = LOW_MANY.cell(drill(2, 1), 0.199, ALLOWED);
    // With more than one cell it matters which of several equal ports is remembered beside the winner. Here a fair
    // draw decides; a reference that prefers the old ones prints 0.184 where we measure 0.195.
    LOW_MANY.cell(drill(1, 2), 0.184, 0.09);
    LOW_MANY.cell(drill(12, 1), 0.201, ALLOWED);
    LOW_MANY.cell(drill(1, 20), 0.206, ALLOWED);
    assert!(
        two_one < 0.80 * random && two_one < 0.90 * turns,
        "about 20 % better: {two_one} {random} {turns}"
    );
}

#[test]
fn one_engine_at_high_load() {
    let random = HIGH_ONE.long().cell(per_packet_random(), 2.70, ALLOWED);
    HIGH_ONE.cell(by_turns(), 0.0, ALLOWED);
    let one_one = HIGH_ONE.cell(drill(1, 1), 0.901, ALLOWED);
    let two_one = HIGH_ONE.cell(drill(2, 1), 0.500, ALLOWED);
    let one_two = HIGH_ONE.cell(drill(1, 2), 0.742, ALLOWED);
    // Rare events: seeds scatter by 5.5 %.
    let twelve_one = HIGH_ONE.cell(drill(12, 1), 0.037, 0.18);
    HIGH_ONE.cell(drill(1, 20), 0.453, ALLOWED);
    assert!(two_one < 0.35 * random, "more than 65 % better than random");
    assert!(twelve_one < two_one && two_one < one_two && one_two < one_one, "one engine gains by every look");
}

/// The synchronisation effect: with as many engines as inputs a second sample or cell helps, many more do not.
#[test]
fn as_many_engines_as_inputs_at_high_load() {
    let random = HIGH_MANY.long().cell(per_packet_random(), 2.73, ALLOWED);
    HIGH_MANY.cell(by_turns(), 1.42, ALLOWED);
    let one_one = HIGH_MANY.cell(drill(1, 1), 0.870, ALLOWED);
    let two_one = HIGH_MANY.cell(drill(2, 1), 0.781, ALLOWED);
    let one_two = HIGH_MANY.cell(drill(1, 2), 0.756, ALLOWED);
    let twelve_one = HIGH_MANY.cell(drill(12, 1), 0.838, ALLOWED);
    // Printed 0.907, for the reason given at low load; we measure 0.883.
    let one_twenty = HIGH_MANY.cell(drill(1, 20), 0.907, ALLOWED);
    assert!(two_one < 0.35 * random, "more than 65 % better than random");
    assert!(
        (0.84..0.92).contains(&(one_two / one_one)),
        "a second cell gives about 11 %: {}",
        one_two / one_one
    );
    assert!(one_twenty > one_one && twelve_one > 1.04 * two_one, "but many are too many");
}

/// Where the effect begins: with up to 12 engines more samples still help, with 48 they harm.
#[test]
fn more_samples_help_few_engines() {
    for (engines, printed) in [(6, 0.51), (12, 0.74)] {
        let column = Column { load: 0.8, engines, slots: 6_000 };
        let ratio = column.measure(drill(20, 1)) / column.measure(drill(2, 1));
        assert!((ratio / printed - 1.0).abs() < 0.08, "{engines} engines: {ratio}, printed {printed}");
    }
}

/// Preferring remembered ports freezes a matching of inputs to outputs at low load, which looks too good, and locks
/// engines to the same ports at high load with a large memory, which collapses.
#[test]
fn preferring_memory_freezes_at_low_load_and_collapses_at_high_load() {
    let remembered = |d, m| drill_with(d, m, Tie::MemoryFirst);
    LOW_MANY.cell(remembered(2, 1), 0.042, 0.2);
    let collapsed = HIGH_MANY.cell(remembered(1, 20), 5.32, ALLOWED);
    assert!(collapsed > 5.0 * 0.907, "five to six times as bad as a fair draw");
}

/// The limit of equal split fluid: the same bytes in smaller packets, and the imbalance in bytes vanishes with them.
#[test]
fn the_imbalance_vanishes_with_the_size_of_packets() {
    let imbalance = |parts: u16| {
        let mut model = Model::new(1, 0.8, 2_000 * u64::from(parts), drill(2, 1));
        model.plan.wire = 1_600 / parts;
        model.burst *= f64::from(parts);
        model.sampled_every *= u64::from(parts);
        model.stdv(1) * f64::from(model.plan.wire)
    };
    let course = [1, 2, 4, 8].map(imbalance);
    for pair in course.windows(2) {
        assert!((0.4..0.6).contains(&(pair[1] / pair[0])), "each halving about halves it: {course:?} bytes");
    }
}
