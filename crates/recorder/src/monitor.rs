//! A queue monitor: reports queues that samples show longer than a threshold, as the monitors of switches do. Must not
//! depend on who samples, and when.

use std::collections::VecDeque;
use std::sync::Arc;

use weft_core::record::{QueueEvent, QueueEvents, QueueStage};
use weft_core::{Bytes, LinkId, PortId, SwitchId, Time};

/// Maximum number of lines kept, the last ones; earlier lines are counted.
const MAX_LINES: usize = 1_000_000;

/// A queue that is monitored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitoredQueue {
    /// The switch.
    pub switch: SwitchId,
    /// Its output port.
    pub port: PortId,
    /// The link of that port.
    pub link: LinkId,
    /// The group of inputs.
    pub group: u16,
    /// The ports of the group, as in `0-3,12`.
    pub inputs: Arc<str>,
}

/// The state of all monitored queues, and the lines so far.
#[derive(Debug)]
pub struct QueueMonitor {
    above: Bytes,
    queues: Vec<(MonitoredQueue, Option<Excess>)>,
    lines: VecDeque<QueueEvent>,
    left_out: u64,
}

/// A queue that is longer than the threshold.
#[derive(Clone, Copy, Debug)]
struct Excess {
    since: Time,
    longest: u64,
}

impl QueueMonitor {
    /// A monitor of queues that have not been sampled yet.
    #[must_use]
    pub fn new(above: Bytes, queues: Vec<MonitoredQueue>) -> QueueMonitor {
        let queues = queues.into_iter().map(|queue| (queue, None)).collect();
        QueueMonitor { above, queues, lines: VecDeque::new(), left_out: 0 }
    }

    /// Takes a sample of every queue, in their order.
    pub fn add(&mut self, now: Time, lengths: impl Iterator<Item = u64>) {
        for ((queue, excess), length) in self.queues.iter_mut().zip(lengths) {
            let Some((stage, length, lasted)) = look(excess, (now, length), self.above.0) else { continue };
            if self.lines.len() == MAX_LINES {
                self.lines.pop_front();
                self.left_out += 1;
            }
            let (link, inputs, length) = (queue.link, Arc::clone(&queue.inputs), Bytes(length));
            self.lines.push_back(QueueEvent { time: now, stage, link, inputs, length, lasted });
        }
    }

    /// The lines so far.
    #[must_use]
    pub fn events(&self) -> QueueEvents {
        QueueEvents { lines: self.lines.iter().cloned().collect(), left_out: self.left_out }
    }
}

/// The report of a sample of a queue: the stage, the length, and at the end the duration.
fn look(
    excess: &mut Option<Excess>,
    (now, length): (Time, u64),
    above: u64,
) -> Option<(QueueStage, u64, Option<weft_core::Span>)> {
    match excess {
        None if length > above => {
            *excess = Some(Excess { since: now, longest: length });
            Some((QueueStage::Start, length, None))
        }
        None => None,
        Some(running) if length > above => {
            running.longest = running.longest.max(length);
            Some((QueueStage::Update, length, None))
        }
        Some(Excess { since, longest }) => {
            let ended = (QueueStage::End, *longest, Some(now.since(*since)));
            *excess = None;
            Some(ended)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::Span;

    const MB: u64 = 1_000_000;

    /// One line: the second, the queue, the letter, megabytes and, at the end, seconds.
    type Told = (u64, u16, &'static str, u64, Option<u64>);

    /// The lines of a monitor of several queues with a threshold of 5 MB, for samples taken once a second, in
    /// megabytes.
    fn told(samples: &[&[u64]]) -> Vec<Told> {
        let queue = |group: usize| MonitoredQueue {
            switch: SwitchId(0),
            port: PortId(30),
            link: LinkId(7),
            group: group as u16,
            inputs: group.to_string().into(),
        };
        let queues = (0..samples[0].len()).map(queue).collect();
        let mut monitor = QueueMonitor::new(Bytes(5 * MB), queues);
        for (second, lengths) in samples.iter().enumerate() {
            monitor.add(Time::ZERO + Span::from_ms(1_000) * second as u64, lengths.iter().map(|mb| mb * MB));
        }
        let seconds = |span: Span| span.0 / Span::from_ms(1_000).0;
        let line = |line: QueueEvent| {
            let at = seconds(line.time.since(Time::ZERO));
            (
                at,
                line.inputs.parse().expect("one port"),
                line.stage.letter(),
                line.length.0 / MB,
                line.lasted.map(seconds),
            )
        };
        monitor.events().lines.into_iter().map(line).collect()
    }

    /// A queue of 17 MB that shrinks and ends, as a monitor at 1 Hz shows it: start, update, and at the end the longest
    /// sample and the whole duration.
    #[test]
    fn a_queue_starts_is_updated_and_ends_with_its_longest_sample() {
        let lines = told(&[&[0], &[17], &[11], &[20], &[5], &[0]]);
        assert_eq!(
            lines,
            [(1, 0, "S", 17, None), (2, 0, "U", 11, None), (3, 0, "U", 20, None), (4, 0, "E", 20, Some(3))]
        );
    }

    /// The threshold itself is not too long, and a queue between two samples is not seen.
    #[test]
    fn what_no_sample_exceeds_is_not_reported() {
        assert_eq!(told(&[&[5], &[5], &[0]]), []);
    }

    /// Queues of one port from different inputs have lines of their own.
    #[test]
    fn groups_are_reported_apart() {
        let lines = told(&[&[19, 0, 23], &[0, 10, 24], &[0, 0, 0]]);
        assert_eq!(
            lines,
            [
                (0, 0, "S", 19, None),
                (0, 2, "S", 23, None),
                (1, 0, "E", 19, Some(1)),
                (1, 1, "S", 10, None),
                (1, 2, "U", 24, None),
                (2, 1, "E", 10, Some(1)),
                (2, 2, "E", 24, Some(2)),
            ]
        );
    }

    /// Beyond the maximum the oldest lines go, and are counted.
    #[test]
    fn what_is_not_kept_is_counted() {
        let queue = MonitoredQueue {
            switch: SwitchId(0),
            port: PortId(0),
            link: LinkId(0),
            group: 0,
            inputs: "0-7".into(),
        };
        let mut monitor = QueueMonitor::new(Bytes(0), vec![queue]);
        for sample in 0..MAX_LINES as u64 + 3 {
            monitor.add(Time(sample), std::iter::once(1));
        }
        let events = monitor.events();
        assert_eq!((events.left_out, events.lines.len()), (3, MAX_LINES));
        assert_eq!((events.lines[0].time, events.lines[0].stage), (Time(3), QueueStage::Update));
    }

    /// A queue that is too long at the end of a run has no end; one that returns starts again.
    #[test]
    fn a_queue_may_return_and_stay() {
        let lines = told(&[&[9], &[1], &[8], &[7]]);
        let letters: Vec<_> = lines.iter().map(|line| line.2).collect();
        assert_eq!(letters, ["S", "E", "S", "U"]);
    }
}
