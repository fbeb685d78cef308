//! The fates of flows with deadlines: by traffic entry in a run, by scheme in a sweep.

use super::{Samples, samples_words};
use crate::fates::{CaseDeadlines, FATES, Fate};
use crate::figure::{Axis, Figure, FigureKind, Series};
use crate::summary::{DeadlineCounts, Deadlines};
use crate::sweep::{Run, Sweep};
use crate::text::{count, duration, percent, plotted, plural};

const CAPTION: &str = "Measured flows with a deadline: finished in time; finished later; given up by their senders because the \
                       deadline could not be met; neither finished nor given up when the run ended.";

/// The plot; `None` without deadlines.
#[must_use]
pub fn deadlines(run: &Run) -> Option<Figure> {
    let found = run.summary.deadlines.as_ref()?;
    let all = [("all".to_owned(), found.all)];
    let rows: Vec<(String, DeadlineCounts)> = if found.tags.len() > 1 {
        all.into_iter().chain(found.tags.iter().map(|(tag, counts)| (tag.clone(), *counts))).collect()
    } else {
        all.into()
    };
    Some(Figure {
        id: "deadlines".into(),
        title: words(found),
        caption: CAPTION.into(),
        samples: format!("n = {}", plural(found.all.flows, "flow")),
        kind: FigureKind::Bars,
        x: Axis::linear("flows", ""),
        y: Axis::linear("traffic", ""),
        rows: rows.iter().map(|(name, _)| name.clone()).collect(),
        series: parts(rows.iter().map(|(_, counts)| counts), |_, flows| flows as f64),
        ..Figure::default()
    })
}

/// One series per fate that occurs in any row.
fn parts<'a>(
    rows: impl Iterator<Item = &'a DeadlineCounts> + Clone,
    value: impl Fn(&DeadlineCounts, u64) -> f64,
) -> Vec<Series> {
    let part = |(name, of): Fate| Series {
        name: name.to_owned(),
        y: rows.clone().map(|counts| Some(value(counts, of(counts)))).collect(),
        ..Series::default()
    };
    let parts = FATES.into_iter().map(part);
    parts.filter(|part| part.y.iter().flatten().any(|flows| *flows > 0.0)).collect()
}

/// The fates of deadlines under each scheme at a point of the axis; `None` without deadlines.
#[must_use]
pub fn by_scheme(sweep: &Sweep, at: usize) -> Option<Figure> {
    let case = |scheme: usize| Some((scheme, CaseDeadlines::of(&sweep.case(scheme, at))?));
    let cases: Vec<(usize, CaseDeadlines)> = (0..sweep.schemes.len()).filter_map(case).collect();
    let share =
        |counts: &DeadlineCounts, part: u64| plotted(100.0 * part as f64 / counts.flows.max(1) as f64);
    (!cases.is_empty()).then(|| Figure {
        id: format!("fates-{at}"),
        title: fates_title(sweep, &cases, at),
        caption: format!("{CAPTION} Shares of the flows of all seeds."),
        samples: samples_words(sweep, Some(at), Samples::Dated),
        view: Some(at),
        kind: FigureKind::Bars,
        x: Axis::linear("flows with a deadline", "%"),
        y: Axis::linear(&sweep.scheme_name, ""),
        rows: cases.iter().map(|(scheme, _)| sweep.schemes[*scheme].clone()).collect(),
        row_schemes: cases.iter().map(|(scheme, _)| *scheme).collect(),
        series: parts(cases.iter().map(|(_, case)| &case.counts), share),
        ..Figure::default()
    })
}

/// `Deadlines: late at most 3.1 % (dctcp, by 1.2 ms), given up at most 5 % (pdq)`.
fn fates_title(sweep: &Sweep, cases: &[(usize, CaseDeadlines)], at: usize) -> String {
    let most = |of: fn(&DeadlineCounts) -> u64| {
        let share = |case: &CaseDeadlines| case.share(of(&case.counts));
        let worst = cases.iter().max_by(|a, b| share(&a.1).total_cmp(&share(&b.1)));
        worst
            .filter(|(_, case)| share(case) > 0.0)
            .map(|(scheme, case)| (&sweep.schemes[*scheme], share(case), case))
    };
    let late = most(|counts| counts.late).map(|(scheme, share, case)| {
        let by = case.late_by_us.map_or(String::new(), |us| format!(", by {}", duration(us)));
        format!("late at most {} ({scheme}{by})", percent(share))
    });
    let given_up = most(|counts| counts.terminated)
        .map(|(scheme, share, _)| format!("given up at most {} ({scheme})", percent(share)));
    let parts: Vec<String> = late.into_iter().chain(given_up).collect();
    let words = if parts.is_empty() { "all met or unfinished".to_owned() } else { parts.join(", ") };
    format!("Deadlines{}: {words}", sweep.place(at))
}

/// `90.2 % of 900 deadlines are met; 40 flows are late by 1.2 ms on average, 48 gave up`.
#[must_use]
pub fn words(found: &Deadlines) -> String {
    let DeadlineCounts { flows, late, terminated, .. } = found.all;
    let late = (late > 0)
        .then(|| format!("{} late, by {} on average", count(late), duration(found.missed_by_us.mean)));
    let given_up = (terminated > 0).then(|| format!("{} given up", count(terminated)));
    let open = (found.all.open() > 0).then(|| format!("{} unfinished", count(found.all.open())));
    let rest: Vec<String> = late.into_iter().chain(given_up).chain(open).collect();
    let rest = if rest.is_empty() { String::new() } else { format!("; {}", rest.join(", ")) };
    format!("{} of {} met{rest}", percent(found.all.met_share()), plural(flows, "deadline"))
}
