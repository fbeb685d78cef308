//! Routes that are wanted, and which of their next hops have a link. Must not depend on tables.

use std::collections::{BTreeMap, BTreeSet};

use weft_fib::IpPrefix;

use super::adjacency::NextHop;

/// See the file's head.
#[derive(Debug, Default)]
pub(super) struct LinkedRoutes {
    wanted: BTreeMap<IpPrefix, Vec<NextHop>>,
    /// Ports whose link is down.
    down: BTreeSet<u16>,
}

impl LinkedRoutes {
    /// Sets the next hops of a prefix.
    pub(super) fn want(&mut self, prefix: IpPrefix, hops: &[NextHop]) {
        self.wanted.insert(prefix, hops.to_vec());
    }

    /// Records that the link of a port is up or down. Returns the prefixes with a next hop there, if that is new.
    pub(super) fn set_link(&mut self, port: u16, up: bool) -> Option<Vec<IpPrefix>> {
        let is_new = if up { self.down.remove(&port) } else { self.down.insert(port) };
        let touched =
            self.wanted.iter().filter(|(_, hops)| hops.iter().any(|hop| link_of(*hop) == Some(port)));
        is_new.then(|| touched.map(|(prefix, _)| *prefix).collect())
    }

    /// The next hops of a prefix that have a link, each with its share.
    pub(super) fn paths(&self, prefix: IpPrefix) -> Vec<(NextHop, u16)> {
        let is_up = |hop: &&NextHop| link_of(**hop).is_none_or(|port| !self.down.contains(&port));
        let hops = self.wanted.get(&prefix).into_iter().flatten().filter(is_up);
        let mut paths: Vec<(NextHop, u16)> = hops.map(|hop| (*hop, 1)).collect();
        paths.sort_unstable();
        paths
    }
}

/// The port whose link a next hop needs.
fn link_of(hop: NextHop) -> Option<u16> {
    match hop {
        NextHop::Link(port) | NextHop::Station((port, _)) => Some(port),
        NextHop::Local
        | NextHop::Reject
        | NextHop::Prohibit
        | NextHop::Blackhole
        | NextHop::Tunnel(_)
        | NextHop::Multipath(_) => None,
    }
}
