//! What TCP does about losses, apart from the congestion law: the scoreboard, the timers, the reduction in recovery.

pub(crate) mod board;
pub(crate) mod prr;
