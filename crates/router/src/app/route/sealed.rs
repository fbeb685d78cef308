//! The fast path of tunnels: a packet is encrypted from the buffer in which it arrived into the one in which it
//! leaves, or decrypted likewise, without any other copy. Unusual packets are left to the slow path.

use weft_fib::Hop;
use weft_packet::{EtherType, EthernetHeader, Ipv4Packet, Ipv6Header, Ipv6Packet, ipv4, ipv6};

use super::send::kind_of;
use super::{ETHERNET, Routing};
use crate::app::Desk;
use crate::counters::DropCause;
use crate::pool::Frame;
use crate::tunnel::OuterPacket;

/// The outcome of processing a frame into another buffer.
enum Outcome {
    /// It is in the other buffer, which has been passed on.
    Moved,
    /// It is unchanged, and needs the slow path.
    Left,
    /// It was dropped.
    Dropped(DropCause),
}

impl Routing {
    /// Seals the packets that enter tunnels.
    pub(super) fn seal_frames(&mut self, desk: &mut Desk<'_>) {
        let mut entering = std::mem::take(&mut self.aside.entering);
        for (frame, number) in entering.drain(..) {
            self.in_another_buffer(desk, frame, |routing, desk, other| {
                routing.seal_frame(desk, frame, number, other)
            });
        }
        self.aside.entering = entering;
    }

    /// Opens sealed packets among those for the router, and adds the inner packets to the frames to be routed.
    pub(super) fn open_frames(&mut self, desk: &mut Desk<'_>) {
        let mut own = std::mem::take(&mut self.aside.own);
        for frame in own.drain(..) {
            if self.tunnels.is_empty() {
                self.aside.rest.push(frame);
            } else {
                self.in_another_buffer(desk, frame, |routing, desk, other| {
                    routing.open_frame(desk, frame, other)
                });
            }
        }
        self.aside.own = own;
    }

    /// Takes a buffer for the output of `work` on a frame; afterwards one of the two buffers is free, or both.
    #[inline(always)]
    fn in_another_buffer(
        &mut self,
        desk: &mut Desk<'_>,
        frame: Frame,
        work: impl FnOnce(&mut Routing, &mut Desk<'_>, u32) -> Option<Outcome>,
    ) {
        // The slow path manages with the frame's own.
        let Some(other) = desk.pool.take() else { return self.aside.rest.push(frame) };
        match work(self, desk, other) {
            Some(Outcome::Moved) => desk.pool.give(frame.buffer),
            Some(Outcome::Dropped(cause)) => {
                desk.pool.give(other);
                desk.pool.give(frame.buffer);
                desk.counters.drop(cause, 1);
            }
            Some(Outcome::Left) | None => {
                desk.pool.give(other);
                self.aside.rest.push(frame);
            }
        }
    }

    /// Seals the packet of a frame into another buffer and sends it, if the route to the other end is resolved.
    fn seal_frame(&mut self, desk: &mut Desk<'_>, frame: Frame, number: u16, other: u32) -> Option<Outcome> {
        let tunnel = self.tunnels.get(number)?;
        let hop = self.hop_to(tunnel.ends.1);
        let mtu = self.mtu_by(tunnel, hop)?;
        let [inner, outer] = desk.pool.pair(frame.buffer, other)?;
        let text = &mut inner[ETHERNET..];
        let length = total_of(text);
        if length > usize::from(mtu) {
            return Some(Outcome::Left);
        }
        let _ = match kind_of(text) {
            EtherType::IPV4 => ipv4::decrement_ttl(text),
            _ => ipv6::decrement_hop_limit(text),
        };
        let length = match tunnel.seal_into((text, length), &mut outer[ETHERNET..]) {
            Ok(sealed) => ETHERNET + sealed,
            Err(cause) => return Some(Outcome::Dropped(cause)),
        };
        desk.counters.sealed += 1;
        let kind = if tunnel.ends.1.is_ipv4() { EtherType::IPV4 } else { EtherType::IPV6 };
        outer[12..ETHERNET].copy_from_slice(&kind.0.to_be_bytes());
        self.send_sealed(desk, Frame { buffer: other, length: length as u16, port: frame.port }, hop);
        Some(Outcome::Moved)
    }

    /// Sends a sealed packet to the other end of its tunnel; of its frame, only the stations are missing.
    fn send_sealed(&mut self, desk: &mut Desk<'_>, frame: Frame, hop: Hop) {
        let direct = self.table.adjacencies.get(usize::from(hop.0)).copied();
        let direct = direct.filter(|next| next.carries(frame.length));
        let way = (&*self.table, &self.flows);
        if let Some(next) = direct.or_else(|| Routing::shared_path(way, hop, desk.pool.bytes(frame))) {
            desk.pool.buffer(frame.buffer)[..12].copy_from_slice(&next.addresses);
            return desk.out.push(next.port, frame);
        }
        let packet = desk.pool.bytes(frame)[ETHERNET..].to_vec();
        desk.pool.give(frame.buffer);
        match self.station_of(frame.port, &packet) {
            Some(station) => self.send_to(desk, station, &packet),
            None => desk.counters.drop(DropCause::NoRoute, 1),
        }
    }

    /// Opens a packet for this router into another buffer, if it belongs to a tunnel.
    fn open_frame(&mut self, desk: &mut Desk<'_>, frame: Frame, other: u32) -> Option<Outcome> {
        let length = usize::from(frame.length);
        let [outer, inner] = desk.pool.pair(frame.buffer, other)?;
        let sealed = sealed_packet(outer.get(ETHERNET..length)?)?;
        let opened = self.tunnels.open_into(sealed, &mut inner[ETHERNET..]);
        let (number, length) = match opened? {
            Ok(opened) => opened,
            Err(cause) => return Some(Outcome::Dropped(cause)),
        };
        desk.counters.opened += 1;
        let packet = &inner[ETHERNET..ETHERNET + length];
        if let Err(cause) = self.may_leave(number, packet) {
            return Some(Outcome::Dropped(cause));
        }
        let kind = kind_of(packet);
        let station = self.ports[usize::from(frame.port)].mac;
        let header = EthernetHeader { destination: station, source: station, kind };
        inner[..ETHERNET].copy_from_slice(&header.to_bytes());
        let length = (ETHERNET + length) as u16;
        self.aside.inside.push(Frame { buffer: other, length, port: frame.port });
        Some(Outcome::Moved)
    }
}

/// An IP packet for the router itself that may contain a sealed one.
fn sealed_packet(bytes: &[u8]) -> Option<OuterPacket<'_>> {
    match kind_of(bytes) {
        EtherType::IPV4 => {
            let packet = Ipv4Packet::parse(bytes).ok().filter(|packet| ipv4::may_send(packet.source))?;
            Some(OuterPacket::of_v4(&packet))
        }
        _ => {
            let packet = Ipv6Packet::parse(bytes).ok().filter(|packet| ipv6::may_send(packet.source))?;
            Some(OuterPacket::of_v6(&packet))
        }
    }
}

/// The length of an IP packet that is known to be complete.
fn total_of(packet: &[u8]) -> usize {
    let field = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    if kind_of(packet) == EtherType::IPV4 { field(2) } else { Ipv6Header::LEN + field(4) }
}
