//! Rings in memory: a port without a device, for measuring the processor.
//!
//! Sent frames return to the ring and are received again, so that no frame is ever copied. A generator may give each
//! frame a fresh header as it is received.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use weft_core::{Purpose, Random};
use weft_packet::{Mac, checksum};

use crate::backend::{Backend, DeviceLosses};
use crate::pool::{BATCH, Frame, FrameBatch, FrameBuffer, FramePool};

/// The contents of received frames.
#[derive(Clone, Debug)]
pub enum MemoryTraffic {
    /// As they were sent.
    Same,
    /// IPv4 to the router's station with a new destination, all addresses equally likely, TTL 64.
    RandomDestinations(DestinationDraw),
    /// IPv6 to the router's station, destinations one after another from a list, hop limit 64.
    ListedDestinations(DestinationList),
    /// Each begins with these bytes and has this length, whatever was sent; the rest is as it was sent.
    Renewed([u8; 64], u16),
}

/// Draws destinations and computes the checksums.
#[derive(Clone, Debug)]
pub struct DestinationDraw {
    state: u64,
    station: Mac,
    /// The frames' checksum with TTL 64 and destination 0.0.0.0.
    checksum: u16,
}

impl DestinationDraw {
    /// Draws destinations from a seed for copies of this frame, which must be IPv4 without options.
    ///
    /// # Panics
    /// The frame is too short.
    #[must_use]
    pub fn new(seed: u64, frame: &[u8]) -> DestinationDraw {
        let (ethernet, packet) = frame.split_first_chunk::<14>().expect("an Ethernet header");
        let mut header: [u8; 20] = *packet.first_chunk().expect("an IPv4 header");
        header[8] = 64;
        header[10..12].fill(0);
        header[16..].fill(0);
        let station = Mac(*ethernet.first_chunk().expect("six bytes"));
        let state = Random::new(seed, Purpose::Test, 0).bits() | 1;
        DestinationDraw { state, station, checksum: checksum::of_header(&header) }
    }

    /// The high half of a linear congruential generator with Knuth's constants (MMIX); its low half is weak.
    #[inline(always)]
    fn next(&mut self) -> u32 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 32) as u32
    }

    /// Writes station, TTL, destination and checksum of the frame in a buffer.
    #[inline(always)]
    fn write(&mut self, buffer: &mut FrameBuffer) {
        buffer[..6].copy_from_slice(&self.station.0);
        let destination = self.next();
        let Some(header) = buffer[14..].first_chunk_mut::<20>() else { return };
        header[8] = 64;
        header[16..].copy_from_slice(&destination.to_be_bytes());
        // 2^16 - 1 divides 2^32 - 1, so both halves of the destination contribute equally.
        let sum = u32::from(!self.checksum) + (destination >> 16) + (destination & 0xffff);
        let sum = (sum & 0xffff) + (sum >> 16);
        [header[10], header[11]] = (!(sum + (sum >> 16)) as u16).to_be_bytes();
    }
}

/// Gives frames the destinations of a list, over and over.
#[derive(Clone, Debug)]
pub struct DestinationList {
    destinations: Arc<[u128]>,
    at: usize,
    station: Mac,
}

impl DestinationList {
    /// Begins at the place `at` of the list, which must not be empty, for copies of this frame, which must be IPv6.
    ///
    /// # Panics
    /// The frame is too short, or the list is empty.
    #[must_use]
    pub fn new(destinations: Arc<[u128]>, at: usize, frame: &[u8]) -> DestinationList {
        let station = Mac(*frame.first_chunk().expect("six bytes"));
        let at = at % destinations.len();
        DestinationList { destinations, at, station }
    }

    /// Writes station, hop limit and destination of the frame in a buffer.
    fn write(&mut self, buffer: &mut FrameBuffer) {
        buffer[..6].copy_from_slice(&self.station.0);
        buffer[21] = 64;
        buffer[38..54].copy_from_slice(&self.destinations[self.at].to_be_bytes());
        self.at = if self.at + 1 < self.destinations.len() { self.at + 1 } else { 0 };
    }
}

/// A ring of frames.
#[derive(Debug)]
pub struct MemoryRing {
    ring: Box<[Frame]>,
    head: usize,
    tail: usize,
    traffic: MemoryTraffic,
    losses: DeviceLosses,
}

impl MemoryRing {
    /// A ring filled with copies of a frame: `frames` of them, rounded up to a power of two, or as many as the pool
    /// has.
    #[must_use]
    pub fn filled(
        pool: &mut FramePool,
        frames: usize,
        (port, frame): (u16, &[u8]),
        traffic: MemoryTraffic,
    ) -> MemoryRing {
        let places = frames.next_power_of_two();
        let stored: Vec<Frame> = (0..places).map_while(|_| pool.store(frame, port)).collect();
        let mut ring = vec![Frame::default(); places];
        ring[..stored.len()].copy_from_slice(&stored);
        MemoryRing {
            ring: ring.into(),
            head: 0,
            tail: stored.len(),
            traffic,
            losses: DeviceLosses::default(),
        }
    }

    /// Receives frames with fresh headers. Separate from [`Backend::receive`], whose loop is measured to the
    /// instruction.
    #[inline(never)]
    fn renew(&mut self, pool: &mut FramePool, batch: &mut FrameBatch, count: usize) {
        for n in 0..count {
            let mut frame = self.ring[(self.head + n) & (self.ring.len() - 1)];
            match &mut self.traffic {
                MemoryTraffic::Renewed(begin, length) => {
                    pool.buffer(frame.buffer)[..begin.len()].copy_from_slice(begin);
                    frame.length = *length;
                }
                MemoryTraffic::ListedDestinations(list) => list.write(pool.buffer(frame.buffer)),
                MemoryTraffic::Same | MemoryTraffic::RandomDestinations(_) => {}
            }
            batch.push(frame);
        }
    }
}

impl Backend for MemoryRing {
    #[inline]
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let count = (self.tail - self.head).min(batch.room()).min(BATCH);
        if let MemoryTraffic::Renewed(..) | MemoryTraffic::ListedDestinations(_) = self.traffic {
            self.renew(pool, batch, count);
        } else {
            let [ahead, behind] = parts(self.ring.len(), self.head, count);
            batch.extend(&self.ring[ahead]);
            batch.extend(&self.ring[behind]);
            if let MemoryTraffic::RandomDestinations(draw) = &mut self.traffic {
                let mut buffers = pool.buffers();
                batch.frames().iter().for_each(|frame| draw.write(buffers.get_mut(frame.buffer)));
            }
        }
        self.head += count;
        Ok(())
    }

    #[inline]
    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let room = self.ring.len() - (self.tail - self.head);
        let count = frames.len().min(room);
        let [ahead, behind] = parts(self.ring.len(), self.tail, count);
        let (first, second) = frames[..count].split_at(ahead.len());
        self.ring[ahead].copy_from_slice(first);
        self.ring[behind].copy_from_slice(second);
        self.tail += count;
        let lost = frames.len() - count;
        frames[count..].iter().for_each(|frame| {
            self.losses.unsent_bytes += u64::from(frame.length);
            pool.give(frame.buffer);
        });
        frames.clear();
        Ok(lost)
    }

    fn losses(&mut self) -> DeviceLosses {
        std::mem::take(&mut self.losses)
    }
}

/// The places of `count` frames from `at` in a ring of `length`, a power of two: those up to its end, and those from
/// its beginning.
#[inline]
fn parts(length: usize, at: usize, count: usize) -> [Range<usize>; 2] {
    let at = at & (length - 1);
    let ahead = count.min(length - at);
    [at..at + ahead, 0..count - ahead]
}
