//! Recording of a run while it lasts, in bounded memory and without any effect on it: the run over time, samples of
//! queues and senders, one switch, one flow, cycles of pauses, and flows that nothing can finish. In reading order:
//! [`tally`], [`series`], [`sample`], [`monitor`], [`flow_series`], [`tap`], [`trace`], [`deadlock`], [`stranded`].
//!
//! Must not depend on events, threads or domains: the engine decides when to sample and supplies its counters.

pub mod deadlock;
pub mod flow_series;
pub mod monitor;
pub mod sample;
pub mod series;
pub mod stranded;
pub mod tally;
pub mod tap;
pub mod trace;
