//! `weft analyse`: properties of a scenario's network without a run, and of a balancer without a scenario. Reads the
//! scenario and queries the topology; presents results, while the mathematics is in the crate `topology`.

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

/// The options of [`quiver`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuiverOptions {
    /// The seed that draws random failures; `None`: the scenario's first.
    pub seed: Option<u64>,
    /// The instant to analyse, as typed; `None`: the start of the run.
    pub at: Option<String>,
    /// A switch by name.
    pub from: Option<String>,
    /// A leaf by name.
    pub to: Option<String>,
    /// What labels count, as typed; `None`: as in the scenario's balancer.
    pub labels: Option<String>,
    /// Which labels decide, as typed; `None`: as in the scenario's balancer.
    pub score: Option<String>,
    /// The capacity factor of the first link, as typed; `None`: as in the scenario's balancer.
    pub source_cf: Option<String>,
    /// Only valley-free paths, whatever the scenario says.
    pub valley_free: bool,
    /// JSON instead of text.
    pub json: bool,
    /// Whether to draw as well.
    pub drawing: bool,
}

/// The result of [`quiver`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuiverAnalysis {
    /// Text for a terminal of 80 columns, or JSON.
    pub text: String,
    /// A drawing of the network and of the components of one pair, if requested; empty if no two leaves are connected.
    pub svg: Option<String>,
}

/// Components, weights and groups of a scenario's network, in the first case that uses components, or else in the first
/// case. `path` is that of the scenario.
///
/// # Errors
/// A message: a topology or failures that cannot be built, or an unknown name.
pub fn quiver(path: &Path, cases: &[Case], options: &QuiverOptions) -> Result<QuiverAnalysis, String> {
    let subject = AnalysedNetwork::new((path, cases), options)?;
    let quiver = subject.quiver();
    let place = subject.place(options)?;
    // A single pair needs no survey of the whole network, which is most of the work.
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

/// The result for the whole network, a switch, a leaf or a pair.
fn in_words((subject, quiver): (&AnalysedNetwork, &Quiver<'_>), survey: &Survey, place: &Focus) -> String {
    let census = || words::census(&survey.census);
    match (place.from, place.to) {
        (Some(from), Some(to)) => words::pair(subject, quiver, (from, to)),
        (Some(from), None) => census() + &words::switch(subject, &survey.tables, from),
        (None, Some(to)) => census() + &words::leaf(subject, &survey.tables, to),
        (None, None) => census() + &words::switches(subject, &survey.tables),
    }
}
