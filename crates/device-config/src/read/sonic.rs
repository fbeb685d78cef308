//! SONiC's `config_db.json` and parts of it: pools, profiles and marking are read here, their bindings to ports in
//! `ports`, the shapes of files in `tables`.
//!
//! In this format values are texts, even numbers. References are names, or `[TABLE|name]` as in older releases. Files
//! without PORT are fragments, as generated from templates: their ports are those named in entries, and a missing table
//! is unknown, not empty.

use super::range;
use crate::model::{
    MarkingOff, MarkingProfile, MemoryPool, Metres, Network, Profile, SwitchConfig, Threshold,
};
use crate::told::{Oddity, OddityKind};
use colours::{disabled, drops, judged, marks, unmarked};
use files::{Files, spot};
use std::collections::HashMap;
use weft_config::json::{JsonEntry, JsonNode};
use weft_config::place::{Placed, SourceFile, Spot};
use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate};

mod colours;
mod fields;
mod files;
mod ports;
mod tables;

/// Maximum number of ports, profiles, pools or markings, more than any switch has.
const MOST: usize = 4_096;
/// Maximum number of unknown names that get a hint, and maximum length of such a name.
const HINTS: usize = 16;
const HINT_LENGTH: usize = 64;

/// Reads files as one switch, or as one per chip if they distinguish chips.
pub(super) fn read(sources: &[(usize, &SourceFile)], network: &mut Network) -> Result<(), Vec<String>> {
    let mut files = Files::default();
    let added = sources.iter().filter_map(|(number, source)| files.add(*number, source, network).err());
    let refusals: Vec<String> = added.collect();
    if !refusals.is_empty() {
        return Err(refusals);
    }
    let name = sources.first().map_or("", |(_, source)| source.name.as_str());
    for chip in std::mem::take(&mut files.chips) {
        let (chip, root) = (chip.name.clone(), chip.root());
        let mut reader = Reader::new(&files.bases, &root, &mut network.oddities);
        let switch = reader.switch((name, &chip));
        let in_part = !reader.complete && !switch.ports.is_empty();
        if let Some((_, coverage)) = network.coverage.last_mut().filter(|_| in_part) {
            let remark = "part of a switch, without PORT: ports are those that entries and, if present, PORT_QOS_MAP name; \
                          missing tables are unknown";
            coverage.remarks.push(remark.to_owned());
        }
        within_bounds(&switch).map_err(|found| vec![format!("{name}: {found}")])?;
        network.switches.push(switch);
    }
    Ok(())
}

/// Refuses more objects than any switch has, because rules compare ports with each other.
fn within_bounds(switch: &SwitchConfig) -> Result<(), String> {
    let counts = [
        (switch.ports.len(), "ports"),
        (switch.pools.len(), "entries in BUFFER_POOL"),
        (switch.profiles.len(), "entries in BUFFER_PROFILE"),
        (switch.markings.len(), "entries in WRED_PROFILE"),
    ];
    match counts.iter().find(|(count, _)| *count > MOST) {
        Some((count, what)) => Err(format!("found {count} {what}; allowed: up to {MOST}")),
        None => Ok(()),
    }
}

/// The tables of a chip, and what could not be interpreted in them.
struct Reader<'a> {
    bases: &'a [(usize, usize)],
    root: &'a JsonNode,
    oddities: &'a mut Vec<Oddity>,
    /// Whether the files describe the whole switch, including its ports.
    complete: bool,
    /// The current entry.
    subject: String,
    /// Ports by name; names of other tables by table.
    ports: HashMap<String, usize>,
    names: HashMap<&'static str, HashMap<String, usize>>,
    /// Unknown names, each with the nearest known one.
    hints: HashMap<(&'static str, String), String>,
}

impl<'a> Reader<'a> {
    fn new(bases: &'a [(usize, usize)], root: &'a JsonNode, oddities: &'a mut Vec<Oddity>) -> Reader<'a> {
        let complete = root.get("PORT").is_some();
        let (ports, names) = (HashMap::new(), HashMap::new());
        Reader {
            bases,
            root,
            oddities,
            complete,
            subject: String::new(),
            ports,
            names,
            hints: HashMap::new(),
        }
    }

    fn switch(&mut self, (file_name, chip): (&str, &str)) -> SwitchConfig {
        let metadata = self.root.get("DEVICE_METADATA").and_then(|table| table.get("localhost"));
        let word = |key: &str| metadata.and_then(|table| table.get(key)?.word()).map(str::to_owned);
        let host = word("hostname").unwrap_or_else(|| file_name.to_owned());
        let part = if chip.is_empty() { word("asic_name").unwrap_or_default() } else { chip.to_owned() };
        let has = |table: &str| self.complete || self.root.get(table).is_some();
        let mut switch = SwitchConfig {
            at: self.root.entries().first().map_or(self.spot(0), |table| self.spot(table.at)),
            name: if part.is_empty() { host } else { format!("{host} {part}") },
            role: word("type"),
            knows_watchdog: has("PFC_WD"),
            knows_groups: self.root.get("BUFFER_PG").is_some(),
            knows_headroom: true,
            lacks_pfc: !has("PORT_QOS_MAP"),
            lacks_queues: !has("QUEUE"),
            ..SwitchConfig::default()
        };
        for table in ["BUFFER_POOL", "BUFFER_PROFILE", "WRED_PROFILE"] {
            self.index(table);
        }
        fields::misspelt(self);
        switch.pools = self.table("BUFFER_POOL").iter().map(|entry| self.pool(entry)).collect();
        switch.profiles = self.table("BUFFER_PROFILE").iter().map(|entry| self.profile(entry)).collect();
        switch.markings = self.table("WRED_PROFILE").iter().map(|entry| self.marking(entry)).collect();
        ports::read(self, &mut switch);
        switch
    }

    /// The entries of a table; empty if there is no such table.
    fn table(&self, name: &str) -> &'a [JsonEntry] {
        self.root.get(name).map_or(&[], JsonNode::entries)
    }

    /// Indexes the names in a table, for references to it.
    fn index(&mut self, table: &'static str) {
        let entries = self.table(table).iter().enumerate();
        let names = entries.map(|(number, entry)| (entry.key.clone(), number)).collect();
        self.names.insert(table, names);
    }

    fn spot(&self, at: usize) -> Spot {
        spot(self.bases, at)
    }

    /// Sets the current entry.
    fn about(&mut self, entry: &JsonEntry) {
        self.subject.clone_from(&entry.key);
    }

    fn odd(&mut self, kind: OddityKind, at: usize, (says, fix): (String, String)) {
        let (at, subject) = (self.spot(at), self.subject.clone());
        self.oddities.push(Oddity { kind, at, subject, says, fix });
    }

    /// The whole number in a field, if there is one, checked against the range `wanted`.
    fn number(&mut self, table: &JsonNode, key: &str, wanted: (i64, i64)) -> Option<Placed<i64>> {
        self.whole(key, table.get(key)?, wanted)
    }

    /// Parses a value as a whole number within bounds.
    fn whole(&mut self, key: &str, node: &JsonNode, wanted: (i64, i64)) -> Option<Placed<i64>> {
        let word = node.word().unwrap_or("");
        match word.trim().parse() {
            Ok(value) if (wanted.0..=wanted.1).contains(&value) => {
                Some(Placed { value, at: self.spot(node.at) })
            }
            _ => {
                let says = format!("`{}` is `{}`", short(key), short(word));
                let fix = format!("write a whole number from {} to {}", wanted.0, wanted.1);
                self.odd(OddityKind::Value, node.at, (says, fix));
                None
            }
        }
    }

    /// Parses a size in bytes, up to a terabyte.
    fn bytes(&mut self, table: &JsonNode, key: &str) -> Option<Placed<Bytes>> {
        let number = self.number(table, key, (0, 1_000_000_000_000))?;
        Some(Placed { value: Bytes(number.value.unsigned_abs()), at: number.at })
    }

    /// The number of the entry that a field refers to in an indexed table. A table missing from a fragment is not
    /// reported.
    fn reference(&mut self, node: &JsonNode, table: &'static str) -> Option<usize> {
        let name = node.word().unwrap_or("");
        let bare = name.trim_matches(['[', ']']).trim_start_matches(&format!("{table}|")).to_owned();
        let found = self.names.get(table).and_then(|names| names.get(&bare)).copied();
        if found.is_none() && (self.complete || self.root.get(table).is_some()) {
            let hint = self.hint(table, &bare);
            let says = format!("{table} has no `{}`{hint}", short(&bare));
            let fix = format!("define it in {table}, or correct the name");
            self.odd(OddityKind::Reference, node.at, (says, fix));
        }
        found
    }

    /// The nearest name in a table, computed once for each unknown name, up to a maximum number of names.
    fn hint(&mut self, table: &'static str, name: &str) -> String {
        if let Some(hint) = self.hints.get(&(table, name.to_owned())) {
            return hint.clone();
        }
        if self.hints.len() >= HINTS || name.len() > HINT_LENGTH {
            return String::new();
        }
        let hint = did_you_mean(name, self.table(table).iter().map(|entry| entry.key.as_str()));
        self.hints.insert((table, name.to_owned()), hint.clone());
        hint
    }

    fn pool(&mut self, entry: &JsonEntry) -> MemoryPool {
        self.about(entry);
        let size = self.bytes(&entry.node, "size").map(|size| size.value);
        let side = entry.node.get("type").and_then(JsonNode::word);
        MemoryPool {
            at: self.spot(entry.at),
            name: entry.key.clone(),
            size,
            headroom: self.bytes(&entry.node, "xoff"),
            ingress: side != Some("egress"),
            egress: side != Some("ingress"),
        }
    }

    fn profile(&mut self, entry: &JsonEntry) -> Profile {
        self.about(entry);
        let node = &entry.node;
        let pool = node.get("pool").and_then(|pool| self.reference(pool, "BUFFER_POOL"));
        let headroom = self.bytes(node, "xoff");
        let named = entry.key.starts_with("pg_lossless");
        let lossless = headroom.as_ref().is_some_and(|xoff| xoff.value.0 > 0) || named;
        Profile {
            at: self.spot(entry.at),
            name: entry.key.clone(),
            pool,
            reserved: self.bytes(node, "size").map_or(Bytes::ZERO, |size| size.value),
            threshold: self.threshold(entry.at, node),
            headroom,
            xon: self.bytes(node, "xon"),
            xon_offset: self.bytes(node, "xon_offset"),
            made_for: made_for(&entry.key),
            lossless,
        }
    }

    /// `dynamic_th` n is alpha = 2^n. SAI requires one threshold of each profile; where the switch computes headroom, it
    /// adds a default.
    fn threshold(&mut self, at: usize, node: &JsonNode) -> Option<Placed<Threshold>> {
        let computed = node.get("headroom_type").and_then(JsonNode::word) == Some("dynamic");
        match (node.get("dynamic_th"), node.get("static_th")) {
            (Some(_), Some(second)) => {
                self.threshold_odd(second.at, "both `dynamic_th` and `static_th` are given")
            }
            (None, None) if !computed => {
                self.threshold_odd(at, "neither `dynamic_th` nor `static_th` is given")
            }
            _ => {}
        }
        if let Some(exponent) = self.number(node, "dynamic_th", (-8, 8)) {
            let alpha = 2f64.powi(i32::try_from(exponent.value).unwrap_or_default());
            return Some(Placed { value: Threshold::Dynamic(alpha), at: exponent.at });
        }
        let limit = self.bytes(node, "static_th")?;
        Some(Placed { value: Threshold::Static(limit.value), at: limit.at })
    }

    fn threshold_odd(&mut self, at: usize, says: &str) {
        self.odd(OddityKind::Value, at, (says.to_owned(), "give the profile one of them".to_owned()));
    }

    /// The thresholds of the colour that is judged; zero if it lacks one.
    fn marking(&mut self, entry: &JsonEntry) -> MarkingProfile {
        self.about(entry);
        let node = &entry.node;
        let colour = judged(node);
        let here = self.spot(entry.at);
        let zero = || Placed { value: Bytes::ZERO, at: here };
        let min = self.bytes(node, &format!("{colour}_min_threshold"));
        let max = self.bytes(node, &format!("{colour}_max_threshold"));
        let (min, max) = min.zip(max).unwrap_or_else(|| (zero(), zero()));
        let probability = self.number(node, &format!("{colour}_drop_probability"), (0, 100));
        let probability = probability.map_or(Placed { value: 1.0, at: here }, |percent| Placed {
            value: percent.value as f64 / 100.0,
            at: percent.at,
        });
        let ecn = self.ecn(node);
        MarkingProfile {
            at: here,
            name: entry.key.clone(),
            ecn,
            disabled: disabled(node).map(|(at, why, fix)| MarkingOff {
                at: self.spot(at.unwrap_or(entry.at)),
                why,
                fix,
            }),
            unmarked: unmarked(node).into_iter().map(|(colour, at)| (colour, self.spot(at))).collect(),
            min,
            max,
            probability,
            drops_non_ect: true,
            drops_early: drops(node),
            at_enqueue: false,
            bound_elsewhere: false,
        }
    }

    /// Whether a profile marks packets of any colour; the switch refuses a profile with another value.
    fn ecn(&mut self, node: &JsonNode) -> bool {
        if let Some(ecn) = node.get("ecn").filter(|_| !colours::is_valid(node)) {
            let says = format!("`ecn` is `{}`", short(ecn.word().unwrap_or("")));
            self.odd(OddityKind::Value, ecn.at, (says, format!("write {}", colours::MODES.join(", "))));
        }
        marks(node)
    }
}

/// The start of a value, for messages.
fn short(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Speed and cable length in names such as `pg_lossless_100000_40m_profile`.
fn made_for(name: &str) -> Option<(Rate, Metres)> {
    let mut words = name.strip_prefix("pg_lossless_")?.split('_');
    let speed: u64 = words.next()?.parse().ok()?;
    let cable = words.next()?.parse().ok()?;
    (speed <= 10_000_000).then(|| (Rate::from_mbps(speed), cable))
}
