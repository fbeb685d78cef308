//! Some hundred random worlds obey all laws. `cargo run --release -p weft-sim --example property -- CASES [FIRST]` tries
//! as many as there is time for.

mod lab;

use std::collections::BTreeSet;

use lab::trial::{Coverage, Extent, add, trial};
use lab::worlds::World;
use weft_core::settings::Family;
use weft_switch::arbiter::ArbiterSettings;
use weft_switch::order::OrderSettings;
use weft_switch::{
    BalancerSettings, mark::MarkerSettings, schedule::SchedulerSettings, share::SharingSettings,
};
use weft_topology::TopologySettings;
use weft_transport::TransportSettings;
use weft_transport::card::CardSettings;

fn try_all(seeds: impl Iterator<Item = u64>, extent: Extent) -> Coverage {
    let mut covered = Coverage::new();
    for seed in seeds {
        match trial(seed, extent) {
            Ok(more) => add(&mut covered, more),
            Err(why) => panic!("seed {seed}: {why}\n{}", World::new(seed).describe()),
        }
    }
    covered
}

const WORLDS: u64 = 1_500;

/// Every kind of trouble occurs; otherwise the laws could hold for lack of it.
#[test]
fn random_worlds_obey_all_laws() {
    let covered = try_all(1..=WORLDS, Extent::Alone);
    let troubles = [
        "port_full",
        "threshold",
        "buffer_full",
        "early",
        "no_route",
        "link_down",
        "loss",
        "marked",
        "trimmed",
        "returned",
        "out of order",
        "time-outs",
        "packets left",
        "worlds: foreseen",
        "worlds: sampled",
        "worlds: flows sampled",
        "worlds: mixed switches",
        "worlds: several transports",
        "worlds: paused",
        "worlds: time limit",
        "worlds: datagrams lost",
    ];
    for trouble in troubles {
        assert!(covered.get(trouble).is_some_and(|n| *n >= 10), "{trouble}: {covered:?}");
    }
    assert_eq!(covered["worlds"], WORLDS);
}

/// Every new transport, balancer, marker, … is tried: `lab/worlds` must draw it.
#[test]
fn every_member_of_a_family_is_drawn() {
    let mut drawn = BTreeSet::new();
    for world in (1..=WORLDS).map(World::new) {
        let switch = &world.setup.switch;
        drawn.extend(world.transports.iter().map(|one| (TransportSettings::FAMILY.name, one.name())));
        drawn.extend(world.cards().map(|one| (CardSettings::FAMILY.name, one.name())));
        drawn.extend([
            (TopologySettings::FAMILY.name, world.topology.name()),
            (BalancerSettings::FAMILY.name, world.setup.balancer.name()),
            (MarkerSettings::FAMILY.name, switch.ecn.name()),
            (SchedulerSettings::FAMILY.name, switch.schedule.name()),
            (SharingSettings::FAMILY.name, switch.sharing.name()),
            (OrderSettings::FAMILY.name, switch.order.name()),
            (ArbiterSettings::FAMILY.name, switch.arbiter.name()),
        ]);
    }
    let families: [Family; 9] = [
        CardSettings::FAMILY,
        TransportSettings::FAMILY,
        TopologySettings::FAMILY,
        BalancerSettings::FAMILY,
        MarkerSettings::FAMILY,
        SchedulerSettings::FAMILY,
        SharingSettings::FAMILY,
        OrderSettings::FAMILY,
        ArbiterSettings::FAMILY,
    ];
    let all =
        families.iter().flat_map(|family| family.members.iter().map(|member| (family.name, member.name)));
    let left_out: Vec<_> = all.filter(|member| !drawn.contains(member)).collect();
    assert!(
        left_out.is_empty(),
        "never drawn in `lab/worlds` (an arm, and a range that reaches it): {left_out:?}"
    );
}

/// Worlds that once revealed bugs. Cables came back while the arrival of a packet they had lost was pending: see
/// `a_cable_that_blinks_loses_what_is_on_it_and_nothing_else`. A packet went back by the port it came in by and made
/// that port pause its sender: the port was fed twice (the next two). Domains kept other samples of flows than one
/// domain, and the greatest length of a queue behind a fabric was missed where memory is in cells (the next two). A
/// host sent packets of a paused class if their flow had another class as well: headroom overflowed (the next two).
/// Ports with strict priority measured congestion differently if they foresaw departures (the next three). PDQ
/// senders retransmitted endlessly what waited in a long queue (the last two).
#[test]
fn what_was_broken_stays_whole() {
    try_all(
        [
            4_759, 4_887, 14_815, 16_514, 17_838, 138_706, 144_187, 512_642, 508_320, 508_131, 539_084,
            534_501, 1_007_464, 1_025_581, 526_934, 532_869,
        ]
        .into_iter(),
        Extent::Threads,
    );
}

#[test]
fn threads_and_cuts_give_the_same_record() {
    let covered = try_all(10_001..=10_100, Extent::Threads);
    assert!(covered["worlds: divided"] > 50, "{covered:?}");
}
