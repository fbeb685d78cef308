//! The network card of a host: which end uses it next, and how a packet reaches the wire.

use weft_core::stack::Side;
use weft_core::{Header, HostId, InBand, LinkId, PacketId, Rate, Ring, Time};
use weft_plan::Setup;
use weft_transport::{AnyHost, Body, FlowSite, Receiver, Sender, Transport};

use super::Hosts;
use super::line::Line;
use super::parked::{Loose, Parked};
use crate::context::Context;
use crate::ends::{FlowEnd, Seat};

/// The network card of a host and the ends waiting for it.
pub(crate) struct Host {
    pub(super) link: LinkId,
    rate: Rate,
    /// The card transmits until then; never, if it has a queue of its own.
    pub(super) busy_until: Time,
    /// Bit q: queue q is paused.
    pub(super) paused: u8,
    /// An event is pending at the time when the card becomes idle.
    called: bool,
    /// Packets that go before those of the ends.
    pub(super) loose: Vec<Loose>,
    /// Receivers with something to send.
    receivers: Ring<Seat>,
    /// Senders that may send.
    senders: Ring<Seat>,
    /// Ends that wait for a pause to end.
    pub(super) parked: Parked,
    /// Flows whose senders are open here.
    pub(super) open: u32,
    /// The host parts of the stacks at this host, each shared by its flows.
    pub(super) parts: Box<[AnyHost]>,
    /// The earliest pending event of these host parts; later ones are stale.
    pub(super) part_at: Time,
    /// The queue of a card that serves in order of demand.
    pub(super) line: Option<Box<Line>>,
}

impl Host {
    pub(super) fn new(link: LinkId, rate: Rate, setup: &Setup) -> Host {
        let line = Line::new(setup.card_of(HostId(link.0)));
        Host {
            link,
            rate,
            busy_until: if line.is_some() { Time::NEVER } else { Time::ZERO },
            paused: 0,
            called: false,
            loose: Vec::new(),
            receivers: Ring::new(),
            senders: Ring::new(),
            parked: Parked::default(),
            open: 0,
            parts: Transport::hosts(setup.transports(), rate).into(),
            part_at: Time::NEVER,
            line,
        }
    }

    /// Ends of one side that wait for the card.
    #[inline]
    pub(crate) fn ring(&mut self, side: Side) -> &mut Ring<Seat> {
        match side {
            Side::Sender => &mut self.senders,
            Side::Receiver => &mut self.receivers,
        }
    }

    /// Whether an end waits for the card.
    #[inline]
    fn is_wanted(&self) -> bool {
        !self.senders.is_empty() || !self.receivers.is_empty() || !self.loose.is_empty()
    }

    /// Whether a new end may send at once. While a queue is paused, a new end takes a turn, so that its queue is
    /// checked.
    #[inline]
    pub(super) fn is_free(&self, now: Time) -> bool {
        now >= self.busy_until && self.paused == 0 && !self.is_wanted()
    }

    /// The oldest loose packet.
    pub(super) fn next_loose(&mut self) -> Option<Loose> {
        (!self.loose.is_empty()).then(|| self.loose.remove(0))
    }

    /// Puts a new packet of this many bytes on the wire.
    #[inline(always)]
    pub(super) fn put_on_wire(&mut self, cx: &mut Context, packet: (PacketId, u16)) {
        cx.tally.packets.created += 1;
        self.transmit(cx, packet);
    }

    /// Puts a packet on the wire.
    #[inline(always)]
    fn transmit(&mut self, cx: &mut Context, (packet, bytes): (PacketId, u16)) {
        let end = cx.wires.of(self.link).end_of(cx.now, bytes);
        self.busy_until = end;
        cx.launch(self.link, packet, bytes, end);
    }

    pub(super) fn site(&self, seed: u64) -> FlowSite {
        FlowSite { line_rate: self.rate, others: self.open, seed, ..FlowSite::default() }
    }
}

impl Hosts {
    /// The card becomes idle, and an end waits for it.
    pub(crate) fn card_idle(&mut self, cx: &mut Context, host: HostId) {
        self.card(host).called = false;
        self.serve_card(cx, host);
    }

    /// Serves waiting ends: sends the next packet if the card is idle, and schedules the next idle time if any end
    /// still waits.
    #[inline]
    pub(super) fn use_card(&mut self, cx: &mut Context, host: HostId) {
        let card = self.card(host);
        if card.is_wanted() && (!card.called || cx.now >= card.busy_until) {
            self.serve_card(cx, host);
        }
    }

    #[inline(never)]
    fn serve_card(&mut self, cx: &mut Context, host: HostId) {
        if cx.now >= self.card(host).busy_until {
            if self.ranked {
                self.sort_by_rank(host);
            }
            let _ = (!self.card(host).loose.is_empty() && self.serve_loose(cx, host))
                || self.next_of::<Receiver>(cx, host)
                || self.next_of::<Sender>(cx, host);
        }
        let card = self.card(host);
        if !card.called && card.is_wanted() {
            if card.busy_until == Time::NEVER {
                return self.take_all(cx, host);
            }
            card.called = true;
            cx.calendar.push_transmitted(card.busy_until, card.link);
        }
    }

    /// The oldest loose packet that no pause holds goes on the wire. False: there is none.
    #[inline(never)]
    fn serve_loose(&mut self, cx: &mut Context, host: HostId) -> bool {
        let card = self.card(host);
        if card.paused != 0 {
            card.park_loose(host, &cx.plan.setup);
        }
        match card.next_loose() {
            None => return false,
            Some(Loose::Reply(header, body)) => {
                let packet = self.insert_reply(cx, header, body);
                let wire_bytes = cx.pool.headers.get(packet).wire;
                self.card(host).put_on_wire(cx, (packet, wire_bytes));
            }
            Some(Loose::Written { packet, end: (side, _), .. }) => {
                let now = cx.now;
                let header = cx.pool.headers.get_mut(packet);
                let (waited, wire_bytes) = (now.since(header.arrived), header.wire);
                header.arrived = now;
                cx.leave_host(side, packet, waited);
                self.card(host).transmit(cx, (packet, wire_bytes));
            }
        }
        true
    }

    /// A reply of a closed connection becomes a packet.
    pub(super) fn insert_reply(&self, cx: &mut Context, header: Header, body: Body) -> PacketId {
        let packet = cx.pool.insert(Header { arrived: cx.now, ..header }, body);
        if let Some(in_band) = cx.pool.headers.in_band_mut(packet) {
            *in_band = InBand::NOTHING;
        }
        packet
    }

    /// Gives the card to the next end of one side that has a packet and is not paused.
    fn next_of<E: FlowEnd>(&mut self, cx: &mut Context, host: HostId) -> bool {
        while let Some(seat) = self.card(host).ring(E::SIDE).pop() {
            if self.is_paused::<E>(seat, host) {
                let since = cx.now;
                self.card(host).parked.of(E::SIDE).push((seat, since));
            } else if self.has_turn::<E>(cx, host, seat) && self.send::<E>(cx, host, seat) {
                return true;
            }
        }
        false
    }

    /// Sorts the waiting senders by the ranks of their next packets; equal ranks in order of waiting.
    #[inline(never)]
    fn sort_by_rank(&mut self, host: HostId) {
        let Hosts { cards, ends, .. } = self;
        let slab = Sender::slab(ends);
        let rank = |seat: &Seat| slab.at(*seat).map_or(0, |active| active.end.rank());
        cards[host.index()].senders.sort_by_key(rank);
    }
}
