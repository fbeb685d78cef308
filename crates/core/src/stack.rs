//! What a host runs to carry flows: a *stack* gives each flow a sending and a receiving end and each host a host part
//! that all its flows share. Ends and host parts are state machines: packets and the clock come in, packets and
//! [`Needs`] come out. Must not depend on networks, switches or any particular transport.
//!
//! A stack is declared by [`Stack`]; the list of all stacks is in the crate `transport`.

use std::sync::Arc;

use crate::ends::{FlowSite, ReceiverReport, SenderReport};
use crate::header::{Class, Header, PacketKind};
use crate::ids::FlowId;
use crate::in_band::InBand;
use crate::needs::Needs;
use crate::scheduling::SchedulingHeader;
use crate::toll::Toll;
use crate::units::{Bytes, Rate, Time};

/// The largest packet on the wire: lengths have 16 bits.
const MAX_WIRE: u64 = u16::MAX as u64;

/// Packet sizes as the settings of a stack give them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Largest IP packet.
    pub mtu: Bytes,
    /// The part of the MTU without payload.
    pub header: Bytes,
    /// Bytes that a frame occupies on the wire beyond the IP packet.
    pub framing: Bytes,
    /// Shorter frames are padded to this size on the wire.
    pub least_wire: Bytes,
}

/// Packet sizes within bounds: at least one byte of payload, at most 65 535 bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frames {
    /// Payload of a full packet.
    pub mss: u64,
    /// Wire bytes beyond the payload.
    pub overhead: u64,
    /// Minimum size of a packet on the wire; shorter ones are padded.
    pub least_wire: u64,
}

impl From<Sizes> for Frames {
    fn from(sizes: Sizes) -> Frames {
        let framing = sizes.framing.0.min(MAX_WIRE - 1);
        let mtu = sizes.mtu.0.clamp(1, MAX_WIRE - framing);
        let header = sizes.header.0.min(mtu - 1);
        Frames { mss: mtu - header, overhead: header + framing, least_wire: sizes.least_wire.0 }
    }
}

impl Frames {
    /// Wire size of a packet with `payload` bytes of payload.
    #[must_use]
    #[inline]
    pub fn wire(&self, payload: u64) -> u16 {
        (payload + self.overhead).max(self.least_wire).min(MAX_WIRE) as u16
    }

    /// Wire size of a full packet.
    #[must_use]
    pub fn full_wire(&self) -> u16 {
        self.wire(self.mss)
    }
}

/// A set of priority classes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassSet(pub u8);

impl ClassSet {
    /// The set of one class.
    #[must_use]
    pub const fn of(class: Class) -> ClassSet {
        ClassSet(1 << (class.0 & 7))
    }

    /// This set with one more class.
    #[must_use]
    pub const fn and(self, class: Class) -> ClassSet {
        ClassSet(self.0 | 1 << (class.0 & 7))
    }

    /// The classes, highest priority first.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        (0..8).filter(move |class| self.0 >> class & 1 == 1).map(Class)
    }
}

/// The classes in which the two ends of a flow send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// The classes of the sending end.
    pub sender: ClassSet,
    /// The classes of the receiving end.
    pub receiver: ClassSet,
}

/// The part of a packet that only the ends see, in a stack's own layout: at most 56 bytes, or a `Segment`.
pub trait Layout: Copy + Default {
    /// The flow of the packet.
    fn flow(&self) -> FlowId;
    /// Bytes of payload.
    fn payload(&self) -> u64;
    /// The end that a packet with this header goes to: the sender or the receiver of its flow.
    fn side(&self, header: &Header) -> Side;
    /// The toll of a payload packet: what priority flow control has done to it so far.
    fn toll(&self) -> Toll;
    /// Whether the toll is not zero.
    fn has_toll(&self) -> bool {
        self.toll() != Toll::NONE
    }
    /// Adds the toll of a queue that a payload packet leaves.
    fn add_toll(&mut self, toll: Toll);
}

/// One end of a flow.
pub trait End {
    /// The layout of its packets.
    type Body: Layout;
    /// The state that it shares with the other ends at its host.
    type Host: HostPart;

    /// Its current needs.
    fn needs(&self) -> Needs;
    /// Called when a packet of the flow has arrived.
    fn on_packet(&mut self, now: Time, header: &Header, body: &Self::Body);
    /// Writes the next packet, announced by [`Needs::ready`]: all of the body, and of the header the ports, wire
    /// size, kind, class and marks. The header's note is zero and may be written.
    fn send(&mut self, now: Time, header: &mut Header, body: &mut Self::Body);
    /// Called when the clock reaches an instant; does nothing if called early.
    fn on_wakeup(&mut self, _now: Time) {}
    /// Payload that follows the packet just written back to back, as one burst of segmentation offload.
    fn burst(&self) -> u64 {
        0
    }
    /// What the packet just written carries for switches; called only in runs whose packets carry anything.
    fn in_band(&self) -> InBand {
        InBand::Scheduling(self.request())
    }
    /// What the packet about to be passed to [`End::on_packet`] carries; called only in runs whose packets carry anything.
    fn on_in_band(&mut self, now: Time, carried: &InBand) {
        if let InBand::Scheduling(grant) = carried {
            self.on_grant(now, grant);
        }
    }
    /// The scheduling header of the packet just written.
    fn request(&self) -> SchedulingHeader {
        SchedulingHeader::NONE
    }
    /// The scheduling header of the packet about to be passed to [`End::on_packet`].
    fn on_grant(&mut self, _now: Time, _grant: &SchedulingHeader) {}
    /// Called when [`Needs::asks`] is set: the end registers its need with the host part.
    fn ask(&mut self, _host: &mut Self::Host) {}
    /// Called when the host part gives the end its turn, such as a pull or a credit to use. Returns `false` if the
    /// end no longer needs it.
    fn on_turn(&mut self, _now: Time) -> bool {
        false
    }
}

/// The sending end of a flow.
pub trait Sending: End {
    /// The rank of the packet it would send now, if its stack ranks packets ([`Stack::ranks_packets`]): the network
    /// card of its host serves the smallest rank first.
    fn rank(&self) -> u32 {
        0
    }
    /// Its state and counts.
    fn report(&self) -> SenderReport;
}

/// The receiving end of a flow.
pub trait Receiving: End {
    /// When the last byte was delivered to the application.
    fn completed(&self) -> Option<Time>;
    /// Its counts.
    fn report(&self) -> ReceiverReport;
    /// The host part did not admit the control packet just written: it never left.
    fn refused(&mut self) {}
}

/// An end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sending one.
    Sender,
    /// The receiving one.
    Receiver,
}

/// What all ends at a host share: pull queues, credits, arbitration. A stack whose flows share nothing has `()`,
/// which takes no memory and costs nothing; a large host part is boxed, because every host reserves room for any.
///
/// When an end asks, the driver calls [`End::ask`] and then [`HostPart::wake`]. At that instant it calls [`HostPart::next`] until
/// there is none: the end that it names gets [`End::on_turn`], and [`HostPart::used`] follows if that returns true. Then it calls
/// [`HostPart::wake`] again.
pub trait HostPart: Sized {
    /// Merges the host part of another stack of the same kind, with other settings, at this host: they share one host
    /// part.
    fn and(&mut self, _other: Self) {}
    /// The end whose turn it is at `now`, if any. The driver calls [`End::on_turn`] on it, then this again.
    fn next(&mut self, _now: Time) -> Option<(Side, FlowId)> {
        None
    }
    /// The end that [`HostPart::next`] named has used its turn; not called for one that is closed or needs none.
    fn used(&mut self, _now: Time) {}
    /// When the next turn is due at the earliest; [`Time::NEVER`] if none is.
    fn wake(&self) -> Time {
        Time::NEVER
    }
    /// Whether a control packet that an end has written may leave the host now.
    fn admits(&mut self, _now: Time, _kind: PacketKind) -> bool {
        true
    }
}

impl HostPart for () {}

impl<H: HostPart> HostPart for Box<H> {
    fn and(&mut self, other: Box<H>) {
        (**self).and(*other);
    }

    fn next(&mut self, now: Time) -> Option<(Side, FlowId)> {
        (**self).next(now)
    }

    fn used(&mut self, now: Time) {
        (**self).used(now);
    }

    fn wake(&self) -> Time {
        (**self).wake()
    }

    fn admits(&mut self, now: Time, kind: PacketKind) -> bool {
        (**self).admits(now, kind)
    }
}

/// A transport's machinery with its checked configuration, shared by all ends of a run.
pub trait Stack: Sized {
    /// The sending end of a flow.
    type Sender: Sending;
    /// The receiving end of a flow.
    type Receiver: Receiving;

    /// Creates the sender of a flow that the application starts now.
    fn sender(this: &Arc<Self>, site: &FlowSite, now: Time) -> Self::Sender;
    /// Creates the receiver of a flow whose first packet is about to be passed to it.
    fn receiver(this: &Arc<Self>, site: &FlowSite) -> Self::Receiver;
    /// Creates the host part of a host whose network card has this rate.
    fn host(&self, line: Rate) -> <Self::Receiver as End>::Host;
    /// Packet sizes, as configured.
    fn sizes(&self) -> Sizes;
    /// Wire size of the packets that open a connection, if any do.
    fn opening(&self) -> Option<u16> {
        None
    }
    /// The classes of a flow whose traffic entry asks for `own`.
    fn classes(&self, own: Option<Class>) -> Classes;
    /// The reply of a host with a closed receiver to a late packet, without addresses.
    fn reply_after_close(
        &self,
        header: &Header,
        body: &<Self::Receiver as End>::Body,
        now: Time,
    ) -> Option<(Header, <Self::Receiver as End>::Body)>;
    /// Whether the stack reacts to congestion marks.
    fn reads_marks(&self) -> bool {
        false
    }
    /// Whether congestion marks are its only signal.
    fn goes_by_marks(&self) -> bool {
        false
    }
    /// Whether its ends use the class of a flow, regardless of how many queues the switches have.
    fn goes_by_classes(&self) -> bool {
        false
    }
    /// Whether it writes ranks into packets ([`Header::note`]): smaller ranks go first in ranked queues.
    fn ranks_packets(&self) -> bool {
        false
    }
    /// Whether full queues may trim its packets to their headers.
    fn is_trimmable(&self) -> bool {
        false
    }
    /// Names what the stack's ends and switches send besides data, acknowledgements and connection openings.
    fn sends_besides(&self) -> Option<&'static str> {
        None
    }
    /// The name of the arbiter that the links on its flows' paths need, if any; packets then carry something for them.
    fn arbiter(&self) -> Option<&'static str> {
        None
    }
}
