//! SONiC's `config_db.json`: pools, profiles and marking here, what binds them to ports in `ports`.
//!
//! Values are texts in this file, numbers too. References are names, or `[TABLE|name]` as older releases write them.

use super::range;
use crate::json::{self, Content, Entry, Node};
use crate::model::{Marking, Metres, Network, Oddity, OddityKind, Pool, Profile, Switch, Threshold};
use crate::place::{Placed, Source, Spot, line_column};
use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate};

mod ports;

/// Reads a file as one switch.
pub(super) fn read(number: usize, source: &Source, network: &mut Network) -> Result<(), String> {
    let root = json::parse(&source.text).map_err(|broken| {
        let (line, column) = line_column(&source.text, broken.at);
        format!("{}:{line}:{column}: found {}; allowed: {}", source.name, broken.found, broken.allowed)
    })?;
    if !matches!(root.content, Content::Table(_)) {
        return Err(format!(
            "{}: found no table at the top; allowed: a SONiC configuration, {{\"PORT\": ...}}",
            source.name
        ));
    }
    let mut reader = Reader { file: number, root: &root, oddities: &mut network.oddities };
    reader.repetitions(&root, "");
    let switch = reader.switch(&source.name);
    network.switches.push(switch);
    Ok(())
}

/// The file and what was odd in it.
struct Reader<'a> {
    file: usize,
    root: &'a Node,
    oddities: &'a mut Vec<Oddity>,
}

impl<'a> Reader<'a> {
    fn switch(&mut self, file_name: &str) -> Switch {
        let metadata = self.root.get("DEVICE_METADATA").and_then(|table| table.get("localhost"));
        let word = |key: &str| metadata.and_then(|table| table.get(key)?.word()).map(str::to_owned);
        let mut switch = Switch {
            at: self.spot(0),
            name: word("hostname").unwrap_or_else(|| file_name.to_owned()),
            role: word("type"),
            knows_watchdog: true,
            knows_groups: self.root.get("BUFFER_PG").is_some(),
            knows_headroom: true,
            ..Switch::default()
        };
        switch.pools = self.table("BUFFER_POOL").iter().map(|entry| self.pool(entry)).collect();
        switch.profiles =
            self.table("BUFFER_PROFILE").iter().map(|entry| self.profile(entry, &switch)).collect();
        switch.markings = self.table("WRED_PROFILE").iter().map(|entry| self.marking(entry)).collect();
        ports::read(self, &mut switch);
        switch
    }

    /// The entries of a table of the file; none if there is no such table.
    fn table(&self, name: &str) -> &'a [Entry] {
        self.root.get(name).map_or(&[], Node::entries)
    }

    fn spot(&self, at: usize) -> Spot {
        Spot { file: self.file, at }
    }

    fn odd(&mut self, kind: OddityKind, at: usize, (says, mend): (String, String)) {
        let at = self.spot(at);
        self.oddities.push(Oddity { kind, at, says, mend });
    }

    fn repetitions(&mut self, node: &Node, path: &str) {
        let mut seen = std::collections::BTreeSet::new();
        for entry in node.entries() {
            if !seen.insert(&entry.key) {
                let says = format!("the key `{}` is given twice in `{path}`; the last one counts", entry.key);
                self.odd(OddityKind::Repetition, entry.at, (says, "remove one of them".to_owned()));
            }
            self.repetitions(&entry.node, &entry.key);
        }
    }

    /// The whole number of a field, if the field is there; `wanted` says what it may be.
    fn number(&mut self, table: &Node, key: &str, wanted: (i64, i64)) -> Option<Placed<i64>> {
        let node = table.get(key)?;
        let word = node.word().unwrap_or("");
        match word.trim().parse() {
            Ok(value) if (wanted.0..=wanted.1).contains(&value) => {
                Some(Placed { value, at: self.spot(node.at) })
            }
            _ => {
                let found: String = word.chars().take(40).collect();
                let says = format!("`{key}` is `{found}`");
                let mend = format!("write a whole number from {} to {}", wanted.0, wanted.1);
                self.odd(OddityKind::Value, node.at, (says, mend));
                None
            }
        }
    }

    /// A size in bytes, up to a terabyte.
    fn bytes(&mut self, table: &Node, key: &str) -> Option<Placed<Bytes>> {
        let number = self.number(table, key, (0, 1_000_000_000_000))?;
        Some(Placed { value: Bytes(number.value.unsigned_abs()), at: number.at })
    }

    /// The number of what a field names in a list of names.
    fn reference<'b>(
        &mut self,
        node: &Node,
        (table, mut names): (&str, impl Iterator<Item = &'b str> + Clone),
    ) -> Option<usize> {
        let name = node.word().unwrap_or("");
        let bare = name.trim_matches(['[', ']']).trim_start_matches(&format!("{table}|")).to_owned();
        let hint = did_you_mean(&bare, names.clone());
        let found = names.position(|known| known == bare);
        if found.is_none() {
            let says = format!("{table} has no `{bare}`{hint}");
            self.odd(
                OddityKind::Reference,
                node.at,
                (says, format!("define it in {table}, or correct the name")),
            );
        }
        found
    }

    fn pool(&mut self, entry: &Entry) -> Pool {
        let size = self.bytes(&entry.node, "size").map(|size| size.value);
        Pool {
            at: self.spot(entry.at),
            name: entry.key.clone(),
            size,
            headroom: self.bytes(&entry.node, "xoff"),
            ingress: entry.node.get("type").and_then(Node::word).is_none_or(|side| side != "egress"),
        }
    }

    fn profile(&mut self, entry: &Entry, switch: &Switch) -> Profile {
        let node = &entry.node;
        let names = switch.pools.iter().map(|pool| pool.name.as_str());
        let pool = node.get("pool").and_then(|pool| self.reference(pool, ("BUFFER_POOL", names)));
        let headroom = self.bytes(node, "xoff");
        let named = entry.key.starts_with("pg_lossless");
        let lossless = headroom.as_ref().is_some_and(|xoff| xoff.value.0 > 0) || named;
        Profile {
            at: self.spot(entry.at),
            name: entry.key.clone(),
            pool,
            reserved: self.bytes(node, "size").map_or(Bytes::ZERO, |size| size.value),
            threshold: self.threshold(node),
            headroom,
            xon: self.bytes(node, "xon"),
            xon_offset: self.bytes(node, "xon_offset"),
            made_for: made_for(&entry.key),
            lossless,
        }
    }

    /// `dynamic_th` n is alpha = 2^n.
    fn threshold(&mut self, node: &Node) -> Option<Placed<Threshold>> {
        if let Some(exponent) = self.number(node, "dynamic_th", (-8, 8)) {
            let alpha = 2f64.powi(i32::try_from(exponent.value).unwrap_or_default());
            return Some(Placed { value: Threshold::Dynamic(alpha), at: exponent.at });
        }
        let limit = self.bytes(node, "static_th")?;
        Some(Placed { value: Threshold::Static(limit.value), at: limit.at })
    }

    /// The thresholds of green packets, or of the first colour that has any.
    fn marking(&mut self, entry: &Entry) -> Marking {
        let node = &entry.node;
        let colours = ["green", "yellow", "red"];
        let colour =
            colours.into_iter().find(|colour| node.get(&format!("{colour}_min_threshold")).is_some());
        let colour = colour.unwrap_or("green");
        let here = self.spot(entry.at);
        let zero = || Placed { value: Bytes::ZERO, at: here };
        let min = self.bytes(node, &format!("{colour}_min_threshold")).unwrap_or_else(zero);
        let max = self.bytes(node, &format!("{colour}_max_threshold"));
        let max = max.unwrap_or(Placed { value: min.value, at: min.at });
        let probability = self.number(node, &format!("{colour}_drop_probability"), (0, 100));
        let probability = probability.map_or(Placed { value: 1.0, at: here }, |percent| Placed {
            value: percent.value as f64 / 100.0,
            at: percent.at,
        });
        let ecn = node.get("ecn").and_then(Node::word).is_some_and(|ecn| ecn != "ecn_none");
        Marking {
            at: here,
            name: entry.key.clone(),
            ecn,
            disabled: disabled(node).map(|at| self.spot(at.unwrap_or(entry.at))),
            min,
            max,
            probability,
            drops_non_ect: true,
            at_enqueue: false,
        }
    }
}

/// Whether no colour is enabled, and where it says so (inner `None`: nowhere).
fn disabled(node: &Node) -> Option<Option<usize>> {
    let switches = ["green", "yellow", "red"].map(|colour| node.get(&format!("wred_{colour}_enable")));
    let on = |switch: &&Node| switch.word() == Some("true") || switch.content == Content::Flag(true);
    if switches.iter().flatten().any(on) {
        return None;
    }
    Some(switches.iter().flatten().map(|node| node.at).next())
}

/// Speed and cable of names such as `pg_lossless_100000_40m_profile`.
fn made_for(name: &str) -> Option<(Rate, Metres)> {
    let mut words = name.strip_prefix("pg_lossless_")?.split('_');
    let speed: u64 = words.next()?.parse().ok()?;
    let cable = words.next()?.parse().ok()?;
    (speed <= 10_000_000).then(|| (Rate::from_mbps(speed), cable))
}
