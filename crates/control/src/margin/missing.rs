//! Why a case has no steady state, and therefore no margin.

use weft_draw::text::number;
use weft_fluid::model::dcqcn::{Bottleneck, NoFixedPoint, find_fixed_point};
use weft_fluid::model::timely::{TimelyLaw, TimelyParameters, fixed_point};

use crate::range;
use crate::subject::{FluidLaw, Subject};

/// The reason, as the end of a sentence; `None` if there is a steady state.
pub(super) fn why(subject: &Subject) -> Option<String> {
    if let Some(of) = subject.dcqcn() {
        return of_dcqcn(subject, &of);
    }
    let FluidLaw::Timely { settings, .. } = &subject.law else { return None };
    fixed_point(settings, subject.flows()).is_none().then(|| of_timely(settings).to_owned())
}

fn of_dcqcn(subject: &Subject, of: &Bottleneck) -> Option<String> {
    let rate = |packets: f64| range::rate(subject.unit.bits(packets));
    let share = rate(of.share());
    if of.share() < subject.least() {
        return Some(format!(
            "{} of at least {} (`min_rate`) exceed the link, whose equal share is {share}",
            subject.counted(),
            rate(subject.least())
        ));
    }
    Some(match find_fixed_point(of).err()? {
        NoFixedPoint::NoFlow => "there is no flow".to_owned(),
        NoFixedPoint::FixedEstimate => {
            "the estimate never changes (`gain` = 0), and the analysis follows it; `weft fluid run` shows how the rates evolve".to_owned()
        }
        NoFixedPoint::NotHeld => format!(
            "at {share}, the share of each of {}, increases outweigh cuts even if every second packet is marked; fewer flows, a \
             smaller `additive_step`, or a longer `increase_timer` and `byte_counter` would be held back",
            subject.counted()
        ),
        NoFixedPoint::NotRaised => format!(
            "at {share}, the share of each of {}, cuts outweigh increases however rare marks are; `additive_step` is {}",
            subject.counted(),
            rate(of.law.step)
        ),
    })
}

fn of_timely(settings: &TimelyParameters) -> &'static str {
    match settings.law {
        _ if settings.step <= 0.0 => "`additive_step` is 0, so nothing raises a rate",
        TimelyLaw::Original => {
            "TIMELY has no fixed point (CoNEXT 2016, theorem 3); `weft fluid run` shows how it evolves"
        }
        TimelyLaw::ZeroRises => {
            "every split of the link is a fixed point (CoNEXT 2016, theorem 4); `weft fluid run` shows how it evolves"
        }
        TimelyLaw::Patched { .. } => "`beta` is 0, so nothing lowers a rate",
        TimelyLaw::Integrator { reference, .. } if reference <= 0.0 => {
            "the reference is shorter than the round trip without queueing; `base_rtt` subtracts that"
        }
        TimelyLaw::Integrator { .. } => {
            "`pi_ratio` is 1, so every queue that does not change is a fixed point, whatever the reference"
        }
    }
}

impl super::CaseMargins {
    /// How long marks wait in the queue, if packets are marked before they join it.
    pub(super) fn waits(&self) -> Option<String> {
        let subject = &self.subject;
        (subject.marks_at_arrival() && self.queue.is_finite()).then(|| {
            format!(
                "{}: marks are made at arrival (`at = \"enqueue\"`), so the loop also contains the queueing delay, {} us.",
                self.title(),
                number(self.queue / subject.capacity * 1e6)
            )
        })
    }
}
