//! Tables with links: the slowest flows of a run, and the pages of the runs of a sweep.

use crate::detail::{SIZE_CLASSES, SlowFlow};
use crate::page::{CaseRuns, SlowTable};
use crate::text::{count, duration, escaped, number, size};
use std::collections::BTreeSet;

/// Number of rows initially shown; the script shows as many of those that pass a filter.
const SHOWN: usize = 20;

/// The slowest flows, with filters by traffic entry and size; empty without any.
pub(super) fn table(slow: &SlowTable) -> String {
    if slow.flows.is_empty() {
        return String::new();
    }
    let seldom = |of: fn(&SlowFlow) -> bool| slow.flows.iter().any(of);
    let (marks, paused) = (seldom(|flow| flow.marks > 0), seldom(|flow| flow.paused_us > 0.0));
    let tags: BTreeSet<&str> = slow.flows.iter().map(|flow| flow.tag.as_str()).collect();
    let classes: BTreeSet<usize> = slow.flows.iter().map(|flow| flow.class).collect();
    let several = tags.len() > 1;
    let waits = slow.hops.iter().map(|hop| format!("wait {hop}"));
    let header = ["flow"].into_iter().chain(several.then_some("traffic")).map(str::to_owned);
    let header = header.chain(["from → to", "size", "starts", "FCT", "slowdown"].map(str::to_owned));
    let header = header.chain(waits).chain(["retransmitted", "time-outs"].map(str::to_owned));
    let seldom = [marks.then_some("marks"), paused.then_some("paused"), Some("held up by")];
    let header = header.chain(seldom.into_iter().flatten().map(str::to_owned));
    let head: String = header.map(|name| format!("<th scope=\"col\">{}</th>", escaped(&name))).collect();
    let row =
        |(n, flow): (usize, &SlowFlow)| row(flow, slow.hops.len(), (several, marks, paused), n >= SHOWN);
    let rows: String = slow.flows.iter().enumerate().map(row).collect();
    let option = |value: &str, words: &str| {
        format!("<option value=\"{}\">{}</option>", escaped(value), escaped(words))
    };
    let tag_options: String = tags.iter().map(|tag| option(tag, tag)).collect();
    let class_options: String =
        classes.iter().map(|class| option(&class.to_string(), SIZE_CLASSES[(*class).min(2)])).collect();
    let choice = |id: &str, all: &str, options: &str| {
        format!(
            "<select id=\"{id}\" aria-label=\"{all}\"><option value=\"\">{all}</option>{options}</select>"
        )
    };
    let tag_choice = if several { choice("slow-tag", "all traffic", &tag_options) } else { String::new() };
    let class_choice =
        if classes.len() > 1 { choice("slow-class", "all sizes", &class_options) } else { String::new() };
    let means = match slow.hops.is_empty() {
        true => "With <code>measure.waits = true</code> they show where their packets waited.",
        false => "Waits are means over a flow's packets at each hop.",
    };
    let trace = match slow.command.as_str() {
        "" => String::new(),
        command => format!(" To follow one: <code>{}N</code>.", escaped(command)),
    };
    format!(
        "<section id=\"slow\">\n<h2>The slowest flows</h2>\n<p class=\"lead\">Finished, measured flows with the highest \
         slowdown, at most {SHOWN} at a time. {means}{trace}</p>\n\
         <p class=\"tools\">{tag_choice}{class_choice}</p>\n\
         <div class=\"scroll\" tabindex=\"0\">\n<table id=\"slow-flows\" data-most=\"{SHOWN}\">\n<thead><tr>{head}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n</section>\n"
    )
}

fn row(flow: &SlowFlow, hops: usize, (several, marks, paused): (bool, bool, bool), hidden: bool) -> String {
    let or_none = |text: String, none: bool| if none { "–".to_owned() } else { text };
    let timeouts = match (flow.timeouts, flow.syn_timeouts) {
        (0, _) => "–".to_owned(),
        (all, 0) => count(u64::from(all)),
        (all, syn) => format!("{} ({} SYN)", count(u64::from(all)), count(u64::from(syn))),
    };
    let wait =
        |hop: usize| flow.wait_us.get(hop).map_or("–".to_owned(), |us| or_none(duration(*us), *us == 0.0));
    let cells = [Some(flow.flow.to_string()), several.then(|| flow.tag.clone())].into_iter().flatten();
    let cells = cells.chain([
        format!("{} → {}", flow.from, flow.to),
        size(flow.size_bytes as f64),
        duration(flow.start_us),
        duration(flow.fct_us),
        format!("{}×", number(flow.slowdown)),
    ]);
    let cells = cells.chain((0..hops).map(wait));
    let again = or_none(size(flow.retransmitted_bytes as f64), flow.retransmitted_bytes == 0);
    let cells = cells.chain([again, timeouts]);
    let seldom = [
        marks.then(|| or_none(count(u64::from(flow.marks)), flow.marks == 0)),
        paused.then(|| or_none(duration(flow.paused_us), flow.paused_us == 0.0)),
        Some(flow.cause.clone()),
    ];
    let cells: String = cells
        .chain(seldom.into_iter().flatten())
        .map(|cell| format!("<td>{}</td>", escaped(&cell)))
        .collect();
    let hidden = if hidden { " hidden" } else { "" };
    format!("<tr data-tag=\"{}\" data-class=\"{}\"{hidden}>{cells}</tr>\n", escaped(&flow.tag), flow.class)
}

/// Links to the page of every run; empty for a single run.
pub(super) fn runs(cases: &[CaseRuns]) -> String {
    if cases.is_empty() {
        return String::new();
    }
    let link = |(seed, address): &(u64, String)| format!("<a href=\"{}\">{seed}</a>", escaped(address));
    let row = |case: &CaseRuns| {
        let links: Vec<String> = case.runs.iter().map(link).collect();
        format!("<tr><th scope=\"row\">{}</th><td>seed {}</td></tr>\n", escaped(&case.name), links.join(" "))
    };
    let rows: String = cases.iter().map(row).collect();
    format!(
        "<section id=\"runs\">\n<h2>Run by run</h2>\n<p class=\"lead\">The page of every run, with its slowest flows and what \
         happened when.</p>\n<div class=\"scroll\" tabindex=\"0\">\n<table class=\"words\"><tbody>\n{rows}</tbody></table>\n\
         </div>\n</section>\n"
    )
}
