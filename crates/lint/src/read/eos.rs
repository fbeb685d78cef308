//! Lines of Arista EOS that speak of queues, marking, priority flow control and packet memory; others are passed over.
//!
//! Facts of this format: priorities are CoS values; CoS 0 is traffic class 1 and CoS 1 class 0 unless mapped, and eight
//! code points each are one class in the same way. A segment and a cell count as 208 bytes, a kbyte as 1000: so
//! large are the cells of Trident 2, Tomahawk and Tomahawk 2 (Juniper on its QFX switches with these chips); those of Trident 3 have 256,
//! and the file does not tell the chip.

use crate::model::{MapKind, Marking, Network, Oddity, OddityKind, Switch};
use crate::place::{Placed, Source, Spot, lines};
use block::{Block, Memory};
use std::collections::BTreeMap;
use weft_core::units::did_you_mean;
use weft_core::{Bytes, Rate, Span};

mod block;
mod finish;

/// Bytes of a segment or cell.
const CELL: u64 = 208;

/// Reads a file as one switch.
pub(super) fn read(number: usize, source: &Source, network: &mut Network) -> Result<(), String> {
    if let Some(at) = source.text.find('\0') {
        let (line, column) = crate::place::line_column(&source.text, at);
        return Err(format!("{}:{line}:{column}: found a NUL byte; allowed: text", source.name));
    }
    let mut reader = Reader::new(number, network.site.rate);
    for (start, line) in lines(&source.text) {
        reader.line(start, line);
    }
    let (switch, oddities) = reader.finish(&source.name, network.site.memory);
    network.oddities.extend(oddities);
    network.switches.push(switch);
    Ok(())
}

/// The part of the file a line belongs to.
#[derive(Clone, PartialEq)]
enum Section {
    Top,
    Interface(usize),
    Profile(String),
    Memory(String),
    /// Something that is none of our business.
    Other,
}

struct Reader {
    file: usize,
    rate: Option<Rate>,
    section: Section,
    /// The queue whose lines follow.
    queue: Option<u8>,
    name: Option<String>,
    interfaces: Vec<Block>,
    profiles: BTreeMap<String, Block>,
    memories: BTreeMap<String, Memory>,
    applied: Option<Placed<String>>,
    watchdog: Option<(Spot, Option<Span>, Option<Span>)>,
    maps: BTreeMap<MapKind, BTreeMap<u8, Placed<u8>>>,
    cos: BTreeMap<u8, u8>,
    markings: Vec<Marking>,
    oddities: Vec<Oddity>,
}

impl Reader {
    fn new(file: usize, rate: Option<Rate>) -> Reader {
        Reader {
            file,
            rate,
            section: Section::Top,
            queue: None,
            name: None,
            interfaces: Vec::new(),
            profiles: BTreeMap::new(),
            memories: BTreeMap::new(),
            applied: None,
            watchdog: None,
            maps: BTreeMap::new(),
            cos: BTreeMap::new(),
            markings: Vec::new(),
            oddities: Vec::new(),
        }
    }

    fn odd(&mut self, kind: OddityKind, at: Spot, (says, mend): (String, &str)) {
        self.oddities.push(Oddity { kind, at, says, mend: mend.to_owned() });
    }

    /// A line; what begins at its margin opens a section or stands alone.
    fn line(&mut self, start: usize, line: &str) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = Spot { file: self.file, at: start + line.len() - line.trim_start().len() };
        if words.is_empty() || words[0].starts_with('!') {
            return;
        }
        if !line.starts_with([' ', '\t']) {
            self.queue = None;
            self.section = self.open(at, &words);
        }
        match &self.section {
            Section::Top => self.top(at, &words),
            Section::Interface(_) | Section::Profile(_) => self.in_block(at, &words),
            Section::Memory(name) => {
                let name = name.clone();
                let odd = self.memories.entry(name).or_default().line(at, &words);
                if let Some(words) = odd {
                    self.odd(OddityKind::Value, at, words);
                }
            }
            Section::Other => {}
        }
    }

    /// The section that a line at the margin opens.
    fn open(&mut self, at: Spot, words: &[&str]) -> Section {
        match words {
            ["interface", name] if name.starts_with("Eth") || name.starts_with("Po") => {
                self.interfaces.push(Block::new(name));
                Section::Interface(self.interfaces.len() - 1)
            }
            ["interface", ..] => Section::Other,
            ["qos", "profile", name] => {
                self.profiles.insert((*name).to_owned(), Block::new(name));
                Section::Profile((*name).to_owned())
            }
            ["platform", "trident", "mmu", "queue", "profile", name, "apply"] => {
                self.applied = Some(Placed { value: (*name).to_owned(), at });
                Section::Top
            }
            ["platform", "trident", "mmu", "queue", "profile", name] => {
                self.memories.insert((*name).to_owned(), Memory { at, ..Memory::default() });
                Section::Memory((*name).to_owned())
            }
            ["qos" | "hostname" | "priority-flow-control", ..] => Section::Top,
            _ => Section::Other,
        }
    }

    fn top(&mut self, at: Spot, words: &[&str]) {
        match words {
            ["hostname", name] => self.name = Some((*name).to_owned()),
            ["qos", "map", from, rest @ ..] => self.map(at, from, rest),
            ["priority-flow-control", "pause", "watchdog", rest @ ..] => self.watchdog_line(at, rest),
            _ => {}
        }
    }

    /// `qos map dscp 0 1 2 to traffic-class 1` and its relatives.
    fn map(&mut self, at: Spot, from: &str, rest: &[&str]) {
        let Some(to) = rest.iter().position(|word| *word == "to") else { return };
        let (numbers, target) = (&rest[..to], &rest[to + 1..]);
        let [target, value] = target else { return };
        let values: Option<Vec<u8>> = numbers
            .iter()
            .map(|number| super::range(number))
            .collect::<Option<Vec<_>>>()
            .map(|all| all.concat());
        let (Some(values), Some(value)) = (values, value.parse::<u8>().ok().filter(|value| *value < 8))
        else {
            let says = format!("`qos map {from} {}` has a number that is none", rest.join(" "));
            return self.odd(
                OddityKind::Value,
                at,
                (says, "write code points from 0 to 63 and classes from 0 to 7"),
            );
        };
        let kind = match (from, *target) {
            ("dscp", "traffic-class") => MapKind::Dscp,
            ("traffic-class", "priority-group") => MapKind::Group,
            ("traffic-class", "tx-queue" | "uc-tx-queue") => MapKind::Queue,
            ("cos", "traffic-class") => return self.cos.extend(values.into_iter().map(|cos| (cos, value))),
            _ => return,
        };
        self.maps
            .entry(kind)
            .or_default()
            .extend(values.into_iter().map(|from| (from, Placed { value, at })));
    }

    /// The watchdog of all ports: on by any line, off by a time-out of 0.
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
        if let ["tx-queue" | "uc-tx-queue", number] = words {
            self.queue = number.parse().ok().filter(|number: &u8| *number < 8);
            return;
        }
        if let ["random-detect", kind @ ("ecn" | "drop"), rest @ ..] = words {
            return self.random_detect(at, *kind == "ecn", rest);
        }
        let odd = self.block().and_then(|block| block.line(at, words));
        if let Some(words) = odd {
            self.odd(OddityKind::Value, at, words);
        }
    }

    /// `random-detect ecn minimum-threshold 128 kbytes maximum-threshold 1280 kbytes max-mark-probability 100`.
    fn random_detect(&mut self, at: Spot, ecn: bool, words: &[&str]) {
        let (min, max) =
            (self.threshold(words, "minimum-threshold"), self.threshold(words, "maximum-threshold"));
        if words == ["count"] {
            return;
        }
        let (Some(queue), Some(min), Some(max)) = (self.queue, min, max) else {
            let says = format!("`random-detect {}` cannot be read", words.join(" "));
            let mend = "write minimum-threshold and maximum-threshold with bytes, kbytes, mbytes or segments below a tx-queue; times need the port's speed";
            return self.odd(OddityKind::Value, at, (says, mend));
        };
        let percent = after(words, "max-mark-probability").or(after(words, "drop-probability"));
        let percent: f64 = percent.and_then(|percent| percent.parse().ok()).unwrap_or(100.0);
        let number = self.marking((at, queue), ecn, (min, max, percent.clamp(0.0, 100.0) / 100.0));
        if let Some(block) = self.block() {
            block.markings.insert(queue, number);
        }
    }

    /// The number of a marking with these figures; the same line below many interfaces is one marking.
    fn marking(
        &mut self,
        (at, queue): (Spot, u8),
        ecn: bool,
        (min, max, probability): (Bytes, Bytes, f64),
    ) -> usize {
        let name = format!("tx-queue {queue}");
        let same = |known: &Marking| {
            (known.ecn, known.min.value, known.max.value) == (ecn, min, max)
                && known.probability.value == probability
                && known.name == name
        };
        if let Some(number) = self.markings.iter().position(same) {
            return number;
        }
        let place = |value| Placed { value, at };
        let probability = Placed { value: probability, at };
        self.markings.push(Marking {
            at,
            name,
            ecn,
            disabled: None,
            min: place(min),
            max: place(max),
            probability,
            drops_non_ect: true,
            at_enqueue: false,
        });
        self.markings.len() - 1
    }

    /// A threshold in bytes: number and unit after a word.
    fn threshold(&mut self, words: &[&str], name: &str) -> Option<Bytes> {
        let place = words.iter().position(|word| *word == name)?;
        let number: u64 = words.get(place + 1)?.parse().ok().filter(|number| *number <= 1_000_000_000)?;
        let rate = self.rate;
        let rate = self.block().and_then(|block| block.speed).or(rate);
        let during = |span: Span| rate.map(|rate| rate.bytes_in(span));
        match *words.get(place + 2)? {
            "bytes" => Some(Bytes(number)),
            "kbytes" => Some(Bytes(number * 1_000)),
            "mbytes" => Some(Bytes(number * 1_000_000)),
            "segments" => Some(Bytes(number * CELL)),
            "milliseconds" => during(Span::from_us(number.min(1_000_000) * 1_000)),
            "microseconds" => during(Span::from_us(number)),
            _ => None,
        }
    }
}

/// The word after a word.
fn after<'a>(words: &[&'a str], name: &str) -> Option<&'a str> {
    let place = words.iter().position(|word| *word == name)?;
    words.get(place + 1).copied()
}

/// A profile by name, or what to say if there is none.
fn unknown(what: &str, name: &str, known: impl Iterator<Item = impl AsRef<str>>) -> String {
    let names: Vec<String> = known.map(|name| name.as_ref().to_owned()).collect();
    format!("there is no {what} `{name}`{}", did_you_mean(name, names.iter().map(String::as_str)))
}

impl Reader {
    /// What the lines amount to.
    fn finish(mut self, file_name: &str, memory: Option<Bytes>) -> (Switch, Vec<Oddity>) {
        let mut switch = Switch {
            at: Spot { file: self.file, at: 0 },
            name: self.name.take().unwrap_or_else(|| file_name.to_owned()),
            markings: std::mem::take(&mut self.markings),
            knows_watchdog: true,
            ..Switch::default()
        };
        finish::ports(&mut self, &mut switch);
        finish::memory(&mut self, &mut switch, memory);
        (switch, self.oddities)
    }
}
