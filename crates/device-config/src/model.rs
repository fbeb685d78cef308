//! The contents of the files, whatever their format: switches, ports, buffers, marking, maps and hosts, each value with
//! its position. Readers write it and rules read it; neither must depend on the other. In reading order: this file,
//! `switch`, `port`, `host`, and, of scenarios only, `precedence` and `color`.

mod color;
mod host;
mod port;
mod precedence;
mod switch;

pub use color::{OrderedFlows, RedPackets, ReliesOn};
pub use host::{HostConfig, Notifications};
pub use port::{GroupBinding, MapEntries, MapKind, PortConfig, PriorityGroup, QueueConfig, Watchdog};
pub use precedence::{Demotion, StrictQueues};
pub use switch::{
    CreditLoop, Hash, Held, MarkingOff, MarkingProfile, MemoryPool, Profile, SwitchConfig, Threshold,
};

use crate::told::{Coverage, Oddity, Silenced};
use std::collections::BTreeSet;
use weft_config::place::Spot;
use weft_core::{Bytes, Rate, Span};

/// Facts about the network that no file contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surroundings {
    /// Round trip between hosts without queueing.
    pub rtt: Option<Span>,
    /// Line rate of hosts, if no port gives it.
    pub rate: Option<Rate>,
    /// Packet memory of a switch.
    pub memory: Option<Bytes>,
    /// Length of cables, if no file gives it.
    pub cable: Option<Metres>,
    /// Size of a cell of packet memory, if the file names no switch whose chip is known.
    pub cell: Option<Bytes>,
}

/// A length. Text form: `40 m` or `40m`.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Metres(pub f64);

impl std::str::FromStr for Metres {
    type Err = String;

    fn from_str(text: &str) -> Result<Metres, String> {
        let number = text.trim().strip_suffix('m').and_then(|number| number.trim_end().parse::<f64>().ok());
        let sensible = number.filter(|metres| (0.0..=1e6).contains(metres));
        sensible.map(Metres).ok_or_else(|| format!("found `{text}`; allowed: metres, such as \"40 m\""))
    }
}

impl std::fmt::Display for Metres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} m", self.0)
    }
}

/// A case of a scenario's sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseName {
    /// The swept setting and its value in this case; empty without a sweep.
    pub label: String,
    /// Number of cases.
    pub of: usize,
}

/// Everything that is checked together.
#[derive(Debug, Default)]
pub struct Network {
    /// The case of a scenario, if it is one.
    pub case: Option<CaseName>,
    /// The switches, in the order in which they are read.
    pub switches: Vec<SwitchConfig>,
    /// The kinds of hosts, in the order in which they are read.
    pub hosts: Vec<HostConfig>,
    /// Facts that no file contains.
    pub site: Surroundings,
    /// Parts that the readers could not interpret: rule, position and problem.
    pub oddities: Vec<Oddity>,
    /// The coverage of each file, in the order of the command line.
    pub coverage: Vec<(usize, Coverage)>,
    /// Files that contribute nothing, although other files of the device do.
    pub idle_parts: BTreeSet<usize>,
    /// Rules that are silenced in a file.
    pub silenced: Vec<Silenced>,
    /// Cycles of lossless links that wait for each other, if routes are known.
    pub circles: Vec<Circle>,
    /// Whether there are too many routes to search for cycles.
    pub too_large: bool,
    /// Classes of lossy payload served by strict priority.
    pub strict: Vec<StrictQueues>,
    /// Thresholds of PIAS.
    pub demotions: Vec<Demotion>,
    /// Transports that rely on the order or the path of their packets.
    pub ordered: Vec<OrderedFlows>,
}

/// Links that wait for each other in a cycle under routes that the network has at some time.
#[derive(Debug)]
pub struct Circle {
    /// The setting that makes the links lossless.
    pub at: Spot,
    /// The switches, in the order of the cycle.
    pub switches: Vec<String>,
    /// Whether a watchdog eventually breaks it.
    pub watched: bool,
    /// The routes, in words.
    pub when: String,
}
