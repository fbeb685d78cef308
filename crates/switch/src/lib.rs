//! The path of one packet through a switch: look up, balance, admit, mark, queue, schedule.
//!
//! A switch is a plain state machine on [headers](weft_core::Header). Must not depend on clocks, sockets, event lists
//! or other switches: a driver (the simulator, a router, a test) hands it packets and the time and carries out the
//! [`Effect`]s. Start reading at [`Switch::receive`]; the path of a packet is that one page, top to bottom.
//!
//! ```text
//! receive: table -> balance -> arbiter -> share (admission) -> trim -> mark -> queue        transmit: schedule -> mark -> wire
//! ```
//!
//! Six families fill the stages; a member is one file and one line: [`balance`], [`arbiter`], [`share`], [`mark`], [`order`],
//! [`schedule`].

pub mod balance;
pub mod flowlet;
pub mod pause;
pub mod settings;

mod cells;
mod class_map;
mod engine;
mod foreseen;
mod groups;
mod join;
mod look;
mod lull;
mod lulls;
mod observe;
mod outputs;
mod pausing;
mod port;
mod priority;
mod refuse;
mod site;
mod state;
mod switch;
mod turn;

/// The family of arbiters, which must not depend on switches.
pub use weft_arbiter as arbiter;
/// The family of sharing rules, which must not depend on switches.
pub use weft_buffer::{self as share, color::ColorSettings};
/// The leaves' knowledge of the congestion of paths; must not depend on balancers.
pub use weft_congestion as congestion;
/// Hashes with which switches choose among ports.
pub use weft_forwarding::hash;
/// The family of markers, which must not depend on switches.
pub use weft_mark as mark;
/// The families of orders and schedulers, which must not depend on switches.
pub use weft_queue::{ClassQueue, ShaperSettings, order, schedule};

pub use balance::{AnyBalancer, Balancer, BalancerSettings, Candidates};
pub use groups::PriorityGroups;
pub use look::PortLook;
pub use observe::Observer;
pub use pause::{HeldBack, PauseCounters, PauseFrame, PfcSettings, ResumeLimit};
pub use port::PortCounters;
pub use settings::{PortSettings, SwitchSettings};
pub use site::SwitchSite;
pub use switch::{Switch, SwitchReading};
pub use turn::{Departure, Effect, Effects, PauseOrder, Sent, SentEarly, Turn, Verdict};
pub use weft_buffer::trim::TrimSettings;
pub use weft_forwarding::{ForwardingTable, Route};
/// The engines' view of queue lengths.
pub use weft_visibility::{self as visibility, SharedOutputs};
pub use weft_voq::VoqSettings;
