//! Builds the ports and the packet memory of a switch from the lines of an EOS file.

use super::block::{Block, Memory};
use super::{Reader, unknown};
use crate::model::{
    GroupBinding, MapKind, MarkingProfile, MemoryPool, PortConfig, PriorityGroup, Profile, QueueConfig,
    SwitchConfig, Threshold, Watchdog,
};
use crate::told::OddityKind;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use weft_config::place::{Placed, Spot};
use weft_core::{Bytes, Rate};

/// EOS's default for the largest packet of an interface.
const MTU: Bytes = Bytes(1_500);

/// Builds the ports with queues, marking, PFC and maps. Returns what is not checked.
pub(super) fn ports(reader: &mut Reader, switch: &mut SwitchConfig) -> Vec<String> {
    let maps = maps(reader);
    let mut markings = Markings::default();
    for own in std::mem::take(&mut reader.interfaces) {
        let block = taken(reader, own);
        let mut port = port(reader, &block);
        for (queue, detect) in &block.markings {
            let marking = markings.of(*detect, port.speed, reader);
            port.queues.insert(*queue, QueueConfig { profile: None, marking });
        }
        port.maps.clone_from(&maps);
        switch.ports.push(port);
    }
    switch.markings = markings.all(reader);
    switch.lacks_queues = markings.without_speed > 0;
    match markings.without_speed {
        0 => Vec::new(),
        count => vec![format!(
            "{count} queues have marking thresholds in time, and the speed of their ports is unknown (--rate)"
        )],
    }
}

/// The markings of the switch: one per line, and per speed if thresholds are times.
#[derive(Default)]
struct Markings {
    list: Vec<MarkingProfile>,
    known: HashMap<(usize, Option<Rate>), usize>,
    used: BTreeSet<usize>,
    without_speed: usize,
}

impl Markings {
    /// The number of the marking that a line configures at a port.
    fn of(&mut self, detect: usize, speed: Option<Rate>, reader: &Reader) -> Option<usize> {
        self.used.insert(detect);
        let speed = speed.filter(|_| reader.detects[detect].is_time());
        if let Some(number) = self.known.get(&(detect, speed)) {
            return Some(*number);
        }
        let Some(mut marking) = reader.detects[detect].marking(speed, reader) else {
            self.without_speed += 1;
            return None;
        };
        marking.name.extend(speed.map(|rate| format!(" at {rate}")));
        self.list.push(marking);
        self.known.insert((detect, speed), self.list.len() - 1);
        Some(self.list.len() - 1)
    }

    /// All markings, including lines that no port uses; for those, a time is converted at 1 Gb/s, because its length is
    /// not used.
    fn all(&mut self, reader: &Reader) -> Vec<MarkingProfile> {
        let unused = (0..reader.detects.len()).filter(|detect| !self.used.contains(detect));
        let unused =
            unused.filter_map(|detect| reader.detects[detect].marking(Some(Rate::from_gbps(1)), reader));
        let mut list = std::mem::take(&mut self.list);
        list.extend(unused);
        list
    }
}

/// An interface together with its QoS profile.
fn taken(reader: &mut Reader, own: Block) -> Block {
    let Some(name) = own.profile.clone() else { return own };
    if let Some(profile) = reader.profiles.get(&name.value) {
        return own.under(profile);
    }
    let says = unknown("qos profile", &name.value, reader.profiles.keys());
    reader.odd(OddityKind::Reference, name.at, (says, "define it, or correct the name"));
    own
}

fn port(reader: &Reader, block: &Block) -> PortConfig {
    let everywhere = reader.watchdog.map(|(at, detection, restoration)| Watchdog {
        at,
        detection,
        restoration,
        poll: None,
    });
    let here = block.watchdog.map(|at| Watchdog { at, detection: None, restoration: None, poll: None });
    PortConfig {
        name: block.name.clone(),
        speed: block.speed.or(reader.rate),
        mtu: block.mtu.unwrap_or(MTU),
        up: !block.shut,
        pfc: if block.pfc && !reader.pauses_off { block.no_drop.clone() } else { Vec::new() },
        meant_lossless: if block.pfc || reader.pauses_off { Vec::new() } else { block.no_drop.clone() },
        watchdog: here.or(everywhere),
        ..PortConfig::default()
    }
}

/// The maps of all ports, with EOS's defaults. The priority of a pause frame is a CoS value, so it determines group and
/// queue through its traffic class.
fn maps(reader: &Reader) -> BTreeMap<MapKind, Rc<crate::model::MapEntries>> {
    let top = Spot { file: reader.file, at: 0 };
    let at_top = |value| Placed { value, at: top };
    let class = |cos: u8| reader.cos.get(&cos).copied().unwrap_or_else(|| usual_class(cos));
    let mut dscp: crate::model::MapEntries =
        (0..64).map(|dscp| (dscp, at_top(usual_class(dscp / 8)))).collect();
    dscp.extend(reader.maps.get(&MapKind::Dscp).cloned().unwrap_or_default());
    let mut maps = BTreeMap::from([(MapKind::Dscp, Rc::new(dscp))]);
    for (kind, back) in [(MapKind::Group, MapKind::PauseGroup), (MapKind::Queue, MapKind::Pause)] {
        let own = reader.maps.get(&kind).cloned().unwrap_or_default();
        let through = |class: u8| own.get(&class).cloned().unwrap_or_else(|| at_top(class));
        let paused = (0..8).map(|cos| (cos, through(class(cos)))).collect();
        maps.insert(kind, Rc::new(own.clone()));
        maps.insert(back, Rc::new(paused));
    }
    maps
}

/// The default traffic class of a CoS value.
fn usual_class(cos: u8) -> u8 {
    match cos {
        0 => 1,
        1 => 0,
        other => other,
    }
}

/// Builds the packet memory: the applied profile becomes buffer profiles of groups and queues. `memory` is the size of
/// the switch's memory.
pub(super) fn memory(reader: &mut Reader, switch: &mut SwitchConfig, memory: Option<Bytes>) {
    let Some(applied) = reader.applied.take() else { return };
    let Some(profile) = reader.memories.get(&applied.value).cloned() else {
        let says = unknown("mmu queue profile", &applied.value, reader.memories.keys());
        return reader.odd(OddityKind::Reference, applied.at, (says, "define it, or correct the name"));
    };
    switch.knows_groups = true;
    let lossless: u64 = switch.up().map(|port| port.pfc.len() as u64).sum();
    let headroom = profile.headroom.as_ref().map_or(Bytes::ZERO, |headroom| headroom.value) * lossless;
    let size = memory.map(|memory| Bytes(memory.0.saturating_sub(headroom.0)));
    switch.pools.push(MemoryPool {
        at: profile.at,
        name: "packet memory".to_owned(),
        size,
        headroom: None,
        ingress: true,
        egress: true,
    });
    for group in 0..8 {
        bind_group(switch, (&profile, &applied.value), group);
    }
    for (queue, threshold) in &profile.queues {
        let number = switch.profiles.len();
        let name = format!("{} queue {queue}", applied.value);
        switch.profiles.push(buffer((profile.at, name), Some(threshold.clone())));
        for port in &mut switch.ports {
            port.queues.entry(*queue).or_default().profile = Some(number);
        }
    }
}

/// Sets the limits of a priority group at the ports where it is lossless.
fn bind_group(switch: &mut SwitchConfig, (memory, name): (&Memory, &str), group: u8) {
    let threshold = memory.groups.get(&group).or(memory.ingress.as_ref()).cloned();
    let at = threshold.as_ref().map_or(memory.at, |threshold| threshold.at);
    let number = switch.profiles.len();
    let mut profile = buffer((at, format!("{name} priority-group {group}")), threshold);
    profile.headroom.clone_from(&memory.headroom);
    profile.reserved = memory.reserved.as_ref().map_or(Bytes::ZERO, |reserved| reserved.value);
    profile.lossless = true;
    let mut bound = false;
    for port in &mut switch.ports {
        if port.pfc.iter().any(|priority| port.group_of(priority.value) == group) {
            port.groups.insert(group, PriorityGroup { at, bound: GroupBinding::Profile(number) });
            bound = true;
        }
    }
    if bound {
        switch.profiles.push(profile);
    }
}

fn buffer((at, name): (Spot, String), threshold: Option<Placed<Threshold>>) -> Profile {
    Profile {
        at,
        name,
        pool: Some(0),
        reserved: Bytes::ZERO,
        threshold,
        headroom: None,
        xon: None,
        xon_offset: None,
        made_for: None,
        lossless: false,
    }
}
