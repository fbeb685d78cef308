//! The choice of ports: engines, what they see and when, failures, and streams of random numbers.

use drill::Tie;

use super::*;
use crate::PauseOrder;
use crate::balance::{
    ecmp::{self, EcmpSettings},
    flow_drill::FlowDrillSettings,
    random::RandomSettings,
    round_robin::RoundRobinSettings,
};
use weft_mark::{NonEct, Scope};

/// The outputs of `n` packets that arrive at `inputs` while random ports send.
fn course(plan: &BenchOptions, inputs: &[u16], n: u64) -> Vec<u16> {
    let mut bench = plan.build();
    let mut dice = Random::new(99, Purpose::Test, 0);
    let mut outputs = Vec::new();
    for step in 0..n {
        bench.now = Time(step * SLOT / 3);
        let from = inputs[dice.below(inputs.len() as u32) as usize];
        outputs.push(bench.send(from, far(100 + dice.below(900) as u16)).expect("nothing is dropped"));
        bench.next(dice.below(u32::from(plan.ports)) as u16);
        bench.next(dice.below(u32::from(plan.ports)) as u16);
    }
    outputs
}

/// An idle engine leaves no trace, bit for bit.
#[test]
fn an_idle_engine_changes_nothing() {
    for balancer in [
        drill_with(2, 1, Tie::Random),
        drill_with(1, 3, Tie::Random),
        BalancerSettings::RoundRobin(RoundRobinSettings::default()),
        BalancerSettings::PerPacketRandom(RandomSettings {}),
    ] {
        for visibility in [Visibility::Instant, Visibility::Store] {
            let with = |engines| {
                let settings = SwitchSettings { visibility, engines, ..SwitchSettings::default() };
                course(
                    &BenchOptions { settings, balancer: balancer.clone(), ..BenchOptions::default() },
                    &[0, 2],
                    2_000,
                )
            };
            assert_eq!(with(1), with(2), "{balancer:?} {visibility:?}");
        }
    }
}

#[test]
fn engines_draw_from_streams_of_their_own() {
    let settings = SwitchSettings { engines: 2, ..BenchOptions::default().settings };
    let plan = BenchOptions { settings, balancer: drill_with(1, 0, Tie::Random), ..BenchOptions::default() };
    let (even, odd) = (course(&plan, &[0], 400), course(&plan, &[1], 400));
    let equal = even.iter().zip(&odd).filter(|(a, b)| a == b).count();
    assert!((60..140).contains(&equal), "one in four by chance: {equal}");
}

/// Synchronisation in miniature.
#[test]
fn two_engines_with_one_snapshot_choose_the_same_port() {
    let outputs = |visibility, balancer: &BalancerSettings| {
        let settings = SwitchSettings { visibility, engines: 2, ..SwitchSettings::default() };
        let plan = BenchOptions {
            settings,
            balancer: balancer.clone(),
            ports: 2,
            uplinks: vec![0, 1],
            ..BenchOptions::default()
        };
        let mut bench = plan.build();
        [bench.send(0, far(FULL)).unwrap(), bench.send(1, far(FULL)).unwrap()]
    };
    let lowest = drill_with(2, 1, Tie::LowestPort);
    assert_eq!(outputs(Visibility::EngineSlot, &lowest), [0, 0]);
    assert_eq!(outputs(Visibility::Store, &lowest), [0, 0]);
    assert_eq!(outputs(Visibility::Instant, &lowest), [0, 1]);
}

/// A packet is seen only after F/M of a full packet's time (engine-slot) or a whole one (store).
#[test]
fn decisions_become_visible_after_their_time() {
    let seen_by = |input, visibility, engines| {
        let settings = SwitchSettings { visibility, engines, ..SwitchSettings::default() };
        let plan =
            BenchOptions { settings, balancer: drill_with(4, 0, Tie::LowestPort), ..BenchOptions::default() };
        let seen = |delay: &u64| {
            let mut bench = plan.build();
            assert_eq!(bench.send(0, far(FULL)), Some(0));
            bench.now = Time(*delay);
            bench.send(input, far(FULL)) == Some(1)
        };
        (0..=SLOT + 1).step_by(100).flat_map(|time| [time, time + 1]).find(seen)
    };
    let seen_after = |visibility, engines| seen_by(1, visibility, engines);
    assert_eq!(seen_after(Visibility::Instant, 4), Some(0));
    assert_eq!(
        seen_after(Visibility::EngineSlot, 1),
        Some(0),
        "an engine handles one packet after the other"
    );
    assert_eq!(seen_after(Visibility::EngineSlot, 2), Some(SLOT / 2 + 1), "not yet at the very instant");
    assert_eq!(seen_by(2, Visibility::EngineSlot, 2), Some(0), "inputs 0 and 2 share an engine");
    assert_eq!(seen_by(3, Visibility::EngineSlot, 2), Some(SLOT / 2 + 1), "and 3 does not");
    assert_eq!(seen_by(2, Visibility::Store, 2), Some(SLOT + 1));
    assert_eq!(seen_after(Visibility::EngineSlot, 4), Some(SLOT + 1));
    assert_eq!(seen_after(Visibility::EngineSlot, 100), Some(SLOT + 1), "at most one engine per input");
    assert_eq!(seen_after(Visibility::Store, 1), Some(SLOT + 1));
}

#[test]
fn inputs_of_other_rates_have_delays_of_their_own() {
    let settings = SwitchSettings { visibility: Visibility::Store, ..SwitchSettings::default() };
    let rates = vec![Rate::from_gbps(10), Rate::from_gbps(40)];
    let balancer = drill_with(4, 0, Tie::LowestPort);
    let mut bench = BenchOptions { settings, balancer, rates, ..BenchOptions::default() }.build();
    assert_eq!(bench.send(0, far(FULL)), Some(0));
    assert_eq!(bench.send(1, far(FULL)), Some(0));
    bench.next(0);
    bench.next(0);
    // The first packet has left before either was seen; of two, one remains once the fast input's packet becomes
    // visible.
    bench.receive(1, to(0, FULL));
    bench.now = Time(SLOT / 4 + 1);
    assert_eq!(bench.send(0, far(FULL)), Some(1), "two arrived by the fast input and one has left");
}

#[test]
fn a_packet_in_service_counts_until_its_last_bit_unless_told_otherwise() {
    let second = |count_in_service| {
        let settings = SwitchSettings { count_in_service, ..BenchOptions::default().settings };
        let plan =
            BenchOptions { settings, balancer: drill_with(4, 0, Tie::LowestPort), ..BenchOptions::default() };
        let mut bench = plan.build();
        assert_eq!(bench.send(0, far(FULL)), Some(0));
        bench.next(0);
        let during = bench.send(0, far(FULL)).unwrap();
        let mut rest = plan.build();
        rest.send(0, far(FULL));
        rest.next(0);
        rest.next(0);
        let after = [rest.send(0, far(FULL)).unwrap(), rest.send(0, far(FULL)).unwrap()];
        (during, after)
    };
    // A packet that has left is subtracted once: the next one counts in full.
    assert_eq!(second(true), (1, [0, 1]));
    assert_eq!(second(false), (0, [0, 1]));
}

/// A port that engines begin to look at while it sends shows the same as if they had always looked.
#[test]
fn a_port_watched_from_now_on_shows_the_packet_in_service_as_the_rule_says() {
    let between = |count_in_service| {
        let settings = SwitchSettings { count_in_service, ..BenchOptions::default().settings };
        let balancer = drill_with(4, 0, Tie::LowestPort);
        let mut bench =
            BenchOptions { settings, balancer, ports: 2, uplinks: vec![1], ..BenchOptions::default() }
                .build();
        bench.receive(0, to(0, FULL));
        bench.next(0);
        bench.switch.install(vec![GroupId(0); 2], vec![together(&[0, 1])]);
        let during = [bench.send(0, far(FULL)).unwrap(), bench.send(0, far(FULL)).unwrap()];
        bench.drain(0);
        bench.drain(1);
        (during, bench.send(0, far(FULL)).unwrap())
    };
    assert_eq!(between(true), ([1, 0], 0), "one in service at port 0, then one at each");
    assert_eq!(between(false), ([0, 1], 0), "what is in service has left");
}

#[test]
fn a_packet_in_service_is_taken_off_the_load_of_its_own_class_only() {
    let settings = SwitchSettings { count_in_service: false, queues: 2, ..BenchOptions::default().settings };
    let balancer = drill_with(2, 0, Tie::LowestPort);
    let mut bench =
        BenchOptions { settings, balancer, ports: 2, uplinks: vec![0, 1], ..BenchOptions::default() }.build();
    bench.receive(0, class(1, to(0, FULL)));
    bench.next(0);
    bench.receive(0, class(0, to(0, 300)));
    bench.receive(0, class(0, to(1, 200)));
    assert_eq!(bench.send(0, class(0, far(50))), Some(1), "300 bytes wait at port 0, 200 at port 1");
}

#[test]
fn classes_count_as_the_rule_says() {
    let choice = |class_load, packet: u8| {
        let settings = SwitchSettings { class_load, queues: 3, ..BenchOptions::default().settings };
        let balancer = drill_with(2, 0, Tie::LowestPort);
        let mut bench =
            BenchOptions { settings, balancer, ports: 2, uplinks: vec![0, 1], ..BenchOptions::default() }
                .build();
        bench.receive(0, class(1, to(0, 900)));
        bench.receive(0, class(0, to(1, 100)));
        bench.receive(0, class(2, to(1, 850)));
        bench.send(0, class(packet, far(50))).unwrap()
    };
    // Port 0 holds 0, 900, 900 bytes up to classes 0, 1, 2; port 1 holds 100, 100, 950.
    assert_eq!([0, 1, 2, 7].map(|class| choice(ClassLoad::AtOrAbove, class)), [0, 1, 0, 0]);
    assert_eq!([0, 1, 2, 7].map(|class| choice(ClassLoad::All, class)), [0, 0, 0, 0]);
}

/// How many packets each role gets when the port of role r sends with probability (r + 1)/8 per packet.
fn shares_by_role(label_of_role: [u16; 4], seed: u64) -> [u64; 4] {
    let mut bench = BenchOptions { seed, ..BenchOptions::default() }.build();
    let mut dice = Random::new(seed, Purpose::Test, 7);
    let mut counts = [0; 4];
    for _ in 0..40_000 {
        let port = bench.send(0, far(FULL)).unwrap();
        counts[label_of_role.iter().position(|label| *label == port).unwrap()] += 1;
        for (role, label) in label_of_role.iter().enumerate() {
            if dice.below(8) <= role as u32 {
                bench.next(*label);
            }
        }
    }
    counts
}

/// The names of ports do not matter.
#[test]
fn relabelling_the_ports_permutes_the_results() {
    let plain = shares_by_role([0, 1, 2, 3], 1);
    assert!(plain.windows(2).all(|pair| pair[1] > pair[0] + 2_000), "the roles do differ: {plain:?}");
    for (seed, labels) in [(2, [3, 2, 1, 0]), (3, [1, 2, 3, 0]), (4, [2, 0, 3, 1])] {
        let other = shares_by_role(labels, seed);
        let term = |(a, b): (&u64, &u64)| (*a as f64 - *b as f64).powi(2) / (a + b) as f64;
        let chi_square: f64 = plain.iter().zip(&other).map(term).sum();
        // 99.9 % quantile with 3 degrees of freedom.
        assert!(chi_square < 16.3, "{labels:?}: {plain:?} {other:?}");
    }
}

fn all_balancers() -> Vec<BalancerSettings> {
    let ecmp = |mapping| BalancerSettings::Ecmp(EcmpSettings { mapping, ..Default::default() });
    let flow = |choices, memory| {
        BalancerSettings::FlowDrill(FlowDrillSettings { choices, memory, ..Default::default() })
    };
    vec![
        ecmp(ecmp::Mapping::Multiply),
        ecmp(ecmp::Mapping::Modulo),
        ecmp(ecmp::Mapping::Resilient),
        BalancerSettings::PerPacketRandom(RandomSettings {}),
        BalancerSettings::RoundRobin(RoundRobinSettings { permute_after: 2 }),
        drill_with(1, 1, Tie::Random),
        drill_with(2, 1, Tie::MemoryFirst),
        drill_with(2, 4, Tie::Random),
        drill_with(20, 20, Tie::SampleFirst),
        flow(2, 1),
    ]
}

/// Packet `n` of a crowd of flows.
fn crowd(n: u32) -> Header {
    Header { ports: n % 97, ..far(FULL) }
}

/// A removed port never gets a packet again, remembered or not; the rest of the group does.
#[test]
fn no_packet_goes_to_a_removed_port() {
    for balancer in all_balancers() {
        for failed in 0..4 {
            let settings = SwitchSettings { engines: 3, ..BenchOptions::default().settings };
            let mut bench =
                BenchOptions { settings, balancer: balancer.clone(), ..BenchOptions::default() }.build();
            for n in 0..200 {
                bench.receive(n as u16 % 4, crowd(n));
            }
            // Make the port the most attractive of all before it is removed.
            while bench.next(failed).is_some() {}
            for n in 0..8 {
                bench.receive(n as u16 % 4, crowd(n));
            }
            let held = bench.queued()[usize::from(failed)] / u64::from(FULL);
            bench.set_port(failed, false);
            assert_eq!(bench.drops(), vec![Reason::LinkDown; held as usize], "its queue is lost");
            let mut counts = [0; 4];
            for n in 0..400 {
                let port = bench.send(n as u16 % 4, crowd(n)).expect("there are other ways");
                counts[usize::from(port)] += 1;
            }
            assert_eq!(counts[usize::from(failed)], 0, "{balancer:?}");
            assert!(counts.iter().filter(|count| **count > 0).count() == 3, "{balancer:?} {counts:?}");
        }
    }
}

#[test]
fn new_routes_take_effect_at_once_and_a_repaired_port_is_used_again() {
    for balancer in all_balancers() {
        let mut bench = BenchOptions { balancer: balancer.clone(), ..BenchOptions::default() }.build();
        let used = |bench: &mut Bench| {
            let ports: Vec<u16> = (0..300).filter_map(|n| bench.send(0, crowd(n))).collect();
            (0..4).filter(|port| ports.contains(port)).collect::<Vec<u16>>()
        };
        assert_eq!(used(&mut bench), [0, 1, 2, 3]);
        bench.switch.install(vec![GroupId(0); 2], vec![together(&[1, 2])]);
        assert_eq!(used(&mut bench), [1, 2], "{balancer:?}");
        bench.set_port(1, false);
        assert_eq!(used(&mut bench), [2], "{balancer:?}");
        bench.set_port(2, false);
        assert_eq!(used(&mut bench), [0; 0], "{balancer:?}");
        assert_eq!(bench.drops(), [Reason::NoRoute]);
        bench.set_port(1, true);
        bench.set_port(2, true);
        bench.switch.install(vec![GroupId(0); 2], vec![together(&[0, 1, 2, 3])]);
        for port in 0..4 {
            while bench.next(port).is_some() {}
        }
        // Per-flow DRILL keeps its flows where they are: give it different ones.
        let mut ports: Vec<u16> =
            (0..300).filter_map(|n| bench.send(0, Header { ports: n + 1_000, ..far(FULL) })).collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports, [0, 1, 2, 3], "{balancer:?}");
    }
}

#[test]
fn new_routes_start_with_an_empty_memory() {
    let kept = |install: bool| {
        let same = |seed: &u64| {
            let balancer = drill_with(1, 1, Tie::MemoryFirst);
            // No queue is visible, so all loads are equal and only memory decides.
            let settings = SwitchSettings { visibility: Visibility::Store, ..SwitchSettings::default() };
            let mut bench =
                BenchOptions { settings, balancer, seed: *seed, ..BenchOptions::default() }.build();
            let before = bench.send(0, far(FULL));
            if install {
                bench.switch.install(vec![GroupId(0); 2], vec![together(&[0, 1, 2, 3])]);
            }
            bench.send(0, far(FULL)) == before
        };
        (0..400).filter(same).count()
    };
    assert_eq!(kept(false), 400);
    assert!((60..140).contains(&kept(true)), "one in four by chance");
}

#[test]
fn a_packet_for_a_host_whose_link_is_down_is_lost() {
    let mut bench = BenchOptions::default().build();
    bench.set_port(2, false);
    bench.receive(0, to(2, FULL));
    assert_eq!(bench.drops(), [Reason::LinkDown]);
    bench.set_port(2, true);
    bench.receive(0, to(2, FULL));
    assert_eq!(bench.effects, [Effect::HasWork(PortId(2))]);
}

/// A group of one port is plain forwarding: no random number is drawn for it.
#[test]
fn a_group_of_one_draws_nothing() {
    let single = BenchOptions { uplinks: vec![2], ..BenchOptions::default() };
    let mut detour = single.build();
    for _ in 0..50 {
        assert_eq!(detour.send(0, far(FULL)), Some(2));
        while detour.next(2).is_some() {}
    }
    detour.switch.install(vec![GroupId(0); 2], vec![together(&[0, 1, 2, 3])]);
    let mut fresh = BenchOptions::default().build();
    let outputs = |bench: &mut Bench| (0..200).map(|_| bench.send(0, far(FULL))).collect::<Vec<_>>();
    assert_eq!(outputs(&mut detour), outputs(&mut fresh));
}

/// The draws of one switch do not affect another.
#[test]
fn another_balancer_next_door_does_not_move_the_random_numbers_here() {
    let run = |neighbour: BalancerSettings| {
        let mut near = BenchOptions { id: 1, balancer: neighbour, ..BenchOptions::default() }.build();
        let mut here = BenchOptions { id: 2, ..BenchOptions::default() }.build();
        let mut outputs = Vec::new();
        for n in 0..500 {
            near.receive(0, crowd(n));
            outputs.push(here.send(0, crowd(n)));
        }
        outputs
    };
    let reference = run(drill_with(2, 1, Tie::Random));
    for balancer in all_balancers() {
        assert_eq!(run(balancer), reference);
    }
    let elsewhere = |id| course(&BenchOptions { id, ..BenchOptions::default() }, &[0], 200);
    assert_ne!(elsewhere(1), elsewhere(2), "but switches do differ");
    let marks =
        crate::mark::step::StepSettings { scope: Scope::Queue, non_ect: NonEct::Pass, ..Default::default() };
    let ecn = crate::mark::MarkerSettings::Step(marks);
    let settings = SwitchSettings { ecn, ..BenchOptions::default().settings };
    assert_eq!(course(&BenchOptions { settings, id: 1, ..BenchOptions::default() }, &[0], 200), elsewhere(1));
}

/// Components of weights 1, 2 and 3: ports 0, 1 and 2, and port 3 alone.
fn uneven() -> Group {
    let component = |weight, ports| Component { weight, ..Component::equal(ids(ports)) };
    Group { components: vec![component(1, &[0]), component(2, &[1, 2]), component(3, &[3])] }
}

/// How many of 6 000 flows of two packets begin at each port; both packets of a flow stay in one component.
fn starts(bench: &mut Bench) -> [u64; 4] {
    let mut counts = [0; 4];
    let component_of = |port: u16| [0, 1, 1, 2][usize::from(port)];
    for flow in 0..6_000 {
        let packet = Header { ports: flow, ..far(FULL) };
        let (first, second) = (bench.send(0, packet).unwrap(), bench.send(1, packet).unwrap());
        assert_eq!(component_of(first), component_of(second), "flow {flow}");
        counts[usize::from(first)] += 1;
        bench.drain(first);
        bench.drain(second);
    }
    counts
}

fn assert_near(count: u64, expected: f64) {
    let sigma = (expected * (1.0 - expected / 6_000.0)).sqrt();
    assert!((count as f64 - expected).abs() < 4.0 * sigma, "{count}, expected {expected}");
}

#[test]
fn flows_are_spread_over_components_by_weight_and_packets_within() {
    let mut bench = BenchOptions::default().build();
    bench.switch.install(vec![GroupId(0); 2], vec![uneven()]);
    let [first, second, third, last] = starts(&mut bench);
    assert_near(first, 1_000.0);
    assert_near(second + third, 2_000.0);
    assert_near(last, 3_000.0);
    assert!(second > 800 && third > 800, "DRILL balances within the component: {second} {third}");
}

/// Flows are spread by the remaining weights; a port that comes back takes its share again.
#[test]
fn a_component_without_ports_leaves_its_flows_to_the_others() {
    let mut bench = BenchOptions::default().build();
    bench.switch.install(vec![GroupId(0); 2], vec![uneven()]);
    bench.set_port(3, false);
    bench.set_port(1, false);
    let [first, second, third, last] = starts(&mut bench);
    assert_eq!((second, last), (0, 0));
    assert_near(first, 2_000.0);
    assert_near(third, 4_000.0);
    bench.set_port(3, true);
    assert_near(starts(&mut bench)[3], 3_000.0);
}

/// Components of single ports are weighted ports, and equal ones are ECMP with the same hash.
#[test]
fn equal_components_of_single_ports_are_ecmp() {
    let single = |port| Component::equal(ids(&[port]));
    let mut singles = BenchOptions::default().build();
    singles.switch.install(vec![GroupId(0); 2], vec![Group { components: (0..4).map(single).collect() }]);
    let mut ecmp =
        BenchOptions { balancer: BalancerSettings::Ecmp(EcmpSettings::default()), ..BenchOptions::default() }
            .build();
    for flow in 0..1_000 {
        let packet = Header { ports: flow, ..far(FULL) };
        assert_eq!(singles.send(0, packet), ecmp.send(0, packet), "flow {flow}");
    }
}

/// DRILL that excludes paused ports: while another port is left they get nothing, whatever the queues hold; a class
/// that is not paused may use them; and when all are paused, all may be chosen.
#[test]
fn paused_ports_leave_the_choice_of_drill() {
    let settings = |exclude_paused| BenchOptions {
        settings: SwitchSettings {
            queues: 2,
            sharing: crate::share::SharingSettings::Infinite(Default::default()),
            pfc: crate::PfcSettings { classes: vec![0], xoff: Some(Bytes(1 << 40)), ..Default::default() },
            ..BenchOptions::default().settings
        },
        balancer: BalancerSettings::Drill(drill::DrillSettings { exclude_paused, ..Default::default() }),
        ..BenchOptions::default()
    };
    let hold = |bench: &mut Bench, ports: &[u16]| {
        for port in ports {
            let (switch, mut turn) = bench.turn();
            switch.pause(&mut turn, PortId(*port), PauseOrder::Hold { queue: 0, held: true });
        }
    };
    let chosen = |bench: &mut Bench, class_of: u8| {
        let mut counts = [0; 4];
        (0..200)
            .for_each(|_| counts[usize::from(bench.send(0, class(class_of, far(FULL))).expect("room"))] += 1);
        counts
    };
    let mut bench = settings(true).build();
    hold(&mut bench, &[0, 2]);
    let [a, b, c, d] = chosen(&mut bench, 0);
    assert!((a, c) == (0, 0) && b > 80 && d > 80, "{a} {b} {c} {d}");
    let [a, _, c, _] = chosen(&mut bench, 1);
    assert!(a > 80 && c > 80, "another class takes what is empty: {a} {c}");
    hold(&mut bench, &[1]);
    assert_eq!(chosen(&mut bench, 0), [0, 0, 0, 200], "only one is left");
    hold(&mut bench, &[3]);
    let [a, _, c, _] = chosen(&mut bench, 0);
    assert!(a > 40 && c > 40, "none is left: {a} {c}");
    let mut usual = settings(false).build();
    hold(&mut usual, &[0, 2]);
    assert!(chosen(&mut usual, 0).iter().all(|count| *count > 40), "by default a paused port is a candidate");
}
