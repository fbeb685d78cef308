//! What one output port saw: every packet that was queued there, when it came and when it had left, from a tap on the
//! switch. Queue lengths, use of the line and congestion epochs follow from it exactly, without sampling.

use weft_core::record::RunRecord;
use weft_core::{Bytes, Ecn, Header, HostId, PortId, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_sim::{Seen, Simulation, Tap};

/// A packet that went through the port.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// When it was queued.
    pub came: Time,
    /// When its last bit had left.
    pub gone: Time,
    /// Who sent it.
    pub source: HostId,
    /// Source and destination port: names the flow together with the hosts.
    pub ports: u32,
    /// Bytes on the wire.
    pub wire: u64,
    /// It left with a mark.
    pub marked: bool,
}

/// Everything that happened at a port from some instant on.
#[derive(Clone, Debug)]
pub struct Port {
    /// Packets in the order of leaving.
    pub passages: Vec<Passage>,
    /// Instants at which packets for this port were dropped.
    pub drops: Vec<Time>,
    rate: Rate,
    from: Time,
    until: Time,
}

/// How long and how often the queue was how long.
#[derive(Clone, Copy, Debug)]
pub struct QueueRange {
    /// Mean over time, packets.
    pub mean: f64,
    /// Mean of the lowest points of all epochs, packets.
    pub low: f64,
    /// Mean of the highest points of all epochs, packets.
    pub high: f64,
}

/// Runs to the end and looks at one port of one switch from `from` on. Drops are those of packets that did not come in
/// by this port.
#[must_use]
pub fn watch(setup: Setup, switch: SwitchId, port: PortId, from: Span) -> (Port, RunRecord) {
    let graph = std::sync::Arc::clone(&setup.graph);
    let rate = graph.links_of(weft_topology::Node::Switch(switch))[port.index()].rate;
    let (record, tap) = Simulation::new(setup).run_tapped(Tap::new(switch));
    let seen = Port::new(&tap.seen, port, rate, (Time::ZERO + from, record.ended));
    (seen, record)
}

impl Port {
    fn new(seen: &[Seen], port: PortId, rate: Rate, (from, until): (Time, Time)) -> Port {
        let mut arrivals: Vec<(Time, PortId, Header)> = Vec::new();
        let mut own = Port { passages: Vec::new(), drops: Vec::new(), rate, from, until };
        for event in seen {
            match *event {
                Seen::Arrived { time, port, header } => arrivals.push((time, port, header)),
                Seen::Dropped { time, packet, .. } => {
                    if arrivals[packet as usize].1 != port && time >= from {
                        own.drops.push(time);
                    }
                }
                Seen::Left { time, port: by, packet, ecn } if by == port => {
                    own.left(time, &arrivals[packet as usize], ecn);
                }
                Seen::Left { .. } => {}
            }
        }
        own
    }

    fn left(&mut self, time: Time, (came, _, header): &(Time, PortId, Header), ecn: Ecn) {
        let wire = u64::from(header.wire);
        let gone = time + self.rate.time_for(Bytes(wire));
        if gone < self.from {
            return;
        }
        self.passages.push(Passage {
            came: *came,
            gone,
            source: header.source,
            ports: header.ports,
            wire,
            marked: ecn == Ecn::Marked,
        });
    }

    /// The length of what was looked at.
    #[must_use]
    pub fn span(&self) -> Span {
        self.until.since(self.from)
    }

    /// Share of the line's capacity that was used.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        let sent: u64 = self.passages.iter().map(|passage| passage.wire).sum();
        sent as f64 * 8.0 / (self.rate.0 as f64 * self.span().seconds())
    }

    /// Share of the bytes that came from each of the hosts 0 to `hosts`.
    #[must_use]
    pub fn shares(&self, hosts: u32) -> Vec<f64> {
        let mut sent = vec![0; hosts as usize];
        for passage in &self.passages {
            sent[passage.source.0 as usize] += passage.wire;
        }
        let total = sent.iter().sum::<u64>() as f64;
        sent.iter().map(|bytes| *bytes as f64 / total).collect()
    }

    /// Share of the packets that left with a mark.
    #[must_use]
    pub fn marked(&self) -> f64 {
        let marked = self.passages.iter().filter(|passage| passage.marked).count();
        marked as f64 / self.passages.len() as f64
    }

    /// Beginnings of marking: instants at which a packet came that was marked after none for at least `quiet`.
    #[must_use]
    pub fn markings(&self, quiet: Span) -> Vec<Time> {
        epochs(self.passages.iter().filter(|passage| passage.marked).map(|passage| passage.came), quiet)
    }

    /// Beginnings of loss: instants of drops after none for at least `quiet`.
    #[must_use]
    pub fn losses(&self, quiet: Span) -> Vec<Time> {
        epochs(self.drops.iter().copied(), quiet)
    }

    /// Queue length in bytes over time: instant of a change and the length from then on.
    #[must_use]
    pub fn queue(&self) -> Vec<(Time, u64)> {
        let mut changes: Vec<(Time, i64)> = Vec::with_capacity(2 * self.passages.len());
        for passage in &self.passages {
            changes.push((passage.came, passage.wire as i64));
            changes.push((passage.gone, -(passage.wire as i64)));
        }
        changes.sort();
        let mut length = 0;
        let follow = |(time, change): (Time, i64)| {
            length += change;
            (time, length as u64)
        };
        changes.into_iter().map(follow).collect()
    }

    /// The queue between the first and the last of `epochs`, in packets of `packet` bytes.
    #[must_use]
    pub fn range(&self, epochs: &[Time], packet: u64) -> QueueRange {
        let queue = self.queue();
        let (mut lows, mut highs, mut area) = (0.0, 0.0, 0.0);
        for pair in epochs.windows(2) {
            let (low, high, sum) = between(&queue, pair[0], pair[1]);
            lows += low as f64;
            highs += high as f64;
            area += sum;
        }
        let count = (epochs.len() - 1) as f64 * packet as f64;
        let whole = epochs[epochs.len() - 1].since(epochs[0]).seconds() * packet as f64;
        QueueRange { mean: area / whole, low: lows / count, high: highs / count }
    }
}

/// Mean time between the instants, in seconds.
#[must_use]
pub fn mean_period(epochs: &[Time]) -> f64 {
    epochs[epochs.len() - 1].since(epochs[0]).seconds() / (epochs.len() - 1) as f64
}

/// The instants that follow none for at least `quiet`.
fn epochs(instants: impl Iterator<Item = Time>, quiet: Span) -> Vec<Time> {
    let mut last = None;
    let mut begins = Vec::new();
    for instant in instants {
        if last.is_none_or(|last: Time| instant.since(last) >= quiet) {
            begins.push(instant);
        }
        last = Some(instant);
    }
    begins
}

/// Least and greatest length and the integral in byte-seconds between two instants.
fn between(queue: &[(Time, u64)], from: Time, until: Time) -> (u64, u64, f64) {
    let first = queue.partition_point(|(time, _)| *time < from);
    let (mut low, mut high, mut area) = (u64::MAX, 0, 0.0);
    for step in queue[first..].windows(2).take_while(|step| step[0].0 < until) {
        let ((start, length), (end, _)) = (step[0], step[1]);
        low = low.min(length);
        high = high.max(length);
        area += length as f64 * end.since(start).seconds();
    }
    (low, high, area)
}
