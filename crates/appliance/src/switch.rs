//! The part of a file that makes the router act as a switch of a scenario's network.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use weft_core::units::nearest;
use weft_core::{Class, PortId, SwitchId};
use weft_mistake::node::{Content, Toml};
use weft_packet::Mac;
use weft_plan::Setup;
use weft_router::app::switch::{MOST_HOSTS, not_on_the_wire};
use weft_topology::{Link, Node};

use crate::plan::{PlannedPort, PlannedSwitch, PortUse};
use weft_mistake::TableReader;

/// Keys of the file that only a switch uses.
pub(crate) const KEYS: &[&str] = &["scenario", "case", "seed", "switch", "code_points"];

const SCENARIO: &str = "the path of a scenario, relative to this file's folder";
const CODE_POINTS: &str = "a list of code points for each queue but the last, such as [[46, 48]]";

/// Reads the keys of a switch; `None` if there is no such switch, and valid only if there are no mistakes.
pub(crate) fn planned(root: &mut TableReader<'_, '_>, folder: &Path, workers: u16) -> Option<PlannedSwitch> {
    root.require("scenario", SCENARIO);
    root.require("switch", "the name of a switch, such as \"leaf0\"");
    let seed = root.number("seed", 0, i64::MAX).unwrap_or(1) as u64;
    let setup = setup(root, folder, seed)?;
    let name = root.text("switch", "the name of a switch")?;
    let names: Vec<&str> = setup.graph.switches().iter().map(|switch| switch.name.as_str()).collect();
    let position = |name: &str| names.iter().position(|other| *other == name);
    let number = match position(name) {
        Some(number) => number,
        // The rest of the file is read as for the switch that is probably meant.
        None => {
            root.misnamed("switch", format!("the network has no switch `{name}`"), &names);
            nearest(name, names.iter().copied()).and_then(position)?
        }
    };
    let switch = SwitchId(number as u32);
    if let Some(why) = not_on_the_wire(setup.switch_at(switch), setup.balancer_at(switch)) {
        root.wrong("switch", format!("`{name}` {why}"), "a switch that needs no more than IP headers");
    }
    for why in of_network(&setup, switch) {
        root.wrong(
            "scenario",
            why.to_owned(),
            "a network whose cables stay as they are: real ones fail by themselves",
        );
    }
    if setup.graph.hosts() > MOST_HOSTS {
        root.wrong(
            "scenario",
            format!("{} hosts", setup.graph.hosts()),
            "at most 16 777 216: addresses 10.x.y.z",
        );
    }
    let queues = setup.switch_at(switch).queues as usize;
    if !setup.switch_at(switch).class_map.is_empty() {
        let message =
            "this switch of the scenario has a class_map; `code_points` gives the queue of each packet";
        root.wrong("scenario", message.to_owned(), "a switch without class_map");
    }
    let class_of = class_of(root, queues);
    let built = setup.build_switch(switch);
    if let Some(why) = built.indivisible().filter(|_| workers > 1) {
        root.wrong("workers", format!("`{name}` {why}: one worker drives it"), "workers = 1");
    }
    let ports = setup.port_rates(switch).len() as u16;
    let readers = (0..ports).map(|port| built.engine_of(PortId(port)).map(|engine| engine as u16)).collect();
    Some(PlannedSwitch { setup: Arc::new(setup), switch, class_of, readers })
}

/// What a scenario asks of cables that the router does not do to real ones.
fn of_network(setup: &Setup, switch: SwitchId) -> impl Iterator<Item = &'static str> {
    let own = |link: &Link| [link.from, link.to].contains(&Node::Switch(switch));
    let loses = setup.graph.links().iter().any(|link| own(link) && link.loss > 0.0);
    let changes = !setup.timeline.changes.is_empty();
    let found = [
        (changes, "cables fail or return during the run"),
        (loses, "a cable of the switch loses packets at random"),
    ];
    found.into_iter().filter(|(is, _)| *is).map(|(_, why)| why)
}

/// Refuses workers without anything to read.
pub(crate) fn refuse_idle(
    root: &mut TableReader<'_, '_>,
    plan: &PlannedSwitch,
    (workers, ports): (u16, &[PlannedPort]),
) {
    let reader = |port: &PlannedPort| match port.use_of {
        PortUse::Switched(number, ..) => Some(plan.reader_of(number, workers)),
        _ => None,
    };
    let busy: BTreeSet<u16> = ports.iter().filter_map(reader).collect();
    if busy.len() < usize::from(workers) {
        let message = format!("{workers} workers, but only {} have a port to read", busy.len());
        let engines = plan.setup.switch_at(plan.switch).engines;
        let allowed = format!("a worker for each engine with a port; the switch has {engines} engines");
        root.wrong("workers", message, &allowed);
    }
}

/// The network of the scenario in the requested case.
fn setup(root: &mut TableReader<'_, '_>, folder: &Path, seed: u64) -> Option<Setup> {
    let path = folder.join(root.text("scenario", SCENARIO)?);
    let cases = match weft_prepare::prepare(&path, &[], false) {
        Ok(cases) => cases,
        Err(weft_prepare::Error::BadInput(text) | weft_prepare::Error::Failed(text)) => {
            let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let hint = format!("see all with: weft check {}", path.display());
            root.wrong("scenario", format!("the scenario has mistakes: {first}"), &hint);
            return None;
        }
    };
    let labels: Vec<String> = cases.iter().map(|case| case.labels.join(" ")).collect();
    let names: Vec<&str> = labels.iter().map(String::as_str).collect();
    let wanted = root.text("case", "the name of a case");
    let number = match wanted {
        None if cases.len() == 1 => 0,
        None => {
            root.wrong("scenario", "it has several cases: `case` says which", &names.join(", "));
            return None;
        }
        Some(_) if cases.len() == 1 => {
            root.refuse("case", "with a scenario of one case");
            0
        }
        Some(wanted) => match names.iter().position(|name| *name == wanted) {
            Some(number) => number,
            None => {
                root.misnamed("case", format!("the scenario has no case `{wanted}`"), &names);
                return None;
            }
        },
    };
    cases[number].setup(seed).map_err(|error| root.wrong("scenario", error.to_string(), "")).ok()
}

/// Each queue but the last has a list of code points; all other code points go to the last queue.
fn class_of(root: &mut TableReader<'_, '_>, queues: usize) -> [Class; 64] {
    let mut class_of = [Class(queues as u8 - 1); 64];
    if queues == 1 {
        root.refuse("code_points", "with one queue per port");
        return class_of;
    }
    root.require("code_points", CODE_POINTS);
    let lists = root.list("code_points", CODE_POINTS);
    if lists.len() != queues - 1 {
        let found = match lists.len() {
            1 => "1 list".to_owned(),
            count => format!("{count} lists"),
        };
        root.wrong("code_points", format!("{found} for {queues} queues"), CODE_POINTS);
    }
    let mut taken = [false; 64];
    for (queue, list) in lists.iter().enumerate().take(queues - 1) {
        for item in items(list) {
            match code_point(item) {
                Some(number) if !taken[number] => {
                    taken[number] = true;
                    class_of[number] = Class(queue as u8);
                }
                Some(number) => {
                    let message = format!("code point {number} is there already");
                    root.wrong_item("code_points", item, (message, "each code point once"));
                }
                None => {
                    let message = format!("found {}", item.described());
                    root.wrong_item("code_points", item, (message, "code points from 0 to 63"));
                }
            }
        }
    }
    class_of
}

fn items(list: &Toml) -> &[Toml] {
    match &list.content {
        Content::List(items) => items,
        _ => std::slice::from_ref(list),
    }
}

fn code_point(item: &Toml) -> Option<usize> {
    match item.content {
        Content::Integer(number) => usize::try_from(number).ok().filter(|number| *number < 64),
        _ => None,
    }
}

/// The cable of a `[[port]]`. Several ports to one node take its cables in order; `before` are the earlier ports.
pub(crate) fn port_use(
    port: &mut TableReader<'_, '_>,
    plan: &PlannedSwitch,
    station: Option<Mac>,
    before: &[PortId],
) -> Option<PortUse> {
    let graph = &plan.setup.graph;
    let links = graph.links_of(Node::Switch(plan.switch));
    let names: Vec<String> = links.iter().map(|link| graph.name(link.to)).collect();
    port.require("to", "the node at the other end of the cable");
    let to = port.text("to", "the node at the other end of the cable")?;
    let mut cables = links.iter().zip(&names).filter(|(_, name)| *name == to).map(|(link, _)| link);
    let Some(link) = cables.clone().find(|link| !before.contains(&link.port)) else {
        match cables.next() {
            Some(_) => {
                port.wrong("to", format!("all cables to `{to}` have a port already"), "a cable for each port")
            }
            None => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                port.misnamed("to", format!("no cable leads to `{to}`"), &names);
            }
        }
        return None;
    };
    let host = match link.to {
        Node::Host(host) => Some(host),
        Node::Switch(_) => None,
    };
    Some(PortUse::Switched(link.port, host, station))
}
