//! A list of flows, written in the scenario or read from a file with the columns `start_ns,src,dst,bytes`.

use super::{Late, Pattern, Stream};
use crate::flow::Flow;
use crate::import::{self, FlowLine, ImportError};
use crate::listed::ListedFlow;
use crate::site::PatternSite;
use std::collections::BTreeMap;
use weft_core::Problem;
use weft_core::{Bytes, Span, Time};

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Flows listed one by one, or read from a file";

weft_core::settings! {
    /// Explicit flows; times count from the start of the entry.
    pub struct ListSettings {
        /// The flows.
        flows: Vec<ListedFlow> = Vec::new(),
        /// A CSV file, possibly compressed (`.csv.gz`). Its header names the columns `start_ns` (or `start_ps`,
        /// `start_us`, `start_ms`, `start_s`), `src`, `dst` and `bytes`. Hosts are numbers or names. An optional
        /// column `flow_id` returns as `listed_id` in the results. An optional column `deadline_ns` (or another unit)
        /// gives deadlines, counted from the start; an empty cell takes the entry's deadline.
        file: Option<String> = None,
    }
}

/// Flows one by one.
pub struct List(ListSettings);

impl List {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &ListSettings, _site: ()) -> List {
        List(settings.clone())
    }
}

impl Pattern for List {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let ListSettings { flows, file } = &self.0;
        if file.is_none() && flows.is_empty() {
            return Err(vec![Problem::new("flows", "there are no flows; list some or name a file")]);
        }
        let mut problems = Vec::new();
        let written = flows.iter().enumerate().map(|(index, entry)| {
            let path = |problem: Problem| problem.within(&format!("flows[{index}]"));
            place(site, entry).map_err(path)
        });
        let mut found = placed(written, &mut problems);
        match file.as_ref().map(|file| from_file(site, file)) {
            Some(Ok(more)) => found.extend(more),
            Some(Err(more)) => problems.extend(more),
            None => {}
        }
        if problems.is_empty() { Ok(Stream::of(found)) } else { Err(problems) }
    }

    /// Columns of the file that are not read.
    fn note(&self, site: &PatternSite<'_>) -> Option<String> {
        let file = self.0.file.as_ref()?;
        let text = import::flow_text(&site.shape.folder.join(file)).ok()?;
        match import::unread(file, &text)[..] {
            [] => None,
            [one] => Some(format!("the column {one} of {file} is not read")),
            ref several => Some(format!("the columns {} of {file} are not read", several.join(", "))),
        }
    }

    fn late(&self, site: &PatternSite<'_>, end: Time) -> Option<Late> {
        let (mut late, mut all) = (0, 0);
        let flows = self.flows(site).ok()?.flows;
        flows.for_each(|flow| (late, all) = (late + u64::from(flow.start >= end), all + 1));
        Some(Late { least: late, most: late, all })
    }
}

/// Maximum number of problems reported for the rows of one file; more are counted.
const MOST_PROBLEMS: usize = 100;

/// The flows of a file, or a problem with its line for each bad row: malformed, or with hosts that do not exist here.
fn from_file(site: &PatternSite<'_>, file: &str) -> Result<Vec<Flow>, Vec<Problem>> {
    let path = site.shape.folder.join(file);
    let name = path.display().to_string();
    let problem = |error: ImportError| Problem::new("file", error.to_string());
    let text = import::flow_text(&path).map_err(|error| vec![problem(error)])?;
    let named: BTreeMap<&str, u32> = site.shape.host_names.iter().map(String::as_str).zip(0..).collect();
    let rows = import::rows(&name, &text, &named).map_err(|error| vec![problem(error)])?;
    let flows = rows.map(|row| {
        let FlowLine { line, id, flow } = row.map_err(problem)?;
        let at_line = |of: Problem| {
            Problem::new("file", format!("{name}:{line}: {}: {}", column(&of.path), of.message))
        };
        Ok(Flow { listed: id, ..place(site, &flow).map_err(at_line)? })
    });
    let mut problems = Vec::new();
    let flows = placed(flows, &mut problems);
    let others = problems.len().saturating_sub(MOST_PROBLEMS);
    problems.truncate(MOST_PROBLEMS);
    if others > 0 {
        problems.push(Problem::new("file", format!("{name}: {others} more lines like these")));
    }
    if problems.is_empty() { Ok(flows) } else { Err(problems) }
}

/// The column that holds a setting of a listed flow.
fn column(setting: &str) -> &str {
    match setting {
        "from" => "src",
        "to" => "dst",
        "deadline" => "deadline",
        _ => "bytes",
    }
}

/// The flows among the results; the problems are added to `problems`.
fn placed(results: impl Iterator<Item = Result<Flow, Problem>>, problems: &mut Vec<Problem>) -> Vec<Flow> {
    results.filter_map(|result| result.map_err(|problem| problems.push(problem)).ok()).collect()
}

/// A flow whose hosts exist; paths of problems are relative to the entry.
fn place(site: &PatternSite<'_>, entry: &ListedFlow) -> Result<Flow, Problem> {
    let from = site.host(entry.from, "from")?;
    let to = site.host(entry.to, "to")?;
    if from == to {
        return Err(Problem::new("to", format!("host {} cannot send to itself", entry.to)));
    }
    if entry.size == Bytes(0) {
        return Err(Problem::new("size", "a flow must have at least one byte"));
    }
    let deadline = entry.deadline.unwrap_or(Span::ZERO);
    if entry.deadline == Some(Span::ZERO) {
        return Err(Problem::new("deadline", "a deadline of zero cannot be met"));
    }
    Ok(Flow { deadline, ..Flow::new(site.tag, site.start + entry.at, (from, to), entry.size) })
}
