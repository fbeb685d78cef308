//! NDP as a transport of a scenario; the crate `ndp` implements it.

use std::sync::Arc;

pub use weft_ndp::settings::{NdpSettings, PullOrder, SUMMARY};

use super::{AnyStack, Protocol};

/// NDP.
#[derive(Clone, Debug)]
pub struct Ndp(Arc<weft_ndp::NdpStack>);

impl Ndp {
    /// Creates it from the settings.
    #[must_use]
    pub fn new(settings: &NdpSettings, _site: ()) -> Ndp {
        Ndp(Arc::new(weft_ndp::NdpStack::new(settings)))
    }
}

impl Protocol for Ndp {
    fn stack(&self) -> AnyStack {
        AnyStack::Ndp(Arc::clone(&self.0))
    }
}
