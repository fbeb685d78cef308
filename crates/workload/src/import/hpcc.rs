//! `flow.txt` of the HPCC simulator: the number of flows, then per flow `from to priority port bytes start` with the
//! start in seconds. What follows the last flow is not read. Must not depend on other formats.

use super::between_two;
use crate::listed::ListedFlow;
use weft_core::lines::{ImportError, Line, ended, lines};
use weft_core::{Bytes, HostId, Span};

/// Reads the text of a file called `file`; `host` gives the host with a number of the file. Priorities and ports
/// are not kept.
///
/// # Errors
/// At the first line that is not as described above.
pub fn read(
    file: &str,
    text: &str,
    host: impl Fn(u32) -> Option<HostId>,
) -> Result<Vec<ListedFlow>, ImportError> {
    let mut lines = lines(file, text, ' ');
    let head = lines.next().ok_or_else(|| ended(file, "a line with the number of flows"))?;
    let count = head.number(0, "the number of flows", (1, u32::MAX))?;
    let next = |_| {
        let line = lines.next().ok_or_else(|| ended(file, &format!("{count} lines with one flow each")))?;
        flow(&line, &host)
    };
    (0..count).map(next).collect()
}

fn flow(line: &Line<'_>, host: &impl Fn(u32) -> Option<HostId>) -> Result<ListedFlow, ImportError> {
    let end = |index, what: &str| {
        let number = line.number(index, what, (0, u32::MAX))?;
        let found = || line.error(format!("`{number}`, which is not a host of the topology"), what);
        host(number).ok_or_else(found)
    };
    let (from, to) = (end(0, "the number of the sending host")?, end(1, "the number of the receiving host")?);
    let size = line.number(4, "the payload in bytes", (1, i64::MAX as u64))?;
    let start =
        line.words.get(5).and_then(|word| word.parse().ok()).filter(|start| (0.0..=1e6).contains(start));
    let word = line.words.get(5).map_or("the end of the line".to_owned(), |word| format!("`{word}`"));
    let start = start.ok_or_else(|| line.error(word, "the start time in seconds, at most a million"))?;
    between_two(
        line,
        ListedFlow { at: Span::from_seconds_rounded(start), from: from.0, to: to.0, size: Bytes(size) },
    )
}
