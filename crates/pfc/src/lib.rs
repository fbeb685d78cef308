//! Priority flow control (IEEE 802.1Qbb): a port that runs short of room for a class asks the far end of its cable to
//! stop sending it.
//!
//! Memory is charged to the ingress port of a packet, for each class that pauses. Above XOFF a pause frame goes back
//! by the same port; packets that still arrive go into headroom, which [`headroom`] computes; below XON a frame with
//! time 0 lets the far end resume. The driver carries out the frame's effect at the far end: it holds the queue with
//! `Switch::pause` until the pause time has passed.
//!
//! Must not depend on clocks or other switches.

use weft_core::{Bytes, Class, PortId, Rate, Span, choice, settings};

mod blame;
pub mod headroom;
mod holds;

pub use blame::Blame;
pub use holds::Holds;

/// Wire bytes of a pause frame: the minimum Ethernet frame of 64 bytes, preamble and gap.
pub const FRAME: u16 = 84;

/// Bytes that pass during one pause quantum of 512 bit times.
const QUANTUM: Bytes = Bytes(64);

choice! {
    /// The action of the watchdog on a queue that has been paused for too long.
    pub enum WatchdogAction {
        /// It discards the queue's contents and new arrivals.
        Drop = "drop",
        /// It sends despite the pause.
        Forward = "forward",
    }
}

settings! {
    /// Priority flow control (IEEE 802.1Qbb). Off unless a class pauses.
    pub struct PfcSettings {
        /// The lossless classes, by the number of their queue: they pause the sender instead of dropping. Packets of a class
        /// of `switch.queues` or more count as those of the last queue.
        classes: Vec<u32> = Vec::new(),
        /// Static XOFF: an ingress port pauses a class that holds more than this. Absent: dynamic, by `alpha`.
        xoff: Option<Bytes> = None,
        /// Dynamic XOFF: an ingress port pauses a class that holds more than alpha times the free shared memory.
        alpha: f64 [0.0009765625, 1024] = 0.0625,
        /// A paused sender resumes when the class holds this much less than XOFF, and nothing in headroom.
        xon_offset: Bytes = Bytes(3_076),
        /// Memory reserved per port and lossless class for what arrives after XOFF. Absent: computed from cable,
        /// speed, packet size, response time and cells.
        headroom: Option<Bytes> = None,
        /// Time that a transmitter takes to obey a pause frame. Absent: the maximum of IEEE 802.3 annex 31B, such as
        /// 67 quanta of 512 bit times at 10 Gb/s, 118 at 40 Gb/s and 394 at 100 Gb/s.
        response: Option<Span> = None,
        /// Duration of a pause, in quanta of 512 bit times; it is refreshed after half of that.
        quanta: u32 [1, 65535] = 65_535,
        /// A queue paused for this long without interruption is judged stuck (pause storm, deadlock). Absent: no
        /// watchdog. SONiC detects after 100 to 400 ms.
        watchdog: Option<Span> = None,
        /// How long the watchdog acts; absent: twice the detection time.
        watchdog_restore: Option<Span> = None,
        /// The action of the watchdog on the queue while it acts.
        watchdog_action: WatchdogAction = WatchdogAction::Drop,
        /// Interval between searches for ports that wait for each other in a cycle.
        deadlock_every: Span = Span::from_us(100),
    }
}

settings! {
    /// A host whose network card sends endless pause frames for all lossless classes: a fault that spreads.
    pub struct PauseStormSettings {
        /// Name of the host.
        host: String,
        /// When it begins.
        at: Span = Span::ZERO,
        /// When it stops sending pause frames; the last one holds for 65 535 quanta (3.4 ms at 10 Gb/s). Absent:
        /// never.
        until: Option<Span> = None,
    }
}

impl PfcSettings {
    /// Whether any class pauses.
    #[must_use]
    pub fn is_on(&self) -> bool {
        !self.classes.is_empty()
    }

    /// A frame that pauses every class that may be paused.
    #[must_use]
    pub fn stop_all(&self) -> PauseFrame {
        let mut frame = PauseFrame::default();
        self.classes.iter().for_each(|class| frame.set(*class as usize, self.quanta as u16));
        frame
    }

    /// Whether all of a port's `queues` pause, so that no sharing rule limits any of them.
    #[must_use]
    pub fn all_lossless(&self, queues: u32) -> bool {
        self.classes.len() >= queues as usize
    }

    /// The queues that pause, out of this many per port: bit q is queue q.
    #[must_use]
    pub fn lossless(&self, queues: usize) -> u8 {
        self.classes
            .iter()
            .filter(|class| (**class as usize) < queues)
            .fold(0, |mask, class| mask | 1 << class)
    }

    /// Response time of a transmitter of this rate.
    #[must_use]
    pub fn response_at(&self, rate: Rate) -> Span {
        self.response.unwrap_or_else(|| headroom::standard_response(rate))
    }

    /// How long the watchdog acts.
    #[must_use]
    pub fn restore(&self) -> Span {
        self.watchdog_restore.unwrap_or_else(|| self.watchdog.unwrap_or(Span::ZERO) * 2)
    }
}

/// The duration of this many quanta on a link.
#[must_use]
pub fn quanta_time(rate: Rate, quanta: u16) -> Span {
    rate.time_for(QUANTUM * u64::from(quanta))
}

/// A pause frame: the pause time of each class it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseFrame {
    /// Bit c: the frame names class c.
    pub classes: u8,
    /// By class, in quanta of 512 bit times; 0: resume.
    pub quanta: [u16; Class::COUNT],
}

impl PauseFrame {
    /// Sets the pause time of a class, replacing an earlier one.
    pub fn set(&mut self, class: usize, quanta: u16) {
        self.classes |= 1 << class;
        self.quanta[class] = quanta;
    }

    /// The classes it names, with their pause times.
    pub fn iter(self) -> impl Iterator<Item = (usize, u16)> {
        (0..Class::COUNT)
            .filter(move |class| self.classes >> class & 1 == 1)
            .map(move |class| (class, self.quanta[class]))
    }

    /// The classes, one bit each, that the far end must hold after this frame if it held these before.
    #[must_use]
    pub fn asked_after(self, before: u8) -> u8 {
        self.iter()
            .fold(before, |asked, (class, quanta)| asked & !(1 << class) | u8::from(quanta > 0) << class)
    }

    /// Whether it pauses anything.
    #[must_use]
    pub fn stops(self) -> bool {
        self.iter().any(|(_, quanta)| quanta > 0)
    }
}

/// Bytes that a queue holds from a paused sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeldBack {
    /// The ingress port.
    pub from: PortId,
    /// Wire bytes that wait.
    pub bytes: Bytes,
    /// Of these, bytes that may be outside the pool that the limit is about, in headroom or minima.
    pub apart: Bytes,
    /// When the sender may resume.
    pub limit: ResumeLimit,
}

/// The bytes from a port up to which its paused sender may resume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ResumeLimit {
    /// A fixed number.
    Fixed(Bytes),
    /// A multiple of the free part of a pool.
    Dynamic {
        /// The multiple.
        alpha: f64,
        /// The size of the pool.
        pool: Bytes,
        /// Its number within the switch.
        number: u8,
        /// Memory of the port outside the pool, which does not count.
        minimum: Bytes,
        /// The distance between XOFF and XON.
        xon_offset: Bytes,
    },
}

impl ResumeLimit {
    /// The bytes at which the sender may resume while the pool holds `stuck` bytes.
    #[must_use]
    pub fn bytes(&self, stuck: Bytes) -> Bytes {
        match *self {
            ResumeLimit::Fixed(bytes) => bytes,
            ResumeLimit::Dynamic { alpha, pool, minimum, xon_offset, .. } => {
                let share = alpha * pool.0.saturating_sub(stuck.0) as f64;
                minimum + Bytes((share as u64).saturating_sub(xon_offset.0))
            }
        }
    }

    /// The number of the pool, within the switch.
    #[must_use]
    pub fn pool(&self) -> u8 {
        match self {
            ResumeLimit::Fixed(_) => 0,
            ResumeLimit::Dynamic { number, .. } => *number,
        }
    }
}

/// The bytes charged under chip memory management, at ingress and at egress. Both sums equal the bytes stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charges {
    /// Ingress: within minima of classes and ports.
    pub minima: Bytes,
    /// In service pools.
    pub shared: Bytes,
    /// In headroom.
    pub headroom: Bytes,
    /// Egress: within minima of queues.
    pub queue_minima: Bytes,
    /// In service pools.
    pub queue_shared: Bytes,
}

/// How often a port has paused the sender of a class, and its headroom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PauseCounters {
    /// Times that XOFF was crossed.
    pub stops: u64,
    /// Times that XON was reached.
    pub resumes: u64,
    /// Times that a queue of this port caused a port of the switch to pause its sender.
    pub caused: u64,
    /// Packets that arrived here and were dropped because headroom or the share of the input was full.
    pub in_discards: u64,
    /// Peak number of bytes in headroom.
    pub headroom_peak: Bytes,
    /// Headroom set aside.
    pub headroom: Bytes,
}
