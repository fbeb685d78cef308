//! Which links of a cluster are up, as one of its nodes knows.

/// The links of a node, and those of the others.
#[derive(Clone, Debug)]
pub(crate) struct ClusterLinks {
    nodes: u16,
    /// From this node to each other.
    own: Box<[bool]>,
    /// From each node to each other, by the first.
    others: Box<[bool]>,
}

impl ClusterLinks {
    pub(crate) fn all_up(nodes: u16) -> ClusterLinks {
        let count = usize::from(nodes);
        ClusterLinks { nodes, own: vec![true; count].into(), others: vec![true; count * count].into() }
    }

    /// Whether the node's own link to another is up.
    #[inline]
    pub(crate) fn is_up(&self, to: u16) -> bool {
        self.own[usize::from(to)]
    }

    /// Whether the link to `via` is up, and the one from there to the output node `to`, if that is another.
    #[inline]
    pub(crate) fn lead(&self, via: u16, to: u16) -> bool {
        self.is_up(via) && (via == to || self.others[self.place(via, to)])
    }

    fn place(&self, from: u16, to: u16) -> usize {
        usize::from(from) * usize::from(self.nodes) + usize::from(to)
    }

    /// Sets all links to a node.
    pub(crate) fn set_node(&mut self, node: u16, up: bool) {
        self.own[usize::from(node)] = up;
        (0..self.nodes).for_each(|from| self.set(Some(from), node, up));
    }

    /// Sets a link from another node, or from this one.
    pub(crate) fn set(&mut self, from: Option<u16>, to: u16, up: bool) {
        match from {
            Some(from) => self.others[self.place(from, to)] = up,
            None => self.own[usize::from(to)] = up,
        }
    }
}
