//! Priority flow control in a run, and the numbers that summarise it.

use super::{FlowRecord, RunRecord};
use crate::ids::LinkId;
use crate::units::{Bytes, Span, Time};

/// Priority flow control at one end of a cable, for one class. Pauses received: `stopped` to `watchdog`. Pauses sent:
/// `asked` to `headroom_peak`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRecord {
    /// The direction of the cable that this end sends on.
    pub link: LinkId,
    /// Priority class.
    pub class: u8,
    /// Times it was stopped; a pause that is refreshed in time counts once.
    pub stopped: u64,
    /// Total time paused.
    pub paused: Span,
    /// The longest uninterrupted pause.
    pub longest: Span,
    /// Times its watchdog judged it stuck.
    pub watchdog: u64,
    /// Times it asked the far end to stop (XOFF).
    pub asked: u64,
    /// Times it let the far end resume (XON).
    pub resumed: u64,
    /// Times that the queue here, while not paused itself, caused a port of this switch to stop its sender.
    pub caused: u64,
    /// Packets that came in here and were dropped because headroom or the input's share of the buffer was full
    /// (In-discards). Each is also among the drops of the port that it was to leave by.
    pub in_discards: u64,
    /// Memory set aside for what arrives after XOFF.
    pub headroom: Bytes,
    /// Peak use of it.
    pub headroom_peak: Bytes,
    /// Pause frames sent by this end, for all classes, including refreshes. The link's own counts exclude them.
    pub frames: u64,
    /// Of these, lost on the way.
    pub frames_lost: u64,
}

impl PauseRecord {
    /// Whether anything happened that a row tells: a pause in either direction, a watchdog, or a discard.
    #[must_use]
    pub fn has_anything(&self) -> bool {
        self.stopped + self.asked + self.watchdog + self.caused + self.in_discards > 0
    }
}

/// The effect of priority flow control on the payload of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPauses {
    /// How long its packets waited in paused switch queues, summed over packets and hops.
    pub held: Span,
    /// Packets that waited so.
    pub packets: u32,
    /// How long its sender waited for its host's paused card.
    pub at_host: Span,
    /// Whether any packet left a queue that had made a switch pause others: the flow is one of the culprits.
    pub congested: bool,
}

impl FlowPauses {
    /// Whether it was held up by pauses that it did not help to cause.
    #[must_use]
    pub fn is_victim(&self) -> bool {
        !self.congested && self.held + self.at_host > Span::ZERO
    }

    /// Adds the effect on more of its packets.
    #[must_use]
    pub fn and(self, other: FlowPauses) -> FlowPauses {
        FlowPauses {
            held: self.held + other.held,
            packets: self.packets + other.packets,
            at_host: self.at_host + other.at_host,
            congested: self.congested || other.congested,
        }
    }
}

/// Counts of a group of flows, such as the victims of pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldGroup {
    /// Flows in the group.
    pub flows: u64,
    /// Of these, finished.
    pub finished: u64,
    /// Sum of the slowdowns of those that finished.
    pub slowdown: f64,
    /// Packets held.
    pub packets: u64,
    /// Sum of the times that packets were held.
    pub held: Span,
    /// Sum of the times that senders waited for their hosts' paused cards.
    pub at_host: Span,
}

/// Measured flows by their role in pauses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldFlows {
    /// Held up by pauses that others caused.
    pub victims: HeldGroup,
    /// Flows that helped to cause pauses.
    pub culprits: HeldGroup,
    /// Flows that were neither.
    pub others: HeldGroup,
}

impl HeldFlows {
    /// Adds a measured flow, with its slowdown if it has finished.
    pub fn add(&mut self, flow: &FlowRecord, slowdown: Option<f64>) {
        let group = match (flow.pauses.congested, flow.pauses.is_victim()) {
            (true, _) => &mut self.culprits,
            (_, true) => &mut self.victims,
            _ => &mut self.others,
        };
        group.flows += 1;
        group.finished += u64::from(slowdown.is_some());
        group.slowdown += slowdown.unwrap_or(0.0);
        group.packets += u64::from(flow.pauses.packets);
        group.held += flow.pauses.held;
        group.at_host += flow.pauses.at_host;
    }

    /// The values of [`HELD_MEASURES`], where available.
    #[must_use]
    pub fn measures(&self) -> [Option<f64>; HELD_MEASURES.len()] {
        let HeldFlows { victims, culprits, others } = self;
        let mean = |group: &HeldGroup| (group.finished > 0).then(|| group.slowdown / group.finished as f64);
        [
            Some(victims.flows as f64),
            Some(victims.packets as f64),
            Some(victims.held.micros()),
            Some(victims.at_host.micros()),
            mean(victims),
            Some(culprits.flows as f64),
            mean(culprits),
            Some(others.flows as f64),
            mean(others),
        ]
    }
}

/// The numbers about flows that were held up: name, unit and meaning, in the order of [`HeldFlows::measures`].
pub const HELD_MEASURES: [(&str, &str, &str); 9] = [
    ("victims", "", "measured flows held up by pauses that they did not cause"),
    ("victims.packets", "packets", "packets of victims that waited in a paused queue"),
    ("victims.held", "us", "how long they waited, summed over packets and hops"),
    ("victims.at_host", "us", "how long paused host cards held victims, summed over flows"),
    ("victims.slowdown", "", "mean slowdown of finished victims"),
    ("culprits", "", "measured flows through a queue that made a switch pause others"),
    ("culprits.slowdown", "", "mean slowdown of these, if finished"),
    ("others", "", "measured flows that are neither"),
    ("others.slowdown", "", "mean slowdown of these, if finished"),
];

/// Ports that waited for each other in a cycle: nothing moves there until a watchdog acts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// When it was first seen; it may be older by up to one detection interval.
    pub first: Time,
    /// When it was last seen.
    pub last: Time,
    /// Priority class.
    pub class: u8,
    /// The paused directions of cables; the packets of each wait for the next, those of the last for the first.
    pub links: Vec<LinkId>,
}

/// The numbers that summarise the pauses of a run: name, unit and meaning, in the order of [`RunRecord::pause_measures`].
pub const PAUSE_MEASURES: [(&str, &str, &str); 9] = [
    ("stops", "", "times that a sender was paused; a pause that is refreshed in time counts once"),
    ("time", "us", "time paused, summed over all senders and classes"),
    ("longest", "us", "longest uninterrupted pause"),
    ("host_stops", "", "times that a host was paused"),
    ("host_time", "us", "time paused, summed over all hosts"),
    ("frames", "", "pause frames sent, refreshments included"),
    ("headroom", "", "peak use of a port's headroom, as a fraction of it"),
    ("watchdog", "", "times that a watchdog judged a queue stuck"),
    ("deadlocks", "", "cycles of ports that waited for each other"),
];

impl RunRecord {
    /// The numbers that summarise the pauses of the run: see [`PAUSE_MEASURES`].
    #[must_use]
    pub fn pause_measures(&self) -> [f64; PAUSE_MEASURES.len()] {
        let is_host =
            |pause: &&PauseRecord| self.nodes[self.links[pause.link.index()].from as usize].tier == 0;
        let hosts = || self.pauses.iter().filter(is_host);
        let longest = self.pauses.iter().map(|pause| pause.longest).max().unwrap_or(Span::ZERO);
        let share = |pause: &PauseRecord| pause.headroom_peak.0 as f64 / pause.headroom.0.max(1) as f64;
        let micros = |of: &mut dyn Iterator<Item = &PauseRecord>| {
            of.fold(Span::ZERO, |sum, pause| sum + pause.paused).micros()
        };
        // all rows of an end hold the same frame count, and are adjacent
        let ends = self.pauses.chunk_by(|a, b| a.link == b.link);
        [
            self.pauses.iter().map(|pause| pause.stopped).sum::<u64>() as f64,
            micros(&mut self.pauses.iter()),
            longest.micros(),
            hosts().map(|pause| pause.stopped).sum::<u64>() as f64,
            micros(&mut hosts()),
            ends.map(|rows| rows[0].frames).sum::<u64>() as f64,
            self.pauses.iter().map(share).fold(0.0, f64::max),
            self.pauses.iter().map(|pause| pause.watchdog).sum::<u64>() as f64,
            self.deadlocks.len() as f64,
        ]
    }

    /// The queues that caused pauses, most frequent first: port and class, and how often.
    #[must_use]
    pub fn causes_of_pauses(&self) -> Vec<(String, u64)> {
        let name = |node: u32| self.nodes[node as usize].name.as_str();
        let mut causes: Vec<&PauseRecord> = self.pauses.iter().filter(|pause| pause.caused > 0).collect();
        causes.sort_by_key(|pause| std::cmp::Reverse(pause.caused));
        let words = |pause: &&PauseRecord| {
            let link = &self.links[pause.link.index()];
            (format!("{} > {}, class {}", name(link.from), name(link.to), pause.class), pause.caused)
        };
        causes.iter().map(words).collect()
    }

    /// The cycles of ports that waited for each other, in words.
    pub fn deadlocks_in_words(&self) -> impl Iterator<Item = String> + '_ {
        let name = |node: u32| self.nodes[node as usize].name.as_str();
        self.deadlocks.iter().map(move |circle| {
            let ends = circle.links.iter().map(|link| name(self.links[link.index()].from));
            let closing = circle.links.first().map(|link| name(self.links[link.index()].from));
            let path: Vec<&str> = ends.chain(closing).collect();
            format!(
                "{} (class {}, seen from {} to {})",
                path.join(" > "),
                circle.class,
                circle.first,
                circle.last
            )
        })
    }
}
