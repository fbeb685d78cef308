//! One point of a sweep: settings with their origins. Created while a file is checked, so holders need not check
//! again.

use crate::devices::Device;
use crate::settings::ScenarioSettings;
use crate::stacks::TransportInUse;
use weft_codec::{Provenance, canonical, join, member_named};
use weft_core::settings::{Kind, Table, Value};
use weft_mistake::Sources;

/// `complete = true` marks a file written by `Scenario::to_toml`: with every default filled in, settings without
/// effect are expected and not reported.
pub const COMPLETE_KEY: &str = "complete";

/// One point of the sweep, with its settings.
#[derive(Clone, Debug)]
pub struct Case {
    /// Path and value of every axis, in the axes' order; empty when nothing is swept.
    pub labels: Vec<(String, String)>,
    /// All settings.
    pub settings: ScenarioSettings,
    /// All settings as a value, with origins.
    pub resolved: Resolved,
    /// Name and hash (hexadecimal) of every file named by a setting.
    pub inputs: Vec<(String, String)>,
}

/// A complete value with origins.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// All settings.
    pub value: Value,
    /// The origin of each setting.
    pub provenance: Provenance,
}

impl Resolved {
    /// The family, on the path to a setting, whose default member is not the chosen one.
    pub fn contradicted(&self, path: &str) -> Option<String> {
        let (mut kind, mut value) = (Kind::Table(&ScenarioSettings::TABLE), &self.value);
        let mut at = String::new();
        for step in path.split('.') {
            (kind, value) = match (kind, value) {
                (Kind::Table(table), value) => named(table, value, step)?,
                (Kind::Family(family), Value::Member(chosen, own)) if *chosen == step => {
                    (Kind::Table(member_named(family, step)?.table), &**own)
                }
                (Kind::Family(_), Value::Member(..)) => {
                    return (!self.provenance.mentions(&self.provenance.tagged(&at))).then_some(at);
                }
                _ => return None,
            };
            at = join(&at, step);
        }
        None
    }

    /// The complete scenario, with all defaults filled in and marked, without the settings `left_out`.
    pub fn to_toml(&self, left_out: &[String]) -> String {
        let said = (&self.provenance, left_out);
        let settings = canonical::to_marked_toml(&ScenarioSettings::TABLE, &self.value, said);
        format!("{COMPLETE_KEY} = true\n{settings}")
    }

    /// The byte offset of a setting in the scenario file, or of its table; 0 if neither is there.
    pub fn offset(&self, path: &str) -> usize {
        let said = self.provenance.near(path);
        let in_file = said.filter(|said| Sources::number(said.place) == 0);
        in_file.map_or(0, |said| said.place.span().start)
    }
}

/// A setting of a table, or of a table flattened into it.
fn named<'v>(table: &'static Table, value: &'v Value, name: &str) -> Option<(Kind, &'v Value)> {
    table.fields.iter().find_map(|field| match field.kind {
        Kind::Flatten(inner) => named(inner, value.field(field.name), name),
        kind => (field.name == name).then(|| (kind, value.field(name))),
    })
}

impl Case {
    /// The byte offset of a setting in the scenario file, or of the nearest enclosing table.
    #[must_use]
    pub fn offset(&self, path: &str) -> usize {
        self.resolved.offset(path)
    }

    /// [`Case::offset`] for some switches: where the level with the highest precedence sets a path of `[switch]` or
    /// `[balance]`.
    #[must_use]
    pub fn offset_for(&self, device: &Device, path: &str) -> usize {
        self.resolved
            .offset(&device.said_at(&self.resolved.provenance, path).unwrap_or_else(|| path.to_owned()))
    }

    /// [`Case::offset`] for a path of `[transport]` and the levels of a transport.
    #[must_use]
    pub fn offset_in(&self, stack: &TransportInUse, path: &str) -> usize {
        let said = &self.resolved.provenance;
        self.resolved.offset(&stack.said_at(said, path).unwrap_or_else(|| path.to_owned()))
    }

    /// `balance=drill,traffic.trace.load=0.8`; empty when nothing is swept.
    #[must_use]
    pub fn label(&self) -> String {
        let pairs: Vec<String> = self.labels.iter().map(|(path, value)| format!("{path}={value}")).collect();
        pairs.join(",")
    }

    /// The complete scenario of this case as TOML, with all defaults filled in and marked. It reads back as the equal
    /// settings.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.resolved.to_toml(&[])
    }

    /// A hash of everything that can change the result of a run, except the seed: equal for equal settings and equal
    /// results `epoch` of the program, different otherwise (64 bits). The contents of files named by settings count
    /// too; name, description and list of seeds do not.
    #[must_use]
    pub fn content_hash(&self, epoch: &str) -> u64 {
        let inputs: String = self.inputs.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
        canonical::hash(&format!("weft {epoch}\n{}{inputs}", self.settings_as_text()))
    }

    /// The settings that can change the result of a run, as text in which the contents of files stand for their names:
    /// equal for equal settings, wherever the scenario and its files lie.
    #[must_use]
    pub fn identity(&self) -> String {
        let of_content = |text: String, (name, hash): &(String, String)| {
            text.replace(&format!("{name:?}"), &format!("\"content {hash}\""))
        };
        self.inputs.iter().fold(self.settings_as_text(), of_content)
    }

    /// All settings without name, description and list of seeds.
    fn settings_as_text(&self) -> String {
        let told = |name: &str| !matches!(name, "name" | "about" | "seeds");
        let value = match &self.resolved.value {
            Value::Table(fields) => {
                let blank = |(name, value): &(&'static str, Value)| {
                    (*name, if told(name) { value.clone() } else { Value::Absent })
                };
                Value::Table(fields.iter().map(blank).collect())
            }
            other => other.clone(),
        };
        canonical::to_toml(&ScenarioSettings::TABLE, &value)
    }

    /// Name and hash (hexadecimal) of every file named by a setting.
    #[must_use]
    pub fn inputs(&self) -> &[(String, String)] {
        &self.inputs
    }

    /// The first eight hexadecimal digits of [`Case::content_hash`], as in folder names.
    #[must_use]
    pub fn hash8(&self, epoch: &str) -> String {
        format!("{:08x}", self.content_hash(epoch) >> 32)
    }
}
