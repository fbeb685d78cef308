//! Time-outs, and the causes that delayed the slowest flows, from one flow at a time. Keeps a bounded number of
//! flows.

use crate::derived::{fct_us, slowdown};
use crate::summary::{DelayCause, SlowFlows, TimedOut};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use weft_core::record::FlowRecord;

/// Maximum number of flows kept.
const MOST: usize = 1_000;

/// One of the slowest flows so far: bits of its slowdown, its number, its cause, bits of its completion time.
type Candidate = (u64, Reverse<u32>, DelayCause, u64);

/// The state so far.
#[derive(Default)]
pub(crate) struct Slowest {
    timed_out: TimedOut,
    /// Sum and count of completion times: of flows with time-outs, and of the others.
    sums: [(f64, u64); 2],
    slowest: BinaryHeap<Reverse<Candidate>>,
}

impl Slowest {
    /// Adds a measured flow.
    pub(crate) fn add(&mut self, flow: &FlowRecord) {
        self.timed_out.flows += u64::from(flow.timeouts > 0);
        self.timed_out.syn += u64::from(flow.syn_timeouts > 0);
        if flow.end.is_none() {
            return;
        }
        let (sum, count) = &mut self.sums[usize::from(flow.timeouts == 0)];
        (*sum, *count) = (*sum + fct_us(flow), *count + 1);
        let (slowdown, taken) = (slowdown(flow).to_bits(), fct_us(flow).to_bits());
        let candidate = Reverse((slowdown, Reverse(flow.flow.0), DelayCause::of(flow), taken));
        if self.slowest.len() < MOST {
            self.slowest.push(candidate);
        } else if let Some(mut least) = self.slowest.peek_mut()
            && candidate < *least
        {
            *least = candidate;
        }
    }

    /// The time-outs, and the slowest hundredth of the finished flows by cause.
    pub(crate) fn finish(self) -> (TimedOut, Vec<SlowFlows>) {
        let [with, without] = self.sums.map(|(sum, count)| (count > 0).then(|| sum / count as f64));
        let finished: u64 = self.sums.iter().map(|(_, count)| count).sum();
        let kept: Vec<Candidate> =
            self.slowest.into_sorted_vec().into_iter().map(|Reverse(flow)| flow).collect();
        let slowest = &kept[..kept.len().min(finished.div_ceil(100) as usize)];
        let of_cause = |cause: DelayCause| {
            let flows: Vec<_> = slowest.iter().filter(|flow| flow.2 == cause).collect();
            let mean = |of: fn(&Candidate) -> u64| {
                flows.iter().map(|flow| f64::from_bits(of(flow))).sum::<f64>() / flows.len() as f64
            };
            let (fct_us, slowdown) = (mean(|flow| flow.3), mean(|flow| flow.0));
            (!flows.is_empty()).then_some(SlowFlows { cause, flows: flows.len() as u64, fct_us, slowdown })
        };
        let timed_out = TimedOut { fct_us: with, others_fct_us: without, ..self.timed_out };
        (timed_out, DelayCause::ALL.into_iter().filter_map(of_cause).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, FlowId, Span, Time};

    /// 300 flows: the longer the number, the slower; three of them wait for a SYN, a time-out of data and a repair.
    fn flow(n: u32) -> FlowRecord {
        FlowRecord {
            flow: FlowId(n),
            end: Some(Time::ZERO + Span::from_us(100 + u64::from(n))),
            ideal: Span::from_us(10),
            syn_timeouts: u32::from(n == 299),
            timeouts: u32::from(n == 299 || n == 298 || n == 5),
            retransmitted: Bytes(u64::from(n == 297)),
            ..FlowRecord::default()
        }
    }

    #[test]
    fn the_slowest_hundredth_is_told_by_cause() {
        let mut slowest = Slowest::default();
        (0..300).rev().for_each(|n| slowest.add(&flow(n)));
        let (timed_out, causes) = slowest.finish();
        assert_eq!((timed_out.flows, timed_out.syn), (3, 1));
        assert_eq!(timed_out.fct_us, Some((399.0 + 398.0 + 105.0) / 3.0));
        let found: Vec<_> = causes.iter().map(|slow| (slow.cause, slow.flows, slow.fct_us.round())).collect();
        let expected = [
            (DelayCause::SynTimeout, 1, 399.0),
            (DelayCause::Timeout, 1, 398.0),
            (DelayCause::Retransmission, 1, 397.0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn memory_does_not_grow_with_the_flows() {
        let mut slowest = Slowest::default();
        (0..5_000).for_each(|n| slowest.add(&flow(n)));
        assert_eq!(slowest.slowest.len(), MOST);
        let (_, causes) = slowest.finish();
        assert_eq!(causes.iter().map(|slow| slow.flows).sum::<u64>(), 50);
        assert!(causes.iter().all(|slow| slow.fct_us > 5_000.0), "{causes:?}");
    }
}
