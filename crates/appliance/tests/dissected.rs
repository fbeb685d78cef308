//! What a router says by itself (ARP, neighbour discovery, ICMP) and the fragments that it makes, as Wireshark sees them:
//! no packet malformed, every checksum right, every fragment put together again.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::process::Command;

use weft_packet::arp::{ArpMessage, ArpOperation};
use weft_packet::capture::{enhanced_packet, interface_description, section_header};
use weft_packet::checksum::Sum;
use weft_packet::neighbour::{multicast_mac, solicited_node};
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Ipv6Header, Mac, NeighbourMessage, ports};

mod captures;
#[path = "../../cli/tests/skip/mod.rs"]
mod skipping;

use captures::{Folder, OWN};
use skipping::skip;

/// The host on the left link, and the router there.
const HOST: Mac = Mac([2, 0, 0, 0, 1, 2]);
const HOST_V4: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 2);
const ROUTER_V4: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const HOST_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2);
const ROUTER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1);

/// Two links, the right one narrow, and on it a station that is known.
const ROUTER: &str = r#"
[[port]]
name = "left"
device = "capture"
read = "in.pcapng"
write = "left.pcapng"
mac = "02:00:00:00:00:01"
mtu = "2000 B"
addresses = ["10.1.0.1/24", "2001:db8:1::1/64"]
[[port]]
name = "right"
device = "capture"
write = "right.pcapng"
mac = "02:00:00:00:00:01"
mtu = "1280 B"
addresses = ["10.2.0.1/24", "2001:db8:2::1/64"]
[[neighbour]]
address = "10.2.0.9"
station = "02:00:00:00:00:09"
[[neighbour]]
address = "2001:db8:2::9"
station = "02:00:00:00:00:09"
"#;

fn framed(destination: Mac, kind: EtherType, packet: &[u8]) -> Vec<u8> {
    [&EthernetHeader { destination, source: HOST, kind }.to_bytes()[..], packet].concat()
}

fn v4(ttl: u8, to: [u8; 4], change: impl Fn(&mut Ipv4Header), data: usize) -> Vec<u8> {
    let mut header = Ipv4Header { ttl, ..Ipv4Header::between(HOST_V4, to.into()) };
    change(&mut header);
    framed(OWN, EtherType::IPV4, &ports::udp_v4(header, (4000, 7), &vec![7; data]))
}

fn v6(hop_limit: u8, to: &str, data: usize) -> Vec<u8> {
    let header = Ipv6Header { hop_limit, ..Ipv6Header::between(HOST_V6, to.parse().unwrap()) };
    framed(OWN, EtherType::IPV6, &ports::udp_v6(header, (4000, 7), &vec![7; data]))
}

/// Echo requests for the router.
fn pings() -> [Vec<u8>; 2] {
    let message = |kind: u8, pseudo: fn(Sum, usize) -> Sum| {
        let mut bytes = vec![kind, 0, 0, 0, 0, 1, 0, 1, 1, 2, 3, 4];
        let sum = pseudo(Sum::default(), bytes.len()).bytes(&bytes).checksum();
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    };
    let four = message(8, |sum, _| sum);
    let six = message(128, |sum, length| sum.pseudo_v6((HOST_V6, ROUTER_V6), 58, length));
    let header4 =
        Ipv4Header { protocol: 1, payload: four.len() as u16, ..Ipv4Header::between(HOST_V4, ROUTER_V4) };
    let header6 =
        Ipv6Header { next: 58, payload: six.len() as u16, ..Ipv6Header::between(HOST_V6, ROUTER_V6) };
    [
        framed(OWN, EtherType::IPV4, &[&header4.to_bytes()[..], &four].concat()),
        framed(OWN, EtherType::IPV6, &[&header6.to_bytes()[..], &six].concat()),
    ]
}

/// Frames of the host that draw everything that a router says by itself.
fn arrivals() -> Vec<Vec<u8>> {
    let operation = ArpOperation::Request;
    let question = ArpMessage { operation, sender: (HOST, HOST_V4), target: (Mac::default(), ROUTER_V4) };
    let group = multicast_mac(solicited_node(ROUTER_V6));
    let solicitation = NeighbourMessage::solicit(ROUTER_V6, (HOST, HOST_V6));
    let whole = |header: &mut Ipv4Header| header.dont_fragment = true;
    let in_parts = |header: &mut Ipv4Header| (header.dont_fragment, header.identification) = (false, 77);
    let [ping4, ping6] = pings();
    vec![
        framed(Mac::BROADCAST, EtherType::ARP, &question.to_bytes()),
        framed(group, EtherType::IPV6, &solicitation),
        ping4,
        ping6,
        v4(1, [10, 2, 0, 9], whole, 20),
        v6(1, "2001:db8:2::9", 20),
        v4(64, [192, 0, 2, 1], whole, 20),
        v6(64, "2001:db8:ffff::1", 20),
        v4(64, [10, 2, 0, 9], whole, 1400),
        v6(64, "2001:db8:2::9", 1400),
        v4(64, [10, 2, 0, 9], in_parts, 1900),
        v4(64, [10, 2, 0, 8], whole, 20),
        v6(64, "2001:db8:2::8", 20),
    ]
}

/// What Wireshark says about each packet of a capture: the outer values of these fields.
fn dissected(folder: &Folder, file: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(folder.0.join(file)).args([
        "-T",
        "fields",
        "-E",
        "occurrence=f",
        "-E",
        "separator=;",
    ]);
    for check in ["ip.check_checksum", "udp.check_checksum", "ip.defragment"] {
        command.args(["-o", &format!("{check}:TRUE")]);
    }
    for field in fields {
        command.args(["-e", field]);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect()
}

/// The numbers of a field, in all packets that have it.
fn numbers(rows: &[Vec<String>], field: usize) -> BTreeSet<u32> {
    rows.iter().filter_map(|row| row[field].parse().ok()).collect()
}

#[test]
fn wireshark_understands_all_that_a_router_says_by_itself() {
    if Command::new("tshark").arg("--version").output().is_err() {
        return skip("tshark is not installed");
    }
    let folder = Folder::new("dissected");
    let mut file = [section_header(), interface_description("in")].concat();
    for (n, frame) in (0..).zip(arrivals()) {
        file.extend(enhanced_packet(0, 1_000_000 * n, &frame));
    }
    folder.write("in.pcapng", file);
    let report = folder.run(ROUTER);
    let fields = [
        "arp.opcode",
        "icmp.type",
        "icmp.code",
        "icmpv6.type",
        "ip.flags.mf",
        "ip.reassembled.length",
        "ip.checksum.status",
        "icmp.checksum.status",
        "icmpv6.checksum.status",
        "udp.checksum.status",
    ];
    let [left, right] = ["left.pcapng", "right.pcapng"].map(|file| dissected(&folder, file, &fields));
    let sets = |rows: &[Vec<String>]| [0, 1, 3].map(|field| numbers(rows, field));
    // ARP: 1 asks and 2 replies. ICMP: echo reply, unreachable, time exceeded. ICMPv6: unreachable, packet too big, time exceeded,
    // echo reply, solicitation, advertisement.
    let all = |wanted: &[u32]| wanted.iter().copied().collect::<BTreeSet<u32>>();
    assert_eq!(sets(&left), [all(&[2]), all(&[0, 3, 11]), all(&[1, 2, 3, 129, 136])], "{report}{left:?}");
    assert_eq!(sets(&right), [all(&[1]), all(&[]), all(&[135])], "{report}{right:?}");
    let unreachable = left.iter().filter(|row| row[1] == "3").map(|row| row[2].as_str());
    // No route, no answer, fragmentation needed.
    assert_eq!(unreachable.collect::<BTreeSet<_>>(), ["0", "1", "4"].into(), "{left:?}");
    let whole: Vec<&str> =
        right.iter().map(|row| row[5].as_str()).filter(|length| !length.is_empty()).collect();
    assert_eq!((numbers(&right, 4).contains(&1), whole), (true, vec!["1908"]), "{right:?}");
    // 1 is a good checksum; a field that a packet lacks is empty. That of a datagram which an error quotes cannot be verified (2).
    for row in left.iter().chain(&right) {
        let quotes = row[7] == "1" || row[8] == "1";
        assert!(row[6..9].iter().all(|status| status.is_empty() || status == "1"), "{row:?}");
        assert!(["", "1"].contains(&&*row[9]) || quotes && row[9] == "2", "{row:?}");
    }
    assert!(left.iter().chain(&right).any(|row| row[9] == "1"), "the datagram put together is checked");
    for file in ["left.pcapng", "right.pcapng"] {
        let said = dissected(&folder, file, &["frame.number", "_ws.malformed", "_ws.expert.message"]);
        assert!(said.iter().all(|row| row[1].is_empty()), "{said:?}");
    }
}
