//! Looks at queues at fixed intervals: lengths over time, and their standard deviation over parallel ports (DRILL
//! section 3.2.3). Sampling changes nothing.

use weft_core::record::{ImbalanceRecord, QueueSeries};
use weft_core::{LinkId, PortId, Span, SwitchId, Time};
use weft_topology::{Graph, Link, Node};

use crate::event::Event;
use crate::network::Network;

/// Bins of a series at most; then neighbours are merged.
const MAX_BINS: usize = 512;

/// What is sampled and what has been seen.
pub(crate) struct Sampler {
    series: QueueSeries,
    ports: Vec<(SwitchId, PortId)>,
    sets: Vec<ParallelPorts>,
    /// Scratch: the queue of each sampled port now.
    seen: Vec<(u64, u64)>,
}

/// A kind of set of parallel ports.
struct ParallelPorts {
    name: &'static str,
    hop: u8,
    /// Indices into the sampled ports.
    sets: Vec<Vec<usize>>,
    samples: u64,
    bytes: f64,
    packets: f64,
}

impl Sampler {
    /// Watches all ports of all switches.
    pub(crate) fn new(graph: &Graph, every: Span) -> Sampler {
        let links: Vec<(LinkId, &Link, SwitchId)> = graph
            .links()
            .iter()
            .enumerate()
            .filter_map(|(n, link)| match link.from {
                Node::Switch(switch) => Some((LinkId(n as u32), link, switch)),
                Node::Host(_) => None,
            })
            .collect();
        Sampler {
            series: QueueSeries {
                every,
                samples_per_bin: 1,
                links: links.iter().map(|(id, ..)| *id).collect(),
                ..QueueSeries::default()
            },
            ports: links.iter().map(|(_, link, switch)| (*switch, link.port)).collect(),
            sets: vec![uplinks(graph, &links), towards(graph, &links)],
            seen: Vec::new(),
        }
    }

    /// One look: `seen` holds bytes and packets by sampled port.
    fn add(&mut self) {
        for kind in &mut self.sets {
            kind.add(&self.seen);
        }
        self.add_to_series();
    }

    fn add_to_series(&mut self) {
        let width = self.seen.len();
        let bin = (self.series.samples / self.series.samples_per_bin) as usize;
        if bin == MAX_BINS {
            self.merge_bins();
            return self.add_to_series();
        }
        if bin * width == self.series.peak.len() {
            self.series.peak.resize((bin + 1) * width, 0);
            self.series.sum.resize((bin + 1) * width, 0);
        }
        for (column, (bytes, _)) in self.seen.iter().enumerate() {
            let cell = bin * width + column;
            self.series.peak[cell] = self.series.peak[cell].max(*bytes as u32);
            self.series.sum[cell] += bytes;
        }
        self.series.samples += 1;
    }

    /// Halves the number of bins.
    fn merge_bins(&mut self) {
        let width = self.seen.len();
        for bin in 0..MAX_BINS / 2 {
            for column in 0..width {
                let (to, a, b) =
                    (bin * width + column, 2 * bin * width + column, (2 * bin + 1) * width + column);
                self.series.peak[to] = self.series.peak[a].max(self.series.peak[b]);
                self.series.sum[to] = self.series.sum[a] + self.series.sum[b];
            }
        }
        self.series.peak.truncate(MAX_BINS / 2 * width);
        self.series.sum.truncate(MAX_BINS / 2 * width);
        self.series.samples_per_bin *= 2;
    }

    /// What has been seen.
    pub(crate) fn results(&self) -> (QueueSeries, Vec<ImbalanceRecord>) {
        (
            self.series.clone(),
            self.sets.iter().filter(|kind| kind.samples > 0).map(ParallelPorts::record).collect(),
        )
    }
}

impl ParallelPorts {
    fn add(&mut self, seen: &[(u64, u64)]) {
        for set in &self.sets {
            self.bytes += deviation(set.iter().map(|port| seen[*port].0 as f64));
            self.packets += deviation(set.iter().map(|port| seen[*port].1 as f64));
            self.samples += 1;
        }
    }

    fn record(&self) -> ImbalanceRecord {
        let mean = |sum: f64| sum / self.samples as f64;
        ImbalanceRecord {
            name: self.name.to_owned(),
            hop: self.hop,
            samples: self.samples,
            packets: mean(self.packets),
            bytes: mean(self.bytes),
        }
    }
}

/// Population standard deviation.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// For each leaf its ports towards other switches.
fn uplinks(graph: &Graph, links: &[(LinkId, &Link, SwitchId)]) -> ParallelPorts {
    let of_leaf = |leaf: &SwitchId| {
        let up = |(_, link, switch): &(LinkId, &Link, SwitchId)| {
            switch == leaf && matches!(link.to, Node::Switch(_))
        };
        (0..links.len()).filter(|n| up(&links[*n])).collect::<Vec<_>>()
    };
    parallel("uplinks of a leaf", 1, graph.leaves().iter().map(of_leaf))
}

/// For each leaf the ports of other switches towards it.
fn towards(graph: &Graph, links: &[(LinkId, &Link, SwitchId)]) -> ParallelPorts {
    let to_leaf = |leaf: &SwitchId| {
        (0..links.len()).filter(|n| links[*n].1.to == Node::Switch(*leaf)).collect::<Vec<_>>()
    };
    parallel("switch ports towards a leaf", 2, graph.leaves().iter().map(to_leaf))
}

fn parallel(name: &'static str, hop: u8, sets: impl Iterator<Item = Vec<usize>>) -> ParallelPorts {
    let sets = sets.filter(|set| set.len() > 1).collect();
    ParallelPorts { name, hop, sets, samples: 0, bytes: 0.0, packets: 0.0 }
}

impl Network {
    /// Looks at what is due and plans the next look; none when nothing else is left to happen.
    pub(crate) fn sample(&mut self) {
        let next = self.sample_queues().min(self.sample_flows());
        if !self.calendar.is_empty() {
            self.schedule(next, Event::Sample);
        }
    }

    /// Looks at all queues if that is due now. Returns when the next look is.
    fn sample_queues(&mut self) -> Time {
        let Some(mut sampler) = self.sampler.take() else { return Time::NEVER };
        let every = sampler.series.every;
        if self.now.0.is_multiple_of(every.0) {
            self.look_at_queues(&mut sampler);
        }
        self.sampler = Some(sampler);
        Time((self.now.0 / every.0 + 1) * every.0)
    }

    fn look_at_queues(&mut self, sampler: &mut Sampler) {
        let switches = &self.switches;
        let look = |(switch, port): &(SwitchId, PortId)| {
            let switch = &switches[switch.index()];
            (switch.queued(*port).0, switch.queued_packets(*port))
        };
        sampler.seen.clear();
        sampler.seen.extend(sampler.ports.iter().map(look));
        if self.now >= self.setup.warm_up {
            sampler.add();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviation_is_that_of_the_population() {
        assert_eq!(deviation([1.0, 3.0].into_iter()), 1.0);
        assert_eq!(deviation([5.0, 5.0, 5.0].into_iter()), 0.0);
    }
}
