//! The settings of an explicit graph. Builds nothing and reads no files.

use crate::format::Format;
use weft_core::settings::Share;
use weft_core::{Rate, Span};

weft_core::settings! {
    /// An explicit graph.
    pub struct ExplicitSettings {
        /// Number of hosts, called `host0`, `host1` and so on; not together with `host_names`.
        hosts: u32 = 0,
        /// Names of the hosts, if they have their own.
        host_names: Vec<String> = Vec::new(),
        /// Names of the switches.
        switches: Vec<String> = Vec::new(),
        /// The cables.
        links: Vec<LinkEntry> = Vec::new(),
        /// A topology file, relative to the scenario; then give nothing else here but its format.
        file: Option<String> = None,
        /// Format of the file.
        format: Format = Format::Hpcc,
    }
}

weft_core::settings! {
    /// One or several parallel cables between two nodes.
    pub struct LinkEntry {
        /// Name of a host or switch.
        from: String,
        /// Name of a host or switch.
        to: String,
        /// Number of parallel cables.
        count: u32 [1, 65535] = 1,
        /// Line rate of either direction.
        rate: Rate,
        /// Propagation delay of either direction.
        delay: Span = Span::from_ns(500),
        /// Probability that a packet is lost on the way.
        loss: Share = Share(0.0),
        /// Mean time (exponential) between stalls of the node `to`: it takes nothing from this cable for
        /// `stall_length`, like a host whose processor is busy elsewhere, and then everything at once; absent: never.
        stall_every: Option<Span> = None,
        /// Mean length (exponential) of such a stall.
        stall_length: Option<Span> = None,
    }
}
