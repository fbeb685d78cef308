//! Tunnels of the router against strongSwan. Two of its daemons agree on keys; then one of them is killed, and the router
//! takes its place with the same keys.
//!
//! strongSwan's ESP of the plugin kernel-libipsec runs in user space, always in UDP, and needs no IPsec in the kernel. Needs
//! the right to make namespaces; says so plainly and passes where it is missing, and where strongSwan is not installed.
#![cfg(target_os = "linux")]

mod spaces;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use spaces::{Bench, is_installed, must, run, skip};

/// The daemon, and the plugins that it needs here.
const CHARON: &str = "/usr/lib/ipsec/charon";
const PLUGINS: [&str; 4] = ["gcm", "openssl", "kernel-libipsec", "vici"];

const ROUTER: &str = r#"
metrics = "unix:metrics"
[[port]]
name = "left"
device = "packet:left"
addresses = ["10.1.0.1/24"]
[[port]]
name = "right"
device = "packet:right"
addresses = ["10.2.0.1/24"]
[[tunnel]]
name = "strongswan"
local = "10.2.0.1"
remote = "10.2.0.2"
keys = "strongswan.keys"
encapsulation = "udp"
[[route]]
prefix = "10.9.0.1/32"
tunnel = "strongswan"
"#;

/// A daemon in a namespace. It writes all its files into a folder that it sees as `/var/run`.
struct Charon {
    process: Child,
    folder: PathBuf,
}

impl Charon {
    /// Starts a daemon that protects a network of its own; the addresses are its own and the other's.
    fn start(space: &str, folder: PathBuf, ends: [&str; 2], networks: [&str; 2], esp: &str) -> Charon {
        std::fs::create_dir_all(&folder).unwrap();
        // Where programs are confined by their paths, a copy may read the files in a folder of the test.
        for program in [CHARON, "/usr/sbin/swanctl"] {
            std::fs::copy(program, folder.join(Path::new(program).file_name().unwrap())).unwrap();
        }
        let place = folder.display();
        let daemon = format!(
            "charon {{\n load = random nonce aes sha1 sha2 hmac kdf gcm openssl kernel-libipsec kernel-netlink socket-default vici\n \
             filelog {{\n log {{\n path = {place}/log\n default = 1\n chd = 4\n flush_line = yes\n }}\n }}\n \
             plugins {{\n vici {{\n socket = unix://{place}/vici\n }}\n }}\n}}\n"
        );
        let ([own, far], [own_network, far_network]) = (ends, networks);
        let connection = format!(
            "connections {{\n t {{\n version = 2\n mobike = no\n rekey_time = 0\n proposals = aes128-sha256-ecp256\n \
             local_addrs = {own}\n remote_addrs = {far}\n local {{\n auth = psk\n id = {own}\n }}\n \
             remote {{\n auth = psk\n id = {far}\n }}\n children {{\n net {{\n rekey_time = 0\n life_time = 0\n \
             esp_proposals = {esp}\n local_ts = {own_network}\n remote_ts = {far_network}\n }}\n }}\n }}\n}}\n\
             secrets {{\n ike {{\n secret = weft\n }}\n}}\n"
        );
        std::fs::write(folder.join("strongswan.conf"), daemon).unwrap();
        std::fs::write(folder.join("swanctl.conf"), connection).unwrap();
        let process = Command::new("ip")
            .args(["netns", "exec", space, "sh", "-c", "mount --bind . /var/run && exec ./charon"])
            .current_dir(&folder)
            .env("STRONGSWAN_CONF", folder.join("strongswan.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let charon = Charon { process, folder };
        let configuration = charon.file("swanctl.conf");
        let load = ["--load-all", "--noprompt", "--file", &configuration];
        let loaded = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            charon.swanctl(&load).0
        });
        assert!(loaded, "{}{}", charon.swanctl(&load).1, charon.log());
        charon
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    fn swanctl(&self, words: &[&str]) -> (bool, String) {
        let (program, socket) = (self.file("swanctl"), format!("unix://{}", self.file("vici")));
        let configuration = format!("STRONGSWAN_CONF={}", self.file("strongswan.conf"));
        run(&[&["env", &configuration, &program], words, &["--uri", &socket]].concat())
    }

    /// The bytes that it logged under this name, in hexadecimal; empty if it logged none.
    fn logged_bytes(&self, name: &str) -> String {
        let log = self.log();
        let lines = log.lines().skip_while(|line| !line.contains(name)).skip(1);
        let rows = lines.map_while(|line| line.split_once("]  ").filter(|(_, row)| row.contains(": ")));
        // A row is its offset, 16 bytes at most, and the same as characters.
        let row = |(_, row): (&str, &'_ str)| -> String {
            let bytes = row.split_once(": ").unwrap().1;
            bytes[..bytes.len().min(48)].split_whitespace().collect()
        };
        rows.map(row).collect()
    }

    /// The index of its association in this direction.
    fn index(&self, direction: &str) -> String {
        let log = self.log();
        let after = log.split_once(&format!("adding {direction} ESP SA")).map_or("", |(_, after)| after);
        after.split_once("SPI ").and_then(|(_, index)| index.split(',').next()).unwrap_or_default().to_owned()
    }

    /// What it agreed on, as the router's file of keys. It was the one that began.
    fn keys(&self, cipher: &str) -> String {
        let section = |section: &str, direction: &str, role: &str| {
            let index = self.index(direction);
            let key = self.logged_bytes(&format!("encryption {role} key"));
            let integrity = self.logged_bytes(&format!("integrity {role} key"));
            let second =
                if integrity.is_empty() { String::new() } else { format!("integrity = \"{integrity}\"\n") };
            format!("[{section}]\nspi = \"{index}\"\ncipher = \"{cipher}\"\nkey = \"{key}\"\n{second}")
        };
        section("out", "outbound", "initiator") + &section("in", "inbound", "responder")
    }
}

impl Drop for Charon {
    fn drop(&mut self) {
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

/// Whether everything is there that this needs.
fn is_ready() -> bool {
    let plugins = PLUGINS.map(|name| format!("/usr/lib/ipsec/plugins/libstrongswan-{name}.so"));
    let needed = [CHARON, "/usr/sbin/swanctl", "/dev/net/tun"];
    let missing =
        needed.into_iter().chain(plugins.iter().map(String::as_str)).find(|path| !Path::new(path).exists());
    if let Some(missing) = missing {
        skip(&format!("strongSwan is not installed, or has no kernel-libipsec ({missing} is missing)"));
    }
    missing.is_none() && is_installed("ping")
}

/// A router with an association that strongSwan has agreed with another peer, and strongSwan on the right host. The
/// address 10.9.0.1 of the right host is behind the tunnel, and the left host in front of it.
fn takes_over(name: &str, esp: &str, cipher: &str) -> Option<(Bench, Charon)> {
    let mut bench = is_ready().then(|| Bench::links(name)).flatten()?;
    let router = bench.space("router");
    for (number, side) in [(1, "left"), (2, "right")] {
        bench.routed(side);
        must(&["ip", "-n", &router, "addr", "add", &format!("10.{number}.0.1/24"), "dev", side]);
    }
    bench.within("right", &["ip", "addr", "add", "10.9.0.1/32", "dev", "lo"]);
    let (ends, networks) = (["10.2.0.1", "10.2.0.2"], ["10.1.0.0/24", "10.9.0.1/32"]);
    let turned = |[own, far]: [&'static str; 2]| [far, own];
    let (far, own) = (bench.folder.join("far"), bench.folder.join("own"));
    let far = Charon::start(&bench.space("right"), far, turned(ends), turned(networks), esp);
    let mut own = Charon::start(&router, own, ends, networks, esp);
    let (agreed, text) = own.swanctl(&["--initiate", "--child", "net", "--timeout", "20"]);
    assert!(agreed, "{text}{}", far.log());
    // Killed, it cannot say that it goes.
    own.process.kill().unwrap();
    own.process.wait().unwrap();
    for side in ["left", "right"] {
        must(&["ip", "-n", &router, "addr", "flush", "dev", side]);
    }
    let (file, keys) = (bench.folder.join("router.toml"), bench.folder.join("strongswan.keys"));
    std::fs::write(&file, ROUTER).unwrap();
    std::fs::write(&keys, own.keys(cipher)).unwrap();
    std::fs::set_permissions(&keys, std::fs::Permissions::from_mode(0o600)).unwrap();
    bench.start(&file);
    Some((bench, far))
}

/// The longest packet that strongSwan puts into a tunnel; it takes longer ones out of it.
const FAR_MTU: u16 = 1400;

/// Pings from both sides of a tunnel into which the router puts packets up to this length.
fn pings_cross(bench: &Bench, mtu: u16) {
    let [left, right] = ["left", "right"].map(|side| bench.space(side));
    let from_left = ["ip", "netns", "exec", &left, "ping", "10.9.0.1", "-W", "5"];
    let from_right = ["ip", "netns", "exec", &right, "ping", "-I", "10.9.0.1", "10.1.0.2", "-W", "5"];
    for (from, mtu) in [(&from_left[..], mtu), (&from_right, FAR_MTU)] {
        // Nothing, a little, as much as fits with 28 bytes of headers, and more than one packet carries.
        for size in [0, 56, 500, mtu - 28, mtu - 27, 3000] {
            let size = size.to_string();
            let (good, text) = run(&[from, &["-M", "dont", "-c", "3", "-i", "0.05", "-s", &size]].concat());
            assert!(good && text.contains(" 0% packet loss"), "{size}: {text}");
        }
        let whole = |size: u16| run(&[from, &["-M", "do", "-c", "1", "-s", &size.to_string()]].concat());
        let (good, text) = whole(mtu - 28);
        assert!(good, "{text}");
        let (good, text) = whole(mtu - 27);
        assert!(
            !good && (text.contains(&format!("mtu = {mtu}")) || text.contains(&format!("mtu={mtu}"))),
            "{text}"
        );
    }
}

/// Waits for a packet that strongSwan has sealed and sends it once more.
const REPLAY: &str = r"
import socket, subprocess
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind(('eth0', 0))
link.settimeout(10)
subprocess.run(['ping', '-c', '1', '-W', '5', '-I', '10.9.0.1', '10.1.0.2'], check=True)
while True:
    frame = link.recv(2000)
    if frame[23] == 17 and frame[26:30] == bytes([10, 2, 0, 2]) and frame[36:38] == b'\x11\x94' and any(frame[42:46]):
        break
link.send(frame)
";

/// The number behind a word of the router's counters, or 0.
fn counted(counters: &str, name: &str) -> u64 {
    let mut words = counters.split_whitespace().skip_while(|word| *word != name);
    words.nth(1).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// Packets that the router has sealed, and packets that it has opened.
fn through_tunnels(counters: &str) -> [u64; 2] {
    let line =
        counters.lines().find(|line| line.starts_with("tunnels")).unwrap_or_else(|| panic!("{counters}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!((words[2], words[4]), ("sealed", "opened"), "{counters}");
    [words[1], words[3]].map(|word| word.parse().unwrap())
}

#[test]
fn strongswan_and_the_router_open_what_the_other_seals_with_gcm() {
    let Some((mut bench, far)) = takes_over("swan-gcm", "aes128gcm16", "aes-128-gcm") else { return };
    pings_cross(&bench, 1438);
    let replays = is_installed("python3");
    if replays {
        bench.within("right", &["python3", "-c", REPLAY]);
    }
    // A NAT keepalive, and IKE: strongSwan tries to end the association that it believes to have with the killed
    // daemon.
    bench.within("right", &["bash", "-c", r"printf '\xff' > /dev/udp/10.2.0.1/4500"]);
    far.swanctl(&["--terminate", "--ike", "t", "--timeout", "1"]);
    std::thread::sleep(Duration::from_millis(200));
    let counters = bench.stop();
    // From both sides 3 pings of 6 sizes and one more.
    let [sealed, opened] = through_tunnels(&counters);
    assert!(sealed >= 38 && opened >= 38, "{counters}");
    assert_eq!(
        (counted(&counters, "esp-replay"), counted(&counters, "nat-keepalive")),
        (replays.into(), 1),
        "{counters}"
    );
    assert!(counted(&counters, "ike") > 0, "{counters}");
    for cause in ["esp-unknown", "esp-invalid", "esp-policy", "malformed"] {
        assert!(!counters.contains(cause), "{counters}");
    }
}

#[test]
fn strongswan_and_the_router_open_what_the_other_seals_with_cbc_and_sha1() {
    let Some((mut bench, _far)) = takes_over("swan-cbc", "aes128-sha1", "aes-128-cbc-hmac-sha1") else {
        return;
    };
    pings_cross(&bench, 1422);
    let counters = bench.stop();
    let [sealed, opened] = through_tunnels(&counters);
    assert!(sealed >= 38 && opened >= 38 && !counters.contains("esp-"), "{counters}");
}
