//! Samples queues at fixed intervals: lengths over time, and their standard deviation over parallel ports (DRILL
//! section 3.2.3). Sampling changes nothing.

use weft_core::histogram::Histogram;
use weft_core::record::{ImbalanceRecord, QueueEvents, QueueSeries};
use weft_core::{LinkId, SwitchId, Time};
use weft_plan::Setup;
use weft_topology::{Change, Graph, Link, Node, Timeline};

use crate::monitor::{MonitoredQueue, QueueMonitor};

/// Maximum number of bins of a series, unless a run requests more; beyond it, neighbours are merged.
const MAX_BINS: usize = 512;

/// A sample of one port: bytes and packets.
pub type Look = (u64, u64);

/// The samples of all domains.
#[derive(Debug)]
pub struct Sampler {
    series: QueueSeries,
    /// Maximum number of bins; even.
    most: usize,
    sets: Vec<ParallelPorts>,
    live: LivePorts,
    /// Samples before this instant are not kept.
    from: Time,
    /// The latest sample of each port.
    seen: Vec<Look>,
    /// The monitor of queues above a threshold, if the run requests it.
    monitor: Option<QueueMonitor>,
    /// Number of queues that it monitors.
    monitored: usize,
}

/// All ports of all switches, as links.
#[must_use]
pub fn sampled<'a>(graph: &'a Graph) -> Vec<(LinkId, &'a Link, SwitchId)> {
    let links = graph.links().iter().enumerate();
    let of_switch = |(number, link): (usize, &'a Link)| match link.from {
        Node::Switch(switch) => Some((LinkId(number as u32), link, switch)),
        Node::Host(_) => None,
    };
    links.filter_map(of_switch).collect()
}

/// The queues that a run monitors: one for each output port and group of inputs, in the order of the links.
#[must_use]
pub fn monitored(setup: &Setup) -> Vec<MonitoredQueue> {
    if setup.queues_above.is_none() {
        return Vec::new();
    }
    let of_port = |(link, to, switch): (LinkId, &Link, SwitchId)| {
        let settings = setup.devices.of(switch).map_or(&setup.switch, |kind| &kind.switch);
        let ports = setup.graph.links_of(Node::Switch(switch)).len();
        let group_of = move |port| settings.voq.as_ref().map_or(0, |voq| voq.group_of(port, ports));
        let groups = settings.voq.as_ref().map_or(1, |voq| voq.groups as u16);
        let port = to.port;
        (0..groups).map(move |group| {
            let inputs = ranges((0..ports).filter(|port| group_of(*port) == group)).into();
            MonitoredQueue { switch, port, link, group, inputs }
        })
    };
    sampled(&setup.graph).into_iter().flat_map(of_port).collect()
}

/// Abbreviates ascending numbers: `0-3,12`.
fn ranges(numbers: impl Iterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let words = |(first, last): &(usize, usize)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(words).collect::<Vec<_>>().join(",")
}

/// One kind of set of parallel ports.
#[derive(Debug)]
struct ParallelPorts {
    name: &'static str,
    hop: u8,
    /// Indices into the sampled ports.
    sets: Vec<Vec<usize>>,
    /// Samples times sets.
    samples: u64,
    /// Sums of deviations over samples and sets: bytes, packets, packets that wait.
    bytes: f64,
    packets: f64,
    waiting: f64,
    lengths: Histogram,
}

impl Sampler {
    /// Samples all ports of all switches and the monitored queues, if the run requests it.
    #[must_use]
    pub fn new(setup: &Setup) -> Option<Sampler> {
        let links = sampled(&setup.graph);
        let series = QueueSeries {
            every: setup.queues_every?,
            samples_per_bin: setup.queues_averaged.max(1),
            links: links.iter().map(|(id, ..)| *id).collect(),
            ..QueueSeries::default()
        };
        let queues = monitored(setup);
        Some(Sampler {
            monitored: queues.len(),
            monitor: setup.queues_above.map(|above| QueueMonitor::new(above, queues)),
            series,
            most: setup.queue_bins.map_or(MAX_BINS, |bins| (bins / 2 * 2).max(MAX_BINS)),
            sets: vec![uplinks(&setup.graph, &links), towards(&setup.graph, &links)],
            live: LivePorts::new(&setup.timeline, &links),
            from: setup.warm_up,
            seen: Vec::new(),
        })
    }

    /// Combines the samples of all domains at `now`: of all ports, then of all monitored queues.
    pub fn add(&mut self, now: Time, looks: &[&[Look]]) {
        if now < self.from || !now.0.is_multiple_of(self.series.every.0) {
            return;
        }
        self.seen.clear();
        self.seen.resize(self.series.links.len() + self.monitored, (0, 0));
        for look in looks {
            for (all, one) in self.seen.iter_mut().zip(*look) {
                *all = (all.0 + one.0, all.1 + one.1);
            }
        }
        let queues = self.seen.split_off(self.series.links.len());
        if let Some(monitor) = &mut self.monitor {
            monitor.add(now, queues.iter().map(|(bytes, _)| *bytes));
        }
        let live = self.live.at(now);
        for kind in &mut self.sets {
            kind.add(&self.seen, live);
        }
        if self.series.samples == 0 {
            self.series.begins = now;
        }
        self.add_to_series();
    }

    fn add_to_series(&mut self) {
        let width = self.seen.len();
        let bin = (self.series.samples / self.series.samples_per_bin) as usize;
        if bin == self.most {
            self.merge_bins();
            return self.add_to_series();
        }
        if bin * width == self.series.peak.len() {
            self.series.peak.resize((bin + 1) * width, 0);
            self.series.sum.resize((bin + 1) * width, 0);
        }
        for (column, (bytes, _)) in self.seen.iter().enumerate() {
            let cell = bin * width + column;
            self.series.peak[cell] = self.series.peak[cell].max(*bytes);
            self.series.sum[cell] += bytes;
        }
        self.series.samples += 1;
    }

    /// Halves the number of bins.
    fn merge_bins(&mut self) {
        let width = self.seen.len();
        for bin in 0..self.most / 2 {
            for column in 0..width {
                let (to, a, b) =
                    (bin * width + column, 2 * bin * width + column, (2 * bin + 1) * width + column);
                self.series.peak[to] = self.series.peak[a].max(self.series.peak[b]);
                self.series.sum[to] = self.series.sum[a] + self.series.sum[b];
            }
        }
        self.series.peak.truncate(self.most / 2 * width);
        self.series.sum.truncate(self.most / 2 * width);
        self.series.samples_per_bin *= 2;
    }

    /// The lines of the queue monitor, if there is one.
    #[must_use]
    pub fn queue_events(&self) -> Option<QueueEvents> {
        self.monitor.as_ref().map(QueueMonitor::events)
    }

    /// The series and the imbalance.
    #[must_use]
    pub fn results(&self) -> (QueueSeries, Vec<ImbalanceRecord>) {
        (
            self.series.clone(),
            self.sets.iter().filter(|kind| kind.samples > 0).map(ParallelPorts::record).collect(),
        )
    }
}

/// Which of the sampled ports have a cable that is up. A port whose cable is down does not count as an empty queue.
#[derive(Debug)]
struct LivePorts {
    up: Vec<bool>,
    /// The cable of each port.
    cables: Vec<usize>,
    /// When cables change, with their new state, the latest first.
    changes: Vec<(Time, usize, bool)>,
}

impl LivePorts {
    fn new(timeline: &Timeline, links: &[(LinkId, &Link, SwitchId)]) -> LivePorts {
        let change = |(at, change): &(Time, Change)| change.cable().map(|(cable, up)| (*at, cable, up));
        let cables: Vec<usize> = links.iter().map(|(_, link, _)| link.cable).collect();
        LivePorts {
            up: cables.iter().map(|cable| timeline.initial.is_up(*cable)).collect(),
            cables,
            changes: timeline.changes.iter().rev().filter_map(change).collect(),
        }
    }

    /// Their state at `now`, which never decreases, including changes at that instant.
    fn at(&mut self, now: Time) -> &[bool] {
        while let Some((_, cable, up)) = self.changes.pop_if(|(at, ..)| *at <= now) {
            let ports = self.up.iter_mut().zip(&self.cables).filter(|(_, own)| **own == cable);
            ports.for_each(|(port, _)| *port = up);
        }
        &self.up
    }
}

impl ParallelPorts {
    fn add(&mut self, seen: &[(u64, u64)], live: &[bool]) {
        for set in &self.sets {
            let set = set.iter().filter(|port| live[**port]);
            if set.clone().count() < 2 {
                continue;
            }
            self.bytes += deviation(set.clone().map(|port| seen[*port].0 as f64));
            self.packets += deviation(set.clone().map(|port| seen[*port].1 as f64));
            let waiting = set.map(|port| seen[*port].1.saturating_sub(1));
            self.waiting += deviation(waiting.clone().map(|packets| packets as f64));
            waiting.for_each(|packets| self.lengths.add(packets));
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
            waiting: mean(self.waiting),
            lengths: self.lengths.clone(),
        }
    }
}

/// Population standard deviation.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

/// The tier of a node: 0 for hosts, 1 for leaves.
fn tier(graph: &Graph, node: Node) -> u8 {
    match node {
        Node::Host(_) => 0,
        Node::Switch(switch) => graph.switches()[switch.index()].tier,
    }
}

/// For each leaf, its ports towards switches above it. Those of its own tier are neighbours, not alternatives.
fn uplinks(graph: &Graph, links: &[(LinkId, &Link, SwitchId)]) -> ParallelPorts {
    let is_up = |link: &Link| tier(graph, link.to) > tier(graph, link.from);
    let of_leaf = |leaf: &SwitchId| {
        let own = (0..links.len()).filter(|n| links[*n].2 == *leaf && is_up(links[*n].1));
        own.collect::<Vec<_>>()
    };
    parallel("uplinks of a leaf", 1, graph.leaves().iter().map(of_leaf))
}

/// For each leaf, the ports towards it of switches above. Their hop is that of packets that cross the highest tier.
fn towards(graph: &Graph, links: &[(LinkId, &Link, SwitchId)]) -> ParallelPorts {
    let is_down = |link: &Link| tier(graph, link.to) < tier(graph, link.from);
    let to_leaf = |leaf: &SwitchId| {
        let from_above = |link: &Link| link.to == Node::Switch(*leaf) && is_down(link);
        (0..links.len()).filter(|n| from_above(links[*n].1)).collect::<Vec<_>>()
    };
    let tiers = graph.switches().iter().map(|switch| switch.tier).max().unwrap_or(1);
    parallel("switch ports towards a leaf", 2 * (tiers - 1), graph.leaves().iter().map(to_leaf))
}

fn parallel(name: &'static str, hop: u8, sets: impl Iterator<Item = Vec<usize>>) -> ParallelPorts {
    let sets = sets.filter(|set| set.len() > 1).collect();
    let lengths = Histogram::default();
    ParallelPorts { name, hop, sets, samples: 0, bytes: 0.0, packets: 0.0, waiting: 0.0, lengths }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::shapes::fat_tree::FatTreeSettings;
    use weft_topology::shapes::full_mesh::FullMeshSettings;
    use weft_topology::shapes::leaf_spine::LeafSpineSettings;
    use weft_topology::shapes::parking_lot::ParkingLotSettings;
    use weft_topology::shapes::single_switch::SingleSwitchSettings;
    use weft_topology::{TopologySettings, build};

    /// Equal queues at the ports that are up are balanced, whatever has failed; a port that is left alone has no parallel one.
    #[test]
    fn ports_without_a_live_cable_are_no_empty_queues() {
        let at = |us| Time::ZERO + weft_core::Span::from_us(us);
        let mut live = LivePorts {
            up: vec![true, true, false],
            cables: vec![4, 5, 6],
            changes: vec![(at(30), 4, false), (at(20), 6, true), (at(20), 5, false), (at(10), 6, true)],
        };
        let mut ports = parallel("all", 1, [vec![0, 1, 2]].into_iter());
        let seen = [(9_000, 6), (9_000, 6), (0, 0)];
        ports.add(&seen, live.at(at(9)));
        assert_eq!((ports.bytes, ports.packets, ports.waiting, ports.samples), (0.0, 0.0, 0.0, 1));
        assert_eq!((ports.lengths.count(), ports.lengths.mean()), (2, 5.0));
        ports.add(&seen, live.at(at(10)));
        assert_eq!(
            (ports.bytes.round(), ports.samples, ports.lengths.count()),
            (4_243.0, 2, 5),
            "9 kB * sqrt(2) / 3"
        );
        ports.add(&seen, live.at(at(25)));
        assert_eq!((ports.packets, ports.samples), (8.0_f64.sqrt() + 3.0, 3), "the first and the last port");
        ports.add(&seen, live.at(at(30)));
        assert_eq!((live.up, ports.samples), (vec![false, false, true], 3));
    }

    /// Deep memory holds more than 4 GiB, also where bins are merged.
    #[test]
    fn peaks_of_long_queues_are_whole() {
        let links = vec![LinkId(0)];
        let every = weft_core::Span::from_us(1);
        let mut sampler = Sampler {
            series: QueueSeries { every, samples_per_bin: 1, links, ..QueueSeries::default() },
            most: 2,
            sets: Vec::new(),
            live: LivePorts { up: vec![true], cables: vec![0], changes: Vec::new() },
            from: Time::ZERO,
            seen: Vec::new(),
            monitor: None,
            monitored: 0,
        };
        for (n, bytes) in [5_000_000_000, 9_000_000_000, 7].into_iter().enumerate() {
            sampler.add(Time::ZERO + every * n as u64, &[&[(bytes, 1)]]);
        }
        let (series, _) = sampler.results();
        assert_eq!((series.peak, series.sum), (vec![9_000_000_000, 7], vec![14_000_000_000, 7]));
    }

    /// Hops and sizes of the sets of parallel ports in a network.
    fn sets(topology: &TopologySettings) -> [(u8, usize); 2] {
        let graph = build(topology).expect("it is a network");
        let links = sampled(&graph);
        [uplinks(&graph, &links), towards(&graph, &links)].map(|kind| (kind.hop, kind.sets.concat().len()))
    }

    /// Ports towards a leaf have the hop that they have in waits and drops: the second of four, or the fourth of six.
    #[test]
    fn parallel_ports_lead_up_from_a_leaf_or_down_to_it() {
        let leaf_spine = LeafSpineSettings { leaves: 3, spines: 2, ..LeafSpineSettings::default() };
        assert_eq!(sets(&TopologySettings::LeafSpine(leaf_spine)), [(1, 6), (2, 6)]);
        let fat_tree = FatTreeSettings { k: 4, ..FatTreeSettings::default() };
        assert_eq!(sets(&TopologySettings::FatTree(fat_tree)), [(1, 16), (4, 16)]);
    }

    #[test]
    fn cables_between_neighbours_of_one_tier_are_not_parallel() {
        let none = |topology| assert_eq!(sets(&topology).map(|(_, ports)| ports), [0, 0], "{topology:?}");
        none(TopologySettings::ParkingLot(ParkingLotSettings::default()));
        none(TopologySettings::FullMesh(FullMeshSettings::default()));
        none(TopologySettings::SingleSwitch(SingleSwitchSettings::default()));
    }

    #[test]
    fn deviation_is_that_of_the_population() {
        assert_eq!(deviation([1.0, 3.0].into_iter()), 1.0);
        assert_eq!(deviation([5.0, 5.0, 5.0].into_iter()), 0.0);
    }
}
