//! The switch compared with its definitions. This file has a bench that hands packets to a switch; the tests are
//! grouped by topic: [`decisions`] (the choice of ports), [`foreign`] (ports the switch does not have), [`lulls`]
//! (foreseen departures), [`memory`] (storage and counters), [`mmu`] (the same on chips), [`order`] (the order of
//! departures), [`telemetry`] (what links report), and [`trim`] (trimming).

mod decisions;
mod foreign;
mod lulls;
mod memory;
mod mmu;
mod order;
mod telemetry;
mod trim;

use std::sync::Arc;

use weft_core::{Bytes, Ecn, HostId, Pool};

use super::*;
use crate::balance::{
    BalancerSettings,
    drill::{self, DrillSettings},
};
use crate::settings::Visibility;
use crate::turn::{Effect, Effects};
use weft_core::{Class, Component, Purpose, Random, Span, SwitchId};

/// Hosts below this number are at the port of the same number; the others behind the group of uplinks.
const FAR: u32 = 100;
/// Wire bytes of a full-size packet on the bench.
const FULL: u16 = 1_000;
/// The time of a full-size packet at the line rate of the bench, 10 Gb/s.
const SLOT: u64 = 800_000;

/// A switch with its packets.
struct Bench {
    switch: Switch,
    pool: Pool<()>,
    effects: Effects,
    /// Packets whose headers go back.
    back: Vec<PacketId>,
    now: Time,
}

/// How a bench is built; the default has four ports, all of them uplinks, and sees queue lengths at once.
#[derive(Clone)]
struct BenchOptions {
    settings: SwitchSettings,
    balancer: BalancerSettings,
    ports: u16,
    uplinks: Vec<u16>,
    /// Line rates of the first ports; the others have 10 Gb/s.
    rates: Vec<Rate>,
    seed: u64,
    id: u32,
}

impl Default for BenchOptions {
    fn default() -> BenchOptions {
        BenchOptions {
            settings: SwitchSettings { visibility: Visibility::Instant, ..SwitchSettings::default() },
            balancer: drill_with(2, 1, drill::Tie::Random),
            ports: 4,
            uplinks: vec![0, 1, 2, 3],
            rates: Vec::new(),
            seed: 1,
            id: 0,
        }
    }
}

fn drill_with(choices: u32, memory: u32, tie: drill::Tie) -> BalancerSettings {
    BalancerSettings::Drill(DrillSettings { choices, memory, tie, ..Default::default() })
}

fn ids(ports: &[u16]) -> Vec<PortId> {
    ports.iter().map(|port| PortId(*port)).collect()
}

/// The ports as one component.
fn together(ports: &[u16]) -> Group {
    Group::together(ids(ports))
}

impl BenchOptions {
    fn build(&self) -> Bench {
        let leaves: Arc<[u16]> = (0..=FAR).map(|host| u16::from(host == FAR)).collect();
        let last = self.ports - 1;
        let ports: Arc<[PortId]> = (0..=FAR).map(|host| PortId(last.min(host as u16))).collect();
        let groups = vec![together(&self.uplinks)];
        let table = ForwardingTable::new((leaves, ports), Some(0), vec![GroupId(0); 2], groups);
        let mut rates = self.rates.clone();
        rates.resize(usize::from(self.ports), Rate::from_gbps(10));
        let cables = vec![Span::from_us(1); rates.len()];
        let site = SwitchSite {
            seed: self.seed,
            switch: SwitchId(self.id),
            rates,
            cables,
            full_packet: Bytes(u64::from(FULL)),
            tree: None,
        };
        let switch = Switch::new(&self.settings, &self.balancer, &site, table);
        Bench { switch, pool: Pool::new(), effects: Effects::new(), back: Vec::new(), now: Time::ZERO }
    }
}

/// A packet to the group of uplinks.
fn far(wire: u16) -> Header {
    Header { destination: HostId(FAR), wire, ..Header::default() }
}

/// A packet to the host at `port`, past the balancer.
fn to(port: u16, wire: u16) -> Header {
    Header { destination: HostId(u32::from(port)), wire, ..Header::default() }
}

/// The same packet in another class.
fn class(class: u8, header: Header) -> Header {
    Header { class: Class(class), ..header }
}

impl Bench {
    /// Hands a packet to the switch. Afterwards `effects` holds only what the switch did with it; the verdict comes
    /// first.
    fn receive(&mut self, from: u16, header: Header) -> PacketId {
        let packet = self.pool.insert(header, ());
        self.effects.clear();
        let (switch, mut turn) = self.turn();
        match switch.receive(&mut turn, PortId(from), packet) {
            Verdict::Returned => self.back.push(packet),
            Verdict::Dropped(reason) => self.effects.push_front(Effect::Dropped(packet, reason)),
            Verdict::Ready(port) => self.effects.push_front(Effect::HasWork(port)),
            Verdict::Queued(_) | Verdict::QueuedUntil(..) | Verdict::LeavesAt(_) => {}
            Verdict::LeavesUnlessHeld(..) | Verdict::RevokeFirst => {
                unreachable!("no port foresees in lulls here")
            }
        }
        packet
    }

    /// The transmitter of a port is idle: returns the packet to send next, after pause frames.
    fn next(&mut self, port: u16) -> Option<PacketId> {
        self.effects.clear();
        let (switch, mut turn) = self.turn();
        match switch.transmit(&mut turn, PortId(port))? {
            Sent::Packet(packet) => Some(packet),
            Sent::Frame(_) => self.next(port),
        }
    }

    fn set_port(&mut self, port: u16, up: bool) {
        self.effects.clear();
        let (switch, mut turn) = self.turn();
        switch.set_port(&mut turn, PortId(port), up);
    }

    fn turn(&mut self) -> (&mut Switch, Turn<'_>) {
        let turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        (&mut self.switch, turn)
    }

    fn queued(&self) -> Vec<u64> {
        (0..self.switch.reading().ports())
            .map(|port| self.switch.reading().queued(PortId(port as u16)).0)
            .collect()
    }

    /// Hands a packet to the switch and returns the port it went to.
    fn send(&mut self, from: u16, header: Header) -> Option<u16> {
        let before = self.queued();
        self.receive(from, header);
        let after = self.queued();
        (0..before.len()).find(|port| after[*port] > before[*port]).map(|port| port as u16)
    }

    /// Takes packets from a port until it is empty and returns their sizes.
    fn drain(&mut self, port: u16) -> Vec<u16> {
        std::iter::from_fn(|| self.next(port).map(|packet| self.pool.headers.get(packet).wire)).collect()
    }

    fn drops(&self) -> Vec<Reason> {
        let reason = |effect: &Effect| match effect {
            Effect::Dropped(_, reason) => Some(*reason),
            Effect::HasWork(_) | Effect::WakeAt(..) => None,
        };
        self.effects.iter().filter_map(reason).collect()
    }
}
