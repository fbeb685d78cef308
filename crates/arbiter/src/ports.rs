//! The arbiters at the ports of a switch: which of them a packet passes. Must not depend on what an arbiter decides.
//!
//! A port has the arbiter of the link it feeds, and that of the link in the other direction if a host sends on it.

use weft_core::record::ArbitrationCounts;
use weft_core::scheduling::{FlowKey, Role, SchedulingHeader};
use weft_core::telemetry::Telemetry;
use weft_core::tree::TreeSite;
use weft_core::{Bytes, Header, PortId, Rate, SwitchId, Time};

use crate::{AnyArbiter, ArbiterSettings, ArbiterSite, Delegation, Passing, Starting};

/// A switch with arbiters.
#[derive(Clone, Copy, Debug)]
pub struct ArbitersSite<'a> {
    /// The switch.
    pub switch: SwitchId,
    /// Line rate of each port.
    pub rates: &'a [Rate],
    /// Wire size of a full packet.
    pub full_packet: Bytes,
    /// Its place in the tree of switches, if arbiters depend on it.
    pub tree: Option<&'a TreeSite>,
}

/// See the file's head.
pub struct SwitchArbiters {
    switch: SwitchId,
    ports: Box<[PortArbiters]>,
    /// Present if the switch has a part in a tree: what its arbiters do together.
    delegation: Option<Box<Delegation>>,
}

/// What happens to a packet that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It continues along its route.
    Onward,
    /// The same; the arbiter of the sending host has seen it.
    FromHost,
    /// An answer goes back by this port.
    Back(PortId),
}

/// The two arbiters of a port.
struct PortArbiters {
    /// The arbiter of the link that the port feeds.
    out: AnyArbiter,
    /// The arbiter of the link on which a host sends to the port; unused between switches.
    from_host: AnyArbiter,
    /// The next wake-up that the driver has been asked for.
    wake: Time,
}

impl PortArbiters {
    fn new(settings: &ArbiterSettings, site: &ArbitersSite<'_>, port: usize) -> PortArbiters {
        let first = (u64::from(site.switch.0) << 16 | port as u64) * 2 + 1;
        let arbiter = |number| {
            let (line, full_packet) = (site.rates[port], site.full_packet);
            AnyArbiter::new(settings, ArbiterSite { number, line, full_packet })
        };
        PortArbiters { out: arbiter(first), from_host: arbiter(first + 1), wake: Time::NEVER }
    }
}

impl SwitchArbiters {
    /// `None`: there are none.
    #[must_use]
    pub fn new(settings: &ArbiterSettings, site: &ArbitersSite<'_>) -> Option<SwitchArbiters> {
        let ports: Box<[_]> =
            (0..site.rates.len()).map(|port| PortArbiters::new(settings, site, port)).collect();
        let delegation = site.tree.and_then(|tree| settings.delegation(tree, site.full_packet));
        let (switch, delegation) = (site.switch, delegation.map(Box::new));
        let is_on = ports.first().is_some_and(|port| port.out.is_on());
        is_on.then_some(SwitchArbiters { switch, ports, delegation })
    }

    /// What they counted about upper links.
    #[must_use]
    pub fn counts(&self) -> ArbitrationCounts {
        self.delegation.as_ref().map_or_else(ArbitrationCounts::default, |own| own.counts())
    }

    /// The link of a port went down or came back.
    pub fn set_port(&mut self, port: PortId, up: bool) {
        if let Some(delegation) = &mut self.delegation {
            delegation.set_port(port, up);
        }
    }

    fn at(&mut self, port: PortId) -> &mut PortArbiters {
        &mut self.ports[port.index()]
    }

    /// Called when a packet arrives. An answer passes the arbiters of its flow.
    pub fn arrives(
        &mut self,
        now: Time,
        from: PortId,
        header: &Header,
        scheduling: &mut SchedulingHeader,
    ) -> Arrival {
        let passing = passing(now, header, scheduling);
        if let (Some(delegation), true) = (&mut self.delegation, scheduling.role != Role::None) {
            delegation.arrives(now, from, scheduling);
        }
        match scheduling.role {
            Role::None => Arrival::Onward,
            Role::Grant => match self.returns(from, &passing, scheduling) {
                None => Arrival::Onward,
                Some(port) => Arrival::Back(port),
            },
            Role::Request | Role::Leave => {
                scheduling.trail.push(self.switch, from);
                if header.hops > 0 {
                    return Arrival::Onward;
                }
                self.at(from).from_host.forward(&passing, scheduling);
                Arrival::FromHost
            }
        }
    }

    /// An answer is on its way back; `None`: routes decide the port.
    fn returns(
        &mut self,
        from: PortId,
        passing: &Passing,
        scheduling: &mut SchedulingHeader,
    ) -> Option<PortId> {
        self.at(from).out.reverse(passing, scheduling);
        let back = scheduling.trail.pop(self.switch).filter(|port| port.index() < self.ports.len())?;
        if scheduling.trail.is_empty() {
            self.at(back).from_host.reverse(passing, scheduling);
        }
        if let Some(delegation) = &mut self.delegation {
            delegation.leaves(passing.now, back, scheduling);
        }
        Some(back)
    }

    /// Called when a packet waits at a port. Returns whether arbiters have seen it.
    pub fn departs(
        &mut self,
        now: Time,
        port: PortId,
        header: &Header,
        scheduling: &mut SchedulingHeader,
    ) -> bool {
        if !matches!(scheduling.role, Role::Request | Role::Leave) {
            return false;
        }
        let passing = passing(now, header, scheduling);
        let SwitchArbiters { ports, delegation, .. } = self;
        let own = &mut ports[port.index()].out;
        let Some(delegation) = delegation else {
            own.forward(&passing, scheduling);
            return true;
        };
        if delegation.keeps(port, scheduling) {
            own.forward(&passing, scheduling);
        }
        delegation.decide((header.ingress, port), &passing, scheduling);
        delegation.leaves(now, port, scheduling);
        true
    }

    /// Called when a port begins to send a packet, with the reports that it collects, if it does.
    pub fn sends(&mut self, starting: &Starting, port: PortId, reports: Option<&mut Telemetry>) {
        self.at(port).out.sends(starting, reports);
    }

    /// When something is due at a port, if that is earlier than the wake-up the driver has been asked for.
    pub fn earlier(&mut self, port: PortId) -> Option<Time> {
        let own = self.at(port);
        let due = own.out.due().min(own.from_host.due());
        (due < own.wake).then(|| {
            own.wake = due;
            due
        })
    }

    /// Whether the timer of a port has expired.
    #[must_use]
    pub fn is_due(&self, now: Time, port: PortId) -> bool {
        now >= self.ports[port.index()].wake
    }

    /// Called when the timer of a port has expired; `waiting` bytes wait there, not counting the packet in service.
    pub fn tick(&mut self, now: Time, port: PortId, waiting: Bytes) {
        let own = self.at(port);
        own.wake = Time::NEVER;
        own.out.tick(now, waiting);
        own.from_host.tick(now, Bytes::ZERO);
    }
}

fn passing(now: Time, header: &Header, scheduling: &SchedulingHeader) -> Passing {
    let flow = FlowKey::of(header, scheduling.role == Role::Grant);
    Passing { now, flow, wire: header.wire }
}
