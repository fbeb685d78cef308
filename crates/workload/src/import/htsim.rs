//! Connection matrices (`.cm`) of htsim: `Nodes n`, `Connections n`, then per flow `a->b` and words such as `id 1
//! start 0 size 2000000`, starts in picoseconds and sizes in bytes. Triggered flows and failures have no counterpart
//! here and are refused. Must not depend on other formats.

use super::between_two;
use crate::listed::ListedFlow;
use weft_core::lines::{ImportError, Line, ended, lines};
use weft_core::{Bytes, Span};

/// Reads the text of a file called `file`.
///
/// # Errors At the first line that is not as described above, and if the number of flows does not match the header.
pub fn read(file: &str, text: &str) -> Result<Vec<ListedFlow>, ImportError> {
    let (mut nodes, mut announced, mut flows) = (None, None, Vec::new());
    for line in lines(file, text, ' ') {
        match line.words[0] {
            "Nodes" => nodes = Some(line.number(1, "the number of hosts", (1, u32::MAX.into()))?),
            "Connections" => announced = Some(line.number(1, "the number of flows", (1, u32::MAX.into()))?),
            "Triggers" | "Failures" if line.words.get(1) == Some(&"0") => {}
            word => match (word.split_once("->"), nodes) {
                (Some(pair), Some(nodes)) => flows.push(flow(&line, pair, nodes)?),
                _ => return Err(unexpected(&line)),
            },
        }
    }
    match announced {
        Some(count) if count == flows.len() as u64 => Ok(flows),
        Some(count) => Err(ImportError {
            found: format!("{} flows", flows.len()),
            ..ended(file, &format!("{count} flows, as the header says"))
        }),
        None => Err(ended(file, "a line `Connections` with the number of flows")),
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
        (Some(at), Some(size)) => between_two(line, ListedFlow { at, from, to, size: Bytes(size) }),
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
