//! The switches of a domain: packets land at them, leave them or are dropped there; their effects are carried out
//! here.

use std::mem::offset_of;

use weft_core::record::Reason;
use weft_core::{Header, Headers, LinkId, PacketId, PortId, Span, SwitchId, Time, prefetch_part};
use weft_switch::{Departure, Effect, Effects, Observer, Sent, SentEarly, Switch, Turn, Verdict};

use crate::context::Context;
use crate::plan::RunPlan;
use revoke::leave_unless_held;

mod build;
mod revoke;

/// The switches of a domain, by number; those of other domains are absent.
pub(crate) struct Devices {
    switches: Box<[Option<PlacedSwitch>]>,
    effects: Effects,
    /// Whether some port may send early ([`Switch::sends_early`]).
    early: bool,
    /// Packets whose departures are revoked; reused.
    revoked: Vec<PacketId>,
}

/// A switch and its position in the network.
#[repr(C, align(64))]
pub(crate) struct PlacedSwitch {
    /// The link of its port 0; those of the other ports follow.
    pub(crate) first_link: u32,
    pub(crate) switch: Switch,
}

impl PlacedSwitch {
    /// The link of a port.
    #[inline]
    pub(crate) fn link(&self, port: PortId) -> LinkId {
        LinkId(self.first_link + u32::from(port.0))
    }
}

impl Devices {
    pub(crate) fn new(plan: &RunPlan, domain: usize) -> Devices {
        let switches = build::switches(plan, domain);
        let early = switches.iter().flatten().any(|own| own.switch.may_send_early());
        Devices { switches, effects: Effects::new(), early, revoked: Vec::new() }
    }

    /// Attaches an observer to a switch of this domain, before the run starts. Such a switch has an event per
    /// departure, so that departures are seen when they happen.
    pub(crate) fn observe(&mut self, plan: &RunPlan, switch: SwitchId, observer: Box<dyn Observer>) {
        self.switches[switch.index()] = Some(build::observed(plan, switch, observer));
    }

    /// A switch, if it belongs to this domain.
    #[inline]
    pub(crate) fn get(&self, switch: SwitchId) -> Option<&PlacedSwitch> {
        self.switches[switch.index()].as_ref()
    }

    pub(crate) fn get_mut(&mut self, switch: SwitchId) -> Option<&mut PlacedSwitch> {
        self.switches[switch.index()].as_mut()
    }

    /// All switches of this domain.
    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut PlacedSwitch> {
        self.switches.iter_mut().flatten()
    }

    /// Releases the memory of packets that left before `now`; see [`Switch::settle`].
    pub(crate) fn settle(&mut self, now: Time, headers: &mut Headers) {
        self.all_mut().for_each(|own| own.switch.settle(now, headers));
    }

    /// Prefetches a switch.
    #[inline]
    pub(crate) fn prefetch(&self, switch: SwitchId) {
        let place = &self.switches[switch.index()];
        for (start, length) in Switch::HOT {
            prefetch_part(place, (offset_of!(PlacedSwitch, switch) + start, length));
        }
    }

    /// Handles the arrival of a packet at a switch.
    #[inline(always)]
    pub(crate) fn receive(&mut self, cx: &mut Context, switch: SwitchId, from: PortId, packet: PacketId) {
        let own = at(&mut self.switches, switch);
        let mut turn = Turn { now: cx.now, headers: &mut cx.pool.headers, effects: &mut self.effects };
        match own.switch.receive(&mut turn, from, packet) {
            Verdict::LeavesAt(departure) => leave(cx, own.link(departure.port), packet, departure),
            Verdict::LeavesUnlessHeld(departure, 0) => {
                leave_unless_held(cx, own.link(departure.port), packet, departure)
            }
            Verdict::LeavesUnlessHeld(departure, overtaken) => {
                own.overtake(cx, packet, departure, (overtaken as usize, &mut self.revoked))
            }
            Verdict::RevokeFirst => self.receive_revoking(cx, switch, from, packet),
            Verdict::Ready(port) => self.carry_out(cx, switch, Some(port)),
            Verdict::Queued(_) if self.effects.is_empty() => {}
            Verdict::Queued(_) => self.carry_out(cx, switch, None),
            Verdict::QueuedUntil(port, time) => cx.calendar.push_transmitted(time, own.link(port)),
            Verdict::Returned => self.returned(cx, switch, from, packet),
            Verdict::Dropped(reason) => self.dropped(cx, switch, packet, reason),
        }
    }

    /// Returns the header of a packet to its sender, through the switch that had no room for it.
    #[cold]
    fn returned(&mut self, cx: &mut Context, switch: SwitchId, from: PortId, packet: PacketId) {
        self.receive(cx, switch, from, packet);
    }

    /// Called when a switch dropped a packet that it received; it may have further effects.
    #[cold]
    fn dropped(&mut self, cx: &mut Context, switch: SwitchId, packet: PacketId, reason: Reason) {
        cx.bury(packet, reason);
        self.carry_out(cx, switch, None);
    }

    /// Calls a switch and carries out its effects. Does nothing for a switch of another domain.
    pub(crate) fn tell(
        &mut self,
        cx: &mut Context,
        switch: SwitchId,
        told: impl FnOnce(&mut Switch, &mut Turn<'_>),
    ) {
        let Some(own) = &mut self.switches[switch.index()] else { return };
        let mut turn = Turn { now: cx.now, headers: &mut cx.pool.headers, effects: &mut self.effects };
        told(&mut own.switch, &mut turn);
        self.carry_out(cx, switch, None);
    }

    /// Called when a timer of a port has expired. Does nothing for a switch of another domain.
    pub(crate) fn wake(&mut self, cx: &mut Context, switch: SwitchId, port: PortId) {
        self.tell(cx, switch, |own, turn| own.wake(turn, port));
        let Some(own) = &mut self.switches[switch.index()] else { return };
        while let Some(sent) = own.switch.cross(cx.now, &cx.pool.headers, port) {
            match sent {
                SentEarly::Packet(packet, departure, _) => leave_later(cx, own.link(port), packet, departure),
                SentEarly::Later(time) => return cx.calendar.push_wake(time, own.link(port)),
            }
        }
    }

    /// Called when a transmission has ended after which the port chooses its next packet.
    #[inline]
    pub(crate) fn transmitted(&mut self, cx: &mut Context, (switch, port): (SwitchId, PortId), link: LinkId) {
        if self.early {
            self.feed_early(cx, (switch, port), link);
        } else {
            self.carry_out(cx, switch, Some(port));
        }
    }

    /// Carries out a switch's effects in order, including new ones; before that, feeds the port whose transmitter is
    /// idle.
    #[inline(never)]
    pub(crate) fn carry_out(&mut self, cx: &mut Context, switch: SwitchId, idle: Option<PortId>) {
        if let Some(port) = idle {
            self.feed(cx, switch, port);
        }
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::HasWork(port) => self.feed(cx, switch, port),
                Effect::Dropped(packet, reason) => cx.bury(packet, reason),
                Effect::WakeAt(time, port) => {
                    cx.calendar.push_wake(time, at(&mut self.switches, switch).link(port));
                }
            }
        }
    }

    /// Gives the idle transmitter of a port its next packet, or a frame for the far end. Leaves other effects to
    /// [`Devices::carry_out`].
    fn feed(&mut self, cx: &mut Context, switch: SwitchId, port: PortId) {
        let own = at(&mut self.switches, switch);
        let mut turn = Turn { now: cx.now, headers: &mut cx.pool.headers, effects: &mut self.effects };
        match own.switch.transmit(&mut turn, port) {
            Some(Sent::Packet(packet)) => own.put_on_line(cx, port, packet),
            Some(Sent::Frame(frame)) => {
                let link = own.link(port);
                let end = cx.send_frame(link, cx.now, frame);
                cx.calendar.push_transmitted(end, link);
            }
            None => {}
        }
    }

    /// Asks a port what it sends next, if it foresees departures with strict priority; feeds any other.
    #[inline(never)]
    fn feed_early(&mut self, cx: &mut Context, (switch, port): (SwitchId, PortId), link: LinkId) {
        let own = at(&mut self.switches, switch);
        if !own.switch.sends_early(port) {
            return self.carry_out(cx, switch, Some(port));
        }
        let mut turn = Turn { now: cx.now, headers: &mut cx.pool.headers, effects: &mut self.effects };
        let again = match own.switch.transmit_early(&mut turn, port) {
            None => None,
            Some(SentEarly::Later(time)) => Some(time),
            Some(SentEarly::Packet(packet, departure, next)) => {
                leave_later(cx, link, packet, departure);
                next
            }
        };
        if let Some(time) = again {
            cx.calendar.push_transmitted(time, link);
        }
    }
}

impl PlacedSwitch {
    /// Called when the first bit of a packet leaves a transmitter without foresight.
    #[inline]
    fn put_on_line(&self, cx: &mut Context, port: PortId, packet: PacketId) {
        let link = self.link(port);
        if cx.pauses.is_some() {
            let queue = self.switch.queue_of(cx.pool.headers.get(packet).class);
            cx.pay_toll(link, (&self.switch, (port, queue)), packet);
        }
        let &Header { kind, hops, wire, .. } = cx.pool.headers.get(packet);
        let end = cx.wires.of(link).end_of(cx.now, wire);
        cx.calendar.push_transmitted(end, link);
        leave_later(cx, link, packet, Departure { port, start: cx.now, end, wire, hops, kind });
    }
}

/// Called when the departure of a packet that has waited at a switch is known.
#[inline(always)]
fn leave_later(cx: &mut Context, link: LinkId, packet: PacketId, departure: Departure) {
    let Departure { start, end, wire, hops, kind, .. } = departure;
    if kind.is_payload() {
        let wait = start.since(cx.pool.headers.get(packet).arrived);
        cx.tally.waited(hops, wait);
        cx.add_wait(packet, hops, wait);
    }
    cx.launch(link, packet, wire, end);
}

/// Called when the departure of a packet from a switch by a link is known.
#[inline(always)]
fn leave(cx: &mut Context, link: LinkId, packet: PacketId, departure: Departure) {
    let Departure { start, end, wire, hops, kind, .. } = departure;
    if kind.is_payload() {
        if start == cx.now {
            cx.tally.waited(hops, Span::ZERO);
        } else {
            let wait = Span(start.0 - cx.now.0);
            cx.tally.waited(hops, wait);
            cx.add_wait(packet, hops, wait);
        }
    }
    cx.launch(link, packet, wire, end);
}

/// The switch at which a packet has landed.
#[inline]
#[allow(unsafe_code, reason = "2 % of all instructions, with `Wires::of`")]
fn at(switches: &mut [Option<PlacedSwitch>], switch: SwitchId) -> &mut PlacedSwitch {
    debug_assert!(switches[switch.index()].is_some(), "packets for a switch land in its domain");
    // SAFETY: there is an entry for every switch of the graph (`build::switches`), those of this domain are filled, and
    // none is ever emptied. Wires lead to switches of the graph. A packet that is sent on a wire to another domain is
    // handed over (`Context::launch_specially`: such wires are special from the beginning to the end), so it lands
    // where its switch is.
    unsafe { switches.get_unchecked_mut(switch.index()).as_mut().unwrap_unchecked() }
}
