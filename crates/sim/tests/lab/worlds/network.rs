//! Random networks of every shape. Must not depend on switches or transports.

use weft_core::settings::Share;
use weft_core::{Random, Rate, Span};
use weft_topology::shapes::*;
use weft_topology::{LinkSettings, TopologySettings};

use super::{one_in, pick};

/// The common properties of the cables of one world.
#[derive(Clone, Copy)]
struct Style {
    mixed: bool,
    delays: u32,
    loss: f64,
}

impl Style {
    fn new(random: &mut Random) -> Style {
        let loss = if one_in(random, 5) { pick(random, &[0.001, 0.01, 0.05]) } else { 0.0 };
        Style { mixed: one_in(random, 2), delays: random.below(5), loss }
    }

    fn link(self, random: &mut Random) -> LinkSettings {
        let common = [10_000_000_000, 40_000_000_000, 100_000_000_000];
        let odd = [1_000_000_000, 2_500_000_000, 7_777_777_777, 3_333_333_333, 400_000_000_000];
        let rate = if self.mixed { pick(random, &odd) } else { pick(random, &common) };
        let delay = match self.delays {
            0 => Span::ZERO,
            1 => Span::from_ns(500),
            2 => Span(u64::from(random.below(5_000_000))),
            3 => Span::from_ns(pick(random, &[0, 100, 1_000])),
            _ => Span::from_us(u64::from(1 + random.below(3))),
        };
        let loss = if one_in(random, 2) { self.loss } else { 0.0 };
        LinkSettings { rate: Rate(rate), delay, loss: Share(loss) }
    }
}

/// One of all shapes.
pub(super) fn topology(random: &mut Random) -> TopologySettings {
    let style = Style::new(random);
    let (host_link, other) = (style.link(random), style.link(random));
    let up_to = |random: &mut Random, most: u32| 1 + random.below(most);
    match random.below(9) {
        0 | 1 => TopologySettings::LeafSpine(leaf_spine(random, (host_link, other), style)),
        2 => TopologySettings::FatTree(fat_tree::FatTreeSettings {
            k: pick(random, &[2, 4]),
            oversubscription: up_to(random, 2),
            host_link,
            fabric_link: other,
        }),
        3 => TopologySettings::SingleSwitch(single_switch::SingleSwitchSettings {
            hosts: 1 + up_to(random, 7),
            host_link,
        }),
        4 => TopologySettings::Dumbbell(dumbbell::DumbbellSettings {
            hosts_per_side: up_to(random, 4),
            host_link,
            bottleneck: other,
        }),
        5 => TopologySettings::ParkingLot(parking_lot::ParkingLotSettings {
            switches: 1 + up_to(random, 4),
            hosts_per_switch: up_to(random, 2),
            host_link,
            bottleneck: other,
        }),
        6 => TopologySettings::Diamond(diamond::DiamondSettings {
            hosts_per_leaf: up_to(random, 3),
            host_link,
            path_a: other,
            path_b: style.link(random),
        }),
        7 => TopologySettings::FullMesh(full_mesh::FullMeshSettings {
            switches: 1 + up_to(random, 4),
            hosts_per_switch: up_to(random, 2),
            host_link,
            fabric_link: other,
        }),
        _ => TopologySettings::Explicit(graph(random, style)),
    }
}

/// In one of six worlds a shape with three stages or slow cables.
pub(super) fn later(random: &mut Random) -> Option<TopologySettings> {
    if !one_in(random, 6) {
        return None;
    }
    let style = Style::new(random);
    let (host_link, fabric_link, other) = (style.link(random), style.link(random), style.link(random));
    let slower = Rate(fabric_link.rate.0 / u64::from(2 + random.below(9)));
    Some(match random.below(3) {
        0 => TopologySettings::Vl2(vl2::Vl2Settings {
            aggregation_ports: pick(random, &[2, 4]),
            intermediate_ports: pick(random, &[2, 4]),
            hosts_per_rack: 2 + random.below(2),
            host_link,
            fabric_link,
        }),
        1 => TopologySettings::PodsAndPlanes(pods_and_planes::PodsAndPlanesSettings {
            pods: 1 + random.below(3),
            racks_per_pod: 1 + random.below(2),
            planes: 1 + random.below(2),
            spines_per_plane: 1 + random.below(2),
            hosts_per_rack: 2 + random.below(2),
            host_link,
            rack_link: fabric_link,
            spine_link: other,
        }),
        _ => {
            let slow = leaf_spine::Slow { rate: slower, share: Share(0.4), draw: Some(random.below(1_000)) };
            let (leaves, spines) = (2 + random.below(3), 1 + random.below(4));
            TopologySettings::LeafSpine(leaf_spine::LeafSpineSettings {
                // The only cable of a leaf is never slow.
                slow: (spines > 1).then_some(slow),
                leaves,
                spines,
                hosts_per_leaf: 1 + random.below(3),
                host_link,
                fabric_link,
                ..Default::default()
            })
        }
    })
}

fn leaf_spine(
    random: &mut Random,
    (host_link, fabric_link): (LinkSettings, LinkSettings),
    style: Style,
) -> leaf_spine::LeafSpineSettings {
    let (leaves, spines) = (2 + random.below(3), 1 + random.below(4));
    let different = style.link(random);
    let unequal = leaf_spine::Unequal {
        leaf: random.below(leaves),
        spine: random.below(spines),
        count: one_in(random, 2).then(|| 1 + random.below(3)),
        rate: one_in(random, 2).then_some(different.rate),
        delay: one_in(random, 2).then_some(different.delay),
    };
    leaf_spine::LeafSpineSettings {
        leaves,
        spines,
        hosts_per_leaf: 1 + random.below(4),
        parallel: 1 + random.below(2),
        host_link,
        fabric_link,
        unequal: if one_in(random, 3) { vec![unequal] } else { Vec::new() },
        slow: None,
        oversubscription: None,
    }
}

/// In a third of the graphs the far ends of some cables stall.
pub(super) fn stall(topology: &mut TopologySettings, random: &mut Random) {
    let TopologySettings::Explicit(graph) = topology else { return };
    if !one_in(random, 3) {
        return;
    }
    let us = |random: &mut Random| Some(Span::from_us(u64::from(1 + random.below(50))));
    for link in &mut graph.links {
        if one_in(random, 4) {
            (link.stall_every, link.stall_length) = (us(random), us(random));
        }
    }
}

/// A random tree of switches with a few cables more, hosts anywhere.
fn graph(random: &mut Random, style: Style) -> explicit::ExplicitSettings {
    let switches = 1 + random.below(5);
    let hosts = 2 + random.below(6);
    let name = |n: u32| format!("s{n}");
    let mut links = Vec::new();
    let mut cable = |random: &mut Random, from: String, to: String, count: u32| {
        let LinkSettings { rate, delay, loss } = style.link(random);
        links.push(explicit::LinkEntry { from, to, count, rate, delay, loss, ..Default::default() });
    };
    for host in 0..hosts {
        let switch = random.below(switches);
        cable(random, format!("host{host}"), name(switch), 1);
    }
    for switch in 1..switches {
        let (to, count) = (random.below(switch), 1 + random.below(3));
        cable(random, name(switch), name(to), count);
    }
    for _ in 0..random.below(4) {
        let (from, to) = (random.below(switches), random.below(switches));
        if from != to {
            cable(random, name(from), name(to), 1);
        }
    }
    explicit::ExplicitSettings {
        hosts,
        switches: (0..switches).map(name).collect(),
        links,
        ..Default::default()
    }
}
