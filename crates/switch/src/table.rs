//! Where packets for a host may go: a port, or a group of equal-cost ports. Knows nothing of how groups are computed.

use std::sync::Arc;

use weft_core::{GroupId, HostId, PortId};

/// The forwarding table of one switch.
#[derive(Clone, Debug)]
pub struct Table {
    /// Leaf of every host; the same for all switches.
    leaf_of_host: Arc<[u16]>,
    /// Port at its leaf of every host; the same for all switches.
    port_of_host: Arc<[PortId]>,
    /// This switch's own leaf number, if it has hosts.
    own_leaf: Option<u16>,
    group_of_leaf: Vec<GroupId>,
    /// The groups as routing computed them.
    installed: Vec<Vec<PortId>>,
    /// The same without the ports that are down here.
    groups: Vec<Vec<PortId>>,
    down: Vec<PortId>,
}

/// Where a packet may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route<'a> {
    /// To a host on this switch.
    Local(PortId),
    /// To one of the ports of a group, which may be empty.
    Group(GroupId, &'a [PortId]),
}

impl Table {
    /// A table from its parts: where hosts live (shared by all switches), and this switch's groups.
    #[must_use]
    pub fn new(
        hosts: (Arc<[u16]>, Arc<[PortId]>),
        own_leaf: Option<u16>,
        group_of_leaf: Vec<GroupId>,
        groups: Vec<Vec<PortId>>,
    ) -> Table {
        Table {
            leaf_of_host: hosts.0,
            port_of_host: hosts.1,
            own_leaf,
            group_of_leaf,
            installed: groups.clone(),
            groups,
            down: Vec::new(),
        }
    }

    /// Looks a destination up.
    #[must_use]
    #[inline]
    pub fn route(&self, destination: HostId) -> Route<'_> {
        let leaf = self.leaf_of_host[destination.index()];
        if Some(leaf) == self.own_leaf {
            return Route::Local(self.port_of_host[destination.index()]);
        }
        let group = self.group_of_leaf[usize::from(leaf)];
        Route::Group(group, &self.groups[group.index()])
    }

    /// The link behind a port went down or came back: it leaves all groups, or returns to those that contain it.
    pub fn set_port(&mut self, port: PortId, up: bool) {
        self.down.retain(|other| *other != port);
        if !up {
            self.down.push(port);
        }
        self.refresh();
    }

    /// Replaces all groups at once: the routing protocol has converged. Ports that are down here stay out.
    pub fn install(&mut self, group_of_leaf: Vec<GroupId>, groups: Vec<Vec<PortId>>) {
        self.group_of_leaf = group_of_leaf;
        self.installed = groups;
        self.refresh();
    }

    /// For each of so many ports whether it leads to another switch.
    pub(crate) fn fabric(&self, ports: usize) -> Vec<bool> {
        let mut fabric = vec![true; ports];
        let hosts = self.leaf_of_host.iter().zip(self.port_of_host.iter());
        for (_, port) in hosts.filter(|(leaf, _)| Some(**leaf) == self.own_leaf) {
            fabric[port.index()] = false;
        }
        fabric
    }

    /// This switch's own leaf number, and the leaf of every host.
    pub(crate) fn leaves(&self) -> (Option<u16>, Arc<[u16]>) {
        (self.own_leaf, Arc::clone(&self.leaf_of_host))
    }

    /// The groups that leave a choice, ports that are down included.
    pub(crate) fn choices(&self) -> impl Iterator<Item = &Vec<PortId>> {
        self.installed.iter().filter(|group| group.len() > 1)
    }

    fn refresh(&mut self) {
        let alive =
            |group: &Vec<PortId>| group.iter().filter(|port| !self.down.contains(port)).copied().collect();
        self.groups = self.installed.iter().map(alive).collect();
    }
}
