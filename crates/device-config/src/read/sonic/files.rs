//! Combines the files of a switch: their bytes get a common numbering; records the coverage of each file and the rules
//! it silences.

use super::fields;
use super::tables::{self, Chip, Row, SILENCE};
use crate::model::Network;
use crate::silence;
use crate::told::{Coverage, NameTally, Oddity, OddityKind, Silenced};
use std::collections::BTreeSet;
use weft_config::json::{self, JsonContent, JsonNode};
use weft_config::place::{SourceFile, Spot, line_column};

/// Tables that are read.
const READ: [&str; 19] = [
    "PORT",
    "CABLE_LENGTH",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_PG",
    "BUFFER_QUEUE",
    "WRED_PROFILE",
    "QUEUE",
    "PORT_QOS_MAP",
    "DSCP_TO_TC_MAP",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "PFC_WD",
    "DEVICE_METADATA",
    "DEVICE_NEIGHBOR",
    "DEVICE_NEIGHBOR_METADATA",
    "SWITCH_HASH",
];
/// Files with a common numbering of bytes, and their contents.
#[derive(Default)]
pub(super) struct Files {
    /// The first byte of each file and its number.
    pub(super) bases: Vec<(usize, usize)>,
    /// The first byte of the next file.
    next: usize,
    pub(super) chips: Vec<Chip>,
}

impl Files {
    /// Adds the contents of a file.
    pub(super) fn add(
        &mut self,
        number: usize,
        source: &SourceFile,
        network: &mut Network,
    ) -> Result<(), String> {
        let base = self.next;
        let told = |(at, found, allowed): (usize, &str, &str)| {
            let (line, column) = line_column(&source.text, at);
            format!("{}:{line}:{column}: found {found}; allowed: {allowed}", source.name)
        };
        let root = json::parse(&source.text, base)
            .map_err(|broken| told((broken.at, &broken.found, broken.allowed)))?;
        if !matches!(root.content, JsonContent::Table(_)) {
            return Err(told((
                root.at - base,
                "no table at the top level",
                "a SONiC configuration, {\"PORT\": ...}",
            )));
        }
        self.bases.push((base, number));
        self.next = base + source.text.len() + 1;
        self.repetitions((&root, ""), &mut network.oddities);
        let rows = tables::rows(root);
        network.silenced.extend(silenced(&rows, (base, number), source.text.len()));
        network.coverage.push((number, coverage(&rows)));
        for row in rows.into_iter().filter(|row| row.table != SILENCE) {
            self.lay(number, row, &mut network.oddities);
        }
        Ok(())
    }

    fn repetitions(&self, (node, path): (&JsonNode, &str), oddities: &mut Vec<Oddity>) {
        let mut seen = BTreeSet::new();
        for entry in node.entries() {
            if !seen.insert(&entry.key) {
                let says = format!("the key `{}` is given twice in `{path}`; the last one wins", entry.key);
                let (at, fix) = (spot(&self.bases, entry.at), "remove one of them".to_owned());
                let (kind, subject) = (OddityKind::Repetition, String::new());
                oddities.push(Oddity { kind, at, subject, says, fix });
            }
            self.repetitions((&entry.node, &entry.key), oddities);
        }
    }

    /// Adds a row to the tables of its chip.
    fn lay(&mut self, file: usize, row: Row, oddities: &mut Vec<Oddity>) {
        let (table, key) = (row.table.clone(), row.entry.as_ref().map(|entry| entry.key.clone()));
        let spot = |at| spot(&self.bases, at);
        if row.broken && READ.contains(&table.as_str()) {
            let (says, fix) = (format!("`{table}` is not a table"), "write {\"name\": {...}}".to_owned());
            oddities.push(Oddity {
                kind: OddityKind::Value,
                at: spot(row.at),
                subject: String::new(),
                says,
                fix,
            });
        }
        let number = self.chips.iter().position(|chip| chip.name == row.chip).unwrap_or_else(|| {
            self.chips.push(Chip::new(&row.chip));
            self.chips.len() - 1
        });
        for (field, at) in self.chips[number].put(file, row) {
            let says = format!("an earlier file sets `{field}` of {table} to another value; this one wins");
            let (subject, fix) = (key.clone().unwrap_or_default(), "set it in one of the files".to_owned());
            oddities.push(Oddity { kind: OddityKind::Override, at: spot(at), subject, says, fix });
        }
    }
}

/// A byte of the common numbering as a byte of its file.
pub(super) fn spot(bases: &[(usize, usize)], at: usize) -> Spot {
    let behind = bases.partition_point(|(base, _)| *base <= at);
    let (base, file) = bases.get(behind.max(1) - 1).copied().unwrap_or_default();
    Spot { file, at: at.saturating_sub(base) }
}

/// The coverage of a file.
fn coverage(rows: &[Row]) -> Coverage {
    let (mut read, mut passed_over) = (NameTally::default(), NameTally::default());
    for row in rows.iter().filter(|row| row.table != SILENCE) {
        match READ.contains(&row.table.as_str()) && !row.broken {
            true => read.count(&row.table),
            false => passed_over.count(&row.table),
        }
        for field in row.entry.iter().flat_map(|entry| fields::foreign(&row.table, &entry.node)) {
            passed_over.count(&format!("{}.{}", row.table, super::short(&field.key)));
        }
    }
    Coverage { read: read.list(), passed_over: passed_over.list(), remarks: Vec::new() }
}

/// Rules that a file silences: in its entries, or everywhere.
fn silenced(rows: &[Row], (base, file): (usize, usize), length: usize) -> Vec<Silenced> {
    let mut all = Vec::new();
    for row in rows {
        let Some(entry) = &row.entry else { continue };
        let (words, from, to) = match row.table == SILENCE {
            true => (entry.key == "allow").then(|| entry.node.word()).flatten().map(|word| (word, 0, length)),
            false => entry
                .node
                .get("weft_lint")
                .and_then(JsonNode::word)
                .and_then(|word| word.trim().strip_prefix("allow"))
                .map(|word| (word, entry.at - base, entry.node.end - base)),
        }
        .unwrap_or(("", 0, 0));
        if to > 0 {
            let at = Spot { file, at: entry.at - base };
            all.push(Silenced { at, from, to, rules: silence::names(words) });
        }
    }
    all
}
