//! What is known of the bytes in flight once something went wrong, and how the window falls meanwhile. Must not depend
//! on timers or packets.

pub(crate) mod prr;
pub(crate) mod rack;
pub(crate) mod reordering;
pub(crate) mod scoreboard;
