//! Shaping: limits the rate of a port, or of some of its queues, apart from bursts. A token bucket in the form of the
//! virtual scheduling algorithm (ITU-T I.371): instead of a level that must be updated, it stores the instant at which
//! the bucket will be full. The bucket may be overdrawn by one packet, so that the time at which it opens does not
//! depend on the waiting packet.

use weft_core::{Bytes, Rate, Span, Time, Transmission, settings};

settings! {
    /// A shaper: a token bucket in front of a transmitter.
    pub struct ShaperSettings {
        /// Maximum rate in the long run, in wire bytes.
        rate: Rate = Rate::from_gbps(1),
        /// Bytes that may leave at line rate after a pause, plus one packet.
        burst: Bytes = Bytes(16_000),
        /// The queues that share this shaper; absent: all queues of the port.
        queues: Vec<u32> = Vec::new(),
    }
}

/// The shaper of one port.
#[derive(Clone, Debug)]
pub struct Shaper {
    transmission: Transmission,
    /// Time that the bucket takes to fill.
    depth: Span,
    /// When the bucket is full.
    full_at: Time,
    /// Bit q: queue q is shaped.
    queues: u8,
    /// When the driver will call because the bucket opens; never if it was not asked to.
    pub called: Time,
}

impl Shaper {
    /// A shaper with a full bucket.
    pub fn new(settings: &ShaperSettings) -> Shaper {
        let named = settings.queues.iter().fold(0, |set, queue| set | 1 << (queue & 7));
        Shaper {
            transmission: Transmission::at(settings.rate),
            depth: settings.rate.time_for(settings.burst),
            full_at: Time::ZERO,
            queues: if named == 0 { u8::MAX } else { named },
            called: Time::NEVER,
        }
    }

    /// Whether it shapes a queue.
    #[inline]
    pub fn shapes(&self, queue: usize) -> bool {
        self.queues >> queue & 1 == 1
    }

    /// When the next packet may leave, if not now.
    pub fn opens_at(&self, now: Time) -> Option<Time> {
        let opens = Time(self.full_at.0.saturating_sub(self.depth.0));
        (opens > now).then_some(opens)
    }

    /// Called when a packet of a shaped queue begins to leave.
    pub fn sends(&mut self, now: Time, wire: u16) {
        self.full_at = self.full_at.max(now) + self.transmission.time(wire);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 Gb/s and 3000 bytes: two packets of 1500 and a third leave at once, then one every 12 us.
    #[test]
    fn a_burst_then_the_rate() {
        let settings = ShaperSettings { burst: Bytes(3_000), ..ShaperSettings::default() };
        let mut shaper = Shaper::new(&settings);
        let (mut now, mut sent) = (Time::ZERO, Vec::new());
        for _ in 0..6 {
            now = shaper.opens_at(now).unwrap_or(now);
            shaper.sends(now, 1_500);
            sent.push(now.0 / 1_000_000);
        }
        assert_eq!(sent, [0, 0, 0, 12, 24, 36], "the third overdraws the bucket");
        assert_eq!(shaper.opens_at(now + Span::from_us(12)), None);
    }
}
