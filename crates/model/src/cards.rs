//! The levels at which a scenario chooses the network card of a host: `card` for all hosts, `[[hosts]]` for some.

use weft_core::HostId;
use weft_topology::Graph;
use weft_transport::card::CardSettings;

use crate::settings::ScenarioSettings;
use crate::stacks::covering;

/// The card of some hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct CardInUse {
    /// Its settings.
    pub card: CardSettings,
    /// The entries of `[[hosts]]` that set something in it, highest precedence last: `hosts[0]`.
    pub levels: Vec<String>,
}

/// The cards of a scenario, and the hosts that have them.
#[derive(Clone, Debug, PartialEq)]
pub struct CardsInUse {
    /// All of them; at least one.
    pub all: Vec<CardInUse>,
    /// The number of its card, for each host.
    pub of_host: Vec<u16>,
}

/// The card of each host.
#[must_use]
pub fn cards(settings: &ScenarioSettings, graph: &Graph) -> CardsInUse {
    let entries = settings.hosts.over(&Vec::new());
    let mut all: Vec<CardInUse> = Vec::new();
    let of_host = (0..graph.hosts()).map(|host| {
        let mut own = CardInUse { card: settings.card.clone(), levels: Vec::new() };
        for number in covering(&entries, graph, HostId(host)) {
            let says = &entries[number].card;
            if !says.is_empty() {
                own.card = says.over(&own.card);
                own.levels.push(format!("hosts[{number}]"));
            }
        }
        all.iter().position(|known| *known == own).unwrap_or_else(|| {
            all.push(own);
            all.len() - 1
        }) as u16
    });
    let of_host = of_host.collect();
    CardsInUse { all, of_host }
}
