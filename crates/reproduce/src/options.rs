//! Options of a call: those that would have no effect, and where findings are stored.

use std::path::{Path, PathBuf};

use weft::{Error, RunOptions};

use crate::finding::RESULTS;
use crate::folder::CLAIMS;
use crate::form::Form;
use crate::source::{PublishedClaim, PublishedSource};

/// The options of a call.
pub struct ReproduceOptions {
    /// How runs are computed. The reproduction gets a folder below `out`; `demo` and `set` have no effect.
    pub run: RunOptions,
    /// The form to run.
    pub form: Form,
    /// Claims and ranges of claims, `C1` or `C20-C23`; empty: all.
    pub claims: Vec<String>,
    /// Also run the tables of variants of the chosen claims.
    pub tables: bool,
    /// Also measure the chosen claims under every assumption of the source, in the reduced form.
    pub assumptions: bool,
    /// A folder with `claims.toml`, in whose `results.json` findings are stored.
    pub write: Option<PathBuf>,
    /// Called before the first run with what is about to be computed and written.
    pub announce: Box<dyn Fn(&str) + Send + Sync>,
}

impl ReproduceOptions {
    /// The command that measures the same again.
    pub(crate) fn command(&self, name: &str) -> String {
        let seeds = |seeds: &Vec<u64>| seeds.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let chosen = (!self.claims.is_empty()).then(|| format!("--claims {}", self.claims.join(",")));
        let form = match self.form {
            Form::Quick => Some("--quick".to_owned()),
            Form::Large => Some("--large".to_owned()),
            Form::Full => None,
        };
        let flag = |is_set: bool, flag: &str| is_set.then(|| flag.to_owned());
        let words = [
            Some(format!("weft reproduce {name}")),
            chosen,
            form,
            flag(self.tables, "--tables"),
            flag(self.assumptions, "--assumptions"),
            self.run.seeds.as_ref().map(|own| format!("--seed {}", seeds(own))),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }
}

/// Refuses options without an effect on these claims.
///
/// # Errors
/// The first such option.
pub(crate) fn refuse_idle(
    source: &PublishedSource,
    claims: &[&PublishedClaim],
    options: &ReproduceOptions,
) -> Result<(), Error> {
    let concerns = |ids: &[String]| claims.iter().any(|claim| ids.contains(claim.id.get_ref()));
    let refused = [
        (
            options.form == Form::Large && source.experiments.iter().all(|one| one.large.is_empty()),
            "--large has no effect: no experiment has a larger form",
        ),
        (
            options.tables && !source.tables.iter().any(|table| concerns(&table.claims)),
            "--tables has no effect: no table is about these claims",
        ),
        (
            options.assumptions && source.assumptions.is_empty(),
            "--assumptions has no effect: the source makes none that could be others",
        ),
    ];
    match refused.iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(Error::BadInput((*why).to_owned())),
        None => Ok(()),
    }
}

/// The file in a folder that stores the findings.
///
/// # Errors
/// The folder has no claims.
pub(crate) fn destination(folder: &Path) -> Result<PathBuf, Error> {
    if folder.join(CLAIMS).exists() {
        return Ok(folder.join(RESULTS));
    }
    Err(Error::BadInput(format!("--write: {} is not a folder with a {CLAIMS}", folder.display())))
}
