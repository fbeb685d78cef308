//! Reads topology files of other simulators and turns them into an explicit graph, and that into scenario text.
//!
//! Must not depend on traffic: flow files are read by the workload crate with the host numbers given here. Never
//! panics, whatever the file contains; every error names file, line, what was found and what is allowed.

mod hpcc;
mod htsim;

use crate::listing::ExplicitSettings;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use weft_core::input::{LARGEST_LIST, read_packed};
use weft_core::{HostId, Span};

pub use crate::format::Format;
pub use hpcc::read as hpcc;
pub use htsim::read as htsim;
pub use weft_core::lines::ImportError;

/// What a topology file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The graph as settings.
    pub graph: ExplicitSettings,
    /// The file's number of each host, if flows refer to these numbers.
    pub host_of_number: BTreeMap<u32, HostId>,
    /// Latency of the switches of each tier, from the hosts up; empty if files of this format do not say.
    pub switch_latencies: Vec<Span>,
}

/// Reads a file.
///
/// # Errors
/// If the file cannot be read or does not have this format.
pub fn read(format: Format, path: &Path) -> Result<Imported, ImportError> {
    let name = path.display().to_string();
    let text = read_packed(path, LARGEST_LIST).map_err(|error| ImportError::unreadable(&name, &error))?;
    match format {
        Format::Hpcc => hpcc(&name, &text),
        Format::Htsim => htsim(&name, &text),
    }
}

/// The `[topology.graph]` section of a scenario.
#[must_use]
pub fn to_scenario(imported: &Imported) -> String {
    let ExplicitSettings { hosts, host_names, switches, links, .. } = &imported.graph;
    let mut text = String::from("[topology.graph]\n");
    match host_names.is_empty() {
        true => push(&mut text, format_args!("hosts = {hosts}\n")),
        false => push(&mut text, format_args!("host_names = {}\n", list(host_names))),
    }
    push(&mut text, format_args!("switches = {}\nlinks = [\n", list(switches)));
    for link in links {
        let (from, to) = (quoted(&link.from), quoted(&link.to));
        push(
            &mut text,
            format_args!(
                "  {{ from = {from}, to = {to}, rate = \"{}\", delay = \"{}\"",
                link.rate, link.delay
            ),
        );
        if link.count != 1 {
            push(&mut text, format_args!(", count = {}", link.count));
        }
        if link.loss.0 != 0.0 {
            push(&mut text, format_args!(", loss = {:?}", link.loss.0));
        }
        text.push_str(" },\n");
    }
    text.push_str("]\n");
    text + &latencies(&imported.switch_latencies)
}

/// The names of tiers in a graph without names of its own, from the hosts up.
const TIERS: [&str; 3] = ["leaf", "spine", "core"];

/// The `[switch]` sections with these latencies, one if all are equal.
fn latencies(tiers: &[Span]) -> String {
    let section = |level: &str, latency: &Span| format!("\n[switch{level}]\nlatency = \"{latency}\"\n");
    match tiers {
        [] => String::new(),
        [first, rest @ ..] if rest.iter().all(|latency| latency == first) => section("", first),
        _ => TIERS.iter().zip(tiers).map(|(tier, latency)| section(&format!(".{tier}"), latency)).collect(),
    }
}

fn push(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("a string grows");
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

/// A basic TOML string.
fn quoted(text: &str) -> String {
    let escaped = text.chars().flat_map(|c| match c {
        '"' | '\\' => vec!['\\', c],
        c if c.is_control() => format!("\\u{:04X}", c as u32).chars().collect(),
        c => vec![c],
    });
    format!("\"{}\"", escaped.collect::<String>())
}
