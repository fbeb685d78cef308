//! Lulls of a switch that pauses its senders. While it holds so little that no sender can be paused, only arrivals
//! decide when packets leave a port that is not held: departures are known when packets arrive, and a packet of an
//! earlier queue postpones others.
//!
//! What a switch may still take before it could pause a sender is counted now and then: by all bytes that it holds or, if
//! these are many, by those that came from each port. A lull ends when there is hardly any room, or when a packet has
//! postponed too many: foreseen departures are revoked, and packets that have not left are queued and charged like all later arrivals. The next
//! lull begins when a port is idle, no sender is paused, and an eighth of the room is free again; a port takes part
//! once it is empty. When a port is held, only its own departures are revoked; it takes part again when it is
//! released and empty.

use weft_core::PortId;
use weft_foresight::RevocableForesight;

use crate::settings::SwitchSettings;

/// The state of a switch with ports that foresee departures in lulls.
#[derive(Default)]
pub(crate) struct Lull {
    pub(crate) lasts: bool,
    /// A packet has postponed too many others: it ends with the next arrival.
    pub(crate) over: bool,
    /// Up to this many bytes in the switch, no sender can be paused.
    pub(crate) quiet: u64,
    /// Up to this many bytes in the switch, no packet is refused.
    pub(crate) admits: u64,
    /// Until this many bytes have arrived, no sender can be paused; then it must be counted again.
    pub(crate) room: u64,
    /// The foreseen bytes of each port of entry and priority group; reused.
    pub(crate) counts: Vec<u64>,
    /// Bytes at ports with a queue that is held or discards: they foresee nothing.
    pub(crate) held: Vec<(PortId, Box<RevocableForesight>)>,
}

/// A lull ends after one packet has postponed more than this many others: with long queues, an event for each
/// departure costs less.
pub(crate) const MANY: usize = 16;

/// Whether the settings of pauses allow lulls.
pub(crate) fn allowed_by(settings: &SwitchSettings) -> bool {
    settings.pfc.lossless(settings.queues as usize) != 0 && !settings.color.is_on()
}
