//! Lines of Arista EOS on queues, marking, priority flow control and packet memory; other lines are skipped.
//!
//! Facts of this format: priorities are CoS values; CoS 0 is traffic class 1 and CoS 1 class 0 unless mapped, and each
//! group of eight code points is one class likewise. A kbyte is 1000 bytes; the size of a segment or cell depends on
//! the chip (`detect.rs`). Thresholds in time are converted to lengths at the speed of each port.

use crate::model::{MapKind, Network, Surroundings, SwitchConfig};
use crate::told::{Coverage, NameTally, Oddity, OddityKind};
use block::{Block, Memory, Outcome};
use detect::Detect;
use std::collections::{BTreeMap, HashMap};
use weft_config::place::{Placed, SourceFile, Spot, lines};
use weft_core::units::{did_you_mean, nearest};
use weft_core::{Bytes, Rate, Span};

mod block;
mod detect;
mod finish;

/// Maximum number of interfaces, more than any switch has, because rules compare ports with each other.
const MOST: usize = 4_096;

/// Reads files as one switch.
pub(super) fn read(sources: &[(usize, &SourceFile)], network: &mut Network) -> Result<(), Vec<String>> {
    let (first, name) = sources.first().map_or((0, ""), |(number, source)| (*number, source.name.as_str()));
    let mut reader = Reader::new(first, &network.site);
    for (number, source) in sources {
        if let Some(at) = source.text.find('\0') {
            let (line, column) = weft_config::place::line_column(&source.text, at);
            return Err(vec![format!("{}:{line}:{column}: found a NUL byte; allowed: text", source.name)]);
        }
        let coverage = reader.file(*number, source);
        network.coverage.push((*number, coverage));
    }
    if reader.interfaces.len() > MOST {
        return Err(vec![format!(
            "{name}: found {} interfaces; allowed: up to {MOST}",
            reader.interfaces.len()
        )]);
    }
    let (switch, oddities, remarks) = reader.finish((first, name), network.site.memory);
    if let Some((_, coverage)) = network.coverage.last_mut() {
        coverage.remarks.extend(remarks);
    }
    network.oddities.extend(oddities);
    network.switches.push(switch);
    Ok(())
}

/// The section of the file that a line belongs to.
#[derive(Clone, PartialEq)]
enum Section {
    Top,
    Interface(usize),
    Profile(String),
    Memory(String),
    /// A section that is not read.
    Other,
}

struct Reader {
    file: usize,
    rate: Option<Rate>,
    /// Bytes of a cell, if they are known.
    cell: Option<Bytes>,
    section: Section,
    /// The queue that following lines apply to.
    queue: Option<u8>,
    /// Whether it is a queue for multicast packets, which are not modelled.
    multicast: bool,
    name: Option<String>,
    interfaces: Vec<Block>,
    profiles: BTreeMap<String, Block>,
    memories: BTreeMap<String, Memory>,
    applied: Option<Placed<String>>,
    watchdog: Option<(Spot, Option<Span>, Option<Span>)>,
    maps: BTreeMap<MapKind, BTreeMap<u8, Placed<u8>>>,
    cos: BTreeMap<u8, u8>,
    /// Lines `random-detect`, each once, with their numbers.
    detects: Vec<Detect>,
    known: HashMap<String, usize>,
    /// Whether packets that cannot be marked pass.
    allows_non_ect: bool,
    /// Whether there is a line `priority-flow-control all off`.
    pauses_off: bool,
    oddities: Vec<Oddity>,
    read: NameTally,
    passed_over: NameTally,
}

impl Reader {
    fn new(file: usize, site: &Surroundings) -> Reader {
        Reader {
            file,
            rate: site.rate,
            cell: site.cell,
            section: Section::Top,
            queue: None,
            multicast: false,
            name: None,
            interfaces: Vec::new(),
            profiles: BTreeMap::new(),
            memories: BTreeMap::new(),
            applied: None,
            watchdog: None,
            maps: BTreeMap::new(),
            cos: BTreeMap::new(),
            detects: Vec::new(),
            known: HashMap::new(),
            allows_non_ect: false,
            pauses_off: false,
            oddities: Vec::new(),
            read: NameTally::default(),
            passed_over: NameTally::default(),
        }
    }

    /// Reads a file.
    fn file(&mut self, number: usize, source: &SourceFile) -> Coverage {
        (self.file, self.section, self.queue) = (number, Section::Top, None);
        let first = self.interfaces.len();
        for (start, line) in lines(&source.text) {
            self.line(start, line);
        }
        let (read, passed_over) = (std::mem::take(&mut self.read), std::mem::take(&mut self.passed_over));
        let (mut read, mut passed_over) = (read.list(), passed_over.list());
        // Speed and packet size alone give rules nothing to judge.
        let idle = self.interfaces[first..].iter().all(Block::says_nothing_of_queues);
        if idle && read.iter().all(|(name, _)| name == "interface") {
            passed_over.append(&mut read);
        }
        Coverage { read, passed_over, remarks: Vec::new() }
    }

    fn odd(&mut self, kind: OddityKind, at: Spot, (says, fix): (String, &str)) {
        let (subject, fix) = (String::new(), fix.to_owned());
        self.oddities.push(Oddity { kind, at, subject, says, fix });
    }

    /// Reads a line; an unindented line opens a section or is a command of its own.
    fn line(&mut self, start: usize, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = Spot { file: self.file, at: start + line.len() - line.trim_start().len() };
        if words.is_empty() {
            return;
        }
        if words[0].starts_with('!') {
            self.cell = self.cell.or_else(|| detect::cell_of(line));
            return;
        }
        if !line.starts_with([' ', '\t']) {
            (self.queue, self.multicast) = (None, false);
            self.section = self.open(at, &words);
            if self.section != Section::Top {
                return;
            }
        }
        match &self.section {
            Section::Top => self.top(at, &words),
            Section::Interface(_) | Section::Profile(_) => self.in_block(at, &words),
            Section::Memory(name) => {
                let (name, cell) = (name.clone(), self.cell.unwrap_or(detect::CELL));
                let outcome = self.memories.entry(name).or_default().line(at, &words, cell);
                self.note(at, (&words, 2), outcome);
            }
            Section::Other => {}
        }
    }

    /// Records a line below a section that is unknown, by the first few of its words, or wrong.
    fn note(&mut self, at: Spot, (words, few): (&[&str], usize), outcome: Outcome) {
        match outcome {
            Ok(true) => {}
            Ok(false) => {
                let name = words[..words.len().min(few)].join(" ");
                self.passed_over.count(&name.chars().take(40).collect::<String>());
            }
            Err((kind, says, fix)) => self.odd(kind, at, (says, fix)),
        }
    }

    /// The section opened by an unindented line.
    fn open(&mut self, at: Spot, words: &[&str]) -> Section {
        let (read, section) = match words {
            ["interface", name] if name.starts_with("Eth") || name.starts_with("Po") => {
                self.interfaces.push(Block::new(name));
                ("interface", Section::Interface(self.interfaces.len() - 1))
            }
            ["qos", "profile", name] => {
                self.profiles.insert((*name).to_owned(), Block::new(name));
                ("qos profile", Section::Profile((*name).to_owned()))
            }
            ["platform", "trident", "mmu", "queue", "profile", name, "apply"] => {
                self.applied = Some(Placed { value: (*name).to_owned(), at });
                ("mmu queue profile", Section::Other)
            }
            ["platform", "trident", "mmu", "queue", "profile", name] => {
                self.memories.insert((*name).to_owned(), Memory { at, ..Memory::default() });
                ("mmu queue profile", Section::Memory((*name).to_owned()))
            }
            ["qos" | "hostname" | "priority-flow-control", ..] => return Section::Top,
            _ => {
                // Two words indicate a command, not a name.
                let plain = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
                let head: Vec<&str> = words.iter().take(2).take_while(plain).copied().collect();
                let head = if head.is_empty() { words[0].chars().take(40).collect() } else { head.join(" ") };
                self.passed_over.count(&head);
                return Section::Other;
            }
        };
        self.read.count(read);
        section
    }

    fn top(&mut self, at: Spot, words: &[&str]) {
        match words {
            ["hostname", name] => self.name = Some((*name).to_owned()),
            ["qos", "map", from, rest @ ..] if self.map(at, from, rest) => self.read.count("qos map"),
            ["priority-flow-control", "pause", "watchdog", rest @ ..] => {
                self.read.count("priority-flow-control");
                self.watchdog_line(at, rest);
            }
            ["priority-flow-control", "all", "off"] => {
                self.read.count("priority-flow-control");
                self.pauses_off = true;
            }
            ["qos", "random-detect", "ecn", "allow", "non-ect", ..] => {
                self.read.count("qos random-detect");
                self.allows_non_ect = true;
            }
            _ => self.passed_over.count(&words[..words.len().min(2)].join(" ")),
        }
    }

    /// `qos map dscp 0 1 2 to traffic-class 1` and similar lines. Returns false for maps that rewrite fields of
    /// packets, which are not read.
    fn map(&mut self, at: Spot, from: &str, rest: &[&str]) -> bool {
        let Some(to) = rest.iter().position(|word| *word == "to") else { return false };
        let (numbers, target) = (&rest[..to], &rest[to + 1..]);
        let ([target, value] | [target, value, "drop-precedence", _]) = target else { return false };
        let kind = match (from, *target) {
            ("dscp", "traffic-class") => Some(MapKind::Dscp),
            ("traffic-class", "priority-group") => Some(MapKind::Group),
            ("traffic-class", "tx-queue" | "uc-tx-queue") => Some(MapKind::Queue),
            ("cos", "traffic-class") => None,
            _ => return false,
        };
        let values: Option<Vec<Vec<u8>>> = numbers.iter().map(|number| super::range(number)).collect();
        let value = value.parse::<u8>().ok().filter(|value| *value < 8);
        let (Some(values), Some(value)) = (values.map(|all| all.concat()), value) else {
            let says = format!("`qos map {from} {}` has an invalid number", rest.join(" "));
            let fix = "write code points from 0 to 63 and classes from 0 to 7";
            self.odd(OddityKind::Value, at, (says, fix));
            return true;
        };
        match kind {
            Some(kind) => {
                let map = self.maps.entry(kind).or_default();
                map.extend(values.into_iter().map(|from| (from, Placed { value, at })));
            }
            None => self.cos.extend(values.into_iter().map(|cos| (cos, value))),
        }
        true
    }

    /// The watchdog of all ports: enabled by any line, disabled by a time-out of 0.
    fn watchdog_line(&mut self, at: Spot, rest: &[&str]) {
        let (_, mut detection, mut restoration) = self.watchdog.unwrap_or((at, None, None));
        match rest {
            ["default", "timeout", "0"] => return self.watchdog = None,
            ["default", "timeout", seconds] => detection = block::seconds(seconds).or(detection),
            ["default", "recovery-time", seconds, ..] => {
                restoration = block::seconds(seconds).or(restoration)
            }
            _ => {}
        }
        self.watchdog = Some((at, detection, restoration));
    }

    fn block(&mut self) -> Option<&mut Block> {
        match &self.section {
            Section::Interface(number) => self.interfaces.get_mut(*number),
            Section::Profile(name) => self.profiles.get_mut(name),
            _ => None,
        }
    }

    fn in_block(&mut self, at: Spot, words: &[&str]) {
        match words {
            ["tx-queue" | "uc-tx-queue", number] => {
                self.queue = number.parse().ok().filter(|number: &u8| *number < 8);
                self.multicast = false;
            }
            ["mc-tx-queue", _] => {
                (self.queue, self.multicast) = (None, true);
                self.passed_over.count("mc-tx-queue");
            }
            ["random-detect", kind @ ("ecn" | "drop"), rest @ ..] => {
                self.random_detect(at, *kind == "ecn", rest)
            }
            ["random-detect", kind, ..] if nearest(kind, ["ecn", "drop"]).is_none() => {
                self.passed_over.count("random-detect");
            }
            _ => {
                let outcome = self.block().map_or(Ok(true), |block| block.line(at, words));
                let few = if words[0] == "no" { 2 } else { 1 };
                self.note(at, (words, few), outcome);
            }
        }
    }

    /// `random-detect ecn minimum-threshold 128 kbytes maximum-threshold 1280 kbytes max-mark-probability 100`.
    fn random_detect(&mut self, at: Spot, ecn: bool, words: &[&str]) {
        let higher_precedence = words.first() == Some(&"drop-precedence") && words.get(1) != Some(&"0");
        if words == ["count"] || higher_precedence || self.multicast {
            return self.passed_over.count("random-detect");
        }
        let of = self.block().map_or(String::new(), |block| block.name.clone());
        let Some(detect) = self.queue.and_then(|queue| Detect::read((at, queue), (ecn, &of), words)) else {
            let kind = if ecn { "ecn" } else { "drop" };
            let says = format!("`random-detect {kind} {}` cannot be read", words.join(" "));
            let fix = "write minimum-threshold and maximum-threshold, each with bytes, kbytes, mbytes, segments, microseconds or \
                        milliseconds, and a probability from 0 to 100, below a tx-queue";
            return self.odd(OddityKind::Value, at, (says, fix));
        };
        let queue = detect.queue;
        let next = self.detects.len();
        let number =
            *self.known.entry(detect.key(matches!(self.section, Section::Profile(_)))).or_insert(next);
        if number == next {
            self.detects.push(detect);
        }
        let marks = |number: &usize| self.detects[*number].ecn;
        let before = match &self.section {
            Section::Interface(block) => self.interfaces[*block].markings.get(&queue).copied(),
            Section::Profile(name) => self.profiles[name].markings.get(&queue).copied(),
            _ => None,
        };
        // A queue that marks and drops counts as marking.
        if ecn || !before.as_ref().is_some_and(marks) {
            self.block().map(|block| block.markings.insert(queue, number));
        }
    }
}

/// The error message for an unknown profile.
fn unknown(what: &str, name: &str, known: impl Iterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = known.map(|name| name.as_ref().to_owned()).collect();
    format!("there is no {what} `{name}`{}", did_you_mean(name, names.iter().map(String::as_str)))
}

impl Reader {
    /// Builds the switch, and lists what is not checked.
    fn finish(
        mut self,
        (file, file_name): (usize, &str),
        memory: Option<Bytes>,
    ) -> (SwitchConfig, Vec<Oddity>, Vec<String>) {
        self.file = file;
        let mut switch = SwitchConfig {
            at: Spot { file, at: 0 },
            name: self.name.take().unwrap_or_else(|| file_name.to_owned()),
            knows_watchdog: true,
            ..SwitchConfig::default()
        };
        let mut remarks = detect::remarks(&self);
        remarks.extend(finish::ports(&mut self, &mut switch));
        finish::memory(&mut self, &mut switch, memory);
        (switch, self.oddities, remarks)
    }
}
