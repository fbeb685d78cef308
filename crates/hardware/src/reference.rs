//! The reference: the simulator's own engine ([`Drill`]), forwarding table and visibility rule, driven with the
//! hardware's random numbers. Must not make decisions itself.

use std::sync::Arc;

use weft_core::{Component, Group, GroupId, Header, HostId, PortId, Span, SwitchId, Time};
use weft_switch::balance::BalancerSite;
use weft_switch::balance::drill::chance::Chance;
use weft_switch::balance::drill::{Drill, DrillSettings};
use weft_switch::hash::{FlowHash, HashFunction};
use weft_switch::visibility::{Insight, Visible};
use weft_switch::{Candidates, ForwardingTable, Route};

use crate::set::Set;

/// A row of the group table: a component.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComponentRow {
    /// Its ports.
    pub members: Vec<u16>,
    /// Its weight, at least 1.
    pub weight: u64,
}

/// A packet at an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRequest {
    /// The group of its destination.
    pub group: u16,
    /// The source and destination ports of its flow, from which the hash is computed.
    pub flow: u32,
    /// Its size in the unit of queue lengths.
    pub size: u16,
}

/// The simulator's forwarding table, filled with the rows of the hardware's.
pub(crate) struct GroupTable {
    table: ForwardingTable,
    groups: usize,
    components: usize,
}

/// The state of the switch: the table, the queues as engines see them, and a balancer per forwarding engine.
pub struct ReferenceSwitch {
    set: Set,
    table: GroupTable,
    visible: Visible,
    engines: Vec<Drill>,
    loads: Vec<u64>,
}

impl PacketRequest {
    pub(crate) fn header(self) -> Header {
        Header { destination: HostId(u32::from(self.group)), ports: self.flow, ..Header::default() }
    }

    /// 32 hash bits of its flow, as the switch's parser passes them to the engine.
    #[must_use]
    pub fn hash(self) -> u32 {
        FlowHash::new(HashFunction::Mix, 0).of(&self.header().tuple())
    }
}

impl GroupTable {
    /// Creates a table with empty rows.
    pub(crate) fn new(groups: usize, components: usize) -> GroupTable {
        let leaves: Arc<[u16]> = (0..groups as u16).collect();
        let ports = vec![PortId(0); groups].into();
        let rows = vec![Group::default(); groups];
        let table = ForwardingTable::new((leaves, ports), None, numbers(groups), rows);
        GroupTable { table, groups, components }
    }

    /// Replaces all rows: `components` of each group. An empty row is no component.
    pub(crate) fn install(&mut self, rows: &[ComponentRow]) {
        let components = |rows: &[ComponentRow]| {
            rows.iter().filter(|row| !row.members.is_empty()).map(ComponentRow::component).collect()
        };
        let group = |rows| Group { components: components(rows) };
        self.table.install(numbers(self.groups), rows.chunks(self.components).map(group).collect::<Vec<_>>());
    }

    /// A link went down or came back.
    pub(crate) fn set_port(&mut self, port: u16, up: bool) {
        self.table.set_port(PortId(port), up);
    }

    /// The component that takes a packet, unless its group has no live port.
    pub(crate) fn route(&self, request: PacketRequest) -> Option<(GroupId, &Component)> {
        match self.table.route(&request.header()) {
            Route::Component(number, component) => Some((number, component)),
            Route::None => None,
            Route::Local(_) => unreachable!("the switch has no hosts"),
        }
    }
}

impl ReferenceSwitch {
    /// A switch with empty rows.
    #[must_use]
    pub fn new(set: Set) -> ReferenceSwitch {
        let table = GroupTable::new(set.groups, set.components);
        let mut reference =
            ReferenceSwitch { set, table, visible: nothing(&set), engines: Vec::new(), loads: Vec::new() };
        reference.reset();
        reference
    }

    /// Clears queues and memories; rows and links stay.
    pub fn reset(&mut self) {
        self.visible = nothing(&self.set);
        let settings = DrillSettings {
            choices: self.set.samples as u32,
            memory: self.set.memory as u32,
            tie: self.set.tie,
            ..DrillSettings::default()
        };
        let engine = |engine| Drill::new(&settings, BalancerSite { seed: 0, switch: SwitchId(0), engine });
        self.engines = (0..self.set.engines as u16).map(engine).collect();
    }

    /// Replaces all rows: `components` of each group.
    pub fn install(&mut self, rows: &[ComponentRow]) {
        self.table.install(rows);
        self.forget();
    }

    /// A link went down or came back.
    pub fn set_port(&mut self, port: u16, up: bool) {
        self.table.set_port(port, up);
        self.forget();
    }

    fn forget(&mut self) {
        use weft_switch::Balancer;
        self.engines.iter_mut().for_each(Drill::groups_changed);
    }

    /// The port that an engine chooses in a clock, if the group has one.
    pub fn choose(
        &mut self,
        engine: usize,
        request: PacketRequest,
        clock: u64,
        chance: &mut impl Chance,
    ) -> Option<u16> {
        let (number, component) = self.table.route(request)?;
        if let [only] = component.ports[..] {
            return Some(only.0);
        }
        self.visible.advance(decided(clock));
        self.loads.clear();
        self.loads.extend((0..self.set.ports).map(|port| self.visible.get(engine, port)));
        let mut candidates = Candidates::with_loads(number, component, &self.loads);
        let chosen = self.engines[engine].decide_by(&mut candidates, chance);
        Some(component.ports[chosen].0)
    }

    /// A packet that an engine decided in a clock joins its queue.
    pub fn joins(&mut self, engine: usize, clock: u64, port: u16, size: u16) {
        self.visible.enqueued(decided(clock), engine, usize::from(port), size);
    }

    /// A packet has left.
    pub fn leaves(&mut self, port: u16, size: u16) {
        self.visible.left(usize::from(port), u64::from(size));
    }
}

impl ComponentRow {
    fn component(&self) -> Component {
        let ports = self.members.iter().copied().map(PortId).collect();
        Component { weight: self.weight, ..Component::equal(ports) }
    }
}

fn numbers(groups: usize) -> Vec<GroupId> {
    (0..groups as u32).map(GroupId).collect()
}

/// Empty queues. Decisions are at even instants, two per clock; the enqueue of a packet completes at the odd instant
/// before the first clock in which others see it.
fn nothing(set: &Set) -> Visible {
    let after = vec![Span(2 * set.hidden as u64 + 1); set.engines];
    let mut visible = Visible::new(set.ports, true, Insight::of_inputs(after, set.own));
    (0..set.ports).for_each(|port| visible.watch(port, 0));
    visible
}

fn decided(clock: u64) -> Time {
    Time(2 * clock)
}
