//! The slowest flows one by one, for readers who ask why a percentile is high. Keeps a bounded number of them.

use crate::derived::{size_class, slowdown};
use std::collections::BTreeMap;
use weft_core::record::FlowRecord;

/// Number of flows kept for each traffic entry and size class.
const MOST: usize = 20;
/// Maximum number of traffic entries distinguished; flows of later ones are kept together with the last.
const TAGS: u16 = 16;

/// The slowest flows so far.
#[derive(Default)]
pub(crate) struct SlowFlowList {
    /// By traffic entry and size class: the highest slowdown first, among equals the first flow.
    kept: BTreeMap<(u16, usize), Vec<(f64, FlowRecord)>>,
}

impl SlowFlowList {
    /// Adds a measured flow; unfinished flows are left out.
    pub(crate) fn add(&mut self, flow: &FlowRecord) {
        if flow.end.is_none() {
            return;
        }
        let class = size_class(flow.size);
        let list = self.kept.entry((flow.tag.min(TAGS - 1), class)).or_default();
        let factor = slowdown(flow);
        let place = list.partition_point(|(other, known)| (*other, flow.flow) >= (factor, known.flow));
        if place < MOST {
            list.insert(place, (factor, flow.clone()));
            list.truncate(MOST);
        }
    }

    /// All flows that were kept, the slowest first.
    pub(crate) fn finish(self) -> Vec<FlowRecord> {
        let mut all: Vec<_> = self.kept.into_values().flatten().collect();
        all.sort_by(|(a, one), (b, other)| b.total_cmp(a).then(one.flow.cmp(&other.flow)));
        all.into_iter().map(|(_, flow)| flow).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, FlowId, Span, Time};

    fn flow(n: u32, tag: u16, size: u64, micros: u64) -> FlowRecord {
        FlowRecord {
            flow: FlowId(n),
            tag,
            size: Bytes(size),
            end: Some(Time::ZERO + Span::from_us(micros)),
            ideal: Span::from_us(1),
            ..FlowRecord::default()
        }
    }

    #[test]
    fn twenty_of_each_tag_and_class_are_kept_whatever_their_order() {
        let flows: Vec<_> = (0..200).map(|n| flow(n, (n % 2) as u16, 1_000, 10 + u64::from(n / 4))).collect();
        let numbers = |flows: &[FlowRecord]| flows.iter().map(|flow| flow.flow.0).collect::<Vec<_>>();
        let kept = |flows: &mut dyn Iterator<Item = &FlowRecord>| {
            let mut list = SlowFlowList::default();
            flows.for_each(|flow| list.add(flow));
            list.add(&flow(900, 0, 20_000_000, 2));
            list.finish()
        };
        let forward = kept(&mut flows.iter());
        assert_eq!(numbers(&forward), numbers(&kept(&mut flows.iter().rev())));
        assert_eq!(forward.len(), 41);
        assert_eq!(numbers(&forward)[..5], [196, 197, 198, 199, 192]);
        assert_eq!(forward[40].flow, FlowId(900), "the only one of its class");
    }
}
