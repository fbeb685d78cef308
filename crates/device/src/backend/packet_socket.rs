//! AF_PACKET: frames of any Linux interface, in bursts of one system call each.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use weft_packet::checksum;

use crate::backend::system::{self, HeardStations, SendFailure};
use crate::backend::{Backend, DeviceLosses, give_back, oversized};
use crate::pool::{BATCH, BUFFER, Frame, FrameBatch, FrameBuffer, FramePool};

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
    interface: String,
    port: u16,
    losses: DeviceLosses,
    send_calls: u64,
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
            system::hear(&socket, index, HeardStations::All)?;
        }
        if let SocketArrivals::ByFlow(group) = arrivals {
            system::share_by_flow(&socket, group)?;
        }
        let (interface, losses) = (interface.to_owned(), DeviceLosses::default());
        Ok(PacketSocket { socket, interface, port, losses, send_calls: 0 })
    }

    /// Makes the interface receive frames for all groups of stations, as IPv6 needs where the kernel has no address of its own.
    ///
    /// # Errors
    /// The interface is gone.
    pub fn hear_groups(&self) -> io::Result<()> {
        let index = system::interface_index(&self.interface)?;
        system::hear(&self.socket, index, HeardStations::Groups)
    }

    /// Counts a frame that fits no buffer. The first one in the process is reported, with advice.
    #[cold]
    fn note_oversized(&mut self, length: usize) {
        self.losses.oversized += 1;
        self.losses.arrived_bytes += length as u64;
        let name = &self.interface;
        let found =
            format_args!("{name}: a frame of {length} bytes is dropped, because buffers hold {BUFFER}");
        oversized::tell_of_first(found, name);
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
        let mut buffers: Vec<&mut FrameBuffer> = pool.disjoint(&taken);
        let (mut unsummed, mut tagged) = (0_u64, 0_u64);
        let result = system::receive_many(&self.socket, &mut buffers, |n, length, note, has_tag| {
            lengths[n] = length;
            tagged |= u64::from(has_tag) << n;
            unsummed |= u64::from(note[0] & NEEDS_CHECKSUM) << n;
            starts[n] = [u16::from_ne_bytes([note[6], note[7]]), u16::from_ne_bytes([note[8], note[9]])];
        });
        for n in (0..BATCH).filter(|n| unsummed >> n & 1 == 1 && lengths[*n] <= BUFFER) {
            complete(&mut buffers[n][..lengths[n]], starts[n].map(usize::from));
        }
        for (n, (buffer, length)) in taken.into_iter().zip(lengths).enumerate() {
            match length {
                1..=BUFFER if tagged >> n & 1 == 0 => {
                    batch.push(Frame { buffer, length: length as u16, port: self.port });
                    continue;
                }
                0 => {}
                1..=BUFFER => {
                    self.losses.tagged += 1;
                    self.losses.arrived_bytes += length as u64;
                }
                _ => self.note_oversized(length),
            }
            pool.give(buffer);
        }
        result
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        let (mut at, mut lost, mut result) = (0, 0, Ok(()));
        while at < frames.len() {
            let bytes: Vec<&[u8]> = frames[at..].iter().take(BATCH).map(|frame| pool.bytes(*frame)).collect();
            self.send_calls += 1;
            let skipped = match system::send_many(&self.socket, &bytes) {
                Ok(0) => frames.len() - at,
                Ok(count) => {
                    at += count;
                    continue;
                }
                Err(error) => match system::send_failure(&error) {
                    SendFailure::Full => 1,
                    SendFailure::Refused => {
                        self.losses.refused += 1;
                        1
                    }
                    SendFailure::Busy => frames.len() - at,
                    // If some have been sent, the next call fails again and reports it.
                    SendFailure::Failed => {
                        result = if at == lost { Err(error) } else { Ok(()) };
                        frames.len() - at
                    }
                },
            };
            let unsent = frames[at..at + skipped].iter();
            self.losses.unsent_bytes += unsent.map(|frame| u64::from(frame.length)).sum::<u64>();
            (at, lost) = (at + skipped, lost + skipped);
        }
        give_back(pool, frames);
        result.map(|()| lost)
    }

    fn losses(&mut self) -> DeviceLosses {
        self.losses.missed = system::missed(&self.socket).unwrap_or_default();
        std::mem::take(&mut self.losses)
    }

    fn send_calls(&self) -> u64 {
        self.send_calls
    }

    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.socket.as_raw_fd()]
    }
}
