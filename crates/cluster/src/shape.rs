//! How the nodes of a cluster are linked: a full mesh, or a k-ary n-fly where a node has too few links for that.
//!
//! The n-fly has ranks of kⁿ nodes. Rank 0 holds the servers with external ports; a packet passes from there through ranks 1
//! to n and back to rank 0. Each hop sets one digit (base k) of the node's place in its rank: the first hop spreads over
//! all k values of the lowest digit, the others set the digits of the output node, highest first.

/// How nodes are linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterShape {
    /// Every node has a link to every other.
    Mesh {
        /// Nodes, all with an external port.
        nodes: u16,
    },
    /// Ranks of nodes, each with links to `arity` nodes of the next rank.
    Fly {
        /// Links to the next rank (k).
        arity: u16,
        /// Ranks of nodes without external ports (n); there are kⁿ external ports.
        ranks: u16,
    },
}

/// Where a packet goes next in an n-fly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlyHop {
    /// To any node of the next rank that is linked.
    Spread,
    /// To this node.
    To(u16),
    /// Out of the external port.
    Out,
}

impl ClusterShape {
    /// External ports.
    #[must_use]
    pub fn ports(self) -> u16 {
        match self {
            ClusterShape::Mesh { nodes } => nodes,
            ClusterShape::Fly { arity, ranks } => arity.pow(ranks.into()),
        }
    }

    /// All nodes, including those without external ports.
    #[must_use]
    pub fn nodes(self) -> u16 {
        match self {
            ClusterShape::Mesh { nodes } => nodes,
            ClusterShape::Fly { ranks, .. } => self.ports() * (ranks + 1),
        }
    }

    /// Nodes over which an input spreads its traffic.
    #[must_use]
    pub fn spread(self) -> u16 {
        match self {
            ClusterShape::Mesh { nodes } => nodes,
            ClusterShape::Fly { arity, .. } => arity,
        }
    }

    /// The nodes to which `node` has links, in the order of its ports.
    #[must_use]
    pub fn neighbours(self, node: u16) -> Vec<u16> {
        match self {
            ClusterShape::Mesh { nodes } => (0..nodes).filter(|other| *other != node).collect(),
            ClusterShape::Fly { arity, .. } => (0..arity).map(|digit| self.after(node, digit)).collect(),
        }
    }

    /// The node of the next rank that has `digit` where this hop sets one.
    #[must_use]
    pub fn after(self, node: u16, digit: u16) -> u16 {
        let ClusterShape::Fly { arity, ranks } = self else { return digit };
        let (rank, place) = (node / self.ports(), node % self.ports());
        let unit = arity.pow(ClusterShape::digit_set_by(rank, ranks).into());
        let place = place - place / unit % arity * unit + digit * unit;
        (rank + 1) % (ranks + 1) * self.ports() + place
    }

    /// Where a packet for output `to` goes from `node`; `entering` if it has just entered there.
    #[must_use]
    pub fn hop(self, node: u16, to: u16, entering: bool) -> FlyHop {
        let ClusterShape::Fly { arity, ranks } = self else { return FlyHop::Spread };
        match node / self.ports() {
            0 if entering => FlyHop::Spread,
            0 => FlyHop::Out,
            rank => {
                let unit = arity.pow(ClusterShape::digit_set_by(rank, ranks).into());
                FlyHop::To(self.after(node, to / unit % arity))
            }
        }
    }

    /// The nodes that a packet for output `to` meets from `first` on, its output included.
    pub fn way(self, first: u16, to: u16) -> impl Iterator<Item = u16> {
        std::iter::successors(Some(first), move |node| match self.hop(*node, to, false) {
            FlyHop::To(next) => Some(next),
            FlyHop::Out | FlyHop::Spread => None,
        })
    }

    /// The digit that the hop from a rank sets: the lowest from rank 0, then the highest, down to the lowest again.
    fn digit_set_by(rank: u16, ranks: u16) -> u16 {
        if rank == 0 { 0 } else { ranks - rank }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_of_a_fly_is_reached_in_as_many_hops_by_each_first_choice() {
        for (arity, ranks) in [(4, 1), (4, 2), (3, 3), (2, 4)] {
            let shape = ClusterShape::Fly { arity, ranks };
            for (from, to) in (0..shape.ports()).flat_map(|from| (0..shape.ports()).map(move |to| (from, to)))
            {
                for digit in 0..arity {
                    let way: Vec<u16> = shape.way(shape.after(from, digit), to).collect();
                    assert!(way.windows(2).all(|hop| shape.neighbours(hop[0]).contains(&hop[1])));
                    let (last, hops) = (way.last(), way.len() as u16);
                    assert_eq!((last, hops), (Some(&to), ranks + 1), "{shape:?} {from} -> {to} by {digit}");
                }
            }
        }
    }

    #[test]
    fn a_fly_has_n_intermediate_servers_per_port() {
        let shape = ClusterShape::Fly { arity: 32, ranks: 2 };
        assert_eq!((shape.ports(), shape.nodes()), (1024, 3072));
        assert_eq!(ClusterShape::Mesh { nodes: 32 }.neighbours(3).len(), 31);
    }
}
