//! A run as reports and comparisons read it. Must not depend on other runs.

use crate::detail::Detail;
use crate::manifest::Manifest;
use crate::summary::Summary;

/// A finished run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// How to repeat it.
    pub manifest: Manifest,
    /// Its statistics.
    pub summary: Summary,
    /// Data for its plots.
    pub detail: Detail,
    /// The complete scenario, TOML.
    pub scenario: String,
    /// The path of its files, relative to the folder of the report; empty if there are none.
    pub link: String,
    /// A drawing of its symmetric components, SVG; empty if all paths are symmetric or the balancer does not use
    /// components.
    pub quiver: String,
}

impl Run {
    /// Keeps the parts of a run, other than the first of its case, that the page of a sweep needs: the statistics,
    /// and the tail of its completion times. The rest is on disk.
    #[must_use]
    pub fn thin(self) -> Run {
        let detail = Detail { fct_tail: self.detail.fct_tail, ..Detail::default() };
        Run { detail, scenario: String::new(), quiver: String::new(), ..self }
    }

    /// Averages goodput and loads over the arrivals instead of the whole run, if flows arrived over time.
    pub fn average_over_arrivals(&mut self) {
        self.summary.average_over_arrivals();
        self.detail.network.average_over_arrivals();
    }

    /// The value on an axis, as written in the scenario; empty if the run has no such label.
    #[must_use]
    pub fn label(&self, axis: &str) -> &str {
        self.manifest.labels.iter().find(|(key, _)| key == axis).map_or("", |(_, value)| value)
    }
}

/// The runs that `stays` selects. Only the first run of a case has its scenario; if that run is removed, the next one
/// gets it.
#[must_use]
pub fn retained(runs: Vec<Run>, stays: impl FnMut(&Run) -> bool) -> Vec<Run> {
    let (mut kept, gone): (Vec<Run>, Vec<Run>) = runs.into_iter().partition(stays);
    for lost in gone.into_iter().filter(|run| !run.scenario.is_empty()) {
        let heir = kept.iter_mut().find(|run| run.manifest.labels == lost.manifest.labels);
        if let Some(heir) = heir.filter(|run| run.scenario.is_empty()) {
            heir.scenario = lost.scenario;
        }
    }
    kept
}
