//! Prefetching memory before it is needed.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Prefetches all cache lines of `place`. Affects only speed; does nothing on processors for which Rust has no stable
/// intrinsic.
#[inline(always)]
pub fn prefetch<T>(place: &T) {
    prefetch_part(place, (0, size_of::<T>()));
}

/// Prefetches the cache lines of a part of `place`, the fields that most packets touch: where it begins and its length,
/// in bytes. `place` is aligned to a line, or a line more may be needed.
#[inline(always)]
#[allow(unsafe_code, reason = "large networks wait less for memory; see docs/src/performance.md")]
pub fn prefetch_part<T>(place: &T, (start, length): (usize, usize)) {
    #[cfg(target_arch = "x86_64")]
    for line in start / LINE..(start + length).div_ceil(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(place).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: a prefetch is a hint: it may be given any address, and reads nothing into the program.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (place, start, length);
}
