//! Mean throughput of flows by size and tag, from one flow at a time.

use crate::derived::size_class;
use crate::summary::Throughput;
use weft_core::record::FlowRecord;

/// Sum and count of values.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    total: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, value: f64) {
        self.total += value;
        self.count += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.total / self.count as f64)
    }
}

/// The means so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Throughputs {
    all: Sum,
    buckets: [Sum; 3],
    tags: Vec<Sum>,
}

impl Throughputs {
    /// Empty means for `tags` tags.
    pub(crate) fn new(tags: usize) -> Throughputs {
        Throughputs { tags: vec![Sum::default(); tags], ..Throughputs::default() }
    }

    /// Adds a flow with its throughput in bits per second.
    pub(crate) fn add(&mut self, flow: &FlowRecord, throughput: f64) {
        let gbps = throughput / 1e9;
        self.all.add(gbps);
        self.buckets[size_class(flow.size)].add(gbps);
        if let Some(tag) = self.tags.get_mut(usize::from(flow.tag)) {
            tag.add(gbps);
        }
    }

    /// The means; by tag only if there are several.
    pub(crate) fn finish(&self, tags: &[String]) -> Throughput {
        let [small, medium, large] = self.buckets.map(Sum::mean);
        let tags = if tags.len() > 1 { tags } else { &[] };
        let of_tag = |(tag, sum): (&String, &Sum)| Some((tag.clone(), sum.mean()?));
        let tags = tags.iter().zip(&self.tags).filter_map(of_tag).collect();
        Throughput { all: self.all.mean(), small, medium, large, tags }
    }
}
