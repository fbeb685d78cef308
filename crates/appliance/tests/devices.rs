//! The router on interfaces of the kernel, in a network namespace of each test.
//!
//! Needs the right to make namespaces; says so and passes if it is missing.
#![cfg(target_os = "linux")]

mod namespace;

use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weft_appliance::file::read_plan;
use weft_appliance::{WatchAddress, run, watch};
use weft_packet::capture::{enhanced_packet, interface_description, section_header};
use weft_packet::neighbour::{multicast_mac, solicited_node};
use weft_packet::{
    EtherType, EthernetFrame, EthernetHeader, Ipv4Header, Ipv6Packet, Mac, NeighbourMessage, ports,
};
use weft_router::{Backend, DropCause};

use namespace::{
    HOSTS, Host, OWN, datagram, is_inside, links, must, skip, sound, while_running, while_running_beside,
};

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

/// The MTU of the link shrinks after the start: the kernel refuses longer packets, and the rest continue.
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

/// If the MTU of the output is known, no longer packet reaches its device.
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

/// Frames for which there is no room in front of the router, and frames that fit no buffer, are in its counters; and
/// there is room for a burst.
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
    // The kernel at the left end sends a frame longer than a buffer.
    must("ip addr add 192.0.2.1/24 dev host0");
    must("ip neigh add 192.0.2.2 lladdr 02:00:00:00:01:01 dev host0");
    let socket = std::net::UdpSocket::bind("192.0.2.1:0").unwrap();
    socket.send_to(&[7; 2800], "192.0.2.2:9").unwrap();
    assert!(router.received().is_empty());
    assert_eq!(router.socket.losses().oversized, 1);
}

/// With several workers the sockets of an interface form a group, which also receives what leaves by it unless a
/// filter prevents that: frames sent by the kernel have not arrived.
#[test]
fn what_the_kernel_sends_by_a_port_has_not_arrived_there() {
    if !is_inside("what_the_kernel_sends_by_a_port_has_not_arrived_there") {
        return;
    }
    links();
    for (workers, file) in [(1, routed()), (2, routed()), (2, forwarded())] {
        let (mut kernel, mut left, mut right) = (Host::on("left"), Host::on("host0"), Host::on("host1"));
        let mut lengths = Vec::new();
        let report = while_running(&format!("workers = {workers}\n{file}"), || {
            kernel.send(&[100, 101, 102].map(datagram));
            left.send(&[200, 201].map(datagram));
            lengths = right.received().iter().map(Vec::len).collect();
        });
        let report = report.unwrap();
        assert_eq!((lengths, sound(&report).received), (vec![242, 243], 2), "{workers} workers: {report}");
    }
}

/// The kernel removes the tag, so a frame of another network looks like one of this network. A tag of VLAN 0 only
/// gives the priority.
#[test]
fn frames_of_other_networks_are_not_routed() {
    if !is_inside("frames_of_other_networks_are_not_routed") {
        return;
    }
    links();
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let mut lengths = Vec::new();
    let report = while_running(&routed(), || {
        let tagged = |length: usize, vlan: u8| {
            let plain = datagram(length);
            [&plain[..12], &[0x81, 0, 0xa0, vlan], &plain[12..]].concat()
        };
        left.send(&[tagged(100, 5), datagram(200), tagged(300, 0)]);
        lengths = right.received().iter().map(Vec::len).collect();
    });
    let report = report.unwrap();
    let counters = sound(&report);
    assert_eq!(
        (lengths, counters.dropped(DropCause::Unsupported), counters.inside()),
        (vec![242, 342], 1, 0),
        "{report}"
    );
}

/// A kernel that forwards, or another router, would send each packet a second time.
#[test]
fn nobody_else_may_forward_what_arrives_at_a_port() {
    if !is_inside("nobody_else_may_forward_what_arrives_at_a_port") {
        return;
    }
    links();
    let refused = |text: &str| while_running(text, || {}).expect_err("refused").to_string();
    must("sysctl -qw net.ipv4.conf.all.forwarding=1");
    must("sysctl -qw net.ipv4.conf.right.forwarding=0");
    sound(&while_running(&routed(), || {}).unwrap());
    ["left", "right"].iter().for_each(|name| must(&format!("ip addr add 192.0.2.1/24 dev {name}")));
    for text in [routed(), forwarded()] {
        let said = refused(&text);
        assert!(said.contains("has the address 192.0.2.1 on left") && !said.contains("on right"), "{said}");
        assert!(said.contains("set net.ipv4.conf.left.forwarding to 0"), "{said}");
    }
    must("sysctl -qw net.ipv4.conf.left.forwarding=0");
    let mut second = String::new();
    sound(&while_running(&routed(), || second = refused(&forwarded())).unwrap());
    assert_eq!(second.matches("another `weft router` forwards what arrives at").count(), 2, "{second}");
    sound(&while_running(&routed(), || {}).unwrap());
}

/// A device that disappears while the router runs ends it; with many ports, the message must say which.
#[test]
fn a_device_that_goes_is_named_with_its_port() {
    if !is_inside("a_device_that_goes_is_named_with_its_port") {
        return;
    }
    if !Path::new("/dev/net/tun").exists() {
        skip("no TAP devices");
        return;
    }
    links();
    let tap = "[[port]]\nname = \"guest\"\ndevice = \"tap:weft0\"\nmac = \"02:00:00:00:09:01\"\naddresses = [\"10.9.0.1/24\"]\n";
    let report = while_running(&(routed() + tap), || {
        must("ip link del weft0");
        std::thread::sleep(Duration::from_millis(300));
    });
    let failure = report.unwrap().failure.expect("a device has gone").to_string();
    assert!(failure.starts_with("port `guest`: TAP device weft0 has failed: "), "{failure}");
}

/// An interface that carries no Ethernet frames cannot be a port.
#[test]
fn an_interface_without_frames_is_refused() {
    if !is_inside("an_interface_without_frames_is_refused") {
        return;
    }
    links();
    let text =
        "[[port]]\nname = \"loop\"\ndevice = \"packet:lo\"\nmac = \"02:00:00:00:00:01\"\nmtu = \"1500 B\"\n";
    let said = while_running(text, || {}).expect_err("refused").to_string();
    assert!(said.contains("port `loop`: `lo` is not an Ethernet interface"), "{said}");
}

/// The disk of an output file is full: the file is named, and the counters are not lost.
#[test]
fn a_capture_without_room_is_named_and_the_counters_remain() {
    if !is_inside("a_capture_without_room_is_named_and_the_counters_remain") {
        return;
    }
    let folder = std::env::temp_dir().join(format!("weft-full-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // Only this test's namespace has the mount.
    must(&format!("mount -t tmpfs -o size=64k none {}", folder.display()));
    let mut file = [section_header(), interface_description("in")].concat();
    (0..40).for_each(|n| file.extend(enhanced_packet(0, n, &datagram(1000))));
    std::fs::write(folder.join("in.pcapng"), file).unwrap();
    let port = |name: &str, files: &str| {
        let device = "device = \"capture\"";
        let (own, host) = (OWN[usize::from(name == "right")], HOSTS[usize::from(name == "right")]);
        let to = if name == "left" { "right" } else { "left" };
        format!(
            "[[port]]\nname = \"{name}\"\n{device}\n{files}\nmac = \"{own}\"\nto = \"{to}\"\nstation = \"{host}\"\n"
        )
    };
    let text = "application = \"forward\"\n".to_owned()
        + &port("left", "read = \"in.pcapng\"")
        + &port("right", "write = \"out.pcapng\"");
    std::fs::write(folder.join("r.toml"), text).unwrap();
    let plan = read_plan(&folder.join("r.toml")).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let report = run(&plan, &AtomicBool::new(false), || Ok(())).unwrap();
    let failure = report.failure.as_ref().unwrap_or_else(|| panic!("{report}")).to_string();
    assert!(
        failure.contains("port `right`") && failure.contains("out.pcapng: cannot be written"),
        "{failure}"
    );
    assert!(report.counters.received > 10, "{report}");
}

/// A macvlan passes on only requested frames, like real cards.
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
        skip("no macvlan");
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

/// The longest packets that a buffer holds go from one AF_XDP port to another in place, and from AF_XDP to a packet socket and
/// back.
#[test]
fn af_xdp_carries_the_longest_packets() {
    if !is_inside("af_xdp_carries_the_longest_packets") {
        return;
    }
    links();
    ["left", "host0", "right", "host1"].iter().for_each(|end| must(&format!("ip link set {end} mtu 2048")));
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    for ports in [&["left", "right"][..], &["left"], &["right"]] {
        let shared = ports
            .iter()
            .fold(routed(), |file, port| file.replace(&format!("packet:{port}"), &format!("xdp:{port}")));
        let sent = [2020, 100, 2019, 18].map(datagram);
        let mut arrived = Vec::new();
        let report = while_running(&shared, || {
            left.send(&sent);
            arrived = right.received();
        });
        let report = report.unwrap();
        let counters = sound(&report);
        assert_eq!(counters.inside(), 0, "{report}");
        assert_eq!(arrived.len(), sent.len(), "{ports:?}: {report}");
        for (sent, arrived) in sent.iter().zip(&arrived) {
            // Only addresses, TTL and header checksum have changed.
            let kept = |frame: &[u8]| [&frame[12..22], &frame[26..]].concat();
            assert!(sent.len() == arrived.len() && kept(sent) == kept(arrived), "{ports:?}");
        }
    }
}

/// An IPv6 prefix goes through a tunnel, by a link whose interface alone says how narrow it is.
#[test]
fn a_tunnel_by_a_narrow_interface_is_refused_or_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    if !is_inside("a_tunnel_by_a_narrow_interface_is_refused_or_warned_of") {
        return;
    }
    links();
    let keys = std::env::temp_dir().join(format!("weft-narrow-{}", std::process::id()));
    let section = |name: &str, key: &str| {
        format!("[{name}]\nspi = \"256\"\ncipher = \"aes-128-gcm\"\nkey = \"{}\"\n", key.repeat(20))
    };
    std::fs::write(&keys, section("out", "5a") + &section("in", "a5")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tunnel = format!(
        "[[tunnel]]\nname = \"hq\"\nlocal = \"10.2.0.1\"\nremote = \"10.2.0.2\"\nkeys = \"{}\"\n\
         [[route]]\nprefix = \"2001:db8:9::/48\"\ntunnel = \"hq\"\n",
        keys.display()
    );
    let alone = routed() + &tunnel;
    sound(&while_running(&alone, || {}).unwrap());
    must("ip link set right mtu 1300");
    let said = while_running(&alone, || {}).expect_err("refused").to_string();
    assert!(
        said.contains("the tunnel `hq` carries packets of 1246 B, of the 1300 B of port `right`"),
        "{said}"
    );
    // Beside a kernel, the kernel chooses the port.
    let port = |name| format!("[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\n");
    let beside = format!("kernel = true\n{}{}{tunnel}", port("left"), port("right"));
    let plan = weft_appliance::file::parse_plan(&beside, "r.toml").unwrap();
    let remarks = weft_appliance::remarks(&plan).join("\n");
    assert!(remarks.contains("of the 1300 B of port `right`") && !remarks.contains("`left`"), "{remarks}");
    std::fs::remove_file(&keys).unwrap();
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

/// Tables of the kernel in which order matters, and a tunnel whose prefix the kernel also has.
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
    must("ip route add prohibit 10.7.0.0/16");
    must("ip neigh add 10.1.0.9 lladdr 02:00:00:00:01:09 dev left nud permanent");
    shows("10.1.0.9 is 02:00:00:00:01:09, left", true);
    shows("10.7.0.0/16 prohibited", true);
    shows("10.9.0.0/24 via 10.1.0.2, left", true);
    shows("10.8.0.0/16 through tunnel hq", true);
    filters_take_some_routes(&address);
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

/// By prefix, by an address inside, and by port.
fn filters_take_some_routes(address: &WatchAddress) {
    let routes = |prefix: Option<&str>, port: Option<&str>| {
        let [prefix, port] = [prefix, port].map(|value| value.map(str::to_owned));
        let page = watch::target("/routes", &[("prefix", &prefix), ("port", &port)]);
        watch::ask(address, &page).unwrap()
    };
    let (own, all) = ("  10.9.0.0/24 via 10.1.0.2, left\n", routes(None, None));
    assert!(all.contains(own) && all.contains("10.7.0.0/16 prohibited"), "{all}");
    for (prefix, port) in [(Some("10.9.0.0/16"), None), (Some("10.9.0.77"), Some("left"))] {
        let some = routes(prefix, port);
        assert!(some.starts_with("1 of ") && some.ends_with(own) && some.lines().count() == 2, "{some}");
    }
    let of_right = routes(None, Some("right"));
    assert!(
        of_right.contains("10.2.0.0/24 on the link of right") && !of_right.contains("left"),
        "{of_right}"
    );
    assert!(routes(Some("10.9.0.0/16"), Some("right")).starts_with("0 of "));
    let workers = watch::ask(address, "/workers").unwrap();
    assert!(workers.starts_with("worker") && !workers.contains("routes"), "{workers}");
}

/// Without the kernel's routes, those of the file leave a link that is down, and return with it.
#[test]
fn routes_of_the_file_leave_a_link_that_is_down() {
    if !is_inside("routes_of_the_file_leave_a_link_that_is_down") {
        return;
    }
    links();
    let route = "[[route]]\nprefix = \"10.9.0.0/16\"\nvia = [\"10.1.0.2\", \"10.2.0.2\"]\n";
    let mut left = Host::on("host0");
    let flows = |port: u16| {
        let ip = Ipv4Header::between([10, 1, 0, 2].into(), [10, 9, 0, 2].into());
        let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
        [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (port, 53), b"x")].concat()
    };
    let frames: Vec<_> = (0..60).map(flows).collect();
    let mut found = Vec::new();
    let report = while_running(&(routed() + route), || {
        for state in ["up", "down", "up"] {
            must(&format!("ip link set host1 {state}"));
            std::thread::sleep(Duration::from_millis(300));
            // Sockets of an interface that is down fail.
            let mut right = (state == "up").then(|| Host::on("host1"));
            left.send(&frames);
            found.push([left.received().len(), right.as_mut().map_or(0, |right| right.received().len())]);
        }
    });
    let report = report.unwrap();
    sound(&report);
    let [before, during, after] = found[..] else { panic!("{found:?}") };
    assert!(before.iter().all(|count| *count > 10) && before.iter().sum::<usize>() == 60, "{before:?}");
    assert_eq!(during, [60, 0], "{report}");
    assert_eq!(after, before, "{report}");
}

const SWITCH: &str = r#"
application = "switch"
scenario = "s.toml"
switch = "switch0"
code_points = [[46]]
metrics = "unix:SOCKET"
[[port]]
name = "left"
device = "packet:left"
to = "host1"
[[port]]
name = "right"
device = "packet:right"
to = "host2"
"#;
const SCENARIO: &str = r#"
weft = 1
name = "s"
[topology.single-switch]
hosts = 4
host_link = { rate = "100 Mbps", delay = "5 us" }
[switch]
queues = 2
schedule = "strict"
buffer = "80 kB"
sharing = { static = { per_port = "20 kB" } }
[transport.newreno]
[[traffic]]
tag = "senders"
kind = "incast"
fan_in = 3
receiver = 0
sizes = "1 MB"
"#;

/// A frame of a host for all routers, as a kernel sends one when its interface comes up.
fn solicitation(host: Mac) -> Vec<u8> {
    [&[0x33, 0x33, 0, 0, 0, 2][..], &host.0, &[0x86, 0xdd], &[0; 46]].concat()
}

/// A silent host is asked for its MAC address, and its kernel answers: no packet for it is broadcast.
#[test]
fn a_switch_asks_for_the_host_at_the_other_end() {
    if !is_inside("a_switch_asks_for_the_host_at_the_other_end") {
        return;
    }
    links();
    must("ip addr add 10.0.0.2/8 dev host1");
    let folder = std::env::temp_dir().join(format!("weft-asks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s.toml"), SCENARIO).unwrap();
    let file = SWITCH.replace("SOCKET", folder.join("socket").to_str().unwrap());
    let ip = Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
    let packet = [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (4000, 53), &[7; 100])].concat();
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let mut arrived = Vec::new();
    let report = while_running_beside(&folder, &file, || {
        left.send(&[packet.clone(), packet.clone()]);
        arrived = right.received();
    });
    let report = report.unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let of_ip = arrived.iter().filter(|frame| frame[12..14] == [8, 0]);
    let stations: Vec<&[u8]> = of_ip.map(|frame| &frame[..6]).collect();
    assert_eq!(stations, [&HOSTS[1].0[..]; 2], "{report}");
    let requests = arrived.iter().filter(|frame| frame[..6] == [0xff; 6] && frame[6..12] == OWN[1].0);
    let heads: Vec<&[u8]> = arrived.iter().map(|frame| &frame[..42]).collect();
    assert_eq!((requests.count(), sound(&report).inside()), (1, 0), "{report} {heads:02x?}");
}

/// A burst for one class of a slow port overflows the queue of this class, and no other.
#[test]
fn queues_of_a_switch_say_what_they_have_held_and_dropped() {
    if !is_inside("queues_of_a_switch_say_what_they_have_held_and_dropped") {
        return;
    }
    links();
    let folder = std::env::temp_dir().join(format!("weft-queues-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("s.toml"), SCENARIO).unwrap();
    let socket = folder.join("socket");
    let address = WatchAddress::Unix(socket.clone());
    let file = SWITCH.replace("SOCKET", socket.to_str().unwrap());
    let of_class = |code_point: u8| {
        let ip = Ipv4Header {
            traffic_class: code_point << 2,
            ..Ipv4Header::between([10, 0, 0, 1].into(), [10, 0, 0, 2].into())
        };
        let ethernet = EthernetHeader { destination: OWN[0], source: HOSTS[0], kind: EtherType::IPV4 };
        [&ethernet.to_bytes()[..], &ports::udp_v4(ip, (4000, 53), &[7; 1000])].concat()
    };
    // 1042 bytes and 24 on the wire, 85 microseconds: sent much faster than they leave.
    const WIRE: u64 = 1042 + 24;
    let (mut left, mut right) = (Host::on("host0"), Host::on("host1"));
    let (mut pages, mut arrived) = ([const { String::new() }; 4], 0);
    let report = while_running_beside(&folder, &file, || {
        right.send(&[solicitation(HOSTS[1])]);
        std::thread::sleep(std::time::Duration::from_millis(100));
        left.send(&[vec![of_class(46)], vec![of_class(0); 200]].concat());
        arrived = right.received().len() as u64;
        pages = ["/metrics", "/queues", "/queues?port=right", "/ports?port=left"]
            .map(|page| watch::ask(&address, page).unwrap());
    });
    let report = report.unwrap();
    sound(&report);
    std::fs::remove_dir_all(&folder).unwrap();
    let [metrics, queues, of_right, of_left] = pages;
    let value = |name: &str| {
        let line = metrics.lines().find(|line| line.starts_with(name));
        line.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap())
    };
    let of = |what: &str, queue: u8| format!("weft_switch_queue_{what}{{port=\"right\",queue=\"{queue}\"");
    let lost = 201 - arrived;
    assert!(lost > 100, "{report}");
    assert_eq!(value(&of("dropped_packets_total", 1)), Some(lost), "{metrics}");
    assert_eq!(value(&of("dropped_packets_total", 0)), None);
    assert_eq!(value("weft_switch_queue_dropped_packets_total{port=\"left\""), None);
    assert!(metrics.contains(&format!("queue=\"1\",reason=\"port_full\"}} {lost}")), "{metrics}");
    assert_eq!([0, 1].map(|queue| value(&of("waiting_bytes", queue))), [Some(0); 2], "all have left");
    // 18 packets fit in 20 kB.
    assert_eq!(value(&of("peak_bytes", 1)).map(|peak| peak / WIRE), Some(18));
    assert_eq!(value(&of("peak_bytes", 0)), Some(WIRE));
    let rows: Vec<Vec<&str>> = queues.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows.len(), 5, "two ports with two queues each: {queues}");
    assert_eq!(rows[4][..3], ["right", "1", "0"]);
    assert_eq!(rows[4][4..], ["port_full", &lost.to_string()], "{queues}");
    assert_eq!(rows[1], ["left", "0", "0", "0", "none"]);
    assert_eq!(of_right.lines().collect::<Vec<_>>()[1..], queues.lines().collect::<Vec<_>>()[3..]);
    assert!(of_left.lines().count() == 2 && of_left.contains("left"), "{of_left}");
}
