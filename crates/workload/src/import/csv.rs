//! The tool-neutral table of flows: a header that names the columns, then one flow per line; a column `flow_id` is
//! kept, a column of deadlines is read. Must not depend on other formats.

use super::between_two;
use crate::flow::Flow;
use crate::listed::ListedFlow;
use std::collections::BTreeMap;
use weft_core::Bytes;
use weft_core::lines::{ImportError, ImportErrors, Line, all_or_errors, ended, lines};
use weft_core::units::nearest;

/// Names of the column with the start, and the number of picoseconds in its unit.
const STARTS: [(&str, u64); 5] = [
    ("start_ns", 1_000),
    ("start_ps", 1),
    ("start_us", 1_000_000),
    ("start_ms", 1_000_000_000),
    ("start_s", 1_000_000_000_000),
];

/// Names of the columns without a unit, and of those with deadlines.
const KNOWN: [&str; 4] = ["src", "dst", "bytes", "flow_id"];
const DEADLINES: [&str; 5] = ["deadline_ns", "deadline_ps", "deadline_us", "deadline_ms", "deadline_s"];

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowLine {
    /// Its line in the file.
    pub line: usize,
    /// Its `flow_id`, or [`Flow::UNLISTED`].
    pub id: u32,
    /// The flow.
    pub flow: ListedFlow,
}

/// Parses the text of the file named `file`: every flow with its line.
///
/// # Errors
/// When the header lacks a column, or at every line that does not fit the header.
pub fn read(file: &str, text: &str) -> Result<Vec<FlowLine>, ImportErrors> {
    all_or_errors(rows(file, text, &BTreeMap::new())?)
}

/// [`read`] row by row, so that a caller can report bad rows together with rows that it rejects itself.
///
/// # Errors
/// When the header lacks a column.
pub(crate) fn rows<'a>(
    file: &'a str,
    text: &'a str,
    named: &'a BTreeMap<&str, u32>,
) -> Result<impl Iterator<Item = Result<FlowLine, ImportError>> + use<'a>, ImportError> {
    let mut lines = lines(file, text, ',').peekable();
    let head = lines.next().ok_or_else(|| ended(file, "a header such as start_ns,src,dst,bytes"))?;
    let columns = Columns::read(&head)?;
    lines.peek().ok_or_else(|| ended(file, "a flow in each line after the header"))?;
    Ok(lines.map(move |line| columns.row(&line, named)))
}

/// Refuses columns that seem to be read but are not: a duplicate name, a time in two units, and names that are nearly
/// right.
fn each_once(head: &Line<'_>) -> Result<(), ImportError> {
    let times = |word: &str| {
        STARTS.iter().any(|(name, _)| *name == word || name.replace("start", "deadline") == word)
    };
    let fixed = |word: &str| KNOWN.contains(&word);
    let meaning = |word: &str| word.to_lowercase().split('_').next().unwrap_or_default().to_owned();
    for (number, word) in head.words.iter().enumerate() {
        let means = meaning(word);
        let is_time = ["start", "deadline"].contains(&means.as_str());
        let near = || nearest(word, KNOWN.into_iter().chain(STARTS.map(|(name, _)| name)).chain(DEADLINES));
        if if is_time { !times(word) } else { !fixed(word) && near().is_some() } {
            let allowed =
                "src, dst, bytes, flow_id, start_ns and deadline_ns, or with ps, us, ms or s for ns";
            return Err(head.error(format!("a column {word}, which is not read"), allowed));
        }
        let twice = |other: &str| other == *word || is_time && meaning(other) == means;
        if let Some(other) = head.words[..number].iter().find(|other| twice(other)) {
            return Err(
                head.error(format!("two columns for one value, {other} and {word}"), "each value once")
            );
        }
    }
    Ok(())
}

/// The columns of a table that are not read.
pub(crate) fn unread<'a>(file: &'a str, text: &'a str) -> Vec<&'a str> {
    let times = STARTS.map(|(name, _)| name).into_iter().chain(DEADLINES);
    let known: Vec<&str> = KNOWN.into_iter().chain(times).collect();
    let head = lines(file, text, ',').next().map_or_else(Vec::new, |head| head.words);
    head.into_iter().filter(|word| !known.contains(word)).collect()
}

struct Columns {
    /// Number of columns.
    width: usize,
    id: Option<usize>,
    start: usize,
    /// Picoseconds of one unit of the start.
    unit: u64,
    source: usize,
    destination: usize,
    bytes: usize,
    /// The column, and the picoseconds of one unit.
    deadline: Option<(usize, u64)>,
}

impl Columns {
    fn read(head: &Line<'_>) -> Result<Columns, ImportError> {
        each_once(head)?;
        let find = |name: &str| head.words.iter().position(|word| *word == name);
        let column = |name: &str| {
            let allowed = || "a header with the columns start_ns (or start_ps, start_us, start_ms, start_s), src, dst, bytes";
            find(name).ok_or_else(|| {
                head.error(format!("no column {name} in `{}`", head.words.join(",")), allowed())
            })
        };
        let (name, unit) = STARTS.into_iter().find(|(name, _)| find(name).is_some()).unwrap_or(STARTS[0]);
        let (source, destination, bytes) = (column("src")?, column("dst")?, column("bytes")?);
        let unit_of = |(name, unit): (&str, u64)| Some((find(&name.replace("start", "deadline"))?, unit));
        let deadline = STARTS.into_iter().find_map(unit_of);
        let (id, start) = (find("flow_id"), column(name)?);
        Ok(Columns { width: head.words.len(), id, start, unit, source, destination, bytes, deadline })
    }

    fn row(&self, line: &Line<'_>, named: &BTreeMap<&str, u32>) -> Result<FlowLine, ImportError> {
        if line.words.len() > self.width {
            let found = format!("{} values", line.words.len());
            return Err(
                line.error(found, format!("one for each of the {} columns of the header", self.width))
            );
        }
        let id = self.id.map(|column| line.number(column, "the flow_id", (0, Flow::UNLISTED - 1)));
        Ok(FlowLine {
            line: line.number,
            id: id.transpose()?.unwrap_or(Flow::UNLISTED),
            flow: self.flow(line, named)?,
        })
    }

    fn flow(&self, line: &Line<'_>, named: &BTreeMap<&str, u32>) -> Result<ListedFlow, ImportError> {
        let at = line.time(self.start, "the start", self.unit)?;
        let (from, to) = (host(line, self.source, named)?, host(line, self.destination, named)?);
        let given =
            self.deadline.filter(|(column, _)| line.words.get(*column).is_some_and(|word| !word.is_empty()));
        let deadline = given.map(|(column, unit)| line.time(column, "the deadline", unit)).transpose()?;
        let size = line.number(self.bytes, "the payload in bytes", (1, i64::MAX as u64))?;
        between_two(line, ListedFlow { at, from, to, size: Bytes(size), deadline })
    }
}

/// The number of a host, given by its number or by its name: its own if hosts have names, otherwise `host3`.
fn host(line: &Line<'_>, column: usize, named: &BTreeMap<&str, u32>) -> Result<u32, ImportError> {
    let word = line.words.get(column).copied().unwrap_or_default();
    let default = word.strip_prefix("host").filter(|_| named.is_empty());
    match named.get(word).copied().or_else(|| default?.parse().ok()) {
        Some(number) => Ok(number),
        None => line.number(column, "the name of a host or its number", (0, u32::MAX)),
    }
}
