//! Follows the kernel of a network namespace: its messages about routes, addresses, links and neighbours go to the
//! router's mirror. A thread of its own reads them; workers never wait for it. Must not depend on what the messages
//! mean.
//!
//! Where the kernel changes routes without a message (a link goes down or comes back, an address is removed or
//! added), or messages are lost, all routes are read again: at once, and once more after a quiet period, because the
//! kernel reports a link before it revives the routes over it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weft_core::{Span, Time};
use weft_netlink::{ALL_GROUPS, Dump, KernelMessage, dump_request, messages};
use weft_router::backend::system;
use weft_router::clock::RouterClock;
use weft_router::control::Control;
use weft_router::kernel::KernelMirror;

/// Maximum size of a batch of messages from the kernel.
const PIECE: usize = 1 << 18;
/// Messages applied under one lock, so that a worker that resolves a next hop never waits long.
const TOGETHER: usize = 64;
/// Memory for unread messages.
const BACKLOG: i32 = 32 << 20;
/// How soon the follower stops, milliseconds.
const NAP: u16 = 50;
/// How long links and addresses must be quiet before the routes over them are considered final.
const SETTLING: Span = Span::from_ms(200);

/// Statistics of a follower.
#[derive(Debug, Default)]
pub(crate) struct KernelCounters {
    /// Messages applied.
    pub(crate) messages: AtomicU64,
    /// Number of times that everything was read again.
    pub(crate) readings: AtomicU64,
}

/// Follows the kernel of the namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct KernelFollower {
    socket: File,
    mirror: KernelMirror,
    piece: Vec<u8>,
    /// Number of the last request.
    number: u32,
}

impl KernelFollower {
    /// Subscribes to all changes. `names`: the interfaces of the router's ports.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn open(names: Vec<String>) -> io::Result<KernelFollower> {
        let socket = File::from(system::netlink_socket(ALL_GROUPS, BACKLOG)?);
        Ok(KernelFollower { socket, mirror: KernelMirror::new(names), piece: vec![0; PIECE], number: 0 })
    }

    /// Reads everything there is.
    ///
    /// # Errors
    /// The kernel refuses a request.
    pub(crate) fn read_all(
        &mut self,
        control: &Control,
        clock: RouterClock,
        counters: &KernelCounters,
    ) -> io::Result<()> {
        self.mirror.begin_reading();
        for dump in Dump::ALL {
            self.number += 1;
            self.socket.write_all(&dump_request(dump, self.number))?;
            while !self.read_piece(control, clock, counters)? {
                system::wait_readable(&[self.socket.as_raw_fd()], NAP)?;
            }
        }
        control.change(|state| self.mirror.end_reading(state));
        counters.readings.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Applies changes until `stop` is set.
    ///
    /// # Errors
    /// The socket has failed.
    pub(crate) fn follow(
        &mut self,
        control: &Control,
        clock: RouterClock,
        (stop, counters): (&AtomicBool, &KernelCounters),
    ) -> io::Result<()> {
        let mut settled: Option<Time> = None;
        while !stop.load(Ordering::Relaxed) {
            system::wait_readable(&[self.socket.as_raw_fd()], NAP)?;
            self.read_piece(control, clock, counters)?;
            while self.mirror.take_doubt() {
                self.read_all(control, clock, counters)?;
                settled = Some(clock.now() + SETTLING);
            }
            if settled.take_if(|due| *due <= clock.now()).is_some() {
                self.read_all(control, clock, counters)?;
            }
        }
        Ok(())
    }

    /// Reads the messages that have arrived; returns whether the answer to the last request is complete.
    fn read_piece(
        &mut self,
        control: &Control,
        clock: RouterClock,
        counters: &KernelCounters,
    ) -> io::Result<bool> {
        let length = match self.socket.read(&mut self.piece) {
            Ok(length) => length,
            // Messages were lost, because the kernel had no room for them.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
                self.mirror.doubt();
                return Ok(false);
            }
            Err(error) if system::is_busy(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut done = false;
        let mut batch = Vec::with_capacity(TOGETHER);
        for message in messages(&self.piece[..length]) {
            match message.map_err(io::Error::other)? {
                KernelMessage::Done { number } => done |= number == self.number,
                KernelMessage::Failed { number, errno } if number == self.number => match errno {
                    // A kernel without next hop objects, or without IPv6.
                    libc::EOPNOTSUPP | libc::EAFNOSUPPORT | libc::EINVAL => done = true,
                    // The answer was interrupted by a change.
                    libc::EINTR | libc::EBUSY => {
                        self.mirror.doubt();
                        done = true;
                    }
                    errno => return Err(io::Error::from_raw_os_error(errno)),
                },
                message => batch.push(message),
            }
            if batch.len() == TOGETHER {
                apply(&mut self.mirror, &mut batch, (control, clock), counters);
            }
        }
        apply(&mut self.mirror, &mut batch, (control, clock), counters);
        Ok(done)
    }
}

/// Applies messages under one lock.
fn apply(
    mirror: &mut KernelMirror,
    batch: &mut Vec<KernelMessage>,
    (control, clock): (&Control, RouterClock),
    counters: &KernelCounters,
) {
    counters.messages.fetch_add(batch.len() as u64, Ordering::Relaxed);
    let found: Vec<_> =
        control.change(|state| batch.drain(..).filter_map(|message| mirror.apply(state, message)).collect());
    // Packets that wait for a station leave when their worker hears the answer; the kernel only shortens the search.
    for (station, mac) in found {
        control.suggest(clock.now(), station, mac);
    }
}
