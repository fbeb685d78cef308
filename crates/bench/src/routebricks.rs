//! Figures for the claims of RouteBricks (SOSP 2009): of this machine, of simulated clusters, and of arithmetic.
//!
//! A source yields figures by name; a simulated cluster yields them for each traffic of its description.

use std::collections::{BTreeMap, BTreeSet};

use weft::Error;
use weft_blueprint::Blueprint;
use weft_blueprint::file::parse_blueprint;
use weft_blueprint::simulated::{self, TRAFFIC_FIGURES};
use weft_cluster::ServerModel;
use weft_cluster::sizing::{OF_2009, last_mesh_of_powers, size};
use weft_core::Bytes;

mod doorbell;
mod pipeline;
mod rounds;
mod server;
mod today;

pub use weft_blueprint::{is_of_another_model, model_epoch};

pub use server::SERVER_FIGURES;
pub use today::TODAY_FIGURES;

/// The figures of a measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    values: BTreeMap<String, f64>,
    missing: BTreeMap<String, String>,
}

impl Figures {
    /// The figure of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.values.get(name).copied()
    }

    /// Why there is no figure of this name, although it was to be measured.
    #[must_use]
    pub fn why_missing(&self, name: &str) -> Option<&str> {
        self.missing.get(name).map(String::as_str)
    }

    /// Notes a figure, or the reason why there is none.
    pub fn note(&mut self, name: String, figure: Result<f64, String>) {
        match figure {
            Ok(value) => drop(self.values.insert(name, value)),
            Err(why) => drop(self.missing.insert(name, why)),
        }
    }
}

impl FromIterator<(String, f64)> for Figures {
    fn from_iter<I: IntoIterator<Item = (String, f64)>>(values: I) -> Figures {
        Figures { values: values.into_iter().collect(), ..Figures::default() }
    }
}

/// Where figures come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureOrigin {
    /// This machine: one server.
    Server,
    /// A simulated cluster, by traffic.
    Cluster,
    /// A simulated cluster with the cores of this machine.
    Today,
    /// Closed forms.
    Arithmetic,
}

/// A request to a source.
pub struct FigureRequest<'a> {
    /// The source.
    pub source: FigureOrigin,
    /// The description of the cluster, if it needs one.
    pub description: &'a str,
    /// Indices of the traffics that are wanted.
    pub cases: &'a BTreeSet<usize>,
    /// The seed of random draws.
    pub seed: u64,
    /// Passes of a measurement.
    pub passes: usize,
    /// Called with the name of the next measurement; an error ends all.
    pub progress: &'a dyn Fn(&str) -> Result<(), Error>,
}

/// Names of the figures of arithmetic.
pub const ARITHMETIC_FIGURES: &[&str] = &[
    "arithmetic.forward",
    "arithmetic.route",
    "arithmetic.ipsec",
    "arithmetic.mesh_5_slots",
    "arithmetic.mesh_20_slots",
    "arithmetic.servers_1024",
];

/// Cycles per packet of IPsec in 2009: 14 221 instructions at 0.55 cycles each.
const IPSEC_CYCLES: f64 = 7_822.0;

impl FigureOrigin {
    /// All sources with their names.
    pub const ALL: [(&'static str, FigureOrigin); 4] = [
        ("server", FigureOrigin::Server),
        ("cluster", FigureOrigin::Cluster),
        ("today", FigureOrigin::Today),
        ("arithmetic", FigureOrigin::Arithmetic),
    ];

    /// The source of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<FigureOrigin> {
        FigureOrigin::ALL.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
    }

    /// Whether its figures depend on a seed.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, FigureOrigin::Cluster)
    }
}

/// Whether there is a figure of this name.
#[must_use]
pub fn is_figure(name: &str) -> bool {
    [SERVER_FIGURES, TRAFFIC_FIGURES, TODAY_FIGURES, ARITHMETIC_FIGURES]
        .iter()
        .any(|names| names.contains(&name))
}

/// The cases of a source: the labels of the traffics of a description, or one without labels.
///
/// # Errors
/// The description has mistakes.
pub fn cases(source: FigureOrigin, description: &str) -> Result<Vec<Vec<(String, String)>>, Error> {
    if source != FigureOrigin::Cluster {
        return Ok(vec![Vec::new()]);
    }
    Ok(described(description)?.traffic.iter().map(simulated::labels).collect())
}

/// Measures the figures of the wanted cases.
///
/// # Errors
/// The description has mistakes, or a count fails.
pub fn figures(request: &FigureRequest<'_>) -> Result<BTreeMap<usize, Figures>, Error> {
    let one = |figures: Figures| [(0, figures)].into();
    match request.source {
        FigureOrigin::Server => server::measure(request.passes, request.progress).map(one),
        FigureOrigin::Arithmetic => Ok(one(arithmetic())),
        FigureOrigin::Today => today::measure(&described(request.description)?, request).map(one),
        FigureOrigin::Cluster => {
            let blueprint = described(request.description)?;
            let mut found = BTreeMap::new();
            for case in request.cases {
                let Some(traffic) = blueprint.traffic.get(*case) else { continue };
                let labels: Vec<String> =
                    simulated::labels(traffic).into_iter().map(|(_, label)| label).collect();
                (request.progress)(&format!(
                    "simulating a cluster: {}, seed {}",
                    labels.join(", "),
                    request.seed
                ))?;
                let figures = simulated::figures(&blueprint, traffic, request.seed);
                found.insert(*case, figures.into_iter().collect());
            }
            Ok(found)
        }
    }
}

fn described(text: &str) -> Result<Blueprint, Error> {
    parse_blueprint(text, "the description of the cluster")
        .map_err(|mistakes| Error::BadInput(mistakes.draw(false)))
}

/// Gigabits per second of a server of 2009 for 64-byte packets, and the sizes of clusters of them.
fn arithmetic() -> Figures {
    let server = ServerModel::of_2009();
    let gbps =
        |cycles: f64| f64::from(server.cores) * server.frequency / cycles * Bytes(64).bits() as f64 / 1e9;
    let mesh = |kind: usize| f64::from(last_mesh_of_powers(&OF_2009.servers[kind], OF_2009.rate));
    let fly = size(&OF_2009.servers[1], 1024, OF_2009.rate).map_or(0, |size| size.servers);
    let values = [
        gbps(server.relay.cycles),
        gbps(server.route.cycles),
        gbps(IPSEC_CYCLES),
        mesh(0),
        mesh(1),
        fly as f64,
    ];
    ARITHMETIC_FIGURES.iter().map(|name| (*name).to_owned()).zip(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_gives_the_published_servers_within_a_twentieth() {
        let found = arithmetic();
        for (name, published) in [("forward", 9.7), ("route", 6.35), ("ipsec", 1.4)] {
            let ratio = found.get(&format!("arithmetic.{name}")).unwrap() / published;
            assert!((0.94..1.06).contains(&ratio), "{name}: {ratio}");
        }
        assert_eq!(found.get("arithmetic.servers_1024"), Some(3072.0));
    }

    #[test]
    fn a_cluster_gives_the_figures_of_each_wanted_traffic() {
        let description = "nodes = 3\nrate = \"1 Gbps\"\n[[traffic]]\nmatrix = \"uniform\"\nload = 0.2\nduration = \"4 ms\"\n\
                           [[traffic]]\nmatrix = \"hot-spot\"\nload = 0.5\npackets = \"64 B\"\nduration = \"4 ms\"\n";
        let labels = cases(FigureOrigin::Cluster, description).unwrap();
        assert!(labels[1].contains(&("packets".to_owned(), "64 B".to_owned())));
        let request = FigureRequest {
            source: FigureOrigin::Cluster,
            description,
            cases: &[1].into(),
            seed: 3,
            passes: 1,
            progress: &|_| Ok(()),
        };
        let found = figures(&request).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), [&1]);
        assert_eq!(found[&1].get("cluster.parses"), Some(1.0));
        assert!(found[&1].values.keys().all(|name| is_figure(name)));
        assert!(cases(FigureOrigin::Cluster, "nodes = 1").is_err());
    }

    /// A measurement is not made once `progress` refuses it; nothing is timed here.
    #[test]
    fn a_measurement_ends_when_it_is_told_to() {
        let described = "nodes = 3\nrate = \"1 Gbps\"\n[[traffic]]\nmatrix = \"uniform\"\nload = 0.2\nduration = \"4 ms\"\n";
        for source in [FigureOrigin::Server, FigureOrigin::Today, FigureOrigin::Cluster] {
            let begun = std::cell::Cell::new(0);
            let refuse = |_: &str| {
                begun.set(begun.get() + 1);
                Err(Error::Failed("stopped".to_owned()))
            };
            let (description, cases, progress) = (described, &[0].into(), &refuse);
            let request = FigureRequest { source, description, cases, seed: 1, passes: 1, progress };
            assert!(figures(&request).is_err() && begun.get() == 1);
        }
    }

    #[test]
    fn names_of_sources_and_figures_are_known() {
        assert_eq!(FigureOrigin::find("cluster"), Some(FigureOrigin::Cluster));
        assert!(
            FigureOrigin::find("clusters").is_none()
                && is_figure("server.route_per_forward")
                && !is_figure("fct.mean")
        );
    }
}
