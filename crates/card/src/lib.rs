//! Network cards: the order in which a host sends the packets of its flows. Must not depend on flows or networks.
//!
//! To add a card, copy [`fifo`] and add one line to the list. The card says what it is ([`CardPlan`]); the host carries it out.

use weft_core::{Bytes, family};

pub mod fair;
pub mod fifo;
pub mod marking;
pub mod strict;

/// How a card serves its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardPlan {
    /// Flows hand over a packet when it is their turn: nothing waits in the card.
    Turns,
    /// Flows hand over what they may send at once, and the card sends it in that order.
    InOrder {
        /// A packet that would make the queue exceed this is dropped.
        limit: Option<Bytes>,
        /// A packet that finds more than this in the queue gets a congestion mark if it can carry one.
        mark_beyond: Option<Bytes>,
        /// Packets of a lower class number go first, each class in that order.
        by_class: bool,
    },
}

/// A network card.
pub trait NetworkCard {
    /// How it serves its host.
    fn plan(&self) -> CardPlan;
}

family! {
    /// All cards.
    pub enum AnyCard: NetworkCard;
    /// The card of a host.
    pub enum CardSettings;
    called "card" built at ();
    members {
        "fair" => fair::FairCard(FairCardSettings),
        "fifo" => fifo::FifoCard(FifoCardSettings),
        "marking" => marking::MarkingCard(MarkingCardSettings),
        "strict" => strict::StrictCard(StrictCardSettings),
    }
    methods {
        fn plan(&self) -> CardPlan;
    }
}

impl CardSettings {
    /// How the card serves its host.
    #[must_use]
    pub fn plan(&self) -> CardPlan {
        AnyCard::new(self, ()).plan()
    }
}
