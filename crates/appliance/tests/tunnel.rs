//! Two routers with an IPsec tunnel between them, on captures: packets that one seals the other opens, and nothing
//! else passes.

mod captures;
mod namespace;

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use captures::{FAR, Folder, OWN};
use weft_appliance::RouterReport;
use weft_packet::capture::{enhanced_packet, interface_description, section_header};
use weft_packet::{
    EtherType, EthernetHeader, Ipv4Header, Ipv4Packet, Ipv6Header, Ipv6Packet, UdpDatagram, checksum, ports,
};
use weft_router::DropCause;

/// Cipher, key (with its salt), key of the check value.
const CIPHERS: [(&str, &str, &str); 3] = [
    ("aes-128-gcm", "4c80cdefbb5d10da906ac73c3613a6342e443b68", ""),
    ("aes-256-gcm", "abbccddef00112233445566778899aababbccddef00112233445566778899aab11223344", ""),
    ("aes-128-cbc-hmac-sha1", "90d382b410eeba7ad938c46cec1a82bf", "000102030405060708090a0b0c0d0e0f10111213"),
];

fn keys(folder: &Folder, name: &str, (cipher, key, integrity): (&str, &str, &str), [out, back]: [u32; 2]) {
    let section = |name: &str, spi: u32| {
        let second =
            if integrity.is_empty() { String::new() } else { format!("integrity = \"{integrity}\"\n") };
        // Each direction has a key of its own, known by its index.
        let key = if spi == 0x1002 { format!("0f{}", &key[2..]) } else { key.to_owned() };
        format!("[{name}]\nspi = \"{spi}\"\ncipher = \"{cipher}\"\nkey = \"{key}\"\n{second}")
    };
    folder.write(name, section("out", out) + &section("in", back));
    std::fs::set_permissions(folder.0.join(name), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// The left router protects 10.2.0.0/16 and 2001:db8:2::/48 behind the right one; between them is 192.0.2.0/24.
fn left() -> String {
    format!(
        r#"
[[port]]
name = "left"
device = "capture"
read = "in.pcapng"
write = "left.pcapng"
mac = "{OWN}"
addresses = ["10.1.0.1/24", "2001:db8:1::1/64"]
[[port]]
name = "right"
device = "capture"
write = "right.pcapng"
mac = "{OWN}"
addresses = ["192.0.2.1/24"]
[[neighbour]]
address = "192.0.2.2"
station = "{OWN}"
[[neighbour]]
address = "10.1.0.2"
station = "{FAR}"
[[tunnel]]
name = "hq"
local = "192.0.2.1"
remote = "192.0.2.2"
keys = "left.keys"
[[route]]
prefix = "10.2.0.0/16"
tunnel = "hq"
[[route]]
prefix = "2001:db8:2::/48"
tunnel = "hq"
"#
    )
}

fn right() -> String {
    format!(
        r#"
[[port]]
name = "left"
device = "capture"
read = "between.pcapng"
write = "left.pcapng"
mac = "{OWN}"
addresses = ["192.0.2.2/24"]
[[port]]
name = "right"
device = "capture"
write = "right.pcapng"
mac = "{OWN}"
addresses = ["10.2.0.1/24", "2001:db8:2::1/64"]
[[neighbour]]
address = "10.2.0.9"
station = "{FAR}"
[[neighbour]]
address = "2001:db8:2::9"
station = "{FAR}"
[[tunnel]]
name = "branch"
local = "192.0.2.2"
remote = "192.0.2.1"
keys = "right.keys"
[[route]]
prefix = "10.1.0.0/16"
tunnel = "branch"
[[route]]
prefix = "2001:db8:1::/48"
tunnel = "branch"
"#
    )
}

fn capture(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = [section_header(), interface_description("in")].concat();
    for (n, packet) in packets.iter().enumerate() {
        let kind = if packet[0] >> 4 == 4 { EtherType::IPV4 } else { EtherType::IPV6 };
        let ethernet = EthernetHeader { destination: OWN, source: FAR, kind };
        file.extend(enhanced_packet(0, 1000 * n as u64, &[&ethernet.to_bytes()[..], packet].concat()));
    }
    file
}

fn v4(from: [u8; 4], traffic_class: u8, data: &[u8]) -> Vec<u8> {
    let ip = Ipv4Header { traffic_class, ..Ipv4Header::between(from.into(), [10, 2, 0, 9].into()) };
    ports::udp_v4(ip, (7, 9), data)
}

fn v6(data: &[u8]) -> Vec<u8> {
    let ends = ["2001:db8:1::2", "2001:db8:2::9"].map(|text| text.parse().unwrap());
    ports::udp_v6(Ipv6Header::between(ends[0], ends[1]), (7, 9), data)
}

fn packets(folder: &Folder, name: &str) -> Vec<Vec<u8>> {
    folder.frames(name).into_iter().map(|(_, frame)| frame[14..].to_vec()).collect()
}

/// A router whose tunnel has these settings as well.
fn with(more: &str, router: String) -> String {
    router.replace("keys = ", &format!("{more}\nkeys = "))
}

const IN_UDP: &str = "encapsulation = \"udp\"";

/// Sends packets through both routers; `between` may change what travels between them. Returns the report of each.
fn through(
    folder: &Folder,
    [left, right]: [String; 2],
    sent: &[Vec<u8>],
    between: impl FnOnce(Vec<Vec<u8>>) -> Vec<Vec<u8>>,
) -> [RouterReport; 2] {
    folder.write("in.pcapng", capture(sent));
    let first = folder.run(&left);
    folder.write("between.pcapng", capture(&between(packets(folder, "right.pcapng"))));
    [first, folder.run(&right)]
}

#[test]
fn what_one_router_seals_the_other_opens() {
    for cipher in CIPHERS {
        let seals = |packet: &Ipv4Packet<'_>| {
            assert_eq!((packet.protocol, packet.source, packet.ttl), (50, [192, 0, 2, 1].into(), 64));
        };
        opens_what_the_other_seals(cipher, [left(), right()], seals);
    }
}

/// The other router has another port.
#[test]
fn what_one_router_seals_in_udp_the_other_opens() {
    let left = with(&format!("{IN_UDP}\nlocal_port = 4501"), left());
    let right = with(&format!("{IN_UDP}\nremote_port = 4501"), right());
    for cipher in CIPHERS {
        let seals = |packet: &Ipv4Packet<'_>| {
            let datagram = UdpDatagram::parse(packet.payload).unwrap();
            assert_eq!((packet.protocol, packet.dont_fragment), (17, true));
            assert_eq!((datagram.source, datagram.destination), (4501, 4500));
            assert_eq!(packet.payload[6..8], [0, 0], "no checksum");
        };
        opens_what_the_other_seals(cipher, [left.clone(), right.clone()], seals);
    }
}

fn opens_what_the_other_seals(
    cipher: (&str, &str, &str),
    routers: [String; 2],
    seals: impl Fn(&Ipv4Packet<'_>),
) {
    let folder = Folder::new(&format!("{}-{}", cipher.0, routers[0].contains(IN_UDP)));
    keys(&folder, "left.keys", cipher, [0x1001, 0x1002]);
    keys(&folder, "right.keys", cipher, [0x1002, 0x1001]);
    let sent: Vec<Vec<u8>> = (0..40)
        .flat_map(|n| [v4([10, 1, 0, 2], 0x2a, &vec![n; usize::from(n) * 30]), v6(&[n; 100])])
        .collect();
    let [first, second] = through(&folder, routers, &sent, |sealed| {
        sealed.iter().for_each(|packet| seals(&Ipv4Packet::parse(packet).unwrap()));
        sealed
    });
    assert_eq!((first.counters.sent, second.counters.sent), (80, 80), "{first}{second}");
    assert_eq!((first.counters.sealed, second.counters.opened), (80, 80), "{first}{second}");
    for (sent, received) in sent.iter().zip(packets(&folder, "right.pcapng")) {
        // Two routers, two hops; everything else is as it was.
        let mut expected = sent.clone();
        for _ in 0..2 {
            let _ = weft_packet::ipv4::decrement_ttl(&mut expected);
        }
        match sent[0] >> 4 {
            4 => assert_eq!(received, expected),
            _ => assert_eq!(Ipv6Packet::parse(&received).unwrap().hop_limit, 62),
        }
    }
}

/// Between the routers is IPv6, whose datagrams have checksums.
#[test]
fn udp_on_ipv6_carries_a_tunnel() {
    let folder = Folder::new("udp6");
    keys(&folder, "left.keys", CIPHERS[0], [0x1001, 0x1002]);
    keys(&folder, "right.keys", CIPHERS[0], [0x1002, 0x1001]);
    let routers = [left(), right()].map(|router| {
        let router = router.replace("192.0.2.1/24", "192.0.2.1/64").replace("192.0.2.2/24", "192.0.2.2/64");
        with(IN_UDP, router.replace("192.0.2.", "2001:db8::"))
    });
    let sent = [v4([10, 1, 0, 2], 0, b"odd"), v4([10, 1, 0, 2], 0, b"even")];
    let [first, second] = through(&folder, routers, &sent, |sealed| {
        for packet in sealed.iter().map(|packet| Ipv6Packet::parse(packet).unwrap()) {
            let pseudo = checksum::Sum::default();
            let pseudo = pseudo.pseudo_v6((packet.source, packet.destination), 17, packet.payload.len());
            assert_eq!((packet.next, pseudo.bytes(packet.payload).checksum()), (17, 0));
        }
        sealed
    });
    assert_eq!((first.counters.sent, second.counters.sent), (2, 2), "{first}{second}");
}

/// Other packets that arrive at a tunnel's UDP port, and near it.
#[test]
fn keepalives_ike_and_wrong_ports_are_counted() {
    let folder = Folder::new("keepalive");
    keys(&folder, "left.keys", CIPHERS[0], [0x1001, 0x1002]);
    keys(&folder, "right.keys", CIPHERS[0], [0x1002, 0x1001]);
    let near = format!("{}[[neighbour]]\naddress = \"192.0.2.1\"\nstation = \"{FAR}\"\n", right());
    let routers = [left(), near].map(|router| with(IN_UDP, router));
    let [_, report] = through(&folder, routers, &[v4([10, 1, 0, 2], 0, b"x")], |sealed| {
        let outer = Ipv4Header::between([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let esp = &sealed[0][28..];
        vec![
            ports::udp_v4(outer, (4500, 4500), &[0xff]),
            ports::udp_v4(outer, (4500, 4500), &[&[0; 4][..], b"a message of IKE"].concat()),
            ports::udp_v4(outer, (62_000, 4500), esp),
            ports::udp_v4(outer, (4500, 4501), esp),
            ports::udp_v4(outer, (4500, 4500), esp),
        ]
    });
    let dropped = [DropCause::NatKeepalive, DropCause::Ike, DropCause::EspPolicy, DropCause::Local]
        .map(|cause| report.counters.dropped(cause));
    // The last is opened and sent on, with or without a checksum. Nobody listens at 4501, as an ICMP error reports.
    assert_eq!((dropped, report.counters.dropped_in_all()), ([1, 1, 1, 1], 4), "{report}");
    let errors = packets(&folder, "left.pcapng");
    assert_eq!(
        (errors.len(), &errors[0][20..22], packets(&folder, "right.pcapng").len()),
        (1, &[3, 3][..], 1)
    );
}

#[test]
fn replays_changes_and_strangers_are_refused_and_counted() {
    let folder = Folder::new("hostile");
    keys(&folder, "left.keys", CIPHERS[0], [0x1001, 0x1002]);
    keys(&folder, "right.keys", CIPHERS[0], [0x1002, 0x1001]);
    // One from a sender that the right router would not answer through the tunnel.
    let sent =
        [v4([10, 1, 0, 2], 0, b"first"), v4([10, 7, 0, 2], 0, b"stranger"), v4([10, 1, 0, 2], 0, b"last")];
    let [_, report] = through(&folder, [left(), right()], &sent, |sealed| {
        let mut changed = sealed[2].clone();
        changed[40] ^= 1;
        let mut unknown = sealed[2].clone();
        unknown[23] = 9;
        let mut elsewhere = sealed[2].clone();
        elsewhere[15] = 77;
        elsewhere[10..12].fill(0);
        let sum = checksum::of(&elsewhere[..20]).to_be_bytes();
        elsewhere[10..12].copy_from_slice(&sum);
        let [first, stranger, last] = [0, 1, 2].map(|n| sealed[n].clone());
        vec![first.clone(), first, stranger, changed, unknown, elsewhere, last]
    });
    let dropped = [DropCause::EspReplay, DropCause::EspPolicy, DropCause::EspInvalid, DropCause::EspUnknown]
        .map(|cause| report.counters.dropped(cause));
    assert_eq!((dropped, report.counters.sent, report.counters.inside()), ([1, 2, 1, 1], 2, 0), "{report}");
}

#[test]
fn congestion_on_the_way_reaches_the_packet_inside() {
    let folder = Folder::new("marks");
    keys(&folder, "left.keys", CIPHERS[2], [0x1001, 0x1002]);
    keys(&folder, "right.keys", CIPHERS[2], [0x1002, 0x1001]);
    let sent = [v4([10, 1, 0, 2], 2, b"capable"), v4([10, 1, 0, 2], 0, b"not")];
    let [_, report] = through(&folder, [left(), right()], &sent, |mut sealed| {
        assert_eq!(sealed[0][1], 2, "the outer packet is capable if the inner one is");
        for packet in &mut sealed {
            packet[1] |= 3;
            packet[10..12].fill(0);
            let sum = checksum::of(&packet[..20]).to_be_bytes();
            packet[10..12].copy_from_slice(&sum);
        }
        sealed
    });
    let received = packets(&folder, "right.pcapng");
    assert_eq!((received.len(), Ipv4Packet::parse(&received[0]).unwrap().traffic_class), (1, 3));
    assert_eq!(
        report.counters.dropped(DropCause::EspPolicy),
        1,
        "a mark that cannot be carried on (RFC 6040)"
    );
}

#[test]
fn the_sender_learns_the_mtu_of_the_tunnel() {
    let folder = Folder::new("mtu");
    keys(&folder, "left.keys", CIPHERS[0], [0x1001, 0x1002]);
    // 1500 bytes also hold 20 of IPv4, 8 of ESP, 8 of the vector, 16 of the check value and 2 of the trailer.
    let whole = |data: &[u8]| {
        let between = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 9].into());
        ports::udp_v4(Ipv4Header { dont_fragment: true, ..between }, (7, 9), data)
    };
    folder.write("in.pcapng", capture(&[whole(&[0; 1446 - 28]), whole(&[0; 1447 - 28])]));
    let report = folder.run(&left());
    let sealed = packets(&folder, "right.pcapng");
    assert_eq!((sealed.len(), sealed[0].len()), (1, 1500), "{report}");
    let errors = packets(&folder, "left.pcapng");
    assert_eq!(
        (errors.len(), &errors[0][20..22], &errors[0][26..28]),
        (1, &[3, 4][..], &1446_u16.to_be_bytes()[..])
    );
    // UDP takes another 8.
    folder.write("in.pcapng", capture(&[whole(&[0; 1438 - 28]), whole(&[0; 1439 - 28])]));
    let report = folder.run(&with(IN_UDP, left()));
    let (sealed, errors) = (packets(&folder, "right.pcapng"), packets(&folder, "left.pcapng"));
    assert_eq!((sealed.len(), sealed[0].len(), errors.len()), (1, 1500, 1), "{report}");
    assert_eq!(errors[0][26..28], 1438_u16.to_be_bytes());
}

/// A packet that may be fragmented is fragmented before it is sealed, so that nobody has to reassemble sealed
/// packets.
#[test]
fn what_does_not_fit_is_fragmented_before_it_is_sealed() {
    let folder = Folder::new("cut");
    keys(&folder, "left.keys", CIPHERS[2], [0x1001, 0x1002]);
    keys(&folder, "right.keys", CIPHERS[2], [0x1002, 0x1001]);
    let [first, second] =
        through(&folder, [left(), right()], &[v4([10, 1, 0, 2], 0, &[5; 1450])], |sealed| sealed);
    let parts = packets(&folder, "right.pcapng");
    let fragments: Vec<_> = parts.iter().map(|part| Ipv4Packet::parse(part).unwrap().fragment).collect();
    assert_eq!(fragments, [(0, true), (1416, false)]);
    assert_eq!((first.counters.inside(), second.counters.inside()), (0, 0), "{first}{second}");
}

/// Wireshark knows ESP independently of us: with the keys it decrypts and checks what a router has sealed.
#[test]
fn wireshark_opens_what_a_router_seals() {
    if Command::new("tshark").arg("--version").output().is_err() {
        return namespace::skip("tshark is not installed");
    }
    for suite in [
        (CIPHERS[0], "AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
        (CIPHERS[1], "AES-GCM with 16 octet ICV [RFC4106]", "NULL"),
        (CIPHERS[2], "AES-CBC [RFC3602]", "HMAC-SHA-1-96 [RFC2404]"),
    ] {
        let said = dissected(&left(), suite);
        assert!(!said.contains("UDP Encapsulation of IPsec Packets"), "{said}");
        let said = dissected(&with(IN_UDP, left()), suite);
        assert!(said.contains("UDP Encapsulation of IPsec Packets"), "{said}");
    }
}

/// Wireshark's result for two packets that a router has sealed, with the cipher and its names for it.
fn dissected(router: &str, (cipher, name, check): ((&str, &str, &str), &str, &str)) -> String {
    let folder = Folder::new(&format!("tshark-{}", cipher.0));
    keys(&folder, "left.keys", cipher, [0x1001, 0x1002]);
    folder.write("in.pcapng", capture(&[v4([10, 1, 0, 2], 0, b"to be seen"), v6(b"to be seen as well")]));
    folder.run(router);
    let association = format!(
        "uat:esp_sa:\"IPv4\",\"192.0.2.1\",\"192.0.2.2\",\"0x00001001\",\"{name}\",\"0x{}\",\"{check}\",\"{}\"",
        cipher.1,
        if cipher.2.is_empty() { String::new() } else { format!("0x{}", cipher.2) }
    );
    let output = Command::new("tshark")
        .args(["-r", folder.0.join("right.pcapng").to_str().unwrap(), "-V"])
        .args(["-o", "esp.enable_encryption_decode:TRUE", "-o", "esp.enable_authentication_check:TRUE"])
        .args(["-o", "udp.check_checksum:TRUE", "-o", &association])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let said = format!("{}: {text}{}", cipher.0, String::from_utf8_lossy(&output.stderr));
    for words in ["Dst: 10.2.0.9", "Dst: 2001:db8:2::9", "User Datagram Protocol, Src Port: 7, Dst Port: 9"] {
        assert!(text.contains(words), "{words}: {said}");
    }
    assert!(!text.contains("Malformed") && !text.contains("[incorrect"), "{said}");
    assert!(text.contains("Good: True") || text.contains("[correct]"), "{said}");
    said
}
