//! PASE as a transport of a scenario; the crate `pase` implements its ends.

use std::sync::Arc;

pub use weft_pase::settings::{PaseSettings, SUMMARY};

use super::{AnyStack, Protocol};

/// PASE.
#[derive(Clone, Debug)]
pub struct Pase(Arc<weft_pase::PaseStack>);

impl Pase {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PaseSettings, _site: ()) -> Pase {
        Pase(Arc::new(weft_pase::PaseStack::new(settings)))
    }
}

impl Protocol for Pase {
    fn stack(&self) -> AnyStack {
        AnyStack::Pase(Arc::clone(&self.0))
    }
}
