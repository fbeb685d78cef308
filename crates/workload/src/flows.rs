//! All flows of a run in the order of their start, drawn on demand, so that future flows take no memory if their
//! pattern needs no list. Must not depend on patterns.

use crate::flow::Flow;
use std::collections::VecDeque;
use std::iter::Peekable;
use std::sync::Arc;
use weft_core::Time;
use weft_jobs::ClusterJob;

/// Ordered flows that can be drawn again from the current position: any cloneable iterator of flows.
pub trait Draw: Iterator<Item = Flow> + Send + Sync {
    /// A copy that draws the same flows from the current position.
    fn again(&self) -> Box<dyn Draw>;
}

impl<T: Iterator<Item = Flow> + Clone + Send + Sync + 'static> Draw for T {
    fn again(&self) -> Box<dyn Draw> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Draw> {
    fn clone(&self) -> Self {
        (**self).again()
    }
}

/// The flows of a run, numbered by their order. Every iteration draws them again.
#[derive(Clone)]
pub struct Flows {
    drawn: Box<dyn Draw>,
    count: usize,
    /// The first and the last start.
    starts: (Time, Time),
    /// No traffic starts before this instant.
    begins: Time,
    /// By traffic entry: the instant from which none of its flows gets a turn; absent, as for missing entries: its
    /// flows do not take turns.
    in_turn: Arc<[Option<Time>]>,
    /// Jobs, which add flows during the run.
    jobs: Arc<[ClusterJob]>,
}

impl Flows {
    /// The flows of `drawn`, ordered by start; `None` if there are more than `most`. Draws them once, to count them.
    #[must_use]
    pub fn counted(drawn: impl Draw + 'static, most: usize) -> Option<Flows> {
        let (mut count, mut starts) = (0, (Time::ZERO, Time::ZERO));
        for flow in drawn.again().take(most + 1) {
            starts = (if count == 0 { flow.start } else { starts.0 }, flow.start);
            count += 1;
        }
        let drawn = Box::new(drawn);
        (count <= most).then_some(Flows {
            drawn,
            count,
            starts,
            begins: Time::ZERO,
            in_turn: Arc::default(),
            jobs: Arc::default(),
        })
    }

    /// For traffic entries with an instant here, a host sends one flow at a time, in order. Such a flow starts at its
    /// drawn time or, if later, when the previous one is done; never at or after the instant.
    #[must_use]
    pub fn taking_turns(self, entries: &[Option<Time>]) -> Flows {
        Flows { in_turn: entries.into(), ..self }
    }

    /// Adds jobs, which start further flows during the run when earlier ones have finished.
    #[must_use]
    pub fn with_jobs(self, jobs: Vec<ClusterJob>) -> Flows {
        Flows { jobs: jobs.into(), ..self }
    }

    /// The jobs, before they have started.
    #[must_use]
    pub fn jobs(&self) -> &[ClusterJob] {
        &self.jobs
    }

    /// Whether flows of this traffic entry wait for their turn.
    #[must_use]
    pub fn is_in_turn(&self, tag: u16) -> bool {
        self.last_turn(tag).is_some()
    }

    /// The instant from which no flow of this traffic entry gets a turn, if its flows take turns.
    #[must_use]
    pub fn last_turn(&self, tag: u16) -> Option<Time> {
        self.in_turn.get(usize::from(tag)).copied().flatten()
    }

    /// Whether any flow waits for its turn.
    #[must_use]
    pub fn take_turns(&self) -> bool {
        self.in_turn.iter().any(Option::is_some)
    }

    /// The starts of the first and the last flow, if flows arrive over time: they neither start together nor wait for
    /// each other, and no job adds more.
    #[must_use]
    pub fn arrivals(&self) -> Option<(Time, Time)> {
        (self.starts.0 < self.starts.1 && !self.take_turns() && self.jobs.is_empty()).then_some(self.starts)
    }

    /// The same flows of traffic that starts at or after `begins`, whenever its first flow does.
    #[must_use]
    pub fn beginning(self, begins: Time) -> Flows {
        Flows { begins, ..self }
    }

    /// The instant before which no traffic starts.
    #[must_use]
    pub fn begins(&self) -> Time {
        self.begins
    }

    /// The number of flows, without those that jobs add.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.jobs.is_empty()
    }

    /// The flows, from the first.
    #[must_use]
    pub fn iter(&self) -> Box<dyn Draw> {
        self.drawn.again()
    }
}

impl IntoIterator for &Flows {
    type Item = Flow;
    type IntoIter = Box<dyn Draw>;

    fn into_iter(self) -> Box<dyn Draw> {
        self.iter()
    }
}

/// A list, ordered by start; flows that start together keep their order.
impl From<Vec<Flow>> for Flows {
    fn from(mut flows: Vec<Flow>) -> Flows {
        flows.sort_by_key(|flow| flow.start);
        let start = |flow: Option<&Flow>| flow.map_or(Time::ZERO, |flow| flow.start);
        let starts = (start(flows.first()), start(flows.last()));
        Flows {
            count: flows.len(),
            starts,
            begins: Time::ZERO,
            drawn: Box::new(Listed::new(flows)),
            in_turn: Arc::default(),
            jobs: Arc::default(),
        }
    }
}

impl FromIterator<Flow> for Flows {
    fn from_iter<I: IntoIterator<Item = Flow>>(flows: I) -> Flows {
        flows.into_iter().collect::<Vec<_>>().into()
    }
}

/// Flows that must be generated all at once; drawing them again does not copy them.
#[derive(Clone)]
pub(crate) struct Listed {
    flows: Arc<[Flow]>,
    next: usize,
}

impl Listed {
    pub(crate) fn new(flows: Vec<Flow>) -> Listed {
        Listed { flows: flows.into(), next: 0 }
    }
}

impl Iterator for Listed {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        let flow = self.flows.get(self.next).copied();
        self.next += usize::from(flow.is_some());
        flow
    }
}

/// Merges the flows of several entries, each in the order of its start. Flows that start together are ordered, so
/// that the result does not depend on how an entry draws them.
#[derive(Clone)]
pub(crate) struct Merged {
    entries: Vec<Peekable<Box<dyn Draw>>>,
    /// Flows from this instant on are measured; when none remain to measure, nothing more starts.
    warm_up: Time,
    left: u64,
    /// The flows of the next instant.
    together: VecDeque<Flow>,
}

impl Merged {
    /// Ends with the last of the first `measured` flows that start at or after `warm_up`.
    pub(crate) fn new(entries: Vec<Peekable<Box<dyn Draw>>>, warm_up: Time, measured: u64) -> Merged {
        Merged { entries, warm_up, left: measured, together: VecDeque::new() }
    }

    /// Whether some entry has another flow at this instant.
    fn begins_another(&mut self, at: Time) -> bool {
        self.entries.iter_mut().any(|entry| entry.peek().is_some_and(|flow| flow.start == at))
    }

    /// The next flow of any entry; at equal times, the first entry goes first.
    fn earliest(&mut self, at: Option<Time>) -> Option<Flow> {
        let heads = self.entries.iter_mut().enumerate();
        let heads = heads.filter_map(|(index, entry)| Some((entry.peek()?.start, index)));
        let (start, first) = heads.min()?;
        if self.left == 0 || at.is_some_and(|at| at != start) {
            return None;
        }
        self.left -= u64::from(start >= self.warm_up);
        let flow = self.entries[first].next();
        let follows = |next: &Flow| next.start >= start;
        debug_assert!(
            self.entries[first].peek().is_none_or(follows),
            "an entry's flows are in order of start"
        );
        flow
    }
}

impl Iterator for Merged {
    type Item = Flow;

    fn next(&mut self) -> Option<Flow> {
        if self.together.is_empty() {
            let first = self.earliest(None)?;
            if !self.begins_another(first.start) {
                return Some(first);
            }
            self.together.push_back(first);
            while let Some(flow) = self.earliest(Some(first.start)) {
                self.together.push_back(flow);
            }
            self.together.make_contiguous().sort_by_key(Flow::key);
        }
        self.together.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_core::{Bytes, HostId};

    fn flow(start: u64, tag: u16, source: u32) -> Flow {
        Flow::new(tag, Time(start), (HostId(source), HostId(99)), Bytes(1))
    }

    fn merged(entries: &[&[Flow]], measured: u64) -> Vec<(u64, u16, u32)> {
        let open = |flows: &&[Flow]| (Box::new(Listed::new(flows.to_vec())) as Box<dyn Draw>).peekable();
        let merged = Merged::new(entries.iter().map(open).collect(), Time(5), measured);
        merged.map(|flow| (flow.start.0, flow.tag, flow.source.0)).collect()
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "an entry's flows are in order of start")]
    fn an_entry_in_disorder_is_noticed() {
        merged(&[&[flow(6, 0, 1), flow(1, 0, 2)]], u64::MAX);
    }

    #[test]
    fn entries_are_merged_by_start_and_flows_of_an_instant_are_ordered() {
        let first = [flow(1, 0, 7), flow(6, 0, 3), flow(6, 0, 1)];
        let second = [flow(6, 1, 0), flow(9, 1, 0)];
        let all = [(1, 0, 7), (6, 0, 1), (6, 0, 3), (6, 1, 0), (9, 1, 0)];
        assert_eq!(merged(&[&first, &second], u64::MAX), all);
        // The limit counts flows as they are drawn: of those at 6 the first two.
        assert_eq!(merged(&[&first, &second], 2), all[..3]);
        assert_eq!(merged(&[&second, &first], 2), [all[0], all[2], all[3]]);
    }

    #[test]
    fn flows_are_drawn_anew_and_not_more_than_allowed() {
        let endless = || (0..).map(|number| flow(number, 0, 1));
        let flows = Flows::counted(endless().take(10), 10).expect("ten are allowed");
        assert_eq!((flows.len(), flows.iter().count(), flows.iter().count()), (10, 10, 10));
        assert!(Flows::counted(endless(), 10).is_none());
    }
}
