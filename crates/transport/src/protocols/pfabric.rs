//! pFabric as a transport of a scenario; the crate `pfabric` implements it.

use std::sync::Arc;

pub use weft_pfabric::settings::{PfabricSettings, RankBy, SUMMARY};

use super::{AnyStack, Protocol};

/// pFabric.
#[derive(Clone, Debug)]
pub struct Pfabric(Arc<weft_pfabric::PfabricStack>);

impl Pfabric {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &PfabricSettings, _site: ()) -> Pfabric {
        Pfabric(Arc::new(weft_pfabric::PfabricStack::new(settings)))
    }
}

impl Protocol for Pfabric {
    fn stack(&self) -> AnyStack {
        AnyStack::Pfabric(Arc::clone(&self.0))
    }
}
