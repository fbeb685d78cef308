//! A socket over a pool's memory: buffers that the kernel and the worker hand to each other by four rings.
//!
//! Each socket registers the memory by itself, so that each may be bound with or without zero copy, whatever the others are.

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use crate::pool::{FrameMemory, HEADROOM, STRIDE};

use super::ring::{ConsumerRing, ProducerRing, RefillRing, RingParts};

/// Slots of each ring, a power of two: as many buffers wait for frames to arrive, and at most as many to be sent.
pub(crate) const SLOTS: u32 = 1024;
/// Chunks of the memory, a buffer with its headroom each, begin anywhere.
const UNALIGNED: u32 = 1;
/// Bits of an address; above them is the distance from the beginning of the chunk.
const ADDRESS_BITS: u32 = 48;

/// A frame in the memory (`struct xdp_desc`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FramePlace {
    pub(crate) address: u64,
    pub(crate) length: u32,
    pub(crate) options: u32,
}

impl FramePlace {
    /// The number of its buffer.
    pub(crate) fn buffer(self) -> Option<u32> {
        buffer_of(self.address & ((1 << ADDRESS_BITS) - 1))
    }

    /// Where it begins, in bytes from the beginning of the headroom, and its length.
    pub(crate) fn extent(self) -> (usize, usize) {
        let start = (self.address & ((1 << ADDRESS_BITS) - 1)) % STRIDE as u64;
        (start as usize + (self.address >> ADDRESS_BITS) as usize, self.length as usize)
    }
}

/// The address of a buffer's headroom.
pub(crate) fn chunk_of(buffer: u32) -> u64 {
    u64::from(buffer) * STRIDE as u64
}

/// The number of the buffer in which an address lies, or in whose headroom.
pub(crate) fn buffer_of(address: u64) -> Option<u32> {
    u32::try_from(address / STRIDE as u64).ok()
}

/// `struct xdp_umem_reg`.
#[repr(C)]
struct MemoryRegistration {
    address: u64,
    length: u64,
    chunk: u32,
    headroom: u32,
    flags: u32,
    metadata: u32,
}

/// `struct sockaddr_xdp`.
#[repr(C)]
struct XdpAddress {
    family: u16,
    flags: u16,
    interface: u32,
    queue: u32,
    shared: u32,
}

/// The places of a ring's parts in its mapping (`struct xdp_ring_offset`, without flags).
#[derive(Clone, Copy)]
struct RingOffsets {
    producer: u64,
    consumer: u64,
    slots: u64,
}

/// Options of sockets (`linux/if_xdp.h`).
const SOL_XDP: i32 = 283;
const OFFSETS: i32 = 1;
const RECEIVE_RING: i32 = 2;
const SEND_RING: i32 = 3;
const MEMORY: i32 = 4;
const FILL_RING: i32 = 5;
const COMPLETION_RING: i32 = 6;
const STATISTICS: i32 = 7;
/// Where rings are mapped.
const RECEIVE_PLACE: i64 = 0;
const SEND_PLACE: i64 = 0x8000_0000;
const FILL_PLACE: i64 = 0x1_0000_0000;
const COMPLETION_PLACE: i64 = 0x1_8000_0000;
/// How to bind.
const COPY: u16 = 2;
const ZERO_COPY: u16 = 4;

/// Mapped memory, unmapped when it is dropped.
#[derive(Debug)]
struct Mapping {
    start: *mut u8,
    length: usize,
}

// SAFETY: a mapping may be unmapped by any thread; what lies in it is reached through its owner.
#[allow(unsafe_code, reason = "see above")]
unsafe impl Send for Mapping {}

impl Mapping {
    #[allow(unsafe_code, reason = "a system call")]
    fn new(length: usize, socket: &OwnedFd, offset: i64) -> io::Result<Mapping> {
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_POPULATE);
        // SAFETY: the kernel chooses the place, so that no other mapping is touched.
        let start = unsafe { libc::mmap(null_mut(), length, protection, flags, socket.as_raw_fd(), offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Mapping { start: start.cast(), length })
    }

    /// The address at an offset.
    #[allow(unsafe_code, reason = "mapped memory")]
    fn at<T>(&self, offset: u64) -> *mut T {
        assert!(
            offset as usize + size_of::<T>() <= self.length,
            "the kernel's offsets lie inside the mapping"
        );
        // SAFETY: the offset lies inside the mapping.
        unsafe { self.start.add(offset as usize).cast() }
    }
}

impl Drop for Mapping {
    #[allow(unsafe_code, reason = "a system call")]
    fn drop(&mut self) {
        // SAFETY: exactly what `new` has mapped; the ring in it is dropped with its owner, this mapping's owner.
        unsafe { libc::munmap(self.start.cast(), self.length) };
    }
}

/// A socket bound to a queue of an interface.
#[derive(Debug)]
pub(crate) struct XdpSocket {
    // Rings point into mappings: they are dropped first.
    pub(crate) fill: RefillRing<u64>,
    pub(crate) received: ConsumerRing<FramePlace>,
    pub(crate) send: ProducerRing<FramePlace>,
    pub(crate) completed: ConsumerRing<u64>,
    pub(crate) descriptor: OwnedFd,
    /// What the kernel writes, until the descriptor is closed.
    memory: Arc<FrameMemory>,
    _rings: [Mapping; 4],
}

/// Sets an option.
#[allow(unsafe_code, reason = "a system call")]
fn set<T>(socket: &OwnedFd, option: i32, value: &T) -> io::Result<()> {
    let (length, value) = (size_of::<T>() as u32, std::ptr::from_ref(value));
    // SAFETY: `value` points to `length` readable bytes, which the call copies.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), SOL_XDP, option, value.cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Reads an option whose value consists of whole numbers, at most as many as fit; returns the number of bytes.
#[allow(unsafe_code, reason = "a system call")]
fn ask<const N: usize>(socket: &OwnedFd, option: i32) -> io::Result<([u64; N], usize)> {
    let (mut values, mut length) = ([0; N], size_of::<[u64; N]>() as u32);
    let place = (&raw mut values).cast();
    // SAFETY: the kernel writes at most `length` bytes to `values`, and the length it wrote.
    let result = unsafe { libc::getsockopt(socket.as_raw_fd(), SOL_XDP, option, place, &raw mut length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok((values, length as usize)) }
}

/// The offsets of the rings: receive, send, fill, completion.
fn offsets(socket: &OwnedFd) -> io::Result<[RingOffsets; 4]> {
    let (values, length) = ask::<16>(socket, OFFSETS)?;
    if length != size_of_val(&values) {
        return Err(io::Error::other("the kernel describes its rings in another form"));
    }
    let ring =
        |at: usize| RingOffsets { producer: values[at], consumer: values[at + 1], slots: values[at + 2] };
    Ok([ring(0), ring(4), ring(8), ring(12)])
}

/// Maps a ring whose slots have type `T`.
fn ring<T>(socket: &OwnedFd, place: i64, offsets: RingOffsets) -> io::Result<(Mapping, RingParts<T>)> {
    let length = offsets.slots as usize + SLOTS as usize * size_of::<T>();
    let mapping = Mapping::new(length, socket, place)?;
    let producer: *mut AtomicU32 = mapping.at(offsets.producer);
    let consumer: *mut AtomicU32 = mapping.at(offsets.consumer);
    let slots = mapping.at(offsets.slots);
    Ok((mapping, RingParts { producer, consumer, slots, size: SLOTS }))
}

impl XdpSocket {
    /// Opens a socket over this memory; it is bound, and `lent` buffers are in its fill ring, when this returns.
    ///
    /// # Errors
    /// No permission, no such queue, or no zero copy.
    #[allow(unsafe_code, reason = "system calls")]
    pub(crate) fn open(
        (interface, queue, zero_copy): (u32, u32, bool),
        memory: Arc<FrameMemory>,
        lent: &[u32],
    ) -> io::Result<XdpSocket> {
        // SAFETY: no memory is passed.
        let raw = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call has just returned this descriptor, and nothing else owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(raw) };
        let (start, length) = memory.range();
        let registration = MemoryRegistration {
            address: start.expose_provenance() as u64,
            length: length as u64,
            chunk: STRIDE as u32,
            headroom: 0,
            flags: UNALIGNED,
            metadata: 0,
        };
        set(&descriptor, MEMORY, &registration)?;
        for option in [FILL_RING, COMPLETION_RING, RECEIVE_RING, SEND_RING] {
            set(&descriptor, option, &SLOTS)?;
        }
        let [receive, send, fill, completion] = offsets(&descriptor)?;
        let (first, receive) = ring(&descriptor, RECEIVE_PLACE, receive)?;
        let (second, send) = ring(&descriptor, SEND_PLACE, send)?;
        let (third, fill) = ring(&descriptor, FILL_PLACE, fill)?;
        let (fourth, completion) = ring(&descriptor, COMPLETION_PLACE, completion)?;
        // SAFETY: the parts are those of the kernel's rings, whose mappings the socket keeps; the kernel has the other sides.
        let (fill, send) = unsafe { (ProducerRing::new(fill), ProducerRing::new(send)) };
        // SAFETY: as above.
        let (received, completed) = unsafe { (ConsumerRing::new(receive), ConsumerRing::new(completion)) };
        let mut fill = RefillRing::new(fill);
        fill.refill(lent.iter().map(|buffer| chunk_of(*buffer)));
        let flags = if zero_copy { ZERO_COPY } else { COPY };
        let address = XdpAddress { family: libc::AF_XDP as u16, flags, interface, queue, shared: 0 };
        // SAFETY: the pointer is to a structure of the given length, which the call only reads.
        let result = unsafe { libc::bind(raw, (&raw const address).cast(), size_of::<XdpAddress>() as u32) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        let _rings = [first, second, third, fourth];
        Ok(XdpSocket { fill, received, send, completed, descriptor, memory, _rings })
    }

    /// Frames that arrived since it was opened and did not reach the receive ring (`struct xdp_statistics`): no chunk
    /// was free, the ring was full, or the frame was longer than a buffer.
    pub(crate) fn missed(&self) -> io::Result<u64> {
        let ([dropped, _, _, ring_full, ..], _) = ask::<6>(&self.descriptor, STATISTICS)?;
        Ok(dropped + ring_full)
    }

    /// Whether a pool has the memory of this socket.
    pub(crate) fn is_over(&self, memory: &Arc<FrameMemory>) -> bool {
        Arc::ptr_eq(&self.memory, memory)
    }

    /// Asks the kernel to send what is in the ring.
    #[allow(unsafe_code, reason = "a system call")]
    pub(crate) fn wake(&self) -> io::Result<()> {
        // SAFETY: no memory is passed.
        let result = unsafe {
            libc::sendto(self.descriptor.as_raw_fd(), null_mut(), 0, libc::MSG_DONTWAIT, null_mut(), 0)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

const _: () = assert!(SLOTS.is_power_of_two() && HEADROOM == 256);
