//! When the probe makes its calls, and the words that probe and run share. Must not depend on the network.

use weft_core::{Span, Time};

/// How much of the jobs the probe repeats, from their first bulk transfer on.
pub(crate) const STRETCH: Span = Span::from_ms(800);

/// Bounds on the time between the first flow of other traffic and the first call; within them it is that of the run.
pub(crate) const SETTLE: (Span, Span) = (Span::from_ms(500), Span::from_s(2));
/// The window within which the calls of a moment start.
pub(crate) const WINDOW: Span = Span::from_ms(300);
/// From the beginning of the stretch of bulk transfers to the first call beside them.
const LEAD: Span = Span::from_ms(300);

/// When a transfer of a job starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// No bulk transfer of a job has begun.
    Before,
    /// Some bulk transfers are on their way to one of its hosts.
    Beside,
    /// None is under way now, but some have been.
    After,
}

impl Moment {
    pub(crate) const ALL: [Moment; 3] = [Moment::Before, Moment::Beside, Moment::After];

    pub(crate) fn words(self) -> &'static str {
        match self {
            Moment::Before => "before bulk transfers",
            Moment::Beside => "beside bulk transfers",
            Moment::After => "after bulk transfers",
        }
    }

    /// When its calls begin.
    pub(crate) fn begins(self, (settle, rest): (Span, Span)) -> Time {
        let stretch = Time::ZERO + settle + WINDOW;
        match self {
            Moment::Before => Time::ZERO + settle,
            Moment::Beside => stretch + LEAD,
            Moment::After => stretch + STRETCH + rest,
        }
    }
}

/// Calls by moment and kind; one moment, if they do not differ.
pub(crate) type CallsByMoment = Vec<Vec<ProbedCalls>>;

/// The result of the probe.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probed {
    /// Calls that opened a connection.
    pub(crate) opening: CallsByMoment,
    /// Calls on connections that were open; empty if the jobs keep no connection.
    pub(crate) on_open: CallsByMoment,
    /// Number of bulk transfers that ended.
    pub(crate) bulk_ended: usize,
    /// Of these, the number that waited for time-outs.
    pub(crate) bulk_late: usize,
}

impl Probed {
    pub(crate) fn calls(&self) -> impl Iterator<Item = &ProbedCalls> {
        self.opening.iter().chain(&self.on_open).flatten()
    }
}

/// The calls of one kind of pairs at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ProbedCalls {
    /// How long each took; for one that did not end, how long the probe waited.
    pub(crate) durations: Vec<Span>,
    /// Mean duration of the calls without a time-out.
    pub(crate) smooth: Span,
    pub(crate) with_time_outs: usize,
    pub(crate) unfinished: usize,
}

impl ProbedCalls {
    pub(crate) fn without_time_outs(&self) -> u64 {
        (self.durations.len() - self.with_time_outs) as u64
    }
}
