//! Flow files of other tools: the tool-neutral table, `flow.txt` of the HPCC simulator and connection matrices of htsim.
//!
//! Must not depend on topologies: where a file has its own node numbers, the caller translates those of hosts.
//! Never panics, whatever the file holds; every error names file, line, what was found and what is allowed, and all
//! errors of a file are reported at once.

mod csv;
mod hpcc;
mod htsim;

use crate::listed::ListedFlow;
use std::path::Path;

pub use csv::{FlowLine, read as csv};
pub(crate) use csv::{rows, unread};
pub use hpcc::read as hpcc;
pub use htsim::read as htsim;
use weft_core::input::{LARGEST_LIST, read_packed};
pub use weft_core::lines::{ImportError, ImportErrors};

/// A flow between two hosts.
fn between_two(line: &weft_core::lines::Line<'_>, flow: ListedFlow) -> Result<ListedFlow, ImportError> {
    if flow.from == flow.to {
        return Err(
            line.error(format!("a flow from host {} to itself", flow.from), "a flow between two hosts")
        );
    }
    Ok(flow)
}

/// The text of a flow file, unpacked if its name ends in `.gz`.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn flow_text(path: &Path) -> Result<String, ImportError> {
    let unreadable = |error| ImportError::unreadable(&path.display().to_string(), &error);
    read_packed(path, LARGEST_LIST).map_err(unreadable)
}

/// The `[[traffic]]` section of a scenario that lists these flows.
#[must_use]
pub fn to_scenario(flows: &[ListedFlow], tag: &str) -> String {
    let line = |flow: &ListedFlow| {
        let ListedFlow { at, from, to, size, deadline } = flow;
        let deadline = deadline.map_or(String::new(), |deadline| format!(", deadline = \"{deadline}\""));
        format!("  {{ at = \"{at}\", from = {from}, to = {to}, size = \"{size}\"{deadline} }},\n")
    };
    let lines: String = flows.iter().map(line).collect();
    let tag: String = tag.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
    format!("[[traffic]]\ntag = \"{tag}\"\nkind = \"list\"\nflows = [\n{lines}]\n")
}

/// The flows as a table that the `file` setting of a list reads back.
#[must_use]
pub fn to_csv(flows: &[ListedFlow]) -> String {
    let dated = flows.iter().any(|flow| flow.deadline.is_some());
    let deadline = |flow: &ListedFlow| match flow.deadline {
        Some(deadline) => format!(",{}", deadline.0),
        None => if dated { "," } else { "" }.to_owned(),
    };
    let line = |flow: &ListedFlow| {
        format!("{},{},{},{}{}\n", flow.at.0, flow.from, flow.to, flow.size.0, deadline(flow))
    };
    let column = if dated { ",deadline_ps" } else { "" };
    format!("start_ps,src,dst,bytes{column}\n{}", flows.iter().map(line).collect::<String>())
}
