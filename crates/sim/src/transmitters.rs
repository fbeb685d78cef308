//! The state of priority flow control at the transmitters of a domain: pauses received and sent, and their effect on
//! open flows. None exists while no class pauses. Must not depend on events or nodes.

use std::collections::VecDeque;

use weft_core::record::FlowPauses;
use weft_core::{Class, Rate, Span, Time};
use weft_plan::{Setup, Storm};
use weft_switch::pause::{Holds, PauseFrame};
use weft_topology::Node;

/// The transmitters of a domain, by link. None exists while no class pauses.
pub(crate) struct Pauses {
    pub(crate) links: Vec<Transmitter>,
    /// Classes of all links that are held.
    pub(crate) held: usize,
    pub(crate) tolls: Tolls,
}

/// The pauses a transmitter has received, and those it sends.
pub(crate) struct Transmitter {
    pub(crate) rate: Rate,
    /// Frames that will be obeyed.
    pub(crate) landing: VecDeque<(Time, PauseFrame)>,
    pub(crate) classes: [Stopped; Class::COUNT],
    /// The classes that it holds the far end to, one bit each, and when the frames must be refreshed.
    pub(crate) asked: u8,
    pub(crate) refresh_at: Time,
    /// Whether its host sends a pause storm.
    pub(crate) storm: Option<Storm>,
    /// Frames it has sent, and the number of them that were lost.
    pub(crate) frames: u64,
    pub(crate) lost: u64,
}

/// One class of a transmitter.
#[derive(Default)]
pub(crate) struct Stopped {
    /// Pause by the far end: its uninterrupted start, and its end.
    pub(crate) wanted: bool,
    pub(crate) since: Time,
    pub(crate) until: Time,
    /// Nothing is sent.
    pub(crate) held: bool,
    pub(crate) holds: Holds,
    /// The watchdog acts until then, discarding packets.
    pub(crate) ignored_until: Time,
    pub(crate) discards: bool,
    /// Times it was paused, with the total and the maximum duration.
    pub(crate) times: u64,
    pub(crate) total: Span,
    pub(crate) longest: Span,
    pub(crate) watchdog: u64,
}

impl Stopped {
    /// Accounts for the current pause up to `now`.
    pub(crate) fn count(&mut self, now: Time) {
        let span = now.since(self.since);
        self.total += span;
        self.longest = self.longest.max(span);
    }
}

impl Pauses {
    /// If any class pauses.
    pub(crate) fn new(setup: &Setup) -> Option<Box<Pauses>> {
        let storm = |host| setup.storms.iter().find(|storm| Node::Host(storm.host) == host).copied();
        let transmitter = |link: &weft_topology::Link| Transmitter {
            rate: link.rate,
            landing: VecDeque::new(),
            classes: Default::default(),
            asked: 0,
            refresh_at: Time::NEVER,
            storm: storm(link.from),
            frames: 0,
            lost: 0,
        };
        let links = setup.graph.links().iter().map(transmitter);
        setup.pauses().then(|| Box::new(Pauses { links: links.collect(), held: 0, tolls: Tolls::default() }))
    }
}

impl Transmitter {
    /// The part of the time from `arrived` to `now` during which a queue was held. The next packet to leave must not
    /// have arrived earlier.
    #[inline]
    pub(crate) fn held_during(&mut self, queue: usize, arrived: Time, now: Time) -> Span {
        let holds = &mut self.classes[queue].holds;
        if holds.is_none() { Span::ZERO } else { holds.during(arrived, now) }
    }

    /// Number of pauses, and their duration up to `now`, summed over classes.
    pub(crate) fn paused_so_far(&self, now: Time) -> (u64, Span) {
        let classes = self.classes.iter().filter(|stopped| stopped.times > 0);
        classes.fold((0, Span::ZERO), |(times, total), stopped| {
            let current =
                if stopped.wanted { now.min(stopped.until).since(stopped.since) } else { Span::ZERO };
            (times + stopped.times, total + stopped.total + current)
        })
    }
}

/// The tolls of open flows.
#[derive(Default)]
pub(crate) struct Tolls {
    /// Packets that arrived here, by the receiver's slot.
    pub(crate) arrived: Vec<FlowPauses>,
    /// Senders in this domain, by their slot.
    pub(crate) at_host: Vec<Span>,
}

/// An entry of a list that grows on first use.
pub(crate) fn entry<T: Copy + Default>(list: &mut Vec<T>, place: usize) -> &mut T {
    if place >= list.len() {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}
