//! The memory of a worker's buffers: one piece, which a back end may share with the kernel.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes in front of each buffer, which the kernel keeps free in front of a frame (`XDP_PACKET_HEADROOM`).
pub(crate) const HEADROOM: usize = 256;
/// Bytes of a buffer.
pub const BUFFER: usize = 2176;
/// Distance between buffers in bytes. Not a power of two, so that the first lines of buffers spread over all cache
/// sets.
pub(crate) const STRIDE: usize = HEADROOM + BUFFER;
/// Bytes of a page.
const PAGE: usize = 4096;

/// A buffer.
pub type FrameBuffer = [u8; BUFFER];

/// The memory of `count` buffers, each with its headroom, from the beginning of a page.
#[derive(Debug)]
pub(crate) struct FrameMemory {
    start: NonNull<u8>,
    count: u32,
}

// SAFETY: the memory belongs to this value; references into it are made only by `FrameBuffers`, which borrows the pool.
#[allow(unsafe_code, reason = "see above")]
unsafe impl Send for FrameMemory {}
// SAFETY: as above; without a pool there are only its address and length to read.
#[allow(unsafe_code, reason = "see above")]
unsafe impl Sync for FrameMemory {}

impl FrameMemory {
    /// Memory for buffers full of zeros; `prepare` gets its start and length before it is used.
    #[allow(unsafe_code, reason = "memory at a page's beginning")]
    pub(crate) fn new(count: u32, prepare: fn(*const u8, usize)) -> FrameMemory {
        let layout = FrameMemory::layout(count);
        // SAFETY: the layout has at least one byte.
        let Some(start) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        prepare(start.as_ptr(), layout.size());
        FrameMemory { start, count }
    }

    fn layout(count: u32) -> Layout {
        let bytes = (count as usize * STRIDE).max(1).next_multiple_of(PAGE);
        Layout::from_size_align(bytes, PAGE).expect("the number of buffers is that of a router")
    }

    /// The address of the first byte, and the number of bytes, whole pages.
    pub(crate) fn range(&self) -> (*mut u8, usize) {
        (self.start.as_ptr(), FrameMemory::layout(self.count).size())
    }
}

impl Drop for FrameMemory {
    #[allow(unsafe_code, reason = "memory at a page's beginning")]
    fn drop(&mut self) {
        // SAFETY: `new` has allocated it with this layout, and whoever refers to it keeps this value.
        unsafe { dealloc(self.start.as_ptr(), FrameMemory::layout(self.count)) };
    }
}

/// Whether a buffer and its headroom lie in one page: the kernel hands only such to a card without copying.
pub(crate) fn is_in_page(number: u32) -> bool {
    let first = number as usize * STRIDE;
    first / PAGE == (first + STRIDE - 1) / PAGE
}

/// All buffers of a pool, by number.
#[derive(Debug)]
pub struct FrameBuffers<'a> {
    start: NonNull<u8>,
    count: u32,
    pool: PhantomData<&'a mut FrameMemory>,
}

impl<'a> FrameBuffers<'a> {
    /// The buffers of a memory. All references to them are made here.
    ///
    /// # Safety
    /// For `'a` the program has no other way to the buffers that it changes. Those lent to the kernel are named by nobody.
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(super) unsafe fn of(memory: &'a FrameMemory) -> FrameBuffers<'a> {
        FrameBuffers { start: memory.start, count: memory.count, pool: PhantomData }
    }

    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    fn place(&self, number: u32) -> *mut FrameBuffer {
        assert!(number < self.count, "buffer {number} of {}", self.count);
        // SAFETY: there is a buffer of this number, all of which lies inside the memory.
        unsafe { self.start.add(number as usize * STRIDE + HEADROOM).cast().as_ptr() }
    }

    /// A buffer.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub fn get(&self, number: u32) -> &FrameBuffer {
        // SAFETY: by the promise of `of` nothing changes the buffer while this value is borrowed.
        unsafe { &*self.place(number) }
    }

    /// A buffer, to be changed.
    #[must_use]
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub fn get_mut(&mut self, number: u32) -> &mut FrameBuffer {
        // SAFETY: as above; this value is borrowed mutably.
        unsafe { &mut *self.place(number) }
    }

    /// [`FrameBuffers::get`] for as long as the pool is borrowed.
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(super) fn shared(self, number: u32) -> &'a FrameBuffer {
        // SAFETY: by the promise of `of` nothing changes the buffer for that long, and this value ends here.
        unsafe { &*self.place(number) }
    }

    /// [`FrameBuffers::get_mut`] for as long as the pool is borrowed.
    #[inline(always)]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(super) fn only(self, number: u32) -> &'a mut FrameBuffer {
        // SAFETY: this value, through which there could be other references, ends here.
        unsafe { &mut *self.place(number) }
    }

    /// Two buffers; `None` if they are the same.
    #[inline]
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(super) fn pair(self, one: u32, other: u32) -> Option<[&'a mut FrameBuffer; 2]> {
        let places = [self.place(one), self.place(other)];
        // SAFETY: the two do not overlap, and this value ends here.
        (one != other).then(|| places.map(|place| unsafe { &mut *place }))
    }

    /// Several buffers; none if two numbers are equal.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(super) fn disjoint(self, numbers: &[u32]) -> Vec<&'a mut FrameBuffer> {
        let mut order = numbers.to_vec();
        order.sort_unstable();
        if order.windows(2).any(|pair| pair[0] == pair[1]) {
            return Vec::new();
        }
        // SAFETY: no two of them overlap, and this value ends here.
        numbers.iter().map(|number| unsafe { &mut *self.place(*number) }).collect()
    }

    /// Moves the bytes of a frame that begins elsewhere in its chunk, the headroom and the buffer, to the beginning of the buffer.
    /// Returns false if they do not lie inside it.
    #[allow(unsafe_code, reason = "memory shared with the kernel")]
    pub(crate) fn settle(&mut self, number: u32, (offset, length): (usize, usize)) -> bool {
        if length > BUFFER || offset > STRIDE - length {
            return false;
        }
        let buffer = self.place(number).cast::<u8>();
        // SAFETY: source and target lie inside the chunk of this buffer, whose headroom nobody refers to; `copy` lets them overlap.
        unsafe { std::ptr::copy(buffer.sub(HEADROOM).add(offset), buffer, length) };
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card gets a buffer only if it lies in one page: seven of sixteen do.
    #[test]
    fn some_buffers_lie_in_one_page() {
        let inside: Vec<u32> = (0..10).filter(|number| is_in_page(*number)).collect();
        // Pages begin at 4096 n, buffers with their headroom at 2432 n.
        assert_eq!(inside, [0, 2, 4, 7, 9]);
        assert_eq!((0..16_000).filter(|number| is_in_page(*number)).count(), 7_000);
    }

    #[test]
    fn a_frame_that_begins_elsewhere_moves_to_the_beginning() {
        let memory = FrameMemory::new(3, |_, _| {});
        // SAFETY: the only way to this memory.
        #[allow(unsafe_code, reason = "memory of the test")]
        let mut buffers = unsafe { FrameBuffers::of(&memory) };
        (0..3).for_each(|number| buffers.get_mut(number).fill(number as u8));
        buffers.get_mut(1)[100..104].copy_from_slice(b"weft");
        assert!(buffers.settle(1, (HEADROOM + 100, 4)));
        assert_eq!(&buffers.get(1)[..5], b"weft\x01");
        // The last bytes of the chunk, and one byte more.
        buffers.get_mut(1)[BUFFER - 4..].copy_from_slice(b"last");
        assert!(buffers.settle(1, (STRIDE - 4, 4)) && !buffers.settle(1, (STRIDE - 4, 5)));
        assert!(!buffers.settle(1, (0, BUFFER + 1)) && !buffers.settle(1, (usize::MAX, 1)));
        assert_eq!(&buffers.get(1)[..5], b"last\x01");
        assert!(buffers.get(0).iter().all(|byte| *byte == 0) && buffers.get(2).iter().all(|byte| *byte == 2));
    }

    /// References to several buffers at once never overlap.
    #[test]
    fn several_buffers_are_different_ones() {
        let mut pool = crate::pool::FramePool::new(4);
        for (number, buffer) in [3, 0, 2].into_iter().zip(pool.disjoint(&[3, 0, 2])) {
            buffer.fill(number);
        }
        assert!([0, 2, 3].iter().all(|number| pool.buffer(*number)[BUFFER - 1] == *number as u8));
        assert!(pool.disjoint(&[1, 2, 1]).is_empty() && pool.pair(1, 1).is_none());
        let [one, other] = pool.pair(3, 1).unwrap();
        one.swap_with_slice(other);
        assert_eq!((pool.buffer(3)[0], pool.buffer(1)[0]), (0, 3));
    }

    /// Every buffer of a pool for the kernel, and none beyond its memory.
    #[test]
    fn a_pool_for_the_kernel_has_as_many_buffers_as_asked_for() {
        for count in [0, 1, 2, 100] {
            let mut pool = crate::pool::FramePool::for_kernel(count, |_, _| {});
            let numbers: Vec<u32> = std::iter::from_fn(|| pool.take()).collect();
            assert!(numbers.len() as u32 == count && numbers.iter().all(|number| is_in_page(*number)));
            numbers.iter().for_each(|number| pool.buffer(*number).fill(1));
        }
    }
}
