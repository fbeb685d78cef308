//! The hosts of a domain: each has one network card that pulls packets from the ends of its flows, acknowledgements first, flows
//! in turn.
//!
//! Nothing waits in the card: a packet exists from the start of its transmission. Time a flow waits while the card
//! serves others is counted as waiting at hop 0.
//!
//! The path of a packet to the wire: something happens to an end ([`Hosts::attend`]), it writes a packet if the card is
//! free ([`Hosts::send`]), and that goes on the wire ([`Context::launch`]). An end that waited is served by
//! [`Hosts::serve_card`] when the card is idle.

mod card;
mod closed;
pub(crate) mod jobs;
mod line;
mod parked;
mod part;
mod pauses;
mod send;
mod starts;

use weft_core::segment::Needs;
use weft_core::stack::{Layout, Side};
use weft_core::{FlowId, HostId, LinkId, PacketId, SwitchId, Time};
use weft_plan::Setup;
use weft_transport::{Receiver, Sender};
use weft_workload::{Draw, Flow};

use crate::context::Context;
use crate::ends::{Active, Ends, FlowEnd, Seat};
use crate::turns::Turns;
use weft_labels::HostLabels;

use card::Host;
use jobs::Jobs;

/// The hosts of a domain. Cards exist for all hosts of the network, flows only for those of the domain.
pub(crate) struct Hosts {
    cards: Box<[Host]>,
    /// Some stack ranks packets: cards serve the smallest rank first.
    ranked: bool,
    pub(crate) ends: Ends,
    /// Present if switches forward by path labels.
    labels: Option<Box<HostLabels>>,
    /// The flows after `upcoming`, and the number of the next.
    flows: (Box<dyn Draw>, u32),
    /// The next flow to start here.
    upcoming: Option<(FlowId, Flow)>,
    /// Present if some flows wait for others.
    turns: Option<Box<Turns>>,
    /// Present if the run has jobs.
    jobs: Option<Box<Jobs>>,
}

impl Hosts {
    pub(crate) fn new(setup: &Setup) -> Hosts {
        let card = |link: LinkId| Host::new(link, setup.graph.links()[link.index()].rate, setup);
        Hosts {
            ranked: setup.transports().any(|transport| transport.stack().ranks_packets()),
            cards: (0..setup.graph.hosts()).map(LinkId).map(card).collect(),
            ends: Ends::new(setup.warm_up),
            labels: HostLabels::new(setup),
            flows: (setup.flows.iter(), 0),
            upcoming: None,
            turns: Turns::new(&setup.flows),
            jobs: Jobs::new(&setup.flows),
        }
    }

    /// The card of a host; an event accesses it several times.
    #[inline]
    fn card(&mut self, host: HostId) -> &mut Host {
        card_of(&mut self.cards, host)
    }

    /// Prefetches the card of a host.
    pub(crate) fn prefetch(&self, host: HostId) {
        weft_core::prefetch(&self.cards[host.index()]);
    }

    /// A switch has new routes.
    pub(crate) fn installed(&mut self, setup: &Setup, switch: SwitchId, state: usize, now: Time) {
        if let Some(labels) = &mut self.labels {
            labels.installed(setup, switch, state, now);
        }
    }

    /// A packet reached a host.
    #[inline]
    pub(crate) fn receive(&mut self, cx: &mut Context, host: HostId, packet: PacketId) {
        cx.tally.packets.delivered += 1;
        let body = cx.pool.body(packet);
        let flow = body.flow();
        match body.side(cx.pool.headers.get(packet)) {
            Side::Sender => self.reach::<Sender>(cx, host, packet, flow),
            Side::Receiver => {
                if body.has_toll() {
                    self.collect_toll(cx, packet);
                }
                if cx.waits.is_some() {
                    self.collect_waits(cx, packet);
                }
                self.reach::<Receiver>(cx, host, packet, flow);
            }
        }
    }

    /// A packet reaches an end of its flow, if the end is open.
    #[inline(always)]
    fn reach<E: FlowEnd>(&mut self, cx: &mut Context, host: HostId, packet: PacketId, flow: FlowId) {
        let Some((seat, active)) = E::slab(&mut self.ends).seated(flow) else {
            return self.at_closed_door(cx, host, packet, E::SIDE);
        };
        if cx.pool.headers.carries_in_band() {
            send::hand_in_band(active, cx, packet);
        }
        active.end.receive(cx.now, cx.pool.headers.get(packet), cx.pool.body(packet));
        cx.pool.remove(packet);
        let step = active.next_step((card_of(&mut self.cards, host), seat), cx.now);
        self.take_step::<E>(cx, (host, seat), step);
    }

    /// A timer of an end expires. Events of timers that have since moved are stale.
    pub(crate) fn end_wake<E: FlowEnd>(&mut self, cx: &mut Context, flow: FlowId) {
        let due = E::slab(&mut self.ends).seated(flow).filter(|(_, active)| active.wake_at == cx.now);
        let Some((seat, active)) = due else { return };
        let host = active.host;
        active.wake_at = Time::NEVER;
        if active.end.needs().wake <= cx.now {
            active.end.on_wakeup(cx.now);
        }
        self.attend::<E>(cx, seat, host);
    }

    /// Something happened to an end: it sends if it has a packet and the card is free for it.
    #[inline(never)]
    fn attend<E: FlowEnd>(&mut self, cx: &mut Context, seat: Seat, host: HostId) {
        let Some(active) = E::slab(&mut self.ends).at(seat) else { return };
        let step = active.next_step((card_of(&mut self.cards, host), seat), cx.now);
        self.take_step::<E>(cx, (host, seat), step);
    }

    #[inline(always)]
    fn take_step<E: FlowEnd>(&mut self, cx: &mut Context, (host, seat): (HostId, Seat), step: Step) {
        match step {
            Step::Send => _ = self.send::<E>(cx, host, seat),
            Step::Note(needs) => self.note_seldom::<E>(cx, (host, seat), needs),
            Step::Nothing => {}
        }
        self.use_card(cx, host);
    }

    /// What an end needs: a turn at the card, a timer, the host part, or nothing more.
    fn note_needs<E: FlowEnd>(&mut self, cx: &mut Context, (host, seat): (HostId, Seat), needs: Needs) {
        let Some(active) = E::slab(&mut self.ends).at(seat) else { return };
        if active.note_needs((card_of(&mut self.cards, host), seat), cx.now, needs) {
            self.note_seldom::<E>(cx, (host, seat), needs);
        }
    }

    /// The needs of an end that most packets do not change.
    #[inline(never)]
    fn note_seldom<E: FlowEnd>(&mut self, cx: &mut Context, (host, seat): (HostId, Seat), needs: Needs) {
        let Some(active) = E::slab(&mut self.ends).at(seat) else { return };
        let flow = active.flow;
        // A timer may have expired while the end waited for something else; its event comes now, not in the past.
        let due = needs.wake.max(cx.now);
        if due < active.wake_at {
            active.wake_at = due;
            cx.schedule(due, E::wake_of(flow));
        }
        let done = needs.done && !active.in_ring;
        let completes = E::SIDE == Side::Receiver && needs.complete && !active.completed;
        active.completed |= completes;
        if completes | done | needs.asks {
            self.turn_of_events::<E>(cx, (flow, host), needs.asks, (completes, done));
        }
    }

    /// An end needs something from the host part, is complete, or is done.
    fn turn_of_events<E: FlowEnd>(
        &mut self,
        cx: &mut Context,
        (flow, host): (FlowId, HostId),
        asks: bool,
        (completes, done): (bool, bool),
    ) {
        if asks {
            self.ask::<E>(cx, flow, host);
        }
        if completes {
            self.completed_one(cx, flow);
        }
        if done && E::SIDE == Side::Sender {
            self.card(host).open -= 1;
            self.sender_done(cx, flow);
        } else if done {
            let met = self.met(cx, flow);
            self.ends.close_receiver(flow, cx.now, met);
        }
    }

    /// The host part of a receiver's stack may refuse a control packet that the receiver has written.
    fn withholds(&mut self, cx: &mut Context, (flow, host): (FlowId, HostId), packet: PacketId) -> bool {
        let Some(receiver) = self.ends.receivers.get(flow) else { return false };
        let parts = &mut self.cards[host.index()].parts;
        let admitted = parts.iter_mut().all(|part| receiver.end.is_admitted(cx.now, part));
        if !admitted {
            cx.pool.remove(packet);
        }
        !admitted
    }

    /// The last byte of a flow has arrived.
    fn completed_one(&mut self, cx: &mut Context, flow: FlowId) {
        self.ends.completed += 1;
        self.tell_job(cx, flow);
        self.end_if_done(cx);
    }

    /// On one thread the run ends on the grid when the last flow is complete.
    fn end_if_done(&mut self, cx: &mut Context) {
        let partition = &cx.plan.partition;
        if partition.domains == 1 && self.ends.completed == self.flows_wanted(cx.plan.setup.flows.len()) {
            let grid = partition.grid.0;
            let end = Time((cx.now.0 / grid + 1) * grid);
            cx.calendar.set_end(end.min(cx.calendar.end()));
        }
    }
}

/// What follows from something that happened to an end.
enum Step {
    /// The end sends: it has a packet, and the card is free.
    Send,
    /// It has needs that most packets do not change.
    Note(Needs),
    Nothing,
}

impl<E: FlowEnd> Active<E> {
    /// What the end does at the card of its host.
    #[inline(always)]
    fn next_step(&mut self, (card, seat): (&mut Host, Seat), now: Time) -> Step {
        let Some(needs) = self.end.needs_unless_sending(card.is_free(now)) else { return Step::Send };
        if self.note_needs((card, seat), now, needs) { Step::Note(needs) } else { Step::Nothing }
    }

    /// The end waits for the card if it needs it. Returns whether it has needs that most packets do not change.
    #[inline(always)]
    fn note_needs(&mut self, (card, seat): (&mut Host, Seat), now: Time, needs: Needs) -> bool {
        let completes = E::SIDE == Side::Receiver && needs.complete && !self.completed;
        if needs.ready && !std::mem::replace(&mut self.in_ring, true) {
            self.ready_since = now;
            card.ring(E::SIDE).push(seat);
        }
        needs.wake < self.wake_at || completes || needs.done || needs.asks
    }
}

/// The card of a host; an event accesses it several times.
#[inline]
#[allow(unsafe_code, reason = "1 % of all instructions")]
fn card_of(cards: &mut [Host], host: HostId) -> &mut Host {
    debug_assert!(host.index() < cards.len(), "hosts are those of the network");
    // SAFETY: there is a card for every host of the graph (`Hosts::new`), and only hosts of the graph occur: in wires, in
    // flows, which the workload draws among them, and in the ends of these flows.
    unsafe { cards.get_unchecked_mut(host.index()) }
}
