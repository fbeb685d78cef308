//! `weft completions`: shell completion scripts.

use crate::console;
use clap::{Args, Command};
use clap_complete::Shell;
use std::process::ExitCode;

/// Arguments of `weft completions`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  weft completions bash > ~/.local/share/bash-completion/completions/weft
  weft completions zsh > ~/.zfunc/_weft
  weft completions fish > ~/.config/fish/completions/weft.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

impl CompletionsArguments {
    /// Prints the script for the command line `weft`.
    pub(crate) fn execute(self, mut weft: Command) -> Result<ExitCode, weft::Error> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut weft, "weft", &mut script);
        console::show(&String::from_utf8_lossy(&script))?;
        Ok(ExitCode::SUCCESS)
    }
}
