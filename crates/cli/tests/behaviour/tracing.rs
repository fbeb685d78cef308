//! One flow followed: a table of where every packet was, and a capture that tshark opens.

use crate::{TINY, folder_with, good, text, weft};
use std::path::Path;
use std::process::Command;

/// Two queue pairs to one host.
const PAIRS: &str = r#"weft = 1
name = "pairs"

[topology.single-switch]
hosts = 3

[switch]
queues   = 2
schedule = "strict"
sharing  = "infinite"
ecn      = { kind = "red", min = "5 kB", max = "50 kB", max_probability = "100 %", non_ect = "pass" }

[transport.dcqcn]

[[traffic]]
tag   = "pair"
kind  = "list"
flows = [{ from = 1, to = 0, size = "200 kB" }, { from = 2, to = 0, size = "200 kB" }]
"#;

/// Fields of every frame, or nothing where tshark is not installed.
fn frames(capture: &Path, fields: &[&str]) -> Option<Vec<Vec<String>>> {
    let mut command = Command::new("tshark");
    command.arg("-r").arg(capture).args(["-n", "-T", "fields", "-E", "separator=;"]);
    fields.iter().for_each(|field| {
        command.args(["-e", field]);
    });
    let Ok(output) = command.output() else {
        eprintln!(
            "SKIPPED: tshark is not installed, so nobody opens {}; `make setup` installs it",
            capture.display()
        );
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    Some(lines.lines().map(|line| line.split(';').map(str::to_owned).collect()).collect())
}

/// Rows of the table at the cards of the two hosts: time in picoseconds, sequence or acknowledgement.
fn at_cards(table: &str) -> Vec<Vec<&str>> {
    let rows = table.lines().skip(1).map(|row| row.split(',').collect::<Vec<_>>());
    rows.filter(|row| row[1] == "sent" || row[1] == "received").collect()
}

#[test]
fn the_capture_of_a_tcp_flow_is_opened_by_tshark() {
    let folder = folder_with("trace", TINY);
    let said = good(
        &folder,
        "trace tiny.toml --flow 5 --seed 2 --set balance=drill --csv flow.csv --pcap flow.pcapng",
    );
    assert!(said.starts_with("Flow 5 (web), ") && said.contains("written: flow.pcapng"), "{said}");
    let table = text(&folder.join("flow.csv"));
    let rows = at_cards(&table);
    assert!(rows.len() > 4, "{table}");
    let fields = [
        "frame.time_epoch",
        "tcp.seq_raw",
        "tcp.len",
        "tcp.analysis.ack_lost_segment",
        "_ws.malformed",
        "ip.len",
        "ip.ttl",
    ];
    let sender = rows[0][2];
    for row in &rows {
        let from_sender = (row[2] == sender) == (row[1] == "sent");
        assert_eq!(
            row[4] == "data",
            from_sender,
            "the sender's last acknowledgement goes its way, too: {row:?}"
        );
    }
    let Some(frames) = frames(&folder.join("flow.pcapng"), &fields) else { return };
    assert_eq!(frames.len(), rows.len(), "every packet at either card is a frame");
    for (frame, row) in frames.iter().zip(&rows) {
        let picoseconds: u64 = row[0].parse().expect("a time");
        let seconds: f64 = frame[0].parse().expect("a time");
        assert!((seconds * 1e9 - (picoseconds / 1_000) as f64).abs() < 2.0, "{frame:?} {row:?}");
        assert_eq!(frame[2], row[7], "payload of {row:?}");
        assert_eq!(
            (&*frame[3], &*frame[4]),
            ("", ""),
            "acknowledges what nobody sent, or malformed: {frame:?}"
        );
        assert!(frame[5].parse::<u64>().expect("a length") <= 1_500, "longer than the MTU: {frame:?}");
        // Hosts send with 64; a leaf takes one, a leaf, a spine and a leaf take three.
        let left: &[&str] = if row[1] == "sent" { &["64"] } else { &["63", "61"] };
        assert!(left.contains(&&*frame[6]), "{frame:?} {row:?}");
        if row[4] == "data" && row[7] != "0" {
            let sequence: u64 = row[6].parse().expect("a sequence number");
            assert_eq!(frame[1], (sequence + 1).to_string());
        }
    }
}

#[test]
fn only_earlier_traces_and_captures_are_overwritten() {
    let folder = folder_with("trace-targets", TINY);
    let trace = "trace tiny.toml --flow 0 --set balance=ecmp";
    std::fs::write(folder.join("notes.txt"), "mine").expect("the folder can be written");
    for (options, why) in [
        ("--pcap tiny.toml", "tiny.toml: this file is no capture of weft and is not overwritten"),
        ("--csv notes.txt", "notes.txt: this file is no trace of weft and is not overwritten"),
        ("--csv both --pcap both", "both: --csv and --pcap name the same file"),
        ("--csv both --pcap ./both", "name the same file"),
    ] {
        let refused = weft(&folder, &format!("{trace} {options}"));
        assert_eq!(refused.code, Some(2), "{options}");
        assert!(refused.err.contains(why), "{options}: {}", refused.err);
    }
    assert_eq!(
        (text(&folder.join("notes.txt")).as_str(), text(&folder.join("tiny.toml")).as_str()),
        ("mine", TINY)
    );
    for _ in 0..2 {
        good(&folder, &format!("{trace} --csv flow.csv --pcap flow.pcapng"));
    }
    let swapped = weft(&folder, &format!("{trace} --csv flow.pcapng"));
    assert!(swapped.err.contains("flow.pcapng: this file is no trace"), "{}", swapped.err);
}

#[test]
fn the_capture_of_a_queue_pair_is_roce() {
    let folder = folder_with("trace-roce", PAIRS);
    good(&folder, "trace tiny.toml --flow 0 --csv flow.csv --pcap flow.pcapng");
    let table = text(&folder.join("flow.csv"));
    let fields = ["infiniband.bth.opcode", "infiniband.bth.psn", "_ws.malformed", "infiniband.invariant.crc"];
    let Some(frames) = frames(&folder.join("flow.pcapng"), &fields) else { return };
    assert_eq!(frames.len(), at_cards(&table).len());
    // Wireshark takes what a notification holds for one block of bytes.
    let is_checked =
        |frame: &&Vec<String>| ["129", "0x81"].contains(&frame[0].as_str()) || !frame[3].is_empty();
    let wrong = frames.iter().find(|frame| !frame[2].is_empty() || !is_checked(frame));
    assert_eq!(wrong, None);
    assert!(frames.iter().all(|frame| !frame[0].is_empty()), "{frames:?}");
    assert!(
        frames.iter().any(|frame| frame[0] == "17" || frame[0] == "0x11"),
        "acknowledgements: {frames:?}"
    );
}

/// Wireshark needs the options of the first two segments to judge windows and blocks later on.
#[test]
fn a_connection_opens_with_its_options() {
    let scenario =
        TINY.replace("initial_rto =", "timestamps = true\nreceive_window = \"1 MB\"\ninitial_rto =");
    let folder = folder_with("trace-options", &scenario);
    good(&folder, "trace tiny.toml --flow 0 --set balance=ecmp --pcap flow.pcapng");
    let fields = [
        "tcp.flags.syn",
        "tcp.options.mss_val",
        "tcp.options.sack_perm",
        "tcp.options.wscale.shift",
        "tcp.options.timestamp.tsval",
        "tcp.window_size",
    ];
    let Some(frames) = frames(&folder.join("flow.pcapng"), &fields) else { return };
    let (opening, later): (Vec<_>, Vec<_>) =
        frames.iter().partition(|frame| ["1", "True"].contains(&frame[0].as_str()));
    assert!(opening.len() >= 4 && !later.is_empty(), "{frames:?}");
    for frame in opening {
        let options = frame[1..5].iter().map(String::as_str).collect::<Vec<_>>();
        assert_eq!((options[0], options[2]), ("1460", "4"), "{frame:?}");
        assert!(!options[1].is_empty() && !options[3].is_empty(), "{frame:?}");
    }
    assert!(later.iter().all(|frame| frame[5] == "1000000"), "{later:?}");
}

#[test]
fn a_table_for_people_names_nodes_and_waits() {
    let folder = folder_with("trace-table", TINY);
    let said = good(&folder, "trace tiny.toml --flow 0 --set balance=ecmp");
    for word in ["sent", "queued", "left", "received", "leaf", "cwnd", "data 0.."] {
        assert!(said.contains(word), "{word} in {said}");
    }
}

#[test]
fn mistakes_say_what_to_do() {
    let folder = folder_with("trace-mistakes", TINY);
    let many = weft(&folder, "trace tiny.toml --flow 0");
    assert_eq!(many.code, Some(2));
    assert!(many.err.contains("2 cases") && many.err.contains("--set sweep.KEY=VALUE"), "{}", many.err);
    let none = weft(&folder, "trace tiny.toml --flow 100000 --set balance=ecmp");
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("there is no flow 100000"), "{}", none.err);
}
