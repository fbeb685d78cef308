//! A scenario's top-level sections, as types. The sections' own settings are declared by their crates.
//!
//! Must not depend on files: a value of these types has been checked.

use weft_core::settings;
use weft_core::settings::{Bins, Override};
use weft_core::{Bytes, Span, choice};

use crate::hosts::{HostSection, TrafficSection};
use crate::levels::SwitchSection;
use weft_switch::BalancerSettings;
use weft_switch::pause::PauseStormSettings;
use weft_topology::{FailureSettings, RoutingSettings, TopologySettings};
use weft_transport::TransportSettings;
use weft_transport::card::CardSettings;

choice! {
    /// What a run records.
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

choice! {
    /// Which tables are written as CSV beside Parquet.
    pub enum CsvFiles {
        /// Those of at most 10 000 rows.
        Small = "small",
        /// All of them.
        All = "all",
        /// None.
        Never = "never",
    }
}

choice! {
    /// Schedules that no transport implements, for comparison.
    pub enum IdealChoice {
        /// One big switch between all hosts: ports are matched greedily by remaining size (pFabric, section 4.1).
        BigSwitch = "big-switch",
        /// Each host's link serves the flow with the least remaining bytes first.
        Srpt = "srpt",
        /// Each host's link serves the smallest flow first.
        Sjf = "sjf",
        /// Each host's link serves the flows that have received the least service.
        Las = "las",
        /// Each host's link is shared equally.
        Ps = "ps",
    }
}

settings! {
    /// What is measured, and when a run ends.
    pub struct MeasureSettings {
        /// Statistics exclude flows that start before this.
        warm_up: Span = Span::ZERO,
        /// No more arrivals after this many measured flows; the run ends when all have finished.
        flows: Option<u64> = None,
        /// The run ends here at the latest; flows still open count as unfinished. Without it a run ends, as `stuck`,
        /// when the only open flows are permanently cut off by a failure.
        until: Option<Span> = None,
        /// Sampling interval of queue lengths; needs "queues" in `record`.
        queues_every: Option<Span> = None,
        /// Samples within this time are averaged into one recorded value; a multiple of `queues_every`. Absent: every
        /// sample is recorded. In long runs, neighbouring samples are averaged in any case.
        queues_mean_over: Option<Span> = None,
        /// Threshold of the queue monitor. A queue is reported from the first sample above it to the first sample at
        /// or below it, in `queue-monitor.txt` and the table `queue-monitor`. In a switch with virtual output queues,
        /// each group of inputs is monitored separately. The last million lines are kept, and the text counts those
        /// before. Absent: none.
        queues_above: Option<Bytes> = None,
        /// Maximum values per queue series: beyond it, neighbours are merged, with their peak and mean, and the
        /// report says so. Memory grows by 12 bytes per value and port.
        queues_values: u32 [512, 1000000] = 512,
        /// Maximum bins of the time series: throughput, loads, queues, drops, marks and pauses over time. Beyond it,
        /// neighbours are merged, with their sums and peaks; 0: no time series. Absent: 256, or fewer where reading
        /// every port that often would cost more than 1 % of a short run.
        series_bins: Option<Bins> = None,
        /// Whether each flow's mean wait per packet is recorded by hop: the report then shows where the slowest flows waited.
        /// Costs a few per cent of the run's time.
        waits: bool = false,
        /// Sampling interval of the flows' windows; absent: never. In very long runs every second sample is dropped,
        /// repeatedly if needed.
        flows_every: Option<Span> = None,
        /// Number of flows sampled, the first to start; has an effect only with `flows_every`.
        flows_sampled: u32 [1, 10000] = 100,
        /// What is recorded.
        record: Vec<Recorded> = vec![Recorded::Flows, Recorded::Links, Recorded::Hops, Recorded::Reordering, Recorded::Drops],
        /// Ideal schedules computed for comparison, beside the bound that every run has (`ideal.bound`); the time for
        /// a big switch grows with the number of open flows.
        ideals: Vec<IdealChoice> = Vec::new(),
        /// Which tables are written as CSV, too; every table is a Parquet file.
        csv: CsvFiles = CsvFiles::Small,
    }
}

impl MeasureSettings {
    /// Queue samples averaged per recorded value; at least 1.
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
        /// Names the result folder: letters, digits, `-`, `_` and `.`, with neither `-` nor `.` at its ends.
        name: String,
        /// One sentence for lists and reports.
        about: String = String::new(),
        /// One run per seed; every case of a sweep uses the same seeds, so that cases can be compared pairwise.
        seeds: Vec<u64> = vec![1],
        /// Hosts, switches and cables.
        topology: TopologySettings,
        /// Cables that fail, before or during the run.
        failure: Vec<FailureSettings> = vec![],
        /// Hosts whose network card sends pause frames endlessly.
        pause_storm: Vec<PauseStormSettings> = vec![],
        /// How routing reacts to failures during the run.
        routing: RoutingSettings = RoutingSettings::default(),
        /// The switches: memory, queues, marking, pauses.
        switch: SwitchSection = SwitchSection::default(),
        /// How a switch chooses among equal-cost ports.
        balance: BalancerSettings = BalancerSettings::default(),
        /// The transport of flows: what their two ends do.
        transport: TransportSettings = TransportSettings::default(),
        /// The network card of a host: in which order it sends what its flows have.
        card: CardSettings = CardSettings::default(),
        /// Hosts that use another transport or another card.
        hosts: Override<Vec<HostSection>> = Override::default(),
        /// Who sends what to whom, and when.
        traffic: Vec<TrafficSection>,
        /// What is measured, and when a run ends.
        measure: MeasureSettings = MeasureSettings::default(),
    }
}
