//! The measurements of H-TCP: the extremes of the round trip, and the throughput achieved. In ticks; must not depend
//! on their length.

/// Smallest and largest round trip, in ticks; zero when there is no sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    /// Minimum of the connection.
    pub(super) shortest: u64,
    /// Maximum of recent epochs.
    pub(super) longest: u64,
}

/// Throughput achieved, in 65536ths of a byte per tick; only ratios are used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throughput {
    /// Bytes acknowledged since `since`.
    bytes: u64,
    since: u64,
    /// Moving average of the samples of this epoch, and its maximum.
    average: u64,
    greatest: u64,
    /// Maximum of the previous epoch.
    previous: u64,
}

impl Throughput {
    /// Counts acknowledged bytes. Once they make a windowful (`enough`) and have taken at least the smallest round
    /// trip, returns the throughput, otherwise zero.
    pub(super) fn add(&mut self, acked: u64, enough: u64, now: u64, shortest: u64) -> u64 {
        self.bytes += acked;
        let elapsed = now - self.since;
        if self.bytes < enough || elapsed < shortest || shortest == 0 {
            return 0;
        }
        let sample = (self.bytes << 16) / elapsed;
        self.restart(now);
        sample
    }

    /// Begins a measurement anew.
    pub(super) fn restart(&mut self, now: u64) {
        (self.bytes, self.since) = (0, now);
    }

    /// Adds a sample; just after a congestion event it replaces the previous value.
    pub(super) fn take(&mut self, sample: u64, fresh: bool) {
        if fresh {
            (self.average, self.greatest) = (sample, sample);
        } else {
            self.average = (3 * self.average + sample) / 4;
            self.greatest = self.greatest.max(self.average);
        }
    }

    /// Whether the maximum throughput of this epoch is within a fifth of that of the previous epoch.
    pub(super) fn was_steady(&self) -> bool {
        (4 * self.previous..=6 * self.previous).contains(&(5 * self.greatest))
    }

    /// Ends the epoch at a congestion event.
    pub(super) fn close_epoch(&mut self) {
        self.previous = self.greatest;
    }
}
