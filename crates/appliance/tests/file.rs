//! Files of routers: their meaning, and the reports of mistakes.

use std::path::PathBuf;

use proptest::prelude::*;
use weft_appliance::file::{parse_plan, read_plan};
use weft_appliance::plan::{PlannedApplication, PlannedHop, PortUse};
use weft_core::{Class, HostId, PortId};

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
fn a_device_without_an_interface_is_told_what_it_lacks() {
    let told = |device: &str| {
        let text = format!("[[port]]\nname = \"left\"\ndevice = \"{device}\"\n");
        mistakes(&text).into_iter().find(|line| line.starts_with("3:10")).expect("a mistake in the device")
    };
    assert_eq!(told("packet:"), "3:10  `packet:` lacks the name of an interface");
    assert_eq!(told("packt:"), "3:10  `packt:` names no device; did you mean `packet:NAME`?");
}

#[test]
fn bursts_are_read_and_refused_where_they_do_nothing() {
    let with = |line: &str| parse_plan(&format!("{line}\n{SOUND}"), "r.toml");
    assert_eq!(with("").unwrap().send_burst, None);
    assert_eq!(with("send_burst = 16").unwrap().send_burst, Some(16));
    assert!(with("send_burst = 0").is_err() && with("send_burst = 65").is_err());
    let capture = "send_burst = 16\n[[port]]\nname = \"a\"\ndevice = \"capture\"\nread = \"a.pcap\"\nmac = \"02:00:00:00:00:01\"\n";
    assert!(mistakes(capture).iter().any(|line| line.contains("`send_burst`")), "{:?}", mistakes(capture));
}

#[test]
fn a_sound_file_is_a_plan() {
    let plan = parse_plan(SOUND, "r.toml").unwrap();
    assert_eq!((plan.workers, plan.burst, plan.pin, plan.ports.len()), (2, 64, false, 2));
    assert_eq!(plan.ports[1].mtu, Some(1400));
    let PlannedApplication::Route { routes, errors_per_second: 1000, .. } = plan.application else {
        panic!()
    };
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

/// A mistake in a port hides none in the following tables, and causes no others.
#[test]
fn an_unknown_application_hides_nothing_if_its_name_is_near() {
    let text =
        |name: &str| format!("application = \"{name}\"\nworkers = 0\n{}", SOUND.replace("workers", "#"));
    let found = mistakes(&text("rout"));
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("unknown application `rout`") && found[1].starts_with("2:11"), "{found:?}");
    assert_eq!(mistakes(&text("frobnicate")).len(), 1);
}

#[test]
fn mistakes_of_ports_hide_none_of_routes() {
    let text = SOUND
        .replace("device = \"packet:veth1\"", "device = \"packets:veth1\"\nrate = \"10 Gbps\"")
        .replace("10.1.0.1/24", "10.1.0.1")
        .replace("192.0.2.0/24", "192.0.2.0/33");
    let found = mistakes(&format!("{text}[[neighbour]]\naddress = \"10.1.0.9\"\nstation = \"x\"\n"));
    let expected = [
        "7:14  found the text \"10.1.0.1\"",
        "11:10  `packets:veth1` names no device; did you mean `packet:veth1`?",
        "12:1  unknown key `rate` in `port[1]`",
        "26:10  `192.0.2.0/33`: a prefix of 192.0.2.0 has at most 32 bits",
        "30:11  `x`: a MAC address is six bytes in hexadecimal, such as 02:00:00:00:00:01",
    ];
    assert_eq!(found, expected);
    let switch = switch_file("bottleneck.toml", "switch = \"switch9\"").replace("packet:b", "packets:b");
    let found = switch_mistakes(&switch);
    assert!(
        found.contains("no switch `switch9`") && found.contains("`packets:b` names no device"),
        "{found}"
    );
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
    assert!(wrong("reject = true", "").contains("needs `via`, `port`, `tunnel` or `reject = true`"));
}

/// Settings that would make a router send frames twice, to nobody, or not at all, and those that it would decide
/// silently.
#[test]
fn contradictions_are_mistakes() {
    let wrong = |from: &str, to: &str| {
        assert!(SOUND.contains(from), "{from}");
        mistakes(&SOUND.replacen(from, to, 1)).join("\n")
    };
    for (from, to, message) in [
        ("packet:veth1", "packet:veth0", "11:10  `veth0` is the interface of port `left` already"),
        ("packet:veth1", "xdp:veth0", "`veth0` is the interface of port `left` already"),
        ("10.2.0.1/24", "10.1.0.1/30", "10.1.0.1 is on the link of port `left`"),
        ("10.2.0.1/24", "10.1.7.1/16", "10.1.7.1 is on the link of port `left`"),
        ("10.2.0.1/24", "2001:db8:1::7/64", "2001:db8:1::7 is on the link of port `left`"),
        ("10.1.0.1/24", "10.1.0.255/24", "7:14  10.1.0.255 is not the address of a station"),
        ("10.1.0.1/24", "10.1.0.0/24", "10.1.0.0 is not the address of a station"),
        ("mtu = ", "mac = \"01:00:5e:00:00:01\"\nmtu = ", "12:7  the address of a group of stations"),
        ("mtu = ", "mac = \"00:00:00:00:00:00\"\nmtu = ", "no station has this address"),
        ("192.0.2.0/24", "0.0.0.0/0", "25:10  there is a route for 0.0.0.0/0 already"),
        ("192.0.2.0/24", "127.0.0.0/8", "no router forwards packets for 127.0.0.0/8"),
        ("192.0.2.0/24", "169.254.7.0/24", "no router forwards packets for 169.254.7.0/24"),
        ("192.0.2.0/24", "ff02::/16", "no router forwards packets for ff02::/16"),
        (
            "192.0.2.0/24",
            "10.1.0.1/32",
            "25:10  10.1.0.1 is the address of port `left`: nobody could reach it",
        ),
        (
            "192.0.2.0/24",
            "10.1.0.0/24",
            "10.1.0.0/24 is the link of port `left`: the router could not reach its",
        ),
        ("10.2.0.254", "10.2.0.1", "17:7  10.2.0.1 is this router's own address, at port `right`"),
        ("workers = 2", "workers = 256\npin = true", "3:7  256 workers need a core each, but there are "),
    ] {
        let found = wrong(from, to);
        assert!(found.contains(message), "{to}: {found}");
    }
    // Links of two stations have no broadcast address, and link-local addresses are on every link.
    let sound = SOUND
        .replace("\"10.1.0.1/24\"", "\"10.1.0.0/31\", \"fe80::1/64\", \"10.1.1.0/32\"")
        .replace("\"10.2.0.1/24\"", "\"10.2.0.1/24\", \"10.2.0.7/24\", \"fe80::1/64\"");
    assert!(parse_plan(&sound, "r.toml").is_ok(), "{:?}", mistakes(&sound));
}

#[test]
fn a_route_may_have_several_next_hops() {
    let route = "[[route]]\nprefix = \"10.9.0.0/16\"\nvia = ";
    let text = format!("{SOUND}{route}[\"10.1.0.9\", \"10.2.0.9\"]\n");
    let plan = parse_plan(&text, "r.toml").unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let PlannedApplication::Route { routes, .. } = plan.application else { panic!() };
    let hops: Vec<PlannedHop> = routes.iter().rev().take(2).rev().map(|(_, hop)| *hop).collect();
    let gateway = |port, text: &str| PlannedHop::Gateway(port, text.parse().unwrap());
    assert_eq!(hops, [gateway(0, "10.1.0.9"), gateway(1, "10.2.0.9")]);
    for (via, message) in [
        ("[]", "found no address"),
        ("[\"10.1.0.9\", \"10.1.0.9\"]", "it is there already"),
        ("[\"10.1.0.9\", \"10.3.0.9\"]", "10.3.0.9 is on the link of no port"),
        ("[\"10.1.0.9\", \"2001:db8:2::9\"]", "of different families"),
        ("[\"10.1.0.9\", 7]", "expected a text"),
        ("[\"10.1.0.9\"]\nport = \"left\"", "`port` has no effect beside several addresses"),
    ] {
        let found = mistakes(&format!("{SOUND}{route}{via}\n")).join("\n");
        assert!(found.contains(message), "{via}: {found}");
    }
}

#[test]
fn a_device_with_one_queue_may_have_several_workers_except_in_a_switch() {
    let text = "workers = 2\n[[port]]\nname = \"a\"\ndevice = \"tap:tap0\"\nmac = \"02:00:00:00:00:01\"\n";
    assert!(parse_plan(text, "r.toml").is_ok(), "{:?}", mistakes(text));
    let switch = switch_file("bottleneck.toml", "switch = \"switch0\"\nworkers = 2");
    for device in ["xdp:", "tap:"] {
        let text = switch.replace("packet:", device).replace("to = ", "mac = \"02:00:00:00:00:01\"\nto = ");
        let found = switch_mistakes(&text);
        assert!(found.contains("the device divides arrivals by flow, and a switch"), "{found}");
    }
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
    let station = "02:00:00:00:00:01".parse().unwrap();
    assert_eq!(
        plan.ports.iter().map(|port| port.use_of).collect::<Vec<_>>(),
        [1, 0].map(|to| PortUse::Wired(to, station))
    );
    assert!(mistakes(&text.replace("to = \"b\"\n", ""))[0].contains("needs the key `to`"));
    assert!(mistakes(&text.replace("to = \"b\"", "to = \"c\""))[0].contains("there is no port `c`"));
}

#[test]
fn a_router_is_asked_from_its_own_machine_only() {
    let plan = |address: &str| parse_plan(&format!("metrics = \"{address}\"\n{SOUND}"), "r.toml");
    for address in ["127.0.0.1:9469", "[::1]:9469", "unix:/run/weft-router"] {
        assert_eq!(plan(address).unwrap().metrics.unwrap().to_string(), address);
    }
    for (address, message) in [
        ("0.0.0.0:9469", "1:11  `0.0.0.0:9469`: can be reached from other machines"),
        ("127.0.0.1:0", "1:11  `127.0.0.1:0`: port 0 means any free port, and nobody would know which"),
        ("unix:", "1:11  `unix:`: no address with a port"),
        ("127.0.0.1", "1:11  `127.0.0.1`: no address with a port"),
    ] {
        assert_eq!(mistakes(&format!("metrics = \"{address}\"\n{SOUND}")), [message]);
    }
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

/// The path of a text next to the scenarios of this repository.
const BESIDE_SCENARIOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/r.toml");

fn switch_file(scenario: &str, more: &str) -> String {
    let port = |name: &str, to: &str| {
        format!("[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\nto = \"{to}\"\n")
    };
    let head = format!("application = \"switch\"\nscenario = \"{scenario}\"\n{more}\n");
    format!("{head}{}{}", port("a", "host1"), port("b", "host2"))
}

fn bottleneck() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/bottleneck.toml");
    std::fs::read_to_string(path).unwrap()
}

/// A folder of a test, gone when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("weft-appliance-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn router(&self) -> String {
        self.0.join("r.toml").display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn switch_mistakes(text: &str) -> String {
    let found = parse_plan(text, BESIDE_SCENARIOS).expect_err("has mistakes").short();
    found.replace(BESIDE_SCENARIOS, "r.toml")
}

#[test]
fn the_files_of_the_repository_are_sound() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../routers");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.filter(|path| path.is_file());
    let plans = files.map(|file| read_plan(&file).unwrap_or_else(|mistakes| panic!("{}", mistakes.short())));
    assert!(plans.count() >= 2);
}

/// Every cause of drops that a report shows is explained in the manual.
#[test]
fn the_manual_explains_every_cause_of_drops() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/router.md");
    let page = std::fs::read_to_string(page).unwrap();
    let missing: Vec<&str> = weft_router::DropCause::ALL.iter().map(|cause| cause.name()).collect();
    let missing: Vec<&&str> =
        missing.iter().filter(|name| !page.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_switch_takes_its_ports_from_the_scenario() {
    let text = switch_file("bottleneck.toml", "switch = \"switch0\"");
    let plan = parse_plan(&text, BESIDE_SCENARIOS).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let used: Vec<PortUse> = plan.ports.iter().map(|port| port.use_of).collect();
    assert_eq!(used, [1, 2].map(|n| PortUse::Switched(PortId(n), Some(HostId(u32::from(n))), None)));
    let PlannedApplication::Switch(switch) = plan.application else { panic!() };
    assert_eq!((switch.switch.0, switch.class_of), (0, [Class(0); 64]));
}

#[test]
fn mistakes_of_a_switch_are_told_with_their_places() {
    let sound = switch_file("bottleneck.toml", "switch = \"switch0\"");
    let wrong = |from: &str, to: &str| switch_mistakes(&sound.replacen(from, to, 1));
    for (from, to, message) in [
        ("\"switch0\"", "\"switch9\"", "3:10  the network has no switch `switch9`; did you mean `switch0`?"),
        ("switch = \"switch0\"", "", "the file needs the key `switch`"),
        ("bottleneck", "nowhere", "2:12  the scenario has mistakes: "),
        ("\"switch0\"", "\"switch0\"\ncase = \"x\"", "4:8  `case` has no effect with a scenario of one case"),
        (
            "\"switch0\"",
            "\"switch0\"\ncode_points = [[46]]",
            "`code_points` has no effect with one queue per port",
        ),
        ("\"switch0\"", "\"switch0\"\nerrors_per_second = 3", "has no effect with application = \"switch\""),
        ("to = \"host1\"", "to = \"host9\"", "7:6  no cable leads to `host9`"),
        ("to = \"host2\"", "to = \"host1\"", "11:6  all cables to `host1` have a port already"),
        (
            "to = \"host2\"",
            "to = \"host2\"\nmtu = \"1500 B\"",
            "`mtu` has no effect with application = \"switch\"",
        ),
    ] {
        let found = wrong(from, to);
        assert!(found.contains(message), "{to}: {found}");
    }
}

#[test]
fn a_router_beside_the_kernel_has_the_kernels_addresses() {
    let file = |key: &str| format!("kernel = true\n[[port]]\nname = \"left\"\n{key}\n");
    let plan = parse_plan(&file("device = \"packet:left\""), "r.toml").unwrap();
    assert!(matches!(plan.application, PlannedApplication::Route { kernel: true, .. }));
    for (text, message) in [
        (
            file("device = \"packet:left\"\naddresses = [\"10.1.0.1/24\"]"),
            "`addresses` has no effect with kernel = true",
        ),
        (
            file("device = \"tap:left\"\nmac = \"02:00:00:00:00:01\""),
            "AF_XDP, TAP devices and captures bypass the kernel",
        ),
        (
            format!("application = \"forward\"\n{}", file("device = \"packet:left\"")),
            "`kernel` has no effect",
        ),
    ] {
        let found = mistakes(&text).join("\n");
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn tunnels_have_keys_that_nobody_else_can_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("tunnels");
    let section = |name: &str, spi: u32| {
        let key = if name == "out" { "5a" } else { "a5" }.repeat(20);
        format!("[{name}]\nspi = \"{spi}\"\ncipher = \"aes-128-gcm\"\nkey = \"{key}\"\n")
    };
    let file = folder.0.join("hq.keys");
    std::fs::write(&file, section("out", 256) + &section("in", 257)).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tunnel =
        "[[tunnel]]\nname = \"hq\"\nlocal = \"10.2.0.1\"\nremote = \"198.51.100.9\"\nkeys = \"hq.keys\"\n";
    let route = "[[route]]\nprefix = \"10.9.0.0/16\"\ntunnel = \"hq\"\n";
    let text = format!("{SOUND}{tunnel}{route}");
    let plan = parse_plan(&text, &folder.router()).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    assert!(!format!("{plan:?}").contains("5a5a"), "keys are in no description of the plan");
    let PlannedApplication::Route { routes, tunnels, .. } = plan.application else { panic!() };
    assert_eq!((routes.last().unwrap().1, tunnels[0].udp), (PlannedHop::Tunnel(0), None));
    for (from, to, message) in [
        ("tunnel = \"hq\"", "tunnel = \"hp\"", "there is no tunnel `hp`; did you mean `hq`?"),
        ("tunnel = \"hq\"", "tunnel = \"hq\"\nport = \"left\"", "`port` has no effect beside `tunnel`"),
        ("local = \"10.2.0.1\"", "local = \"10.2.0.7\"", "10.2.0.7 is the address of no port"),
        ("198.51.100.9", "2001:db8::9", "10.2.0.1 and 2001:db8::9 are of different families"),
        ("hq.keys", "no.keys", "no.keys: cannot be read"),
        ("10.9.0.0/16", "198.51.0.0/16", "198.51.100.9 is in 198.51.0.0/16, which goes through a tunnel"),
        ("192.0.2.0/24", "198.51.100.0/24", "the route for 198.51.100.0/24 rejects packets for 198.51.100.9"),
        ("0.0.0.0/0", "203.0.113.0/24", "no route leads to 198.51.100.9"),
        ("198.51.100.9", "10.1.0.1", "10.1.0.1 is this router's own address"),
        ("keys = \"hq.keys\"", "", "needs the key `keys`"),
        (tunnel, &format!("{tunnel}{tunnel}"), "there is a tunnel `hq` already"),
        (
            tunnel,
            &format!("{tunnel}encapsulation = \"upd\"\n"),
            "unknown encapsulation `upd`; did you mean `udp`?",
        ),
        (
            tunnel,
            &format!("{tunnel}local_port = 4500\n"),
            "`local_port` has no effect without encapsulation = \"udp\"",
        ),
        (
            tunnel,
            &format!("{tunnel}encapsulation = \"none\"\nremote_port = 4500\n"),
            "`remote_port` has no effect without encapsulation = \"udp\"",
        ),
        (
            tunnel,
            &format!("{tunnel}encapsulation = \"udp\"\nremote_port = 65536\n"),
            "found the number 65536",
        ),
        (route, "", "the tunnel `hq` has no effect: no route leads through it"),
        ("name = \"hq\"", "name = \"\"", "an empty name"),
    ] {
        let found = parse_plan(&text.replace(from, to), &folder.router()).expect_err(to).short();
        assert!(found.contains(message), "{to}: {found}");
    }
    for (more, expected) in [
        ("encapsulation = \"none\"", None),
        ("encapsulation = \"udp\"", Some((4500, 4500))),
        ("encapsulation = \"udp\"\nlocal_port = 4501\nremote_port = 62000", Some((4501, 62000))),
    ] {
        let text = text.replace(tunnel, &format!("{tunnel}{more}\n"));
        let plan =
            parse_plan(&text, &folder.router()).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
        let PlannedApplication::Route { tunnels, .. } = plan.application else { panic!() };
        assert_eq!(tunnels[0].udp, expected, "{more}");
    }
    std::fs::write(&file, section("out", 256) + &section("in", 257).replace("a5", "5A")).unwrap();
    let found = parse_plan(&text, &folder.router()).expect_err("one key").short();
    assert!(found.contains("[out] and [in] have the same key"), "{found}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = parse_plan(&text, &folder.router()).expect_err("readable").short();
    assert!(found.contains("others can read it (mode 644): chmod 600"), "{found}");
}

/// If there is nothing to choose from, the mistake says what is missing.
#[test]
fn a_route_through_a_tunnel_needs_one() {
    let text = format!("{SOUND}[[route]]\nprefix = \"10.9.0.0/16\"\ntunnel = \"hq\"\n");
    let told = parse_plan(&text, "r.toml").expect_err("no tunnel").draw(false);
    assert!(
        told.contains("there is no tunnel `hq`") && told.contains("allowed: a [[tunnel]] with this name"),
        "{told}"
    );
}

/// No error makes an IPv6 sender send packets below 1280 bytes, so those would be lost while small ones pass.
#[test]
fn a_tunnel_carries_what_every_link_carries() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("narrow");
    let section = |name: &str, key: &str| {
        format!("[{name}]\nspi = \"256\"\ncipher = \"aes-128-gcm\"\nkey = \"{}\"\n", key.repeat(20))
    };
    let file = folder.0.join("hq.keys");
    std::fs::write(&file, section("out", "5a") + &section("in", "a5")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let tunnel =
        "[[tunnel]]\nname = \"hq\"\nlocal = \"10.2.0.1\"\nremote = \"198.51.100.9\"\nkeys = \"hq.keys\"\n";
    let route = |prefix: &str| format!("[[route]]\nprefix = \"{prefix}\"\ntunnel = \"hq\"\n");
    let (v4, v6) = (route("10.9.0.0/16"), route("2001:db8:7::/48"));
    // 20 bytes of IPv4, 8 of ESP, 8 of the vector, 2 of the trailer, 16 of the check value.
    for (mtu, routes, expected) in [
        (1336, v6.clone(), None),
        (
            1333,
            format!("{v4}{v6}"),
            Some(
                "the tunnel `hq` carries packets of 1278 B, of the 1333 B of port `right`, and every link of IPv6 carries 1280 B",
            ),
        ),
        (1333, v4.clone(), None),
        (128, v4.clone(), None),
        (
            100,
            v4,
            Some(
                "carries packets of 46 B, of the 100 B of port `right`, and every link of IPv4 carries 68 B",
            ),
        ),
    ] {
        let text = format!("{SOUND}{tunnel}{routes}").replace("1400 B", &format!("{mtu} B"));
        let found = parse_plan(&text, &folder.router()).map(drop).map_err(|mistakes| mistakes.draw(false));
        match expected {
            None => assert_eq!(found, Ok(()), "{mtu}"),
            Some(message) => assert!(found.clone().expect_err(message).contains(message), "{mtu}: {found:?}"),
        }
    }
}

/// A copy of a file of keys with other indices: packets of both tunnels would have the same nonces, and reveal each
/// other's text.
#[test]
fn no_key_serves_two_tunnels() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("one-key");
    let write = |name: &str, sections: [(&str, u32, &str, usize); 2]| {
        let section = |(name, spi, key, bytes): (&str, u32, &str, usize)| {
            let cipher = if bytes == 16 { "aes-128-cbc-hmac-sha1" } else { "aes-128-gcm" };
            let second =
                if bytes == 16 { format!("integrity = \"{}\"\n", "77".repeat(20)) } else { String::new() };
            let key = key.repeat(bytes);
            format!("[{name}]\nspi = \"{spi}\"\ncipher = \"{cipher}\"\nkey = \"{key}\"\n{second}")
        };
        std::fs::write(folder.0.join(name), sections.map(section).concat()).unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(folder.0.join(name), private).unwrap();
    };
    let tunnel = |name: &str, end: u8| {
        format!(
            "[[tunnel]]\nname = \"{name}\"\nlocal = \"10.2.0.1\"\nremote = \"198.51.100.{end}\"\nkeys = \"{name}.keys\"\n\
             [[route]]\nprefix = \"10.{end}.0.0/16\"\ntunnel = \"{name}\"\n"
        )
    };
    let text = format!("{SOUND}{}{}", tunnel("one", 8), tunnel("two", 9));
    write("one.keys", [("out", 256, "5a", 20), ("in", 257, "a5", 20)]);
    for (sections, expected) in [
        ([("out", 300, "5b", 20), ("in", 301, "b5", 20)], None),
        (
            [("out", 300, "5A", 20), ("in", 301, "b5", 20)],
            Some("[out] has the key of [out] of the tunnel `one`"),
        ),
        (
            [("out", 300, "a5", 20), ("in", 301, "b5", 20)],
            Some("[out] has the key of [in] of the tunnel `one`"),
        ),
        (
            [("out", 300, "5b", 20), ("in", 301, "5a", 20)],
            Some("[in] has the key of [out] of the tunnel `one`"),
        ),
        (
            [("out", 300, "5b", 20), ("in", 301, "a5", 20)],
            Some("[in] has the key of [in] of the tunnel `one`"),
        ),
        (
            [("out", 300, "5a", 16), ("in", 301, "b5", 20)],
            Some("[out] has the key of [out] of the tunnel `one`"),
        ),
        ([("out", 300, "5b", 16), ("in", 301, "b5", 20)], None),
    ] {
        write("two.keys", sections);
        let found = parse_plan(&text, &folder.router()).map(drop).map_err(|mistakes| mistakes.short());
        match expected {
            None => assert_eq!(found, Ok(()), "{sections:?}"),
            Some(message) => {
                let found = found.expect_err(message);
                assert!(found.contains(message) && !found.to_lowercase().contains("5a5a"), "{found}");
            }
        }
    }
}

#[test]
fn captures_stand_alone_and_name_their_files() {
    let port = |name: &str, device: &str| {
        format!("[[port]]\nname = \"{name}\"\nmac = \"02:00:00:00:00:01\"\n{device}\n")
    };
    let read = "device = \"capture\"\nread = \"in.pcap\"";
    let sound = port("left", read) + &port("right", "device = \"capture\"\nwrite = \"out.pcapng\"");
    assert!(parse_plan(&sound, "r.toml").unwrap().plays());
    for (text, message) in [
        (port("left", "device = \"capture\""), "a capture needs `read`, `write` or both"),
        (port("left", read).replace("mac", "#"), "needs the key `mac`"),
        (
            port("left", "device = \"tap:x\"\nread = \"in\""),
            "`read` has no effect without device = \"capture\"",
        ),
        (
            port("left", read) + &port("right", "device = \"tap:x\""),
            "some ports are captures and some are devices",
        ),
        (format!("pin = true\n{}", port("left", read)), "`pin` has no effect with captures"),
    ] {
        let found = mistakes(&text).join("\n");
        assert!(found.contains(message), "{text}: {found}");
    }
}

#[test]
fn neighbours_have_one_station_each_on_a_link() {
    let neighbour = |text: &str| format!("{SOUND}\n[[neighbour]]\n{text}");
    let sound = neighbour("address = \"10.2.0.9\"\nstation = \"02:00:00:00:00:09\"");
    let PlannedApplication::Route { neighbours, .. } = parse_plan(&sound, "r.toml").unwrap().application
    else {
        panic!()
    };
    assert_eq!((neighbours[0].0.0, neighbours[0].1.0[5]), (1, 9));
    for (text, message) in [
        ("address = \"192.0.2.1\"\nstation = \"02:00:00:00:00:09\"", "192.0.2.1 is on the link of no port"),
        ("address = \"10.2.0.9\"\nstation = \"ff:ff:ff:ff:ff:ff\"", "the address of a group of stations"),
        ("address = \"10.2.0.9\"", "`neighbour` needs the key `station`"),
        ("station = \"02:00:00:00:00:09\"\nport = \"up\"", "there is no port `up`"),
        (
            "address = \"10.2.0.9\"\nstation = \"02:00:00:00:00:09\"\n[[neighbour]]\naddress = \"10.2.0.9\"\nstation = \"02:00:00:00:00:08\"",
            "there is a neighbour 10.2.0.9 already",
        ),
        ("address = \"10.2.0.1\"\nstation = \"02:00:00:00:00:09\"", "10.2.0.1 is this router's own address"),
    ] {
        let found = mistakes(&neighbour(text)).join("\n");
        assert!(found.contains(message), "{text}: {found}");
    }
}

/// Addresses of no station, and names that nobody can read.
#[test]
fn next_hops_neighbours_and_names_are_those_of_single_things() {
    let route = |text: &str| format!("{SOUND}[[route]]\n{text}");
    let via =
        |address: &str| route(&format!("prefix = \"10.50.0.0/16\"\nvia = \"{address}\"\nport = \"right\""));
    let neighbour = |address: &str, station: &str| {
        format!("{SOUND}[[neighbour]]\naddress = \"{address}\"\nstation = \"{station}\"\n")
    };
    let here = "02:00:00:00:00:09";
    let of_link = "is the address of the link of port `right`, or of all stations on it";
    for (text, message) in [
        (via("10.2.0.255"), of_link),
        (via("10.2.0.0"), of_link),
        (via("127.0.0.1"), "127.0.0.1 is not the address of a station"),
        (via("224.0.0.5"), "224.0.0.5 is not the address of a station"),
        (
            route("prefix = \"10.2.0.255/32\"\nvia = \"10.2.0.9\""),
            "10.2.0.255 is for all stations on the link",
        ),
        (neighbour("10.2.0.255", here), of_link),
        (neighbour("10.2.0.9", "00:00:00:00:00:00"), "no station has this address"),
        (neighbour("10.2.0.9", here) + "port = \"left\"\n", "10.2.0.9 is on the link of port `right`"),
        (
            SOUND.replace("[\"10.2.0.1/24\"]", "[\"10.2.0.1/24\", \"10.2.0.1/16\"]"),
            "10.2.0.1 is there already",
        ),
        (
            SOUND.replace("[\"10.1.0.1/24\", \"2001", "[\"2001")
                + "[[route]]\nprefix = \"10.9.0.0/16\"\nport = \"left\"\n",
            "port `left` has no IPv4 address",
        ),
        (SOUND.replace("name = \"left\"", "name = \"\""), "5:8  an empty name"),
        (SOUND.replace("name = \"left\"", "name = \"a\\nb\""), "5:8  a name with a line break"),
        (
            SOUND.replace("port = \"right\"", "port = \"rihgt\""),
            "there is no port `rihgt`; did you mean `right`?",
        ),
        (format!("pin = \"yes\"\n{SOUND}"), "found the text \"yes\", expected true or false"),
    ] {
        let found = mistakes(&text);
        assert_eq!((found.len(), found[0].contains(message)), (1, true), "{message}: {found:?}");
    }
    let wire = |station: &str| {
        let port = |name: &str, to: &str| {
            format!(
                "[[port]]\nname = \"{name}\"\ndevice = \"packet:{name}\"\nto = \"{to}\"\nstation = \"{station}\"\n"
            )
        };
        format!("application = \"forward\"\n{}{}", port("a", "b"), port("b", "a"))
    };
    assert!(mistakes(&wire("ff:ff:ff:ff:ff:ff"))[0].contains("the address of a group of stations"));
    assert!(mistakes(&wire("00:00:00:00:00:00"))[0].contains("no station has this address"));
    let twice =
        SOUND.replace("name = \"right\"", "name = \"left\"").replace("port = \"right\"", "port = \"up\"");
    let drawn = parse_plan(&twice, "r.toml").expect_err("two names").draw(false);
    assert!(drawn.contains("allowed: left\n"), "each name once: {drawn}");
}

/// What a check can know about captures before the start.
#[test]
fn captures_have_files_of_their_own() {
    let folder = Folder::new("files");
    let port = |name: &str, files: &str| {
        format!("[[port]]\nname = \"{name}\"\nmac = \"02:00:00:00:00:01\"\ndevice = \"capture\"\n{files}\n")
    };
    let text = port("left", "read = \"in.pcap\"\nwrite = \"out.pcapng\"")
        + &port("right", "write = \"./out.pcapng\"");
    let found = parse_plan(&text, &folder.router()).expect_err("one file").short();
    assert!(found.contains("port `left` writes this file already"), "{found}");
    let plan = parse_plan(&text.replace("./out", "right"), &folder.router()).unwrap();
    let problems = weft_appliance::start_problems(&plan);
    assert!(problems.len() == 1 && problems[0].contains("in.pcap: cannot be read"), "{problems:?}");
    std::fs::write(folder.0.join("right.pcapng"), "precious").unwrap();
    assert!(weft_appliance::start_problems(&plan)[1].contains("right.pcapng: exists already"));
}

/// The start would fail; a socket in the folder of the file, or in one that exists, is right.
#[test]
fn a_socket_has_a_folder() {
    let folder = Folder::new("socket-folder");
    let told = |socket: &str| {
        let plan = parse_plan(&format!("metrics = \"unix:{socket}\"\n{SOUND}"), &folder.router()).unwrap();
        let problems = weft_appliance::start_problems(&plan);
        problems.into_iter().find(|problem| problem.starts_with("metrics:"))
    };
    assert_eq!([told("router.sock"), told("/tmp/router.sock")], [None, None]);
    let missing = told("nowhere/router.sock").expect("a problem");
    assert!(missing.contains("nowhere, does not exist"), "{missing}");
}

/// A socket is found from the folder of the file, as keys and captures are.
#[test]
fn the_socket_of_metrics_is_beside_the_file() {
    for (address, expected) in
        [("unix:metrics", "unix:/etc/weft/metrics"), ("unix:/run/weft", "unix:/run/weft")]
    {
        let plan = parse_plan(&format!("metrics = \"{address}\"\n{SOUND}"), "/etc/weft/r.toml").unwrap();
        assert_eq!(plan.metrics.unwrap().to_string(), expected);
    }
}

/// A misspelt switch, or a case too many, hides no other mistake.
#[test]
fn mistakes_of_a_switch_are_told_at_once() {
    let text = switch_file("bottleneck.toml", "switch = \"swich0\"\ncase = \"x\"\nseed = -1");
    let found = switch_mistakes(&text.replace("host1", "host9"));
    for message in [
        "the network has no switch `swich0`; did you mean `switch0`?",
        "`case` has no effect with a scenario of one case",
        "found the number -1",
        "no cable leads to `host9`",
    ] {
        assert!(found.contains(message), "{message}: {found}");
    }
}

#[test]
fn each_worker_of_a_switch_has_an_engine_and_a_port() {
    let folder = Folder::new("engines");
    let text = |workers| format!("workers = {workers}\n{}", switch_file("s.toml", "switch = \"switch0\""));
    let scenario = |settings: &str| {
        let scenario = bottleneck().replace("buffer  = \"300 kB\"", settings);
        std::fs::write(folder.0.join("s.toml"), scenario).unwrap();
    };
    scenario("buffer = \"300 kB\"");
    let plan =
        parse_plan(&text(2), &folder.router()).unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let readers: Vec<_> = plan.ports.iter().map(|port| plan.reader_of(port)).collect();
    assert_eq!(readers, [Some(1), Some(0)], "ECMP: port n of the switch is read by worker n mod 2");
    let found = parse_plan(&text(3), &folder.router()).expect_err("two ports").short();
    assert!(found.contains("1:11  3 workers, but only 2 have a port to read"), "{found}");
    scenario("voq = { groups = 1 }");
    let deep = std::fs::read_to_string(folder.0.join("s.toml")).unwrap();
    let deep = deep.replace("sharing = { static = { per_port = \"300 kB\" } }", "");
    std::fs::write(folder.0.join("s.toml"), deep).unwrap();
    let found = parse_plan(&text(2), &folder.router()).expect_err("virtual output queues").short();
    assert!(found.contains("`switch0` has virtual output queues, which belong to all its inputs"), "{found}");
}

#[test]
fn a_switch_that_needs_more_than_ip_headers_is_refused() {
    let (folder, bottleneck) = (Folder::new("refused"), bottleneck());
    let text = switch_file("s.toml", "switch = \"switch0\"");
    for (transport, settings, message) in [
        (
            "ndp",
            "queues = 2\nschedule = \"strict\"\ntrim = { queue = \"8 pkt\" }",
            "trims packets to headers",
        ),
        ("roce", "pfc = { classes = [0] }", "sends and obeys pause frames"),
    ] {
        let scenario = bottleneck.replace("[switch.ecn.step]\nthreshold = \"30 kB\"", settings);
        let scenario = scenario.replace("transport.dctcp", &format!("transport.{transport}"));
        let scenario = scenario.replace("sharing = { static = { per_port = \"300 kB\" } }", "");
        std::fs::write(folder.0.join("s.toml"), scenario).unwrap();
        let found = parse_plan(&text, &folder.router()).expect_err("refused").short();
        assert!(found.contains(message), "{settings}: {found}");
    }
}

/// What a scenario does to cables does not happen to real ones.
#[test]
fn a_switch_whose_cables_change_is_refused() {
    let folder = Folder::new("cables");
    let fails = "[[failure]]\ncables = [\"host0-switch0\"]\nat = \"1 ms\"\n\n[transport.dctcp]";
    for (from, to, message) in [
        ("[transport.dctcp]", fails, "cables fail or return during the run"),
        ("delay = ", "loss = 0.01, delay = ", "a cable of the switch loses packets at random"),
    ] {
        let scenario = bottleneck().replace(from, to);
        std::fs::write(folder.0.join("s.toml"), scenario).unwrap();
        let text = switch_file("s.toml", "switch = \"switch0\"");
        let found = parse_plan(&text, &folder.router()).expect_err("refused").short();
        assert!(found.contains(message), "{to}: {found}");
    }
}

#[test]
fn each_code_point_has_one_queue() {
    let folder = Folder::new("queues");
    let scenario = bottleneck()
        .replace("buffer  = \"300 kB\"", "buffer  = \"300 kB\"\nqueues = 3\nschedule = \"strict\"");
    std::fs::write(folder.0.join("s.toml"), scenario).unwrap();
    let plan = |lists: &str| {
        parse_plan(
            &switch_file("s.toml", &format!("switch = \"switch0\"\ncode_points = {lists}")),
            &folder.router(),
        )
    };
    let sound = plan("[[46], [10, 12]]").unwrap_or_else(|mistakes| panic!("{}", mistakes.short()));
    let PlannedApplication::Switch(switch) = sound.application else { panic!() };
    assert_eq!([46, 10, 12, 0].map(|number: usize| switch.class_of[number].0), [0, 1, 1, 2]);
    for (lists, message) in [
        ("[[46]]", "1 list for 3 queues"),
        ("[[46], [46]]", "code point 46 is there already"),
        ("[[46], [64]]", "found the number 64"),
    ] {
        let found = plan(lists).expect_err("has mistakes").short();
        assert!(found.contains(message), "{lists}: {found}");
    }
}
