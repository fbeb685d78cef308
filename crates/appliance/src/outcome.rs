//! The report of a router that has stopped.

use std::fmt;

use weft_core::record::Reason;
use weft_core::{Bytes, PortId};
use weft_draw::Columns;
use weft_router::RouterCounters;
use weft_router::app::switch::SharedSwitch;
use weft_router::driver::QueueReading;
use weft_switch::PortCounters;

use crate::cluster::ClusterReport;
use crate::failure::ApplianceError;
use crate::plan::{PortUse, RouterPlan};

/// The counters of a router that has stopped.
#[derive(Debug)]
pub struct RouterReport {
    /// Counters of all workers together.
    pub counters: RouterCounters,
    /// Counters of the switch, if it was one.
    pub switch: Option<SwitchReport>,
    /// Counters of the node of a cluster, if it was one.
    pub cluster: Option<ClusterReport>,
    /// The failure that ended it, unless it was asked to stop.
    pub failure: Option<ApplianceError>,
}

/// The counters of a switch.
#[derive(Clone, Debug)]
pub struct SwitchReport {
    /// Its ports.
    pub ports: Vec<SwitchPortReport>,
    /// Packets dropped, by reason.
    pub drops: Vec<(Reason, u64)>,
    /// Packets still inside.
    pub inside: usize,
}

/// The counters of a port of a switch.
#[derive(Clone, Debug)]
pub struct SwitchPortReport {
    /// Its name in the file.
    pub name: String,
    /// Whether its link is up.
    pub up: bool,
    /// Packets sent.
    pub packets: u64,
    /// Bytes of these on the wire.
    pub bytes: Bytes,
    /// Counters over all its queues.
    pub counted: PortCounters,
    /// Its queues, by class.
    pub queues: Vec<QueueReading>,
}

impl RouterReport {
    pub(crate) fn of(counters: RouterCounters) -> RouterReport {
        RouterReport { counters, switch: None, cluster: None, failure: None }
    }
}

/// The counters of a switch, by the port names of the file.
pub(crate) fn switched(plan: &RouterPlan, switch: &SharedSwitch) -> SwitchReport {
    let numbers: Vec<(String, PortId)> = plan
        .ports
        .iter()
        .filter_map(|port| match port.use_of {
            PortUse::Switched(number, ..) => Some((port.name.clone(), number)),
            _ => None,
        })
        .collect();
    let counted = |(name, number)| {
        let ((packets, bytes), counted) = switch.port(number);
        let queues = switch.queues(number);
        SwitchPortReport { name, up: switch.is_up(number), packets, bytes, counted, queues }
    };
    let ports = numbers.into_iter().map(counted).collect();
    let drops = Reason::ALL.iter().map(|reason| (*reason, switch.dropped(*reason)));
    SwitchReport { ports, drops: drops.filter(|(_, count)| *count > 0).collect(), inside: switch.inside() }
}

impl SwitchReport {
    /// A table of queues; with `all`, including those that have never held or lost a packet. With `only`, those of the
    /// port of this name.
    pub(crate) fn queue_table(&self, all: bool, only: Option<&str>) -> String {
        let row = |(port, (number, queue)): (&SwitchPortReport, (usize, &QueueReading))| {
            let drops: Vec<String> =
                queue.drops.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
            let drops = if drops.is_empty() { "none".to_owned() } else { drops.join(", ") };
            let numbers = [number as u64, queue.waiting.0, queue.peak.0].map(|number| number.to_string());
            std::iter::once(port.name.clone()).chain(numbers).chain([drops]).collect()
        };
        let is_used = |queue: &QueueReading| all || queue.peak > Bytes::ZERO || !queue.drops.is_empty();
        let is_shown = |port: &SwitchPortReport| only.is_none_or(|name| name == port.name);
        let queues = self.queues().filter(|(port, (_, queue))| is_shown(port) && is_used(queue));
        let rows: Vec<Vec<String>> = queues.map(row).collect();
        Columns::table(&["port", "queue", "waiting, B", "peak, B", "dropped"], &rows)
    }

    /// Every queue, with its port and its number.
    pub(crate) fn queues(&self) -> impl Iterator<Item = (&SwitchPortReport, (usize, &QueueReading))> {
        self.ports.iter().flat_map(|port| port.queues.iter().enumerate().map(move |queue| (port, queue)))
    }
}

impl fmt::Display for RouterReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.counters)?;
        if let Some(node) = &self.cluster {
            write!(f, "\n{node}")?;
        }
        self.switch.as_ref().map_or(Ok(()), |switch| write!(f, "\n{switch}"))
    }
}

impl fmt::Display for SwitchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |SwitchPortReport { name, up, packets, bytes, counted, .. }: &SwitchPortReport| {
            let PortCounters { marked, dropped, peak, .. } = counted;
            let numbers = [*packets, bytes.0, *marked, *dropped, peak.0].map(|number| number.to_string());
            let link = if *up { "up" } else { "down" };
            [name.clone(), link.to_owned()].into_iter().chain(numbers).collect()
        };
        let rows: Vec<Vec<String>> = self.ports.iter().map(row).collect();
        let header = ["port", "link", "sent", "bytes", "marked", "dropped", "peak queue, B"];
        f.write_str(&Columns::table(&header, &rows))?;
        for (reason, count) in &self.drops {
            writeln!(f, "dropped: {} {count}", reason.name())?;
        }
        write!(f, "\n{}", self.queue_table(false, None))?;
        match self.inside {
            0 => Ok(()),
            inside => writeln!(f, "{inside} packets were still inside"),
        }
    }
}
