//! Stride: host i sends to host i + step, wrapping around; the classical test of a fabric's bisection.

use super::mice::Mice;
use super::{Pattern, Stream};
use crate::site::{Pairs, PatternSite};
use weft_core::Problem;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Host i sends to host i + step, all at once";

weft_core::settings! {
    /// Stride.
    pub struct StrideSettings {
        /// Distance in host numbers, wrapping around; not a multiple of the number of hosts.
        step: u32,
        /// What each host sends: a size, a bundled name, a file of points or a formula.
        sizes: String,
        /// Small flows to the same destinations.
        mice: Option<Mice> = None,
    }
}

/// A fixed rotation of the hosts.
pub struct Stride(StrideSettings);

impl Stride {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &StrideSettings, _site: ()) -> Stride {
        Stride(settings.clone())
    }
}

impl Pattern for Stride {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        site.partners(Pairs::Any).map_err(|problem| vec![problem])?;
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        let hosts = site.hosts.in_order();
        let step = self.0.step as usize % hosts.len();
        if step == 0 {
            let message = format!(
                "with {} hosts, a step of {} makes every host send to itself",
                hosts.len(),
                self.0.step
            );
            return Err(vec![Problem::new("step", message)]);
        }
        let destinations = hosts.iter().cycle().skip(step).copied();
        let pairs: Vec<_> = hosts.iter().copied().zip(destinations).collect();
        Stream::at_once(site, pairs.clone(), &sizes).with_mice(site, &pairs, self.0.mice.as_ref())
    }
}
