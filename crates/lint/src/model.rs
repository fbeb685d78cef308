//! What the files say, whatever their format: switches, ports, buffers, marking, maps and hosts, each value with its
//! place. The readers write it, the rules read it, and neither knows the other.

use crate::told::{Coverage, Oddity, Silenced};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// What is known of the surroundings and stands in no file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Round trip between hosts without queueing.
    pub rtt: Option<Span>,
    /// Line rate of hosts, where no port tells it.
    pub rate: Option<Rate>,
    /// Packet memory of a switch.
    pub memory: Option<Bytes>,
    /// Length of cables, where no file tells it.
    pub cable: Option<Metres>,
    /// Bytes of a cell of packet memory, where the file names no switch whose chip is known.
    pub cell: Option<Bytes>,
}

/// A length. Text form: `40 m` or `40m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

impl FromStr for Metres {
    type Err = String;

    fn from_str(text: &str) -> Result<Metres, String> {
        let number = text.trim().strip_suffix('m').and_then(|number| number.trim_end().parse::<f64>().ok());
        let sensible = number.filter(|metres| (0.0..=1e6).contains(metres));
        sensible.map(Metres).ok_or_else(|| format!("found `{text}`; allowed: metres, such as \"40 m\""))
    }
}

impl fmt::Display for Metres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} m", self.0)
    }
}

/// A case of a scenario's sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CaseName {
    /// What is swept and its value here; empty if nothing is.
    pub(crate) label: String,
    /// How many cases there are.
    pub(crate) of: usize,
}

/// Everything that is judged together.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// Which case of a scenario it is.
    pub(crate) case: Option<CaseName>,
    pub(crate) switches: Vec<SwitchConfig>,
    pub(crate) hosts: Vec<HostConfig>,
    pub(crate) site: Surroundings,
    /// What the readers could not make sense of: rule, place, and what is wrong.
    pub(crate) oddities: Vec<Oddity>,
    /// What was read of each file, in the order of the command line.
    pub(crate) coverage: Vec<(usize, Coverage)>,
    /// Files of which nothing is read, beside others of the same device of which something is.
    pub(crate) idle_parts: BTreeSet<usize>,
    /// Rules that are silenced in a file.
    pub(crate) silenced: Vec<Silenced>,
    /// Where routes are known: lossless links that wait for each other.
    pub(crate) circles: Vec<Circle>,
    /// There are too many routes to look for circles.
    pub(crate) too_large: bool,
}

/// Links that wait for each other in a circle under routes that the network has at some time.
#[derive(Debug)]
pub(crate) struct Circle {
    pub(crate) at: Spot,
    /// The switches, in the order of the circle.
    pub(crate) switches: Vec<String>,
    /// A watchdog breaks it in the end.
    pub(crate) watched: bool,
    /// Which routes, in words.
    pub(crate) when: String,
}

/// A switch.
#[derive(Debug, Default)]
pub(crate) struct SwitchConfig {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// Its stage as the file names it, such as `LeafRouter`.
    pub(crate) role: Option<String>,
    pub(crate) pools: Vec<MemoryPool>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) markings: Vec<MarkingProfile>,
    pub(crate) ports: Vec<PortConfig>,
    pub(crate) hash: Option<Hash>,
    /// The file can say where a watchdog is; in a format that has none nobody is blamed.
    pub(crate) knows_watchdog: bool,
    /// The file describes priority groups and their headroom.
    pub(crate) knows_groups: bool,
    /// The files at hand leave out which priorities have PFC.
    pub(crate) lacks_pfc: bool,
    /// The files at hand leave out which queues mark.
    pub(crate) lacks_queues: bool,
    /// A group without headroom in the file has none; otherwise the switch has a default.
    pub(crate) knows_headroom: bool,
    /// What a controller holds all queues at, in place of a marking with thresholds.
    pub(crate) held: Option<Placed<Held>>,
    /// A static limit of each port in which the bytes of lossless queues count.
    pub(crate) port_limit: Option<Placed<Bytes>>,
}

/// What a controller that marks holds a queue at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Held {
    /// This length.
    Length(Bytes),
    /// So long a wait.
    Delay(Span),
}

/// A stretch of packet memory.
#[derive(Debug)]
pub(crate) struct MemoryPool {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// `None`: the switch computes it.
    pub(crate) size: Option<Bytes>,
    /// Headroom that its groups share.
    pub(crate) headroom: Option<Placed<Bytes>>,
    pub(crate) ingress: bool,
}

/// How much a group or a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Threshold {
    /// Alpha times the free part of the pool.
    Dynamic(f64),
    /// So many bytes.
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
    /// Speed and cable length that its name promises.
    pub(crate) made_for: Option<(Rate, Metres)>,
    /// Its name or its headroom says that it is for a lossless class.
    pub(crate) lossless: bool,
}

/// What a group is bound to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum GroupBinding {
    /// A profile, by number.
    Profile(usize),
    /// The switch computes a lossless profile from speed and cable.
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
#[derive(Debug)]
pub(crate) struct MarkingProfile {
    pub(crate) at: Spot,
    pub(crate) name: String,
    /// It sets marks (rather than only drops).
    pub(crate) ecn: bool,
    /// It marks no ordinary packet although it has thresholds.
    pub(crate) disabled: Option<MarkingOff>,
    /// Other colours that it shall mark and does not.
    pub(crate) unmarked: Vec<(&'static str, Spot)>,
    /// Queues that are not at a port of this switch use it.
    pub(crate) bound_elsewhere: bool,
    pub(crate) min: Placed<Bytes>,
    pub(crate) max: Placed<Bytes>,
    /// Probability just below `max`, from 0 to 1.
    pub(crate) probability: Placed<f64>,
    /// Packets that cannot be marked are dropped instead.
    pub(crate) drops_non_ect: bool,
    /// The decision falls when a packet arrives: its mark waits with it.
    pub(crate) at_enqueue: bool,
}

/// Why a marking profile marks nothing, and how to fix it.
#[derive(Clone, Debug)]
pub(crate) struct MarkingOff {
    pub(crate) at: Spot,
    pub(crate) why: String,
    pub(crate) fix: &'static str,
}

/// Tables from one field to another, by what they map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum MapKind {
    /// DSCP to traffic class.
    Dscp,
    /// Traffic class to priority group.
    Group,
    /// Traffic class to queue.
    Queue,
    /// Priority of a pause frame to the queue it stops.
    Pause,
    /// Priority to the priority group it stands for.
    PauseGroup,
}

/// The entries of a map, each with its place.
pub(crate) type MapEntries = BTreeMap<u8, Placed<u8>>;

/// A port.
#[derive(Debug, Default)]
pub(crate) struct PortConfig {
    pub(crate) name: String,
    pub(crate) speed: Option<Rate>,
    /// Largest packet, without Ethernet header.
    pub(crate) mtu: Bytes,
    pub(crate) cable: Option<Metres>,
    /// Headroom by the formula of the switch itself, where it is known.
    pub(crate) needs: Option<Bytes>,
    pub(crate) up: bool,
    pub(crate) groups: BTreeMap<u8, PriorityGroup>,
    pub(crate) queues: BTreeMap<u8, QueueConfig>,
    /// Priorities with priority flow control.
    pub(crate) pfc: Vec<Placed<u8>>,
    pub(crate) watchdog: Option<Watchdog>,
    /// Name and role of what hangs on it.
    pub(crate) neighbour: Option<(String, Option<String>)>,
    pub(crate) maps: BTreeMap<MapKind, std::rc::Rc<MapEntries>>,
}

/// The watchdog of a port; times only where the file says them.
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
    /// Where the seed comes from.
    pub(crate) origin: String,
}

/// The settings of hosts.
#[derive(Debug, Default)]
pub(crate) struct HostConfig {
    pub(crate) law: Option<Placed<String>>,
    /// `net.ipv4.tcp_ecn`: 0 never, 1 asks for it, 2 only answers.
    pub(crate) ecn: Option<Placed<u8>>,
    pub(crate) ecn_fallback: Option<Placed<u8>>,
    /// Greatest receive buffer.
    pub(crate) receive: Option<Placed<Bytes>>,
    /// Greatest send buffer.
    pub(crate) send: Option<Placed<Bytes>>,
    /// The share of the receive buffer that becomes window.
    pub(crate) window_share: f64,
    /// What a host sends back to back at most.
    pub(crate) burst: Bytes,
    pub(crate) rate: Option<Rate>,
    pub(crate) rtt: Option<Span>,
    /// The queue of payload, where the file tells it.
    pub(crate) payload: Option<Placed<u8>>,
    /// Congestion notification packets, if the hosts send any and the file tells of it.
    pub(crate) notifications: Option<Placed<Notifications>>,
    /// The rate follows round trips: pauses and marks are not the only brake.
    pub(crate) by_round_trips: bool,
}

/// The way back of congestion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Notifications {
    /// Their queue.
    pub(crate) queue: u8,
    /// They wait until payload before them has left.
    pub(crate) behind_payload: bool,
    /// What the card takes to make one.
    pub(crate) delay: Span,
}

impl SwitchConfig {
    /// Ports that are not shut.
    pub(crate) fn up(&self) -> impl Iterator<Item = &PortConfig> {
        self.ports.iter().filter(|port| port.up)
    }

    /// How many ports can send at the same time, at least 1.
    pub(crate) fn degree(&self) -> usize {
        self.up().count().max(1)
    }

    /// Whether a marking marks packets of some queue, or nobody knows.
    pub(crate) fn marks(&self) -> bool {
        let works = |number: &usize| {
            let marking = &self.markings[*number];
            marking.ecn && marking.disabled.is_none()
        };
        self.lacks_queues || self.used_markings().iter().any(works)
    }

    /// The markings that some queue uses.
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
    /// Its lower threshold, as the file calls it.
    pub(crate) fn min_words(&self) -> String {
        match self.name.as_str() {
            "switch.ecn.step" => "switch.ecn.step.threshold".to_owned(),
            "switch.ecn.red" => "switch.ecn.red.min".to_owned(),
            name => format!("K_min of {name}"),
        }
    }
}

impl PortConfig {
    /// What a map makes of a value; without a map it stays.
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

    /// The traffic classes that a map sends to `target`.
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
