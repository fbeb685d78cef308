//! The kernel's routes: all it has for each prefix, of which the best is used.

use std::collections::BTreeMap;

use weft_fib::IpPrefix;
use weft_netlink::{KernelHop, KernelObject, KernelRoute, ObjectTarget, RouteKind};

use crate::control::{ControlState, NextHop};

/// The ports by index of their interface.
type PortsByIndex = BTreeMap<u32, u16>;

/// Own addresses first, then the lowest metric.
type Rank = (bool, u32);

#[derive(Clone, Debug)]
struct KnownRoute {
    route: KernelRoute,
    /// The reading in which it was last mentioned.
    reading: u64,
}

/// See the file's head.
#[derive(Debug, Default)]
pub(super) struct KernelRoutes {
    routes: BTreeMap<IpPrefix, BTreeMap<Rank, KnownRoute>>,
    objects: BTreeMap<u32, ObjectTarget>,
    /// Number of the current reading.
    reading: u64,
}

/// Objects within objects that are followed.
const DEEPEST: u8 = 4;

impl KernelRoutes {
    pub(super) fn begin_reading(&mut self) {
        self.reading += 1;
        self.objects.clear();
    }

    pub(super) fn end_reading(&mut self, state: &mut ControlState, ports: &PortsByIndex) {
        let reading = self.reading;
        let is_old = |known: &KnownRoute| known.reading < reading;
        let old = self.routes.iter().filter(|(_, known)| known.values().any(is_old));
        for prefix in old.map(|(prefix, _)| *prefix).collect::<Vec<_>>() {
            if let Some(known) = self.routes.get_mut(&prefix) {
                known.retain(|_, known| known.reading == reading);
            }
            self.install(state, ports, prefix);
        }
    }

    pub(super) fn change(&mut self, state: &mut ControlState, ports: &PortsByIndex, route: KernelRoute) {
        let (address, length) = route.prefix;
        let Some(prefix) = IpPrefix::around(address, length) else { return };
        let is_of_table = matches!(route.table, KernelRoute::MAIN | KernelRoute::LOCAL);
        if !is_of_table || route.kind == RouteKind::Other || ControlState::is_never_forwarded(prefix) {
            return;
        }
        let rank = (route.table != KernelRoute::LOCAL, route.metric);
        let known = self.routes.entry(prefix).or_default();
        if route.removed {
            let is_empty = known.get_mut(&rank).is_none_or(|known| !known.leave(&route));
            if is_empty {
                known.remove(&rank);
            }
        } else {
            known.insert(rank, KnownRoute { route, reading: self.reading });
        }
        self.install(state, ports, prefix);
    }

    pub(super) fn change_object(
        &mut self,
        state: &mut ControlState,
        ports: &PortsByIndex,
        object: KernelObject,
    ) {
        let KernelObject { removed, number, target } = object;
        let before =
            if removed { self.objects.remove(&number) } else { self.objects.insert(number, target.clone()) };
        if !removed && before.as_ref() == Some(&target) {
            return;
        }
        let uses = |known: &KnownRoute| known.route.object.is_some();
        let users = self.routes.iter().filter(|(_, known)| known.values().any(uses));
        for prefix in users.map(|(prefix, _)| *prefix).collect::<Vec<_>>() {
            self.install(state, ports, prefix);
        }
    }

    /// Gives a prefix the next hops of its best route, or none.
    fn install(&mut self, state: &mut ControlState, ports: &PortsByIndex, prefix: IpPrefix) {
        let best = self.routes.get(&prefix).and_then(|known| known.values().next());
        let Some(KnownRoute { route, .. }) = best else {
            self.routes.remove(&prefix);
            state.remove_route(prefix);
            return;
        };
        let hops = match route.object {
            Some(number) if route.hops.is_empty() => self.hops_of(number, 1, DEEPEST),
            _ => route.hops.clone(),
        };
        let next = match route.kind {
            RouteKind::Local => NextHop::Local,
            RouteKind::Blackhole => NextHop::Blackhole,
            RouteKind::Reject | RouteKind::Other => NextHop::Reject,
            RouteKind::Unicast => {
                let paths = paths(&hops, ports);
                match paths[..] {
                    [] => NextHop::Reject,
                    [(next, _)] => next,
                    _ => {
                        let _ = state.set_shared_route(prefix, &paths);
                        return;
                    }
                }
            }
        };
        // Without room for it, its packets follow a shorter prefix.
        let _ = state.set_route(prefix, next);
    }

    /// The next hops of an object.
    fn hops_of(&self, number: u32, share: u16, depth: u8) -> Vec<KernelHop> {
        match self.objects.get(&number) {
            Some(ObjectTarget::Hop(hop)) => vec![KernelHop { weight: share, ..*hop }],
            Some(ObjectTarget::Group(members)) if depth > 0 => {
                let member = |(number, share): &(u32, u16)| self.hops_of(*number, *share, depth - 1);
                members.iter().flat_map(member).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl KnownRoute {
    /// Takes away the next hops of a route that is removed; returns whether any remain.
    fn leave(&mut self, gone: &KernelRoute) -> bool {
        let before = self.route.hops.len();
        let same =
            |one: &KernelHop, two: &KernelHop| (one.gateway, one.interface) == (two.gateway, two.interface);
        self.route.hops.retain(|hop| !gone.hops.iter().any(|other| same(hop, other)));
        // A message without the next hops of this route means the whole of it.
        !self.route.hops.is_empty() && self.route.hops.len() < before
    }
}

/// The next hops that a router with these ports can use, with their shares: those whose link works, if any does.
fn paths(hops: &[KernelHop], ports: &PortsByIndex) -> Vec<(NextHop, u16)> {
    let any_usable = hops.iter().any(|hop| hop.usable);
    let path = |hop: &KernelHop| {
        let port = *ports.get(&hop.interface)?;
        let next = hop.gateway.map_or(NextHop::Link(port), |gateway| NextHop::Station((port, gateway)));
        Some((next, hop.weight))
    };
    let mut paths: Vec<_> = hops.iter().filter(|hop| hop.usable || !any_usable).filter_map(path).collect();
    paths.sort_unstable();
    paths
}
