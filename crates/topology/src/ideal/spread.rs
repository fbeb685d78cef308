//! The minimum time of a train whose packets may take different paths: a lower bound for any way of spreading them.
//!
//! Between two leaves the links of all shortest paths form stages, and every packet crosses each stage once. The
//! bound is the maximum time that the whole train needs, over the two hosts' links, in order, and over each stage
//! with the rates of its links added. If the paths are equal and their number divides the train evenly, the bound is
//! reached to within a packet per hop.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::pipelined;
use weft_core::{Bytes, Rate, Span};

/// The rate of a link, and its delay with the latency of the switch it leads to.
pub(super) type Hop = (Rate, Span);

/// Maximum number of stages considered; for longer paths only the first ones, which keeps the bound valid.
const STAGES: usize = 8;

/// The paths between two leaves: the different shortest paths, and the total rate of all links at each distance.
#[derive(Clone, Default)]
pub(super) struct Between {
    shape: Shape,
    /// The last results of [`Between::opening`], by kind: nearly all flows request the same.
    openings: [Option<(Ends, Bytes, Span)>; 2],
}

/// What the times of flows between two leaves depend on.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Shape {
    /// The hops of all paths, one path behind the other, the fastest first.
    hops: Vec<Hop>,
    paths: usize,
    stages: [Rate; STAGES],
    /// The number of stages, which is that of the hops of each path.
    length: usize,
    /// Whether some stage has several links.
    spreads: bool,
}

impl Shape {
    fn paths(&self) -> impl Iterator<Item = &[Hop]> {
        (0..self.paths).map(|number| &self.hops[number * self.length..][..self.length])
    }
}

/// A packet that opens a connection.
#[derive(Clone, Copy)]
pub(super) enum Opening {
    Syn,
    SynAck,
}

/// The links of the two hosts, the first with the latency of its switch.
pub(super) type Ends = [(Rate, Span); 2];

/// A train: the number of packets, the size of each but the last, the size of the last.
pub(super) type Packets = (u64, Bytes, Bytes);

impl Between {
    /// Two hosts at one leaf: a path without links.
    pub(super) fn at_one_leaf() -> Between {
        Between { shape: Shape { paths: 1, ..Shape::default() }, ..Between::default() }
    }

    /// Forgets everything but the memory.
    pub(super) fn clear(&mut self) {
        let mut hops = std::mem::take(&mut self.shape.hops);
        hops.clear();
        *self = Between { shape: Shape { hops, ..Shape::default() }, ..Between::default() };
    }

    /// Whether all flows between these leaves take as long as between others.
    pub(super) fn is_like(&self, other: &Between) -> bool {
        self.shape == other.shape
    }

    /// A number that is the same for leaves that are [alike](Between::is_like).
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.shape.hash(&mut hasher);
        hasher.finish()
    }

    /// A path over all stages; the fastest comes first.
    pub(super) fn add_path(&mut self, path: &[Hop]) {
        self.shape.hops.extend_from_slice(path);
        self.shape.paths += 1;
    }

    /// The next stage: its links, and their rates added.
    pub(super) fn add_stage(&mut self, links: usize, rate: Rate) {
        let Shape { stages, length, spreads, .. } = &mut self.shape;
        if let Some(stage) = stages.get_mut(*length) {
            *stage = rate;
        }
        *length += 1;
        *spreads |= links > 1;
    }

    /// The minimum time of a packet that opens a connection; zero if there is no path.
    pub(super) fn opening(&mut self, ends: Ends, (size, kind): (Bytes, Opening)) -> Span {
        match self.openings[kind as usize] {
            Some((known, bytes, time)) if (known, bytes) == (ends, size) => time,
            _ => {
                let time = self.alone(ends, size).unwrap_or(Span::ZERO);
                self.openings[kind as usize] = Some((ends, size, time));
                time
            }
        }
    }

    /// The minimum time on one path; `None`: there is no path.
    pub(super) fn on_one_path(&self, [first, last]: Ends, train: Packets) -> Option<Span> {
        let over = |path: &[Hop]| pipelined([&first].into_iter().chain(path).chain([&last]), train);
        self.shape.paths().map(over).min()
    }

    /// The minimum time on all paths together; `None`: there is no path.
    pub(super) fn on_all_paths(&self, ends: Ends, train: Packets) -> Option<Span> {
        let (count, full, last) = train;
        if count <= 1 || !self.shape.spreads {
            return self.on_one_path(ends, train);
        }
        let whole = full * (count - 1) + last;
        let stages = self.shape.stages.iter().enumerate().take(self.shape.length);
        let fabric = stages.map(|(stage, rate)| {
            Some(self.first_at(ends, train, stage)? + rate.time_for(whole) + self.leave(ends, last, stage)?)
        });
        fabric.chain([self.between_hosts(ends, train)]).max().flatten()
    }

    /// The minimum time over the links of the two hosts; `None`: there is no path.
    pub(super) fn between_hosts(&self, ends: Ends, train: Packets) -> Option<Span> {
        let (count, full, last) = train;
        if count <= 1 {
            return self.on_one_path(ends, train);
        }
        let [(up, _), (down, delay)] = ends;
        let sent_last = up.time_for(full) * (count - 1) + self.alone(ends, last)?;
        let sent_before = up.time_for(full) * (count - 2) + self.alone(ends, full)?;
        let received = self.first_at(ends, train, self.shape.length)?
            + down.time_for(full) * (count - 1)
            + down.time_for(last)
            + delay;
        Some(sent_last.max(sent_before).max(received))
    }

    /// When the first packet of a train can reach a stage; the short last one may overtake the others.
    fn first_at(&self, ends: Ends, (count, full, last): Packets, stage: usize) -> Option<Span> {
        let overtaking = ends[0].0.time_for(full) * (count - 1) + self.reach(ends, last, stage)?;
        Some(overtaking.min(self.reach(ends, full, stage)?))
    }

    /// The minimum time of one packet.
    fn alone(&self, ends: Ends, size: Bytes) -> Option<Span> {
        self.on_one_path(ends, (1, size, size))
    }

    /// Time from the start of a packet at its host until it can leave the switch before this stage.
    fn reach(&self, [(up, delay), _]: Ends, size: Bytes, stage: usize) -> Option<Span> {
        let before = self.shape.paths().map(|path| crossed(&path[..stage], size)).min();
        before.map(|before| up.time_for(size) + delay + before)
    }

    /// Time from the end of a packet's transmission in this stage until it has arrived.
    fn leave(&self, [_, (down, delay)]: Ends, size: Bytes, stage: usize) -> Option<Span> {
        let after = self.shape.paths().map(|path| path[stage].1 + crossed(&path[stage + 1..], size)).min();
        after.map(|after| after + down.time_for(size) + delay)
    }
}

/// The time of a packet over these links.
fn crossed(path: &[(Rate, Span)], size: Bytes) -> Span {
    path.iter().map(|&(rate, delay)| rate.time_for(size) + delay).sum()
}
