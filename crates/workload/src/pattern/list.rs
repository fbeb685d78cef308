//! A list of flows, given in the scenario or read from a file with the columns `start_ns,src,dst,bytes`.

use super::{Pattern, Stream, flow};
use crate::flow::Flow;
use crate::import;
use crate::listed::ListedFlow;
use crate::site::PatternSite;
use weft_core::Bytes;
use weft_core::Problem;

/// One sentence for lists.
pub const SUMMARY: &str = "Flows listed one by one, or read from a file";

weft_core::settings! {
    /// Explicit flows; times count from the start of the entry.
    pub struct ListSettings {
        /// The flows.
        flows: Vec<ListedFlow> = Vec::new(),
        /// A table with a header naming the columns start_ns (or start_ps, start_us), src, dst and bytes.
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
        let mut found = placed(site, flows, |index, field| format!("flows[{index}].{field}"));
        if let Some(file) = file {
            let read = import::csv_file(&site.shape.folder.join(file));
            let listed = read.map_err(|error| vec![Problem::new("file", error.to_string())])?;
            let more = placed(site, &listed, |_, _| "file".to_owned());
            found = found.and_then(|mut flows| {
                flows.extend(more?);
                Ok(flows)
            });
        } else if flows.is_empty() {
            return Err(vec![Problem::new("flows", "there are no flows; list some or name a file")]);
        }
        found.map(Stream::of)
    }
}

/// The flows with their hosts checked, or up to ten problems.
fn placed(
    site: &PatternSite<'_>,
    listed: &[ListedFlow],
    path: impl Fn(usize, &str) -> String,
) -> Result<Vec<Flow>, Vec<Problem>> {
    let (mut flows, mut problems) = (Vec::with_capacity(listed.len()), Vec::new());
    for (index, entry) in listed.iter().enumerate() {
        match place(site, entry, |field| path(index, field)) {
            Ok(flow) => flows.push(flow),
            Err(problem) => problems.push(problem),
        }
        if problems.len() == 10 {
            break;
        }
    }
    if problems.is_empty() { Ok(flows) } else { Err(problems) }
}

fn place(site: &PatternSite<'_>, entry: &ListedFlow, path: impl Fn(&str) -> String) -> Result<Flow, Problem> {
    let from = site.host(entry.from, &path("from"))?;
    let to = site.host(entry.to, &path("to"))?;
    if from == to {
        return Err(Problem::new(path("to"), format!("host {} cannot send to itself", entry.to)));
    }
    if entry.size == Bytes(0) {
        return Err(Problem::new(path("size"), "a flow must have at least one byte"));
    }
    Ok(flow(site.tag, site.start + entry.at, (from, to), entry.size))
}
