//! Four routers as one on real packets: each in a namespace of its own, links between all of them, a host at each.
//!
//! Needs the right to make namespaces; says so and passes if it is missing.
#![cfg(target_os = "linux")]

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

mod spaces;

use spaces::{host, is_installed, must, run, skip, stream};

const NODES: usize = 4;

/// Namespaces of four nodes and four hosts, and the routers; all gone when it is dropped.
struct RouterCluster {
    tag: String,
    folder: PathBuf,
    routers: Vec<Option<Child>>,
}

/// A counter of a node.
type NodeCounters = String;

impl RouterCluster {
    /// A running cluster with this description; `None` without the right to make namespaces.
    fn new(name: &str, description: &str) -> Option<RouterCluster> {
        let tag = format!("weft-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(&tag);
        let mut cluster = RouterCluster { tag, folder, routers: (0..NODES).map(|_| None).collect() };
        if !run(&["ip", "netns", "add", &cluster.space("n0")]).0 {
            skip("no CAP_NET_ADMIN");
            return None;
        }
        std::fs::create_dir_all(&cluster.folder).unwrap();
        (1..NODES).for_each(|node| drop(must(&["ip", "netns", "add", &cluster.space(&format!("n{node}"))])));
        for node in 0..NODES {
            let space = cluster.space(&format!("n{node}"));
            must(&["ip", "netns", "exec", &space, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
        }
        (0..NODES).for_each(|node| cluster.host(node));
        for (one, other) in (0..NODES).flat_map(|one| (one + 1..NODES).map(move |other| (one, other))) {
            cluster.link(one, other);
        }
        let routes: String = (0..NODES)
            .map(|node| format!("[[route]]\nprefix = \"10.0.{}.0/24\"\nnode = {node}\n", node + 1))
            .collect();
        std::fs::write(cluster.folder.join("cluster.toml"), format!("{description}\n{routes}")).unwrap();
        (0..NODES).for_each(|node| cluster.start(node));
        Some(cluster)
    }

    fn space(&self, who: &str) -> String {
        format!("{}-{who}", self.tag)
    }

    /// A host 10.0.n.2 behind a node.
    fn host(&self, node: usize) {
        let (own, router) = (self.space(&format!("h{node}")), self.space(&format!("n{node}")));
        host(&own, &router, "outside");
        must(&["ip", "netns", "exec", &own, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"]);
        must(&["ip", "-n", &own, "addr", "add", &format!("10.0.{}.2/16", node + 1), "dev", "eth0"]);
    }

    fn link(&self, one: usize, other: usize) {
        let spaces = [one, other].map(|node| self.space(&format!("n{node}")));
        let names = [other, one].map(|node| format!("to{node}"));
        must(&[
            "ip", "-n", &spaces[0], "link", "add", &names[0], "type", "veth", "peer", "name", &names[1],
            "netns", &spaces[1],
        ]);
        for (space, name) in spaces.iter().zip(&names) {
            must(&["ip", "-n", space, "link", "set", name, "up"]);
        }
    }

    /// Starts the router of a node; it is forwarding when this returns.
    fn start(&mut self, node: usize) {
        let inside: String = (0..NODES)
            .filter(|other| *other != node)
            .map(|other| {
                format!(
                    "[[port]]\nname = \"to{other}\"\ndevice = \"packet:to{other}\"\nto = \"node{other}\"\n"
                )
            })
            .collect();
        let text = format!(
            "application = \"cluster\"\ncluster = \"cluster.toml\"\nnode = {node}\nmetrics = \"unix:metrics{node}\"\n\
             [[port]]\nname = \"outside\"\ndevice = \"packet:outside\"\nto = \"outside\"\n{inside}"
        );
        let file = self.folder.join(format!("node{node}.toml"));
        std::fs::write(&file, text).unwrap();
        let mut router = Command::new("ip")
            .args(["netns", "exec", &self.space(&format!("n{node}")), env!("CARGO_BIN_EXE_weft"), "router"])
            .arg(&file)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = [0; 10];
        router.stderr.as_mut().unwrap().read_exact(&mut line).unwrap();
        assert_eq!(&line, b"forwarding");
        self.routers[node] = Some(router);
    }

    /// A node dies at once.
    fn kill(&mut self, node: usize) {
        let mut router = self.routers[node].take().unwrap();
        router.kill().unwrap();
        router.wait().unwrap();
        let _ = std::fs::remove_file(self.folder.join(format!("metrics{node}")));
    }

    /// Stops a node as a person would; returns its counters.
    fn stop(&mut self, node: usize) -> NodeCounters {
        let mut router = self.routers[node].take().unwrap();
        must(&["kill", "-INT", &router.id().to_string()]);
        let mut counters = String::new();
        router.stdout.as_mut().unwrap().read_to_string(&mut counters).unwrap();
        assert!(router.wait().unwrap().success(), "{counters}");
        counters
    }

    fn within(&self, host: usize, words: &[&str]) -> (bool, String) {
        run(&[&["ip", "netns", "exec", &self.space(&format!("h{host}"))], words].concat())
    }

    /// Pings from host 0 until a round of twenty comes back whole: on a busy machine a node may be silent for a while.
    fn ping(&self, to: usize) -> String {
        let target = format!("10.0.{}.2", to + 1);
        let mut told = String::new();
        for _ in 0..20 {
            let (good, text) = self.within(0, &["ping", "-c", "20", "-i", "0.02", "-W", "2", &target]);
            if good && text.contains(" 0% packet loss") {
                return text;
            }
            told = text;
        }
        panic!("never 20 of 20: {told}");
    }

    /// Waits until all hosts have found the others' stations, and nodes their neighbours.
    fn settle(&self, to: usize) {
        let settled =
            (0..50).any(|_| self.within(0, &["ping", "-c", "1", "-W", "1", &format!("10.0.{}.2", to + 1)]).0);
        assert!(settled, "host {to} answers at last");
        std::thread::sleep(Duration::from_millis(300));
    }
}

impl Drop for RouterCluster {
    fn drop(&mut self) {
        for router in self.routers.iter_mut().flatten() {
            let _ = router.kill().and_then(|()| router.wait());
        }
        for who in (0..NODES).flat_map(|node| [format!("n{node}"), format!("h{node}")]) {
            run(&["ip", "netns", "del", &self.space(&who)]);
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The number behind a name, at the beginning of a line.
fn counter(counters: &str, name: &str) -> u64 {
    let line = counters.lines().map(str::trim).find(|line| line.split_whitespace().next() == Some(name));
    let line = line.unwrap_or_else(|| panic!("no {name}: {counters}"));
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

/// R/N is 5 Mbps: TCP's excess traffic goes by relays.
#[test]
fn streams_cross_parsed_once_and_relayed_at_most_once() {
    let description =
        "nodes = 4\nrate = \"20 Mbps\"\nlink = \"1 Gbps\"\ndepth = \"10 ms\"\ndelta = \"5 ms\"\n";
    if !is_installed("ping") {
        return;
    }
    let Some(mut cluster) = RouterCluster::new("cluster", description) else { return };
    for to in 1..NODES {
        cluster.settle(to);
        let text = cluster.ping(to);
        assert!(text.contains("ttl=63"), "{text}");
    }
    let streams = is_installed("iperf3");
    if streams {
        let [client, server] = ["h0", "h1"].map(|who| cluster.space(who));
        let (good, text) = stream(&server, &client, &["10.0.2.2", "-n", "4M", "-P", "4"]);
        assert!(good && text.contains("receiver"), "{text}");
    }
    std::thread::sleep(Duration::from_millis(200));
    let show = Command::new(env!("CARGO_BIN_EXE_weft"))
        .args(["router", "show", "node0.toml"])
        .current_dir(&cluster.folder)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&show.stdout).into_owned();
    assert!(show.status.success() && counter(&shown, "parsed") > 0, "{shown}");
    let counters: Vec<NodeCounters> = (0..NODES).map(|node| cluster.stop(node)).collect();
    let sum = |name: &str| counters.iter().map(|one| counter(one, name)).sum::<u64>();
    let dropped: u64 = counters.iter().map(|one| counter(one, "dropped")).sum();
    let all = counters.join("\n");
    // The kernel drops frames that find the socket of a busy node full, and counts them for nobody: TCP sends them
    // again.
    let chosen = sum("here") + sum("direct") + sum("relayed");
    assert!(chosen <= sum("parsed") && sum("parsed") <= chosen + dropped, "headers are parsed once: {all}");
    assert!(sum("out") <= chosen && sum("out") * 10 >= chosen * 9, "a packet leaves once: {all}");
    assert!(sum("moved") <= sum("relayed") && sum("moved") * 10 >= sum("relayed") * 9, "by one relay: {all}");
    assert_eq!(sum("astray"), 0, "{all}");
    if streams {
        for relay in [2, 3] {
            assert!(counter(&counters[relay], "moved") > 100, "{all}");
        }
        assert!(counter(&counters[0], "direct") > 100, "{all}");
    }
}

/// Nothing goes directly, so half of the traffic from 0 to 1 needs node 2.
#[test]
fn a_node_dies_and_comes_back() {
    let description = "nodes = 4\nrate = \"100 Mbps\"\ndepth = \"1 ns\"\ndelta = \"0 s\"\n";
    if !is_installed("ping") {
        return;
    }
    let Some(mut cluster) = RouterCluster::new("dies", description) else { return };
    cluster.settle(1);
    cluster.settle(2);
    cluster.ping(1);
    cluster.kill(2);
    // While its death is not known, every other packet is lost; then none, because traffic is spread over the
    // remaining nodes.
    cluster.ping(1);
    assert!(!cluster.within(0, &["ping", "-c", "1", "-W", "1", "10.0.3.2"]).0, "its own port is gone");
    cluster.start(2);
    cluster.settle(2);
    cluster.ping(1);
    let counters: Vec<NodeCounters> = (0..NODES).map(|node| cluster.stop(node)).collect();
    assert!(counter(&counters[2], "moved") >= 10, "it is used again: {}", counters[2]);
    assert!(counter(&counters[0], "unreachable") >= 1, "{}", counters[0]);
}
