//! What is left of ends that are done, as small as is natural: 24 bytes for a flow without trouble. A run keeps these for
//! each flow that has finished. Knows no run.

use weft_core::{Bytes, FlowId, Time};

use crate::receiver::ReceiverReport;
use crate::sender::SenderReport;

/// There is nothing rare to tell.
const NOTHING_RARE: u32 = u32::MAX;

/// What is left of every receiver.
#[derive(Clone, Copy, Debug)]
struct Received {
    completed: Time,
    flow: FlowId,
    gro_batches: u32,
    ecn_marks: u32,
    /// Where to find more, if there is more.
    rare: u32,
}

/// What is left besides of a receiver that saw reordering or gaps, or did not get everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rare {
    /// Payload of the flow that was not delivered.
    missing: u64,
    dupacks: u32,
    dupacks_reorder: u32,
    out_of_order: u32,
    displacement: u32,
}

/// What is left of a sender that sent something again; of others there is nothing to tell.
#[derive(Clone, Copy, Debug)]
struct Sent {
    retransmitted: Bytes,
    flow: FlowId,
    timeouts: u32,
}

/// The outcomes of ends that are done, in the order in which they were.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    received: Vec<Received>,
    rare: Vec<Rare>,
    sent: Vec<Sent>,
}

impl Outcomes {
    /// A receiver of a flow of `size` is done.
    pub fn receiver_done(&mut self, flow: FlowId, size: Bytes, report: &ReceiverReport) {
        let rare = Rare {
            missing: size.0 - report.delivered.0.min(size.0),
            dupacks: report.dupacks,
            dupacks_reorder: report.dupacks_reorder,
            out_of_order: report.out_of_order,
            displacement: report.displacement,
        };
        let place = if rare == Rare::default() { NOTHING_RARE } else { self.rare.len() as u32 };
        self.received.push(Received {
            completed: report.completed.unwrap_or(Time::NEVER),
            flow,
            gro_batches: report.gro_batches,
            ecn_marks: report.ecn_marks,
            rare: place,
        });
        if place != NOTHING_RARE {
            self.rare.push(rare);
        }
    }

    /// A sender is done.
    pub fn sender_done(&mut self, flow: FlowId, report: &SenderReport) {
        if report.retransmitted > Bytes::ZERO || report.timeouts > 0 {
            let SenderReport { retransmitted, timeouts, .. } = *report;
            self.sent.push(Sent { retransmitted, flow, timeouts });
        }
    }

    /// The reports of all receivers that are done, from the sizes of their flows.
    pub fn receivers(
        &self,
        size: impl Fn(FlowId) -> Bytes,
    ) -> impl Iterator<Item = (FlowId, ReceiverReport)> {
        self.received.iter().map(move |received| {
            let rare = self.rare.get(received.rare as usize).copied().unwrap_or_default();
            let report = ReceiverReport {
                delivered: Bytes(size(received.flow).0 - rare.missing),
                completed: (received.completed != Time::NEVER).then_some(received.completed),
                dupacks: rare.dupacks,
                dupacks_reorder: rare.dupacks_reorder,
                out_of_order: rare.out_of_order,
                displacement: rare.displacement,
                gro_batches: received.gro_batches,
                ecn_marks: received.ecn_marks,
            };
            (received.flow, report)
        })
    }

    /// Payload sent again and time-outs of the senders that are done, where there were any.
    pub fn senders(&self) -> impl Iterator<Item = (FlowId, Bytes, u32)> {
        self.sent.iter().map(|sent| (sent.flow, sent.retransmitted, sent.timeouts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow of 100 bytes each.
    fn size(_: FlowId) -> Bytes {
        Bytes(100)
    }

    #[test]
    fn a_flow_without_trouble_costs_24_bytes() {
        assert_eq!((size_of::<Received>(), size_of::<Rare>(), size_of::<Sent>()), (24, 24, 16));
        let mut outcomes = Outcomes::default();
        let report =
            ReceiverReport { delivered: Bytes(100), completed: Some(Time(7)), ..ReceiverReport::default() };
        outcomes.receiver_done(FlowId(3), Bytes(100), &report);
        outcomes
            .sender_done(FlowId(3), &SenderReport { acknowledged: Bytes(100), ..SenderReport::default() });
        assert_eq!((outcomes.received.len(), outcomes.rare.len(), outcomes.sent.len()), (1, 0, 0));
        assert_eq!(outcomes.receivers(size).collect::<Vec<_>>(), [(FlowId(3), report)]);
    }

    #[test]
    fn every_count_of_a_receiver_survives() {
        let calm = ReceiverReport {
            delivered: Bytes(100),
            completed: Some(Time(9)),
            gro_batches: 5,
            ecn_marks: 6,
            ..ReceiverReport::default()
        };
        let reports = [
            ReceiverReport { dupacks: 1, ..calm },
            calm,
            ReceiverReport { dupacks: 4, dupacks_reorder: 2, ..calm },
            ReceiverReport { out_of_order: 3, displacement: 4, ..calm },
            ReceiverReport { delivered: Bytes(60), completed: None, ..calm },
        ];
        let flows = || (0..).map(FlowId);
        let mut outcomes = Outcomes::default();
        for (flow, report) in flows().zip(&reports) {
            outcomes.receiver_done(flow, size(flow), report);
        }
        assert!(outcomes.receivers(size).eq(flows().zip(reports)));
    }

    #[test]
    fn senders_in_trouble_are_told_of() {
        let mut outcomes = Outcomes::default();
        let report = SenderReport { retransmitted: Bytes(1460), timeouts: 2, ..SenderReport::default() };
        outcomes.sender_done(FlowId(0), &SenderReport::default());
        outcomes.sender_done(FlowId(1), &report);
        assert_eq!(outcomes.senders().collect::<Vec<_>>(), [(FlowId(1), Bytes(1460), 2)]);
    }
}
