//! The event list of the bound loop: buckets of 65 ns, sorted when opened. Must not depend on the meaning of its
//! entries. An entry must be at most one turn of the wheel ahead, and not before the last one taken.

/// A bucket is 2^16 ps wide.
const SHIFT: u32 = 16;
const BUCKETS: u64 = 1024;

/// Pending events: time and link.
pub(super) struct Wheel {
    buckets: Vec<Vec<(u64, u32)>>,
    /// The open bucket, latest entry first.
    open: Vec<(u64, u32)>,
    bucket: u64,
    pending: usize,
}

impl Wheel {
    pub(super) fn new() -> Wheel {
        let buckets = (0..BUCKETS).map(|_| Vec::with_capacity(64)).collect();
        Wheel { buckets, open: Vec::with_capacity(64), bucket: 0, pending: 0 }
    }

    #[inline]
    pub(super) fn push(&mut self, time: u64, link: u32) {
        let bucket = time >> SHIFT;
        self.pending += 1;
        if bucket > self.bucket {
            debug_assert!(bucket - self.bucket < BUCKETS);
            self.buckets[(bucket % BUCKETS) as usize].push((time, link));
        } else {
            let place = self.open.partition_point(|other| *other > (time, link));
            self.open.insert(place, (time, link));
        }
    }

    /// The earliest event, if it lies before `limit`.
    #[inline]
    pub(super) fn next(&mut self, limit: u64) -> Option<(u64, u32)> {
        loop {
            if let Some(&(time, link)) = self.open.last() {
                if time >= limit {
                    return None;
                }
                self.open.pop();
                self.pending -= 1;
                return Some((time, link));
            }
            if self.pending == 0 || self.bucket >= limit >> SHIFT {
                return None;
            }
            self.open_next();
        }
    }

    /// Nothing happens before `time`, which is at most one turn ahead unless nothing is pending.
    pub(super) fn turn_to(&mut self, time: u64) {
        if self.pending == 0 {
            self.bucket = time >> SHIFT;
        }
    }

    fn open_next(&mut self) {
        self.bucket += 1;
        let next = &mut self.buckets[(self.bucket % BUCKETS) as usize];
        std::mem::swap(next, &mut self.open);
        self.open.sort_unstable_by(|a, b| b.cmp(a));
    }
}
