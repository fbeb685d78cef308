//! Delegation in PASE: leaves decide for the links above their parents, each on a slice of them, so that no arbiter up there
//! sees their requests.
//!
//! *Paper*: section 3.1.2. The owner of an upper link splits it into virtual links, one for each child; a child runs
//! algorithm 1 on its own; from time to time children report the demand of their flows, and the owner divides the
//! link anew.
//!
//! Choices here:
//! - The paper's tree has one path. Where a parent has several links up, a leaf does not know which of them a flow will take,
//!   so the slice is of all of them together. Flows that meet on one of them are not arbitrated; their senders see marks.
//! - Both halves of the path are treated alike. The sender's leaf decides for the links from its parent up, the
//!   receiver's leaf for the links down to its parent. Either parent divides both directions among its leaves.
//! - Reports and slices ride on packets that have scheduling headers: a report on the next request or grant up once
//!   `delegation_interval` has passed, the slice on the next request or grant down. They are late or lost together
//!   with these.
//! - The parent divides `least_slice` of its links equally, and the rest in proportion to the reports. A report
//!   counts for three intervals. A leaf without a slice for that long assumes the least, so that slices exceed the
//!   links only while news is on its way.

use weft_core::record::ArbitrationCounts;
use weft_core::scheduling::{Role, SchedulingHeader, SliceMessage};
use weft_core::tree::{Above, TreePort, TreeSite};
use weft_core::{Bytes, PortId, Rate, Span, Time};

use super::{PaseArbiter, PaseArbiterSettings};
use crate::{Arbiter, ArbiterSite, Passing};

/// Number of intervals for which a report or a slice remains valid: two may be lost.
const HOLDS: u64 = 3;

/// From the sender's leaf to the links above its parent.
const UP: usize = 0;
/// From those links to the receiver's leaf.
const DOWN: usize = 1;

/// What the arbiters of one switch do jointly about upper links.
#[derive(Clone, Debug)]
pub struct Delegation {
    settings: PaseArbiterSettings,
    tree: TreeSite,
    ports: Vec<DelegationPort>,
    counts: ArbitrationCounts,
}

/// A port, by what it leads to.
#[derive(Clone, Debug)]
enum DelegationPort {
    Elsewhere,
    Parent(Box<Slice>),
    Child(Report),
    Upper { rate: Rate, up: bool },
}

/// The share that a leaf holds of its parent's upper links.
#[derive(Clone, Debug)]
struct Slice {
    /// Both directions.
    ways: [PaseArbiter; 2],
    /// Its share while no slice of the parent is valid.
    least: Rate,
    /// The fastest of the links.
    link: Rate,
    /// Until when the last slice is valid.
    until: Time,
    /// When the next report is due.
    report_at: Time,
}

impl Slice {
    fn new(settings: &PaseArbiterSettings, above: &Above, full_packet: Bytes) -> Slice {
        let least = shared(above.capacity.0, settings) / u64::from(above.children);
        let line = Rate((least as f64 * settings.utilization) as u64);
        let arbiter = PaseArbiter::new(settings, ArbiterSite { number: 1, line, full_packet });
        let (least, link) = (arbiter.capacity, above.link);
        Slice { ways: [arbiter.clone(), arbiter], least, link, until: Time::ZERO, report_at: Time::ZERO }
    }

    fn decide(&mut self, way: usize, passing: &Passing, header: &mut SchedulingHeader) {
        if passing.now >= self.until {
            self.ways.iter_mut().for_each(|arbiter| arbiter.resize(self.least));
        }
        self.ways[way].forward(passing, header);
        header.rate = header.rate.min(self.link);
    }

    /// A new slice.
    fn take(&mut self, rates: [Rate; 2], until: Time) {
        self.ways.iter_mut().zip(rates).for_each(|(arbiter, rate)| arbiter.resize(rate));
        self.until = until;
    }

    /// The report, if it is due and flows want anything.
    fn report(&mut self, now: Time, interval: Span) -> SliceMessage {
        if now < self.report_at {
            return SliceMessage::None;
        }
        let demands = self.ways.each_mut().map(|arbiter| arbiter.demand(now));
        if demands == [Rate(0); 2] {
            return SliceMessage::None;
        }
        self.report_at = now + interval;
        SliceMessage::Demand(demands)
    }
}

/// The last report of a leaf.
#[derive(Clone, Copy, Debug)]
struct Report {
    demands: [Rate; 2],
    until: Time,
    /// Whether it is still unanswered.
    open: bool,
}

impl Delegation {
    /// `None` for a switch that takes no part. Without `delegation`, it counts what upper links decide.
    pub(crate) fn new(
        settings: &PaseArbiterSettings,
        tree: &TreeSite,
        full_packet: Bytes,
    ) -> Option<Delegation> {
        let port = |port: &TreePort| match port {
            TreePort::Elsewhere => DelegationPort::Elsewhere,
            TreePort::Parent(above) => {
                DelegationPort::Parent(Box::new(Slice::new(settings, above, full_packet)))
            }
            TreePort::Child => {
                DelegationPort::Child(Report { demands: [Rate(0); 2], until: Time::ZERO, open: false })
            }
            TreePort::Upper(rate) => DelegationPort::Upper { rate: *rate, up: true },
        };
        let ports: Vec<DelegationPort> = tree.ports.iter().map(port).collect();
        let any = ports.iter().any(|port| !matches!(port, DelegationPort::Elsewhere));
        let (settings, tree) = (settings.clone(), tree.clone());
        any.then(|| Delegation { settings, tree, ports, counts: ArbitrationCounts::default() })
    }

    /// What has been counted.
    #[must_use]
    pub fn counts(&self) -> ArbitrationCounts {
        self.counts
    }

    /// The link of a port went down or came back.
    pub fn set_port(&mut self, port: PortId, up: bool) {
        if let DelegationPort::Upper { up: state, .. } = &mut self.ports[port.index()] {
            *state = up;
        }
    }

    fn holds(&self) -> Span {
        self.settings.delegation_interval * HOLDS
    }

    /// Called when a packet with a scheduling header arrives: takes off what it carries for this switch.
    pub fn arrives(&mut self, now: Time, from: PortId, header: &mut SchedulingHeader) {
        let until = now + self.holds();
        match (std::mem::take(&mut header.message), &mut self.ports[from.index()]) {
            (SliceMessage::Demand(demands), DelegationPort::Child(report)) => {
                *report = Report { demands, until, open: true };
            }
            (SliceMessage::Slice(rates), DelegationPort::Parent(slice)) => slice.take(rates, until),
            _ => {}
        }
    }

    /// Called when a request or a farewell is about to be forwarded. Returns whether the arbiter of its link decides.
    pub fn keeps(&mut self, port: PortId, header: &SchedulingHeader) -> bool {
        let DelegationPort::Upper { .. } = self.ports[port.index()] else { return true };
        let asks = header.role == Role::Request && u32::from(header.queue) < self.settings.pruning;
        let count = if self.settings.delegation { &mut self.counts.spared } else { &mut self.counts.upper };
        *count += u64::from(asks);
        !self.settings.delegation
    }

    /// Called when the arbiter of its link has decided: a leaf decides for the upper links that the packet has passed
    /// or will pass.
    pub fn decide(&mut self, (from, to): (PortId, PortId), passing: &Passing, header: &mut SchedulingHeader) {
        if !self.settings.delegation {
            return;
        }
        let (source, destination) = (passing.flow.source, passing.flow.destination);
        for (port, way, host) in [(from, DOWN, source), (to, UP, destination)] {
            if let DelegationPort::Parent(slice) = &mut self.ports[port.index()]
                && !self.tree.is_near(host)
            {
                slice.decide(way, passing, header);
            }
        }
    }

    /// Called when a packet with a scheduling header is about to leave by a port: adds what is due there.
    pub fn leaves(&mut self, now: Time, port: PortId, header: &mut SchedulingHeader) {
        if !self.settings.delegation {
            return;
        }
        match &mut self.ports[port.index()] {
            DelegationPort::Parent(slice) => {
                header.message = slice.report(now, self.settings.delegation_interval);
                self.counts.reports += u64::from(header.message != SliceMessage::None);
            }
            DelegationPort::Child(report) if report.open => {
                report.open = false;
                header.message = SliceMessage::Slice(self.slices_of(now, port));
                self.counts.slices += 1;
            }
            _ => {}
        }
    }

    /// The slices of the leaf at a port, in both directions.
    fn slices_of(&self, now: Time, port: PortId) -> [Rate; 2] {
        let upper = self.ports.iter().filter_map(|port| match port {
            DelegationPort::Upper { rate, up: true } => Some(rate.0),
            _ => None,
        });
        let capacity = (upper.sum::<u64>() as f64 * self.settings.utilization) as u64;
        let children = self.ports.iter().enumerate().filter_map(|(port, held)| match held {
            DelegationPort::Child(report) => Some((port, report)),
            _ => None,
        });
        let place = children.clone().position(|(child, _)| child == port.index());
        let place = place.expect("only children are given slices");
        [UP, DOWN].map(|way| {
            let demand =
                |(_, report): (usize, &Report)| if now < report.until { report.demands[way].0 } else { 0 };
            divide(capacity, &self.settings, &children.clone().map(demand).collect::<Vec<_>>())[place]
        })
    }
}

/// The part of a rate that is divided equally.
fn shared(capacity: u64, settings: &PaseArbiterSettings) -> u64 {
    (capacity as f64 * settings.least_slice) as u64
}

/// Divides a rate among leaves with these demands, without a remainder: a part equally, the rest in proportion to the
/// demands. If all demands are zero, everything is divided equally.
fn divide(capacity: u64, settings: &PaseArbiterSettings, demands: &[u64]) -> Vec<Rate> {
    let (number, equal) = (demands.len() as u128, shared(capacity, settings).min(capacity));
    let whole: u128 = demands.iter().map(|demand| u128::from(*demand)).sum();
    let mut wanted = 0;
    let mut before = 0;
    let slice = |(place, demand): (usize, &u64)| {
        wanted += u128::from(*demand);
        let places = place as u128 + 1;
        let by_demand = match whole {
            0 => u128::from(capacity - equal) * places / number,
            _ => u128::from(capacity - equal) * wanted / whole,
        };
        let until = (u128::from(equal) * places / number + by_demand) as u64;
        Rate(until - std::mem::replace(&mut before, until))
    };
    demands.iter().enumerate().map(slice).collect()
}

#[cfg(test)]
mod tests;
