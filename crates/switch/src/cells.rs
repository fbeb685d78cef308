//! Memory in cells: the bytes that a packet occupies.

use weft_core::Bytes;

/// The size of the cells in which a switch stores packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryCells {
    /// Zero: packets are stored by the byte.
    size: u16,
}

impl MemoryCells {
    pub(crate) fn of(size: Option<Bytes>) -> MemoryCells {
        MemoryCells { size: size.map_or(0, |size| size.0.min(u64::from(u16::MAX)) as u16) }
    }

    /// Whether packets occupy more memory than their own size.
    pub(crate) fn are_used(self) -> bool {
        self.size > 1
    }

    /// The bytes that a packet occupies.
    #[inline(always)]
    pub(crate) fn occupied(self, wire: u16) -> u16 {
        if self.size == 0 { wire } else { self.in_cells(wire) }
    }

    #[inline(always)]
    fn in_cells(self, wire: u16) -> u16 {
        wire.div_ceil(self.size).saturating_mul(self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_cells_are_occupied() {
        let cells = MemoryCells::of(Some(Bytes(208)));
        assert_eq!([1, 208, 209, 1_538].map(|wire| cells.occupied(wire)), [208, 208, 416, 1_664]);
        assert_eq!(MemoryCells::of(None).occupied(84), 84);
    }

    /// The memory reserved for pauses is counted in the same way as packets.
    #[test]
    fn memory_set_aside_is_counted_in_the_same_cells() {
        for cell in [None, Some(Bytes(2)), Some(Bytes(80)), Some(Bytes(208)), Some(Bytes(256))] {
            let cells = MemoryCells::of(cell);
            let same = |wire: &u16| {
                Bytes(cells.occupied(*wire).into())
                    == weft_pfc::headroom::occupied(Bytes((*wire).into()), cell)
            };
            assert!((84..9_300).all(|wire| same(&wire)), "{cell:?}");
        }
    }
}
