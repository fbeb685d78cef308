//! Samples the senders in this domain: see [`FlowWatch`].

use weft_core::{FlowId, Time};
use weft_recorder::flow_series::{FlowWatch, sample};
use weft_transport::Sender;

use crate::ends::Slab;

/// Samples those of the first `flows` flows whose senders are in this domain, after all events of `now`, if a sample
/// is due.
pub(crate) fn look(watch: &mut FlowWatch, now: Time, flows: usize, senders: &mut Slab<Sender>) {
    for flow in (0..watch.flows.min(flows as u32)).map(FlowId) {
        if watch.wants(now)
            && let Some(active) = senders.get(flow)
        {
            watch.add(sample(now, flow, &active.end.report()));
        }
    }
}
