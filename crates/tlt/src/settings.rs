//! The settings of TLT. Nothing is computed here.

use weft_core::{choice, settings};

choice! {
    /// What an important packet carries that goes although the window is closed.
    pub enum Clocking {
        /// One segment if a loss is likely, else one byte.
        Adaptive = "adaptive",
        /// Always one byte, so that what is lost waits for the window.
        Byte = "byte",
        /// Always one segment.
        Segment = "segment",
    }
}

settings! {
    /// TLT over a transport with a window.
    pub struct WindowTltSettings {
        /// What an important packet carries that goes although the window is closed.
        clocking: Clocking = Clocking::Adaptive,
    }
}

settings! {
    /// TLT over queue pairs. With `recovery = "selective"` it goes by the window, otherwise by the rate.
    pub struct QueuePairTltSettings {
        /// By the rate: every so many packets one is important, beside the last of a message and the first of each retransmission;
        /// public models have 96 and 48.
        every: u32 [1, 1000000] = 96,
    }
}
