//! Foreign topology files become the same graph or are refused with a line, and never crash the program.

use std::path::Path;
use weft_core::{Grouping, HostId, Purpose, Random, Rate, Span};
use weft_topology::import::{Imported, hpcc, htsim, to_scenario};
use weft_topology::shapes::explicit::ExplicitSettings;
use weft_topology::{Graph, LinkState, Node, Routes, TopologySettings, build, build_in};

const HPCC: &str = "6 2 5\n4 5\n0 4 25Gbps 1000ns 0.000000\n1 4 25Gbps 1000ns 0.000000\n2 5 25Gbps 1us 0.0\n3 5 25Gbps 1us 0\n4 5 100Gbps 2us 0.001\nnot read\n";
const LEAF_SPINE: &str = "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8\nRadix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n";

fn tree(hosts: u32, pod: u32, half: u32) -> String {
    let tier = |n: u32, up: &str, down: u32| {
        format!(
            "tier {n}\nDownlink_speed_Gbps 100\n{up}Radix_Down {down}\nDownlink_Latency_ns 500\nSwitch_Latency_ns 250\n"
        )
    };
    let up = format!("Radix_Up {half}\n");
    let tiers = tier(0, &up, half) + &tier(1, &up, half) + &tier(2, "", 2 * half);
    format!("# a tree\nNodes {hosts}\nTiers 3\nPodsize {pod}\n{tiers}")
}

fn graph(imported: &Imported) -> Graph {
    build(&TopologySettings::Explicit(imported.graph.clone())).unwrap()
}

#[test]
fn an_hpcc_file_becomes_its_graph() {
    let imported = hpcc("topology.txt", HPCC).unwrap();
    let graph = graph(&imported);
    assert_eq!((graph.hosts(), graph.switches().len(), graph.cables().len()), (4, 2, 5));
    let trunk = graph.cables()[graph.cable_named("switch4-switch5").unwrap()];
    assert_eq!((trunk.rate, trunk.delay, trunk.loss), (Rate::from_gbps(100), Span::from_us(2), 0.001));
    assert_eq!(imported.host_of_number[&3], HostId(3));
}

/// Text may follow the last link, but not one more link.
#[test]
fn links_beyond_the_announced_ones_are_refused() {
    let text = "3 1 1\n0\n0 1 10Gbps 1us 0\n0 2 10Gbps 1us 0\n";
    let message = hpcc("t", text).unwrap_err().to_string();
    assert!(message.starts_with("t:4: found one more link"), "{message}");
    let explained = "3 1 2\n0\n0 1 10Gbps 1us 0\n0 2 10Gbps 1us 0\n\nsrc dst rate delay loss\n";
    assert_eq!(hpcc("t", explained).unwrap().graph.links.len(), 2);
}

#[test]
fn hosts_are_numbered_among_themselves() {
    // the switch is node 0, as in some files
    let text = "3 1 2\n0\n0 1 10Gbps 1us 0\n0 2 10Gbps 1us 0\n";
    let imported = hpcc("t", text).unwrap();
    assert_eq!(imported.host_of_number.into_iter().collect::<Vec<_>>(), [(1, HostId(0)), (2, HostId(1))]);
}

#[test]
fn an_htsim_leaf_spine() {
    let imported = htsim("tiny.topo", LEAF_SPINE).unwrap();
    let graph = graph(&imported);
    assert_eq!((graph.hosts(), graph.switches().len(), graph.cables().len()), (32, 4 + 2, 32 + 8));
    assert_eq!(graph.switch_of_host(HostId(9)), weft_core::SwitchId(1));
    assert_eq!(imported.switch_latencies, [Span::ZERO; 2]);
}

#[test]
fn an_htsim_tree_is_a_fat_tree() {
    let imported = htsim("tree.topo", &tree(16, 4, 2)).unwrap();
    let graph = graph(&imported);
    assert_eq!((graph.hosts(), graph.switches().len(), graph.cables().len()), (16, 20, 48));
    let routes = Routes::new(&graph, &LinkState::all_up(&graph), Grouping::Together);
    assert_eq!(routes.ports(graph.leaves()[0], 7).len(), 2);
    // core c joins aggregation c mod 2 of every pod
    let core = graph.node_named("core3").unwrap();
    let below: Vec<String> = graph.links_of(core).iter().map(|link| graph.name(link.to)).collect();
    assert_eq!(below, ["agg1", "agg3", "agg5", "agg7"]);
    assert_eq!(imported.switch_latencies, [Span::from_ns(250); 3]);
    assert_eq!(htsim("big", &tree(1024, 64, 8)).unwrap().graph.links.len(), 3 * 1024);
}

#[test]
fn bundles_are_parallel_cables() {
    let text =
        LEAF_SPINE.replace("Radix_Up 2", "Radix_Up 4").replace("Radix_Down 4", "Radix_Down 8\nBundle 2");
    let graph = graph(&htsim("t", &text).unwrap());
    let [tor, agg] = ["tor0", "agg1"].map(|name| graph.node_named(name).unwrap());
    assert_eq!(graph.cables_between(tor, agg).len(), 2);
}

#[test]
fn scenario_text_lists_every_link() {
    let text = to_scenario(&hpcc("topology.txt", HPCC).unwrap());
    assert!(
        text.starts_with("[topology.graph]\nhosts = 4\nswitches = [\"switch4\", \"switch5\"]\nlinks = [\n")
    );
    assert!(text.contains(
        "{ from = \"switch4\", to = \"switch5\", rate = \"100 Gbps\", delay = \"2 us\", loss = 0.001 },"
    ));
    assert_eq!(text.matches("from =").count(), 5);
    let text = to_scenario(&htsim("tree.topo", &tree(16, 4, 2)).unwrap());
    assert!(text.ends_with("]\n\n[switch]\nlatency = \"250 ns\"\n"), "{text}");
    let slow_core =
        tree(16, 4, 2).rsplit_once("250").map(|(front, back)| format!("{front}900{back}")).unwrap();
    let text = to_scenario(&htsim("tree.topo", &slow_core).unwrap());
    assert!(
        text.contains("[switch.leaf]\nlatency = \"250 ns\"\n")
            && text.contains("[switch.core]\nlatency = \"900 ns\"\n"),
        "{text}"
    );
}

#[test]
fn errors_name_line_what_was_found_and_what_is_allowed() {
    let refused = |part: &str, by: &str| hpcc("t", &HPCC.replacen(part, by, 1)).unwrap_err().to_string();
    assert!(refused("4 5\n", "4\n").starts_with("t:2: found 1 words; allowed: the ids of 2 switches"));
    assert!(
        refused("4 5\n", "4 6\n")
            .starts_with("t:2: found `6`; allowed: a switch id, a whole number from 0 to 5")
    );
    assert!(refused("25Gbps", "25G").starts_with("t:3: found `25G` (`G` is not a valid unit here"));
    assert!(refused("0 4", "0 9").contains("t:3: found `9`; allowed: the node a link ends at"));
    assert!(refused("0.001", "2").contains("t:7: found `2`; allowed: a loss probability from 0 to 1"));
    assert!(refused("6 2 5", "6 2 9").contains("`not`"));
    assert!(hpcc("t", "").unwrap_err().to_string().starts_with("t: found the end of the file"));
    let refused =
        |part: &str, by: &str| htsim("t", &LEAF_SPINE.replacen(part, by, 1)).unwrap_err().to_string();
    assert!(refused("Tiers 2", "Tiers 4").contains("found 4 tiers; allowed: 2 or 3 tiers"));
    assert!(
        refused("Radix_Down 4", "Radix_Down 5")
            .contains("Radix_Down of tier 1 is 5, but the tier below needs 4")
    );
    assert!(refused("Nodes 32", "Nodes 33").contains("33 is not a multiple of 8"));
    assert!(
        refused("Podsize 32", "Pods 1").contains("t:3: found `Pods`; allowed: tier, nodes, tiers, podsize")
    );
    assert!(refused("Radix_Up 2\n", "").contains("the key radix_up in tier 0"));
    assert!(refused("Radix_Up 2\n", "Radix_Up 2\nRadix_Up 2\n").contains("a second time"));
}

#[test]
fn hosts_have_one_link_to_a_switch() {
    let refused = |text: &str| hpcc("t", text).unwrap_err().to_string();
    let two = refused("3 2 3\n1 2\n0 1 25Gbps 1us 0\n0 2 25Gbps 1us 0\n1 2 25Gbps 1us 0\n");
    assert!(two.starts_with("t:4: found a second link of host 0"), "{two}");
    let none = refused("3 2 1\n1 2\n1 2 25Gbps 1us 0\n");
    assert!(none.starts_with("t:1: found node 0, which is not a switch and has no link"), "{none}");
}

/// Replaces, removes or duplicates pieces of `text` at random.
fn mutated(text: &str, random: &mut Random) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len() as u32) as usize;
        match random.below(4) {
            0 => bytes[at] = b" \n0123456789.#eNGTbps-"[random.below(22) as usize],
            1 => _ = bytes.remove(at),
            2 => bytes.truncate(at + 1),
            _ => bytes.splice(at..at, *b"999").for_each(drop),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn broken_files_are_refused_and_never_panic() {
    let mut random = Random::new(1, Purpose::Test, 0);
    let texts = [HPCC.to_owned(), LEAF_SPINE.to_owned(), tree(16, 4, 2)];
    let (mut refused, mut read) = (0, 0);
    for round in 0..6000 {
        let text = mutated(&texts[round % 3], &mut random);
        let result = if round % 3 == 0 { hpcc("f", &text) } else { htsim("f", &text) };
        match result {
            Ok(imported) => {
                read += 1;
                // the result is a graph or a list of problems
                if imported.graph.links.len() < 1000
                    && let Ok(graph) = build(&TopologySettings::Explicit(imported.graph))
                {
                    assert!(matches!(graph.node_at(0), Node::Host(HostId(0))));
                }
            }
            Err(error) => {
                refused += 1;
                assert!(!error.found.is_empty() && !error.allowed.is_empty());
            }
        }
    }
    assert!(refused > 1000 && read > 200, "{refused} {read}");
}

fn from_file(file: &str, hosts: u32) -> Result<Graph, Vec<String>> {
    let settings = ExplicitSettings { file: Some(file.to_owned()), hosts, ..Default::default() };
    let built = build_in(&TopologySettings::Explicit(settings), Path::new(env!("CARGO_TARGET_TMPDIR")), 1);
    built.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

#[test]
fn a_graph_may_stand_in_a_file_beside_the_scenario() {
    std::fs::write(Path::new(env!("CARGO_TARGET_TMPDIR")).join("read-me.txt"), HPCC).unwrap();
    assert_eq!(from_file("read-me.txt", 0).unwrap(), graph(&hpcc("t", HPCC).unwrap()));
    assert!(
        from_file("read-me.txt", 3).unwrap_err()[0].contains("a file replaces hosts, switches and links")
    );
    assert!(from_file("no-such-file", 0).unwrap_err()[0].starts_with("topology.graph.file: "));
}
