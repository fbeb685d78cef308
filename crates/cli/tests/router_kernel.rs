//! The router beside the kernel of its namespace: routes of `ip route` and of FRR drive it.
//!
//! Needs the right to make namespaces, and FRR; says so and passes if either is missing.
#![cfg(target_os = "linux")]

mod spaces;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use spaces::{Bench, is_installed, must, run, skip};

const FILE: &str = r#"
kernel = true
metrics = "unix:metrics"
workers = 2
[[port]]
name = "left"
device = "packet:left"
[[port]]
name = "right"
device = "packet:right"
"#;

/// Namespaces whose router has the kernel's addresses; behind the right host is 10.9.0.1.
fn bench(name: &str) -> Option<Bench> {
    if !is_installed("ping") {
        return None;
    }
    let bench = Bench::links(name)?;
    let router = bench.space("router");
    must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=0"]);
    must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv4.ip_forward=0"]);
    for (number, side) in [(1, "left"), (2, "right")] {
        bench.routed(side);
        must(&["ip", "-n", &router, "addr", "add", &format!("10.{number}.0.1/24"), "dev", side]);
        let address = format!("2001:db8:{number}::1/64");
        must(&["ip", "-n", &router, "addr", "add", &address, "dev", side, "nodad"]);
    }
    bench.within("right", &["ip", "addr", "add", "10.9.0.1/32", "dev", "lo"]);
    Some(bench)
}

fn start(bench: &mut Bench) {
    let file = bench.folder.join("router.toml");
    std::fs::write(&file, FILE).unwrap();
    bench.start(&file);
}

/// Whether a ping from the left host succeeds within ten seconds.
fn reaches(bench: &Bench, target: &str) -> bool {
    (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        bench.left(&["ping", "-c", "1", "-W", "1", target]).0
    })
}

fn shown(bench: &Bench) -> String {
    let show = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["router", "show", "router.toml"])
        .current_dir(&bench.folder)
        .output()
        .unwrap();
    String::from_utf8_lossy(&show.stdout).into_owned()
}

/// Waits until the output of `weft router show` contains these words, or no longer does.
fn until_shown(bench: &Bench, words: &str, expected: bool) {
    let found = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        shown(bench).contains(words) == expected
    });
    assert!(found, "{words}: {expected}: {}", shown(bench));
}

#[test]
fn routes_links_and_addresses_of_the_kernel_are_followed() {
    let Some(mut bench) = bench("kernel") else { return };
    start(&mut bench);
    let router = bench.space("router");
    for target in ["10.2.0.2", "2001:db8:2::2", "10.1.0.1"] {
        assert!(reaches(&bench, target), "{target}: {}", shown(&bench));
    }
    let (good, text) = bench.left(&["ping", "-c", "1", "-W", "2", "10.9.0.1"]);
    assert!(!good && text.contains("From 10.1.0.1") && text.contains("Net Unreachable"), "{text}");
    must(&["ip", "-n", &router, "route", "add", "10.9.0.0/24", "via", "10.2.0.2"]);
    assert!(reaches(&bench, "10.9.0.1"), "{}", shown(&bench));
    // Next hops as FRR installs them: objects; a route names one of them.
    must(&["ip", "-n", &router, "nexthop", "add", "id", "5", "via", "10.2.0.2", "dev", "right"]);
    must(&["ip", "-n", &router, "nexthop", "add", "id", "6", "group", "5"]);
    must(&["ip", "-n", &router, "route", "add", "10.9.1.0/24", "nhid", "6"]);
    until_shown(&bench, "10.9.1.0/24 via 10.2.0.2, right", true);
    must(&["ip", "-n", &router, "nexthop", "del", "id", "5"]);
    until_shown(&bench, "10.9.1.0/24", false);
    let paths = ["nexthop", "via", "10.2.0.2", "weight", "2", "nexthop", "via", "10.1.0.2"];
    must(&[&["ip", "-n", &router, "route", "add", "192.0.2.0/24"], &paths[..]].concat());
    until_shown(&bench, "192.0.2.0/24 via 10.1.0.2, left or via 10.2.0.2, right (share 2)", true);
    let paths = ["nexthop", "via", "2001:db8:2::2", "nexthop", "via", "2001:db8:1::2"];
    must(&[&["ip", "-n", &router, "-6", "route", "add", "2001:db8:99::/64"], &paths[..]].concat());
    until_shown(&bench, "2001:db8:99::/64 via 2001:db8:1::2, left or via 2001:db8:2::2, right", true);
    // A link that goes down takes its routes along; the kernel does not report this for IPv4.
    must(&["ip", "-n", &router, "link", "set", "right", "down"]);
    until_shown(&bench, "10.2.0.0/24 on the link of right", false);
    until_shown(&bench, "192.0.2.0/24 via 10.1.0.2, left\n", true);
    must(&["ip", "-n", &router, "link", "set", "right", "up"]);
    until_shown(&bench, "10.2.0.0/24 on the link of right", true);
    must(&["ip", "-n", &router, "route", "add", "10.9.0.0/24", "via", "10.2.0.2"]);
    assert!(reaches(&bench, "10.9.0.1"), "{}", shown(&bench));
    must(&["ip", "-n", &router, "route", "del", "10.9.0.0/24"]);
    until_shown(&bench, "10.9.0.0/24", false);
    must(&["ip", "-n", &router, "addr", "del", "10.2.0.1/24", "dev", "right"]);
    until_shown(&bench, "10.2.0.1/32", false);
    let counters = bench.stop();
    assert!(!counters.contains("malformed"), "{counters}");
}

/// Straight onto a link, by a gateway outside its prefixes, to the far end of a link between two.
#[test]
fn routes_beyond_the_prefixes_of_a_link_lead_there() {
    let Some(mut bench) = bench("beyond") else { return };
    let router = bench.space("router");
    bench.within("right", &["ip", "addr", "add", "172.16.0.1/32", "dev", "lo"]);
    bench.within("right", &["ip", "addr", "add", "10.77.0.2/32", "dev", "lo"]);
    bench.within("right", &["ip", "addr", "add", "10.9.1.1/32", "dev", "lo"]);
    bench.within("right", &["ip", "addr", "add", "2001:db8:9::1/64", "dev", "eth0", "nodad"]);
    for words in [
        "route add 10.9.0.0/24 dev right",
        "route add 10.9.1.0/24 via 172.16.0.1 dev right onlink",
        "addr add 10.77.0.1 peer 10.77.0.2/32 dev right",
        "-6 route add 2001:db8:9::/64 dev right",
    ] {
        must(&[&["ip", "-n", &router], &words.split(' ').collect::<Vec<_>>()[..]].concat());
    }
    start(&mut bench);
    for target in ["10.9.0.1", "10.9.1.1", "10.77.0.2", "2001:db8:9::1"] {
        assert!(reaches(&bench, target), "{target}: {}", shown(&bench));
    }
    until_shown(&bench, "10.9.0.1/32 on the link of right", true);
    // The route of the station goes with the one onto its link.
    must(&["ip", "-n", &router, "route", "del", "10.9.0.0/24"]);
    until_shown(&bench, "10.9.0.0/24", false);
    until_shown(&bench, "10.9.0.1/32", false);
    bench.stop();
}

/// The kernel does not report the next hops that die and revive with a link or its address.
#[test]
fn a_next_hop_that_is_lost_for_a_moment_returns() {
    let Some(mut bench) = bench("moment") else { return };
    let router = bench.space("router");
    let ip = |words: &str| {
        must(&[&["ip", "-n", &router], &words.split(' ').collect::<Vec<_>>()[..]].concat());
    };
    let add = |family: &str, prefix: &str, gateways: [&str; 2]| {
        let [left, right] = gateways;
        ip(&format!("{family} route add {prefix} nexthop via {left} dev left nexthop via {right} dev right"));
    };
    add("-4", "10.50.0.0/16", ["10.1.0.2", "10.2.0.2"]);
    add("-6", "2001:db8:50::/48", ["2001:db8:1::2", "2001:db8:2::2"]);
    start(&mut bench);
    let both = [
        "10.50.0.0/16 via 10.1.0.2, left or via 10.2.0.2, right",
        "2001:db8:50::/48 via 2001:db8:1::2, left or via 2001:db8:2::2, right",
    ];
    until_shown(&bench, both[0], true);
    for _ in 0..3 {
        ip("addr del 10.2.0.1/24 dev right");
        std::thread::sleep(Duration::from_millis(100));
        ip("addr add 10.2.0.1/24 dev right");
        // Long enough for the follower of changes to finish.
        std::thread::sleep(Duration::from_millis(600));
        until_shown(&bench, both[0], true);
    }
    must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv6.conf.right.keep_addr_on_down=1"]);
    for _ in 0..3 {
        ip("link set right down");
        std::thread::sleep(Duration::from_millis(100));
        ip("link set right up");
        std::thread::sleep(Duration::from_millis(600));
        both.iter().for_each(|words| until_shown(&bench, words, true));
    }
    bench.stop();
}

/// `ip route prepend` puts a route before those with its metric, even one with the same next hops and other shares.
#[test]
fn routes_of_one_metric_follow_the_kernels_order() {
    let Some(mut bench) = bench("prepend") else { return };
    let router = bench.space("router");
    let route = |what: &str, share: &str| {
        let hops = ["nexthop", "via", "10.1.0.2", "nexthop", "via", "10.2.0.2", "weight", share];
        must(&[&["ip", "-n", &router, "route", what, "192.0.2.0/24"], &hops[..]].concat());
    };
    start(&mut bench);
    route("add", "2");
    must(&["ip", "-n", &router, "route", "prepend", "192.0.2.0/24", "via", "10.1.0.2"]);
    until_shown(&bench, "192.0.2.0/24 via 10.1.0.2, left\n", true);
    route("prepend", "5");
    until_shown(&bench, "via 10.2.0.2, right (share 5)", true);
    route("del", "5");
    until_shown(&bench, "192.0.2.0/24 via 10.1.0.2, left\n", true);
    bench.stop();
}

#[test]
fn a_kernel_that_forwards_itself_is_refused() {
    let Some(bench) = bench("forwards") else { return };
    let router = bench.space("router");
    must(&["ip", "netns", "exec", &router, "sysctl", "-qw", "net.ipv4.ip_forward=1"]);
    let file = bench.folder.join("router.toml");
    std::fs::write(&file, FILE).unwrap();
    let weft = env!("CARGO_BIN_EXE_weft");
    let (good, text) = run(&["ip", "netns", "exec", &router, weft, "router", file.to_str().unwrap()]);
    assert!(!good && text.contains("set net.ipv4.ip_forward to 0"), "{text}");
    let check = ["ip", "netns", "exec", &router, weft, "router", file.to_str().unwrap(), "--check"];
    let (good, text) = run(&check);
    assert!(good && text.contains("warning: kernel: it forwards packets itself"), "{text}");
}

/// The kernel does not know the tunnels: it must not answer packets to their UDP ports with ICMP errors.
#[test]
fn the_kernel_answers_nothing_at_the_udp_port_of_a_tunnel() {
    use std::os::unix::fs::PermissionsExt;
    let Some(mut bench) = bench("port") else { return };
    let section = |name: &str, key: &str| {
        format!("[{name}]\nspi = \"256\"\ncipher = \"aes-128-gcm\"\nkey = \"{}\"\n", key.repeat(20))
    };
    let (file, keys) = (bench.folder.join("router.toml"), bench.folder.join("far.keys"));
    std::fs::write(&keys, section("out", "5a") + &section("in", "a5")).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tunnel = "[[tunnel]]\nname = \"far\"\nlocal = \"10.2.0.1\"\nremote = \"10.2.0.2\"\nkeys = \"far.keys\"\nencapsulation = \"udp\"\n";
    let route = "[[route]]\nprefix = \"10.9.0.0/16\"\ntunnel = \"far\"\n";
    std::fs::write(&file, format!("{FILE}{tunnel}{route}")).unwrap();
    bench.start(&file);
    let right = bench.space("right");
    // A second datagram from a socket that has received an error fails.
    let twice = |port: u16| {
        let script = format!(
            "exec 3>/dev/udp/10.2.0.1/{port} && printf '\\xff' >&3 && sleep 0.3 && printf '\\xff' >&3"
        );
        run(&["ip", "netns", "exec", &right, "bash", "-c", &script])
    };
    let (good, text) = twice(4501);
    assert!(!good && text.contains("refused"), "nobody listens there: {text}");
    let (good, text) = twice(4500);
    assert!(good, "{text}");
    let counters = bench.stop();
    assert!(counters.lines().any(|line| line.split_whitespace().eq(["nat-keepalive", "2"])), "{counters}");
}

/// Daemons of FRR in a namespace, stopped when dropped.
struct Daemons(Vec<PathBuf>);

impl Daemons {
    /// zebra and a daemon of a routing protocol, which own a folder because they drop their privileges.
    fn start(space: &str, folder: &Path, (protocol, settings): (&str, &str)) -> Daemons {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("zebra.conf"), "no ip forwarding\nno ipv6 forwarding\n").unwrap();
        std::fs::write(folder.join(format!("{protocol}.conf")), settings).unwrap();
        must(&["chown", "-R", "frr:frr", folder.to_str().unwrap()]);
        let path = |name: &str| folder.join(name).display().to_string();
        let mut started = Daemons(Vec::new());
        for daemon in ["zebra", protocol] {
            let (program, conf) = (format!("/usr/lib/frr/{daemon}"), path(&format!("{daemon}.conf")));
            let (pid, socket) = (path(&format!("{daemon}.pid")), path("zserv"));
            let words = [&program, "-d", "-f", &conf, "-i", &pid, "-z", &socket, "--vty_socket"];
            must(&[&["ip", "netns", "exec", space], &words[..], &[folder.to_str().unwrap()]].concat());
            started.0.push(folder.join(format!("{daemon}.pid")));
        }
        started
    }

    /// Whether FRR has this daemon here; its user can reach the files of a bench then.
    fn are_installed(protocol: &str, bench: &Bench) -> bool {
        must(&["chmod", "755", bench.folder.to_str().unwrap()]);
        let found = Path::new("/usr/lib/frr").join(protocol).exists();
        if !found {
            skip("FRR is not installed");
        }
        found
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for file in self.0.iter().rev() {
            if let Ok(pid) = std::fs::read_to_string(file) {
                run(&["kill", pid.trim()]);
            }
        }
    }
}

#[test]
fn routes_that_frr_learns_by_ospf_are_used() {
    let Some(mut bench) = bench("frr").filter(|bench| Daemons::are_installed("ospfd", bench)) else { return };
    start(&mut bench);
    assert!(!bench.left(&["ping", "-c", "1", "-W", "1", "10.9.0.1"]).0);
    let ospf = |interface: &str| {
        format!(
            "interface {interface}\n ip ospf hello-interval 1\n ip ospf dead-interval 3\nrouter ospf\n network 10.0.0.0/8 area 0\n"
        )
    };
    let (router, right) = (bench.space("router"), bench.space("right"));
    let own = Daemons::start(&router, &bench.folder.join("frr-router"), ("ospfd", &ospf("right")));
    let far = Daemons::start(&right, &bench.folder.join("frr-right"), ("ospfd", &ospf("eth0")));
    until_shown_within(&bench, "10.9.0.1/32 via 10.2.0.2, right", 60);
    assert!(reaches(&bench, "10.9.0.1"), "{}", shown(&bench));
    // The neighbour falls silent: OSPF withdraws the route, and the router follows.
    drop(far);
    let gone = (0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        !shown(&bench).contains("10.9.0.1/32")
    });
    assert!(gone, "{}", shown(&bench));
    drop(own);
    let counters = bench.stop();
    assert!(!counters.contains("malformed"), "{counters}");
}

fn until_shown_within(bench: &Bench, words: &str, seconds: u32) {
    let found = (0..10 * seconds).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        shown(bench).contains(words)
    });
    assert!(found, "{words}: {}", shown(bench));
}

/// Requests answered over each uplink when the left host pings; each ping is a flow of its own.
fn answered(bench: &Bench) -> [u64; 2] {
    ["right", "second"].map(|side| {
        let text = must(&["ip", "netns", "exec", &bench.space(side), "cat", "/proc/net/snmp"]);
        let mut rows =
            text.lines().filter(|line| line.starts_with("Icmp:")).map(|line| line.split_whitespace());
        let (mut names, mut numbers) = (rows.next().unwrap(), rows.next().unwrap());
        let at = names.position(|name| name == "InEchos").unwrap();
        numbers.nth(at).unwrap().parse().unwrap()
    })
}

/// Pings this many addresses of the prefix that both uplinks announce; says how many each has answered. None may be lost.
fn flows(bench: &Bench, count: u64) -> [u64; 2] {
    let before = answered(bench);
    for host in 1..=count {
        let (good, text) = bench.left(&["ping", "-c", "1", "-W", "2", &format!("10.9.0.{host}")]);
        assert!(good, "{text}{}", shown(bench));
    }
    let after = answered(bench);
    [0, 1].map(|uplink| after[uplink] - before[uplink])
}

/// Two providers announce a prefix: flows take both, and all of them the one that stays when the other withdraws.
#[test]
fn paths_that_frr_learns_by_bgp_share_flows() {
    let Some(mut bench) = bench("bgp").filter(|bench| Daemons::are_installed("bgpd", bench)) else { return };
    let router = bench.space("router");
    bench.add("second");
    bench.routed("second");
    must(&["ip", "-n", &router, "addr", "add", "10.3.0.1/24", "dev", "second"]);
    for side in ["right", "second"] {
        bench.within(side, &["ip", "route", "add", "local", "10.9.0.0/24", "dev", "lo"]);
    }
    let file = bench.folder.join("router.toml");
    std::fs::write(&file, format!("{FILE}[[port]]\nname = \"second\"\ndevice = \"packet:second\"\n"))
        .unwrap();
    bench.start(&file);
    let session = |address: &str, number: u32| {
        format!(
            " neighbor {address} remote-as {number}\n neighbor {address} timers 3 30\n neighbor {address} timers connect 1\n"
        )
    };
    let bgp = |number: u32, sessions: &str, family: &str| {
        let head =
            format!("router bgp {number}\n no bgp ebgp-requires-policy\n no bgp network import-check\n");
        format!(
            "{head} bgp bestpath as-path multipath-relax\n{sessions} address-family ipv4 unicast\n  {family}\n"
        )
    };
    let provider = |side: &str| {
        let (network, number) = (spaces::number(side), 65_000 + u32::from(spaces::number(side)));
        let settings = bgp(number, &session(&format!("10.{network}.0.1"), 65_000), "network 10.9.0.0/24");
        Daemons::start(&bench.space(side), &bench.folder.join(side), ("bgpd", &settings))
    };
    let both = session("10.2.0.2", 65_002) + &session("10.3.0.2", 65_003);
    let settings = bgp(65_000, &both, "maximum-paths 2");
    let own = Daemons::start(&router, &bench.folder.join("frr-router"), ("bgpd", &settings));
    let (right, second) = (provider("right"), provider("second"));
    until_shown_within(&bench, "10.9.0.0/24 via 10.2.0.2, right or via 10.3.0.2, second", 60);
    let installed = must(&["ip", "-n", &router, "route", "show", "10.9.0.0/24"]);
    assert!(installed.contains("via 10.2.0.2") && installed.contains("via 10.3.0.2"), "{installed}");
    let shares = flows(&bench, 64);
    assert!(shares.iter().all(|share| *share >= 16) && shares.iter().sum::<u64>() == 64, "{shares:?}");
    // One provider withdraws; until the router has followed, and after, nothing is lost.
    drop(right);
    let withdrawn = (0..100).any(|_| {
        flows(&bench, 16);
        shown(&bench).contains("10.9.0.0/24 via 10.3.0.2, second\n")
    });
    assert!(withdrawn, "{}", shown(&bench));
    assert_eq!(flows(&bench, 64), [0, 64], "{}", shown(&bench));
    drop((own, second));
    let counters = bench.stop();
    assert!(!counters.contains("malformed"), "{counters}");
}
