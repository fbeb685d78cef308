//! The path of a packet through the cluster, decided by the node it enters: straight to its output node, or through a
//! relay.
//!
//! Direct Valiant load balancing (Direct VLB): up to R/N of the traffic for each output node goes straight to it, the
//! rest is spread over the other nodes. Packets of a flow that follow each other closely keep their path (flowlets),
//! unless its link is overloaded. The simulated cluster and `weft router` call the same [`Director::choose`].

use std::ops::AddAssign;

use weft_core::{Bytes, Purpose, Random, Rate, Span, Time, random::mix};

use crate::bucket::DirectBucket;
use crate::flowlet::FlowletTable;
use crate::links::ClusterLinks;

/// How traffic is spread over the nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VlbKind {
    /// Up to R/N for each output node directly, the rest over the other nodes.
    Direct,
    /// Every packet over all nodes, input and output included (Valiant).
    Valiant,
}

/// The order in which relays are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayOrder {
    /// One after the other.
    RoundRobin,
    /// Each drawn at random, all equally likely.
    Random,
}

/// The settings of a director.
#[derive(Clone, Copy, Debug)]
pub struct DirectorSettings {
    /// Nodes of the cluster; in an n-fly, nodes of the next rank that are linked to this one.
    pub nodes: u16,
    /// How traffic is spread.
    pub spreading: VlbKind,
    /// The order of relays.
    pub order: RelayOrder,
    /// Rate of an external port (R).
    pub external: Rate,
    /// Rate of an internal link.
    pub link: Rate,
    /// Capacity of a bucket, as time at its rate R/N.
    pub depth: Span,
    /// Pause after which a flow may take another path (δ); zero: every packet is spread by itself.
    pub delta: Span,
    /// Number of flows in the flowlet table.
    pub flows: u32,
    /// Seed of random relays.
    pub seed: u64,
}

/// Window in which the load of an internal link is measured.
const WINDOW: Span = Span::from_ms(1);

impl DirectorSettings {
    /// The prescribed settings of RouteBricks: Direct VLB, buckets of 1 ms, δ = 100 ms.
    #[must_use]
    pub const fn new(nodes: u16, external: Rate, link: Rate) -> DirectorSettings {
        DirectorSettings {
            nodes,
            spreading: VlbKind::Direct,
            order: RelayOrder::RoundRobin,
            external,
            link,
            depth: Span::from_ms(1),
            delta: Span::from_ms(100),
            flows: 1 << 16,
            seed: 1,
        }
    }

    /// The settings for one of several workers of a node, each of which serves a part of the flows.
    #[must_use]
    pub fn divided(self, workers: u16) -> DirectorSettings {
        let part = |rate: Rate| Rate(rate.0 / u64::from(workers.max(1)));
        let flows = self.flows.div_ceil(u32::from(workers.max(1)));
        DirectorSettings { external: part(self.external), link: part(self.link), flows, ..self }
    }
}

/// The path of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterPath {
    /// It leaves by the node it entered.
    Here,
    /// Straight to its output node.
    Direct,
    /// By this node.
    Via(u16),
    /// Nowhere: no link leads to its output node, nor does any relay.
    Lost,
}

/// What a director has decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectorCounters {
    /// Packets that leave by the node they entered.
    pub here: u64,
    /// Packets sent straight to their output nodes.
    pub direct: u64,
    /// Packets sent by relays.
    pub relayed: u64,
    /// Packets whose output node could not be reached.
    pub lost: u64,
    /// Packets that followed the one before them in their flow.
    pub kept: u64,
    /// Packets that would have followed it if its link had not been overloaded.
    pub overloaded: u64,
}

impl AddAssign for DirectorCounters {
    fn add_assign(
        &mut self,
        DirectorCounters { here, direct, relayed, lost, kept, overloaded }: DirectorCounters,
    ) {
        self.here += here;
        self.direct += direct;
        self.relayed += relayed;
        self.lost += lost;
        self.kept += kept;
        self.overloaded += overloaded;
    }
}

/// Bytes sent by a link in the current window, of packets that entered here or are relayed.
#[derive(Clone, Copy, Debug, Default)]
struct LinkWindow {
    number: u64,
    bytes: u64,
}

/// The director of one node.
#[derive(Clone, Debug)]
pub struct Director {
    settings: DirectorSettings,
    me: u16,
    buckets: Box<[DirectBucket]>,
    flowlets: FlowletTable,
    windows: Box<[LinkWindow]>,
    /// Bytes that a link carries in a window.
    limit: u64,
    links: ClusterLinks,
    next: u16,
    random: Random,
    counters: DirectorCounters,
}

impl Director {
    /// The director of node `me`.
    #[must_use]
    pub fn new(settings: DirectorSettings, me: u16) -> Director {
        let nodes = usize::from(settings.nodes);
        let share = Rate(settings.external.0 / u64::from(settings.nodes.max(1)));
        Director {
            me,
            buckets: vec![DirectBucket::new(share, settings.depth); nodes].into(),
            flowlets: FlowletTable::new(if settings.delta > Span::ZERO { settings.flows } else { 1 }),
            windows: vec![LinkWindow::default(); nodes].into(),
            limit: settings.link.bytes_in(WINDOW).0,
            links: ClusterLinks::all_up(settings.nodes),
            next: me,
            random: Random::new(settings.seed, Purpose::Balance, me.into()),
            counters: DirectorCounters::default(),
            settings,
        }
    }

    /// Decides about a packet of a flow (any hash of its five-tuple) for output node `to`, of this size.
    #[inline]
    pub fn choose(&mut self, now: Time, flow: u64, to: u16, size: Bytes) -> ClusterPath {
        if to == self.me {
            self.counters.here += 1;
            return ClusterPath::Here;
        }
        let key = mix(flow.wrapping_add(u64::from(to) << 48));
        let kept = self.kept(now, key, |links, via| links.lead(via, to));
        if kept == Some(to) {
            self.buckets[usize::from(to)].drain(now, size);
        }
        let Some(via) = kept.or_else(|| self.fresh(now, to, size)) else {
            self.counters.lost += 1;
            return ClusterPath::Lost;
        };
        self.note(now, key, (via, size));
        if via == to {
            self.counters.direct += 1;
            ClusterPath::Direct
        } else {
            self.counters.relayed += 1;
            ClusterPath::Via(via)
        }
    }

    /// Spreads a packet over the nodes of the next rank of an n-fly from which no failure on the way keeps it (`leads`); none if there are
    /// none.
    pub fn spread(
        &mut self,
        now: Time,
        (flow, size): (u64, Bytes),
        leads: impl Fn(u16) -> bool,
    ) -> Option<u16> {
        let key = mix(flow);
        let kept = self.kept(now, key, |_, via| leads(via));
        let Some(via) = kept.or_else(|| self.turn(|_, node| leads(node))) else {
            self.counters.lost += 1;
            return None;
        };
        self.note(now, key, (via, size));
        self.counters.relayed += 1;
        Some(via)
    }

    /// Records that a packet of a flow goes by `via`.
    #[inline]
    fn note(&mut self, now: Time, key: u64, (via, size): (u16, Bytes)) {
        if self.settings.delta > Span::ZERO {
            self.flowlets.note(now, key, via);
        }
        self.load(now, via, size);
    }

    /// Records that a packet that did not enter here goes by the link to `via`: it loads the link like those that did.
    #[inline]
    pub fn load(&mut self, now: Time, via: u16, size: Bytes) {
        let window = &mut self.windows[usize::from(via)];
        let number = now.0 / WINDOW.0;
        *window =
            LinkWindow { number, bytes: size.0 + if window.number == number { window.bytes } else { 0 } };
    }

    /// The path of the flow's last packet, if it is still valid.
    #[inline]
    fn kept(&mut self, now: Time, key: u64, leads: impl Fn(&ClusterLinks, u16) -> bool) -> Option<u16> {
        if self.settings.delta == Span::ZERO {
            return None;
        }
        let (via, seen) = self.flowlets.last(key)?;
        if now.since(seen) > self.settings.delta || !leads(&self.links, via) {
            return None;
        }
        let window = self.windows[usize::from(via)];
        if window.number == now.0 / WINDOW.0 && window.bytes > self.limit {
            self.counters.overloaded += 1;
            return None;
        }
        self.counters.kept += 1;
        Some(via)
    }

    /// A path for a packet that follows no other; none if no link leads there.
    fn fresh(&mut self, now: Time, to: u16, size: Bytes) -> Option<u16> {
        let direct = self.links.is_up(to).then_some(to);
        match self.settings.spreading {
            VlbKind::Direct if direct.is_some() && self.buckets[usize::from(to)].take(now, size) => direct,
            VlbKind::Direct => {
                let relay = self.turn(|own, node| node != own.me && node != to && own.links.lead(node, to));
                relay.or(direct)
            }
            // Spread over all nodes, including itself and the output, in which case there is no relay.
            VlbKind::Valiant => {
                let step = |own: &Director, node: u16| if node == own.me { to } else { node };
                let node = self.turn(|own, node| own.links.lead(step(own, node), to))?;
                Some(step(self, node))
            }
        }
    }

    /// The next node in turn, or a random one, that is allowed.
    fn turn(&mut self, allowed: impl Fn(&Director, u16) -> bool) -> Option<u16> {
        let nodes = self.settings.nodes;
        let first = match self.settings.order {
            RelayOrder::RoundRobin => (self.next + 1) % nodes,
            RelayOrder::Random => {
                let open = (0..nodes).filter(|node| allowed(self, *node)).count() as u32;
                let drawn = (open > 0).then(|| self.random.below(open))?;
                return (0..nodes).filter(|node| allowed(self, *node)).nth(drawn as usize);
            }
        };
        let found = (0..nodes).map(|step| (first + step) % nodes).find(|node| allowed(self, *node))?;
        self.next = found;
        Some(found)
    }

    /// A node goes down or comes back, for all nodes. Traffic that went by it is spread over the others at once.
    pub fn set_node(&mut self, node: u16, up: bool) {
        self.links.set_node(node, up);
    }

    /// A link from this node (`None`) or from another one goes down or comes back. Traffic that went by it takes another way at once.
    pub fn set_link(&mut self, from: Option<u16>, to: u16, up: bool) {
        self.links.set(from, to, up);
    }

    /// Whether this node's link to another is up.
    #[must_use]
    pub fn is_up(&self, node: u16) -> bool {
        self.links.is_up(node)
    }

    /// Counters of the decisions so far.
    #[must_use]
    pub fn counters(&self) -> DirectorCounters {
        self.counters
    }

    /// Flows forgotten because the flowlet table was full.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.flowlets.evictions()
    }
}
