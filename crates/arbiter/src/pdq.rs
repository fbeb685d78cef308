//! PDQ at a link: the most critical flows send at full rate, the others pause.
//!
//! *Paper*: Hong, Caesar, Godfrey, Finishing flows quickly with preemptive scheduling, SIGCOMM 2012, section 3.3:
//! algorithms 1 to 3, Early Start, Suppressed Probing, dampening, and the rate controller.
//!
//! The paper leaves some points open; the choices here: an offer below one packet per round trip counts as a pause,
//! so that a sending flow hears of changes within a round trip; positions in the list count from one, so that the
//! most critical flow has a probing interval, too; the capacity never falls below one packet per round trip, so that
//! a queue of probes cannot pause all flows; flows not heard of for `forget` leave the list, in case their last
//! packet was lost.

mod list;
mod rcp;

use weft_core::scheduling::{FlowKey, Role, SchedulingHeader};
use weft_core::{Bytes, Rate, Span, Time, settings};

use super::{Arbiter, ArbiterSite, Passing};
use list::{FlowList, ListedFlow};
use rcp::LeftoverShare;

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "PDQ: the most critical flows send at full rate, the others pause (Hong et al. 2012)";

settings! {
    /// PDQ at a link.
    pub struct PdqArbiterSettings {
        /// Early Start (K): flows that finish within this many round trips no longer block the next one; 0 is off.
        early_start: f64 [0.0, 1000.0] = 2.0,
        /// For this many round trips after it admitted a flow that was not sending, a link admits no other one.
        dampening: f64 [0.0, 1000.0] = 0.5,
        /// Suppressed Probing: the n-th flow of the list probes every n times this many round trips.
        probing: f64 [0.1, 1000.0] = 0.2,
        /// The list holds twice as many flows as are sending, and at least this many.
        least_list: u32 [1, 65536] = 8,
        /// The list never holds more; what the listed flows leave of the link is shared by the others.
        most_list: u32 [1, 65536] = 1024,
        /// The share of the link that listed flows may use.
        utilization: f64 [0.01, 1.0] = 1.0,
        /// A flow not heard of for this long leaves the list.
        forget: Span = Span::from_ms(10),
    }
}

/// PDQ at a link.
#[derive(Clone, Debug)]
pub struct PdqArbiter {
    settings: PdqArbiterSettings,
    number: u64,
    full_packet: Bytes,
    /// The rate that listed flows may use of an empty link.
    most: Rate,
    /// The same rate minus what is needed to drain the queue (C in the paper).
    capacity: Rate,
    flows: FlowList,
    /// The flow that was last admitted after a pause, and when.
    admitted: Option<(FlowKey, Time)>,
    leftover: LeftoverShare,
    due: Time,
}

impl PdqArbiter {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PdqArbiterSettings, site: ArbiterSite) -> PdqArbiter {
        let most = scaled(site.line, settings.utilization);
        PdqArbiter {
            number: site.number,
            full_packet: site.full_packet,
            most,
            capacity: most,
            flows: FlowList::default(),
            admitted: None,
            leftover: LeftoverShare::new(most),
            due: Time::NEVER,
            settings: settings.clone(),
        }
    }

    /// Maximum number of flows in the list.
    fn bound(&self) -> usize {
        let floor = self.settings.least_list as usize;
        (2 * self.flows.sending()).max(floor).min(self.settings.most_list as usize)
    }

    /// The flow's position in the list, which it enters if it is critical enough, and whether it has just entered.
    fn enlist(&mut self, flow: ListedFlow) -> Option<(usize, bool)> {
        if let Some(position) = self.flows.find(flow.key) {
            return Some((self.flows.update(position, flow), false));
        }
        self.flows.insert(flow, self.bound()).map(|position| (position, true))
    }

    /// The rate on the link that flows more critical than the one at `position` leave unused. Flows about to finish
    /// are ignored while together they need less than K round trips.
    fn available(&self, position: usize) -> Rate {
        let (mut finishing, mut used) = (0.0, 0);
        for flow in self.flows.before(position) {
            let trips = flow.remaining.seconds() / flow.round_trip.seconds();
            if trips < self.settings.early_start && finishing < self.settings.early_start {
                finishing += trips;
            } else {
                used += flow.rate.0;
            }
        }
        Rate(self.capacity.0.saturating_sub(used))
    }

    /// The rate on the link that the listed flows leave unused if all of them send.
    fn left(&self) -> Rate {
        Rate(self.capacity.0.saturating_sub(self.flows.demand().0))
    }

    /// Whether another flow was admitted so recently that its rate may not yet be known here.
    fn is_dampened(&self, passing: &Passing, round_trip: Span) -> bool {
        let pause = scaled_span(round_trip, self.settings.dampening);
        self.admitted.is_some_and(|(flow, at)| flow != passing.flow && passing.now < at + pause)
    }

    /// Whether an offer is below one packet per round trip because other flows use the link.
    fn is_little(&self, offer: Rate, header: &SchedulingHeader) -> bool {
        offer.bytes_in(header.round_trip) < self.full_packet && offer < header.rate.min(self.capacity)
    }

    fn pause(&self, header: &mut SchedulingHeader) {
        (header.rate, header.paused_by) = (Rate(0), self.number);
    }

    /// A request of a listed flow; `comes_back`: it sends, and has just entered the list, which it was not on while
    /// another link paused it. The link knows more about a listed flow than the flow's sender, which may not yet have
    /// heard of a pause.
    fn decide(
        &mut self,
        (position, comes_back): (usize, bool),
        passing: &Passing,
        header: &mut SchedulingHeader,
    ) {
        let offer = self.available(position).min(header.rate);
        let sends = comes_back || self.flows.at(position).rate > Rate(0);
        if self.is_little(offer, header) || !sends && self.is_dampened(passing, header.round_trip) {
            return self.pause(header);
        }
        if !sends {
            self.admitted = Some((passing.flow, passing.now));
        }
        if comes_back {
            self.flows.set_rate(position, offer);
        }
        (header.rate, header.paused_by) = (offer, 0);
    }

    /// A request of a flow that is not critical enough for the list.
    fn share(&mut self, passing: &Passing, header: &mut SchedulingHeader) {
        self.leftover.note(passing.wire);
        let offer = self.leftover.share().min(self.left()).min(header.rate);
        if self.is_little(offer, header) {
            return self.pause(header);
        }
        (header.rate, header.paused_by) = (offer, 0);
    }

    /// The rate controller and the share of unlisted flows are due two round trips after the last time.
    fn set_timer(&mut self, now: Time, round_trip: Span) {
        self.due = now + round_trip * 2;
    }
}

impl Arbiter for PdqArbiter {
    fn forward(&mut self, passing: &Passing, header: &mut SchedulingHeader) {
        let paused_elsewhere = header.paused_by != 0 && header.paused_by != self.number;
        if paused_elsewhere || header.role == Role::Leave {
            return self.flows.remove(passing.flow);
        }
        header.round_trip = header.round_trip.max(Span(1));
        if self.due == Time::NEVER {
            self.set_timer(passing.now, header.round_trip);
        }
        match self.enlist(ListedFlow::asking(passing, header)) {
            Some((position, is_new)) => self.decide((position, is_new && header.sends), passing, header),
            None => self.share(passing, header),
        }
    }

    fn reverse(&mut self, passing: &Passing, header: &mut SchedulingHeader) {
        if header.paused_by != 0 {
            header.rate = Rate(0);
            if header.paused_by != self.number {
                return self.flows.remove(passing.flow);
            }
        }
        let Some(position) = self.flows.find(passing.flow) else { return };
        self.flows.set_rate(position, header.rate);
        let gap = 10.0 * self.settings.probing * (position + 1) as f64;
        header.probe_gap = header.probe_gap.max(gap.ceil() as u32);
    }

    fn due(&self) -> Time {
        self.due
    }

    fn tick(&mut self, now: Time, waiting: Bytes) {
        if now < self.due {
            return;
        }
        self.flows.forget(now, self.settings.forget);
        let Some(round_trip) = self.flows.mean_round_trip() else {
            (self.capacity, self.due) = (self.most, Time::NEVER);
            return;
        };
        let per_trip = |bytes: Bytes| (bytes.bits() as f64 / round_trip.seconds()) as u64;
        let left = self.most.0.saturating_sub(per_trip(waiting) / 2);
        self.capacity = Rate(left.max(per_trip(self.full_packet))).min(self.most);
        self.leftover.adapt(self.left(), round_trip * 2);
        self.set_timer(now, round_trip);
    }
}

fn scaled(rate: Rate, share: f64) -> Rate {
    Rate((rate.0 as f64 * share) as u64)
}

fn scaled_span(span: Span, times: f64) -> Span {
    Span((span.0 as f64 * times) as u64)
}

#[cfg(test)]
mod tests;
