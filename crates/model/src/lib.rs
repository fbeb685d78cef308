//! A checked scenario as types: its sections, the levels at which switches, ports, hosts and flows get their own
//! settings, and the cases of its sweep.
//!
//! Must not depend on files, or on which combinations of settings make sense: rules decide that.

mod cards;
mod case;
mod devices;
mod hosts;
mod levels;
mod settings;
mod stacks;

pub use cards::{CardInUse, CardsInUse, cards};
pub use case::{COMPLETE_KEY, Case, Resolved};
pub use devices::{Device, devices, devices_by_port, ports};
pub use hosts::{EndSettings, HostSection, TrafficSection};
pub use levels::{
    DeviceSettings, Level, PortSection, SwitchSection, at_level, generic, is_named, is_of_ports_alone,
};
pub use settings::{CsvFiles, IdealChoice, MeasureSettings, Recorded, ScenarioSettings};
pub use stacks::{TransportInUse, TransportsInUse, names_somebody, payload_queues, sends_red, stacks};
