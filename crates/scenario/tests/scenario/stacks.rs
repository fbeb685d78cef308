//! Transports of groups of hosts and of traffic entries: who uses which, and refusals.

use crate::{accepted, refused, small};
use weft_scenario::{cards, stacks};
use weft_topology::build;

/// For each host of the small network the names of the transports of its flows, by traffic entry.
fn told(text: &str) -> Vec<Vec<&'static str>> {
    let scenario = accepted(text);
    let graph = build(&scenario.settings.topology).expect("a valid topology");
    let found = stacks(&scenario.settings, &graph);
    let name = |number: &u16| found.all[usize::from(*number)].transport.name();
    let of = |group: &u16| found.of[usize::from(*group)].iter().map(name).collect();
    found.group_of_host.iter().map(of).collect()
}

/// Exactly one mistake, which says this.
fn wrong(sections: &str, what: &str) {
    let found = refused(&small(sections));
    assert!(found.len() == 1 && found[0].contains(what), "expected `{what}`, found {found:#?}");
}

const MORE: &str = "[[traffic]]\ntag = \"bulk\"\nload = 0.1\nsizes = \"1 MB\"\n";

#[test]
fn hosts_have_the_transport_of_their_group_and_entries_have_the_last_word() {
    let groups = "[[hosts]]\nnames = \"host1..2\"\ntransport = \"newreno\"\n\
                  [[hosts]]\nat = \"leaf1\"\nnames = \"host2\"\ntransport = \"htcp\"\n";
    let text = small(&format!("[transport.cubic]\n{MORE}transport = \"udp\"\n{groups}"));
    let both = |first| vec![first, "udp"];
    assert_eq!(told(&text), [both("cubic"), both("newreno"), both("htcp"), both("cubic")]);
}

#[test]
fn one_transport_for_all_is_one_stack() {
    let scenario = accepted(&small(""));
    let graph = build(&scenario.settings.topology).expect("a valid topology");
    assert_eq!(stacks(&scenario.settings, &graph).all.len(), 1);
    assert!(!scenario.to_toml().contains("[[hosts]]"), "no group, no section");
}

#[test]
fn groups_name_hosts_and_change_something() {
    wrong("[[hosts]]\nnames = \"host9\"\ntransport = \"newreno\"\n", "no host is called `host9`");
    wrong("[[hosts]]\nnames = \"host1\"\n", "sets nothing on its hosts");
    wrong(
        "[transport.newreno]\n[[hosts]]\nnames = \"host1\"\ntransport = \"newreno\"\n",
        "the same value anyway",
    );
    wrong("[[hosts]]\ntransport = \"newrino\"\n", "unknown transport `newrino`");
}

/// An empty table switches a mechanism on, which is a change only if it is off.
#[test]
fn groups_turn_mechanisms_on() {
    let group = "[[hosts]]\nnames = \"host1\"\ntransport.newreno.";
    for (mechanism, needs) in [("autotune", ""), ("tlt", "[switch.color]\nred = \"10 kB\"\n")] {
        let base = format!("{needs}[transport.newreno]\n{MORE}");
        let entry = format!("transport.newreno.{mechanism} = {{}}\n");
        accepted(&small(&format!("{base}{entry}")));
        accepted(&small(&format!("{base}{entry}{group}{mechanism} = {{}}\n")));
    }
    let on = "[transport.newreno]\nautotune = {}\n";
    wrong(
        &format!("{on}{group}autotune = {{}}\n"),
        "`hosts[0].transport.newreno.autotune` has no effect: each of its flows has the same value anyway",
    );
}

#[test]
fn hosts_have_the_card_of_their_group() {
    let text =
        small("[card.fifo]\n[[hosts]]\nnames = \"host1..2\"\ncard = { fifo = { limit = \"90 kB\" } }\n");
    let scenario = accepted(&text);
    let graph = build(&scenario.settings.topology).expect("a valid topology");
    let found = cards(&scenario.settings, &graph);
    assert_eq!((found.all.len(), found.of_host), (2, vec![0, 1, 1, 0]));
}

#[test]
fn cards_hold_packets_mark_somebody_and_change_something() {
    wrong("[[hosts]]\nnames = \"host1\"\ncard = \"fair\"\n", "the same value anyway");
    wrong("[card.fifi]\n", "fifi");
    wrong("[card.fifo]\nlimit = \"100 B\"\n", "fits into a queue of 100 B");
    wrong("[card.fifo]\n[transport.udp]\n", "datagrams without a rate");
    wrong("[card.marking]\n[transport.newreno]\n", "no transport here reads congestion marks");
    accepted(&small("[card.marking]\nthreshold = \"90 kB\"\n[transport.dctcp]\n"));
    let limited = "[card.marking]\nthreshold = \"90 kB\"\nlimit = \"90 kB\"\n[transport.dctcp]\n";
    wrong(limited, "the queue never exceeds its limit");
    let pauses = "[card.fifo]\n[switch]\nbuffer = \"9 MB\"\npfc = { classes = [0], xoff = \"20 kB\" }\n";
    let found = refused(&small(pauses));
    assert!(found.iter().any(|one| one.contains("cannot pause a single class")), "{found:#?}");
}

#[test]
fn ends_of_queue_pairs_agree_on_their_format() {
    let with = |more: &str| {
        format!("[transport.dcqcn]\n[[hosts]]\nnames = \"host1\"\ntransport.dcqcn = {{ {more} }}\n")
    };
    assert_eq!(
        accepted(&small(&format!("[switch]\necn.red = {{}}\n{}", with("ack_every = 4")))).cases().len(),
        1
    );
    let found = refused(&small(&format!("[switch]\necn.red = {{}}\n{}", with("mtu = \"1000 B\""))));
    assert!(found.iter().any(|one| one.contains("both ends of a flow must agree")), "{found:#?}");
}

/// Hosts may differ in ECN; where nobody asks for it, who would agree does not matter.
#[test]
fn hosts_differ_in_ecn_where_some_ask() {
    let with = |all: &str, some: &str| {
        format!(
            "[switch]\necn.step = {{ non_ect = \"drop\" }}\n[transport.newreno]\necn = \"{all}\"\n\
             [[hosts]]\nat = \"leaf0\"\ntransport.newreno.ecn = \"{some}\"\n"
        )
    };
    for (all, some) in [("on", "off"), ("on", "accept"), ("off", "on"), ("accept", "on")] {
        accepted(&small(&with(all, some)));
    }
    for (all, some) in [("accept", "off"), ("off", "accept")] {
        let found = refused(&small(&with(all, some)));
        assert!(
            !found.is_empty() && found.iter().all(|one| one.contains("no host asks for ECN")),
            "{found:#?}"
        );
    }
    wrong(&with("on", "maybe"), "the text \"maybe\" is not allowed here");
}

#[test]
fn flows_that_fall_have_queues_by_priority() {
    let with = |switch: &str, pias: &str| {
        format!("[switch]\nsharing.infinite = {{}}\n{switch}[transport.newreno]\n{pias}")
    };
    let two = "queues = 2\nschedule = \"strict\"\n";
    assert!(
        accepted(&small(&with(two, "pias.thresholds = [\"20 kB\"]\n"))).settings.switch.every.queues == 2
    );
    wrong(&with("", "pias.thresholds = [\"20 kB\"]\n"), "2 classes share 1 queues: give switch.queues = 2");
    wrong(&with("queues = 2\n", "pias.thresholds = [\"20 kB\"]\n"), "served like all others");
    wrong(
        &with("queues = 3\nschedule = \"strict\"\n", "pias.thresholds = [\"20 kB\", \"20 kB\"]\n"),
        "does not exceed",
    );
    wrong(&with("", "pias.by = \"sent\"\n"), "has no effect: there are no thresholds");
    let three = "queues = 3\nschedule = \"strict\"\n";
    let falls = |more: &str| with(three, &format!("pias.thresholds = [\"20 kB\", \"1 MB\"]\n{more}"));
    accepted(&small(&falls(
        "pias.message = \"1001 kB\"\npias.reset_idle = \"1 ps\"\npias.reset_timeouts = 1\n",
    )));
    wrong(&falls("pias.message = \"50 kB\"\n"), "50 kB does not exceed the threshold 1 MB");
    wrong(&falls("pias.message = \"20 kB\"\n"), "20 kB does not exceed the threshold 20 kB");
    wrong(&falls("pias.reset_idle = \"0 s\"\n"), "every packet would return its flow to the first class");
    wrong(&falls("pias.reset_timeouts = 0\n"), "must be at least 1");
    // Packets of 1460 B begin at 19 and at 20.44 kB.
    let close = |second: &str| with(three, &format!("pias.thresholds = [\"19 kB\", \"{second}\"]\n"));
    accepted(&small(&close("20440 B")));
    wrong(&close("20439 B"), "no packet of 1460 B begins between 19 kB and 20439 B");
    let classed = |queues: u32, class: u32| {
        let strict = format!("queues = {queues}\nschedule = \"strict\"\n");
        let entry = format!("{MORE}class = {class}\n");
        with(&strict, &format!("pias.thresholds = [\"20 kB\", \"1 MB\"]\n{entry}"))
    };
    accepted(&small(&classed(4, 1)));
    wrong(
        &classed(3, 1),
        "flows fall through 3 classes from class 1 on, but ports have 3 queues: give switch.queues = 4",
    );
    accepted(&small(&format!("{}transport = \"cubic\"\n", classed(3, 1))));
    let nine: Vec<String> = (1..9).map(|n| format!("\"{n} kB\"")).collect();
    let nine = format!("pias.thresholds = [{}]\n", nine.join(", "));
    wrong(
        &with("queues = 8\nschedule = \"strict\"\n", &nine),
        "8 thresholds: eight classes have at most seven",
    );
}

#[test]
fn ranks_are_written_read_and_left_alone() {
    let with = |order: &str, more: &str| format!("[switch]\nsharing.infinite = {{}}\n{order}{more}");
    accepted(&small(&with("order = \"ranked\"\n", "[transport.pfabric]\n")));
    wrong(&with("", "[transport.pfabric]\n"), "needs switches that order by rank");
    wrong(&with("order = \"ranked\"\n", "[transport.newreno]\n"), "packets of newreno carry no rank");
    let presto = "[transport.pfabric]\n[balance.presto]\n";
    wrong(
        &with("order = \"ranked\"\n", presto),
        "presto uses the packet field in which pfabric carries ranks",
    );
}

/// A sender that repeats the opening before its answer can arrive, or never waits longer, floods its link.
#[test]
fn time_outs_of_tcp_outlast_a_round_trip() {
    let timed = |setting: &str| format!("[transport.newreno]\nmin_rto = \"0 s\"\n{setting}\n");
    accepted(&small(&timed("initial_rto = \"1 ms\"")));
    wrong(&timed("initial_rto = \"0 s\""), "no answer can arrive that soon: an unloaded round trip takes");
    let short = refused(&small(&timed("handshake = false\nmax_rto = \"1 us\"")));
    assert!(short.iter().any(|one| one.contains("max_rto: no answer can arrive that soon")), "{short:?}");
}

#[test]
fn arbiters_are_there_and_asked() {
    let with = |arbiter: &str, transport: &str| format!("[switch]\n{arbiter}{transport}");
    let (on, pdq) = ("arbiter = \"pdq\"\n", "[transport.pdq]\n");
    accepted(&small(&with(on, pdq)));
    wrong(&with("", pdq), "pdq needs arbiters at the links: set switch.arbiter = \"pdq\"");
    wrong(&with(on, "[transport.newreno]\n"), "packets of newreno carry no requests to arbiters");
    let served = "queues = 8\nschedule = \"strict\"\necn = \"step\"\n";
    let (arbiter, pase) = ("arbiter = \"pase\"\n", "[transport.pase]\n");
    accepted(&small(&with(&format!("{served}{arbiter}"), pase)));
    // An answer from the other leaf takes longer than 5 us, and less than 50 us.
    let timed = |rto: &str| with(&format!("{served}{arbiter}"), &format!("{pase}rto = \"{rto}\"\n"));
    wrong(&timed("5 us"), "no answer can arrive that soon: an unloaded round trip takes");
    accepted(&small(&timed("50 us")));
    wrong(&with(arbiter, pase), "8 classes share 1 queues: give switch.queues = 8");
    let few = "arbiter.pase = { queues = 4 }\n";
    wrong(&with(&format!("{served}{few}"), pase), "links assign 4 classes, the ends have 8");
    let delegated = |more: &str| format!("{served}arbiter.pase = {{ {more} }}\n");
    let two_tiers = "[topology.leaf-spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    let three = small(&with(&delegated("delegation = true, least_slice = 0.2"), pase));
    accepted(&three.replace(two_tiers, "[topology.fat-tree]\n"));
    wrong(&with(&delegated("delegation = true"), pase), "this takes three tiers");
    wrong(&with(&delegated("least_slice = 0.2"), pase), "delegation = false");
    let never = delegated("delegation = true, delegation_interval = \"0 us\"");
    wrong(&with(&never, pase), "reports need time in between");
    let list = "arbiter.pdq = { least_list = 9, most_list = 8 }\n";
    wrong(&with(list, pdq), "exceeds most_list = 8");
}

#[test]
fn colours_are_marked_and_dropped_by_somebody() {
    let with = |switch: &str, transport: &str| format!("[switch]\n{switch}{transport}");
    let tcp = |more: &str| format!("[transport.newreno]\ntlt = {{}}\n{more}");
    let red = "color.red = \"20 kB\"\n";
    assert!(accepted(&small(&with(red, &tcp("")))).settings.switch.every.color.is_on());
    wrong(&with("", &tcp("")), "no switch drops red packets early");
    wrong(&with(red, "[transport.newreno]\n"), "no transport marks packets red");
    wrong(&with(red, &tcp("sack = false\n")), "selective acknowledgements");
    wrong(&with("color.red = \"1500 B\"\n", &tcp("")), "does not exceed one packet");
    wrong(&with("color.red_share = 0.5\nsharing.infinite = {}\n", &tcp("")), "no limit to take a share of");
    wrong(
        &with(
            "color = { red = \"50 kB\", red_share = 0.5 }\nsharing.static.per_port = \"300 kB\"\n",
            &tcp(""),
        ),
        "red or red_share, not both",
    );
    let roce = |more: &str| format!("[transport.roce]\nrecovery = \"selective\"\n{more}");
    wrong(&with(red, &roce("tlt = {}\n")), "give a window");
    wrong(&with(red, &roce("window = \"90 kB\"\ntlt.every = 48\n")), "marked by the window");
}

/// A port of 30 kB holds at most that; with dynamic thresholds a queue alone holds alpha B / (1 + alpha), half of 2
/// MB.
#[test]
fn a_red_threshold_lies_within_what_a_queue_can_hold() {
    let with = |switch: &str| format!("[switch]\n{switch}[transport.newreno]\ntlt = {{}}\n");
    let port = "sharing = { kind = \"static\", per_port = \"30 kB\" }\n";
    accepted(&small(&with(&format!("{port}color.red = \"30 kB\"\n"))));
    wrong(&with(&format!("{port}color.red = \"30001 B\"\n")), "a queue holds at most 30 kB");
    let shared = "buffer = \"2 MB\"\nsharing = { kind = \"dynamic\", alpha = 1.0 }\n";
    accepted(&small(&with(&format!("{shared}color.red = \"1 MB\"\n"))));
    wrong(&with(&format!("{shared}color.red = \"1001 kB\"\n")), "a queue holds at most 1 MB");
    accepted(&small(&with("sharing.infinite = {}\ncolor.red = \"1 GB\"\n")));
    // A sweep may go beyond, provided that the setting matters to one of its cases.
    let swept = format!("{}[sweep]\n\"switch.color.red\" = [\"20 kB\", \"40 kB\"]\n", with(port));
    accepted(&small(&swept));
}

/// The share refers to the sharing rule, which does not apply to lossless classes.
#[test]
fn a_red_share_is_refused_in_lossless_classes_only() {
    let with = |class: u32, own: u32| {
        small(&format!(
            "[switch]\nbuffer = \"4 MB\"\nqueues = 4\nsharing = {{ kind = \"dynamic\", alpha = 1.0 }}\ncolor.red_share = 0.5\n\
             pfc = {{ classes = [{class}] }}\n[transport.newreno]\ntlt = {{}}\n\
             [[traffic]]\ntag = \"lossless\"\nload = 0.1\nsizes = \"1 MB\"\nclass = {own}\ntransport = {{ roce = {{ class = {own} }} }}\n"
        ))
    };
    accepted(&with(3, 3));
    let found = refused(&with(0, 3));
    assert!(found.len() == 1 && found[0].contains("red packets of class 0 are lossless"), "{found:#?}");
}
