//! PASE at a link: flows in the order of their urgency get priority classes, each class a link's worth of demand, and a
//! reference rate.
//!
//! *Paper*: Munir et al., Friends, not foes, SIGCOMM 2014, algorithm 1 and section 3.1.2: the flows before a flow
//! have an aggregate demand ADH; below the capacity C the flow belongs to the highest class and may use what they
//! leave; otherwise to class ADH / C, rounded down, counting from zero, and sends a packet per round trip. A flow
//! takes the lowest class and the least rate of its links.
//!
//! Choices here: requests travel with the flow's packets from link to link, so the tree is walked up from the sender
//! and down to the receiver; *early pruning* leaves out the links behind one that has put the flow below the highest
//! `pruning` classes; flows not heard of for `forget` no longer count. With `delegation`, leaves decide for the links
//! above the next switch.

use weft_core::scheduling::{FlowKey, Role, SchedulingHeader};
use weft_core::{Bytes, Rate, Span, Time, settings};

use super::{Arbiter, ArbiterSite, Passing};

pub mod delegation;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "PASE: a priority class and a reference rate for each flow (Munir et al. 2014)";

settings! {
    /// PASE at a link.
    pub struct PaseArbiterSettings {
        /// Priority classes to assign.
        queues: u32 [2, 8] = 8,
        /// Early pruning: a flow below this many highest classes is not arbitrated by the links behind. 8: never.
        pruning: u32 [1, 8] = 1,
        /// The share of the link that flows of the highest class may use.
        utilization: f64 [0.01, 1.0] = 1.0,
        /// A flow not heard of for this long no longer counts.
        forget: Span = Span::from_ms(10),
        /// Whether leaves decide for the links above the next switch, each on a slice of them; needs three tiers of switches.
        delegation: bool = false,
        /// How often a leaf reports what its flows want of those links, and gets a new slice; about a round trip, like requests.
        delegation_interval: Span = Span::from_us(100),
        /// The share of those links that is divided equally among leaves, whatever they report.
        least_slice: f64 [0.01, 1.0] = 0.5,
    }
}

/// A flow at a link.
#[derive(Clone, Copy, Debug)]
struct UrgentFlow {
    key: FlowKey,
    deadline: Time,
    remaining: Span,
    /// The rate it can use, as far as the links before this one allow.
    demand: Rate,
    heard: Time,
}

impl UrgentFlow {
    /// The sort key: smaller is more urgent.
    fn urgency(&self) -> (Time, Span, FlowKey) {
        (self.deadline, self.remaining, self.key)
    }
}

/// PASE at a link.
#[derive(Clone, Debug)]
pub struct PaseArbiter {
    settings: PaseArbiterSettings,
    capacity: Rate,
    full_packet: Bytes,
    /// The most urgent first.
    flows: Vec<UrgentFlow>,
    /// When flows are next forgotten.
    tidy: Time,
}

impl PaseArbiter {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PaseArbiterSettings, site: ArbiterSite) -> PaseArbiter {
        PaseArbiter {
            capacity: Rate(((site.line.0 as f64 * settings.utilization) as u64).max(1)),
            full_packet: site.full_packet,
            flows: Vec::new(),
            tidy: Time::ZERO,
            settings: settings.clone(),
        }
    }

    /// Sets the rate of the link.
    fn resize(&mut self, rate: Rate) {
        self.capacity = rate.max(Rate(1));
    }

    /// Total demand of the flows at the link.
    fn demand(&mut self, now: Time) -> Rate {
        self.forget(now);
        Rate(self.flows.iter().fold(0, |sum: u64, flow| sum.saturating_add(flow.demand.0)))
    }

    fn remove(&mut self, key: FlowKey) {
        self.flows.retain(|flow| flow.key != key);
    }

    fn forget(&mut self, now: Time) {
        if now >= self.tidy {
            let after = self.settings.forget;
            self.flows.retain(|flow| now.since(flow.heard) < after);
            self.tidy = now + after / 2;
        }
    }

    /// Lists a flow anew; returns the total demand of the more urgent ones.
    fn enlist(&mut self, flow: UrgentFlow) -> u128 {
        self.remove(flow.key);
        let place = self.flows.partition_point(|other| other.urgency() < flow.urgency());
        self.flows.insert(place, flow);
        self.flows[..place].iter().map(|flow| u128::from(flow.demand.0)).sum()
    }
}

impl Arbiter for PaseArbiter {
    fn forward(&mut self, passing: &Passing, header: &mut SchedulingHeader) {
        let pruned = u32::from(header.queue) >= self.settings.pruning;
        if pruned || header.role == Role::Leave {
            return self.remove(passing.flow);
        }
        self.forget(passing.now);
        let SchedulingHeader { deadline, remaining, rate: demand, .. } = *header;
        let (key, heard) = (passing.flow, passing.now);
        let before = self.enlist(UrgentFlow { key, deadline, remaining, demand, heard });
        let capacity = u128::from(self.capacity.0);
        if before < capacity {
            header.rate = header.rate.min(Rate((capacity - before) as u64));
        } else {
            let lowest = u128::from(self.settings.queues - 1);
            header.queue = header.queue.max((before / capacity).min(lowest) as u8);
            let seconds = header.round_trip.max(Span(1)).seconds();
            header.rate = header.rate.min(Rate((self.full_packet.bits() as f64 / seconds) as u64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::HostId;

    fn arbiter(settings: PaseArbiterSettings) -> PaseArbiter {
        let site = ArbiterSite { number: 1, line: Rate::from_gbps(10), full_packet: Bytes(1_500) };
        PaseArbiter::new(&settings, site)
    }

    fn passing(flow: u32, now: Time) -> Passing {
        let key = FlowKey { ports: flow, source: HostId(flow), destination: HostId(0) };
        Passing { now, flow: key, wire: 1_500 }
    }

    fn request(remaining_us: u64, gbps: u64) -> SchedulingHeader {
        SchedulingHeader {
            role: Role::Request,
            rate: Rate::from_gbps(gbps),
            remaining: Span::from_us(remaining_us),
            round_trip: Span::from_us(12),
            ..SchedulingHeader::NONE
        }
    }

    fn ask(arbiter: &mut PaseArbiter, flow: u32, header: SchedulingHeader) -> (u8, Rate) {
        let mut header = header;
        arbiter.forward(&passing(flow, Time::ZERO), &mut header);
        (header.queue, header.rate)
    }

    /// Four flows at 4 Gbps each: two and a half fit, the rest of the third is in the next class together with the fourth.
    #[test]
    fn every_class_holds_a_link_of_demand() {
        let mut link = arbiter(PaseArbiterSettings::default());
        let rates = [1, 2, 3, 4, 5, 6].map(|flow| ask(&mut link, flow, request(u64::from(flow), 4)));
        let packet = Rate::from_gbps(1);
        let gbps = Rate::from_gbps;
        let wanted = [(0, gbps(4)), (0, gbps(4)), (0, gbps(2)), (1, packet), (1, packet), (2, packet)];
        assert_eq!(rates, wanted, "1500 bytes in 12 us are 1 Gbps");
        assert_eq!(ask(&mut link, 7, request(0, 4)), (0, gbps(4)), "the shortest goes first");
        assert_eq!(ask(&mut link, 3, request(3, 4)).0, 1, "and displaces others");
    }

    #[test]
    fn deadlines_come_before_sizes_and_the_last_class_holds_the_rest() {
        let mut link = arbiter(PaseArbiterSettings { queues: 3, ..Default::default() });
        (1..9).for_each(|flow| _ = ask(&mut link, flow, request(10, 10)));
        assert_eq!(ask(&mut link, 9, request(20, 10)).0, 2);
        let dated = SchedulingHeader { deadline: Time::ZERO + Span::from_ms(1), ..request(900, 10) };
        assert_eq!(ask(&mut link, 10, dated).0, 0);
    }

    #[test]
    fn a_pruned_flow_does_not_count_and_a_silent_one_is_forgotten() {
        let mut link = arbiter(PaseArbiterSettings::default());
        let pruned = SchedulingHeader { queue: 1, ..request(1, 10) };
        assert_eq!(ask(&mut link, 1, pruned), (1, Rate::from_gbps(10)));
        assert_eq!(ask(&mut link, 2, request(2, 10)).0, 0);
        let mut late = request(3, 10);
        link.forward(&passing(3, Time::ZERO + Span::from_ms(10)), &mut late);
        assert_eq!(late.queue, 0, "flow 2 has been silent");
        let mut leave = SchedulingHeader { role: Role::Leave, ..request(0, 10) };
        link.forward(&passing(3, Time::ZERO + Span::from_ms(10)), &mut leave);
        assert!(link.flows.is_empty());
    }
}
