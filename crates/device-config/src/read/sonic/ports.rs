//! What SONiC configures at ports: speed and cable, priority groups, queues, maps, PFC, its watchdog and neighbours.

use super::{MOST, Reader, range};
use crate::model::{
    GroupBinding, Hash, MapEntries, MapKind, PortConfig, PriorityGroup, QueueConfig, SwitchConfig, Watchdog,
};
use crate::told::OddityKind;
use std::collections::HashMap;
use std::rc::Rc;
use weft_config::json::{JsonEntry, JsonNode};
use weft_config::place::Placed;
use weft_core::{Bytes, Rate, Span};

/// Maps by the table that holds them, and the field of a port that names one.
const MAPS: [(&str, &str, MapKind); 5] = [
    ("DSCP_TO_TC_MAP", "dscp_to_tc_map", MapKind::Dscp),
    ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", MapKind::Group),
    ("TC_TO_QUEUE_MAP", "tc_to_queue_map", MapKind::Queue),
    ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", MapKind::Pause),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", MapKind::PauseGroup),
];

/// Priority groups of a port.
const GROUPS: u8 = 8;

/// SONiC's default `mtu` of a port.
const MTU: Bytes = Bytes(9_100);

/// Adds the ports and everything bound to them. Entries that only name ports of this switch are read first: a fragment
/// has no others.
pub(super) fn read(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    switch.ports = reader.table("PORT").iter().map(|entry| port(reader, entry)).collect();
    let ports = switch.ports.iter().enumerate();
    reader.ports = ports.map(|(number, port)| (port.name.clone(), number)).collect();
    groups(reader, switch);
    qos(reader, switch);
    watchdogs(reader, switch);
    queues(reader, switch);
    cables(reader, switch);
    neighbours(reader, switch);
    computed(switch, reader.complete);
    switch.hash = hash(reader, switch);
}

/// Reads a port. A port without `admin_status` counts as up, because it may become so.
fn port(reader: &mut Reader<'_>, entry: &JsonEntry) -> PortConfig {
    reader.about(entry);
    let speed = reader.number(&entry.node, "speed", (1, 10_000_000));
    let mtu = reader.number(&entry.node, "mtu", (68, 65_535));
    PortConfig {
        speed: speed.map(|speed| Rate::from_mbps(speed.value.unsigned_abs())),
        mtu: mtu.map_or(MTU, |mtu| Bytes(mtu.value.unsigned_abs())),
        up: entry.node.get("admin_status").and_then(JsonNode::word) != Some("down"),
        ..bare(&entry.key)
    }
}

/// A port known by its name only.
fn bare(name: &str) -> PortConfig {
    PortConfig { name: name.to_owned(), mtu: MTU, up: true, ..PortConfig::default() }
}

/// The ports named in a key such as `Ethernet0,Ethernet4`; in a fragment the key defines them.
fn named(
    reader: &mut Reader<'_>,
    switch: &mut SwitchConfig,
    (table, key, at): (&str, &str, usize),
) -> Vec<usize> {
    let mut found = Vec::new();
    for name in key.split(',') {
        if let Some(number) = reader.ports.get(name) {
            found.push(*number);
        } else if !reader.complete {
            // One port too many suffices to have the file refused.
            if switch.ports.len() <= MOST {
                reader.ports.insert(name.to_owned(), switch.ports.len());
                found.push(switch.ports.len());
                switch.ports.push(bare(name));
            }
        } else {
            name.clone_into(&mut reader.subject);
            let says = format!("{table} names ports missing from PORT");
            let fix = "define them in PORT, or remove the entries".to_owned();
            reader.odd(OddityKind::Reference, at, (says, fix));
        }
    }
    found
}

/// Ports and numbers of a key. `Ethernet0|3-4` is a port of this switch. `host|Asic0|Ethernet0|3-4` is a virtual output
/// queue towards a port of a chassis: `None` if that is on another card.
fn ports_and_numbers(
    reader: &mut Reader<'_>,
    switch: &mut SwitchConfig,
    (table, entry): (&str, &JsonEntry),
) -> Option<(Vec<usize>, Vec<u8>)> {
    reader.about(entry);
    let words: Vec<&str> = entry.key.split('|').collect();
    let numbers = words.last().and_then(|numbers| range(numbers));
    match (&words[..], numbers) {
        ([ports, _], Some(numbers)) => Some((named(reader, switch, (table, ports, entry.at)), numbers)),
        ([host, chip, port, _], Some(numbers)) => match here(reader, (host, chip)) {
            Some(true) => Some((named(reader, switch, (table, port, entry.at)), numbers)),
            Some(false) => None,
            // The file does not say which card it is from: all cards of a chassis treat a port alike.
            None => reader.ports.get(*port).map(|port| (vec![*port], numbers)),
        },
        _ => {
            let says = format!("keys of {table} do not name a port and numbers");
            let fix = "write a key such as \"Ethernet0|3-4\", on a chassis \"host|asic|Ethernet0|3-4\"";
            reader.odd(OddityKind::Value, entry.at, (says, fix.to_owned()));
            Some((Vec::new(), Vec::new()))
        }
    }
}

/// Whether a chip of a chassis is the current one; `None` if the files do not identify it.
fn here(reader: &Reader<'_>, (host, chip): (&str, &str)) -> Option<bool> {
    let metadata = reader.root.get("DEVICE_METADATA")?.get("localhost")?;
    let own_host = metadata.get("hostname")?.word()?;
    let own_chip = metadata.get("asic_name").and_then(JsonNode::word);
    Some(own_host == host && own_chip.is_none_or(|own| own.eq_ignore_ascii_case(chip)))
}

fn cables(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for entry in reader.table("CABLE_LENGTH").iter().flat_map(|table| table.node.entries()) {
        let Some(port) = reader.ports.get(&entry.key).copied() else { continue };
        let word = entry.node.word().unwrap_or("");
        match word.parse() {
            Ok(cable) => switch.ports[port].cable = Some(cable),
            Err(_) => {
                reader.about(entry);
                let says = format!("the cable length is `{}`", super::short(word));
                let fix = "write metres, such as \"40m\"".to_owned();
                reader.odd(OddityKind::Value, entry.node.at, (says, fix));
            }
        }
    }
}

/// If no lossless group is configured, the buffer manager creates one for each priority with PFC, from speed and cable.
fn computed(switch: &mut SwitchConfig, complete: bool) {
    let lossless = |bound: GroupBinding| match bound {
        GroupBinding::Profile(number) => switch.profiles[number].lossless,
        GroupBinding::Computed => true,
        GroupBinding::Nothing => false,
    };
    if switch.ports.iter().flat_map(|port| port.groups.values()).any(|group| lossless(group.bound)) {
        return;
    }
    for port in switch.ports.iter_mut().filter(|port| !complete || port.cable.is_some()) {
        for priority in port.pfc.clone() {
            let group = PriorityGroup { at: priority.at, bound: GroupBinding::Computed };
            let number = port.group_of(priority.value);
            port.groups.entry(number).or_insert(group);
        }
    }
}

fn groups(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for entry in reader.table("BUFFER_PG") {
        let places = ports_and_numbers(reader, switch, ("BUFFER_PG", entry));
        let Some((ports, mut numbers)) = places else { continue };
        reader.about(entry);
        if numbers.iter().any(|number| *number >= GROUPS) {
            let says = "keys of BUFFER_PG name priority groups above 7".to_owned();
            let fix = "write groups from 0 to 7, such as \"Ethernet0|3-4\"".to_owned();
            reader.odd(OddityKind::Value, entry.at, (says, fix));
            numbers.retain(|number| *number < GROUPS);
        }
        let bound = match entry.node.get("profile") {
            Some(node) if node.word() == Some("NULL") => GroupBinding::Computed,
            Some(node) => {
                reader.reference(node, "BUFFER_PROFILE").map_or(GroupBinding::Nothing, GroupBinding::Profile)
            }
            None => GroupBinding::Computed,
        };
        let at = reader.spot(entry.at);
        for port in ports {
            let of = numbers.iter().map(|&number| (number, PriorityGroup { at, bound }));
            switch.ports[port].groups.extend(of);
        }
    }
}

fn queues(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    for entry in reader.table("BUFFER_QUEUE") {
        reader.about(entry);
        let profile = entry.node.get("profile").and_then(|node| reader.reference(node, "BUFFER_PROFILE"));
        each_queue(reader, switch, ("BUFFER_QUEUE", entry), |queue| queue.profile = profile);
    }
    for entry in reader.table("QUEUE") {
        reader.about(entry);
        let marking = entry.node.get("wred_profile").and_then(|node| reader.reference(node, "WRED_PROFILE"));
        if let Some(number) = marking
            && !each_queue(reader, switch, ("QUEUE", entry), |queue| queue.marking = marking)
        {
            switch.markings[number].bound_elsewhere = true;
        }
    }
}

/// Configures the queues that an entry names; returns whether any of them is at a port of this switch.
fn each_queue(
    reader: &mut Reader<'_>,
    switch: &mut SwitchConfig,
    place: (&str, &JsonEntry),
    set: impl Fn(&mut QueueConfig),
) -> bool {
    let Some((ports, numbers)) = ports_and_numbers(reader, switch, place) else { return false };
    for port in &ports {
        for number in &numbers {
            let queue = switch.ports[*port].queues.entry(*number).or_default();
            set(queue);
        }
    }
    !ports.is_empty()
}

/// All maps of a table, in its order.
fn maps(reader: &mut Reader<'_>, table: &'static str) -> Vec<Rc<MapEntries>> {
    reader.index(table);
    reader.table(table).iter().map(|named| Rc::new(map(reader, named))).collect()
}

fn map(reader: &mut Reader<'_>, named: &JsonEntry) -> MapEntries {
    reader.about(named);
    let mut map = MapEntries::new();
    for entry in named.node.entries() {
        let from = entry.key.parse::<u8>().ok().filter(|from| *from < 64);
        let to = reader.whole(&entry.key, &entry.node, (0, 63));
        match (from, to) {
            (Some(from), Some(to)) => {
                let at = reader.spot(entry.at);
                map.insert(from, Placed { value: to.value.unsigned_abs() as u8, at });
            }
            (None, _) => {
                let says = format!("`{}` is not a code point or class", super::short(&entry.key));
                reader.odd(OddityKind::Value, entry.at, (says, "write a number from 0 to 63".to_owned()));
            }
            (_, None) => {}
        }
    }
    map
}

/// PORT_QOS_MAP: an entry for `global` applies to ports that have none.
fn qos(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let tables = MAPS.map(|(table, field, kind)| (table, field, kind, maps(reader, table)));
    let entries = reader.table("PORT_QOS_MAP");
    let (global, own): (Vec<&JsonEntry>, Vec<&JsonEntry>) =
        entries.iter().partition(|entry| entry.key == "global");
    let mut here: Vec<(Vec<usize>, &JsonEntry)> = Vec::new();
    for entry in own {
        here.push((named(reader, switch, ("PORT_QOS_MAP", &entry.key, entry.at)), entry));
    }
    if !reader.complete && !here.is_empty() {
        // The templates write an entry for each port in use.
        switch.ports.iter_mut().for_each(|port| port.up = false);
        here.iter().flat_map(|(ports, _)| ports).for_each(|port| switch.ports[*port].up = true);
    }
    let everywhere = global.into_iter().map(|entry| ((0..switch.ports.len()).collect(), entry));
    for (ports, entry) in everywhere.collect::<Vec<_>>().into_iter().chain(here) {
        reader.about(entry);
        for (table, field, kind, maps) in &tables {
            let Some(node) = entry.node.get(field) else { continue };
            let Some(number) = reader.reference(node, table) else { continue };
            for port in &ports {
                switch.ports[*port].maps.insert(*kind, maps[number].clone());
            }
        }
        if let Some(pfc) = enabled(reader, &entry.node) {
            ports.iter().for_each(|port| switch.ports[*port].pfc.clone_from(&pfc));
        }
    }
}

/// The priorities of `pfc_enable`, as the switch reads them: single numbers between commas. Of `3-4` it takes the number
/// before the hyphen (`stoi` in the QoS part of its orchestration agent).
fn enabled(reader: &mut Reader<'_>, node: &JsonNode) -> Option<Vec<Placed<u8>>> {
    let field = node.get("pfc_enable")?;
    let word = field.word().unwrap_or("").trim();
    let numbers = if word.is_empty() { Some(Vec::new()) } else { range(word) };
    let Some(meant) = numbers.filter(|numbers| numbers.iter().all(|number| *number < 8)) else {
        let says = format!("`pfc_enable` is `{word}`");
        reader.odd(
            OddityKind::Value,
            field.at,
            (says, "write priorities from 0 to 7, such as \"3,4\"".to_owned()),
        );
        return None;
    };
    let firsts = word.split(',').filter_map(|part| part.split('-').next()?.trim().parse().ok());
    let taken: Vec<u8> = firsts.collect();
    if taken.len() < meant.len() {
        let listed = |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
        let says = format!(
            "`pfc_enable` is `{word}`, of which the switch reads only {}: it knows no ranges here",
            listed(&taken)
        );
        reader.odd(OddityKind::Value, field.at, (says, format!("write \"{}\"", listed(&meant))));
    }
    let at = reader.spot(field.at);
    Some(taken.into_iter().map(|value| Placed { value, at }).collect())
}

fn watchdogs(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let (global, own): (Vec<&JsonEntry>, Vec<&JsonEntry>) =
        reader.table("PFC_WD").iter().partition(|entry| entry.key == "GLOBAL");
    let span = |reader: &mut Reader<'_>, entry: &JsonEntry, key| {
        reader.about(entry);
        let number = reader.number(&entry.node, key, (0, 1_000_000))?;
        Some(Placed { value: Span::from_ms(number.value.unsigned_abs()), at: number.at })
    };
    let poll = global.into_iter().find_map(|entry| span(reader, entry, "POLL_INTERVAL"));
    for entry in own {
        let detection = span(reader, entry, "detection_time").map(|time| time.value);
        let restoration = span(reader, entry, "restoration_time").map(|time| time.value);
        let watchdog = Watchdog { at: reader.spot(entry.at), detection, restoration, poll: poll.clone() };
        for port in named(reader, switch, ("PFC_WD", &entry.key, entry.at)) {
            switch.ports[port].watchdog = Some(watchdog.clone());
        }
    }
}

fn neighbours(reader: &mut Reader<'_>, switch: &mut SwitchConfig) {
    let known = reader.table("DEVICE_NEIGHBOR_METADATA").iter();
    let known: HashMap<&str, &JsonNode> = known.map(|entry| (entry.key.as_str(), &entry.node)).collect();
    for entry in reader.table("DEVICE_NEIGHBOR") {
        let Some(name) = entry.node.get("name").and_then(JsonNode::word) else { continue };
        let role = known.get(name).and_then(|node| node.get("type")?.word()).map(str::to_owned);
        if let Some(port) = reader.ports.get(&entry.key) {
            let port = &mut switch.ports[*port];
            port.neighbour = Some((name.to_owned(), role));
            port.neighbour_port = entry.node.get("port").and_then(JsonNode::word).map(str::to_owned);
        }
    }
}

/// The seed that SONiC uses for the hash: from the metadata, or from the switch's role.
fn hash(reader: &mut Reader<'_>, switch: &SwitchConfig) -> Option<Hash> {
    reader.subject.clear();
    let global = reader.root.get("SWITCH_HASH").and_then(|table| table.get("GLOBAL"));
    let metadata = reader.root.get("DEVICE_METADATA").and_then(|table| table.get("localhost"))?;
    let algorithm = global.and_then(|table| table.get("ecmp_hash_algorithm")?.word());
    let function = algorithm.unwrap_or("the default function").to_owned();
    if let Some(seed) = reader.number(metadata, "ecmp_hash_seed", (0, i64::from(u32::MAX))) {
        let origin = "ecmp_hash_seed".to_owned();
        return Some(Hash { at: seed.at, function, seed: seed.value.unsigned_abs(), origin });
    }
    let (seed, origin) = by_role(switch.role.as_deref());
    let at = reader.spot(metadata.get("type").map_or(metadata.at, |role| role.at));
    Some(Hash { at, function, seed, origin })
}

/// The seed that the template of SONiC's switch settings (`switch.json.j2`) derives from the role: that of the first
/// word contained in it.
fn by_role(role: Option<&str>) -> (u64, String) {
    const SEEDS: [(&str, u64); 6] = [
        ("ToRRouter", 0),
        ("LeafRouter", 10),
        ("SpineRouter", 25),
        ("LowerRegionalHub", 60),
        ("FabricRegionalHub", 70),
        ("UpperRegionalHub", 80),
    ];
    let Some(role) = role else { return (0, "no `type`".to_owned()) };
    let seed = SEEDS.iter().find(|(name, _)| role.contains(name)).map_or(0, |(_, seed)| *seed);
    (seed, format!("the default of `type` {role}"))
}
