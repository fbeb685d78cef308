//! `weft import`: files of other simulators become scenarios that pass the check and run.

use crate::{finished, folder, good, json, text, weft};
use std::fs;

/// Four hosts below two switches; hosts 0 and 1 left, 2 and 3 right.
const HPCC_TOPOLOGY: &str = "6 2 5\n4 5\n0 4 25Gbps 1000ns 0\n1 4 25Gbps 1us 0\n2 5 25Gbps 1us 0\n3 5 25Gbps 1us 0\n\
                             4 5 100Gbps 2us 0\n";
const HPCC_FLOWS: &str = "3\n0 2 3 100 200000 0.0001\n1 3 3 100 5000 0.000101\n2 1 3 100 60000 0.000102\n";
const HTSIM_TOPOLOGY: &str = "Nodes 8\nTiers 2\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\n\
                              Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 2\n\nTier 1\n\
                              Downlink_speed_Gbps 100\nRadix_Down 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n";
const HTSIM_FLOWS: &str =
    "Nodes 8\nConnections 2\n0->5 id 1 start 0 size 200000\n6->1 id 2 start 5000000 size 10000\n";

#[test]
fn hpcc_files_run_with_their_flows() {
    let folder = folder("import-hpcc");
    fs::write(folder.join("small clos.txt"), HPCC_TOPOLOGY).expect("writable");
    fs::rename(folder.join("small clos.txt"), folder.join("clos.txt")).expect("writable");
    fs::write(folder.join("flow.txt"), HPCC_FLOWS).expect("writable");
    good(&folder, "import hpcc clos.txt flow.txt --out clos.toml");
    good(&folder, "check clos.toml");
    good(&folder, "run clos.toml");
    let run = finished(&folder.join("runs/clos")).remove(0);
    let flows = text(&run.join("flows.csv"));
    let starts: Vec<String> = flows
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(2).take(4).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(starts, ["host0 host2 200000 0", "host1 host3 5000 1000000", "host2 host1 60000 2000000"]);
    assert_eq!(json(&run.join("summary.json"))["flows"]["finished"], 3);
}

/// What the imported file says about HPCC itself, done.
#[test]
fn hpcc_files_run_under_hpcc() {
    let folder = folder("import-hpcc-law");
    fs::write(folder.join("clos.txt"), HPCC_TOPOLOGY).expect("writable");
    let scenario = good(&folder, "import hpcc clos.txt");
    assert!(scenario.contains("In\n# [switch], give arbiter = \"telemetry\" instead of ecn."), "{scenario}");
    let (before, law) = scenario.split_once("[transport.dcqcn]\n").expect("its law");
    let after = law.find("\n[").or(law.find("\n#")).map_or("", |at| &law[at..]);
    let is_marking = |line: &&str| line.starts_with("ecn ");
    let before: String =
        before.lines().filter(|line| !is_marking(line)).flat_map(|line| [line, "\n"]).collect();
    let before = before.replace("[switch]\n", "[switch]\narbiter = \"telemetry\"\n");
    let own = "[transport.hpcc]\nmtu = \"1086 B\"\nbase_rtt = \"20 us\"\ntarget = 0.95\nmost_stages = 5\n";
    fs::write(folder.join("law.toml"), before + own + after).expect("writable");
    let told = good(&folder, "check law.toml");
    assert!(!told.contains("hpcc cannot"), "{told}");
    good(&folder, "run law.toml");
}

#[test]
fn htsim_files_run_with_their_flows() {
    let folder = folder("import-htsim");
    fs::write(folder.join("x.topo"), HTSIM_TOPOLOGY).expect("writable");
    fs::write(folder.join("y.cm"), HTSIM_FLOWS).expect("writable");
    fs::write(folder.join("x.toml"), good(&folder, "import htsim x.topo y.cm")).expect("writable");
    good(&folder, "check x.toml");
    good(&folder, "run x.toml");
    let run = finished(&folder.join("runs/x")).remove(0);
    assert_eq!(json(&run.join("summary.json"))["flows"]["finished"], 2);
    assert_eq!(
        text(&run.join("flows.csv")).lines().nth(2).map(|line| line.contains("host6,host1,10000,5000000,")),
        Some(true)
    );
}

#[test]
fn a_topology_alone_gets_traffic_to_start_from() {
    let folder = folder("import-topology");
    fs::write(folder.join("topology.txt"), HPCC_TOPOLOGY).expect("writable");
    good(&folder, "import hpcc topology.txt --out alone.toml");
    good(&folder, "check alone.toml");
    good(&folder, "run alone.toml");
}

#[test]
fn what_cannot_be_imported_is_named() {
    let folder = folder("import-refused");
    fs::write(folder.join("x.topo"), HTSIM_TOPOLOGY).expect("writable");
    for (line, words) in [
        ("import hpc x.topo", "did you mean `hpcc`?"),
        ("import hpcc x.topo", "x.topo:1: found `Nodes`"),
        ("import hpcc absent.txt", "absent.txt"),
        ("import htsim x.topo absent.cm", "absent.cm"),
    ] {
        let refused = weft(&folder, line);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{line}");
        assert!(refused.err.contains(words), "{line}: {}", refused.err);
    }
}

/// A scenario with 5 MB of rows cannot be edited: many flows go into a file beside it.
#[test]
fn many_flows_are_a_file_beside_the_scenario() {
    let folder = folder("import-many");
    let rows: String =
        (0..1_500).map(|n| format!("{} {} 3 100 1000 {}e-6\n", n % 2, 2 + n % 2, 100 + n)).collect();
    fs::write(folder.join("topology.txt"), HPCC_TOPOLOGY).expect("writable");
    fs::write(folder.join("flow.txt"), format!("1500\n{rows}")).expect("writable");
    let refused = weft(&folder, "import hpcc topology.txt flow.txt");
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("1500 flows") && refused.err.contains("--out"), "{}", refused.err);
    good(&folder, "import hpcc topology.txt flow.txt --out many.toml");
    assert!(text(&folder.join("many.toml")).contains("file = \"many.flows.csv\""));
    assert_eq!(text(&folder.join("many.flows.csv")).lines().count(), 1_501);
    good(&folder, "check many.toml");
    good(&folder, "run many.toml");
    let run = finished(&folder.join("runs/topology")).remove(0);
    assert_eq!(json(&run.join("summary.json"))["flows"]["finished"], 1_500);
}

/// Existing files are not overwritten; the command line ensures that.
#[test]
fn existing_files_are_refused_with_a_hint() {
    let folder = folder("existing");
    fs::write(folder.join("topology.txt"), HPCC_TOPOLOGY).expect("writable");
    fs::write(folder.join("mine.toml"), "mine").expect("writable");
    for line in ["new hello --out mine.toml", "import hpcc topology.txt --out mine.toml"] {
        let refused = weft(&folder, line);
        assert_eq!(refused.code, Some(2), "{line}");
        assert!(refused.err.contains("mine.toml exists and is not overwritten"), "{}", refused.err);
    }
    assert_eq!(text(&folder.join("mine.toml")), "mine");
}
