//! What a TCP sender knows of the bytes in flight once something went wrong, and how its window falls meanwhile: the
//! [`scoreboard`], loss detection by time ([`rack`]), tolerance of reordering ([`reordering`]) and proportional rate reduction
//! ([`prr`]). Must not depend on timers or packets.

pub mod prr;
pub mod rack;
pub mod reordering;
pub mod scoreboard;
