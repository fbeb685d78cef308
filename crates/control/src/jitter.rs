//! Feedback jitter in the equations: parses the options, checks that they have an effect, and chooses the steps.

use weft_core::Span;
use weft_core::units::did_you_mean;
use weft_fluid::model::{Jitter, JitteredTrips};

use crate::range;
use crate::subject::{FluidLaw, Subject};
use weft_prepare::Error;

/// How the equations treat `feedback_jitter`. With packets, each answer has its own draw, and round-trip times contain
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FluidJitter {
    /// Which round trips contain it, as typed: `both` of a gradient the same draw (the default), `each` its own, or
    /// `neither`.
    pub within: Option<String>,
    /// How long a draw holds, as typed; absent: until the next update of the rate, under DCQCN until the next step.
    pub every: Option<String>,
}

/// The words of [`FluidJitter::within`].
const WITHIN: [(&str, JitteredTrips); 3] =
    [("both", JitteredTrips::Both), ("each", JitteredTrips::Each), ("neither", JitteredTrips::Neither)];

/// Step length in seconds if draws have no holding time of their own; no step is longer.
const STEP: f64 = 1e-6;
/// Minimum holding time of a draw: each needs a step of its own.
const SHORTEST: Span = Span::from_ns(10);

impl FluidJitter {
    /// Jitter uniform from zero to `most`.
    pub(crate) fn of(&self, most: Span) -> Result<Jitter, Error> {
        let every = self.every.as_deref().map(range::span).transpose()?;
        if let Some(every) = every.filter(|every| *every < SHORTEST) {
            let message = format!("--jitter-every {every}: a jitter sample holds for at least {SHORTEST}");
            return Err(Error::BadInput(message));
        }
        let counted = self.within.as_deref().map(counted).transpose()?.unwrap_or(Jitter::NONE.counted);
        Ok(Jitter { most: most.seconds(), every: every.map(Span::seconds), counted })
    }

    /// An option that affects no case is a mistake.
    pub(crate) fn check(&self, subjects: &[Subject]) -> Result<(), Error> {
        let jittered = |subject: &&Subject| subject.jitter.most > 0.0;
        let by_round_trips = |subject: &Subject| matches!(subject.law, FluidLaw::Timely { .. });
        let none = subjects.iter().find(jittered).is_none();
        let unused = |option: &str, why: &str| Error::BadInput(format!("`{option}` has no effect: {why}"));
        let named = [("--jitter-in", &self.within), ("--jitter-every", &self.every)];
        if let Some((option, _)) = named.iter().find(|(_, given)| none && given.is_some()) {
            return Err(unused(option, "no transport of the scenario has `feedback_jitter`"));
        }
        if self.within.is_some() && !subjects.iter().filter(jittered).any(by_round_trips) {
            return Err(unused("--jitter-in", "DCQCN's feedback is marks, which contain no round trip"));
        }
        Ok(())
    }
}

fn counted(word: &str) -> Result<JitteredTrips, Error> {
    let found = WITHIN.iter().find(|(name, _)| *name == word);
    let names = || WITHIN.iter().map(|(name, _)| *name);
    let allowed = || names().collect::<Vec<_>>().join(", ");
    let hint = || did_you_mean(word, names());
    let wrong =
        || Error::BadInput(format!("--jitter-in: `{word}` is unknown; it takes {}{}", allowed(), hint()));
    found.map(|(_, counted)| *counted).ok_or_else(wrong)
}

/// The step length in seconds: draws start with steps.
pub(crate) fn step(jitter: &Jitter) -> f64 {
    jitter.every.map_or(STEP, |every| every / (every / STEP).ceil().max(1.0))
}
