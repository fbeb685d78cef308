//! What SONiC binds to ports: speed and cable, priority groups, queues, maps, PFC, its watchdog and neighbours.

use super::{Reader, range};
use crate::json::{Entry, Node};
use crate::model::{Bound, Group, Hash, Map, MapKind, OddityKind, Port, Queue, Switch, Watchdog};
use crate::place::Placed;
use std::collections::BTreeMap;
use std::rc::Rc;
use weft_core::{Bytes, Rate, Span};

/// Maps by the table that holds them, and the field of a port that names one.
const MAPS: [(&str, &str, MapKind); 5] = [
    ("DSCP_TO_TC_MAP", "dscp_to_tc_map", MapKind::Dscp),
    ("TC_TO_PRIORITY_GROUP_MAP", "tc_to_pg_map", MapKind::Group),
    ("TC_TO_QUEUE_MAP", "tc_to_queue_map", MapKind::Queue),
    ("MAP_PFC_PRIORITY_TO_QUEUE", "pfc_to_queue_map", MapKind::Pause),
    ("PFC_PRIORITY_TO_PRIORITY_GROUP_MAP", "pfc_to_pg_map", MapKind::PauseGroup),
];

/// What SONiC gives a port without `mtu`.
const MTU: Bytes = Bytes(9_100);

/// Adds the ports and all that is bound to them.
pub(super) fn read(reader: &mut Reader<'_>, switch: &mut Switch) {
    switch.ports = reader.table("PORT").iter().map(|entry| port(reader, entry)).collect();
    cables(reader, switch);
    groups(reader, switch);
    queues(reader, switch);
    qos(reader, switch);
    watchdogs(reader, switch);
    neighbours(reader, switch);
    switch.hash = hash(reader, switch);
}

/// A port without `admin_status` counts as up: it will be one day.
fn port(reader: &mut Reader<'_>, entry: &Entry) -> Port {
    let speed = reader.number(&entry.node, "speed", (1, 10_000_000));
    let mtu = reader.number(&entry.node, "mtu", (68, 65_535));
    Port {
        name: entry.key.clone(),
        speed: speed.map(|speed| Rate::from_mbps(speed.value.unsigned_abs())),
        mtu: mtu.map_or(MTU, |mtu| Bytes(mtu.value.unsigned_abs())),
        up: entry.node.get("admin_status").and_then(Node::word) != Some("down"),
        ..Port::default()
    }
}

/// The ports that a key such as `Ethernet0,Ethernet4` names.
fn named(reader: &mut Reader<'_>, switch: &Switch, (key, at): (&str, usize)) -> Vec<usize> {
    let mut found = Vec::new();
    for name in key.split(',') {
        match switch.ports.iter().position(|port| port.name == name) {
            Some(number) => found.push(number),
            None => {
                let says = format!("PORT has no `{name}`");
                reader.odd(
                    OddityKind::Reference,
                    at,
                    (says, "define it in PORT, or remove the entry".to_owned()),
                );
            }
        }
    }
    found
}

/// Ports and numbers of a key such as `Ethernet0|3-4`.
fn ports_and_numbers(reader: &mut Reader<'_>, switch: &Switch, entry: &Entry) -> (Vec<usize>, Vec<u8>) {
    let (ports, numbers) = entry.key.split_once('|').unwrap_or((&entry.key, ""));
    let Some(numbers) = range(numbers) else {
        let says = format!("`{}` does not name a port and numbers", entry.key);
        reader.odd(OddityKind::Value, entry.at, (says, "write a key such as \"Ethernet0|3-4\"".to_owned()));
        return (Vec::new(), Vec::new());
    };
    (named(reader, switch, (ports, entry.at)), numbers)
}

fn cables(reader: &mut Reader<'_>, switch: &mut Switch) {
    for entry in reader.table("CABLE_LENGTH").iter().flat_map(|table| table.node.entries()) {
        let Some(port) = switch.ports.iter_mut().find(|port| port.name == entry.key) else { continue };
        let word = entry.node.word().unwrap_or("");
        match word.parse() {
            Ok(cable) => port.cable = Some(cable),
            Err(_) => {
                let says = format!("the cable length of {} is `{word}`", entry.key);
                reader.odd(
                    OddityKind::Value,
                    entry.node.at,
                    (says, "write metres, such as \"40m\"".to_owned()),
                );
            }
        }
    }
}

fn groups(reader: &mut Reader<'_>, switch: &mut Switch) {
    for entry in reader.table("BUFFER_PG") {
        let (ports, numbers) = ports_and_numbers(reader, switch, entry);
        let names = switch.profiles.iter().map(|profile| profile.name.as_str());
        let bound = match entry.node.get("profile") {
            Some(node) if node.word() == Some("NULL") => Bound::Computed,
            Some(node) => {
                reader.reference(node, ("BUFFER_PROFILE", names)).map_or(Bound::Nothing, Bound::Profile)
            }
            None => Bound::Computed,
        };
        let at = reader.spot(entry.at);
        for port in ports {
            let of = numbers.iter().map(|&number| (number, Group { at, bound }));
            switch.ports[port].groups.extend(of);
        }
    }
}

fn queues(reader: &mut Reader<'_>, switch: &mut Switch) {
    for entry in reader.table("BUFFER_QUEUE") {
        let names = switch.profiles.iter().map(|profile| profile.name.as_str());
        let profile =
            entry.node.get("profile").and_then(|node| reader.reference(node, ("BUFFER_PROFILE", names)));
        each_queue(reader, switch, entry, |queue| queue.profile = profile);
    }
    for entry in reader.table("QUEUE") {
        let names = switch.markings.iter().map(|marking| marking.name.as_str());
        let marking =
            entry.node.get("wred_profile").and_then(|node| reader.reference(node, ("WRED_PROFILE", names)));
        if marking.is_some() {
            each_queue(reader, switch, entry, |queue| queue.marking = marking);
        }
    }
}

fn each_queue(reader: &mut Reader<'_>, switch: &mut Switch, entry: &Entry, set: impl Fn(&mut Queue)) {
    let (ports, numbers) = ports_and_numbers(reader, switch, entry);
    for port in ports {
        for number in &numbers {
            let queue = switch.ports[port].queues.entry(*number).or_default();
            set(queue);
        }
    }
}

/// All maps of a table by name.
fn maps(reader: &mut Reader<'_>, table: &str) -> BTreeMap<String, Rc<Map>> {
    let mut maps = BTreeMap::new();
    for named in reader.table(table) {
        let mut map = Map::new();
        for entry in named.node.entries() {
            let from = entry.key.parse::<u8>().ok().filter(|from| *from < 64);
            let to = reader.number(&named.node, &entry.key, (0, 63));
            match (from, to) {
                (Some(from), Some(to)) => {
                    map.insert(
                        from,
                        Placed { value: to.value.unsigned_abs() as u8, at: reader.spot(entry.at) },
                    );
                }
                (None, _) => {
                    let says = format!("`{}` is not a code point or class", entry.key);
                    reader.odd(OddityKind::Value, entry.at, (says, "write a number from 0 to 63".to_owned()));
                }
                (_, None) => {}
            }
        }
        maps.insert(named.key.clone(), Rc::new(map));
    }
    maps
}

/// PORT_QOS_MAP: what it says for `global` holds for ports that say nothing.
fn qos(reader: &mut Reader<'_>, switch: &mut Switch) {
    let tables = MAPS.map(|(table, field, kind)| (table, field, kind, maps(reader, table)));
    let entries = reader.table("PORT_QOS_MAP");
    let (global, own): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(|entry| entry.key == "global");
    let everywhere = global.iter().map(|entry| ((0..switch.ports.len()).collect(), *entry));
    let everywhere: Vec<(Vec<usize>, &Entry)> = everywhere.collect();
    let here: Vec<(Vec<usize>, &Entry)> =
        own.into_iter().map(|entry| (named(reader, switch, (&entry.key, entry.at)), entry)).collect();
    for (ports, entry) in everywhere.into_iter().chain(here) {
        for (table, field, kind, maps) in &tables {
            let names = maps.keys().map(String::as_str);
            let Some(node) = entry.node.get(field) else { continue };
            let Some(map) =
                reader.reference(node, (table, names)).and_then(|number| maps.values().nth(number))
            else {
                continue;
            };
            for port in &ports {
                switch.ports[*port].maps.insert(*kind, map.clone());
            }
        }
        if let Some(pfc) = enabled(reader, &entry.node) {
            ports.iter().for_each(|port| switch.ports[*port].pfc.clone_from(&pfc));
        }
    }
}

/// The priorities of `pfc_enable`.
fn enabled(reader: &mut Reader<'_>, node: &Node) -> Option<Vec<Placed<u8>>> {
    let field = node.get("pfc_enable")?;
    let word = field.word().unwrap_or("").trim();
    let numbers = if word.is_empty() { Some(Vec::new()) } else { range(word) };
    let Some(numbers) = numbers.filter(|numbers| numbers.iter().all(|number| *number < 8)) else {
        let says = format!("`pfc_enable` is `{word}`");
        reader.odd(
            OddityKind::Value,
            field.at,
            (says, "write priorities from 0 to 7, such as \"3,4\"".to_owned()),
        );
        return None;
    };
    let at = reader.spot(field.at);
    Some(numbers.into_iter().map(|value| Placed { value, at }).collect())
}

fn watchdogs(reader: &mut Reader<'_>, switch: &mut Switch) {
    let disabled = |entry: &&Entry| entry.key != "GLOBAL";
    for entry in reader.table("PFC_WD").iter().filter(disabled) {
        let span = |reader: &mut Reader<'_>, key| {
            reader.number(&entry.node, key, (0, 1_000_000)).map(|ms| Span::from_ms(ms.value.unsigned_abs()))
        };
        let (detection, restoration) = (span(reader, "detection_time"), span(reader, "restoration_time"));
        let watchdog = Watchdog { at: reader.spot(entry.at), detection, restoration };
        for port in named(reader, switch, (&entry.key, entry.at)) {
            switch.ports[port].watchdog = Some(watchdog.clone());
        }
    }
}

fn neighbours(reader: &mut Reader<'_>, switch: &mut Switch) {
    let known = reader.root.get("DEVICE_NEIGHBOR_METADATA");
    for entry in reader.table("DEVICE_NEIGHBOR") {
        let Some(name) = entry.node.get("name").and_then(Node::word) else { continue };
        let role = known.and_then(|table| table.get(name)?.get("type")?.word()).map(str::to_owned);
        if let Some(port) = switch.ports.iter_mut().find(|port| port.name == entry.key) {
            port.neighbour = Some((name.to_owned(), role));
        }
    }
}

/// The seed that SONiC gives the hash: said in the metadata, or by the switch's role.
fn hash(reader: &mut Reader<'_>, switch: &Switch) -> Option<Hash> {
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

/// What the template of SONiC's switch settings (`switch.json.j2`) makes of the role: the first word that it contains.
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
