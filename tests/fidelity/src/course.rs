//! The course of an experiment, measured or simulated: windows of flows and the bottleneck's queue over time. Knows
//! neither where it comes from nor what is made of it.

/// What a sender knew at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Seconds.
    pub time: f64,
    /// Congestion window, segments.
    pub cwnd: f64,
    /// Slow-start threshold, segments; negative as long as there is none.
    pub ssthresh: f64,
    /// Smoothed round trip, seconds.
    pub srtt: f64,
    /// Payload acknowledged, bytes.
    pub acked: f64,
    /// Segments sent again so far.
    pub retransmitted: f64,
}

/// The bottleneck's queue at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Queue {
    /// Seconds.
    pub time: f64,
    /// Packets that wait, without the one in service; of several instants the mean.
    pub mean: f64,
    /// The same, of several instants the greatest.
    pub greatest: f64,
}

/// One experiment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Samples of each flow, every 10 ms.
    pub flows: Vec<Vec<Sample>>,
    /// The bottleneck's queue.
    pub queue: Vec<Queue>,
    /// Packets dropped at the bottleneck.
    pub drops: f64,
    /// Packets marked at the bottleneck.
    pub marks: f64,
}

/// A window fell.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fall {
    /// When it was seen, seconds.
    pub time: f64,
    /// Greatest window before.
    pub peak: f64,
    /// Least window after.
    pub trough: f64,
}

/// A window has fallen when it is this share below its peak.
const FALL: f64 = 0.1;
/// A fall is over when the window is this share above its trough.
const RISE: f64 = 0.02;

/// The falls of a window after `from` seconds, without one that is still going on at the end.
#[must_use]
pub fn falls(samples: &[Sample], from: f64) -> Vec<Fall> {
    let (mut falls, mut peak, mut falling) = (Vec::new(), 0.0_f64, None::<Fall>);
    for sample in samples.iter().filter(|sample| sample.time >= from) {
        match &mut falling {
            Some(fall) if sample.cwnd > fall.trough * (1.0 + RISE) => {
                falls.push(*fall);
                (peak, falling) = (sample.cwnd, None);
            }
            Some(fall) => fall.trough = fall.trough.min(sample.cwnd),
            None if sample.cwnd < peak * (1.0 - FALL) => {
                falling = Some(Fall { time: sample.time, peak, trough: sample.cwnd });
            }
            None => peak = peak.max(sample.cwnd),
        }
    }
    falls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saw_tooth_has_its_peaks_troughs_and_times() {
        let tooth = |n: usize| Sample { time: n as f64, cwnd: 50.0 + (n % 51) as f64, ..Sample::default() };
        let samples: Vec<Sample> = (0..160).map(tooth).collect();
        let falls = falls(&samples, 10.0);
        let expected = |time| Fall { time, peak: 100.0, trough: 50.0 };
        assert_eq!(falls, [expected(51.0), expected(102.0), expected(153.0)]);
    }
}
