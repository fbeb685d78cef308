//! AF_PACKET: frames of any Linux interface, in bursts of one system call each.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use weft_packet::checksum;

use crate::backend::{Backend, give_back, system};
use crate::pool::{BATCH, Frame, FrameBatch, FramePool, STRIDE};

/// Which frames of an interface a socket receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketArrivals {
    /// All.
    All,
    /// The flows that the kernel assigns to it among the sockets of this group.
    ByFlow(u16),
    /// None: it only sends.
    None,
}

/// A packet socket on one interface.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    port: u16,
    /// Frames longer than a buffer, which are dropped.
    oversized: u64,
}

impl PacketSocket {
    /// Opens a queue of an interface for the port `port`.
    ///
    /// # Errors
    /// There is no such interface, or no permission.
    pub fn open(
        interface: &str,
        port: u16,
        promiscuous: bool,
        arrivals: SocketArrivals,
    ) -> io::Result<PacketSocket> {
        let index = system::interface_index(interface)?;
        let socket = system::packet_socket(index, arrivals != SocketArrivals::None)?;
        if promiscuous {
            system::receive_all_stations(&socket, index)?;
        }
        if let SocketArrivals::ByFlow(group) = arrivals {
            system::share_by_flow(&socket, group)?;
        }
        Ok(PacketSocket { socket, port, oversized: 0 })
    }

    /// Frames that were longer than a buffer.
    #[must_use]
    pub fn oversized(&self) -> u64 {
        self.oversized
    }
}

/// The flag that the sender has left the checksum to the card.
const NEEDS_CHECKSUM: u8 = 1;

/// Completes a checksum, as a card would on the cable, for a sender in another namespace: sums the bytes from `start`,
/// which include the pseudo-header's sum, and stores the checksum `offset` bytes further on.
fn complete(frame: &mut [u8], [start, offset]: [usize; 2]) {
    let Some(covered) = frame.get_mut(start..) else { return };
    let sum = match checksum::of(covered) {
        0 => 0xffff,
        sum => sum,
    };
    if let Some(place) = covered.get_mut(offset..offset + 2) {
        place.copy_from_slice(&sum.to_be_bytes());
    }
}

impl Backend for PacketSocket {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        let taken: Vec<u32> = (0..batch.room()).map_while(|_| pool.take()).collect();
        let (mut lengths, mut starts) = ([0; BATCH], [[0; 2]; BATCH]);
        let mut buffers: Vec<&mut [u8; STRIDE]> = pool.disjoint(&taken);
        let mut unsummed = 0_u64;
        let result = system::receive_many(&self.socket, &mut buffers, |n, length, note| {
            lengths[n] = length;
            unsummed |= u64::from(note[0] & NEEDS_CHECKSUM) << n;
            starts[n] = [u16::from_ne_bytes([note[6], note[7]]), u16::from_ne_bytes([note[8], note[9]])];
        });
        for n in (0..BATCH).filter(|n| unsummed >> n & 1 == 1 && lengths[*n] <= STRIDE) {
            complete(&mut buffers[n][..lengths[n]], starts[n].map(usize::from));
        }
        for (buffer, length) in taken.into_iter().zip(lengths) {
            match length {
                1..=STRIDE => {
                    batch.push(Frame { buffer, length: length as u16, port: self.port });
                }
                _ => {
                    self.oversized += u64::from(length > STRIDE);
                    pool.give(buffer);
                }
            }
        }
        result
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let (mut sent, mut result) = (0, Ok(()));
        while sent < frames.len() {
            let bytes: Vec<&[u8]> =
                frames[sent..].iter().take(BATCH).map(|frame| pool.bytes(*frame)).collect();
            match system::send_many(&self.socket, &bytes) {
                Ok(0) => break,
                Ok(count) => sent += count,
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        let lost = frames.len() - sent;
        give_back(pool, frames);
        result.map(|()| lost)
    }

    fn descriptor(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }
}
