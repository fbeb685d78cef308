//! AF_XDP: frames taken in front of the kernel's own processing, through rings in shared memory.
//!
//! The kernel writes arriving frames into the worker's own buffers and reads what it sends from there: a frame that goes from one
//! queue of a worker to another stays where it is. Every queue lends as many buffers for arriving frames as its ring has slots, and
//! a frame is taken only if another buffer can replace its own. The kernel therefore never runs out of them, whatever happens to
//! the frames.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Arc;

use crate::backend::system::{self, HeardStations};
use crate::backend::{Backend, DeviceLosses, give_back};
use crate::pool::{BATCH, BUFFER, Frame, FrameBatch, FramePool, HEADROOM};

mod program;
mod ring;
mod socket;

use program::{AttachedProgram, MOST_QUEUES};
use socket::{FramePlace, SLOTS, XdpSocket, buffer_of, chunk_of};

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
    /// Buffers that the kernel has for sending.
    sending: u32,
    losses: DeviceLosses,
    send_calls: u64,
    /// Of the frames missed since the socket was opened, those already reported.
    told: u64,
    _interface: Arc<XdpInterface>,
}

impl XdpQueue {
    /// The number of buffers that it lends to the kernel at most.
    pub const LENDS: u32 = 2 * SLOTS;

    /// Opens a queue for the port `port`, with zero copy where its driver can, otherwise with one copy by the kernel. It serves the
    /// owner of the pool, [made for it](FramePool::for_kernel), and lends buffers of that.
    ///
    /// # Errors
    /// There is no such queue, no permission, or the pool has not buffers enough.
    pub fn open(
        interface: Arc<XdpInterface>,
        port: u16,
        queue: u32,
        pool: &mut FramePool,
    ) -> io::Result<XdpQueue> {
        if queue >= MOST_QUEUES {
            let message = format!("queues are numbered up to {}", MOST_QUEUES - 1);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        if pool.free() < XdpQueue::LENDS as usize {
            return Err(io::Error::other("the worker has not buffers enough"));
        }
        let lent: Vec<u32> = (0..SLOTS).map_while(|_| pool.take()).collect();
        let place = |zero_copy| (interface.index, queue, zero_copy);
        let open = |zero_copy| XdpSocket::open(place(zero_copy), Arc::clone(pool.memory()), &lent);
        let socket = open(true).or_else(|_| open(false)).and_then(|socket| {
            interface.program.insert(queue, &socket.descriptor)?;
            Ok(socket)
        });
        let socket = socket.inspect_err(|_| lent.iter().for_each(|buffer| pool.give(*buffer)))?;
        let losses = DeviceLosses::default();
        Ok(XdpQueue { socket, port, sending: 0, losses, send_calls: 0, told: 0, _interface: interface })
    }

    /// Frames lie in the memory of one pool, and in no other.
    fn check(&self, pool: &FramePool) -> io::Result<()> {
        if self.socket.is_over(pool.memory()) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::InvalidInput, "the buffers are those of another worker"))
    }

    /// Releases the buffers that the kernel has sent.
    fn reclaim(&mut self, pool: &mut FramePool) {
        self.sending -= self.socket.completed.consume(SLOTS.min(self.sending), |address| {
            buffer_of(address).into_iter().for_each(|buffer| pool.give(buffer));
        });
    }

    /// Puts a frame into the ring; `false` if there is no room.
    fn send(&mut self, frame: Frame) -> bool {
        let address = chunk_of(frame.buffer) + HEADROOM as u64;
        let place = FramePlace { address, length: frame.length.into(), options: 0 };
        let is_in = self.sending < SLOTS && self.socket.send.produce([place]) > 0;
        self.sending += u32::from(is_in);
        is_in
    }

    /// The frame at a place where the kernel has written it, if it fits a buffer.
    fn take_in(&mut self, pool: &mut FramePool, place: FramePlace) -> Option<Frame> {
        let buffer = place.buffer()?;
        let is_here = place.extent() == (HEADROOM, place.length as usize) && place.length as usize <= BUFFER;
        if place.length > 0 && (is_here || pool.buffers().settle(buffer, place.extent())) {
            return Some(Frame { buffer, length: place.length as u16, port: self.port });
        }
        if place.length > 0 {
            self.losses.oversized += 1;
            self.losses.arrived_bytes += u64::from(place.length);
        }
        pool.give(buffer);
        None
    }

    /// Makes the kernel send what is in the ring. What it cannot send now stays there.
    fn push(&mut self, pool: &mut FramePool) -> io::Result<()> {
        // The kernel sends a few dozen frames for each call.
        for _ in 0..SLOTS / 16 {
            if self.socket.send.pending() == 0 {
                break;
            }
            self.send_calls += 1;
            match self.socket.wake().map_err(|error| (wake_outcome(error.raw_os_error()), error)) {
                Ok(()) | Err((WakeOutcome::Again, _)) => self.reclaim(pool),
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
        self.check(pool)?;
        if self.sending > 0 {
            self.reclaim(pool);
            if self.socket.send.pending() > 0 {
                self.push(pool)?;
            }
        }
        let most = batch.room().min(pool.free());
        let mut places = [FramePlace::default(); BATCH];
        let mut count = 0;
        self.socket.received.consume(most.min(places.len()) as u32, |place| {
            places[count] = place;
            count += 1;
        });
        // As many as there are frames: no more have been taken than are free.
        let lent = (0..count).map_while(|_| pool.take());
        self.socket.fill.refill(lent.map(chunk_of));
        for place in &places[..count] {
            if let Some(frame) = self.take_in(pool, *place) {
                batch.push(frame);
            }
        }
        Ok(())
    }

    fn transmit(&mut self, pool: &mut FramePool, frames: &mut Vec<Frame>) -> io::Result<usize> {
        if let Err(error) = self.check(pool) {
            give_back(pool, frames);
            return Err(error);
        }
        self.reclaim(pool);
        let (mut lost, mut result) = (0, Ok(()));
        for frame in frames.drain(..) {
            if self.sending == SLOTS {
                result = result.and(self.push(pool));
            }
            if !self.send(frame) {
                lost += 1;
                self.losses.unsent_bytes += u64::from(frame.length);
                pool.give(frame.buffer);
            }
        }
        result.and(self.push(pool)).map(|()| lost)
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
