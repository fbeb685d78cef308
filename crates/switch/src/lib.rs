//! What a switch does to one packet.
