//! A second driver plays the arrivals that the simulator recorded at one switch into the same switch, without the
//! simulator, and sees the same ports, marks and drops: the switch does not depend on the engine.

mod lab;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use weft_core::record::Reason;
use weft_core::settings::{Amount, Share};
use weft_core::{Bytes, Ecn, LinkId, PacketId, Pool, PortId, Rate, Span, SwitchId, Time};
use weft_plan::Setup;
use weft_sim::{Seen, Simulation, Tap};
use weft_switch::balance::drill::DrillSettings;
use weft_switch::mark::{MarkerSettings, red::RedSettings};
use weft_switch::share::{SharingSettings, dynamic::DynamicSharingSettings};
use weft_switch::{
    BalancerSettings, Effect, Effects, PortSettings, Sent, ShaperSettings, Switch, Turn, Verdict, VoqSettings,
};

/// An event due at a port; at one instant transmitters come before timers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Idle,
    Wake,
}

/// Plays arrivals into a switch; a port is busy for the time that its line rate gives.
struct Replay {
    switch: Switch,
    pool: Pool<u32>,
    effects: Effects,
    due: BinaryHeap<Reverse<(Time, Due, u16)>>,
    rates: Vec<Rate>,
    seen: Vec<Seen>,
}

impl Replay {
    fn new(setup: &Setup, switch: SwitchId) -> Replay {
        let (rates, built) = (setup.port_rates(switch), setup.build_switch(switch));
        Replay {
            switch: built,
            pool: Pool::new(),
            effects: Effects::new(),
            due: BinaryHeap::new(),
            rates,
            seen: Vec::new(),
        }
    }

    fn play(mut self, arrivals: &[Seen]) -> Vec<Seen> {
        let mut number = 0;
        for arrival in arrivals {
            let Seen::Arrived { time, port, header } = arrival else { continue };
            self.leave_until(*time);
            let packet = self.pool.insert(*header, number);
            number += 1;
            let mut turn = Turn { now: *time, headers: &mut self.pool.headers, effects: &mut self.effects };
            match self.switch.receive(&mut turn, *port, packet) {
                Verdict::Ready(port) => self.feed(*time, port),
                Verdict::Dropped(reason) => self.drop(*time, packet, reason),
                Verdict::Queued(_) => {}
                Verdict::LeavesAt(_)
                | Verdict::QueuedUntil(..)
                | Verdict::LeavesUnlessHeld(..)
                | Verdict::RevokeFirst => {
                    unreachable!("no departure is foreseen here")
                }
                Verdict::Returned => unreachable!("nothing is trimmed here"),
            }
            self.carry_out(*time);
        }
        self.leave_until(Time::NEVER);
        self.seen
    }

    /// All departures before `time`; at `time` itself arrivals come first.
    fn leave_until(&mut self, time: Time) {
        while let Some(Reverse((now, due, port))) = self.due.peek().copied().filter(|next| next.0.0 < time) {
            self.due.pop();
            match due {
                Due::Idle => self.feed(now, PortId(port)),
                Due::Wake => self.wake(now, PortId(port)),
            }
        }
    }

    fn wake(&mut self, now: Time, port: PortId) {
        let mut turn = Turn { now, headers: &mut self.pool.headers, effects: &mut self.effects };
        self.switch.wake(&mut turn, port);
        self.carry_out(now);
    }

    fn feed(&mut self, now: Time, port: PortId) {
        let mut turn = Turn { now, headers: &mut self.pool.headers, effects: &mut self.effects };
        if let Some(Sent::Packet(packet)) = self.switch.transmit(&mut turn, port) {
            let header = *self.pool.headers.get(packet);
            let number = self.number(packet);
            self.seen.push(Seen::Left { time: now, port, packet: number, ecn: header.marks.ecn });
            let busy = self.rates[port.index()].time_for(Bytes(u64::from(header.wire)));
            self.due.push(Reverse((now + busy, Due::Idle, port.0)));
            self.pool.remove(packet);
        }
        self.carry_out(now);
    }

    fn carry_out(&mut self, now: Time) {
        while let Some(effect) = self.effects.pop_front() {
            match effect {
                Effect::HasWork(port) => self.feed(now, port),
                Effect::Dropped(packet, reason) => self.drop(now, packet, reason),
                Effect::WakeAt(time, port) => self.due.push(Reverse((time, Due::Wake, port.0))),
            }
        }
    }

    fn drop(&mut self, now: Time, packet: PacketId, reason: Reason) {
        let number = self.number(packet);
        self.seen.push(Seen::Dropped { time: now, packet: number, reason });
        self.pool.remove(packet);
    }

    fn number(&self, packet: PacketId) -> u32 {
        *self.pool.body(packet)
    }
}

/// Everything a switch did, in an order that both drivers share: by time, then by packet.
fn deeds(seen: &[Seen]) -> Vec<(Time, u32, String)> {
    let mut deeds: Vec<_> = seen
        .iter()
        .filter_map(|seen| match *seen {
            Seen::Arrived { .. } => None,
            Seen::Left { time, port, packet, ecn } => Some((time, packet, format!("{port} {ecn:?}"))),
            Seen::Dropped { time, packet, reason } => Some((time, packet, format!("{reason:?}"))),
        })
        .collect();
    deeds.sort();
    deeds
}

/// A switch that marks, drops, shapes some ports and balances by DRILL with three engines.
fn busy() -> Setup {
    let mut setup = lab::leaf_spine();
    setup.balancer = BalancerSettings::Drill(DrillSettings::default());
    setup.switch.engines = 3;
    setup.switch.buffer = Some(Bytes(120_000));
    setup.switch.sharing = SharingSettings::Dynamic(DynamicSharingSettings::default());
    setup.switch.ecn = MarkerSettings::Red(RedSettings {
        min: Amount::Bytes(Bytes(5_000)),
        max: Amount::Bytes(Bytes(60_000)),
        max_probability: Share(0.3),
        ..Default::default()
    });
    let shaper = ShaperSettings { rate: Rate::from_gbps(4), burst: Bytes(30_000), ..Default::default() };
    let shaped =
        PortSettings { shaper: Some(shaper), ecn: setup.switch.ecn.clone(), ..PortSettings::default() };
    let ports = setup.graph.hosts()..setup.graph.links().len() as u32;
    setup.ports = ports.filter(|link| link % 9 == 0).map(|link| (LinkId(link), shaped.clone())).collect();
    setup.until = Time::ZERO + Span::from_s(100);
    setup.flows = lab::random_flows(&setup, 300, Span::from_us(400), 60_000).into();
    setup
}

/// Runs the setup with taps on some switches and replays the arrivals of each into a second switch: both do the same.
/// Returns what the tap on switch 0 saw.
fn both_do_the_same(setup: &Setup) -> Vec<Seen> {
    let mut first = Vec::new();
    for switch in [0, 2, 4] {
        let (record, tap) = Simulation::new(setup.clone()).run_tapped(Tap::new(SwitchId(switch)));
        assert!(record.flows.iter().all(|flow| flow.end.is_some()), "every flow finishes");
        let replayed = Replay::new(setup, SwitchId(switch)).play(&tap.seen);
        let (ours, theirs) = (deeds(&tap.seen), deeds(&replayed));
        // The simulator stops when the last flow is done; the replay empties the switch.
        let end = record.ended;
        let theirs: Vec<_> = theirs.into_iter().filter(|deed| deed.0 < end).collect();
        let ours: Vec<_> = ours.into_iter().filter(|deed| deed.0 < end).collect();
        assert!(ours.len() > 5_000, "{}", ours.len());
        assert_eq!(ours, theirs);
        if switch == 0 {
            first = tap.seen;
        }
    }
    first
}

fn dropped(seen: &[Seen], why: Reason) -> usize {
    seen.iter().filter(|seen| matches!(seen, Seen::Dropped { reason, .. } if *reason == why)).count()
}

fn marked(seen: &[Seen]) -> usize {
    seen.iter().filter(|seen| matches!(seen, Seen::Left { ecn: Ecn::Marked, .. })).count()
}

#[test]
fn the_same_switch_without_the_simulator_does_the_same() {
    let seen = both_do_the_same(&busy());
    let (marked, dropped) = (marked(&seen), dropped(&seen, Reason::Threshold));
    assert!(marked > 50 && dropped > 50, "the case tests what it claims: {marked}, {dropped}");
}

/// So does a switch with virtual output queues, whose credits need timers.
#[test]
fn so_does_one_with_a_fabric() {
    let mut setup = busy();
    let voq = VoqSettings { groups: 3, limit: Bytes(60_000), spill: Bytes(30_000), ..VoqSettings::default() };
    setup.switch.voq = Some(voq);
    let seen = both_do_the_same(&setup);
    let (marked, dropped) = (marked(&seen), dropped(&seen, Reason::PortFull));
    assert!(marked > 50 && dropped > 50, "the case tests what it claims: {marked}, {dropped}");
}
