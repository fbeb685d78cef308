//! The cost of a failure or a pause storm: how far throughput fell and when it recovered. Reads the incidents and the
//! time series.

use serde::{Deserialize, Serialize};
use weft_core::Time;
use weft_core::record::{IncidentRecord, RunRecord, TimeSeries};

/// Maximum and minimum number of bins before an incident with which later bins are compared.
const BEFORE: (usize, usize) = (50, 3);
/// Bins of the moving mean.
const SMOOTHED: usize = 3;

/// An incident that disturbs the network, and its cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IncidentCost {
    /// When, microseconds.
    pub at_us: f64,
    /// `failure` or `storm_begins`.
    pub kind: String,
    /// The cables or hosts.
    pub places: Vec<String>,
    /// When the last of them was repaired, or its storm ended; absent: one never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_us: Option<f64>,
    /// When the first of them was back; absent: at the same time as the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_back_us: Option<f64>,
    /// Packets lost to it, until the next of its kind: to a failure because a link was down or no route was left, to a storm
    /// because a watchdog dropped them.
    pub lost: u64,
    /// Its effect on throughput; absent without a time series, with too few bins before it, or when flows had stopped
    /// arriving.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<ThroughputDip>,
}

/// Throughput around an incident, moving mean over three bins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThroughputDip {
    /// The period of the moving mean, microseconds; shorter dips can hide in it.
    #[serde(default)]
    pub period_us: f64,
    /// Mean before it, Gbit/s.
    pub before_gbps: f64,
    /// Standard deviation before it, Gbit/s.
    pub deviation_gbps: f64,
    /// The lowest afterwards, Gbit/s.
    pub lowest_gbps: f64,
    /// Whether that is further below the mean than twice the standard deviation and 5 % of the mean.
    pub fell: bool,
    /// Time from the incident to the end of the first bin in which throughput was back within one standard deviation,
    /// or 1 %, of the mean, microseconds; absent: not before flows stopped arriving, the next failure or storm, or
    /// the end. Meaningless unless it fell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery_us: Option<f64>,
}

impl IncidentCost {
    /// The costs of a run's incidents.
    #[must_use]
    pub fn of(record: &RunRecord) -> Vec<IncidentCost> {
        let during: Vec<&IncidentRecord> =
            record.incidents.iter().filter(|incident| incident.at < record.ended).collect();
        let disturbing = during.iter().enumerate().filter(|(_, incident)| incident.kind.disturbs());
        disturbing.map(|(number, _)| cost(record, &during, number)).collect()
    }
}

fn cost(record: &RunRecord, all: &[&IncidentRecord], number: usize) -> IncidentCost {
    let incident = all[number];
    let next = all[number + 1..].iter().find(|next| next.kind.disturbs());
    let previous = all[..number].last();
    let stop = next.map_or(record.ended, |next| next.at);
    let stop = record.arrivals.map_or(stop, |arrivals| stop.min(arrivals.until));
    let series = record.series.as_ref();
    let bin = TimeSeries::bin_at;
    let dip = series.and_then(|series| {
        let first = previous.map_or(0, |previous| bin(series, previous.at) + 1);
        dip(series, record, incident.at, (first, bin(series, stop)))
    });
    let (first_back, until) = ends(record, incident);
    let micros = |at: Time| at.0 as f64 / 1e6;
    IncidentCost {
        at_us: micros(incident.at),
        kind: incident.kind.name().to_owned(),
        places: incident.places.clone(),
        until_us: until.map(micros),
        first_back_us: first_back.filter(|first| Some(*first) != until).map(micros),
        lost: incident.lost,
        throughput: dip,
    }
}

/// When the first and the last location of an incident were back; plans that the run does not reach count as well.
fn ends(record: &RunRecord, incident: &IncidentRecord) -> (Option<Time>, Option<Time>) {
    let back = |place: &String| {
        let later = record.incidents.iter().filter(|next| next.at >= incident.at && !next.kind.disturbs());
        later.filter(|next| next.places.contains(place)).map(|next| next.at).min()
    };
    let all: Vec<Option<Time>> = incident.places.iter().map(back).collect();
    let last = all.iter().copied().collect::<Option<Vec<Time>>>().and_then(|all| all.into_iter().max());
    (all.into_iter().flatten().min(), last)
}

/// The moving mean from a bin onwards, Gbit/s.
fn smoothed(series: &TimeSeries, record: &RunRecord, from: usize) -> f64 {
    let sum: f64 = (from..from + SMOOTHED).map(|bin| series.throughput(bin, record.ended)).sum();
    sum / SMOOTHED as f64 / 1e9
}

/// Compares bins from `first` to that of the incident with those from there to `stop`.
fn dip(
    series: &TimeSeries,
    record: &RunRecord,
    instant: Time,
    (first, stop): (usize, usize),
) -> Option<ThroughputDip> {
    let at = series.bin_at(instant);
    let stop = stop.min(series.bins.len());
    // flows build up at the start of a run, so only the later half of the earlier bins counts
    let first = if first == 0 { at / 2 } else { first }.max(at.saturating_sub(BEFORE.0));
    if at < first + BEFORE.1 + SMOOTHED || stop < at + SMOOTHED {
        return None;
    }
    let before: Vec<f64> = (first..=at - SMOOTHED).map(|bin| smoothed(series, record, bin)).collect();
    let mean = before.iter().sum::<f64>() / before.len() as f64;
    let variance = before.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / before.len() as f64;
    let deviation = variance.sqrt();
    let after: Vec<f64> = (at..=stop - SMOOTHED).map(|bin| smoothed(series, record, bin)).collect();
    let threshold = mean - (2.0 * deviation).max(0.05 * mean);
    let back_at = mean - deviation.max(0.01 * mean);
    let falls = after.iter().position(|value| *value < threshold);
    let recovers = |falls: usize| {
        let back = after[falls..].iter().position(|value| *value >= back_at)?;
        let end = series.begins(at + falls + back + 1);
        Some(end.since(instant).micros())
    };
    let until = falls.and_then(|falls| Some(falls + after[falls..].iter().position(|v| *v >= back_at)?));
    let lowest = after[..until.unwrap_or(after.len())].iter().copied().fold(f64::INFINITY, f64::min);
    Some(ThroughputDip {
        period_us: series.begins(at + SMOOTHED).since(series.begins(at)).micros(),
        before_gbps: mean,
        deviation_gbps: deviation,
        lowest_gbps: if lowest.is_finite() { lowest } else { mean },
        fell: falls.is_some() && mean > 0.0,
        recovery_us: falls.and_then(recovers),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::record::{Incident, TimeBin};
    use weft_core::{Bytes, Span};

    /// Bins of 10 us: 10 Gb/s, nothing for ten bins after the failure at 300 us, 10 Gb/s again.
    fn record(during: u64) -> RunRecord {
        let full = 12_500;
        let bin = |n: u64| TimeBin {
            delivered: Bytes(if (30..40).contains(&n) { during } else { full + n % 2 }),
            ..TimeBin::default()
        };
        let incident = |at: u64, kind| IncidentRecord {
            at: Time::ZERO + Span::from_us(at),
            kind,
            places: vec!["leaf0-spine0".to_owned()],
            lost: 0,
        };
        RunRecord {
            series: Some(TimeSeries {
                later: Span::from_us(10),
                bins: (0..100).map(bin).collect(),
                ..TimeSeries::default()
            }),
            incidents: vec![incident(300, Incident::Failure), incident(800, Incident::Repair)],
            ended: Time::ZERO + Span::from_us(1_000),
            ..RunRecord::default()
        }
    }

    #[test]
    fn a_failure_that_stops_everything_costs_the_time_until_it_flows_again() {
        let cost = &IncidentCost::of(&record(0))[0];
        assert_eq!((cost.at_us, cost.until_us), (300.0, Some(800.0)));
        let dip = cost.throughput.unwrap();
        assert!(dip.fell && (dip.before_gbps - 10.0).abs() < 0.01 && dip.lowest_gbps == 0.0, "{dip:?}");
        assert_eq!(
            dip.recovery_us,
            Some(110.0),
            "the first three bins at full throughput begin 100 us later"
        );
    }

    /// The bin of the failure begins 9 us before it.
    #[test]
    fn a_recovery_counts_from_the_failure_and_not_from_its_bin() {
        let mut late = record(0);
        late.incidents[0].at = Time::ZERO + Span::from_us(309);
        let dip = IncidentCost::of(&late)[0].throughput.unwrap();
        assert_eq!(dip.recovery_us, Some(101.0), "at full throughput from 400 us on, known at 410 us");
    }

    #[test]
    fn cables_that_fail_together_may_return_one_after_the_other() {
        let mut both = record(0);
        let other = "leaf1-spine0".to_owned();
        both.incidents[0].places.push(other.clone());
        let of = |record: &RunRecord| {
            let cost = &IncidentCost::of(record)[0];
            (cost.first_back_us, cost.until_us)
        };
        assert_eq!(of(&both), (Some(800.0), None), "one never returns");
        let repair = IncidentRecord {
            at: Time::ZERO + Span::from_us(900),
            places: vec![other],
            ..both.incidents[1].clone()
        };
        both.incidents.push(repair);
        assert_eq!(of(&both), (Some(800.0), Some(900.0)));
        both.incidents[2].at = both.incidents[1].at;
        assert_eq!(of(&both), (None, Some(800.0)), "both at once");
    }

    #[test]
    fn a_repair_that_the_run_does_not_reach_is_planned_all_the_same() {
        let record = RunRecord { ended: Time::ZERO + Span::from_us(500), ..record(0) };
        assert_eq!(IncidentCost::of(&record)[0].until_us, Some(800.0));
    }

    #[test]
    fn what_stays_within_the_variation_before_is_no_dip() {
        let cost = &IncidentCost::of(&record(12_400))[0];
        assert!(!cost.throughput.unwrap().fell, "0.8 % is less than 5 %");
    }

    #[test]
    fn a_failure_after_the_end_did_not_happen() {
        let record = RunRecord { ended: Time::ZERO + Span::from_us(200), ..record(0) };
        assert!(IncidentCost::of(&record).is_empty());
    }
}
