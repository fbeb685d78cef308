//! The subject of an analysis: the network of a scenario at an instant, and the nodes named on the command line.

use std::path::Path;

use weft_core::quiver::QuiverSettings;
use weft_core::settings::{Kind, Setting, Value};
use weft_core::units::did_you_mean;
use weft_core::{Grouping, Span, SwitchId, Time};
use weft_topology::{FailurePlan, Graph, LinkState, Node, Quiver, build_in, plan};

use super::QuiverOptions;
use weft_scenario::{Case, devices};

/// A network, which of its cables are up, and how paths are compared.
pub(crate) struct AnalysedNetwork {
    pub(crate) graph: Graph,
    pub(crate) state: LinkState,
    pub(crate) settings: QuiverSettings,
    /// Whether some switch of the scenario has a balancer that uses components.
    pub(crate) used: bool,
    /// When cables fail or come back during the run.
    pub(crate) changes: Vec<Time>,
    pub(crate) seed: u64,
}

/// The pair, switch or leaf to analyse.
#[derive(Default)]
pub(crate) struct Focus {
    pub(crate) from: Option<SwitchId>,
    /// Index of the leaf.
    pub(crate) to: Option<usize>,
}

impl Focus {
    pub(crate) fn pair(&self) -> Option<(SwitchId, usize)> {
        Some((self.from?, self.to?))
    }
}

impl AnalysedNetwork {
    pub(crate) fn new(
        (path, cases): (&Path, &[Case]),
        options: &QuiverOptions,
    ) -> Result<AnalysedNetwork, String> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let told = |problems: Vec<weft_topology::Problem>| {
            let lines: Vec<_> = problems.iter().map(ToString::to_string).collect();
            lines.join("\n")
        };
        let asking = cases.iter().find_map(|case| {
            let graph = build_in(&case.settings.topology, folder, case.settings.seeds[0]).ok()?;
            Some((case, components(case, &graph)?))
        });
        let (case, asked) = asking.map_or((&cases[0], None), |(case, asked)| (case, Some(asked)));

        let seed = options.seed.unwrap_or(case.settings.seeds[0]);
        let graph = build_in(&case.settings.topology, folder, seed).map_err(told)?;
        let plan = plan(&graph, &case.settings.failure, seed).map_err(told)?;
        let at = options.at.as_deref().map(instant).transpose()?;
        let (used, settings) = (asked.is_some(), asked.unwrap_or_default());
        let settings = changed(settings, options)?;
        Ok(AnalysedNetwork {
            state: state(&graph, &plan, at),
            changes: changes(&plan),
            graph,
            settings,
            used,
            seed,
        })
    }

    pub(crate) fn quiver(&self) -> Quiver<'_> {
        Quiver::new(&self.graph, &self.state, &self.settings)
    }

    pub(crate) fn name(&self, switch: SwitchId) -> &str {
        &self.graph.switches()[switch.index()].name
    }

    /// The name of a leaf by its index.
    pub(crate) fn leaf_name(&self, leaf: usize) -> &str {
        self.name(self.graph.leaves()[leaf])
    }

    pub(crate) fn place(&self, options: &QuiverOptions) -> Result<Focus, String> {
        let from = options.from.as_deref().map(|name| self.switch(name)).transpose()?;
        let to = options.to.as_deref().map(|name| self.leaf(name)).transpose()?;
        match (from, to) {
            (Some(from), Some(to)) if from == self.graph.leaves()[to] => {
                Err(format!("--from and --to both name `{}`", self.name(from)))
            }
            _ => Ok(Focus { from, to }),
        }
    }

    fn switch(&self, name: &str) -> Result<SwitchId, String> {
        match self.graph.node_named(name) {
            Some(Node::Switch(switch)) => Ok(switch),
            Some(Node::Host(host)) => {
                let leaf = self.name(self.graph.switch_of_host(host));
                Err(format!("--from: `{name}` is a host; its switch is `{leaf}`"))
            }
            None => {
                let names = self.graph.switches().iter().map(|switch| switch.name.as_str());
                let hint = did_you_mean(name, names);
                Err(format!("--from: there is no switch called `{name}`{hint}"))
            }
        }
    }

    fn leaf(&self, name: &str) -> Result<usize, String> {
        let leaves = || (0..self.graph.leaves().len()).map(|leaf| self.leaf_name(leaf));
        leaves().position(|leaf| leaf == name).ok_or_else(|| {
            let hint = did_you_mean(name, leaves());
            format!("--to: there is no switch with hosts called `{name}`{hint}")
        })
    }
}

/// How the balancers of a case compare paths, if those of any kind of switch do.
fn components(case: &Case, graph: &Graph) -> Option<QuiverSettings> {
    devices(&case.settings, graph).iter().find_map(|device| match device.balance.grouping() {
        Grouping::Components(settings) => Some(settings),
        Grouping::Together | Grouping::Weighted => None,
    })
}

/// An interval since the start, as typed.
fn instant(text: &str) -> Result<Time, String> {
    let span: Result<Span, _> = text.parse();
    span.map(|span| Time::ZERO + span).map_err(|cause| format!("--at: {cause}"))
}

/// The condition of the cables at an instant, or at the start of the run.
fn state(graph: &Graph, plan: &FailurePlan, at: Option<Time>) -> LinkState {
    let Some(at) = at else { return plan.initial(graph) };
    let mut state = LinkState::all_up(graph);
    let down = |outage: &&weft_topology::Outage| {
        outage.at.is_none_or(|fails| fails <= at) && outage.repair.is_none_or(|back| at < back)
    };
    plan.outages.iter().filter(down).flat_map(|o| &o.cables).for_each(|cable| state.set(*cable, false));
    state
}

fn changes(plan: &FailurePlan) -> Vec<Time> {
    let mut times: Vec<Time> = plan.outages.iter().flat_map(|o| [o.at, o.repair]).flatten().collect();
    times.sort_unstable();
    times.dedup();
    times
}

/// The settings with the overrides of the command line.
fn changed(settings: QuiverSettings, options: &QuiverOptions) -> Result<QuiverSettings, String> {
    Ok(QuiverSettings {
        labels: word("--labels", options.labels.as_deref(), settings.labels)?,
        score: word("--score", options.score.as_deref(), settings.score)?,
        source_cf: word("--source-cf", options.source_cf.as_deref(), settings.source_cf)?,
        valley_free: settings.valley_free || options.valley_free,
    })
}

/// Parses a word of the scenario file given on the command line.
fn word<T: Setting>(option: &str, text: Option<&str>, otherwise: T) -> Result<T, String> {
    let (Some(text), Kind::Choice(words)) = (text, T::KIND) else { return Ok(otherwise) };
    if words.iter().any(|(word, _)| *word == text) {
        return Ok(T::from_value(&Value::Text(text.to_owned())));
    }
    let hint = did_you_mean(text, words.iter().map(|(word, _)| *word));
    let allowed: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    Err(format!("{option}: `{text}` is unknown{hint}\nallowed: {}", allowed.join(", ")))
}
