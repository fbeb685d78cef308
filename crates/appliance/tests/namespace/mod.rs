//! Routers and hosts in a network namespace of each test.
#![allow(dead_code, reason = "each test uses some of it")]

#[path = "../../../cli/tests/skip/mod.rs"]
mod skipping;

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_appliance::file::parse_plan;
use weft_appliance::{ApplianceError, RouterReport, run};
use weft_packet::{EtherType, EthernetHeader, Ipv4Header, Mac, ports};
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::{Backend, FrameBatch, FramePool};

pub(crate) use skipping::skip;

/// Set for the program that runs inside a namespace.
pub(crate) const INSIDE: &str = "WEFT_TEST_IS_INSIDE";
/// The router's stations, left and right, and the hosts' at the other ends of its links.
pub(crate) const OWN: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 2, 1])];
pub(crate) const HOSTS: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 2]), Mac([2, 0, 0, 0, 2, 2])];

/// A command and its arguments, separated by spaces.
pub(crate) fn must(words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs this test again, alone and in a namespace of its own; true inside it.
pub(crate) fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let space = format!("weft-{}-{}", &test[..test.len().min(30)], std::process::id());
    let made = Command::new("ip").args(["netns", "add", &space]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        skip("no right to make namespaces (CAP_NET_ADMIN), or no `ip`");
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let mut again = Command::new("ip");
    again.args(["netns", "exec", &space]).arg(program).args(["--exact", test, "--nocapture"]);
    let output = again.env(INSIDE, "1").output().unwrap();
    must(&format!("ip netns del {space}"));
    let text = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&text);
    assert!(output.status.success(), "{said}");
    // The program inside has added them to the list.
    said.lines()
        .filter(|line| line.starts_with("skipped: "))
        .for_each(|line| drop(writeln!(std::io::stderr(), "{line}")));
    false
}

/// The links of the router to two hosts, the interfaces `host0` and `host1`. The kernel has no IPv6 of its own there.
pub(crate) fn links() {
    links_of_queues(1);
}

/// The same with this many queues at each end, for what arrives and for what leaves.
pub(crate) fn links_of_queues(queues: u32) {
    must("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    for (n, name) in ["left", "right"].into_iter().enumerate() {
        let (own, host) = (OWN[n], HOSTS[n]);
        let queues = format!("numrxqueues {queues} numtxqueues {queues}");
        must(&format!(
            "ip link add {name} address {own} {queues} type veth peer name host{n} address {host} {queues}"
        ));
        [name, &format!("host{n}")].iter().for_each(|end| must(&format!("ip link set {end} up")));
    }
}

/// A host, which sends and receives frames.
pub(crate) struct Host {
    pub(crate) socket: PacketSocket,
    pool: FramePool,
}

impl Host {
    pub(crate) fn on(interface: &str) -> Host {
        let socket = PacketSocket::open(interface, 0, false, SocketArrivals::All).unwrap();
        Host { socket, pool: FramePool::new(256) }
    }

    pub(crate) fn send(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            let mut stored = vec![self.pool.store(frame, 0).unwrap()];
            assert_eq!(self.socket.transmit(&mut self.pool, &mut stored).unwrap(), 0);
        }
    }

    /// The frames that have arrived, until none comes for a fifth of a second.
    pub(crate) fn received(&mut self) -> Vec<Vec<u8>> {
        let (mut found, mut idle) = (Vec::new(), 0);
        while idle < 20 {
            let mut batch = FrameBatch::default();
            self.socket.receive(&mut self.pool, &mut batch).unwrap();
            for frame in batch.frames() {
                found.push(self.pool.bytes(*frame).to_vec());
                self.pool.give(frame.buffer);
            }
            idle = if batch.frames().is_empty() { idle + 1 } else { 0 };
            if idle > 0 {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        found
    }
}

/// Stops a router, also if the test fails.
struct StopsAtEnd<'a>(&'a AtomicBool);

impl Drop for StopsAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a router with this file while `work` runs.
pub(crate) fn while_running(text: &str, work: impl FnOnce()) -> Result<RouterReport, ApplianceError> {
    while_running_beside(Path::new(""), text, work)
}

/// The same for a file in a folder.
pub(crate) fn while_running_beside(
    folder: &Path,
    text: &str,
    work: impl FnOnce(),
) -> Result<RouterReport, ApplianceError> {
    let name = folder.join("r.toml");
    let plan = parse_plan(text, name.to_str().unwrap());
    let plan = plan.unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let (stop, started) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let router = scope.spawn(|| {
            run(&plan, &stop, || {
                started.store(true, Ordering::Relaxed);
                Ok(())
            })
        });
        while !started.load(Ordering::Relaxed) && !router.is_finished() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let stops = StopsAtEnd(&stop);
        if !router.is_finished() {
            work();
        }
        drop(stops);
        router.join().unwrap()
    })
}

pub(crate) fn sound(report: &RouterReport) -> &weft_router::RouterCounters {
    assert!(report.failure.is_none(), "{:?}: {report}", report.failure);
    &report.counters
}

/// A datagram from the left host to the right one, in a frame of 42 bytes more than its data.
pub(crate) fn datagram(data: usize) -> Vec<u8> {
    let ip = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into());
    let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
    [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (4000, 53), &vec![7; data])].concat()
}
