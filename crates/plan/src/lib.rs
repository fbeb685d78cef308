//! The interface between the engine of a run and its callers: the input ([`Setup`]), the output during the run
//! ([`Sink`], [`Watch`]), and the engine ([`Engine`]).
//!
//! Must not depend on the inside of engines, files, scenarios or reports.

mod alone;
mod devices;
mod division;
mod engine;
mod record;
mod setup;
mod stacks;
mod switch;
mod volume;

pub use alone::Alone;
pub use devices::{DeviceKind, DeviceKinds};
pub use division::{Division, Threads};
pub use engine::{Engine, EngineProgress, Finished, Sink, Watch, keeping_flows};
pub use setup::{FlowSampling, Setup, Storm};
pub use stacks::Stacks;
pub use volume::RunVolume;
