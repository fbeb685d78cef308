//! A TCP sender's loss recovery: the [`scoreboard`] of bytes in flight, loss detection by time ([`rack`]), tolerance of
//! reordering ([`reordering`]) and proportional rate reduction ([`prr`]). Must not depend on timers or packets.

pub mod prr;
pub mod rack;
pub mod reordering;
pub mod scoreboard;
