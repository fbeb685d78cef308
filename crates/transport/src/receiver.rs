//! The receiving end of a flow, as a host drives it. Knows no network and no other flow.

mod acks;
mod arrivals;
mod below;
mod datagram;
mod reading;
mod tcp;

use std::sync::Arc;

pub use weft_core::ReceiverReport;
use weft_core::{Class, Ecn, FlowSite, Header, Kind, Time};
use weft_roce::QueueReceiver;

use crate::segment::{Flags, Needs, Outgoing, Segment, reverse_ports};
use crate::transport::{Marking, Transport};

/// The receiving end of one flow, made when its first packet arrives.
pub struct Receiver {
    /// As it was after the last call.
    needs: Needs,
    end: End,
}

#[allow(
    clippy::large_enum_variant,
    reason = "nearly all flows are TCP; a box would cost each of them an allocation"
)]
enum End {
    Tcp(tcp::TcpReceiver),
    Datagram(datagram::DatagramReceiver),
    Roce(QueueReceiver),
}

impl Receiver {
    /// The receiver of a flow whose first packet is about to be given to it.
    #[must_use]
    pub fn new(transport: &Arc<Transport>, site: &FlowSite, _now: Time) -> Receiver {
        let end = match (transport.datagram_rate(site), transport.roce()) {
            (Some(_), _) => End::Datagram(datagram::DatagramReceiver::new(transport, site)),
            (None, Some(pairs)) => End::Roce(QueueReceiver::new(pairs, site)),
            (None, None) => End::Tcp(tcp::TcpReceiver::new(transport, site)),
        };
        Receiver { needs: forward!(&end, end => end.needs()), end }
    }

    /// What the receiver needs from its host.
    #[must_use]
    #[inline]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// A packet of the flow arrived.
    pub fn on_packet(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        self.on_packet_of_cell(now, ecn, 0, segment);
    }

    /// The same where hosts cut flows into flowcells; for [`crate::flowcells`].
    #[inline]
    pub fn on_packet_of_cell(&mut self, now: Time, ecn: Ecn, cell: u16, segment: &Segment) {
        if let End::Tcp(end) = &mut self.end {
            end.on_packet(now, ecn, cell, segment);
            self.needs = end.needs();
        } else {
            self.on_packet_of_others(now, ecn, segment);
        }
    }

    #[inline(never)]
    fn on_packet_of_others(&mut self, now: Time, ecn: Ecn, segment: &Segment) {
        match &mut self.end {
            End::Tcp(_) => {}
            End::Datagram(end) => {
                end.on_packet(now, ecn, segment);
                self.needs = end.needs();
            }
            End::Roce(end) => {
                end.on_packet(now, ecn, segment);
                self.needs = end.needs();
            }
        }
    }

    /// Whether [`Receiver::poll`] would give a packet now.
    #[must_use]
    #[inline]
    pub const fn ready(&self, _now: Time) -> bool {
        self.needs.ready
    }

    /// The network card is free: the next acknowledgement, sent now.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let (mut header, mut segment) = Default::default();
        self.poll_into(now, &mut header, &mut segment).then(|| Outgoing::new(&header, segment))
    }

    /// As [`Receiver::poll`], written to where the packet is to live: all of the segment, and of the header the fields
    /// that the end decides (ports, wire, kind, class, marks). False, and nothing is written, if there is nothing to send.
    #[inline]
    pub fn poll_into(&mut self, now: Time, header: &mut Header, segment: &mut Segment) -> bool {
        if !self.needs.ready {
            return false;
        }
        if let End::Tcp(end) = &mut self.end {
            end.send(now, header, segment);
            self.needs = end.needs();
            return true;
        }
        self.poll_others(now, header, segment)
    }

    #[inline(never)]
    fn poll_others(&mut self, now: Time, header: &mut Header, segment: &mut Segment) -> bool {
        let End::Roce(end) = &mut self.end else { return false };
        end.send(now, header, segment);
        self.needs = end.needs();
        true
    }

    /// Payload that will follow the packet last sent without a pause: none, a receiver acknowledges.
    #[must_use]
    pub const fn burst(&self) -> u64 {
        0
    }

    /// When [`Receiver::on_wakeup`] has to be called at the latest; [`Time::NEVER`] if nothing is due.
    #[must_use]
    #[inline]
    pub const fn next_wakeup(&self) -> Time {
        self.needs.wake
    }

    /// The clock reached some instant; called early, nothing happens.
    pub fn on_wakeup(&mut self, now: Time) {
        match &mut self.end {
            End::Tcp(end) => {
                end.on_wakeup(now);
                self.needs = end.needs();
            }
            End::Roce(end) => {
                end.on_wakeup(now);
                self.needs = end.needs();
            }
            End::Datagram(_) => {}
        }
    }

    /// When the application had the last byte; of datagrams: when the last of the flow arrived.
    #[must_use]
    #[inline]
    pub fn completed(&self) -> Option<Time> {
        if self.needs.complete { forward!(&self.end, end => end.completed()) } else { None }
    }

    /// Everything has arrived and is answered: the state may be dropped. What still comes is answered by
    /// [`reply_after_close`].
    #[must_use]
    #[inline]
    pub const fn closed(&self) -> bool {
        self.needs.done
    }

    /// Counts.
    #[must_use]
    pub fn report(&self) -> ReceiverReport {
        forward!(&self.end, end => end.report())
    }
}

/// The answer of a receiving host that has dropped the state of the connection: payload that still comes was sent again
/// because an acknowledgement was lost, so everything is acknowledged once more (TIME-WAIT of RFC 9293, section 3.10.7.4).
/// Needs no state.
#[must_use]
pub fn reply_after_close(transport: &Transport, segment: &Segment, now: Time) -> Option<Outgoing> {
    if segment.length == 0 || segment.flags.has(Flags::DATAGRAM) {
        return None;
    }
    if let Some(pairs) = transport.roce() {
        return pairs.reply_after_close(segment, now);
    }
    let again = segment.flags.has(Flags::AGAIN);
    let flags = Flags::ACK.with(Flags::DUPLICATE).with_if(again, Flags::AGAIN);
    let reply = Segment {
        flow: segment.flow,
        flags: flags.with_if(transport.tcp.close, Flags::FIN),
        ack: Segment::EVERYTHING,
        sent: now,
        echo: segment.sent,
        ..Segment::default()
    };
    let capable = transport.marking == Marking::Accurate;
    Some(Outgoing {
        segment: reply,
        wire: transport.ack_wire(0),
        kind: Kind::Ack,
        class: Class(0),
        ecn: if capable { Ecn::Capable } else { Ecn::NotCapable },
        ports: reverse_ports(segment.flow),
    })
}

#[cfg(test)]
mod tests;
