//! Vectors for the schemes that the hardware is compared with (`hdl/drill/compare`): requests one after the other, and the
//! ports that the simulator's own balancers allow. Must not decide anything itself.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use weft_core::{Component, GroupId, Purpose, Random, Span, SwitchId, Time};
use weft_switch::balance::conga::{Conga, CongaSettings};
use weft_switch::balance::ecmp::{Ecmp, EcmpSettings};
use weft_switch::balance::flow_drill::{FlowDrill, FlowDrillSettings};
use weft_switch::balance::{Balancer, BalancerSite};
use weft_switch::hash::{FlowHash, HashFunction};
use weft_switch::{Candidates, flowlet};

use crate::lfsr::Registers;
use crate::line::VectorLine;
use crate::reference::{ComponentRow, GroupTable, PacketRequest};

/// Ports of the switch.
const PORTS: usize = 12;
const GROUPS: usize = 2;
const COMPONENTS: usize = 2;
const WEIGHT_BITS: usize = 4;
/// Bits of a queue length, and of a congestion metric.
const LOAD: usize = 8;
const METRIC: usize = 3;
/// The seed of the shift register.
const SEED: u64 = 0x5745_4654_434d_5052;
/// Different flows.
const FLOWS: u32 = 200;
const SITE: BalancerSite = BalancerSite { seed: 1, switch: SwitchId(0), engine: 0 };

/// A scheme by which vectors are decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedScheme {
    /// [`Ecmp`].
    Ecmp,
    /// [`FlowDrill`].
    FlowDrill,
    /// [`Conga`].
    Conga,
}

impl ComparedScheme {
    /// All of them.
    pub const ALL: [ComparedScheme; 3] =
        [ComparedScheme::Ecmp, ComparedScheme::FlowDrill, ComparedScheme::Conga];

    /// The name of its module, without `_engine`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ComparedScheme::Ecmp => "ecmp",
            ComparedScheme::FlowDrill => "flow_drill",
            ComparedScheme::Conga => "conga",
        }
    }
}

/// A request to an engine, and its valid answers.
#[derive(Clone, Debug)]
pub struct ComparedRequest {
    packet: PacketRequest,
    up: Vec<u16>,
    /// Queue lengths or the uplinks' own metrics, and the metrics that the destination's leaf has reported, by port.
    loads: Vec<u64>,
    told: Vec<u64>,
    flowlet: KnownFlowlet,
    /// Ports that the simulator's balancer may choose: one, unless it draws.
    pub allowed: Vec<u16>,
}

/// What an external flowlet table knows about a packet's flow.
#[derive(Clone, Copy, Debug, Default)]
struct KnownFlowlet {
    port: Option<u16>,
    last: Time,
}

/// Draws requests and has them decided.
pub struct ComparedSwitch {
    scheme: ComparedScheme,
    random: Random,
    table: GroupTable,
    rows: Vec<ComponentRow>,
    down: Option<u16>,
    now: Time,
    ecmp: Ecmp,
    flow_drill: FlowDrill,
    conga: Conga,
    draws: Random,
    registers: Registers,
    flowlets: Vec<KnownFlowlet>,
    flows: Vec<u32>,
}

impl ComparedSwitch {
    /// Creates a switch whose rows stay.
    #[must_use]
    pub fn new(scheme: ComparedScheme) -> ComparedSwitch {
        let mut random = Random::new(1, Purpose::Test, scheme as u64);
        let rows = rows(scheme, &mut random);
        let mut table = GroupTable::new(GROUPS, COMPONENTS);
        table.install(&rows);
        ComparedSwitch {
            scheme,
            table,
            rows,
            down: None,
            now: Time(0),
            ecmp: Ecmp::new(&EcmpSettings::default(), SITE),
            flow_drill: FlowDrill::new(&FlowDrillSettings::default(), SITE),
            conga: Conga::new(&conga(), SITE),
            draws: Random::new(2, Purpose::Test, 0),
            registers: Registers::new(SEED, 0, 2, 48),
            flowlets: vec![KnownFlowlet::default(); FLOWS as usize],
            flows: different_flows(&mut random),
            random,
        }
    }

    /// The next request.
    pub fn next_request(&mut self) -> ComparedRequest {
        self.fail_or_mend();
        let place = self.random.below(FLOWS) as usize;
        let group = (place % GROUPS) as u16;
        let packet = PacketRequest { group, flow: self.flows[place], size: 1 };
        let most = if self.scheme == ComparedScheme::FlowDrill { 6 } else { 1 << METRIC };
        let mut draw = || (0..PORTS).map(|_| u64::from(self.random.below(most))).collect();
        let (loads, told) = (draw(), draw());
        self.now += Span::from_us(u64::from(self.random.below(10)));
        let flowlet = self.flowlets[place];
        let up = (0..PORTS as u16).filter(|port| Some(*port) != self.down).collect();
        let mut request = ComparedRequest { packet, up, loads, told, flowlet, allowed: Vec::new() };
        let (port, allowed) = self.decide(&request);
        request.allowed = allowed;
        if port.is_some() {
            self.flowlets[place] = KnownFlowlet { port, last: self.now };
        }
        request
    }

    /// At most one link is down at any time.
    fn fail_or_mend(&mut self) {
        if !self.random.chance(0.02) {
            return;
        }
        match self.down.take() {
            Some(port) => self.table.set_port(port, true),
            None => {
                let port = self.random.below(PORTS as u32) as u16;
                self.table.set_port(port, false);
                self.down = Some(port);
            }
        }
        self.flow_drill.groups_changed();
    }

    /// The simulator's chosen port, if there is one, and all ports that it might equally have drawn.
    fn decide(&mut self, request: &ComparedRequest) -> (Option<u16>, Vec<u16>) {
        let mut word = self.registers.draw();
        let Some((group, component)) = self.table.route(request.packet) else { return (None, Vec::new()) };
        if let [only] = component.ports[..] {
            return (None, vec![only.0]);
        }
        let header = request.packet.header();
        let loads = &request.loads[..];
        let mut candidates = Candidates::with_loads(group, component, loads);
        let place = match self.scheme {
            ComparedScheme::Ecmp => self.ecmp.choose(&header, &mut candidates, self.now, &mut self.draws),
            ComparedScheme::FlowDrill => {
                self.flow_drill.choose_by(&header, &mut candidates, self.now, &mut word)
            }
            ComparedScheme::Conga => {
                let component = component.clone();
                return self.by_congestion(request, group, &component);
            }
        };
        let port = component.ports[place].0;
        (Some(port), vec![port])
    }

    /// CONGA draws only among ports of equal metrics; whether it did shows in its random stream.
    fn by_congestion(
        &mut self,
        request: &ComparedRequest,
        group: GroupId,
        component: &Component,
    ) -> (Option<u16>, Vec<u16>) {
        let metrics: Vec<u8> =
            request.loads.iter().zip(&request.told).map(|(own, told)| *own.max(told) as u8).collect();
        let mut candidates =
            Candidates::with_loads(group, component, &request.loads).with_congestion(&metrics);
        let mut undrawn = self.draws.clone();
        let place = self.conga.choose(&request.packet.header(), &mut candidates, self.now, &mut self.draws);
        let port = component.ports[place].0;
        let drew = undrawn.bits() != self.draws.clone().bits();
        let equal = |other: &u16| metrics[usize::from(*other)] == metrics[usize::from(port)];
        let ports = component.ports.iter().map(|port| port.0);
        (Some(port), if drew { ports.filter(equal).collect() } else { vec![port] })
    }
}

impl ComparedRequest {
    fn line(&self, gap: Span, now: Time) -> String {
        let mut line = VectorLine::default();
        let spread = FlowHash::of_switch(HashFunction::Mix, SITE).of(&self.packet.header().tuple());
        line.set(&self.up, PORTS).field(u64::from(self.packet.group), 16);
        line.field(u64::from(self.packet.hash()), 32).field(u64::from(spread), 32);
        for (values, width) in [(&self.loads, LOAD), (&self.told, METRIC)] {
            for value in values.iter().rev() {
                line.field(*value, width);
            }
        }
        let alive = self.flowlet.port.is_some() && now.since(self.flowlet.last) <= gap;
        line.flag(self.flowlet.port.is_some()).flag(alive);
        line.field(u64::from(self.flowlet.port.unwrap_or(0)), 8).set(&self.allowed, PORTS);
        line.hex()
    }
}

/// Flowlets end after 500 us, as by default; the table is exact, so that flows never share an entry.
fn conga() -> CongaSettings {
    let flowlets = flowlet::FlowletSettings { exact: true, ..flowlet::FlowletSettings::default() };
    CongaSettings { flowlets, ..CongaSettings::default() }
}

/// Flows that differ in the low 16 bits of their hash, which index the flow table of the hardware.
fn different_flows(random: &mut Random) -> Vec<u32> {
    let mut seen = std::collections::HashSet::new();
    let mut flows = Vec::new();
    while flows.len() < FLOWS as usize {
        let flow = random.bits() as u32;
        let group = (flows.len() % GROUPS) as u16;
        if seen.insert(PacketRequest { group, flow, size: 1 }.hash() as u16) {
            flows.push(flow);
        }
    }
    flows
}

/// Rows for both groups. A pinned flow keeps its component, so per-flow DRILL has one per group, and always a choice.
fn rows(scheme: ComparedScheme, random: &mut Random) -> Vec<ComponentRow> {
    let one = scheme == ComparedScheme::FlowDrill;
    let row = |number: usize| {
        let count = if one { 6 } else { random.below(7) };
        let mut members: Vec<u16> =
            random.distinct(count, PORTS as u32).into_iter().map(|port| port as u16).collect();
        members.sort_unstable();
        let second = !number.is_multiple_of(COMPONENTS);
        let weight = 1 + u64::from(random.below((1 << WEIGHT_BITS) - 1));
        ComponentRow { members: if one && second { Vec::new() } else { members }, weight }
    };
    (0..GROUPS * COMPONENTS).map(row).collect()
}

/// Writes the vectors of a scheme into a folder.
///
/// # Errors
/// When a file cannot be written.
pub fn write(scheme: ComparedScheme, decisions: u64, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut switch = ComparedSwitch::new(scheme);
    let mut rows = BufWriter::new(File::create(folder.join("rows.mem"))?);
    for (number, row) in switch.rows.iter().enumerate() {
        let mut line = VectorLine::default();
        line.field(number as u64, 8).set(&row.members, PORTS).field(row.weight, WEIGHT_BITS);
        writeln!(rows, "{}", line.hex())?;
    }
    rows.flush()?;
    let mut lines = BufWriter::new(File::create(folder.join("requests.mem"))?);
    let gap = conga().flowlets.gap;
    for _ in 0..decisions {
        let request = switch.next_request();
        writeln!(lines, "{}", request.line(gap, switch.now))?;
    }
    lines.flush()?;
    let numbers = [
        ("NP", PORTS),
        ("NG", GROUPS),
        ("NC", COMPONENTS),
        ("WW", WEIGHT_BITS),
        ("QW", LOAD),
        ("MW", METRIC),
        ("ROWS", switch.rows.len()),
        ("REQUESTS", decisions as usize),
    ];
    let defines: String = numbers.iter().map(|(name, value)| format!("`define {name} {value}\n")).collect();
    let name = scheme.name();
    let upper = name.to_uppercase();
    let text = format!(
        "// {name}. Written by weft vectors compare.\n{defines}`define SEED 64'h{SEED:x}\n`define {upper}\n"
    );
    fs::write(folder.join("parameters.svh"), text)
}
