//! `weft new`: commented scenarios to start from.
//!
//! Texts only; that each is correct is tested.

/// A scenario to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name on the command line.
    pub kind: &'static str,
    /// What it shows, in a sentence.
    pub summary: &'static str,
    text: &'static str,
}

const fn of(kind: &'static str, summary: &'static str, text: &'static str) -> Template {
    Template { kind, summary, text }
}

/// All templates.
pub const TEMPLATES: &[Template] = &[
    of("hello", "the smallest run worth looking at", include_str!("template/hello.toml")),
    of(
        "leaf-spine",
        "load balancers on a leaf-spine fabric, swept over load",
        include_str!("template/leaf-spine.toml"),
    ),
    of("balancers", "all load balancers on a fabric of yours", include_str!("template/balancers.toml")),
    of(
        "fat-tree",
        "a k-ary fat tree with random permutation traffic",
        include_str!("template/fat-tree.toml"),
    ),
    of("dumbbell", "flows that share one bottleneck", include_str!("template/dumbbell.toml")),
    of("incast", "many senders, one receiver, growing fan-in", include_str!("template/incast.toml")),
    of("congestion", "congestion laws at one bottleneck", include_str!("template/congestion.toml")),
    of("roce", "senders under DCQCN before a port that pauses", include_str!("template/roce.toml")),
    of("ndp", "incast under NDP before switches that trim", include_str!("template/ndp.toml")),
    of("failure", "cables that fail during the run", include_str!("template/failure.toml")),
];

/// The text of a template; nothing if there is none of this name. To compare balancers is the usual wish behind `compare`.
#[must_use]
pub fn template(kind: &str) -> Option<String> {
    let kind = if kind == "compare" { "balancers" } else { kind };
    TEMPLATES.iter().find(|template| template.kind == kind).map(|template| template.text.to_owned())
}
