//! What became of the flows with deadlines, by traffic entry.

use crate::figure::{Axis, Figure, FigureKind, Series};
use crate::summary::{DeadlineCounts, Deadlines};
use crate::sweep::Run;
use crate::text::{count, duration, percent};

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
    let part = |name: &str, of: fn(&DeadlineCounts) -> u64| Series {
        name: name.to_owned(),
        y: rows.iter().map(|(_, counts)| Some(of(counts) as f64)).collect(),
        ..Series::default()
    };
    let parts = [
        part("in time", |counts| counts.met),
        part("late", |counts| counts.late),
        part("given up", |counts| counts.terminated),
        part("unfinished", DeadlineCounts::open),
    ];
    Some(Figure {
        id: "deadlines".into(),
        title: words(found),
        caption: "Measured flows with a deadline: finished in time; finished later; given up by their senders because the \
                  deadline could not be met; neither finished nor given up when the run ended."
            .into(),
        samples: format!("n = {} flows", count(found.all.flows)),
        kind: FigureKind::Bars,
        x: Axis::linear("flows", ""),
        y: Axis::linear("traffic", ""),
        rows: rows.iter().map(|(name, _)| name.clone()).collect(),
        series: parts.into_iter().filter(|part| part.y.iter().flatten().any(|flows| *flows > 0.0)).collect(),
        ..Figure::default()
    })
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
    format!("{} of {} deadlines met{rest}", percent(found.all.met_share()), count(flows))
}
