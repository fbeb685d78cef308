//! Reads, checks and explains a scenario file: text in, [`Scenario`] out.
//!
//! Depends on every section's settings by their declaration; must not depend on clocks, engines or results.
//!
//! ```text
//! text --file--> tree with positions --overlay--> sweep, demo, --set --codec--> values --rules--> Scenario, Cases
//! ```
//!
//! A setting is declared once, in its own crate. Parser, messages, `weft explain`, JSON Schema and reference pages
//! all read that declaration, so a new setting needs no line here.
//!
//! ```
//! use weft_scenario::{Metrics, ScenarioFile, template};
//! let text = template("leaf-spine").expect("there is such a template");
//! let file = ScenarioFile::parse(&text, "mine.toml")?.set("traffic.web.load=[0.1, 0.2]");
//! let scenario = file.validate(&Metrics::ANY)?;
//! assert_eq!(scenario.cases().len(), 6);
//! assert_eq!(scenario.cases()[0].label(), "balance=ecmp,traffic.web.load=0.1");
//!
//! let mistakes = file.set("balance=dril").validate(&Metrics::ANY).unwrap_err();
//! assert_eq!(mistakes.list()[0].nearest.as_deref(), Some("drill"));
//! # Ok::<(), weft_scenario::Mistakes>(())
//! ```

mod canonical;
mod draft;
mod expect;
mod explain;
mod file;
mod overlay;
mod reference;
mod salvage;
mod scenario;
mod schema;
mod sweep;
mod syntax;
mod template;
mod validate;

pub use expect::{Bound, Claim, ClaimVerdict, Measurement, Metrics};
pub use explain::{Explanation, table as explanation_table};
pub use file::ScenarioFile;
pub use reference::{ReferencePage, explained, families, pages as reference_pages};
pub use scenario::Scenario;
pub use schema::schema;
pub use sweep::SweepAxis;
pub use template::{TEMPLATES, Template, template};
pub use validate::{hashes_of_files, impossible};
pub use weft_mistake::node::Origin;
pub use weft_mistake::{LineColumn, Mistake, Mistakes, Source, SourceSpan, Sources};
pub use weft_model::{
    CardsInUse, Case, CsvFiles, Device, DeviceSettings, HostSection, IdealChoice, MeasureSettings,
    PortSection, Recorded, ScenarioSettings, SwitchSection, TrafficSection, TransportInUse, TransportsInUse,
    cards, devices, payload_queues, ports, sends_red, stacks,
};
pub use weft_rules::switch_site;
