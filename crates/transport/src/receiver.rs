//! The receiving end of a flow: puts bytes in order, acknowledges, and counts what the network did to the order.
//!
//! Standards: RFC 5681 (acknowledgements), 2018 and 2883 (selective ones), 3168 and 8257 (echo of marks). Below it an
//! optional shim restores the order, and receive offload is counted.

use std::sync::Arc;

use weft_core::{Bytes, Ecn, Time};

use crate::gro::GroCounter;
use crate::segment::{Flags, Outgoing, Segment};
use crate::shim::Shim;
use crate::transport::{FlowSite, Transport};

mod acks;
mod assembly;

pub use acks::reply_after_close;

use acks::Acks;
use assembly::{Arrival, Assembly};

/// The receiving end of a flow.
pub struct Receiver {
    acks: Acks,
    assembly: Assembly,
    shim: Option<Shim<(Segment, Ecn)>>,
    /// What the shim lets up.
    raised: Vec<(Segment, Ecn)>,
    gro: GroCounter,
    order: Order,
    size: u64,
    /// Datagrams: nobody is told anything.
    silent: bool,
    /// Everything has arrived.
    closed: bool,
    completed: Option<Time>,
    report: ReceiverReport,
}

/// What a receiver has seen so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReceiverReport {
    /// Payload delivered in order.
    pub delivered: Bytes,
    /// When the last payload byte was delivered.
    pub completed: Option<Time>,
    /// Duplicate acknowledgements sent.
    pub dupacks: u32,
    /// Of these, those for a gap that an original, not a repeated, segment filled: no loss, only reordering.
    pub dupacks_reorder: u32,
    /// Original segments that arrived after a later one.
    pub out_of_order: u32,
    /// Greatest displacement: full-size segments between a late one and the highest byte that had arrived.
    pub displacement: u32,
    /// Batches the receive offload would have handed up.
    pub gro_batches: u32,
    /// Packets that arrived with a mark.
    pub ecn_marks: u32,
}

/// The order of arrival, before any shim.
#[derive(Clone, Copy, Debug, Default)]
struct Order {
    highest: u64,
    mss: u64,
}

impl Order {
    fn note(&mut self, segment: &Segment, report: &mut ReceiverReport) {
        let end = segment.sequence + u64::from(segment.length);
        if end <= self.highest && !segment.flags.has(Flags::AGAIN) {
            report.out_of_order += 1;
            let behind = (self.highest - segment.sequence).div_ceil(self.mss) - 1;
            report.displacement = report.displacement.max(behind as u32);
        }
        self.highest = self.highest.max(end);
    }
}

impl Receiver {
    /// The receiver of a flow whose first packet is about to be handed in.
    #[must_use]
    pub fn new(transport: &Arc<Transport>, site: &FlowSite, _now: Time) -> Receiver {
        let tcp = &transport.tcp;
        Receiver {
            acks: Acks::new(transport, site.flow),
            assembly: Assembly::default(),
            shim: tcp.reorder_shim.then(|| Shim::new(&tcp.shim)),
            raised: Vec::new(),
            gro: GroCounter::new(&tcp.batches),
            order: Order { highest: 0, mss: transport.mss() },
            size: site.size.0,
            silent: transport.datagram_rate(site).is_some(),
            closed: false,
            completed: None,
            report: ReceiverReport::default(),
        }
    }

    /// A packet arrived.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            return self.acks.open(now, segment);
        }
        self.report.ecn_marks += u32::from(ecn == Ecn::Marked);
        if segment.length > 0 {
            self.order.note(segment, &mut self.report);
            self.gro.on_segment(now, segment.sequence, u64::from(segment.length), ecn == Ecn::Marked);
        }
        match &mut self.shim {
            None => self.take(now, ecn, segment),
            Some(shim) => {
                shim.on_segment(now, segment.sequence..segment.end(), (*segment, ecn), &mut self.raised);
                self.take_raised(now);
            }
        }
    }

    fn take_raised(&mut self, now: Time) {
        let mut raised = std::mem::take(&mut self.raised);
        for (segment, ecn) in raised.drain(..) {
            self.take(now, ecn, &segment);
        }
        self.raised = raised;
    }

    /// A segment comes up to TCP.
    fn take(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        let arrival = self.assembly.insert(segment.sequence, segment.end(), segment.flags.has(Flags::AGAIN));
        self.count(&arrival);
        if self.assembly.next() >= self.size && self.completed.is_none() {
            self.completed = Some(now);
        }
        if self.silent {
            return self.take_datagram(now, segment);
        }
        self.closed = self.assembly.next() >= self.size;
        let last = self.completed.is_some();
        self.acks.arrived(now, (segment, ecn), &arrival, (&self.assembly, last));
    }

    /// Datagrams are complete when the last one has come, with or without the others.
    fn take_datagram(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::FIN) {
            self.closed = true;
            self.completed = self.completed.or(Some(now));
        }
    }

    fn count(&mut self, arrival: &Arrival) {
        self.report.dupacks += u32::from(arrival.beyond_gap && !self.silent);
        self.report.dupacks_reorder += arrival.gap_was_reordering;
    }

    /// Whether [`Receiver::poll`] would give a packet.
    #[must_use]
    pub fn ready(&self, _now: Time) -> bool {
        self.acks.ready()
    }

    /// The next acknowledgement.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.acks.poll(now)
    }

    /// When [`Receiver::on_wakeup`] wants to be called; [`Time::NEVER`] when no timer runs.
    #[must_use]
    pub fn next_wakeup(&self) -> Time {
        let shim = self.shim.as_ref().map_or(Time::NEVER, Shim::next_wakeup);
        self.acks.next_wakeup().min(shim)
    }

    /// Looks after timers that are due.
    pub fn on_wakeup(&mut self, now: Time) {
        if let Some(shim) = self.shim.as_mut().filter(|shim| shim.next_wakeup() <= now) {
            shim.on_wakeup(now, &mut self.raised);
            self.take_raised(now);
        }
        self.acks.on_wakeup(now, &self.assembly);
    }

    /// When the last payload byte was delivered in order to the application. Datagrams: when the last one arrived.
    #[must_use]
    pub fn completed(&self) -> Option<Time> {
        self.completed
    }

    /// The sender has closed and everything is acknowledged; the state may be dropped.
    #[must_use]
    pub fn closed(&self) -> bool {
        self.closed && self.completed.is_some() && !self.acks.ready()
    }

    /// What was seen so far.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        let beyond = if self.silent { self.assembly.beyond() } else { 0 };
        ReceiverReport {
            delivered: Bytes((self.assembly.next() + beyond).min(self.size)),
            completed: self.completed,
            gro_batches: self.gro.batches() as u32,
            ..self.report.clone()
        }
    }
}
