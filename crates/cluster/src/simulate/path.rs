//! Where a packet goes next in the simulated cluster.

use super::{ModelPacket, Running};
use crate::director::ClusterPath;
use crate::shape::FlyHop;
use crate::station::{ClusterPhase, ClusterStation, RelayMove};
use crate::traffic::ClusterArrival;

impl Running<'_> {
    /// The next node in a mesh, or the node itself where the packet leaves; `None` if its output is down.
    pub(super) fn next_in_mesh(&mut self, node: u16, packet: u32, held: ModelPacket) -> Option<u16> {
        if held.visited > 1 {
            return match held.station.next(node as u8, held.from as u8) {
                RelayMove::Out => Some(node),
                RelayMove::To(to) => {
                    let director = &mut self.nodes[usize::from(node)].director;
                    director.load(self.now, to.into(), held.arrival.size);
                    self.outcome.relayed += 1;
                    Some(to.into())
                }
                RelayMove::Astray => unreachable!("an input addressed a packet wrongly"),
            };
        }
        let ClusterArrival { flow, to, size, .. } = held.arrival;
        let path = self.nodes[usize::from(node)].director.choose(self.now, flow, to, size);
        let (next, phase) = match path {
            ClusterPath::Here => (node, ClusterPhase::Second),
            ClusterPath::Direct => (to, ClusterPhase::Second),
            ClusterPath::Via(relay) => (relay, ClusterPhase::First),
            ClusterPath::Lost => return None,
        };
        self.packets[packet as usize].station = ClusterStation { node: to as u8, phase };
        Some(next)
    }

    /// The next node in an n-fly, or the node itself where the packet leaves; `None` if every way meets a node that is known to be down.
    pub(super) fn next_in_fly(&mut self, node: u16, held: ModelPacket) -> Option<u16> {
        let ClusterArrival { flow, to, size, .. } = held.arrival;
        match self.model.shape.hop(node, to, held.visited == 1) {
            FlyHop::Out => Some(node),
            FlyHop::To(next) => {
                self.outcome.relayed += 1;
                Some(next)
            }
            FlyHop::Spread => {
                let (shape, own) = (self.model.shape, &mut self.nodes[usize::from(node)]);
                let down = &own.down;
                let meets = |digit| shape.way(shape.after(node, digit), to).any(|one| down.contains(&one));
                let leads = |digit| down.is_empty() || !meets(digit);
                let digit = own.director.spread(self.now, (flow, size), leads)?;
                Some(shape.after(node, digit))
            }
        }
    }
}
