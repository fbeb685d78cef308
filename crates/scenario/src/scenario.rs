//! The checked scenario.
//!
//! Only [`validate`](crate::validate) creates these; holders need not check again.

use crate::canonical;
use crate::expect::Claim;
use crate::file::ScenarioFile;
use crate::sweep::SweepAxis;
use std::path::Path;
use weft_model::ScenarioSettings;
use weft_model::{Case, Resolved};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The settings of the file itself, before the sweep.
    pub settings: ScenarioSettings,
    /// The settings that take several values; empty if none does.
    pub axes: Vec<SweepAxis>,
    /// The claims that the results must satisfy.
    pub claims: Vec<Claim>,
    pub(crate) base: Resolved,
    /// Whether the demo or the command line narrowed the sweep.
    pub(crate) narrowed: bool,
    pub(crate) cases: Vec<Case>,
    pub(crate) file: ScenarioFile,
}

impl Scenario {
    /// All cases in a fixed order, the first axis varying slowest; one case if nothing is swept.
    #[must_use]
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Whether the file has a reduced form.
    #[must_use]
    pub fn has_demo(&self) -> bool {
        self.file.document.get("demo").is_some()
    }

    /// Remarks on the traffic: not mistakes, but worth knowing. Relative file names start at `folder`.
    #[must_use]
    pub fn remarks(&self, folder: &Path) -> Vec<String> {
        weft_rules::remarks(&self.cases, folder)
    }

    /// The byte offset of a setting in the scenario file, or of the nearest enclosing table; the start of the file if
    /// it has neither.
    #[must_use]
    pub fn offset(&self, path: &str) -> usize {
        self.base.offset(path)
    }

    /// The complete scenario as TOML, with all defaults filled in and marked. It reads back as an equal scenario;
    /// only expectations are omitted if the demo or the command line narrowed the sweep.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = self.base.to_toml(&self.left_out());
        text += &canonical::sweep_text(&self.axes);
        if !self.narrowed {
            text += &canonical::expectations_text(&self.file.document);
        }
        text
    }

    /// Families without a chosen member in which a case of the sweep sets something of a non-default member: writing
    /// the default would be a choice that contradicts that case.
    fn left_out(&self) -> Vec<String> {
        let changes = self.axes.iter().flat_map(|axis| &axis.alternatives).flat_map(|one| &one.changes);
        changes.filter_map(|change| self.base.contradicted(&change.path)).collect()
    }

    /// Hash of the scenario file as typed, hexadecimal.
    #[must_use]
    pub fn text_hash(&self) -> String {
        format!("{:016x}", weft_codec::canonical::hash(self.text()))
    }

    /// The scenario file, exactly as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.file.text()
    }
}
