//! The router on interfaces of the kernel, in a network namespace of each test.
//!
//! Needs the right to make namespaces; says so plainly and passes where it is missing.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use weft_appliance::file::parse_plan;
use weft_appliance::{ApplianceError, RouterReport, WatchAddress, run, watch};
use weft_packet::neighbour::{multicast_mac, solicited_node};
use weft_packet::{
    EtherType, EthernetFrame, EthernetHeader, Ipv4Header, Ipv6Packet, Mac, NeighbourMessage, ports,
};
use weft_router::backend::packet_socket::{PacketSocket, SocketArrivals};
use weft_router::{Backend, DropCause, FrameBatch, FramePool};

/// Set for the program that runs inside a namespace.
const INSIDE: &str = "WEFT_TEST_IS_INSIDE";
/// The router's stations, left and right, and the hosts' at the other ends of its links.
const OWN: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 1]), Mac([2, 0, 0, 0, 2, 1])];
const HOSTS: [Mac; 2] = [Mac([2, 0, 0, 0, 1, 2]), Mac([2, 0, 0, 0, 2, 2])];

/// A command and its arguments, separated by spaces.
fn must(words: &str) {
    let words: Vec<&str> = words.split(' ').collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs this test again, alone and in a namespace of its own; true inside it.
fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let space = format!("weft-{}-{}", &test[..test.len().min(30)], std::process::id());
    let made = Command::new("ip").args(["netns", "add", &space]).output();
    if !made.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no right to make namespaces (CAP_NET_ADMIN), or no `ip`");
        return false;
    }
    let program = std::env::current_exe().unwrap();
    let mut again = Command::new("ip");
    again.args(["netns", "exec", &space]).arg(program).args(["--exact", test, "--nocapture"]);
    let output = again.env(INSIDE, "1").output().unwrap();
    must(&format!("ip netns del {space}"));
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
    false
}

/// The links of the router to two hosts, the interfaces `host0` and `host1`. The kernel has no IPv6 of its own there.
fn links() {
    must("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1");
    for (n, name) in ["left", "right"].into_iter().enumerate() {
        let (own, host) = (OWN[n], HOSTS[n]);
        must(&format!("ip link add {name} address {own} type veth peer name host{n} address {host}"));
        [name, &format!("host{n}")].iter().for_each(|end| must(&format!("ip link set {end} up")));
    }
}

/// A host, which sends and receives frames.
struct Host {
    socket: PacketSocket,
    pool: FramePool,
}

impl Host {
    fn on(interface: &str) -> Host {
        let socket = PacketSocket::open(interface, 0, false, SocketArrivals::All).unwrap();
        Host { socket, pool: FramePool::new(256) }
    }

    fn send(&mut self, frames: &[Vec<u8>]) {
        for frame in frames {
            let mut stored = vec![self.pool.store(frame, 0).unwrap()];
            assert_eq!(self.socket.transmit(&mut self.pool, &mut stored).unwrap(), 0);
        }
    }

    /// What has arrived, until nothing more comes for a fifth of a second.
    fn received(&mut self) -> Vec<Vec<u8>> {
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

/// A router of this file, while `work` goes on.
fn while_running(text: &str, work: impl FnOnce()) -> Result<RouterReport, ApplianceError> {
    let plan = parse_plan(text, "r.toml").unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
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
        if !router.is_finished() {
            work();
        }
        stop.store(true, Ordering::Relaxed);
        router.join().unwrap()
    })
}

fn sound(report: &RouterReport) -> &weft_router::RouterCounters {
    assert!(report.failure.is_none(), "{:?}: {report}", report.failure);
    &report.counters
}

/// A router between both hosts, whose stations it knows.
fn routed() -> String {
    let side = |n: usize, name: &str| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\naddresses = [\"10.{0}.0.1/24\", \"2001:db8:{0}::1/64\"]\n\
             [[neighbour]]\naddress = \"10.{0}.0.2\"\nstation = \"{1}\"\n",
            n + 1,
            HOSTS[n]
        )
    };
    side(0, "left") + &side(1, "right")
}

/// Frames of each port go out by the other one.
fn forwarded() -> String {
    let side = |name: &str, to: &str, station| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\nto = \"{to}\"\nstation = \"{station}\"\n"
        )
    };
    "application = \"forward\"\n".to_owned()
        + &side("left", "right", HOSTS[1])
        + &side("right", "left", HOSTS[0])
}

/// A datagram from the left host to the right one, in a frame of 42 bytes more than its data.
fn datagram(data: usize) -> Vec<u8> {
    let ip = Ipv4Header::between([10, 1, 0, 2].into(), [10, 2, 0, 2].into());
    let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
    [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (4000, 53), &vec![7; data])].concat()
}

/// The MTU of the link shrinks after the start: the kernel refuses what is longer, and the rest goes on.
#[test]
fn a_frame_that_a_device_refuses_is_counted_and_the_others_go_on() {
    if !is_inside("a_frame_that_a_device_refuses_is_counted_and_the_others_go_on") {
        return;
    }
    links();
    for file in [routed(), forwarded()] {
        must("ip link set right mtu 1500");
        let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
        let mut lengths = Vec::new();
        let report = while_running(&file, || {
            must("ip link set right mtu 1400");
            left.send(&[100, 1450, 200, 1440, 300].map(datagram));
            lengths = right.received().iter().map(Vec::len).collect();
        });
        let report = report.unwrap();
        let counters = sound(&report);
        assert_eq!(lengths, [142, 242, 342], "{report}");
        assert_eq!((counters.sent, counters.sent_bytes), (3, 142 + 242 + 342));
        assert_eq!((counters.dropped(DropCause::Refused), counters.inside()), (2, 0), "{report}");
    }
}

/// Where the MTU of the output is known, nothing longer reaches its device.
#[test]
fn minimal_forwarding_keeps_to_the_mtu() {
    if !is_inside("minimal_forwarding_keeps_to_the_mtu") {
        return;
    }
    links();
    ["left", "host0"].iter().for_each(|end| must(&format!("ip link set {end} mtu 2000")));
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let mut lengths = Vec::new();
    let report = while_running(&forwarded(), || {
        left.send(&[100, 1900, 1472].map(datagram));
        lengths = right.received().iter().map(Vec::len).collect();
    });
    let report = report.unwrap();
    assert_eq!((lengths, sound(&report).dropped(DropCause::TooBig)), (vec![142, 1514], 1), "{report}");
}

/// What finds no room in front of the router, and what no buffer holds, is in its counters; and there is room for a burst.
#[test]
fn frames_lost_in_front_of_a_socket_are_known() {
    if !is_inside("frames_lost_in_front_of_a_socket_are_known") {
        return;
    }
    links();
    ["left", "host0"].iter().for_each(|end| must(&format!("ip link set {end} mtu 3000")));
    let (mut host, mut router) = (Host::on("host0"), Host::on("left"));
    let sent = 30_000;
    (0..sent / 100).for_each(|_| host.send(&vec![datagram(1472); 100]));
    let missed = router.socket.losses().missed;
    let arrived = router.received().len() as u64;
    assert!(arrived > 2_000, "megabytes wait, not only a usual buffer: {arrived}");
    assert!(missed > 0, "{arrived}");
    assert_eq!((arrived + missed, router.socket.losses().missed), (sent, 0), "each is told once");
    // The left end's kernel sends a longer frame than a buffer holds.
    must("ip addr add 192.0.2.1/24 dev host0");
    must("ip neigh add 192.0.2.2 lladdr 02:00:00:00:01:01 dev host0");
    let socket = std::net::UdpSocket::bind("192.0.2.1:0").unwrap();
    socket.send_to(&[7; 2800], "192.0.2.2:9").unwrap();
    assert!(router.received().is_empty());
    assert_eq!(router.socket.losses().oversized, 1);
}

/// The kernel takes the tag off, so that the frame of another network looks like one of this.
#[test]
fn tagged_frames_are_not_routed() {
    if !is_inside("tagged_frames_are_not_routed") {
        return;
    }
    links();
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let mut lengths = Vec::new();
    let report = while_running(&routed(), || {
        let plain = datagram(100);
        let tagged = [&plain[..12], &[0x81, 0, 0, 5], &plain[12..]].concat();
        left.send(&[tagged, datagram(200)]);
        lengths = right.received().iter().map(Vec::len).collect();
    });
    let report = report.unwrap();
    let counters = sound(&report);
    assert_eq!(
        (lengths, counters.dropped(DropCause::Unsupported), counters.inside()),
        (vec![242], 1, 0),
        "{report}"
    );
}

/// A macvlan passes on only what somebody has asked for, as real cards do.
#[test]
fn neighbours_find_a_router_behind_a_filter_of_groups() {
    if !is_inside("neighbours_find_a_router_behind_a_filter_of_groups") {
        return;
    }
    links();
    let filter =
        format!("ip link add filter link right address {} type macvlan mode bridge", Mac([2, 0, 0, 0, 7, 1]));
    let words: Vec<&str> = filter.split(' ').collect();
    if !Command::new(words[0]).args(&words[1..]).output().unwrap().status.success() {
        eprintln!("skipped: no macvlan");
        return;
    }
    must("ip link set filter up");
    let mut right = Host::on("host1");
    let own = "2001:db8:2::1".parse().unwrap();
    let mut answers = Vec::new();
    let report = while_running(&routed().replace("packet:right", "packet:filter"), || {
        let question = NeighbourMessage::solicit(own, (HOSTS[1], "2001:db8:2::2".parse().unwrap()));
        let destination = multicast_mac(solicited_node(own));
        let ethernet = EthernetHeader { destination, source: HOSTS[1], kind: EtherType::IPV6 };
        right.send(&[[&ethernet.to_bytes()[..], &question].concat()]);
        answers = right.received();
    });
    let report = report.unwrap();
    let answer = answers.first().unwrap_or_else(|| panic!("no answer: {report}"));
    let packet = Ipv6Packet::parse(EthernetFrame::parse(answer).unwrap().payload).unwrap();
    let answer = NeighbourMessage::parse(&packet).unwrap().unwrap();
    assert_eq!((answer.target, answer.advertises), (own, true));
}

#[test]
fn af_xdp_refuses_an_mtu_that_its_frames_do_not_hold() {
    if !is_inside("af_xdp_refuses_an_mtu_that_its_frames_do_not_hold") {
        return;
    }
    links();
    must("ip link set left mtu 1800");
    let error = while_running(&routed().replace("packet:left", "xdp:left"), || {}).unwrap_err();
    assert!(error.to_string().contains("AF_XDP takes packets of at most 1778 bytes"), "{error}");
}

const BESIDE_KERNEL: &str = r#"
kernel = true
[[port]]
name = "left"
device = "packet:left"
[[port]]
name = "right"
device = "packet:right"
[[tunnel]]
name = "hq"
local = "10.1.0.1"
remote = "10.1.0.2"
keys = "KEYS"
[[route]]
prefix = "10.8.0.0/16"
tunnel = "hq"
"#;

/// Tables of the kernel in which order matters, and a tunnel whose prefix the kernel has, too.
#[test]
fn the_kernels_tables_are_followed_in_detail() {
    use std::os::unix::fs::PermissionsExt;
    if !is_inside("the_kernels_tables_are_followed_in_detail") {
        return;
    }
    links();
    must("ip addr add 10.1.0.1/24 dev left");
    must("ip addr add 10.2.0.1/24 dev right");
    let folder = std::env::temp_dir().join(format!("weft-devices-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (keys, socket) = (folder.join("hq.keys"), folder.join("socket"));
    let section = |name: &str, key: &str| {
        format!("[{name}]\nspi = \"256\"\ncipher = \"aes-128-gcm\"\nkey = \"{}\"\n", key.repeat(20))
    };
    std::fs::write(&keys, section("out", "5a") + &section("in", "a5")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let file = BESIDE_KERNEL.replace("KEYS", keys.to_str().unwrap());
    let file = format!("metrics = \"unix:{}\"\n{file}", socket.display());
    let report = while_running(&file, || follow_tables(&socket));
    sound(&report.unwrap());
    must("sysctl -qw net.ipv4.conf.right.forwarding=1");
    let error = while_running(&file, || {}).unwrap_err().to_string();
    assert!(error.contains("set net.ipv4.conf.right.forwarding to 0"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

fn follow_tables(socket: &Path) {
    let address = WatchAddress::Unix(socket.to_owned());
    let shows = |words: &str, expected: bool| {
        let shown = || watch::ask(&address, "/show").unwrap();
        let found = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(20));
            shown().contains(words) == expected
        });
        assert!(found, "{words}: {expected}: {}", shown());
    };
    must("ip route add 10.9.0.0/24 via 10.1.0.2 metric 5");
    must("ip route append 10.9.0.0/24 via 10.2.0.2 metric 5");
    must("ip route add 10.9.0.0/24 tos 0x10 via 10.2.0.3 metric 5");
    must("ip route add 10.8.0.0/16 via 10.2.0.2");
    must("ip neigh add 10.1.0.9 lladdr 02:00:00:00:01:09 dev left nud permanent");
    shows("10.1.0.9 is 02:00:00:00:01:09, left", true);
    shows("10.9.0.0/24 via 10.1.0.2, left", true);
    shows("10.8.0.0/16 through tunnel hq", true);
    must("ip route del 10.9.0.0/24 tos 0x10 via 10.2.0.3 metric 5");
    must("ip route prepend 10.9.0.0/24 via 10.2.0.7 metric 5");
    shows("10.9.0.0/24 via 10.2.0.7, right", true);
    must("ip route del 10.9.0.0/24 via 10.2.0.7 metric 5");
    shows("10.9.0.0/24 via 10.1.0.2, left", true);
    must("ip route del 10.9.0.0/24 via 10.1.0.2 metric 5");
    shows("10.9.0.0/24 via 10.2.0.2, right", true);
    must("ip route del 10.8.0.0/16 via 10.2.0.2");
    must("ip route del 10.9.0.0/24 via 10.2.0.2 metric 5");
    shows("10.9.0.0/24", false);
    shows("10.8.0.0/16 through tunnel hq", true);
    must("ip neigh change 10.1.0.9 lladdr 02:00:00:00:01:0a dev left nud permanent");
    shows("10.1.0.9 is 02:00:00:00:01:0a, left", true);
    must("ip neigh del 10.1.0.9 dev left");
    shows("10.1.0.9 is", false);
}
