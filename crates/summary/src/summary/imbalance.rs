//! Queues of parallel ports: how long they are, and how much they differ. Must not depend on time.

use serde::{Deserialize, Serialize};

/// Mean population standard deviation of the queue lengths of parallel ports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Imbalance {
    /// Which ports.
    pub name: String,
    /// Their hop, as in waits and drops of packets that cross the highest tier.
    pub hop: u8,
    /// In packets.
    pub packets: f64,
    /// In bytes.
    pub bytes: f64,
    /// In packets that wait, without the one in transmission.
    #[serde(default)]
    pub waiting: f64,
    /// Samples times sets of ports.
    pub samples: u64,
    /// Packets waiting at one of these ports.
    #[serde(default)]
    pub lengths: Lengths,
}

/// Packets waiting at a port, over samples and ports; percentiles are exact below 64 packets. The paper on DRILL
/// (SIGCOMM 2017, section 3.2.3) reports the 99.999th percentile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Samples times ports.
    pub count: u64,
    /// Exact mean.
    pub mean: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// 99.99th percentile.
    pub p99_99: f64,
    /// 99.999th percentile.
    pub p99_999: f64,
    /// 99.9999th percentile.
    pub p99_9999: f64,
    /// Exact maximum.
    pub max: f64,
}
