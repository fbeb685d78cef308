//! Lines below an interface, a QoS profile or a profile of packet memory.

use crate::model::Threshold;
use crate::told::OddityKind;
use std::collections::BTreeMap;
use weft_config::place::{Placed, Spot};
use weft_core::units::nearest;
use weft_core::{Bytes, Rate, Span};

/// Lines below an interface or a QoS profile.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) name: String,
    pub(super) speed: Option<Rate>,
    pub(super) mtu: Option<Bytes>,
    pub(super) shut: bool,
    pub(super) pfc: bool,
    pub(super) no_drop: Vec<Placed<u8>>,
    pub(super) watchdog: Option<Spot>,
    /// Marking by queue.
    pub(super) markings: BTreeMap<u8, usize>,
    /// The QoS profile applied to an interface.
    pub(super) profile: Option<Placed<String>>,
}

/// First words of the lines that are read.
const HEADS: [&str; 8] = [
    "mtu",
    "priority-flow-control",
    "random-detect",
    "service-profile",
    "shutdown",
    "speed",
    "tx-queue",
    "uc-tx-queue",
];

/// A mistake, and how to fix it.
pub(super) type Odd = (OddityKind, String, &'static str);

/// Whether a line is known, or what is wrong with it.
pub(super) type Outcome = Result<bool, Odd>;

/// A line of which some word is not as it has to be.
fn unreadable(words: &[&str], fix: &'static str) -> Odd {
    (OddityKind::Value, format!("`{}` cannot be read", words.join(" ")), fix)
}

/// A line with a word that is none of those `expected` in its place: unknown, or misspelt if it resembles one.
fn unexpected(words: &[&str], word: &str, expected: &[&str]) -> Outcome {
    match nearest(word, expected.iter().copied()) {
        Some(near) if near != word => {
            let says = format!("`{}` cannot be read; did you mean `{near}`?", words.join(" "));
            Err((OddityKind::Value, says, "correct the word"))
        }
        _ => Ok(false),
    }
}

impl Block {
    pub(super) fn new(name: &str) -> Block {
        Block { name: name.to_owned(), ..Block::default() }
    }

    /// Reads a line.
    pub(super) fn line(&mut self, at: Spot, words: &[&str]) -> Outcome {
        match words {
            ["speed", rest @ ..] => self.speed = speed(words, rest)?.or(self.speed),
            ["mtu", rest @ ..] => self.mtu = Some(mtu(words, rest)?),
            ["shutdown"] => self.shut = true,
            ["no", "shutdown"] => self.shut = false,
            ["priority-flow-control", rest @ ..] => self.pauses(at, words, rest)?,
            ["service-profile", name] => self.profile = Some(Placed { value: (*name).to_owned(), at }),
            ["service-policy", ..] => return Ok(false),
            [head, ..] if HEADS.contains(head) => {
                return Err(unreadable(words, "write it as `show running-config` does"));
            }
            [head, ..] => return unexpected(words, head, &HEADS),
            [] => {}
        }
        Ok(true)
    }

    /// Lines `priority-flow-control`.
    fn pauses(&mut self, at: Spot, words: &[&str], rest: &[&str]) -> Result<(), Odd> {
        match rest {
            ["on"] | ["mode", "on"] => self.pfc = true,
            ["off"] | ["mode", "off"] => self.pfc = false,
            ["priority", number, what @ ("no-drop" | "drop")] => {
                let value = number.parse().ok().filter(|number: &u8| *number < 8);
                let value = value.ok_or_else(|| unreadable(words, "write a priority from 0 to 7"))?;
                self.no_drop.retain(|known| known.value != value);
                self.no_drop.extend((*what == "no-drop").then_some(Placed { value, at }));
            }
            ["pause", "watchdog", ..] => self.watchdog = Some(at),
            _ => {
                let fix = "write `priority-flow-control on`, or a priority such as \
                           `priority-flow-control priority 3 no-drop`";
                return Err(unreadable(words, fix));
            }
        }
        Ok(())
    }

    /// Whether it has neither lossless priorities nor marking, nor a profile that may have them.
    pub(super) fn says_nothing_of_queues(&self) -> bool {
        self.no_drop.is_empty() && self.markings.is_empty() && self.profile.is_none()
    }

    /// Adds the settings of a QoS profile that the interface itself does not give.
    pub(super) fn under(mut self, profile: &Block) -> Block {
        self.pfc |= profile.pfc;
        if self.no_drop.is_empty() {
            self.no_drop.clone_from(&profile.no_drop);
        }
        self.watchdog = self.watchdog.or(profile.watchdog);
        for (queue, marking) in &profile.markings {
            self.markings.entry(*queue).or_insert(*marking);
        }
        self
    }
}

fn mtu(words: &[&str], rest: &[&str]) -> Result<Bytes, Odd> {
    let [bytes] = rest else { return Err(unreadable(words, "write a whole number from 68 to 65535")) };
    let bytes = bytes.parse().ok().filter(|mtu| (68..=65_535).contains(mtu));
    bytes.map(Bytes).ok_or_else(|| unreadable(words, "write a whole number from 68 to 65535"))
}

/// `100g-4`, `25g`, `forced 100gfull`, `10000full`; `None` for a speed that the port negotiates.
fn speed(words: &[&str], rest: &[&str]) -> Result<Option<Rate>, Odd> {
    let word = rest.last().unwrap_or(&"");
    if rest.contains(&"auto") && !word.contains(|c: char| c.is_ascii_digit()) {
        return Ok(None);
    }
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    let number: Option<u64> = digits.parse().ok().filter(|number| (1..=10_000_000).contains(number));
    let unit = word[digits.len()..].to_ascii_lowercase();
    let duplex = unit.trim_start_matches('g');
    let known = matches!(duplex, "" | "full" | "half") || unit.starts_with("g-");
    let rate = match unit.starts_with('g') {
        true => number.filter(|gigabits| *gigabits <= 10_000).map(Rate::from_gbps),
        false => number.filter(|_| !unit.is_empty()).map(Rate::from_mbps),
    };
    let rate = rate.filter(|_| known);
    rate.map(Some).ok_or_else(|| unreadable(words, "write a speed such as `100g-4` or `forced 100gfull`"))
}

/// Seconds with a fraction.
pub(super) fn seconds(word: &str) -> Option<Span> {
    let seconds: f64 = word.parse().ok()?;
    (0.0..=3_600.0).contains(&seconds).then(|| Span::from_seconds_rounded(seconds))
}

/// Lines below `platform trident mmu queue profile`.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) at: Spot,
    pub(super) headroom: Option<Placed<Bytes>>,
    pub(super) reserved: Option<Placed<Bytes>>,
    /// Threshold of all priority groups.
    pub(super) ingress: Option<Placed<Threshold>>,
    pub(super) groups: BTreeMap<u8, Placed<Threshold>>,
    pub(super) queues: BTreeMap<u8, Placed<Threshold>>,
}

impl Memory {
    /// Reads a line; `cell` is the size of a cell.
    pub(super) fn line(&mut self, at: Spot, words: &[&str], cell: Bytes) -> Outcome {
        let fix = "write a share such as 1/4 or 8, or a size such as `bytes 40960` or `cells 200`";
        let odd = || unreadable(words, fix);
        match words {
            ["ingress", "headroom", rest @ ..] => {
                let value = amount(rest, cell).ok_or_else(odd)?;
                first(words, self.headroom.replace(Placed { value, at }), value)
            }
            ["ingress", "reserved", rest @ ..] => {
                let value = amount(rest, cell).ok_or_else(odd)?;
                first(words, self.reserved.replace(Placed { value, at }), value)
            }
            ["ingress", "threshold", rest @ ..] => {
                let value = threshold(rest).ok_or_else(odd)?;
                first(words, self.ingress.replace(Placed { value, at }), value)
            }
            ["ingress", "priority-group", number, "threshold", rest @ ..] => {
                let (number, value) = numbered(number, rest).ok_or_else(odd)?;
                first(words, self.groups.insert(number, Placed { value, at }), value)
            }
            ["egress", "unicast", "queue", number, "threshold", rest @ ..] => {
                let (number, value) = numbered(number, rest).ok_or_else(odd)?;
                first(words, self.queues.insert(number, Placed { value, at }), value)
            }
            _ => other_memory(words),
        }
    }
}

/// A line on packet memory that is not read.
fn other_memory(words: &[&str]) -> Outcome {
    let (word, expected): (&str, &[&str]) = match words {
        ["ingress", "priority-group", _, word, ..] => (word, &["threshold"]),
        ["ingress", word, ..] => (word, &["headroom", "reserved", "threshold", "priority-group"]),
        ["egress", "unicast", "queue", _, word, ..] => (word, &["threshold"]),
        ["egress", "unicast", word, ..] => (word, &["queue"]),
        ["egress", word, ..] => (word, &["unicast", "multicast"]),
        [word, ..] => (word, &["ingress", "egress"]),
        [] => return Ok(true),
    };
    unexpected(words, word, expected)
}

/// A setting is given once, or always alike.
fn first<T: PartialEq>(words: &[&str], earlier: Option<Placed<T>>, now: T) -> Outcome {
    if earlier.is_none_or(|earlier| earlier.value == now) {
        return Ok(true);
    }
    let says = format!("`{}` overrides an earlier line; the last one wins", words.join(" "));
    Err((OddityKind::Repetition, says, "remove one of them"))
}

fn numbered(number: &str, alpha: &[&str]) -> Option<(u8, Threshold)> {
    let number = number.parse().ok().filter(|number: &u8| *number < 8)?;
    Some((number, threshold(alpha)?))
}

/// Alpha, as `1/4` or `8`.
fn threshold(words: &[&str]) -> Option<Threshold> {
    let [word] = words else { return None };
    let (above, below) = word.split_once('/').unwrap_or((word, "1"));
    let (above, below): (u16, u16) = (above.parse().ok()?, below.parse().ok()?);
    (above > 0 && below > 0).then(|| Threshold::Dynamic(f64::from(above) / f64::from(below)))
}

/// `bytes 40960`, `cells 200`, or a bare number of cells.
fn amount(words: &[&str], cell: Bytes) -> Option<Bytes> {
    let (unit, number) = match words {
        ["bytes", number] => (1, number),
        ["cells", number] | [number] => (cell.0, number),
        _ => return None,
    };
    let number: u64 = number.parse().ok().filter(|number| *number <= 1_000_000_000)?;
    Some(Bytes(number * unit))
}
