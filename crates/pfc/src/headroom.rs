//! Headroom: the bytes that can still arrive after a port has decided to pause.

use weft_core::{Bytes, Rate, Span};

use crate::{FRAME, quanta_time};

/// The parameters that determine the bytes that arrive after XOFF.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Line rate in both directions.
    pub rate: Rate,
    /// One-way delay of the cable.
    pub cable: Span,
    /// Time from the last bit of a packet in to the decision on it.
    pub latency: Span,
    /// Response time of the far end.
    pub response: Span,
    /// Wire bytes of a full-size packet at either end.
    pub full: Bytes,
    /// The size of the cells in which packets are stored; absent: they take their wire bytes.
    pub cell: Option<Bytes>,
}

/// How long after a pause frame a transmitter may still start a packet, in quanta of 512 bit times, by line rate in
/// Mb/s: IEEE 802.3 annex 31B.3.7, which the buffer requirements of IEEE 802.1Qbb, annex O, refer to. The figures are
/// those that sonic-net/sonic-mgmt issue 6223 quotes, 800 Gb/s from sonic-net/sonic-swss pull request 2860; the first
/// edition for 10 Gb/s (IEEE 802.3ae) had 60.
const RESPONSE_QUANTA: [(u64, u16); 10] = [
    (100, 1),
    (1_000, 2),
    (10_000, 67),
    (25_000, 80),
    (40_000, 118),
    (50_000, 147),
    (100_000, 394),
    (200_000, 453),
    (400_000, 905),
    (800_000, 905),
];

/// The maximum response time of the standard, in quanta. Rates between two of its entries use the next higher entry,
/// whose quanta last longer at the lower rate; rates above all entries use the highest.
#[must_use]
pub fn response_quanta(rate: Rate) -> u16 {
    let next = RESPONSE_QUANTA.iter().find(|(mbps, _)| rate <= Rate::from_mbps(*mbps));
    next.unwrap_or(&RESPONSE_QUANTA[RESPONSE_QUANTA.len() - 1]).1
}

/// The maximum response time of the standard, as a time.
#[must_use]
pub fn standard_response(rate: Rate) -> Span {
    quanta_time(rate, response_quanta(rate))
}

/// Maximum bytes of one class that arrive at one port after XOFF: those that pass while our full-size packet, begun
/// just before, and the frame leave; the frame crosses the cable and is obeyed; the far end's full-size packet, begun
/// just before, leaves; and its last bit crosses the cable and the pipeline before the decision.
///
/// H = 2 MTU + 84 B + C (2 t_cable + t_response + t_latency)
///
/// It is sufficient, because bits decided on after XOFF left the far end during that time, and tight: a test with
/// exactly this much loses nothing, and one with a packet less does. In cells, H is what that many bytes take in
/// packets of the least favourable size.
#[must_use]
pub fn headroom(at: &Situation) -> Bytes {
    let silent = at.cable * 2 + at.response + at.latency;
    let bits = u128::from(at.rate.0) * u128::from(silent.0);
    let passing = bits.div_ceil(8_000_000_000_000) as u64;
    at_worst(at.full * 2 + Bytes(u64::from(FRAME)) + Bytes(passing), at.cell)
}

/// The memory that a packet of `wire` bytes takes.
#[must_use]
pub fn occupied(wire: Bytes, cell: Option<Bytes>) -> Bytes {
    cell.map_or(wire, |cell| Bytes(wire.0.next_multiple_of(cell.0.max(1))))
}

/// The most memory that `wire` bytes can take. The least favourable size is that of the smallest frame, or one byte more than
/// the cells which that frame fills.
fn at_worst(wire: Bytes, cell: Option<Bytes>) -> Bytes {
    let smallest = Bytes(u64::from(FRAME));
    let next = occupied(smallest, cell) + Bytes(1);
    let in_packets_of =
        |size: Bytes| (u128::from(wire.0) * u128::from(occupied(size, cell).0)).div_ceil(u128::from(size.0));
    Bytes(in_packets_of(smallest).max(in_packets_of(next)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_allows_so_many_bits() {
        for (gbps, bits) in [(10, 34_304), (25, 40_960), (40, 60_416), (100, 201_728), (400, 463_360)] {
            let rate = Rate::from_gbps(gbps);
            assert_eq!(standard_response(rate), rate.time_for(Bytes(bits / 8)), "{gbps}");
        }
        let at = |mbps| response_quanta(Rate::from_mbps(mbps));
        assert_eq!([at(1), at(1_001), at(30_000), at(100_001), at(1_600_000)], [1, 67, 118, 453, 905]);
    }

    /// 2 x 1538 + 84 + 40 Gb/s x (2 x 1.5 us + 500 ns) + 60416 bit = 3160 + 17500 + 7552 bytes.
    #[test]
    fn the_formula_in_numbers() {
        let rate = Rate::from_gbps(40);
        let situation = Situation {
            rate,
            cable: Span::from_ns(1_500),
            latency: Span::from_ns(500),
            response: standard_response(rate),
            full: Bytes(1_538),
            cell: None,
        };
        assert_eq!(headroom(&situation), Bytes(28_212));
        // Packets of 84 B in cells of 256 B: 28212 x 256 / 84; of 81 B in cells of 80 B they would be smaller than a frame, so
        // 84 B in two cells, or 161 B in three.
        let in_cells = |cell| headroom(&Situation { cell: Some(Bytes(cell)), ..situation });
        assert_eq!([256, 80, 1].map(in_cells), [85_980, 53_738, 28_212].map(Bytes));
    }

    /// No mixture of packets takes more memory than the worst size.
    #[test]
    fn no_packets_take_more_memory_than_at_worst() {
        for cell in [2, 64, 80, 84, 208, 256, 1_000] {
            for wire in 84..5_000 {
                let (wire, cell) = (Bytes(wire), Some(Bytes(cell)));
                assert!(occupied(wire, cell) <= at_worst(wire, cell), "{wire:?} in {cell:?}");
            }
        }
    }

    /// The greatest pauses of the standard: 3.355 ms at 10 Gb/s, 0.839 ms at 40, 0.336 ms at 100.
    #[test]
    fn the_longest_pause() {
        for (gbps, micros) in [(10, 3_355.392), (40, 838.848), (100, 335.539_2)] {
            assert!((quanta_time(Rate::from_gbps(gbps), u16::MAX).micros() - micros).abs() < 1e-6);
        }
    }
}
