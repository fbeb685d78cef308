//! Options of TCP: what a connection agrees on when it opens, and what later segments carry. Must not depend on other
//! headers.

use weft_core::Time;
use weft_core::segment::{Flags, Segment};

use super::FlowOnWire;
use crate::TcpOnWire;

/// Bytes of the timestamps in every segment, with padding; the maximum segment size does not count them (RFC 6691).
const TIMESTAMPS: u64 = 12;

/// The largest shift of the window scale option (RFC 7323).
const LARGEST_SHIFT: u8 = 14;

/// The options of SYN and SYN-ACK: maximum segment size, selective acknowledgements, timestamps, window scale.
pub(super) fn opening(flow: &FlowOnWire, segment: &Segment, wire: TcpOnWire) -> Vec<u8> {
    let own = if wire.timestamps { TIMESTAMPS } else { 0 };
    let most = (flow.mss + own).min(u64::from(u16::MAX)) as u16;
    let mut bytes = vec![2, 4];
    bytes.extend(most.to_be_bytes());
    bytes.extend(if wire.sack { [4, 2] } else { [1, 1] });
    match wire.timestamps {
        true => bytes.extend(timestamps(segment)),
        false => bytes.extend([1, 1]),
    }
    bytes.extend([1, 3, 3, shift(wire)]);
    bytes
}

/// Timestamps, if there are any, and the blocks of selective acknowledgements above `ack`.
pub(super) fn later(segment: &Segment, ack: u64, wire: TcpOnWire) -> Vec<u8> {
    let mut bytes = Vec::new();
    if wire.timestamps {
        bytes.extend([1, 1]);
        bytes.extend(timestamps(segment));
    }
    let blocks: Vec<_> = segment.sacked().filter(|(from, to)| from < to && *from >= ack).collect();
    if !blocks.is_empty() {
        bytes.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for (from, to) in blocks {
            bytes.extend((from.wrapping_add(1) as u32).to_be_bytes());
            bytes.extend((to.wrapping_add(1) as u32).to_be_bytes());
        }
    }
    bytes
}

/// Timestamps in microseconds, without padding.
fn timestamps(segment: &Segment) -> Vec<u8> {
    let micros = |time: Time| (time.0 / 1_000_000) as u32;
    // In payload packets, the echo field has another meaning.
    let echo = if segment.flags.has(Flags::ACK) { micros(segment.echo) } else { 0 };
    [&[8, 10][..], &micros(segment.sent).to_be_bytes(), &echo.to_be_bytes()].concat()
}

/// The shift with which the largest window fits into its field; a window without limit takes the largest.
fn shift(wire: TcpOnWire) -> u8 {
    let most = wire.receive_window.unwrap_or(u64::MAX);
    (0..LARGEST_SHIFT).find(|shift| most >> shift <= u64::from(u16::MAX)).unwrap_or(LARGEST_SHIFT)
}

/// The window field of a segment that advertises `own` bytes or, if absent, the largest window. In segments that open
/// a connection it is not shifted (RFC 7323, section 2.2).
pub(super) fn window(wire: TcpOnWire, own: Option<u64>, syn: bool) -> u16 {
    let shift = if syn { 0 } else { shift(wire) };
    (own.or(wire.receive_window).unwrap_or(u64::MAX) >> shift).min(u64::from(u16::MAX)) as u16
}
