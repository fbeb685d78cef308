//! The plots of priority flow control for single runs: victims of pauses, and the queues that caused them.

use crate::figure::{Axis, Figure, FigureKind, Series};
use crate::sweep::Run;
use crate::text::{count, number, plural};

/// Mean slowdown of victims, culprits and others, and the queues that caused the pauses; empty without pauses.
#[must_use]
pub fn pauses(run: &Run) -> Vec<Figure> {
    [groups(run), causes(run)].into_iter().flatten().collect()
}

fn groups(run: &Run) -> Option<Figure> {
    let told = |name: &str| run.summary.pauses.get(name).copied();
    let victims = told("victims")?;
    let flows = |name: &str| told(name).unwrap_or(0.0) as u64;
    let slowdown = |name: &str| told(&format!("{name}.slowdown"));
    let title = match slowdown("victims") {
        _ if victims == 0.0 => "No flow was held up by pauses that others caused".to_owned(),
        Some(mean) => {
            format!(
                "{} of pauses that others caused: mean slowdown {}×",
                victims_words(victims),
                number(mean)
            )
        }
        None => format!("{}, none of which finished", victims_words(victims)),
    };
    let names = ["victims", "culprits", "others"].into_iter().filter(|name| flows(name) > 0);
    Some(Figure {
        id: "victims".into(),
        title,
        caption: "Mean slowdown of the measured flows that finished; in brackets, all. Culprits passed through a queue that grew by itself and made \
                  its switch pause others; victims did not, but waited in paused queues or cards."
            .into(),
        samples: format!("of {}", plural(names.clone().map(flows).sum(), "measured flow")),
        kind: FigureKind::Bars,
        x: Axis::linear("mean slowdown", "×"),
        y: Axis::linear("flows", ""),
        rows: names.clone().map(|name| format!("{name} ({})", count(flows(name)))).collect(),
        series: vec![Series {
            name: "mean slowdown".into(),
            y: names.map(slowdown).collect(),
            ..Series::default()
        }],
        ..Figure::default()
    })
}

/// `3 victims`.
pub(crate) fn victims_words(victims: f64) -> String {
    format!("{} {}", count(victims as u64), if victims == 1.0 { "victim" } else { "victims" })
}

fn causes(run: &Run) -> Option<Figure> {
    let causes = &run.summary.pause_causes;
    let first = causes.first()?;
    Some(Figure {
        id: "pause-causes".into(),
        title: format!("Most pauses begin at {}", first.port),
        caption: "How often the queue at a port that was not itself paused made its switch pause a sender; a stop may have \
                  several causes, or none; at most ten ports."
            .into(),
        // one stop may have several causes, or none
        samples: match run.summary.metric("pause.stops") {
            Some(stops) => format!("of {}", plural(stops as u64, "stop")),
            None => String::new(),
        },
        kind: FigureKind::Bars,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{PauseCause, Summary};

    /// 199 stops, some of which two queues caused.
    #[test]
    fn stops_are_counted_once_whatever_their_causes() {
        let cause = |port: &str, stops| PauseCause { port: port.to_owned(), stops };
        let summary = Summary {
            pauses: [("stops".to_owned(), 199.0), ("victims".to_owned(), 100.0)].into(),
            pause_causes: vec![cause("leaf0 → host1", 104), cause("leaf1 → host5", 100)],
            ..Summary::default()
        };
        let run = Run { summary, ..Run::default() };
        let samples: Vec<String> = pauses(&run).into_iter().map(|figure| figure.samples).collect();
        assert_eq!(samples, ["of 100 measured flows", "of 199 stops"]);
    }
}
