//! Which flows met their deadlines, from one flow at a time.

use crate::summary::{DeadlineCounts, Deadlines, Waiting};
use weft_core::Span;
use weft_core::histogram::Histogram;
use weft_core::record::{FlowRecord, RunRecord};

/// The counts so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Punctuality {
    all: DeadlineCounts,
    tags: Vec<DeadlineCounts>,
    bits: u64,
    late_ns: Histogram,
    /// The sum and the maximum of the values in `late_ns`, in whole nanoseconds.
    late: (u128, Span),
}

impl Punctuality {
    /// An empty count for `tags` traffic entries.
    pub(super) fn new(tags: usize) -> Punctuality {
        Punctuality { tags: vec![DeadlineCounts::default(); tags], ..Punctuality::default() }
    }

    /// Adds a measured flow.
    pub(super) fn add(&mut self, flow: &FlowRecord) {
        let Some(deadline) = flow.deadline else { return };
        let taken = flow.end.map(|end| end.since(flow.start));
        let (met, late) =
            (taken.is_some_and(|taken| taken <= deadline), taken.filter(|taken| *taken > deadline));
        for counts in [Some(&mut self.all), self.tags.get_mut(usize::from(flow.tag))].into_iter().flatten() {
            counts.flows += 1;
            counts.met += u64::from(met);
            counts.late += u64::from(late.is_some());
            counts.terminated += u64::from(flow.terminated);
        }
        self.bits += if met { flow.size.bits() } else { 0 };
        for late in late.iter().map(|taken| *taken - deadline) {
            self.late_ns.add(late.0 / 1_000);
            self.late = (self.late.0 + u128::from(late.0), self.late.1.max(late));
        }
    }

    /// The outcome; `None` if no flow had a deadline.
    pub(super) fn finish(self, record: &RunRecord) -> Option<Deadlines> {
        let span = record.ended.since(record.measured_from()).seconds();
        let named = record.tags.iter().cloned().zip(self.tags);
        let named = named.filter(|(_, counts)| counts.flows > 0 && record.tags.len() > 1);
        let (sum, greatest) = (self.late.0 as f64 / 1e6, self.late.1.0 as f64 / 1e6);
        let mean = sum / self.all.late.max(1) as f64;
        (self.all.flows > 0).then(|| Deadlines {
            all: self.all,
            tags: named.collect(),
            goodput_gbps: if span > 0.0 { self.bits as f64 / span / 1e9 } else { 0.0 },
            missed_by_us: Waiting { mean, max: greatest, ..Waiting::of_ns(&self.late_ns) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, Time};

    fn flow(tag: u16, deadline_us: u64, taken_us: Option<u64>) -> FlowRecord {
        FlowRecord {
            tag,
            size: Bytes(1_000),
            deadline: Some(Span::from_us(deadline_us)),
            end: taken_us.map(|us| Time::ZERO + Span::from_us(us)),
            ..FlowRecord::default()
        }
    }

    #[test]
    fn every_flow_with_a_deadline_is_counted_once() {
        let mut found = Punctuality::new(2);
        let terminated = FlowRecord { terminated: true, ..flow(1, 10, None) };
        let without = FlowRecord { deadline: None, ..flow(0, 10, Some(5)) };
        let flows = [flow(0, 10, Some(10)), flow(0, 10, Some(14)), flow(1, 10, None), terminated, without];
        flows.iter().for_each(|flow| found.add(flow));
        let tags = ["a", "b"].map(str::to_owned).to_vec();
        let record = RunRecord { tags, ended: Time::ZERO + Span::from_us(1), ..RunRecord::default() };
        let found = found.finish(&record).expect("there are deadlines");
        assert_eq!(found.all, DeadlineCounts { flows: 4, met: 1, late: 1, terminated: 1 });
        assert_eq!((found.all.open(), found.tags["b"].terminated), (1, 1));
        assert_eq!((found.goodput_gbps, found.missed_by_us.mean), (8.0, 4.0), "8000 bits in a microsecond");
    }

    /// Mean and maximum are exact to the picosecond, and there is no percentile without a flow beyond it.
    #[test]
    fn lateness_is_exact_and_few_flows_have_no_percentiles() {
        let mut found = Punctuality::new(1);
        for ps in [2_070_060_764, 3_529_631_765] {
            found.add(&FlowRecord { end: Some(Time::ZERO + Span(ps)), ..flow(0, 0, None) });
        }
        let found = found.finish(&RunRecord::default()).expect("there are deadlines");
        let late = &found.missed_by_us;
        assert_eq!((late.count, late.max), (2, 3_529.631_765));
        assert!((late.mean - 2_799.846_264_5).abs() < 1e-9, "{}", late.mean);
        let named = found.named(["mean", "p50", "p99", "p99_9", "max", "count"]);
        let lateness: Vec<&str> =
            named.iter().filter_map(|(name, _)| name.strip_prefix("deadline.missed_by.")).collect();
        assert_eq!(lateness, ["mean", "p50", "max", "count"]);
    }
}
