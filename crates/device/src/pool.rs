//! Buffers for frames, and lists of frames. A worker owns its buffers; back ends copy into and out of them.

/// Distance between buffers in bytes. Not a power of two, so that the first lines of buffers spread over all cache
/// sets.
pub const STRIDE: usize = 2176;
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
    buffers: Box<[[u8; STRIDE]]>,
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
        let buffers: Box<[[u8; STRIDE]]> = vec![[0; STRIDE]; count as usize].into();
        prepare(buffers.as_ptr().cast(), size_of_val(&*buffers));
        FramePool { buffers, free: (0..count).rev().collect() }
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

    /// Number of buffers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffers.len()
    }

    /// Whether there are no buffers at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty()
    }

    /// A whole buffer.
    #[must_use]
    #[inline(always)]
    pub fn buffer(&mut self, number: u32) -> &mut [u8; STRIDE] {
        &mut self.buffers[number as usize]
    }

    /// All buffers, by number.
    #[must_use]
    #[inline(always)]
    pub fn buffers(&mut self) -> &mut [[u8; STRIDE]] {
        &mut self.buffers
    }

    /// Two buffers at once; `None` if they are the same.
    #[inline]
    pub fn pair(&mut self, one: u32, other: u32) -> Option<[&mut [u8; STRIDE]; 2]> {
        self.buffers.get_disjoint_mut([one as usize, other as usize]).ok()
    }

    /// Several buffers at once; empty if two numbers are equal.
    #[must_use]
    pub fn disjoint(&mut self, numbers: &[u32]) -> Vec<&mut [u8; STRIDE]> {
        let mut order: Vec<(u32, usize)> = numbers.iter().copied().zip(0..).collect();
        order.sort_unstable();
        let mut found: Vec<(usize, &mut [u8; STRIDE])> = Vec::with_capacity(numbers.len());
        let (mut rest, mut passed) = (&mut self.buffers[..], 0);
        for (number, place) in order {
            let skip = number.checked_sub(passed).map(|skip| skip as usize);
            let found_here = skip.and_then(|skip| rest.get_mut(skip..)).and_then(<[_]>::split_first_mut);
            let Some((buffer, after)) = found_here else { return Vec::new() };
            found.push((place, buffer));
            (rest, passed) = (after, number + 1);
        }
        found.sort_unstable_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, buffer)| buffer).collect()
    }

    /// The bytes of a frame.
    #[must_use]
    #[inline(always)]
    pub fn bytes(&self, frame: Frame) -> &[u8] {
        let buffer = &self.buffers[frame.buffer as usize];
        &buffer[..usize::from(frame.length).min(STRIDE)]
    }

    /// The bytes of a frame, mutable.
    #[must_use]
    #[inline(always)]
    pub fn bytes_mut(&mut self, frame: Frame) -> &mut [u8] {
        let buffer = &mut self.buffers[frame.buffer as usize];
        &mut buffer[..usize::from(frame.length).min(STRIDE)]
    }

    /// Copies a frame into a free buffer; `None` if it is longer than a buffer or no buffer is free.
    pub fn store(&mut self, bytes: &[u8], port: u16) -> Option<Frame> {
        self.store_parts(&[bytes], port)
    }

    /// [`FramePool::store`] for a frame that lies in parts.
    pub fn store_parts(&mut self, parts: &[&[u8]], port: u16) -> Option<Frame> {
        let length = parts.iter().map(|part| part.len()).sum();
        if length > STRIDE {
            return None;
        }
        let buffer = self.take()?;
        let mut rest = &mut self.buffers[buffer as usize][..length];
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
