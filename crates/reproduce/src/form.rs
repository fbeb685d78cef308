//! The form of a reproduction: the amount of simulation.

use serde::{Deserialize, Serialize};

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The scenarios' reduced forms: minutes.
    Quick,
    /// The scenarios in full.
    #[default]
    Full,
    /// The scenarios with the `large` overrides of each experiment: enough flows for rare percentiles.
    Large,
}
