//! Which queues make a switch pause its senders. A queue that grows because it is held by the far end only passes on
//! congestion from elsewhere; congestion starts at queues that grow without being held. Must not depend on limits: it
//! is notified when a sender is paused.
//!
//! A backlog of a queue lasts from the packet that finds it empty until it is empty again. It is the queue's own
//! while the queue has not been held during it. When the sender behind a port is paused in the classes of a priority
//! group, the causes are the queues whose backlog is their own and that hold at least half as many of this port's bytes
//! in these classes as the queue that holds the most. They count as congested until they are empty.

use weft_core::{Class, PortId};

/// The state of a queue of an output port.
#[derive(Clone, Copy, Debug, Default)]
struct Backlog {
    /// Bytes in the queue, if it is lossless.
    bytes: u64,
    held: bool,
    /// Whether it has been held since it was last empty.
    inherited: bool,
    congested: bool,
    /// Times it has caused a stop.
    stops: u64,
}

impl Backlog {
    /// Whether the queue's state must be reset when it becomes empty.
    fn is_marked(self) -> bool {
        self.inherited || self.congested
    }
}

/// See the file's head.
#[derive(Clone, Debug)]
pub struct Blame {
    /// Bytes by lossless queue, port of entry, and port of exit.
    bytes: Vec<u64>,
    /// By port, then queue.
    backlogs: Vec<Backlog>,
    /// Number of marked backlogs.
    marked: usize,
    /// By queue: the number of lossless queues before it.
    before: [u8; Class::COUNT],
    ports: usize,
    queues: usize,
}

impl Blame {
    /// The state of an empty switch; bit q of `lossless`: queue q pauses.
    pub fn new(ports: usize, queues: usize, lossless: u8) -> Blame {
        let before = |queue: usize| (lossless & ((1_u8 << queue) - 1)).count_ones() as u8;
        Blame {
            bytes: vec![0; lossless.count_ones() as usize * ports * ports],
            backlogs: vec![Backlog::default(); ports * queues],
            marked: 0,
            before: std::array::from_fn(before),
            ports,
            queues,
        }
    }

    /// The index of the bytes from a port in a lossless queue.
    #[inline]
    fn row(&self, from: PortId, queue: usize) -> usize {
        (usize::from(self.before[queue]) * self.ports + from.index()) * self.ports
    }

    #[inline]
    fn backlog(&mut self, (port, queue): (PortId, usize)) -> &mut Backlog {
        &mut self.backlogs[port.index() * self.queues + queue]
    }

    /// Changes the state of a queue.
    fn change(&mut self, (port, queue): (PortId, usize), change: impl FnOnce(&mut Backlog)) {
        let backlog = &mut self.backlogs[port.index() * self.queues + queue];
        self.marked -= usize::from(backlog.is_marked());
        change(backlog);
        self.marked += usize::from(backlog.is_marked());
    }

    /// Called when a packet of a lossless class joins a queue.
    #[inline]
    pub fn stored(&mut self, from: PortId, at: (PortId, usize), wire: u16) {
        let place = self.row(from, at.1) + at.0.index();
        self.bytes[place] += u64::from(wire);
        self.backlog(at).bytes += u64::from(wire);
    }

    /// The packet has left.
    #[inline]
    pub fn released(&mut self, from: PortId, at: (PortId, usize), wire: u16) {
        let place = self.row(from, at.1) + at.0.index();
        self.bytes[place] -= u64::from(wire);
        let backlog = self.backlog(at);
        backlog.bytes -= u64::from(wire);
        if backlog.bytes == 0 && backlog.is_marked() {
            self.is_empty(at);
        }
    }

    /// Called when a marked queue has become empty.
    #[inline(never)]
    fn is_empty(&mut self, at: (PortId, usize)) {
        self.change(at, |backlog| {
            backlog.congested = false;
            backlog.inherited = backlog.held;
        });
    }

    /// Called when the far end holds or releases a queue.
    pub fn hold(&mut self, at: (PortId, usize), held: bool) {
        self.change(at, |backlog| {
            backlog.held = held;
            backlog.inherited = held || backlog.inherited && backlog.bytes > 0;
        });
    }

    /// Called when the sender behind a port is paused in the lossless classes of a priority group.
    pub fn stopped(&mut self, from: PortId, classes: impl Iterator<Item = usize> + Clone) {
        let row = |queue| self.row(from, queue)..self.row(from, queue) + self.ports;
        let most = classes.clone().flat_map(|queue| &self.bytes[row(queue)]).copied().max().unwrap_or(0);
        for queue in classes {
            (0..self.ports).for_each(|port| self.judge(from, (PortId(port as u16), queue), most));
        }
    }

    /// Marks a queue as a cause of a stop if its backlog is its own and at least half of the longest.
    fn judge(&mut self, from: PortId, at: (PortId, usize), most: u64) {
        let bytes = self.bytes[self.row(from, at.1) + at.0.index()];
        if bytes > 0 && 2 * bytes >= most && !self.backlog(at).inherited {
            self.change(at, |backlog| {
                backlog.congested = true;
                backlog.stops += 1;
            });
        }
    }

    /// Whether any queue is marked.
    #[inline]
    pub fn is_any_marked(&self) -> bool {
        self.marked > 0
    }

    /// Whether a queue has made the switch pause a sender since it was last empty.
    pub fn is_congested(&self, (port, queue): (PortId, usize)) -> bool {
        self.backlogs[port.index() * self.queues + queue].congested
    }

    /// Number of times that a queue has caused a stop.
    pub fn stops(&self, (port, queue): (PortId, usize)) -> u64 {
        self.backlogs[port.index() * self.queues + queue].stops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUE: usize = 3;

    fn at(port: u16) -> (PortId, usize) {
        (PortId(port), QUEUE)
    }

    /// Three ports; packets of 1000 bytes arrive by port 0, a given number for each port.
    fn filled(packets: [u16; 3]) -> Blame {
        let mut blame = Blame::new(3, 4, 0b1010);
        for (port, count) in packets.into_iter().enumerate() {
            (0..count).for_each(|_| blame.stored(PortId(0), at(port as u16), 1_000));
        }
        blame
    }

    fn congested(blame: &Blame) -> [bool; 3] {
        [0, 1, 2].map(|port| blame.is_congested(at(port)))
    }

    #[test]
    fn the_longest_queue_and_those_half_as_long_have_caused_a_stop() {
        let mut blame = filled([1, 6, 3]);
        // Packets that entered by another port, or in another class, do not matter.
        (0..20).for_each(|_| blame.stored(PortId(2), at(0), 1_000));
        for from in [PortId(0), PortId(1)] {
            (0..20).for_each(|_| blame.stored(from, (PortId(0), 1), 1_000));
        }
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert_eq!(congested(&blame), [false, true, true]);
        assert!(!blame.is_congested((PortId(0), 1)) && !blame.is_congested((PortId(1), 1)));
        let mut blame = filled([1, 7, 3]);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert_eq!(congested(&blame), [false, true, false]);
        assert_eq!([0, 1, 2].map(|port| blame.stops(at(port))), [0, 2, 0]);
    }

    #[test]
    fn a_queue_is_congested_until_it_is_empty() {
        let mut blame = filled([0, 2, 0]);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        blame.released(PortId(0), at(1), 1_000);
        assert!(blame.is_congested(at(1)));
        blame.released(PortId(0), at(1), 1_000);
        assert!(!blame.is_congested(at(1)));
    }

    #[test]
    fn a_backlog_in_which_the_queue_was_held_is_not_its_own() {
        let mut blame = filled([0, 2, 0]);
        blame.hold(at(1), true);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        blame.hold(at(1), false);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert!(!blame.is_congested(at(1)), "it was held, and what it holds stems from that");
        (0..2).for_each(|_| blame.released(PortId(0), at(1), 1_000));
        blame.stored(PortId(0), at(1), 1_000);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert!(blame.is_congested(at(1)), "since then it was empty");
    }

    #[test]
    fn a_hold_that_meets_an_empty_queue_counts_while_it_lasts() {
        let mut blame = filled([0, 1, 0]);
        blame.hold(at(1), true);
        blame.released(PortId(0), at(1), 1_000);
        blame.stored(PortId(0), at(1), 1_000);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert!(!blame.is_congested(at(1)), "it is held still");
        blame.released(PortId(0), at(1), 1_000);
        blame.hold(at(1), false);
        blame.stored(PortId(0), at(1), 1_000);
        blame.stopped(PortId(0), [QUEUE].into_iter());
        assert!(blame.is_congested(at(1)));
    }
}
