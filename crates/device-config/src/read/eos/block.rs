//! Lines below an interface, a QoS profile or a profile of packet memory.

use crate::model::Threshold;
use std::collections::BTreeMap;
use weft_config::place::{Placed, Spot};
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

/// A mistake, and how to fix it.
type Odd = (String, &'static str);

impl Block {
    pub(super) fn new(name: &str) -> Block {
        Block { name: name.to_owned(), ..Block::default() }
    }

    /// Reads a line.
    pub(super) fn line(&mut self, at: Spot, words: &[&str]) -> Option<Odd> {
        match words {
            ["speed", .., word] => self.speed = speed(word).or(self.speed),
            ["mtu", bytes] => match bytes.parse().ok().filter(|mtu| (68..=65_535).contains(mtu)) {
                Some(mtu) => self.mtu = Some(Bytes(mtu)),
                None => return Some((format!("`mtu {bytes}`"), "write a whole number from 68 to 65535")),
            },
            ["shutdown"] => self.shut = true,
            ["no", "shutdown"] => self.shut = false,
            ["priority-flow-control", "on"] | ["priority-flow-control", "mode", "on"] => self.pfc = true,
            ["priority-flow-control", "priority", number, "no-drop"] => {
                match number.parse().ok().filter(|n: &u8| *n < 8) {
                    Some(value) => {
                        self.no_drop.retain(|known| known.value != value);
                        self.no_drop.push(Placed { value, at });
                    }
                    None => {
                        return Some((
                            format!("`priority-flow-control priority {number}`"),
                            "write a priority from 0 to 7",
                        ));
                    }
                }
            }
            ["priority-flow-control", "pause", "watchdog", ..] => self.watchdog = Some(at),
            ["service-profile", name] => self.profile = Some(Placed { value: (*name).to_owned(), at }),
            _ => {}
        }
        None
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

/// `100g-4`, `25g`, `100gfull`: gigabits.
fn speed(word: &str) -> Option<Rate> {
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    let rest = &word[digits.len()..];
    let gigabits: u64 = digits.parse().ok().filter(|gigabits| (1..=10_000).contains(gigabits))?;
    (rest.starts_with('g') || rest.starts_with('G')).then(|| Rate::from_gbps(gigabits))
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
    pub(super) reserved: Bytes,
    /// Threshold of all priority groups.
    pub(super) ingress: Option<Placed<Threshold>>,
    pub(super) groups: BTreeMap<u8, Placed<Threshold>>,
    pub(super) queues: BTreeMap<u8, Placed<Threshold>>,
}

impl Memory {
    /// Reads a line; `cell` is the size of a cell.
    pub(super) fn line(&mut self, at: Spot, words: &[&str], cell: Bytes) -> Option<Odd> {
        let known = match words {
            ["ingress", "headroom", rest @ ..] => {
                amount(rest, cell).map(|value| self.headroom = Some(Placed { value, at }))
            }
            ["ingress", "reserved", rest @ ..] => amount(rest, cell).map(|value| self.reserved = value),
            ["ingress", "threshold", alpha] => {
                threshold(alpha).map(|value| self.ingress = Some(Placed { value, at }))
            }
            ["ingress", "priority-group", number, "threshold", alpha] => {
                placed(number, alpha, at).map(|(number, value)| {
                    self.groups.insert(number, value);
                })
            }
            ["egress", "unicast", "queue", number, "threshold", alpha] => {
                placed(number, alpha, at).map(|(number, value)| {
                    self.queues.insert(number, value);
                })
            }
            _ => Some(()),
        };
        if known.is_some() {
            return None;
        }
        let fix = "write a share such as 1/4 or 8, or a size such as `bytes 40960` or `cells 200`";
        Some((format!("`{}` cannot be read", words.join(" ")), fix))
    }
}

fn placed(number: &str, alpha: &str, at: Spot) -> Option<(u8, Placed<Threshold>)> {
    let number = number.parse().ok().filter(|number: &u8| *number < 8)?;
    Some((number, Placed { value: threshold(alpha)?, at }))
}

/// Alpha, as `1/4` or `8`.
fn threshold(word: &str) -> Option<Threshold> {
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
