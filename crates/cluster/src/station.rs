//! The output node of a packet, written into its destination MAC address by the node it enters, so that no other node
//! parses its headers. A network card can place such packets into queues by address alone.

/// Addresses of the cluster: locally administered, then the letters R and B.
const PREFIX: [u8; 4] = [0x02, 0x52, 0x42, 0x00];

/// Maximum number of nodes: one byte of the address.
pub const MOST_NODES: u16 = 256;

/// Which of the two phases of Valiant load balancing a packet is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClusterPhase {
    /// On its way to a relay.
    First,
    /// On its way straight to the output node.
    Second,
}

/// The address of a packet inside the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClusterStation {
    /// The node by whose external port it leaves.
    pub node: u8,
    /// Its phase.
    pub phase: ClusterPhase,
}

/// What a node that is not the input does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelayMove {
    /// It leaves the cluster here.
    Out,
    /// It is passed on, address unchanged, to this node.
    To(u8),
    /// It should not be here: a direct packet for another node, or a relay's own.
    Astray,
}

impl ClusterStation {
    /// The address: `02:52:42:00:nn:ff`, output node and phase.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 6] {
        let phase = match self.phase {
            ClusterPhase::First => 1,
            ClusterPhase::Second => 2,
        };
        [PREFIX[0], PREFIX[1], PREFIX[2], PREFIX[3], self.node, phase]
    }

    /// Parses an address; `None` if it does not belong to a cluster.
    #[must_use]
    pub fn parse(bytes: [u8; 6]) -> Option<ClusterStation> {
        let [a, b, c, d, node, phase] = bytes;
        let phase = match phase {
            1 => ClusterPhase::First,
            2 => ClusterPhase::Second,
            _ => return None,
        };
        ([a, b, c, d] == PREFIX).then_some(ClusterStation { node, phase })
    }

    /// The receive queue that a card filtering by address uses, in a cluster of this many nodes.
    #[must_use]
    pub fn queue(self, nodes: u16) -> u16 {
        u16::from(self.node) + if self.phase == ClusterPhase::Second { nodes } else { 0 }
    }

    /// What node `me` does with a packet that came by the link from node `from`. The address alone decides.
    #[must_use]
    pub fn next(self, me: u8, from: u8) -> RelayMove {
        match self.phase {
            _ if self.node == me => RelayMove::Out,
            // A packet from its own output node, or without a relay ahead, would circulate.
            ClusterPhase::First if self.node != from => RelayMove::To(self.node),
            _ => RelayMove::Astray,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_node_and_phase_and_nothing_else_is_one() {
        for node in [0, 3, 255] {
            for phase in [ClusterPhase::First, ClusterPhase::Second] {
                let station = ClusterStation { node, phase };
                assert_eq!(ClusterStation::parse(station.to_bytes()), Some(station));
            }
        }
        assert_eq!(
            ClusterStation { node: 2, phase: ClusterPhase::Second }.to_bytes(),
            [2, 0x52, 0x42, 0, 2, 2]
        );
        for other in [[0xff; 6], [2, 0x52, 0x42, 0, 1, 0], [2, 0x52, 0x42, 1, 1, 1], [0; 6]] {
            assert_eq!(ClusterStation::parse(other), None);
        }
    }

    #[test]
    fn queues_of_a_card_are_by_node_and_phase() {
        let queue = |node, phase| ClusterStation { node, phase }.queue(4);
        let all: Vec<u16> = [ClusterPhase::First, ClusterPhase::Second]
            .into_iter()
            .flat_map(|phase| (0..4).map(move |node| queue(node, phase)))
            .collect();
        assert_eq!(all, (0..8).collect::<Vec<u16>>());
    }

    #[test]
    fn a_packet_is_relayed_once_and_not_back() {
        let first = ClusterStation { node: 3, phase: ClusterPhase::First };
        assert_eq!(
            (first.next(1, 0), first.next(3, 1), first.next(1, 3)),
            (RelayMove::To(3), RelayMove::Out, RelayMove::Astray)
        );
        let second = ClusterStation { node: 3, phase: ClusterPhase::Second };
        assert_eq!((second.next(3, 0), second.next(1, 0)), (RelayMove::Out, RelayMove::Astray));
    }
}
