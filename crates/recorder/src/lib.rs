//! What is recorded of a run while it lasts, in bounded memory and without any effect on it: the run over time, samples of
//! queues and senders, one switch, one flow, circles of pauses, and flows that nothing can finish. In reading order:
//! [`tally`], [`series`], [`sample`], [`monitor`], [`flow_series`], [`tap`], [`trace`], [`deadlock`], [`stranded`].
//!
//! Must not depend on events, threads or domains: the engine says when to look and what its counters are.

pub mod deadlock;
pub mod flow_series;
pub mod monitor;
pub mod sample;
pub mod series;
pub mod stranded;
pub mod tally;
pub mod tap;
pub mod trace;
