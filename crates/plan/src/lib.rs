//! The seam between whoever starts a run and the engine that runs it: what goes in ([`Setup`]), what comes out while it
//! runs ([`Sink`], [`Watch`]), and who runs it ([`Engine`]).
//!
//! Knows the parts, and neither how an engine moves anything through a network nor files, scenarios and reports.

mod alone;
mod devices;
mod division;
mod engine;
mod record;
mod setup;
mod stacks;

pub use alone::Alone;
pub use devices::{DeviceKind, DeviceKinds};
pub use division::{Division, Threads};
pub use engine::{Engine, EngineProgress, Finished, Sink, Watch, keeping_flows};
pub use setup::{FlowSampling, Setup, Storm};
pub use stacks::Stacks;
