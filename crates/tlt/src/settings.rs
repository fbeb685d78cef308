//! The settings of TLT. Nothing is computed here.

use weft_core::{choice, settings};

choice! {
    /// The content of an important packet that is sent although the window is closed.
    pub enum Clocking {
        /// One segment if a loss is likely, otherwise one byte.
        Adaptive = "adaptive",
        /// Always one byte, so that lost payload waits for the window.
        Byte = "byte",
        /// Always one segment.
        Segment = "segment",
    }
}

settings! {
    /// TLT over a window-based transport.
    pub struct WindowTltSettings {
        /// The content of an important packet that is sent although the window is closed.
        clocking: Clocking = Clocking::Adaptive,
    }
}

settings! {
    /// TLT over queue pairs: window-based with `recovery = "selective"`, otherwise rate-based.
    pub struct QueuePairTltSettings {
        /// Rate-based: one in this many packets is important, in addition to the last of a message and the first of
        /// each retransmission; public models have 96 and 48.
        every: u32 [1, 1000000] = 96,
    }
}
