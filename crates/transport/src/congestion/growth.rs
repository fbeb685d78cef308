//! The two kinds of growth that all laws of this family use: slow start, and one segment per a number of acknowledged
//! bytes. Reductions common to several laws are also here. Must not depend on any particular law.

use super::{AckEvent, CongestionEvent, LawSite, Window};

/// Slow start: the window grows by the acknowledged bytes, at most by the site's slow-start limit, up to the threshold.
/// Returns the bytes left for congestion avoidance when the threshold is reached within this acknowledgement.
pub(super) fn slow_start(window: &mut Window, acked: u64, site: &LawSite) -> u64 {
    if !window.in_slow_start() {
        return acked;
    }
    let counted = acked.min(site.slow_start_limit);
    let used = counted.min(window.ssthresh - window.cwnd);
    window.cwnd += used;
    counted - used
}

/// Congestion avoidance with appropriate byte counting (RFC 3465): acknowledged bytes accumulate, and each windowful
/// is worth `alpha` segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gathered(u64);

impl Gathered {
    /// One segment per window of acknowledged bytes (AIMD with increase 1).
    pub(super) fn grow(&mut self, window: &mut Window, acked: u64) {
        self.0 += acked;
        while self.0 >= window.cwnd {
            self.0 -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// Resets the accumulated bytes, because the window was reduced.
    pub(super) fn clear(&mut self) {
        self.0 = 0;
    }
}

/// Reno's growth: slow start, then one segment per round trip (RFC 5681, section 3.1).
pub(super) fn reno(window: &mut Window, ack: &AckEvent, site: &LawSite, gathered: &mut Gathered) {
    if !ack.cwnd_limited {
        return;
    }
    let left = slow_start(window, ack.acked, site);
    if !window.in_slow_start() {
        gathered.grow(window, left);
    }
}

/// The window used for a reduction: the bytes in flight, without those sent beyond the window by limited transmit
/// (RFC 5681, section 3.2, step 1).
pub(super) fn flight(window: &Window, event: &CongestionEvent) -> u64 {
    event.in_flight.min(window.cwnd)
}

/// The minimum window after a reduction: two segments (RFC 5681, equation 4).
pub(super) fn at_least_two_segments(bytes: u64, window: &Window) -> u64 {
    bytes.max(2 * window.mss)
}
