//! Identifiers: small integers with a type. Numbering follows the topology (hosts by leaf, ports in the order given
//! there), so that runs are comparable between machines and versions.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $inner);

        impl $name {
            /// The id as an index into an array.
            #[must_use]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(/// A host: one network card, one or more flows. 
    HostId(u32), "host");
id!(/// A switch.
    SwitchId(u32), "switch");
id!(/// A port of one switch, counted from 0 within the switch.
    PortId(u16), "port");
id!(/// One direction of a cable, and at the same time the transmitter that feeds it. 
    LinkId(u32), "link");
id!(/// A flow of the workload, counted in order of start time.
    FlowId(u32), "flow");
id!(/// A group of equal-cost ports of one switch, or one component of a group; destinations with identical ones share it.
    GroupId(u32), "group");

/// A packet's place in the pool, from birth to death. It is kept as 16 times its number, so that columns with entries of 16,
/// 32 and 64 bytes are addressed without a shift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(u32);

impl PacketId {
    /// No packet: the end of a queue.
    pub const NONE: PacketId = PacketId::new(PacketId::MOST);
    /// Ids are smaller than this.
    pub(crate) const MOST: u32 = u32::MAX / PacketId::STEP;
    /// What an id is a multiple of.
    pub(crate) const STEP: u32 = 16;

    /// The packet of this number, modulo 2^28.
    #[must_use]
    #[inline]
    pub const fn new(number: u32) -> PacketId {
        PacketId(number.wrapping_mul(PacketId::STEP))
    }

    /// The id as an index into an array.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 / PacketId::STEP) as usize
    }

    /// The offset of the id's entry, or of that of `last` if it is smaller, in a column with entries of `size` bytes.
    #[inline]
    pub(crate) fn offset(self, last: PacketId, size: usize) -> usize {
        let (id, step) = (self.0.min(last.0) as usize, PacketId::STEP as usize);
        if size.is_multiple_of(step) { id * (size / step) } else { id / step * size }
    }
}

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "packet{}", self.index())
    }
}
