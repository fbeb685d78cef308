//! Files of routers: what they say, and how mistakes are told.

use proptest::prelude::*;
use weft_appliance::file::parse_plan;
use weft_appliance::plan::{PlannedApplication, PlannedHop};

const SOUND: &str = r#"
workers = 2

[[port]]
name = "left"
device = "packet:veth0"
addresses = ["10.1.0.1/24", "2001:db8:1::1/64"]

[[port]]
name = "right"
device = "packet:veth1"
mtu = "1400 B"
addresses = ["10.2.0.1/24"]

[[route]]
prefix = "0.0.0.0/0"
via = "10.2.0.254"

[[route]]
prefix = "2001:db8:9::/48"
via = "fe80::1"
port = "right"

[[route]]
prefix = "192.0.2.0/24"
reject = true
"#;

/// Every mistake in one line: `line:column  message`.
fn mistakes(text: &str) -> Vec<String> {
    let short = parse_plan(text, "r.toml").expect_err("has mistakes").short();
    short.lines().map(|line| line.trim_start_matches("r.toml:").to_owned()).collect()
}

#[test]
fn a_sound_file_is_a_plan() {
    let plan = parse_plan(SOUND, "r.toml").unwrap();
    assert_eq!((plan.workers, plan.burst, plan.pin, plan.ports.len()), (2, 64, false, 2));
    assert_eq!(plan.ports[1].mtu, Some(1400));
    let PlannedApplication::Route { routes, errors_per_second: 1000 } = plan.application else { panic!() };
    let hops: Vec<PlannedHop> = routes.into_iter().map(|(_, hop)| hop).collect();
    let gateway = |text: &str| PlannedHop::Gateway(1, text.parse().unwrap());
    assert_eq!(hops, [gateway("10.2.0.254"), gateway("fe80::1"), PlannedHop::Reject]);
}

#[test]
fn all_mistakes_are_told_at_once_with_their_places() {
    let text = r#"aplication = "route"
workers = 0
[[port]]
name = "left"
device = "veth0"
addresses = ["10.1.0.1", "224.0.0.1/24"]
to = "right"
[[port]]
name = "left"
device = "tap:tap0"
mtu = 1500
"#;
    let found = mistakes(text);
    let expected = [
        "1:1  unknown key `aplication`; did you mean `application`?",
        "2:11  found the number 0",
        "5:10  `veth0` names no device",
        "6:14  found the text \"10.1.0.1\"",
        "6:26  224.0.0.1 is not the address of a station",
        "7:6  `to` has no effect with application = \"route\"",
        "8:1  `port[1]` needs the key `mac`",
        "9:8  there is a port `left` already",
        "11:7  found the number 1500, expected a text",
    ];
    assert_eq!(found, expected);
}

#[test]
fn routes_name_ports_and_lie_on_links() {
    let wrong = |from: &str, to: &str| mistakes(&SOUND.replace(from, to)).join("\n");
    assert!(
        wrong("port = \"right\"", "port = \"rigth\"")
            .ends_with("there is no port `rigth`; did you mean `right`?")
    );
    assert!(
        wrong("via = \"10.2.0.254\"", "via = \"10.3.0.254\"")
            .contains("10.3.0.254 is on the link of no port")
    );
    assert!(wrong("prefix = \"0.0.0.0/0\"", "prefix = \"::/0\"").contains("different families"));
    assert!(wrong("192.0.2.0/24", "192.0.2.1/24").contains("did you mean 192.0.2.0/24?"));
    assert!(
        wrong("reject = true", "reject = true\nvia = \"10.2.0.9\"")
            .contains("`via` has no effect with reject = true")
    );
    assert!(wrong("reject = true", "").contains("needs `via`, `port` or `reject = true`"));
}

#[test]
fn a_device_with_one_queue_has_one_worker() {
    let text = "workers = 2\n[[port]]\nname = \"a\"\ndevice = \"tap:tap0\"\nmac = \"02:00:00:00:00:01\"\n";
    assert!(mistakes(text)[0].starts_with("2:1  a TAP device has one queue"));
    assert!(parse_plan(&text.replace('2', "1").replace("01:00", "02:00"), "r.toml").is_ok());
}

#[test]
fn minimal_forwarding_needs_wires() {
    let port = |name: &str, to: &str| {
        format!(
            "[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\nto = \"{to}\"\nstation = \"02:00:00:00:00:01\"\n"
        )
    };
    let text = format!("application = \"forward\"\n{}{}", port("a", "b"), port("b", "a"));
    let plan = parse_plan(&text, "r.toml").unwrap();
    assert_eq!(plan.ports.iter().map(|port| port.wire.unwrap().0).collect::<Vec<_>>(), [1, 0]);
    assert!(mistakes(&text.replace("to = \"b\"\n", ""))[0].contains("needs the key `to`"));
    assert!(mistakes(&text.replace("to = \"b\"", "to = \"c\""))[0].contains("there is no port `c`"));
}

proptest! {
    /// Any change of a sound file is a plan or a list of mistakes in its lines.
    #[test]
    fn no_text_panics(at in any::<prop::sample::Index>(), cut in 0..40_usize, put in "[\\PC\n]{0,12}") {
        let mut chars: Vec<char> = SOUND.chars().collect();
        let at = at.index(chars.len());
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, put.chars());
        let text: String = chars.into_iter().collect();
        if let Err(mistakes) = parse_plan(&text, "r.toml") {
            let lines = text.lines().count() + 1;
            prop_assert!(mistakes.list().iter().all(|mistake| mistakes.line_column(mistake).line <= lines));
        }
    }
}
