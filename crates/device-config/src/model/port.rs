//! A port: its priority groups, its queues, its pauses, and the maps that lead packets to them.

use super::Metres;
use std::collections::BTreeMap;
use std::rc::Rc;
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate, Span};

/// The profile of a group.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GroupBinding {
    /// A profile, by number.
    Profile(usize),
    /// A lossless profile that the switch computes from speed and cable.
    Computed,
    /// A profile that does not exist.
    Nothing,
}

/// A priority group of a port.
#[derive(Clone, Debug)]
pub struct PriorityGroup {
    /// The position at which the file binds it.
    pub at: Spot,
    /// Its profile.
    pub bound: GroupBinding,
}

/// A queue of a port.
#[derive(Clone, Debug, Default)]
pub struct QueueConfig {
    /// The number of its buffer profile.
    pub profile: Option<usize>,
    /// The number of its marking profile.
    pub marking: Option<usize>,
}

/// Maps from one field to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapKind {
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
pub type MapEntries = BTreeMap<u8, Placed<u8>>;

/// A port.
#[derive(Debug, Default)]
pub struct PortConfig {
    /// Its name in the file.
    pub name: String,
    /// Its speed, if the file gives it.
    pub speed: Option<Rate>,
    /// Largest packet, without Ethernet header.
    pub mtu: Bytes,
    /// The length of its cable, if the file gives it.
    pub cable: Option<Metres>,
    /// Headroom by the switch's own formula, if that is known.
    pub needs: Option<Bytes>,
    /// Whether it is in use: not shut down.
    pub up: bool,
    /// Its priority groups by number.
    pub groups: BTreeMap<u8, PriorityGroup>,
    /// Its queues by number.
    pub queues: BTreeMap<u8, QueueConfig>,
    /// Priorities with priority flow control.
    pub pfc: Vec<Placed<u8>>,
    /// Priorities that the file declares lossless although PFC is off here.
    pub meant_lossless: Vec<Placed<u8>>,
    /// The watchdog that ends pauses that last too long.
    pub watchdog: Option<Watchdog>,
    /// Name and role of its neighbour.
    pub neighbour: Option<(String, Option<String>)>,
    /// The neighbour's port, if the file names it.
    pub neighbour_port: Option<String>,
    /// Its maps; without one, a value maps to itself.
    pub maps: BTreeMap<MapKind, Rc<MapEntries>>,
}

/// The watchdog of a port; times only if the file gives them.
#[derive(Clone, Debug)]
pub struct Watchdog {
    /// Where the file enables it.
    pub at: Spot,
    /// How long a queue is paused before the watchdog acts.
    pub detection: Option<Span>,
    /// How long the queue must be free of pauses before it is restored.
    pub restoration: Option<Span>,
    /// How often the switch checks.
    pub poll: Option<Placed<Span>>,
}

impl PortConfig {
    /// The value that a map assigns; without a map, the value itself.
    #[must_use]
    pub fn mapped(&self, kind: MapKind, value: u8) -> u8 {
        match self.maps.get(&kind) {
            Some(map) => map.get(&value).map_or(value, |placed| placed.value),
            None => value,
        }
    }

    /// The priority group behind a priority of pause frames.
    #[must_use]
    pub fn group_of(&self, priority: u8) -> u8 {
        self.mapped(MapKind::PauseGroup, priority)
    }

    /// The traffic classes that a map maps to `target`.
    #[must_use]
    pub fn sources(&self, kind: MapKind, target: u8) -> Vec<u8> {
        (0..8).filter(|&class| self.mapped(kind, class) == target).collect()
    }

    /// The queues of a lossless priority: those of the traffic classes in its group.
    #[must_use]
    pub fn lossless_queues(&self) -> Vec<u8> {
        let classes =
            self.pfc.iter().flat_map(|priority| self.sources(MapKind::Group, self.group_of(priority.value)));
        let mut queues: Vec<u8> = classes.map(|class| self.mapped(MapKind::Queue, class)).collect();
        queues.sort_unstable();
        queues.dedup();
        queues
    }
}
