//! A card that serves its host in order of demand: ends hand over all they may send at once, and packets wait in one queue.
//!
//! The gate of such a card is always closed ([`Host::busy_until`] is never), so that everything takes the way past it
//! ([`Hosts::take_all`]); cards that serve in turn are not asked which kind they are.

use std::collections::VecDeque;

use weft_core::record::Reason;
use weft_core::stack::Side;
use weft_core::{Bytes, Class, Ecn, HostId, PacketId, Time};
use weft_switch::PortCounters;
use weft_transport::card::{CardPlan, CardSettings};
use weft_transport::{Receiver, Sender};

use super::Hosts;
use super::parked::Loose;
use crate::context::Context;
use crate::ends::{FlowEnd, Seat};
use crate::event::Event;

/// The queue of a card.
#[derive(Debug)]
pub(super) struct Line {
    /// Packets that wait, in order of demand: one queue, or one for each class.
    waiting: Box<[VecDeque<PacketId>]>,
    /// Bytes that wait or are in transmission.
    bytes: u64,
    /// Size of the packet in transmission; 0: the line is idle.
    in_transmission: u16,
    /// When its transmission ends.
    ends: Time,
    limit: u64,
    mark_beyond: u64,
    /// What the queue has met until `counted`.
    counters: PortCounters,
    counted: Time,
}

impl Line {
    /// `None`: the card serves in turn.
    pub(super) fn new(settings: &CardSettings) -> Option<Box<Line>> {
        let CardPlan::InOrder { limit, mark_beyond, by_class } = settings.plan() else { return None };
        Some(Box::new(Line {
            waiting: vec![VecDeque::new(); if by_class { Class::COUNT } else { 1 }].into(),
            bytes: 0,
            in_transmission: 0,
            ends: Time::NEVER,
            limit: limit.map_or(u64::MAX, |limit| limit.0),
            mark_beyond: mark_beyond.map_or(u64::MAX, |threshold| threshold.0),
            counters: PortCounters::default(),
            counted: Time::ZERO,
        }))
    }

    /// What the queue has met by `end`, apart from drops.
    fn counters(&self, end: Time) -> PortCounters {
        let since = u128::from(end.since(self.counted).0) * u128::from(self.bytes);
        PortCounters { byte_time: self.counters.byte_time + since, ..self.counters }
    }
}

impl Hosts {
    /// Takes over what the ends of a host have to send, and keeps the line busy.
    #[inline(never)]
    pub(super) fn take_all(&mut self, cx: &mut Context, host: HostId) {
        while let Some(Loose::Reply(header, body)) = self.card(host).next_loose() {
            let packet = self.insert_reply(cx, header, body);
            self.join_line(cx, host, packet);
        }
        while let Some(seat) = self.card(host).ring(Side::Receiver).pop() {
            self.take::<Receiver>(cx, seat, host);
        }
        while let Some(seat) = self.card(host).ring(Side::Sender).pop() {
            self.take::<Sender>(cx, seat, host);
        }
        self.use_line(cx, host);
    }

    /// Takes over all packets of an end.
    fn take<E: FlowEnd>(&mut self, cx: &mut Context, seat: Seat, host: HostId) {
        let mut more = true;
        while more {
            let packet;
            (packet, more) = self.take_one::<E>(cx, host, seat);
            if let Some(packet) = packet {
                self.join_line(cx, host, packet);
            }
        }
    }

    /// A packet joins the queue, or finds no room.
    fn join_line(&mut self, cx: &mut Context, host: HostId, packet: PacketId) {
        let card = self.card(host);
        let link = card.link;
        let Some(line) = &mut card.line else { return };
        cx.tally.packets.created += 1;
        let header = cx.pool.headers.get_mut(packet);
        let wire = u64::from(header.wire);
        if line.bytes + wire > line.limit {
            cx.trace_refused(link, packet);
            return cx.lose(link, packet, Reason::PortFull);
        }
        if line.bytes > line.mark_beyond && header.marks.ecn == Ecn::Capable {
            header.marks.ecn = Ecn::Marked;
            line.counters.marked += 1;
        }
        (line.counters, line.counted) = (line.counters(cx.now), cx.now);
        line.bytes += wire;
        line.counters.peak = line.counters.peak.max(Bytes(line.bytes));
        let last = line.waiting.len() - 1;
        line.waiting[usize::from(header.class.0).min(last)].push_back(packet);
    }

    /// If the line is idle, the first packet goes.
    fn use_line(&mut self, cx: &mut Context, host: HostId) {
        let card = self.card(host);
        let link = card.link;
        let Some(line) = card.line.as_mut().filter(|line| line.in_transmission == 0) else { return };
        let Some(packet) = line.waiting.iter_mut().find_map(VecDeque::pop_front) else { return };
        let header = cx.pool.headers.get(packet);
        let (wire, waited, counts) = (header.wire, cx.now.since(header.arrived), header.kind.is_payload());
        line.in_transmission = wire;
        line.ends = cx.wires.of(link).end_of(cx.now, wire);
        let ends = line.ends;
        if counts {
            cx.begin_waits(packet, waited);
        }
        cx.launch(link, packet, wire, ends);
        cx.schedule(ends, Event::Wake(link));
    }

    /// The packet in transmission has left.
    pub(super) fn line_idle(&mut self, cx: &mut Context, host: HostId) {
        let Some(line) = self.card(host).line.as_mut().filter(|line| line.ends == cx.now) else { return };
        (line.counters, line.counted) = (line.counters(cx.now), cx.now);
        line.bytes -= u64::from(line.in_transmission);
        (line.in_transmission, line.ends) = (0, Time::NEVER);
        self.use_line(cx, host);
    }

    /// What the queue of a host's card has met by `end`, apart from drops.
    pub(crate) fn counters_of_card(&self, host: HostId, end: Time) -> PortCounters {
        let line = self.cards[host.index()].line.as_ref();
        line.map_or_else(PortCounters::default, |line| line.counters(end))
    }
}
