//! The minimum time of a train whose packets may take different paths: a lower bound for any way of spreading them.
//!
//! Between two leaves the links of all shortest paths form stages, and every packet crosses each stage once. The
//! bound is the maximum time that the whole train needs, over the two hosts' links, in order, and over each stage
//! with the rates of its links added. If the paths are equal and their number divides the train evenly, the bound is
//! reached to within a packet per hop.

use super::{Path, pipelined};
use weft_core::{Bytes, Rate, Span};

/// Maximum number of stages considered; for longer paths only the first ones, which keeps the bound valid.
const STAGES: usize = 8;

/// The paths between two leaves: the different shortest paths, and the total rate of all links at each distance.
#[derive(Default)]
pub(super) struct Between {
    pub(super) paths: Vec<Path>,
    stages: [Rate; STAGES],
    /// The number of stages of the paths.
    length: usize,
    /// Whether some stage has several links.
    spreads: bool,
    /// The last results of [`Between::opening`], by kind: nearly all flows request the same.
    openings: [Option<(Ends, Bytes, Span)>; 2],
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
        Between { paths: vec![Path::new()], ..Between::default() }
    }

    /// The next stage: its links, and their rates added.
    pub(super) fn add_stage(&mut self, links: usize, rate: Rate) {
        if let Some(stage) = self.stages.get_mut(self.length) {
            *stage = rate;
        }
        self.length += 1;
        self.spreads |= links > 1;
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
        let over = |path: &Path| pipelined([&first].into_iter().chain(path).chain([&last]), train);
        self.paths.iter().map(over).min()
    }

    /// The minimum time on all paths together; `None`: there is no path.
    pub(super) fn on_all_paths(&self, ends: Ends, train: Packets) -> Option<Span> {
        let (count, full, last) = train;
        if count <= 1 || !self.spreads {
            return self.on_one_path(ends, train);
        }
        let whole = full * (count - 1) + last;
        let stages = self.stages.iter().enumerate().take(self.length);
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
        let received = self.first_at(ends, train, self.length)?
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
        let before = self.paths.iter().map(|path| crossed(&path[..stage], size)).min();
        before.map(|before| up.time_for(size) + delay + before)
    }

    /// Time from the end of a packet's transmission in this stage until it has arrived.
    fn leave(&self, [_, (down, delay)]: Ends, size: Bytes, stage: usize) -> Option<Span> {
        let after = self.paths.iter().map(|path| path[stage].1 + crossed(&path[stage + 1..], size)).min();
        after.map(|after| after + down.time_for(size) + delay)
    }
}

/// The time of a packet over these links.
fn crossed(path: &[(Rate, Span)], size: Bytes) -> Span {
    path.iter().map(|&(rate, delay)| rate.time_for(size) + delay).sum()
}
