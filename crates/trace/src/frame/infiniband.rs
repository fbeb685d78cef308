//! What RoCEv2 puts into UDP: the transport headers of InfiniBand, payload and the invariant check (InfiniBand
//! Architecture, volume 1, chapters 7 and 9, and annex A17). Must not depend on Ethernet.

use weft_core::PacketKind;
use weft_core::crc32::crc32;
use weft_core::segment::{Flags, Segment};
use weft_core::trace::TracedPacket;

use super::FlowOnWire;

/// UDP port of RoCEv2.
pub(super) const PORT: u16 = 4791;

/// Bytes of the invariant check.
pub(super) const CHECK: u64 = 4;

/// Opcodes of a reliable connection, and that of a congestion notification packet.
pub(super) mod opcode {
    pub(crate) const FIRST: u8 = 0x00;
    pub(crate) const MIDDLE: u8 = 0x01;
    pub(crate) const LAST: u8 = 0x02;
    pub(crate) const ONLY: u8 = 0x04;
    pub(crate) const ACK: u8 = 0x11;
    pub(crate) const NOTIFICATION: u8 = 0x81;
}

/// Backward congestion, in the reserved byte of the base transport header.
const BECN: u8 = 0x40;

/// The headers and the payload, which is zeros, padded to whole words.
pub(super) fn packet(flow: &FlowOnWire, packet: &TracedPacket, segment: &Segment) -> Vec<u8> {
    let padded = packet.payload.next_multiple_of(4);
    let mut bytes = headers(flow, packet, segment);
    bytes[1] |= ((padded - packet.payload) as u8) << 4;
    bytes.resize(bytes.len() + padded as usize, 0);
    bytes
}

/// The base transport header, and the extended header of acknowledgements.
fn headers(flow: &FlowOnWire, packet: &TracedPacket, segment: &Segment) -> Vec<u8> {
    let mss = flow.mss.max(1);
    let negative = segment.flags.has(Flags::SYN);
    let last = segment.end() >= flow.size;
    let acknowledged = if segment.ack == Segment::EVERYTHING { flow.size } else { segment.ack };
    let (code, number) = match packet.header.kind {
        kind if kind.is_payload() => match (segment.sequence == 0, last) {
            (true, true) => (opcode::ONLY, 0),
            (true, false) => (opcode::FIRST, 0),
            (false, false) => (opcode::MIDDLE, segment.sequence / mss),
            (false, true) => (opcode::LAST, segment.sequence / mss),
        },
        PacketKind::Control if segment.flags.has(Flags::ECE) => (opcode::NOTIFICATION, 0),
        // A positive answer names the last packet that arrived, a negative one the first that is missing.
        _ if negative => (opcode::ACK, acknowledged / mss),
        _ => (opcode::ACK, acknowledged.div_ceil(mss).saturating_sub(1)),
    };
    let pair = packet.header.ports & 0xffff;
    let asks = u8::from(last || segment.flags.has(Flags::CWR)) << 7;
    let mut bytes = vec![code, 0x40, 0xff, 0xff, if code == opcode::NOTIFICATION { BECN } else { 0 }];
    bytes.extend(&pair.to_be_bytes()[1..]);
    bytes.push(if packet.forward { asks } else { 0 });
    bytes.extend(&(number as u32).to_be_bytes()[1..]);
    match code {
        // the queue pair carries one message, which is complete with its last byte
        opcode::ACK => {
            bytes.extend([if negative { 0x60 } else { 0x1f }, 0, 0, u8::from(acknowledged >= flow.size)])
        }
        opcode::NOTIFICATION => bytes.extend([0; 16]),
        _ => {}
    }
    bytes
}

/// The invariant check over an IPv4 header and the UDP datagram in it: a CRC that leaves out what switches change, so
/// that those bits count as ones (annex A17.3.3).
pub(super) fn invariant_check(ip: &[u8], udp: &[u8]) -> [u8; 4] {
    /// Type of service, time to live, header checksum.
    const OF_IP: [usize; 4] = [1, 8, 10, 11];
    /// Checksum, and the byte with the congestion bits of the base transport header.
    const OF_UDP: [usize; 3] = [6, 7, 12];
    let masked = |bytes: &[u8], places: &[usize]| {
        let mut bytes = bytes.to_vec();
        for at in places {
            bytes.get_mut(*at).into_iter().for_each(|byte| *byte = 0xff);
        }
        bytes
    };
    // eight bytes of ones stand for the local route header that Ethernet lacks
    let ahead = [0xff; 8];
    let parts = [ahead.to_vec(), masked(ip, &OF_IP), masked(udp, &OF_UDP)];
    crc32(u32::MAX, &parts.concat()).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Switches lower the time to live and set marks.
    #[test]
    fn what_switches_change_leaves_the_check_alone() {
        let (ip, udp) = ([0x45; 20], [0x12; 24]);
        let check = invariant_check(&ip, &udp);
        for at in [1, 8, 10, 11] {
            let mut changed = ip;
            changed[at] ^= 3;
            assert_eq!(invariant_check(&changed, &udp), check, "byte {at} of IP");
        }
        for at in [6, 7, 12] {
            let mut changed = udp;
            changed[at] ^= 0x80;
            assert_eq!(invariant_check(&ip, &changed), check, "byte {at} of UDP");
        }
        let mut other = udp;
        other[23] ^= 1;
        assert_ne!(invariant_check(&ip, &other), check);
    }
}
