//! The router between real network stacks: a client and a server in network namespaces of their own, joined by `weft router` in a third.
//!
//! Needs the right to make namespaces; says so plainly and passes where it is missing, and skips each client that is not installed.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Namespaces, their links, and the router; all gone when it is dropped.
struct Bench {
    tag: String,
    router: Option<Child>,
    folder: PathBuf,
}

fn number(side: &str) -> u8 {
    if side == "left" { 1 } else { 2 }
}

/// Runs a command; says whether it succeeded, and all it printed.
fn run(words: &[&str]) -> (bool, String) {
    match Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => (false, error.to_string()),
    }
}

fn must(words: &[&str]) -> String {
    let (good, text) = run(words);
    assert!(good, "{}: {text}", words.join(" "));
    text
}

fn is_installed(program: &str) -> bool {
    let found = run(&["sh", "-c", &format!("command -v {program}")]).0;
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

impl Bench {
    /// Client and server with a router between them, each side one link; none without the right to make namespaces.
    fn new(name: &str, workers: u16) -> Option<Bench> {
        let mut bench = Bench::links(name)?;
        ["left", "right"].iter().for_each(|side| bench.routed(side));
        let file = bench.router_file(workers);
        bench.start(&file);
        Some(bench)
    }

    /// Client and server on the ports of the switch of `scenarios/bottleneck.toml`, as its hosts 1 and 2.
    fn switch(name: &str) -> Option<Bench> {
        let mut bench = Bench::links(name)?;
        for (side, address) in [("left", "10.0.0.1/8"), ("right", "10.0.0.2/8")] {
            bench.within(side, &["ip", "addr", "add", address, "dev", "eth0"]);
        }
        bench.within("left", &["sysctl", "-qw", "net.ipv4.tcp_ecn=1"]);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../routers/bottleneck.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let scenario = file.with_file_name("../scenarios/bottleneck.toml");
        let text = text.replace("../scenarios/bottleneck.toml", &scenario.display().to_string());
        let file = bench.folder.join("router.toml");
        std::fs::write(&file, format!("metrics = \"unix:metrics\"\n{text}")).unwrap();
        bench.start(&file);
        Some(bench)
    }

    /// Namespaces and links, without addresses; the router is not running.
    fn links(name: &str) -> Option<Bench> {
        let tag = format!("weft-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(&tag);
        let bench = Bench { tag, router: None, folder };
        if !run(&["ip", "netns", "add", &bench.space("router")]).0 {
            eprintln!("skipped: no CAP_NET_ADMIN");
            return None;
        }
        std::fs::create_dir_all(&bench.folder).unwrap();
        ["left", "right"].iter().for_each(|side| bench.side(side));
        Some(bench)
    }

    fn space(&self, who: &str) -> String {
        format!("{}-{who}", self.tag)
    }

    /// A host with one link to the router. Its stack segments and sums itself, as on a cable.
    fn side(&self, side: &str) {
        let (host, router) = (self.space(side), self.space("router"));
        must(&["ip", "netns", "add", &host]);
        let inner = [
            "ip",
            "-n",
            &host,
            "link",
            "add",
            "eth0",
            "gso_max_segs",
            "1",
            "type",
            "veth",
            "peer",
            "name",
            side,
            "netns",
            &router,
        ];
        must(&inner);
        must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
        must(&["ip", "-n", &router, "link", "set", side, "up"]);
        must(&["ip", "netns", "exec", &host, "sysctl", "-qw", "net.ipv6.conf.eth0.accept_dad=0"]);
        must(&["ip", "-n", &host, "link", "set", "lo", "up"]);
        must(&["ip", "-n", &host, "link", "set", "eth0", "up"]);
    }

    /// Runs a command on a host, which must succeed.
    fn within(&self, side: &str, words: &[&str]) {
        must(&[&["ip", "netns", "exec", &self.space(side)], words].concat());
    }

    /// Addresses and default routes of a host of the router.
    fn routed(&self, side: &str) {
        let number = number(side);
        self.within(side, &["ip", "addr", "add", &format!("10.{number}.0.2/24"), "dev", "eth0"]);
        self.within(side, &["ip", "route", "add", "default", "via", &format!("10.{number}.0.1")]);
        let address = format!("2001:db8:{number}::2/64");
        self.within(side, &["ip", "addr", "add", &address, "dev", "eth0", "nodad"]);
        let gateway = format!("2001:db8:{number}::1");
        self.within(side, &["ip", "-6", "route", "add", "default", "via", &gateway]);
    }

    fn router_file(&self, workers: u16) -> PathBuf {
        let port = |side: &str, n: u8, more: &str| {
            format!(
                "[[port]]\nname = \"{side}\"\ndevice = \"packet:{side}\"\naddresses = [\"10.{n}.0.1/24\", \"2001:db8:{n}::1/64\"]\n{more}\n"
            )
        };
        let text = format!(
            "metrics = \"unix:metrics\"\nworkers = {workers}\n{}{}",
            port("left", 1, ""),
            port("right", 2, "mtu = \"1400 B\"")
        );
        let file = self.folder.join("router.toml");
        std::fs::write(&file, text).unwrap();
        file
    }

    /// Starts the router; it is forwarding when this returns.
    fn start(&mut self, file: &Path) {
        let router = Command::new("ip")
            .args(["netns", "exec", &self.space("router"), env!("CARGO_BIN_EXE_weft"), "router"])
            .arg(file)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let router = self.router.insert(router);
        // It says one line once its devices are open.
        let mut line = [0; 10];
        router.stderr.as_mut().unwrap().read_exact(&mut line).unwrap();
        assert_eq!(&line, b"forwarding");
    }

    /// Runs a command on the left host.
    fn left(&self, words: &[&str]) -> (bool, String) {
        run(&[&["ip", "netns", "exec", &self.space("left")], words].concat())
    }

    /// Sends a stream from left to right: a server on the right host, a client with these words on the left.
    fn stream(&self, words: &[&str]) -> (bool, String) {
        let right = self.space("right");
        let mut server = Command::new("ip")
            .args(["netns", "exec", &right, "iperf3", "-s", "-1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let listens = "grep -q ':1451 ' /proc/net/tcp6 /proc/net/tcp";
        let begun = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            run(&["ip", "netns", "exec", &right, "sh", "-c", listens]).0
        });
        assert!(begun, "the server listens");
        let outcome = self.left(&[&["iperf3", "-c"], words].concat());
        let _ = server.kill().and_then(|()| server.wait());
        outcome
    }

    /// `weft router show` and its metrics say these words.
    fn shows_its_counters(&self, [shown, measured]: [&str; 2]) {
        let show = Command::new(env!("CARGO_BIN_EXE_weft"))
            .args(["router", "show", "router.toml"])
            .current_dir(&self.folder)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&show.stdout);
        assert!(
            show.status.success() && text.contains(shown),
            "{text}{}",
            String::from_utf8_lossy(&show.stderr)
        );
        let mut socket = UnixStream::connect(self.folder.join("metrics")).unwrap();
        socket.write_all(b"GET /metrics HTTP/1.1\r\nHost: router\r\n\r\n").unwrap();
        let mut page = String::new();
        socket.read_to_string(&mut page).unwrap();
        assert!(page.starts_with("HTTP/1.0 200 OK\r\n") && page.contains(measured), "{page}");
        let length = page.split("Content-Length: ").nth(1).and_then(|rest| rest.lines().next()).unwrap();
        assert_eq!(page.split_once("\r\n\r\n").unwrap().1.len().to_string(), length);
    }

    /// Stops the router as a person would; returns its counters.
    fn stop(&mut self) -> String {
        let mut router = self.router.take().unwrap();
        must(&["kill", "-INT", &router.id().to_string()]);
        let mut counters = String::new();
        router.stdout.as_mut().unwrap().read_to_string(&mut counters).unwrap();
        assert!(router.wait().unwrap().success(), "{counters}");
        assert!(!self.folder.join("metrics").exists(), "its socket is gone");
        counters
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        if let Some(router) = &mut self.router {
            let _ = router.kill().and_then(|()| router.wait());
        }
        for who in ["router", "left", "right"] {
            run(&["ip", "netns", "del", &self.space(who)]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

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

/// The number after a name in what iperf3 or the router says.
fn number_after(text: &str, name: &str) -> f64 {
    let rest = &text[text.find(name).unwrap_or_else(|| panic!("no {name}: {text}")) + name.len()..];
    let digits = rest.trim_start_matches([':', ' ', '\t']);
    let end = digits.find(|c: char| !"0123456789.e+".contains(c)).unwrap_or(digits.len());
    digits[..end].parse().unwrap_or_else(|_| panic!("{name}: {rest}"))
}

/// The link of the scenario has 100 Mbps: no stream is faster, its switch marks, and what it counts is what TCP noticed.
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
    bench.shows_its_counters(["port   sent", "weft_switch_marked_packets_total{port=\"right\"}"]);
    let counters = bench.stop();
    assert!(!counters.contains("malformed"), "{counters}");
    let right: Vec<&str> = counters
        .lines()
        .find(|line| line.starts_with("right"))
        .unwrap_or_else(|| panic!("{counters}"))
        .split_whitespace()
        .collect();
    let marked: u64 = right[3].parse().unwrap();
    assert_eq!(marked > 0, streamed, "{counters}");
}
