//! Captures through a router: the output is the same bytes in every run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use weft_appliance::file::read_plan;
use weft_appliance::{RouterReport, run};
use weft_packet::capture::{enhanced_packet, interface_description, section_header};
use weft_packet::{EtherType, EthernetFrame, EthernetHeader, Ipv4Header, Ipv4Packet, Mac, ports};
use weft_router::DropCause;

mod captures;

use captures::{FAR, Folder, OWN};

/// Datagrams of 40 flows, one each 10 us, for 10.2.0.9.
fn capture(count: u32, to: [u8; 4]) -> Vec<u8> {
    let mut file = [section_header(), interface_description("in")].concat();
    for n in 0..count {
        let ip = Ipv4Header::between([10, 1, 0, 2].into(), to.into());
        let ethernet = EthernetHeader { destination: OWN, source: FAR, kind: EtherType::IPV4 };
        let datagram = ports::udp_v4(ip, (1_000 + (n * 7 % 40) as u16, 7), &n.to_be_bytes());
        let frame = [&ethernet.to_bytes()[..], &datagram].concat();
        file.extend(enhanced_packet(0, 1_000_000_000 + 10_000 * u64::from(n), &frame));
    }
    file
}

fn router(workers: u16) -> String {
    format!(
        r#"workers = {workers}
[[port]]
name = "left"
device = "capture"
read = "in.pcapng"
write = "left.pcapng"
mac = "{OWN}"
addresses = ["10.1.0.1/24"]
[[port]]
name = "right"
device = "capture"
write = "right.pcapng"
mac = "{OWN}"
mtu = "1500 B"
addresses = ["10.2.0.1/24"]
[[neighbour]]
address = "10.2.0.9"
station = "{FAR}"
"#
    )
}

/// The flow and the number of a datagram.
fn flow_and_number(frame: &[u8]) -> (u16, u32) {
    let packet = Ipv4Packet::parse(EthernetFrame::parse(frame).unwrap().payload).unwrap();
    let (from, _) = ports::of_v4(&packet).unwrap();
    (from, u32::from_be_bytes(*packet.payload[8..].first_chunk().unwrap()))
}

#[test]
fn routed_frames_leave_at_recorded_times_in_order_for_any_number_of_workers() {
    let folder = Folder::new("route");
    folder.write("in.pcapng", capture(500, [10, 2, 0, 9]));
    let report = folder.run(&router(1));
    assert_eq!((report.counters.received, report.counters.sent, report.counters.inside()), (500, 500, 0));
    let one = folder.frames("right.pcapng");
    let times: Vec<u64> = one.iter().map(|(time, _)| *time).collect();
    let expected: Vec<u64> = (0..500).map(|n| 1_000_000_000 + 10_000 * n).collect();
    assert_eq!(times, expected, "a router that only routes holds nothing");
    let bytes = std::fs::read(folder.0.join("right.pcapng")).unwrap();
    folder.run(&router(1));
    assert_eq!(std::fs::read(folder.0.join("right.pcapng")).unwrap(), bytes, "every run");
    folder.run(&router(4));
    let of_flows = |frames: &[(u64, Vec<u8>)]| {
        let mut flows: BTreeMap<u16, Vec<(u64, Vec<u8>)>> = BTreeMap::new();
        for (time, frame) in frames {
            flows.entry(flow_and_number(frame).0).or_default().push((*time, frame.clone()));
        }
        flows
    };
    assert_eq!(of_flows(&folder.frames("right.pcapng")), of_flows(&one), "each flow, byte by byte");
}

#[test]
fn what_a_router_has_to_say_later_is_said_after_the_capture() {
    let folder = Folder::new("silent");
    // Nobody answers for 10.2.0.8: three questions, a second apart; then errors to 10.1.0.2, which does not answer
    // either.
    folder.write("in.pcapng", capture(2, [10, 2, 0, 8]));
    let report = folder.run(&router(1));
    let questions: Vec<u64> =
        folder.frames("right.pcapng").iter().map(|(time, _)| time / 1_000_000_000).collect();
    assert_eq!(questions, [1, 2, 3]);
    assert_eq!(report.counters.inside(), 0, "{report}");
    assert!(folder.frames("left.pcapng").len() >= 3);
}

/// Frames that arrive one nanosecond after the other at the left port of a switch of the scenario `bottleneck`, from a capture.
fn through_a_switch(folder: &Folder, frames: &[Vec<u8>]) -> RouterReport {
    let scenario = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/bottleneck.toml");
    folder.write("s.toml", std::fs::read(scenario).unwrap());
    let mut file = [section_header(), interface_description("in")].concat();
    (0..).zip(frames).for_each(|(n, frame)| file.extend(enhanced_packet(0, n, frame)));
    folder.write("in.pcapng", file);
    let port = |name: &str, to: &str, files: &str| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"capture\"\n{files}\nmac = \"{OWN}\"\nto = \"{to}\"\n"
        )
    };
    folder.run(&format!(
        "application = \"switch\"\nscenario = \"s.toml\"\nswitch = \"switch0\"\n{}{}",
        port("left", "host1", "read = \"in.pcapng\""),
        port("right", "host2", &format!("write = \"right.pcapng\"\nstation = \"{FAR}\""))
    ))
}

#[test]
fn a_switch_paces_frames_at_the_rate_of_its_link() {
    let folder = Folder::new("switch");
    let ip = Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let ethernet = EthernetHeader { destination: OWN, source: FAR, kind: EtherType::IPV4 };
    let frame = [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (1, 2), &[0; 1000])].concat();
    let report = through_a_switch(&folder, &vec![frame; 20]);
    let left: Vec<u64> = folder.frames("right.pcapng").iter().map(|(time, _)| *time).collect();
    assert_eq!((left.len(), report.counters.inside()), (20, 0));
    // 1000 + 42 bytes and 24 on the wire around them at 100 Mb/s.
    let gaps: Vec<u64> = left.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| gap.abs_diff(1_066 * 80) <= 1), "{gaps:?}");
}

/// RFC 1812, section 5.3.4: a packet for one station in a frame for all is not forwarded.
#[test]
fn a_switch_forwards_nothing_that_came_in_a_frame_for_all() {
    let frames = [OWN, Mac::BROADCAST].map(|destination| {
        let ip = Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let ethernet = EthernetHeader { destination, source: FAR, kind: EtherType::IPV4 };
        [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (1, 2), &[0; 1000])].concat()
    });
    let counters = through_a_switch(&Folder::new("broadcast"), &frames).counters;
    assert_eq!((counters.sent, counters.dropped(DropCause::Multicast)), (1, 1), "{counters}");
}

/// A tag of VLAN 0 only gives a frame's priority; any other makes the frame belong to another network. The frames
/// leave without tags.
#[test]
fn a_switch_forwards_frames_that_only_say_how_urgent_they_are() {
    let folder = Folder::new("priority");
    let ethernet = EthernetHeader { destination: OWN, source: FAR, kind: EtherType::IPV4 }.to_bytes();
    let ip = Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let packet = ports::udp_v4(ip, (1, 2), &[7; 1000]);
    let tags = [&[][..], &[0x81, 0, 0xa0, 0], &[0x88, 0xa8, 0, 0, 0x81, 0, 0xe0, 0], &[0x81, 0, 0xa0, 5]];
    let frames = tags.map(|tags| [&ethernet[..12], tags, &ethernet[12..], &packet].concat());
    let counters = through_a_switch(&folder, &frames).counters;
    let left = folder.frames("right.pcapng");
    let mut expected = packet.clone();
    assert!(weft_packet::ipv4::decrement_ttl(&mut expected));
    assert!(
        left.len() == 3 && left.iter().all(|(_, frame)| frame[12..] == [&[8, 0], &expected[..]].concat())
    );
    assert_eq!((counters.dropped(DropCause::Unsupported), counters.inside()), (1, 0), "{counters}");
}

/// The recording program was stopped in the middle of a record.
#[test]
fn a_capture_whose_last_record_is_cut_is_read_up_to_there() {
    let folder = Folder::new("cut");
    let mut file = capture(10, [10, 2, 0, 9]);
    file.truncate(file.len() - 7);
    folder.write("in.pcapng", file);
    let report = folder.run(&router(1));
    assert_eq!((report.counters.received, report.counters.sent), (9, 9), "{report}");
}

/// The recorder saw packets that its card had coalesced.
#[test]
fn a_frame_longer_than_a_buffer_is_counted_and_the_others_go_on() {
    let folder = Folder::new("long");
    let long = enhanced_packet(0, 1_000_100_000, &[2; 3000]);
    folder.write("in.pcapng", [capture(10, [10, 2, 0, 9]), long, capture(10, [10, 2, 0, 9])].concat());
    let counters = folder.run(&router(1)).counters;
    assert_eq!((counters.received, counters.sent, counters.dropped(DropCause::Oversized)), (21, 20, 1));
    assert_eq!((counters.inside(), counters.received_bytes), (0, 3000 + 20 * 46));
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = Folder::new("wrong");
    let fails = |folder: &Folder| {
        folder.write("r.toml", router(1));
        let plan = read_plan(&folder.0.join("r.toml")).unwrap();
        run(&plan, &AtomicBool::new(false), || Ok(())).expect_err("fails").to_string()
    };
    assert!(fails(&folder).contains("in.pcapng: cannot be read"), "{}", fails(&folder));
    folder.write("in.pcapng", "GIF89a");
    assert!(fails(&folder).contains("neither pcap nor pcapng"), "{}", fails(&folder));
    let (begin, frame) =
        ([section_header(), interface_description("in")].concat(), enhanced_packet(0, 1, &[2; 60]));
    folder.write("in.pcapng", [begin, enhanced_packet(7, 0, &[2; 60]), frame].concat());
    assert!(fails(&folder).contains("is of interface 7, which is not described"), "{}", fails(&folder));
    folder.write("in.pcapng", "");
    assert!(fails(&folder).contains("in.pcapng: the file is empty"), "{}", fails(&folder));
    folder.write("in.pcapng", capture(1, [10, 2, 0, 9]));
    folder.write("left.pcapng", "precious");
    assert!(fails(&folder).contains("left.pcapng: exists already"), "{}", fails(&folder));
    assert_eq!(std::fs::read(folder.0.join("left.pcapng")).unwrap(), b"precious");
    folder.write("right.pcapng", "precious, too");
    folder.write("in.pcapng", "GIF89a");
    let all = fails(&folder);
    let told = ["neither pcap nor pcapng", "left.pcapng: exists", "right.pcapng: exists"];
    assert!(told.iter().all(|one| all.contains(one)) && all.lines().count() == 3, "{all}");
    let plan = read_plan(&folder.0.join("r.toml")).unwrap();
    assert_eq!(weft_appliance::start_problems(&plan).join("\n"), all, "--check says the same");
    // A folder that is not there: nothing half-written is left beside it.
    let _ = std::fs::remove_file(folder.0.join("left.pcapng"));
    let _ = std::fs::remove_file(folder.0.join("right.pcapng"));
    folder.write("in.pcapng", capture(1, [10, 2, 0, 9]));
    folder.write("r.toml", router(1).replace("right.pcapng", "nowhere/right.pcapng"));
    let plan = read_plan(&folder.0.join("r.toml")).unwrap();
    let told = run(&plan, &AtomicBool::new(false), || Ok(())).expect_err("fails").to_string();
    assert!(told.contains("nowhere/right.pcapng: cannot be written"), "{told}");
    assert!(!folder.0.join("left.pcapng").exists());
}
