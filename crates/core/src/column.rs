//! A column of the pool: one entry for each of its packets. Must not depend on what entries mean.
//!
//! The pool is too large for a power of two to be an acceptable number of entries, and its entries are read too often for a
//! bounds check: an id that is too large, which only another pool can have issued, names the last entry instead.

use crate::ids::PacketId;

/// See the file's head.
#[derive(Debug)]
pub(crate) struct PacketColumn<T> {
    entries: Vec<T>,
    /// The packet of the last entry.
    last: PacketId,
}

impl<T: Clone> PacketColumn<T> {
    /// A column of `slots` equal entries, at least one.
    pub(crate) fn new(slots: usize, entry: T) -> PacketColumn<T> {
        let mut column = PacketColumn { entries: Vec::new(), last: PacketId::NONE };
        column.resize(slots, entry);
        column
    }

    /// Adds entries up to this number, and no room for more: a vector that grows by itself would double.
    pub(crate) fn resize(&mut self, slots: usize, entry: T) {
        let added = slots.checked_sub(self.len().max(1)).expect("a column only grows");
        assert!(slots <= PacketId::MOST as usize, "fewer than 2^28 packets are alive");
        self.entries.reserve_exact(added + 1);
        self.entries.resize(slots, entry);
        self.last = PacketId::new(slots as u32 - 1);
    }
}

impl<T> PacketColumn<T> {
    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry of a packet.
    #[inline]
    #[allow(unsafe_code, reason = "2 % of all instructions, with `of_mut`")]
    pub(crate) fn of(&self, id: PacketId) -> &T {
        debug_assert!(id.index() < self.len(), "an id is used with the pool that issued it");
        // SAFETY: `resize` has been called, and has set `last` to the id of the last entry; there are never fewer entries. Ids are
        // multiples of `STEP`, so that the offset is that of an entry, and at most that of the last.
        unsafe { &*self.entries.as_ptr().byte_add(id.offset(self.last, size_of::<T>())) }
    }

    /// The entry of a packet, mutable.
    #[inline]
    #[allow(unsafe_code, reason = "as in `of`")]
    pub(crate) fn of_mut(&mut self, id: PacketId) -> &mut T {
        debug_assert!(id.index() < self.len(), "an id is used with the pool that issued it");
        // SAFETY: as in `of`.
        unsafe { &mut *self.entries.as_mut_ptr().byte_add(id.offset(self.last, size_of::<T>())) }
    }
}
