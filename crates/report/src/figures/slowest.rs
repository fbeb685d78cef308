//! The causes that delayed the slowest flows of a run.

use crate::figure::{Axis, Figure, FigureKind, Series};
use crate::summary::SlowFlows;
use crate::sweep::Run;
use crate::text::{count, duration, number, plural};

/// The slowest flows by cause; `None` if none finished or no cause is known.
#[must_use]
pub fn slowest(run: &Run) -> Option<Figure> {
    let causes = &run.summary.slowest;
    let all: u64 = causes.iter().map(|slow| slow.flows).sum();
    let most = causes.iter().max_by_key(|slow| slow.flows)?;
    let row = |slow: &SlowFlows| slow.cause.words().to_owned();
    let mean = |slow: &SlowFlows| {
        format!("{} {} ({}×)", slow.cause.words(), duration(slow.fct_us), number(slow.slowdown))
    };
    let means: Vec<String> = causes.iter().map(mean).collect();
    Some(Figure {
        id: "slowest".into(),
        title: format!(
            "{} of the {}: {}",
            count(most.flows),
            plural(all, "slowest flow"),
            most.cause.words()
        ),
        caption: format!(
            "The 1 % of measured, finished flows with the highest slowdown (at most 1000), each by the first cause that applies: \
                  a time-out of the opening packet, of data, a retransmission, pauses for at least half of the time lost, none of these. Mean \
                  FCT and slowdown: {}.",
            means.join("; ")
        ),
        samples: format!("n = {} of {}", plural(all, "flow"), count(run.summary.flows.finished)),
        kind: FigureKind::Bars,
        x: Axis::linear("flows", ""),
        y: Axis::linear("cause", ""),
        rows: causes.iter().map(row).collect(),
        series: vec![Series {
            name: "flows".into(),
            y: causes.iter().map(|slow| Some(slow.flows as f64)).collect(),
            ..Series::default()
        }],
        ..Figure::default()
    })
}
