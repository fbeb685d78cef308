//! What priority flow control has done in a run, and the numbers that sum it up.

use super::RunRecord;
use crate::ids::LinkId;
use crate::units::{Bytes, Span, Time};

/// Priority flow control at one end of a cable, for one class. What it was told: `stopped` to `watchdog`. What it has told
/// the far end: `asked` to `headroom_peak`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PauseRecord {
    /// The direction of the cable that this end sends on.
    pub link: LinkId,
    /// Priority class.
    pub class: u8,
    /// Times it was stopped; a pause that is refreshed in time counts once.
    pub stopped: u64,
    /// For how long in all.
    pub paused: Span,
    /// The longest pause without a break.
    pub longest: Span,
    /// Times its watchdog took it for stuck.
    pub watchdog: u64,
    /// Times it asked the far end to stop (XOFF).
    pub asked: u64,
    /// Times it let the far end go on (XON).
    pub resumed: u64,
    /// Memory set aside for what arrives after XOFF.
    pub headroom: Bytes,
    /// The most that was used of it.
    pub headroom_peak: Bytes,
    /// Pause frames sent by this end, for all classes together, refreshments included. The link's own counts leave them
    /// out.
    pub frames: u64,
    /// Of these, lost on the way.
    pub frames_lost: u64,
}

/// Ports that waited for each other in a circle: nothing moves there until a watchdog acts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadlockRecord {
    /// When it was first seen; it may be older by the interval of looking.
    pub first: Time,
    /// When it was last seen.
    pub last: Time,
    /// Priority class.
    pub class: u8,
    /// The paused directions of cables; the packets of each wait for the next, those of the last for the first.
    pub links: Vec<LinkId>,
}

/// The numbers that sum up the pauses of a run: name, unit and meaning, in the order of [`RunRecord::pause_measures`].
pub const PAUSE_MEASURES: [(&str, &str, &str); 9] = [
    ("stops", "", "times that a sender was paused; a pause that is refreshed in time counts once"),
    ("time", "us", "time paused, over all senders and classes together"),
    ("longest", "us", "longest pause without a break"),
    ("host_stops", "", "times that a host was paused"),
    ("host_time", "us", "time paused, over all hosts together"),
    ("frames", "", "pause frames sent, refreshments included"),
    ("headroom", "", "the most that was used of the headroom of a port, as a share of it"),
    ("watchdog", "", "times that a watchdog took a queue for stuck"),
    ("deadlocks", "", "circles of ports that waited for each other"),
];

impl RunRecord {
    /// The numbers that sum up the pauses of the run: see [`PAUSE_MEASURES`].
    #[must_use]
    pub fn pause_measures(&self) -> [f64; PAUSE_MEASURES.len()] {
        let is_host =
            |pause: &&PauseRecord| self.nodes[self.links[pause.link.index()].from as usize].tier == 0;
        let hosts = || self.pauses.iter().filter(is_host);
        let longest = self.pauses.iter().map(|pause| pause.longest).max().unwrap_or(Span::ZERO);
        let share = |pause: &PauseRecord| pause.headroom_peak.0 as f64 / pause.headroom.0.max(1) as f64;
        // The frames of an end are the same in all its rows, which stand together.
        let ends = self.pauses.chunk_by(|a, b| a.link == b.link);
        [
            self.pauses.iter().map(|pause| pause.stopped).sum::<u64>() as f64,
            self.pauses.iter().map(|pause| pause.paused.micros()).sum(),
            longest.micros(),
            hosts().map(|pause| pause.stopped).sum::<u64>() as f64,
            hosts().map(|pause| pause.paused.micros()).sum(),
            ends.map(|rows| rows[0].frames).sum::<u64>() as f64,
            self.pauses.iter().map(share).fold(0.0, f64::max),
            self.pauses.iter().map(|pause| pause.watchdog).sum::<u64>() as f64,
            self.deadlocks.len() as f64,
        ]
    }

    /// The circles of ports that waited for each other, in words.
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
