//! A card that takes one packet from each flow in turn, acknowledgements first: fair queueing per flow with just
//! enough packets in the card to keep the line busy.

use weft_core::settings;

use crate::{CardPlan, NetworkCard};

/// Summary shown by `weft list`.
pub const SUMMARY: &str =
    "serves flows in turn, acknowledgements first; packets wait in their flows, not in the card";

settings! {
    /// No settings.
    pub struct FairCardSettings {}
}

/// A card that takes one packet from each flow in turn.
#[derive(Clone, Copy, Debug)]
pub struct FairCard;

impl FairCard {
    /// The card.
    #[must_use]
    pub fn new(_settings: &FairCardSettings, _site: ()) -> FairCard {
        FairCard
    }
}

impl NetworkCard for FairCard {
    fn plan(&self) -> CardPlan {
        CardPlan::Turns
    }
}
