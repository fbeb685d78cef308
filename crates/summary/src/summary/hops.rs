//! The names of hops and tiers. Must not depend on events there.

use std::collections::BTreeSet;
use weft_core::record::RunRecord;

/// The names of hops by their numbers, for packets that cross the highest tier that any packet reached: up from the host, then down. Packets
/// that turn round below it leave the switch after their last hop upwards towards a lower tier. Further hops have
/// only numbers. If switches of one tier are neighbours, a hop leads to different nodes for different packets, and
/// only the first is named by its ends.
#[must_use]
pub fn hop_names(record: &RunRecord) -> Vec<String> {
    let tiers = tier_words(record);
    let top = highest_reached(record).unwrap_or(tiers.len().saturating_sub(1));
    let hops =
        record.hops.len().max(record.drops.iter().map(|drop| usize::from(drop.hop) + 1).max().unwrap_or(0));
    if has_peers(record) {
        let first = tiers.get(1).map(|word| format!("host → {word}"));
        return first.into_iter().chain((1..hops).map(|hop| format!("{} hop", ordinal(hop + 1)))).collect();
    }
    let tier = |place: usize| tiers[if place <= top { place } else { 2 * top - place }].as_str();
    let known = (0..2 * top).map(|hop| format!("{} → {}", tier(hop), tier(hop + 1)));
    let further = (2 * top..hops).map(|hop| format!("hop {hop}"));
    known.chain(further).collect()
}

/// The highest tier to or from which a packet was sent; `None` where links were not measured.
fn highest_reached(record: &RunRecord) -> Option<usize> {
    let used = record.links.iter().filter(|link| link.sent.0 > 0);
    let tier = |node: u32| record.nodes.get(node as usize).map(|node| usize::from(node.tier));
    used.flat_map(|link| [link.from, link.to]).filter_map(tier).max()
}

/// Whether a cable connects two switches of one tier.
fn has_peers(record: &RunRecord) -> bool {
    let tier = |node: u32| record.nodes.get(node as usize).map(|node| node.tier);
    record.links.iter().any(|link| tier(link.from) == tier(link.to) && tier(link.from) > Some(0))
}

/// `2nd`, `3rd`, `11th`.
fn ordinal(number: usize) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

/// The names of each tier's nodes: their common word without its number, or `tier 2`. Hosts are `host`.
#[must_use]
pub fn tier_words(record: &RunRecord) -> Vec<String> {
    let top = record.nodes.iter().map(|node| node.tier).max().unwrap_or(0);
    let word = |tier: u8| {
        let members = record.nodes.iter().filter(|node| node.tier == tier);
        let stem = |name: &str| {
            let stem = name.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or("");
            stem.to_ascii_lowercase()
        };
        let words: BTreeSet<String> = members.map(|node| stem(&node.name)).collect();
        match words.into_iter().collect::<Vec<_>>().as_slice() {
            _ if tier == 0 => "host".to_owned(),
            [one] if !one.is_empty() => one.clone(),
            _ if top == 1 => "switch".to_owned(),
            _ => format!("tier {tier}"),
        }
    };
    (0..=top).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Bytes;
    use weft_core::record::{LinkRecord, NodeRecord};

    fn record(nodes: &[(&str, u8)]) -> RunRecord {
        let node = |(name, tier): &(&str, u8)| NodeRecord { name: (*name).to_owned(), tier: *tier };
        RunRecord { nodes: nodes.iter().map(node).collect(), ..RunRecord::default() }
    }

    #[test]
    fn hops_are_named_by_the_tiers_between_which_they_lead() {
        let leaf_spine = record(&[("host0", 0), ("leaf0", 1), ("leaf1", 1), ("spine0", 2)]);
        assert_eq!(hop_names(&leaf_spine), ["host → leaf", "leaf → spine", "spine → leaf", "leaf → host"]);
        let one = record(&[("a", 0), ("b", 0), ("switch0", 1)]);
        assert_eq!(hop_names(&one), ["host → switch", "switch → host"]);
        let mut dumbbell = record(&[("host0", 0), ("left", 1), ("right", 1)]);
        dumbbell.hops.resize(4, Default::default());
        let link = |from, to| LinkRecord { from, to, ..LinkRecord::default() };
        dumbbell.links = vec![link(0, 1), link(1, 2), link(2, 1)];
        assert_eq!(hop_names(&dumbbell), ["host → switch", "2nd hop", "3rd hop", "4th hop"]);
        let mixed = record(&[("h0", 0), ("tor-1", 1), ("rack2", 1), ("core", 2)]);
        assert_eq!(hop_names(&mixed)[1], "tier 1 → core");
    }

    /// Where nothing left the racks, no hop is one between leaf and spine.
    #[test]
    fn names_go_up_to_the_highest_tier_that_a_packet_reached() {
        let mut rack = record(&[("host0", 0), ("host1", 0), ("leaf0", 1), ("spine0", 2)]);
        let link = |from, to, sent| LinkRecord { from, to, sent: Bytes(sent), ..LinkRecord::default() };
        rack.links = vec![link(0, 2, 9), link(2, 1, 9), link(2, 3, 0)];
        assert_eq!(hop_names(&rack), ["host → leaf", "leaf → host"]);
        rack.links[2].sent = Bytes(1);
        assert_eq!(hop_names(&rack).len(), 4);
    }
}
