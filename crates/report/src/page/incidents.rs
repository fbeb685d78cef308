//! The table of the failures and pause storms of a run.

use super::TextTable;
use crate::headline::{back, what};
use crate::summary::Summary;
use crate::text::{count, duration, number};

/// One row per failure or pause storm, in order of time. The headline covers a single one completely.
pub(super) fn table(summary: &Summary) -> Option<TextTable> {
    let header = ["incident", "from", "until", "packets lost", "throughput before", "lowest", "back"];
    (summary.incidents.len() > 1).then(|| TextTable {
        title: "Failures and pause storms".to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: (0..summary.incidents.len()).map(|number| row(summary, number)).collect(),
        is_prose: false,
    })
}

fn row(summary: &Summary, at: usize) -> Vec<String> {
    let cost = &summary.incidents[at];
    let until = cost.until_us.map_or("for good".to_owned(), duration);
    let until = match cost.first_back_us {
        Some(first) => format!("{until}, the first {}", duration(first)),
        None => until,
    };
    let gbps =
        |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{}\u{202f}Gb/s", number(value)));
    let dip = cost.throughput;
    let lowest = match dip.filter(|dip| !dip.fell) {
        Some(_) => "within its variation".to_owned(),
        None => gbps(dip.map(|dip| dip.lowest_gbps)),
    };
    let back = Some(back(summary, at)).filter(|words| !words.is_empty()).unwrap_or("–".to_owned());
    let before = gbps(dip.map(|dip| dip.before_gbps));
    vec![what(cost), duration(cost.at_us), until, count(cost.lost), before, lowest, back]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::{IncidentCost, ThroughputDip};

    /// The headline describes two; each has a row.
    #[test]
    fn every_incident_has_a_row_with_what_it_cost() {
        let dip = ThroughputDip {
            before_gbps: 160.0,
            lowest_gbps: 80.0,
            fell: true,
            recovery_us: Some(400.0),
            ..ThroughputDip::default()
        };
        let failure = |at_us: f64, lost, throughput| IncidentCost {
            at_us,
            kind: "failure".into(),
            places: vec!["leaf0-spine1".into()],
            until_us: Some(at_us + 1e3),
            lost,
            throughput,
            ..IncidentCost::default()
        };
        let incidents =
            vec![failure(5e3, 3, Some(dip)), failure(7e3, 179, None), failure(9e3, 265, Some(dip))];
        let summary = Summary { incidents, ..Summary::default() };
        let rows: Vec<String> = table(&summary)
            .expect("three incidents")
            .rows
            .iter()
            .map(|row| row.join(" | ").replace('\u{202f}', " "))
            .collect();
        assert_eq!(rows[1], "leaf0-spine1 fails | 7.00 ms | 8.00 ms | 179 | – | – | –");
        assert_eq!(
            rows[2],
            "leaf0-spine1 fails | 9.00 ms | 10.0 ms | 265 | 160 Gb/s | 80.0 Gb/s | after 400 us"
        );
        assert_eq!(
            table(&Summary { incidents: summary.incidents[..1].to_vec(), ..Summary::default() }),
            None
        );
    }
}
