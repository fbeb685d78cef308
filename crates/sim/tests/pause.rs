//! Priority flow control from end to end: the headroom formula, the order of XOFF and XON, pauses that last as long
//! as they are needed, deadlocks, storms, and the same record for any number of threads.

mod lab;

use std::sync::Arc;

use weft_core::record::{PauseRecord, Reason, RunRecord, Stop};
use weft_core::{Bytes, HostId, Rate, Span, Time};
use weft_plan::{Division, Setup, Storm};
use weft_switch::pause::WatchdogAction;
use weft_switch::pause::headroom::{Situation, headroom, standard_response};
use weft_switch::share::{SharingSettings, infinite::InfiniteSharingSettings};
use weft_switch::{PfcSettings, SwitchSettings};
use weft_topology::shapes::{
    dumbbell::DumbbellSettings,
    explicit::{self, ExplicitSettings},
    leaf_spine::LeafSpineSettings,
    single_switch::SingleSwitchSettings,
};
use weft_topology::{LinkSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::protocols::udp::UdpSettings;

const FULL: u64 = 1_538;

/// Two kilobytes are enough to pause; nothing else limits a queue.
fn switch(pfc: PfcSettings) -> SwitchSettings {
    SwitchSettings {
        sharing: SharingSettings::Infinite(InfiniteSharingSettings {}),
        pfc: PfcSettings { classes: vec![0], ..pfc },
        ..SwitchSettings::default()
    }
}

fn fixed(xoff: u64, offset: u64) -> PfcSettings {
    PfcSettings { xoff: Some(Bytes(xoff)), xon_offset: Bytes(offset), ..PfcSettings::default() }
}

fn link(gbps: u64, delay: Span) -> LinkSettings {
    LinkSettings { delay, ..LinkSettings::of(Rate::from_gbps(gbps)) }
}

fn star(hosts: u32, link: LinkSettings, pfc: PfcSettings) -> Setup {
    let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts, host_link: link });
    let setup = lab::setup(&topology, &TransportSettings::Udp(Default::default()));
    Setup { switch: switch(pfc), ..setup }
}

fn dropped(record: &RunRecord, reason: Reason) -> u64 {
    record.drops.iter().filter(|drop| drop.reason == reason).map(|drop| drop.packets).sum()
}

fn pauses<'a>(record: &'a RunRecord, from: &'a str) -> impl Iterator<Item = &'a PauseRecord> {
    let of_node =
        move |pause: &&PauseRecord| record.nodes[record.links[pause.link.index()].from as usize].name == from;
    record.pauses.iter().filter(of_node)
}

/// A host sends at line rate to another that has stopped the switch permanently, so that nothing leaves. Full-size
/// packets come the other way without a break: the pause frame waits for one that began at any time before. With the
/// headroom of the formula nothing is lost, and if that packet has just begun, every whole packet of headroom is
/// used; with one packet less, one is lost.
#[test]
fn the_headroom_of_the_formula_is_enough_and_a_packet_less_is_not() {
    for (gbps, nanos) in
        [(10, 500), (10, 5_000), (25, 100), (40, 1_500), (100, 300), (100, 3_000), (400, 400)]
    {
        let rate = Rate::from_gbps(gbps);
        let cable = Span::from_ns(nanos);
        let (latency, response, full) = (Span::from_ns(500), standard_response(rate), Bytes(FULL));
        let needed = headroom(&Situation { rate, cable, latency, response, full, cell: None });
        let (mut most, mut lost) = (0, 0);
        // At 10 Gb/s and 500 ns the last whole packet fits with 95 B to spare: the steps are finer than that.
        for offset in 0..32 {
            let run = |headroom: Option<Bytes>| {
                let pfc = PfcSettings { headroom, ..fixed(50_000, 3_076) };
                let mut setup = star(2, link(gbps, cable), pfc);
                let until = Time::ZERO + Span::from_us(200);
                setup.storms = vec![Storm { host: HostId(1), from: Time::ZERO, until }];
                let shift = rate.time_for(Bytes(FULL)) * offset / 32;
                let opposite = lab::constant(shift, 1, 0, 10_000_000, rate);
                setup.flows = vec![lab::constant(Span::ZERO, 0, 1, 10_000_000, rate), opposite].into();
                setup.until = until;
                lab::run(setup)
            };
            let enough = run(None);
            assert_eq!(enough.packets.dropped, 0, "{gbps} Gb/s, {nanos} ns, {offset}");
            let own = pauses(&enough, "switch0").find(|pause| pause.asked > 0).expect("host 0 is stopped");
            assert_eq!((own.asked, own.headroom), (1, needed), "{own:?}");
            most = most.max(own.headroom_peak.0);
            let short = run(Some(needed - full));
            lost += dropped(&short, Reason::Headroom);
            // They are In-discards of the port of host 0, by which they came, and of no other.
            let discards = short.pauses.iter().filter(|pause| pause.in_discards > 0);
            let counted: Vec<_> = discards.map(|pause| (pause.link, pause.in_discards)).collect();
            let at_input = (own.link, dropped(&short, Reason::Headroom));
            assert_eq!(counted, Vec::from_iter(Some(at_input).filter(|(_, packets)| *packets > 0)));
        }
        assert_eq!(most, needed.0 / FULL * FULL, "{gbps} Gb/s, {nanos} ns: all of it is needed");
        assert!(lost > 0, "{gbps} Gb/s, {nanos} ns: with a packet less something is lost");
    }
}

/// Packets that take more memory than their bytes, because memory is in cells: what arrives after XOFF still fits.
#[test]
fn headroom_holds_packets_in_cells() {
    let rate = Rate::from_gbps(100);
    for mtu in [46, 100, 220, 300, 600] {
        let topology = TopologySettings::SingleSwitch(SingleSwitchSettings {
            hosts: 2,
            host_link: link(100, Span::from_ns(1_500)),
        });
        let udp = UdpSettings { mtu: Bytes(mtu), ..UdpSettings::default() };
        let mut setup = lab::setup(&topology, &TransportSettings::Udp(udp));
        setup.switch = SwitchSettings { cell: Some(Bytes(256)), ..switch(fixed(50_000, 3_076)) };
        let until = Time::ZERO + Span::from_us(100);
        setup.storms = vec![Storm { host: HostId(1), from: Time::ZERO, until }];
        setup.flows = vec![lab::constant(Span::ZERO, 0, 1, 1_000_000, rate)].into();
        setup.until = until;
        let record = lab::run(setup);
        let own = pauses(&record, "switch0").find(|pause| pause.asked > 0).expect("host 0 is stopped");
        assert_eq!(record.packets.dropped, 0, "{mtu} B: {own:?}");
        assert!(own.headroom_peak.0 > 40_000, "{mtu} B: {own:?}");
    }
}

/// A sender is stopped and released in turn; what it holds falls by the offset before it resumes.
#[test]
fn xoff_and_xon_alternate() {
    let mut setup = star(3, link(10, Span::from_ns(500)), fixed(30_000, 10_000));
    let rate = Rate::from_gbps(10);
    setup.flows = vec![
        lab::constant(Span::ZERO, 0, 2, 2_000_000, rate),
        lab::constant(Span::ZERO, 1, 2, 2_000_000, rate),
    ]
    .into();
    let record = lab::run(setup);
    assert_eq!((record.stop, record.packets.dropped), (Stop::Finished, 0));
    for pause in pauses(&record, "switch0").filter(|pause| pause.asked > 0) {
        assert!(pause.asked > 5 && pause.asked - pause.resumed <= 1, "{pause:?}");
    }
    for host in ["host0", "host1"] {
        let told = pauses(&record, host).next().expect("both are stopped");
        assert!(told.stopped > 5 && told.paused > Span::from_us(500), "{told:?}");
        // Half of the rate each: they are stopped half of the time, and 4 MB take 3.4 ms.
        let share = told.paused.seconds() / record.ended.since(Time::ZERO).seconds();
        assert!((share - 0.5).abs() < 0.1, "{share} {told:?}");
    }
}

/// hosts - left - right - hosts: the right switch pauses the left one, which pauses its hosts.
fn two_switches(pfc: PfcSettings) -> Setup {
    let topology = TopologySettings::Dumbbell(DumbbellSettings {
        host_link: link(10, Span::from_ns(500)),
        ..Default::default()
    });
    let setup = lab::setup(&topology, &TransportSettings::Udp(Default::default()));
    Setup { switch: switch(pfc), ..setup }
}

/// A host that sends pauses for 2 ms stops everything behind it: each pause lasts 100 quanta, 5.12 us at 10 Gb/s, and no
/// packet moves, so that only refreshed pauses can keep the senders stopped.
#[test]
fn senders_stay_stopped_by_refreshed_pauses() {
    let pfc = PfcSettings { quanta: 100, ..fixed(20_000, 3_076) };
    let mut setup = two_switches(pfc);
    let hosts = setup.graph.hosts();
    let victim = hosts - 1;
    let (from, until) = (Time::ZERO + Span::from_us(100), Time::ZERO + Span::from_us(2_100));
    setup.storms = vec![Storm { host: HostId(victim), from, until }];
    setup.flows = vec![lab::constant(Span::ZERO, 0, victim, 5_000_000, Rate::from_gbps(10))].into();
    let record = lab::run(setup);
    assert_eq!((record.stop, record.packets.dropped), (Stop::Finished, 0));
    let told = pauses(&record, "host0").next().expect("the sender is stopped");
    assert!(told.longest > Span::from_us(1_900) && told.longest < Span::from_us(2_050), "{told:?}");
    let frames: u64 = record.pauses.iter().map(|pause| pause.frames).max().unwrap_or(0);
    assert!((700..900).contains(&frames), "2 ms in steps of half of 5.12 us: {frames}");
}

/// Flows that may use a second class, which no pause holds, obey the pause of the first: headroom is enough, and each has been held.
#[test]
fn a_sender_of_several_classes_obeys_the_pause_of_one() {
    let host_link = link(10, Span::from_us(2));
    let topology = TopologySettings::SingleSwitch(SingleSwitchSettings { hosts: 9, host_link });
    let pfc = PfcSettings { classes: vec![0, 1], ..fixed(20_000, 3_000) };
    let mut setup = lab::setup(&topology, &lab::dctcp(|tcp| tcp.pias.thresholds = vec![Bytes(1_000_000)]));
    setup.switch = SwitchSettings { queues: 2, pfc, ..switch(PfcSettings::default()) };
    setup.flows = (1..9).map(|host| lab::flow(Span::ZERO, host, 0, 300_000)).collect::<Vec<_>>().into();
    let record = lab::run(setup);
    assert!(record.drops.is_empty(), "{:?}", record.drops);
    assert!(pauses(&record, "switch0").any(|pause| pause.class == 0 && pause.asked > 0));
    for flow in &record.flows {
        assert!(flow.end.is_some() && flow.timeouts == 0 && flow.pauses.at_host > Span::ZERO, "{flow:?}");
    }
}

/// The storm's last pause runs out by itself.
#[test]
fn a_pause_expires() {
    let pfc = PfcSettings { quanta: 10_000, ..fixed(2_000_000, 3_076) };
    let mut setup = star(2, link(10, Span::ZERO), pfc);
    let from = Time::ZERO + Span::from_us(50);
    let storm = Storm { host: HostId(1), from, until: from + Span(1) };
    setup.storms = vec![storm];
    setup.flows = vec![lab::constant(Span::ZERO, 0, 1, 200_000, Rate::from_gbps(10))].into();
    let record = lab::run(setup);
    let told = pauses(&record, "switch0").next().expect("the switch is stopped");
    // 10000 quanta of 512 bits at 10 Gb/s.
    assert_eq!((told.stopped, told.paused), (1, Span::from_us(512)), "{told:?}");
}

fn fabric(seed: u64, pfc: PfcSettings) -> Setup {
    let topology = LeafSpineSettings {
        leaves: 4,
        spines: 2,
        hosts_per_leaf: 3,
        host_link: link(10, Span::from_ns(500)),
        fabric_link: link(10, Span::from_ns(700)),
        ..Default::default()
    };
    let setup =
        lab::setup(&TopologySettings::LeafSpine(topology), &TransportSettings::Udp(Default::default()));
    let setup = Setup { switch: switch(pfc), seed, ..setup };
    Setup { flows: lab::random_flows(&setup, 120, Span::from_us(200), 100_000).into(), ..setup }
}

/// A fabric with many paused ports, on one thread and on several, cut sensibly and at random.
#[test]
fn threads_change_nothing() {
    for seed in 1..=4 {
        let pfc = if seed % 2 == 0 {
            fixed(20_000, 3_076)
        } else {
            PfcSettings { alpha: 0.125, ..PfcSettings::default() }
        };
        let setup = fabric(seed, pfc);
        let buffer = (seed % 2 == 1).then_some(Bytes(1_000_000));
        let setup = Setup { switch: SwitchSettings { buffer, ..setup.switch.clone() }, ..setup };
        let alone = lab::run(setup.clone());
        assert_eq!((alone.stop, alone.packets.dropped), (Stop::Finished, 0), "seed {seed}");
        assert!(alone.pauses.iter().map(|pause| pause.stopped).sum::<u64>() > 50, "seed {seed}");
        for domains in 2..=4 {
            for scatter in [None, Some(seed)] {
                let division = Division { scatter, ..Division::threads(domains) };
                let divided = lab::run(Setup { division, ..setup.clone() });
                lab::laws::same(&alone, &divided)
                    .unwrap_or_else(|why| panic!("seed {seed}, {domains}: {why}"));
            }
        }
    }
}

/// A link that fails and comes back while its neighbour is stopped is not stopped forever.
#[test]
fn a_cable_that_comes_back_knows_of_no_pause() {
    let setup = two_switches(PfcSettings { quanta: 65_535, ..fixed(20_000, 3_076) });
    let victim = setup.graph.hosts() - 1;
    let cable = setup.graph.fabric_cables()[0];
    let at = |us| Time::ZERO + Span::from_us(us);
    let mut timeline = (*setup.timeline).clone();
    timeline.changes.push((at(300), weft_topology::Change::CableDown(cable)));
    timeline.changes.push((at(400), weft_topology::Change::CableUp(cable)));
    let storm = Storm { host: HostId(victim), from: at(50), until: at(350) };
    let setup = Setup {
        timeline: Arc::new(timeline),
        storms: vec![storm],
        flows: vec![lab::constant(Span::ZERO, 0, victim, 5_000_000, Rate::from_gbps(10))].into(),
        ..setup
    };
    let record = lab::run(setup);
    let lost = record.drops.iter().map(|drop| drop.packets).sum::<u64>();
    let delivered: u64 = record.flows.iter().map(|flow| flow.delivered.0).sum();
    assert!(lost > 0 && delivered > 3_000_000, "{lost} lost, {delivered} B delivered, {:?}", record.stop);
}

/// Switches in a cycle, each with one host; every host sends to the one two switches further.
fn ring(switches: u32, pfc: PfcSettings) -> Setup {
    let cable = |from: String, to: String| explicit::LinkEntry {
        from,
        to,
        rate: Rate::from_gbps(10),
        ..Default::default()
    };
    let hosts = (0..switches).map(|n| cable(format!("host{n}"), format!("s{n}")));
    let around = (0..switches).map(|n| cable(format!("s{n}"), format!("s{}", (n + 1) % switches)));
    let topology = ExplicitSettings {
        hosts: switches,
        switches: (0..switches).map(|n| format!("s{n}")).collect(),
        links: hosts.chain(around).collect(),
        ..Default::default()
    };
    let mut setup =
        lab::setup(&TopologySettings::Explicit(topology), &TransportSettings::Udp(Default::default()));
    setup.switch = switch(pfc);
    let flows = (0..4 * switches).map(|n| {
        lab::constant(
            Span::from_ns(100) * u64::from(n / switches),
            n % switches,
            (n + 2) % switches,
            2_000_000,
            Rate::from_gbps(10),
        )
    });
    let mut flows: Vec<_> = flows.collect();
    flows.sort_by_key(|flow| flow.start);
    setup.flows = flows.into();
    setup
}

/// The nodes whose paused ports form the cycle.
fn names(record: &RunRecord, links: &[weft_core::LinkId]) -> Vec<String> {
    let name = |link: &weft_core::LinkId| record.nodes[record.links[link.index()].from as usize].name.clone();
    links.iter().map(name).collect()
}

/// Paths of two hops around a cycle of five or more, where the other way is longer, depend on each other: the run
/// would never end, and says why. Every link of the cycle leads to the next.
#[test]
fn a_deadlock_in_a_ring_is_found_and_named() {
    for switches in [5, 6] {
        let setup = Setup { until: Time::NEVER, ..ring(switches, fixed(20_000, 3_076)) };
        let record = lab::run(setup.clone());
        assert_eq!((record.stop, record.packets.dropped), (Stop::Stuck, 0), "{switches}");
        let circle = record.deadlocks.first().expect("a circle");
        assert_eq!(circle.links.len(), switches as usize, "{:?}", names(&record, &circle.links));
        for (n, link) in circle.links.iter().enumerate() {
            let next = circle.links[(n + 1) % circle.links.len()];
            assert_eq!(record.links[link.index()].to, record.links[next.index()].from, "{circle:?}");
        }
        for domains in 2..=3 {
            let divided = lab::run(Setup {
                division: Division { scatter: Some(1), ..Division::threads(domains) },
                ..setup.clone()
            });
            lab::laws::same(&record, &divided).unwrap_or_else(|why| panic!("{switches}, {domains}: {why}"));
        }
    }
}

/// A pause that ends before it must be refreshed takes two frames, whatever pauses came before it.
#[test]
fn a_short_pause_takes_two_frames() {
    let rate = Rate::from_gbps(10);
    let mut setup = star(3, link(10, Span::from_us(1)), fixed(20_000, 3_076));
    setup.flows =
        [0, 1].map(|host| lab::constant(Span::ZERO, host, 2, 20_000_000, rate)).into_iter().collect();
    let record = lab::run(setup);
    let refresh = rate.time_for(Bytes(65_535 * 64)) / 2;
    let senders: Vec<_> = pauses(&record, "switch0").filter(|pause| pause.asked > 0).collect();
    let stopped = record.pauses.iter().map(|pause| pause.longest).max().expect("hosts are paused");
    assert!(senders.len() == 2 && stopped < refresh && record.ended > Time::ZERO + refresh * 4, "{stopped}");
    for own in senders {
        assert_eq!(own.frames, own.asked + own.resumed, "{own:?}");
        assert!(own.asked > 20, "{own:?}");
    }
}

/// With a dynamic XOFF, each of two inputs of a switch alone could hold more than both do together, and both hold it in the
/// queue that is stuck. The ring is found at the usual settings, and the run ends.
#[test]
fn a_deadlock_under_a_dynamic_xoff_is_found() {
    let pfc = PfcSettings { classes: vec![0], ..PfcSettings::default() };
    let mut setup = Setup { until: Time::NEVER, ..ring(5, pfc) };
    setup.switch.sharing = SharingSettings::Dynamic(Default::default());
    setup.switch.buffer = Some(Bytes(2_000_000));
    let record = lab::run(setup);
    let circle = record.deadlocks.first().expect("a circle");
    assert_eq!((circle.links.len(), record.stop), (5, Stop::Stuck), "{:?}", names(&record, &circle.links));
}

/// The watchdog drops packets or forwards them; either way the cycle is broken and everything ends.
#[test]
fn a_watchdog_opens_a_deadlock() {
    for (action, drops) in [(WatchdogAction::Drop, true), (WatchdogAction::Forward, false)] {
        let pfc =
            PfcSettings { watchdog: Some(Span::from_ms(1)), watchdog_action: action, ..fixed(20_000, 3_076) };
        let record = lab::run(ring(5, pfc));
        let acted: u64 = record.pauses.iter().map(|pause| pause.watchdog).sum();
        assert!(acted > 0 && !record.deadlocks.is_empty(), "{action:?} {acted}");
        assert_eq!(dropped(&record, Reason::Watchdog) > 0, drops, "{action:?}");
        let longest = record.pauses.iter().map(|pause| pause.longest).max().expect("pauses");
        assert!(longest >= Span::from_ms(1), "{longest}");
        assert!(
            record.ended < Time::ZERO + Span::from_ms(200),
            "{action:?} {:?} {}",
            record.stop,
            record.ended
        );
    }
}

/// Paths that go up and then down never wait for themselves.
#[test]
fn a_leaf_spine_has_no_deadlock_however_full() {
    for seed in 1..=3 {
        let pfc = PfcSettings { deadlock_every: Span::from_us(10), ..fixed(10_000, 3_076) };
        let setup = fabric(seed, pfc);
        let flows = lab::random_flows(&setup, 400, Span::from_us(100), 100_000);
        let record = lab::run(Setup { flows: flows.into(), ..setup });
        assert_eq!((record.stop, record.packets.dropped), (Stop::Finished, 0), "seed {seed}");
        assert!(record.deadlocks.is_empty() && record.pauses.len() > 20, "seed {seed}");
    }
}
