//! The checked scenario.
//!
//! Only [`validate`](crate::validate) makes these; whoever has one need not check again.

use crate::canonical;
use crate::expect::Claim;
use crate::file::ScenarioFile;
use crate::sweep::SweepAxis;
use weft_model::ScenarioSettings;
use weft_model::{Case, Resolved};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The settings of the file itself, before the sweep.
    pub settings: ScenarioSettings,
    /// What takes several values; empty when nothing does.
    pub axes: Vec<SweepAxis>,
    /// What the results must show.
    pub claims: Vec<Claim>,
    pub(crate) base: Resolved,
    /// The sweep was cut down by the demo or the command line.
    pub(crate) narrowed: bool,
    pub(crate) cases: Vec<Case>,
    pub(crate) file: ScenarioFile,
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
        let mut text = self.base.to_toml(&self.left_out());
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
        format!("{:016x}", weft_codec::canonical::hash(self.text()))
    }

    /// The scenario file, exactly as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        self.file.text()
    }
}
