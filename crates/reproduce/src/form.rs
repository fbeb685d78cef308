//! How much of a reproduction is run.

use serde::{Deserialize, Serialize};

/// How much is run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// The scenarios' reduced forms: minutes.
    Quick,
    /// The scenarios as they are.
    #[default]
    Full,
    /// With the further overrides of each experiment: as many flows as rare percentiles need.
    Large,
}
