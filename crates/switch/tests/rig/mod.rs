//! A switch with one group of all its ports, an unlimited buffer, and packets of one size: the common part of the
//! experiments in this folder. Must not depend on traffic or timing; each experiment has its own.

use std::sync::Arc;

use weft_core::{Bytes, Group, GroupId, Header, HostId, PacketId, Pool, PortId, Rate, SwitchId, Time};
use weft_switch::balance::BalancerSettings;
use weft_switch::settings::Visibility;
use weft_switch::share::{SharingSettings, infinite::InfiniteSharingSettings};
use weft_switch::{Effects, ForwardingTable, Sent, Switch, SwitchSettings, SwitchSite, Turn, Verdict};

/// How a rig is built.
#[derive(Clone)]
pub(crate) struct RigOptions {
    /// Number of inputs and of outputs.
    pub(crate) ports: u16,
    /// Forwarding engines (F).
    pub(crate) engines: u32,
    /// When engines see decisions.
    pub(crate) visibility: Visibility,
    /// The balancer that decides.
    pub(crate) balancer: BalancerSettings,
    /// Wire bytes of every packet.
    pub(crate) wire: u16,
}

/// A switch, the packets in it and what each output is sending.
pub(crate) struct Rig {
    /// The switch under test.
    pub(crate) switch: Switch,
    /// The time of the next call.
    pub(crate) now: Time,
    /// What each output is sending.
    pub(crate) serving: Vec<Option<PacketId>>,
    pool: Pool<()>,
    effects: Effects,
    wire: u16,
}

impl RigOptions {
    /// The line rate of all ports.
    pub(crate) const RATE: Rate = Rate::from_gbps(10);

    /// The rig with this seed. Engines are a byte faster than the line, so that a decision that takes as long as the
    /// time until the next one is complete just before it.
    pub(crate) fn build(&self, seed: u64) -> Rig {
        let settings = SwitchSettings {
            sharing: SharingSettings::Infinite(InfiniteSharingSettings {}),
            visibility: self.visibility,
            engines: self.engines,
            ..SwitchSettings::default()
        };
        let site = SwitchSite {
            seed,
            switch: SwitchId(0),
            rates: vec![RigOptions::RATE; usize::from(self.ports)],
            cables: vec![weft_core::Span::ZERO; usize::from(self.ports)],
            full_packet: Bytes(u64::from(self.wire) - 1),
            tree: None,
        };
        let hosts: (Arc<[u16]>, Arc<[PortId]>) = (Arc::new([0]), Arc::new([PortId(0)]));
        let group = Group::together((0..self.ports).map(PortId).collect());
        let table = ForwardingTable::new(hosts, None, vec![GroupId(0)], vec![group]);
        Rig {
            switch: Switch::new(&settings, &self.balancer, &site, table),
            now: Time::ZERO,
            serving: vec![None; usize::from(self.ports)],
            pool: Pool::new(),
            effects: Effects::new(),
            wire: self.wire,
        }
    }
}

impl Rig {
    /// A packet of a flow comes in; if its output is idle, the packet is put on the wire and the output is returned.
    pub(crate) fn arrive(&mut self, input: usize, flow: u32) -> Option<usize> {
        let header = Header { destination: HostId(0), wire: self.wire, ports: flow, ..Header::default() };
        let packet = self.pool.insert(header, ());
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        match self.switch.receive(&mut turn, PortId(input as u16), packet) {
            Verdict::Queued(_) => None,
            Verdict::Ready(port) => {
                self.send(port.index());
                Some(port.index())
            }
            verdict => panic!("an unlimited buffer that is asked for each packet does not say {verdict:?}"),
        }
    }

    /// The packet on the wire of an output has left; the next one, if any, follows.
    pub(crate) fn send(&mut self, output: usize) {
        if let Some(gone) = self.serving[output] {
            self.pool.remove(gone);
        }
        let mut turn = Turn { now: self.now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.serving[output] =
            self.switch.transmit(&mut turn, PortId(output as u16)).map(|sent| match sent {
                Sent::Packet(packet) => packet,
                Sent::Frame(_) => panic!("nobody pauses"),
            });
    }

    /// Packets at an output, including the one on the wire.
    pub(crate) fn held(&self, output: usize) -> u64 {
        self.switch.reading().queued(PortId(output as u16)).0 / u64::from(self.wire)
    }
}
