//! The switches of a network, grouped by the levels that apply to them: the settings of each group, and the ports that
//! differ.

use std::collections::BTreeMap;

use weft_core::{LinkId, SwitchId};
use weft_switch::{BalancerSettings, PortSettings, SwitchSettings};
use weft_topology::{Graph, Node};

use crate::levels::{DeviceSettings, Level, at_level};
use crate::settings::ScenarioSettings;
use weft_codec::Provenance;

/// Switches with equal settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Device {
    /// Their settings.
    pub switch: SwitchSettings,
    /// Their balancer.
    pub balance: BalancerSettings,
    /// The switches themselves.
    pub switches: Vec<SwitchId>,
    /// The paths of the levels that apply to them, highest precedence last: `switch.leaf`, `switch.named.leaf0`.
    pub levels: Vec<String>,
}

impl Device {
    /// All switches of a scenario whose network is unknown, without overrides.
    pub fn of_all(settings: &ScenarioSettings) -> Device {
        let DeviceSettings { switch, balance } = DeviceSettings::of_all(settings);
        Device { switch, balance, switches: Vec::new(), levels: Vec::new() }
    }

    /// The path of the level with the highest precedence that sets anything at or below a path of `[switch]` or
    /// `[balance]`; any other path if the user set it.
    pub fn said_at(&self, said: &Provenance, path: &str) -> Option<String> {
        let levels = self.levels.iter().rev().filter_map(|level| at_level(level, path));
        levels.chain([path.to_owned()]).find(|path| said.mentions(&said.tagged(path)))
    }
}

impl DeviceSettings {
    /// The settings of switches without overrides.
    pub fn of_all(settings: &ScenarioSettings) -> DeviceSettings {
        DeviceSettings { switch: settings.switch.every.clone(), balance: settings.balance.clone() }
    }
}

/// The switches of a network, grouped by the levels that apply, in the order of their first switch.
#[must_use]
pub fn devices(settings: &ScenarioSettings, graph: &Graph) -> Vec<Device> {
    let levels = settings.switch.levels();
    let all = (0..graph.switches().len()).map(|number| SwitchId(number as u32));
    let of = |switch| (covering(&levels, graph, switch), switch);
    grouped(settings, &levels, all.map(of))
}

/// [`devices`], and in addition the switches with port levels: one entry per kind of port.
pub fn devices_by_port(settings: &ScenarioSettings, graph: &Graph) -> Vec<Device> {
    let levels = settings.switch.levels();
    if !levels.iter().any(Level::is_of_ports) {
        return devices(settings, graph);
    }
    let mut places = Vec::new();
    for switch in (0..graph.switches().len()).map(|number| SwitchId(number as u32)) {
        let own = covering(&levels, graph, switch);
        for link in graph.links_of(Node::Switch(switch)) {
            let of_port = (0..levels.len()).filter(|level| levels[*level].covers_port(graph, link));
            places.push((own.iter().copied().chain(of_port).collect(), switch));
        }
    }
    grouped(settings, &levels, places.into_iter())
}

/// The ports that differ from the others of their switch, by the link that leaves them.
#[must_use]
pub fn ports(settings: &ScenarioSettings, graph: &Graph) -> BTreeMap<LinkId, PortSettings> {
    let levels: Vec<Level> = settings.switch.levels().into_iter().filter(Level::is_of_ports).collect();
    let mut ports = BTreeMap::new();
    let devices = if levels.is_empty() { Vec::new() } else { devices(settings, graph) };
    for (device, switch) in
        devices.iter().flat_map(|device| device.switches.iter().map(move |one| (device, *one)))
    {
        let first = graph.first_link(Node::Switch(switch)).0;
        for (number, link) in graph.links_of(Node::Switch(switch)).iter().enumerate() {
            let own: Vec<&Level> = levels.iter().filter(|level| level.covers_port(graph, link)).collect();
            let whole = DeviceSettings { switch: device.switch.clone(), balance: device.balance.clone() };
            let whole = own.iter().fold(whole, |below, level| level.says.over(&below));
            let queue_limit = own.iter().rev().find_map(|level| level.queue_limit);
            let shaper = own.iter().rev().find_map(|level| level.shaper.clone());
            let SwitchSettings { ecn, schedule, color, .. } = whole.switch;
            if !own.is_empty() {
                let port = PortSettings { ecn, schedule, queue_limit, shaper, color };
                ports.insert(LinkId(first + number as u32), port);
            }
        }
    }
    ports
}

/// The levels that apply to a switch as a whole.
fn covering(levels: &[Level], graph: &Graph, switch: SwitchId) -> Vec<usize> {
    (0..levels.len()).filter(|level| levels[*level].covers(graph, switch)).collect()
}

/// Switches grouped by the levels that apply.
fn grouped(
    settings: &ScenarioSettings,
    levels: &[Level],
    places: impl Iterator<Item = (Vec<usize>, SwitchId)>,
) -> Vec<Device> {
    let mut groups: Vec<(Vec<usize>, Vec<SwitchId>)> = Vec::new();
    for (own, switch) in places {
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, switches)) if switches.last() == Some(&switch) => {}
            Some((_, switches)) => switches.push(switch),
            None => groups.push((own, vec![switch])),
        }
    }
    let device = |(own, switches): (Vec<usize>, Vec<SwitchId>)| {
        let all = DeviceSettings::of_all(settings);
        let DeviceSettings { switch, balance } =
            own.iter().fold(all, |below, level| levels[*level].says.over(&below));
        let levels = own.iter().map(|level| levels[*level].path.clone()).collect();
        Device { switch, balance, switches, levels }
    };
    groups.into_iter().map(device).collect()
}
