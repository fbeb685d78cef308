//! Settings of single tiers and switches: the level that counts, and refusals.

use crate::{accepted, refused, small};
use weft_core::Span;
use weft_core::settings::{Family, Field, Kind, Table};
use weft_scenario::{Device, DeviceSettings, ScenarioFile, devices, ports};
use weft_switch::mark::MarkerSettings;
use weft_topology::build;

fn devices_of(text: &str) -> Vec<Device> {
    let scenario = accepted(text);
    let graph = build(&scenario.settings.topology).expect("a valid topology");
    devices(&scenario.settings, &graph)
}

/// Exactly one mistake, which says this.
fn wrong(sections: &str, what: &str) {
    let found = refused(&small(sections));
    assert!(found.len() == 1 && found[0].contains(what), "expected `{what}`, found {found:#?}");
}

#[test]
fn the_most_specific_level_counts() {
    let found = devices_of(&small(
        "[switch]\nlatency = \"1 us\"\n[switch.leaf]\nlatency = \"2 us\"\nengines = 4\n\
         [switch.named.leaf1]\nlatency = \"3 us\"\n[switch.named.\"spine*\"]\nbalance = \"random\"\n",
    ));
    let told: Vec<_> = found
        .iter()
        .map(|device| {
            let numbers: Vec<u32> = device.switches.iter().map(|switch| switch.0).collect();
            (numbers, device.switch.latency, device.switch.engines, device.balance.name())
        })
        .collect();
    let us = Span::from_us;
    assert_eq!(
        told,
        [(vec![0], us(2), 4, "ecmp"), (vec![1], us(3), 4, "ecmp"), (vec![2, 3], us(1), 1, "random"),]
    );
}

#[test]
fn a_member_keeps_the_settings_that_a_level_does_not_name() {
    let found = devices_of(&small(
        "[transport.dctcp]\n[switch.ecn.step]\nthreshold = \"30 pkt\"\npacket = \"1 kB\"\n\
         [switch.leaf.ecn.step]\nthreshold = \"90 pkt\"\n[switch.named.spine1]\necn = \"off\"\n",
    ));
    let MarkerSettings::Step(leaf) = &found[0].switch.ecn else { panic!("{:?}", found[0].switch.ecn) };
    assert_eq!((leaf.threshold.bytes(leaf.packet).0, leaf.packet.0), (90_000, 1_000));
    assert!(matches!(found[2].switch.ecn, MarkerSettings::Off(_)));
}

#[test]
fn without_levels_every_switch_is_one_device() {
    let found = devices_of(&small(""));
    assert_eq!((found.len(), found[0].switches.len(), found[0].levels.len()), (1, 4, 0));
}

#[test]
fn a_level_names_switches_of_the_topology() {
    wrong(
        "[switch.edge]\nlatency = \"1 us\"\n",
        "no switch is in tier `edge`; this topology has: leaf, spine",
    );
    wrong("[switch.named.leaf9]\nlatency = \"1 us\"\n", "no switch is called `leaf9`");
    wrong("[switch.lief]\nlatency = \"1 us\"\n", "unknown key `lief` in `switch`");
    wrong("[switch.leaf]\nlatncy = \"1 us\"\n", "unknown key `latncy` in `switch.leaf`");
    wrong("[switch.leaf]\nlatency = 1\n", "switch.leaf.latency");
}

#[test]
fn every_tier_of_every_topology_has_its_name() {
    for (topology, tiers) in [
        ("[topology.fat-tree]\nk = 4\n", &["edge", "aggregation", "core"][..]),
        ("[topology.vl2]\n", &["tor", "aggregation", "intermediate"][..]),
        ("[topology.pods-and-planes]\n", &["tor", "fabric", "spine"][..]),
        ("[topology.dumbbell]\n", &["leaf"][..]),
        ("[topology.diamond]\n", &["leaf", "spine"][..]),
    ] {
        let sections =
            tiers.iter().enumerate().map(|(at, tier)| format!("[switch.{tier}]\nengines = {}\n", at + 2));
        let text = format!(
            "weft = 1\nname = \"x\"\n{topology}[[traffic]]\ntag = \"a\"\nload = 0.1\nsizes = \"1 kB\"\n\
             [measure]\nflows = 10\n{}",
            sections.collect::<String>()
        );
        let found = devices_of(&text);
        let engines: Vec<u32> = found.iter().map(|device| device.switch.engines).collect();
        assert_eq!(engines, (2..2 + tiers.len() as u32).collect::<Vec<_>>(), "{topology}");
    }
}

#[test]
fn what_changes_nothing_is_refused() {
    let hidden = "a more specific level overrides it for each of its switches";
    wrong(
        "[switch]\nlatency = \"1 us\"\n[switch.leaf]\nlatency = \"2 us\"\n[switch.spine]\nlatency = \"3 us\"\n",
        hidden,
    );
    wrong("[switch.spine]\nlatency = \"2 us\"\n[switch.named.\"spine*\"]\nlatency = \"3 us\"\n", hidden);
    wrong("[switch.leaf]\nlatency = \"500 ns\"\n", "has the same value anyway");
    wrong("[switch]\nengines = 2\n[switch.leaf]\nengines = 2\n", "has the same value anyway");
    wrong("[switch.leaf]\nbalance = \"ecmp\"\n", "has the same value anyway");
    wrong(
        "[switch.leaf.sharing.static]\nper_port = \"300 kB\"\n[switch.spine]\nsharing = \"infinite\"\nbuffer = \"1 MB\"\n",
        "switch.spine.buffer",
    );
    // in some case of a sweep it changes something
    accepted(&small("[switch.leaf]\nengines = 2\n[sweep]\n\"switch.engines\" = [1, 2]\n"));
}

#[test]
fn an_idle_setting_is_one_that_is_idle_everywhere() {
    let idle = "[switch.schedule.drr]\nquantum = \"2 kB\"\n";
    wrong(idle, "switch.schedule");
    accepted(&small(&format!("{idle}[switch.leaf]\nqueues = 2\n[switch.spine]\nschedule = \"fifo\"\n")));
    wrong("[switch.leaf]\nschedule = \"drr\"\n", "switch.leaf.schedule");
}

#[test]
fn what_needs_the_whole_network_is_refused_in_parts() {
    wrong("[switch.spine]\nbalance = \"conga\"\n", "conga must run on every switch");
    wrong(
        "[switch]\nqueues = 2\nbuffer = \"9 MB\"\n[switch.pfc]\nclasses = [1]\n[switch.spine]\nqueues = 4\n",
        "a pause frame names a queue",
    );
    wrong(
        "[switch]\nqueues = 2\nbuffer = \"9 MB\"\n[switch.pfc]\nclasses = [1]\n[switch.spine.pfc]\nresponse = \"3 us\"\n",
        "one response time on both sides",
    );
}

/// A level may choose any member of a family by its name alone, and nothing is missing then.
#[test]
fn members_of_switches_need_no_settings() {
    let mut families = Vec::new();
    families_of(&DeviceSettings::TABLE, &mut families);
    assert!(families.len() >= 4, "sharing, schedule, ecn and balance");
    for member in families.iter().flat_map(|family| family.members) {
        let needs = |field: &&Field| field.default.is_none() && !matches!(field.kind, Kind::Flatten(_));
        assert_eq!(member.table.fields.iter().filter(needs).count(), 0, "{}", member.name);
    }
}

fn families_of(table: &'static Table, found: &mut Vec<&'static Family>) {
    for field in table.fields {
        match field.kind {
            Kind::Flatten(inner) | Kind::Table(inner) => families_of(inner, found),
            Kind::Family(family) => found.push(family),
            _ => {}
        }
    }
}

#[test]
fn ports_are_chosen_by_the_names_of_both_ends() {
    let text = small(
        "[transport.dctcp]\n[switch.ecn.step]\nthreshold = \"30 pkt\"\n\
         [[switch.port]]\nat = \"leaf*\"\nto = \"host*\"\nqueue_limit = \"90 kB\"\n\
         [[switch.port]]\nat = \"leaf1\"\nto = \"host3,spine0\"\necn.step.threshold = \"9 pkt\"\n",
    );
    let scenario = accepted(&text);
    let graph = build(&scenario.settings.topology).expect("a valid topology");
    let told: Vec<_> = ports(&scenario.settings, &graph)
        .into_iter()
        .map(|(link, port)| {
            let MarkerSettings::Step(step) = port.ecn else { panic!("{:?}", port.ecn) };
            let to = graph.name(graph.links()[link.index()].to);
            (to, port.queue_limit.map(|limit| limit.0), step.threshold.bytes(step.packet).0 / step.packet.0)
        })
        .collect();
    let port = |to: &str, limit, threshold| (to.to_owned(), limit, threshold);
    let limit = Some(90_000);
    let expected = [
        port("host0", limit, 30),
        port("host1", limit, 30),
        port("host2", limit, 30),
        port("host3", limit, 9),
        port("spine0", None, 9),
    ];
    assert_eq!(told, expected);
    assert_eq!(accepted(&scenario.to_toml()).settings, scenario.settings, "{}", scenario.to_toml());
    let rows = scenario.explain(Some("switch.port[1]"));
    let threshold = rows.iter().find(|row| row.path.ends_with("threshold")).expect("it is explained");
    assert!(threshold.origin.ends_with("[switch.port[1]]"), "{}", threshold.origin);
}

#[test]
fn entries_of_ports_concern_some_and_say_something() {
    wrong("[[switch.port]]\nat = \"leaf9\"\nqueue_limit = \"9 kB\"\n", "no switch matching `at` has a port");
    wrong(
        "[[switch.port]]\nat = \"leaf0\"\nto = \"leaf1\"\nqueue_limit = \"9 kB\"\n",
        "no switch matching `at` has a port",
    );
    wrong("[[switch.port]]\nat = \"leaf0\"\n", "sets nothing on its ports");
    let shaped = |what: &str| format!("[[switch.port]]\nat = \"leaf0\"\nshaper = {{ {what} }}\n");
    wrong(
        &shaped("rate = \"400 Gbps\""),
        "`switch.port[0].shaper.rate` has no effect: no link of these ports is faster",
    );
    wrong(&shaped("rate = \"0 bps\""), "a shaper of rate zero passes nothing");
    wrong(&shaped("rate = \"1 Gbps\", queues = [0, 1]"), "queue 1: these ports have 1, numbered from 0");
    wrong(&shaped("rate = \"1 Gbps\", depth = \"9 kB\""), "unknown key `depth` in `switch.port[0].shaper`");
    wrong("[[switch.port]]\nschedule = \"strict\"\n", "there is only one queue per port");
    wrong("[[switch.port]]\nqueue_limit = 9\n", "switch.port[0].queue_limit");
    wrong("[[switch.port]]\nat = \"leaf0\"\nqueue_limit = \"1 kB\"\n", "1 kB holds no packet of 1538 B");
    wrong("[[switch.port]]\nlatency = \"1 us\"\n", "unknown key `latency` in `switch.port[0]`");
    wrong(
        "[transport.dctcp]\n[switch.ecn.step]\nthreshold = \"30 pkt\"\n\
         [[switch.port]]\necn.step.threshold = \"9 pkt\"\n",
        "`switch.ecn.step.threshold` has no effect: a more specific level",
    );
}

/// A port has one shaper and one limit: an entry that later ones replace everywhere is a mistake, one that they replace somewhere
/// is not.
#[test]
fn a_shaper_that_no_port_keeps_is_a_mistake() {
    let entry = |to: &str, what: &str| format!("[[switch.port]]\nto = \"{to}\"\n{what}\n");
    let shaper = |rate: u32| format!("shaper = {{ rate = \"{rate} Gbps\" }}");
    let twice = |first: &str, second: &str| entry("host0", first) + &entry("host*", second);
    wrong(&twice(&shaper(2), &shaper(3)), "`switch.port[0].shaper` has no effect: a port has one shaper");
    wrong(
        &twice("queue_limit = \"9 kB\"", "queue_limit = \"8 kB\""),
        "`switch.port[0].queue_limit` has no effect: a port has one queue_limit",
    );
    accepted(&small(&(entry("host*", &shaper(3)) + &entry("host0", &shaper(2)))));
    accepted(&small(&twice(&shaper(2), "queue_limit = \"8 kB\"")));
}

#[test]
fn explain_says_which_level_gave_a_value() {
    let scenario = accepted(&small(
        "[switch]\nlatency = \"1 us\"\n[switch.leaf]\nengines = 4\n[switch.spine]\nbalance = \"random\"\n",
    ));
    let origin = |path: &str| {
        let rows = scenario.explain(Some(path));
        (rows[0].value.clone(), rows[0].origin.clone())
    };
    let told = |value: &str, origin: &str| (value.to_owned(), origin.to_owned());
    assert_eq!(origin("switch.leaf.engines"), told("4", "test.toml:19 [switch.leaf]"));
    assert_eq!(origin("switch.leaf.latency"), told("1 us", "test.toml:17 [switch]"));
    assert_eq!(origin("switch.leaf.queues"), told("1", "default"));
    assert_eq!(origin("switch.spine.balance"), told("random", "test.toml:21 [switch.spine]"));
    assert_eq!(origin("switch.latency"), told("1 us", "test.toml:17"));
}

/// Hosts and traffic entries choose transports: every setting in effect is shown, with what set it.
#[test]
fn explain_tells_the_transports_of_hosts_and_traffic() {
    let scenario = accepted(&small(
        "[transport.cubic]\nmtu = \"9000 B\"\n[[hosts]]\nnames = \"host0\"\ntransport.cubic.gro = true\n\
         [[hosts]]\nnames = \"host1\"\ntransport = \"dcqcn\"\n[switch]\necn = \"red\"\n",
    ));
    let told = |path: &str| {
        let rows = scenario.explain(Some(path));
        rows.iter().map(|row| (row.value.clone(), row.origin.clone())).collect::<Vec<_>>()
    };
    let one = |value: &str, origin: &str| vec![(value.to_owned(), origin.to_owned())];
    assert_eq!(told("hosts[0].transport.cubic.gro"), one("true", "test.toml:20 [hosts[0]]"));
    assert_eq!(told("hosts[0].transport.cubic.mtu"), one("9 kB", "test.toml:17 [transport]"));
    assert_eq!(told("hosts[0].transport.cubic.tso"), one("false", "default"));
    assert_eq!(told("hosts[1].transport.dcqcn.recovery").len(), 1);
    assert_eq!(told("hosts[1].names"), one("host1", "test.toml:22"));
    // The choice of a traffic entry meets hosts of several groups: it is shown as written, and as in effect for each.
    let text = "[[hosts]]\nnames = \"host0\"\ntransport.newreno.gro = true\n";
    let chosen = small(text).replace("[[traffic]]\n", "[[traffic]]\ntransport.newreno.mtu = \"9000 B\"\n");
    let paths: Vec<String> = accepted(&chosen).explain(None).into_iter().map(|row| row.path).collect();
    let tag = paths.iter().find_map(|path| path.strip_suffix(".load")).expect("it has a load");
    for path in ["", "hosts[0]+"].map(|group| format!("{group}{tag}.transport.newreno.mtu")) {
        assert_eq!(paths.iter().filter(|known| **known == path).count(), 1, "{path}: {paths:#?}");
    }
}

#[test]
fn levels_survive_the_way_through_their_canonical_form() {
    let text = small(
        "[transport.dctcp]\n[switch.leaf]\nbuffer = \"9 MB\"\n[switch.leaf.ecn.red]\nmin = \"10 kB\"\nmax = \"20 kB\"\n\
         [switch.named.\"spine*\"]\nbalance = \"random\"\nsharing.dynamic.alpha = 2.0\nbuffer = \"4 MB\"\n",
    );
    let first = accepted(&text);
    let again = accepted(&first.to_toml());
    assert_eq!(again.settings, first.settings, "{}", first.to_toml());
    assert_eq!(again.cases()[0].hash8("x"), first.cases()[0].hash8("x"));
    assert!(!accepted(&small("")).to_toml().contains("[switch.leaf"), "no level, no section");
}

#[test]
fn overrides_and_sweeps_reach_levels() {
    let text = small("[switch.leaf]\nengines = 2\n");
    let file = |sets: &[&str]| {
        let file = ScenarioFile::parse(&text, "test.toml").expect("it is TOML");
        let file = sets.iter().fold(file, |file, set| file.set(set));
        file.validate(&weft_scenario::Metrics::ANY)
    };
    let scenario =
        file(&["sweep.switch.leaf.engines=2,4", "switch.named.spine0.latency=2 us"]).expect("valid");
    assert_eq!(scenario.cases().len(), 2);
    assert_eq!(scenario.cases()[1].label(), "switch.leaf.engines=4");
    let graph = build(&scenario.settings.topology).expect("valid");
    let found = devices(&scenario.cases()[1].settings, &graph);
    assert_eq!(found.iter().map(|device| device.switch.engines).collect::<Vec<_>>(), [4, 1, 1]);
    let wrong = file(&["switch.leaf.engine=4"]).expect_err("no such setting");
    assert!(wrong.list()[0].nearest.as_deref() == Some("engines"), "{wrong}");
}

/// Leaves with virtual output queues: settings without effect, or that cannot be combined, are reported.
#[test]
fn virtual_output_queues_stand_alone() {
    let finds = |sections: &str, what: &str| {
        let found = refused(&small(sections));
        assert!(found.iter().any(|mistake| mistake.contains(what)), "expected `{what}`, found {found:#?}");
    };
    accepted(&small("[switch.leaf]\nvoq = { groups = 2, limit = \"50 MB\" }\n"));
    let leaf = |what: &str| format!("[switch.leaf]\nvoq = {{}}\n{what}\n");
    finds(
        &leaf("pfc = { classes = [0], xoff = \"50 kB\" }"),
        "switches with virtual output queues do not pause",
    );
    finds(
        &leaf("order = \"ranked\""),
        "switches with virtual output queues serve packets in order of arrival",
    );
    finds(&leaf("trim = { queue = \"8 pkt\" }"), "switches with virtual output queues do not trim");
    finds(
        &leaf("buffer = \"32 MB\""),
        "`switch.leaf.buffer` has no effect: virtual output queues are limited by",
    );
    finds(&leaf("cell = \"208 B\""), "`switch.leaf.cell` has no effect: virtual output queues count bytes");
    let voq = |what: &str| format!("[switch.leaf.voq]\n{what}\n");
    finds(&voq("credit = \"0 B\""), "holds no packet");
    // A full frame of 1500 B of IP takes 1538 B on the wire.
    let holds = |setting: &str, size: &str| voq(&format!("{setting} = \"{size}\"\nspill = \"1 GB\""));
    finds(&holds("limit", "1537 B"), "1537 B holds no packet of 1538 B: all of them would be dropped");
    finds(&holds("on_chip", "1537 B"), "1537 B holds no packet of 1538 B");
    finds(&holds("limit", "0 B"), "holds no packet of 1538 B");
    accepted(&small(&holds("limit", "1538 B")));
    finds(&voq("output = \"1 kB\""), "1 kB is less than one credit of 4 KiB");
    finds(&voq("spill = \"1 GB\"\ndeep = \"4 GB\""), "`switch.leaf.voq.deep` has no effect: no queue spills");
    finds(&voq("groups = 40"), "40 groups of ports in a switch that has 4");
    finds(&voq("port_groups = [0, 0]"), "2 ports have groups, but the switch has 4");
    finds(
        &voq("groups = 2\nport_groups = [0, 1, 2, 0]"),
        "there is no group 2: `groups` is 2, and they count from 0",
    );
    finds(&voq("groups = 3\nport_groups = [0, 2, 2, 0]"), "group 1 has no port");
    finds("[switch]\ncell = \"9 kB\"\n", "cells of 9 kB; from 2 B to 4 KiB");
}
