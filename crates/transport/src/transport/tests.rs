//! Sizes on the wire.

use super::*;
use crate::protocols::{dctcp::TcpDctcpSettings, newreno::TcpNewRenoSettings, udp::UdpSettings};
use crate::segment::BlockCount;
use crate::settings::{EcnUse, Tcp};
use crate::tcp::{ConnectionMarking, TcpStack};

fn stack_of(transport: &Transport) -> &TcpStack {
    let AnyStack::Tcp(stack) = &transport.stack else { panic!("it is one over TCP") };
    stack
}

fn tcp(change: impl FnOnce(&mut Tcp)) -> Transport {
    let mut settings = TcpNewRenoSettings::default();
    change(&mut settings.tcp);
    Transport::new(&TransportSettings::NewReno(settings))
}

#[test]
fn a_full_packet_is_1538_bytes_on_the_wire() {
    let plain = tcp(|_| {});
    assert_eq!((plain.mss(), plain.overhead_wire(), plain.full_wire()), (1460, 78, 1538));
    let stamped = tcp(|tcp| tcp.timestamps = true);
    assert_eq!((stamped.mss(), stamped.full_wire()), (1448, 1538));
}

#[test]
fn small_packets_are_padded_and_blocks_cost_words() {
    let plain = tcp(|_| {});
    let plain = stack_of(&plain);
    assert_eq!((plain.data_wire(1), plain.ack_wire(BlockCount::Zero)), (84, 84));
    assert_eq!((plain.ack_wire(BlockCount::One), plain.ack_wire(BlockCount::Three)), (90, 106));
    assert_eq!(plain.syn_wire(), 90);
}

#[test]
fn packetisation_covers_every_byte_once() {
    let plain = tcp(|_| {});
    for size in [1, 1459, 1460, 1461, 2920, 1_000_000] {
        let packets = plain.packetisation(Bytes(size));
        let payload = (packets.count - 1) * 1460;
        let last = size - payload;
        assert!((1..=1460).contains(&last));
        assert_eq!(packets.last_wire, Bytes((last + 78).max(84)));
        assert_eq!(packets.handshake, Some((Bytes(90), Bytes(90))));
    }
    assert_eq!(tcp(|tcp| tcp.handshake = false).packetisation(Bytes(1)).handshake, None);
}

#[test]
fn datagrams_have_their_own_header() {
    let udp = Transport::new(&TransportSettings::Udp(UdpSettings::default()));
    assert_eq!((udp.mss(), udp.full_wire()), (1472, 1538));
    let packets = udp.packetisation(Bytes(1473));
    assert_eq!((packets.count, packets.last_wire, packets.handshake), (2, Bytes(84), None));
    assert_eq!(tcp(|_| {}).datagrams(Bytes(1473)), packets);
}

#[test]
fn the_law_decides_whether_marks_are_accurate() {
    assert_eq!(stack_of(&tcp(|tcp| tcp.ecn = EcnUse::On)).marking, ConnectionMarking::Classic);
    let dctcp = Transport::new(&TransportSettings::Dctcp(TcpDctcpSettings::default()));
    assert_eq!(stack_of(&dctcp).marking, ConnectionMarking::Accurate);
}

#[test]
fn hosts_ask_and_agree_as_their_setting_or_their_law_says() {
    let consents = |transport: &Transport| [true, false].map(|opens| transport.consents_to_ecn(opens));
    let classic = |ecn| consents(&tcp(|tcp| tcp.ecn = ecn));
    assert_eq!(
        [EcnUse::Off, EcnUse::Accept, EcnUse::On].map(classic),
        [[false, false], [false, true], [true, true]]
    );
    let mut dctcp = TcpDctcpSettings::default();
    dctcp.tcp.ecn = EcnUse::Off;
    assert_eq!(
        consents(&Transport::new(&TransportSettings::Dctcp(dctcp))),
        [true, true],
        "whatever the setting"
    );
}

#[test]
fn no_settings_make_it_panic() {
    for bytes in [0, 1, 39, 40, 41, 65_536, u64::MAX] {
        let odd = tcp(|tcp| {
            tcp.mtu = Bytes(bytes);
            tcp.framing = Bytes(bytes);
            tcp.header = Bytes(bytes.min(1 << 40));
            tcp.receive_window = Some(Bytes(bytes));
            tcp.initial_window = weft_core::settings::Amount::Packets(bytes);
            tcp.slow_start_limit = Some(bytes as u32);
        });
        let own = stack_of(&odd);
        assert!(
            odd.mss() >= 1 && own.initial_window() >= odd.mss() && u64::from(odd.full_wire()) >= odd.mss()
        );
        own.law();
    }
}
