//! The table of layers, lowest first.

use super::Layer;

const PARTS: &[&str] = &["weft-core"];
/// Transports that acknowledge every packet by its number.
const NUMBERED: &[&str] = &["weft-core", "weft-delivery"];
/// Virtual output queues have markers and schedulers.
const VOQ: &[&str] = &["weft-core", "weft-mark", "weft-queue"];
/// Markers, sharing rules and queues are families large enough for their own crates.
const SWITCH: &[&str] = &[
    "weft-core",
    "weft-arbiter",
    "weft-mark",
    "weft-buffer",
    "weft-congestion",
    "weft-queue",
    "weft-foresight",
    "weft-forwarding",
    "weft-pfc",
    "weft-visibility",
    "weft-voq",
];
/// A router has real packets, tables, the switch, and the decisions of a cluster's nodes.
const ROUTER: &[&str] = &[
    "weft-core",
    "weft-cluster",
    "weft-device",
    "weft-packet",
    "weft-netlink",
    "weft-esp",
    "weft-fib",
    "weft-switch",
];
/// Clusters of routers from files, simulated and sized.
const BLUEPRINT: &[&str] = &["weft-core", "weft-cluster", "weft-fib", "weft-draw", "weft-mistake"];
/// Transports are assembled from crates of their own.
const QUEUE_PAIRS: &[&str] = &["weft-core", "weft-rate", "weft-tlt"];
const TRANSPORT: &[&str] = &[
    "weft-core",
    "weft-offload",
    "weft-ndp",
    "weft-pase",
    "weft-pdq",
    "weft-pfabric",
    "weft-rate",
    "weft-recovery",
    "weft-roce",
    "weft-card",
    "weft-tlt",
];
/// The description and the engines stand side by side: both see the parts, and neither sees the other. Between them
/// lies the plan: the task of an engine.
const ABOVE_PARTS: &[&str] =
    &["weft-core", "weft-switch", "weft-transport", "weft-topology", "weft-workload"];
/// The paths that a host gives its packets, under the routes of a plan.
const LABELS: &[&str] = &["weft-core", "weft-switch", "weft-topology", "weft-plan"];
/// Records of an engine while it runs a plan.
const RECORDER: &[&str] = &["weft-core", "weft-switch", "weft-topology", "weft-transport", "weft-plan"];
/// An engine runs plans.
const ENGINE: &[&str] = &[
    "weft-core",
    "weft-barrier",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-plan",
    "weft-labels",
    "weft-recorder",
];
/// A checked scenario as types.
const MODEL: &[&str] = &[
    "weft-mistake",
    "weft-core",
    "weft-codec",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
];
/// Rules on combinations of a scenario's settings.
const RULES: &[&str] = &[
    "weft-mistake",
    "weft-core",
    "weft-codec",
    "weft-model",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
];
/// The description also reads the measures of expectations.
const SCENARIO: &[&str] = &[
    "weft-mistake",
    "weft-core",
    "weft-codec",
    "weft-model",
    "weft-rules",
    "weft-expression",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-draw",
];
const FACADE: &[&str] = &[
    "weft-core",
    "weft-topology",
    "weft-workload",
    "weft-scenario",
    "weft-plan",
    "weft-sim",
    "weft-hybrid",
    "weft-prepare",
    "weft-store",
    "weft-report",
    "weft-lint",
    "weft-analyse",
    "weft-control",
    "weft-trace",
    "weft-draw",
];
/// A second engine, which probes with the first.
const HYBRID: &[&str] =
    &["weft-core", "weft-transport", "weft-topology", "weft-workload", "weft-plan", "weft-sim"];
/// From scenario to setups; reports define the metrics a scenario may name.
const PREPARE: &[&str] = &[
    "weft-core",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-scenario",
    "weft-plan",
    "weft-report",
];
/// Control loops of prepared scenarios.
const CONTROL: &[&str] = &[
    "weft-core",
    "weft-rate",
    "weft-fluid",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-plan",
    "weft-prepare",
    "weft-report",
    "weft-draw",
];
/// Analyses examine scenarios' networks, and put single switches under load in any engine.
const ANALYSE: &[&str] = &[
    "weft-core",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-scenario",
    "weft-plan",
    "weft-draw",
];
/// The linter reads scenarios into the model of switch configurations: it needs the parts' settings, but no engine.
const LINT: &[&str] = &[
    "weft-config",
    "weft-device-config",
    "weft-core",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-scenario",
    "weft-draw",
];

/// Benchmarks use everything below them.
const BENCH: &[&str] = &[
    "weft",
    "weft-core",
    "weft-topology",
    "weft-workload",
    "weft-plan",
    "weft-sim",
    "weft-packet",
    "weft-esp",
    "weft-fib",
    "weft-router",
    "weft-cluster",
    "weft-blueprint",
    "weft-draw",
];

/// One run in numbers.
const SUMMARY: &[&str] = &["weft-core", "weft-ideal", "weft-statistics", "weft-table", "weft-draw"];
/// The folders of runs, on disk and in memory.
const RESULTS: &[&str] =
    &["weft-core", "weft-summary", "weft-statistics", "weft-store", "weft-table", "weft-draw"];
/// Headlines, plots and pages of what is on disk.
const REPORT: &[&str] = &["weft-core", "weft-summary", "weft-statistics", "weft-draw", "weft-results"];
/// Reproductions request runs from the facade, and figures from benchmarks, and show the results.
const REPRODUCE: &[&str] = &["weft", "weft-bench", "weft-report", "weft-expression", "weft-draw"];

const APPLIANCE: &[&str] = &[
    "weft-core",
    "weft-cluster",
    "weft-mistake",
    "weft-blueprint",
    "weft-packet",
    "weft-netlink",
    "weft-esp",
    "weft-fib",
    "weft-switch",
    "weft-topology",
    "weft-plan",
    "weft-prepare",
    "weft-router",
    "weft-draw",
];
/// An engine with real hosts: the kernel's transport, the router's switches.
const LAB: &[&str] = &[
    "weft-core",
    "weft-packet",
    "weft-router",
    "weft-switch",
    "weft-transport",
    "weft-topology",
    "weft-workload",
    "weft-plan",
];
/// Settings are found by models of demand, and by simulations that the facade runs.
const TUNE: &[&str] =
    &["weft", "weft-core", "weft-draw", "weft-ideal", "weft-report", "weft-transport", "weft-workload"];
const CLI: &[&str] = &[
    "weft",
    "weft-appliance",
    "weft-blueprint",
    "weft-bench",
    "weft-reproduce",
    "weft-tune",
    "weft-hardware",
    "weft-lab",
];

/// Every crate of the product, lowest layer first.
pub(super) const LAYERS: &[Layer] = &[
    Layer { name: "weft-core", may_use: &[] },
    Layer { name: "weft-barrier", may_use: &[] },
    Layer { name: "weft-arbiter", may_use: PARTS },
    Layer { name: "weft-packet", may_use: &["weft-core"] },
    Layer { name: "weft-netlink", may_use: &[] },
    Layer { name: "weft-esp", may_use: &[] },
    Layer { name: "weft-fib", may_use: PARTS },
    Layer { name: "weft-cluster", may_use: PARTS },
    Layer { name: "weft-mark", may_use: PARTS },
    Layer { name: "weft-buffer", may_use: PARTS },
    Layer { name: "weft-queue", may_use: PARTS },
    Layer { name: "weft-congestion", may_use: PARTS },
    Layer { name: "weft-pfc", may_use: PARTS },
    Layer { name: "weft-visibility", may_use: PARTS },
    Layer { name: "weft-voq", may_use: VOQ },
    Layer { name: "weft-forwarding", may_use: PARTS },
    Layer { name: "weft-foresight", may_use: &["weft-core", "weft-mark"] },
    Layer { name: "weft-switch", may_use: SWITCH },
    Layer { name: "weft-device", may_use: &["weft-core", "weft-packet"] },
    Layer { name: "weft-router", may_use: ROUTER },
    Layer { name: "weft-rate", may_use: PARTS },
    Layer { name: "weft-card", may_use: PARTS },
    Layer { name: "weft-tlt", may_use: PARTS },
    Layer { name: "weft-recovery", may_use: PARTS },
    Layer { name: "weft-roce", may_use: QUEUE_PAIRS },
    Layer { name: "weft-ndp", may_use: PARTS },
    Layer { name: "weft-delivery", may_use: PARTS },
    Layer { name: "weft-pase", may_use: NUMBERED },
    Layer { name: "weft-pdq", may_use: NUMBERED },
    Layer { name: "weft-pfabric", may_use: NUMBERED },
    Layer { name: "weft-offload", may_use: PARTS },
    Layer { name: "weft-transport", may_use: TRANSPORT },
    Layer { name: "weft-fluid", may_use: PARTS },
    Layer { name: "weft-topology", may_use: PARTS },
    Layer { name: "weft-jobs", may_use: PARTS },
    Layer { name: "weft-workload", may_use: &["weft-core", "weft-jobs"] },
    Layer { name: "weft-ideal", may_use: &["weft-core"] },
    Layer { name: "weft-statistics", may_use: &[] },
    Layer { name: "weft-store", may_use: &[] },
    Layer { name: "weft-table", may_use: &[] },
    Layer { name: "weft-draw", may_use: &[] },
    Layer { name: "weft-summary", may_use: SUMMARY },
    Layer { name: "weft-results", may_use: RESULTS },
    Layer { name: "weft-report", may_use: REPORT },
    Layer { name: "weft-expression", may_use: &[] },
    Layer { name: "weft-mistake", may_use: &["weft-core", "weft-draw"] },
    Layer { name: "weft-blueprint", may_use: BLUEPRINT },
    Layer { name: "weft-codec", may_use: &["weft-mistake", "weft-core"] },
    Layer { name: "weft-model", may_use: MODEL },
    Layer { name: "weft-rules", may_use: RULES },
    Layer { name: "weft-scenario", may_use: SCENARIO },
    Layer { name: "weft-plan", may_use: ABOVE_PARTS },
    Layer { name: "weft-labels", may_use: LABELS },
    Layer { name: "weft-recorder", may_use: RECORDER },
    Layer { name: "weft-sim", may_use: ENGINE },
    Layer { name: "weft-hybrid", may_use: HYBRID },
    Layer { name: "weft-trace", may_use: &["weft-core", "weft-packet", "weft-draw", "weft-table"] },
    Layer { name: "weft-config", may_use: &[] },
    Layer { name: "weft-device-config", may_use: &["weft-config", "weft-core"] },
    Layer { name: "weft-lint", may_use: LINT },
    Layer { name: "weft-analyse", may_use: ANALYSE },
    Layer { name: "weft-prepare", may_use: PREPARE },
    Layer { name: "weft-control", may_use: CONTROL },
    Layer { name: "weft", may_use: FACADE },
    Layer { name: "weft-bench", may_use: BENCH },
    Layer { name: "weft-reproduce", may_use: REPRODUCE },
    Layer { name: "weft-tune", may_use: TUNE },
    Layer { name: "weft-hardware", may_use: &["weft-core", "weft-switch", "weft-draw"] },
    Layer { name: "weft-appliance", may_use: APPLIANCE },
    Layer { name: "weft-lab", may_use: LAB },
    Layer { name: "weft-cli", may_use: CLI },
];
