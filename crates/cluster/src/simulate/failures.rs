//! Nodes that fail and come back, and what the others know of it.

use super::Running;
use super::node::PortQueue;

impl Running<'_> {
    /// All packets inside a failing node are lost, and so are those that reach it while it is down.
    pub(super) fn fail_or_return(&mut self, node: u16, up: bool) {
        let changed = &mut self.nodes[usize::from(node)];
        changed.up = up;
        changed.life += 1;
        let batched: Vec<(u32, u16)> = changed.ports.iter_mut().flat_map(PortQueue::take_batch).collect();
        batched.into_iter().for_each(|(packet, _)| self.lose(packet, |losses| &mut losses.failure));
        if up {
            let node_before = &mut self.nodes[usize::from(node)];
            self.outcome.count(node.into(), &node_before.director);
            node_before.restart(self.model, node);
        }
    }

    /// All nodes learn that one is down or back; one that is back learns which others are down.
    pub(super) fn tell(&mut self, node: u16, up: bool) {
        let shape = self.model.shape;
        let others = (0..).zip(&mut self.nodes).filter(|(number, _)| *number != node);
        others.for_each(|(_, other)| other.learn(shape, node, up));
        self.down.retain(|one| *one != node);
        if up {
            let back = &mut self.nodes[usize::from(node)];
            self.down.iter().for_each(|other| back.learn(shape, *other, false));
        } else {
            self.down.push(node);
        }
    }
}
