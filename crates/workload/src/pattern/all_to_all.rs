//! All to all: every host sends to every other at the same instant.

use super::{Pattern, Stream};
use crate::listed::MAX_LISTED;
use crate::site::{Pairs, PatternSite};
use weft_core::HostId;
use weft_core::Problem;

/// Summary shown by `weft list`.
pub const SUMMARY: &str = "Every host sends to every other, all at once";

weft_core::settings! {
    /// All to all.
    pub struct AllToAllSettings {
        /// What each pair sends: a size, a bundled name, a file of points or a formula.
        sizes: String,
    }
}

/// Every ordered pair of hosts.
pub struct AllToAll(AllToAllSettings);

impl AllToAll {
    /// Flows as in `settings`.
    #[must_use]
    pub fn new(settings: &AllToAllSettings, _site: ()) -> AllToAll {
        AllToAll(settings.clone())
    }
}

impl Pattern for AllToAll {
    fn flows(&self, site: &PatternSite<'_>) -> Result<Stream, Vec<Problem>> {
        let sizes = site.sizes(&self.0.sizes).map_err(|problem| vec![problem])?;
        let hosts = everybody(site).map_err(|problem| vec![problem])?;
        let to_all = |&from: &HostId| hosts.iter().filter(move |&&to| to != from).map(move |&to| (from, to));
        Ok(Stream::at_once(site, hosts.iter().flat_map(to_all), &sizes))
    }
}

/// The hosts in order, unless they have too many pairs.
pub(super) fn everybody(site: &PatternSite<'_>) -> Result<Vec<HostId>, Problem> {
    site.partners(Pairs::Any)?;
    let hosts = site.hosts.in_order();
    match hosts.len() * (hosts.len() - 1) > MAX_LISTED {
        true => Err(Problem::new("", format!("{} hosts have more than {MAX_LISTED} pairs", hosts.len()))),
        false => Ok(hosts),
    }
}
