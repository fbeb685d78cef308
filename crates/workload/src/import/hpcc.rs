//! `flow.txt` of the HPCC simulator: the number of flows, then one line per flow, `from to priority port bytes start`,
//! or `from to priority bytes start` as in the flow files of conweave-ns3; the start is in seconds. Text after the last
//! flow is ignored, unless it is one more flow. Must not depend on other formats.

use super::between_two;
use crate::listed::ListedFlow;
use weft_core::lines::{ImportError, ImportErrors, Line, all_or_errors, ended, lines};
use weft_core::{Bytes, HostId, Span};

/// Parses the text of the file named `file`; `host` translates the file's host numbers. Priorities and ports are
/// dropped.
///
/// # Errors
/// At every line that is not as described above, or has another number of columns than the first flow.
pub fn read(
    file: &str,
    text: &str,
    host: impl Fn(u32) -> Option<HostId>,
) -> Result<Vec<ListedFlow>, ImportErrors> {
    let mut lines = lines(file, text, ' ');
    let head = lines.next().ok_or_else(|| ended(file, "a line with the number of flows"))?;
    let count = head.number(0, "the number of flows", (1, u32::MAX))?;
    let mut columns = None;
    let mut seen = 0;
    let flows = all_or_errors(lines.by_ref().take(count as usize).map(|line| {
        seen += 1;
        let columns =
            *columns.get_or_insert(if line.words.len() == 5 { Columns::FIVE } else { Columns::SIX });
        flow(&line, columns, &host)
    }))?;
    if seen < count {
        let found = format!("{seen} lines with a flow");
        let error = ended(file, &format!("{count} lines with one flow each"));
        return Err(ImportError { found, ..error }.into());
    }
    let is_flow = |line: &Line<'_>| columns.is_some_and(|columns| flow(line, columns, &host).is_ok());
    if let Some(line) = lines.next().filter(is_flow) {
        return Err(line.error("one more flow", format!("{count} flows, as the first line says")).into());
    }
    Ok(flows)
}

/// The column of the payload; the start follows it.
#[derive(Clone, Copy)]
struct Columns {
    bytes: usize,
    /// Maximum number of words; only the longer form may be followed by more.
    most: usize,
}

impl Columns {
    const FIVE: Columns = Columns { bytes: 3, most: 5 };
    const SIX: Columns = Columns { bytes: 4, most: usize::MAX };
}

fn flow(
    line: &Line<'_>,
    columns: Columns,
    host: &impl Fn(u32) -> Option<HostId>,
) -> Result<ListedFlow, ImportError> {
    if line.words.len() > columns.most {
        let found = format!("{} columns", line.words.len());
        return Err(line.error(found, "five columns, as in the first flow"));
    }
    let end = |index, what: &str| {
        let number = line.number(index, what, (0, u32::MAX))?;
        let found = || line.error(format!("`{number}`, which is not a host of the topology"), what);
        host(number).ok_or_else(found)
    };
    let (from, to) = (end(0, "the number of the sending host")?, end(1, "the number of the receiving host")?);
    let size = line.number(columns.bytes, "the payload in bytes", (1, i64::MAX as u64))?;
    let word = line.words.get(columns.bytes + 1);
    let start = word.and_then(|word| word.parse().ok()).filter(|start| (0.0..=1e6).contains(start));
    let word = word.map_or("the end of the line".to_owned(), |word| format!("`{word}`"));
    let start = start.ok_or_else(|| line.error(word, "the start time in seconds, at most a million"))?;
    between_two(
        line,
        ListedFlow {
            at: Span::from_seconds_rounded(start),
            from: from.0,
            to: to.0,
            size: Bytes(size),
            deadline: None,
        },
    )
}
