//! What a scenario says: the top-level sections, as types. The sections' own settings are declared by their crates.
//!
//! Must not depend on files: a value of these types has been checked.

use weft_core::settings;
use weft_core::settings::Override;
use weft_core::{Span, choice};

use crate::hosts::{HostSection, TrafficSection};
use crate::levels::SwitchSection;
use weft_switch::BalancerSettings;
use weft_switch::pause::PauseStormSettings;
use weft_topology::{FailureSettings, RoutingSettings, TopologySettings};
use weft_transport::TransportSettings;

choice! {
    /// What a run writes down.
    pub enum Recorded {
        /// One row per flow.
        Flows = "flows",
        /// Bytes, drops and marks of every link.
        Links = "links",
        /// Waiting time by hop.
        Hops = "hops",
        /// Queue lengths over time, every `queues_every`.
        Queues = "queues",
        /// Duplicate acknowledgements and displacement.
        Reordering = "reordering",
        /// Drops by hop and reason.
        Drops = "drops",
    }
}

settings! {
    /// What is measured, and when a run ends.
    pub struct MeasureSettings {
        /// Statistics leave out flows that start earlier than this.
        warm_up: Span = Span::ZERO,
        /// No more arrivals after this many measured flows; the run ends when all have finished.
        flows: Option<u64> = None,
        /// The run ends here at the latest; flows that are still open count as unfinished. Without it a run ends, as `stuck`, when
        /// only flows are open that a failure has cut off for good.
        until: Option<Span> = None,
        /// How often queue lengths are sampled; wants "queues" in `record`.
        queues_every: Option<Span> = None,
        /// Samples within this time are put down as one value, their mean: a whole number of `queues_every`. Absent: each
        /// sample stands for itself. Of long runs neighbours are averaged in any case.
        queues_mean_over: Option<Span> = None,
        /// Values of each queue's series at most: beyond, neighbours are merged, with their peak and their mean, and the report says so.
        /// Memory grows with it, 12 bytes for each value and port.
        queues_values: u32 [512, 1000000] = 512,
        /// How often the windows of flows are sampled; absent: never. Of very long runs every second look is dropped, as
        /// often as needed.
        flows_every: Option<Span> = None,
        /// So many flows, the first to start, are sampled; has an effect only with `flows_every`.
        flows_sampled: u32 [1, 10000] = 100,
        /// What is written down.
        record: Vec<Recorded> = vec![Recorded::Flows, Recorded::Links, Recorded::Hops, Recorded::Reordering, Recorded::Drops],
    }
}

impl MeasureSettings {
    /// How many looks at the queues are averaged to one value; at least 1.
    #[must_use]
    pub fn queues_averaged(&self) -> u64 {
        let looks = |(over, every): (Span, Span)| over.0.checked_div(every.0).unwrap_or(1);
        self.queues_mean_over.zip(self.queues_every).map_or(1, looks)
    }
}

settings! {
    /// A scenario: one experiment in one file.
    pub struct ScenarioSettings {
        /// Version of the file format; this program reads 1.
        weft: u32 [1, 1],
        /// Names the result folder: letters, digits, - _ and .
        name: String,
        /// One sentence for lists and reports.
        about: String = String::new(),
        /// One run per seed; every case of a sweep sees the same seeds, so that cases can be compared in pairs.
        seeds: Vec<u64> = vec![1],
        /// Hosts, switches and cables.
        topology: TopologySettings,
        /// Cables that fail, before or during the run.
        failure: Vec<FailureSettings> = vec![],
        /// Hosts whose network card sends pause frames without end.
        pause_storm: Vec<PauseStormSettings> = vec![],
        /// How routing reacts to failures during the run.
        routing: RoutingSettings = RoutingSettings::default(),
        /// What every switch is built like.
        switch: SwitchSection = SwitchSection::default(),
        /// How a switch chooses among equal-cost ports.
        balance: BalancerSettings = BalancerSettings::default(),
        /// What the two ends of a flow do.
        transport: TransportSettings = TransportSettings::default(),
        /// Hosts that use another transport.
        hosts: Override<Vec<HostSection>> = Override::default(),
        /// Who sends what to whom, and when.
        traffic: Vec<TrafficSection>,
        /// What is measured, and when a run ends.
        measure: MeasureSettings = MeasureSettings::default(),
    }
}
