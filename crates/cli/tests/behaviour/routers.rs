//! `weft router` and `weft bench router`: words and files that were meant for something else.

use super::{TINY, folder, weft};
use std::fs;

/// A router with two ports that answers queries.
const ROUTER: &str = r#"workers = 2
metrics = "unix:weft-router"
[[port]]
name = "left"
device = "packet:veth0"
addresses = ["10.1.0.1/24"]
[[port]]
name = "right"
device = "packet:veth1"
addresses = ["10.2.0.1/24"]
"#;

/// The message of a command that is refused as bad input, in a folder with a scenario, a router and a cluster.
fn refused(line: &str) -> String {
    let folder = folder(&format!("router-{}", line.replace([' ', '/'], "-")));
    for (name, text) in
        [("tiny.toml", TINY), ("r.toml", ROUTER), ("c.toml", "nodes = 4\nrate = \"1 Gbps\"\n")]
    {
        fs::write(folder.join(name), text).expect("writable");
    }
    let said = weft(&folder, line);
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{line}: {}", said.err);
    said.err
}

#[test]
fn misspelt_commands_of_a_router_are_told_from_files() {
    for (line, meant) in [
        ("router plam", "did you mean `plan`?"),
        ("router plam --ports 4", "did you mean `plan`?"),
        ("router shw r.toml", "did you mean `show`?"),
        ("router shw queues r.toml", "did you mean `show`?"),
        ("router simulat c.toml", "did you mean `simulate`?"),
        ("router frobnicate r.toml", "allowed: plan, simulate, show, or a file"),
        ("router show wokers r.toml", "did you mean `workers`?"),
    ] {
        let said = refused(line);
        assert!(said.contains(meant), "{line}: {said}");
    }
    assert!(refused("router absent.toml").contains("absent.toml"), "a file that is not there");
}

#[test]
fn a_file_of_another_kind_names_the_command_that_wants_it() {
    for (line, hint) in [
        ("router tiny.toml", "hint: this looks like a scenario: weft run tiny.toml"),
        ("router c.toml", "hint: this looks like the description of a cluster: weft router simulate c.toml"),
        ("router simulate r.toml", "hint: this looks like the file of a router: weft router r.toml"),
        ("run r.toml", "hint: this looks like the file of a router: weft router r.toml"),
        ("run c.toml", "hint: this looks like the description of a cluster: weft router simulate c.toml"),
    ] {
        let said = refused(line);
        assert!(said.contains(hint), "{line}: {said}");
    }
    assert!(!refused("run tiny.toml --set balance=drlil").contains("hint: this looks"));
}

#[test]
fn filters_of_a_running_router_are_checked_before_it_is_asked() {
    for (line, message) in [
        ("router show routes r.toml --port lefd", "there is no port `lefd`; did you mean `left`?"),
        ("router show ports r.toml --port middle", "allowed: left, right"),
        ("router show routes r.toml --prefix 10.0.0.1/8", "did you mean 10.0.0.0/8?"),
        ("router show routes r.toml --prefix left", "198.51.100.0/24"),
        ("router show queues r.toml", "only `application = \"switch\"` has queues"),
    ] {
        let said = refused(line);
        assert!(said.contains(message), "{line}: {said}");
    }
}

#[test]
fn the_routers_cases_are_not_mixed_with_those_of_simulations() {
    for line in ["bench r1 router", "bench --threads 2 router"] {
        let said = refused(line);
        assert!(
            said.contains("`router` comes first") && said.contains("weft bench router route-256k"),
            "{said}"
        );
    }
}
