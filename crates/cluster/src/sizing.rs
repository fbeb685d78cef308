//! How many servers a router of N ports takes, how they are linked, and what a network of switches would cost instead.
//!
//! Arithmetic of RouteBricks, sections 2.2 and 3.3: an internal link of a mesh of M servers carries at most 2r/M, where r
//! is the external rate of a server; where a server has too few ports for that, a k-ary n-fly with n intermediate
//! servers for each one with external ports. A mesh may have servers without external ports: they make its links slower,
//! so that cards with more ports suffice.

use weft_core::Rate;

/// Ports of one kind that fit into a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardKind {
    /// Ports of a card.
    pub ports: u32,
    /// Rate of each.
    pub rate: Rate,
}

impl CardKind {
    /// Ports, bundled, that one link of rate `rate` takes.
    fn ports_for(&self, rate: Rate) -> u32 {
        u32::try_from(rate.0.div_ceil(self.rate.0)).unwrap_or(u32::MAX)
    }
}

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerKind {
    /// Its name.
    pub name: &'static str,
    /// Number of external ports that it can process: each takes up to three times its rate.
    pub ports: u32,
    /// Slots for cards, including those of external ports.
    pub slots: u32,
    /// Cards; the first is for external ports.
    pub cards: &'static [CardKind],
}

/// Servers and switches of a time, with prices. The prices are assumptions, not published figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Era {
    /// Its name.
    pub name: &'static str,
    /// Rate of an external port.
    pub rate: Rate,
    /// Kinds of servers.
    pub servers: &'static [ServerKind],
    /// Price of a server.
    pub server_price: f64,
    /// Price of a switch of 48 ports of that rate.
    pub switch_price: f64,
}

const fn card(ports: u32, gbps: u64) -> CardKind {
    CardKind { ports, rate: Rate::from_gbps(gbps) }
}

const CARDS_2009: &[CardKind] = &[card(2, 10), card(8, 1)];
const CARDS_TODAY: &[CardKind] = &[card(2, 100), card(4, 25), card(8, 10)];

/// The servers of the paper: one external port and 5 or 20 slots, two ports and 20 slots.
pub const OF_2009: Era = Era {
    name: "2009",
    rate: Rate::from_gbps(10),
    servers: &[
        ServerKind { name: "1 port, 5 slots", ports: 1, slots: 5, cards: CARDS_2009 },
        ServerKind { name: "1 port, 20 slots", ports: 1, slots: 20, cards: CARDS_2009 },
        ServerKind { name: "2 ports, 20 slots", ports: 2, slots: 20, cards: CARDS_2009 },
    ],
    server_price: 2_000.0,
    switch_price: 24_000.0,
};

/// Servers of today: 100 Gb/s ports, 8 slots, or 4 in a flat server.
pub const OF_TODAY: Era = Era {
    name: "today",
    rate: Rate::from_gbps(100),
    servers: &[
        ServerKind { name: "1 port, 4 slots", ports: 1, slots: 4, cards: CARDS_TODAY },
        ServerKind { name: "1 port, 8 slots", ports: 1, slots: 8, cards: CARDS_TODAY },
        ServerKind { name: "2 ports, 8 slots", ports: 2, slots: 8, cards: CARDS_TODAY },
    ],
    server_price: 8_000.0,
    switch_price: 30_000.0,
};

/// Ports of the switches of the Clos network.
pub const SWITCH_PORTS: u64 = 48;

/// How servers are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    /// One server: no links.
    Alone,
    /// Every server to every other.
    Mesh,
    /// A k-ary n-fly: links to each next rank (k), and ranks (n).
    Fly(u32, u32),
}

/// A router of several servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterSize {
    /// How they are linked.
    pub linking: Linking,
    /// All servers.
    pub servers: u64,
    /// Of these, servers without external ports.
    pub relays: u64,
    /// The rate that a link between two servers must carry.
    pub link: Rate,
    /// Cables between two servers, and the rate of each.
    pub cables: (u32, Rate),
}

impl ClusterSize {
    /// The most that Direct VLB puts on a link of a mesh of M servers: 3r/M, 1.5 times as much as classic VLB. `None` without links
    /// over relays.
    ///
    /// The link from i to j carries up to r/M for j itself. If the rest of i's traffic goes to one other, and the rest of what j gets
    /// comes from one other, each of these exceeds its own r/M by (r - 2r/M), of which each of M - 2 relays gets r/M. With three servers it
    /// is worse for the link to carry nothing directly: 4r/3.
    #[must_use]
    pub fn direct_link(&self) -> Option<Rate> {
        let most = match self.servers {
            0..=2 => return None,
            3 => u128::from(self.link.0) * 2,
            _ => u128::from(self.link.0) * 3 / 2,
        };
        (self.linking == Linking::Mesh).then(|| Rate(u64::try_from(most).unwrap_or(u64::MAX)))
    }
}

/// The router with `ports` external ports of rate `rate` and the fewest servers; `None` if its servers have too few slots. A port or link
/// faster than the ports of a card takes several of them.
#[must_use]
pub fn size(kind: &ServerKind, ports: u32, rate: Rate) -> Option<ClusterSize> {
    let servers = u64::from(ports.div_ceil(kind.ports));
    let external = slots(&kind.cards[0], ports.min(kind.ports), rate);
    let free = kind.slots.checked_sub(external)?;
    if servers <= 1 {
        let (linking, cables) = (Linking::Alone, (0, Rate(0)));
        return Some(ClusterSize { linking, servers, relays: 0, link: Rate(0), cables });
    }
    let both_ways = Rate(2 * rate.0 * u64::from(kind.ports));
    let inside = &ServerKind { slots: free, ..*kind };
    let plans = [mesh(inside, servers, both_ways), fly(inside, servers, both_ways)];
    plans.into_iter().flatten().min_by_key(|plan| plan.servers)
}

/// The smallest mesh of at least `servers` servers, into each of which at most half of `both_ways` enters.
fn mesh(kind: &ServerKind, servers: u64, both_ways: Rate) -> Option<ClusterSize> {
    (servers..=u64::from(most_links(kind)) + 1).find_map(|all| {
        let (link, cables) = links(kind, (all - 1) as u32, Rate(both_ways.0.div_ceil(all)))?;
        Some(ClusterSize { linking: Linking::Mesh, servers: all, relays: all - servers, link, cables })
    })
}

/// The k-ary n-fly between `servers` servers with the fewest ranks.
fn fly(kind: &ServerKind, servers: u64, both_ways: Rate) -> Option<ClusterSize> {
    (2..=16).find_map(|ranks| {
        let relays = servers * u64::from(ranks);
        (least_arity(servers, ranks)..=most_links(kind)).find_map(|arity| {
            let (link, cables) = links(kind, arity, Rate(both_ways.0.div_ceil(arity.into())))?;
            let linking = Linking::Fly(arity, ranks);
            Some(ClusterSize { linking, servers: servers + relays, relays, link, cables })
        })
    })
}

/// The most links that the cards of a server have ports for.
fn most_links(kind: &ServerKind) -> u32 {
    kind.slots * kind.cards.iter().map(|card| card.ports).max().unwrap_or(0)
}

/// The least k for which kⁿ is at least `servers`.
fn least_arity(servers: u64, ranks: u32) -> u32 {
    (2..).find(|arity: &u32| u64::from(*arity).saturating_pow(ranks) >= servers).unwrap_or(2)
}

/// Slots that `links` links of rate `rate` take on these cards.
fn slots(card: &CardKind, links: u32, rate: Rate) -> u32 {
    links.saturating_mul(card.ports_for(rate)).div_ceil(card.ports)
}

/// Cables to `others` servers at `rate` each, on the cards that take the fewest of the slots, all of which are free.
fn links(kind: &ServerKind, others: u32, rate: Rate) -> Option<(Rate, (u32, Rate))> {
    let with = |card: &CardKind| {
        let slots = slots(card, others, rate);
        let cables = (card.ports_for(rate), card.rate);
        (slots <= kind.slots).then_some((slots, (rate, cables)))
    };
    kind.cards.iter().filter_map(with).min_by_key(|(slots, _)| *slots).map(|(_, links)| links)
}

/// External ports of the largest mesh of these servers.
#[must_use]
pub fn largest_mesh(kind: &ServerKind, rate: Rate) -> u32 {
    let most = (most_links(kind) + 1) * kind.ports;
    (1..=most).rev().find(|ports| is_mesh(kind, *ports, rate)).unwrap_or(1)
}

/// The last of the sizes 2, 4, 8, … up to which these servers form meshes: where a plot of those sizes has its kink.
#[must_use]
pub fn last_mesh_of_powers(kind: &ServerKind, rate: Rate) -> u32 {
    (1..20).map(|power| 1 << power).filter(|ports| is_mesh(kind, *ports, rate)).max().unwrap_or(1)
}

fn is_mesh(kind: &ServerKind, ports: u32, rate: Rate) -> bool {
    size(kind, ports, rate).is_some_and(|size| size.linking == Linking::Mesh)
}

/// Switches of a folded Clos network with full bisection between `ports` ports, with as many tiers as that takes.
#[must_use]
pub fn clos_switches(ports: u64) -> u64 {
    let half = SWITCH_PORTS / 2;
    let mut below_the_top = 0;
    let mut reach = SWITCH_PORTS;
    while reach < ports {
        below_the_top += ports.div_ceil(half);
        reach *= half;
    }
    below_the_top + if below_the_top == 0 { 1 } else { ports.div_ceil(SWITCH_PORTS) }
}

/// Cost of a router built from these servers.
#[must_use]
pub fn cluster_price(size: &ClusterSize, era: &Era) -> f64 {
    size.servers as f64 * era.server_price
}

/// Its cost with switches between the servers that process packets.
#[must_use]
pub fn clos_price(ports: u32, kind: &ServerKind, era: &Era) -> f64 {
    let servers = f64::from(ports.div_ceil(kind.ports));
    servers * era.server_price + clos_switches(ports.into()) as f64 * era.switch_price
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sized(kind: usize, ports: u32) -> ClusterSize {
        size(&OF_2009.servers[kind], ports, OF_2009.rate).unwrap()
    }

    #[test]
    fn meshes_end_where_the_paper_has_its_kinks() {
        let limits = |kind: usize| {
            let kind = &OF_2009.servers[kind];
            (last_mesh_of_powers(kind, OF_2009.rate), largest_mesh(kind, OF_2009.rate))
        };
        // 4 free slots of 8 links; 19; 19 and two ports per server.
        assert_eq!([0, 1, 2].map(limits), [(32, 33), (128, 153), (256, 306)]);
    }

    /// A router of 16 ports is one of 20 with idle ports: a mesh of 20 servers whose links of 10 Gb/s fit into three cards,
    /// not a 2-fly of 48 servers.
    #[test]
    fn a_mesh_may_have_servers_without_external_ports() {
        let size = size(&OF_TODAY.servers[0], 16, OF_TODAY.rate).unwrap();
        assert_eq!((size.linking, size.servers, size.relays), (Linking::Mesh, 20, 4));
        assert_eq!((size.link, size.cables), (Rate::from_gbps(10), (1, Rate::from_gbps(10))));
    }

    /// Of four servers with 10 Gb/s each, one gives 7.5 Gb/s to its two relays, and another gets as much by its two: the link
    /// from the first to the second relay of the other carries half of both.
    #[test]
    fn direct_vlb_needs_wider_links_than_classic_vlb() {
        let small = sized(0, 4);
        assert_eq!((small.link, small.direct_link()), (Rate::from_gbps(5), Some(Rate::from_mbps(7_500))));
        let three = sized(0, 3);
        assert_eq!(
            three.direct_link(),
            Some(Rate(2 * three.link.0)),
            "one relay carries what two ports exceed"
        );
        assert_eq!(sized(0, 2).direct_link(), None, "no third server could relay");
        assert_eq!(sized(1, 1024).direct_link(), None, "an n-fly has other paths");
    }

    #[test]
    fn a_thousand_ports_take_two_relays_each() {
        let fly = sized(1, 1024);
        assert_eq!((fly.linking, fly.servers, fly.relays), (Linking::Fly(32, 2), 3072, 2048));
    }

    #[test]
    fn slow_links_are_bundled_or_fast_ones_taken() {
        let small = sized(0, 4);
        assert_eq!((small.linking, small.servers, small.link), (Linking::Mesh, 4, Rate::from_gbps(5)));
        assert_eq!(small.cables, (1, Rate::from_gbps(10)));
        assert_eq!((sized(0, 32).cables, sized(0, 32).link), ((1, Rate::from_gbps(1)), Rate::from_mbps(625)));
        assert_eq!(sized(0, 1).linking, Linking::Alone);
    }

    /// An external port of 400 Gb/s takes four ports of 100 Gb/s, on two cards.
    #[test]
    fn external_ports_faster_than_those_of_a_card_take_several() {
        let servers = |kind: usize, ports, gbps| {
            size(&OF_TODAY.servers[kind], ports, Rate::from_gbps(gbps)).map(|size| size.servers)
        };
        // Links to one other server at 400 Gb/s take the other two slots; those to three at 200 Gb/s would take three.
        assert_eq!([1, 2, 4].map(|ports| servers(0, ports, 400)), [Some(1), Some(2), None]);
        assert_eq!(servers(1, 4, 400), Some(4), "three of six free slots");
        // Two ports take four of eight slots, links to one other server at 800 Gb/s four, to two at 533 Gb/s six.
        assert_eq!([4, 5].map(|ports| servers(2, ports, 400)), [Some(2), None]);
        assert_eq!(
            [1, 2].map(|ports| servers(2, ports, 1_600)),
            [Some(1), None],
            "eight slots hold one port"
        );
    }

    #[test]
    fn no_router_has_fewer_servers_than_a_smaller_one() {
        for era in [&OF_2009, &OF_TODAY] {
            for kind in era.servers {
                let servers: Vec<u64> =
                    (1..=700).filter_map(|ports| Some(size(kind, ports, era.rate)?.servers)).collect();
                assert!(servers.len() == 700 && servers.is_sorted(), "{}: {servers:?}", kind.name);
            }
        }
    }

    #[test]
    fn a_clos_network_has_as_many_tiers_as_it_needs() {
        assert_eq!((clos_switches(48), clos_switches(1152), clos_switches(48 * 48)), (1, 72, 240));
        // Three tiers of 48-port switches end at 48 x 24 x 24 ports.
        assert_eq!((clos_switches(27_648), clos_switches(100_000)), (5 * 576, 3 * 4167 + 2084));
    }
}
