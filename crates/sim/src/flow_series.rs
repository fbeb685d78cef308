//! Looks at the senders of flows at fixed intervals: windows over time. Looking changes nothing.
//!
//! Only the first flows to start are watched, so that a look costs the same however many flows a run has; looks are
//! thinned out when they become too many.

use weft_core::record::{FlowSample, FlowSeries, FlowState};
use weft_core::{FlowId, Span, Time};
use weft_transport::SenderState;

use crate::network::Network;

/// Rows that are kept at most.
const MAX_ROWS: usize = 1 << 17;

/// Which flows are watched, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowSampling {
    /// Interval between looks.
    pub every: Span,
    /// So many flows, the first to start, are watched.
    pub flows: u32,
}

/// What is watched and what has been seen.
pub(crate) struct FlowWatch {
    flows: u32,
    most: usize,
    pub(crate) series: FlowSeries,
}

impl FlowWatch {
    pub(crate) fn new(sampling: FlowSampling) -> FlowWatch {
        let FlowSampling { every, flows } = sampling;
        let series = FlowSeries { every, rows: Vec::new() };
        FlowWatch { flows, most: MAX_ROWS.max(2 * flows as usize), series }
    }

    /// When the next look after `now` is due.
    pub(crate) fn next(&self, now: Time) -> Time {
        Time((now.0 / self.series.every.0 + 1) * self.series.every.0)
    }

    /// Whether a look is due at `now`.
    fn wants(&self, now: Time) -> bool {
        now.0.is_multiple_of(self.series.every.0)
    }

    fn add(&mut self, row: FlowSample) {
        self.series.rows.push(row);
        if self.series.rows.len() == self.most {
            self.thin_out();
        }
    }

    /// Drops every second look.
    fn thin_out(&mut self) {
        let every = Span(self.series.every.0 * 2);
        self.series.every = every;
        self.series.rows.retain(|row| row.time.0.is_multiple_of(every.0));
    }
}

impl Network {
    /// Looks at the watched flows that are open, if a look is due now. Returns when the next is.
    pub(crate) fn sample_flows(&mut self) -> Time {
        let Some(mut watch) = self.flow_watch.take() else { return Time::NEVER };
        if watch.wants(self.now) && self.now >= self.setup.warm_up {
            let watched = watch.flows.min(self.ends.started as u32);
            (0..watched).filter_map(|flow| self.look(FlowId(flow))).for_each(|row| watch.add(row));
        }
        let next = watch.next(self.now);
        self.flow_watch = Some(watch);
        next
    }

    /// The state of an open flow.
    fn look(&mut self, flow: FlowId) -> Option<FlowSample> {
        let sender = self.ends.senders.get(flow)?.end.report();
        let delivered = self.ends.receivers.get(flow).map(|active| active.end.report().delivered);
        Some(FlowSample {
            time: self.now,
            flow,
            cwnd: sender.cwnd,
            ssthresh: (sender.ssthresh.0 != u64::MAX).then_some(sender.ssthresh),
            in_flight: sender.in_flight,
            srtt: sender.srtt,
            state: state(sender.state),
            acknowledged: sender.acknowledged,
            delivered: delivered.unwrap_or_default(),
            retransmitted: sender.retransmitted,
        })
    }
}

fn state(state: SenderState) -> FlowState {
    match state {
        SenderState::Open => FlowState::Open,
        SenderState::Disorder => FlowState::Disorder,
        SenderState::Reducing => FlowState::Reducing,
        SenderState::Recovery => FlowState::Recovery,
        SenderState::Loss => FlowState::Loss,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_thinned_out_when_there_are_too_many() {
        let every = Span::from_ms(10);
        let mut watch = FlowWatch::new(FlowSampling { every, flows: 2 });
        watch.most = 8;
        let mut now = Time::ZERO;
        for _ in 0..20 {
            now += every;
            for flow in 0..2 {
                if watch.wants(now) {
                    watch.add(FlowSample { time: now, flow: FlowId(flow), ..FlowSample::default() });
                }
            }
        }
        assert!(watch.series.rows.len() < 8);
        assert_eq!(watch.series.every, Span::from_ms(80));
        let times: Vec<u64> = watch.series.rows.iter().map(|row| row.time.0 / Span::from_ms(1).0).collect();
        assert_eq!(times, [80, 80, 160, 160]);
    }

    #[test]
    fn the_next_look_is_at_the_next_multiple() {
        let watch = FlowWatch::new(FlowSampling { every: Span::from_ms(10), flows: 1 });
        assert_eq!(watch.next(Time::ZERO), Time::ZERO + Span::from_ms(10));
        assert_eq!(watch.next(Time::ZERO + Span::from_ms(10)), Time::ZERO + Span::from_ms(20));
        assert_eq!(watch.next(Time::ZERO + Span::from_ms(13)), Time::ZERO + Span::from_ms(20));
    }
}
