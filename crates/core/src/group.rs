//! Equal-cost paths of a switch towards a leaf, as routing computes them and switches use them.
//!
//! Ports whose paths are not symmetric belong to different components: a flow is hashed to one component by weight and
//! balanced within it (DRILL, section 3.4). In a symmetric network a group is one component of all its ports.

use crate::ids::PortId;
use crate::quiver::QuiverSettings;

/// How a balancer wants routing to group equal-cost ports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Grouping {
    /// One component of all ports, in equal shares.
    #[default]
    Together,
    /// One component of all ports; the share of a port is the capacity of the shortest paths that start there.
    Weighted,
    /// A component for each set of symmetric paths.
    Components(QuiverSettings),
}

/// The equal-cost paths towards some leaves. Without components there is no route.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// In the order in which hash values map to them.
    pub components: Vec<Component>,
}

/// Symmetric paths: packets of one flow may be spread over them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component {
    /// Its share of the flows, relative to the other components of the group; at least 1.
    pub weight: u64,
    /// Its ports, ascending. A port may belong to several components if paths diverge beyond it.
    pub ports: Vec<PortId>,
    /// The share of each port, relative to the others of the component; at least 1 each.
    pub shares: Vec<u64>,
}

impl Group {
    /// One component in equal shares; without ports there is no route.
    #[must_use]
    pub fn together(ports: Vec<PortId>) -> Group {
        Group { components: vec![Component::equal(ports)] }.among(|_| true)
    }

    /// The group restricted to the ports that `keep` allows; components without ports are removed.
    #[must_use]
    pub fn among(&self, keep: impl Fn(PortId) -> bool) -> Group {
        let among = self.components.iter().map(|component| component.among(&keep));
        let mut components: Vec<_> = among.filter(|component| !component.ports.is_empty()).collect();
        components.shrink_to_fit();
        Group { components }
    }

    /// All its ports, ascending, each once.
    #[must_use]
    pub fn ports(&self) -> Vec<PortId> {
        let mut ports: Vec<_> =
            self.components.iter().flat_map(|component| &component.ports).copied().collect();
        ports.sort_unstable();
        ports.dedup();
        ports
    }
}

impl Component {
    /// Ports in equal shares, of weight 1.
    #[must_use]
    pub fn equal(ports: Vec<PortId>) -> Component {
        Component { weight: 1, shares: vec![1; ports.len()], ports }
    }

    fn among(&self, keep: &impl Fn(PortId) -> bool) -> Component {
        if self.ports.iter().all(|port| keep(*port)) {
            return self.clone();
        }
        let kept = self.ports.iter().zip(&self.shares).filter(|(port, _)| keep(**port));
        let (ports, shares) = kept.map(|(port, share)| (*port, *share)).unzip();
        Component { weight: self.weight, ports, shares }
    }
}

/// Where 32 hash bits fall among `whole` equal parts: the same for components, weighted ports and equal ports, so
/// that equivalent schemes choose the same port.
#[must_use]
#[inline]
pub fn part(hash: u32, whole: u64) -> u64 {
    ((u128::from(hash) * u128::from(whole)) >> 32) as u64
}

/// The position, among these shares, of the one into which 32 hash bits fall; each in proportion to its size.
///
/// # Panics
/// There is no share, or all are zero.
#[must_use]
pub fn share_of(hash: u32, shares: &[u64]) -> usize {
    let mut rest = part(hash, shares.iter().sum());
    let falls_short = |share: &u64| match rest.checked_sub(*share) {
        Some(less) => {
            rest = less;
            false
        }
        None => true,
    };
    shares.iter().position(falls_short).expect("the part lies below the whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ports: &[u16]) -> Vec<PortId> {
        ports.iter().map(|port| PortId(*port)).collect()
    }

    #[test]
    fn a_component_without_ports_is_gone() {
        let component = |weight, ports: &[u16]| Component {
            weight,
            ports: ids(ports),
            shares: (1..=ports.len() as u64).collect(),
        };
        let group = Group { components: vec![component(3, &[1, 2]), component(5, &[2])] };
        assert_eq!(group.ports(), ids(&[1, 2]));
        let rest = group.among(|port| port != PortId(2));
        assert_eq!(rest, Group { components: vec![component(3, &[1])] });
        assert_eq!(
            group.among(|port| port != PortId(1)).components[0].shares,
            [2],
            "shares follow their ports"
        );
        assert_eq!(Group::together(Vec::new()), Group::default());
    }

    #[test]
    fn shares_are_hit_in_proportion() {
        let hits = |shares: &[u64]| {
            let mut hits = vec![0; shares.len()];
            (0..4000).for_each(|n| hits[share_of(n << 20, shares)] += 1);
            hits
        };
        // 4000 of the 4096 values of the upper bits.
        assert_eq!(hits(&[1, 0, 3]), [1024, 0, 2976]);
        assert_eq!(hits(&[5]), [4000]);
        let equal = |hash| share_of(hash, &[1; 6]) as u64 == part(hash, 6);
        assert!((0..1000).all(|n| equal(n * 4_294_967)));
    }

    #[test]
    fn parts_are_equal() {
        for whole in [1, 3, 7, 1 << 20] {
            assert_eq!(part(0, whole), 0);
            assert_eq!(part(u32::MAX, whole), whole - 1);
        }
        let below = |limit: u64| (limit << 32).div_ceil(7);
        for limit in 1..7 {
            assert_eq!(part(below(limit) as u32, 7), limit);
            assert_eq!(part(below(limit) as u32 - 1, 7), limit - 1);
        }
    }
}
