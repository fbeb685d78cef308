//! `weft new`: commented scenarios to start from.
//!
//! Texts only; tests check that each is valid.

/// A scenario to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name on the command line.
    pub kind: &'static str,
    /// Its purpose, in a sentence.
    pub summary: &'static str,
    text: &'static str,
}

/// Lists templates: each with its name, which is its file name, and its summary.
macro_rules! templates {
    ($($kind:literal: $summary:literal,)+) => {
        &[$(Template { kind: $kind, summary: $summary, text: include_str!(concat!("template/", $kind, ".toml")) },)+]
    };
}

/// All templates.
pub const TEMPLATES: &[Template] = templates! {
    "hello": "the smallest run worth looking at",
    "leaf-spine": "load balancers on a leaf-spine fabric, swept over load",
    "balancers": "all load balancers on your fabric",
    "fat-tree": "a k-ary fat tree with random permutation traffic",
    "dumbbell": "flows that share one bottleneck",
    "incast": "many senders, one receiver, growing fan-in",
    "congestion": "congestion laws at one bottleneck",
    "roce": "DCQCN senders and a port that pauses",
    "ndp": "NDP incast through switches that trim",
    "failure": "cables that fail during the run",
    "terasort": "a TeraSort job on MapReduce, Tez or Spark: tasks, shuffle and what bounds them",
};

/// The text of a template; `None` if there is no such template. `compare` means `balancers`.
#[must_use]
pub fn template(kind: &str) -> Option<String> {
    let kind = if kind == "compare" { "balancers" } else { kind };
    TEMPLATES.iter().find(|template| template.kind == kind).map(|template| template.text.to_owned())
}
