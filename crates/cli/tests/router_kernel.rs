//! The router beside the kernel of its namespace: routes of `ip route` and of FRR drive it.
//!
//! Needs the right to make namespaces; says so plainly and passes where it is missing, and where FRR is not installed.
#![cfg(target_os = "linux")]

mod spaces;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use spaces::{Bench, is_installed, must, run};

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

/// Waits until what the router shows has these words, or has not.
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
    // Next hops as FRR installs them: objects, of which a route names one.
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
    // A link that goes down takes its routes along; the kernel does not say so of IPv4.
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
}

/// Daemons of FRR in a namespace, stopped when dropped.
struct Daemons(Vec<PathBuf>);

impl Daemons {
    const OSPF: &str = "interface IF\n ip ospf hello-interval 1\n ip ospf dead-interval 3\nrouter ospf\n network 10.0.0.0/8 area 0\n";

    /// zebra and ospfd, which own a folder because they drop their privileges.
    fn start(space: &str, interface: &str, folder: &Path) -> Daemons {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("zebra.conf"), "no ip forwarding\nno ipv6 forwarding\n").unwrap();
        std::fs::write(folder.join("ospfd.conf"), Daemons::OSPF.replace("IF", interface)).unwrap();
        must(&["chown", "-R", "frr:frr", folder.to_str().unwrap()]);
        let path = |name: &str| folder.join(name).display().to_string();
        let mut started = Daemons(Vec::new());
        for daemon in ["zebra", "ospfd"] {
            let (program, conf) = (format!("/usr/lib/frr/{daemon}"), path(&format!("{daemon}.conf")));
            let (pid, socket) = (path(&format!("{daemon}.pid")), path("zserv"));
            let words = [&program, "-d", "-f", &conf, "-i", &pid, "-z", &socket, "--vty_socket"];
            must(&[&["ip", "netns", "exec", space], &words[..], &[folder.to_str().unwrap()]].concat());
            started.0.push(folder.join(format!("{daemon}.pid")));
        }
        started
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
    if !Path::new("/usr/lib/frr/ospfd").exists() {
        return eprintln!("skipped: FRR is not installed");
    }
    let Some(mut bench) = bench("frr") else { return };
    // The daemons' user must reach their files.
    must(&["chmod", "755", bench.folder.to_str().unwrap()]);
    start(&mut bench);
    assert!(!bench.left(&["ping", "-c", "1", "-W", "1", "10.9.0.1"]).0);
    let own = Daemons::start(&bench.space("router"), "right", &bench.folder.join("frr-router"));
    let far = Daemons::start(&bench.space("right"), "eth0", &bench.folder.join("frr-right"));
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
