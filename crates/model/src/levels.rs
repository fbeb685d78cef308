//! The levels at which a scenario configures its switches: `[switch]` for all, `[switch.leaf]` for a tier,
//! `[switch.named.NAME]` for names. Applied in this order they give every switch its settings.
//!
//! The rules decide which values a level may give.

use weft_core::settings::{Named, Override, Setting as _, Value};
use weft_core::{Bytes, SwitchId, settings};
use weft_switch::mark::MarkerSettings;
use weft_switch::schedule::SchedulerSettings;
use weft_switch::{BalancerSettings, ColorSettings, ShaperSettings, SwitchSettings};
use weft_topology::{Graph, Link};

settings! {
    /// Overrides for some switches: any setting of `[switch]`, and their balancer.
    pub struct DeviceSettings {
        /// As in `[switch]`.
        switch: SwitchSettings [flatten],
        /// How these switches choose among equal-cost ports.
        balance: BalancerSettings = BalancerSettings::default(),
    }
}

settings! {
    /// Overrides for some switch ports. Of two entries for one port the later wins.
    pub struct PortSection {
        /// The switches: names as in `[switch.named]`, `"leaf*"`.
        at: String = String::from("*"),
        /// The nodes at the far ends of the ports' cables: `"host*"`, `"spine0,spine1"`.
        to: String = String::from("*"),
        /// Congestion marks of these ports; settings not given are their switch's.
        ecn: Override<MarkerSettings> = Override::default(),
        /// The scheduler of these ports: which queue is served next.
        schedule: Override<SchedulerSettings> = Override::default(),
        /// Early drops of red packets at these ports; settings not given are their switch's.
        color: Override<ColorSettings> = Override::default(),
        /// Maximum length of each queue of these ports, whatever the sharing rule allows. Lossless classes have no
        /// limit.
        queue_limit: Option<Bytes> = None,
        /// Shaper of the sending rate of these ports, below their cables' rate; off unless given.
        shaper: Option<ShaperSettings> = None,
    }
}

settings! {
    /// Settings of every switch of the fabric.
    pub struct SwitchSection {
        /// Every switch without overrides.
        every: SwitchSettings [flatten],
        /// Overrides for the leaves: the tier of switches with hosts in leaf-spine and in topologies without tier
        /// names.
        leaf: Override<DeviceSettings> = Override::default(),
        /// Overrides for the spines.
        spine: Override<DeviceSettings> = Override::default(),
        /// Overrides for the edge switches of a fat tree.
        edge: Override<DeviceSettings> = Override::default(),
        /// Overrides for the aggregation switches of a fat tree or VL2.
        aggregation: Override<DeviceSettings> = Override::default(),
        /// Overrides for the core switches.
        core: Override<DeviceSettings> = Override::default(),
        /// Overrides for the top-of-rack switches of VL2 or pods and planes.
        tor: Override<DeviceSettings> = Override::default(),
        /// Overrides for the fabric switches of pods and planes.
        fabric: Override<DeviceSettings> = Override::default(),
        /// Overrides for the intermediate switches of VL2.
        intermediate: Override<DeviceSettings> = Override::default(),
        /// Overrides for switches by name: `[switch.named.leaf0]`, or several with `"leaf0,leaf3"` and `"spine*"`. Of
        /// two entries for one switch the later wins.
        named: Named<Override<DeviceSettings>> = Named::default(),
        /// Overrides for single ports.
        port: Override<Vec<PortSection>> = Override::default(),
    }
}

/// One level above `[switch]`.
pub struct Level {
    /// `switch.leaf`
    pub path: String,
    /// The settings it overrides.
    pub says: Override<DeviceSettings>,
    /// For ports: the limit of each of their queues.
    pub queue_limit: Option<Bytes>,
    /// For ports: their shaper.
    pub shaper: Option<ShaperSettings>,
    /// Its switches.
    of: Members,
}

enum Members {
    Tier(&'static str),
    Named(String),
    Ports { at: String, to: String },
}

impl Level {
    /// Whether it applies to ports instead of switches.
    pub fn is_of_ports(&self) -> bool {
        matches!(self.of, Members::Ports { .. })
    }

    /// Whether it sets nothing for its ports.
    pub fn says_nothing(&self) -> bool {
        let empty = Value::Table(vec![("switch", Value::Table(Vec::new()))]);
        self.queue_limit.is_none() && self.shaper.is_none() && *self.says.value() == empty
    }

    /// Whether it applies to a switch as a whole.
    pub(crate) fn covers(&self, graph: &Graph, switch: SwitchId) -> bool {
        let node = &graph.switches()[switch.index()];
        match &self.of {
            Members::Tier(role) => node.role() == *role,
            Members::Named(pattern) => is_named(pattern, &node.name),
            Members::Ports { .. } => false,
        }
    }

    /// Whether it applies to the port of a link.
    pub fn covers_port(&self, graph: &Graph, link: &Link) -> bool {
        match &self.of {
            Members::Ports { at, to } => {
                is_named(at, &graph.name(link.from)) && is_named(to, &graph.name(link.to))
            }
            _ => false,
        }
    }

    /// The names that exist in the network, for messages about a name that does not.
    pub fn candidates(&self, graph: &Graph) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for node in graph.switches() {
            let name = match &self.of {
                Members::Tier(_) => node.role(),
                Members::Named(_) | Members::Ports { .. } => &node.name,
            };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// The name it was given in the file.
    pub fn name(&self) -> &str {
        match &self.of {
            Members::Tier(role) => role,
            Members::Named(pattern) => pattern,
            Members::Ports { at, .. } => at,
        }
    }
}

/// The path in a level that corresponds to a path of `[switch]` or `[balance]`.
pub fn at_level(level: &str, path: &str) -> Option<String> {
    let rest = match path.strip_prefix("switch") {
        Some(rest) => rest.to_owned(),
        None if path == "balance" || path.starts_with("balance.") => format!(".{path}"),
        None => return None,
    };
    (rest.is_empty() || rest.starts_with('.')).then(|| format!("{level}{rest}"))
}

/// Whether a path of a `[[switch.port]]` entry is not a setting of switches.
pub fn is_of_ports_alone(path: &str) -> bool {
    ["at", "to", "queue_limit", "shaper"].contains(&path.split('.').next().unwrap_or_default())
}

/// The path of `[switch]` or `[balance]` for a path of a level.
pub fn generic(path: &str) -> String {
    let of_balance = path == "balance" || path.starts_with("balance.");
    if of_balance { path.to_owned() } else { format!("switch.{path}") }
}

/// Whether a name matches a pattern: names separated by commas, in which `*` matches any letters.
pub fn is_named(pattern: &str, name: &str) -> bool {
    pattern.split(',').map(str::trim).any(|one| matches_range(one, name) || matches_glob(one, name))
}

/// Whether a name is in an inclusive range such as `host0..15`.
fn matches_range(pattern: &str, name: &str) -> bool {
    let Some((first, last)) = pattern.split_once("..") else { return false };
    let letters = first.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = |text: &str| text.parse::<u64>().ok();
    let limits = number(&first[letters.len()..]).zip(number(last));
    let own =
        name.strip_prefix(letters).filter(|rest| !rest.starts_with('0') || rest.len() == 1).and_then(number);
    limits.zip(own).is_some_and(|((first, last), own)| (first..=last).contains(&own))
}

fn matches_glob(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(left) = name.strip_prefix(head) else { return false };
    (0..=left.len()).filter_map(|at| left.get(at..)).any(|left| matches_glob(rest, left))
}

impl SwitchSection {
    /// The levels that set anything, highest precedence last.
    pub fn levels(&self) -> Vec<Level> {
        let tiers = [
            ("leaf", &self.leaf),
            ("spine", &self.spine),
            ("edge", &self.edge),
            ("aggregation", &self.aggregation),
            ("core", &self.core),
            ("tor", &self.tor),
            ("fabric", &self.fabric),
            ("intermediate", &self.intermediate),
        ];
        let level = |path: String, says: &Override<DeviceSettings>, of| Level {
            path,
            says: says.clone(),
            queue_limit: None,
            shaper: None,
            of,
        };
        let tier = |(name, says)| level(format!("switch.{name}"), says, Members::Tier(name));
        let named = |(name, says): &(String, _)| {
            level(format!("switch.named.{name}"), says, Members::Named(name.clone()))
        };
        let mut levels: Vec<Level> =
            tiers.into_iter().map(tier).chain(self.named.0.iter().map(named)).collect();
        levels.retain(|level| !level.says.is_empty());
        let entries = self.port.over(&Vec::new());
        levels.extend(entries.iter().enumerate().map(|(number, entry)| entry.level(number)));
        levels
    }
}

impl PortSection {
    /// An entry as a level of switches; it can override only some of their settings.
    fn level(&self, number: usize) -> Level {
        let said =
            [("ecn", self.ecn.value()), ("schedule", self.schedule.value()), ("color", self.color.value())];
        let said = said.into_iter().filter(|(_, value)| **value != Value::Absent);
        let switch = Value::Table(said.map(|(name, value)| (name, value.clone())).collect());
        Level {
            path: format!("switch.port[{number}]"),
            says: Override::from_value(&Value::Table(vec![("switch", switch)])),
            queue_limit: self.queue_limit,
            shaper: self.shaper.clone(),
            of: Members::Ports { at: self.at.clone(), to: self.to.clone() },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_switches() {
        for (pattern, name, expected) in [
            ("leaf0", "leaf0", true),
            ("leaf0", "leaf01", false),
            ("leaf*", "leaf01", true),
            ("*", "x", true),
            ("leaf*1", "leaf21", true),
            ("leaf*1", "leaf12", false),
            ("leaf0, spine*", "spine3", true),
            ("", "leaf0", false),
            ("leaf2..11", "leaf11", true),
            ("leaf2..11", "leaf12", false),
            ("leaf2..11", "spine3", false),
        ] {
            assert_eq!(is_named(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn an_override_of_the_same_value_is_the_same_value() {
        let all = DeviceSettings::default();
        assert_eq!(Override::<DeviceSettings>::from_value(&all.to_value()).over(&all), all);
    }
}
