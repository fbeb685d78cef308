//! The `[switch]` section of a scenario.

use weft_core::{Bytes, Class, Span, choice, settings};

use crate::order::OrderSettings;
use crate::schedule::SchedulerSettings;
use crate::share::SharingSettings;
use crate::{ColorSettings, ShaperSettings};
use weft_arbiter::ArbiterSettings;
use weft_buffer::trim::TrimSettings;
use weft_mark::MarkerSettings;
use weft_pfc::PfcSettings;
use weft_voq::VoqSettings;

/// Overrides of one port.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PortSettings {
    /// Its congestion marks.
    pub ecn: MarkerSettings,
    /// The scheduler: which of its queues is served next.
    pub schedule: SchedulerSettings,
    /// Limit of each of its queues, whatever the sharing rule allows.
    pub queue_limit: Option<Bytes>,
    /// Shaper of its sending rate.
    pub shaper: Option<ShaperSettings>,
    /// Its early drops of red packets.
    pub color: ColorSettings,
}

choice! {
    /// When a packet becomes visible in the queue lengths that a balancer reads.
    pub enum Visibility {
        /// To its own engine at once, to others after the time an engine has for one packet, F/M of a full-size
        /// packet at line rate: one engine sees all decisions, M engines share one snapshot (the default).
        EngineSlot = "engine-slot",
        /// After the time to receive the packet once more, L/C at the ingress rate, for any number of engines.
        Store = "store",
        /// At once: the upper bound on performance.
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
    /// The queue of a class.
    #[must_use]
    pub fn queue_of(&self, class: Class) -> usize {
        let own = usize::from(class.0);
        let queue = self.class_map.get(own).map_or(own, |queue| *queue as usize);
        queue.min(self.queues.saturating_sub(1) as usize)
    }

    /// Minimum time from a packet's last bit in to its first bit out: across a fabric, with credit at hand.
    #[must_use]
    pub fn transit(&self) -> Span {
        self.latency + self.voq.as_ref().map_or(Span::ZERO, |voq| voq.crossing)
    }
}

settings! {
    /// Settings of every switch of the fabric.
    pub struct SwitchSettings {
        /// Packet memory of the whole switch, shared by all ports. Required by dynamic sharing; with static sharing
        /// an additional limit over all ports.
        buffer: Option<Bytes> = None,
        /// Memory is handed out in cells of this size: a packet occupies whole ones, and limits, marks and pauses
        /// count them. By the byte unless given.
        cell: Option<Bytes> = None,
        /// How the memory is divided among the queues.
        sharing: SharingSettings = SharingSettings::default(),
        /// Forwarding engines that decide independently (F). Input port i belongs to engine i mod F.
        engines: u32 [1, 1024] = 1,
        /// When a decision becomes visible in queue lengths; matters only to load-aware balancers.
        visibility: Visibility = Visibility::EngineSlot,
        /// Whether the packet in transmission counts towards the load of its port.
        count_in_service: bool = true,
        /// Which classes count towards the load of a port; matters only with several queues.
        class_load: ClassLoad = ClassLoad::AtOrAbove,
        /// Time from the last bit in to the forwarding decision.
        latency: Span = Span::from_ns(500),
        /// Queues per port; without `class_map`, a packet of class c goes to queue min(c, queues - 1).
        queues: u32 [1, 8] = 1,
        /// The queue of each class, as maps of code points and priorities to traffic classes give it: entry c is that of
        /// class c. A class beyond the list goes to queue min(c, queues - 1). Lossless classes (`pfc`) are named by queue.
        class_map: Vec<u32> = Vec::new(),
        /// The priority group of each queue, as maps of traffic classes to priority groups give it: entry q is the number of
        /// the group of queue q; a queue beyond the list has its own number. Queues of one group share XOFF and headroom at
        /// each input (with `sharing.mmu` also minimum and limit), and the group pauses all of them together.
        group_map: Vec<u32> = Vec::new(),
        /// The scheduler: which queue of a port is served next.
        schedule: SchedulerSettings = SchedulerSettings::default(),
        /// The order within a queue: which packet is sent next, and which is dropped when there is no room.
        order: OrderSettings = OrderSettings::default(),
        /// Congestion marks; off unless given.
        ecn: MarkerSettings = MarkerSettings::default(),
        /// Priority flow control; off unless classes are given.
        pfc: PfcSettings = PfcSettings::default(),
        /// Trimming packets to their headers where a queue is full; off unless a queue length is given.
        trim: TrimSettings = TrimSettings::default(),
        /// Early drops of packets that their transport can spare; off unless a threshold is given.
        color: ColorSettings = ColorSettings::default(),
        /// Which flows may send over a link, and at what rate; off unless given. Needed by transports that are scheduled by switches.
        arbiter: ArbiterSettings = ArbiterSettings::default(),
        /// Virtual output queues in front of a fabric, with credits and deep memory, instead of queues behind it; off unless given.
        voq: Option<VoqSettings> = None,
    }
}
