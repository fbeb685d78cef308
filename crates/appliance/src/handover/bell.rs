//! Bells: a sleeping worker is woken by the workers that put something into its rings, and none makes a system call
//! for a worker that is awake. Must not depend on rings.
//!
//! ```text
//! consumer: sleepy = true; fence; look into the rings; sleep until the bell's socket is readable
//! producer: put into a ring; fence; if sleepy was true: sleepy = false, write a byte
//! ```
//!
//! One of the two fences comes first: either the consumer finds the packet, or the producer finds the consumer
//! sleepy.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// The producers' end.
#[derive(Clone, Debug)]
pub(super) struct Bell(Arc<BellState>);

#[derive(Debug)]
struct BellState {
    /// Whether the consumer wants a byte when something is put into its rings.
    sleepy: AtomicBool,
    rope: UnixStream,
}

impl Bell {
    /// Called after something has been put into a ring.
    pub(super) fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.0.sleepy.swap(false, Ordering::SeqCst) {
            // There is room, because the consumer takes each byte before it is sleepy again. If the consumer is gone,
            // nobody needs to wake.
            let _ = (&self.0.rope).write(&[1]);
        }
    }
}

/// The consumer's end.
#[derive(Debug)]
pub(super) struct Listener {
    bell: Bell,
    ear: UnixStream,
    /// Whether it has been sleepy, and has not taken the byte since.
    listens: bool,
}

impl Listener {
    /// A bell for any number of producers.
    pub(super) fn new() -> io::Result<Listener> {
        let (ear, rope) = UnixStream::pair()?;
        ear.set_nonblocking(true)?;
        rope.set_nonblocking(true)?;
        let bell = Bell(Arc::new(BellState { sleepy: AtomicBool::new(false), rope }));
        Ok(Listener { bell, ear, listens: false })
    }

    pub(super) fn bell(&self) -> Bell {
        self.bell.clone()
    }

    /// The consumer may sleep after it has looked into its rings once more.
    pub(super) fn listen(&mut self) {
        if self.listens && (self.bell.0.sleepy.load(Ordering::SeqCst) || self.ear.read(&mut [0]).is_err()) {
            // Nobody has rung, or the byte is on its way.
            return fence(Ordering::SeqCst);
        }
        self.listens = true;
        self.bell.0.sleepy.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Readable when the bell has been rung.
    pub(super) fn descriptor(&self) -> RawFd {
        self.ear.as_raw_fd()
    }
}
