//! PDQ as a transport of a scenario; the crate `pdq` implements its ends.

use std::sync::Arc;

pub use weft_pdq::settings::{PdqSettings, SUMMARY};

use super::{AnyStack, Protocol};

/// PDQ.
#[derive(Clone, Debug)]
pub struct Pdq(Arc<weft_pdq::PdqStack>);

impl Pdq {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PdqSettings, _site: ()) -> Pdq {
        Pdq(Arc::new(weft_pdq::PdqStack::new(settings)))
    }
}

impl Protocol for Pdq {
    fn stack(&self) -> AnyStack {
        AnyStack::Pdq(Arc::clone(&self.0))
    }
}
