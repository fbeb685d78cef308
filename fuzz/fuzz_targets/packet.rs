//! Any bytes as a frame and as each kind of packet: never a panic, and every answer can be parsed.
//!
//! Run with `cargo +nightly fuzz run packet`. Property tests of the packet crate do the same on a small scale.

#![no_main]

use libfuzzer_sys::fuzz_target;
use weft_packet::icmp::{error_v4, error_v6, is_silent_v4, is_silent_v6};
use weft_packet::{
    ArpMessage, EchoRequest, EtherType, EthernetFrame, IcmpError, Ipv4Packet, Ipv6Packet, NeighbourMessage,
    ipv4, ipv6, ports,
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = EthernetFrame::parse(bytes) else { return };
    match frame.kind {
        EtherType::ARP => {
            if let Ok(message) = ArpMessage::parse(frame.payload) {
                assert_eq!(ArpMessage::parse(&message.to_bytes()), Ok(message));
            }
        }
        EtherType::IPV4 => v4(frame.payload),
        EtherType::IPV6 => v6(frame.payload),
        _ => {}
    }
});

fn v4(bytes: &[u8]) {
    let Ok(packet) = Ipv4Packet::parse(bytes) else {
        return assert_eq!(ipv4::forwardable(bytes), None);
    };
    let _ = (ports::of_v4(&packet), is_silent_v4(&packet));
    if let Some(echo) = EchoRequest::in_v4(&packet) {
        assert!(Ipv4Packet::parse(&echo.answer_v4(&packet)).is_ok());
    }
    let error = error_v4(IcmpError::TimeExceeded, packet.destination, packet.source, bytes);
    assert!(Ipv4Packet::parse(&error).is_ok());
    for part in weft_packet::fragment::fragments(bytes, 68).unwrap_or_default() {
        assert!(part.len() <= 68 && Ipv4Packet::parse(&part).is_ok());
    }
    let mut next = bytes.to_vec();
    if ipv4::decrement_ttl(&mut next) {
        assert_eq!(Ipv4Packet::parse(&next).map(|next| next.ttl + 1), Ok(packet.ttl));
    }
}

fn v6(bytes: &[u8]) {
    let Ok(packet) = Ipv6Packet::parse(bytes) else {
        return assert_eq!(ipv6::forwardable(bytes), None);
    };
    let _ = (ports::of_v6(&packet), NeighbourMessage::parse(&packet));
    let _ = is_silent_v6(&packet, IcmpError::NoRoute);
    if let Some(echo) = EchoRequest::in_v6(&packet) {
        assert!(Ipv6Packet::parse(&echo.answer_v6(&packet)).is_ok());
    }
    let error = error_v6(IcmpError::TimeExceeded, packet.destination, packet.source, bytes);
    assert!(Ipv6Packet::parse(&error).is_ok());
}
