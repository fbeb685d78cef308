//! The plots of priority flow control that only a single run has: who was held up by what others caused, and where it began.

use crate::figure::{Axis, Figure, Kind, Series};
use crate::sweep::Run;
use crate::text::{count, number};

/// Mean slowdown of victims, culprits and others, and the queues that caused the pauses; nothing without pauses.
#[must_use]
pub fn pauses(run: &Run) -> Vec<Figure> {
    [groups(run), causes(run)].into_iter().flatten().collect()
}

fn groups(run: &Run) -> Option<Figure> {
    let told = |name: &str| run.summary.pauses.get(name).copied();
    let victims = told("victims")?;
    let names = ["victims", "culprits", "others"];
    let flows = names.map(|name| told(name).unwrap_or(0.0) as u64);
    let slowdown = names.map(|name| told(&format!("{name}.slowdown")));
    let title = match (victims > 0.0, slowdown[0]) {
        (true, Some(mean)) => format!(
            "{} victims: held up by pauses that others caused, mean slowdown {}×",
            count(flows[0]),
            number(mean)
        ),
        (true, None) => format!("{} victims, none of which finished", count(flows[0])),
        _ => "No flow was held up by pauses that others caused".to_owned(),
    };
    let rows = names.iter().zip(flows).map(|(name, flows)| format!("{name} ({})", count(flows)));
    Some(Figure {
        id: "victims".into(),
        title,
        caption: "Mean slowdown of measured, finished flows. Culprits went through a queue that grew by itself and made \
                  its switch pause others; victims did not, and waited in queues or cards that were held."
            .into(),
        samples: format!("n = {} flows", count(flows.iter().sum())),
        kind: Kind::Bars,
        x: Axis::linear("mean slowdown", "×"),
        y: Axis::linear("flows", ""),
        rows: rows.collect(),
        series: vec![Series { name: "mean slowdown".into(), y: slowdown.to_vec(), ..Series::default() }],
        ..Figure::default()
    })
}

fn causes(run: &Run) -> Option<Figure> {
    let causes = &run.summary.pause_causes;
    let first = causes.first()?;
    Some(Figure {
        id: "pause-causes".into(),
        title: format!("Most pauses begin at {}", first.port),
        caption: "How often what waited at a port, which was not held itself, made its switch stop a sender; at most ten \
                  ports."
            .into(),
        samples: format!("n = {} stops", count(causes.iter().map(|cause| cause.stops).sum())),
        kind: Kind::Bars,
        x: Axis::linear("stops caused", ""),
        y: Axis::linear("port", ""),
        rows: causes.iter().map(|cause| cause.port.clone()).collect(),
        series: vec![Series {
            name: "stops caused".into(),
            y: causes.iter().map(|cause| Some(cause.stops as f64)).collect(),
            ..Series::default()
        }],
        ..Figure::default()
    })
}
