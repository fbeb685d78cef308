//! A scenario of Weft: for each case of its sweep, one switch per tier and one kind of host. `scenario/pauses.rs`
//! reads pauses, `scenario/marks.rs` marks, `scenario/precedence.rs` classes, `scenario/color.rs` colours.

mod color;
mod marks;
mod pauses;
mod precedence;

use std::collections::BTreeMap;
use std::path::Path;
use weft_config::place::{Placed, SourceFile, Spot};
use weft_core::{Bytes, Class, HostId, LinkId, Rate, Span, SwitchId};
use weft_device_config::model::{
    CaseName, CreditLoop, Hash, HostConfig, MapKind, MemoryPool, Network, PortConfig, Profile, QueueConfig,
    Surroundings, SwitchConfig, Threshold,
};
use weft_scenario::{Case, Device, Metrics, ScenarioFile, TransportInUse, devices, ports, stacks};
use weft_switch::BalancerSettings;
use weft_switch::balance::ecmp::Seeding;
use weft_switch::share::SharingSettings;
use weft_topology::graph::Node;
use weft_topology::{Graph, Ideal, LinkState, TopologySettings, Train, build_in};
use weft_transport::settings::EcnUse;

/// The smallest frame on the wire, for round trips.
const LEAST_WIRE: Bytes = Bytes(84);

/// A class by itself, whatever its queue.
fn own(class: Class) -> usize {
    usize::from(class.0)
}

/// Reads a scenario: one network per case. The error lists the scenario's mistakes.
pub(super) fn read(number: usize, source: &SourceFile, site: &Surroundings) -> Result<Vec<Network>, String> {
    let file = ScenarioFile::parse(&source.text, &source.name).map_err(|mistakes| mistakes.short())?;
    let folder = Path::new(&source.name).parent().unwrap_or(Path::new(""));
    let scenario = file.in_folder(folder).validate(&Metrics::ANY).map_err(|mistakes| mistakes.short())?;
    let cases = scenario.cases();
    let mut networks = Vec::new();
    let mut built: Option<(&TopologySettings, Graph)> = None;
    for case in cases {
        let topology = &case.settings.topology;
        let seed = case.settings.seeds.first().copied().unwrap_or(1);
        let graph = match built.take() {
            Some((former, graph)) if former == topology => graph,
            _ => graph_of((topology, seed), folder).map_err(|why| format!("{}: {why}", source.name))?,
        };
        let name = CaseName { label: case.label(), of: cases.len() };
        let empty = Network { site: site.clone(), case: Some(name), ..Network::default() };
        let devices = devices(&case.settings, &graph);
        let stacks = stacks(&case.settings, &graph).all;
        let (device, stack) = (&devices[0], &stacks[0]);
        let reader =
            Reader { number, case, graph: &graph, devices: &devices, device, stacks: &stacks, stack };
        networks.push(Network {
            demotions: reader.demotion(folder).into_iter().collect(),
            strict: devices.iter().filter_map(|device| Reader { device, ..reader }.strict()).collect(),
            ordered: reader.ordered().collect(),
            ..reader.network(empty)
        });
        built = Some((topology, graph));
    }
    Ok(networks)
}

fn graph_of((topology, seed): (&TopologySettings, u64), folder: &Path) -> Result<Graph, String> {
    build_in(topology, folder, seed)
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// The cables of a switch, sorted: rate, delay, whether a host is at the far end, and the port's own settings.
type Cables = Vec<(Rate, Span, bool, String)>;

struct Reader<'a> {
    number: usize,
    case: &'a Case,
    graph: &'a Graph,
    devices: &'a [Device],
    /// The kind of switch being read; for a host, that of the first switch.
    device: &'a Device,
    stacks: &'a [TransportInUse],
    /// The transport being read.
    stack: &'a TransportInUse,
}

impl Reader<'_> {
    fn network(&self, mut network: Network) -> Network {
        network.switches.extend(self.switches());
        network.hosts.extend(self.stacks.iter().map(|stack| Reader { stack, ..*self }.host()));
        match self.is_small() {
            true => network.circles.extend(self.circle()),
            false => network.too_large = true,
        }
        network
    }

    fn spot(&self, path: &str) -> Spot {
        let at = match path.starts_with("transport") {
            true => self.case.offset_in(self.stack, path),
            false => self.case.offset_for(self.device, path),
        };
        Spot { file: self.number, at }
    }

    fn placed<T>(&self, value: T, path: &str) -> Placed<T> {
        Placed { value, at: self.spot(path) }
    }

    /// The switches, one for each tier, kind and set of cables: the first represents all identical ones.
    fn switches(&self) -> Vec<SwitchConfig> {
        let firsts = self.firsts();
        let role = |id: SwitchId| self.graph.switches()[id.index()].role();
        let alike = |of: &str| firsts.iter().filter(|(_, id)| role(*id) == of).count();
        let named = |(kind, id): &(usize, SwitchId)| {
            let (first, role) = (&self.graph.switches()[id.index()], role(*id));
            let mut switch = Reader { device: &self.devices[*kind], ..*self }.switch(*id);
            if alike(role) == 1 {
                return SwitchConfig { name: role.to_owned(), ..switch };
            }
            switch.ports.iter_mut().for_each(|port| port.name = format!("{} {}", first.name, port.name));
            SwitchConfig { name: format!("{role} ({})", first.name), ..switch }
        };
        firsts.iter().map(named).collect()
    }

    /// The first switch of each tier, kind of settings, and set of cables, with the number of its kind.
    fn firsts(&self) -> Vec<(usize, SwitchId)> {
        let own = ports(&self.case.settings, self.graph);
        let said = |id: LinkId| own.get(&id).map_or(String::new(), |port| format!("{port:?}"));
        let mut firsts: BTreeMap<(u8, usize, Cables), SwitchId> = BTreeMap::new();
        for (kind, device) in self.devices.iter().enumerate() {
            for switch in &device.switches {
                let tier = self.graph.switches()[switch.index()].tier;
                firsts.entry((tier, kind, self.cables(*switch, said))).or_insert(*switch);
            }
        }
        let mut firsts: Vec<_> = firsts.into_iter().map(|((tier, kind, _), id)| (tier, kind, id)).collect();
        firsts.sort_unstable();
        firsts.into_iter().map(|(_, kind, id)| (kind, id)).collect()
    }

    fn cables(&self, switch: SwitchId, said: impl Fn(LinkId) -> String) -> Cables {
        let first = self.graph.first_link(Node::Switch(switch)).0;
        let links = self.graph.links_of(Node::Switch(switch)).iter().zip(first..);
        let cable = |(link, number): (&weft_topology::Link, u32)| {
            (link.rate, link.delay, matches!(link.to, Node::Host(_)), said(LinkId(number)))
        };
        let mut cables: Cables = links.map(cable).collect();
        cables.sort_unstable();
        cables
    }

    fn switch(&self, id: SwitchId) -> SwitchConfig {
        let settings = &self.device.switch;
        let profile = self.profile();
        let (mut markings, mut held) = (Vec::new(), None);
        let own = ports(&self.case.settings, self.graph);
        let first = self.graph.first_link(Node::Switch(id)).0;
        let links = self.graph.links_of(Node::Switch(id)).iter().enumerate();
        let port = |(number, link): (usize, &weft_topology::Link)| {
            let set = match own.get(&LinkId(first + number as u32)) {
                Some(port) if port.ecn != settings.ecn => (&port.ecn, "switch.port"),
                _ => (&settings.ecn, "switch.ecn"),
            };
            held = held.take().or_else(|| self.held(set));
            let marking = self.marking(set).map(|marking| at_or_added(&mut markings, marking));
            let queue = QueueConfig { profile: profile.as_ref().map(|_| 0), marking };
            PortConfig {
                name: format!("port {number}"),
                speed: Some(link.rate),
                mtu: self.mtu(),
                up: true,
                queues: (0..settings.queues as u8).map(|number| (number, queue.clone())).collect(),
                maps: BTreeMap::<MapKind, _>::new(),
                ..PortConfig::default()
            }
        };
        let ports: Vec<PortConfig> = links.map(port).collect();
        let mut switch = SwitchConfig {
            at: self.spot("switch"),
            role: Some(self.graph.switches()[id.index()].role().to_owned()),
            memory: self.pool().size,
            pools: vec![self.pool()],
            profiles: profile.into_iter().collect(),
            markings,
            held,
            ports,
            hash: self.hash(),
            red: self.red(),
            class_queues: (0..8).map(|class| settings.queue_of(Class(class)) as u8).collect(),
            carried: Some(self.carried(|class| settings.queue_of(class), |_| true)),
            credits: self.credits(),
            ..SwitchConfig::default()
        };
        if settings.pfc.is_on() {
            self.pause(&mut switch, id);
        }
        switch
    }

    /// The memory that limits draw from: with virtual output queues, the deep memory, if they ever move there.
    fn pool(&self) -> MemoryPool {
        let (name, size) = match &self.device.switch.voq {
            Some(voq) if voq.spill < voq.limit => ("switch.voq.deep", Some(voq.deep)),
            Some(voq) => ("switch.voq.on_chip", Some(voq.on_chip)),
            None => ("switch.buffer", self.device.switch.buffer),
        };
        MemoryPool {
            at: self.spot(name),
            name: name.to_owned(),
            size,
            headroom: None,
            ingress: false,
            egress: true,
        }
    }

    /// What virtual output queues need of memory and of the fabric.
    fn credits(&self) -> Option<CreditLoop> {
        let voq = self.device.switch.voq.as_ref()?;
        let moves = voq.spill < voq.limit;
        Some(CreditLoop {
            deep_rate: moves.then(|| self.placed(voq.deep_rate, "switch.voq.deep_rate")),
            output: self.placed(voq.output, "switch.voq.output"),
            credit: voq.credit,
            latency: voq.credit_delay + voq.crossing,
        })
    }

    /// The limit of a queue under the sharing rule.
    fn profile(&self) -> Option<Profile> {
        use {SharingSettings as Sharing, Threshold::*};
        let settings = &self.device.switch;
        let (threshold, path) = match (&settings.voq, &settings.sharing) {
            (Some(voq), _) => (Static(voq.limit), "switch.voq.limit"),
            (_, Sharing::Mmu(own)) => (Dynamic(own.queue_alpha), "switch.sharing.mmu.queue_alpha"),
            (_, Sharing::Infinite(_)) => return None,
            _ if settings.pfc.all_lossless(settings.queues) => return None,
            (_, Sharing::Fixed(own)) => (Static(own.per_port), "switch.sharing.static.per_port"),
            (_, Sharing::Dynamic(own)) => (Dynamic(own.alpha), "switch.sharing.dynamic.alpha"),
        };
        Some(Profile {
            at: self.spot(path),
            name: if settings.voq.is_some() { "switch.voq" } else { "switch.sharing" }.to_owned(),
            pool: Some(0),
            reserved: Bytes::ZERO,
            threshold: Some(self.placed(threshold, path)),
            headroom: None,
            xon: None,
            xon_offset: None,
            made_for: None,
            lossless: false,
        })
    }

    /// The hash and its seed: only ECMP can give all switches one seed; other balancers draw their own. Seeds of CRCs are as
    /// good as one.
    fn hash(&self) -> Option<Hash> {
        let BalancerSettings::Ecmp(own) = &self.device.balance else { return None };
        let function = format!("{:?}", own.hash).to_lowercase();
        let linear = function.starts_with("crc");
        let path = if linear { "balance.ecmp.hash" } else { "balance.ecmp.seeding" };
        let seeding = if own.seeding == Seeding::Same { "same" } else { "per-switch" };
        (linear || own.seeding == Seeding::Same).then(|| Hash {
            at: self.spot(path),
            function,
            seed: 0,
            origin: format!("seeding = \"{seeding}\""),
        })
    }

    fn mtu(&self) -> Bytes {
        self.stack.transport.stack().sizes().mtu
    }

    fn host(&self) -> HostConfig {
        let transport = &self.stack.transport;
        let payload = self.carried(own, |stack| stack == Some(transport));
        if payload.is_empty() && !self.carried(own, |stack| stack.is_none()).is_empty() {
            return self.host_of_datagrams();
        }
        let (tcp, stack) = (transport.tcp(), transport.stack());
        let dctcp = tcp.is_some() && stack.goes_by_marks();
        let tcp_ecn = match tcp.as_ref().map(|tcp| tcp.ecn) {
            _ if stack.reads_marks() => 1,
            Some(EcnUse::Accept | EcnUse::On) => 2,
            Some(EcnUse::Off) | None => 0,
        };
        let law = if dctcp { "dctcp" } else { "another" };
        let path = if dctcp { format!("transport.{}", transport.name()) } else { "transport".to_owned() };
        let path = path.as_str();
        let constant = tcp.as_ref().and_then(|tcp| Some((tcp.receive_window?, "receive_window")));
        let tuned = tcp.as_ref().and_then(|tcp| Some((tcp.autotune.as_ref()?.max, "autotune.max")));
        let window = constant.or(tuned);
        HostConfig {
            law: Some(self.placed(law.to_owned(), path)),
            ecn: Some(self.placed(tcp_ecn, path)),
            transport: transport.name().to_owned(),
            ecn_fallback: None,
            receive: window.map(|(window, name)| self.placed(window, &format!("{path}.{name}"))),
            marks_by: tcp.is_some().then(|| self.at_its_level("ecn", " = \"on\"")),
            window_by: self.at_its_level(window.map_or("receive_window", |(_, name)| name), ""),
            send: None,
            window_share: (1.0, 1.0),
            window_scale: None,
            burst: tcp.filter(|tcp| tcp.tso).map_or(self.mtu(), |tcp| tcp.tso_limit),
            rate: self.host_rate(),
            rtt: Some(self.rtt()),
            payload,
            notifications: self.notifications(),
            needs_no_marks: self.needs_no_marks(),
        }
    }

    /// A host all of whose flows are datagrams at a constant rate, which no setting of a transport changes.
    fn host_of_datagrams(&self) -> HostConfig {
        HostConfig {
            law: Some(self.placed("another".to_owned(), "transport")),
            ecn: Some(self.placed(0, "transport")),
            transport: "constant-rate traffic".to_owned(),
            window_share: (1.0, 1.0),
            burst: self.mtu(),
            rate: self.host_rate(),
            rtt: Some(self.rtt()),
            ..HostConfig::default()
        }
    }

    /// A setting of the transport, and the kind of entry that chooses this transport if it is not `[transport]`.
    fn at_its_level(&self, setting: &str, value: &str) -> String {
        let level = self.stack.levels.last().and_then(|level| level.split('[').next());
        let place = level.map_or(String::new(), |level| format!(" in [[{level}]]"));
        format!("{}{value}{place}", self.transport(setting))
    }

    fn host_rate(&self) -> Option<Rate> {
        let state = LinkState::all_up(self.graph);
        self.graph.host_rates(&state).into_iter().max()
    }

    /// The longest round trip of a minimum-size packet between hosts of different leaves, from leaves of each kind.
    fn rtt(&self) -> Span {
        let state = LinkState::all_up(self.graph);
        let mut latencies = vec![Span::ZERO; self.graph.switches().len()];
        for device in self.devices {
            device.switches.iter().for_each(|switch| latencies[switch.index()] = device.switch.latency);
        }
        let mut ideal = Ideal::with_latencies(self.graph, &state, latencies);
        let train = Train { count: 1, full_wire: LEAST_WIRE, last_wire: LEAST_WIRE, handshake: None };
        let mut leaves = BTreeMap::new();
        for host in (0..self.graph.hosts()).map(HostId) {
            leaves.entry(self.graph.switch_of_host(host)).or_insert(host);
        }
        let mut round = |(from, to)| ideal.fct(from, to, &train) + ideal.fct(to, from, &train);
        let kinds: Vec<HostId> = self.firsts().iter().filter_map(|(_, id)| leaves.get(id).copied()).collect();
        let pairs = kinds.iter().flat_map(|from| leaves.values().map(move |to| (*from, *to)));
        let across = pairs.filter(|(from, to)| from != to).map(&mut round).max();
        let within = || Some(round((HostId(0), HostId(1)))).filter(|_| self.graph.hosts() > 1);
        across.or_else(within).unwrap_or(Span::ZERO)
    }
}

/// The place of a value in a list, to which it is added if it is new.
fn at_or_added<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}
