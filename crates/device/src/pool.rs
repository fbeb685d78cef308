//! Buffers for frames, and lists of frames. A worker owns its buffers. Back ends copy into and out of them, or lend them to the
//! kernel: the number of such a buffer has been taken, and is named by nobody until the kernel has returned it.

use std::sync::Arc;

mod memory;

pub use memory::{BUFFER, FrameBuffer, FrameBuffers};
pub(crate) use memory::{FrameMemory, HEADROOM, STRIDE};

/// Maximum number of frames processed together.
pub const BATCH: usize = 64;

/// A frame in a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Number of its buffer.
    pub buffer: u32,
    /// Its length, without FCS.
    pub length: u16,
    /// The port by which it came.
    pub port: u16,
}

/// Frames of one poll, at most [`BATCH`].
#[derive(Clone, Debug)]
pub struct FrameBatch {
    frames: [Frame; BATCH],
    count: usize,
    limit: usize,
}

impl Default for FrameBatch {
    fn default() -> FrameBatch {
        FrameBatch { frames: [Frame::default(); BATCH], count: 0, limit: BATCH }
    }
}

impl FrameBatch {
    /// The frames.
    #[must_use]
    #[inline(always)]
    pub fn frames(&self) -> &[Frame] {
        &self.frames[..self.count.min(BATCH)]
    }

    /// Number of further frames that fit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit - self.count
    }

    /// Adds a frame; `false` if the batch is full.
    #[inline(always)]
    pub fn push(&mut self, frame: Frame) -> bool {
        let Some(place) = self.frames.get_mut(self.count) else { return false };
        *place = frame;
        self.count += 1;
        true
    }

    /// Adds as many of these frames as fit.
    #[inline(always)]
    pub fn extend(&mut self, frames: &[Frame]) {
        let places = &mut self.frames[self.count.min(BATCH)..];
        let count = frames.len().min(places.len());
        places[..count].copy_from_slice(&frames[..count]);
        self.count += count;
    }

    /// Clears the batch and limits it to `limit` frames, at most [`BATCH`].
    #[inline(always)]
    pub fn limit(&mut self, limit: usize) {
        (self.count, self.limit) = (0, limit.min(BATCH));
    }
}

/// The buffers of a worker.
#[derive(Debug)]
pub struct FramePool {
    memory: Arc<FrameMemory>,
    free: Vec<u32>,
}

impl FramePool {
    /// A pool of `count` free buffers.
    #[must_use]
    pub fn new(count: u32) -> FramePool {
        FramePool::in_memory(count, |_, _| {})
    }

    /// Like [`FramePool::new`], but `prepare` gets the start and length of the memory before it is used.
    #[must_use]
    pub fn in_memory(count: u32, prepare: fn(*const u8, usize)) -> FramePool {
        FramePool { memory: Arc::new(FrameMemory::new(count, prepare)), free: (0..count).rev().collect() }
    }

    /// Like [`FramePool::in_memory`], for back ends that share the memory with the kernel: no buffer crosses the end of a page.
    #[must_use]
    pub fn for_kernel(count: u32, prepare: fn(*const u8, usize)) -> FramePool {
        let mut free: Vec<u32> = (0..).filter(|n| memory::is_in_page(*n)).take(count as usize).collect();
        free.reverse();
        let all = free.first().map_or(0, |last| last + 1);
        FramePool { memory: Arc::new(FrameMemory::new(all, prepare)), free }
    }

    /// Its memory, which a back end registers with the kernel.
    pub(crate) fn memory(&self) -> &Arc<FrameMemory> {
        &self.memory
    }

    /// A free buffer.
    #[inline]
    pub fn take(&mut self) -> Option<u32> {
        self.free.pop()
    }

    /// Releases a buffer.
    #[inline]
    pub fn give(&mut self, buffer: u32) {
        self.free.push(buffer);
    }

    /// Number of free buffers.
    #[must_use]
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// All buffers, by number.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub fn buffers(&mut self) -> FrameBuffers<'_> {
        // SAFETY: the pool, the only one of this memory, is borrowed mutably for as long as they are.
        unsafe { FrameBuffers::of(&self.memory) }
    }

    /// A whole buffer.
    #[must_use]
    #[inline(always)]
    pub fn buffer(&mut self, number: u32) -> &mut FrameBuffer {
        self.buffers().only(number)
    }

    /// Two buffers at once; `None` if they are the same.
    #[inline]
    pub fn pair(&mut self, one: u32, other: u32) -> Option<[&mut FrameBuffer; 2]> {
        self.buffers().pair(one, other)
    }

    /// Several buffers at once; empty if two numbers are equal.
    #[must_use]
    pub fn disjoint(&mut self, numbers: &[u32]) -> Vec<&mut FrameBuffer> {
        self.buffers().disjoint(numbers)
    }

    /// The bytes of a frame.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub fn bytes(&self, frame: Frame) -> &[u8] {
        // SAFETY: the pool is borrowed for as long as the bytes, and to change a buffer it must be borrowed mutably.
        let buffer = unsafe { FrameBuffers::of(&self.memory) }.shared(frame.buffer);
        &buffer[..usize::from(frame.length).min(BUFFER)]
    }

    /// The bytes of a frame, mutable.
    #[must_use]
    #[inline(always)]
    pub fn bytes_mut(&mut self, frame: Frame) -> &mut [u8] {
        &mut self.buffer(frame.buffer)[..usize::from(frame.length).min(BUFFER)]
    }

    /// Copies a frame into a free buffer; `None` if it is longer than a buffer or no buffer is free.
    pub fn store(&mut self, bytes: &[u8], port: u16) -> Option<Frame> {
        self.store_parts(&[bytes], port)
    }

    /// [`FramePool::store`] for a frame that lies in parts.
    pub fn store_parts(&mut self, parts: &[&[u8]], port: u16) -> Option<Frame> {
        let length = parts.iter().map(|part| part.len()).sum();
        if length > BUFFER {
            return None;
        }
        let buffer = self.take()?;
        let mut rest = &mut self.buffer(buffer)[..length];
        for part in parts {
            let (own, behind) = rest.split_at_mut(part.len());
            own.copy_from_slice(part);
            rest = behind;
        }
        Some(Frame { buffer, length: length as u16, port })
    }
}

/// Frames on their way out, by port.
#[derive(Debug)]
pub struct SendQueues {
    queues: Box<[Vec<Frame>]>,
}

impl SendQueues {
    /// Empty queues for this many ports.
    #[must_use]
    pub fn new(ports: usize) -> SendQueues {
        SendQueues { queues: (0..ports).map(|_| Vec::with_capacity(4 * BATCH)).collect() }
    }

    /// Sends a frame by a port. The port must exist.
    #[inline(always)]
    pub fn push(&mut self, port: u16, frame: Frame) {
        self.queues[usize::from(port)].push(frame);
    }

    /// Sends frames by a port. The port must exist, unless there are no frames.
    #[inline]
    pub fn extend(&mut self, port: u16, frames: &[Frame]) {
        match frames {
            [] => {}
            [frame] => self.push(port, *frame),
            frames => self.queues[usize::from(port)].extend_from_slice(frames),
        }
    }

    /// The queue of a port.
    pub fn queue(&mut self, port: usize) -> &mut Vec<Frame> {
        &mut self.queues[port]
    }
}
