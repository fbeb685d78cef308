//! Where the packets of a flow waited: by hop, in a fixed amount of memory.

use crate::units::Span;

/// Hops recorded separately; later ones are counted with the last.
pub const WAIT_HOPS: usize = 8;

/// Waiting times in nanoseconds by hop: 0 is the host's network card, 1 the first switch. For a packet in flight, its
/// own; for a flow, the means over its payload packets that arrived. Values are capped at 4 s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopWaits(pub [u32; WAIT_HOPS]);

impl HopWaits {
    /// The waits of a packet that waited this long at its host.
    #[must_use]
    #[inline]
    pub fn at_host(wait: Span) -> HopWaits {
        let mut waits = HopWaits::default();
        waits.0[0] = nanoseconds(wait);
        waits
    }

    /// Adds the packet's wait at a hop.
    #[inline]
    pub fn add(&mut self, hop: u8, wait: Span) {
        let own = &mut self.0[usize::from(hop).min(WAIT_HOPS - 1)];
        *own = own.saturating_add(nanoseconds(wait));
    }

    /// Takes back the time that was added last for this hop: the packet did not wait there after all.
    pub fn take_back(&mut self, hop: u8, wait: Span) {
        let own = &mut self.0[usize::from(hop).min(WAIT_HOPS - 1)];
        *own = own.saturating_sub(nanoseconds(wait));
    }

    /// Nothing was recorded, or nothing waited.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == HopWaits::default()
    }
}

#[inline]
fn nanoseconds(wait: Span) -> u32 {
    u32::try_from(wait.0 / 1_000).unwrap_or(u32::MAX)
}

/// The waits of packets that arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitSum {
    packets: u64,
    nanoseconds: [u64; WAIT_HOPS],
}

impl WaitSum {
    /// A packet arrived.
    #[inline]
    pub fn add(&mut self, waits: &HopWaits) {
        self.packets += 1;
        self.nanoseconds.iter_mut().zip(waits.0).for_each(|(sum, wait)| *sum += u64::from(wait));
    }

    /// The means, rounded down.
    #[must_use]
    pub fn mean(&self) -> HopWaits {
        let packets = self.packets.max(1);
        HopWaits(self.nanoseconds.map(|sum| u32::try_from(sum / packets).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_the_mean_of_its_packets_by_hop() {
        let mut sum = WaitSum::default();
        for micros in [1, 2, 6] {
            let mut packet = HopWaits::at_host(Span::from_us(micros));
            packet.add(2, Span::from_us(10));
            packet.add(30, Span::from_us(4));
            sum.add(&packet);
        }
        assert_eq!(sum.mean(), HopWaits([3_000, 0, 10_000, 0, 0, 0, 0, 4_000]));
        assert_eq!(WaitSum::default().mean(), HopWaits::default());
    }
}
