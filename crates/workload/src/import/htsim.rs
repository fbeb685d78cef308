//! Connection matrices (`.cm`) of htsim: `Nodes n`, `Connections n`, then per flow `a->b` and words such as `id 1
//! start 0 size 2000000`, starts in picoseconds and sizes in bytes. Triggered flows and failures have no counterpart
//! here and are refused. Must not depend on other formats.

use super::between_two;
use crate::listed::ListedFlow;
use weft_core::lines::{ImportError, ImportErrors, Line, all_or_errors, ended, lines};
use weft_core::{Bytes, Span};

/// Parses the text of the file named `file`, for a network of `hosts` hosts.
///
/// # Errors
/// At every line that is not as described above, for more nodes than the network has hosts, and when the number of flows is
/// not the one announced.
pub fn read(file: &str, text: &str, hosts: u32) -> Result<Vec<ListedFlow>, ImportErrors> {
    let mut header = Header { hosts, ..Header::default() };
    let found = lines(file, text, ' ').map(|line| header.line(&line));
    let flows: Vec<ListedFlow> = all_or_errors(found)?.into_iter().flatten().collect();
    match header.announced {
        Some(count) if count == flows.len() as u64 => Ok(flows),
        Some(count) => {
            let found = format!("{} flows", flows.len());
            let error = ended(file, &format!("{count} flows, as the header says"));
            Err(ImportError { found, ..error }.into())
        }
        None => Err(ended(file, "a line `Connections` with the number of flows").into()),
    }
}

/// The numbers announced before the flows.
#[derive(Default)]
struct Header {
    /// Hosts of the network.
    hosts: u32,
    nodes: Option<u64>,
    announced: Option<u64>,
}

impl Header {
    /// The flow of a line, if it is one.
    fn line(&mut self, line: &Line<'_>) -> Result<Option<ListedFlow>, ImportError> {
        let count = |what| line.number(1, what, (1, u64::from(u32::MAX)));
        let hosts = u64::from(self.hosts);
        match line.words[0] {
            "Nodes" => {
                self.nodes = Some(line.number(1, "the number of hosts in the topology", (1, hosts))?)
            }
            "Connections" => self.announced = Some(count("the number of flows")?),
            "Triggers" | "Failures" if line.words.get(1) == Some(&"0") => {}
            word => match (word.split_once("->"), self.nodes) {
                (Some(pair), Some(nodes)) => return flow(line, pair, nodes).map(Some),
                _ => return Err(unexpected(line)),
            },
        }
        Ok(None)
    }
}

fn unexpected(line: &Line<'_>) -> ImportError {
    let allowed = "Nodes n, Connections n, then flows such as `0->1 start 0 size 2000000`; triggers and failures are not supported";
    line.error(format!("`{}`", line.words[0]), allowed)
}

fn flow(line: &Line<'_>, (from, to): (&str, &str), nodes: u64) -> Result<ListedFlow, ImportError> {
    let host = |word: &str| {
        let number = word.parse().ok().filter(|number| u64::from(*number) < nodes);
        number
            .ok_or_else(|| line.error(format!("`{word}`"), format!("a host number from 0 to {}", nodes - 1)))
    };
    let (from, to) = (host(from)?, host(to)?);
    let (mut start, mut size) = (None, None);
    for index in (1..line.words.len()).step_by(2) {
        match line.words[index] {
            "start" => start = Some(picoseconds(line, index + 1)?),
            "size" => size = Some(line.number(index + 1, "the payload in bytes", (1, i64::MAX as u64))?),
            "id" | "prio" => _ = line.number(index + 1, line.words[index], (0, u64::MAX))?,
            _ => return Err(unexpected_word(line, index)),
        }
    }
    match (start, size) {
        (Some(at), Some(size)) => {
            between_two(line, ListedFlow { at, from, to, size: Bytes(size), deadline: None })
        }
        (None, _) => Err(line.error("no `start`", "`start` with picoseconds")),
        (_, None) => Err(line.error("no `size`", "`size` with bytes; endless flows are not supported")),
    }
}

/// The start may be written with a fraction or an exponent.
fn picoseconds(line: &Line<'_>, index: usize) -> Result<Span, ImportError> {
    let number = line
        .words
        .get(index)
        .and_then(|word| word.parse::<f64>().ok())
        .filter(|ps| (0.0..=1e18).contains(ps));
    let found = || line.words.get(index).map_or("the end of the line".to_owned(), |word| format!("`{word}`"));
    number
        .map(|ps| Span(ps.round() as u64))
        .ok_or_else(|| line.error(found(), "the start time in picoseconds"))
}

fn unexpected_word(line: &Line<'_>, index: usize) -> ImportError {
    line.error(format!("`{}`", line.words[index]), "id, start, size, prio; triggers are not supported")
}
