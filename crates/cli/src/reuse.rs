//! `--reuse`: which complete runs of earlier calls are not computed again.

use clap::{Args, ValueEnum};
use weft::Reuse;

/// The option of `weft run` and `weft reproduce`.
#[derive(Args)]
pub(crate) struct ReuseArgument {
    /// Complete runs to reuse: same-build, or same-results (epoch)
    #[arg(long, value_name = "OF", default_value = "same-build", hide_possible_values = true)]
    reuse: Of,
}

/// The allowed words. (The variants carry no doc comments, because clap would spread the option's help over many lines.)
#[derive(Clone, Copy, ValueEnum)]
enum Of {
    SameBuild,
    SameResults,
}

impl ReuseArgument {
    pub(crate) fn chosen(&self) -> Reuse {
        match self.reuse {
            Of::SameBuild => Reuse::SameBuild,
            Of::SameResults => Reuse::SameResults,
        }
    }
}

/// A line for each other build that computed reused runs.
pub(crate) fn of_builds(builds: &[(String, usize)]) -> String {
    let line = |(build, count): &(String, usize)| format!("  {count} computed by weft {build}");
    builds.iter().map(line).collect::<Vec<_>>().join("\n")
}
