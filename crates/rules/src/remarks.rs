//! Settings that are allowed and have no effect in a case, or keep a transport from its work, as far as that is certain.
//! They are not mistakes: a sweep may run over them, and another network or other sizes would give them an effect.

use std::path::Path;

use crate::arbiter::round_trip;
use weft_core::{Bytes, Class, Rate, Span, SwitchId};
use weft_model::{Case, Device, TransportInUse, TransportsInUse, devices, stacks};
use weft_switch::BalancerSettings;
use weft_topology::{Graph, graph::Node};
use weft_transport::{Transport, TransportSettings};
use weft_workload::{PatternSettings, SizeDistribution};

/// Remarks on a case.
pub(crate) fn without_effect(case: &Case, graph: &Graph, folder: &Path) -> Vec<String> {
    let view = View {
        case,
        graph,
        folder,
        devices: devices(&case.settings, graph),
        stacks: stacks(&case.settings, graph),
    };
    let of_devices = view.devices.iter().flat_map(|device| [view.drill(device), view.queues(device)]);
    let of_stacks = view.stacks.all.iter().enumerate();
    let of_stacks = of_stacks.flat_map(|(number, stack)| {
        let of_one = [view.windows((number, stack)), view.repairs((number, stack)), view.reports(stack)];
        of_one.into_iter().flatten()
    });
    of_devices.flatten().chain(of_stacks).collect()
}

/// A case with its network.
struct View<'a> {
    case: &'a Case,
    graph: &'a Graph,
    folder: &'a Path,
    devices: Vec<Device>,
    stacks: TransportsInUse,
}

impl View<'_> {
    /// DRILL looks at more ports than a switch can choose from.
    fn drill(&self, device: &Device) -> Option<String> {
        let BalancerSettings::Drill(own) = &device.balance else { return None };
        let said = &self.case.resolved.provenance;
        let set = |name: &str| device.said_at(said, &format!("balance.drill.{name}"));
        let path = set("choices").or_else(|| set("memory"))?;
        let (most, seen) = (self.most_uplinks(device), own.choices as usize + own.memory as usize);
        (most > 0 && seen > most).then(|| {
            format!(
                "{path}: DRILL({},{}) looks at {seen} ports, but no switch chooses among more than {most}: it sees some of \
                 them twice",
                own.choices, own.memory
            )
        })
    }

    /// All packets wait in one of several queues.
    fn queues(&self, device: &Device) -> Option<String> {
        let switch = &device.switch;
        if switch.queues < 2 || switch.pfc.is_on() || switch.trim.queue.is_some() {
            return None;
        }
        let used = self.used(|class| switch.queue_of(class));
        let path = device.said_at(&self.case.resolved.provenance, "switch.queues")?;
        (used.count_ones() == 1).then(|| {
            format!(
                "{path} = {}, but all packets are in queue {}: the others stay empty, and a schedule has nothing to choose",
                switch.queues,
                used.trailing_zeros()
            )
        })
    }

    /// The queues of all packets, those of both ends of all flows.
    fn used(&self, queue: impl Fn(Class) -> usize) -> u8 {
        let mut used = 0;
        for (index, entry) in self.case.settings.traffic.iter().enumerate() {
            let own = entry.flows.class.map(|class| Class(class.min(7) as u8));
            let constant = matches!(entry.flows.pattern, PatternSettings::Constant(_));
            for number in self.stacks.of.iter().map(|group| usize::from(group[index])) {
                let transport = Transport::new(&self.stacks.all[number].transport);
                let classes = transport.classes(own, constant.then_some(Rate::default()));
                let both = classes.sender.iter().chain(classes.receiver.iter());
                used |= both.fold(0, |set, class| set | 1 << queue(class));
            }
        }
        used
    }

    /// A window that no flow fills.
    fn windows(&self, (number, stack): (usize, &TransportInUse)) -> Vec<String> {
        let Some(largest) = self.largest(number) else { return Vec::new() };
        let of_tcp = stack.transport.tcp().and_then(|tcp| Some(("receive_window", tcp.receive_window?)));
        let of_pairs = stack.transport.roce().and_then(|pairs| Some(("window", pairs.window?)));
        let wide = of_tcp.into_iter().chain(of_pairs).filter(|(_, window)| window.0 as f64 >= largest);
        wide.filter_map(|(name, window)| {
            let path = self.said(stack, name)?;
            let most = Bytes(largest as u64);
            Some(format!("{path} = {window} never limits a flow: the largest has {most}"))
        })
        .collect()
    }

    /// The largest flow of a transport in bytes; `None` if it is unknown, or sizes have no limit.
    fn largest(&self, number: usize) -> Option<f64> {
        let uses = |index: usize| self.stacks.of.iter().any(|group| usize::from(group[index]) == number);
        let entries = self.case.settings.traffic.iter().enumerate().filter(|(index, _)| uses(*index));
        let size = |pattern: &PatternSettings| {
            let sizes = match pattern {
                PatternSettings::OpenLoop(own) => &own.sizes,
                PatternSettings::Incast(own) => &own.sizes,
                PatternSettings::Groups(own) => &own.sizes,
                PatternSettings::AllToAll(own) => &own.sizes,
                PatternSettings::Shuffle(own) => &own.sizes,
                _ => return None,
            };
            Some(SizeDistribution::read(sizes, self.folder).ok()?.largest())
        };
        let sizes: Option<Vec<f64>> = entries.map(|(_, entry)| size(&entry.flows.pattern)).collect();
        sizes?.into_iter().reduce(f64::max).filter(|largest| largest.is_finite())
    }

    /// What queue pairs do about gaps, where none can be: payload is lossless and keeps its order.
    fn repairs(&self, (number, stack): (usize, &TransportInUse)) -> Vec<String> {
        if stack.transport.roce().is_none() || !self.keeps_everything(number) {
            return Vec::new();
        }
        let names = ["nack_every", "reorder_buffer", "reorder_timeout", "cut_on_nack"];
        let why = "has no effect: payload is in lossless queues on one path, so that no packet is missing or overtaken";
        names.into_iter().filter_map(|name| Some(format!("{} {why}", self.said(stack, name)?))).collect()
    }

    /// What keeps HPCC from its work: a round trip that is not there, and paths that change with every packet.
    fn reports(&self, stack: &TransportInUse) -> Vec<String> {
        let TransportSettings::Hpcc(own) = &stack.transport else { return Vec::new() };
        let trip = round_trip(self.graph, &self.devices, &stack.transport);
        let short = (own.law.base_rtt < trip).then(|| {
            format!(
                "flows of hpcc cannot use their links: base_rtt is {}, but a round trip in the empty network takes up to {}",
                own.law.base_rtt,
                Span::from_ns(trip.0.div_ceil(1_000))
            )
        });
        let spread = self.devices.iter().find_map(|device| self.spreads(device)).map(|name| {
            format!(
                "windows of hpcc stay as they begin: it compares consecutive reports of one path, and {name} chooses a path \
                 for each packet"
            )
        });
        short.into_iter().chain(spread).collect()
    }

    /// The balancer of a switch that has several links to other switches, if it spreads the packets of a flow.
    fn spreads(&self, device: &Device) -> Option<&'static str> {
        use BalancerSettings::{Drill, PerPacketRandom, Presto, RoundRobin};
        let is_spreading =
            matches!(device.balance, PerPacketRandom(_) | RoundRobin(_) | Drill(_) | Presto(_));
        (is_spreading && self.most_uplinks(device) > 1).then(|| device.balance.name())
    }

    /// The most links to other switches that a switch of a kind has.
    fn most_uplinks(&self, device: &Device) -> usize {
        let is_switch = |link: &&weft_topology::Link| matches!(link.to, Node::Switch(_));
        let uplinks =
            |switch: &SwitchId| self.graph.links_of(Node::Switch(*switch)).iter().filter(is_switch).count();
        device.switches.iter().map(uplinks).max().unwrap_or(0)
    }

    /// Whether no payload packet of a transport is dropped, lost or overtaken.
    fn keeps_everything(&self, number: usize) -> bool {
        let settings = &self.case.settings;
        let wanted = &self.stacks.all[number].transport;
        let is_lossless = |device: &Device| {
            let (switch, balance) = (&device.switch, &device.balance);
            let queue = |class| switch.queue_of(class);
            let own = |stack: Option<&TransportSettings>| stack == Some(wanted);
            let payload = weft_model::payload_queues((settings, self.graph), queue, own);
            let paused = switch.pfc.lossless(switch.queues as usize);
            let whole =
                switch.pfc.headroom.is_none() && switch.pfc.watchdog.is_none() && switch.voq.is_none();
            payload & !paused == 0 && whole && matches!(balance, BalancerSettings::Ecmp(_))
        };
        let is_sound = |link: &weft_topology::Link| link.loss == 0.0 && link.stalls.is_none();
        settings.failure.is_empty()
            && settings.pause_storm.is_empty()
            && self.graph.links().iter().all(is_sound)
            && self.devices.iter().all(is_lossless)
    }

    /// Where the user set a setting of a transport.
    fn said(&self, stack: &TransportInUse, name: &str) -> Option<String> {
        let path = format!("transport.{}.{name}", stack.transport.name());
        stack.said_at(&self.case.resolved.provenance, &path)
    }
}
