//! The router between real network stacks: a client and a server in network namespaces of their own, joined by `weft router` in a third.
//!
//! Needs the right to make namespaces; says so and passes if it is missing, and skips each client that is not
//! installed.
#![cfg(target_os = "linux")]

mod spaces;

use spaces::{Bench, is_installed};

#[test]
fn ping_crosses_and_reaches_the_router() {
    let Some(mut bench) = Bench::new("ping", 1) else { return };
    if is_installed("ping") {
        for target in ["10.2.0.2", "10.1.0.1", "10.2.0.1", "2001:db8:2::2", "2001:db8:1::1"] {
            let (good, text) = bench.left(&["ping", "-c", "5", "-i", "0.05", "-W", "5", target]);
            assert!(good && text.contains(" 0% packet loss"), "{target}: {text}");
        }
        let (good, text) = bench.left(&["ping", "-c", "1", "-t", "1", "-W", "5", "10.2.0.2"]);
        assert!(!good && text.contains("From 10.1.0.1") && text.contains("Time to live exceeded"), "{text}");
        let (good, text) = bench.left(&["ping", "-c", "1", "-W", "5", "192.0.2.1"]);
        assert!(
            !good && text.contains("From 10.1.0.1") && text.contains("Destination Net Unreachable"),
            "{text}"
        );
        let (_, text) = bench.left(&["ping", "-c", "2", "-M", "do", "-s", "1400", "-W", "5", "10.2.0.2"]);
        assert!(text.contains("mtu = 1400") || text.contains("mtu=1400"), "path MTU discovery: {text}");
    }
    bench.shows_its_counters([
        "10.2.0.0/24 on the link of right",
        "weft_router_sent_frames_total{worker=\"0\"}",
    ]);
    let counters = bench.stop();
    assert!(counters.contains("received") && !counters.contains("malformed"), "{counters}");
}

#[test]
fn traceroute_sees_the_router() {
    let Some(mut bench) = Bench::new("trace", 1) else { return };
    if is_installed("traceroute") {
        for (first, last) in [("10.1.0.1", "10.2.0.2"), ("2001:db8:1::1", "2001:db8:2::2")] {
            let (good, text) = bench.left(&["traceroute", "-n", "-w", "3", "-q", "1", "-N", "1", last]);
            let hops: Vec<&str> =
                text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(1)).collect();
            assert!(good && hops == [first, last], "{text}");
        }
    }
    bench.stop();
}

#[test]
fn a_stream_crosses_with_one_worker_and_with_two() {
    for workers in [1, 2] {
        let Some(mut bench) = Bench::new("stream", workers) else { return };
        if is_installed("iperf3") {
            let (good, text) = bench.stream(&["10.2.0.2", "-n", "4M", "-P", "2", "-f", "m"]);
            assert!(good && text.contains("receiver"), "{text}");
        }
        let counters = bench.stop();
        assert!(!counters.contains("malformed"), "{counters}");
    }
}

/// On pairs of virtual links AF_XDP copies; the frames that it takes before the kernel and sends past it are the same
/// traffic.
#[test]
fn packets_and_streams_cross_by_af_xdp() {
    if !is_installed("ethtool") {
        return;
    }
    let Some(mut bench) = Bench::xdp("xdp") else { return };
    if is_installed("ping") {
        for target in ["10.2.0.2", "10.1.0.1", "2001:db8:2::2", "2001:db8:1::1"] {
            let (good, text) = bench.left(&["ping", "-c", "5", "-i", "0.05", "-W", "5", target]);
            assert!(good && text.contains(" 0% packet loss"), "{target}: {text}");
        }
        let (_, text) = bench.left(&["ping", "-c", "2", "-M", "do", "-s", "1400", "-W", "5", "10.2.0.2"]);
        assert!(text.contains("mtu = 1400") || text.contains("mtu=1400"), "path MTU discovery: {text}");
    }
    if is_installed("iperf3") {
        // Many times as many frames as the rings have slots.
        let (good, text) = bench.stream(&["10.2.0.2", "-n", "8M", "-P", "2", "-f", "m"]);
        assert!(good && text.contains("receiver"), "{text}");
    }
    let counters = bench.stop();
    assert!(!counters.contains("malformed") && !counters.contains("no-buffer"), "{counters}");
}

/// The number after a name in the output of iperf3 or the router.
fn number_after(text: &str, name: &str) -> f64 {
    let rest = &text[text.find(name).unwrap_or_else(|| panic!("no {name}: {text}")) + name.len()..];
    let digits = rest.trim_start_matches([':', ' ', '\t']);
    let end = digits.find(|c: char| !"0123456789.e+".contains(c)).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or_else(|_| panic!("{name}: {rest}"))
}

/// The link of the scenario has 100 Mbps: no stream is faster, its switch marks, and its counts agree with TCP's.
#[test]
fn the_switch_of_a_scenario_carries_real_hosts() {
    let Some(mut bench) = Bench::switch("switch") else { return };
    let mut streamed = false;
    if is_installed("ping") {
        let (good, text) = bench.left(&["ping", "-c", "5", "-i", "0.05", "-W", "5", "10.0.0.2"]);
        assert!(good && text.contains(" 0% packet loss") && text.contains("ttl=63"), "{text}");
        let (good, text) = bench.left(&["ping", "-c", "1", "-W", "1", "10.0.0.3"]);
        assert!(!good, "no cable leads to h3: {text}");
    }
    if is_installed("iperf3") {
        let (good, text) = bench.stream(&["10.0.0.2", "-n", "4M", "-J"]);
        assert!(good, "{text}");
        let received = &text[text.find("\"sum_received\"").unwrap()..];
        let rate = number_after(received, "\"bits_per_second\"");
        assert!(rate < 100e6 * 1448.0 / 1538.0 * 1.02, "{rate} bit/s through a link of 100 Mbps");
        streamed = true;
    }
    bench.shows_its_counters(["port   link", "weft_switch_marked_packets_total{port=\"right\"}"]);
    let counters = bench.stop();
    assert!(!counters.contains("malformed"), "{counters}");
    let right: Vec<&str> = counters
        .lines()
        .find(|line| line.starts_with("right"))
        .unwrap_or_else(|| panic!("{counters}"))
        .split_whitespace()
        .collect();
    let marked: u64 = right[4].parse().unwrap();
    assert_eq!(marked > 0, streamed, "{counters}");
}

/// Packets that wait for a link that goes down are dropped, and counted as such; the link carries again when it comes
/// back.
#[test]
fn the_switch_of_a_scenario_follows_its_links() {
    let Some(mut bench) = Bench::switch("links") else { return };
    bench.shows_soon(&["right", "up"]);
    bench.within("right", &["ip", "link", "set", "eth0", "down"]);
    bench.shows_soon(&["right", "down"]);
    bench.shows_soon(&["left", "up"]);
    if is_installed("ping") {
        let (good, text) = bench.left(&["ping", "-c", "2", "-i", "0.05", "-W", "1", "10.0.0.2"]);
        assert!(!good, "the cable is down: {text}");
    }
    bench.within("right", &["ip", "link", "set", "eth0", "up"]);
    bench.shows_soon(&["right", "up"]);
    if is_installed("ping") {
        let (good, text) = bench.left(&["ping", "-c", "5", "-i", "0.05", "-W", "5", "10.0.0.2"]);
        assert!(good && text.contains(" 0% packet loss"), "{text}");
    }
    let counters = bench.stop();
    assert!(counters.contains("dropped: link_down") || !is_installed("ping"), "{counters}");
}
