//! Path labels and flowcells (Presto, SIGCOMM'15): written by a sending host into four bytes of a header, used by
//! switches to forward, and read by the receiving host. Must not depend on the network: a label is a list of ports.
//!
//! 22 bits name the port to take at the first three switches, 10 bits count flowcells. For a switch with a single
//! path the label names no port.

use crate::ids::PortId;

/// Bits for the port at the first, second and third switch; 0: unspecified.
const BITS: [u32; 3] = [8, 8, 6];
/// The lowest bit of each port number.
const SHIFT: [u32; 3] = [0, 8, 16];
/// The lowest bit of the flowcell number.
const CELL: u32 = 22;
/// Flowcells are counted modulo this.
pub const CELLS: u16 = 1 << 10;

/// The ports at which a path diverges from others, for the first three switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathLabel(u32);

impl PathLabel {
    /// The label extended by `port` at the switch `hop`, counted from 1. `None`: it has no room for that port.
    #[must_use]
    pub fn and(self, hop: u8, port: PortId) -> Option<PathLabel> {
        let place = usize::from(hop).checked_sub(1).filter(|place| *place < BITS.len())?;
        let word = u32::from(port.0) + 1;
        (word < 1 << BITS[place]).then_some(PathLabel(self.0 | word << SHIFT[place]))
    }

    /// The label of a header.
    #[must_use]
    #[inline]
    pub const fn of(note: u32) -> PathLabel {
        PathLabel(note & ((1 << CELL) - 1))
    }

    /// The port to take at the switch `hop`, counted from 1, if the label names one.
    #[must_use]
    #[inline]
    pub fn port(self, hop: u8) -> Option<PortId> {
        let place = usize::from(hop).wrapping_sub(1);
        let bits = *BITS.get(place)?;
        let word = self.0 >> SHIFT[place] & ((1 << bits) - 1);
        word.checked_sub(1).map(|port| PortId(port as u16))
    }

    /// Whether it names a port for the switch `hop`, counted from 1.
    #[must_use]
    pub const fn reaches(hop: u8) -> bool {
        hop >= 1 && hop as usize <= BITS.len()
    }

    /// The four bytes of a packet on this path, of a flowcell.
    #[must_use]
    #[inline]
    pub const fn note(self, cell: u16) -> u32 {
        self.0 | ((cell % CELLS) as u32) << CELL
    }
}

/// The number of a packet's flowcell.
#[must_use]
#[inline]
pub const fn cell_of(note: u32) -> u16 {
    (note >> CELL) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_a_port_for_each_of_three_switches() {
        let label = PathLabel::default().and(1, PortId(254)).and_then(|label| label.and(3, PortId(0)));
        let label = label.expect("there is room");
        assert_eq!([1, 2, 3, 4].map(|hop| label.port(hop)), [Some(PortId(254)), None, Some(PortId(0)), None]);
        assert_eq!(label.port(0), None);
        let full = label.and(2, PortId(254)).expect("there is room");
        let note = full.note(1_023);
        assert_eq!((PathLabel::of(note), cell_of(note)), (full, 1_023));
        assert_eq!(cell_of(full.note(CELLS)), 0, "cells are counted in a circle");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let label = PathLabel::default();
        assert_eq!(label.and(1, PortId(255)), None);
        assert_eq!(label.and(3, PortId(63)), None);
        assert!(label.and(3, PortId(62)).is_some());
        assert_eq!((label.and(0, PortId(1)), label.and(4, PortId(1))), (None, None));
    }
}
