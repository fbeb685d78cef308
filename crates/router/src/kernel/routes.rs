//! The kernel's routes: all that it has for each prefix. The best is used, unless the file has a route of its own for
//! the prefix.

use std::collections::BTreeMap;
use std::net::IpAddr;

use weft_fib::IpPrefix;
use weft_netlink::{KernelHop, KernelObject, KernelRoute, ObjectTarget, RouteKind, RoutePlace};

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
    /// By rank; routes of one rank in the kernel's order. The first is used.
    routes: BTreeMap<IpPrefix, BTreeMap<Rank, Vec<KnownRoute>>>,
    objects: BTreeMap<u32, ObjectTarget>,
    /// Number of the current reading.
    reading: u64,
}

/// Maximum nesting of objects that is followed.
const DEEPEST: u8 = 4;

impl KernelRoutes {
    pub(super) fn begin_reading(&mut self) {
        self.reading += 1;
        self.objects.clear();
    }

    pub(super) fn end_reading(&mut self, state: &mut ControlState, ports: &PortsByIndex) {
        let reading = self.reading;
        let is_old = |known: &KnownRoute| known.reading < reading;
        let old = self.routes.iter().filter(|(_, known)| known.values().flatten().any(is_old));
        for prefix in old.map(|(prefix, _)| *prefix).collect::<Vec<_>>() {
            if let Some(known) = self.routes.get_mut(&prefix) {
                known.retain(|_, list| {
                    list.retain(|known| known.reading == reading);
                    !list.is_empty()
                });
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
        let list = known.entry(rank).or_default();
        if route.removed {
            leave(list, &route);
        } else {
            enter(list, KnownRoute { route, reading: self.reading });
        }
        if list.is_empty() {
            known.remove(&rank);
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
        let users = self.routes.iter().filter(|(_, known)| known.values().flatten().any(uses));
        for prefix in users.map(|(prefix, _)| *prefix).collect::<Vec<_>>() {
            self.install(state, ports, prefix);
        }
    }

    /// Gives a prefix the next hops of its best route, or none.
    fn install(&mut self, state: &mut ControlState, ports: &PortsByIndex, prefix: IpPrefix) {
        let best = self.routes.get(&prefix).and_then(|known| known.values().next()?.first());
        let Some(KnownRoute { route, .. }) = best else {
            self.routes.remove(&prefix);
            if !state.is_fixed(prefix) {
                state.remove_route(prefix);
            }
            return;
        };
        if state.is_fixed(prefix) {
            return;
        }
        let hops = match route.object {
            Some(number) if route.hops.is_empty() => self.hops_of(number, 1, DEEPEST),
            _ => route.hops.clone(),
        };
        let next = match route.kind {
            RouteKind::Local => NextHop::Local,
            RouteKind::Blackhole => NextHop::Blackhole,
            RouteKind::Prohibit => NextHop::Prohibit,
            // Behind `main` comes only the table `default`, which the router does not follow.
            RouteKind::Reject | RouteKind::Throw | RouteKind::Other => NextHop::Reject,
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

/// Inserts a route among those of its rank.
fn enter(list: &mut Vec<KnownRoute>, new: KnownRoute) {
    let known = list.iter().position(|known| is_same(&known.route, &new.route));
    let is_v6 = new.route.prefix.0.is_ipv6();
    match (new.route.place, known) {
        (RoutePlace::Next, _) => {
            known.map(|at| list.remove(at));
            let mentioned = list.iter().take_while(|known| known.reading == new.reading).count();
            list.insert(mentioned, new);
        }
        (RoutePlace::Replaces, Some(at)) => list[at] = new,
        (RoutePlace::Replaces, None) if !list.is_empty() => list[0] = new,
        // IPv6 routes keep their positions, and new ones follow those of their metric.
        (_, Some(at)) if is_v6 => list[at] = new,
        (_, None) if is_v6 => list.push(new),
        (place, _) => {
            known.map(|at| list.remove(at));
            list.insert(if place == RoutePlace::Last { list.len() } else { 0 }, new);
        }
    }
}

/// Removes a route, or some of its next hops, from those of its rank. A message without next hops means the first.
fn leave(list: &mut Vec<KnownRoute>, gone: &KernelRoute) {
    let stays = |hop: &KernelHop| !gone.hops.iter().any(|other| place(hop) == place(other));
    let loses_some = |KnownRoute { route, .. }: &KnownRoute| {
        let left = route.hops.iter().filter(|hop| stays(hop)).count();
        (1..route.hops.len()).contains(&left)
    };
    let alike = |known: &KnownRoute| is_alike(&known.route, gone, place);
    let same = list.iter().position(|known| is_alike(&known.route, gone, |hop| (place(hop), hop.weight)));
    if let Some(at) = same.or_else(|| list.iter().position(alike)) {
        list.remove(at);
    } else if let Some(known) = list.iter_mut().find(|known| loses_some(known)) {
        known.route.hops.retain(stays);
    } else if list.len() == 1 || gone.hops.is_empty() && !list.is_empty() {
        list.remove(0);
    }
}

/// Where a next hop leads.
fn place(hop: &KernelHop) -> (Option<IpAddr>, u32) {
    (hop.gateway, hop.interface)
}

/// Whether two messages are about one route. In IPv4, different shares make a different route; in IPv6 they do not,
/// and next hops are merged.
fn is_same(one: &KernelRoute, other: &KernelRoute) -> bool {
    match one.prefix.0 {
        IpAddr::V4(_) => is_alike(one, other, |hop| (place(hop), hop.weight)),
        IpAddr::V6(_) => is_alike(one, other, place) || is_joined(one, other),
    }
}

/// Whether two routes are of one kind and use the same object, or both use next hops.
fn is_alike<K: Ord>(one: &KernelRoute, other: &KernelRoute, respect: impl Fn(&KernelHop) -> K) -> bool {
    let hops = |route: &KernelRoute| {
        let mut hops: Vec<K> = route.hops.iter().map(&respect).collect();
        hops.sort_unstable();
        hops
    };
    let are_objects = one.object.is_some();
    one.kind == other.kind && one.object == other.object && (are_objects || hops(one) == hops(other))
}

/// Whether the kernel merges both into one IPv6 route with several next hops; then each message has all of them.
fn is_joined(one: &KernelRoute, other: &KernelRoute) -> bool {
    let joins = |route: &KernelRoute| {
        let all_gateways = route.hops.iter().all(|hop| hop.gateway.is_some());
        route.prefix.0.is_ipv6() && route.object.is_none() && !route.hops.is_empty() && all_gateways
    };
    one.kind == other.kind && joins(one) && joins(other)
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
