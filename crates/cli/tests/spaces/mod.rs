//! Network namespaces with a router between a client and a server.
#![allow(dead_code, reason = "each test uses some of it")]

#[path = "../skip/mod.rs"]
mod skipping;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub(crate) use skipping::skip;

/// Namespaces, their links, and the router; all gone when it is dropped.
pub(crate) struct Bench {
    tag: String,
    router: Option<Child>,
    /// Hosts besides the left and the right one.
    others: Vec<&'static str>,
    pub(crate) folder: PathBuf,
}

pub(crate) fn number(side: &str) -> u8 {
    match side {
        "left" => 1,
        "right" => 2,
        _ => 3,
    }
}

/// Runs a command; returns whether it succeeded, and everything it printed.
pub(crate) fn run(words: &[&str]) -> (bool, String) {
    match Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output() {
        Ok(output) => {
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        }
        Err(error) => (false, error.to_string()),
    }
}

pub(crate) fn must(words: &[&str]) -> String {
    let (good, text) = run(words);
    assert!(good, "{}: {text}", words.join(" "));
    text
}

pub(crate) fn is_installed(program: &str) -> bool {
    let found = run(&["sh", "-c", &format!("command -v {program}")]).0;
    if !found {
        skip(&format!("{program} is not installed"));
    }
    found
}

/// A host in a namespace of its own, with one link to the interface `port` of a router. Its stack segments and sums itself, as on a
/// cable.
pub(crate) fn host(host: &str, router: &str, port: &str) {
    must(&["ip", "netns", "add", host]);
    must(&[
        "ip",
        "-n",
        host,
        "link",
        "add",
        "eth0",
        "gso_max_segs",
        "1",
        "type",
        "veth",
        "peer",
        "name",
        port,
        "netns",
        router,
    ]);
    must(&["ip", "-n", router, "link", "set", port, "up"]);
    must(&["ip", "-n", host, "link", "set", "lo", "up"]);
    must(&["ip", "-n", host, "link", "set", "eth0", "up"]);
}

/// Sends a stream: a server in one namespace, a client with these words in another. It ends within a minute.
pub(crate) fn stream(server_in: &str, client_in: &str, words: &[&str]) -> (bool, String) {
    let mut server = Command::new("ip")
        .args(["netns", "exec", server_in, "iperf3", "-s", "-1"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let listens = "grep -q ':1451 ' /proc/net/tcp6 /proc/net/tcp";
    let begun = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        run(&["ip", "netns", "exec", server_in, "sh", "-c", listens]).0
    });
    assert!(begun, "the server listens");
    let client = ["ip", "netns", "exec", client_in, "timeout", "60", "iperf3", "-c"];
    let outcome = run(&[&client, words].concat());
    let _ = server.kill().and_then(|()| server.wait());
    outcome
}

/// The effective and permitted capabilities of all threads of a process.
fn privileges_of(process: u32) -> Vec<u64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
    let status = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("status"));
    let sets = threads.filter_map(|thread| status(thread).ok()).flat_map(|text| {
        let lines = text.lines().filter(|line| line.starts_with("CapEff") || line.starts_with("CapPrm"));
        let set = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1).unwrap(), 16).unwrap();
        lines.map(set).collect::<Vec<u64>>()
    });
    sets.collect()
}

impl Bench {
    /// Client and server with a router between them, one link on each side; `None` without the right to make
    /// namespaces.
    pub(crate) fn new(name: &str, workers: u16) -> Option<Bench> {
        let mut bench = Bench::links(name)?;
        ["left", "right"].iter().for_each(|side| bench.routed(side));
        let file = bench.router_file(workers);
        bench.start(&file);
        Some(bench)
    }

    /// Client and server on the ports of the switch of `scenarios/bottleneck.toml`, as its hosts 1 and 2.
    pub(crate) fn switch(name: &str) -> Option<Bench> {
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
    pub(crate) fn links(name: &str) -> Option<Bench> {
        let tag = format!("weft-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(&tag);
        let bench = Bench { tag, router: None, others: Vec::new(), folder };
        if !run(&["ip", "netns", "add", &bench.space("router")]).0 {
            skip("no CAP_NET_ADMIN");
            return None;
        }
        std::fs::create_dir_all(&bench.folder).unwrap();
        ["left", "right"].iter().for_each(|side| bench.side(side));
        Some(bench)
    }

    pub(crate) fn space(&self, who: &str) -> String {
        format!("{}-{who}", self.tag)
    }

    /// One more host at a port of its name, without addresses.
    pub(crate) fn add(&mut self, side: &'static str) {
        self.others.push(side);
        self.side(side);
    }

    fn side(&self, side: &str) {
        let (own, router) = (self.space(side), self.space("router"));
        host(&own, &router, side);
        must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
        must(&["ip", "netns", "exec", &own, "sysctl", "-qw", "net.ipv6.conf.eth0.accept_dad=0"]);
    }

    /// Runs a command on a host, which must succeed.
    pub(crate) fn within(&self, side: &str, words: &[&str]) {
        must(&[&["ip", "netns", "exec", &self.space(side)], words].concat());
    }

    /// Addresses and default routes of a host of the router.
    pub(crate) fn routed(&self, side: &str) {
        let number = number(side);
        self.within(side, &["ip", "addr", "add", &format!("10.{number}.0.2/24"), "dev", "eth0"]);
        self.within(side, &["ip", "route", "add", "default", "via", &format!("10.{number}.0.1")]);
        let address = format!("2001:db8:{number}::2/64");
        self.within(side, &["ip", "addr", "add", &address, "dev", "eth0", "nodad"]);
        let gateway = format!("2001:db8:{number}::1");
        self.within(side, &["ip", "-6", "route", "add", "default", "via", &gateway]);
    }

    /// Like [`Bench::new`], with AF_XDP instead of packet sockets; `None` if the kernel has no AF_XDP either.
    pub(crate) fn xdp(name: &str) -> Option<Bench> {
        let mut bench = Bench::links(name)?;
        ["left", "right"].iter().for_each(|side| bench.routed(side));
        // Frames taken by AF_XDP carry no note that their checksum is missing, so the hosts compute it themselves.
        for side in ["left", "right"] {
            bench.within(side, &["ethtool", "-K", "eth0", "tx", "off"]);
        }
        let file = bench.router_file(1);
        let text = std::fs::read_to_string(&file).unwrap().replace("packet:", "xdp:");
        std::fs::write(&file, text).unwrap();
        let weft = env!("CARGO_BIN_EXE_weft");
        if !run(&["python3", "-c", "import socket; socket.socket(44, socket.SOCK_RAW, 0)"]).0 {
            skip(&format!("{weft} cannot use AF_XDP here (or python3 is missing)"));
            return None;
        }
        bench.start(&file);
        Some(bench)
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
    pub(crate) fn start(&mut self, file: &Path) {
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
        let privileges = privileges_of(router.id());
        assert!(privileges.iter().all(|set| *set == 0), "no thread may keep a privilege: {privileges:x?}");
    }

    /// Runs a command on the left host.
    pub(crate) fn left(&self, words: &[&str]) -> (bool, String) {
        run(&[&["ip", "netns", "exec", &self.space("left")], words].concat())
    }

    /// Sends a stream from left to right: a server on the right host, a client with these words on the left.
    pub(crate) fn stream(&self, words: &[&str]) -> (bool, String) {
        let (good, mut text) = stream(&self.space("right"), &self.space("left"), words);
        if !good {
            text += &self.state_of_router();
        }
        (good, text)
    }

    /// The output of `weft router show` for a router in trouble, and the kernel's counters at its links.
    fn state_of_router(&self) -> String {
        let show = [env!("CARGO_BIN_EXE_weft"), "router", "show"];
        let file = self.folder.join("router.toml").display().to_string();
        let links = ["ip", "-n", &self.space("router"), "-s", "link"];
        [run(&[&show[..], &[&file]].concat()).1, run(&links).1].concat()
    }

    /// Waits until `weft router show` has a line that begins with these words.
    pub(crate) fn shows_soon(&self, words: &[&str]) {
        let mut text = String::new();
        for _ in 0..100 {
            let show = Command::new(env!("CARGO_BIN_EXE_weft"))
                .args(["router", "show", "router.toml"])
                .current_dir(&self.folder)
                .output()
                .unwrap();
            text = String::from_utf8_lossy(&show.stdout).into_owned();
            if text.lines().any(|line| line.split_whitespace().take(words.len()).eq(words.iter().copied())) {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("no line {words:?}: {text}");
    }

    /// Asserts that `weft router show` prints the first text, and its metrics the second.
    pub(crate) fn shows_its_counters(&self, [shown, measured]: [&str; 2]) {
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
    pub(crate) fn stop(&mut self) -> String {
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
        for who in ["router", "left", "right"].iter().chain(&self.others) {
            run(&["ip", "netns", "del", &self.space(who)]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
