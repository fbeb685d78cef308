//! Real headers of a simulated packet: Ethernet, IPv4, and TCP, UDP or RoCEv2. Payload is zeros and left out, as in a
//! capture with a short snap length; lengths and checksums are those of the whole packet. Frames of RoCEv2 are whole,
//! because their checksum is at the end.
//!
//! The simulator counts payload bytes from 0 and gives SYN no sequence number; here the initial sequence numbers are
//! 0, so that payload begins at 1.

use std::net::Ipv4Addr;

use weft_core::segment::{Flags, Segment};
use weft_core::trace::TracedPacket;
use weft_core::{Ecn, HOP_LIMIT, HostId};
use weft_packet::checksum::Sum;
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Mac, protocol};

use crate::{TcpOnWire, WireProtocol};

mod infiniband;
mod options;

/// A captured frame.
pub(crate) struct FrameBytes {
    /// Its first bytes.
    pub(crate) bytes: Vec<u8>,
    /// Length of the whole frame in bytes, without preamble, frame check sequence and interframe gap.
    pub(crate) length: u32,
}

/// The properties of a flow that its frames need.
#[derive(Clone, Copy)]
pub(crate) struct FlowOnWire {
    pub(crate) protocol: WireProtocol,
    /// Payload of the whole flow.
    pub(crate) size: u64,
    /// Payload of a full packet, which packet sequence numbers count.
    pub(crate) mss: u64,
    /// Whether the sender has received the receiver's FIN.
    pub(crate) closed: bool,
}

/// The frame of a packet.
pub(crate) fn frame(flow: &FlowOnWire, packet: &TracedPacket, marked: bool) -> FrameBytes {
    // Nothing answers a datagram: in an answer, the bit belongs to TLT.
    let segment = packet.segment.filter(|own| !packet.forward || !own.flags.has(Flags::DATAGRAM));
    let (above, payload) = match (flow.protocol, segment) {
        (WireProtocol::Tcp(wire), Some(segment)) => tcp(flow, packet, (&segment, wire)),
        (WireProtocol::Roce, Some(segment)) => {
            (udp(packet, Some(infiniband::PORT), &infiniband::packet(flow, packet, &segment)), 0)
        }
        _ => udp_alone(packet),
    };
    let is_tcp = matches!(flow.protocol, WireProtocol::Tcp(_)) && segment.is_some();
    let is_roce = flow.protocol == WireProtocol::Roce && segment.is_some();
    let checked = if is_roce { infiniband::CHECK } else { 0 };
    let number = if is_tcp { protocol::TCP } else { protocol::UDP };
    let (source, destination) = (address(packet.header.source), address(packet.header.destination));
    let ecn = match packet.header.marks.ecn {
        _ if marked => 3,
        Ecn::NotCapable => 0,
        _ => 2,
    };
    let ip = Ipv4Header {
        protocol: number,
        traffic_class: packet.header.class.0 << 5 | ecn,
        dont_fragment: true,
        ttl: HOP_LIMIT.saturating_sub(packet.header.hops),
        payload: (above.len() as u64 + payload + checked).min(65_515) as u16,
        ..Ipv4Header::between(source, destination)
    };
    let ethernet = EthernetHeader {
        destination: mac(packet.header.destination),
        source: mac(packet.header.source),
        kind: EtherType::IPV4,
    };
    let ip = ip.to_bytes();
    let check = if is_roce { infiniband::invariant_check(&ip, &above).to_vec() } else { Vec::new() };
    let bytes = [ethernet.to_bytes().as_slice(), &ip, &above, &check].concat();
    let length = bytes.len() as u32 + payload as u32;
    FrameBytes { bytes, length }
}

/// 10.x.y.z, the address that the simulator's hash functions see.
fn address(host: HostId) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0000 | host.0)
}

/// A locally administered address.
fn mac(host: HostId) -> Mac {
    let [a, b, c, d] = host.0.to_be_bytes();
    Mac([0x02, 0, a, b, c, d])
}

fn ports(packet: &TracedPacket) -> (u16, u16) {
    ((packet.header.ports >> 16) as u16, packet.header.ports as u16)
}

/// A TCP header with its options, and the payload after it.
fn tcp(flow: &FlowOnWire, packet: &TracedPacket, (segment, wire): (&Segment, TcpOnWire)) -> (Vec<u8>, u64) {
    let flags = segment.flags;
    let (syn, fin) = (flags.has(Flags::SYN), flags.has(Flags::FIN));
    let opens = syn && !flags.has(Flags::ACK);
    let everything = segment.ack == Segment::EVERYTHING;
    let ack = if everything { flow.size } else { segment.ack };
    // SYN and FIN also take sequence numbers: the receiver's FIN acknowledges the sender's, and the last
    // acknowledgement of the sender follows its own and acknowledges the receiver's.
    let (sequence, acknowledged) = match (packet.forward, syn) {
        (true, true) => (0, u64::from(!opens)),
        (false, true) => (0, ack + 1),
        (true, false) if flow.closed && packet.payload == 0 => (flow.size + 2, 2),
        (true, false) => (segment.sequence + 1, ack + 1),
        (false, false) => (1, ack + 1 + u64::from(fin)),
    };
    let options =
        if syn { options::opening(flow, segment, wire) } else { options::later(segment, ack, wire) };
    let (source, destination) = ports(packet);
    // Payload reports no marks, since nothing flows back, and acknowledgements no reductions: there, TLT uses the bits.
    let flags = match (packet.payload > 0, packet.forward || syn) {
        (true, _) => flags.without(Flags::ECE),
        (false, false) => flags.without(Flags::CWR),
        (false, true) => flags,
    };
    let mut bits = 0u8;
    for (flag, bit) in [(Flags::FIN, 1), (Flags::SYN, 2), (Flags::ECE, 0x40), (Flags::CWR, 0x80)] {
        bits |= if flags.has(flag) { bit } else { 0 };
    }
    bits |= if opens { 0 } else { 0x10 };
    let mut bytes = Vec::with_capacity(60);
    bytes.extend(source.to_be_bytes());
    bytes.extend(destination.to_be_bytes());
    bytes.extend((sequence as u32).to_be_bytes());
    bytes.extend((acknowledged as u32).to_be_bytes());
    bytes.extend([(5 + options.len() as u8 / 4) << 4, bits]);
    let own = if packet.forward || syn { None } else { Some(segment.sequence).filter(|window| *window > 0) };
    bytes.extend(options::window(wire, own, syn).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(options);
    let length = bytes.len() + packet.payload as usize;
    let ends = (address(packet.header.source), address(packet.header.destination));
    let sum = Sum::default().bytes(&bytes).pseudo_v4(ends, protocol::TCP, length).checksum();
    bytes[16..18].copy_from_slice(&sum.to_be_bytes());
    (bytes, packet.payload)
}

/// A UDP header and what follows it, without a checksum (RFC 768). The length includes the invariant check of RoCEv2,
/// which is added later.
fn udp(packet: &TracedPacket, to: Option<u16>, above: &[u8]) -> Vec<u8> {
    let (source, destination) = ports(packet);
    let checked = if to.is_some() { infiniband::CHECK } else { 0 };
    let length = (8 + above.len() as u64 + checked).min(65_515) as u16;
    let mut bytes = Vec::with_capacity(8 + above.len());
    bytes.extend(source.to_be_bytes());
    bytes.extend(to.unwrap_or(destination).to_be_bytes());
    bytes.extend(length.to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(above);
    bytes
}

/// The UDP header of a transport without a standard format, and the payload after it.
fn udp_alone(packet: &TracedPacket) -> (Vec<u8>, u64) {
    let mut bytes = udp(packet, None, &[]);
    let length = (8 + packet.payload).min(65_515) as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    (bytes, packet.payload)
}

#[cfg(test)]
mod tests {
    use super::infiniband::opcode;
    use super::*;
    use weft_core::segment::{Block, BlockCount, ports as ports_of};
    use weft_core::{FlowId, Header, PacketKind, Time};
    use weft_packet::{EthernetFrame, Ipv4Packet};

    const AGREED: TcpOnWire = TcpOnWire { timestamps: true, sack: true, receive_window: None };

    const FLOW: FlowOnWire =
        FlowOnWire { protocol: WireProtocol::Tcp(AGREED), size: 10_000, mss: 1_000, closed: false };

    fn packet(segment: Segment, forward: bool) -> TracedPacket {
        let header = Header {
            source: HostId(1),
            destination: HostId(300),
            ports: ports_of(FlowId(7)),
            kind: if forward { PacketKind::Data } else { PacketKind::Ack },
            ..Header::default()
        };
        TracedPacket { header, forward, payload: u64::from(segment.length), segment: Some(segment) }
    }

    /// Headers parse, lengths are those of the whole packet, and the checksum over payload of zeros is right.
    #[test]
    fn a_data_packet_is_a_valid_tcp_segment() {
        let segment = Segment { sequence: 2_000, length: 1_000, ..Segment::default() };
        let frame = frame(&FLOW, &packet(segment, true), true);
        assert_eq!(u64::from(frame.length), frame.bytes.len() as u64 + 1_000);
        let mut whole = frame.bytes.clone();
        whole.resize(frame.length as usize, 0);
        let ethernet = EthernetFrame::parse(&whole).unwrap();
        let ip = Ipv4Packet::parse(ethernet.payload).unwrap();
        assert_eq!((ip.destination, ip.traffic_class & 3), (Ipv4Addr::new(10, 0, 1, 44), 3));
        assert_eq!(ip.ttl, 64);
        assert_eq!(u32::from_be_bytes(ip.payload[4..8].try_into().unwrap()), 2_001);
        let sum =
            Sum::default().bytes(ip.payload).pseudo_v4((ip.source, ip.destination), 6, ip.payload.len());
        assert_eq!(sum.checksum(), 0);
    }

    #[test]
    fn an_acknowledgement_names_the_next_byte_and_the_blocks_beyond() {
        let block = Block { offset: 1_000, length: 500 };
        let segment = Segment {
            ack: 3_000,
            flags: Flags::ACK,
            blocks_used: BlockCount::One,
            blocks: [block; 3],
            ..Segment::default()
        };
        let bytes = frame(&FLOW, &packet(segment, false), false).bytes;
        let tcp = &bytes[34..];
        let word = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
        assert_eq!((word(8), tcp[13]), (3_001, 0x10));
        assert_eq!((&tcp[32..36], word(36), word(40)), (&[1, 1, 5, 10][..], 4_001, 4_501));
    }

    /// The echo of a forced packet is a plain acknowledgement, and the forced packet a plain segment.
    #[test]
    fn what_tlt_says_is_not_in_a_capture() {
        let all = Flags::ECE.with(Flags::CWR);
        let bits = |segment, forward| frame(&FLOW, &packet(segment, forward), false).bytes[34 + 13];
        let flags = all.with(Flags::ACK).with(Flags::DATAGRAM);
        assert_eq!(bits(Segment { ack: 3_000, flags, ..Segment::default() }, false), 0x50, "ACK ECE");
        assert_eq!(bits(Segment { length: 1_000, flags: all, ..Segment::default() }, true), 0x90, "ACK CWR");
        assert_eq!(
            bits(Segment { flags: all.with(Flags::SYN), ..Segment::default() }, true),
            0xc2,
            "SYN ECE CWR"
        );
    }

    /// Sequence numbers start again at zero after 4 GiB (RFC 9293, section 3.4), also between the ends of a block.
    #[test]
    fn sequence_numbers_wrap() {
        let segment = Segment {
            ack: 4_294_966_295,
            flags: Flags::ACK,
            blocks_used: BlockCount::One,
            blocks: [Block { offset: 1_000, length: 500 }; 3],
            ..Segment::default()
        };
        let bytes = frame(&FLOW, &packet(segment, false), false).bytes;
        let word = |at: usize| u32::from_be_bytes(bytes[34 + at..38 + at].try_into().unwrap());
        assert_eq!((word(8), word(36), word(40)), (4_294_966_296, 0, 500));
    }

    /// The option is in the header only if the packets carry it: a full packet is as long as the MTU.
    #[test]
    fn packets_without_timestamps_are_as_long_as_in_the_simulation() {
        let segment = Segment { sequence: 0, length: 1_460, ..Segment::default() };
        let length = |timestamps| {
            let protocol = WireProtocol::Tcp(TcpOnWire { timestamps, ..AGREED });
            let flow = FlowOnWire { protocol, ..FLOW };
            frame(&flow, &packet(segment, true), false).length
        };
        assert_eq!((length(false), length(true)), (14 + 1_500, 14 + 1_512));
    }

    #[test]
    fn both_fins_are_acknowledged() {
        let protocol = WireProtocol::Tcp(TcpOnWire { timestamps: false, ..AGREED });
        let plain = FlowOnWire { protocol, ..FLOW };
        let numbers = |flow: FlowOnWire, segment: Segment, forward| {
            let bytes = frame(&flow, &packet(segment, forward), false).bytes;
            let word = |at: usize| u32::from_be_bytes(bytes[34 + at..38 + at].try_into().unwrap());
            (word(4), word(8))
        };
        let reply = Segment { ack: 10_000, flags: Flags::ACK.with(Flags::FIN), ..Segment::default() };
        assert_eq!(numbers(plain, reply, false), (1, 10_002));
        let last = Segment { flags: Flags::ACK, ..Segment::default() };
        assert_eq!(numbers(FlowOnWire { closed: true, ..plain }, last, true), (10_002, 2));
    }

    /// What a connection agrees on is in the segments that open it, and nowhere else.
    #[test]
    fn segments_that_open_a_connection_carry_its_options() {
        let opening = |wire: TcpOnWire, flags: Flags| {
            let flow = FlowOnWire { protocol: WireProtocol::Tcp(wire), ..FLOW };
            let segment = Segment { flags, sent: Time(7_000_000), ..Segment::default() };
            frame(&flow, &packet(segment, !flags.has(Flags::ACK)), false).bytes[34..].to_vec()
        };
        let full = opening(AGREED, Flags::SYN);
        assert_eq!((full[12] >> 4, full.len()), (10, 40), "a header of ten words");
        assert_eq!(full[20..26], [2, 4, 0x3, 0xf4, 4, 2], "1012 bytes with timestamps are 1000 of payload");
        assert_eq!(full[26..36], [8, 10, 0, 0, 0, 7, 0, 0, 0, 0]);
        assert_eq!(full[36..40], [1, 3, 3, 14], "no limit: the largest shift");
        let plain = TcpOnWire { timestamps: false, sack: false, receive_window: Some(262_144) };
        let answer = opening(plain, Flags::SYN.with(Flags::ACK));
        assert_eq!(answer[20..32], [2, 4, 0x3, 0xe8, 1, 1, 1, 1, 1, 3, 3, 3]);
        assert_eq!(answer[14..16], [0xff, 0xff], "not shifted");
        let later = opening(plain, Flags::ACK);
        assert_eq!((later.len(), &later[14..16]), (20, &[0x80, 0][..]), "262144 bytes, shifted by 3");
    }

    /// Frames of RoCEv2 are whole: headers, payload in whole words, and the check, all of which the lengths count.
    #[test]
    fn frames_of_queue_pairs_end_with_their_check() {
        let roce = FlowOnWire { protocol: WireProtocol::Roce, size: 9_999, ..FLOW };
        let data = Segment { sequence: 9_000, length: 999, ..Segment::default() };
        let frame = frame(&roce, &packet(data, true), false);
        assert_eq!(frame.bytes.len(), 14 + 20 + 8 + 12 + 1_000 + 4);
        assert_eq!(frame.length as usize, frame.bytes.len());
        let word = |at: usize| u16::from_be_bytes([frame.bytes[at], frame.bytes[at + 1]]);
        assert_eq!((word(16), word(38)), (1_044, 1_024), "of IP and of UDP");
        assert_eq!(frame.bytes[43] >> 4 & 3, 1, "one byte of padding");
        let (covered, check) = frame.bytes.split_at(frame.bytes.len() - 4);
        assert_eq!(infiniband::invariant_check(&covered[14..34], &covered[34..]), check);
    }

    #[test]
    fn queue_pairs_count_packets() {
        let roce = FlowOnWire { protocol: WireProtocol::Roce, ..FLOW };
        let data = Segment { sequence: 9_000, length: 1_000, ..Segment::default() };
        let bytes = frame(&roce, &packet(data, true), false).bytes;
        assert_eq!(u16::from_be_bytes(bytes[36..38].try_into().unwrap()), infiniband::PORT);
        assert_eq!((bytes[42], &bytes[51..54]), (opcode::LAST, &[0, 0, 9][..]));
        let answer = Segment { ack: 5_000, flags: Flags::ACK, ..Segment::default() };
        let bytes = frame(&roce, &packet(answer, false), false).bytes;
        assert_eq!((bytes[42], &bytes[51..54]), (opcode::ACK, &[0, 0, 4][..]));
    }
}
