//! The command that repeats a study. Must not depend on what the study finds.

use std::fmt::Write;
use std::path::Path;

use weft_draw::shell::{file, quoted, word};

use crate::{FluidOptions, TuneOptions};

/// The folder of results if none is given.
const OUT: &str = "runs";

/// `weft fluid` with everything that determines the computation: the options of all studies, and those of this one,
/// each with its value if it has one.
pub(crate) fn command(
    study: &str,
    path: &Path,
    options: &FluidOptions,
    own: &[(&str, Option<String>)],
) -> String {
    let FluidOptions { set, flows, delay, law, continued, jitter, out } = options;
    let mut line = format!("weft fluid {study} {}", file(path));
    for set in set {
        let _ = write!(line, " --set {}", quoted(set));
    }
    let shared = [
        ("--flows", flows.map(|flows| flows.to_string())),
        ("--delay", delay.clone()),
        ("--law", law.clone()),
        ("--jitter-in", jitter.within.clone()),
        ("--jitter-every", jitter.every.clone()),
        ("--out", (out != Path::new(OUT)).then(|| out.display().to_string())),
    ];
    for (name, value) in shared.iter().chain(own) {
        if let Some(value) = value {
            let _ = write!(line, " {name} {}", word(value));
        }
    }
    if *continued { line + " --continue-ramp" } else { line }
}

/// The targets of tuning as options.
pub(crate) fn targets(wanted: &TuneOptions) -> Vec<(&'static str, Option<String>)> {
    vec![
        ("--flows", Some(format!("{}..{}", wanted.from, wanted.to))),
        ("--margin", Some(wanted.margin.to_string())),
        ("--queue", Some(wanted.queue.clone())),
        ("--recovery", Some(wanted.recovery.clone())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_every_option() {
        let options = FluidOptions {
            set: vec!["switch.ecn.red.at=enqueue".to_owned()],
            flows: Some(64),
            delay: Some("85 us".to_owned()),
            continued: true,
            out: OUT.into(),
            ..FluidOptions::default()
        };
        assert_eq!(
            command(
                "run",
                Path::new("a b.toml"),
                &options,
                &[("--until", Some("1ms".to_owned())), ("--x", None)]
            ),
            "weft fluid run 'a b.toml' --set 'switch.ecn.red.at=enqueue' --flows 64 --delay '85 us' --until 1ms --continue-ramp"
        );
    }
}
