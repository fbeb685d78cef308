//! Storage and counters: conservation, limits of the buffer, marks and early drops.

use std::collections::BTreeMap;

use weft_core::settings::{Amount, Share};
use weft_core::{Marks, PacketKind};

use super::*;
use crate::PortCounters;
use crate::balance::{
    ecmp::EcmpSettings, flow_drill::FlowDrillSettings, random::RandomSettings,
    round_robin::RoundRobinSettings,
};
use crate::pause::PfcSettings;
use crate::schedule::{SchedulerSettings, drr::DrrSettings, fifo::FifoSettings, strict::StrictSettings};
use crate::share::{
    SharingSettings,
    color::{ColorCount, ColorSettings},
    dynamic::DynamicSharingSettings,
    fixed::FixedSharingSettings,
    infinite::InfiniteSharingSettings,
    mmu::{self, MmuSettings},
};
use weft_mark::{
    At, MarkerSettings, NonEct, Scope,
    codel::CodelSettings,
    pi::PiSettings,
    pie::{self, PieSettings},
    red::RedSettings,
    step::StepSettings,
};

const BUFFER: u64 = 40_000;
const PER_PORT: u64 = 12_000;

/// A random switch, drawn from everything that can be configured.
fn any_plan(dice: &mut Random) -> BenchOptions {
    let ports = 2 + dice.below(6) as u16;
    let sharing = [
        SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(PER_PORT) }),
        SharingSettings::Dynamic(DynamicSharingSettings { alpha: 0.5, minimum: Bytes(0) }),
        SharingSettings::Dynamic(DynamicSharingSettings { alpha: 8.0, minimum: Bytes(300) }),
        SharingSettings::Infinite(InfiniteSharingSettings {}),
        SharingSettings::Mmu(any_chip(dice)),
    ];
    let schedule = [
        SchedulerSettings::Fifo(FifoSettings {}),
        SchedulerSettings::Strict(StrictSettings {}),
        SchedulerSettings::Drr(DrrSettings { quantum: Bytes(700), weights: vec![3, 1] }),
    ];
    let sharing = sharing[dice.below(5) as usize].clone();
    let lossless = matches!(sharing, SharingSettings::Mmu(_)) && dice.chance(0.5);
    let settings = SwitchSettings {
        buffer: Some(Bytes(BUFFER)),
        sharing,
        engines: 1 + dice.below(3),
        visibility: [Visibility::EngineSlot, Visibility::Store, Visibility::Instant][dice.below(3) as usize],
        count_in_service: dice.chance(0.5),
        queues: 1 + dice.below(8),
        schedule: schedule[dice.below(3) as usize].clone(),
        ecn: any_marker(dice),
        pfc: any_pauses(dice, lossless),
        ..SwitchSettings::default()
    };
    let seed = dice.bits();
    BenchOptions {
        settings,
        balancer: any_balancer(dice),
        ports,
        uplinks: (0..ports).collect(),
        seed,
        id: 4,
        ..BenchOptions::default()
    }
}

/// Classes 0 and 2 pause, or none; no sender obeys, so that headroom overflows.
fn any_pauses(dice: &mut Random, on: bool) -> PfcSettings {
    let xoff = dice.chance(0.5).then_some(Bytes(2_000));
    let (classes, headroom) = if on { (vec![0, 2], Some(Bytes(600))) } else { (Vec::new(), None) };
    PfcSettings { classes, headroom, xoff, xon_offset: Bytes(500), ..PfcSettings::default() }
}

fn any_chip(dice: &mut Random) -> MmuSettings {
    let pool = |classes: [u32; 4]| mmu::PoolSettings { classes: classes.to_vec(), share: Share(0.5) };
    let pools = if dice.chance(0.5) { vec![pool([0, 1, 2, 3]), pool([4, 5, 6, 7])] } else { Vec::new() };
    MmuSettings {
        group_minimum: Bytes(u64::from(dice.below(100))),
        port_minimum: Bytes(u64::from(dice.below(1_000))),
        lossy_limit: dice.chance(0.3).then_some(Bytes(3_000)),
        headroom_pool: dice.chance(0.5).then_some(Bytes(3_000)),
        queue_minimum: Bytes(u64::from(dice.below(500))),
        queue_alpha: 0.5,
        port_limit: dice.chance(0.3).then_some(Bytes(PER_PORT)),
        pools,
        ..MmuSettings::default()
    }
}

fn any_marker(dice: &mut Random) -> MarkerSettings {
    let at = if dice.chance(0.5) { At::Enqueue } else { At::Dequeue };
    let threshold = Amount::Bytes(Bytes(3_000));
    match dice.below(6) {
        0 => MarkerSettings::default(),
        1 => MarkerSettings::Pi(PiSettings {
            reference: Amount::Bytes(Bytes(2_000)),
            k1: 0.1,
            k2: 100.0,
            every: Span::from_us(1),
            at,
            ..Default::default()
        }),
        2 => MarkerSettings::Pie(PieSettings {
            target: Span::from_us(1),
            every: Span::from_us(1),
            alpha: 1e5,
            packet: Bytes(500),
            estimate: if dice.chance(0.5) { pie::DelayEstimate::Line } else { pie::DelayEstimate::Waited },
            ..Default::default()
        }),
        3 => MarkerSettings::Codel(CodelSettings {
            target: Span::from_us(1),
            interval: Span::from_us(5),
            ..Default::default()
        }),
        4 => {
            MarkerSettings::Step(StepSettings { threshold, at, non_ect: NonEct::Drop, ..Default::default() })
        }
        _ => MarkerSettings::Red(RedSettings {
            min: Amount::Bytes(Bytes(1_000)),
            max: Amount::Bytes(Bytes(8_000)),
            max_probability: Share(0.5),
            average: 2,
            at,
            ..Default::default()
        }),
    }
}

fn any_balancer(dice: &mut Random) -> BalancerSettings {
    let members = [
        BalancerSettings::Ecmp(EcmpSettings::default()),
        BalancerSettings::PerPacketRandom(RandomSettings {}),
        BalancerSettings::RoundRobin(RoundRobinSettings::default()),
        drill_with(2, 1, drill::Tie::Random),
        drill_with(3, 5, drill::Tie::Random),
        BalancerSettings::FlowDrill(FlowDrillSettings::default()),
    ];
    members[dice.below(members.len() as u32) as usize].clone()
}

/// A second account, kept only by looking at packets.
struct Books {
    bench: Bench,
    /// Where each stored packet is and how large it is.
    stored: BTreeMap<PacketId, (u16, u64)>,
    serving: Vec<Option<PacketId>>,
    peak: Vec<u64>,
    byte_time: Vec<u128>,
    dropped: u64,
    no_route: u64,
    sent: u64,
    limits: (u64, u64),
}

impl Books {
    fn open(plan: &BenchOptions) -> Books {
        let ports = usize::from(plan.ports);
        let total = match plan.settings.sharing {
            SharingSettings::Infinite(_) => u64::MAX,
            _ => BUFFER,
        };
        let per_port = match plan.settings.sharing {
            SharingSettings::Fixed(_) => PER_PORT,
            _ => u64::MAX,
        };
        Books {
            bench: plan.build(),
            stored: BTreeMap::new(),
            serving: vec![None; ports],
            peak: vec![0; ports],
            byte_time: vec![0; ports],
            dropped: 0,
            no_route: 0,
            sent: 0,
            limits: (total, per_port),
        }
    }

    fn held(&self, port: usize) -> u64 {
        self.stored.values().filter(|(at, _)| usize::from(*at) == port).map(|(_, wire)| wire).sum()
    }

    fn wait(&mut self, span: u64) {
        for port in 0..self.serving.len() {
            self.byte_time[port] += u128::from(self.held(port)) * u128::from(span);
        }
        self.bench.now += Span(span);
    }

    fn arrive(&mut self, from: u16, header: Header) {
        let before = self.bench.queued();
        let packet = self.bench.receive(from, header);
        let after = self.bench.queued();
        let grown: Vec<usize> = (0..before.len()).filter(|port| after[*port] > before[*port]).collect();
        if let [port] = grown[..] {
            self.stored.insert(packet, (port as u16, u64::from(header.wire)));
        }
        let dropped = self.write_off_drops();
        assert_eq!((grown.len() as u64, dropped), (1 - dropped, dropped), "stored once, or dropped");
    }

    fn write_off_drops(&mut self) -> u64 {
        let mut dropped = 0;
        for effect in std::mem::take(&mut self.bench.effects) {
            if let Effect::Dropped(packet, reason) = effect {
                self.stored.remove(&packet);
                self.bench.pool.remove(packet);
                self.no_route += u64::from(reason == Reason::NoRoute);
                dropped += 1;
            }
        }
        self.dropped += dropped;
        dropped
    }

    fn transmit(&mut self, port: u16) -> bool {
        if let Some(gone) = self.serving[usize::from(port)].take() {
            self.stored.remove(&gone);
            self.bench.pool.remove(gone);
            self.sent += 1;
        }
        let next = self.bench.next(port);
        self.write_off_drops();
        if let Some(packet) = next {
            assert_eq!(self.stored[&packet].0, port, "a packet leaves by the port it was stored for");
        }
        self.serving[usize::from(port)] = next;
        next.is_some()
    }

    /// Everything that must hold after every step.
    fn balance(&mut self) {
        let queued = self.bench.queued();
        for (port, bytes) in queued.iter().enumerate() {
            assert_eq!(*bytes, self.held(port), "port {port}");
            assert!(*bytes <= self.limits.1);
            self.peak[port] = self.peak[port].max(*bytes);
        }
        let stored = self.bench.switch.reading().stored().0;
        if let Some(of) = self.bench.switch.reading().charges() {
            let (came, leaves) = (of.minima + of.shared + of.headroom, of.queue_minima + of.queue_shared);
            assert_eq!((came.0, leaves.0), (stored, stored), "charged on both sides: {of:?}");
        }
        assert_eq!(stored, queued.iter().sum::<u64>());
        assert!(stored <= self.limits.0, "{stored} bytes in the buffer");
        assert_eq!(self.bench.pool.alive(), self.stored.len(), "no packet is forgotten or invented");
    }

    /// Nothing remains, and the counters agree.
    fn close(mut self, offered: u64) {
        for port in 0..self.serving.len() {
            self.wait(1_000);
            while self.transmit(port as u16) {}
        }
        self.balance();
        assert_eq!(
            (self.bench.switch.reading().stored(), self.stored.len()),
            (Bytes(0), 0),
            "everything is released"
        );
        assert_eq!(self.sent + self.dropped, offered);
        let counters: Vec<PortCounters> = (0..self.serving.len())
            .map(|port| self.bench.switch.reading().counters(self.bench.now, PortId(port as u16)))
            .collect();
        assert_eq!(counters.iter().map(|of| of.dropped).sum::<u64>(), self.dropped - self.no_route);
        for (port, of) in counters.iter().enumerate() {
            assert_eq!((of.peak, of.byte_time), (Bytes(self.peak[port]), self.byte_time[port]));
        }
    }
}

/// One life of a random switch.
fn live(case: u64) -> u64 {
    let mut dice = Random::new(case, Purpose::Test, 1);
    let plan = any_plan(&mut dice);
    let ports = u32::from(plan.ports);
    let busy = dice.unit();
    let mut books = Books::open(&plan);
    let mut offered = 0;
    for _ in 0..600 {
        books.wait(u64::from(dice.below(500_000)));
        let port = dice.below(ports) as u16;
        match dice.below(100) {
            0 => {
                books.bench.set_port(port, false);
                books.write_off_drops();
            }
            1 => {
                (0..plan.ports).for_each(|port| books.bench.set_port(port, true));
                books.bench.switch.install(vec![GroupId(0); 2], vec![together(&plan.uplinks)]);
            }
            _ if dice.unit() < 0.4 + 0.5 * busy => {
                offered += 1;
                let ecn = if dice.chance(0.5) { Ecn::Capable } else { Ecn::NotCapable };
                let wire = 84 + dice.below(1_455) as u16;
                let marks = Marks { ecn };
                let packet = class(dice.below(8) as u8, Header { marks, ports: dice.below(9), ..far(wire) });
                books.arrive(port, packet);
            }
            _ => {
                books.transmit(port);
            }
        }
        books.balance();
    }
    let dropped = books.dropped;
    books.close(offered);
    dropped
}

/// Conservation: charges are the bytes stored at every step, limits hold, nothing is lost silently and everything is
/// given back, over random switches of every kind.
#[test]
fn every_byte_is_charged_once_and_released_once() {
    let dropped: u64 = (0..300).map(live).sum();
    assert!(dropped > 10_000, "the limits were met: {dropped}");
}

#[test]
fn peak_and_time_integral_are_those_of_the_course() {
    let mut bench = BenchOptions { ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
    bench.receive(0, far(100));
    bench.now = Time(10);
    bench.receive(0, far(50));
    bench.next(0);
    bench.now = Time(30);
    bench.next(0);
    bench.now = Time(70);
    bench.next(0);
    bench.now = Time(1_000);
    let counters = bench.switch.reading().counters(bench.now, PortId(0));
    assert_eq!(counters.peak, Bytes(150));
    assert_eq!(counters.byte_time, 100 * 10 + 150 * 20 + 50 * 40);
    assert_eq!(bench.switch.reading().counters(bench.now, PortId(0)), counters, "reading changes nothing");
}

#[test]
fn marks_and_early_drops_are_counted_and_told_apart_from_full_buffers() {
    let ecn = MarkerSettings::Step(StepSettings {
        threshold: Amount::Bytes(Bytes(2_000)),
        non_ect: NonEct::Drop,
        ..Default::default()
    });
    let sharing = SharingSettings::Fixed(FixedSharingSettings { per_port: Bytes(4_000) });
    let settings = SwitchSettings { ecn, sharing, ..BenchOptions::default().settings };
    let mut bench = BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
    let capable = Header { marks: Marks { ecn: Ecn::Capable }, ..far(FULL) };
    let ecn_of = |bench: &Bench, packet| bench.pool.headers.get(packet).marks.ecn;
    for _ in 0..2 {
        let packet = bench.receive(0, capable);
        assert_eq!(ecn_of(&bench, packet), Ecn::Capable, "up to K there is no mark");
    }
    bench.receive(0, far(FULL));
    assert_eq!(bench.drops(), [Reason::Early], "a packet that cannot be marked");
    for _ in 0..2 {
        let packet = bench.receive(0, capable);
        assert_eq!(ecn_of(&bench, packet), Ecn::Marked);
    }
    bench.receive(0, capable);
    assert_eq!(bench.drops(), [Reason::PortFull]);
    let counters = bench.switch.reading().counters(bench.now, PortId(0));
    assert_eq!((counters.marked, counters.dropped), (2, 2));
    assert_eq!(bench.queued(), [4_000]);
}

/// Threshold of 3 kB, packets of 1 kB: a red packet is dropped if it would raise the counted bytes to the threshold.
/// Only the count of the whole queue includes green packets, which are never dropped for their colour.
#[test]
fn red_packets_are_dropped_at_their_threshold_and_green_ones_are_not() {
    let red = Header { kind: PacketKind::Red, ..far(FULL) };
    let (sent, lost) = (Vec::new(), vec![Reason::Red]);
    for (count, after_two_green) in [(ColorCount::RedOnly, &sent), (ColorCount::WholeQueue, &lost)] {
        let color = ColorSettings { red: Some(Bytes(3_000)), count, ..ColorSettings::default() };
        let settings = SwitchSettings { color, ..BenchOptions::default().settings };
        let mut bench =
            BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
        let mut fate = |header| {
            let packet = bench.receive(0, header);
            let drops = bench.drops();
            if !drops.is_empty() {
                bench.pool.remove(packet);
            }
            drops
        };
        assert_eq!([fate(red), fate(red), fate(red)], [vec![], vec![], lost.clone()], "{count:?}: red alone");
        assert_eq!([fate(far(FULL)), fate(far(FULL))], [vec![], vec![]], "{count:?}: green ones pass");
        assert_eq!(fate(red), lost, "{count:?}: and change nothing for red ones");
        let wires = bench.drain(0);
        assert_eq!(wires.len(), 4, "{count:?}");
        // Behind green packets the way of counting decides.
        let mut fate = |header| {
            bench.receive(0, header);
            bench.drops()
        };
        assert_eq!([fate(far(FULL)), fate(far(FULL))], [vec![], vec![]]);
        assert_eq!(&fate(red), after_two_green, "{count:?}: red behind two green");
        let counters = bench.switch.reading().counters(bench.now, PortId(0));
        assert_eq!(counters.dropped, 2 + after_two_green.len() as u64, "{count:?}");
    }
}

/// Packets of 1000 B take five cells of 208 B, 1040 B: the third raises the queue to 3120 B and is marked from a threshold
/// of 3119 B down, not from one of 3080 B.
#[test]
fn thresholds_count_the_cells_of_the_arriving_packet_too() {
    for (threshold, marked) in [(3_080, 1), (3_119, 1), (3_120, 0)] {
        let step = StepSettings { threshold: Amount::Bytes(Bytes(threshold)), ..Default::default() };
        let settings = SwitchSettings {
            ecn: MarkerSettings::Step(step),
            cell: Some(Bytes(208)),
            ..BenchOptions::default().settings
        };
        let mut bench =
            BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
        let capable = Header { marks: Marks { ecn: Ecn::Capable }, ..far(FULL) };
        (0..3).for_each(|_| _ = bench.receive(0, capable));
        let counters = bench.switch.reading().counters(bench.now, PortId(0));
        assert_eq!((counters.marked, bench.queued()[0]), (marked, 3_120), "{threshold}");
    }
}

#[test]
fn a_marker_at_the_exit_judges_the_queue_left_behind_and_may_drop_there() {
    let ecn = MarkerSettings::Step(StepSettings {
        threshold: Amount::Bytes(Bytes(2_000)),
        at: At::Dequeue,
        non_ect: NonEct::Drop,
        ..Default::default()
    });
    let settings = SwitchSettings { ecn, ..BenchOptions::default().settings };
    let mut bench = BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
    let capable = Header { marks: Marks { ecn: Ecn::Capable }, ..far(FULL) };
    let packets: Vec<PacketId> =
        [capable, far(FULL), capable, capable, capable].map(|header| bench.receive(0, header)).to_vec();
    let mut left = Vec::new();
    let mut early = 0;
    while let Some(packet) = bench.next(0) {
        early += bench.drops().iter().filter(|reason| **reason == Reason::Early).count();
        left.push((packet, bench.pool.headers.get(packet).marks.ecn == Ecn::Marked));
    }
    // Four packets stay behind the first; the second, judged with three behind it, is dropped; then two, one, none.
    assert_eq!(left, [(packets[0], true), (packets[2], false), (packets[3], false), (packets[4], false)]);
    assert_eq!((early, bench.switch.reading().stored()), (1, Bytes(0)));
    let counters = bench.switch.reading().counters(bench.now, PortId(0));
    assert_eq!((counters.marked, counters.dropped), (1, 1));
}

/// One average for all queues of a port, which packets of every class move: the first packet of a class finds what the
/// others have left.
#[test]
fn an_average_over_a_port_is_moved_by_packets_of_all_its_queues() {
    for (scope, marked) in [(Scope::Port, 1), (Scope::Queue, 0)] {
        let ecn = MarkerSettings::Red(RedSettings {
            min: Amount::Bytes(Bytes(10_000)),
            max: Amount::Bytes(Bytes(20_000)),
            average: 4,
            scope,
            non_ect: NonEct::Pass,
            ..Default::default()
        });
        let settings = SwitchSettings { ecn, queues: 2, ..BenchOptions::default().settings };
        let mut bench =
            BenchOptions { settings, ports: 1, uplinks: vec![0], ..BenchOptions::default() }.build();
        (0..40).for_each(|_| _ = bench.receive(0, far(FULL)));
        let other = Header { marks: Marks { ecn: Ecn::Capable }, class: Class(1), ..far(FULL) };
        _ = bench.receive(0, other);
        let counters = bench.switch.reading().counters(bench.now, PortId(0));
        assert_eq!(counters.marked, marked, "{scope:?}");
    }
}

// ---- dynamic thresholds, in time ----

fn shared(alpha: f64) -> Bench {
    let sharing = SharingSettings::Dynamic(DynamicSharingSettings { alpha, minimum: Bytes(0) });
    let settings =
        SwitchSettings { sharing, buffer: Some(Bytes(4_500_000)), ..BenchOptions::default().settings };
    BenchOptions { settings, ports: 8, uplinks: vec![7], ..BenchOptions::default() }.build()
}

/// Each port gets `offered` packets per packet it sends.
fn overload(bench: &mut Bench, ports: &[u16], rounds: u32, offered: u32) {
    for _ in 0..rounds {
        for _ in 0..offered {
            for port in ports {
                let packet = bench.receive(7, to(*port, FULL));
                if bench.drops().len() == 1 {
                    bench.pool.remove(packet);
                }
            }
        }
        for port in ports {
            if let Some(packet) = bench.next(*port) {
                bench.pool.remove(packet);
            }
        }
    }
}

/// n equally congested ports hold alpha B / (1 + n alpha) each, up to a packet or two.
#[track_caller]
fn assert_settled(bench: &Bench, ports: &[u16], alpha: f64) {
    let expected = alpha * 4_500_000.0 / (1.0 + ports.len() as f64 * alpha);
    for port in ports {
        let held = bench.queued()[usize::from(*port)] as f64;
        let packets = (2.0 + alpha) * f64::from(FULL) * ports.len() as f64;
        assert!((held - expected).abs() <= packets, "port {port} holds {held}, expected {expected}");
    }
}

#[test]
fn one_hot_port_takes_alpha_b_over_one_plus_alpha() {
    for alpha in [0.25, 1.0, 8.0] {
        let mut bench = shared(alpha);
        overload(&mut bench, &[2], 10_000, 2);
        assert_settled(&bench, &[2], alpha);
        assert!(bench.switch.reading().counters(bench.now, PortId(2)).dropped > 1_000);
    }
}

/// Two ports fill equally; a third that comes later gets its share because the others drain, not because they are
/// cut.
#[test]
fn a_late_port_pushes_the_first_two_down_without_preemption() {
    let mut bench = shared(1.0);
    overload(&mut bench, &[0, 1], 6_000, 2);
    assert_settled(&bench, &[0, 1], 1.0);
    let drops = |bench: &mut Bench, port| bench.switch.reading().counters(Time::ZERO, PortId(port)).dropped;
    let before = bench.queued();
    let mut last = before.clone();
    for round in 0..6_000 {
        overload(&mut bench, &[0, 1, 2], 1, 2);
        let now = bench.queued();
        assert!(last[0] <= now[0] + u64::from(FULL), "round {round}: a port loses only what it sends");
        last = now;
    }
    assert_settled(&bench, &[0, 1, 2], 1.0);
    assert!(before[0] > last[0] + 300_000, "from B/3 to B/4: {before:?} {last:?}");
    let equal = [0, 1].map(|port| drops(&mut bench, port));
    assert!(equal[0].abs_diff(equal[1]) <= equal[0] / 100, "{equal:?}");
}
