//! Hosts and cables: a namespace for each host, one for all switches, and pairs of virtual interfaces between them.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use weft_core::{HostId, PortId, Rate};
use weft_packet::Mac;
use weft_plan::Setup;
use weft_topology::{CableEnd, Node};

use crate::host_tcp::{HostTcp, tcp_ecn};
use crate::space::Space;
use crate::system;

/// The address of host 0, as the router's switch expects it.
const FIRST_HOST: u32 = 0x0a00_0000;
/// The next hop of hosts: the switch at the other end of their cable.
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 255, 255, 254);
/// Bytes that may wait in front of a host's card; the kernel lets a connection have few packets there.
const CARD_LIMIT: u64 = 64 << 20;

/// How often, and how many times, an interface is asked whether it is connected.
const READY_EVERY: Duration = Duration::from_millis(10);
const READY_LOOKS: u32 = 1_000;

/// The namespaces of a lab.
#[derive(Debug)]
pub(crate) struct Testbed {
    /// The namespace of the switches.
    pub(crate) switches: Space,
    /// The namespace of each host.
    pub(crate) hosts: Vec<Space>,
    /// Switches that the kernel's TCP lacks.
    pub(crate) missing: Vec<&'static str>,
}

/// The address of a host.
pub(crate) fn address(host: HostId) -> Ipv4Addr {
    Ipv4Addr::from(FIRST_HOST + host.0)
}

/// The name of the interface of a switch's port.
pub(crate) fn interface(switch: u32, port: PortId) -> String {
    format!("s{switch}p{}", port.0)
}

/// The station address of a node's port.
pub(crate) fn station(node: Node, port: PortId) -> Mac {
    let [high, low] = port.0.to_be_bytes();
    match node {
        Node::Host(host) => {
            let [a, b, c, d] = host.0.to_be_bytes();
            Mac([2, 1, a, b, c, d])
        }
        Node::Switch(switch) => {
            let [.., a, b] = switch.0.to_be_bytes();
            Mac([2, 0, a, b, high, low])
        }
    }
}

impl Testbed {
    /// Makes the namespaces and everything in them.
    ///
    /// # Errors
    /// A privilege, a program or a part of the kernel is missing.
    pub(crate) fn build(setup: &Setup, tcp: &HostTcp, scale: u64) -> io::Result<Testbed> {
        let hosts = (0..setup.graph.hosts()).map(|_| Space::new()).collect::<io::Result<Vec<_>>>()?;
        let switches = Space::new()?;
        let mut testbed = Testbed { switches, hosts, missing: Vec::new() };
        testbed.switches.switch(&[])?;
        testbed.switches.batch("ip", &testbed.cables(setup, tcp))?;
        for (number, host) in testbed.hosts.iter().enumerate() {
            let host_id = HostId(number as u32);
            testbed.missing = host.switch(&[tcp.switches.as_slice(), &[tcp_ecn(setup, host_id)]].concat())?;
            host.batch("ip", &addresses(setup, host_id, tcp))?;
            let rate = setup.graph.links_of(Node::Host(host_id))[0].rate;
            host.batch("tc", &[card(Rate(rate.0 / scale), tcp)])?;
        }
        testbed.wait_until_ready(setup)?;
        Ok(testbed)
    }

    /// The kernel takes up to a second to accept that a cable is connected; until then it drops what is sent.
    fn wait_until_ready(&self, setup: &Setup) -> io::Result<()> {
        let of_switches = |cable: &CableEnd| match cable.node {
            Node::Switch(switch) => Some(interface(switch.0, cable.port)),
            Node::Host(_) => None,
        };
        let up = |number: &usize| setup.timeline.initial.is_up(*number);
        let cables = (0..setup.graph.cables().len()).filter(up).map(|number| &setup.graph.cables()[number]);
        let names: Vec<String> =
            cables.flat_map(|cable| [cable.a, cable.b]).filter_map(|end| of_switches(&end)).collect();
        self.switches.within(|| names.iter().try_for_each(|name| until_running(name)))?;
        self.hosts.iter().try_for_each(|host| host.within(|| until_running("eth0")))
    }

    /// The lines of `ip` that make all cables in the namespace of the switches.
    fn cables(&self, setup: &Setup, tcp: &HostTcp) -> Vec<String> {
        let up = |number: &usize| setup.timeline.initial.is_up(*number);
        let cables = (0..setup.graph.cables().len()).filter(up).map(|number| &setup.graph.cables()[number]);
        let mtu = tcp.mtu.0;
        let mut lines = Vec::new();
        for cable in cables {
            let (near, far) = match cable.a.node {
                Node::Host(_) => (cable.b, cable.a),
                Node::Switch(_) => (cable.a, cable.b),
            };
            let end = |end: &CableEnd| match end.node {
                Node::Host(_) => "eth0".to_owned(),
                Node::Switch(switch) => interface(switch.0, end.port),
            };
            let place = match far.node {
                Node::Host(host) => format!(" netns {}", self.hosts[host.index()].path()),
                Node::Switch(_) => String::new(),
            };
            let [own, other] = [near, far].map(|end| station(end.node, end.port));
            let (name, peer) = (end(&near), end(&far));
            lines.push(format!(
                "link add {name} mtu {mtu} address {own} type veth peer name {peer} mtu {mtu} address {other}{place}"
            ));
            lines.push(format!("link set {name} up"));
            if place.is_empty() {
                lines.push(format!("link set {peer} up"));
            }
        }
        lines
    }
}

fn until_running(name: &str) -> io::Result<()> {
    for _ in 0..READY_LOOKS {
        if system::is_running(name)? {
            return Ok(());
        }
        std::thread::sleep(READY_EVERY);
    }
    Err(io::Error::other(format!("interface {name} is not connected after {} s", READY_LOOKS / 100)))
}

/// The lines of `ip` that give a host its address and its route.
fn addresses(setup: &Setup, host: HostId, tcp: &HostTcp) -> Vec<String> {
    let link = setup.graph.links_of(Node::Host(host))[0];
    let gateway = station(link.to, link.to_port);
    vec![
        "link set lo up".to_owned(),
        // Packets leave one by one, as on a cable.
        "link set eth0 gso_max_segs 1 up".to_owned(),
        format!("addr add {}/32 dev eth0", address(host)),
        format!("neigh add {GATEWAY} lladdr {gateway} dev eth0 nud permanent"),
        format!("route add default via {GATEWAY} dev eth0 onlink {}", tcp.route),
    ]
}

/// The line of `tc` that makes the card send at the rate of the link, so that the kernel experiences it.
fn card(rate: Rate, tcp: &HostTcp) -> String {
    let burst = 2 * (tcp.mtu.0 + 38);
    format!(
        "qdisc add dev eth0 root tbf rate {}bit burst {burst} limit {CARD_LIMIT} overhead 24 mpu 84",
        rate.0
    )
}
