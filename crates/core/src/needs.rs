//! What an end of a flow tells its host after each call. Must not depend on what is in a packet.

use crate::units::Time;

/// What an end needs from its host, valid after each call that changes the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// The end must be woken at this instant at the latest; [`Time::NEVER`] if nothing is due.
    pub wake: Time,
    /// It has a packet for the network card.
    pub ready: bool,
    /// All payload has arrived, as far as this end knows. The flow is complete, and its time is recorded, when its receiver says so.
    pub complete: bool,
    /// Its state may be dropped, because it neither sends nor waits for anything. A receiver is often complete before it is done, for
    /// instance while its last acknowledgement waits for the card; packets that come later get `Stack::reply_after_close`.
    pub done: bool,
    /// It needs something from the host part: see `End::ask`.
    pub asks: bool,
}

impl Needs {
    /// Nothing at all.
    pub const NOTHING: Needs =
        Needs { wake: Time::NEVER, ready: false, complete: false, done: false, asks: false };
}
