//! `weft explain`: every setting with its value, origin and meaning.
//!
//! Reads declarations and provenance; decides nothing.

use crate::file::ScenarioFile;
use crate::scenario::Scenario;
use weft_codec::{Provenance, Row, rows, words};
use weft_core::settings::{Field, Kind, Setting as _, Value};
use weft_draw::indented;
use weft_mistake::Sources;
use weft_mistake::node::Origin;
use weft_model::ScenarioSettings;
use weft_model::{Case, Resolved};
use weft_model::{Device, DeviceSettings, Level, at_level, devices_by_port, generic, is_of_ports_alone};
use weft_model::{EndSettings, TransportInUse, stacks};
use weft_topology::build_in;

/// A setting, explained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Dotted path, as sweeps and `--set` use it.
    pub path: String,
    /// The value in effect, with its unit.
    pub value: String,
    /// What the value measures: `time`, `size`, `rate`, `share`; empty for numbers and words.
    pub unit: &'static str,
    /// `default`, `drill-80.toml:13`, `sweep at drill-80.toml:40`, `demo at ...` or `command line`; for switches with
    /// levels, with the level: `mixed.toml:9 [switch.leaf]`.
    pub origin: String,
    /// The setting's documentation.
    pub meaning: String,
}

impl Explanation {
    /// The origin of a value that nobody gave.
    pub const DEFAULT: &str = "default";
}

impl Scenario {
    /// Explains the file's own settings; with a `prefix`, only those at or below this path.
    #[must_use]
    pub fn explain(&self, prefix: Option<&str>) -> Vec<Explanation> {
        explain((&self.settings, &self.base), &self.file, prefix.unwrap_or(""))
    }

    /// Explains the settings of one case of the sweep.
    #[must_use]
    pub fn explain_case(&self, case: &Case, prefix: Option<&str>) -> Vec<Explanation> {
        explain((&case.settings, &case.resolved), &self.file, prefix.unwrap_or(""))
    }

    /// All paths of the scenario, for messages about an unknown prefix.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.explain(None).into_iter().map(|row| row.path).collect()
    }
}

fn explain(
    (settings, resolved): (&ScenarioSettings, &Resolved),
    file: &ScenarioFile,
    prefix: &str,
) -> Vec<Explanation> {
    let Resolved { value, provenance } = resolved;
    let levels = settings.switch.levels();
    let of_level = |path: &str| {
        let own = |level: &Level| {
            let rest = path.strip_prefix(&level.path).unwrap_or_default();
            level.is_of_ports() && is_of_ports_alone(rest.trim_start_matches('.'))
        };
        levels.iter().any(|level| covers(&level.path, path) && !own(level))
    };
    let plain = |row: Row| {
        let path = provenance.tagged(&row.path);
        let origin = origin(provenance, &file.sources, &path);
        explained(row, path, origin)
    };
    let own = rows(&ScenarioSettings::TABLE, value).into_iter().filter(|row| !of_level(&row.path));
    let mut all: Vec<Explanation> = own.map(plain).collect();
    if (!levels.is_empty() || choose_transports(settings))
        && let Ok(graph) =
            build_in(&settings.topology, &file.folder, settings.seeds.first().copied().unwrap_or(1))
    {
        let devices = devices_by_port(settings, &graph);
        let rows = devices.iter().flat_map(|device| of_device(device, &devices, provenance, file)).collect();
        insert(&mut all, "switch.", rows);
        let transports = stacks(settings, &graph).all;
        let own = |transport| of_transport(transport, &transports, (provenance, file));
        let (paths, rows): (Vec<String>, Vec<_>) = transports.iter().filter_map(own).unzip();
        all.retain(|row| !paths.iter().any(|path| covers(path, &row.path)));
        insert(&mut all, "transport.", rows.into_iter().flatten().collect());
    }
    let whole = all.iter().any(|row| covers(prefix, &row.path));
    all.retain(|row| if whole { covers(prefix, &row.path) } else { row.path.starts_with(prefix) });
    all
}

/// Whether hosts or traffic entries have transports of their own.
fn choose_transports(settings: &ScenarioSettings) -> bool {
    settings.hosts.over(&Vec::new()).iter().any(|entry| !entry.transport.is_empty())
        || settings.traffic.iter().any(|entry| !entry.transport.is_empty())
}

/// Puts rows behind those of a section.
fn insert(all: &mut Vec<Explanation>, section: &str, rows: Vec<Explanation>) {
    let at = all.iter().rposition(|row| row.path.starts_with(section)).map_or(0, |last| last + 1);
    all.splice(at..at, rows);
}

/// All settings of a transport that hosts or traffic entries choose, and the origin of each; its path comes first.
/// `None` for `[transport]` itself.
fn of_transport(
    transport: &TransportInUse,
    all: &[TransportInUse],
    (said, file): (&Provenance, &ScenarioFile),
) -> Option<(String, Vec<Explanation>)> {
    let strongest = transport.levels.last()?;
    let alone = all.iter().filter(|other| other.levels.last() == Some(strongest)).count() == 1;
    let named = |level: &String| said.tagged(level);
    let title = match alone {
        true => named(strongest),
        false => transport.levels.iter().map(named).collect::<Vec<_>>().join("+"),
    };
    let whole = EndSettings { transport: transport.transport.clone(), ..EndSettings::default() };
    let row = |row: Row| {
        let of_level = |level: &String| (named(level), said.tagged(&format!("{level}.{}", row.path)));
        let sources = transport.levels.iter().rev().map(of_level);
        let mut sources = sources.chain([("transport".to_owned(), row.path.clone())]);
        let given = sources.find(|(_, path)| said.at(path).is_some());
        let origin = given.map(|(level, path)| format!("{} [{level}]", origin(said, &file.sources, &path)));
        let path = format!("{title}.{}", row.path);
        explained(row, path, origin.unwrap_or_else(|| Explanation::DEFAULT.to_owned()))
    };
    let all = rows(&EndSettings::TABLE, &whole.to_value()).into_iter();
    let rows = all.filter(|row| covers("transport", &row.path)).map(row).collect();
    Some((format!("{title}.transport"), rows))
}

/// All settings of switches with a level, and the level that set each.
fn of_device(device: &Device, all: &[Device], said: &Provenance, file: &ScenarioFile) -> Vec<Explanation> {
    let Some(strongest) = device.levels.last() else { return Vec::new() };
    let alone = all.iter().filter(|other| other.levels.last() == Some(strongest)).count() == 1;
    let title = if alone { strongest.clone() } else { device.levels.join("+") };
    let whole = DeviceSettings { switch: device.switch.clone(), balance: device.balance.clone() };
    let row = |row: Row| {
        let plain = generic(&row.path);
        let of_level = |level: &String| Some((level.clone(), at_level(level, &plain)?));
        let section = plain.split('.').next().unwrap_or("switch").to_owned();
        let sources = device.levels.iter().rev().filter_map(of_level).chain([(section, plain.clone())]);
        let given = sources.into_iter().find(|(_, path)| said.at(path).is_some());
        let origin = given.map(|(level, path)| format!("{} [{level}]", origin(said, &file.sources, &path)));
        let path = format!("{title}.{}", row.path);
        explained(row, path, origin.unwrap_or_else(|| Explanation::DEFAULT.to_owned()))
    };
    let of_port = |row: &Row| row.path.starts_with("ecn") || row.path.starts_with("schedule");
    let all = rows(&DeviceSettings::TABLE, &whole.to_value()).into_iter();
    all.filter(|row| !strongest.starts_with("switch.port[") || of_port(row)).map(row).collect()
}

/// The word for a setting without a value: `off` would be misleading if its documentation describes the effect of its
/// absence.
pub(crate) fn word_of_none(field: &Field) -> &'static str {
    if field.doc.to_lowercase().contains("absent:") { "absent" } else { "off" }
}

fn shown(row: &Row) -> String {
    if row.value == Value::Absent { word_of_none(row.field).to_owned() } else { words(&row.value) }
}

fn explained(row: Row, path: String, origin: String) -> Explanation {
    Explanation {
        value: shown(&row),
        unit: unit(&row.field.kind, &row.value),
        meaning: one_line(row.field.doc),
        origin,
        path,
    }
}

fn covers(prefix: &str, path: &str) -> bool {
    let rest = path.strip_prefix(prefix);
    prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A documentation text on one line.
pub(crate) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unit(kind: &Kind, value: &Value) -> &'static str {
    match (kind, value) {
        (_, Value::Span(_)) => "time",
        (_, Value::Size(_) | Value::Packets(_)) => "size",
        (_, Value::Rate(_)) => "rate",
        (Kind::Share { .. } | Kind::Optional(Kind::Share { .. }), Value::Number(_)) => "share",
        _ => "",
    }
}

fn origin(provenance: &Provenance, sources: &Sources, path: &str) -> String {
    let Some(said) = provenance.at(path) else { return Explanation::DEFAULT.to_owned() };
    let place = || format!("{}:{}", sources.source(said.place).name, sources.line_column(said.place).line);
    match said.origin {
        Origin::Default => Explanation::DEFAULT.to_owned(),
        Origin::File => place(),
        Origin::Sweep => format!("sweep at {}", place()),
        Origin::Demo => format!("demo at {}", place()),
        Origin::CommandLine => "command line".to_owned(),
    }
}

/// Where meanings begin.
const INDENT: usize = 6;

/// The rows as text of at most 80 columns if words allow: one block per section, and for each setting its name, value
/// and origin on one line and its meaning below.
#[must_use]
pub fn table(rows: &[Explanation]) -> String {
    let mut text = String::new();
    let mut rest = rows;
    while let Some(first) = rest.first() {
        let section = split(&first.path).0;
        let until = rest.iter().position(|row| split(&row.path).0 != section).unwrap_or(rest.len());
        text += &block(section, &rest[..until]);
        rest = &rest[until..];
    }
    text
}

/// A path as section and name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

fn block(section: &str, rows: &[Explanation]) -> String {
    let width = |text: fn(&Explanation) -> &str| rows.iter().map(|row| text(row).chars().count()).max();
    let name = width(|row| split(&row.path).1).unwrap_or(0);
    let value = width(|row| &row.value).unwrap_or(0).min(24);
    let line = |row: &Explanation| {
        let head = format!("  {:name$}  {:value$}  {}", split(&row.path).1, row.value, row.origin);
        format!("{}\n{}", head.trim_end(), indented(&row.meaning, INDENT))
    };
    let title = if section.is_empty() { String::new() } else { format!("{section}\n") };
    format!("{title}{}\n", rows.iter().map(line).collect::<String>())
}
