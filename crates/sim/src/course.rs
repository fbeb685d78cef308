//! The course of a run: run on, change the network, sample the queues, stop. Every thread follows its own copy, fed
//! with the same state, and makes the same decisions.

use weft_core::record::Stop;
use weft_core::{Span, Time};
use weft_recorder::series::SeriesClock;
use weft_recorder::stranded;

use crate::plan::RunPlan;

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CourseStep {
    /// Run all events before this instant.
    Run(Time),
    /// Apply this change of the timeline.
    Change(usize),
    /// Sample queues and flows, after all events of this instant.
    Look(Time),
    /// Record the traffic carried so far, after all events of this instant: the last flow has started.
    Note(Time),
    /// The run is over.
    Stop(Stop),
}

/// The progress of all domains, combined.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// The next event of any domain.
    pub(crate) next: Time,
    /// The last event of any domain so far.
    pub(crate) last: Time,
    /// Flows whose last byte has arrived, or that will never get a turn.
    pub(crate) completed: usize,
    /// Flows to be completed; more while a job may add some.
    pub(crate) wanted: usize,
    /// Whether the run was asked to stop.
    pub(crate) interrupted: bool,
    /// Whether no open flow can ever finish, so that the run ends at the next check. Known one step after the check
    /// that found it, on one thread or several.
    pub(crate) stuck: bool,
}

/// Decides what a run does next: run on, change the network, sample, stop.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    grid: Span,
    /// Domains must meet at every instant of the grid.
    meet: bool,
    changes: Vec<Time>,
    next_change: usize,
    /// Intervals between samples of queues and flows, and between checks for deadlocks and stranded flows; zero:
    /// none.
    every: [Span; 4],
    /// When bins of the time series end.
    series: Option<SeriesClock>,
    next_look: Time,
    /// When the last flow starts; `NEVER` once recorded.
    note: Time,
    limit: Time,
    /// All events before this instant have happened.
    pub(crate) reached: Time,
}

const INSTANT: Span = Span(1);

/// The next multiple of any of the intervals.
fn look_after(now: Time, every: [Span; 4]) -> Time {
    let next = |every: Span| {
        if every == Span::ZERO { Time::NEVER } else { Time((now.0 / every.0 + 1).saturating_mul(every.0)) }
    };
    every.into_iter().map(next).min().unwrap_or(Time::NEVER)
}

/// When the current bin of the time series ends.
fn bin_ends(series: Option<SeriesClock>) -> Time {
    series.map_or(Time::NEVER, |series| series.next())
}

impl Course {
    pub(crate) fn new(plan: &RunPlan) -> Course {
        let setup = &plan.setup;
        let flows = setup.flow_samples.map(|sampling| sampling.every);
        let deadlocks =
            setup.switch_kinds().find(|kind| kind.pfc.is_on()).map(|kind| kind.pfc.deadlock_every);
        let stranded = plan.remains.as_ref().map(|_| stranded::EVERY);
        let every = [setup.queues_every, flows, deadlocks, stranded].map(|every| every.unwrap_or(Span::ZERO));
        let series = SeriesClock::new(setup);
        Course {
            grid: plan.partition.grid,
            meet: plan.partition.domains > 1,
            changes: setup.timeline.changes.iter().map(|(time, _)| *time).collect(),
            next_change: 0,
            every,
            series,
            next_look: look_after(Time::ZERO, every).min(bin_ends(series)),
            note: setup.flows.arrivals().map_or(Time::NEVER, |(_, last)| last),
            limit: setup.until,
            reached: Time::ZERO,
        }
    }

    /// The end of a run whose last flow completed just before `reached`: the next instant of the grid, but not beyond
    /// the limit; otherwise pending events would decide which comes first.
    fn finish(&self) -> Time {
        let on_grid = Time(self.reached.0.div_ceil(self.grid.0) * self.grid.0);
        on_grid.min(self.limit + INSTANT)
    }

    /// The next step. A change precedes all events of its instant, a sample follows them.
    pub(crate) fn next(&mut self, standing: &Standing) -> CourseStep {
        if standing.interrupted {
            return self.stop(Stop::Interrupted, standing.last);
        }
        let done = standing.completed == standing.wanted;
        let end = if done { self.finish() } else { Time::NEVER };
        let change = self.changes.get(self.next_change).copied().unwrap_or(Time::NEVER);
        let pending = standing.next.min(change);
        if self.note < pending && self.note < self.next_look {
            return self.note_carried();
        }
        let look = if pending == Time::NEVER { Time::NEVER } else { self.next_look };
        let first = pending.min(look);
        if done && (self.reached >= end || first >= end) {
            return self.stop(Stop::Finished, end);
        }
        if first == Time::NEVER {
            return self.stop(Stop::Stuck, standing.last);
        }
        if first > self.limit {
            return self.stop(Stop::TimeLimit, self.limit);
        }
        self.go_on(standing, change, look, end)
    }

    fn note_carried(&mut self) -> CourseStep {
        let now = std::mem::replace(&mut self.note, Time::NEVER);
        self.reached = self.reached.max(now + INSTANT);
        CourseStep::Note(now)
    }

    fn go_on(&mut self, standing: &Standing, change: Time, look: Time, end: Time) -> CourseStep {
        let next = standing.next;
        if change <= next && change <= look {
            self.next_change += 1;
            return CourseStep::Change(self.next_change - 1);
        }
        if look < next && standing.stuck {
            return self.stop(Stop::Stuck, look);
        }
        if look < next {
            if let Some(series) = self.series.as_mut().filter(|series| series.next() == look) {
                series.advance();
            }
            self.next_look = look_after(look, self.every).min(bin_ends(self.series));
            self.reached = look + INSTANT;
            return CourseStep::Look(look);
        }
        let meeting = if self.meet {
            Time((next.0 / self.grid.0 + 1).saturating_mul(self.grid.0))
        } else {
            Time::NEVER
        };
        let looked = look.min(self.note) + INSTANT;
        let until = change.min(looked).min(self.limit + INSTANT).min(meeting).min(end);
        CourseStep::Run(until)
    }

    fn stop(&mut self, why: Stop, at: Time) -> CourseStep {
        self.reached = at;
        CourseStep::Stop(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        Course {
            grid: Span(10),
            meet: true,
            changes: vec![Time(25), Time(25)],
            next_change: 0,
            every: [Span(7), Span::ZERO, Span::ZERO, Span::ZERO],
            series: None,
            next_look: Time(7),
            note: Time::NEVER,
            limit: Time(1_000),
            reached: Time::ZERO,
        }
    }

    /// Events at the given instants; the flow completes with the last but two.
    fn follow(course: &mut Course, events: &[u64]) -> Vec<CourseStep> {
        let (mut steps, mut done) = (Vec::new(), 0);
        loop {
            let standing = Standing {
                next: events.get(done).map_or(Time::NEVER, |time| Time(*time)),
                last: Time(done.checked_sub(1).map_or(0, |last| events[last])),
                completed: usize::from(done + 2 >= events.len()),
                wanted: 1,
                interrupted: false,
                stuck: false,
            };
            let step = course.next(&standing);
            if let CourseStep::Run(until) = step {
                done = events.partition_point(|time| Time(*time) < until);
                course.reached = until;
            }
            steps.push(step);
            if let CourseStep::Stop(_) = step {
                return steps;
            }
        }
    }

    #[test]
    fn looks_come_at_the_multiples_of_either_interval() {
        let every = [Span(7), Span(10), Span::ZERO, Span::ZERO];
        let looks = std::iter::successors(Some(Time::ZERO), |now| Some(look_after(*now, every)));
        assert_eq!(looks.skip(1).take(5).map(|look| look.0).collect::<Vec<_>>(), [7, 10, 14, 20, 21]);
        assert_eq!(look_after(Time(3), [Span::ZERO; 4]), Time::NEVER);
    }

    #[test]
    fn changes_come_before_and_looks_after_the_events_of_their_instant() {
        let mut course = course();
        let steps = follow(&mut course, &[7, 25, 26, 33, 99]);
        let expected = [
            CourseStep::Run(Time(8)),
            CourseStep::Look(Time(7)),
            CourseStep::Look(Time(14)),
            CourseStep::Look(Time(21)),
            CourseStep::Change(0),
            CourseStep::Change(1),
            CourseStep::Run(Time(29)),
            CourseStep::Look(Time(28)),
            CourseStep::Stop(Stop::Finished),
        ];
        assert_eq!(steps, expected);
        assert_eq!(course.reached, Time(30), "a run ends on the grid");
    }

    #[test]
    fn a_run_ends_at_the_same_instant_whether_domains_meet_or_not() {
        for events in [vec![3, 4, 5], vec![3, 12, 18, 19], vec![10, 20, 30], vec![1, 2, 400]] {
            let ends = [true, false].map(|meet| {
                let mut course = Course { meet, changes: Vec::new(), next_look: Time::NEVER, ..course() };
                // On one thread the domain itself stops at the grid when the last flow is done.
                let last = events[events.len() - 3];
                if !meet {
                    course.reached = Time(last + 1);
                    let standing = Standing {
                        next: Time::NEVER,
                        last: Time(last),
                        completed: 1,
                        wanted: 1,
                        interrupted: false,
                        stuck: false,
                    };
                    course.next(&standing);
                } else {
                    follow(&mut course, &events);
                }
                course.reached
            });
            assert_eq!(ends[0], ends[1], "{events:?}");
        }
    }

    /// Whether something is pending beyond the limit or not.
    #[test]
    fn a_run_that_finishes_in_the_last_interval_ends_at_its_limit() {
        for pending in [Time::NEVER, Time(28), Time(31)] {
            for meet in [true, false] {
                let mut course =
                    Course { meet, changes: Vec::new(), limit: Time(25), next_look: Time(28), ..course() };
                course.reached = Time(24);
                let standing = Standing {
                    next: pending,
                    last: Time(23),
                    completed: 1,
                    wanted: 1,
                    interrupted: false,
                    stuck: false,
                };
                assert_eq!(course.next(&standing), CourseStep::Stop(Stop::Finished), "{pending}");
                assert_eq!(course.reached, Time(26));
            }
        }
    }
}
