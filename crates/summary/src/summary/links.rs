//! Load, queues and drops of all links together. Must not depend on single links.

use super::{Offered, Uplinks};
use serde::{Deserialize, Serialize};
use weft_statistics::Distribution;

/// Load and queues over all links of switches (host cards excluded).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Links {
    /// Utilisation of the busiest link over the period of [`arrivals_until_s`](super::Summary::arrivals_until_s), as a fraction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation_max: Option<f64>,
    /// Mean utilisation of links between switches over the part of that period in which each was up, as a fraction; absent if none
    /// was up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_utilisation: Option<f64>,
    /// Peak queue, wire bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_queue_bytes: Option<u64>,
    /// Queue at the port with the greatest mean, wire bytes; absent if queues were not sampled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_queue: Option<Distribution>,
    /// Utilisation of the uplinks of leaves; absent without switches of a higher tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplinks: Option<Uplinks>,
    /// The load that flows would put on leaves and downlinks if split equally; absent if flows do not arrive over time,
    /// or nothing is above the leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered: Option<Offered>,
    /// Packets dropped at ports of switches, by where the port leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<DroppedTowards>,
}

/// Packets dropped at ports of switches, by where the port leads. Unlike the hop count, this does not depend on the
/// packet's path: the port of a host is the first hop of a packet from a neighbour under the same leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DroppedTowards {
    /// At ports that lead to a higher tier: leaf to spine.
    pub up: u64,
    /// At ports that lead to a switch of a lower or the same tier: spine to leaf.
    pub down: u64,
    /// At ports that lead to hosts.
    pub hosts: u64,
}

/// Averages over the part of a run in which flows arrived, for a run that is averaged as a whole because it mostly
/// drains. Beside runs averaged over their arrivals, it is shown with these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArrivalAverages {
    /// The start of the last flow, seconds.
    pub until_s: f64,
    /// Goodput, Gbit/s.
    pub goodput_gbps: f64,
    /// Greatest utilisation of a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub utilisation_max: Option<f64>,
    /// Mean utilisation of links between switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric_utilisation: Option<f64>,
    /// Utilisation of the uplinks of leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplinks: Option<Uplinks>,
}

impl super::Summary {
    /// Averages goodput and loads over the arrivals instead of the whole run, if flows arrived over time.
    pub fn average_over_arrivals(&mut self) {
        let Some(averages) = self.in_arrivals.take() else { return };
        (self.arrivals_until_s, self.drains_from_s) = (Some(averages.until_s), None);
        self.goodput_gbps = averages.goodput_gbps;
        self.links.utilisation_max = averages.utilisation_max;
        self.links.fabric_utilisation = averages.fabric_utilisation;
        self.links.uplinks = averages.uplinks;
    }
}
