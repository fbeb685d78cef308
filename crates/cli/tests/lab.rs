//! `weft lab`: real connections of this machine's kernel through the router's switches.
//!
//! Needs the right to make namespaces; says so and passes if it is missing.
#![cfg(target_os = "linux")]

mod spaces;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use spaces::skip;

const TINY: &str = r#"
weft = 1
name = "tiny"

[topology.leaf-spine]
leaves         = 2
spines         = 2
hosts_per_leaf = 2
host_link      = { rate = "1 Gbps", delay = "1 us" }
fabric_link    = { rate = "1 Gbps", delay = "1 us" }

[switch.ecn.step]
threshold = "30 kB"

[transport.newreno]
ecn = "on"

[[traffic]]
tag   = "few"
kind  = "list"
flows = [
    { at = "0 us", from = 0, to = 3, size = "1 B" },
    { at = "1 ms", from = 1, to = 2, size = "20 kB" },
    { at = "1 ms", from = 0, to = 2, size = "100 kB" },
    { at = "2 ms", from = 2, to = 3, size = "60 kB" },
    { at = "4 ms", from = 3, to = 0, size = "150 kB" },
]
"#;

/// The message of a system without the privileges.
const REFUSALS: [&str; 2] = ["a lab needs root", "a lab makes network namespaces"];

/// A folder of its own with a scenario in it.
fn place(name: &str, scenario: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lab-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tiny.toml"), scenario).unwrap();
    folder
}

fn weft(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
    command.args(words).current_dir(folder).stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Runs a lab; `None` if the system does not allow it, or the tools are missing.
fn lab(folder: &Path, words: &[&str]) -> Option<Output> {
    lab_into(folder, "lab", words)
}

/// The same with results in this folder.
fn lab_into(folder: &Path, out: &str, words: &[&str]) -> Option<Output> {
    let output = weft(folder, &[&["lab", "tiny.toml", "--out", out], words].concat()).output().unwrap();
    let text = said(&output);
    if REFUSALS.iter().any(|refusal| text.contains(refusal)) || text.contains("install iproute2") {
        skip(&text);
        return None;
    }
    Some(output)
}

/// The only run below a folder.
fn run_folder(folder: &Path) -> PathBuf {
    let below = |folder: &Path, prefix: &str| -> PathBuf {
        let mut entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let named =
            |path: &PathBuf| path.is_dir() && path.file_name().unwrap().to_string_lossy().starts_with(prefix);
        entries.find(named).unwrap_or_else(|| panic!("{prefix} below {}", folder.display()))
    };
    below(&below(&folder.join("tiny"), "case-"), "seed-1")
}

/// The values of a column of a table.
fn column(table: &str, name: &str) -> Vec<f64> {
    let mut lines = table.lines();
    let place = lines.next().unwrap().split(',').position(|own| own == name).expect(name);
    lines.map(|line| line.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn flows_of_a_scenario_cross_real_hosts_and_lie_beside_the_simulation() {
    let folder = place("flows", TINY);
    let Some(output) = lab(&folder, &[]) else { return };
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 Gbps of the scenario is 20 Mbps here, times are 50 times as long"), "{text}");
    assert!(text.contains("first time-out, also of a lost SYN: always 1 s on Linux"), "{text}");
    assert!(text.contains("0 packets dropped, 0 flows unfinished"), "{text}");
    let run = run_folder(&folder.join("lab"));
    let flows = fs::read_to_string(run.join("flows.csv")).unwrap();
    assert_eq!(column(&flows, "delivered_bytes"), [1.0, 100e3, 20e3, 60e3, 150e3]);
    // No link is faster than in the scenario, so no flow can be. (Linux has other SYN options than the closed form.)
    assert!(column(&flows, "slowdown").iter().all(|slowdown| *slowdown > 0.95), "{flows}");
    assert!(!flows.contains("retx_bytes"), "what senders did stays in the kernel");
    let links = fs::read_to_string(run.join("links.csv")).unwrap();
    let sent: f64 = column(&links, "tx_bytes").iter().sum();
    // Payload and headers over two or four links, and as many acknowledgements.
    assert!(sent > 4.0 * 170e3 && sent < 3.0 * 4.0 * 331e3, "{sent}");
    // Until the last flow starts, after 4 ms, at most what the earlier flows carry can arrive. Where less than half of all payload
    // has arrived by then, as on a loaded machine, goodput is averaged over the whole run, which is longer.
    let summary = fs::read_to_string(run.join("summary.json")).unwrap();
    let goodput = summary.split("\"goodput_gbps\": ").nth(1).and_then(|rest| rest.split([',', '\n']).next());
    let goodput: f64 = goodput.unwrap().parse().unwrap();
    let most = if summary.contains("\"arrivals_until_s\"") { 180_001.0 } else { 330_001.0 };
    assert!(goodput > 0.0 && goodput <= most * 8.0 / 4e6 + 1e-6, "{goodput}");
    let manifest = fs::read_to_string(run.join("manifest.json")).unwrap();
    for words in [
        "\"engine\": \"lab\"",
        "\"is_measurement\": true",
        "\"command\": \"weft lab --scale 50 tiny.toml",
        "\"reno\"",
    ] {
        assert!(manifest.contains(words), "{words}: {manifest}");
    }
    let simulated = weft(&folder, &["run", "tiny.toml", "--out", "runs"]).output().unwrap();
    assert!(simulated.status.success(), "{}", said(&simulated));
    let compared = weft(&folder, &["compare", "runs/tiny", "lab/tiny"]).output().unwrap();
    let text = said(&compared);
    assert!(
        compared.status.success() && text.contains("fct.mean") && text.contains("comparison.html"),
        "{text}"
    );
    let page = fs::read_to_string(folder.join("lab/tiny/report.html")).unwrap();
    assert!(
        page.contains("the same command measures again, and its numbers differ"),
        "the report says so too"
    );
    assert!(!page.contains("to the last bit"));
    // A measurement is neither reused nor replaced.
    let refused = lab(&folder, &["--scale", "100"]).expect("it worked before");
    let text = said(&refused);
    assert!(refused.status.code() == Some(2) && text.contains("which this one would replace"), "{text}");
    assert_eq!(fs::read_to_string(run.join("flows.csv")).unwrap(), flows);
    let again = lab_into(&folder, "again", &["--scale", "100"]).expect("it worked before");
    assert!(again.status.success() && !said(&again).contains("reused"), "{}", said(&again));
}

/// The network namespaces to which descriptors of a process refer.
fn namespaces(process: u32) -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(format!("/proc/{process}/fd")) else { return BTreeSet::new() };
    let links = entries.flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    links.map(|link| link.display().to_string()).filter(|name| name.starts_with("net:[")).collect()
}

/// Starts a lab that would take minutes, and waits until its namespaces are there.
fn long_lab(folder: &Path) -> (Child, BTreeSet<String>) {
    let words = ["lab", "tiny.toml", "--out", "lab", "--scale", "500", "--progress", "none"];
    let child = weft(folder, &words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let found = (0..400).find_map(|_| {
        std::thread::sleep(Duration::from_millis(25));
        Some(namespaces(child.id())).filter(|found| found.len() >= 5)
    });
    (child, found.expect("four hosts and the switches have namespaces"))
}

const LONG: &str = r#"    { at = "100 ms", from = 0, to = 3, size = "100 kB" },
]"#;

#[test]
fn nothing_is_left_after_a_kill_and_the_next_start_works() {
    let folder = place("killed", &TINY.replace("\n]", &format!("\n{LONG}")));
    if lab_into(
        &folder,
        "probe",
        &["--set", "traffic.few.flows=[{ at = '0 us', from = 0, to = 3, size = '1 kB' }]"],
    )
    .is_none()
    {
        return;
    }
    let (mut child, held) = long_lab(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel removes a namespace with the last process that refers to it; the helpers of the lab die soon after it.
    let left = || -> Vec<u32> {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        processes.filter(|process| !namespaces(*process).is_disjoint(&held)).collect()
    };
    let gone = (0..200).any(|_| {
        left().is_empty() || {
            std::thread::sleep(Duration::from_millis(25));
            false
        }
    });
    assert!(gone, "{:?} still refer to namespaces of the lab", left());
    fs::write(folder.join("tiny.toml"), TINY).unwrap();
    let after = lab(&folder, &[]).expect("it worked before");
    assert!(after.status.success() && said(&after).contains("0 flows unfinished"), "{}", said(&after));
    let hidden =
        fs::read_dir(folder.join("lab/tiny")).unwrap().flatten().flat_map(|case| fs::read_dir(case.path()));
    let partial =
        hidden.flatten().flatten().filter(|run| run.file_name().to_string_lossy().contains("partial"));
    assert_eq!(partial.count(), 0, "what the killed run had begun is removed");
}

#[test]
fn an_interrupted_lab_keeps_what_it_has_measured() {
    let folder = place("interrupted", &TINY.replace("\n]", &format!("\n{LONG}")));
    if lab_into(
        &folder,
        "probe",
        &["--set", "traffic.few.flows=[{ at = '0 us', from = 0, to = 3, size = '1 kB' }]"],
    )
    .is_none()
    {
        return;
    }
    let (child, _) = long_lab(&folder);
    std::thread::sleep(Duration::from_secs(1));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("stopping after a partial result"), "{}", said(&output));
}

#[test]
fn what_a_lab_cannot_carry_is_refused_with_what_it_would_need() {
    let folder = place("refused", TINY);
    let refusal = |words: &[&str]| {
        let output = weft(&folder, &[&["lab", "tiny.toml", "--check"], words].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    let text = refusal(&["--set", "topology.leaf-spine.hosts_per_leaf=200"]);
    assert!(text.contains("401 network namespaces") && text.contains("at most 257"), "{text}");
    let text = refusal(&["--scale", "2"]);
    assert!(text.contains("hosts that send") && text.contains("a scale of 50"), "{text}");
    let text = refusal(&["--scale", "5000"]);
    assert!(text.contains("links of 200 kbps"), "{text}");
    let text = refusal(&["--set", "transport=dcqcn"]);
    assert!(text.contains("a transport is not TCP but roce"), "{text}");
    let text = refusal(&["--set", "balance=conga"]);
    assert!(text.contains("CONGA, which writes path congestion into packets"), "{text}");
}

#[test]
fn a_congestion_control_that_the_kernel_does_not_have_is_named_with_those_that_it_has() {
    let folder = place("unknown", TINY);
    let Some(output) = lab(&folder, &["--congestion", "nosuchlaw"]) else { return };
    assert_eq!(output.status.code(), Some(2));
    let text = said(&output);
    assert!(text.contains("no congestion control `nosuchlaw`; it has: ") && text.contains("reno"), "{text}");
    // A check finds it as well.
    let checked = lab(&folder, &["--congestion", "nosuchlaw", "--check"]).expect("it worked before");
    assert_eq!(checked.status.code(), Some(2), "{}", said(&checked));
    assert!(said(&checked).contains("no congestion control `nosuchlaw`"), "{}", said(&checked));
}

/// Forty flows, of which more are open at once than a process with 48 descriptors can have.
const MANY: &str = r#"
weft = 1
name = "many"

[topology.single-switch]
hosts     = 3
host_link = { rate = "100 Mbps", delay = "5 us" }

[switch]
buffer = "60 kB"

[transport.newreno]

[[traffic]]
tag   = "few"
kind  = "list"
flows = ["#;

/// Runs a lab with at most this many descriptors; `-S` limits only those that it has not asked for.
fn lab_within(folder: &Path, limit: &str, words: &[&str]) -> Output {
    let start = format!("ulimit {limit} && exec \"$0\" lab tiny.toml \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &start, env!("CARGO_BIN_EXE_weft")]).args(words);
    command.current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn too_few_descriptors_are_asked_for_or_refused_or_waited_for() {
    let flow =
        |n: u32| format!("{{ at = \"{} us\", from = {}, to = 0, size = \"60 kB\" }},\n", 300 * n, 1 + n % 2);
    let folder = place("descriptors", &format!("{MANY}{}]", (0..40).map(flow).collect::<String>()));
    let refused = lab_within(&folder, "-n 25", &["--check"]);
    let text = said(&refused);
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(text.contains("need 26 file descriptors, at most 25 here (ulimit -Hn)"), "{text}");
    let words = ["--scale", "20", "--progress", "none"];
    let Some(_) = lab_into(&folder, "probe", &["--check"]) else { return };
    let raised = lab_within(&folder, "-S -n 48", &[&["--out", "raised"][..], &words].concat());
    assert!(said(&raised).contains(" 0 flows unfinished"), "{}", said(&raised));
    let few = lab_within(&folder, "-n 48", &[&["--out", "few"][..], &words].concat());
    assert!(few.status.success(), "the flows for which there was room are kept: {}", said(&few));
}
