//! A scenario's settings for groups of hosts and for single sources of flows.

use weft_core::settings;
use weft_core::settings::Override;
use weft_transport::TransportSettings;
use weft_transport::card::CardSettings;
use weft_workload::TrafficSettings;

settings! {
    /// Some hosts. Of two entries for one host the later wins.
    pub struct HostSection {
        /// The hosts: names separated by commas, `*` for any letters, ranges: `"host0..15,host40"`.
        names: String = String::from("*"),
        /// Only hosts of switches with these names.
        at: String = String::from("*"),
        /// Their transport as senders, and as receivers of flows whose sender uses the same transport over TCP or RoCE.
        /// Settings not given are as in `[transport]`.
        transport: Override<TransportSettings> = Override::default(),
        /// Their network card. Settings not given are as in `card`.
        card: Override<CardSettings> = Override::default(),
    }
}

settings! {
    /// One source of flows; a scenario may have several.
    pub struct TrafficSection {
        /// Who sends what to whom.
        flows: TrafficSettings [flatten],
        /// Transport of these flows, regardless of their hosts. Settings not given are the host's.
        transport: Override<TransportSettings> = Override::default(),
    }
}

settings! {
    /// A level's settings for the two ends of a flow and their hosts.
    pub struct EndSettings {
        /// The transport of flows: what their two ends do.
        transport: TransportSettings = TransportSettings::default(),
        /// The network card of a host.
        card: CardSettings = CardSettings::default(),
    }
}
