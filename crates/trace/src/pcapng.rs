//! A capture of a flow in the pcapng format (draft-ietf-opsawg-pcapng): one interface for the card of each of its two hosts,
//! simulated time in nanoseconds from the start of the run, as if that were 1 January 1970.

use std::io::{self, Write};

use weft_core::record::RunRecord;
use weft_core::segment::Flags;
use weft_core::trace::{FlowTrace, TraceStep, TracedPacket};
use weft_core::{FlowId, Header};

use crate::WireProtocol;
use crate::frame::{FlowOnWire, frame};

/// Types of blocks.
mod block {
    pub(super) const SECTION: u32 = 0x0a0d_0d0a;
    pub(super) const INTERFACE: u32 = 1;
    pub(super) const PACKET: u32 = 6;
}

/// The first bytes of every file: the type of its first block.
pub const SECTION: [u8; 4] = block::SECTION.to_le_bytes();

/// Ethernet.
const LINK_TYPE: u16 = 1;

/// The properties of a flow that its capture needs.
#[derive(Clone, Copy, Debug)]
pub struct CapturedFlow {
    /// The protocol of its packets on a real wire.
    pub protocol: WireProtocol,
    /// Payload of the whole flow, bytes.
    pub size: u64,
    /// Payload of a full packet, bytes.
    pub mss: u64,
}

/// Writes the capture: what the card of each host sent and received, in order of time. Packets that were dropped are in the
/// sender's part only.
///
/// # Errors
/// Those of `file`.
pub fn capture(
    file: &mut impl Write,
    (trace, record): (&FlowTrace, &RunRecord),
    flow: CapturedFlow,
) -> io::Result<()> {
    let CapturedFlow { protocol, size, mss } = flow;
    let mut flow = FlowOnWire { protocol, size, mss, closed: false };
    let ends = ends(trace);
    file.write_all(&section(trace.flow))?;
    ends.iter().try_for_each(|host| file.write_all(&interface(&name(record, *host))))?;
    let mut passed = vec![0; trace.packets.len()];
    for event in &trace.events {
        passed[event.packet as usize] += u8::from(event.step == TraceStep::Left);
        let card = ends.iter().position(|host| *host == event.node);
        let at_card = matches!(event.step, TraceStep::Sent | TraceStep::Received);
        if let Some(card) = card.filter(|_| at_card) {
            let packet = trace.packets[event.packet as usize];
            let payload = packet.payload_at(event);
            let header = Header { hops: passed[event.packet as usize], ..packet.header };
            let frame = frame(&flow, &TracedPacket { payload, header, ..packet }, event.marked);
            file.write_all(&packet_block(card as u32, event.time.0 / 1_000, &frame.bytes, frame.length))?;
            let ends = packet.segment.is_some_and(|segment| segment.flags.has(Flags::FIN));
            flow.closed |= ends && !packet.forward && event.step == TraceStep::Received;
        }
    }
    Ok(())
}

/// The hosts of the flow, its sender first.
fn ends(trace: &FlowTrace) -> Vec<u32> {
    let first = trace.packets.first();
    first.map_or(Vec::new(), |packet| {
        let (a, b) = (packet.header.source.0, packet.header.destination.0);
        if packet.forward { vec![a, b] } else { vec![b, a] }
    })
}

fn name(record: &RunRecord, host: u32) -> String {
    record.nodes.get(host as usize).map_or_else(|| format!("host{host}"), |node| node.name.clone())
}

/// A block: type, length, content padded to words, length again.
fn written(kind: u32, content: &[u8]) -> Vec<u8> {
    let padded = content.len().next_multiple_of(4);
    let length = (12 + padded) as u32;
    let mut bytes = Vec::with_capacity(length as usize);
    bytes.extend(kind.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(content);
    bytes.resize(8 + padded, 0);
    bytes.extend(length.to_le_bytes());
    bytes
}

/// An option: code, length, value padded to words.
fn option(code: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(code.to_le_bytes());
    bytes.extend((value.len() as u16).to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn section(flow: FlowId) -> Vec<u8> {
    let comment = format!("flow {} of a simulation; time is simulated", flow.0);
    let mut content = Vec::new();
    content.extend(0x1a2b_3c4d_u32.to_le_bytes());
    content.extend([1, 0, 0, 0]);
    content.extend([0xff; 8]);
    content.extend(option(1, comment.as_bytes()));
    content.extend(option(4, b"Weft"));
    content.extend(option(0, b""));
    written(block::SECTION, &content)
}

fn interface(name: &str) -> Vec<u8> {
    let mut content = Vec::new();
    content.extend(LINK_TYPE.to_le_bytes());
    content.extend([0, 0]);
    content.extend(0u32.to_le_bytes());
    content.extend(option(2, name.as_bytes()));
    content.extend(option(9, &[9]));
    content.extend(option(0, b""));
    written(block::INTERFACE, &content)
}

fn packet_block(interface: u32, nanoseconds: u64, bytes: &[u8], length: u32) -> Vec<u8> {
    let mut content = Vec::with_capacity(bytes.len() + 20);
    content.extend(interface.to_le_bytes());
    content.extend(((nanoseconds >> 32) as u32).to_le_bytes());
    content.extend((nanoseconds as u32).to_le_bytes());
    content.extend((bytes.len() as u32).to_le_bytes());
    content.extend(length.to_le_bytes());
    content.extend(bytes);
    written(block::PACKET, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_padded_and_end_with_their_length() {
        let block = written(6, &[1, 2, 3, 4, 5]);
        assert_eq!(block.len(), 20);
        assert_eq!((&block[4..8], &block[16..]), (&[20, 0, 0, 0][..], &[20, 0, 0, 0][..]));
        assert_eq!(option(9, &[9]), [9, 0, 1, 0, 9, 0, 0, 0]);
    }
}
