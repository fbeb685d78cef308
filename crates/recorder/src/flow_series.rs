//! Samples the senders of flows at fixed intervals: windows over time. Sampling changes nothing.
//!
//! Only the first flows to start are sampled, so that the cost does not depend on the number of flows; samples are
//! thinned out when they become too many. The kept samples must not depend on the partition into domains.

use weft_core::record::{FlowSample, FlowSeries};
use weft_core::{FlowId, Span, Time};
use weft_plan::FlowSampling;

/// Maximum number of rows kept.
const MAX_ROWS: usize = 1 << 17;

/// The samples that a domain has taken of its senders.
#[derive(Clone, Debug)]
pub struct FlowWatch {
    /// Number of flows, the first to start.
    pub flows: u32,
    most: usize,
    series: FlowSeries,
}

impl FlowWatch {
    /// Creates one without samples.
    #[must_use]
    pub fn new(sampling: FlowSampling) -> FlowWatch {
        let FlowSampling { every, flows } = sampling;
        let series = FlowSeries { every, rows: Vec::new() };
        FlowWatch { flows, most: MAX_ROWS.max(2 * flows as usize), series }
    }

    /// Whether a sample is due at `now`.
    #[must_use]
    pub fn wants(&self, now: Time) -> bool {
        now.0.is_multiple_of(self.series.every.0)
    }

    /// Takes a sample in.
    pub fn add(&mut self, row: FlowSample) {
        self.series.rows.push(row);
        while self.series.rows.len() >= self.most {
            self.thin_out(Span(self.series.every.0 * 2));
        }
    }

    /// Keeps only samples at multiples of `every`.
    fn thin_out(&mut self, every: Span) {
        self.series.every = every;
        self.series.rows.retain(|row| row.time.0.is_multiple_of(every.0));
    }

    /// Adds the samples of another domain.
    #[must_use]
    pub fn merge(mut self, mut other: FlowWatch) -> FlowWatch {
        let every = self.series.every.max(other.series.every);
        self.thin_out(every);
        other.thin_out(every);
        for row in other.series.rows {
            if self.wants(row.time) {
                self.add(row);
            }
        }
        self
    }

    /// The samples of all domains, ordered by time, then flow.
    #[must_use]
    pub fn finish(all: impl Iterator<Item = FlowWatch>) -> Option<FlowSeries> {
        let mut series = all.reduce(FlowWatch::merge)?.series;
        series.rows.sort_by_key(|row| (row.time, row.flow));
        Some(series)
    }
}

/// The state of a sender, from its report.
#[must_use]
pub fn sample(time: Time, flow: FlowId, sender: &weft_transport::SenderReport) -> FlowSample {
    FlowSample {
        time,
        flow,
        cwnd: sender.cwnd,
        ssthresh: (sender.ssthresh.0 != u64::MAX).then_some(sender.ssthresh),
        in_flight: sender.in_flight,
        srtt: sender.srtt,
        state: sender.state,
        acknowledged: sender.acknowledged,
        retransmitted: sender.retransmitted,
        rate: sender.rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Span = Span::from_ms(10);

    /// Samples some flows with room for eight rows.
    fn looks(looks: u64, flows: &[u32]) -> FlowWatch {
        let mut watch = FlowWatch::new(FlowSampling { every: EVERY, flows: 2 });
        watch.most = 8;
        for look in 1..=looks {
            let time = Time::ZERO + EVERY * look;
            for flow in flows.iter().filter(|_| time.0.is_multiple_of(EVERY.0)) {
                if watch.wants(time) {
                    watch.add(FlowSample { time, flow: FlowId(*flow), ..FlowSample::default() });
                }
            }
        }
        watch
    }

    fn watch(flows: &[u32]) -> FlowWatch {
        looks(20, flows)
    }

    fn milliseconds(watch: &FlowWatch) -> Vec<u64> {
        let mut all: Vec<u64> = watch.series.rows.iter().map(|row| row.time.0 / Span::from_ms(1).0).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn looks_are_thinned_out_when_there_are_too_many() {
        let watch = watch(&[0, 1]);
        assert_eq!(watch.series.every, Span::from_ms(80));
        assert_eq!(milliseconds(&watch), [80, 80, 160, 160]);
    }

    #[test]
    fn what_is_kept_does_not_depend_on_the_domains() {
        for number in 1..=100 {
            let of = |flows| looks(number, flows);
            let together = of(&[0, 1, 2, 3]);
            for apart in [of(&[0, 3]).merge(of(&[1, 2])), of(&[0]).merge(of(&[1, 2])).merge(of(&[3]))] {
                assert_eq!(together.series.every, apart.series.every, "{number} looks");
                assert_eq!(milliseconds(&together), milliseconds(&apart), "{number} looks");
            }
        }
    }
}
