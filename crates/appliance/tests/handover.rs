//! A router with more workers than its interfaces have queues, in a network namespace of its own.
#![cfg(target_os = "linux")]

mod namespace;

use std::collections::BTreeMap;

use weft_appliance::{WatchAddress, watch};
use weft_packet::rss::FlowQueues;
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, ports};
use weft_router::DropCause;

use namespace::{HOSTS, Host, OWN, is_inside, links, must, sound, while_running};

const FLOWS: u16 = 24;

/// Datagram `number` of a flow from the left host to the right one.
fn datagram(flow: u16, number: u32) -> Vec<u8> {
    let ip = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into());
    let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
    [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (flow, 53), &number.to_be_bytes())].concat()
}

/// A pair of virtual links with one queue each has one AF_XDP socket at either end; the second worker gets its flows by a ring.
#[test]
fn one_queue_feeds_two_workers() {
    if !is_inside("one_queue_feeds_two_workers") {
        return;
    }
    links();
    let queues = |name: &str| std::fs::read_dir(format!("/sys/class/net/{name}/queues")).unwrap().count();
    assert_eq!((queues("left"), queues("right")), (2, 2), "one for what arrives, one for what leaves");
    let socket = std::env::temp_dir().join(format!("weft-handover-{}", std::process::id()));
    let side = |name: &str, n: u8| {
        let station = HOSTS[usize::from(n) - 1];
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"xdp:{name}\"\naddresses = [\"10.{n}.0.1/24\"]\n\
             [[neighbour]]\naddress = \"10.{n}.0.2\"\nstation = \"{station}\"\n"
        )
    };
    let head = format!("workers = 2\nmetrics = \"unix:{}\"\n", socket.display());
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let (mut arrived, mut page) = (Vec::new(), String::new());
    // Rounds shorter than the rings, with pauses in which both workers fall asleep.
    let rounds = 40;
    let report = while_running(&(head + &side("left", 1) + &side("right", 2)), || {
        for round in 0..rounds {
            let numbers = 5 * round..5 * (round + 1);
            let frames = numbers.flat_map(|number| (0..FLOWS).map(move |flow| datagram(flow, number)));
            left.send(&frames.collect::<Vec<_>>());
            std::thread::sleep(std::time::Duration::from_millis(25));
        }
        arrived = right.received();
        page = watch::ask(&WatchAddress::Unix(socket.clone()), "/metrics").unwrap();
    });
    let report = report.unwrap();
    let counters = sound(&report);
    let mut next: BTreeMap<u16, u32> = BTreeMap::new();
    for frame in &arrived {
        let flow = u16::from_be_bytes([frame[34], frame[35]]);
        let number = u32::from_be_bytes(*frame[42..].first_chunk().unwrap());
        let expected = next.entry(flow).or_default();
        assert_eq!(number, *expected, "flow {flow} in order and complete");
        *expected += 1;
    }
    let sent = u64::from(FLOWS) * 5 * u64::from(rounds);
    assert_eq!(arrived.len() as u64, sent, "{report}");
    assert_eq!((counters.received, counters.sent, counters.inside()), (sent, sent, 0), "{report}");
    assert_eq!(counters.dropped(DropCause::Handover), 0);
    assert!(page.contains("weft_router_dropped_frames_total{worker=\"1\",cause=\"handover\"} 0"), "{page}");
    let flows = FlowQueues::among(1);
    for worker in [0, 1] {
        let own = (0..FLOWS).filter(|flow| flows.apart(&datagram(*flow, 0), 2) == worker).count() as u64;
        let line = format!(
            "weft_router_received_frames_total{{worker=\"{worker}\"}} {}",
            own * 5 * u64::from(rounds)
        );
        assert!(own > 0 && page.contains(&line), "{line}: {page}");
    }
}

/// Frames that one worker cannot take in time are lost at its ring and counted there; all others are accounted for.
#[test]
fn bursts_for_three_workers_are_accounted_for() {
    if !is_inside("bursts_for_three_workers_are_accounted_for") {
        return;
    }
    links();
    let wired = |name: &str, to: &str, n: usize| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"xdp:{name}\"\nto = \"{to}\"\nstation = \"{}\"\n",
            HOSTS[n]
        )
    };
    let file = "application = \"forward\"\nworkers = 3\n".to_owned()
        + &wired("left", "right", 1)
        + &wired("right", "left", 0);
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let mut arrived = 0;
    let sent = 20_000_u64;
    let report = while_running(&file, || {
        let frames: Vec<_> = (0..sent).map(|n| datagram((n % 100) as u16, n as u32)).collect();
        frames.chunks(100).for_each(|chunk| left.send(chunk));
        arrived = right.received().len() as u64;
    });
    let report = report.unwrap();
    let counters = sound(&report);
    assert_eq!((counters.received + counters.missed, counters.inside()), (sent, 0), "{report}");
    assert_eq!(counters.sent, arrived, "{report}");
    assert!(arrived > 1000, "{report}");
}

/// The router is the other end of two TAP devices, each with one queue, and has two workers.
#[test]
fn tap_devices_feed_two_workers() {
    if !is_inside("tap_devices_feed_two_workers") {
        return;
    }
    let tap = |name: &str, to: &str, n: usize| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"tap:{name}\"\nmac = \"{}\"\nto = \"{to}\"\nstation = \"{}\"\n",
            OWN[n],
            HOSTS[1 - n]
        )
    };
    let file = "application = \"forward\"\nworkers = 2\n".to_owned()
        + &tap("left", "right", 0)
        + &tap("right", "left", 1);
    must("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    let (sent, mut arrived) = (2_000, 0);
    let report = while_running(&file, || {
        ["left", "right"].iter().for_each(|name| must(&format!("ip link set {name} up")));
        let (mut left, mut right) = (Host::on("left"), Host::on("right"));
        let frames: Vec<_> = (0..sent).map(|n| datagram(n % 100, n.into())).collect();
        for chunk in frames.chunks(50) {
            left.send(chunk);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        arrived = right.received().len() as u64;
    });
    let report = report.unwrap();
    let counters = sound(&report);
    assert_eq!(
        (counters.received, counters.sent, counters.inside()),
        (sent.into(), sent.into(), 0),
        "{report}"
    );
    assert_eq!(arrived, u64::from(sent), "{report}");
}
