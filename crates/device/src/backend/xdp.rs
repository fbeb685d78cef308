//! AF_XDP: frames taken in front of the kernel's own processing, through rings in shared memory.
//!
//! Every queue of an interface has a socket with memory of its own, so that no socket can starve another's rings. A
//! frame is copied once between that memory and the worker's buffers. A chunk that has been read returns to the fill
//! ring as soon as that has a slot, whatever happens to its frame, so the kernel never runs out of chunks.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use crate::backend::system::{self, HeardStations};
use crate::backend::{Backend, DeviceLosses, give_back};
use crate::pool::{Frame, FrameBatch, FramePool};

mod program;
mod ring;
mod socket;

use program::{AttachedProgram, MOST_QUEUES};
use socket::{CHUNK, CHUNKS, FramePlace, XdpSocket};

/// An interface whose frames go to sockets while this exists.
#[derive(Debug)]
pub struct XdpInterface {
    index: u32,
    program: AttachedProgram,
    /// Keeps the interface receiving frames for other stations, if asked.
    _hearing: Option<OwnedFd>,
}

impl XdpInterface {
    /// Attaches to an interface: in its driver if that can run programs, otherwise in front of the kernel's own processing.
    /// There a pair of virtual links does not say by which queue a frame has arrived.
    ///
    /// # Errors
    /// There is no such interface, no permission, or another program is attached.
    pub fn attach(name: &str, heard: Option<HeardStations>) -> io::Result<XdpInterface> {
        let index = system::interface_index(name)?;
        let hearing = heard.map(|stations| listen(index, stations)).transpose()?;
        let index = index as u32;
        let program =
            AttachedProgram::attach(index, true).or_else(|_| AttachedProgram::attach(index, false))?;
        Ok(XdpInterface { index, program, _hearing: hearing })
    }
}

fn listen(index: i32, stations: HeardStations) -> io::Result<OwnedFd> {
    let socket = system::packet_socket(index, false)?;
    system::hear(&socket, index, stations)?;
    Ok(socket)
}

/// One queue of an interface.
#[derive(Debug)]
pub struct XdpQueue {
    socket: XdpSocket,
    port: u16,
    /// Chunks for sending that the kernel does not have.
    free: Vec<u32>,
    losses: DeviceLosses,
    send_calls: u64,
    /// Of the frames missed since the socket was opened, those already reported.
    told: u64,
    _interface: Arc<XdpInterface>,
}

impl XdpQueue {
    /// The longest frame that it receives, without FCS: a chunk without the room that the kernel keeps in front (`XDP_PACKET_HEADROOM`).
    pub const LONGEST: usize = CHUNK - 256;

    /// Opens a queue for the port `port`, with zero copy where its driver can, otherwise with one copy.
    ///
    /// # Errors
    /// There is no such queue, or no permission.
    pub fn open(interface: Arc<XdpInterface>, port: u16, queue: u32) -> io::Result<XdpQueue> {
        if queue >= MOST_QUEUES {
            let message = format!("queues are numbered up to {}", MOST_QUEUES - 1);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let open = |zero_copy| XdpSocket::open(interface.index, queue, zero_copy);
        let socket = open(true).or_else(|_| open(false))?;
        interface.program.insert(queue, &socket.descriptor)?;
        let free = (CHUNKS..2 * CHUNKS).collect();
        let losses = DeviceLosses::default();
        Ok(XdpQueue { socket, port, free, losses, send_calls: 0, told: 0, _interface: interface })
    }

    /// Takes back the chunks that the kernel has sent.
    fn reclaim(&mut self) {
        let (free, sending) = (&mut self.free, CHUNKS..2 * CHUNKS);
        self.socket.completed.consume(CHUNKS, |address| {
            let chunk = u32::try_from(address / CHUNK as u64).ok();
            free.extend(chunk.filter(|chunk| sending.contains(chunk)));
        });
    }

    /// Puts a frame of at most a chunk into the ring; `false` if there is no room.
    fn send(&mut self, bytes: &[u8]) -> bool {
        let Some(chunk) = self.free.pop() else { return false };
        let place = self.socket.write(chunk, bytes);
        let is_in = self.socket.send.produce([place]) > 0;
        if !is_in {
            self.free.push(chunk);
        }
        is_in
    }

    /// Makes the kernel send what is in the ring. What it cannot send now stays there.
    fn push(&mut self) -> io::Result<()> {
        // The kernel sends a few dozen frames for each call.
        for _ in 0..CHUNKS / 16 {
            if self.socket.send.pending() == 0 {
                break;
            }
            self.send_calls += 1;
            match self.socket.wake().map_err(|error| (wake_outcome(error.raw_os_error()), error)) {
                Ok(()) | Err((WakeOutcome::Again, _)) => self.reclaim(),
                Err((WakeOutcome::Later, _)) => break,
                Err((WakeOutcome::Failed, error)) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The meaning of a failed wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WakeOutcome {
    /// Some frames have been sent, and more wait: call again.
    Again,
    /// Nothing can be sent now; frames stay in the ring.
    Later,
    /// The socket or the interface is gone.
    Failed,
}

fn wake_outcome(errno: Option<i32>) -> WakeOutcome {
    match errno {
        Some(libc::EAGAIN | libc::EINTR) => WakeOutcome::Again,
        // The driver is busy, has no room or no memory, or the link is down.
        Some(libc::EBUSY | libc::ENOBUFS | libc::ENOMEM | libc::ENETDOWN) => WakeOutcome::Later,
        _ => WakeOutcome::Failed,
    }
}

impl Backend for XdpQueue {
    fn receive(&mut self, pool: &mut FramePool, batch: &mut FrameBatch) -> io::Result<()> {
        if self.socket.send.pending() > 0 {
            self.push()?;
        }
        let most = batch.room().min(pool.free());
        let mut places = [FramePlace::default(); crate::pool::BATCH];
        let mut count = 0;
        self.socket.received.consume(most.min(places.len()) as u32, |place| {
            places[count] = place;
            count += 1;
        });
        for place in &places[..count] {
            match pool.store(self.socket.bytes(*place), self.port) {
                Some(frame) if frame.length > 0 => {
                    batch.push(frame);
                }
                Some(frame) => pool.give(frame.buffer),
                None => {
                    self.losses.oversized += 1;
                    self.losses.arrived_bytes += u64::from(place.length);
                }
            }
        }
        // The kernel put the frame somewhere into the chunk; the ring takes its beginning.
        let chunks = places[..count].iter().map(|place| place.address / CHUNK as u64 * CHUNK as u64);
        self.socket.fill.refill(chunks);
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        self.reclaim();
        let (mut sent, mut result) = (0, Ok(()));
        for frame in frames.iter() {
            if self.free.is_empty() {
                result = result.and(self.push());
            }
            let bytes = pool.bytes(*frame);
            let fits = bytes.len() <= CHUNK;
            self.losses.refused += u64::from(!fits);
            if fits && self.send(bytes) {
                sent += 1;
            } else {
                self.losses.unsent_bytes += u64::from(frame.length);
            }
        }
        let lost = frames.len() - sent;
        give_back(pool, frames);
        result.and(self.push()).map(|()| lost)
    }

    fn losses(&mut self) -> DeviceLosses {
        let missed = self.socket.missed().unwrap_or(self.told);
        self.losses.missed = missed.saturating_sub(self.told);
        self.told = self.told.max(missed);
        std::mem::take(&mut self.losses)
    }

    fn send_calls(&self) -> u64 {
        self.send_calls
    }

    fn descriptors(&self) -> Vec<RawFd> {
        vec![self.socket.descriptor.as_raw_fd()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every error that the kernel's wake-up returns, and some that it does not.
    #[test]
    fn each_error_of_a_wake_up_has_a_meaning() {
        use WakeOutcome::{Again, Failed, Later};
        for (errno, expected) in [
            (libc::EAGAIN, Again),
            (libc::EINTR, Again),
            (libc::EBUSY, Later),
            (libc::ENOBUFS, Later),
            (libc::ENOMEM, Later),
            (libc::ENETDOWN, Later),
            (libc::ENXIO, Failed),
            (libc::EOPNOTSUPP, Failed),
            (libc::EINVAL, Failed),
            (libc::EBADF, Failed),
        ] {
            assert_eq!(wake_outcome(Some(errno)), expected, "{}", io::Error::from_raw_os_error(errno));
        }
    }
}
