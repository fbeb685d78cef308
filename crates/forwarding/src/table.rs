//! Routes of packets for a host: a port, or the equal-cost ports of a component. Must not depend on how groups are
//! computed.

use std::sync::Arc;

use weft_core::group::{Component, Group, part};
use weft_core::{GroupId, Header, PortId, Purpose, Random, SwitchId, prefetch};

use crate::hash::{FlowHash, HashFunction};

/// The forwarding table of one switch. The fields every packet touches come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct ForwardingTable {
    /// Leaf of every host; the same for all switches.
    leaf_of_host: Arc<[u16]>,
    /// Port at its leaf of every host; the same for all switches.
    port_of_host: Arc<[PortId]>,
    /// This switch's own leaf number, if it has hosts; else [`NOT_A_LEAF`].
    own_leaf: u32,
    /// By leaf: the only port, [`SEVERAL`] and the number of the only component, or [`ELSEWHERE`].
    way_of_leaf: Vec<u16>,
    /// The components of all groups, without ports that are down here.
    components: Vec<Component>,
    /// One more than the highest leaf of a host.
    leaves: usize,
    /// The groups as routing computed them.
    installed: Arc<[Group]>,
    group_of_leaf: Arc<[GroupId]>,
    /// By group: the number of the only component, or [`MANY`] and an index in `ways`.
    way_of_group: Vec<u32>,
    /// The groups with none or several components.
    ways: Vec<Ways>,
    down: Vec<PortId>,
    hash: FlowHash,
}

/// The leaf number of a switch without hosts.
const NOT_A_LEAF: u32 = u32::MAX;
/// Marks a group that has none or several components.
const MANY: u32 = 1 << 31;

/// Marks a leaf with one component of several ports.
const SEVERAL: u16 = 1 << 15;
/// Marks a leaf whose way only `way_of_group` knows.
const ELSEWHERE: u16 = u16::MAX;

/// The components of a group: `count` of them, starting at `first`.
#[derive(Clone, Copy, Debug)]
struct Ways {
    first: u32,
    count: u32,
    /// The sum of their weights.
    whole: u64,
}

/// Where a packet may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// To a host on this switch.
    Local(PortId),
    /// To one of the ports of a component; the first field is its number in the table.
    Component(GroupId, &'a Component),
    /// There is no route.
    None,
}

/// Where a packet may go, with the components of one port resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way<'a> {
    /// Through this port only.
    Only(PortId),
    /// Through one of several ports of a component; the first field is its number in the table.
    Several(GroupId, &'a Component),
    /// There is no route.
    None,
}

impl ForwardingTable {
    /// The first bytes, which every packet touches.
    pub const HOT: usize = std::mem::offset_of!(ForwardingTable, components);

    /// A table from its parts: where hosts live (shared by all switches), and this switch's groups.
    #[must_use]
    pub fn new(
        hosts: (Arc<[u16]>, Arc<[PortId]>),
        own_leaf: Option<u16>,
        group_of_leaf: impl Into<Arc<[GroupId]>>,
        groups: impl Into<Arc<[Group]>>,
    ) -> ForwardingTable {
        assert_eq!(hosts.0.len(), hosts.1.len(), "every host has a leaf and a port there");
        let mut table = ForwardingTable {
            leaves: hosts.0.iter().map(|leaf| usize::from(*leaf) + 1).max().unwrap_or(0),
            leaf_of_host: hosts.0,
            port_of_host: hosts.1,
            own_leaf: own_leaf.map_or(NOT_A_LEAF, u32::from),
            group_of_leaf: group_of_leaf.into(),
            installed: groups.into(),
            components: Vec::new(),
            way_of_leaf: Vec::new(),
            way_of_group: Vec::new(),
            ways: Vec::new(),
            down: Vec::new(),
            hash: FlowHash::new(HashFunction::Mix, 0),
        };
        table.refresh();
        table
    }

    /// Seeds the hash that spreads flows over components; its seed is also this switch's ECMP seed.
    pub fn seed(&mut self, seed: u64, switch: SwitchId) {
        self.hash =
            FlowHash::new(HashFunction::Mix, Random::new(seed, Purpose::Hash, u64::from(switch.0)).bits());
    }

    /// Looks up where a packet may go.
    #[must_use]
    pub fn route(&self, packet: &Header) -> Route<'_> {
        let host = packet.destination.index();
        let leaf = self.leaf_of_host[host];
        if u32::from(leaf) == self.own_leaf {
            return Route::Local(self.port_of_host[host]);
        }
        let group = self.group_of_leaf[usize::from(leaf)];
        let number = match self.way_of_group[group.index()] {
            number if number < MANY => Some(number),
            way => self.by_weight(self.ways[(way - MANY) as usize], packet),
        };
        match number {
            Some(number) => Route::Component(GroupId(number), &self.components[number as usize]),
            None => Route::None,
        }
    }

    /// Looks up where a packet may go, for switches that choose only among several ports.
    #[must_use]
    #[inline]
    #[allow(unsafe_code, reason = "1 % of all instructions")]
    pub fn way(&self, packet: &Header) -> Way<'_> {
        let leaf = self.leaf_of_host[packet.destination.index()];
        if u32::from(leaf) == self.own_leaf {
            // SAFETY: `new` has asserted that every host with a leaf has a port.
            return Way::Only(unsafe { *self.port_of_host.get_unchecked(packet.destination.index()) });
        }
        debug_assert!(usize::from(leaf) < self.way_of_leaf.len(), "see `refresh`");
        // SAFETY: `refresh`, which alone writes the ways, has asserted that every leaf of `leaf_of_host` has one.
        match unsafe { *self.way_of_leaf.get_unchecked(usize::from(leaf)) } {
            port if port < SEVERAL => Way::Only(PortId(port)),
            ELSEWHERE => self.long_way(packet),
            way => {
                let number = u32::from(way - SEVERAL);
                debug_assert!((number as usize) < self.components.len(), "see `refresh`");
                // SAFETY: `refresh` numbers the components that it puts there, and nothing else changes numbers or components.
                Way::Several(GroupId(number), unsafe { self.components.get_unchecked(number as usize) })
            }
        }
    }

    #[inline(never)]
    fn long_way(&self, packet: &Header) -> Way<'_> {
        match self.route(packet) {
            Route::Local(port) => Way::Only(port),
            Route::None => Way::None,
            Route::Component(number, component) => match component.ports[..] {
                [only] => Way::Only(only),
                _ => Way::Several(number, component),
            },
        }
    }

    /// Prefetches the entry of a packet's leaf, which [`ForwardingTable::way`] reads first.
    #[inline]
    pub fn prefetch_way(&self, packet: &Header) {
        let leaf = self.leaf_of_host[packet.destination.index()];
        if let Some(way) = self.way_of_leaf.get(usize::from(leaf)) {
            prefetch(way);
        }
    }

    /// The component of this number.
    #[inline]
    pub fn component(&self, number: GroupId) -> &Component {
        &self.components[number.index()]
    }

    /// The component of a flow: where its hash falls among the weights.
    #[inline(never)]
    fn by_weight(&self, ways: Ways, packet: &Header) -> Option<u32> {
        let mut place = part(self.hash.of(&packet.tuple()), ways.whole);
        let components = &self.components[ways.first as usize..][..ways.count as usize];
        let holds = |component: &Component| match place.checked_sub(component.weight) {
            Some(beyond) => {
                place = beyond;
                false
            }
            None => true,
        };
        components.iter().position(holds).map(|position| ways.first + position as u32)
    }

    /// Called when the link of a port goes down or comes back: the port leaves all groups, or returns to those that
    /// contain it.
    pub fn set_port(&mut self, port: PortId, up: bool) {
        self.down.retain(|other| *other != port);
        if !up {
            self.down.push(port);
        }
        self.refresh();
    }

    /// Replaces all groups at once: routing has converged. Ports that are down here are excluded.
    pub fn install(&mut self, group_of_leaf: impl Into<Arc<[GroupId]>>, groups: impl Into<Arc<[Group]>>) {
        self.group_of_leaf = group_of_leaf.into();
        self.installed = groups.into();
        self.refresh();
    }

    /// For each of this many ports, whether it leads to another switch.
    pub fn fabric(&self, ports: usize) -> Vec<bool> {
        let mut fabric = vec![true; ports];
        let hosts = self.leaf_of_host.iter().zip(self.port_of_host.iter());
        for (_, port) in hosts.filter(|(leaf, _)| u32::from(**leaf) == self.own_leaf) {
            fabric[port.index()] = false;
        }
        fabric
    }

    /// This switch's own leaf number, and the leaf of every host.
    pub fn leaves(&self) -> (Option<u16>, Arc<[u16]>) {
        let own_leaf = (self.own_leaf != NOT_A_LEAF).then_some(self.own_leaf as u16);
        (own_leaf, Arc::clone(&self.leaf_of_host))
    }

    /// One more than the highest port it names.
    pub fn ports(&self) -> usize {
        let here = |(leaf, _): &(&u16, &PortId)| u32::from(**leaf) == self.own_leaf;
        let to_hosts = self.leaf_of_host.iter().zip(&*self.port_of_host).filter(here).map(|(_, port)| port);
        let to_hosts = to_hosts.map(|port| port.index() + 1).max().unwrap_or(0);
        to_hosts.max(ForwardingTable::ports_of(&self.installed))
    }

    /// One more than the highest port that groups name.
    pub fn ports_of(groups: &[Group]) -> usize {
        let ports = groups.iter().flat_map(|group| &group.components).flat_map(|way| &way.ports);
        ports.map(|port| port.index() + 1).max().unwrap_or(0)
    }

    /// The components with several ports, including ports that are down.
    pub fn choices(&self) -> impl Iterator<Item = &Component> {
        self.installed
            .iter()
            .flat_map(|group| &group.components)
            .filter(|component| component.ports.len() > 1)
    }

    /// Resolves the groups. Until that is done no leaf has a way of its own, so a panic on an invalid group leaves
    /// nothing behind that names a component.
    fn refresh(&mut self) {
        self.way_of_leaf.fill(ELSEWHERE);
        self.components.clear();
        self.ways.clear();
        let groups = Arc::clone(&self.installed);
        let ways: Vec<u32> = groups.iter().map(|group| self.add(group)).collect();
        self.components.shrink_to_fit();
        let short = |group: &GroupId| self.shortened(ways[group.index()]).unwrap_or(ELSEWHERE);
        let way_of_leaf: Vec<u16> = self.group_of_leaf.iter().map(short).collect();
        assert!(way_of_leaf.len() >= self.leaves, "every leaf with hosts has a group");
        (self.way_of_leaf, self.way_of_group) = (way_of_leaf, ways);
    }

    /// A way in 16 bits, if it has one component and both its port and its number are small.
    fn shortened(&self, way: u32) -> Option<u16> {
        let component = self.components.get(way as usize)?;
        match component.ports[..] {
            [PortId(only)] => (only < SEVERAL).then_some(only),
            _ => u16::try_from(way)
                .ok()
                .filter(|number| *number < ELSEWHERE - SEVERAL)
                .map(|number| SEVERAL + number),
        }
    }

    /// Adds the usable components of a group; returns how to find them.
    fn add(&mut self, group: &Group) -> u32 {
        let alive = group.among(|port| !self.down.contains(&port)).components;
        let (first, count) = (self.components.len() as u32, alive.len() as u32);
        let whole = alive.iter().map(|component| component.weight).sum();
        self.components.extend(alive);
        if count == 1 {
            return first;
        }
        self.ways.push(Ways { first, count, whole });
        MANY + self.ways.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests;
