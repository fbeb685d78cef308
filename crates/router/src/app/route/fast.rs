//! The fast path of routing, for a whole batch at once: frames that need only a next hop are sent, all others set aside.
//!
//! The data of a frame is stored at its index in the batch, and the frames that need special handling are bits of a
//! word, so an ordinary batch passes without any list.

use weft_fib::{AddressKey, Hop, RootEntries, RouteReader};
use weft_packet::rss::FlowQueues;
use weft_packet::{Mac, ipv4, ipv6};

use crate::app::Desk;
use crate::app::route::{ETHERNET, Routing, SetAside};
use crate::control::{Adjacency, AdjacencyTable};
use crate::pool::{BATCH, Frame, FrameBuffer, FrameBuffers, SendQueues};

/// Indices in a batch, one bit each.
type Places = u64;
const _: () = assert!(Places::BITS as usize == BATCH);

/// The frames of a batch, and their look-ups.
pub(super) struct Lanes {
    /// Without the bytes behind their packets.
    frames: [Frame; BATCH],
    v4: Lane<u32>,
    v6: Lane<u128>,
}

/// The destinations of one address family and their next hops, by index. Other indices hold those of earlier batches.
struct Lane<A> {
    addresses: [A; BATCH],
    hops: [Hop; BATCH],
}

impl<A: AddressKey> Default for Lane<A> {
    fn default() -> Lane<A> {
        Lane { addresses: [A::default(); BATCH], hops: [Hop::NONE; BATCH] }
    }
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes { frames: [Frame::default(); BATCH], v4: Lane::default(), v6: Lane::default() }
    }
}

/// The destination of a packet that only needs a next hop.
enum Destination {
    V4(u32),
    V6(u128),
}

/// The destination MAC address of a frame, as a number; above it is the group bit of the sender's address, which no
/// station sets.
#[inline(always)]
fn station_of(buffer: &FrameBuffer) -> u64 {
    u64::from_le_bytes(*buffer.first_chunk().expect("a buffer is longer")) & 0x1_ffff_ffff_ffff
}

fn as_number(Mac([a, b, c, d, e, f]): Mac) -> u64 {
    u64::from_le_bytes([a, b, c, d, e, f, 0, 0])
}

/// The bytes of a buffer behind the Ethernet header.
#[inline(always)]
fn packet_of<const N: usize>(buffer: &FrameBuffer) -> &[u8; N] {
    buffer[ETHERNET..].first_chunk().expect("a buffer is longer")
}

/// [`packet_of`], to be changed.
#[inline(always)]
fn packet_in<const N: usize>(buffer: &mut FrameBuffer) -> &mut [u8; N] {
    buffer[ETHERNET..].first_chunk_mut().expect("a buffer is longer")
}

/// The destination of a frame that is an IPv4 packet for this station and needs only a next hop.
#[inline(always)]
fn plain_v4(buffer: &FrameBuffer, length: u16, station: u64) -> Option<u32> {
    // Compares the Ethernet type and the first byte of the packet at once: version 4 without options.
    let kind = u32::from_le_bytes(*buffer[12..].first_chunk()?) & 0x00ff_ffff;
    if station_of(buffer) != station || kind != u32::from_le_bytes([0x08, 0x00, 0x45, 0]) {
        return None;
    }
    ipv4::forwardable_plain(packet_of(buffer), length.wrapping_sub(ETHERNET as u16))
}

/// The same for IPv6.
#[inline(always)]
fn plain_v6(buffer: &FrameBuffer, length: u16, station: u64) -> Option<u128> {
    if station_of(buffer) != station || buffer[12..14] != [0x86, 0xdd] {
        return None;
    }
    ipv6::forwardable_header(packet_of(buffer), usize::from(length).wrapping_sub(ETHERNET))
}

/// Truncates a frame to its packet and examines that: behind it is the padding of a short frame, or leftover bytes
/// from its sender's memory.
#[inline(never)]
fn trim(buffer: &FrameBuffer, frame: &mut Frame, station: u64) -> Option<Destination> {
    let field = |at: usize| u16::from_be_bytes([buffer[at], buffer[at + 1]]);
    let packet = match field(12) {
        0x0800 => field(16),
        0x86dd => field(18).checked_add(40)?,
        _ => return None,
    };
    let length = packet.checked_add(ETHERNET as u16).filter(|length| *length < frame.length)?;
    let found = plain_v4(buffer, length, station).map(Destination::V4);
    let found = found.or_else(|| plain_v6(buffer, length, station).map(Destination::V6))?;
    frame.length = length;
    Some(found)
}

/// The indices in a word, in order.
fn each(mut places: Places) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = (places != 0).then(|| places.trailing_zeros() as usize)?;
        places &= places - 1;
        Some(at)
    })
}

impl Lanes {
    /// Examines the frames of a batch. Returns the indices of IPv4 packets and of IPv6 packets that need only a next
    /// hop, of all other frames, and of those that had to be examined twice: if there are any, the batch has been
    /// copied, because some may be shorter.
    #[inline(never)]
    fn fill(
        &mut self,
        (frames, buffers, station): (&[Frame], FrameBuffers<'_>, u64),
        (root4, root6): (RootEntries<'_, u32>, RootEntries<'_, u128>),
    ) -> [Places; 4] {
        let (mut are_v6, mut others): (Places, Places) = (0, 0);
        for (at, (frame, own)) in frames.iter().zip(&mut self.v4.addresses).enumerate() {
            match plain_v4(buffers.get(frame.buffer), frame.length, station) {
                Some(address) => {
                    root4.anticipate(address);
                    *own = address;
                }
                None => others |= 1 << at,
            }
        }
        let again = others;
        if again != 0 {
            self.frames[..frames.len()].copy_from_slice(frames);
        }
        for at in each(again) {
            let frame = &mut self.frames[at];
            let buffer = buffers.get(frame.buffer);
            let v6 = plain_v6(buffer, frame.length, station).map(Destination::V6);
            match v6.or_else(|| trim(buffer, frame, station)) {
                Some(Destination::V4(address)) => self.v4.addresses[at] = address,
                Some(Destination::V6(address)) => {
                    root6.anticipate(address);
                    self.v6.addresses[at] = address;
                    are_v6 |= 1 << at;
                }
                None => continue,
            }
            others &= !(1 << at);
        }
        let all = Places::MAX >> (BATCH - frames.len());
        [all & !(are_v6 | others), are_v6, others, again]
    }
}

impl Routing {
    /// Sends the frames that need only a next hop, and sets the others aside.
    #[inline(always)]
    pub(super) fn route(&mut self, desk: &mut Desk<'_>, frames: &[Frame]) {
        let Some(first) = frames.first() else { return };
        let station = as_number(self.ports[usize::from(first.port)].mac);
        let batch = (frames, desk.pool.buffers(), station);
        let [are_v4, are_v6, others, again] = self.lanes.fill(batch, (self.v4.root(), self.v6.root()));
        let Lanes { frames: own, v4, v6 } = &mut *self.lanes;
        let (own, table) = (&own[..frames.len()], (&*self.table, &self.flows));
        let own = if again != 0 { own } else { frames };
        if others != 0 {
            self.aside.rest.extend(each(others).map(|at| own[at]));
        }
        if are_v4 != 0 {
            let lower = |buffer: &mut FrameBuffer| ipv4::lower_ttl(packet_in(buffer));
            v4.send((&self.v4, table, &mut self.aside), desk, (own, are_v4), lower);
        }
        if are_v6 != 0 {
            let lower = |buffer: &mut FrameBuffer| ipv6::lower_hop_limit(packet_in(buffer));
            v6.send((&self.v6, table, &mut self.aside), desk, (own, are_v6), lower);
        }
    }

    /// How to forward a frame whose next hop is a list of several.
    pub(super) fn shared_path(
        (table, flows): (&AdjacencyTable, &FlowQueues),
        hop: Hop,
        frame: &[u8],
    ) -> Option<Adjacency> {
        let path = table.path(hop, || flows.hash_of(frame).unwrap_or_default())?;
        path.adjacency.carries(frame.len() as u16).then_some(path.adjacency)
    }
}

impl<A: AddressKey> Lane<A> {
    /// Looks up the next hops at these indices, sends the frames whose next hop is resolved, and sets the others
    /// aside.
    #[inline(always)]
    fn send(
        &mut self,
        (routes, table, aside): (&RouteReader<A>, (&AdjacencyTable, &FlowQueues), &mut SetAside),
        desk: &mut Desk<'_>,
        (frames, places): (&[Frame], Places),
        lower: impl Fn(&mut FrameBuffer),
    ) {
        let hops = &mut self.hops[..frames.len()];
        routes.lookup_all(&self.addresses[..frames.len()], hops);
        if places != Places::MAX >> (BATCH - frames.len()) {
            each(!places).take_while(|at| *at < frames.len()).for_each(|at| hops[at] = Hop::NONE);
        }
        for at in each(send_resolved(&table.0.adjacencies, desk, (frames, hops), &lower) & places) {
            send_otherwise((table, &mut *aside), desk, (hops[at], frames[at]), &lower);
        }
    }
}

/// Sends the frames whose next hop is resolved, adjacent ones to the same port together. Returns the indices of the
/// others.
#[inline(never)]
fn send_resolved(
    adjacencies: &[Adjacency],
    desk: &mut Desk<'_>,
    (frames, hops): (&[Frame], &[Hop]),
    lower: &impl Fn(&mut FrameBuffer),
) -> Places {
    let (mut buffers, out) = (desk.pool.buffers(), &mut *desk.out);
    let (mut port, mut from, mut others) = (Adjacency::SLOW, 0, 0);
    for (at, (frame, hop)) in frames.iter().zip(hops).enumerate() {
        let adjacency = adjacencies.get(usize::from(hop.0)).unwrap_or(&Adjacency::UNRESOLVED);
        let carries = adjacency.carries(frame.length);
        if carries {
            let buffer = buffers.get_mut(frame.buffer);
            lower(buffer);
            buffer[..12].copy_from_slice(&adjacency.addresses);
        }
        if adjacency.port != port || !carries {
            send_run(out, port, &frames[from..at]);
            (port, from) = (adjacency.port, at + usize::from(!carries));
            others |= Places::from(!carries) << at;
        }
    }
    send_run(out, port, &frames[from..]);
    others
}

/// Sends frames to the same port. Most runs are long, or this would be inlined.
#[inline(never)]
fn send_run(out: &mut SendQueues, port: u16, frames: &[Frame]) {
    out.extend(port, frames);
}

/// Sends a packet whose next hop is a list of several; sets any other aside.
#[inline(never)]
fn send_otherwise(
    (table, aside): ((&AdjacencyTable, &FlowQueues), &mut SetAside),
    desk: &mut Desk<'_>,
    (hop, frame): (Hop, Frame),
    lower: &impl Fn(&mut FrameBuffer),
) {
    match Routing::shared_path(table, hop, desk.pool.bytes(frame)) {
        Some(adjacency) => {
            let buffer = desk.pool.buffer(frame.buffer);
            lower(buffer);
            buffer[..12].copy_from_slice(&adjacency.addresses);
            desk.out.push(adjacency.port, frame);
        }
        None => aside.put(table.0.hops.get(usize::from(hop.0)).copied().flatten(), frame),
    }
}
