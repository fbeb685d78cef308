//! The scheduling header: the request of a sender to the switches on its path, and their grant. Must not depend on
//! any scheme: each uses the fields it needs.
//!
//! A sender writes a *request*. The arbiter of each link on the path reads it and narrows the grant. The receiver
//! returns the header in its answer, which takes the same path back ([`Trail`]), so that every arbiter also sees the
//! final grant.

use crate::header::Header;
use crate::ids::{HostId, PortId, SwitchId};
use crate::units::{Rate, Span, Time};

/// The role of a packet, as an arbiter sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Nothing: the packet has no scheduling header.
    #[default]
    None,
    /// On its way to the receiver: asks for a rate.
    Request,
    /// On its way back: carries the grant.
    Grant,
    /// The flow has finished, or its sender gives up.
    Leave,
}

/// A scheduling header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchedulingHeader {
    /// The role of the packet.
    pub role: Role,
    /// The rate on the wire: in a request, what the sender can use; lowered by each arbiter.
    pub rate: Rate,
    /// The arbiter that pauses the flow; zero: none.
    pub paused_by: u64,
    /// Whether the flow is already sending: it was granted a rate, and no answer has paused it since.
    pub sends: bool,
    /// Deadline of the flow; [`Time::NEVER`]: none.
    pub deadline: Time,
    /// Transmission time of what is left of the flow, at the sender's full rate.
    pub remaining: Span,
    /// The sender's estimate of its round-trip time.
    pub round_trip: Span,
    /// Interval between the probes of a paused flow, in tenths of a round trip; zero: the sender chooses.
    pub probe_gap: u32,
    /// The priority class granted, counted down from the flow's highest; raised by each arbiter.
    pub queue: u8,
    /// The path of the answer back to the sender.
    pub trail: Trail,
    /// A message from one switch to the next.
    pub message: SliceMessage,
}

/// What a packet carries between a leaf and its parent ([`crate::tree`]) besides the request or grant of its flow.
/// Each carries two rates: upwards, to the parent's upper links, and downwards, from them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SliceMessage {
    /// Nothing.
    #[default]
    None,
    /// From a leaf: what its flows can use of the upper links.
    Demand([Rate; 2]),
    /// From a parent: the part of the upper links that the leaf may give its flows.
    Slice([Rate; 2]),
}

impl SchedulingHeader {
    /// The header of a packet that carries none.
    pub const NONE: SchedulingHeader = SchedulingHeader {
        role: Role::None,
        rate: Rate(0),
        paused_by: 0,
        sends: false,
        deadline: Time::NEVER,
        remaining: Span::ZERO,
        round_trip: Span::ZERO,
        probe_gap: 0,
        queue: 0,
        trail: Trail::EMPTY,
        message: SliceMessage::None,
    };
}

impl Default for SchedulingHeader {
    fn default() -> SchedulingHeader {
        SchedulingHeader::NONE
    }
}

/// Hops that a [`Trail`] can hold.
pub const LONGEST_TRAIL: usize = 8;

/// The switches on a request's path that have arbiters, and the ports by which it entered. Answers return through them,
/// so that both directions meet the same arbiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trail {
    hops: [(SwitchId, PortId); LONGEST_TRAIL],
    length: u8,
}

impl Trail {
    /// No hops.
    pub const EMPTY: Trail = Trail { hops: [(SwitchId(0), PortId(0)); LONGEST_TRAIL], length: 0 };

    /// Called when a request enters a switch. Hops beyond [`LONGEST_TRAIL`] are not recorded.
    pub fn push(&mut self, switch: SwitchId, ingress: PortId) {
        if let Some(place) = self.hops.get_mut(usize::from(self.length)) {
            *place = (switch, ingress);
            self.length += 1;
        }
    }

    /// Called when an answer enters a switch. Returns the port by which it leaves. `None`: this switch is not the
    /// next hop of the trail, and the routing tables decide.
    pub fn pop(&mut self, switch: SwitchId) -> Option<PortId> {
        let last = usize::from(self.length).checked_sub(1)?;
        let (at, port) = self.hops[last];
        (at == switch).then(|| {
            self.length -= 1;
            port
        })
    }

    /// Whether no hop is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

/// A flow as switches name it, in the direction of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source and destination port. They come first because they contain the number of the flow: among equals the flow
    /// that started first wins.
    pub ports: u32,
    /// The sending host.
    pub source: HostId,
    /// The receiving host.
    pub destination: HostId,
}

impl FlowKey {
    /// The flow of a packet that travels with the payload or, if `back`, against it.
    #[must_use]
    pub fn of(header: &Header, back: bool) -> FlowKey {
        let Header { source, destination, ports, .. } = *header;
        if back {
            FlowKey { ports: ports.rotate_left(16), source: destination, destination: source }
        } else {
            FlowKey { ports, source, destination }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_leaves_by_the_ports_its_request_entered() {
        let mut trail = Trail::EMPTY;
        (0..5).for_each(|hop| trail.push(SwitchId(10 + hop), PortId(hop as u16)));
        assert_eq!(trail.pop(SwitchId(77)), None, "a switch that is not on the trail");
        let back: Vec<_> = (0..5).rev().map(|hop| trail.pop(SwitchId(10 + hop))).collect();
        assert_eq!(back, [4, 3, 2, 1, 0].map(|port| Some(PortId(port))));
        assert!(trail.is_empty() && trail.pop(SwitchId(10)).is_none());
    }

    #[test]
    fn of_a_long_path_the_first_hops_are_known() {
        let mut trail = Trail::EMPTY;
        (0..300).for_each(|hop| trail.push(SwitchId(hop), PortId(0)));
        let known = (0..300).rev().filter(|hop| trail.pop(SwitchId(*hop)).is_some()).count();
        assert_eq!(known, LONGEST_TRAIL);
    }

    #[test]
    fn both_directions_of_a_flow_have_one_key() {
        let flow = crate::FlowId(70_000);
        let (source, destination) = (HostId(3), HostId(9));
        let data = Header { source, destination, ports: crate::segment::ports(flow), ..Header::default() };
        let ports = crate::segment::reverse_ports(flow);
        let answer = Header { source: destination, destination: source, ports, ..Header::default() };
        assert_eq!(FlowKey::of(&data, false), FlowKey::of(&answer, true));
    }
}
