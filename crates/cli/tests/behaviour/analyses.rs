//! `weft analyse quiver`: its output for the network of figure 4 of the DRILL paper, and for names that do not exist.

use crate::{good, json, text, weft};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder with the scenario of the repository.
fn folder(name: &str) -> PathBuf {
    let folder = crate::folder(name);
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/quiver.toml");
    fs::copy(scenario, folder.join("q.toml")).expect("the scenario is there");
    folder
}

/// The network, and how paths are compared.
const NETWORK: &str = "\
q.toml: 7 switches, 4 of them with hosts; 12 cables between switches, 1 down:
leaf0-spine0.
Paths compared by labels multiset, score all-pairs, source_cf inv, valley_free
false (as in the scenario's balancer).
";

/// The number of pairs for each number of components.
const PAIRS: &str = "
  components    pairs of leaves
           1          6    50.0 %
           2          6    50.0 %
";

#[test]
fn a_pair_is_explained() {
    let out = good(&folder("analyse-pair"), "analyse quiver q.toml --from leaf3 --to leaf1");
    let expected = "
leaf3 -> leaf1: 2 components

  1: weight 1, 1 path
     leaf3-spine0-leaf1

  2: weight 2, 2 paths
     leaf3-spine1-leaf1
     leaf3-spine2-leaf1

Installed at leaf3 once routing has converged:
  1 {spine0}  2 {spine1 spine2}

Why 1 and 2 are not symmetric:
At hop 1 they take leaf3->spine0 and leaf3->spine1, which carry different
traffic.
Packets from leaf3 to leaf0 go over leaf3->spine1, not over leaf3->spine0.
";
    assert_eq!(out, format!("{NETWORK}{expected}"));
}

#[test]
fn stability_is_shown_and_listed() {
    let folder = folder("analyse-stability");
    let asked = "analyse stability --rates 4,1,1 --policies 1:0,1:1 --units 1000";
    let shown = good(&folder, asked);
    let verdicts: Vec<&str> = shown.lines().filter(|line| line.contains("4,1,1")).collect();
    assert!(verdicts[0].ends_with("grows") && verdicts[1].ends_with("bounded"), "{shown}");
    let listed: Value = serde_json::from_str(&good(&folder, &format!("{asked} --json"))).expect("JSON");
    let [without, with] = [0, 1].map(|row| listed["systems"][row]["growth_predicted"].as_f64());
    assert!(without.is_some_and(|growth| (growth - 1.6).abs() < 1e-9) && with == Some(0.0), "{listed}");
}

#[test]
fn explain_tells_what_balancers_keep() {
    let folder = folder("explain-state");
    let shown = good(&folder, "explain q.toml balance");
    assert!(shown.contains("State of drill in switches: up to "), "{shown}");
    let tiny = crate::folder_with("explain-stateless", crate::TINY);
    let shown = good(&tiny, "explain tiny.toml balance --set balance=ecmp");
    assert!(shown.contains("State of ecmp in switches: none."), "{shown}");
    assert!(!good(&folder, "explain q.toml topology").contains("State of"));
}

/// Leaf 0 has lost two of the four cables to spine 0: the others weigh a port to spine 0 half as much as one to spine
/// 1 for it, and theta 2 gives all ports the same weight.
#[test]
fn state_of_wcmp_counts_the_entries_of_reduced_weights() {
    let network = "[topology.leaf-spine]\nleaves = 3\nspines = 2\nparallel = 4\nhosts_per_leaf = 1\n";
    let tiny = crate::TINY;
    let start = tiny.find("[topology").expect("it has a network");
    let end = start + tiny[start..].find("\n\n").expect("another section follows");
    let failure = "\n[[failure]]\ncables = [\"leaf0-spine0.0\", \"leaf0-spine0.1\"]\n";
    let text = format!("{}{network}{}{failure}", &tiny[..start], &tiny[end..]);
    let folder = crate::folder_with("explain-wcmp", &text);
    let leaf1 = |theta: &str| {
        let set = format!("--set balance=wcmp --set balance.wcmp.oversubscription={theta}");
        let shown = good(&folder, &format!("explain tiny.toml balance {set}"));
        shown.lines().last().expect("a sentence").to_owned()
    };
    // To leaf 0 four ports of weight 1 and four of 2, to leaf 2 eight of 1: 12 and 8 entries of 2 bytes.
    assert_eq!(leaf1("1"), "State of wcmp in switches: up to 40 B each (as in leaf1), 136 B in total.");
    // All weights 1.
    assert_eq!(leaf1("2"), "State of wcmp in switches: up to 32 B each (as in leaf1), 120 B in total.");
}

/// A draw belongs to a seed: the state is that of the scenario's first.
#[test]
fn state_is_told_for_the_first_seed() {
    let random = format!("{}\n[[failure]]\nrandom = 1\n", crate::TINY.replace("leaves = 2", "leaves = 3"));
    let folder = crate::folder_with("explain-seed", &random);
    let state = |seed: u32| {
        let shown =
            good(&folder, &format!("explain tiny.toml balance --set balance=wcmp --set seeds=[{seed}]"));
        shown.lines().last().expect("a sentence").to_owned()
    };
    let all: std::collections::BTreeSet<String> = (0..12).map(state).collect();
    assert!(all.len() > 1, "{all:?}");
}

#[test]
fn a_network_a_switch_and_a_leaf_are_summed_up() {
    let folder = folder("analyse-network");
    let whole = good(&folder, "analyse quiver q.toml");
    let switches = "
3 of 7 switches have one component everywhere.

leaf1 leaf2 leaf3
  2 leaves
      1 {spine0}  2 {spine1 spine2}
  1 leaf
      1 {spine1 spine2}
";
    assert!(whole.starts_with(&format!("{NETWORK}{PAIRS}{switches}")), "{whole}");
    let from = good(&folder, "analyse quiver q.toml --from leaf3");
    assert!(from.contains(
        "\nleaf3\n  leaf0\n      1 {spine1 spine2}\n  leaf1 leaf2\n      1 {spine0}  2 {spine1 spine2}\n"
    ));
    let to = good(&folder, "analyse quiver q.toml --to leaf1");
    assert!(
        to.contains(
            "\n  leaf2 leaf3\n      1 {spine0}  2 {spine1 spine2}\n  leaf0\n      1 {spine1 spine2}\n"
        ),
        "{to}"
    );
}

#[test]
fn programs_and_pictures_get_the_same() {
    let folder = folder("analyse-json");
    let out = good(&folder, "analyse quiver q.toml --from leaf3 --to leaf1 --json --svg q.svg");
    let found: Value = serde_json::from_str(&out).expect("JSON");
    let weights: Vec<_> =
        found["pair"]["components"].as_array().unwrap().iter().map(|part| &part["weight"]).collect();
    assert_eq!(weights, ["1", "2"]);
    assert_eq!(found["pair"]["installed"][1]["next"], serde_json::json!(["spine1", "spine2"]));
    assert!(found["pairs"].is_null(), "one pair is looked at, not all");
    let drawn = text(&folder.join("q.svg"));
    assert!(drawn.starts_with("<svg ") && drawn.contains("component 2: weight 2, 2 paths"));
    assert!(drawn.contains("leaf0-spine0: down"));
    let all: Value = serde_json::from_str(&good(&folder, "analyse quiver q.toml --json")).expect("JSON");
    assert_eq!(all["tables"].as_array().map(Vec::len), Some(7));
    assert_eq!(all["pairs"][1]["pairs"], 6);
    let again = weft(&folder, "analyse quiver q.toml --svg q.svg");
    assert_eq!(again.code, Some(2), "a file that is there is not overwritten");
}

#[test]
fn options_change_what_is_asked() {
    let folder = folder("analyse-options");
    let healthy = good(&folder, "analyse quiver q.toml --set failure=[]");
    assert!(
        healthy.contains("none down") && healthy.contains("7 of 7 switches have one component everywhere")
    );
    let later = good(
        &folder,
        "analyse quiver q.toml --set failure=[{cables=[\"leaf0-spine0\"],at=\"1ms\"}] --at 2ms",
    );
    assert!(later.contains("1 down") && later.contains("Cables change during the run, at 1 ms"), "{later}");
    let twice = good(
        &folder,
        "analyse quiver q.toml --set failure=[{cables=[\"leaf0-spine0\"],at=\"1ms\",repair_at=\"3ms\"}]",
    );
    let twice = twice.replace('\n', " ");
    assert!(twice.contains("Cables change during the run, at 1 ms, 3 ms; --at selects"), "{twice}");
    let words =
        good(&folder, "analyse quiver q.toml --labels set --score own-pair --source-cf const --valley-free");
    assert!(
        words.replace('\n', " ").contains("labels set, score own-pair, source_cf const, valley_free true")
    );
    let plain = text(&folder.join("q.toml"));
    fs::write(folder.join("e.toml"), plain.split("[sweep]").next().unwrap()).expect("writable");
    let none = good(&folder, "analyse quiver e.toml --set balance=ecmp");
    assert!(none.replace('\n', " ").contains("does not use components"), "{none}");
}

#[test]
fn what_does_not_exist_is_said() {
    let folder = folder("analyse-errors");
    for (options, complaint) in [
        ("--from leaf9", "--from: there is no switch called `leaf9`; did you mean `leaf0`?"),
        ("--from host3", "--from: `host3` is a host; its switch is `leaf0`"),
        ("--to spine0", "--to: there is no switch with hosts called `spine0`"),
        ("--from leaf1 --to leaf1", "--from and --to both name `leaf1`"),
        ("--labels sets", "--labels: `sets` is unknown; did you mean `set`?\nallowed: multiset, set"),
        ("--at 3", "--at: a bare number"),
        ("--set failure=[{cables=[\"leaf0-spine7\"]}]", "there is no cable called `leaf0-spine7`"),
    ] {
        let said = weft(&folder, &format!("analyse quiver q.toml {options}"));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{options}");
        assert!(said.err.contains(complaint), "{options}: {}", said.err);
    }
}

/// The report of a run shows the components that its balancer used, and only then.
#[test]
fn the_report_shows_the_components_of_a_run() {
    let folder = folder("analyse-report");
    good(&folder, "run q.toml --demo");
    let runs = crate::finished(&folder.join("runs"));
    assert_eq!(runs.len(), 2);
    let (mut with, mut without) = (0, 0);
    for run in runs {
        let components = text(&run.join("scenario.toml")).contains("components = \"none\"");
        let drawn = run.join("quiver.svg").exists();
        assert_eq!(drawn, !components);
        assert_eq!(text(&run.join("report.html")).contains("Symmetric paths"), drawn);
        (with, without) = (with + u32::from(drawn), without + u32::from(!drawn));
        assert!(json(&run.join("manifest.json")).is_object());
    }
    assert_eq!((with, without), (1, 1));
}
