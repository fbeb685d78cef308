//! The checked scenario and its cases.
//!
//! Only [`validate`](crate::validate) makes these; whoever has one need not check again.

use crate::canonical;
use crate::decode::{Provenance, join};
use crate::expect::Claim;
use crate::file::ScenarioFile;
use crate::model::ScenarioSettings;
use crate::source::Sources;
use crate::sweep::Axis;
use crate::validate::COMPLETE_KEY;
use weft_core::settings::Value;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The settings of the file itself, before the sweep.
    pub settings: ScenarioSettings,
    /// What takes several values; empty when nothing does.
    pub axes: Vec<Axis>,
    /// What the results must show.
    pub claims: Vec<Claim>,
    pub(crate) base: Resolved,
    /// The sweep was cut down by the demo or the command line.
    pub(crate) narrowed: bool,
    pub(crate) cases: Vec<Case>,
    pub(crate) file: ScenarioFile,
}

/// One point of the sweep, with settings of its own.
#[derive(Clone, Debug)]
pub struct Case {
    /// Path and value of every axis, in the axes' order; empty when nothing is swept.
    pub labels: Vec<(String, String)>,
    /// All settings.
    pub settings: ScenarioSettings,
    pub(crate) resolved: Resolved,
    /// Name and hash (hexadecimal) of every file that a setting names.
    pub(crate) inputs: Vec<(String, String)>,
}

/// A complete value and who said what.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub(crate) value: Value,
    pub(crate) provenance: Provenance,
}

impl Resolved {
    /// The family on the way to a setting whose member is another one by default.
    fn contradicted(&self, path: &str) -> Option<String> {
        let (mut value, mut at) = (&self.value, String::new());
        for step in path.split('.') {
            value = match value {
                Value::Table(_) => value.field(step),
                Value::Member(name, own) if *name == step => own,
                Value::Member(..) => {
                    return (!self.provenance.mentions(&self.provenance.tagged(&at))).then_some(at);
                }
                _ => return None,
            };
            at = join(&at, step);
        }
        None
    }

    fn offset(&self, path: &str) -> usize {
        let said = self.provenance.near(path);
        let in_file = said.filter(|said| Sources::number(said.place) == 0);
        in_file.map_or(0, |said| said.place.span().start)
    }
}

impl Scenario {
    /// All cases in a fixed order, the first axis turning slowest; one case when nothing is swept.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// The byte of the scenario file at which a setting stands, or the nearest table around it; the begin of the file if
    /// nothing of it is there.
    #[must_use]
    pub fn offset(&self, path: &str) -> usize {
        self.base.offset(path)
    }

    /// The complete scenario as TOML, with all defaults filled in and marked. It reads back as the equal scenario; only
    /// expectations are left out when the demo or the command line narrowed the sweep.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = complete_text(&self.base, &self.left_out());
        text += &canonical::sweep_text(&self.axes);
        if !self.narrowed {
            text += &canonical::expectations_text(&self.file.document);
        }
        text
    }

    /// Families that nobody has chosen a member of, but in which a case of the sweep sets something of another member than
    /// the default: written down, the default would be a choice, which that case contradicts.
    fn left_out(&self) -> Vec<String> {
        let changes = self.axes.iter().flat_map(|axis| &axis.alternatives).flat_map(|one| &one.changes);
        changes.filter_map(|change| self.base.contradicted(&change.path)).collect()
    }

    /// Hash of the scenario file as typed, hexadecimal.
    #[must_use]
    pub fn text_hash(&self) -> String {
        format!("{:016x}", canonical::hash(self.text()))
    }

    /// The scenario file, exactly as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.file.text()
    }
}

fn complete_text(Resolved { value, provenance }: &Resolved, left_out: &[String]) -> String {
    let settings = canonical::to_marked_toml(&ScenarioSettings::TABLE, value, (provenance, left_out));
    format!("{COMPLETE_KEY} = true\n{settings}")
}

impl Case {
    /// As [`Scenario::offset`], for a setting of this case.
    #[must_use]
    pub fn offset(&self, path: &str) -> usize {
        self.resolved.offset(path)
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
        complete_text(&self.resolved, &[])
    }

    /// Names everything that can change the result of a run, the seed aside: equal for equal settings and equal
    /// results `epoch` of the program, different otherwise (64 bits). The contents of files that settings name count as
    /// well; name, description and list of seeds do not.
    #[must_use]
    pub fn content_hash(&self, epoch: &str) -> u64 {
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
        let text = canonical::to_toml(&ScenarioSettings::TABLE, &value);
        let inputs: String = self.inputs.iter().map(|(name, hash)| format!("{name} {hash}\n")).collect();
        canonical::hash(&format!("weft {epoch}\n{text}{inputs}"))
    }

    /// Name and hash (hexadecimal) of every file that a setting names.
    #[must_use]
    pub fn inputs(&self) -> &[(String, String)] {
        &self.inputs
    }

    /// The first eight hexadecimal digits of [`Case::content_hash`], as folder names carry them.
    #[must_use]
    pub fn hash8(&self, epoch: &str) -> String {
        format!("{:08x}", self.content_hash(epoch) >> 32)
    }
}
