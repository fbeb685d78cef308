//! The identity of a virtual output queue. Must not depend on its contents.

use weft_core::PortId;

/// A virtual output queue: at the inputs of a group, for one class of one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VoqKey {
    /// The group of the input port.
    pub group: u16,
    /// The output.
    pub port: PortId,
    /// The class.
    pub class: u8,
}
