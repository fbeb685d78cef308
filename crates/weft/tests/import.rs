//! `import` writes scenarios that `check` accepts or says what is wrong and where, whatever the files hold.

use std::fs;
use std::path::{Path, PathBuf};

use weft_core::{Purpose, Random};

const HPCC: [&str; 2] = [
    "6 2 5\n4 5\n0 4 25Gbps 1000ns 0\n1 4 25Gbps 1us 0\n2 5 25Gbps 1us 0\n3 5 25Gbps 1us 0\n4 5 100Gbps 2us 0\n",
    "3\n0 2 3 100 200000 0.0001\n1 3 3 100 5000 0.000101\n2 1 3 100 60000 0.000102\n",
];
const HTSIM: [&str; 2] = [
    "Nodes 8\nTiers 2\nPodsize 8\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 4\nRadix_Up 2\n\
     Downlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 2\n\nTier 1\nDownlink_speed_Gbps 100\n\
     Radix_Down 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n",
    "Nodes 8\nConnections 2\n0->5 id 1 start 0 size 200000\n6->1 id 2 start 5000000 size 10000\n",
];
/// Words of such files, and words that do not belong there.
const WORDS: [&str; 20] = [
    "0",
    "1",
    "2",
    "3",
    "4",
    "5",
    "8",
    "99",
    "-1",
    "1e30",
    "0Gbps",
    "0bps",
    "1ps",
    "1Tbps",
    "0->0",
    "5->0",
    "NaN",
    "\u{7f}",
    "0.5",
    "18446744073709551615",
];

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("writable");
    folder
}

/// The two files with some words replaced, lines dropped, duplicated and swapped.
fn mutated(file: &str, random: &mut Random) -> String {
    let mut lines: Vec<Vec<String>> =
        file.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    for _ in 0..random.below(4) {
        let at = random.below(lines.len() as u32) as usize;
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines.swap(0, at),
            _ => {
                let word = random.below(lines[at].len() as u32) as usize;
                lines[at][word] = WORDS[random.below(WORDS.len() as u32) as usize].to_owned();
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.iter().map(|words| words.join(" ") + "\n").collect()
}

fn import(format: &str, folder: &Path, files: &[&str]) -> Result<String, String> {
    let place = |(n, text): (usize, &&str)| {
        let path = folder.join(format!("{n}.txt"));
        fs::write(&path, text).expect("writable");
        path
    };
    let paths: Vec<PathBuf> = files.iter().enumerate().map(place).collect();
    weft::import(format, &paths, None).map(|imported| imported.text).map_err(|error| error.to_string())
}

#[test]
fn what_is_imported_passes_the_check() {
    let folder = folder("import-mutated");
    let mut random = Random::new(7, Purpose::Sizes, 0);
    let (mut taken, mut refused) = (0, 0);
    for round in 0..1_500 {
        let (format, files) = if round % 2 == 0 { ("hpcc", HPCC) } else { ("htsim", HTSIM) };
        let files = files.map(|file| mutated(file, &mut random));
        match import(format, &folder, &[&files[0], &files[1]]) {
            Ok(text) => {
                let path = folder.join("imported.toml");
                fs::write(&path, &text).expect("writable");
                let checked = weft::check(&path, &[]).expect("readable");
                assert_eq!(checked.mistakes, 0, "{files:?}\n{text}\n{}", checked.rendered);
                taken += 1;
            }
            Err(error) => {
                assert!(error.contains(".txt") && error.contains("found"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(taken > 100 && refused > 100, "{taken} taken, {refused} refused");
}

#[test]
fn what_makes_no_scenario_is_refused_with_its_line() {
    let folder = folder("import-refused");
    let [network, flows] = HPCC;
    let cases = [
        (network.replace("2 5 25Gbps", "2 5 0Gbps"), flows.to_owned(), "0.txt:5: found a rate of zero"),
        (
            network.replace("2 5 25Gbps", "1 5 25Gbps"),
            flows.to_owned(),
            "0.txt:5: found a second link of host 1",
        ),
        (
            network.replace("2 5 25Gbps", "2 2 25Gbps"),
            flows.to_owned(),
            "0.txt:5: found a link from 2 to itself",
        ),
        (
            network.replace("2 5 25Gbps", "2 3 25Gbps"),
            flows.to_owned(),
            "0.txt:5: found a link between the hosts",
        ),
        (network.replace("2 5 25Gbps", "4 5 25Gbps"), flows.to_owned(), "0.txt:1: found node 2"),
        (network.to_owned(), flows.replace("1 3 3", "3 3 3"), "1.txt:3: found a flow from host 3 to itself"),
        (network.to_owned(), "0\n".to_owned(), "1.txt:1: found"),
    ];
    for (network, flows, words) in cases {
        let error = import("hpcc", &folder, &[&network, &flows]).expect_err(words);
        assert!(error.contains(words), "{error}\nwanted: {words}");
    }
    let error =
        import("htsim", &folder, &[HTSIM[0], &HTSIM[1].replace("6->1", "1->1")]).expect_err("to itself");
    assert!(error.contains("1.txt:4: found a flow from host 1 to itself"), "{error}");
}

/// All flows start earlier by the time at which the first of any file starts.
#[test]
fn flows_may_come_from_several_files() {
    let later = HPCC[1].replace("0.0001", "0.0002");
    let text = import("hpcc", &folder("import-two"), &[HPCC[0], &later, HPCC[1]]).expect("it is imported");
    for words in
        ["tag = \"imported\"", "tag = \"imported-2\"", "at = \"100 us\", from = 0", "at = \"0 ps\", from = 0"]
    {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

/// The files name neither switches nor transport; the defaults would mean NewReno without pauses.
#[test]
fn hpcc_files_get_the_switches_and_the_transport_of_their_simulator() {
    let text = import("hpcc", &folder("import-hpcc"), &HPCC).expect("it is imported");
    let path = folder("import-hpcc-check").join("imported.toml");
    fs::write(&path, &text).expect("writable");
    let explained = weft::explain(&path, None, &[]).expect("a scenario");
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    for setting in ["additive_step 5 Mbps", "switch.pfc", "hyper_increase timer", "byte_counter 1 TB"] {
        assert!(explained.contains(setting), "{setting}\n{text}\n{explained}");
    }
    assert!(text.contains("# All flows start 100 us earlier than in the files"), "{text}");
    assert!(!text.contains("warm_up"), "the run begins with the first flow: {text}");
}
