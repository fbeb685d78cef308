//! Prefetching memory before it is needed.

/// Prefetches all cache lines of `place`. Affects only speed; does nothing on processors for which Rust has no stable
/// intrinsic.
#[inline(always)]
#[allow(unsafe_code, reason = "large networks wait less for memory; see docs/src/performance.md")]
pub fn prefetch<T>(place: &T) {
    /// Bytes of a cache line.
    #[cfg(target_arch = "x86_64")]
    const LINE: usize = 64;
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = std::ptr::from_ref(place).cast::<i8>().wrapping_add(line * LINE);
        // SAFETY: a prefetch is a hint: it may be given any address, and reads nothing into the program.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
