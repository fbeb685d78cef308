//! `weft analyse`: what can be said of a scenario's network without running it, and of a balancer without a scenario.
//! Reads the scenario and asks the topology; the words are here, the mathematics of networks is not.

mod listing;
mod offered;
mod picture;
mod stability;
mod state;
mod subject;
mod words;

use std::path::Path;

use weft_scenario::Case;

use subject::{AnalysedNetwork, Focus};
use weft_topology::Quiver;
use weft_topology::quiver::Survey;

pub use offered::{Traffic, traffic};
pub use picture::of_run;
pub use stability::{StabilityAnalysis, StabilityOptions, stability};
pub use state::balancer_state;

/// What [`quiver`] is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuiverOptions {
    /// The seed that draws random failures; `None`: the scenario's first.
    pub seed: Option<u64>,
    /// The instant whose network is looked at, as typed; `None`: the start of the run.
    pub at: Option<String>,
    /// A switch by name.
    pub from: Option<String>,
    /// A leaf by name.
    pub to: Option<String>,
    /// What labels count, as typed; `None`: as the scenario's balancer.
    pub labels: Option<String>,
    /// Which labels decide, as typed; `None`: as the scenario's balancer.
    pub score: Option<String>,
    /// The capacity factor of the first link, as typed; `None`: as the scenario's balancer.
    pub source_cf: Option<String>,
    /// Only paths without valleys, whatever the scenario says.
    pub valley_free: bool,
    /// JSON for programs instead of words.
    pub json: bool,
    /// Draw as well.
    pub drawing: bool,
}

/// What [`quiver`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuiverAnalysis {
    /// For a terminal of 80 columns, or JSON.
    pub text: String,
    /// A drawing of the network and of the components of one pair, if asked for; empty where no two leaves are connected.
    pub svg: Option<String>,
}

/// Components, weights and groups of the network of a scenario, of the first of its cases that uses components if there is
/// one. `path` is the scenario's.
///
/// # Errors
/// In words: a topology or failures that cannot be built, and names that nothing has.
pub fn quiver(path: &Path, cases: &[Case], options: &QuiverOptions) -> Result<QuiverAnalysis, String> {
    let subject = AnalysedNetwork::new((path, cases), options)?;
    let quiver = subject.quiver();
    let place = subject.place(options)?;
    // One pair needs no survey of the whole network, which is most of the work.
    let survey = if place.pair().is_some() { Survey::default() } else { quiver.survey() };
    let text = match options.json {
        true => listing::json(&subject, &quiver, (&survey, &place)),
        false => words::opening(path, &subject) + &in_words((&subject, &quiver), &survey, &place),
    };
    let svg = options.drawing.then(|| {
        let pair = place.pair().or_else(|| picture::most_divided(&subject.graph, &survey.tables));
        pair.map_or(String::new(), |pair| picture::svg((&subject.graph, &subject.state), &quiver, pair))
    });
    Ok(QuiverAnalysis { text, svg })
}

/// What was asked of the whole network, a switch, a leaf or a pair.
fn in_words((subject, quiver): (&AnalysedNetwork, &Quiver<'_>), survey: &Survey, place: &Focus) -> String {
    let census = || words::census(&survey.census);
    match (place.from, place.to) {
        (Some(from), Some(to)) => words::pair(subject, quiver, (from, to)),
        (Some(from), None) => census() + &words::switch(subject, &survey.tables, from),
        (None, Some(to)) => census() + &words::leaf(subject, &survey.tables, to),
        (None, None) => census() + &words::switches(subject, &survey.tables),
    }
}
