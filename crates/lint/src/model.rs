//! The contents of the files, whatever their format: switches, ports, buffers, marking, maps and hosts, each value with
//! its position. Readers write it and rules read it; neither must depend on the other.

use crate::told::{Coverage, Oddity, Silenced};
use std::collections::{BTreeMap, BTreeSet};
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// Facts about the network that are in no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Round trip between hosts without queueing.
    pub rtt: Option<Span>,
    /// Line rate of hosts, if no port gives it.
    pub rate: Option<Rate>,
    /// Packet memory of a switch.
    pub memory: Option<Bytes>,
    /// Length of cables, if no file gives it.
    pub cable: Option<Metres>,
    /// Size of a cell of packet memory, if the file names no switch whose chip is known.
    pub cell: Option<Bytes>,
}

/// A length. Text form: `40 m` or `40m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

impl std::str::FromStr for Metres {
    type Err = String;

    fn from_str(text: &str) -> Result<Metres, String> {
        let number = text.trim().strip_suffix('m').and_then(|number| number.trim_end().parse::<f64>().ok());
        let sensible = number.filter(|metres| (0.0..=1e6).contains(metres));
        sensible.map(Metres).ok_or_else(|| format!("found `{text}`; allowed: metres, such as \"40 m\""))
    }
}

impl std::fmt::Display for Metres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} m", self.0)
    }
}

/// A case of a scenario's sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaseName {
    /// The swept setting and its value in this case; empty without a sweep.
    pub(crate) label: String,
    /// Number of cases.
    pub(crate) of: usize,
}

/// Everything that is checked together.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// The case of a scenario, if it is one.
    pub(crate) case: Option<CaseName>,
    pub(crate) switches: Vec<SwitchConfig>,
    pub(crate) hosts: Vec<HostConfig>,
    pub(crate) site: Surroundings,
    /// What the readers could not interpret: rule, position, and what is wrong.
    pub(crate) oddities: Vec<Oddity>,
    /// The coverage of each file, in the order of the command line.
    pub(crate) coverage: Vec<(usize, Coverage)>,
    /// Files from which nothing is read although something is read from other files of the device.
    pub(crate) idle_parts: BTreeSet<usize>,
    /// Rules that are silenced in a file.
    pub(crate) silenced: Vec<Silenced>,
    /// Cycles of lossless links that wait for each other, if routes are known.
    pub(crate) circles: Vec<Circle>,
    /// Whether there are too many routes to search for cycles.
    pub(crate) too_large: bool,
    /// Classes of lossy payload served by strict priority.
    pub(crate) strict: Vec<crate::precedence::StrictQueues>,
    /// Thresholds of PIAS.
    pub(crate) demotions: Vec<crate::precedence::Demotion>,
    /// Transports that rely on the order or the path of their packets.
    pub(crate) ordered: Vec<crate::color::OrderedFlows>,
}

/// Links that wait for each other in a cycle under routes that the network has at some time.
#[derive(Debug)]
pub(crate) struct Circle {
    pub(crate) at: Spot,
    /// The switches, in the order of the cycle.
    pub(crate) switches: Vec<String>,
    /// Whether a watchdog eventually breaks it.
    pub(crate) watched: bool,
    /// The routes, in words.
    pub(crate) when: String,
}

/// A switch.
#[derive(Debug, Default)]
pub(crate) struct SwitchConfig {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// Its tier as the file names it, such as `LeafRouter`.
    pub(crate) role: Option<String>,
    /// Its packet memory, if the file gives it.
    pub(crate) memory: Option<Bytes>,
    pub(crate) pools: Vec<MemoryPool>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) markings: Vec<MarkingProfile>,
    pub(crate) ports: Vec<PortConfig>,
    pub(crate) hash: Option<Hash>,
    /// Whether the format can express a watchdog; if not, its absence is not reported.
    pub(crate) knows_watchdog: bool,
    /// Whether the file describes priority groups and their headroom.
    pub(crate) knows_groups: bool,
    /// Whether the files omit which priorities have PFC.
    pub(crate) lacks_pfc: bool,
    /// Whether the files omit which queues mark.
    pub(crate) lacks_queues: bool,
    /// Whether a group without headroom in the file has none; otherwise the switch has a default.
    pub(crate) knows_headroom: bool,
    /// The target at which a controller holds all queues, instead of marking by thresholds.
    pub(crate) held: Option<Placed<Held>>,
    /// A static limit of each port that includes the bytes of lossless queues.
    pub(crate) port_limit: Option<Placed<Bytes>>,
    /// What becomes of red packets, if they are dropped early.
    pub(crate) red: Option<crate::color::RedPackets>,
}

/// The target at which a marking controller holds a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Held {
    /// A queue length.
    Length(Bytes),
    /// A waiting time.
    Delay(Span),
}

/// A pool of packet memory.
#[derive(Debug)]
pub(crate) struct MemoryPool {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// `None`: the switch computes it.
    pub(crate) size: Option<Bytes>,
    /// Headroom shared by its groups.
    pub(crate) headroom: Option<Placed<Bytes>>,
    pub(crate) ingress: bool,
}

/// How much a group or a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Threshold {
    /// Alpha times the free part of the pool.
    Dynamic(f64),
    /// A fixed number of bytes.
    Static(Bytes),
}

/// A buffer profile: the limits of groups or queues.
#[derive(Debug)]
pub(crate) struct Profile {
    pub(crate) at: Spot,
    pub(crate) name: String,
    pub(crate) pool: Option<usize>,
    pub(crate) reserved: Bytes,
    pub(crate) threshold: Option<Placed<Threshold>>,
    pub(crate) headroom: Option<Placed<Bytes>>,
    pub(crate) xon: Option<Placed<Bytes>>,
    pub(crate) xon_offset: Option<Placed<Bytes>>,
    /// Speed and cable length given in its name.
    pub(crate) made_for: Option<(Rate, Metres)>,
    /// Whether its name or its headroom shows that it is for a lossless class.
    pub(crate) lossless: bool,
}

/// The profile of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GroupBinding {
    /// A profile, by number.
    Profile(usize),
    /// A lossless profile that the switch computes from speed and cable.
    Computed,
    /// A profile that does not exist.
    Nothing,
}

/// A priority group of a port.
#[derive(Clone, Debug)]
pub(crate) struct PriorityGroup {
    pub(crate) at: Spot,
    pub(crate) bound: GroupBinding,
}

/// A queue of a port.
#[derive(Clone, Debug, Default)]
pub(crate) struct QueueConfig {
    pub(crate) profile: Option<usize>,
    pub(crate) marking: Option<usize>,
}

/// A marking profile.
#[derive(Debug, PartialEq)]
pub(crate) struct MarkingProfile {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// Whether it sets marks (rather than only drops).
    pub(crate) ecn: bool,
    /// Why it marks no ordinary packet although it has thresholds.
    pub(crate) disabled: Option<MarkingOff>,
    /// Other colours that it should mark but does not.
    pub(crate) unmarked: Vec<(&'static str, Spot)>,
    /// Whether queues that are not at a port of this switch use it.
    pub(crate) bound_elsewhere: bool,
    pub(crate) min: Placed<Bytes>,
    pub(crate) max: Placed<Bytes>,
    /// Probability just below `max`, from 0 to 1.
    pub(crate) probability: Placed<f64>,
    /// Whether packets that cannot be marked are dropped instead.
    pub(crate) drops_non_ect: bool,
    /// Whether packets are marked on arrival, so that the mark waits in the queue with the packet.
    pub(crate) at_enqueue: bool,
}

/// Why a marking profile marks nothing, and how to fix it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MarkingOff {
    pub(crate) at: Spot,
    pub(crate) why: String,
    pub(crate) fix: &'static str,
}

/// Maps from one field to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKind {
    /// DSCP to traffic class.
    Dscp,
    /// Traffic class to priority group.
    Group,
    /// Traffic class to queue.
    Queue,
    /// Priority of a pause frame to the queue it pauses.
    Pause,
    /// Priority of a pause frame to the priority group it represents.
    PauseGroup,
}

/// The entries of a map, each with its position.
pub(crate) type MapEntries = BTreeMap<u8, Placed<u8>>;

/// A port.
#[derive(Debug, Default)]
pub(crate) struct PortConfig {
    pub(crate) name: String,
    pub(crate) speed: Option<Rate>,
    /// Largest packet, without Ethernet header.
    pub(crate) mtu: Bytes,
    pub(crate) cable: Option<Metres>,
    /// Headroom by the switch's own formula, if that is known.
    pub(crate) needs: Option<Bytes>,
    pub(crate) up: bool,
    pub(crate) groups: BTreeMap<u8, PriorityGroup>,
    pub(crate) queues: BTreeMap<u8, QueueConfig>,
    /// Priorities with priority flow control.
    pub(crate) pfc: Vec<Placed<u8>>,
    pub(crate) watchdog: Option<Watchdog>,
    /// Name and role of its neighbour.
    pub(crate) neighbour: Option<(String, Option<String>)>,
    pub(crate) maps: BTreeMap<MapKind, std::rc::Rc<MapEntries>>,
}

/// The watchdog of a port; times only if the file gives them.
#[derive(Clone, Debug)]
pub(crate) struct Watchdog {
    pub(crate) at: Spot,
    pub(crate) detection: Option<Span>,
    pub(crate) restoration: Option<Span>,
}

/// How a switch hashes flows onto equal paths.
#[derive(Debug)]
pub(crate) struct Hash {
    pub(crate) at: Spot,
    pub(crate) function: String,
    pub(crate) seed: u64,
    /// The origin of the seed.
    pub(crate) origin: String,
}

/// The settings of hosts.
#[derive(Debug, Default)]
pub(crate) struct HostConfig {
    pub(crate) law: Option<Placed<String>>,
    /// `net.ipv4.tcp_ecn`: 0 never, 1 requests it, 2 only responds.
    pub(crate) ecn: Option<Placed<u8>>,
    pub(crate) other_than_tcp: Option<String>,
    pub(crate) ecn_fallback: Option<Placed<u8>>,
    /// Maximum receive and send buffers.
    pub(crate) receive: Option<Placed<Bytes>>,
    pub(crate) send: Option<Placed<Bytes>>,
    /// The share of the receive buffer that becomes window.
    pub(crate) window_share: f64,
    /// Maximum burst that a host sends back to back.
    pub(crate) burst: Bytes,
    pub(crate) rate: Option<Rate>,
    pub(crate) rtt: Option<Span>,
    /// The queue of payload, if the file gives it.
    pub(crate) payload: Option<Placed<u8>>,
    /// Congestion notification packets, if the hosts send them and the file describes them.
    pub(crate) notifications: Option<Placed<Notifications>>,
    /// Whether the rate also depends on round trips, not only on pauses and marks.
    pub(crate) by_round_trips: bool,
}

/// How congestion notifications return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notifications {
    /// Their queue.
    pub(crate) queue: u8,
    /// Whether they wait behind payload.
    pub(crate) behind_payload: bool,
    /// The card's time to generate one.
    pub(crate) delay: Span,
}

impl SwitchConfig {
    /// Ports that are not shut down.
    pub(crate) fn up(&self) -> impl Iterator<Item = &PortConfig> {
        self.ports.iter().filter(|port| port.up)
    }

    /// The number of ports that can send at the same time, at least 1.
    pub(crate) fn degree(&self) -> usize {
        self.up().count().max(1)
    }

    /// Whether any marking marks packets of some queue, or this is unknown.
    pub(crate) fn marks(&self) -> bool {
        let works = |number: &usize| {
            let marking = &self.markings[*number];
            marking.ecn && marking.disabled.is_none()
        };
        self.lacks_queues || self.held.is_some() || self.used_markings().iter().any(works)
    }

    /// The markings used by any queue.
    pub(crate) fn used_markings(&self) -> BTreeSet<usize> {
        let here = self.ports.iter().flat_map(|port| port.queues.values()).filter_map(|queue| queue.marking);
        let elsewhere = (0..self.markings.len()).filter(|number| self.markings[*number].bound_elsewhere);
        here.chain(elsewhere).collect()
    }

    /// The size of a profile's pool.
    pub(crate) fn pool_of(&self, profile: &Profile) -> Option<Bytes> {
        self.pools[profile.pool?].size
    }
}

impl MarkingProfile {
    /// Its lower threshold, in the file's own terms.
    pub(crate) fn min_words(&self) -> String {
        match self.name.as_str() {
            "switch.ecn.step" => "switch.ecn.step.threshold".to_owned(),
            "switch.ecn.red" => "switch.ecn.red.min".to_owned(),
            name => format!("K_min of {name}"),
        }
    }
}

impl PortConfig {
    /// The value that a map assigns; without a map, the value itself.
    pub(crate) fn mapped(&self, kind: MapKind, value: u8) -> u8 {
        match self.maps.get(&kind) {
            Some(map) => map.get(&value).map_or(value, |placed| placed.value),
            None => value,
        }
    }

    /// The priority group behind a priority of pause frames.
    pub(crate) fn group_of(&self, priority: u8) -> u8 {
        self.mapped(MapKind::PauseGroup, priority)
    }

    /// The traffic classes that a map maps to `target`.
    pub(crate) fn sources(&self, kind: MapKind, target: u8) -> Vec<u8> {
        (0..8).filter(|&class| self.mapped(kind, class) == target).collect()
    }

    /// The queues of a lossless priority: those of the traffic classes in its group.
    pub(crate) fn lossless_queues(&self) -> Vec<u8> {
        let classes =
            self.pfc.iter().flat_map(|priority| self.sources(MapKind::Group, self.group_of(priority.value)));
        let mut queues: Vec<u8> = classes.map(|class| self.mapped(MapKind::Queue, class)).collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }
}

impl HostConfig {
    /// Whether connections use DCTCP.
    pub(crate) fn is_dctcp(&self) -> bool {
        self.law.as_ref().is_some_and(|law| law.value == "dctcp")
    }
}
