//! What is known of the bytes in flight after a loss, and how the window shrinks meanwhile. Must not depend on timers
//! or packets.

pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod reordering;
pub(crate) mod scoreboard;
