//! The `[switch]` section of a scenario.

use weft_core::{Bytes, Span, choice, settings};

use crate::order::OrderSettings;
use crate::pause::PfcSettings;
use crate::schedule::SchedulerSettings;
use crate::share::SharingSettings;
use crate::trim::TrimSettings;
use crate::{ColorSettings, ShaperSettings};
use weft_mark::MarkerSettings;
use weft_voq::VoqSettings;

/// What one port does in a way of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortSettings {
    /// Its congestion marks.
    pub ecn: MarkerSettings,
    /// Which of its queues is served next.
    pub schedule: SchedulerSettings,
    /// The most that each of its queues may hold, whatever the sharing rule allows.
    pub queue_limit: Option<Bytes>,
    /// What limits the rate at which it sends.
    pub shaper: Option<ShaperSettings>,
    /// Its early drops of red packets.
    pub color: ColorSettings,
}

choice! {
    /// When a packet shows up in the queue lengths that a balancer reads.
    pub enum Visibility {
        /// To its own engine at once, to others after the time an engine may take for one packet, F/M of a full-size packet at line rate: one engine sees all decisions, M engines share one snapshot (the default).
        EngineSlot = "engine-slot",
        /// After the packet has been received entirely once more, L/C at the ingress rate, whatever the number of engines.
        Store = "store",
        /// At once: the upper bound of performance.
        Instant = "instant",
    }
}

choice! {
    /// Which classes count towards the load of a port.
    pub enum ClassLoad {
        /// Those served at equal or higher priority than the packet's own class.
        AtOrAbove = "at-or-above",
        /// All classes of the port.
        All = "all",
    }
}

impl SwitchSettings {
    /// The least time from a packet's last bit in to its first bit out: across a fabric, with credit at hand.
    #[must_use]
    pub fn transit(&self) -> Span {
        self.latency + self.voq.as_ref().map_or(Span::ZERO, |voq| voq.crossing)
    }
}

settings! {
    /// What every switch of the fabric is built like.
    pub struct SwitchSettings {
        /// Packet memory of the whole switch, shared by all ports. Needed by dynamic sharing; with static sharing an additional limit over all ports.
        buffer: Option<Bytes> = None,
        /// Memory is handed out in cells of this size: a packet occupies whole ones, and limits, marks and pauses count them. By the byte unless given.
        cell: Option<Bytes> = None,
        /// How the memory is divided among the queues.
        sharing: SharingSettings = SharingSettings::default(),
        /// Forwarding engines that decide independently (F). Input port i belongs to engine i mod F.
        engines: u32 [1, 1024] = 1,
        /// When a decision becomes visible in queue lengths; matters to load-aware balancers only.
        visibility: Visibility = Visibility::EngineSlot,
        /// Whether the packet in transmission counts towards the load of its port.
        count_in_service: bool = true,
        /// Which classes count towards the load of a port; matters with several queues only.
        class_load: ClassLoad = ClassLoad::AtOrAbove,
        /// Time from the last bit in to the forwarding decision.
        latency: Span = Span::from_ns(500),
        /// Queues per port; a packet of class c goes to queue min(c, queues - 1).
        queues: u32 [1, 8] = 1,
        /// Which queue of a port is served next.
        schedule: SchedulerSettings = SchedulerSettings::default(),
        /// Which packet of a queue goes next, and which is dropped when there is no room.
        order: OrderSettings = OrderSettings::default(),
        /// Congestion marks; off unless given.
        ecn: MarkerSettings = MarkerSettings::default(),
        /// Priority flow control; off unless classes are named.
        pfc: PfcSettings = PfcSettings::default(),
        /// Cutting packets down to their headers where a queue is full; off unless a queue is given.
        trim: TrimSettings = TrimSettings::default(),
        /// Early drops of packets that their transport can do without; off unless a threshold is given.
        color: ColorSettings = ColorSettings::default(),
        /// Virtual output queues in front of a fabric, with credits and deep memory, instead of queues behind it; off unless given.
        voq: Option<VoqSettings> = None,
    }
}
