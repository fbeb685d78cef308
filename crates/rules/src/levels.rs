//! Rules on settings of single tiers and switches: every level applies to some switch and changes something, and
//! neighbours agree where they must.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Facts, Finding, impossible};
use weft_codec::{Row, rows};
use weft_core::HostId;
use weft_core::settings::{Setting as _, Table, Value, over};
use weft_core::units::did_you_mean;
use weft_model::ScenarioSettings;
use weft_model::{CardInUse, EndSettings, TransportInUse, cards, names_somebody};
use weft_model::{Device, DeviceSettings, at_level, generic, is_of_ports_alone};
use weft_switch::{BalancerSettings, PfcSettings};
use weft_topology::Node;
use weft_transport::TransportSettings;
use weft_transport::card::CardSettings;
use weft_transport::roce::settings::QueuePairSettings;
use weft_transport::settings::Tcp;

/// Every level names an existing tier or switch.
pub(crate) fn levels_concern_switches(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for level in facts.settings.switch.levels() {
        if level.is_of_ports() && level.says_nothing() {
            let message = "sets nothing on its ports: give ecn, schedule, color, queue_limit or shaper";
            found.push(exactly(&level.path, message.to_owned(), false));
        }
        if facts.devices.iter().any(|device| device.levels.contains(&level.path)) {
            continue;
        }
        let names = level.candidates(graph);
        let hint = did_you_mean(level.name(), names.iter().map(String::as_str));
        let few = names.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if names.len() > 12 { ", …" } else { "" };
        if level.is_of_ports() {
            let message = "no switch matching `at` has a port to a node matching `to`; both name nodes, `*` matches any letters";
            found.push(exactly(&level.path, message.to_owned(), false));
            continue;
        }
        let of_name = level.path.starts_with("switch.named.");
        let what = if of_name { "switch is called" } else { "switch is in tier" };
        let message = format!("no {what} `{}`{hint}; this topology has: {few}{more}", level.name());
        found.push(exactly(&level.path, message, false));
    }
}

/// Between switches that pause each other, both ends number their queues alike and have the same response time. Of
/// two pausing neighbours, the later in the list is reported.
pub(crate) fn neighbours_pause_each_other_alike(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph.filter(|_| facts.switch.pfc.is_on()) else { return };
    let of = |switch| facts.devices.iter().find(|device| device.switches.contains(&switch));
    let earlier = |other: &Device| other.switches.first() < facts.device.switches.first();
    let links = facts.device.switches.iter().flat_map(|switch| graph.links_of(Node::Switch(*switch)));
    for to in links.filter_map(|link| if let Node::Switch(to) = link.to { Some(to) } else { None }) {
        let Some(far) = of(to).filter(|far| earlier(far) || !far.switch.pfc.is_on()) else { continue };
        let name = graph.name(Node::Switch(to));
        if far.switch.queues != facts.switch.queues {
            let message = format!(
                "a pause frame names a queue, so a switch must have as many queues as its neighbours; \
                 {name} has {}",
                far.switch.queues
            );
            return found.push(impossible("switch.queues", message));
        }
        if far.switch.class_map != facts.switch.class_map {
            let message = format!(
                "a pause frame names a queue, so neighbours map classes to queues alike; {name} has another map"
            );
            return found.push(impossible("switch.class_map", message));
        }
        if far.switch.pfc.response != facts.switch.pfc.response && far.switch.pfc.is_on() {
            let message = format!("headroom assumes one response time on both sides; {name} has another");
            return found.push(impossible("switch.pfc.response", message));
        }
    }
}

/// Deadlock detection covers all switches; a watchdog or a time limit must end the deadlocks that it cannot.
pub(crate) fn pauses_end_as_the_whole_network_says(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let pausing: Vec<&PfcSettings> =
        facts.devices.iter().map(|device| &device.switch.pfc).filter(|pfc| pfc.is_on()).collect();
    let (Some(first), true) = (pausing.first(), facts.switch.pfc.is_on()) else { return };
    if facts.switch.pfc.deadlock_every != first.deadlock_every {
        let message = "deadlock detection covers the whole network: give one value";
        found.push(impossible("switch.pfc.deadlock_every", message));
    }
    let guarded = pausing.iter().filter(|pfc| pfc.watchdog.is_some()).count();
    let here = facts.switch.pfc.watchdog.is_some();
    if here && guarded < pausing.len() && facts.settings.measure.until.is_none() {
        let message =
            "with a watchdog in only some of the pausing switches, a run may never end: give measure.until";
        found.push(impossible("switch.pfc.watchdog", message));
    }
}

/// CONGA's fields and Presto's labels are written by one switch or host and read by another.
pub(crate) fn balancers_that_cooperate_are_everywhere(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let cooperates = |balance: &BalancerSettings| {
        matches!(balance, BalancerSettings::Conga(_) | BalancerSettings::Presto(_))
    };
    let Some(one) = facts.devices.iter().map(|device| &device.balance).find(|own| cooperates(own)) else {
        return;
    };
    if facts.balance != one {
        let message = format!(
            "{} must run on every switch, because switches read what others write into packets; give all switches the same balancer",
            one.name()
        );
        found.push(impossible("balance", message));
    }
}

/// Every setting of a switch level is in force somewhere, and differs from the value there without it.
pub(crate) fn levels_change_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let levels = facts.settings.switch.levels();
    if facts.graph.is_none() || levels.is_empty() {
        return;
    }
    let paths: Vec<&str> = levels.iter().map(|level| level.path.as_str()).collect();
    let place = |path: &str| match level_of(&paths, path) {
        Some((level, rest)) => {
            let selects = level.starts_with("switch.port[") && is_of_ports_alone(rest);
            (!selects).then(|| (Some(level.to_owned()), generic(rest)))
        }
        None if within(path, "balance") || path.starts_with("switch.") => Some((None, path.to_owned())),
        None => None,
    };
    let effective = |device: &Device| {
        let value = |count| value_of(facts.settings, device, count);
        let values = (0..=device.levels.len()).map(value).collect();
        Effective::new(&device.levels, (values, &DeviceSettings::TABLE), generic)
    };
    let devices: Vec<Effective> = facts.devices.iter().map(effective).collect();
    let full = |level: &str, path: &str| at_level(level, path);
    judge((&said(facts, place), &devices), ("switches", &full), found);
}

/// Every transport setting of a level of hosts or traffic is in force for some flow, and changes something there.
pub(crate) fn stacks_change_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let levels: BTreeSet<&str> =
        facts.stacks.iter().flat_map(|stack| &stack.levels).map(String::as_str).collect();
    if levels.is_empty() {
        return;
    }
    let paths: Vec<&str> = levels.into_iter().collect();
    let place = |path: &str| match level_of(&paths, path) {
        Some((level, rest)) => within(rest, "transport").then(|| (Some(level.to_owned()), rest.to_owned())),
        None => within(path, "transport").then(|| (None, path.to_owned())),
    };
    let hosts = facts.settings.hosts.over(&Vec::new());
    let says = |level: &str| {
        let number =
            level.rsplit_once('[').and_then(|(_, rest)| rest.trim_end_matches(']').parse::<usize>().ok())?;
        match level.starts_with("hosts[") {
            true => hosts.get(number).map(|entry| entry.transport.clone()),
            false => facts.settings.traffic.get(number).map(|entry| entry.transport.clone()),
        }
    };
    let effective = |stack: &TransportInUse| {
        let mut transport = facts.settings.transport.clone();
        let mut values = vec![of_ends(&transport, &facts.settings.card)];
        for level in &stack.levels {
            transport = says(level).map_or(transport.clone(), |says| says.over(&transport));
            values.push(of_ends(&transport, &facts.settings.card));
        }
        Effective::new(&stack.levels, (values, &EndSettings::TABLE), str::to_owned)
    };
    let stacks: Vec<Effective> = facts.stacks.iter().map(effective).collect();
    let full = |level: &str, path: &str| Some(format!("{level}.{path}"));
    judge((&said(facts, place), &stacks), ("flows", &full), found);
}

fn of_ends(transport: &TransportSettings, card: &CardSettings) -> Value {
    EndSettings { transport: transport.clone(), card: card.clone() }.to_value()
}

/// Every card setting of a group of hosts is in force for some host, and changes something there.
pub(crate) fn cards_change_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    let cards = cards(facts.settings, graph).all;
    let levels: BTreeSet<&str> = cards.iter().flat_map(|card| &card.levels).map(String::as_str).collect();
    if levels.is_empty() {
        return;
    }
    let paths: Vec<&str> = levels.into_iter().collect();
    let place = |path: &str| match level_of(&paths, path) {
        Some((level, rest)) => within(rest, "card").then(|| (Some(level.to_owned()), rest.to_owned())),
        None => within(path, "card").then(|| (None, path.to_owned())),
    };
    let hosts = facts.settings.hosts.over(&Vec::new());
    let effective = |own: &CardInUse| {
        let mut card = facts.settings.card.clone();
        let mut values = vec![of_ends(&facts.settings.transport, &card)];
        for level in &own.levels {
            let entry = (0..hosts.len()).find(|number| *level == format!("hosts[{number}]"));
            card = entry.map_or(card.clone(), |number| hosts[number].card.over(&card));
            values.push(of_ends(&facts.settings.transport, &card));
        }
        Effective::new(&own.levels, (values, &EndSettings::TABLE), str::to_owned)
    };
    let cards: Vec<Effective> = cards.iter().map(effective).collect();
    let full = |level: &str, path: &str| Some(format!("{level}.{path}"));
    judge((&said(facts, place), &cards), ("hosts", &full), found);
}

/// Every group names hosts and sets something on them.
pub(crate) fn groups_of_hosts_say_something(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let Some(graph) = facts.graph else { return };
    for (number, entry) in facts.settings.hosts.over(&Vec::new()).iter().enumerate() {
        let path = format!("hosts[{number}]");
        if !names_somebody(entry, graph) {
            let last = graph.name(Node::Host(HostId(graph.hosts() - 1)));
            let message = format!(
                "no host is called `{}` at a switch called `{}`: hosts are {} to {last}",
                entry.names,
                entry.at,
                graph.name(Node::Host(HostId(0)))
            );
            found.push(exactly(&path, message, false));
        } else if entry.transport.is_empty() && entry.card.is_empty() {
            found.push(exactly(&path, "sets nothing on its hosts: give transport or card".to_owned(), false));
        }
    }
}

/// Hosts with one transport over TCP or RoCE must agree on its format.
pub(crate) fn ends_of_one_transport_agree(facts: &Facts<'_>, found: &mut Vec<Finding>) {
    let same = |stack: &&TransportInUse| stack.transport.name() == facts.stack.name();
    let Some(other) = facts.stacks.iter().find(same) else { return };
    let of_tcp = facts.stack.tcp().zip(other.transport.tcp()).map(|(own, other)| tcp_agrees(&own, &other));
    let of_roce =
        facts.stack.roce().zip(other.transport.roce()).map(|(own, other)| roce_agrees(&own, &other));
    let agree = of_tcp.or(of_roce).unwrap_or_default();
    for (name, _) in agree.into_iter().filter(|(_, agree)| !agree) {
        let message =
            "both ends of a flow must agree on it: give all hosts with this transport the same value";
        found.push(impossible(facts.transport(name), message));
    }
}

fn tcp_agrees(own: &Tcp, other: &Tcp) -> Vec<(&'static str, bool)> {
    vec![
        ("mtu", own.mtu == other.mtu),
        ("header", own.header == other.header),
        ("framing", own.framing == other.framing),
        ("least_wire", own.least_wire == other.least_wire),
        ("timestamps", own.timestamps == other.timestamps),
        ("sack", own.sack == other.sack),
        ("handshake", own.handshake == other.handshake),
    ]
}

fn roce_agrees(own: &QueuePairSettings, other: &QueuePairSettings) -> Vec<(&'static str, bool)> {
    vec![
        ("mtu", own.mtu == other.mtu),
        ("header", own.header == other.header),
        ("framing", own.framing == other.framing),
        ("least_wire", own.least_wire == other.least_wire),
        ("recovery", own.recovery == other.recovery),
        ("tlt", own.tlt == other.tlt),
    ]
}

/// Whether a path equals another or is below it.
fn within(path: &str, section: &str) -> bool {
    path.strip_prefix(section).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The level that a path belongs to, and the rest of the path.
fn level_of<'a, 'p>(levels: &[&'a str], path: &'p str) -> Option<(&'a str, &'p str)> {
    levels.iter().find_map(|level| Some((*level, path.strip_prefix(level)?.strip_prefix('.')?)))
}

/// The path of a setting, from a level and a path in it.
type FullPath<'a> = &'a dyn Fn(&str, &str) -> Option<String>;

/// Reports settings that are hidden or change nothing. `full` builds the path of a level's setting.
fn judge((said, all): (&[Said], &[Effective]), (what, full): (&str, FullPath<'_>), found: &mut Vec<Finding>) {
    for one in said {
        let concerned: Vec<&Effective> =
            all.iter().filter(|effective| effective.depth(one.level.as_deref()).is_some()).collect();
        let path = one.level.as_ref().map_or_else(|| Some(one.path.clone()), |level| full(level, &one.path));
        let Some(path) = path.filter(|_| !concerned.is_empty()) else { continue };
        let why = if !concerned.iter().any(|effective| effective.takes(one, said)) {
            format!("a more specific level overrides it for each of its {what}")
        } else if one.level.is_some() && concerned.iter().all(|effective| effective.has_without(one)) {
            format!("each of its {what} has the same value anyway")
        } else {
            continue;
        };
        found.push(exactly(&path, format!("`{path}` has no effect: {why}"), true));
    }
}

/// A setting given by some level.
struct Said {
    /// The level; `None`: the settings for all.
    level: Option<String>,
    /// The path, as at the level of all.
    path: String,
    value: Value,
}

/// The settings that the user gave at the levels that `place` recognises. A family is left out if settings of its
/// member are given, because these have rows of their own.
fn said(facts: &Facts<'_>, place: impl Fn(&str) -> Option<(Option<String>, String)>) -> Vec<Said> {
    let written = |path: &str| facts.said.at(&facts.said.tagged(path)).is_some();
    let all = rows(&ScenarioSettings::TABLE, facts.value).into_iter().filter(|row| written(&row.path));
    let one = |row: Row| place(&row.path).map(|(level, path)| Said { level, path, value: row.value });
    let said: Vec<Said> = all.filter_map(one).collect();
    let whole = |one: &Said| {
        let Value::Member(name, _) = &one.value else { return true };
        let own = format!("{}.{name}.", one.path);
        !said.iter().any(|other| other.level == one.level && other.path.starts_with(&own))
    };
    let kept: Vec<bool> = said.iter().map(whole).collect();
    said.into_iter().zip(kept).filter_map(|(one, kept)| kept.then_some(one)).collect()
}

/// The settings of some switches under a growing number of levels.
struct Effective {
    levels: Vec<String>,
    /// Values with no level, with the first, with the first two, and so on.
    values: Vec<BTreeMap<String, Value>>,
}

impl Effective {
    fn new(
        levels: &[String],
        (values, table): (Vec<Value>, &'static Table),
        name: impl Fn(&str) -> String,
    ) -> Effective {
        let by_path = |value: &Value| {
            let rows = rows(table, value).into_iter().map(|row| (name(&row.path), plain(row.value)));
            let mut values: BTreeMap<String, Value> = rows.collect();
            let tables: Vec<String> =
                values.keys().filter_map(|path| Some(path.rsplit_once('.')?.0.to_owned())).collect();
            tables.into_iter().for_each(|path| {
                values.entry(path).or_insert(Value::Table(Vec::new()));
            });
            values
        };
        Effective { levels: levels.to_vec(), values: values.iter().map(by_path).collect() }
    }

    /// The number of levels up to and including a level.
    fn depth(&self, level: Option<&str>) -> Option<usize> {
        level.map_or(Some(0), |level| self.levels.iter().position(|own| own == level).map(|at| at + 1))
    }

    /// Whether the value in force is the one set by `one`.
    fn takes(&self, one: &Said, said: &[Said]) -> bool {
        let depth = self.depth(one.level.as_deref()).unwrap_or(0);
        let above = &self.levels[depth..];
        let again = |other: &Said| {
            other.path == one.path
                && other.level.as_ref().is_some_and(|level| above.iter().any(|own| own == level))
        };
        let last = self.values.last().and_then(|values| values.get(&one.path));
        let kept = match &one.value {
            Value::Member(..) => last == Some(&plain(one.value.clone())),
            _ => last.is_some(),
        };
        kept && !said.iter().any(again)
    }

    /// Whether the switches have the same value without the level.
    fn has_without(&self, one: &Said) -> bool {
        let below = self.depth(one.level.as_deref()).unwrap_or(0).saturating_sub(1);
        self.values[below].get(&one.path) == Some(&plain(one.value.clone()))
    }
}

/// A member without its settings, which have their own rows.
fn plain(value: Value) -> Value {
    match value {
        Value::Member(name, _) => Value::Member(name, Box::new(Value::Absent)),
        other => other,
    }
}

/// A device's value with this many of its levels.
fn value_of(settings: &ScenarioSettings, device: &Device, levels: usize) -> Value {
    let all = settings.switch.levels();
    let own = device.levels[..levels].iter().filter_map(|path| all.iter().find(|level| level.path == *path));
    let below = DeviceSettings::of_all(settings).to_value();
    own.fold(below, |below, level| over(&DeviceSettings::KIND, below, level.says.value()))
}

pub(crate) fn exactly(path: &str, message: String, idle: bool) -> Finding {
    Finding { path: path.to_owned(), message, idle, exact: true }
}
